//! Who serves tasks while every worker is busy with something long: a relief thread.
//!
//! A worker in the middle of a parallel loop or a join must not run tasks: its stack may hold locks that a task needs. So
//! the scheduler keeps one more thread in reserve. It rests as long as any worker is idle or runs tasks. When a worker notices, at a
//! *beat* of its computation (every few dozen microseconds), that tasks wait or that nobody watches the driver while all workers
//! are busy, it asks the relief thread to take over: that thread then waits in the driver, is woken by the kernel when
//! something happens, and runs the tasks.
//!
//! The relief thread needs a CPU, and the workers have them all. The kernel would let it wait for milliseconds. So at its
//! next beat a worker that sees the relief thread with something to do *lends* it its CPU: it blocks until the relief
//! thread is through, for [`LOAN`] at most. The bound keeps it safe: if a task needs a lock that the lending
//! worker's frames hold, the worker comes back and releases it.

use super::shared::Shared;
use crate::context;
use blitz_core::demand::{ticks, ticks_per_us};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Thread;
use std::time::Duration;

/// Beats closer than this are skipped.
const BEAT_US: u64 = 25;
/// The longest time a worker lends its CPU for.
const LOAN: Duration = Duration::from_micros(200);

/// There is no thread yet, or it sleeps until it is asked.
const RESTING: u32 = 0;
/// Asked, or running tasks.
const WORKING: u32 = 1;
/// In the driver, waiting.
const ATTENDING: u32 = 2;

pub(crate) struct Relief {
    enabled: bool,
    state: AtomicU32,
    stopping: AtomicBool,
    thread: Mutex<Option<(Thread, std::thread::JoinHandle<()>)>>,
    /// When the workers' last beat was, in ticks.
    last_beat: AtomicU64,
    /// Somebody lends its CPU.
    lent: AtomicBool,
    rounds: Mutex<u64>,
    round_over: Condvar,
}

impl Relief {
    pub(crate) fn new(threads: usize) -> Self {
        Relief {
            enabled: threads > 0,
            state: AtomicU32::new(RESTING),
            stopping: AtomicBool::new(false),
            thread: Mutex::new(None),
            last_beat: AtomicU64::new(0),
            lent: AtomicBool::new(false),
            rounds: Mutex::new(0),
            round_over: Condvar::new(),
        }
    }

    /// A worker is in the middle of something long.
    pub(crate) fn beat(&self, shared: &Shared, index: usize) {
        // If this is inside of a task's poll, the next task has to wait.
        shared.core(index).serving.store(false, Ordering::Relaxed);
        let now = ticks();
        let last = self.last_beat.load(Ordering::Relaxed);
        if now.saturating_sub(last) < BEAT_US * ticks_per_us() {
            return;
        }
        // One of the workers is enough.
        let order = Ordering::Relaxed;
        if self
            .last_beat
            .compare_exchange(last, now, order, order)
            .is_ok()
        {
            self.look_after_tasks(shared);
        }
    }

    #[cold]
    fn look_after_tasks(&self, shared: &Shared) {
        match self.state.load(Ordering::SeqCst) {
            WORKING => self.lend(),
            ATTENDING if shared.has_ready_task() => {
                shared.driver.interrupt();
                self.lend();
            }
            ATTENDING if shared.driver.has_events() => self.lend(),
            RESTING if self.is_needed(shared) => {
                self.ask(shared);
                if shared.has_ready_task() {
                    self.lend();
                }
            }
            _ => {}
        }
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
        if self.state.load(Ordering::SeqCst) == RESTING && self.is_needed(shared) {
            self.ask(shared);
        }
    }

    /// A task came from outside while no worker is idle.
    pub(crate) fn rouse(&self, shared: &Shared) {
        match self.state.load(Ordering::SeqCst) {
            ATTENDING => shared.driver.interrupt(),
            RESTING if self.is_needed(shared) => self.ask(shared),
            _ => {}
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
            None => {
                let shared = shared.arc();
                let builder = std::thread::Builder::new().name("blitz-io relief".to_owned());
                match builder.spawn(move || shared.relief.main(&shared)) {
                    Ok(handle) => *thread = Some((handle.thread().clone(), handle)),
                    // No memory for a thread: the workers serve the tasks when they are through, as without relief.
                    Err(_) => self.state.store(RESTING, Ordering::SeqCst),
                }
            }
        }
    }

    /// Blocks until the relief thread has nothing to do, but not for long.
    fn lend(&self) {
        if self.lent.swap(true, Ordering::Acquire) {
            return;
        }
        let rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        if self.state.load(Ordering::SeqCst) != RESTING {
            let before = *rounds;
            let unchanged = |rounds: &mut u64| *rounds == before;
            drop(self.round_over.wait_timeout_while(rounds, LOAN, unchanged));
        }
        self.lent.store(false, Ordering::Release);
    }

    fn round_is_over(&self) {
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        *rounds += 1;
        drop(rounds);
        if self.lent.load(Ordering::Relaxed) {
            self.round_over.notify_all();
        }
    }

    // ---- the thread -------------------------------------------------------------------------

    fn main(&self, shared: &Shared) {
        let index = shared.workers();
        let before = shared.enter_worker(index);
        context::enter_for_good(shared.arc());
        loop {
            while self.state.load(Ordering::SeqCst) == RESTING && !self.is_stopping() {
                std::thread::park();
            }
            if self.is_stopping() {
                break;
            }
            self.serve(shared, index);
        }
        context::leave_for_good();
        Shared::leave_worker(before);
        self.round_is_over();
    }

    fn serve(&self, shared: &Shared, index: usize) {
        while !self.is_stopping() {
            if shared.run_slice(index) {
                continue;
            }
            let idle_worker = shared.pool().is_some_and(|pool| pool.has_idle_thread());
            if idle_worker || !shared.driver.try_enter() {
                // Somebody else watches the driver, or can.
                self.state.store(RESTING, Ordering::SeqCst);
                self.round_is_over();
                if idle_worker && !shared.driver.is_attended() {
                    // An idle worker that sleeps elsewhere; it will sleep in the driver next.
                    shared.pool().map(|pool| pool.wake_one());
                }
                return;
            }
            self.state.store(ATTENDING, Ordering::SeqCst);
            self.round_is_over();
            // Announced before the last look; wakers do it the other way round.
            fence(Ordering::SeqCst);
            if !shared.has_ready_task() && !self.is_stopping() {
                // SAFETY: entered above.
                unsafe { shared.driver.block() };
            }
            self.state.store(WORKING, Ordering::SeqCst);
            // SAFETY: as above.
            unsafe { shared.driver.leave() };
        }
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
    }
}
