//! Loom models of parking in a wait: no task is left beside a waiter that may run it, and a pool that is stuck is noticed.
//!
//! What runs is the shipped protocol: [`Waiters`], [`Waiter`], [`Sleep::post`], [`Occupancy`] and the walk to a task's ancestors. The queues are lists under locks here; they have
//! models of their own. "Maximum number of branches" stands for a waiter that sleeps beside its task for ever.

use super::*;
use crate::occupancy::Occupancy;
use crate::sleep::{Flaw as SleepFlaw, Sleep};
use crate::sync::AtomicU32;
use blitz_primitives::model::{Race, oversleeping_race, race};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::AtomicU32 as PlainU32;

/// What a deque without a task has.
const NOTHING: u32 = u32::MAX;
/// The tasks, by number; a task is known by the context that it runs in.
const TASKS: usize = 2;
/// An extra seat: not one of those that count.
const EXTRA: usize = 2;

struct Seat {
    waiter: Waiter,
    occupancy: Occupancy,
}

/// As much of a pool as waiting needs.
struct Pool {
    seats: [Seat; 3],
    waiters: Waiters,
    sleep: Sleep,
    contexts: [Context; TASKS],
    /// The shared queue.
    tasks: Mutex<VecDeque<u32>>,
    /// Somebody's deque, with room for one task.
    deque: AtomicU32,
    /// Rescue threads that were started; not loom's.
    rescues: PlainU32,
}

impl Pool {
    fn new(tasks: &[u32], flaws: Flaws<Flaw>) -> Rc<Self> {
        Self::with_flaws(tasks, flaws, Flaws::NONE)
    }

    fn with_flaws(tasks: &[u32], flaws: Flaws<Flaw>, sleep: Flaws<SleepFlaw>) -> Rc<Self> {
        Rc::new(Pool {
            seats: std::array::from_fn(|_| Seat {
                waiter: Waiter::with_flaws(flaws),
                occupancy: Occupancy::vacant(),
            }),
            waiters: Waiters::with_flaws(flaws),
            sleep: Sleep::with_flaws(1, sleep),
            contexts: std::array::from_fn(|_| Context::new(ptr::null())),
            tasks: Mutex::new(tasks.iter().copied().collect()),
            deque: AtomicU32::new(NOTHING),
            rescues: PlainU32::new(0),
        })
    }

    fn context(&self, task: u32) -> *const Context {
        &raw const self.contexts[task as usize]
    }

    fn all_waiters(&self) -> impl Iterator<Item = &Waiter> {
        self.seats.iter().map(|seat| &seat.waiter)
    }

    /// The occupant of `seat` waits until it has run `task`.
    fn wait_for(&self, seat: usize, task: u32) {
        let waiter = &self.seats[seat].waiter;
        let look_and_sleep = || {
            let found = self.finds(task);
            if !found {
                let _parked = waiter.parks(false, |_| self.rescue_if_stuck());
                waiter.parker().park();
            }
            found
        };
        while !self
            .waiters
            .park(waiter, self.context(task), look_and_sleep)
        {}
    }

    /// The last look: at every task in every queue.
    fn finds(&self, wanted: u32) -> bool {
        if self.deque.load(Ordering::Acquire) == wanted {
            self.deque.store(NOTHING, Ordering::Relaxed);
            return true;
        }
        let queued = self.tasks.lock().unwrap().len();
        for _ in 0..queued {
            let taken = self.tasks.lock().unwrap().pop_front();
            match taken {
                Some(task) if task == wanted => return true,
                Some(stranger) => self.put_back(stranger),
                None => break,
            }
        }
        false
    }

    fn put_back(&self, stranger: u32) {
        self.waiters.put_back(|concerned| {
            let context = self.context(stranger);
            // SAFETY: contexts live as long as the pool.
            let waits = |waiter: &&Waiter| unsafe { waiter.may_run(context) };
            concerned.extend(self.all_waiters().filter(waits).map(Waiter::parker));
            self.tasks.lock().unwrap().push_back(stranger);
        });
    }

    /// Posts a task. Its waiters may run it themselves.
    fn post(&self, task: u32) {
        self.deque.store(task, Ordering::Release);
        self.sleep.post();
        // SAFETY: contexts live as long as the pool.
        unsafe { self.waiters.tell(self.context(task), || self.all_waiters()) };
        self.rescue_if_stuck();
    }

    /// Somebody has to run what nobody else may. (The rescue thread itself is left out.)
    fn rescue_if_stuck(&self) {
        let is_lost = |seat: &Seat| seat.waiter.is_lost(|| seat.occupancy.has_guest());
        let all_are_lost = || self.seats[..EXTRA].iter().all(is_lost);
        let has_work = || self.deque.load(Ordering::Acquire) != NOTHING;
        if self.waiters.is_stuck(all_are_lost, has_work) {
            self.rescues.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The guest of `seat` leaves it.
    fn leave(&self, seat: usize) {
        let seat = &self.seats[seat];
        seat.occupancy.leave();
        if seat.waiter.guest_left() {
            self.rescue_if_stuck();
        }
    }

    /// The occupant of `seat` falls asleep in something that is not the engine's, for ever.
    fn sleep_elsewhere(&self, seat: usize) {
        let waiter = &self.seats[seat].waiter;
        std::mem::forget(waiter.parks(true, |_| self.rescue_if_stuck()));
    }

    /// The thread of `seat` goes to the extra seat, and falls asleep there.
    fn sleep_beside(&self, seat: usize) {
        let extra = &self.seats[EXTRA].waiter;
        self.seats[seat].waiter.set_beside(Some(extra));
        self.sleep_elsewhere(EXTRA);
    }

    /// From the start on, the occupant of `seat` is parked.
    fn pretend_parked(&self, seat: usize) {
        std::mem::forget(self.seats[seat].waiter.parks(false, |_| ()));
    }
}

/// Two waiters, and both their tasks in the queue: each holds the other's in its hands for a moment.
fn two_waiters(flaws: Flaws<Flaw>) -> Race<()> {
    let one = Pool::new(&[0, 1], flaws);
    let two = one.clone();
    Race::new(|_| {})
        .thread(move || one.wait_for(0, 0))
        .thread(move || two.wait_for(1, 1))
}

#[test]
fn loom_two_waiters_that_look_at_once_find_their_tasks() {
    race::<2, _>(|| two_waiters(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_strangers_that_return_silently_are_overlooked() {
    oversleeping_race::<2, _>(|flawed| two_waiters(Flaws::only_if(flawed, Flaw::ReturnSilently)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_an_announcement_between_the_look_and_the_return_is_overlooked() {
    oversleeping_race::<2, _>(|flawed| two_waiters(Flaws::only_if(flawed, Flaw::ReturnOutOfOrder)));
}

/// A task is posted while its waiter parks.
fn posted(flaws: Flaws<Flaw>, sleep: Flaws<SleepFlaw>) -> Race<()> {
    let waiter = Pool::with_flaws(&[], flaws, sleep);
    let poster = waiter.clone();
    Race::new(|_| {})
        .thread(move || waiter.wait_for(0, 0))
        .thread(move || poster.post(0))
}

#[test]
fn loom_a_task_posted_while_its_waiter_parks_is_found() {
    race::<2, _>(|| posted(Flaws::NONE, Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_posting_without_a_fence_can_miss_the_waiter() {
    oversleeping_race::<2, _>(|flawed| {
        let no_fence = Flaws::only_if(flawed, SleepFlaw::NoPosterFence);
        posted(Flaws::NONE, no_fence)
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_looking_without_a_fence_can_miss_the_task() {
    oversleeping_race::<2, _>(|flawed| {
        posted(Flaws::only_if(flawed, Flaw::NoWaiterFence), Flaws::NONE)
    });
}

/// One waiter is parked, another one falls asleep elsewhere, and somebody from outside injects a task that neither may run. One of
/// the latter two sees that the pool is stuck, also if a late token lies in the parker of the one who sleeps elsewhere.
fn stuck(flaws: Flaws<Flaw>, late_token: bool) {
    race::<2, _>(move || {
        let waiter = Pool::new(&[], flaws);
        let outsider = waiter.clone();
        let pool = waiter.clone();
        pool.pretend_parked(0);
        if late_token {
            pool.seats[1].waiter.parker().unpark();
        }
        Race::new(move |_| {
            let rescues = pool.rescues.load(Ordering::Relaxed);
            assert!(rescues > 0, "nobody has noticed");
        })
        .thread(move || waiter.sleep_elsewhere(1))
        .thread(move || outsider.post(0))
    });
}

#[test]
fn loom_whoever_comes_last_notices_that_the_pool_is_stuck() {
    stuck(Flaws::NONE, false);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_without_a_fence_nobody_may_notice_that_the_pool_is_stuck() {
    stuck(Flaws::only(Flaw::NoFenceBeforeStuck), false);
}

#[test]
fn loom_a_late_token_of_one_who_sleeps_elsewhere_does_not_hide_that_the_pool_is_stuck() {
    stuck(Flaws::NONE, true);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_a_late_token_that_counts_as_a_wake_up_hides_that_the_pool_is_stuck() {
    stuck(Flaws::only(Flaw::AnyToken), true);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_a_mark_after_the_question_comes_too_late() {
    stuck(Flaws::only(Flaw::MarksLate), true);
}

/// One waiter is parked, a guest leaves the other seat, and that seat's thread falls asleep in an extra one. If the task was there before, one of the
/// latter two sees that the pool is stuck; if not, one of them or the outsider who injects it.
fn stuck_beside(flaws: Flaws<Flaw>, posted_before: bool) {
    race::<2, _>(move || {
        let guest = Pool::new(&[], flaws);
        let (pool, thread, outsider) = (guest.clone(), guest.clone(), guest.clone());
        pool.pretend_parked(0);
        assert!(pool.seats[1].occupancy.try_enter_vacant());
        if posted_before {
            pool.deque.store(0, Ordering::Relaxed);
        }
        let race = Race::new(move |_| {
            let rescues = pool.rescues.load(Ordering::Relaxed);
            assert!(rescues > 0, "nobody has noticed");
        })
        .thread(move || thread.sleep_beside(1));
        if posted_before {
            race.thread(move || guest.leave(1))
        } else {
            race.thread(move || {
                guest.leave(1);
                outsider.post(0);
            })
        }
    });
}

#[test]
fn loom_a_guest_who_leaves_and_a_thread_that_parks_beside_its_seat_do_not_rely_on_each_other() {
    stuck_beside(Flaws::NONE, true);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_a_guest_who_leaves_blindly_relies_on_a_parked_thread() {
    stuck_beside(Flaws::only(Flaw::LeavesBlindly), true);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_a_guest_who_looks_too_early_relies_on_a_parked_thread() {
    stuck_beside(Flaws::only(Flaw::NoLeaverFence), true);
}

#[test]
fn loom_a_poster_does_not_rely_on_a_thread_that_parks_beside_its_seat() {
    stuck_beside(Flaws::NONE, false);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_a_thread_that_is_parked_beside_its_seat_is_not_to_be_relied_upon() {
    stuck_beside(Flaws::only(Flaw::NobodyIsBeside), false);
}
