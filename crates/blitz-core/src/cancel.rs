//! Stopping computations: tokens, deadlines, and what becomes of what they stop.
//!
//! # The mechanism
//! A token is a flag, perhaps a deadline, and a list of the flags that it depends on: whoever asks it asks those, too, so raising a flag is one store, whatever hangs on
//! it. The list is made with the token and never changes; most of it is shared with the token that it hangs on. A flag that nobody can raise any more, since the last clone of its token is gone, is left
//! out of the lists of those who come later: so however many generations follow each other, their memory is that of the tokens that somebody holds. Work that runs inside of [`CancelToken::run`] [inherits](crate::inherited) the token, on all threads.
//!
//! What stops the work is an unwinding, with [`Cancelled`] as its payload, from *check points*: the boundaries between the blocks of loops, between the
//! pieces of sorts, the beginning of tasks, and wherever the user calls [`checkpoint`]. So whatever is under way ends as it would after a panic there, and
//! everything here is made to survive that: joins and scopes wait for their other parts, vectors that are half made are dropped, a slice that is half sorted
//! has its elements. `run` catches it. There is no message, since the panic hook is not called.
//!
//! Destructors that an unwinding has called are not stopped: see `unwinding`.
//!
//! Where panics abort the process (`panic = "abort"`), nothing can unwind, and check points do nothing. Loops that are given a token or deadline of their own
//! (`with_cancel` and its relatives in `blitz`) stop there as well: they need no unwinding, and tell what they have done.

use crate::handle::JoinHandle;
use crate::inherited::{self, Node};
use crate::seat;
use crate::spawn;
use std::any::Any;
use std::fmt;
use std::iter;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

pub(crate) use unwinding::{
    Catching, can_unwind, is_in_destructor, look_at_floor, note_unwinding, one_after_the_other,
    resume, unwind,
};

mod unwinding;

/// Stops computations from outside: by hand, at a deadline, or with another token. Clones are the same token.
///
/// [`run`](Self::run) makes it the token of everything that is started inside; [`is_cancelled()`] and [`checkpoint`] ask for it there, by no name. A
/// token can only be cancelled once and for good.
///
/// ```
/// use blitz_core::CancelToken;
/// use std::time::Duration;
///
/// fn spin() -> u64 {
///     let mut rounds = 1;
///     while !blitz_core::is_cancelled() {
///         rounds += 1;
///     }
///     rounds
/// }
/// // Both halves end: they have inherited the token.
/// let token = CancelToken::with_timeout(Duration::from_millis(5));
/// let (a, b) = token.run(|| blitz_core::join(spin, spin)).unwrap();
/// assert!(a > 0 && token.is_cancelled());
/// # let _ = b;
/// ```
#[derive(Clone)]
pub struct CancelToken {
    state: Arc<State>,
}

struct State {
    flag: Arc<Flag>,
    /// The earliest of its own and of those that it is cancelled with.
    deadline: Option<Instant>,
    /// The flags of those.
    above: List,
}

/// What clones of a token share, and those who hang on it know.
#[derive(Default)]
struct Flag {
    /// One of the constants below. Leaves `RUNNING` once.
    stopped: AtomicU8,
    /// Somebody else who may know.
    watched: Option<Box<dyn Fn() -> bool + Send + Sync>>,
    skipped: AtomicUsize,
}

type List = Option<Arc<Link>>;

struct Link {
    flag: Arc<Flag>,
    /// The token, as long as somebody has it.
    token: Weak<State>,
    next: List,
}

impl Link {
    fn to(token: &CancelToken, next: List) -> List {
        Some(Arc::new(Link {
            flag: Arc::clone(&token.state.flag),
            token: Arc::downgrade(&token.state),
            next,
        }))
    }

    /// The same in another list.
    fn before(&self, next: List) -> List {
        Some(Arc::new(Link {
            flag: Arc::clone(&self.flag),
            token: Weak::clone(&self.token),
            next,
        }))
    }

    fn is_for(&self, flag: &Arc<Flag>) -> bool {
        Arc::ptr_eq(&self.flag, flag)
    }

    /// Will it be raised by nobody, ever?
    fn is_settled(&self) -> bool {
        if self.token.strong_count() > 0 || self.flag.watched.is_some() {
            return false;
        }
        // What the last who had the token did with it comes first.
        fence(Ordering::Acquire);
        self.flag.stopped.load(Ordering::Relaxed) == RUNNING
    }
}

impl Flag {
    fn ask(&self) -> u8 {
        match self.stopped.load(Ordering::Acquire) {
            RUNNING if self.watched.as_ref().is_some_and(|says_so| says_so()) => CANCELLED,
            reason => reason,
        }
    }
}

/// Those of a list, from the youngest.
fn links(list: &List) -> impl Iterator<Item = &Arc<Link>> {
    iter::successors(list.as_ref(), |link| link.next.as_ref())
}

/// The list without those that will be raised by nobody. What is behind the last of them is shared.
fn without_settled(list: &List) -> List {
    let links: Vec<_> = links(list).collect();
    match links.iter().rposition(|link| link.is_settled()) {
        None => list.clone(),
        Some(last) => {
            let kept = links[..last].iter().filter(|link| !link.is_settled());
            let rest = links[last].next.clone();
            kept.rev().fold(rest, |rest, link| link.before(rest))
        }
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

/// A list is freed from one to the next, not one inside of the other.
impl Drop for Link {
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut link) = next.and_then(Arc::into_inner) {
            next = link.next.take();
        }
    }
}

const RUNNING: u8 = 0;
const CANCELLED: u8 = 1;
const TIMED_OUT: u8 = 2;

impl CancelToken {
    /// A token that is not cancelled.
    ///
    /// ```
    /// assert!(!blitz_core::CancelToken::new().is_cancelled());
    /// ```
    pub fn new() -> Self {
        Self::of(Flag::default(), None, None)
    }

    fn of(flag: Flag, deadline: Option<Instant>, above: List) -> Self {
        let flag = Arc::new(flag);
        CancelToken {
            state: Arc::new(State {
                flag,
                deadline,
                above,
            }),
        }
    }

    /// The list of one that is cancelled with this one.
    fn with_above(&self) -> List {
        Link::to(self, without_settled(&self.state.above))
    }

    fn child_until(&self, deadline: Option<Instant>) -> Self {
        let deadline = earlier(deadline, self.state.deadline);
        Self::of(Flag::default(), deadline, self.with_above())
    }

    /// A token that is cancelled at `deadline`, at the latest. Asking it reads the clock.
    ///
    /// ```
    /// let token = blitz_core::CancelToken::with_deadline(std::time::Instant::now());
    /// assert!(token.is_cancelled());
    /// ```
    pub fn with_deadline(deadline: Instant) -> Self {
        Self::of(Flag::default(), Some(deadline), None)
    }

    /// A token that is cancelled when `timeout` has passed from now on, at the latest. One that the clock cannot express is none.
    ///
    /// ```
    /// use std::time::Duration;
    /// assert!(blitz_core::CancelToken::with_timeout(Duration::ZERO).is_cancelled());
    /// assert!(!blitz_core::CancelToken::with_timeout(Duration::MAX).is_cancelled());
    /// ```
    pub fn with_timeout(timeout: Duration) -> Self {
        Self::of(Flag::default(), Instant::now().checked_add(timeout), None)
    }

    /// A token that is cancelled with this one, at the latest. Cancelling it does not cancel this one.
    ///
    /// ```
    /// let parent = blitz_core::CancelToken::new();
    /// let (one, two) = (parent.child(), parent.child());
    /// one.cancel();
    /// assert!(one.is_cancelled() && !two.is_cancelled() && !parent.is_cancelled());
    /// parent.cancel();
    /// assert!(two.is_cancelled());
    /// ```
    pub fn child(&self) -> Self {
        self.child_until(None)
    }

    /// A [child](Self::child) that is cancelled at `deadline`, at the latest.
    ///
    /// ```
    /// let parent = blitz_core::CancelToken::new();
    /// let child = parent.child_with_deadline(std::time::Instant::now());
    /// assert!(child.is_cancelled() && !parent.is_cancelled());
    /// ```
    pub fn child_with_deadline(&self, deadline: Instant) -> Self {
        self.child_until(Some(deadline))
    }

    /// A [child](Self::child) that is cancelled when `timeout` has passed from now on, at the latest.
    ///
    /// ```
    /// let parent = blitz_core::CancelToken::new();
    /// assert!(parent.child_with_timeout(std::time::Duration::ZERO).is_cancelled());
    /// ```
    pub fn child_with_timeout(&self, timeout: Duration) -> Self {
        self.child_until(Instant::now().checked_add(timeout))
    }

    /// One that is also cancelled when `says_so` does. It is asked often, by any thread.
    #[doc(hidden)]
    pub fn watching(says_so: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let flag = Flag {
            watched: Some(Box::new(says_so)),
            ..Flag::default()
        };
        Self::of(flag, None, None)
    }

    /// Cancels it, and all that depend on it. It does not wait for anything.
    ///
    /// ```
    /// let token = blitz_core::CancelToken::new();
    /// token.clone().cancel();
    /// assert!(token.is_cancelled());
    /// ```
    pub fn cancel(&self) {
        self.stop(CANCELLED);
    }

    /// The first reason stays.
    fn stop(&self, reason: u8) {
        // Release: what was done before is seen by who finds it cancelled.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let stopped = &self.state.flag.stopped;
        let _ = stopped.compare_exchange(RUNNING, reason, order, failed);
    }

    /// Is it cancelled, or past its deadline?
    ///
    /// ```
    /// let token = blitz_core::CancelToken::default();
    /// token.cancel();
    /// assert!(token.is_cancelled());
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.why().is_some()
    }

    /// How it was cancelled, if it is.
    ///
    /// ```
    /// use std::time::Duration;
    /// let token = blitz_core::CancelToken::with_timeout(Duration::ZERO);
    /// assert!(token.why().unwrap().timed_out());
    /// assert!(blitz_core::CancelToken::new().why().is_none());
    /// ```
    #[inline]
    pub fn why(&self) -> Option<Cancelled> {
        match self.state.flag.stopped.load(Ordering::Acquire) {
            RUNNING => self.ask_others(),
            reason => Some(Cancelled {
                timed_out: reason == TIMED_OUT,
            }),
        }
    }

    /// Somebody's word comes before a deadline that nobody has noticed yet.
    fn ask_others(&self) -> Option<Cancelled> {
        let own = iter::once(&self.state.flag);
        let above = links(&self.state.above).map(|link| &link.flag);
        let mut told = own.chain(above).map(|flag| flag.ask());
        let late = |deadline| Instant::now() >= deadline;
        let reason = match told.find(|&reason| reason != RUNNING) {
            Some(reason) => reason,
            None if self.state.deadline.is_some_and(late) => TIMED_OUT,
            None => return None,
        };
        self.stop(reason);
        self.why()
    }

    /// How many tasks it has kept from beginning: they were dropped as they were.
    ///
    /// ```
    /// use blitz_core::CancelToken;
    /// let token = CancelToken::new();
    /// let stopped = token.run(|| {
    ///     blitz_core::scope(|scope| {
    ///         token.cancel();
    ///         scope.spawn(|_| unreachable!("it has not begun when the token is cancelled"));
    ///     })
    /// });
    /// assert!(stopped.is_err());
    /// assert_eq!(token.skipped(), 1);
    /// ```
    pub fn skipped(&self) -> usize {
        self.state.flag.skipped.load(Ordering::Relaxed)
    }

    /// A task that inherits the token is about to begin.
    pub(crate) fn begin_task(&self) {
        if let Some(why) = self.why() {
            // As `unwind`, which may not.
            if can_unwind() {
                self.count_skipped();
                unwind(why);
            }
        }
    }

    fn count_skipped(&self) {
        self.state.flag.skipped.fetch_add(1, Ordering::Relaxed);
        for link in links(&self.state.above) {
            // Those that it hangs on have kept the task from beginning if they are cancelled themselves.
            let token = link.token.upgrade().map(|state| CancelToken { state });
            if token.is_some_and(|token| token.is_cancelled()) {
                link.flag.skipped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Runs `work`; it and everything that is started in it can be stopped with this token, and with one that the caller itself runs under.
    ///
    /// Once the token is cancelled,
    /// * tasks that have not begun are dropped (see [`skipped`](Self::skipped)), and handles to them say so;
    /// * parallel loops, sorts and `ops` end before their next block. A slice that is being sorted keeps its elements, in some order; what is being
    ///   collected is dropped;
    /// * code of yours goes on, until it asks: [`is_cancelled()`], or [`checkpoint`], which does not return then.
    ///
    /// The call returns when all of this has ended. Detached tasks are not waited for.
    ///
    /// If the work is through nonetheless, its result is returned.
    ///
    /// # Errors
    /// The work was stopped, or was not begun because the token was cancelled before.
    ///
    /// # Unwinding
    /// Work is stopped by unwinding, as if the check point had panicked: destructors run, and a `std::sync::Mutex` that is held across it is
    /// poisoned. If one part of the work panics while another one is stopped, either may be what this tells. A `catch_unwind` in between should let it go on (see [`Cancelled::of_panic`]). A destructor that runs meanwhile has no token, and neither has
    /// what it starts: [`is_cancelled()`] is `false` there. (One that runs because its scope ends is stopped like other code; [`uncancelled`] is for what must not be.)
    /// With `panic = "abort"`, work is not stopped at all, but for loops that have their own token.
    ///
    /// ```
    /// use blitz_core::CancelToken;
    ///
    /// let token = CancelToken::new();
    /// let stopped = token.run(|| {
    ///     token.cancel();
    ///     blitz_core::checkpoint();
    ///     unreachable!();
    /// });
    /// assert_eq!(stopped.unwrap_err().to_string(), "stopped: its token was cancelled");
    /// ```
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> Result<R, Cancelled> {
        if let Some(why) = self.why() {
            return Err(why);
        }
        inherited::checkpoint();
        let node = Node::with_token(Some(self.beside_current()));
        let catching = Catching::new();
        let result = catch_unwind(AssertUnwindSafe(|| node.provide(work)));
        drop(catching);
        match result {
            Ok(result) => Ok(result),
            Err(payload) => match (Cancelled::of_panic(&*payload), self.why()) {
                (Some(_), Some(why)) => Err(why),
                // An outer token's.
                _ => resume(payload),
            },
        }
    }

    /// Runs `work`, which can be stopped with the token that `make` makes, and with one that the caller itself runs under. Detached tasks that it spawns are not that token's business. If the work is stopped,
    /// it is the caller who catches the unwinding.
    ///
    /// The token is made when somebody asks for it, and perhaps never; or by several threads, and then all of those tokens have to say the same. So work that nobody stops costs no allocation.
    #[doc(hidden)]
    #[inline]
    pub fn run_apart<R>(make: &(dyn Fn() -> CancelToken + Sync), work: impl FnOnce() -> R) -> R {
        inherited::checkpoint();
        inherited::provide_token(make, work)
    }

    /// A token that is cancelled with this one or the caller's.
    fn beside_current(&self) -> CancelToken {
        self.beside(inherited::current_token())
    }

    /// The same with any.
    pub(crate) fn beside(&self, outer: Option<&CancelToken>) -> CancelToken {
        match outer {
            None => self.clone(),
            // Once is enough: tasks that run under a token and spawn their successors under the same would make a chain of it, and those that run under children of the
            // caller's would ask it twice as often with each of them.
            Some(outer) if self.hangs_on(outer) => self.clone(),
            Some(outer) if outer.hangs_on(self) => outer.clone(),
            Some(outer) => {
                let deadline = earlier(self.state.deadline, outer.state.deadline);
                let theirs = outer.with_above();
                let ours = self.with_above();
                let is_new =
                    |link: &&Arc<Link>| !links(&theirs).any(|other| link.is_for(&other.flag));
                let new = links(&ours).filter(is_new);
                let both = new.fold(theirs.clone(), |list, link| link.before(list));
                Self::of(Flag::default(), deadline, both)
            }
        }
    }

    pub(crate) fn is(&self, other: &CancelToken) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }

    /// Is it cancelled with `other`?
    fn hangs_on(&self, other: &CancelToken) -> bool {
        self.is(other) || links(&self.state.above).any(|link| link.is_for(&other.state.flag))
    }

    /// [`spawn_handle`](crate::spawn_handle) for a task that can be stopped with this token. If it is, the handle's error is [`Cancelled`].
    ///
    /// ```
    /// use blitz_core::{CancelToken, Cancelled};
    /// let token = CancelToken::new();
    /// let task = token.spawn_handle(|| while !blitz_core::is_cancelled() {});
    /// token.cancel();
    /// // It has seen it, or was never begun.
    /// match task.join() {
    ///     Ok(()) => {}
    ///     Err(payload) => assert!(Cancelled::of_panic(&*payload).is_some()),
    /// }
    /// ```
    #[cfg_attr(feature = "profile", track_caller)]
    pub fn spawn_handle<F, T>(&self, func: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let node = Node::with_token(Some(self.beside_current()));
        node.provide(|| spawn::spawn_handle(func))
    }

    /// Cancels the token when the guard is dropped.
    ///
    /// ```
    /// let token = blitz_core::CancelToken::new();
    /// drop(token.clone().drop_guard());
    /// assert!(token.is_cancelled());
    /// ```
    pub fn drop_guard(self) -> CancelOnDrop {
        CancelOnDrop { token: Some(self) }
    }
}

impl Default for CancelToken {
    fn default() -> Self {
        Self::new()
    }
}

// Whoever catches a panic finds the token cancelled or not, and nothing in between.
impl UnwindSafe for CancelToken {}
impl RefUnwindSafe for CancelToken {}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken")
            .field("cancelled", &self.why())
            .field("deadline", &self.state.deadline)
            .finish_non_exhaustive()
    }
}

/// Cancels a token when it is dropped. Made by [`CancelToken::drop_guard`].
///
/// ```
/// let token = blitz_core::CancelToken::new();
/// let searching = {
///     let _guard = token.clone().drop_guard();
///     token.spawn_handle(|| while !blitz_core::is_cancelled() {})
///     // Whoever leaves here, by `?` or by a panic, leaves no work behind.
/// };
/// let _ = searching.join();
/// assert!(token.is_cancelled());
/// ```
#[derive(Debug)]
#[must_use = "dropping it cancels the token"]
pub struct CancelOnDrop {
    token: Option<CancelToken>,
}

impl CancelOnDrop {
    /// Gives the token back, which stays as it is.
    ///
    /// ```
    /// let token = blitz_core::CancelToken::new().drop_guard().disarm();
    /// assert!(!token.is_cancelled());
    /// ```
    pub fn disarm(mut self) -> CancelToken {
        self.token.take().expect("taken once")
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            token.cancel();
        }
    }
}

/// A computation was stopped: the error of [`CancelToken::run`], and the payload of the unwinding that stops it.
///
/// ```
/// let token = blitz_core::CancelToken::new();
/// token.cancel();
/// assert!(!token.run(|| ()).unwrap_err().timed_out());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled {
    timed_out: bool,
}

impl Cancelled {
    /// By a deadline, and not by hand?
    ///
    /// ```
    /// use blitz_core::CancelToken;
    /// use std::time::Duration;
    ///
    /// let late = CancelToken::with_timeout(Duration::ZERO);
    /// assert!(late.run(|| ()).unwrap_err().timed_out());
    /// ```
    pub fn timed_out(self) -> bool {
        self.timed_out
    }

    /// If a payload that was caught, or is a handle's error, says that something was stopped: how.
    ///
    /// ```
    /// use blitz_core::{CancelToken, Cancelled};
    /// let token = CancelToken::new();
    /// token.cancel();
    /// let payload = token.spawn_handle(|| ()).join().unwrap_err();
    /// assert_eq!(Cancelled::of_panic(&*payload), token.why());
    /// ```
    pub fn of_panic(payload: &(dyn Any + Send)) -> Option<Self> {
        payload.downcast_ref().copied()
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.timed_out {
            "stopped: its deadline passed"
        } else {
            "stopped: its token was cancelled"
        })
    }
}

impl std::error::Error for Cancelled {}

/// Has the calling code been told to stop? `false` outside of [`CancelToken::run`].
///
/// ```
/// assert!(!blitz_core::is_cancelled());
/// let token = blitz_core::CancelToken::new();
/// let asked = token.run(|| {
///     token.cancel();
///     blitz_core::is_cancelled()
/// });
/// assert_eq!(asked, Ok(true));
/// ```
#[inline]
pub fn is_cancelled() -> bool {
    inherited::current_token().is_some_and(|token| {
        // Whoever asks may have caught an unwinding.
        if let Some(seat) = seat::current() {
            look_at_floor(seat);
        }
        token.is_cancelled()
    })
}

/// Stops the calling code if it has been told to: then this does not return. For long computations of your own; parallel loops have check points already.
///
/// One load and a comparison outside of [`CancelToken::run`].
///
/// ```
/// blitz_core::checkpoint();
/// ```
#[inline]
pub fn checkpoint() {
    inherited::checkpoint();
}

/// The token that the calling code runs under, to give to somebody else.
///
/// ```
/// use blitz_core::{CancelToken, current_token};
/// assert!(current_token().is_none());
/// let token = CancelToken::new();
/// assert!(token.run(current_token).unwrap().is_some());
/// ```
pub fn current_token() -> Option<CancelToken> {
    inherited::current_token().cloned()
}

/// Runs `work` to its end, whatever tokens the caller runs under.
///
/// ```
/// let token = blitz_core::CancelToken::new();
/// let saved = token.run(|| {
///     token.cancel();
///     blitz_core::uncancelled(|| {
///         blitz_core::checkpoint();
///         "saved"
///     })
/// });
/// assert_eq!(saved, Ok("saved"));
/// ```
pub fn uncancelled<R>(work: impl FnOnce() -> R) -> R {
    if !inherited::has_token() {
        return work();
    }
    Node::with_token(None).provide(work)
}

#[cfg(test)]
mod tests;
