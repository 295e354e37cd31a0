//! `join`: run two closures, perhaps in parallel.
//!
//! ```text
//!   join(a, b):   put b on the join stack          3 stores
//!                 run a
//!                 take b back                      1 store, 2 loads
//!                   ours   -> call b directly      static dispatch, no latch, nothing allocated
//!                   stolen -> help the thief, take its result
//! ```
//!
//! The forked half lives in this frame: a [`Fork`] is the function that runs it on a thief, the closure, and
//! room for the result. It is valid from the push until `pop` says "ours" or the slot is done, and `join`
//! does not leave before one of the two, even when `a` panics: [`Pending`]'s drop sees to it.
//!
//! `join` itself is always inlined: a closure that is handed to a function in memory is copied from there into the fork, in words of another size than it was written in, and a
//! processor waits some ten cycles before it can read what has just been written like that. Inlined, it is written where it belongs. (Not where nothing is optimised: there each
//! inlined join has its own places in its caller's frame, whether it runs or not.)
//!
//! An unstolen right half that is small is called from a bitwise copy of the closure that stays in registers, not
//! from the one in memory. Exactly one of the two copies is ever used or dropped: the copy in the fork if a thief
//! took it, the copy in `Pending` otherwise.

use crate::cancel::{self, Catching};
use crate::console;
use crate::entered;
use crate::guest;
use crate::join_stack::{Job, JoinStack, Place, Popped, Pushed};
use crate::seat::{self, Seat};
use crate::site::Site;
use crate::wait::wait_for_half;
use crate::wake;
use std::any::Any;
use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) use known::Known;
pub use known::{FnContext, Within};
use measured::measured;

mod known;
mod measured;

/// Runs two closures, perhaps in parallel, and returns both results.
///
/// `b` is offered to the other threads of the pool while the caller runs `a`; if nobody has taken it by
/// then, the caller runs it too. Nothing is allocated, and an offer that nobody takes costs about a
/// nanosecond, so there is no need for a sequential cut-off. Called from a thread outside of any pool, the
/// caller takes part in the global pool as a guest.
///
/// While the caller waits for a stolen `b`, it runs only what `b` itself has forked or spawned, never
/// anything unrelated: it is fine to hold a lock across a `join`.
///
/// # Panics
/// Both closures run to their end, also if the other one panics (unless a [`CancelToken`](crate::CancelToken) stops them). Then the panic goes on; if both panic,
/// `a`'s does.
///
/// ```
/// fn sum(values: &[u64]) -> u64 {
///     match values {
///         [] => 0,
///         [one] => *one,
///         _ => {
///             let (left, right) = values.split_at(values.len() / 2);
///             let (a, b) = blitz_core::join(|| sum(left), || sum(right));
///             a + b
///         }
///     }
/// }
/// assert_eq!(sum(&(0..1000).collect::<Vec<_>>()), 499_500);
/// ```
#[cfg_attr(debug_assertions, inline)]
#[cfg_attr(not(debug_assertions), inline(always))]
#[cfg_attr(feature = "sites", track_caller)]
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_at(Site::caller(), oper_a, oper_b)
}

/// [`join`], called at `site`.
#[inline(always)]
pub(crate) fn join_at<RA: Send, RB: Send>(
    site: Site,
    oper_a: impl FnOnce() -> RA + Send,
    oper_b: impl FnOnce() -> RB + Send,
) -> (RA, RB) {
    measured(site, Known::called_at(site), |_| oper_a(), |_| oper_b())
}

/// Like [`join`]; the closures also learn whether they run on another thread than the caller's.
///
/// ```
/// let (here, _) = blitz_core::join_context(|a| a.migrated(), |b| b.migrated());
/// println!("the left half was moved: {here}");
/// ```
#[cfg_attr(debug_assertions, inline)]
#[cfg_attr(not(debug_assertions), inline(always))]
#[cfg_attr(feature = "sites", track_caller)]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let site = Site::caller();
    measured(site, Known::called_at(site), oper_a, oper_b)
}

/// [`join`], called at `site`, for callers who tell a profile themselves what runs beside what.
#[inline(always)]
pub(crate) fn unprofiled<RA: Send, RB: Send>(
    site: Site,
    oper_a: impl FnOnce() -> RA + Send,
    oper_b: impl FnOnce() -> RB + Send,
) -> (RA, RB) {
    fork(Known::called_at(site), false, |_| oper_a(), |_| oper_b())
}

/// [`join_context`] for callers that know more than what to run. Its place is that of the operation it is a part of, if there is one.
#[cfg_attr(debug_assertions, inline)]
#[cfg_attr(not(debug_assertions), inline(always))]
#[cfg_attr(feature = "sites", track_caller)]
pub(crate) fn join_knowing<RA: Send, RB: Send>(
    known: Known<impl Fn() + Send>,
    oper_a: impl FnOnce(FnContext) -> RA + Send,
    oper_b: impl FnOnce(FnContext) -> RB + Send,
) -> (RA, RB) {
    measured(Site::caller().of_operation(), known, oper_a, oper_b)
}

/// The forked half of a join, in the frame of the join.
#[repr(C)]
struct Fork<B, RB> {
    job: Job,
    body: UnsafeCell<ManuallyDrop<B>>,
    result: UnsafeCell<MaybeUninit<Result<RB, Box<dyn Any + Send>>>>,
}

impl<B: FnOnce(FnContext) -> RB, RB> Fork<B, RB> {
    /// Runs the fork on a thief.
    ///
    /// # Safety
    /// `job` is the head of a `Fork<B, RB>` that the caller has stolen and not yet run.
    unsafe fn execute(job: *const Job) {
        let this = job.cast::<Self>();
        // SAFETY: the thief alone has the fork until its slot is done.
        unsafe {
            let body = ManuallyDrop::take(&mut *(*this).body.get());
            let result = catch_unwind(AssertUnwindSafe(|| body(FnContext::new(true))));
            (*(*this).result.get()).write(result);
        }
    }
}

/// A pushed fork that has not been taken back yet.
struct Pending<'a, B, RB>
where
    B: FnOnce(FnContext) -> RB,
{
    stack: *const JoinStack,
    place: Place,
    fork: &'a Fork<B, RB>,
    /// The copy in registers, if the closure is [`small`].
    body: MaybeUninit<B>,
    moved: bool,
}

/// Does a closure of this type fit into registers? Larger ones would be copied through memory twice.
const fn small<B>() -> bool {
    size_of::<B>() <= 16
}

/// `moved`: the whole join has been handed over to this thread.
#[inline(always)]
fn fork<W, A, B, RA, RB>(known: Known<W>, moved: bool, a: A, b: B) -> (RA, RB)
where
    W: Fn() + Send,
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let stack = seat::current_stack();
    let mut body = MaybeUninit::uninit();
    if small::<B>() {
        // SAFETY: a bitwise copy. One of the two is used (see the module's documentation).
        body.write(unsafe { std::ptr::read(&raw const b) });
    }
    let fork = Fork {
        job: Job {
            execute: Fork::<B, RB>::execute,
        },
        body: UnsafeCell::new(ManuallyDrop::new(b)),
        result: UnsafeCell::new(MaybeUninit::uninit()),
    };
    let job = &raw const fork.job;
    // SAFETY: the stack is this thread's, and the fork lives until it is taken back (`Pending`).
    let (place, news) = unsafe { (*stack).push(job) };
    if let Some(pushed) = news {
        // SAFETY: `stack` is this thread's.
        match unsafe { Seat::from_stack(stack) } {
            Some(seat) if pushed != Pushed::Full => {
                wake::after_push(seat, pushed, job, known.expected, known.called);
            }
            seat => {
                let b = ManuallyDrop::into_inner(fork.body.into_inner());
                return without_fork(seat.is_some(), known, a, b);
            }
        }
    } else if known.expected.is_some_and(wake::outlasts_a_wake) {
        // Known to be long, and private: what is public was perhaps not worth a wake.
        // SAFETY: `stack` is this thread's.
        if let Some(seat) = unsafe { Seat::from_stack(stack) } {
            wake::after_private_push(seat);
        }
    }
    let pending = Pending {
        stack,
        place,
        fork: &fork,
        body,
        moved,
    };
    let result_a = a(FnContext::new(moved));
    let result_b = pending.finish(known.within, known.before_wait);
    (result_a, result_b)
}

/// The fork could not be pushed: the caller has no seat yet, or joins nest too deep for its stack.
#[cold]
#[inline(never)]
fn without_fork<RA: Send, RB: Send>(
    seated: bool,
    known: Known<impl Fn() + Send>,
    a: impl FnOnce(FnContext) -> RA + Send,
    b: impl FnOnce(FnContext) -> RB + Send,
) -> (RA, RB) {
    if seated {
        return both_here(a, b);
    }
    guest::in_pool(&entered::found(), |_, moved| fork(known, moved, a, b))
}

/// Runs both halves on this thread, with the same promise about panics.
fn both_here<RA, RB>(a: impl FnOnce(FnContext) -> RA, b: impl FnOnce(FnContext) -> RB) -> (RA, RB) {
    let (a, b) = (|| a(FnContext::new(false)), || b(FnContext::new(false)));
    cancel::one_after_the_other(a, b)
}

impl<B: FnOnce(FnContext) -> RB, RB> Pending<'_, B, RB> {
    /// The closure, from where it is cheaper to get.
    ///
    /// # Safety
    /// It is used (rather than forgotten) at most once, and only if no thief has the fork.
    #[inline(always)]
    unsafe fn take_body(&self) -> B {
        // SAFETY: by contract. `body` is initialised if the closure is small.
        unsafe {
            if small::<B>() {
                self.body.assume_init_read()
            } else {
                ManuallyDrop::into_inner(std::ptr::read(self.fork.body.get()))
            }
        }
    }

    /// Takes the fork back and runs it, or waits for the thief's result.
    #[inline(always)]
    fn finish(self, within: Within, before_wait: impl Fn()) -> RB {
        let this = ManuallyDrop::new(self);
        // SAFETY: this thread pushed the fork, and all later pushes have been popped.
        match unsafe { (*this.stack).pop(this.place) } {
            Popped::Ours => {
                // SAFETY: no thief has the fork.
                let body = unsafe { this.take_body() };
                body(FnContext::new(this.moved))
            }
            Popped::Retaken => {
                // SAFETY: as for `Ours`.
                let body = unsafe { this.take_body() };
                // SAFETY: the stack is a seat's: the unseated one takes no pushes.
                unsafe { run_retaken(this.stack, this.moved, body) }
            }
            Popped::Stolen => {
                // SAFETY: as above; that is what `pop` just said.
                let result = unsafe { await_thief(this.stack, this.fork, within, before_wait) };
                result.unwrap_or_else(|payload| cancel::resume(payload))
            }
        }
    }
}

/// Runs a right half that was public but not stolen; if it is one that is timed, tells how long it took.
///
/// # Safety
/// `stack` is the calling thread's seat's.
#[cold]
unsafe fn run_retaken<RB>(
    stack: *const JoinStack,
    moved: bool,
    body: impl FnOnce(FnContext) -> RB,
) -> RB {
    // SAFETY: by contract.
    let seat = unsafe { Seat::from_stack(stack) };
    let _ends = seat.map(|seat| console::ending_join(seat, seat.stack.depth() + 1));
    let result = body(FnContext::new(moved));
    if let Some(seat) = seat {
        wake::after_join(seat, seat.stack.depth() + 1, false);
    }
    result
}

/// A thief has the fork: its result.
///
/// # Safety
/// `stack` is the calling thread's seat's, and its `pop` of `fork` has just returned [`Popped::Stolen`].
#[cold]
#[inline(never)]
unsafe fn await_thief<B, RB>(
    stack: *const JoinStack,
    fork: &Fork<B, RB>,
    within: Within,
    before_wait: impl Fn(),
) -> Result<RB, Box<dyn Any + Send>> {
    // SAFETY: by contract; a stack that takes pushes is a seat's.
    unsafe {
        let seat = Seat::from_stack(stack).expect("something was pushed");
        let _ends = console::ending_join(seat, seat.stack.depth());
        // Until the thief is done, this frame must not end.
        let prepared = catch_unwind(AssertUnwindSafe(before_wait));
        wait_for_half(seat, within);
        let depth = seat.stack.depth();
        seat.stack.reclaim();
        wake::after_join(seat, depth, true);
        // The slot is done, so the thief has written the result and is not coming back.
        let result = (*fork.result.get()).assume_init_read();
        prepared.and(result)
    }
}

impl<B: FnOnce(FnContext) -> RB, RB> Drop for Pending<'_, B, RB> {
    /// `a` has panicked: see `b` through, then let the panic go on.
    #[inline(always)]
    fn drop(&mut self) {
        // Arguments by value, so that the guard itself can stay in registers.
        // SAFETY: dropped once, instead of `finish`.
        unsafe { abandon(self.stack, self.place, self.fork) }
    }
}

/// # Safety
/// As for [`Pending::finish`].
#[cold]
#[inline(never)]
unsafe fn abandon<B, RB>(stack: *const JoinStack, place: Place, fork: &Fork<B, RB>)
where
    B: FnOnce(FnContext) -> RB,
{
    let finish = || {
        // SAFETY: by contract.
        let seat = unsafe { Seat::from_stack(stack) };
        let _ends = seat.map(|seat| console::ending_join(seat, seat.stack.depth()));
        // SAFETY: by contract.
        unsafe {
            if (*stack).pop(place) == Popped::Stolen {
                drop(await_thief(stack, fork, Within::NOTHING, || ()));
                return;
            }
            // Not before we know that no thief has it: what the closure owns may be gone by then.
            let body = ManuallyDrop::into_inner(std::ptr::read(fork.body.get()));
            // If `a` has not panicked but was stopped, `b` is not begun.
            if !cancel::is_cancelled() {
                drop(body(FnContext::new(false)));
            }
        }
    };
    let catching = Catching::between_destructors();
    // The left panic wins. A second one ends here, and so does one in its payload's or a result's drop:
    // we are in the middle of unwinding.
    let right = catch_unwind(AssertUnwindSafe(finish));
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(right))) {
        std::mem::forget(payload);
    }
    drop(catching);
    // What follows are destructors of the frames below this one.
    cancel::note_unwinding();
}
