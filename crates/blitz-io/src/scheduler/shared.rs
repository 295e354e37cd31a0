//! What one runtime has of its own: its tasks, its threads for blocking code, its end. The tasks run where its
//! [`Scheduler`] says. A runtime has a scheduler for itself or, on the global pool, shares it with others.
//!
//! A task holds its runtime from when it is made until its memory is freed. Its code runs in that runtime: every thread that polls it *is in* the runtime
//! meanwhile ([`context`]). So tasks that it spawns belong to the same runtime.

use super::injector::refuse;
use super::owned::Owned;
use super::{core, workers::Scheduler};
use crate::blocking::BlockingPool;
use crate::context;
use crate::place::Place;
use crate::runtime::Identity;
use crate::runtime::metrics::PollTimes;
use crate::task::behind::Behind;
use crate::task::inheriting::Inheriting;
use crate::task::{self, LocalTasks, Queued, Schedule, Task};
use blitz_core::Priority;
use blitz_core::companion::sleep_elsewhere;
use blitz_core::inherited::Captured;
use std::cell::Cell;
use std::future::Future;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, OnceLock};

/// See the module's documentation.
pub(crate) struct Shared {
    scheduler: Arc<Scheduler>,
    /// Is the scheduler, and with it the pool and the driver, this runtime's alone?
    is_alone: bool,
    pub(crate) owned: Owned,
    pub(crate) blocking: Arc<BlockingPool>,
    ended: AtomicBool,
    pub(crate) identity: Identity,
    /// The tasks that need not be `Send`, if it is a `LocalRuntime`.
    pub(crate) local: OnceLock<LocalTasks>,
    pub(crate) poll_times: Option<PollTimes>,
}

thread_local! {
    /// Tasks that this thread has spawned from outside.
    static SPAWNED: Cell<u64> = const { Cell::new(0) };
}

impl Deref for Shared {
    type Target = Scheduler;

    #[inline]
    fn deref(&self) -> &Scheduler {
        &self.scheduler
    }
}

impl Shared {
    pub(crate) fn new(
        scheduler: Arc<Scheduler>,
        is_alone: bool,
        blocking: Arc<BlockingPool>,
        identity: Identity,
        poll_times: bool,
    ) -> Arc<Self> {
        let shared = Arc::new(Shared {
            is_alone,
            owned: Owned::new(scheduler.workers()),
            blocking,
            ended: AtomicBool::new(false),
            identity,
            local: OnceLock::new(),
            poll_times: poll_times.then(PollTimes::default),
            scheduler,
        });
        shared.add_runtime(Arc::downgrade(&shared));
        #[cfg(feature = "console")]
        crate::console::begins(&shared);
        shared
    }

    /// Is the scheduler this runtime's alone? Then it ends with it.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// The caller has made sure that it is of this process.
    pub(crate) fn spawn<F>(self: &Arc<Self>, place: Place, future: F) -> Task
    where
        F: Future + Send,
        F::Output: Send,
    {
        let inherited = Captured::for_detached();
        if !inherited.is_nothing() {
            return self.spawn_inheriting(place, inherited, future);
        }
        // SAFETY: both are `Send`; that they live long enough is the caller's business.
        let (listed, queued, handle) = unsafe { task::new(place, future, Arc::clone(self)) };
        if self.admit(listed) {
            self.schedule_task(queued);
        }
        handle
    }

    /// As [`Shared::spawn`], for a task that inherits something.
    #[cold]
    fn spawn_inheriting<F>(self: &Arc<Self>, place: Place, inherited: Captured, future: F) -> Task
    where
        F: Future + Send,
        F::Output: Send,
    {
        let is_behind = inherited.priority() == Priority::Background && self.pool().is_some();
        let future = Inheriting::new(inherited, future);
        // SAFETY: as in `spawn`. A box is polled and dropped where its future may be.
        unsafe {
            if is_behind {
                let behind = Behind(Arc::clone(self));
                let (listed, queued, handle) = task::new(place, future, behind);
                if self.admit(listed) {
                    Behind::queue(self, queued);
                }
                return handle;
            }
            let (listed, queued, handle) = task::new(place, future, Arc::clone(self));
            if self.admit(listed) {
                self.schedule_task(queued);
            }
            handle
        }
    }

    /// Adds a new task to the list. `false`: the runtime has ended, and the task with it.
    pub(crate) fn admit(&self, listed: Task) -> bool {
        let (spawner, count) = match self.my_core() {
            Some((core, index)) => (index, core::add(&core.counts.spawned, 1)),
            None => (self.others(), SPAWNED.replace(SPAWNED.get() + 1)),
        };
        self.owned.admit(listed, spawner, count)
    }

    /// The calling thread is about to block, or to be busy for long; if it is a worker, somebody else has to serve.
    pub(crate) fn caller_blocks(&self) {
        self.scheduler.caller_blocks(&self.blocking);
    }

    /// The calling thread is about to wait for this runtime; if it is another one's worker, others have to serve there.
    pub(crate) fn caller_waits_for_us(&self) {
        self.scheduler.others_lose_caller(&self.blocking);
    }

    /// The calling thread sleeps in `sleep`. If it is a worker, in the middle of something, others serve meanwhile, also what is in the
    /// engine's queues: it may wait for that.
    pub(crate) fn caller_sleeps(&self, sleep: &dyn Fn()) {
        self.assert_of_this_process();
        self.caller_blocks();
        sleep_elsewhere(sleep);
    }

    // ---- the end ----------------------------------------------------------------------------

    /// Marks the runtime as ended. `true`: it was already.
    pub(crate) fn ended(&self) -> bool {
        self.ended.swap(true, Ordering::SeqCst)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// For a current-thread runtime: if it has ended, whoever leaves the driver last, or ends it while nobody is inside, drops what is
    /// still queued.
    pub(crate) fn empty_after_the_end(&self) {
        // The end, or the leaving, before the look at the other.
        fence(Ordering::SeqCst);
        if self.pool().is_none() && self.has_ended() && self.driver.try_enter() {
            // SAFETY: the one core belongs to whoever is in the driver.
            unsafe {
                self.cores[0].refuse_all();
                self.driver.leave();
            }
        }
    }

    /// Drops every future, and refuses new ones. Tasks that are being polled end at their next `Pending`.
    ///
    /// A task that is spawned meanwhile is refused, or in the list in time. One that is woken meanwhile is in the shared queue before that
    /// closes, or comes back to whoever woke it; so no entry is left behind that would keep its task's memory. If others use
    /// the queue, it stays open: workers find out that the task is through.
    pub(crate) fn shut_down_tasks(&self) {
        self.owned.close_and_shut_down();
        if self.is_alone {
            refuse(self.injector.close());
        }
    }
}

impl Schedule for Arc<Shared> {
    #[inline]
    fn schedule(&self, task: Queued) {
        self.schedule_task(task);
    }

    #[inline]
    fn schedule_again(&self, task: Queued) {
        // SAFETY: the polling thread holds the scheduler; `self` goes with the task.
        let scheduler = unsafe { &*Arc::as_ptr(&self.scheduler) };
        scheduler.queue_again(task);
    }

    fn release(&self, task: &Task) -> bool {
        self.owned.remove(task)
    }

    #[inline]
    fn poll<R>(&self, poll: impl FnOnce() -> R) -> R {
        context::be_in(self);
        match &self.poll_times {
            None => poll(),
            Some(times) => times.measure(poll),
        }
    }

    fn drop_future<R>(&self, drop_it: impl FnOnce() -> R) -> R {
        let _entered = (!context::is_current(self)).then(|| context::enter(Arc::clone(self)));
        drop_it()
    }
}
