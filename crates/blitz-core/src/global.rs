//! The pool that everybody uses who has not made one: started on first use, never stopped.
//!
//! A child of a process with a global pool gets one of its own, with the same settings, on first use ([`crate::fork`]).
//!
//! An async runtime may start it before anybody computes. A program that then asks for a global pool with settings of its own gets it, as long as no computation has
//! used the first: programs configure it at the beginning of `main`, which may be inside of the runtime. The runtime stays on the first.

use crate::builder::{ErrorKind, ThreadPoolBuildError, ThreadPoolBuilder, ThreadSpawn, revive};
use crate::fork::{self, ForkLock};
use crate::pool::Pool;
use crate::seat;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Holds a reference for ever.
static GLOBAL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());
/// The parent's, after a fork.
static INHERITED: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());
/// Somebody has computed in the global pool, or asked for it to be as it is.
static SETTLED: AtomicBool = AtomicBool::new(false);
/// Decides who builds: a pool that fails to start must leave `GLOBAL` empty. Taken when forks are noticed: a child that does not know that it is one would wait
/// for its parent's thread to open it.
static BUILDING: ForkLock<()> = ForkLock::new(());

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
    fork::notice();
    let _building = BUILDING.lock();
    if let Some(pool) = started() {
        return Ok(pool);
    }
    // SAFETY: as in `started`.
    let pool = match unsafe { INHERITED.load(Ordering::Relaxed).as_ref() } {
        Some(parents) => revive(parents)?,
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
    fork::notice();
    let _building = BUILDING.lock();
    if SETTLED.load(Ordering::Relaxed) && started().is_some() {
        return Err(ErrorKind::GlobalPoolExists.into());
    }
    let pool = builder.build_pool(true)?;
    SETTLED.store(true, Ordering::Relaxed);
    Ok(publish(pool))
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
        INHERITED.store(parents, Ordering::Relaxed);
    }
}
