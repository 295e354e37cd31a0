//! What keeps a pool going, and its end.

use super::Pool;
use crate::clock;
use crate::context;
use crate::process_fork::ThreadHandle;
use crate::scope;
use crate::seat::Seat;
use crate::sync::ignore_poison;
use crate::thread_latch::ThreadLatch;
use crate::worker;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

impl Pool {
    /// A detached task begins to exist: the pool lives until it has ended. If the pool has ended already, this is one of its threads, in its
    /// exit handler, and will run the task after that.
    pub(crate) fn retain(&self) {
        self.life.add_task();
    }

    /// The same, if the pool has not ended.
    pub(crate) fn try_retain(&self) -> bool {
        self.life.try_add_task()
    }

    /// A detached task has ended.
    pub(crate) fn release(&self) {
        self.share_given_up(self.life.remove_task());
    }

    /// The pool's handle is dropped, or has been before.
    pub(crate) fn release_handle(&self) {
        self.share_given_up(self.life.drop_handle());
    }

    fn share_given_up(&self, is_over: bool) {
        if is_over {
            self.end();
        }
        if self.idle.count.load(Ordering::SeqCst) > 0 {
            self.announce_idle();
        }
    }

    /// The calling thread works in the pool for a while, as a part of the companion; the pool's threads stay until the value is dropped. `None`: the pool is over.
    pub(crate) fn visit(&self) -> Option<Visit<'_>> {
        if self.global {
            // It is not closed before its companion agrees.
            return (!self.is_closed()).then_some(Visit { counted: None });
        }
        // Made only then: dropping one takes a visitor out.
        self.life.try_enter().then(|| Visit {
            counted: Some(self),
        })
    }

    /// The same for a thread from outside, which a closed pool does not let in.
    pub(crate) fn admit(&self) -> Option<Visit<'_>> {
        let visit = self.life.try_enter().then(|| Visit {
            counted: Some(self),
        });
        visit.filter(|_| !self.is_closed())
    }

    /// Does the pool let nobody in any more?
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.life.is_closed()
    }

    /// Lets nobody in any more. When everything in here is through, the pool is over.
    pub(crate) fn close(&self) {
        self.share_given_up(self.life.close(|| self.has_guests()));
    }

    pub(super) fn has_guests(&self) -> bool {
        self.seats.iter().any(|seat| seat.occupancy.has_guest())
    }

    /// # Panics
    /// If the calling thread is in the pool, and is about to wait for the pool's end.
    #[track_caller]
    pub(crate) fn assert_outside(&self) {
        assert!(
            self.current_seat()
                .is_none_or(|_| self.adopted_seat().is_some())
                && !scope::is_in_body_of(self),
            "a thread pool cannot be shut down from inside: the calling thread runs a task of that pool, or is inside of its `install` or of a scope, and \
             would wait for itself. Call shutdown from outside, or drop the pool, which waits for nobody"
        );
    }

    /// # Panics
    /// For the caller's work there is no pool any more.
    #[cold]
    #[track_caller]
    pub(crate) fn refuse_work(&self) -> ! {
        panic!(
            "this thread pool has been shut down (ThreadPool::shutdown), and takes no work any more: \
             shut it down after its last use, or build another one"
        )
    }

    pub(super) fn end(&self) {
        self.sleep.wake_all();
        self.seats.iter().for_each(|seat| seat.parker().unpark());
        self.rescue.end();
        self.relays.end();
    }

    /// Has it ended? What an exit handler spawns then keeps only its own thread.
    pub(crate) fn is_over(&self) -> bool {
        self.life.is_over()
    }

    pub(crate) fn wait_until_started(&self) {
        self.started.iter().for_each(ThreadLatch::wait);
    }

    /// Waits until its threads are through, until `deadline` at most. `false`: some are not.
    pub(crate) fn wait_until_stopped(&self, deadline: Option<Instant>) -> bool {
        self.stopped
            .iter()
            .all(|stopped| stopped.wait_within(deadline))
    }

    /// A thread of the pool has been started.
    pub(crate) fn keep_handle(&self, handle: ThreadHandle) {
        let mut handles = self.handles();
        // Those of rescue threads, which come and go.
        handles.retain(|handle| !handle.is_finished());
        handles.push(handle);
    }

    fn handles(&self) -> MutexGuard<'_, Vec<ThreadHandle>> {
        ignore_poison(self.handles.lock())
    }

    /// The seat of the calling thread, if that is the one that was there before the pool, and runs no task of it.
    pub(crate) fn adopted_seat(&self) -> Option<&Seat> {
        let adopted = self.adopted.get()?;
        let seat = self.current_seat()?;
        let at_rest = std::ptr::eq(seat.context(), &raw const context::ROOT);
        (at_rest && *adopted == std::thread::current().id()).then_some(seat)
    }

    /// For the thread in `seat`, which was there before the pool: runs what there is until the others have ended.
    pub(crate) fn run_until_stopped(&self, seat: &Seat, deadline: Option<Instant>) -> bool {
        loop {
            // SAFETY: the caller occupies the seat.
            while unsafe { worker::run_anything(seat) } {}
            // Before the clock is asked: a web page has none.
            if self.stopped.iter().all(ThreadLatch::is_set) && self.is_over() {
                return true;
            }
            // They may still have something for this thread: a broadcast. Nobody wakes it for that here.
            let Some(soon) = clock::deadline(Duration::from_millis(1)) else {
                std::hint::spin_loop();
                continue;
            };
            let look = deadline.map_or(soon, |deadline| deadline.min(soon));
            if self.wait_until_stopped(Some(look)) && self.is_over() {
                return true;
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return false;
            }
        }
    }

    /// As [`Pool::wait_until_stopped`], and joins those that were not started by the user.
    pub(crate) fn join_threads(&self, deadline: Option<Instant>) -> bool {
        if !self.wait_until_stopped(deadline) {
            return false;
        }
        let me = std::thread::current().id();
        let handles = std::mem::take(&mut *self.handles());
        // The destructor of a thread-local may run on the last steps of one of them.
        let others = handles
            .into_iter()
            .filter(|handle| handle.thread().id() != me);
        others.for_each(ThreadHandle::join);
        true
    }
}

/// See [`Pool::visit`] and [`Pool::admit`].
pub(crate) struct Visit<'a> {
    counted: Option<&'a Pool>,
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if let Some(pool) = self.counted {
            if pool.life.leave() {
                pool.end();
            }
        }
    }
}
