//! Who notices that a worker is stuck in a poll, with tasks behind it that nobody else knows of: a watcher.
//!
//! A worker tells nobody of a task that it will get to soon itself: one in its slot, a few in its ring (see `outlook`). That is wrong if the
//! running poll blocks the thread, or computes for long, and does not say so: `std`'s channels and locks know nothing of us. A task that
//! waits in such a way for one that it has just spawned would wait for ever.
//!
//! So, while tasks are left lying behind a poll, one thread looks at the workers every few milliseconds. A worker that is still in the same poll
//! as at the last look, with tasks behind it, is stuck: others are told, or the relief thread is asked, as if the worker had said that it
//! blocks. When nothing has moved and nothing lies there the watcher rests, until a worker leaves a task lying again (see `vigil`): it costs nothing while the
//! runtime is idle, and no more than a load where tasks are pushed.

use super::shared::Shared;
use super::vigil::Vigil;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The first look comes after this; later ones take twice as long each.
const SHORTEST: Duration = Duration::from_millis(1);
/// Up to this.
const LONGEST: Duration = Duration::from_millis(8);

pub(crate) struct Watch {
    vigil: Vigil,
    stopping: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Watch {
    /// Not enabled, nobody is watched.
    pub(crate) fn new(enabled: bool) -> Self {
        Watch {
            // One that is kept for ever is never begun.
            vigil: Vigil::new(!enabled),
            stopping: AtomicBool::new(false),
            thread: Mutex::new(None),
        }
    }

    /// The caller is in a poll, or about to begin one, and leaves a task lying.
    #[inline]
    pub(crate) fn keep(&self, shared: &Shared) {
        if self.vigil.is_missed() {
            self.begin(shared);
        }
    }

    #[cold]
    fn begin(&self, shared: &Shared) {
        if self.is_stopping() || !self.vigil.begin() {
            return;
        }
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        match &*thread {
            Some(handle) => handle.thread().unpark(),
            // `stop` has been here: nobody would join a thread that starts now.
            None if self.is_stopping() => {}
            None => {
                let shared = shared.arc();
                let builder = std::thread::Builder::new().name("blitz-io watch".to_owned());
                // Without memory for a thread nobody watches, and the vigil counts as kept: trying again at every push would not help.
                *thread = builder.spawn(move || shared.watch.main(&shared)).ok();
            }
        }
    }

    fn main(&self, shared: &Shared) {
        let mut seen: Vec<u64> = shared.cores().map(|_| 0).collect();
        while !self.is_stopping() {
            if self.vigil.is_kept() {
                self.watch(shared, &mut seen);
            } else {
                std::thread::park();
            }
        }
    }

    /// Looks at the workers until there is nothing to see.
    fn watch(&self, shared: &Shared, seen: &mut [u64]) {
        let mut pause = SHORTEST;
        let mut was_stuck = false;
        loop {
            std::thread::park_timeout(pause);
            if self.is_stopping() {
                return;
            }
            let (mut moved, mut stuck) = (false, false);
            for (core, seen) in shared.cores().zip(seen.iter_mut()) {
                let progress = core.progress();
                if std::mem::replace(seen, progress) != progress {
                    moved = true;
                } else if core.is_in_slice() && core.has_work() {
                    core.set_serving(false);
                    stuck = true;
                }
            }
            stuck |= !moved && shared.has_ready_task();
            if stuck {
                shared.relief.worker_blocks(shared);
            }
            // Back soon, to see whether that has helped; not again and again if it has not.
            pause = if stuck && !was_stuck {
                SHORTEST
            } else {
                (2 * pause).min(LONGEST)
            };
            was_stuck = stuck;
            if !moved && !stuck && self.vigil.end(|| shared.has_ready_task()) {
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
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(handle) = thread {
            handle.thread().unpark();
            if wait {
                // It does not panic.
                let _ = handle.join();
            }
        }
    }
}
