//! Loom models of parking in a wait: no task is left beside a waiter that may run it.
//!
//! `wait` and `pool` themselves are out of loom's reach (thread-locals, statics), so the lines that matter are
//! repeated here with their orderings: announcing a wait, digging, returning strangers, posting a task,
//! unparking. A task is known by its number, and each waiter waits for one. "Maximum number of branches" stands
//! for a waiter that sleeps beside its task for ever.

use crate::primitives::model::{Race, oversleeping_race, race};
use crate::primitives::parker::Parker;
use crate::sync::{AtomicU32, Mutex, Ordering, fence};
use std::collections::VecDeque;
use std::rc::Rc;

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
}

struct Seat {
    waits_for: AtomicU32,
    parker: Parker,
}

/// As much of a pool as waiting needs.
struct Pool {
    seats: [Seat; 2],
    blocked: AtomicU32,
    announcements: Mutex<()>,
    /// The shared queue.
    tasks: Mutex<VecDeque<u32>>,
    flaw: Flaw,
}

impl Pool {
    fn new(tasks: &[u32], flaw: Flaw) -> Rc<Self> {
        Rc::new(Pool {
            seats: std::array::from_fn(|_| Seat {
                waits_for: AtomicU32::new(NOTHING),
                parker: Parker::new(),
            }),
            blocked: AtomicU32::new(0),
            announcements: Mutex::new(()),
            tasks: Mutex::new(tasks.iter().copied().collect()),
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
            self.seats[seat].parker.park();
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

    fn waiters_for(&self, task: u32) -> [bool; 2] {
        self.seats
            .each_ref()
            .map(|seat| seat.waits_for.load(Ordering::SeqCst) == task)
    }

    fn unpark(&self, concerned: [bool; 2]) {
        for (seat, concerned) in self.seats.iter().zip(concerned) {
            if concerned {
                seat.parker.unpark();
            }
        }
    }

    /// Posts a task. Its waiters may run it themselves.
    fn post(&self, task: u32) {
        self.put(task);
        if self.flaw != Flaw::NoPosterFence {
            fence(Ordering::SeqCst);
        }
        if self.blocked.load(Ordering::SeqCst) > 0 {
            self.unpark(self.waiters_for(task));
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
