//! The scheduler: where woken tasks go, and what a worker does with its time.
//!
//! A worker of the engine that has nothing on its stack runs tasks here for a slice ([`Shared::run_slice`]), then offers itself to the
//! engine's CPU work again. Tasks come, in this order, from the worker's own slot and ring, from the shared queue (which
//! also comes *first* once per interval, so nothing local can starve it), and from other workers' rings.
//!
//! # No task is stranded
//! A task is visible (in a slot, ring or the shared queue) before its waker asks the engine to look ([`PoolHandle::notify`]:
//! fence, then counters); a worker announces its sleep before its last look. The pushes that tell nobody are into the
//! slot and, if there is little in it, the ring of the worker that pushes: that worker is awake, and looks there before it sleeps. If it
//! does not get there, because it is stuck in a poll, the watcher tells others (`watch`).

use super::core::{self, Core, Cores, Pushed};
use super::driver_seat::DriverSeat;
use super::holds::Holds;
use super::injector::{Injector, refuse};
use super::owned::{Owned, end};
use super::relief::Relief;
use super::watch::Watch;
use crate::blocking::BlockingPool;
use crate::context;
use crate::driver;
use crate::future;
use crate::runtime::Drivers;
use crate::runtime::metrics::PollTimes;
use crate::task::{self, Queued, Schedule, Task};
use blitz_core::companion::{Companion, PoolHandle, sleep_elsewhere};
use blitz_core::demand::{ticks, ticks_per_us};
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::future::Future;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
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
    pub(crate) watch: Watch,
    pub(crate) blocking: Arc<BlockingPool>,
    /// Threads that want to drive a current-thread runtime.
    pub(crate) drivers: Drivers,
    /// A worker that ran tasks when somebody last looked for one.
    server: AtomicUsize,
    ended: AtomicBool,
    /// The tasks', who keep this alive.
    holds: CachePadded<Holds>,
    pool: OnceLock<PoolHandle>,
    pub(crate) poll_times: Option<PollTimes>,
}

/// Threads beside the workers, for when these are not to be had.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserves {
    pub(crate) relief: bool,
    pub(crate) watcher: bool,
    /// Of the relief thread: as the workers'.
    pub(crate) stack_size: Option<usize>,
}

/// The index of a thread that has given its core to another one in the middle of a poll.
const RETIRED: usize = usize::MAX;

thread_local! {
    /// The scheduler whose worker this thread is, and the index of its core.
    static WORKER: Cell<(*const Shared, usize)> = const { Cell::new((std::ptr::null(), 0)) };
    /// Tasks that this thread has spawned from outside.
    static SPAWNED: Cell<u64> = const { Cell::new(0) };
}

impl Shared {
    pub(crate) fn new(
        workers: usize,
        reserves: Reserves,
        seed: u64,
        (driver, handle): (driver::Driver, Arc<driver::Handle>),
        blocking: Arc<BlockingPool>,
        poll_times: bool,
    ) -> Arc<Self> {
        let reliefs = usize::from(reserves.relief);
        // Somebody has to be there to be told.
        let watched = reserves.watcher && workers + reliefs > 1;
        Arc::new_cyclic(|this| Shared {
            this: this.clone(),
            cores: core::all(workers + reliefs, seed),
            workers,
            injector: CachePadded::new(Injector::new()),
            owned: Owned::new(workers),
            driver: DriverSeat::new(driver, handle),
            relief: Relief::new(reserves),
            watch: Watch::new(watched),
            blocking,
            drivers: Drivers::default(),
            server: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            holds: CachePadded::new(Holds::new()),
            pool: OnceLock::new(),
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

    /// The holds have become something else than none, if `first`: they need a strong reference.
    #[inline]
    fn holds_began(&self, first: bool) {
        if first {
            std::mem::forget(self.arc());
        }
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
        let (listed, queued, handle) = unsafe { task::new(future, Held::new(self)) };
        self.launch(listed, queued);
        handle
    }

    fn launch(&self, listed: Task, queued: Queued) {
        let me = self.my_core();
        let (spawner, count) = match me {
            Some((core, index)) => (index, core::add(&core.counts.spawned, 1)),
            None => (self.cores.len(), SPAWNED.replace(SPAWNED.get() + 1)),
        };
        if !self.owned.admit(listed, spawner, count) {
            return;
        }
        match me {
            Some((core, _)) => self.push_own(core, queued),
            None => self.inject(queued),
        }
    }

    #[inline]
    fn schedule_task(&self, task: Queued) {
        match self.my_core() {
            Some((core, _)) => self.push_own(core, task),
            None => self.inject(task),
        }
    }

    /// The calling thread's own core.
    #[inline]
    fn push_own(&self, core: &Core, task: Queued) {
        if core.computes.get() {
            // Nobody would know of it until the computation ends.
            return self.inject(task);
        }
        // SAFETY: this thread owns the core.
        let pushed = unsafe { core.push_next(task) };
        self.pushed(core, pushed);
    }

    #[inline]
    fn pushed(&self, core: &Core, pushed: Pushed) {
        match pushed {
            Pushed::InSlot => self.leaves_lying(core),
            Pushed::InRing if !core.asks_for_help() => self.leaves_lying(core),
            Pushed::InRing => self.notify(),
            Pushed::Overflow(tasks) => {
                let refused = self.injector.push_batch(tasks);
                refuse(refused.err().unwrap_or_default());
                self.notify();
            }
        }
    }

    /// The owner of the core has told nobody of a task: it gets to it soon. Unless the poll that it is in takes long.
    #[inline]
    fn leaves_lying(&self, core: &Core) {
        if core.is_in_slice() {
            self.watch.keep(self);
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
            self.relief.task_queued(self);
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
        // Mostly the one that did last time.
        let last = self.server.load(Ordering::Relaxed);
        if self.cores[last].is_serving() {
            return true;
        }
        let mut workers = self.cores().take(self.workers);
        let found = workers.position(Core::is_serving);
        if let Some(index) = found {
            self.server.store(index, Ordering::Relaxed);
        }
        found.is_some()
    }

    /// Runs tasks on the core `index` for a while. `false`: there was none.
    pub(crate) fn run_slice(&self, index: usize) -> bool {
        let core = self.core(index);
        let start = ticks();
        let mut clock = start;
        let end = start + SLICE_US * ticks_per_us();
        let mut polled = 0;
        core.slice_begins();
        core.outlook.slice_begins(start, core.len());
        core.fed.set(false);
        // From now on, so that nobody outside calls the relief thread for what we are about to take.
        core.set_serving(true);
        while polled < SLICE_TASKS {
            // SAFETY: the core is the calling thread's.
            let Some(task) = (unsafe { self.next(core, index) }) else {
                break;
            };
            if polled == 0 && core.outlook.asks_for_help(core.len() + self.injector.len()) {
                // We are about to be busy, and there is more.
                self.notify();
            }
            // Again, since a task that blocks or computes for long takes it back.
            core.set_serving(true);
            if core.has_work() {
                self.watch.keep(self);
            }
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
        let waiting = core.len() + self.injector.len();
        if core.outlook.slice_ends(clock, waiting) {
            self.notify();
        }
        core::add(&core.counts.polled, u64::from(polled));
        let elapsed_ns = clock.saturating_sub(start) * 1000 / ticks_per_us().max(1);
        core.learn(u64::from(polled), elapsed_ns);
        core.set_serving(false);
        core.slice_ends();
        polled > 0
    }

    /// # Safety
    /// The core is the calling thread's.
    #[inline]
    unsafe fn next(&self, core: &Core, index: usize) -> Option<Queued> {
        let tick = core.tick();
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
            core.fed.set(true);
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
            core.set_serving(false);
            if index >= self.workers {
                core.computes.set(false);
                // From now on nothing of the core is touched by this thread.
                WORKER.set((self, RETIRED));
                self.relief.retire();
            }
        }
        self.relief.worker_blocks(self);
    }

    /// Runs a computation that may take long, or block without a word. What it wakes and spawns is for others.
    pub(crate) fn compute<R>(&self, work: impl FnOnce() -> R) -> R {
        struct Restore<'a>(&'a Shared, bool);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                // Not if the thread has given its core away meanwhile.
                if let Some((core, _)) = self.0.my_core() {
                    core.computes.set(self.1);
                }
            }
        }
        let before = self.my_core().map(|(core, _)| core.computes.replace(true));
        let _restore = before.map(|before| Restore(self, before));
        work()
    }

    /// The calling thread sleeps in `sleep`. If it is a worker, in the middle of something, others serve meanwhile, also what is in the
    /// engine's queues: it may wait for that.
    pub(crate) fn caller_sleeps(&self, sleep: &dyn Fn()) {
        self.caller_blocks();
        sleep_elsewhere(sleep);
    }

    // ---- the end ----------------------------------------------------------------------------

    /// Marks the runtime as ended. `true`: it was already.
    pub(crate) fn ended(&self) -> bool {
        self.ended.swap(true, Ordering::SeqCst)
    }

    /// For a current-thread runtime: if it has ended, whoever leaves the driver last, or ends it while nobody is inside, drops what is
    /// still queued.
    pub(crate) fn empty_after_the_end(&self) {
        // The end, or the leaving, before the look at the other.
        fence(Ordering::SeqCst);
        if self.pool().is_none() && self.ended.load(Ordering::SeqCst) && self.driver.try_enter() {
            // SAFETY: the one core belongs to whoever is in the driver.
            unsafe {
                self.core(0).refuse_all();
                self.driver.leave();
            }
        }
    }

    /// Drops every future, and refuses new ones. Tasks that are being polled end at their next `Pending`.
    pub(crate) fn shut_down_tasks(&self) {
        end(&self.owned, &self.injector);
    }
}

/// A task's hold on its scheduler: as good as an `Arc`, and cheaper (see [`Holds`]).
struct Held(NonNull<Shared>);

// SAFETY: as an `Arc` of the same: it gives shared access to what is `Sync`, and may drop it, which is `Send`.
unsafe impl Send for Held where Shared: Send + Sync {}
// SAFETY: as above.
unsafe impl Sync for Held where Shared: Send + Sync {}

impl Held {
    #[inline]
    fn new(shared: &Arc<Shared>) -> Self {
        let own = shared.my_core().map(|(core, _)| &core.holds);
        shared.holds_began(shared.holds.take(own));
        // From the `Arc` itself, not from a reference: `Arc::decrement_strong_count` may get it.
        let shared = Arc::as_ptr(shared).cast_mut();
        // SAFETY: an `Arc` points to something.
        Held(unsafe { NonNull::new_unchecked(shared) })
    }

    #[inline]
    fn shared(&self) -> &Shared {
        // SAFETY: the hold keeps it alive.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        let own = self.shared().my_core().map(|(core, _)| &core.holds);
        if self.shared().holds.give(own) {
            // SAFETY: that was the last hold, and the strong reference of all holds goes with it. Nothing of the scheduler is
            // touched otherwise once the hold is given.
            unsafe { Arc::decrement_strong_count(self.0.as_ptr()) };
        }
    }
}

impl Schedule for Held {
    #[inline]
    fn schedule(&self, task: Queued) {
        self.shared().schedule_task(task);
    }

    #[inline]
    fn schedule_again(&self, task: Queued) {
        // The scheduler itself, which the polling thread keeps alive; `self` goes with the task.
        // SAFETY: as above.
        let shared = unsafe { &*self.0.as_ptr().cast_const() };
        shared.queue_again(task);
    }

    fn release(&self, task: &Task) -> bool {
        self.shared().owned.remove(task)
    }
}

impl Companion for Shared {
    fn thread_started(&self, index: usize) {
        self.holds_began(self.holds.open(&self.core(index).holds));
        self.enter_worker(index);
        context::enter_for_good(self.arc());
    }

    fn thread_stopped(&self, index: usize) {
        context::leave_for_good();
        Shared::leave_worker((std::ptr::null(), 0));
        if self.holds.close(&self.core(index).holds) {
            // SAFETY: the strong reference of all holds. The caller has one of its own.
            unsafe { Arc::decrement_strong_count(self.this.as_ptr()) };
        }
    }

    fn has_work(&self) -> bool {
        self.has_ready_task()
    }

    fn run(&self, index: usize) -> bool {
        self.run_slice(index)
    }

    fn expects_more(&self, index: usize) -> bool {
        // Threads outside that spawn and wake do so again.
        self.core(index).fed.get()
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
