//! Background tasks: polled when the engine has nothing else to do ([`blitz_core::Priority`]).
//!
//! The workers' own queues are for tasks that somebody waits for. A background task that has been woken becomes a background job of the engine, as a computation does
//! ([`crate::cpu`]). The job polls it once.

use super::cell::{Queued, Schedule, Task};
use crate::context;
use crate::scheduler::Shared;
use blitz_core::{Priority, with_priority};
use std::sync::Arc;

/// Queues tasks behind everything else. The runtime has a pool.
pub(crate) struct Behind(pub(crate) Arc<Shared>);

impl Behind {
    pub(crate) fn queue(shared: &Arc<Shared>, task: Queued) {
        let job = Job(Some(task));
        if let Some(pool) = shared.pool() {
            with_priority(Priority::Background, || {
                // A pool that has ended gives the job back, which ends the task.
                drop(pool.spawn(None, move || job.run()));
            });
        }
    }
}

impl Schedule for Behind {
    fn schedule(&self, task: Queued) {
        Self::queue(&self.0, task);
    }

    fn schedule_again(&self, task: Queued) {
        // The task may be gone as soon as it is queued, and we with it.
        let shared = Arc::clone(&self.0);
        Self::queue(&shared, task);
    }

    fn release(&self, task: &Task) -> bool {
        self.0.owned.remove(task)
    }

    fn poll<R>(&self, poll: impl FnOnce() -> R) -> R {
        // A pool's thread does not know whose task it polls.
        let _entered = (!context::is_current(&self.0)).then(|| context::enter(Arc::clone(&self.0)));
        poll()
    }

    fn drop_future<R>(&self, drop_it: impl FnOnce() -> R) -> R {
        let _entered = (!context::is_current(&self.0)).then(|| context::enter(Arc::clone(&self.0)));
        drop_it()
    }
}

/// Polls a task, or ends it if it is dropped.
struct Job(Option<Queued>);

impl Job {
    fn run(mut self) {
        if let Some(task) = self.0.take() {
            task.run();
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.task().shutdown();
        }
    }
}
