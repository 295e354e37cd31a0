//! `fork`: a task on the stack, begun now by whoever is free, and joined later.
//!
//! [`join`](crate::join()) puts the second closure beside the first and takes it up when the first has ended. With `fork`, the first closure gets a handle and decides itself when it wants the result, in the middle of
//! whatever it does. Nothing is allocated: the task, its result and all that is needed to wait for it are in the frame of `fork`.
//!
//! A handle that lives in the caller's frame could be forgotten, and the frame be gone while another thread runs the task. So the frame belongs to `fork`, which is a `join` of the body and
//! the task; it does not return before both have ended.
//!
//! # Who runs the task
//! Whoever claims it, by one swap: a thief of the join, the body that joins the handle, or the calling thread when the body has ended. A body that comes too late waits for the *bell* that the other one rings, and helps with what
//! the task has forked. The handle may have gone to another thread by then; there is one handle, so one thread waits. A task can only wait for handles that are older than itself, so
//! there are no circles. The bell is in the frame of `fork`, too; whoever rings it is done with that before the join ends.

use crate::bell::Bell;
use crate::cancel;
use crate::join::unprofiled;
use crate::profile::{Ends, Spawned};
use crate::seat;
use crate::site::Site;
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Offers `task` to the threads of the pool, runs `body`, and lets it [`join`](Forked::join) the task whenever it wants the result.
///
/// It is [`join`](crate::join()) for code between the two that needs the result before its end. If nobody has begun the task when the body joins it, the body runs it in place. If the body does not join it, it is run all the same, before `fork`
/// returns. Handles may be joined in any order.
///
/// # Cost
/// That of `join`, and two atomic swaps. No allocation.
///
/// # Panics
/// A panic of the task goes on in `join` of its handle, or at the end of `fork` if nobody has joined it. Both closures run to their end.
///
/// ```
/// fn sum(values: &[u64]) -> u64 {
///     if values.len() < 100 {
///         return values.iter().sum();
///     }
///     let (left, right) = values.split_at(values.len() / 2);
///     blitz_core::fork(|| sum(right), |right| {
///         let left = sum(left);
///         left + right.join()
///     })
/// }
/// assert_eq!(sum(&(0..1000).collect::<Vec<_>>()), 499_500);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn fork<F, R, B, T>(task: F, body: B) -> T
where
    F: FnOnce() -> R + Send,
    R: Send,
    B: for<'f> FnOnce(Forked<'f, F, R>) -> T + Send,
    T: Send,
{
    let site = Site::caller();
    let frame = Frame {
        claimed: AtomicBool::new(false),
        task: UnsafeCell::new(Some((task, Spawned::here()))),
        result: UnsafeCell::new(None),
        ends: Ends::at(site),
        bell: Bell::new(ptr::null()),
    };
    let shared = &frame;
    // In a profile the task begins here and ends where it is joined, or with the body: also if that panics.
    let meets = Meets(&frame.ends);
    let (result, ()) = unprofiled(
        site,
        move || body(Forked { frame: shared }),
        move || shared.run_beside(),
    );
    drop(meets);
    match frame.result.into_inner() {
        // Nobody has asked.
        Some(Err(payload)) => cancel::resume(payload),
        _ => result,
    }
}

/// The calling thread goes on when what is noted there has ended, too, when this is dropped.
struct Meets<'a>(&'a Ends);

impl Drop for Meets<'_> {
    fn drop(&mut self) {
        self.0.meet();
    }
}

struct Frame<F, R> {
    /// Somebody runs the task, or has run it.
    claimed: AtomicBool,
    /// Belongs to whoever has claimed it.
    task: UnsafeCell<Option<(F, Spawned)>>,
    /// The same, until the bell is rung; then to the handle; after the join, to `fork`.
    result: UnsafeCell<Option<thread::Result<R>>>,
    ends: Ends,
    bell: Bell,
}

// SAFETY: task and result go from thread to thread, but belong to one at a time.
unsafe impl<F: Send, R: Send> Sync for Frame<F, R> {}

impl<F: FnOnce() -> R, R> Frame<F, R> {
    /// The task, for the first who asks.
    fn claim(&self) -> Option<impl FnOnce() -> R> {
        // Relaxed: whoever offered the task has handed over what it needs, as forks do, and the result is handed over by the bell.
        if self.claimed.swap(true, Ordering::Relaxed) {
            return None;
        }
        // SAFETY: claimed.
        let (task, spawned) = unsafe { (*self.task.get()).take() }?;
        let ends = &self.ends;
        Some(move || spawned.run(ends, task))
    }

    /// The second half of the join.
    fn run_beside(&self) {
        let Some(task) = self.claim() else { return };
        let seat = seat::current().expect("halves of a join run in seats");
        self.bell.context.set_parent(seat.context());
        // SAFETY: the caller occupies the seat. The panic ends here, and joins leave the stack as they found it. The bell is there until this has returned.
        let result = unsafe {
            seat.run_in(&raw const self.bell.context, || {
                catch_unwind(AssertUnwindSafe(task))
            })
        };
        // SAFETY: claimed, and not rung yet.
        unsafe { *self.result.get() = Some(result) };
        self.bell.ring();
    }
}

/// A task that has been offered; see [`fork`].
///
/// ```
/// // The second half is begun by whoever is free, and needed in the middle of the first.
/// let text = blitz_core::fork(|| "world".len(), |length| {
///     let greeting = String::from("hello, ");
///     let length = length.join();
///     format!("{greeting}{length} letters")
/// });
/// assert_eq!(text, "hello, 5 letters");
/// ```
#[must_use = "a task that nobody joins is run at the end of `fork`"]
pub struct Forked<'f, F, R> {
    frame: &'f Frame<F, R>,
}

impl<F: FnOnce() -> R, R> Forked<'_, F, R> {
    /// The task's result: runs it here if nobody has begun, waits for it otherwise.
    ///
    /// # Panics
    /// If the task does.
    ///
    /// ```
    /// let product = blitz_core::fork(|| 6, |six| blitz_core::fork(|| 7, |seven| six.join() * seven.join()));
    /// assert_eq!(product, 42);
    /// ```
    pub fn join(self) -> R {
        let _meets = Meets(&self.frame.ends);
        if let Some(task) = self.frame.claim() {
            return task();
        }
        self.frame.bell.wait();
        // SAFETY: rung, and there is one handle.
        let result = unsafe { (*self.frame.result.get()).take() };
        let result = result.expect("a result comes before the bell");
        result.unwrap_or_else(|payload| cancel::resume(payload))
    }

    /// Has another thread finished it?
    ///
    /// ```
    /// blitz_core::fork(|| 1, |one| println!("it has been stolen and is done: {}", one.is_finished()));
    /// ```
    pub fn is_finished(&self) -> bool {
        self.frame.bell.is_rung()
    }
}

impl<F, R> fmt::Debug for Forked<'_, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let finished = self.frame.bell.is_rung();
        f.debug_struct("Forked")
            .field("finished", &finished)
            .finish()
    }
}
