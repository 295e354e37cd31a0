//! Code that blocks, in the middle of a pool's work.

use crate::away;
use crate::seat;

/// Runs `work`, which may block, on the calling thread, and lets another thread of the pool's kind stand in for it meanwhile.
///
/// Whatever the thread has queued, and whatever the pool has to do, goes on: also if every thread of the pool is inside of this call. So `work` may wait for a lock or a
/// channel of the standard library, for a file, or for a child process. It may also wait for something that another task of the same pool does; without this, a pool of one thread would
/// wait for ever.
///
/// Outside of any pool it just runs `work`. Calls may be nested; a panic in `work` goes on.
///
/// The threads that stand in are started when there is something for them to do. When they are through, they wait a second for more. They are as the pool's own: their stacks, what the start
/// handler does, and their names, which end with `-rescue`. There are at most [`max_rescue_threads`](crate::ThreadPoolBuilder::max_rescue_threads) of them, 512 by default.
/// Beyond that the pool does without, and what only they would run waits until some `work` is through.
///
/// Costs a few atomic operations if nobody has to be woken. What computes belongs in the pool itself: here it would be one thread more than there are CPUs.
///
/// ```
/// use std::sync::mpsc;
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let answer = pool.install(|| {
///     let (sender, receiver) = mpsc::channel();
///     blitz_core::spawn(move || sender.send(42).unwrap());
///     // The pool's only thread waits here, and the task is run all the same.
///     blitz_core::block_in_place(|| receiver.recv())
/// });
/// assert_eq!(answer, Ok(42));
/// ```
pub fn block_in_place<F, R>(work: F) -> R
where
    F: FnOnce() -> R,
{
    let Some(seat) = seat::current() else {
        return work();
    };
    // An async runtime's tasks, which this thread may serve, need somebody, too.
    seat.tell_companion_blocked();
    away::work_elsewhere(seat, work)
}
