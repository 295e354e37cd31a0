//! The scheduler: where woken tasks go. (What a worker does with its time is in `slice`; what the engine sees of all this, in `companion`.)
//!
//! # No task is stranded
//! A task is visible (in a slot, ring or the shared queue) before its waker asks the engine to look ([`PoolHandle::notify`]:
//! fence, then counters). A worker announces its sleep before its last look. Only two kinds of pushes tell no other thread: those into the
//! slot and, if there is little in it, into the ring of the worker that pushes. That worker is awake, and looks there before it sleeps. If it
//! does not get there, because it is stuck in a poll, the watcher tells others (`watch`).

use super::core::{Core, Pushed};
use super::cores::Cores;
use super::driver_seat::DriverSeat;
use super::injector::{Injector, refuse};
use super::relief::{self, Relief};
use super::shared::Shared;
use super::watch::Watch;
use crate::blocking::BlockingPool;
use crate::driver;
use crate::future;
use crate::primitives::ignore_poison;
use crate::runtime::Drivers;
use crate::runtime::ThreadName;
use crate::runtime::hooks::Hooks;
use crate::task::Queued;
use blitz_core::companion::{PoolHandle, forks, notice_forks};
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

/// See the module's documentation. One for each pool that runs tasks.
pub(crate) struct Scheduler {
    this: Weak<Scheduler>,
    pub(crate) cores: Cores,
    /// Do workers take each other's tasks? If not, they do so only where the owner is stuck.
    pub(super) stealing: bool,
    pub(crate) injector: CachePadded<Injector>,
    pub(crate) driver: DriverSeat,
    pub(crate) relief: Relief,
    pub(crate) watch: Watch,
    /// Threads that want to drive a current-thread runtime.
    pub(crate) drivers: Drivers,
    /// A worker that ran tasks when somebody last looked for one.
    server: AtomicUsize,
    /// Workers that have begun and not ended, and the runtime, if the pool is its own. Whoever is the last to leave shuts the driver.
    present: AtomicUsize,
    /// The runtimes whose tasks run here, the oldest first.
    runtimes: Mutex<Vec<Weak<Shared>>>,
    pool: OnceLock<PoolHandle>,
    pub(crate) hooks: Hooks,
    /// In which process it was made, as a number of forks.
    generation: u64,
}

/// Threads beside the workers, for when these are not to be had.
#[derive(Clone)]
pub(crate) struct Reserves {
    pub(crate) relief: bool,
    pub(crate) watcher: bool,
    /// Do workers take each other's tasks?
    pub(crate) stealing: bool,
    /// Of the relief thread: as the workers'.
    pub(crate) stack_size: Option<usize>,
    pub(crate) name: Option<ThreadName>,
}

impl Reserves {
    pub(crate) const DEFAULT: Self = Reserves {
        relief: true,
        watcher: true,
        stealing: true,
        stack_size: None,
        name: None,
    };

    pub(crate) const NONE: Self = Reserves {
        relief: false,
        watcher: false,
        ..Self::DEFAULT
    };
}

/// The index of a thread that works here and has no core: a relief thread that has given its own away in the middle of a poll, or a rescue thread.
const WITHOUT_CORE: usize = usize::MAX;

thread_local! {
    /// The scheduler whose worker this thread is, and the index of its core.
    static WORKER: Cell<(*const Scheduler, usize)> = const { Cell::new((std::ptr::null(), 0)) };
    /// What this thread wakes goes before what is queued.
    static COMES_FIRST: Cell<bool> = const { Cell::new(false) };
}

impl Scheduler {
    pub(crate) fn new(
        workers: usize,
        reserves: Reserves,
        seed: u64,
        driver: (driver::Driver, Arc<driver::Handle>),
        hooks: Hooks,
    ) -> Arc<Self> {
        let reliefs = if reserves.relief { relief::MOST } else { 0 };
        let cores = Cores::new(workers, reliefs, seed);
        Self::with_cores(cores, reserves, driver, hooks)
    }

    /// Of a current-thread runtime: its worker is whoever is in the driver.
    pub(crate) fn of_one_thread(
        seed: u64,
        driver: (driver::Driver, Arc<driver::Handle>),
        hooks: Hooks,
    ) -> Arc<Self> {
        Self::with_cores(Cores::of_one_thread(seed), Reserves::NONE, driver, hooks)
    }

    fn with_cores(
        cores: Cores,
        reserves: Reserves,
        (driver, handle): (driver::Driver, Arc<driver::Handle>),
        hooks: Hooks,
    ) -> Arc<Self> {
        notice_forks();
        // Somebody has to be there to be told.
        let watched = reserves.watcher && cores.reliefs().end > 1;
        Arc::new_cyclic(|this| Scheduler {
            this: this.clone(),
            stealing: reserves.stealing,
            injector: CachePadded::new(Injector::new()),
            driver: DriverSeat::new(driver, handle),
            relief: Relief::new(reserves, cores.reliefs().start),
            cores,
            watch: Watch::new(watched),
            drivers: Drivers::default(),
            server: AtomicUsize::new(0),
            present: AtomicUsize::new(1),
            runtimes: Mutex::default(),
            pool: OnceLock::new(),
            hooks,
            generation: forks(),
        })
    }

    pub(crate) fn is_of_this_process(&self) -> bool {
        self.generation == forks()
    }

    /// # Panics
    /// After a fork, in the child: threads and driver are the parent's.
    #[track_caller]
    #[inline]
    pub(crate) fn assert_of_this_process(&self) {
        assert!(
            self.is_of_this_process(),
            "this runtime belongs to the parent process, and its threads are not in this one: make a new runtime after the fork",
        );
    }

    /// The pool whose threads are the workers. Once, before anything is spawned.
    pub(crate) fn set_pool(&self, pool: PoolHandle) {
        assert!(self.pool.set(pool).is_ok(), "a scheduler has one pool");
    }

    /// A runtime whose tasks run here begins.
    pub(super) fn add_runtime(&self, runtime: Weak<Shared>) {
        let mut runtimes = self.runtimes();
        runtimes.retain(|runtime| runtime.strong_count() > 0);
        runtimes.push(runtime);
    }

    fn runtimes(&self) -> MutexGuard<'_, Vec<Weak<Shared>>> {
        ignore_poison(self.runtimes.lock())
    }

    /// The runtime of what a worker runs outside of tasks, such as the other half of a task's `join`: it is not known, but there is mostly
    /// one. If there are several, it is the oldest that has not ended. One that has the scheduler for itself is the one to the end: for what
    /// is called when a thread begins or ends, too.
    pub(crate) fn home(&self) -> Option<Arc<Shared>> {
        let runtimes = self.runtimes();
        let mut alive = runtimes.iter().filter_map(Weak::upgrade);
        alive.find(|runtime| runtime.is_alone() || !runtime.has_ended())
    }

    /// The scheduler whose worker the calling thread is.
    pub(crate) fn of_worker<R>(use_it: impl FnOnce(&Scheduler) -> R) -> Option<R> {
        // SAFETY: a worker holds its scheduler until it has left it (`leave_worker`), which `use_it` does not do.
        unsafe { WORKER.get().0.as_ref() }.map(use_it)
    }

    /// `None`: the scheduler of a current-thread runtime.
    #[inline]
    pub(crate) fn pool(&self) -> Option<&PoolHandle> {
        self.pool.get()
    }

    /// How many workers there are to be.
    pub(crate) fn workers(&self) -> usize {
        let first = self.cores.reliefs().start;
        self.pool().map_or(first, PoolHandle::num_threads)
    }

    pub(crate) fn arc(&self) -> Arc<Scheduler> {
        self.this.upgrade().expect("`self` is borrowed from an Arc")
    }

    // ---- threads ----------------------------------------------------------------------------

    /// The calling thread becomes the owner of core `index`.
    pub(crate) fn enter_worker(&self, index: usize) -> (*const Scheduler, usize) {
        let before = WORKER.replace((self, index));
        // SAFETY: it is this thread's now.
        future::seed(unsafe { self.cores[index].random() });
        before
    }

    /// The calling thread works here and owns no core.
    pub(super) fn enter_without_core(&self) {
        WORKER.set((self, WITHOUT_CORE));
    }

    /// Undoes `enter_worker`.
    pub(crate) fn leave_worker(before: (*const Scheduler, usize)) {
        WORKER.set(before);
    }

    /// The core that the calling thread owns here.
    #[inline]
    pub(crate) fn my_core(&self) -> Option<(&Core, usize)> {
        let (scheduler, index) = WORKER.get();
        if !std::ptr::eq(scheduler, self) {
            return None;
        }
        // Nothing at `WITHOUT_CORE`.
        Some((self.cores.get(index)?, index))
    }

    /// Does the calling thread run tasks here, with a core of its own or without?
    pub(crate) fn is_my_thread(&self) -> bool {
        std::ptr::eq(WORKER.get().0, self)
    }

    // ---- spawning and waking ----------------------------------------------------------------

    /// As the index of a core, for all spawners that have none: behind the workers' and that of the relief thread.
    pub(super) fn others(&self) -> usize {
        self.cores.reliefs().start + 1
    }

    #[inline]
    pub(super) fn schedule_task(&self, task: Queued) {
        match self.my_core() {
            Some((core, _)) => self.push_own(core, task),
            None => self.inject(task),
        }
    }

    /// The calling thread's own core.
    #[inline]
    pub(super) fn push_own(&self, core: &Core, task: Queued) {
        if core.computes.get() {
            // Nobody would know of it until the computation ends.
            return self.inject(task);
        }
        match core.push_next(task) {
            None => self.leaves_lying(core),
            Some(other) => self.push_behind(core, other),
        }
    }

    /// The same for one that is to run after the others.
    fn push_behind(&self, core: &Core, task: Queued) {
        // SAFETY: this thread owns the core.
        match unsafe { core.push_last(task) } {
            Pushed::InRing if !self.stealing || !core.asks_for_help() => self.leaves_lying(core),
            Pushed::InRing => self.notify(),
            Pushed::InLine => {}
            Pushed::Overflow(tasks) => self.overflows(core, tasks),
        }
    }

    /// These do not fit into the core's ring.
    #[cold]
    fn overflows(&self, core: &Core, tasks: Vec<Queued>) {
        core.load.asked();
        refuse(self.injector.push_batch(tasks).err().unwrap_or_default());
        self.notify();
    }

    /// The owner of the core has told nobody of a task: it gets to it soon. Unless the poll that it is in takes long.
    #[inline]
    fn leaves_lying(&self, core: &Core) {
        if core.service.is_in_slice() {
            self.watch.keep(self);
        }
    }

    /// A task that was woken while it was polled goes behind the others.
    #[inline]
    pub(super) fn queue_again(&self, task: Queued) {
        let Some((core, _)) = self.my_core() else {
            return self.inject(task);
        };
        // SAFETY: this thread owns the core.
        match unsafe { core.push_last(task) } {
            Pushed::InLine => {}
            // It was ours and stays ours unless somebody is idle; alone in the ring, it is ours anyway.
            Pushed::InRing => {
                if self.stealing && core.len() > 1 && core.asks_for_help() {
                    self.pool().map(PoolHandle::hint);
                }
            }
            Pushed::Overflow(tasks) => self.overflows(core, tasks),
        }
    }

    /// The watcher looks after the driver: nobody else gets there. Where others would run what they wake next, it puts it before what is queued, which may be thousands of
    /// tasks that block.
    pub(super) fn look_after_driver(&self) {
        COMES_FIRST.set(true);
        self.driver.look();
        COMES_FIRST.set(false);
    }

    pub(super) fn inject(&self, task: Queued) {
        if let Err(refused) = self.injector.push(task, COMES_FIRST.get()) {
            refuse([refused]);
            return;
        }
        self.notify();
        if self.pool().is_some_and(|pool| !pool.has_idle_thread()) {
            // All threads are busy, with tasks or with something long. If a relief thread waits, it waits for this. If one of them seems to run tasks,
            // it may be stuck in one.
            self.relief.task_queued(self);
            self.watch.keep(self);
        }
    }

    /// Somebody should look: a task has become visible.
    #[inline]
    pub(super) fn notify(&self) {
        match self.pool() {
            Some(pool) => pool.notify(),
            None => self.driver.interrupt_if_blocked(),
        }
    }

    // ---- who serves -------------------------------------------------------------------------

    /// The attendant leaves the driver for something else.
    ///
    /// # Safety
    /// The caller has entered it.
    pub(super) unsafe fn leave_driver(&self) {
        // SAFETY: passed on.
        unsafe { self.driver.leave() };
        if self.driver.needs_attendant() {
            // It may take long until somebody is back.
            self.watch.keep(self);
        }
    }

    /// Is there a task that anybody could run?
    pub(crate) fn has_ready_task(&self) -> bool {
        self.injector.len() > 0 || self.cores.any(Core::has_work)
    }

    /// Does a task wait for a worker, or somebody for the driver, which nobody watches, or a computation for workers that may be stuck in tasks?
    pub(super) fn is_waited_for(&self) -> bool {
        let stuck = || self.cores.any(|core| core.service.is_in_slice());
        self.has_ready_task()
            || self.driver.needs_attendant()
            || self.pool().is_some_and(PoolHandle::has_queued_task) && stuck()
    }

    /// Does any worker run tasks, one after the other?
    pub(crate) fn somebody_serves(&self) -> bool {
        // Mostly the one that did last time.
        let last = self.server.load(Ordering::Relaxed);
        if self.cores[last].service.serves() {
            return true;
        }
        let found = self.servers().next();
        if let Some((index, _)) = found {
            self.server.store(index, Ordering::Relaxed);
        }
        found.is_some()
    }

    /// The workers that run tasks just now, but for relief threads.
    pub(super) fn servers(&self) -> impl Iterator<Item = (usize, &Core)> {
        let cores = self.cores.with_index();
        cores.filter(|&(index, core)| core.service.serves() && !self.cores.is_relief(index))
    }

    /// The calling thread is about to block, or to be busy for long, in a task of the runtime with these blocking threads, or beside it. If it is a
    /// worker, somebody else has to serve.
    pub(super) fn caller_blocks(&self, blocking: &Arc<BlockingPool>) {
        self.others_lose_caller(blocking);
        self.loses_caller(blocking);
    }

    /// The calling thread is about to wait for this runtime: if it is a worker of another one, that has to do without it.
    pub(super) fn others_lose_caller(&self, blocking: &Arc<BlockingPool>) {
        let (own, _) = WORKER.get();
        if !own.is_null() && !std::ptr::eq(own, self) {
            // SAFETY: the thread is a worker there, and holds it as long as it is.
            unsafe { &*own }.loses_caller(blocking);
        }
    }

    /// If the calling thread is a worker here, others have to serve.
    fn loses_caller(&self, blocking: &Arc<BlockingPool>) {
        if let Some((core, index)) = self.my_core() {
            core.service.takes_long();
            core.now.says_so();
            if self.cores.is_relief(index) {
                core.computes.set(false);
                // It may be that nobody ever gets this core again.
                core.service.ends();
                // From now on nothing of the core is touched by this thread.
                self.enter_without_core();
                self.relief.retire(self, index, blocking);
            }
        }
        self.relief.worker_blocks(self);
    }

    /// Runs a computation that may take long, or block without a word. What it wakes and spawns is for others.
    pub(crate) fn compute<R>(&self, work: impl FnOnce() -> R) -> R {
        struct Restore<'a>(&'a Scheduler, bool);
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

    /// Puts everything that is in a core where others look first: its owner leaves it.
    ///
    /// # Safety
    /// The core is the calling thread's.
    pub(super) unsafe fn empty(&self, core: &Core) {
        // SAFETY: passed on.
        while let Some(task) = unsafe { core.pop() } {
            self.inject(task);
        }
    }

    // ---- the end ----------------------------------------------------------------------------

    /// A worker begins, and leaves later.
    pub(super) fn enter(&self) {
        self.present.fetch_add(1, Ordering::AcqRel);
    }

    /// A worker, or the runtime whose pool this is, leaves. The last one shuts the driver: until then somebody may still wait for a timer or a
    /// socket, in a computation, say, and is served.
    pub(crate) fn leave(&self) {
        if self.present.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.watch.stop(false);
            self.relief.stop(self, false);
            self.driver.shut_down();
        }
    }
}
