//! The thread that serves tasks while every worker is busy with something long: the relief thread.
//!
//! A worker in the middle of a parallel loop or a join must not run tasks, because its stack may hold locks that a task needs. So
//! the scheduler keeps one more thread in reserve. This thread rests as long as any worker is idle or runs tasks. At a *beat* of its computation (every few dozen microseconds),
//! a worker may notice that all workers are busy, and that tasks wait or no thread watches the driver.
//! It then asks the relief thread to take over. The relief thread waits in the driver, is woken by the kernel when
//! something happens, and runs the tasks.
//!
//! The relief thread needs a CPU, but the workers have all of them, and the kernel would let it wait for milliseconds. So at its
//! beats a worker that sees the relief thread with something to do *yields* its CPU. The kernel then runs the relief thread if it
//! waits for this CPU, and the worker continues afterwards, or at once if not. A worker that was away for long keeps its CPU for a while (`lending`). If the relief thread waits for another CPU and does not
//! get it, the worker first moves it to its own ([`Steering`]). It comes between two slices, so tasks notice nothing of that. The worker waits for nothing. So a task that needs
//! a lock that the worker's frames hold just waits for the worker, as it would on any other thread.
//!
//! # Tasks that block, or compute
//! A task may block on the relief thread (in [`block_in_place`](crate::block_in_place), say), or compute there for more than a millisecond. It then takes the thread with it: the thread *retires*, and its core is for the
//! next relief thread, a new one. A retired thread counts as one of the blocking threads of the task's runtime
//! ([`BlockingPool::lend`]). If these are more than allowed, there is no new relief thread. Tasks wait until a retired thread comes back and
//! becomes the relief thread again, or until a blocking thread has ended. The watcher tries again, and looks after the driver meanwhile. So a runtime has at most
//! its workers, `max_blocking_threads`, the relief thread and the watcher. (If all others have retired, it has one blocking thread more, because a task may wait
//! for what that thread does.)
//!
//! The watcher notices a task that blocks there *in a way that we do not see*. It cannot take the core away from a thread that may use it at any moment. So the
//! thread keeps its core, and *another* relief thread takes over, with a core of its own. When the first thread returns from its poll and finds that
//! it is no longer the relief thread, it leaves what is in its core to the others, and ends. There are at most [`MOST`] relief threads with a core.
//! That is how many tasks may block unseen, in addition to those that the workers are stuck in. Where others have retired, they count like these: some only seem to be stuck, because
//! they get no CPU, and retire next.
//!
//! Measured (2 CPUs, echo at 20,000 requests a second beside two fork-join computations): p99 0.2 ms, where a thread that is
//! left to the kernel has 4 ms.

use super::core::Core;
use super::refusal::Refusal;
use super::workers::{Reserves, Scheduler};
use crate::blocking::BlockingPool;
use crate::primitives::{AtomicU64, ignore_poison};
use crate::runtime::ThreadName;
use crate::runtime::hooks;
use blitz_core::companion::{PoolHandle, StandIn, Steering, ThreadHandle, complain, start_thread};
use blitz_core::demand::{ticks, ticks_per_us};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard};

/// Beats closer than this are skipped.
const BEAT_US: u64 = 25;

/// A relief thread that has been in one poll for this long, computing, is none any more.
const COMPUTES_US: u64 = 1_000;

/// Beats of one worker after which a relief thread that has got nowhere is called over: 0.2 ms.
///
/// Mostly it is where what wakes it runs, and waits for that; elsewhere each wake costs an interrupt from CPU to CPU, and it stays where it has been called to. A service with 20,000 requests
/// a second beside computations (group `service`, 2 virtual CPUs), after 2 beats and after 8: 16.2 and 10.6 us of CPU time for a request, 0.91 and 1.06 of the computations of tokio and rayon; p99
/// 0.11 and 0.18 ms.
const PATIENCE: u32 = 8;

/// Relief threads that have a core: the one that serves, and those that are stuck in a poll. One core is 3 KB.
pub(super) const MOST: usize = 16;

/// There is no thread yet, or it sleeps until it is asked.
const RESTING: usize = 0;
/// Asked, or running tasks.
const WORKING: usize = 1;
/// In the driver, waiting.
const ATTENDING: usize = 2;

/// What the relief thread does, and the index of its core, in one word: a thread that is relief thread no more does not speak for the next one.
#[derive(Clone, Copy, PartialEq)]
struct State {
    does: usize,
    core: usize,
}

struct Word(AtomicUsize);

impl Word {
    fn new(state: State) -> Self {
        Word(AtomicUsize::new(Self::pack(state)))
    }

    fn pack(state: State) -> usize {
        state.core << 2 | state.does
    }

    fn load(&self) -> State {
        let word = self.0.load(Ordering::SeqCst);
        State {
            does: word & 3,
            core: word >> 2,
        }
    }

    /// `false`, and nothing has changed, if it is not `from`.
    fn change(&self, from: State, to: State) -> bool {
        let (from, to) = (Self::pack(from), Self::pack(to));
        let order = Ordering::SeqCst;
        self.0.compare_exchange(from, to, order, order).is_ok()
    }
}

pub(crate) struct Relief {
    enabled: bool,
    stack_size: Option<usize>,
    name: Option<ThreadName>,
    state: Word,
    stopping: AtomicBool,
    threads: Mutex<Threads>,
    /// Of a thread.
    refusal: Refusal,
    /// How far the thread has come.
    steps: AtomicU64,
    /// How workers call the thread over.
    steering: Steering,
}

#[derive(Default)]
struct Threads {
    /// The relief thread.
    active: Option<ThreadHandle>,
    /// Those that were it until they got stuck in a poll, and the indices of their cores.
    stuck: Vec<(ThreadHandle, usize)>,
    /// Those that were it until they blocked in a task, and the blocking threads that they count among.
    retired: Vec<(ThreadHandle, Arc<BlockingPool>)>,
    /// Somebody has been told that there are no more to be had.
    complained: bool,
    /// Somebody has been told that the system starts none.
    refused: bool,
}

impl Threads {
    /// Says once that tasks wait, and what can be done about it.
    fn complain(&mut self, workers: usize) {
        if !std::mem::replace(&mut self.complained, true) {
            let stuck = workers + MOST;
            complain(format_args!(
                "{stuck} tasks of a runtime block their threads (in a lock or a channel of std, say), and others wait for one of them; \
                 use block_in_place or spawn_blocking for what blocks"
            ));
        }
    }

    /// Says once that tasks wait for a worker, which may wait for one of them.
    fn complain_of(&mut self, refused: &std::io::Error) {
        if !std::mem::replace(&mut self.refused, true) {
            complain(format_args!(
                "all workers of a runtime are busy or wait, and no thread can be started to run its tasks meanwhile: {refused}"
            ));
        }
    }
}

impl Relief {
    /// For somebody who looks.
    #[cfg(feature = "console")]
    pub(crate) fn doing(&self) -> crate::console::ReliefDoing {
        use crate::console::ReliefDoing;
        match self.state.load().does {
            RESTING => ReliefDoing::Resting,
            WORKING => ReliefDoing::Working,
            _ => ReliefDoing::Attending,
        }
    }

    /// The cores from `first_core` on are those of relief threads.
    pub(crate) fn new(reserves: Reserves, first_core: usize) -> Self {
        Relief {
            enabled: reserves.relief,
            stack_size: reserves.stack_size,
            name: reserves.name,
            state: Word::new(State {
                does: RESTING,
                core: first_core,
            }),
            stopping: AtomicBool::new(false),
            threads: Mutex::default(),
            refusal: Refusal::default(),
            steps: AtomicU64::new(0),
            steering: Steering::default(),
        }
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        ignore_poison(self.threads.lock())
    }

    /// A worker, the owner of the core, is in the middle of something long.
    pub(crate) fn beat(&self, scheduler: &Scheduler, core: &Core) {
        // If this is inside of a task's poll, the next task has to wait.
        core.service.takes_long();
        core.now.says_so();
        let now = ticks();
        let last = &core.last_beat;
        if now.saturating_sub(last.load(Ordering::Relaxed)) >= BEAT_US * ticks_per_us() {
            last.store(now, Ordering::Relaxed);
            self.look_after_tasks(scheduler, core);
        }
    }

    /// The relief thread is in the middle of something long itself. If that goes on, it retires as if it blocked: others need one that serves.
    pub(crate) fn relief_computes(&self, scheduler: &Scheduler) {
        // A retired one has none.
        let Some((core, _)) = scheduler.my_core() else {
            return;
        };
        let (now, poll) = (ticks(), core.progress());
        let (seen, since) = core.computing.get();
        if seen != poll {
            core.computing.set((poll, now));
        } else if now.saturating_sub(since) > COMPUTES_US * ticks_per_us() {
            self.relief_blocks();
        }
    }

    /// It is about to block, or has computed for long.
    pub(crate) fn relief_blocks(&self) {
        if let Some(shared) = crate::context::current() {
            shared.caller_blocks();
        }
    }

    #[cold]
    fn look_after_tasks(&self, scheduler: &Scheduler, core: &Core) {
        let waits_for_cpu = match self.state.load().does {
            WORKING => true,
            ATTENDING if scheduler.has_ready_task() => {
                scheduler.driver.interrupt();
                true
            }
            ATTENDING => scheduler.driver.has_events(),
            _ if self.is_needed(scheduler) => {
                self.ask(scheduler);
                scheduler.has_ready_task()
            }
            _ => {
                self.send_idle_worker(scheduler);
                false
            }
        };
        if waits_for_cpu {
            self.lend_cpu(core);
        }
    }

    /// Lets the relief thread have the CPU, if it waits for this one; if it has got nowhere since the last beats, brings it here.
    fn lend_cpu(&self, lender: &Core) {
        let steps = self.steps.load(Ordering::Relaxed);
        let (seen, times) = lender.relief_seen.get();
        let times = if seen == steps { times + 1 } else { 0 };
        lender.relief_seen.set((steps, times));
        if times == PATIENCE {
            self.steering.call();
        }
        lender.lending.lend(std::thread::yield_now);
    }

    /// Nobody else can, and there is something to do or to watch?
    fn is_needed(&self, scheduler: &Scheduler) -> bool {
        let all_busy = scheduler.pool().is_some_and(|pool| !pool.has_idle_thread());
        all_busy
            && !scheduler.somebody_serves()
            && (scheduler.has_ready_task() || scheduler.driver.needs_attendant())
    }

    /// A worker is about to block in the middle of something.
    pub(crate) fn worker_blocks(&self, scheduler: &Scheduler) {
        // What the worker has queued comes before the look at the state; the relief thread does it the other way round.
        fence(Ordering::SeqCst);
        self.task_queued(scheduler);
        if scheduler.is_waited_for() {
            // Whoever seems to run tasks may be stuck in one.
            scheduler.watch.keep(scheduler);
        }
    }

    /// All workers are busy, and the caller has queued a task, with a fence since then.
    pub(crate) fn task_queued(&self, scheduler: &Scheduler) {
        match self.state.load().does {
            ATTENDING if scheduler.has_ready_task() => scheduler.driver.interrupt(),
            RESTING if self.is_needed(scheduler) => self.ask(scheduler),
            _ => self.send_idle_worker(scheduler),
        }
    }

    /// The caller is busy for long, and somebody is idle. That worker may sleep elsewhere while nobody watches the driver: the last one
    /// there has left it for something long; woken, it will sleep in the driver. Or it may not know of the tasks in the caller's slot and
    /// ring: nobody was told of those, since the caller was to get to them soon.
    fn send_idle_worker(&self, scheduler: &Scheduler) {
        let Some(pool) = scheduler.pool() else { return };
        if !pool.has_idle_thread() {
            return;
        }
        if scheduler.driver.needs_attendant() {
            pool.wake_one();
        } else if scheduler.has_ready_task() {
            pool.notify();
        }
    }

    /// Wakes the relief thread, or makes it.
    fn ask(&self, scheduler: &Scheduler) {
        if !self.enabled || self.is_stopping() || self.refusal.is_recent() {
            return;
        }
        let resting = State {
            does: RESTING,
            ..self.state.load()
        };
        let working = State {
            does: WORKING,
            ..resting
        };
        if !self.state.change(resting, working) {
            return;
        }
        let mut threads = self.threads();
        match &threads.active {
            Some(active) => active.thread().unpark(),
            // `stop` has been here: nobody would join a thread that starts now.
            None if self.is_stopping() => {}
            None => match self.start(scheduler, &mut threads, working.core) {
                Some(active) => threads.active = Some(active),
                None => {
                    // Tasks wait: for a worker, or for a retired thread. Not for long, once a thread can be had: the watcher asks again.
                    self.refusal.note();
                    // There is no thread that could have changed it.
                    self.state.change(working, resting);
                    drop(threads);
                    scheduler.watch.keep(scheduler);
                }
            },
        }
    }

    /// `None`: there are too many threads, or no memory for one more.
    fn start(
        &self,
        scheduler: &Scheduler,
        threads: &mut Threads,
        core: usize,
    ) -> Option<ThreadHandle> {
        let mut lenders = threads.retired.iter().map(|(_, blocking)| blocking);
        // Those that are stuck may be about to block with a word.
        let stuck = threads.stuck.len();
        if lenders.any(|blocking| blocking.has_lent_too_many(stuck)) {
            return None;
        }
        // Tasks are polled there, which may look for the name that the runtime's threads were given.
        let name = match &self.name {
            Some(name) => name.get(),
            None => "blitz-io relief".to_owned(),
        };
        let builder = std::thread::Builder::new().name(name);
        // A task that needs a large stack needs it here, too.
        let builder = match self.stack_size {
            Some(bytes) => builder.stack_size(bytes),
            None => builder,
        };
        let scheduler = scheduler.arc();
        start_thread(builder, move || scheduler.relief.main(&scheduler, core))
            .inspect_err(|error| threads.complain_of(error))
            .ok()
    }

    // ---- the thread -------------------------------------------------------------------------

    fn main(&self, scheduler: &Scheduler, core: usize) {
        hooks::call(&scheduler.hooks.start);
        self.relieve(scheduler, core);
        hooks::call(&scheduler.hooks.stop);
    }

    fn relieve(&self, scheduler: &Scheduler, mut index: usize) {
        super::urgency::ask_for_short_turns();
        // What a task forks here goes to the pool, and runs here if nobody takes it: all workers may wait for a lock that the task holds.
        let seat = scheduler.pool().map(PoolHandle::stand_in);
        loop {
            let before = scheduler.enter_worker(index);
            scheduler.cores[index].now.relieves();
            self.serve_until_retired(scheduler, index, seat.as_ref());
            let retired = scheduler.my_core().is_none();
            if let Some((core, _)) = scheduler.my_core() {
                if self.is_stopping() {
                    // SAFETY: the core is this thread's, which ends with the runtime.
                    unsafe { core.refuse_all() };
                } else {
                    // SAFETY: the core is this thread's until it is given back below.
                    unsafe { scheduler.empty(core) };
                }
            }
            Scheduler::leave_worker(before);
            if !retired {
                return self.give_back(scheduler, index);
            }
            match self.come_back() {
                Some(core) => index = core,
                None => return,
            }
        }
    }

    /// Is the thread with this core still the relief thread?
    fn is_active(&self, index: usize) -> bool {
        self.state.load().core == index
    }

    /// Does the relief thread do this, and is it the one with that core?
    fn change(&self, index: usize, from: usize, to: usize) -> bool {
        let state = |does| State { does, core: index };
        self.state.change(state(from), state(to))
    }

    /// Returns when the thread is to end, or has retired and is back from its task.
    fn serve_until_retired(&self, scheduler: &Scheduler, index: usize, seat: Option<&StandIn>) {
        while scheduler.my_core().is_some() {
            self.steering.falls_asleep();
            let resting = State {
                does: RESTING,
                core: index,
            };
            while self.state.load() == resting && !self.is_stopping() {
                std::thread::park();
            }
            self.steering.is_awake();
            if self.is_stopping() || !self.is_active(index) {
                return;
            }
            self.serve(scheduler, index, seat);
        }
    }

    fn serve(&self, scheduler: &Scheduler, index: usize, seat: Option<&StandIn>) {
        let run_slice = || match seat {
            Some(seat) => seat.run(|| scheduler.run_slice(index)),
            None => scheduler.run_slice(index),
        };
        while !self.is_stopping() {
            self.steps.fetch_add(1, Ordering::Relaxed);
            self.steering.answer_call();
            let has_run = run_slice();
            // A child made by a task that has returned from it: nobody would ever tell it anything.
            scheduler.assert_of_this_process();
            if scheduler.my_core().is_none() || !self.is_active(index) {
                return;
            }
            if has_run {
                continue;
            }
            let idle_worker = scheduler.pool().is_some_and(|pool| pool.has_idle_thread());
            if idle_worker || !scheduler.driver.try_enter() {
                // Somebody else watches the driver, or can.
                if !self.change(index, WORKING, RESTING) {
                    return;
                }
                fence(Ordering::SeqCst);
                if self.is_needed(scheduler) {
                    // Somebody who saw us working has relied on it.
                    self.ask(scheduler);
                }
                self.send_idle_worker(scheduler);
                return;
            }
            let attends = self.change(index, WORKING, ATTENDING);
            // Announced before the last look; wakers do it the other way round.
            fence(Ordering::SeqCst);
            if attends && !scheduler.has_ready_task() && !self.is_stopping() {
                self.steering.falls_asleep();
                // SAFETY: entered above.
                unsafe { scheduler.driver.block() };
                self.steering.is_awake();
            }
            // Nobody takes the place of a thread that attends.
            self.change(index, ATTENDING, WORKING);
            // SAFETY: as above.
            unsafe { scheduler.leave_driver() };
        }
    }

    /// A relief thread is about to block in the middle of a task of a runtime with these blocking threads. If it stayed the relief thread, nobody
    /// would serve the others, perhaps not even what it waits for: so it is none any more, and its core is for the next one, which is made when it
    /// is needed. It has left the core already.
    pub(super) fn retire(&self, scheduler: &Scheduler, index: usize, blocking: &Arc<BlockingPool>) {
        let mut threads = self.threads();
        if self.is_active(index) {
            if let Some(handle) = threads.active.take() {
                blocking.lend();
                threads.retired.push((handle, Arc::clone(blocking)));
            }
            // Still under the lock: whoever asks from now on finds no thread, and makes one. What we did with the core comes before.
            self.change(index, WORKING, RESTING);
            return;
        }
        drop(threads);
        // Another one has taken its place meanwhile. The core is still kept from others; the caller alone knows that it has left it.
        // SAFETY: nobody else owns it.
        unsafe { scheduler.empty(&scheduler.cores[index]) };
        let mut threads = self.threads();
        let stuck = threads.stuck.iter().position(|&(_, core)| core == index);
        if let Some(stuck) = stuck {
            let (handle, _) = threads.stuck.swap_remove(stuck);
            blocking.lend();
            threads.retired.push((handle, Arc::clone(blocking)));
        }
        self.count_cores(scheduler, &threads);
    }

    /// The watcher has seen the owner of this core in the same poll twice. If it is the relief thread, and tasks wait, another one takes its place.
    pub(super) fn replace_if_stuck(&self, scheduler: &Scheduler, index: usize) {
        let state = self.state.load();
        if state.core != index || state.does != WORKING || !self.is_needed(scheduler) {
            return;
        }
        let mut threads = self.threads();
        let mut reliefs = scheduler.cores.reliefs();
        let free = reliefs
            .find(|&core| core != index && threads.stuck.iter().all(|&(_, stuck)| stuck != core));
        let Some(core) = free else {
            return threads.complain(scheduler.workers());
        };
        let next = State {
            does: RESTING,
            core,
        };
        // It may just have come out of the poll, which is as well: then it is not the relief thread any more, and goes.
        if threads.active.is_some() && !self.is_stopping() && self.state.change(state, next) {
            let handle = threads.active.take().expect("it is there");
            threads.stuck.push((handle, index));
            self.count_cores(scheduler, &threads);
            drop(threads);
            self.ask(scheduler);
        }
    }

    /// A thread with a core, which it has emptied, ends.
    fn give_back(&self, scheduler: &Scheduler, index: usize) {
        let mut threads = self.threads();
        threads.stuck.retain(|&(_, core)| core != index);
        self.count_cores(scheduler, &threads);
    }

    fn count_cores(&self, scheduler: &Scheduler, threads: &Threads) {
        let stuck = threads.stuck.iter().map(|&(_, core)| core);
        let last = stuck.fold(self.state.load().core, usize::max);
        scheduler.cores.use_until(last + 1);
    }

    /// A thread that has retired is through with its task. If there is none, it is the relief thread again, with this core.
    fn come_back(&self) -> Option<usize> {
        let mut threads = self.threads();
        let me = std::thread::current().id();
        let mine = |(handle, _): &(ThreadHandle, _)| handle.thread().id() == me;
        // If not, `stop` has been here.
        let index = threads.retired.iter().position(mine)?;
        let (handle, blocking) = threads.retired.swap_remove(index);
        blocking.take_back();
        if threads.active.is_some() || self.is_stopping() {
            return None;
        }
        let core = self.state.load().core;
        let comes_back = self.change(core, RESTING, WORKING);
        comes_back.then(|| {
            threads.active = Some(handle);
            core
        })
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Ends the thread, if there is one; waits for it if `wait`.
    pub(crate) fn stop(&self, scheduler: &Scheduler, wait: bool) {
        self.stopping.store(true, Ordering::SeqCst);
        let threads = std::mem::take(&mut *self.threads());
        if let Some(active) = &threads.active {
            active.thread().unpark();
            scheduler.driver.interrupt();
        }
        let stuck = threads.stuck.into_iter().map(|(handle, _)| handle);
        let retired = threads.retired.into_iter();
        let retired = retired.map(|(handle, blocking)| {
            blocking.take_back();
            handle
        });
        for handle in threads.active.into_iter().chain(stuck).chain(retired) {
            if wait {
                handle.join();
            }
        }
    }
}
