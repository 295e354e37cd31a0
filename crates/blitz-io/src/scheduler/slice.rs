//! A slice: what a worker does with its time, and where it finds its next task.
//!
//! A worker of the engine that has nothing on its stack runs tasks for a slice ([`Scheduler::run_slice`]). Then it looks for the
//! engine's CPU work again. Tasks come from these places, in this order: the worker's own slot and ring, the shared queue, and other workers' rings. (The shared queue
//! also comes *first* once per interval, so local tasks cannot starve it.)

use super::core::{self, Core, Pushed};
use super::injector::refuse;
use super::workers::Scheduler;
use crate::context;
use crate::task::Queued;
use blitz_core::demand::{ticks, ticks_per_us};
use blitz_core::primitives::fence;

/// Tasks in a slice, and its length; the engine's work gets its turn afterwards.
const SLICE_TASKS: u32 = 256;
const SLICE_US: u64 = 1_000;
/// Tasks between two looks at the clock, and at the driver.
const CLOCK_INTERVAL: u32 = 16;
const DRIVER_INTERVAL: u32 = 64;
/// Tasks between two looks at the driver if there is always just one: it yields, perhaps until something happens there.
const LONELY_INTERVAL: u32 = 4;

impl Scheduler {
    /// Runs tasks on the core `index` for a while. `false`: there was none.
    pub(crate) fn run_slice(&self, index: usize) -> bool {
        self.run_slice_beside(index, || false)
    }

    /// As [`run_slice`](Self::run_slice), beside somebody who wants to go on when `wanted` says so: tasks that are ready then come first, each of them once. Those that
    /// go on and on have to let the other one go on between two turns.
    pub(crate) fn run_slice_beside(&self, index: usize, wanted: impl Fn() -> bool) -> bool {
        // Asked once for all of its polls: two functions, so that none of them asks.
        #[cfg(feature = "console")]
        if blitz_core::console::is_looked_at() {
            return self.run_slice_seen::<true>(index, wanted);
        }
        self.run_slice_seen::<false>(index, wanted)
    }

    /// As [`run_slice_beside`](Self::run_slice_beside). `SEEN`: the console looks, and each poll says where its task was spawned.
    fn run_slice_seen<const SEEN: bool>(&self, index: usize, wanted: impl Fn() -> bool) -> bool {
        let mut most = SLICE_TASKS;
        let mut counted = false;
        let core = &self.cores[index];
        let is_relief = self.cores.is_relief(index);
        // Tasks' runtimes come and go; afterwards the thread is where it was.
        let _outside = context::Outside::remember();
        let start = ticks();
        let mut clock = start;
        let end = start + SLICE_US * ticks_per_us();
        let mut polled = 0u32;
        // From now on, so that nobody outside calls the relief thread for what we are about to take.
        core.service.goes_on();
        core.now.slice_begins();
        core.load.slice_begins(start, core.len());
        core.fed.set(false);
        loop {
            if wanted() && !counted {
                counted = true;
                let ready = u32::try_from(core.ready() + self.injector.len());
                most = most.min(polled.saturating_add(ready.unwrap_or(SLICE_TASKS)));
            }
            if polled >= most {
                break;
            }
            // SAFETY: the core is the calling thread's.
            let Some(task) = (unsafe { self.next(core, index) }) else {
                if polled > 0 && self.driver_has_more(core, index) {
                    continue;
                }
                break;
            };
            if polled == 0 {
                self.leaves_computations(index);
                let queued = self.injector.len();
                if core.load.asks_for_help(core.len() + queued) {
                    // We are about to be busy, and there is more.
                    self.notify();
                } else if queued > 0 {
                    // Somebody may have relied on us, who were searching.
                    self.watch.keep(self);
                }
            }
            // Again, since a task that blocks or computes for long takes it back.
            core.service.goes_on();
            if core.has_work() {
                self.watch.keep(self);
            }
            let lonely = polled % LONELY_INTERVAL == LONELY_INTERVAL - 1 && self.has_no_other(core);
            if lonely {
                self.driver.look();
            }
            task.run_noted(&core.now, SEEN);
            if is_relief && self.my_core().is_none() {
                // The relief thread has blocked in there, and the core is another one's now.
                return true;
            }
            polled += 1;
            if polled % CLOCK_INTERVAL == 0 {
                let before = std::mem::replace(&mut clock, ticks());
                core.load
                    .stretch_ends(CLOCK_INTERVAL, before, clock, core.len());
                if clock > end {
                    break;
                }
            }
            if lonely && self.pool().is_none() {
                // The one thread is in the driver's seat already, and looks there between two slices.
                break;
            }
        }
        if polled % CLOCK_INTERVAL != 0 {
            let before = std::mem::replace(&mut clock, ticks());
            let polls = polled % CLOCK_INTERVAL;
            core.load.stretch_ends(polls, before, clock, core.len());
        }
        let waiting = core.len() + self.injector.len();
        if waiting == 0 {
            core.is_through(clock);
        }
        if core.load.slice_ends(clock, waiting) {
            self.notify();
        }
        core::add(&core.counts.polled, u64::from(polled));
        let elapsed_ns = clock.saturating_sub(start) * 1000 / ticks_per_us().max(1);
        core.learn(u64::from(polled), elapsed_ns);
        core.service.ends();
        polled > 0
    }

    /// The owner of the core is through with its tasks. Has something happened in the driver meanwhile? Where messages go to and fro it mostly has, and then all of
    /// falling asleep and waking up is saved.
    fn driver_has_more(&self, core: &Core, index: usize) -> bool {
        if self.cores.is_relief(index) || !self.driver.needs_attendant() {
            return false;
        }
        let mut looks = core.looks.get();
        looks.job_comes();
        let found = looks.pays() && {
            let found = self.driver.look() > 0;
            looks.have(found);
            found
        };
        core.looks.set(looks);
        if found {
            core.is_through(ticks());
        }
        found
    }

    /// The calling thread is about to run a task, while computations wait, perhaps for just this thread. Unless the poll takes long, it soon gets to them.
    fn leaves_computations(&self, index: usize) {
        let Some(pool) = self.pool().filter(|_| !self.cores.is_relief(index)) else {
            return;
        };
        // That it is in a slice, before the look; whoever queues a computation and the watcher do it the other way round.
        fence::light();
        if pool.has_task_for_caller() {
            self.watch.keep(self);
        }
    }

    /// The calling thread is about to run a task: is there no other one for it, and does somebody wait for a socket or a timer?
    fn has_no_other(&self, core: &Core) -> bool {
        !core.has_work() && self.injector.len() == 0 && self.driver.handle().has_interest()
    }

    /// # Safety
    /// The core is the calling thread's.
    #[inline(always)]
    unsafe fn next(&self, core: &Core, index: usize) -> Option<Queued> {
        let tick = core.tick();
        // SAFETY: passed on.
        unsafe {
            if tick % DRIVER_INTERVAL == 0 {
                self.driver.look();
                self.level(core, index);
            }
            if core.shared_queue_first(tick) {
                if let Some(task) = self.take_injected(core) {
                    return Some(task);
                }
            }
            core.pop().or_else(|| self.next_of_others(core, index))
        }
    }

    /// # Safety
    /// The core is the calling thread's.
    #[inline(never)]
    unsafe fn next_of_others(&self, core: &Core, index: usize) -> Option<Queued> {
        // SAFETY: passed on.
        unsafe {
            let injected = self.take_injected(core);
            injected.or_else(|| self.steal(core, index))
        }
    }

    /// Takes a fair share from the shared queue; all but the first go to the ring.
    ///
    /// # Safety
    /// The core is the calling thread's.
    unsafe fn take_injected(&self, core: &Core) -> Option<Queued> {
        if self.injector.len() == 0 {
            return None;
        }
        let mut overflow = Vec::new();
        let workers = self.workers();
        let first = self.injector.take_batch(workers, core.room(), |task| {
            // SAFETY: passed on.
            if let Pushed::Overflow(tasks) = unsafe { core.push_last(task) } {
                overflow.extend(tasks);
            }
        });
        if !overflow.is_empty() {
            refuse(self.injector.push_batch(overflow).err().unwrap_or_default());
        }
        if first.is_some() {
            core.fed.set(true);
            core::add(&core.counts.batches, 1);
        }
        first
    }

    /// A worker that always has a task of its own never runs out of them, and never looks for others'. If it has just one, it looks whether somebody has more.
    ///
    /// # Safety
    /// The core is the calling thread's.
    unsafe fn level(&self, core: &Core, index: usize) {
        let own = core.len();
        let cores = self.cores.in_use();
        if own > 1 || cores < 2 {
            return;
        }
        // One at a time: there may be many.
        // SAFETY: passed on.
        let victim = unsafe { core.random_below(cores) };
        let other = &self.cores[victim];
        if victim != index && other.len() > own + 1 && self.may_steal(index, other) {
            // SAFETY: passed on.
            let task = unsafe { core.steal_from(other) };
            // Behind those that came along with it, as in the other's ring.
            task.into_iter().for_each(|task| self.queue_again(task));
        }
    }

    /// # Safety
    /// The core is the calling thread's.
    unsafe fn steal(&self, core: &Core, index: usize) -> Option<Queued> {
        let steal = |victim: usize, other: &Core| {
            let may = victim != index && other.has_work() && self.may_steal(index, other);
            // SAFETY: passed on.
            may.then(|| unsafe { core.steal_from(other) }).flatten()
        };
        // SAFETY: passed on.
        let random = |bound| unsafe { core.random_below(bound) };
        self.cores.find(index, random, steal)
    }

    /// May the owner of core `index` take the tasks of another?
    pub(super) fn may_steal(&self, index: usize, victim: &Core) -> bool {
        self.stealing || self.cores.is_relief(index) || victim.service.is_stuck()
    }
}
