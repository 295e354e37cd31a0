//! The scheduler of the global pool, which all runtimes share that ask for no threads of their own.

use super::workers::{Reserves, Scheduler};
use crate::driver;
use crate::primitives::ignore_poison;
use crate::runtime::hooks::Hooks;
use blitz_core::companion::{Companion, PoolHandle, forks, notice_forks};
use std::io;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// See the module's documentation.
struct Global {
    generation: u64,
    scheduler: Mutex<Option<Arc<Scheduler>>>,
}

impl Global {
    /// Of this process. A child made by a fork has another one than its parent, one of whose threads may have held the lock just then.
    fn get() -> &'static Self {
        static GLOBAL: AtomicPtr<Global> = AtomicPtr::new(std::ptr::null_mut());
        notice_forks();
        loop {
            let found = GLOBAL.load(Ordering::Acquire);
            // SAFETY: what is in there is never freed.
            match unsafe { found.as_ref() } {
                Some(global) if global.generation == forks() => return global,
                _ => {}
            }
            let new = Box::into_raw(Box::new(Global {
                generation: forks(),
                scheduler: Mutex::new(None),
            }));
            let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            if GLOBAL.compare_exchange(found, new, order, failed).is_err() {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Scheduler>>> {
        ignore_poison(self.scheduler.lock())
    }
}

impl Scheduler {
    /// Calls `move_in` with the one of the global pool, made now if there is none in this process. That pool is not stopped meanwhile, nor while a runtime is in there.
    pub(crate) fn global<R>(move_in: impl FnOnce(Arc<Self>) -> R) -> io::Result<R> {
        let mut global = Global::get().lock();
        let scheduler = match &*global {
            Some(scheduler) => Arc::clone(scheduler),
            None => Self::of_global_pool()?,
        };
        *global = Some(Arc::clone(&scheduler));
        Ok(move_in(scheduler))
    }

    fn of_global_pool() -> io::Result<Arc<Self>> {
        let pool = PoolHandle::global().map_err(|error| {
            io::Error::other(format!("the global pool cannot be started: {error}"))
        })?;
        let driver = driver::new(driver::Clock::new(false), false)?;
        let scheduler = Self::new(
            pool.num_threads(),
            Reserves::DEFAULT,
            0,
            driver,
            Hooks::default(),
        );
        let companion: Arc<dyn Companion> = scheduler.clone();
        scheduler.set_pool(pool.clone());
        if pool.attach(&companion) {
            return Ok(scheduler);
        }
        if pool.is_ending() {
            // It has been stopped just now, and there is another one.
            return Self::of_global_pool();
        }
        Err(io::Error::other(
            "the global pool has a companion that is not a runtime of this crate",
        ))
    }

    /// The global pool wants to go on without it, which is as well unless a runtime is in there: see [`Companion::leaves`].
    pub(super) fn leaves_global_pool(&self, replace: &mut dyn FnMut()) -> bool {
        let mut global = Global::get().lock();
        if self.home().is_some() {
            return false;
        }
        replace();
        let ours = |scheduler: &mut Arc<Self>| std::ptr::eq(&**scheduler, self);
        let before = global.take_if(ours);
        drop(global);
        if before.is_some() {
            // The share of the runtimes that might have come. The workers have theirs until they end.
            self.leave();
        }
        true
    }
}
