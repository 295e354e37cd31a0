//! Who serves tasks while every worker is busy with something long: a relief thread.
//!
//! A worker in the middle of a parallel loop or a join must not run tasks: its stack may hold locks that a task needs. So
//! the scheduler keeps one more thread in reserve. It rests as long as any worker is idle or runs tasks. When a worker notices, at a
//! *beat* of its computation (every few dozen microseconds), that tasks wait or that nobody watches the driver while all workers
//! are busy, it asks the relief thread to take over: that thread then waits in the driver, is woken by the kernel when
//! something happens, and runs the tasks.
//!
//! The relief thread needs a CPU, and the workers have them all; the kernel would let it wait for milliseconds. So at its
//! beats a worker that sees the relief thread with something to do *yields* its CPU: the kernel then runs the relief thread if it
//! waits for this CPU, and the worker goes on afterwards, or at once if not. If it waits for another one since it was woken, and gets
//! nowhere, the worker first calls it over ([`Steering`]): a task that it runs sees nothing of that. Nothing is waited for, so a task that needs
//! a lock that the worker's frames hold just waits for the worker, as it would on any other thread.
//!
//! A task that blocks on the relief thread (in [`block_in_place`](crate::block_in_place), say) takes the thread with it: it *retires*, and the next one to be asked is a new one.
//!
//! Measured (2 CPUs, echo at 20,000 requests a second beside two fork-join computations): p99 0.2 ms, where a thread that is
//! left to the kernel has 4 ms.

use super::core::Core;
use super::shared::{Reserves, Shared};
use crate::context;
use blitz_core::companion::{PoolHandle, StandIn, Steering};
use blitz_core::demand::{ticks, ticks_per_us};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use std::thread::Thread;

/// Beats closer than this are skipped.
const BEAT_US: u64 = 25;

/// Beats of one worker after which a relief thread that has got nowhere is called over.
const PATIENCE: u32 = 2;

/// There is no thread yet, or it sleeps until it is asked.
const RESTING: u32 = 0;
/// Asked, or running tasks.
const WORKING: u32 = 1;
/// In the driver, waiting.
const ATTENDING: u32 = 2;

pub(crate) struct Relief {
    enabled: bool,
    stack_size: Option<usize>,
    state: AtomicU32,
    stopping: AtomicBool,
    thread: Mutex<Option<(Thread, std::thread::JoinHandle<()>)>>,
    /// Threads that were the relief thread until they blocked in a task. They end with its poll.
    retired: Mutex<Vec<std::thread::JoinHandle<()>>>,
    /// How far the thread has come.
    steps: AtomicU64,
    /// How workers call the thread over.
    steering: Steering,
}

impl Relief {
    pub(crate) fn new(reserves: Reserves) -> Self {
        Relief {
            enabled: reserves.relief,
            stack_size: reserves.stack_size,
            state: AtomicU32::new(RESTING),
            stopping: AtomicBool::new(false),
            thread: Mutex::new(None),
            retired: Mutex::default(),
            steps: AtomicU64::new(0),
            steering: Steering::default(),
        }
    }

    /// A worker is in the middle of something long.
    pub(crate) fn beat(&self, shared: &Shared, index: usize) {
        // If this is inside of a task's poll, the next task has to wait.
        shared.core(index).set_serving(false);
        let now = ticks();
        let last = &shared.core(index).last_beat;
        if now.saturating_sub(last.get()) >= BEAT_US * ticks_per_us() {
            last.set(now);
            self.look_after_tasks(shared, index);
        }
    }

    #[cold]
    fn look_after_tasks(&self, shared: &Shared, index: usize) {
        let waits_for_cpu = match self.state.load(Ordering::SeqCst) {
            WORKING => true,
            ATTENDING if shared.has_ready_task() => {
                shared.driver.interrupt();
                true
            }
            ATTENDING => shared.driver.has_events(),
            _ if self.is_needed(shared) => {
                self.ask(shared);
                shared.has_ready_task()
            }
            _ => {
                self.send_idle_worker(shared);
                false
            }
        };
        if waits_for_cpu {
            self.lend_cpu(shared.core(index));
        }
    }

    /// Lets the relief thread have the CPU, if it waits for this one; if it has got nowhere since the last beats, brings it here.
    fn lend_cpu(&self, lender: &Core) {
        let steps = self.steps.load(Ordering::Relaxed);
        let (seen, times) = lender.relief_seen.get();
        let times = if seen == steps { times + 1 } else { 0 };
        lender.relief_seen.set((steps, times));
        if times == PATIENCE {
            self.steering.bring_here();
        }
        std::thread::yield_now();
    }

    /// Nobody else can, and there is something to do or to watch?
    fn is_needed(&self, shared: &Shared) -> bool {
        let all_busy = shared.pool().is_some_and(|pool| !pool.has_idle_thread());
        all_busy
            && !shared.somebody_serves()
            && (shared.has_ready_task() || shared.driver.needs_attendant())
    }

    /// A worker is about to block in the middle of something.
    pub(crate) fn worker_blocks(&self, shared: &Shared) {
        // What the worker has queued comes before the look at the state; the relief thread does it the other way round.
        fence(Ordering::SeqCst);
        self.task_queued(shared);
    }

    /// All workers are busy, and the caller has queued a task, with a fence since then.
    pub(crate) fn task_queued(&self, shared: &Shared) {
        match self.state.load(Ordering::SeqCst) {
            ATTENDING if shared.has_ready_task() => shared.driver.interrupt(),
            RESTING if self.is_needed(shared) => self.ask(shared),
            _ => self.send_idle_worker(shared),
        }
    }

    /// The caller is busy for long, and somebody is idle. That worker may sleep elsewhere while nobody watches the driver: the last one
    /// there has left it for something long; woken, it will sleep in the driver. Or it may not know of the tasks in the caller's slot and
    /// ring: nobody was told of those, since the caller was to get to them soon.
    fn send_idle_worker(&self, shared: &Shared) {
        let Some(pool) = shared.pool() else { return };
        if !pool.has_idle_thread() {
            return;
        }
        if shared.driver.needs_attendant() {
            pool.wake_one();
        } else if shared.has_ready_task() {
            pool.notify();
        }
    }

    /// Wakes the relief thread, or makes it.
    fn ask(&self, shared: &Shared) {
        if !self.enabled || self.stopping.load(Ordering::SeqCst) {
            return;
        }
        let order = Ordering::SeqCst;
        if self
            .state
            .compare_exchange(RESTING, WORKING, order, order)
            .is_err()
        {
            return;
        }
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        match &*thread {
            Some((thread, _)) => thread.unpark(),
            // `stop` has been here: nobody would join a thread that starts now.
            None if self.is_stopping() => {}
            None => {
                let shared = shared.arc();
                let builder = std::thread::Builder::new().name("blitz-io relief".to_owned());
                // A task that needs a large stack needs it here, too.
                let builder = match self.stack_size {
                    Some(bytes) => builder.stack_size(bytes),
                    None => builder,
                };
                match builder.spawn(move || shared.relief.main(&shared)) {
                    Ok(handle) => *thread = Some((handle.thread().clone(), handle)),
                    // No memory for a thread: the workers serve the tasks when they are through, as without relief.
                    Err(_) => self.state.store(RESTING, Ordering::SeqCst),
                }
            }
        }
    }

    // ---- the thread -------------------------------------------------------------------------

    fn main(&self, shared: &Shared) {
        let index = shared.workers();
        let before = shared.enter_worker(index);
        context::enter_for_good(shared.arc());
        // What a task forks here goes to the pool, and runs here if nobody takes it: all workers may wait for a lock that the task holds.
        let seat = shared.pool().map(PoolHandle::stand_in);
        loop {
            self.steering.falls_asleep();
            while self.state.load(Ordering::SeqCst) == RESTING && !self.is_stopping() {
                std::thread::park();
            }
            self.steering.is_awake();
            if self.is_stopping() {
                break;
            }
            self.serve(shared, index, seat.as_ref());
            if shared.my_core().is_none() {
                // Retired.
                break;
            }
        }
        if let Some((core, _)) = shared.my_core() {
            // SAFETY: the core is this thread's, which ends with the runtime.
            unsafe { core.refuse_all() };
        }
        context::leave_for_good();
        Shared::leave_worker(before);
    }

    fn serve(&self, shared: &Shared, index: usize, seat: Option<&StandIn>) {
        let run_slice = || match seat {
            Some(seat) => seat.run(|| shared.run_slice(index)),
            None => shared.run_slice(index),
        };
        while !self.is_stopping() {
            self.steps.fetch_add(1, Ordering::Relaxed);
            if run_slice() {
                if shared.my_core().is_none() {
                    return;
                }
                continue;
            }
            let idle_worker = shared.pool().is_some_and(|pool| pool.has_idle_thread());
            if idle_worker || !shared.driver.try_enter() {
                // Somebody else watches the driver, or can.
                self.state.store(RESTING, Ordering::SeqCst);
                fence(Ordering::SeqCst);
                if self.is_needed(shared) {
                    // Somebody who saw us working has relied on it.
                    self.ask(shared);
                }
                self.send_idle_worker(shared);
                return;
            }
            self.state.store(ATTENDING, Ordering::SeqCst);
            // Announced before the last look; wakers do it the other way round.
            fence(Ordering::SeqCst);
            if !shared.has_ready_task() && !self.is_stopping() {
                self.steering.falls_asleep();
                // SAFETY: entered above.
                unsafe { shared.driver.block() };
                self.steering.is_awake();
            }
            self.state.store(WORKING, Ordering::SeqCst);
            // SAFETY: as above.
            unsafe { shared.driver.leave() };
        }
    }

    /// The relief thread is about to block in the middle of a task. If it stayed the relief thread, nobody would serve the others, perhaps not
    /// even what it waits for: so it is none any more, and its core is for the next one, which is made when it is needed. It has left the core already.
    pub(crate) fn retire(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, handle)) = thread.take() {
            let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
            retired.retain(|handle| !handle.is_finished());
            retired.push(handle);
        }
        // Still under the lock: whoever asks from now on finds no thread, and makes one. What we did with the core comes before.
        self.state.store(RESTING, Ordering::SeqCst);
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Ends the thread, if there is one; waits for it if `wait`.
    pub(crate) fn stop(&self, shared: &Shared, wait: bool) {
        self.stopping.store(true, Ordering::SeqCst);
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some((thread, handle)) = thread {
            thread.unpark();
            shared.driver.interrupt();
            if wait {
                // The thread catches what tasks throw; it does not panic itself.
                let _ = handle.join();
            }
        }
        let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        for handle in retired.drain(..).filter(|_| wait) {
            let _ = handle.join();
        }
    }
}
