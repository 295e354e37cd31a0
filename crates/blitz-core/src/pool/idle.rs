//! Waiting until no detached task is left.

use super::Pool;
use crate::awaited::Awaited;
use crate::away;
use crate::context::{self, Context, TaskContext};
use crate::seat::{self, Seat};
use crate::sync::locks::{Condvar, Mutex, ignore_poison};
use crate::wait;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads in `wait_idle`.
#[derive(Default)]
pub(super) struct IdleWaiters {
    pub(super) count: AtomicUsize,
    /// Detached tasks of which some part is inside `wait_idle`.
    excused: AtomicUsize,
    gate: Mutex<()>,
    changed: Condvar,
}

impl Pool {
    /// Blocks until no detached task is left. A caller that is a part of one does not wait for it, nor for others that are in this call: they would wait
    /// for each other. All of these go on when the others have ended, so a caller outside of any task waits for them, too.
    pub(crate) fn wait_idle(&self) {
        let seat = seat::current();
        self.idle.count.fetch_add(1, Ordering::SeqCst);
        let idle = Idle {
            pool: self,
            in_task: self.excuse_own_tasks(seat, true),
        };
        self.announce_idle();
        let until_idle = || self.idle.sleep_until(|| idle.is_done());
        match seat {
            // SAFETY: the caller occupies the seat, and asked for other work to be run.
            Some(seat) if self.owns(seat) => unsafe { wait::wait_for(seat, &idle) },
            Some(elsewhere) => away::sleep_elsewhere(elsewhere, until_idle),
            None => until_idle(),
        }
        self.excuse_own_tasks(seat, false);
        self.idle.count.fetch_sub(1, Ordering::SeqCst);
    }

    /// The occupant of `seat` enters `wait_idle`, or leaves it: the tasks that it is a part of are excused meanwhile. Each counts once, however many
    /// of its parts are in this call. `false`: it is a part of none.
    fn excuse_own_tasks(&self, seat: Option<&Seat>, enters: bool) -> bool {
        let Some(seat) = seat else { return false };
        let mut in_task = false;
        let _one_at_a_time = ignore_poison(self.idle.gate.lock());
        let order = Ordering::SeqCst;
        let excuse = |task: &TaskContext| {
            in_task = true;
            if enters && task.idling.fetch_add(1, order) == 0 {
                self.idle.excused.fetch_add(1, order);
            } else if !enters && task.idling.fetch_sub(1, order) == 1 {
                self.idle.excused.fetch_sub(1, order);
            }
        };
        // SAFETY: the caller runs in this context.
        unsafe { context::each_task(seat.context(), self.address(), excuse) };
        in_task
    }

    /// Something changed that threads in `wait_idle` wait for.
    pub(super) fn announce_idle(&self) {
        self.idle.announce();
        for waiter in self.all_waiters() {
            if std::ptr::eq(waiter.waits_for(), &raw const context::ROOT) {
                waiter.parker().unpark();
            }
        }
    }
}

impl IdleWaiters {
    fn announce(&self) {
        drop(ignore_poison(self.gate.lock()));
        self.changed.notify_all();
    }

    fn sleep_until(&self, ready: impl Fn() -> bool) {
        let mut gate = ignore_poison(self.gate.lock());
        while !ready() {
            gate = ignore_poison(self.changed.wait(gate));
        }
    }
}

/// The wait for an idle pool: everything descends from the root, so the waiting thread runs anything,
/// which is what its caller asked for.
struct Idle<'a> {
    pool: &'a Pool,
    /// Is the waiting code a part of a detached task of this pool?
    in_task: bool,
}

impl Awaited for Idle<'_> {
    fn context(&self) -> *const Context {
        &raw const context::ROOT
    }

    fn is_done(&self) -> bool {
        let excused = || self.pool.idle.excused.load(Ordering::SeqCst);
        let before = if self.in_task { excused() } else { 0 };
        // The second look: one of the excused may have left the call and ended meanwhile, and would count on
        // one side only.
        self.pool.life.tasks() <= before && (!self.in_task || excused() == before)
    }

    fn announce_parked(&self) -> bool {
        !self.is_done()
    }

    fn announce_awake(&self) {}
}
