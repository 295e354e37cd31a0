//! `with_cancel`, `with_deadline` and `with_timeout`: loops that can be stopped, and say what happened.
//!
//! The stop is one flag in the frame of the loop, the [`Watch`]. Whoever first notices that the token is cancelled or the time
//! is up raises it, with the reason; a raised flag makes every consumer and folder of the loop full, which is how the loop
//! behind all iterators ends early: blocks not yet begun are never begun, and their items are dropped where they are.
//!
//! Nobody looks per item. A token is looked at before and after every block, and every few thousand items within one; so is
//! the clock, if there is a deadline. A block of a measured loop takes some microseconds. A loop that
//! is handed single items (`par_bridge`) looks after each.
//!
//! An item counts as done when it has been passed on, so `done` is exact, and equals the number of items if all were done.

use super::plumbing::{Folder, UnindexedConsumer};
use super::stage::{Plan, Stage, Staged};
use super::strides::in_strides;
use super::{FromParallelIterator, ParallelIterator};
use std::iter::Sum;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Stops loops from outside: a flag that can only be raised. Clones share it.
///
/// # Examples
///
/// ```
/// use blitz::iter::{CancelToken, Outcome};
/// use blitz::prelude::*;
///
/// let token = CancelToken::new();
/// let run = (0..1_000_000_000u64).into_par_iter().with_cancel(&token).for_each(|n| {
///     if n == 1000 {
///         token.cancel();
///     }
/// });
/// assert_eq!(run.outcome, Outcome::Cancelled);
/// assert!(run.done < 1_000_000_000);
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
}

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        CancelToken::default()
    }

    /// Stops all loops that watch this token or a clone of it, and those that begin to. It does not wait for them.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Has it been cancelled?
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }
}

/// How a loop that could be stopped has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing stopped it.
    Completed,
    /// The token was cancelled before all items were done.
    Cancelled,
    /// The deadline passed before all items were done.
    TimedOut,
}

/// What a loop that could be stopped has come to.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// use std::time::Duration;
///
/// let run = (1..=10u64).into_par_iter().with_timeout(Duration::from_secs(60)).sum::<u64>();
/// assert_eq!((run.done, run.is_completed()), (10, true));
/// assert_eq!(run.completed(), Ok(55));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the loop may have been stopped; `outcome` tells"]
pub struct Run<R> {
    /// The result. If the loop was stopped, it is made of the items that were done, in order, with gaps.
    pub value: R,
    /// How it ended.
    pub outcome: Outcome,
    /// How many items were done.
    pub done: usize,
}

impl<R> Run<R> {
    /// Were all items done, as far as they were wanted?
    pub fn is_completed(&self) -> bool {
        self.outcome == Outcome::Completed
    }

    /// The result, if the loop was not stopped.
    ///
    /// # Errors
    ///
    /// How it was stopped, after how many items. The partial result is dropped.
    pub fn completed(self) -> Result<R, Stopped> {
        match self.outcome {
            Outcome::Completed => Ok(self.value),
            outcome => Err(Stopped {
                outcome,
                done: self.done,
            }),
        }
    }
}

/// The error of [`Run::completed`]: the loop was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// How it was stopped; not [`Outcome::Completed`].
    pub outcome: Outcome,
    /// How many items had been done.
    pub done: usize,
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = match self.outcome {
            Outcome::TimedOut => "its deadline passed",
            _ => "it was cancelled",
        };
        write!(f, "the loop was stopped after {} items: {how}", self.done)
    }
}

impl std::error::Error for Stopped {}

/// A loop that can be stopped. Made by [`with_cancel`](super::ParallelIterator::with_cancel),
/// [`with_deadline`](super::ParallelIterator::with_deadline) and [`with_timeout`](super::ParallelIterator::with_timeout).
///
/// It is not a parallel iterator, because a result alone would not say whether it is all of it. Its methods are the terminal
/// operations, which return a [`Run`]; all others are reached through [`run`](Self::run).
#[must_use = "loops do nothing until they are run"]
#[derive(Debug, Clone)]
pub struct WithCancel<'t, I> {
    base: I,
    tokens: Vec<&'t CancelToken>,
    deadline: Option<Instant>,
    timeout: Option<Duration>,
}

impl<'t, I> WithCancel<'t, I>
where
    I: ParallelIterator,
{
    pub(super) fn new(base: I) -> Self {
        WithCancel {
            base,
            tokens: Vec::new(),
            deadline: None,
            timeout: None,
        }
    }

    /// Watches one more token; any of them stops the loop.
    pub fn with_cancel(mut self, token: &'t CancelToken) -> Self {
        self.tokens.push(token);
        self
    }

    /// Stops the loop at `deadline`, if that is earlier than a deadline it has already.
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(self.deadline.map_or(deadline, |old| old.min(deadline)));
        self
    }

    /// Stops the loop when it has run for `timeout`, if that is shorter than a timeout it has already.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(self.timeout.map_or(timeout, |old| old.min(timeout)));
        self
    }

    /// Runs whatever `body` makes of the items.
    ///
    /// `body` gets a parallel iterator over the items, which ends when the loop is stopped. `done` counts the items that this
    /// iterator has yielded.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::CancelToken;
    /// use blitz::prelude::*;
    ///
    /// let token = CancelToken::new();
    /// let run = (1..=6).into_par_iter().with_cancel(&token).run(|items| items.map(|n| n * n).max());
    /// assert_eq!(run.completed(), Ok(Some(36)));
    /// ```
    pub fn run<R>(self, body: impl FnOnce(Watched<'_, I>) -> R) -> Run<R> {
        let len = self.base.opt_len();
        // A timeout too long for the clock to express is none.
        let ends = self
            .timeout
            .and_then(|timeout| Instant::now().checked_add(timeout));
        let watch = Watch {
            tokens: self.tokens,
            deadline: self.deadline.into_iter().chain(ends).min(),
            raised: AtomicU8::new(RUNNING),
            done: AtomicUsize::new(0),
        };
        let value = body(Watched {
            base: self.base,
            watch: &watch,
        });
        let done = watch.done.into_inner();
        let outcome = match watch.raised.into_inner() {
            // The flag may have been raised when there was nothing left to stop.
            _ if len == Some(done) => Outcome::Completed,
            CANCELLED => Outcome::Cancelled,
            TIMED_OUT => Outcome::TimedOut,
            _ => Outcome::Completed,
        };
        Run {
            value,
            outcome,
            done,
        }
    }

    /// Calls `op` with every item, until stopped.
    pub fn for_each<OP>(self, op: OP) -> Run<()>
    where
        OP: Fn(I::Item) + Sync + Send,
    {
        self.run(|items| items.for_each(op))
    }

    /// Adds up the items, until stopped.
    pub fn sum<S>(self) -> Run<S>
    where
        S: Send + Sum<I::Item> + Sum<S>,
    {
        self.run(|items| items.sum())
    }

    /// [`reduce`](super::ParallelIterator::reduce), until stopped.
    pub fn reduce<OP, ID>(self, identity: ID, op: OP) -> Run<I::Item>
    where
        OP: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
        ID: Fn() -> I::Item + Sync + Send,
    {
        self.run(|items| items.reduce(identity, op))
    }

    /// Collects the items, until stopped. What was done by then is in order, but it need not be the beginning.
    pub fn collect<C>(self) -> Run<C>
    where
        C: FromParallelIterator<I::Item>,
    {
        self.run(|items| items.collect())
    }
}

const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
const TIMED_OUT: u8 = 2;

/// What all pieces of a loop watch.
struct Watch<'t> {
    tokens: Vec<&'t CancelToken>,
    deadline: Option<Instant>,
    /// Why the loop is being stopped, if it is.
    raised: AtomicU8,
    done: AtomicUsize,
}

impl Watch<'_> {
    /// Is the loop to be stopped, as far as can be told without reading the clock?
    #[inline]
    fn is_raised(&self) -> bool {
        self.raised.load(Relaxed) != RUNNING || self.tokens_say_so()
    }

    #[inline]
    fn tokens_say_so(&self) -> bool {
        let cancelled = self.tokens.iter().any(|token| token.is_cancelled());
        if cancelled {
            self.raise(CANCELLED);
        }
        cancelled
    }

    /// The same, with a look at the clock if there is a deadline.
    #[inline]
    fn is_over(&self) -> bool {
        let late = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        if late {
            self.raise(TIMED_OUT);
        }
        late || self.is_raised()
    }

    /// Raises the flag. The first reason stays.
    #[cold]
    fn raise(&self, reason: u8) {
        let _ = self
            .raised
            .compare_exchange(RUNNING, reason, Relaxed, Relaxed);
    }
}

/// The items of a loop that can be stopped; they end when it is. Passed on by [`WithCancel::run`].
#[must_use = "parallel iterators do nothing until they are driven"]
pub struct Watched<'w, I> {
    base: I,
    watch: &'w Watch<'w>,
}

impl<I> ParallelIterator for Watched<'_, I>
where
    I: ParallelIterator,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let guard = Guarded { watch: self.watch };
        self.base.drive_unindexed(Staged::new(consumer, guard))
    }
}

/// The stage that passes items on until the flag is raised, and counts them.
#[derive(Clone, Copy)]
struct Guarded<'w> {
    watch: &'w Watch<'w>,
}

impl<In> Plan<In> for Guarded<'_> {
    type Stage = Self;

    #[inline]
    fn begin(self) -> Self {
        self
    }

    #[inline]
    fn full(&self) -> bool {
        self.watch.is_over()
    }

    /// Not true of a loop that is stopped. But this only says how to share the work, and a loop that is rarely stopped should
    /// not be shared hesitantly, like a search that may be over soon. Everybody looks whether it is full all the same.
    #[inline]
    fn is_never_full(&self) -> bool {
        true
    }
}

impl<In> Stage<In> for Guarded<'_> {
    type Out = In;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        if self.watch.is_over() {
            return folder;
        }
        let folder = folder.consume(item);
        self.watch.done.fetch_add(1, Relaxed);
        folder
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<In>,
        I: Iterator<Item = In>,
    {
        if self.watch.is_over() {
            return folder;
        }
        in_strides(folder, iter, |passed| {
            self.watch.done.fetch_add(passed, Relaxed);
            !self.watch.is_over()
        })
    }

    const CAN_BE_FULL: bool = true;

    #[inline]
    fn full(&self) -> bool {
        self.watch.is_raised()
    }
}
