//! Loom models of a seat, its thread and its guests, together with the sleep of the thread.
//!
//! At no time do two threads occupy the seat (the occupant's data are in a cell that loom watches, and a plain
//! counter says who is inside), and the seat's thread is never left asleep beside a job or a free seat ("maximum
//! number of branches" stands for that). The few lines of `pool`, `guest` and `worker` that concern the seat
//! are repeated here: loom has no thread-locals and no statics, which those files are full of.
//!
//! Loom takes `SeqCst` accesses for `AcqRel` ones. Where the code relies on the order among them (the note for
//! guests, `Pool::starved`), the model has a fence between the two accesses of each side instead, which
//! promises no more than that order does.

use super::*;
use crate::sleep::{Flaw as SleepFlaw, Sleep};
use crate::sync::{AtomicBool, fence};
use blitz_primitives::model::{Race, oversleeping_race, race};
use loom::cell::UnsafeCell;
use std::rc::Rc;
use std::sync::atomic::AtomicU32 as PlainU32;

/// The only thread of the pool, and its seat.
const THREAD: usize = 0;

struct Pool {
    occupancy: Occupancy,
    sleep: Sleep,
    starved: AtomicBool,
    terminating: AtomicBool,
    job: AtomicBool,
    /// What the occupant owns: join stack, deque, arena.
    belongings: UnsafeCell<u32>,
    /// Occupants; not loom's.
    inside: PlainU32,
    /// Is the order of `SeqCst` accesses kept?
    ordered: bool,
    /// Is the note taken after the look at what there is to run?
    notes_late: bool,
    /// Is it given back without a look at who might have missed it?
    gives_back_blindly: bool,
}

impl Pool {
    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        Self::with_flaws(flaws, Flaws::NONE, true)
    }

    fn with_flaws(flaws: Flaws<Flaw>, sleep: Flaws<SleepFlaw>, ordered: bool) -> Rc<Self> {
        let pool = Pool {
            occupancy: Occupancy::with_flaws(flaws),
            sleep: Sleep::with_flaws(1, sleep),
            starved: AtomicBool::new(false),
            terminating: AtomicBool::new(false),
            job: AtomicBool::new(false),
            belongings: UnsafeCell::new(0),
            inside: PlainU32::new(0),
            ordered,
            notes_late: false,
            gives_back_blindly: false,
        };
        pool.sleep.start_searching();
        Rc::new(pool)
    }

    /// Runs `work` as the occupant of the seat.
    fn occupied<R>(&self, work: impl FnOnce() -> R) -> R {
        let others = self.inside.fetch_add(1, Ordering::Relaxed);
        assert_eq!(others, 0, "two occupants");
        // SAFETY: occupants have them alone; the model checks that this is ordered.
        self.belongings.with_mut(|count| unsafe { *count += 1 });
        let result = work();
        self.inside.fetch_sub(1, Ordering::Relaxed);
        result
    }

    // As in `worker`.

    /// The thread searches and sleeps until it has run the job.
    fn run_the_job(&self) {
        self.occupancy.sit_down();
        loop {
            if self.sees_work() && self.occupancy.start_running() {
                let ran = self.occupied(|| self.job.swap(false, Ordering::Acquire));
                self.occupancy.stop_running();
                if ran {
                    self.sleep.stop_searching();
                    return;
                }
            }
            self.fall_asleep();
        }
    }

    fn sees_work(&self) -> bool {
        self.job.load(Ordering::Relaxed)
    }

    /// One sleep, if nothing keeps it awake.
    fn fall_asleep(&self) {
        let announced = self.sleep.announce_sleepy();
        if self.must_stay_awake() {
            return;
        }
        self.occupancy.stand_up();
        let awake = || self.must_stay_awake();
        self.sleep.sleep(THREAD, announced, false, awake);
        self.occupancy.sit_down();
    }

    /// If a guest has the seat, the thread leaves a note and sleeps all the same.
    fn must_stay_awake(&self) -> bool {
        self.terminating.load(Ordering::Acquire) || self.sees_work() && !self.occupancy.want()
    }

    // As in `guest`.

    /// An outside thread takes the seat if it can, does something, and leaves.
    fn visit(&self, work: impl FnOnce()) {
        if self.occupancy.try_enter_vacant() || self.occupancy.try_enter_searching() {
            self.occupied(work);
            self.leave();
        } else {
            work();
        }
    }

    fn leave(&self) {
        let wanted = self.occupancy.leave();
        self.seat_vacated(wanted);
    }

    // As in `pool`.

    fn post(&self) {
        self.job.store(true, Ordering::Release);
        let counters = self.sleep.post();
        if counters.searching() == 0 && counters.sleeping() > 0 {
            self.wake_one();
        }
    }

    fn wake_one(&self) -> bool {
        let try_once = || {
            let eligible = |_| !self.occupancy.has_guest();
            self.sleep.wake_one(0, eligible).is_some()
        };
        let mut woken = try_once();
        if !woken && self.sleep.counters().sleeping() > 0 {
            self.starved.store(true, Ordering::SeqCst);
            self.in_order();
            woken = try_once();
        }
        woken
    }

    fn seat_vacated(&self, wanted: bool) {
        self.in_order();
        if wanted {
            self.sleep.wake_thread(THREAD);
        } else if self.starved.load(Ordering::SeqCst) && self.note_still_holds() {
            if self.occupancy.hand_over() || self.note_again() {
                self.sleep.wake_thread(THREAD);
            }
        }
    }

    fn note_again(&self) -> bool {
        self.starved.store(true, Ordering::SeqCst);
        if self.gives_back_blindly {
            return false;
        }
        self.in_order();
        self.occupancy.hand_over()
    }

    fn note_still_holds(&self) -> bool {
        if self.notes_late {
            let holds = self.sees_work();
            self.starved.swap(false, Ordering::SeqCst);
            return holds;
        }
        let noted = self.starved.swap(false, Ordering::SeqCst);
        self.in_order();
        noted && self.sees_work()
    }

    fn in_order(&self) {
        if self.ordered {
            fence(Ordering::SeqCst);
        }
    }

    /// A race at whose end the job has been run and nobody is counted as idle any more.
    fn job_done(self: &Rc<Self>) -> Race<()> {
        let pool = self.clone();
        Race::new(move |_| {
            assert!(!pool.job.load(Ordering::Relaxed), "the job is left");
            let counters = pool.sleep.counters();
            assert_eq!(counters.sleeping(), 0, "the counts are off");
            assert_eq!(counters.inactive(), 0, "the counts are off");
        })
    }
}

/// A guest comes at any moment in the life of the seat's thread, posts a job for it, and leaves.
fn visitor(flaws: Flaws<Flaw>) -> Race<()> {
    let thread = Pool::new(flaws);
    let guest = thread.clone();
    thread
        .job_done()
        .thread(move || thread.run_the_job())
        .thread(move || guest.visit(|| guest.post()))
}

#[test]
fn loom_a_guest_and_the_seats_thread_never_sit_together_and_no_job_is_lost() {
    race::<2, _>(|| visitor(Flaws::NONE));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_starting_to_run_without_asking_seats_two() {
    race::<2, _>(|| visitor(Flaws::only(Flaw::StartBlindly)));
}

/// The thread has something to run, and a guest leaves its seat.
fn seat_wanted(flaws: Flaws<Flaw>, ordered: bool) -> Race<()> {
    let thread = Pool::with_flaws(flaws, Flaws::NONE, ordered);
    let guest = thread.clone();
    thread.job.store(true, Ordering::Relaxed);
    assert!(thread.occupancy.try_enter_vacant());
    thread
        .job_done()
        .thread(move || thread.run_the_job())
        .thread(move || guest.leave())
}

#[test]
fn loom_a_thread_gets_its_seat_back_from_a_guest_that_leaves() {
    race::<2, _>(|| seat_wanted(Flaws::NONE, true));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_note_for_a_guest_who_has_left_is_read_by_nobody() {
    oversleeping_race::<2, _>(|flawed| {
        seat_wanted(Flaws::only_if(flawed, Flaw::WantBlindly), true)
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_guest_who_leaves_silently_leaves_the_thread_asleep() {
    oversleeping_race::<2, _>(|flawed| {
        seat_wanted(Flaws::only_if(flawed, Flaw::LeaveSilently), true)
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_without_a_fence_a_guest_who_leaves_can_pass_a_thread_that_falls_asleep() {
    oversleeping_race::<2, _>(|flawed| seat_wanted(Flaws::NONE, !flawed));
}

/// A guest leaves and finds a note about work that is gone. Meanwhile another one comes, posts a job and leaves.
fn old_note(notes_late: bool, gives_back_blindly: bool) {
    race::<2, _>(move || {
        let mut pool = Pool::new(Flaws::NONE);
        let new = Rc::get_mut(&mut pool).expect("just made");
        (new.notes_late, new.gives_back_blindly) = (notes_late, gives_back_blindly);
        pool.sleep.pretend_asleep(THREAD);
        assert!(pool.occupancy.try_enter_vacant());
        pool.starved.store(true, Ordering::SeqCst);
        let (leaving, coming) = (pool.clone(), pool.clone());
        Race::new(move |_| assert!(!pool.sleep.is_asleep(THREAD), "left asleep"))
            .thread(move || leaving.leave())
            .thread(move || coming.visit(|| coming.post()))
    });
}

#[test]
fn loom_a_guest_who_throws_an_old_note_away_keeps_a_new_one() {
    old_note(false, false);
}

#[test]
#[should_panic(expected = "left asleep")]
fn loom_a_note_that_is_taken_after_the_look_may_be_a_new_one() {
    old_note(true, false);
}

#[test]
#[should_panic(expected = "left asleep")]
fn loom_a_note_that_is_given_back_may_be_missed_by_a_guest_who_has_left_meanwhile() {
    old_note(false, true);
}

/// A guest finds a note when it leaves. Another guest comes at any moment: not before the thread has had its turn.
fn no_guest_in_between(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let leaving = Pool::new(flaws);
        let coming = leaving.clone();
        let thread = leaving.clone();
        assert!(leaving.occupancy.try_enter_vacant());
        assert!(leaving.occupancy.want());
        Race::new(move |_| assert!(thread.occupancy.start_running(), "overtaken"))
            .thread(move || drop(leaving.occupancy.leave()))
            .thread(move || {
                let occupancy = &coming.occupancy;
                // It stays.
                let _ = occupancy.try_enter_vacant() || occupancy.try_enter_searching();
            })
    });
}

#[test]
fn loom_no_guest_overtakes_a_thread_that_has_left_a_note() {
    no_guest_in_between(Flaws::NONE);
}

#[test]
#[should_panic(expected = "overtaken")]
fn loom_a_seat_that_is_left_to_anybody_goes_to_the_next_guest() {
    no_guest_in_between(Flaws::only(Flaw::LeaveToAnybody));
}

/// The thread has a job from the start; the guest takes the seat before or after.
fn visitor_after_work(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let thread = Pool::new(flaws);
        let guest = thread.clone();
        thread.job.store(true, Ordering::Relaxed);
        thread
            .job_done()
            .thread(move || thread.run_the_job())
            .thread(move || guest.visit(|| {}))
    });
}

#[test]
fn loom_a_guest_goes_on_where_the_thread_stopped() {
    visitor_after_work(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_stop_does_not_hand_over_the_belongings() {
    visitor_after_work(Flaws::only(Flaw::RelaxedStop));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_leave_does_not_hand_over_the_belongings() {
    visitor_after_work(Flaws::only(Flaw::RelaxedLeave));
}

/// The thread sleeps and a guest has its seat. Somebody posts a job, finds nobody to wake, and leaves a note for
/// the guest, who is about to leave.
fn starved(ordered: bool) {
    race::<2, _>(move || {
        let poster = Pool::with_flaws(Flaws::NONE, Flaws::NONE, ordered);
        let guest = poster.clone();
        let pool = poster.clone();
        assert!(pool.occupancy.try_enter_vacant());
        pool.sleep.pretend_asleep(THREAD);
        Race::new(move |_| assert!(!pool.sleep.is_asleep(THREAD), "nobody was woken"))
            .thread(move || poster.post())
            .thread(move || guest.leave())
    });
}

#[test]
fn loom_a_job_posted_while_the_last_guest_leaves_wakes_the_thread() {
    starved(true);
}

#[test]
#[should_panic(expected = "nobody was woken")]
fn loom_a_note_without_an_order_can_be_missed() {
    starved(false);
}

/// A guest comes twice, and posts a job from outside in between: a thread that is woken for the job
/// and finds the next guest in its seat is woken again.
#[test]
fn loom_a_thread_that_finds_a_guest_in_its_seat_is_woken_when_it_leaves() {
    race::<2, _>(|| {
        let thread = Pool::new(Flaws::NONE);
        let guest = thread.clone();
        thread
            .job_done()
            .thread(move || thread.run_the_job())
            .thread(move || {
                guest.visit(|| {});
                guest.post();
                guest.visit(|| {});
            })
    });
}

/// The pool ends while a thread without its seat falls asleep.
#[test]
fn loom_the_end_of_the_pool_reaches_a_thread_without_a_seat() {
    race::<2, _>(|| {
        let thread = Pool::new(Flaws::NONE);
        let ender = thread.clone();
        thread.job.store(true, Ordering::Relaxed);
        assert!(thread.occupancy.try_enter_vacant());
        Race::new(|_| {})
            .thread(move || {
                while !thread.terminating.load(Ordering::Acquire) {
                    thread.fall_asleep();
                }
            })
            .thread(move || {
                ender.terminating.store(true, Ordering::SeqCst);
                ender.sleep.wake_all();
            })
    });
}
