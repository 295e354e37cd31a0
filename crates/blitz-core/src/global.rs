//! The pool that everybody uses who has not made one: started on first use.
//!
//! It can be stopped, and is started again on the next use, with the same settings. So it is in a child of a process with a global pool ([`crate::process_fork`]).
//! A pool that was the global one is never freed, since somebody may just have looked it up; it lets nobody in, and whoever is turned away takes the next one.
//!
//! An async runtime may start it before anybody computes. A program that then asks for a global pool with settings of its own gets it, as long as no computation has
//! used the first: programs configure it at the beginning of `main`, which may be inside of the runtime. If it is just another number of threads, the first
//! pool gets that; otherwise there is a second one, and the runtime stays on the first.

use crate::builder::{ErrorKind, ThreadPoolBuildError, ThreadPoolBuilder, ThreadSpawn, revive};
use crate::pool::Pool;
use crate::process_fork::{self, ForkLock, Locked};
use crate::seat;
use crate::thread_pool;
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Instant;

/// Holds a reference for ever, also to those before.
static GLOBAL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());
/// The one before, if there is none now: the parent's, after a fork, or one that has been stopped.
static FORMER: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());
/// Somebody has computed in the global pool, or asked for it to be as it is.
static SETTLED: AtomicBool = AtomicBool::new(false);
/// Decides who builds: a pool that fails to start must leave `GLOBAL` empty. Taken when forks are noticed: a child that does not know that it is one would wait
/// for its parent's thread to open it.
static BUILDING: ForkLock<()> = ForkLock::new(());

thread_local! {
    /// The calling thread has `BUILDING`, in the process of this generation. The user's code runs under it: the closures of `spawn_handler` and `thread_name`.
    static BUILDS: Cell<Option<u64>> = const { Cell::new(None) };
}

/// The right to start the global pool, or to replace it.
struct Building {
    _lock: Locked<'static, ()>,
}

impl Building {
    /// Waits for whoever has it.
    ///
    /// # Panics
    /// If that is the calling thread, which would wait for itself.
    fn begin() -> Self {
        assert!(
            BUILDS.get() != Some(process_fork::generation()),
            "the global thread pool is just being started by the calling thread, which cannot use it before that: \
             a spawn_handler or a thread_name of the global pool must not call anything parallel"
        );
        let lock = BUILDING.lock();
        BUILDS.set(Some(process_fork::generation()));
        Building { _lock: lock }
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        BUILDS.set(None);
    }
}

/// The global pool, started now if need be.
///
/// # Panics
/// If its threads cannot be started. There is no silent sequential mode.
#[inline]
pub(crate) fn pool() -> &'static Pool {
    settle();
    match started() {
        Some(pool) => pool,
        None => get_or_start().unwrap_or_else(|error| cannot_start(&error)),
    }
}

/// Somebody computes in the global pool.
#[inline]
pub(crate) fn settle() {
    if !SETTLED.load(Ordering::Relaxed) {
        SETTLED.store(true, Ordering::Relaxed);
    }
}

#[cold]
fn cannot_start(error: &ThreadPoolBuildError) -> ! {
    panic!("the global thread pool could not be started: {error}")
}

/// The global pool, if it has been started.
#[inline]
pub(crate) fn started() -> Option<&'static Pool> {
    // SAFETY: what is in there is kept for ever. Acquire: the pool itself.
    unsafe { GLOBAL.load(Ordering::Acquire).as_ref() }
}

/// The global pool for somebody who takes it as it is, and does not mind if it is replaced.
#[cold]
pub(crate) fn get_or_start() -> Result<&'static Pool, ThreadPoolBuildError> {
    process_fork::notice();
    let _building = Building::begin();
    if let Some(pool) = started() {
        return Ok(pool);
    }
    // SAFETY: as in `started`.
    let pool = match unsafe { FORMER.load(Ordering::Relaxed).as_ref() } {
        Some(former) => revive(former)?,
        None => with_defaults()?,
    };
    Ok(publish(pool))
}

/// Where there are no threads (WebAssembly without them), the pool is the caller alone: what it spawns it runs when it waits or yields.
fn with_defaults() -> Result<Arc<Pool>, ThreadPoolBuildError> {
    let started = ThreadPoolBuilder::new().build_pool(true);
    match started {
        Err(error) if error.is_unsupported() && seat::current().is_none() => {
            let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
            alone.build_pool(true)
        }
        started => started,
    }
}

/// Starts the global pool from `builder`, unless it exists.
pub(crate) fn start<S: ThreadSpawn>(
    builder: ThreadPoolBuilder<S>,
) -> Result<&'static Pool, ThreadPoolBuildError> {
    process_fork::notice();
    let _building = Building::begin();
    let settled = SETTLED.load(Ordering::Relaxed);
    match started() {
        Some(_) if settled => Err(ErrorKind::GlobalPoolExists.into()),
        Some(pool) if pool.plain && builder.is_plain() => {
            // What a runtime has started will do, with another number of threads.
            pool.resize(builder.resolve_num_threads())?;
            settle();
            Ok(pool)
        }
        _ => {
            let pool = builder.build_pool(true)?;
            settle();
            Ok(publish(pool))
        }
    }
}

fn publish(pool: Arc<Pool>) -> &'static Pool {
    let pool = Arc::into_raw(pool);
    GLOBAL.store(pool.cast_mut(), Ordering::Release);
    // SAFETY: the reference is never given back.
    unsafe { &*pool }
}

/// In a child: the parent's pool is of no use here.
#[cfg(unix)]
pub(crate) fn forget() {
    let parents = GLOBAL.swap(ptr::null_mut(), Ordering::Relaxed);
    if !parents.is_null() {
        FORMER.store(parents, Ordering::Relaxed);
    }
}

/// Where work goes that a closed pool has turned away.
///
/// # Panics
/// If that was not the global pool.
#[track_caller]
pub(crate) fn instead_of(closed: &Pool) -> &'static Pool {
    if !closed.global {
        closed.refuse_work();
    }
    pool()
}

/// Stops the global pool, if it has been started, and waits for its threads, until `deadline` at most. `false`: some have not ended.
///
/// # Panics
/// If the calling thread is in it, or if a runtime lives there.
#[track_caller]
pub(crate) fn stop(deadline: Option<Instant>) -> bool {
    let Some(pool) = started() else { return true };
    pool.assert_outside();
    let mut replace = || {
        let _building = Building::begin();
        let this = ptr::from_ref(pool).cast_mut();
        let (order, none) = (Ordering::Relaxed, ptr::null_mut());
        if GLOBAL.compare_exchange(this, none, order, order).is_ok() {
            FORMER.store(this, order);
            SETTLED.store(false, order);
        }
    };
    match pool.companion() {
        Some(companion) => assert!(
            companion.leaves(&mut replace),
            "the global pool cannot be stopped while an async runtime lives on it: \
             drop the runtime first, or give it threads of its own (worker_threads)"
        ),
        None => replace(),
    }
    pool.close();
    thread_pool::wait_for_end(pool, deadline)
}
