//! The watcher: a thread that notices when a worker is stuck.
//!
//! A worker tells nobody about tasks that it will soon run itself: the one in its slot, and a few in its ring (see `load_estimate`). A worker that comes out of the driver
//! sends no other thread there, because it will soon be back. Both are wrong if the next task blocks the thread, or computes for long, and does not say so: `std`'s
//! channels and locks know nothing of us. If such a task waits for one that it has just spawned, it would wait for ever. Other tasks would wait for their timers and sockets.
//!
//! One thread, the watcher, looks at the workers every few milliseconds while tasks wait behind a poll, or the driver waits for the worker that has left it. It acts in two cases. A worker is still in the same poll
//! as at the last check, with tasks behind it. Or no worker has moved, and tasks or the driver wait. Then it tells other workers, or asks the relief thread, as if
//! the worker had said that it blocks. It also tells the pool that the worker is absent, so computations that no other worker takes get another thread. If no thread is available, the watcher itself looks after the driver. If the relief thread is still in the same poll, another one takes its place.
//!
//! The watcher rests when nothing has moved, no task is left behind, and the driver is attended or not needed. It rests until a worker leaves something behind again (see `watch_switch`). So it costs nothing while the
//! runtime is idle, and no more than a load where tasks are pushed.

use super::refusal::Refusal;
use super::watch_switch::WatchSwitch;
use super::workers::Scheduler;
use crate::primitives::ignore_poison;
use blitz_core::companion::{PoolHandle, ThreadHandle, start_thread};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The first look comes after this; later ones take twice as long each.
const SHORTEST: Duration = Duration::from_millis(1);
/// Up to this.
const LONGEST: Duration = Duration::from_millis(8);

pub(crate) struct Watch {
    switch: WatchSwitch,
    stopping: AtomicBool,
    refusal: Refusal,
    thread: Mutex<Option<ThreadHandle>>,
}

impl Watch {
    /// Not enabled, nobody is watched.
    pub(crate) fn new(enabled: bool) -> Self {
        Watch {
            // One that is on for ever is never turned on.
            switch: WatchSwitch::new(!enabled),
            stopping: AtomicBool::new(false),
            refusal: Refusal::default(),
            thread: Mutex::new(None),
        }
    }

    /// The caller leaves a task lying, or the driver, or has queued a task that nobody may get to.
    #[inline]
    pub(crate) fn keep(&self, scheduler: &Scheduler) {
        if self.switch.is_off() {
            self.begin(scheduler);
        }
    }

    #[cold]
    fn begin(&self, scheduler: &Scheduler) {
        if self.is_stopping() || self.refusal.is_recent() || !self.switch.turn_on() {
            return;
        }
        let mut thread = ignore_poison(self.thread.lock());
        match &*thread {
            Some(handle) => handle.thread().unpark(),
            // `stop` has been here: nobody would join a thread that starts now.
            None if self.is_stopping() => {}
            None => {
                let scheduler = scheduler.arc();
                let builder = std::thread::Builder::new().name("blitz-io watch".to_owned());
                match start_thread(builder, move || scheduler.watch.main(&scheduler)) {
                    Ok(handle) => *thread = Some(handle),
                    // No memory for a thread: somebody tries again, but not at every push.
                    Err(_) => {
                        self.refusal.note();
                        self.switch.turn_off();
                    }
                }
            }
        }
    }

    fn main(&self, scheduler: &Scheduler) {
        let mut seen = Vec::new();
        while !self.is_stopping() {
            if self.switch.is_on() {
                self.watch(scheduler, &mut seen);
            } else {
                std::thread::park();
            }
        }
    }

    /// Looks at the workers until there is nothing to see.
    fn watch(&self, scheduler: &Scheduler, seen: &mut Vec<(u64, u64)>) {
        let mut pause = SHORTEST;
        let mut was_stuck = false;
        let mut absent = Absent::new(scheduler);
        loop {
            std::thread::park_timeout(pause);
            if self.is_stopping() {
                return;
            }
            let (mut moved, mut stuck) = (false, false);
            for (index, core) in scheduler.cores.with_index() {
                if seen.len() <= index {
                    seen.resize(index + 1, (0, 0));
                }
                let (progress, beat) = (core.progress(), core.last_beat.load(Ordering::Relaxed));
                let before = std::mem::replace(&mut seen[index], (progress, beat));
                let has_moved = before.0 != progress;
                let same_poll = !has_moved && core.service.is_in_slice();
                if let Some(worker) = scheduler.cores.worker_of(index) {
                    // One that beats computes, and will get to other computations.
                    absent.say(worker, same_poll && before.1 == beat);
                }
                moved |= has_moved;
                if same_poll {
                    // Nobody relies on it any more.
                    core.service.takes_long();
                    stuck |= core.has_work();
                    scheduler.relief.replace_if_stuck(scheduler, index);
                }
            }
            stuck |= !moved && scheduler.is_waited_for();
            if stuck {
                scheduler.relief.worker_blocks(scheduler);
                if scheduler.driver.needs_attendant() {
                    // Whoever was asked may take long to come, or there may be nobody.
                    scheduler.look_after_driver();
                }
            }
            // Back soon, to see whether that has helped; not again and again if it has not.
            pause = if stuck && !was_stuck {
                SHORTEST
            } else {
                (2 * pause).min(LONGEST)
            };
            was_stuck = stuck;
            if !moved && !stuck && self.switch.turn_off_unless(|| scheduler.is_waited_for()) {
                return;
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Ends the thread, if there is one; waits for it if `wait`.
    pub(crate) fn stop(&self, wait: bool) {
        self.stopping.store(true, Ordering::SeqCst);
        let thread = ignore_poison(self.thread.lock()).take();
        if let Some(handle) = thread {
            handle.thread().unpark();
            if wait {
                handle.join();
            }
        }
    }
}

/// What the pool has been told of its threads; taken back when nobody watches any more.
struct Absent<'a> {
    pool: Option<&'a PoolHandle>,
    told: usize,
}

impl<'a> Absent<'a> {
    fn new(scheduler: &'a Scheduler) -> Self {
        Absent {
            pool: scheduler.pool(),
            told: 0,
        }
    }

    fn say(&mut self, worker: usize, absent: bool) {
        self.told = self.told.max(worker + 1);
        if let Some(pool) = self.pool {
            pool.set_absent(worker, absent);
        }
    }
}

impl Drop for Absent<'_> {
    fn drop(&mut self) {
        (0..self.told).for_each(|worker| self.say(worker, false));
    }
}
