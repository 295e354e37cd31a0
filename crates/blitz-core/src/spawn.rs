//! Detached tasks: they outlive whoever spawned them, and the pool outlives them.

use crate::context::{self, Context};
use crate::handle::{JoinHandle, Shared};
use crate::pool::Pool;
use crate::profile::Spawned;
use crate::scope::current_pool;
use crate::seat;
use crate::task::{self, TaskRef};
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
    spawn_in(current_pool(), func);
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
    spawn_fifo_in(current_pool(), func);
}

/// Like [`spawn`], with a handle to the result: join it, poll it, or await it.
///
/// A panic in `func` is carried to whoever joins the handle.
///
/// ```
/// let handle = blitz_core::spawn_handle(|| (1..=10).product::<u64>());
/// assert_eq!(handle.join().unwrap(), 3_628_800);
/// ```
#[cfg_attr(feature = "profile", track_caller)]
pub fn spawn_handle<F, T>(func: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_handle_in(current_pool(), func)
}

pub(crate) fn spawn_in(pool: &Pool, func: impl FnOnce() + Send + 'static) {
    let root = &raw const context::ROOT;
    // SAFETY: the root lives for ever, and `func` is `Send` and `'static`.
    unsafe { submit(pool, root, detached(pool, func)) };
}

pub(crate) fn spawn_fifo_in(pool: &Pool, func: impl FnOnce() + Send + 'static) {
    let Some(seat) = pool.current_seat() else {
        // The shared queue is first in, first out.
        return spawn_in(pool, func);
    };
    let root = &raw const context::ROOT;
    // SAFETY: as in `spawn_in`.
    let task = unsafe { make(pool, root, detached(pool, func)) };
    // The queue of the thread with this index, whose stand-in or rescue thread the caller may be: it is there as long as the pool.
    let home = seat.index;
    if pool.seats[home].fifo.push(task).is_err() {
        unreachable!("a growing queue takes everything");
    }
    let address = std::ptr::from_ref(pool).expose_provenance();
    let token = move || {
        // SAFETY: tokens run on the pool's own threads, which keep it alive.
        let pool = unsafe { &*std::ptr::with_exposed_provenance::<Pool>(address) };
        let oldest = pool.seats[home].fifo.pop();
        oldest.expect("an entry for each token").run();
    };
    // SAFETY: as in `spawn_in`.
    unsafe { submit(pool, root, token) };
}

#[cfg_attr(feature = "profile", track_caller)]
pub(crate) fn spawn_handle_in<T: Send + 'static>(
    pool: &Pool,
    func: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let shared = Arc::new(Shared::new(&raw const context::ROOT));
    let ours = Arc::clone(&shared);
    let spawned = Spawned::here();
    let run = move || {
        let func = || spawned.run(&ours.ends, func);
        ours.complete(catch_unwind(AssertUnwindSafe(func)));
    };
    // SAFETY: `shared` is alive until the task has run, and during this call.
    unsafe { submit(pool, shared.context(), detached(pool, run)) };
    JoinHandle::new(shared)
}

/// For companions, which may outlive the pool's threads.
pub(crate) fn spawn_unless_ended<F: FnOnce() + Send + 'static>(
    pool: &Pool,
    quietly: bool,
    func: F,
) -> Result<(), F> {
    if !pool.try_retain() {
        return Err(func);
    }
    let root = &raw const context::ROOT;
    // SAFETY: as in `spawn_in`.
    unsafe {
        let run = detached(pool, func);
        // The closure has its own share of the pool's life now.
        pool.release();
        match pool.current_seat() {
            // A stand-in does not get to it.
            Some(seat) if quietly && !pool.reserve.has(seat) => {
                seat.push_task(make(pool, root, run))
            }
            _ => submit(pool, root, run),
        }
    }
    Ok(())
}

/// Wraps a detached closure: the pool lives until it has ended, and gets its panic.
pub(crate) fn detached(pool: &Pool, func: impl FnOnce() + Send + 'static) -> impl FnOnce() + Send {
    pool.retain();
    let address = std::ptr::from_ref(pool).expose_provenance();
    move || {
        // SAFETY: the task runs on one of the pool's threads (or a guest's, who holds the pool), and has not
        // released its share of the pool's life.
        let pool = unsafe { &*std::ptr::with_exposed_provenance::<Pool>(address) };
        let seat = seat::current().filter(|seat| pool.owns(seat));
        let count = |change: fn(usize) -> usize| {
            if let Some(seat) = seat {
                seat.detached_depth.set(change(seat.detached_depth.get()));
            }
        };
        count(|depth| depth + 1);
        pool.catch_panic(func);
        count(|depth| depth - 1);
        pool.release();
    }
}

/// # Safety
/// `run` may be called on any thread at any time, and `context` is alive until it has run and during this
/// call.
unsafe fn submit(pool: &Pool, context: *const Context, run: impl FnOnce()) {
    // SAFETY: passed on.
    let task = unsafe { make(pool, context, run) };
    match pool.current_seat() {
        // SAFETY: the caller occupies the seat; the rest is passed on.
        Some(seat) if !seat.stands_in() => unsafe {
            seat.push_task(task);
            pool.task_posted(context);
        },
        _ => pool.inject(task),
    }
}

/// # Safety
/// As for [`submit`].
unsafe fn make(pool: &Pool, context: *const Context, run: impl FnOnce()) -> TaskRef {
    match pool.current_seat() {
        // SAFETY: passed on; the caller occupies the seat.
        Some(seat) => unsafe { task::allocate(seat.arena(), context, run) },
        // SAFETY: passed on.
        None => unsafe { task::allocate_boxed(context, run) },
    }
}
