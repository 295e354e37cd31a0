//! The scheduler: where woken tasks go, and what a worker does with its time.
//!
//! A worker of the engine that has nothing on its stack runs tasks here for a slice ([`Shared::run_slice`]), then offers itself to the
//! engine's CPU work again. Tasks come, in this order, from the worker's own slot and ring, from the shared queue (which
//! also comes *first* once per interval, so nothing local can starve it), and from other workers' rings.
//!
//! # No task is stranded
//! A task is visible (in a slot, ring or the shared queue) before its waker asks the engine to look ([`PoolHandle::notify`]:
//! fence, then counters); a worker announces its sleep before its last look. The one push that tells nobody is into the
//! empty slot of the worker that pushes: that worker is awake, and looks into its slot before it sleeps.

use super::core::{self, Core, Cores, Pushed};
use super::driver_seat::DriverSeat;
use super::injector::{Injector, refuse};
use super::owned::{Owned, end};
use super::relief::Relief;
use crate::blocking::BlockingPool;
use crate::context;
use crate::driver;
use crate::future;
use crate::runtime::Drivers;
use crate::runtime::metrics::PollTimes;
use crate::task::{self, Queued, Schedule, Task};
use blitz_core::companion::{Companion, PoolHandle};
use blitz_core::demand::{ticks, ticks_per_us};
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Tasks in a slice, and its length; the engine's work gets its turn afterwards.
const SLICE_TASKS: u32 = 256;
const SLICE_US: u64 = 1_000;
/// Tasks between two looks at the clock, and at the driver.
const CLOCK_INTERVAL: u32 = 16;
const DRIVER_INTERVAL: u32 = 64;

/// See the module's documentation.
pub(crate) struct Shared {
    this: Weak<Shared>,
    /// One for each thread of the pool, then those of relief threads.
    cores: Cores,
    workers: usize,
    pub(crate) injector: CachePadded<Injector>,
    pub(crate) owned: Owned,
    pub(crate) driver: DriverSeat,
    pub(crate) relief: Relief,
    pub(crate) blocking: Arc<BlockingPool>,
    /// Threads that want to drive a current-thread runtime.
    pub(crate) drivers: Drivers,
    ended: AtomicBool,
    pool: OnceLock<PoolHandle>,
    /// By threads that are not workers.
    spawned: CachePadded<AtomicU64>,
    pub(crate) poll_times: Option<PollTimes>,
}

/// The index of a thread that has given its core to another one in the middle of a poll.
const RETIRED: usize = usize::MAX;

thread_local! {
    /// The scheduler whose worker this thread is, and the index of its core.
    static WORKER: Cell<(*const Shared, usize)> = const { Cell::new((std::ptr::null(), 0)) };
}

impl Shared {
    pub(crate) fn new(
        workers: usize,
        reliefs: usize,
        seed: u64,
        (driver, handle): (driver::Driver, Arc<driver::Handle>),
        blocking: Arc<BlockingPool>,
        poll_times: bool,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Shared {
            this: this.clone(),
            cores: core::all(workers + reliefs, seed),
            workers,
            injector: CachePadded::new(Injector::new()),
            owned: Owned::new(workers),
            driver: DriverSeat::new(driver, handle),
            relief: Relief::new(reliefs),
            blocking,
            drivers: Drivers::default(),
            ended: AtomicBool::new(false),
            pool: OnceLock::new(),
            spawned: CachePadded::new(AtomicU64::new(0)),
            poll_times: poll_times.then(PollTimes::default),
        })
    }

    /// The pool whose threads are the workers. Once, before anything is spawned.
    pub(crate) fn set_pool(&self, pool: PoolHandle) {
        assert!(self.pool.set(pool).is_ok(), "a scheduler has one pool");
    }

    /// `None`: the scheduler of a current-thread runtime.
    #[inline]
    pub(crate) fn pool(&self) -> Option<&PoolHandle> {
        self.pool.get()
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    pub(crate) fn core(&self, index: usize) -> &Core {
        &self.cores[index]
    }

    pub(crate) fn cores(&self) -> impl Iterator<Item = &Core> {
        self.cores.iter().map(|core| &**core)
    }

    pub(crate) fn arc(&self) -> Arc<Shared> {
        self.this.upgrade().expect("`self` is borrowed from an Arc")
    }

    // ---- threads ----------------------------------------------------------------------------

    /// The calling thread becomes the owner of core `index`.
    pub(crate) fn enter_worker(&self, index: usize) -> (*const Shared, usize) {
        let before = WORKER.replace((self, index));
        // SAFETY: it is this thread's now.
        future::seed(unsafe { self.core(index).random() });
        before
    }

    /// Undoes `enter_worker`.
    pub(crate) fn leave_worker(before: (*const Shared, usize)) {
        WORKER.set(before);
    }

    /// The core that the calling thread owns here.
    #[inline]
    pub(crate) fn my_core(&self) -> Option<(&Core, usize)> {
        let (shared, index) = WORKER.get();
        if !std::ptr::eq(shared, self) {
            return None;
        }
        // Nothing at `RETIRED`.
        Some((self.cores.get(index)?, index))
    }

    /// Does the calling thread run tasks of this runtime, with a core of its own or without?
    pub(crate) fn is_my_thread(&self) -> bool {
        std::ptr::eq(WORKER.get().0, self)
    }

    // ---- spawning and waking ----------------------------------------------------------------

    pub(crate) fn spawn<F>(self: &Arc<Self>, future: F) -> Task
    where
        F: Future + Send,
        F::Output: Send,
    {
        // SAFETY: both are `Send`; that they live long enough is the caller's business.
        let (listed, queued, handle) = unsafe { task::new(future, Arc::clone(self)) };
        self.launch(listed, queued);
        handle
    }

    fn launch(&self, listed: Task, queued: Queued) {
        if self.owned.admit(listed) {
            self.count_spawn();
            self.schedule_task(queued);
        }
    }

    #[inline]
    fn count_spawn(&self) {
        match self.my_core() {
            Some((core, _)) => core::add(&core.counts.spawned, 1),
            None => drop(self.spawned.fetch_add(1, Ordering::Relaxed)),
        }
    }

    pub(crate) fn spawned(&self) -> u64 {
        let by_workers = self
            .cores()
            .map(|core| core.counts.spawned.load(Ordering::Relaxed));
        by_workers.sum::<u64>() + self.spawned.load(Ordering::Relaxed)
    }

    #[inline]
    fn schedule_task(&self, task: Queued) {
        match self.my_core() {
            Some((core, _)) => {
                // SAFETY: this thread owns the core.
                let pushed = unsafe { core.push_next(task) };
                self.pushed(core, pushed);
            }
            None => self.inject(task),
        }
    }

    #[inline]
    fn pushed(&self, core: &Core, pushed: Pushed) {
        match pushed {
            Pushed::InSlot => {}
            Pushed::InRing if !core.asks_for_help() => {}
            Pushed::InRing => self.notify(),
            Pushed::Overflow(tasks) => {
                let refused = self.injector.push_batch(tasks);
                refuse(refused.err().unwrap_or_default());
                self.notify();
            }
        }
    }

    /// A task that was woken while it was polled goes behind the others.
    #[inline]
    fn queue_again(&self, task: Queued) {
        match self.my_core() {
            Some((core, _)) => {
                // SAFETY: this thread owns the core.
                let pushed = unsafe { core.push_last(task) };
                match (pushed, self.pool()) {
                    // It was ours and stays ours unless somebody is idle; alone in the ring, it is ours anyway.
                    (Pushed::InRing, Some(pool)) if core.len() > 1 && core.asks_for_help() => {
                        pool.hint();
                    }
                    (Pushed::InRing, _) => {}
                    (pushed, _) => self.pushed(core, pushed),
                }
            }
            None => self.inject(task),
        }
    }

    fn inject(&self, task: Queued) {
        if let Err(refused) = self.injector.push(task) {
            refuse([refused]);
            return;
        }
        self.notify();
        if self.pool().is_some_and(|pool| !pool.has_idle_thread()) {
            // All threads are busy, with tasks or with something long. If a relief thread waits, it waits for this.
            self.relief.worker_blocks(self);
        }
    }

    /// Somebody should look: a task has become visible.
    #[inline]
    fn notify(&self) {
        match self.pool() {
            Some(pool) => pool.notify(),
            None => self.driver.interrupt_if_blocked(),
        }
    }

    // ---- running ----------------------------------------------------------------------------

    /// Is there a task that anybody could run?
    pub(crate) fn has_ready_task(&self) -> bool {
        self.injector.len() > 0 || self.cores().any(Core::has_work)
    }

    /// Does any worker run tasks, one after the other?
    pub(crate) fn somebody_serves(&self) -> bool {
        let mut workers = self.cores().take(self.workers);
        workers.any(|core| core.serving.load(Ordering::Relaxed))
    }

    /// Runs tasks on the core `index` for a while. `false`: there was none.
    pub(crate) fn run_slice(&self, index: usize) -> bool {
        let core = self.core(index);
        let start = ticks();
        let mut clock = start;
        let end = start + SLICE_US * ticks_per_us();
        let mut polled = 0;
        core.outlook.slice_begins(start, core.len());
        while polled < SLICE_TASKS {
            // SAFETY: the core is the calling thread's.
            let Some(task) = (unsafe { self.next(core, index) }) else {
                break;
            };
            if polled == 0 && (core.asks_for_help() || self.injector.len() > 0) {
                // We are about to be busy, and there is more.
                self.notify();
            }
            core.serving.store(true, Ordering::Relaxed);
            match &self.poll_times {
                None => task.run(),
                Some(times) => times.measure(|| task.run()),
            }
            if index >= self.workers && self.my_core().is_none() {
                // The relief thread has blocked in there, and the core is another one's now.
                return true;
            }
            polled += 1;
            if polled % CLOCK_INTERVAL == 0 {
                let before = std::mem::replace(&mut clock, ticks());
                core.outlook.stretch_ends(before, clock, core.len());
                if clock > end {
                    break;
                }
            }
        }
        if polled % CLOCK_INTERVAL != 0 {
            let before = std::mem::replace(&mut clock, ticks());
            core.outlook.stretch_ends(before, clock, core.len());
        }
        if core.len() > 0 {
            // We are busy for long, or turn to the engine's work now.
            self.notify();
        }
        core::add(&core.counts.polled, u64::from(polled));
        let elapsed_ns = clock.saturating_sub(start) * 1000 / ticks_per_us().max(1);
        core.learn(u64::from(polled), elapsed_ns);
        core.serving.store(false, Ordering::Relaxed);
        polled > 0
    }

    /// # Safety
    /// The core is the calling thread's.
    #[inline]
    unsafe fn next(&self, core: &Core, index: usize) -> Option<Queued> {
        let tick = core.tick.get().wrapping_add(1);
        core.tick.set(tick);
        if tick.is_multiple_of(DRIVER_INTERVAL) {
            self.driver.look();
        }
        // SAFETY: passed on.
        unsafe {
            if core.shared_queue_first(tick)
                && let Some(task) = self.take_injected(core)
            {
                return Some(task);
            }
            core.pop()
                .or_else(|| self.take_injected(core))
                .or_else(|| self.steal(core, index))
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
        let first = self.injector.take_batch(self.workers, core.room(), |task| {
            // SAFETY: passed on.
            if let Pushed::Overflow(tasks) = unsafe { core.push_last(task) } {
                overflow.extend(tasks);
            }
        });
        if !overflow.is_empty() {
            refuse(self.injector.push_batch(overflow).err().unwrap_or_default());
        }
        if first.is_some() {
            core::add(&core.counts.batches, 1);
        }
        first
    }

    /// # Safety
    /// The core is the calling thread's.
    unsafe fn steal(&self, core: &Core, index: usize) -> Option<Queued> {
        let cores = self.cores.len();
        // SAFETY: passed on.
        let first = unsafe { core.random_below(cores) };
        (0..cores)
            .map(|offset| (first + offset) % cores)
            .filter(|&victim| victim != index)
            // SAFETY: passed on.
            .find_map(|victim| unsafe { core.steal_from(self.core(victim)) })
    }

    /// The calling thread is about to block, or to be busy for long; if it is a worker, somebody else has to serve.
    pub(crate) fn caller_blocks(&self) {
        if let Some((core, index)) = self.my_core() {
            core.serving.store(false, Ordering::Relaxed);
            if index >= self.workers {
                // From now on nothing of the core is touched by this thread.
                self.enter_worker(RETIRED);
                self.relief.retire();
            }
        }
        self.relief.worker_blocks(self);
    }

    // ---- the end ----------------------------------------------------------------------------

    /// Marks the runtime as ended. `true`: it was already.
    pub(crate) fn ended(&self) -> bool {
        self.ended.swap(true, Ordering::SeqCst)
    }

    /// Drops every future, and refuses new ones. Tasks that are being polled end at their next `Pending`.
    pub(crate) fn shut_down_tasks(&self) {
        end(&self.owned, &self.injector);
    }
}

impl Schedule for Arc<Shared> {
    #[inline]
    fn schedule(&self, task: Queued) {
        self.schedule_task(task);
    }

    #[inline]
    fn schedule_again(&self, task: Queued) {
        // The scheduler itself, which the polling thread holds; `self` goes with the task.
        let shared: &Shared = self;
        shared.queue_again(task);
    }

    fn release(&self, task: &Task) -> bool {
        self.owned.remove(task)
    }
}

impl Companion for Shared {
    fn thread_started(&self, index: usize) {
        self.enter_worker(index);
        context::enter_for_good(self.arc());
    }

    fn thread_stopped(&self, _index: usize) {
        context::leave_for_good();
        Shared::leave_worker((std::ptr::null(), 0));
    }

    fn has_work(&self) -> bool {
        self.has_ready_task()
    }

    fn run(&self, index: usize) -> bool {
        self.run_slice(index)
    }

    fn attend(&self, _index: usize) -> bool {
        self.driver.try_enter()
    }

    fn wants_attendant(&self) -> bool {
        self.driver.needs_attendant()
    }

    fn block(&self, index: usize) -> bool {
        core::add(&self.core(index).counts.parked, 1);
        // SAFETY: `attend` returned `true` to this thread.
        unsafe { self.driver.block() }
    }

    fn unattend(&self, _index: usize) {
        // SAFETY: as above.
        unsafe { self.driver.leave() };
    }

    fn interrupt(&self) {
        self.driver.interrupt();
    }

    fn beat(&self, index: usize) {
        self.relief.beat(self, index);
    }

    fn blocked(&self, _index: usize) {
        self.relief.worker_blocks(self);
    }
}
