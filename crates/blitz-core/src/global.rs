//! The pool that everybody uses who has not made one: started on first use, never stopped.

use crate::builder::{ErrorKind, ThreadPoolBuildError, ThreadPoolBuilder, ThreadSpawn};
use crate::pool::Pool;
use std::sync::{Arc, OnceLock, PoisonError};

static GLOBAL: OnceLock<Arc<Pool>> = OnceLock::new();

/// The global pool, started now if need be.
///
/// # Panics
/// If its threads cannot be started. There is no silent sequential mode.
#[inline]
pub(crate) fn pool() -> &'static Pool {
    match GLOBAL.get() {
        Some(pool) => pool,
        None => start_default(),
    }
}

/// The global pool, if it has been started.
#[inline]
pub(crate) fn started() -> Option<&'static Pool> {
    GLOBAL.get().map(|pool| &**pool)
}

#[cold]
fn start_default() -> &'static Pool {
    match start(ThreadPoolBuilder::new()) {
        Ok(pool) => pool,
        // Somebody else was faster, or it really cannot be done.
        Err(error) => GLOBAL.get().unwrap_or_else(|| {
            panic!("the global thread pool could not be started: {error}");
        }),
    }
}

/// Starts the global pool from `builder`, unless it exists.
pub(crate) fn start<S: ThreadSpawn>(
    builder: ThreadPoolBuilder<S>,
) -> Result<&'static Pool, ThreadPoolBuildError> {
    // The lock, not the cell, decides who builds: a pool that fails to start must leave the cell empty.
    static BUILDING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if GLOBAL.get().is_some() {
        return Err(ErrorKind::GlobalPoolExists.into());
    }
    let pool = builder.build_pool(true)?;
    Ok(GLOBAL.get_or_init(|| pool))
}
