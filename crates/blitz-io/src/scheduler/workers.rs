//! The scheduler: where woken tasks go, and what a worker does with its time.
//!
//! A worker of the engine that has nothing on its stack runs tasks here for a slice ([`Scheduler::run_slice`]). Then it looks for the
//! engine's CPU work again. Tasks come from these places, in this order: the worker's own slot and ring, the shared queue, and other workers' rings. (The shared queue
//! also comes *first* once per interval, so local tasks cannot starve it.)
//!
//! # No task is stranded
//! A task is visible (in a slot, ring or the shared queue) before its waker asks the engine to look ([`PoolHandle::notify`]:
//! fence, then counters). A worker announces its sleep before its last look. Only two kinds of pushes tell no other thread: those into the
//! slot and, if there is little in it, into the ring of the worker that pushes. That worker is awake, and looks there before it sleeps. If it
//! does not get there, because it is stuck in a poll, the watcher tells others (`watch`).

use super::core::{self, Core, Cores, Pushed};
use super::driver_seat::DriverSeat;
use super::injector::{Injector, refuse};
use super::relief::{self, Relief};
use super::shared::Shared;
use super::watch::Watch;
use crate::blocking::BlockingPool;
use crate::context;
use crate::driver;
use crate::future;
use crate::runtime::Drivers;
use crate::runtime::ThreadName;
use crate::runtime::hooks::{self, Hooks};
use crate::task::Queued;
use blitz_core::companion::{Companion, PoolHandle, forks, notice_forks};
use blitz_core::demand::{ticks, ticks_per_us};
use blitz_core::primitives::fence;
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Tasks in a slice, and its length; the engine's work gets its turn afterwards.
const SLICE_TASKS: u32 = 256;
const SLICE_US: u64 = 1_000;
/// Tasks between two looks at the clock, and at the driver.
const CLOCK_INTERVAL: u32 = 16;
const DRIVER_INTERVAL: u32 = 64;
/// Tasks between two looks at the driver if there is always just one: it yields, perhaps until something happens there.
const LONELY_INTERVAL: u32 = 4;

/// See the module's documentation. One for each pool that runs tasks.
pub(crate) struct Scheduler {
    this: Weak<Scheduler>,
    /// One for each thread of the pool, as it was when this was made; then those of relief threads; then those of threads that the pool got later.
    cores: Cores,
    /// Those of the first block that lie behind this one have no owner, and nothing in them.
    cores_in_use: AtomicUsize,
    /// How many threads the pool had.
    first_workers: usize,
    /// Do workers take each other's tasks? If not, they do so only where the owner is stuck.
    stealing: bool,
    /// Held while it gets more cores.
    growing: Mutex<()>,
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
    seed: u64,
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

/// The scheduler of the global pool, which all runtimes share that ask for no threads of their own.
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
        self.scheduler
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
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
        let cores = core::all(workers + reliefs, seed);
        Self::with_cores(cores, workers, reserves, seed, driver, hooks)
    }

    /// Of a current-thread runtime: its worker is whoever is in the driver.
    pub(crate) fn of_one_thread(
        seed: u64,
        driver: (driver::Driver, Arc<driver::Handle>),
        hooks: Hooks,
    ) -> Arc<Self> {
        Self::with_cores(core::alone(seed), 1, Reserves::NONE, seed, driver, hooks)
    }

    fn with_cores(
        cores: Cores,
        workers: usize,
        reserves: Reserves,
        seed: u64,
        (driver, handle): (driver::Driver, Arc<driver::Handle>),
        hooks: Hooks,
    ) -> Arc<Self> {
        notice_forks();
        let reliefs = cores.first().len() - workers;
        // Somebody has to be there to be told.
        let watched = reserves.watcher && workers + reliefs > 1;
        Arc::new_cyclic(|this| Scheduler {
            this: this.clone(),
            cores,
            cores_in_use: AtomicUsize::new(workers + reliefs.min(1)),
            first_workers: workers,
            stealing: reserves.stealing,
            growing: Mutex::new(()),
            seed,
            injector: CachePadded::new(Injector::new()),
            driver: DriverSeat::new(driver, handle),
            relief: Relief::new(reserves, workers),
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
        self.runtimes.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.pool()
            .map_or(self.first_workers, PoolHandle::num_threads)
    }

    /// Is it the core of a relief thread?
    pub(super) fn is_relief(&self, index: usize) -> bool {
        self.reliefs().contains(&index)
    }

    /// The indices of the cores of relief threads.
    pub(super) fn reliefs(&self) -> Range<usize> {
        self.first_workers..self.cores.first().len()
    }

    /// The index of a worker's core.
    fn core_of(&self, worker: usize) -> usize {
        if worker < self.first_workers {
            worker
        } else {
            worker + self.reliefs().len()
        }
    }

    /// Which worker owns this core, if one does.
    pub(crate) fn worker_of(&self, index: usize) -> Option<usize> {
        if index < self.first_workers {
            Some(index)
        } else {
            let later = index.checked_sub(self.cores.first().len())?;
            Some(self.first_workers + later)
        }
    }

    pub(crate) fn worker_core(&self, worker: usize) -> Option<&Core> {
        self.cores.get(self.core_of(worker)).map(|core| &**core)
    }

    pub(crate) fn core(&self, index: usize) -> &Core {
        &self.cores[index]
    }

    /// Those of relief threads.
    pub(crate) fn relief_cores(&self) -> impl Iterator<Item = &Core> {
        let in_use = self.cores_in_use.load(Ordering::SeqCst);
        let reliefs = &self.cores.first()[self.first_workers..in_use];
        reliefs.iter().map(|core| &**core)
    }

    /// Those that somebody owns, or may own soon, with their indices.
    pub(crate) fn cores_with_index(&self) -> impl Iterator<Item = (usize, &Core)> {
        let in_use = self.cores_in_use.load(Ordering::SeqCst);
        let first = self.cores.first();
        let later = (first.len()..).zip(self.cores.rest());
        let all = first[..in_use].iter().enumerate().chain(later);
        all.map(|(index, core)| (index, &**core))
    }

    /// The last core that is owned is the one before `end`.
    pub(super) fn use_cores(&self, end: usize) {
        self.cores_in_use.store(end, Ordering::SeqCst);
    }

    pub(crate) fn arc(&self) -> Arc<Scheduler> {
        self.this.upgrade().expect("`self` is borrowed from an Arc")
    }

    // ---- threads ----------------------------------------------------------------------------

    /// The calling thread becomes the owner of core `index`.
    pub(crate) fn enter_worker(&self, index: usize) -> (*const Scheduler, usize) {
        let before = WORKER.replace((self, index));
        // SAFETY: it is this thread's now.
        future::seed(unsafe { self.core(index).random() });
        before
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
        self.first_workers + 1
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
        if core.is_in_slice() {
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
    fn notify(&self) {
        match self.pool() {
            Some(pool) => pool.notify(),
            None => self.driver.interrupt_if_blocked(),
        }
    }

    // ---- running ----------------------------------------------------------------------------

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
        self.injector.len() > 0 || self.any_core(Core::has_work)
    }

    /// Whether one of [them](Self::cores_with_index) is such, for those who ask all the time: mostly there is one block.
    #[inline]
    fn any_core(&self, is_it: impl Fn(&Core) -> bool) -> bool {
        let in_use = self.cores_in_use.load(Ordering::SeqCst);
        let is_it = |core: &CachePadded<Core>| is_it(core);
        self.cores.first()[..in_use].iter().any(is_it)
            || self.cores.is_longer() && self.cores.rest().any(is_it)
    }

    /// Does a task wait for a worker, or somebody for the driver, which nobody watches, or a computation for workers that may be stuck in tasks?
    pub(super) fn is_waited_for(&self) -> bool {
        let stuck = || self.any_core(Core::is_in_slice);
        self.has_ready_task()
            || self.driver.needs_attendant()
            || self.pool().is_some_and(PoolHandle::has_queued_task) && stuck()
    }

    /// Does any worker run tasks, one after the other?
    pub(crate) fn somebody_serves(&self) -> bool {
        // Mostly the one that did last time.
        let last = self.server.load(Ordering::Relaxed);
        if self.cores[last].is_serving() {
            return true;
        }
        let mut workers = self.cores_with_index();
        let found = workers.find(|&(index, core)| !self.is_relief(index) && core.is_serving());
        if let Some((index, _)) = found {
            self.server.store(index, Ordering::Relaxed);
        }
        found.is_some()
    }

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
        let core = self.core(index);
        let is_relief = self.is_relief(index);
        // Tasks' runtimes come and go; afterwards the thread is where it was.
        let _outside = context::Outside::remember();
        let start = ticks();
        let mut clock = start;
        let end = start + SLICE_US * ticks_per_us();
        let mut polled = 0u32;
        // From now on, so that nobody outside calls the relief thread for what we are about to take. Before the slice, and until after it: who is in one and
        // does not serve is stuck.
        core.set_serving(true);
        core.now.slice_begins();
        core.slice_begins();
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
            core.set_serving(true);
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
        core.slice_ends();
        core.set_serving(false);
        polled > 0
    }

    /// The owner of the core is through with its tasks. Has something happened in the driver meanwhile? Where messages go to and fro it mostly has, and then all of
    /// falling asleep and waking up is saved.
    fn driver_has_more(&self, core: &Core, index: usize) -> bool {
        if self.is_relief(index) || !self.driver.needs_attendant() {
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

    /// The calling thread is about to sleep: does it leave the driver to somebody who still serves, since it came late the last time (see `load_estimate`)?
    ///
    /// Not all do: who serves stops doing so before it announces its sleep, and whoever announces it later sees that.
    fn caller_leaves_driver(&self) -> bool {
        let late = self.my_core().is_some_and(|(core, _)| core.late.get());
        late && self.stealing && {
            let now = ticks();
            let mut workers = self.cores_with_index();
            workers.any(|(index, core)| {
                !self.is_relief(index) && core.is_serving() && core.is_soon_through(now)
            })
        }
    }

    /// The calling thread is about to run a task, while computations wait, perhaps for just this thread. Unless the poll takes long, it soon gets to them.
    fn leaves_computations(&self, index: usize) {
        let Some(pool) = self.pool().filter(|_| !self.is_relief(index)) else {
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
        let cores = self.cores_in_use.load(Ordering::SeqCst);
        if own > 1 || cores < 2 {
            return;
        }
        // One at a time: there may be many.
        // SAFETY: passed on.
        let victim = unsafe { core.random_below(cores) };
        let other = self.core(victim);
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
        let first_block = self.cores.first().len();
        let cores = self.cores_in_use.load(Ordering::SeqCst);
        let cores = cores.max(index + 1).min(first_block);
        // SAFETY: passed on.
        let first = unsafe { core.random_below(cores) };
        let steal = |victim: usize, other: &Core| {
            let may = victim != index && other.has_work() && self.may_steal(index, other);
            // SAFETY: passed on.
            may.then(|| unsafe { core.steal_from(other) }).flatten()
        };
        let mut victims = (first..cores).chain(0..first);
        let stolen = victims.find_map(|victim| steal(victim, self.core(victim)));
        if stolen.is_some() || !self.cores.is_longer() {
            return stolen;
        }
        let mut later = (first_block..).zip(self.cores.rest());
        later.find_map(|(victim, other)| steal(victim, other))
    }

    /// May the owner of core `index` take the tasks of another?
    fn may_steal(&self, index: usize, victim: &Core) -> bool {
        self.stealing || self.is_relief(index) || victim.is_stuck()
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
            core.set_serving(false);
            core.now.says_so();
            if self.is_relief(index) {
                core.computes.set(false);
                // It may be that nobody ever gets this core again.
                core.slice_ends();
                // From now on nothing of the core is touched by this thread.
                WORKER.set((self, WITHOUT_CORE));
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

impl Companion for Scheduler {
    fn thread_started(&self, index: Option<usize>) {
        self.present.fetch_add(1, Ordering::AcqRel);
        match index {
            Some(worker) => {
                let index = self.core_of(worker);
                let growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
                self.cores
                    .grow_to(index + 1, |index| core::one(index, self.seed));
                drop(growing);
                self.enter_worker(index);
                self.core(index).is_busy();
            }
            None => WORKER.set((self, WITHOUT_CORE)),
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
        let mut cores = self.cores_with_index();
        self.injector.len() > 0
            || cores.any(|(index, core)| {
                core.has_work() && (index == mine || self.may_steal(mine, core))
            })
    }

    fn run(&self, worker: usize) -> bool {
        self.run_slice(self.core_of(worker))
    }

    fn expects_more(&self, worker: usize) -> bool {
        // Threads outside that spawn and wake do so again.
        self.core(self.core_of(worker)).fed.get()
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
        self.core(self.core_of(worker)).falls_asleep();
    }

    fn is_awake(&self, worker: usize) {
        self.core(self.core_of(worker)).is_busy();
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
        match self.cores.get(self.core_of(worker)) {
            Some(core) => self.relief.beat(self, core),
            None => self.relief.relief_computes(self),
        }
    }

    fn blocked(&self, worker: usize) {
        let Some(core) = self.cores.get(self.core_of(worker)) else {
            return self.relief.relief_blocks();
        };
        // If this is inside of a task's poll, the next task has to wait.
        core.set_serving(false);
        self.relief.worker_blocks(self);
    }

    fn leaves(&self, replace: &mut dyn FnMut()) -> bool {
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

    fn task_waits(&self) {
        // Workers that compute get to it, or leave it lying when they run a task next; unless all of them block in what they compute, while others, which do not, are stuck in tasks.
        if self.my_core().is_none() || self.any_core(Core::is_in_slice) {
            self.watch.keep(self);
        }
    }
}

#[cfg(all(test, unix, not(loom)))]
mod tests {
    use super::*;
    use crate::time;
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
        let [late, other] = [scheduler.core(0), scheduler.core(1)];
        let attends = || {
            let attends = scheduler.attend(0);
            if attends {
                scheduler.unattend(0);
            }
            // Else it would come back at once, again and again.
            assert_eq!(scheduler.wants_attendant(), attends);
            attends
        };
        other.set_serving(true);
        other.is_through(ticks());
        assert!(attends(), "it did not come late");
        late.late.set(true);
        assert!(!attends());
        other.set_serving(false);
        assert!(attends(), "nobody else serves");
        other.set_serving(true);
        other.is_through(ticks().saturating_sub(1_000_000 * ticks_per_us()));
        assert!(attends(), "the other one always has tasks");
        drop(sleep);
        Scheduler::leave_worker(before);
        context::bare_driver::leave(driver_before);
    }
}
