//! Detached tasks: they outlive whoever spawned them, and the pool outlives them.

use crate::cancel::Cancelled;
use crate::context::{self, Context, TaskContext};
use crate::entered::current;
use crate::handle::{JoinHandle, Shared};
use crate::inherited::Captured;
use crate::pool::Pool;
use crate::priority::{Priority, current_priority};
use crate::profile::Spawned;
use crate::seat::{self, Seat};
use crate::site::Site;
use crate::task::{self, TaskRef};
use crate::wake;
use blitz_primitives::Full;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Runs `func` on the pool, some time, without waiting for it.
///
/// The pool is the current thread's, or the global one. On a worker, the newest task runs first; other
/// threads steal the oldest.
///
/// # Panics
/// A panic in `func` goes to the pool's panic handler. Without one it aborts the process.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// blitz_core::spawn(move || sender.send(42).unwrap());
/// assert_eq!(receiver.recv(), Ok(42));
/// ```
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    spawn_in(&current(), func);
}

/// Like [`spawn`], unless as many tasks wait in the pool as it was made for ([`queue_capacity`](crate::ThreadPoolBuilder::queue_capacity)): then it hands the closure back.
///
/// # Errors
/// With the closure. In a pool without such a limit, never.
///
/// ```
/// assert!(blitz_core::try_spawn(|| ()).is_ok());
/// ```
pub fn try_spawn<F>(func: F) -> Result<(), Full<F>>
where
    F: FnOnce() + Send + 'static,
{
    try_spawn_in(&current(), func)
}

/// Like [`spawn`], but tasks of one thread run in the order in which it spawned them.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// for i in 0..3 {
///     let sender = sender.clone();
///     blitz_core::spawn_fifo(move || sender.send(i).unwrap());
/// }
/// assert_eq!(receiver.iter().take(3).sum::<i32>(), 3);
/// ```
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    spawn_fifo_in(&current(), func);
}

/// Like [`spawn`], with a handle to the result: join it, poll it, or await it.
///
/// A panic in `func` is carried to whoever joins the handle.
///
/// ```
/// let handle = blitz_core::spawn_handle(|| (1..=10).product::<u64>());
/// assert_eq!(handle.join().unwrap(), 3_628_800);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn spawn_handle<F, T>(func: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_handle_in(&current(), func)
}

pub(crate) fn spawn_in(pool: &Pool, func: impl FnOnce() + Send + 'static) {
    pool.make_room();
    // SAFETY: `make_room` has been called.
    unsafe { spawn_with_room(pool, func) };
}

/// As `spawn_in`, unless there are too many tasks: then it hands the closure back.
pub(crate) fn try_spawn_in<F: FnOnce() + Send + 'static>(
    pool: &Pool,
    func: F,
) -> Result<(), Full<F>> {
    if !pool.has_room() {
        return Err(Full(func));
    }
    // SAFETY: there was room, which is this task's now.
    unsafe { spawn_with_room(pool, func) };
    Ok(())
}

/// # Safety
/// A place among the tasks that wait has been taken for it.
unsafe fn spawn_with_room(pool: &Pool, func: impl FnOnce() + Send + 'static) {
    let inherited = Captured::for_detached();
    let priority = inherited.priority();
    let func = move || inherited.run_task(func);
    let root = &raw const context::ROOT;
    // SAFETY: the root lives for ever, and `func` is `Send` and `'static`.
    unsafe { submit(pool, priority, root, detached::<true>(pool, func)) };
}

pub(crate) fn spawn_fifo_in(pool: &Pool, func: impl FnOnce() + Send + 'static) {
    let to_own = |seat: &&Seat| !seat.spawns_to_all() && current_priority() == Priority::Latency;
    let Some(seat) = pool.current_seat().filter(to_own) else {
        // The shared queues are first in, first out.
        return spawn_in(pool, func);
    };
    pool.make_room();
    let root = &raw const context::ROOT;
    let inherited = Captured::for_detached();
    let func = move || inherited.run_task(func);
    // SAFETY: as in `spawn_in`.
    let task = unsafe { make(Some(seat), root, detached::<true>(pool, func)) };
    let home = seat.index;
    if pool.seats[home].fifo.push(task).is_err() {
        unreachable!("a growing queue takes everything");
    }
    let address = std::ptr::from_ref(pool).expose_provenance();
    let token = move || {
        // SAFETY: tokens run on the pool's own threads, which keep it alive.
        let pool = unsafe { &*std::ptr::with_exposed_provenance::<Pool>(address) };
        // There is an entry for each token.
        pool.seats[home].fifo.pop_promised().run();
    };
    // SAFETY: as in `spawn_in`.
    unsafe { submit(pool, Priority::Latency, root, token) };
}

#[cfg_attr(feature = "sites", track_caller)]
pub(crate) fn spawn_handle_in<T: Send + 'static>(
    pool: &Pool,
    func: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    pool.make_room();
    let shared = Arc::new(Shared::new(Site::caller(), pool, &raw const context::ROOT));
    let ours = Arc::clone(&shared);
    let spawned = Spawned::here();
    let inherited = Captured::for_detached();
    let priority = inherited.priority();
    let run = move || {
        let func = || inherited.run_task(|| spawned.run(&ours.ends, func));
        ours.complete(catch_unwind(AssertUnwindSafe(func)));
    };
    // SAFETY: `shared` is alive until the task has run, and during this call.
    unsafe {
        submit(
            pool,
            priority,
            shared.context(),
            detached::<true>(pool, run),
        )
    };
    JoinHandle::new(shared)
}

/// For companions, which may outlive the pool's threads.
pub(crate) fn spawn_unless_ended<F: FnOnce() + Send + 'static>(
    pool: &Pool,
    expected: Option<u64>,
    func: F,
) -> Result<(), F> {
    if !pool.try_retain() {
        return Err(func);
    }
    let root = &raw const context::ROOT;
    let inherited = Captured::for_detached();
    let priority = inherited.priority();
    // What it does about a token is the companion's.
    let func = move || inherited.run(func);
    // SAFETY: as in `spawn_in`.
    unsafe {
        let run = retained::<false>(pool, func);
        let short = expected.filter(|&expected| !wake::outlasts_a_wake(expected));
        match (pool.current_seat(), short) {
            // From an extra seat, nobody gets to it on the way.
            (Some(seat), Some(expected))
                if !seat.spawns_to_all() && current_priority() == Priority::Latency =>
            {
                let alone = seat.stealer().is_empty();
                seat.push_task(make(Some(seat), root, run));
                if !alone && wake::ends_a_row(expected) {
                    pool.wake_if_nobody_searches();
                }
            }
            _ => submit(pool, priority, root, run),
        }
    }
    Ok(())
}

/// Wraps a detached closure: the pool lives until it has ended, and gets its panic. `COUNTED`: it has a place among those that wait, until it begins.
pub(crate) fn detached<const COUNTED: bool>(
    pool: &Pool,
    func: impl FnOnce() + Send + 'static,
) -> impl FnOnce() + Send {
    pool.retain();
    retained::<COUNTED>(pool, func)
}

/// The same, with a share of the pool's life that the caller has taken for it.
fn retained<const COUNTED: bool>(
    pool: &Pool,
    func: impl FnOnce() + Send + 'static,
) -> impl FnOnce() + Send {
    let address = std::ptr::from_ref(pool).expose_provenance();
    move || {
        // SAFETY: the task runs on one of the pool's threads (or a guest's, who holds the pool), and has not
        // released its share of the pool's life.
        let pool = unsafe { &*std::ptr::with_exposed_provenance::<Pool>(address) };
        if COUNTED {
            pool.task_begins();
        }
        let seat = seat::current().expect("tasks run in seats");
        let task = TaskContext::new(address, seat.context());
        // SAFETY: the caller occupies the seat, and has forked nothing.
        let outer = unsafe { seat.go_on_in(task.context()) };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(func)) {
            // With the closure, what it descended from may have gone: its handle's context.
            task.outlive();
            if Cancelled::of_panic(&*payload).is_none() {
                pool.handle_panic(payload);
            }
        }
        // SAFETY: as above: panics have ended in here, and joins leave the stack as they found it.
        unsafe { seat.go_on_in(outer) };
        pool.release();
    }
}

/// # Safety
/// `run` may be called on any thread at any time, and `context` is alive until it has run and during this
/// call.
pub(crate) unsafe fn submit(
    pool: &Pool,
    priority: Priority,
    context: *const Context,
    run: impl FnOnce(),
) {
    let seat = pool.current_seat();
    // SAFETY: passed on.
    let task = unsafe { make(seat, context, run) };
    match seat {
        _ if priority == Priority::Background => pool.inject_behind(task),
        // SAFETY: the caller occupies the seat; the rest is passed on.
        Some(seat) if !seat.spawns_to_all() => unsafe {
            seat.push_task(task);
            pool.task_posted(context);
        },
        _ => pool.inject(task),
    }
}

/// # Safety
/// As for [`submit`]; the seat is the caller's.
pub(crate) unsafe fn make(
    seat: Option<&Seat>,
    context: *const Context,
    run: impl FnOnce(),
) -> TaskRef {
    match seat {
        // SAFETY: passed on; the caller occupies the seat.
        Some(seat) => unsafe { task::allocate(seat.arena(), context, run) },
        // SAFETY: passed on.
        None => unsafe { task::allocate_outside(context, run) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ThreadPoolBuilder, context};
    use std::sync::{Mutex, mpsc};

    /// The contexts that the caller is inside of, by their addresses, the innermost first.
    fn ancestry() -> Vec<usize> {
        let mut all = Vec::new();
        let mut context = seat::current().unwrap().context();
        while !context.is_null() {
            all.push(context.addr());
            // SAFETY: that of code that runs, and its ancestors.
            context = unsafe { (*context).parent() };
        }
        all
    }

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("the result is dropped");
        }
    }

    #[test]
    fn a_panic_handler_does_not_run_in_the_context_of_a_handle_that_is_gone() {
        let (sender, in_handler) = mpsc::channel();
        let sender = Mutex::new(sender);
        let pool = ThreadPoolBuilder::new()
            .num_threads(1)
            .panic_handler(move |_| sender.lock().unwrap().send(ancestry()).unwrap())
            .build()
            .unwrap();
        let (tell, in_task) = mpsc::channel();
        let (go, wait) = mpsc::channel::<()>();
        let handle = pool.spawn_handle(move || {
            tell.send(ancestry()).unwrap();
            wait.recv().ok();
            Bomb
        });
        let in_task = in_task.recv().unwrap();
        drop(handle);
        drop(go);
        let in_handler = in_handler.recv().unwrap();
        let root = (&raw const context::ROOT).addr();
        let [task, _handles, end] = in_task[..] else {
            panic!("{in_task:?}")
        };
        assert_eq!((in_handler, end), (vec![task, root], root));
    }
}
