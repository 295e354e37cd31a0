//! `with_cancel`, `with_deadline` and `with_timeout`: loops that can be stopped, and say what happened.
//!
//! The stop is one flag in the frame of the loop, the [`Watch`]. The thread that first notices that the token is cancelled, or that the time
//! is up, raises the flag and notes the reason. A raised flag makes every consumer and folder of the loop full, and so the loop
//! behind all iterators ends early: blocks not yet begun are never begun, and their items are dropped where they are.
//!
//! No check is made per item. A token is read before and after every block, and every 64 items within a block (4096 if they are cheap). So is
//! the clock, if there is a deadline. A block of a measured loop takes some microseconds. A loop that
//! gets single items (`par_bridge`) checks after each.
//!
//! An item counts as done when it has been passed on, so `done` is exact, and equals the number of items if all were done.

use super::outcome::{CancelToken, Outcome, Run};
use super::plumbing::Folder;
use super::stage::{Plan, Stage, staged_adaptor};
use super::strides::in_strides;
use super::{FromParallelIterator, ParallelIterator};
use crate::engine::operation;
use std::iter::Sum;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A loop that can be stopped. Made by [`with_cancel`](super::ParallelIterator::with_cancel),
/// [`with_deadline`](super::ParallelIterator::with_deadline) and [`with_timeout`](super::ParallelIterator::with_timeout).
///
/// It is not a parallel iterator, because a result alone would not say whether it is all of it. Its methods are the terminal
/// operations, which return a [`Run`]; all others are reached through [`run`](Self::run).
///
/// # Examples
///
/// ```
/// use blitz::iter::CancelToken;
/// use blitz::prelude::*;
/// let token = CancelToken::new();
/// let run = (0..4).into_par_iter().with_cancel(&token).run(|items| items.map(|n| n * n).collect::<Vec<_>>());
/// assert_eq!(run.completed(), Ok(vec![0, 1, 4, 9]));
/// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::CancelToken;
    /// use blitz::prelude::*;
    /// let (mine, everybodys) = (CancelToken::new(), CancelToken::new());
    /// everybodys.cancel();
    /// let run = (0..4).into_par_iter().with_cancel(&mine).with_cancel(&everybodys).sum::<i32>();
    /// assert!(!run.is_completed());
    /// ```
    pub fn with_cancel(mut self, token: &'t CancelToken) -> Self {
        self.tokens.push(token);
        self
    }

    /// Stops the loop at `deadline`, if that is earlier than a deadline it has already.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::CancelToken;
    /// use blitz::prelude::*;
    /// use std::time::{Duration, Instant};
    /// let tomorrow = Instant::now() + Duration::from_secs(86_400);
    /// let run = (0..4).into_par_iter().with_cancel(&CancelToken::new()).with_deadline(tomorrow).sum::<i32>();
    /// assert_eq!(run.completed(), Ok(6));
    /// ```
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(self.deadline.map_or(deadline, |old| old.min(deadline)));
        self
    }

    /// Stops the loop when it has run for `timeout`, if that is shorter than a timeout it has already.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::CancelToken;
    /// use blitz::prelude::*;
    /// use std::time::Duration;
    /// let run = (0..4).into_par_iter().with_cancel(&CancelToken::new()).with_timeout(Duration::ZERO).sum::<i32>();
    /// assert_eq!(run.done, 0);
    /// ```
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
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn run<R>(self, body: impl FnOnce(Watched<'_, I>) -> R) -> Run<R> {
        let _operation = operation();
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
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::CancelToken;
    /// use blitz::prelude::*;
    /// let mut list = [1, 2, 3];
    /// let run = list.par_iter_mut().with_cancel(&CancelToken::new()).for_each(|n| *n += 1);
    /// assert_eq!((run.done, list), (3, [2, 3, 4]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn for_each<OP>(self, op: OP) -> Run<()>
    where
        OP: Fn(I::Item) + Sync + Send,
    {
        let _operation = operation();
        self.run(|items| items.for_each(op))
    }

    /// Adds up the items, until stopped.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::CancelToken;
    /// use blitz::prelude::*;
    /// let run = (1..=4).into_par_iter().with_cancel(&CancelToken::new()).sum::<i32>();
    /// assert_eq!(run.value, 10);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn sum<S>(self) -> Run<S>
    where
        S: Send + Sum<I::Item> + Sum<S>,
    {
        let _operation = operation();
        self.run(|items| items.sum())
    }

    /// [`reduce`](super::ParallelIterator::reduce), until stopped.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::CancelToken;
    /// use blitz::prelude::*;
    /// let run = (1..5).into_par_iter().with_cancel(&CancelToken::new()).reduce(|| 1, |a, b| a * b);
    /// assert_eq!(run.value, 24);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn reduce<OP, ID>(self, identity: ID, op: OP) -> Run<I::Item>
    where
        OP: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
        ID: Fn() -> I::Item + Sync + Send,
    {
        let _operation = operation();
        self.run(|items| items.reduce(identity, op))
    }

    /// Collects the items, until stopped. What was done by then is in order, but it need not be the beginning.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::CancelToken;
    /// use blitz::prelude::*;
    /// let run = (1..4).into_par_iter().with_cancel(&CancelToken::new()).collect::<Vec<i32>>();
    /// assert_eq!(run.value, [1, 2, 3]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn collect<C>(self) -> Run<C>
    where
        C: FromParallelIterator<I::Item>,
    {
        let _operation = operation();
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
    /// Is the loop to be stopped?
    #[inline]
    fn is_over(&self) -> bool {
        let late = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        if late {
            self.raise(TIMED_OUT);
        }
        late || self.raised.load(Relaxed) != RUNNING || self.tokens_say_so()
    }

    #[inline]
    fn tokens_say_so(&self) -> bool {
        let why = self.tokens.iter().find_map(|token| token.why());
        if let Some(why) = why {
            self.raise(if why.timed_out() {
                TIMED_OUT
            } else {
                CANCELLED
            });
        }
        why.is_some()
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
///
/// # Examples
///
/// ```
/// use blitz::iter::CancelToken;
/// use blitz::prelude::*;
/// use blitz::iter::Watched;
/// fn odd<'w, I>(items: Watched<'w, I>) -> usize
/// where
///     I: ParallelIterator<Item = i32>,
/// {
///     items.filter(|n| n % 2 == 1).count()
/// }
/// assert_eq!((0..9).into_par_iter().with_cancel(&CancelToken::new()).run(odd).value, 4);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
pub struct Watched<'w, I> {
    base: I,
    watch: &'w Watch<'w>,
}

staged_adaptor! {
    impl ['w, I] Watched<'w, I> => I::Item;
    fn plan(self) { Guarded { watch: self.watch } }
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

    #[inline]
    fn is_never_full(&self) -> bool {
        false
    }

    /// A loop that is rarely stopped should not be shared hesitantly.
    #[inline]
    fn is_search(&self) -> bool {
        false
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
        self.watch.is_over()
    }
}
