//! Waiting, and what a waiting thread may do meanwhile.
//!
//! **A thread that waits runs only descendants of what it waits for** (see [`crate::context`]). So no
//! lock, `RefCell` borrow or thread-local that the frames below hold can be met again by unrelated work,
//! no unrelated job, however long, can delay the end of the wait, and the stack never gets deeper than the
//! sequential program's: what is run on top of a wait is something the sequential program would have run
//! below the same frame.
//!
//! Parts of one loop are a case of their own: there is no code but the loop's between its beginning and such a wait, and so what descends from the *loop* may be run, as far as
//! it is not larger (its level is not lower) than what is waited for. `docs/internals/waiting.md` has the argument.
//!
//! A waiting thread looks, in this order, for
//! 1. broadcasts addressed to its seat: they are meant for every thread, waiting or not, and the one
//!    exception to the rule;
//! 2. the newest task of its own deque, if it is a descendant;
//! 3. public forks that are descendants: on the stack of the thread that has what we wait for, then on
//!    the others;
//! 4. (if it waits for tasks, not for a fork) other seats' deques and the shared queue.
//!
//! If there is nothing for a while it asks the thief's stack for its private forks by force, and later it
//! parks. Whoever completes what it waits for unparks it; so does whoever posts a descendant task.
//!
//! # Nobody waits for ever
//! Suppose all threads wait and something is unfinished. Waits go from ancestor to descendant, so some wait
//! is innermost: what it waits for waits for nothing itself and yet does not run. A stolen fork always
//! runs. So it is a task, in a deque or in the shared queue. Before it parked, that waiter announced what
//! it waits for and then took a *last look* at every task in every queue, putting strangers aside, and would
//! have found it; and a task posted after the announcement would have woken it.

use crate::abort::without_unwinding;
use crate::awaited::{Awaited, Half};
use crate::away::asleep;
use crate::clock::{ticks, ticks_per_us};
use crate::context::{Context, descends_from, descends_from_beside};
use crate::events;
use crate::join::Within;
use crate::join_stack::{Stolen, Thief};
use crate::process_fork;
use crate::rules::{FORCE_AFTER_US, patience_us};
use crate::seat::Seat;
use crate::task::TaskRef;
use std::hint::spin_loop;
use std::ptr;

mod tasks;

/// One pause between two looks.
pub(crate) fn pause(round: u32) {
    // Mostly spin, sometimes let somebody else have the CPU: the kernel may have put the thread we wait
    // for on ours.
    if round % 32 == 31 {
        std::thread::yield_now();
    } else {
        (0..8).for_each(|_| spin_loop());
    }
}

/// Waits until `awaited` is done, helping with what descends from it. Does not unwind: what is awaited may use the caller's frame.
///
/// It is compiled once, not for each kind of join: whoever waits has time for a call.
///
/// # Safety
/// The caller occupies the seat.
#[cold]
pub(crate) unsafe fn wait_for(seat: &Seat, awaited: &dyn Awaited) {
    // SAFETY: passed on.
    without_unwinding("a panic in a wait", || unsafe { help_until(seat, awaited) });
}

/// Waits for the right half of a join, which another thread has: the newest on the seat's stack. It is a part of the loop `within`, if that is one.
///
/// # Safety
/// The caller occupies the seat, and the last `pop` of its stack said that the half is stolen.
pub(crate) unsafe fn wait_for_half(seat: &Seat, within: Within) {
    // SAFETY: passed on.
    unsafe {
        let level = || seat.stack.level().saturating_sub(1);
        let half = Half {
            slot: seat.stack.stolen_slot(),
            within,
            // That of the next fork, which would be behind it.
            level: if within.is_loop() { level() } else { 0 },
        };
        wait_for(seat, &half);
    }
}

/// # Safety
/// The caller occupies the seat.
unsafe fn help_until(seat: &Seat, awaited: &dyn Awaited) {
    let _waits = events::waits();
    let mut wait = Wait::new(seat, awaited);
    // The first look that found nothing. Whoever finds something all the time does not read the clock.
    let mut since = None;
    let mut forced = false;
    let mut round = 0;
    while !awaited.is_done() {
        // SAFETY: the caller occupies the seat.
        if let Some(found) = unsafe { wait.find(false) } {
            // SAFETY: as above.
            unsafe { wait.run(found) };
            wait.stranger_on_top = false;
            since = None;
            forced = false;
            round = 0;
            continue;
        }
        let rate = ticks_per_us();
        let now = ticks();
        let waited = now.saturating_sub(*since.get_or_insert(now));
        if waited > patience_us(seat.pool().backoff) * rate {
            // SAFETY: the caller occupies the seat.
            unsafe { wait.park() };
            since = None;
            forced = false;
        } else if waited > FORCE_AFTER_US * rate && !forced {
            forced = true;
            wait.force();
        } else {
            pause(round);
            round += 1;
        }
    }
}

/// Runs whatever is queued or on offer now and descends from what is awaited. `false`: there was nothing.
///
/// # Safety
/// The caller occupies the seat.
pub(crate) unsafe fn help(seat: &Seat, awaited: &dyn Awaited) -> bool {
    let mut wait = Wait::new(seat, awaited);
    let mut any = false;
    // SAFETY: passed on.
    while let Some(found) = unsafe { wait.find(true) } {
        any = true;
        // SAFETY: passed on.
        unsafe { wait.run(found) };
    }
    any
}

struct Wait<'a> {
    seat: &'a Seat,
    awaited: &'a dyn Awaited,
    /// The queues have shown tasks that we may not run: leave them alone until the last look.
    strangers_seen: bool,
    /// So has our own deque; until we have run something, which may have pushed a descendant.
    stranger_on_top: bool,
}

/// Something a waiting thread has taken and may run.
enum Found<'a> {
    Task(TaskRef),
    Fork(Stolen<'a>, &'a Seat),
}

impl<'a> Wait<'a> {
    fn new(seat: &'a Seat, awaited: &'a dyn Awaited) -> Self {
        Wait {
            seat,
            awaited,
            strangers_seen: false,
            stranger_on_top: false,
        }
    }

    fn is_ours(&self, context: *const Context) -> bool {
        // SAFETY: callers hold the work that the context belongs to: a task taken out of its queue, or one of the shared queue or a
        // fork on a stack whose lock they hold.
        unsafe { descends_from(context, self.awaited.context()) }
    }

    /// # Safety
    /// The caller occupies the seat.
    unsafe fn run(&self, found: Found<'_>) {
        // SAFETY: passed on.
        unsafe {
            match found {
                Found::Task(task) => self.seat.run_task(task),
                Found::Fork(stolen, victim) => self.seat.run_stolen(stolen, victim),
            }
        }
    }

    /// Something that may be run. `last_look`: before parking, at every task in every queue. (Inlined, for each case by itself: a scope's tasks pass through here.)
    ///
    /// # Safety
    /// The caller occupies the seat.
    #[inline(always)]
    unsafe fn find(&mut self, last_look: bool) -> Option<Found<'a>> {
        let mailbox = &self.seat.mailbox;
        if last_look || !mailbox.is_empty() {
            if let Some(task) = mailbox.pop() {
                return Some(Found::Task(task));
            }
        }
        // SAFETY: passed on.
        if let Some(task) = unsafe { self.find_own_task(last_look) } {
            return Some(Found::Task(task));
        }
        if let Some(found) = self.find_fork() {
            return Some(found);
        }
        if self.awaited.waits_for_tasks() && (last_look || !self.strangers_seen) {
            return self.find_task(last_look).map(Found::Task);
        }
        None
    }

    /// The other seats, the one that has what we wait for first. By address: extra seats have no index.
    fn others(&self) -> impl Iterator<Item = &'a Seat> + use<'a> {
        let me = self.seat;
        let pool = me.pool();
        let first = self.awaited.runs_at();
        let first = first.and_then(|index| pool.seats.get(index));
        let first = first.filter(|other| !ptr::eq(*other, me));
        let rest = pool.victims(me.index).filter(move |other| {
            !ptr::eq(*other, me) && first.is_none_or(|first| !ptr::eq(*other, first))
        });
        first.into_iter().chain(rest)
    }

    fn find_fork(&self) -> Option<Found<'a>> {
        let (whole, lowest) = self
            .awaited
            .part_of()
            .unwrap_or((self.awaited.context(), 0));
        self.others().find_map(|victim| {
            // A context on a stack mostly descends from the one below it: if that was a stranger, so is this one, and the way to the root is not
            // walked again for each of them.
            let mut stranger = ptr::null();
            let wanted = |context| {
                // SAFETY: the fork is on a stack whose lock we hold, and so were the ones before.
                let ours = unsafe { descends_from_beside(context, whole, stranger) };
                if !ours {
                    stranger = context;
                }
                ours
            };
            let thief = victim.stack.thief();
            let stolen = thief.steal_from_level(lowest, self.seat.index, wanted)?;
            Some(Found::Fork(stolen, victim))
        })
    }

    /// Asks for private forks where our descendants may be, or other parts of the loop.
    fn force(&self) {
        let pool = self.seat.pool();
        let victim = self.awaited.runs_at();
        let victim = victim.and_then(|index| pool.seats.get(index));
        let force = |thief: Thief<'_>| thief.sees_private() && thief.force();
        let mut forced = victim.is_some_and(|victim| force(victim.stack.thief()));
        if !forced && self.awaited.part_of().is_some() {
            let mut hidden = self.others().filter(|other| other.hides_work());
            forced = hidden.any(|other| force(other.stack.thief()));
        }
        if forced {
            events::forced(self.seat);
        }
    }

    /// Parks until there is news.
    ///
    /// # Safety
    /// The caller occupies the seat.
    unsafe fn park(&mut self) {
        let (seat, awaited) = (self.seat, self.awaited);
        let pool = seat.pool();
        process_fork::assert_may_wait(pool.generation);
        let found = pool.waiters.park(&seat.waiter, awaited.context(), || {
            let mut found = None;
            if awaited.announce_parked() {
                // SAFETY: passed on.
                found = unsafe { self.find(true) };
                if found.is_none() {
                    asleep(seat, false, || {
                        seat.tell_companion_blocked();
                        seat.parker().park();
                    });
                }
                awaited.announce_awake();
            }
            found
        });
        self.strangers_seen = false;
        self.stranger_on_top = false;
        if let Some(found) = found {
            // SAFETY: passed on.
            unsafe { self.run(found) };
        }
    }
}
