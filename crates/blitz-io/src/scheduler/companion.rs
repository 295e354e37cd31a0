//! The scheduler as the engine sees it: what its threads ask and tell.

use super::core::Core;
use super::service::leaves_driver_to;
use super::workers::Scheduler;
use crate::runtime::hooks;
use blitz_core::companion::{Companion, PoolHandle};
use blitz_core::demand::ticks;

impl Scheduler {
    fn core_of(&self, worker: usize) -> &Core {
        &self.cores[self.cores.index_of(worker)]
    }

    /// The calling thread is about to sleep: does it leave the driver to somebody who still serves, since it came late the last time (see `load_estimate`)?
    fn caller_leaves_driver(&self) -> bool {
        let late = self.my_core().is_some_and(|(core, _)| core.late.get());
        late && self.stealing && {
            let now = ticks();
            let soon = |&(_, core): &(usize, &Core)| core.is_soon_through(now);
            let others = self.servers().filter(soon);
            leaves_driver_to(others.map(|(_, core)| &*core.service))
        }
    }
}

impl Companion for Scheduler {
    fn thread_started(&self, index: Option<usize>) {
        self.enter();
        match index {
            Some(worker) => {
                let index = self.cores.index_of(worker);
                self.cores.grow_to(index);
                self.enter_worker(index);
                self.cores[index].is_busy();
            }
            None => self.enter_without_core(),
        }
        hooks::call(&self.hooks.start);
    }

    fn thread_stopped(&self, index: Option<usize>) {
        if let Some((core, _)) = self.my_core() {
            core.was_busy();
            if index.is_some_and(|worker| worker >= self.workers()) {
                // The pool goes on with fewer threads.
                // SAFETY: the core is this thread's.
                unsafe { self.empty(core) };
                if self.driver.needs_attendant() {
                    // It may have been this one.
                    self.pool().map(PoolHandle::wake_one);
                }
            }
        }
        hooks::call(&self.hooks.stop);
        Scheduler::leave_worker((std::ptr::null(), 0));
        self.leave();
    }

    fn has_work(&self) -> bool {
        if self.stealing {
            return self.has_ready_task();
        }
        let Some((_, mine)) = self.my_core() else {
            return self.has_ready_task();
        };
        let mut cores = self.cores.with_index();
        self.injector.len() > 0
            || cores.any(|(index, core)| {
                core.has_work() && (index == mine || self.may_steal(mine, core))
            })
    }

    fn run(&self, worker: usize) -> bool {
        self.run_slice(self.cores.index_of(worker))
    }

    fn expects_more(&self, worker: usize) -> bool {
        // Threads outside that spawn and wake do so again.
        self.core_of(worker).fed.get()
    }

    fn attend(&self, _index: usize) -> bool {
        if self.caller_leaves_driver() {
            // It may take long until the other one is there.
            self.watch.keep(self);
            return false;
        }
        self.driver.try_enter()
    }

    fn wants_attendant(&self) -> bool {
        self.driver.needs_attendant() && !self.caller_leaves_driver()
    }

    fn falls_asleep(&self, worker: usize) {
        hooks::call(&self.hooks.park);
        self.core_of(worker).falls_asleep();
    }

    fn is_awake(&self, worker: usize) {
        self.core_of(worker).is_busy();
        hooks::call(&self.hooks.unpark);
    }

    fn block(&self, _index: usize) -> bool {
        // SAFETY: `attend` returned `true` to this thread.
        let woken = unsafe { self.driver.block() };
        if let Some((core, _)) = self.my_core() {
            core.leaves_driver();
        }
        woken
    }

    fn unattend(&self, _index: usize) {
        // SAFETY: as above.
        unsafe { self.leave_driver() };
    }

    fn listen(&self) -> bool {
        if !self.driver.needs_attendant() {
            return false;
        }
        let woken = self.driver.look();
        // As when an attendant leaves: whoever fell asleep meanwhile has taken us for one.
        self.watch.keep(self);
        woken > 0
    }

    fn interrupt(&self) {
        self.driver.interrupt();
    }

    fn beat(&self, worker: usize) {
        match self.cores.of_worker(worker) {
            Some(core) => self.relief.beat(self, core),
            None => self.relief.relief_computes(self),
        }
    }

    fn blocked(&self, worker: usize) {
        let Some(core) = self.cores.of_worker(worker) else {
            return self.relief.relief_blocks();
        };
        // If this is inside of a task's poll, the next task has to wait.
        core.service.takes_long();
        self.relief.worker_blocks(self);
    }

    fn leaves(&self, replace: &mut dyn FnMut()) -> bool {
        self.leaves_global_pool(replace)
    }

    fn task_waits(&self) {
        // Workers that compute get to it, or leave it lying when they run a task next; unless all of them block in what they compute, while others, which do not, are stuck in tasks.
        if self.my_core().is_none() || self.cores.any(|core| core.service.is_in_slice()) {
            self.watch.keep(self);
        }
    }
}

#[cfg(all(test, unix, not(loom)))]
mod tests {
    use super::super::workers::Reserves;
    use super::*;
    use crate::context;
    use crate::driver;
    use crate::runtime::hooks::Hooks;
    use crate::time;
    use blitz_core::demand::ticks_per_us;
    use std::task::{Context, Waker};
    use std::time::Duration;

    #[test]
    fn a_worker_that_came_late_leaves_the_driver_to_one_that_is_soon_through() {
        let driver = driver::new(driver::Clock::new(false), false).unwrap();
        let reserves = Reserves {
            stealing: true,
            ..Reserves::NONE
        };
        let scheduler = Scheduler::new(2, reserves, 0, driver, Hooks::default());
        // Somebody waits for the driver.
        let handle = scheduler.driver.handle().clone();
        let driver_before = context::bare_driver::enter(handle);
        let mut sleep = Box::pin(time::sleep(Duration::from_secs(3600)));
        let context = &mut Context::from_waker(Waker::noop());
        assert!(sleep.as_mut().poll(context).is_pending());
        let before = scheduler.enter_worker(0);
        let [late, other] = [&scheduler.cores[0], &scheduler.cores[1]];
        let attends = || {
            let attends = scheduler.attend(0);
            if attends {
                scheduler.unattend(0);
            }
            // Else it would come back at once, again and again.
            assert_eq!(scheduler.wants_attendant(), attends);
            attends
        };
        other.service.goes_on();
        other.is_through(ticks());
        assert!(attends(), "it did not come late");
        late.late.set(true);
        assert!(!attends());
        other.service.ends();
        assert!(attends(), "nobody else serves");
        other.service.goes_on();
        other.is_through(ticks().saturating_sub(1_000_000 * ticks_per_us()));
        assert!(attends(), "the other one always has tasks");
        drop(sleep);
        Scheduler::leave_worker(before);
        context::bare_driver::leave(driver_before);
    }
}
