//! Loom models of parking in a wait: no task is left beside a waiter that may run it.
//!
//! `wait` and `pool` themselves are out of loom's reach (thread-locals, statics), so the lines that matter are
//! repeated here with their orderings: announcing a wait, digging, returning strangers, posting a task,
//! unparking. A task is known by its number, and each waiter waits for one. "Maximum number of branches" stands
//! for a waiter that sleeps beside its task for ever.

use crate::occupancy::Occupancy;
use crate::sync::{AtomicU32, Mutex, Ordering, fence};
use blitz_primitives::Parker;
use blitz_primitives::model::{Race, oversleeping_race, race};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::AtomicU32 as PlainU32;

const NOTHING: u32 = 0;

/// How the protocol is broken on purpose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    /// Strangers go back without a word.
    ReturnSilently,
    /// Strangers go back and their waiters are told, but announcements may fall in between.
    ReturnOutOfOrder,
    NoPosterFence,
    NoWaiterFence,
    NoFenceBeforeStuck,
    /// A token in the parker of somebody who does not sleep there counts as a wake-up.
    AnyToken,
    /// The mark of who sleeps elsewhere comes after the mark of who is parked.
    ParkedFirst,
    /// A guest leaves without a look at the seat's thread.
    LeavesBlindly,
    /// A thread that is parked beside its seat is taken for one that comes back.
    NobodyIsBeside,
    /// Nothing is between a guest's leaving and its look, where the code has `SeqCst` accesses (which loom takes for `AcqRel` ones).
    NoLeaverFence,
}

/// An extra seat: not one of those that count.
const EXTRA: usize = 2;

struct Seat {
    waits_for: AtomicU32,
    parked: AtomicU32,
    sleeps_elsewhere: AtomicU32,
    /// Is the seat's thread in the extra seat?
    thread_beside: AtomicU32,
    occupancy: Occupancy,
    parker: Parker,
}

/// As much of a pool as waiting needs.
struct Pool {
    seats: [Seat; 3],
    blocked: AtomicU32,
    announcements: Mutex<()>,
    /// The shared queue.
    tasks: Mutex<VecDeque<u32>>,
    /// Somebody's deque, with room for one task.
    deque: AtomicU32,
    /// Rescue threads that were started; not loom's.
    rescues: PlainU32,
    flaw: Flaw,
}

impl Pool {
    fn new(tasks: &[u32], flaw: Flaw) -> Rc<Self> {
        Rc::new(Pool {
            seats: std::array::from_fn(|_| Seat {
                waits_for: AtomicU32::new(NOTHING),
                parked: AtomicU32::new(0),
                sleeps_elsewhere: AtomicU32::new(0),
                thread_beside: AtomicU32::new(0),
                occupancy: Occupancy::vacant(),
                parker: Parker::new(),
            }),
            blocked: AtomicU32::new(0),
            announcements: Mutex::new(()),
            tasks: Mutex::new(tasks.iter().copied().collect()),
            deque: AtomicU32::new(NOTHING),
            rescues: PlainU32::new(0),
            flaw,
        })
    }

    /// The occupant of `seat` waits until it has run `task`.
    fn wait_for(&self, seat: usize, task: u32) {
        while !self.park(seat, task) {}
    }

    /// `true`: the task was found.
    fn park(&self, seat: usize, task: u32) -> bool {
        self.announce_wait(seat, task);
        if self.flaw != Flaw::NoWaiterFence {
            fence(Ordering::SeqCst);
        }
        let found = self.dig(task);
        if !found {
            self.seats[seat].parked.store(1, Ordering::SeqCst);
            self.rescue_if_stuck();
            self.seats[seat].parker.park();
            self.seats[seat].parked.store(0, Ordering::SeqCst);
        }
        self.blocked.fetch_sub(1, Ordering::SeqCst);
        self.seats[seat].waits_for.store(NOTHING, Ordering::Release);
        found
    }

    fn announce_wait(&self, seat: usize, task: u32) {
        let in_order = self.announcements.lock().unwrap();
        self.seats[seat].waits_for.store(task, Ordering::SeqCst);
        self.blocked.fetch_add(1, Ordering::SeqCst);
        drop(in_order);
    }

    fn dig(&self, wanted: u32) -> bool {
        if self.deque.load(Ordering::Acquire) == wanted {
            self.deque.store(NOTHING, Ordering::Relaxed);
            return true;
        }
        for _ in 0..self.queued() {
            match self.take() {
                Some(task) if task == wanted => return true,
                Some(task) => self.return_stranger(task),
                None => break,
            }
        }
        false
    }

    fn queued(&self) -> usize {
        self.tasks.lock().unwrap().len()
    }

    fn take(&self) -> Option<u32> {
        self.tasks.lock().unwrap().pop_front()
    }

    fn put(&self, task: u32) {
        self.tasks.lock().unwrap().push_back(task);
    }

    fn return_stranger(&self, task: u32) {
        match self.flaw {
            Flaw::ReturnSilently => self.put(task),
            Flaw::ReturnOutOfOrder => {
                let concerned = self.waiters_for(task);
                self.put(task);
                self.unpark(concerned);
            }
            _ => {
                let no_announcement = self.announcements.lock().unwrap();
                let concerned = self.waiters_for(task);
                self.put(task);
                drop(no_announcement);
                self.unpark(concerned);
            }
        }
    }

    fn waiters_for(&self, task: u32) -> [bool; 3] {
        self.seats
            .each_ref()
            .map(|seat| seat.waits_for.load(Ordering::SeqCst) == task)
    }

    fn unpark(&self, concerned: [bool; 3]) {
        for (seat, concerned) in self.seats.iter().zip(concerned) {
            if concerned {
                seat.parker.unpark();
            }
        }
    }

    /// Posts a task. Its waiters may run it themselves.
    fn post(&self, task: u32) {
        self.deque.store(task, Ordering::Release);
        if self.flaw != Flaw::NoPosterFence {
            fence(Ordering::SeqCst);
        }
        if self.blocked.load(Ordering::SeqCst) > 0 {
            self.unpark(self.waiters_for(task));
        }
        self.rescue_if_stuck();
    }

    /// Somebody has to run what nobody else may. (The rescue thread itself is left out.)
    fn rescue_if_stuck(&self) {
        if self.flaw != Flaw::NoFenceBeforeStuck {
            fence(Ordering::SeqCst);
        }
        let stuck = self.seats[..EXTRA].iter().all(|seat| self.is_lost(seat))
            && self.deque.load(Ordering::Acquire) != NOTHING;
        if stuck {
            self.rescues.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn is_lost(&self, seat: &Seat) -> bool {
        self.is_parked(seat)
            || self.flaw != Flaw::NobodyIsBeside
                && seat.thread_beside.load(Ordering::SeqCst) == 1
                && self.is_parked(&self.seats[EXTRA])
                && !seat.occupancy.has_guest()
    }

    fn is_parked(&self, seat: &Seat) -> bool {
        seat.parked.load(Ordering::SeqCst) == 1 && !self.is_woken(seat)
    }

    /// The guest of `seat` leaves it.
    fn leave(&self, seat: usize) {
        let seat = &self.seats[seat];
        seat.occupancy.leave();
        if self.flaw != Flaw::NoLeaverFence {
            fence(Ordering::SeqCst);
        }
        if self.flaw != Flaw::LeavesBlindly && seat.thread_beside.load(Ordering::SeqCst) == 1 {
            self.rescue_if_stuck();
        }
    }

    /// The thread of `seat` goes to the extra seat, and falls asleep there.
    fn sleep_beside(&self, seat: usize) {
        self.seats[seat].thread_beside.store(1, Ordering::SeqCst);
        self.sleep_elsewhere(EXTRA);
    }

    fn is_woken(&self, seat: &Seat) -> bool {
        let parked_there = seat.sleeps_elsewhere.load(Ordering::Relaxed) == 0;
        seat.parker.has_token() && (parked_there || self.flaw == Flaw::AnyToken)
    }

    /// The occupant of `seat` falls asleep in something that is not the engine's. (The sleep itself is left out.)
    fn sleep_elsewhere(&self, seat: usize) {
        let mark = || {
            self.seats[seat]
                .sleeps_elsewhere
                .store(1, Ordering::Relaxed);
        };
        if self.flaw != Flaw::ParkedFirst {
            mark();
        }
        self.seats[seat].parked.store(1, Ordering::SeqCst);
        self.rescue_if_stuck();
        if self.flaw == Flaw::ParkedFirst {
            mark();
        }
    }
}

/// Two waiters, and both their tasks in the queue: each holds the other's in its hands for a moment.
fn two_waiters(flaw: Flaw) -> Race<()> {
    let one = Pool::new(&[1, 2], flaw);
    let two = one.clone();
    Race::new(|_| {})
        .thread(move || one.wait_for(0, 1))
        .thread(move || two.wait_for(1, 2))
}

#[test]
fn loom_two_waiters_that_dig_at_once_find_their_tasks() {
    race::<2, _>(|| two_waiters(Flaw::None));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_strangers_that_return_silently_are_overlooked() {
    oversleeping_race::<2, _>(|flawed| {
        two_waiters(if flawed {
            Flaw::ReturnSilently
        } else {
            Flaw::None
        })
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_an_announcement_between_the_look_and_the_return_is_overlooked() {
    oversleeping_race::<2, _>(|flawed| {
        two_waiters(if flawed {
            Flaw::ReturnOutOfOrder
        } else {
            Flaw::None
        })
    });
}

/// A task is posted while its waiter parks.
fn posted(flaw: Flaw) -> Race<()> {
    let waiter = Pool::new(&[], flaw);
    let poster = waiter.clone();
    Race::new(|_| {})
        .thread(move || waiter.wait_for(0, 1))
        .thread(move || poster.post(1))
}

#[test]
fn loom_a_task_posted_while_its_waiter_parks_is_found() {
    race::<2, _>(|| posted(Flaw::None));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_posting_without_a_fence_can_miss_the_waiter() {
    oversleeping_race::<2, _>(|flawed| {
        posted(if flawed {
            Flaw::NoPosterFence
        } else {
            Flaw::None
        })
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_digging_without_a_fence_can_miss_the_task() {
    oversleeping_race::<2, _>(|flawed| {
        posted(if flawed {
            Flaw::NoWaiterFence
        } else {
            Flaw::None
        })
    });
}

/// One waiter is parked, another one falls asleep elsewhere, and somebody from outside injects a task that neither may run. One of
/// the latter two sees that the pool is stuck, also if a late token lies in the parker of the one who sleeps elsewhere.
fn stuck(flaw: Flaw, late_token: bool) {
    race::<2, _>(move || {
        let waiter = Pool::new(&[], flaw);
        let outsider = waiter.clone();
        let pool = waiter.clone();
        pool.seats[0].parked.store(1, Ordering::Relaxed);
        if late_token {
            pool.seats[1].parker.unpark();
        }
        Race::new(move |_| {
            let rescues = pool.rescues.load(Ordering::Relaxed);
            assert!(rescues > 0, "nobody has noticed");
        })
        .thread(move || waiter.sleep_elsewhere(1))
        .thread(move || outsider.post(1))
    });
}

#[test]
fn loom_whoever_comes_last_notices_that_the_pool_is_stuck() {
    stuck(Flaw::None, false);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_without_a_fence_nobody_may_notice_that_the_pool_is_stuck() {
    stuck(Flaw::NoFenceBeforeStuck, false);
}

#[test]
fn loom_a_late_token_of_one_who_sleeps_elsewhere_does_not_hide_that_the_pool_is_stuck() {
    stuck(Flaw::None, true);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_a_late_token_that_counts_as_a_wake_up_hides_that_the_pool_is_stuck() {
    stuck(Flaw::AnyToken, true);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_a_mark_after_the_other_comes_too_late() {
    stuck(Flaw::ParkedFirst, true);
}

/// One waiter is parked, a guest leaves the other seat, and that seat's thread falls asleep in an extra one. If the task was there before, one of the
/// latter two sees that the pool is stuck; if not, one of them or the outsider who injects it.
fn stuck_beside(flaw: Flaw, posted_before: bool) {
    race::<2, _>(move || {
        let guest = Pool::new(&[], flaw);
        let (pool, thread, outsider) = (guest.clone(), guest.clone(), guest.clone());
        pool.seats[0].parked.store(1, Ordering::Relaxed);
        assert!(pool.seats[1].occupancy.try_enter_vacant());
        if posted_before {
            pool.deque.store(1, Ordering::Relaxed);
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
                outsider.post(1);
            })
        }
    });
}

#[test]
fn loom_a_guest_who_leaves_and_a_thread_that_parks_beside_its_seat_do_not_rely_on_each_other() {
    stuck_beside(Flaw::None, true);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_a_guest_who_leaves_blindly_relies_on_a_parked_thread() {
    stuck_beside(Flaw::LeavesBlindly, true);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_a_guest_who_looks_too_early_relies_on_a_parked_thread() {
    stuck_beside(Flaw::NoLeaverFence, true);
}

#[test]
fn loom_a_poster_does_not_rely_on_a_thread_that_parks_beside_its_seat() {
    stuck_beside(Flaw::None, false);
}

#[test]
#[should_panic(expected = "nobody has noticed")]
fn loom_a_thread_that_is_parked_beside_its_seat_is_not_to_be_relied_upon() {
    stuck_beside(Flaw::NobodyIsBeside, false);
}
