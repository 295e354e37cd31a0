//! Loom models of falling asleep: a job posted at any moment is found, and the counts come out even.
//!
//! A job is a flag, the threads behave like a worker (search, announce, look, sleep, cascade) reduced to what
//! concerns sleep. "Maximum number of branches" stands for a thread that sleeps beside a job for ever.

use super::*;
use blitz_primitives::model::{Race, oversleeping_race, race};
use std::ops::Range;
use std::rc::Rc;

const NONE: u32 = 0;
const POSTED: u32 = 1;
const TAKEN: u32 = 2;

/// What a worker does wrong, rather than the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Habit {
    Proper,
    NoCascade,
    NoFenceBeforeCascade,
    /// Looks who else searches, then leaves.
    AsksBeforeLeaving,
}

/// As much of a pool as sleep needs.
struct Pool {
    sleep: Sleep,
    jobs: [AtomicU32; 3],
    terminating: AtomicU32,
    habit: Habit,
}

impl Pool {
    fn new(threads: usize, flaws: Flaws<Flaw>, habit: Habit) -> Rc<Self> {
        let pool = Pool {
            sleep: Sleep::with_flaws(threads, flaws),
            jobs: std::array::from_fn(|_| AtomicU32::new(NONE)),
            terminating: AtomicU32::new(0),
            habit,
        };
        // All threads have run out of work.
        (0..threads).for_each(|_| pool.sleep.start_searching());
        Rc::new(pool)
    }

    // What a thread without work does.

    fn sees_work(&self, jobs: Range<usize>) -> bool {
        self.jobs[jobs]
            .iter()
            .any(|job| job.load(Ordering::Relaxed) == POSTED)
    }

    fn take(&self, jobs: Range<usize>) -> bool {
        self.jobs[jobs].iter().any(|job| {
            job.load(Ordering::Relaxed) == POSTED
                && job
                    .compare_exchange(POSTED, TAKEN, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
        })
    }

    fn is_terminating(&self) -> bool {
        self.terminating.load(Ordering::Acquire) != 0
    }

    fn find_one(&self, thread: usize) -> bool {
        self.find(thread, 0..2)
    }

    /// Searches and sleeps until there is one of these jobs, or the pool ends. As in `worker`.
    fn find(&self, thread: usize, jobs: Range<usize>) -> bool {
        loop {
            if self.take(jobs.clone()) {
                self.has_work_again();
                return true;
            }
            let announced = self.sleep.announce_sleepy();
            if self.sees_work(jobs.clone()) {
                continue;
            }
            if self.is_terminating() {
                self.sleep.stop_searching();
                return false;
            }
            let has_work = || self.sees_work(jobs.clone()) || self.is_terminating();
            self.sleep.sleep(thread, announced, false, has_work);
        }
    }

    /// Stops searching, and passes the word on if nobody else searches. As in `worker`.
    fn has_work_again(&self) {
        let before = self.sleep.counters();
        let left = self.sleep.stop_searching();
        let relies_on_others = match self.habit {
            Habit::NoCascade => true,
            Habit::AsksBeforeLeaving => before.searching() > 1,
            Habit::Proper | Habit::NoFenceBeforeCascade => left.searching() > 0,
        };
        if relies_on_others || left.sleeping() == 0 {
            return;
        }
        if self.habit != Habit::NoFenceBeforeCascade {
            fence(Ordering::SeqCst);
        }
        if self.sees_work(0..self.jobs.len()) {
            self.wake_one_if_needed(self.sleep.counters());
        }
    }

    // What a thread with work does.

    fn wake_one_if_needed(&self, counters: Counters) {
        if counters.searching() == 0 && counters.sleeping() > 0 {
            self.sleep.wake_one(0, |_| true);
        }
    }

    fn post(&self, job: usize) {
        self.jobs[job].store(POSTED, Ordering::Release);
        self.wake_one_if_needed(self.sleep.post());
    }

    /// As a broadcast does: the job is for one thread, whatever the counters say.
    fn post_to(&self, thread: usize, job: usize) {
        self.jobs[job].store(POSTED, Ordering::Release);
        self.sleep.post();
        self.sleep.wake_thread(thread);
    }

    fn terminate(&self) {
        self.terminating.store(1, Ordering::SeqCst);
        self.sleep.wake_all();
    }

    /// A race at whose end all threads have found something, and nobody is counted as idle any more.
    fn all_awake(self: &Rc<Self>) -> Race<()> {
        let pool = self.clone();
        Race::new(move |_| {
            let counters = pool.sleep.counters();
            assert_eq!(counters.sleeping(), 0, "the counts are off");
            assert_eq!(counters.inactive(), 0, "the counts are off");
        })
    }
}

/// One thread falls asleep while another posts a job.
fn one_sleeper(flaws: Flaws<Flaw>) -> Race<()> {
    let sleeper = Pool::new(1, flaws, Habit::Proper);
    let poster = sleeper.clone();
    sleeper
        .all_awake()
        .thread(move || assert!(sleeper.find_one(0)))
        .thread(move || poster.post(0))
}

#[test]
fn loom_a_job_posted_while_a_thread_falls_asleep_is_found() {
    race::<2, _>(|| one_sleeper(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_sleeping_without_a_last_look_can_miss_a_job() {
    oversleeping_race::<2, _>(|flawed| one_sleeper(Flaws::only_if(flawed, Flaw::NoLastLook)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_posting_without_a_fence_can_miss_the_sleeper() {
    oversleeping_race::<2, _>(|flawed| one_sleeper(Flaws::only_if(flawed, Flaw::NoPosterFence)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_sleeping_without_a_fence_can_miss_a_job() {
    oversleeping_race::<2, _>(|flawed| one_sleeper(Flaws::only_if(flawed, Flaw::NoSleeperFence)));
}

/// The same with the companion's attendant, who sleeps elsewhere: on a word that an interrupt changes.
fn one_attendant(flaws: Flaws<Flaw>) -> Race<()> {
    let sleeper = Pool::new(1, flaws, Habit::Proper);
    let poster = sleeper.clone();
    sleeper
        .all_awake()
        .thread(move || {
            let pool = &*sleeper;
            let block = || {
                let interrupted = &pool.sleep.interrupt.0;
                futex::wait(interrupted, 0);
                // Acquires what came before the interrupt, as a read of the event does.
                interrupted.swap(0, Ordering::SeqCst);
                false
            };
            while !pool.take(0..1) {
                let announced = pool.sleep.announce_sleepy();
                if !pool.sees_work(0..1) {
                    let has_work = || pool.sees_work(0..1);
                    pool.sleep
                        .sleep_attending(0, announced, false, has_work, block);
                }
            }
            pool.has_work_again();
        })
        .thread(move || poster.post(0))
}

#[test]
fn loom_an_attendant_is_woken_where_it_sleeps() {
    race::<2, _>(|| one_attendant(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_becoming_the_attendant_after_falling_asleep_can_miss_the_wake() {
    oversleeping_race::<2, _>(|flawed| one_attendant(Flaws::only_if(flawed, Flaw::AttendsLate)));
}

/// One thread falls asleep while a job is posted to it by name.
fn one_addressee(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let sleeper = Pool::new(1, flaws, Habit::Proper);
        let poster = sleeper.clone();
        sleeper
            .all_awake()
            .thread(move || assert!(sleeper.find_one(0)))
            .thread(move || poster.post_to(0, 0))
    });
}

#[test]
fn loom_a_broadcast_reaches_a_thread_that_falls_asleep() {
    one_addressee(Flaws::NONE);
}

#[test]
#[should_panic(expected = "the counts are off")]
fn loom_being_asleep_before_being_counted_upsets_the_counts() {
    one_addressee(Flaws::only(Flaw::AsleepBeforeCounted));
}

/// Two threads of a pool wake each other in turn: a thread that posts a job for the other one falls asleep
/// right after.
#[test]
fn loom_a_thread_that_posts_and_then_sleeps_is_woken_for_the_answer() {
    race::<2, _>(|| {
        let one = Pool::new(2, Flaws::NONE, Habit::Proper);
        let two = one.clone();
        one.sleep.stop_searching();
        one.all_awake()
            .thread(move || {
                one.post(0);
                one.sleep.start_searching();
                assert!(one.find(0, 1..2));
            })
            .thread(move || {
                assert!(two.find(1, 0..1));
                two.post(1);
            })
    });
}

/// Two threads fall asleep, and two jobs are posted one after the other.
#[test]
fn loom_two_jobs_wake_two_sleepers() {
    race::<3, _>(|| {
        let poster = Pool::new(2, Flaws::NONE, Habit::Proper);
        let [one, two] = [(); 2].map(|()| poster.clone());
        poster
            .all_awake()
            .thread(move || assert!(one.find_one(0)))
            .thread(move || assert!(two.find_one(1)))
            .thread(move || {
                poster.post(0);
                poster.post(1);
            })
    });
}

/// One thread sleeps, another one searches. Posts rely on the one that searches, which may take one job while
/// the next is posted: then it has to pass the word on.
fn relied_upon(habit: Habit) {
    race::<2, _>(move || {
        let poster = Pool::new(2, Flaws::NONE, habit);
        let searcher = poster.clone();
        let pool = poster.clone();
        // Thread 0 sleeps: there is nothing more to it, as long as nobody wakes it.
        pool.sleep.pretend_asleep(0);
        Race::new(move |took: Vec<bool>| {
            let woken = !pool.sleep.is_asleep(0);
            // A searcher that has not taken anything yet still searches.
            assert!(woken || !took[0], "a job is left and nobody looks for it");
        })
        .thread(move || {
            let took = searcher.take(0..2);
            if took {
                searcher.has_work_again();
            }
            took
        })
        .thread(move || {
            poster.post(0);
            poster.post(1);
            true
        })
    });
}

#[test]
fn loom_a_searching_thread_that_takes_one_job_passes_the_word_on() {
    relied_upon(Habit::Proper);
}

#[test]
#[should_panic(expected = "a job is left")]
fn loom_taking_a_job_without_passing_the_word_on_loses_the_next() {
    relied_upon(Habit::NoCascade);
}

#[test]
#[should_panic(expected = "a job is left")]
fn loom_passing_the_word_on_without_a_fence_can_overlook_the_next_job() {
    relied_upon(Habit::NoFenceBeforeCascade);
}

/// One thread sleeps, two others search and have found something. A poster that relies on either of them must not be let down by both.
fn two_relied_upon(habit: Habit) {
    race::<3, _>(move || {
        let poster = Pool::new(3, Flaws::NONE, habit);
        let [one, two, pool] = [(); 3].map(|()| poster.clone());
        pool.sleep.pretend_asleep(0);
        pool.jobs[0].store(POSTED, Ordering::Relaxed);
        pool.jobs[1].store(POSTED, Ordering::Relaxed);
        let takes = |searcher: Rc<Pool>| {
            move || {
                assert!(searcher.take(0..3), "there are two jobs from the beginning");
                searcher.has_work_again();
            }
        };
        Race::new(move |_| {
            // Two have taken one each.
            let woken = !pool.sleep.is_asleep(0);
            assert!(woken, "a job is left and nobody looks for it");
        })
        .thread(takes(one))
        .thread(takes(two))
        .thread(move || poster.post(2))
    });
}

#[test]
fn loom_the_last_of_two_searchers_passes_the_word_on() {
    two_relied_upon(Habit::Proper);
}

#[test]
#[should_panic(expected = "a job is left")]
fn loom_searchers_that_ask_before_they_leave_rely_on_each_other() {
    two_relied_upon(Habit::AsksBeforeLeaving);
}

/// Somebody claims a thread that has just seen the work itself, and is late with the rest.
fn claimed_while_leaving(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let sleeper = Pool::new(1, flaws, Habit::Proper);
        let poster = sleeper.clone();
        sleeper
            .all_awake()
            .thread(move || {
                assert!(sleeper.find(0, 0..1));
                sleeper.sleep.start_searching();
                assert!(sleeper.find(0, 1..2));
            })
            .thread(move || {
                poster.post(0);
                poster.post(1);
            })
    });
}

#[test]
fn loom_a_thread_that_is_claimed_waits_for_the_wake() {
    claimed_while_leaving(Flaws::NONE);
}

#[test]
#[should_panic(expected = "the counts are off")]
fn loom_leaving_before_the_claimant_is_through_spoils_the_next_sleep() {
    claimed_while_leaving(Flaws::only(Flaw::LeavesUnclaimed));
}

/// Both threads of a pool search, which is one too many, and both notice.
fn crowd(rechecks: bool) {
    race::<2, _>(move || {
        let pool = Pool::new(2, Flaws::NONE, Habit::Proper);
        let [one, two] = [(); 2].map(|()| pool.clone());
        let leaves = |pool: Rc<Pool>| {
            move || {
                let sleep = &pool.sleep;
                let announced = sleep.announce_sleepy();
                let least = if rechecks { sleep.crowd() + 1 } else { 0 };
                sleep.is_crowded() && sleep.counters.try_add_sleeping(announced, least)
            }
        };
        Race::new(move |left: Vec<bool>| {
            let gone = left.into_iter().filter(|&left| left).count();
            assert_eq!(gone, 1, "how many have left");
            assert_eq!(pool.sleep.counters().searching(), 1);
        })
        .thread(leaves(one))
        .thread(leaves(two))
    });
}

#[test]
fn loom_one_of_two_leaves_a_crowd_of_two() {
    crowd(true);
}

#[test]
#[should_panic(expected = "how many have left")]
fn loom_leaving_a_crowd_without_a_second_thought_leaves_nobody() {
    crowd(false);
}

/// The pool ends while its threads fall asleep.
#[test]
fn loom_the_end_of_the_pool_reaches_a_thread_that_falls_asleep() {
    race::<2, _>(|| {
        let sleeper = Pool::new(1, Flaws::NONE, Habit::Proper);
        let ender = sleeper.clone();
        sleeper
            .all_awake()
            .thread(move || assert!(!sleeper.find_one(0)))
            .thread(move || ender.terminate())
    });
}
