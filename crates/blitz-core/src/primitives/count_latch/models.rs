//! Loom models of the counting latch. A waiter that sleeps for ever makes the
//! model endless, which loom reports (see `futex`).

use super::*;
use crate::primitives::futex::model_that_oversleeps;
use crate::sync::Arc;
use loom::cell::UnsafeCell;
use loom::thread;

struct Guarded {
    latch: CountLatch,
    values: [UnsafeCell<u32>; 2],
}

impl Guarded {
    fn new(flaws: Flaws<Flaw>) -> Arc<Self> {
        Arc::new(Self {
            latch: CountLatch::with_flaws(2, flaws),
            values: [UnsafeCell::new(0), UnsafeCell::new(0)],
        })
    }

    fn write_and_count(&self, index: usize) {
        // SAFETY: each index has one writer, and nobody reads before the count is zero.
        self.values[index].with_mut(|value| unsafe { *value = 7 });
        self.latch.count_down();
    }

    fn wait_and_read(&self) {
        self.latch.wait();
        for value in &self.values {
            // SAFETY: nobody writes any more; the model checks that this is ordered.
            assert_eq!(value.with(|value| unsafe { *value }), 7);
        }
    }
}

/// Two threads count down, and both values must be visible to the waiter.
fn two_counters(flaws: Flaws<Flaw>) {
    let guarded = Guarded::new(flaws);
    let threads = [0, 1].map(|index| {
        let guarded = guarded.clone();
        thread::spawn(move || guarded.write_and_count(index))
    });
    guarded.wait_and_read();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn loom_a_waiter_sees_both_values_and_never_sleeps_on() {
    loom::model(|| two_counters(Flaws::NONE));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_relaxed_counting_does_not_publish_the_values() {
    loom::model(|| two_counters(Flaws::only(Flaw::RelaxedCountDown)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_announcing_in_two_steps_undoes_a_count() {
    model_that_oversleeps(|| two_counters(Flaws::only(Flaw::AnnounceInTwoSteps)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_sleeping_unannounced_can_be_for_ever() {
    model_that_oversleeps(|| two_counters(Flaws::only(Flaw::SleepUnannounced)));
}

#[test]
fn loom_two_waiters_are_both_woken() {
    loom::model(|| {
        let guarded = Guarded::new(Flaws::NONE);
        let waiters = [(); 2].map(|()| {
            let guarded = guarded.clone();
            thread::spawn(move || guarded.wait_and_read())
        });
        guarded.write_and_count(0);
        guarded.write_and_count(1);
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

/// A task counts up for another one before it reports itself: the latch never looks done early.
#[test]
fn loom_counting_up_under_a_held_count_keeps_the_latch_closed() {
    loom::model(|| {
        let latch = Arc::new(CountLatch::new(1));
        let done = Arc::new(UnsafeCell::new(false));
        let task = {
            let (latch, done) = (latch.clone(), done.clone());
            thread::spawn(move || {
                latch.count_up();
                let child = {
                    let (latch, done) = (latch.clone(), done.clone());
                    thread::spawn(move || {
                        // SAFETY: one writer, and the reader waits for it.
                        done.with_mut(|done| unsafe { *done = true });
                        latch.count_down();
                    })
                };
                latch.count_down();
                child.join().unwrap();
            })
        };
        latch.wait();
        // SAFETY: the child has counted down.
        assert!(done.with(|done| unsafe { *done }));
        task.join().unwrap();
    });
}

/// The waiter takes the latch apart as soon as it is done.
fn freed_when_done(flaws: Flaws<Flaw>) {
    loom::model(move || {
        let latch = Arc::new(CountLatch::with_flaws(1, flaws));
        let counter = {
            let latch = latch.clone();
            // SAFETY: the `Arc` keeps the memory alive, so that a late access is an error and not a
            // crash of the model.
            thread::spawn(move || unsafe { CountLatch::count_down_raw(&*latch) })
        };
        latch.wait();
        let word = &raw const latch.word;
        // SAFETY: in the sound protocol the other thread is done with the word.
        unsafe { (*word.cast_mut()).with_mut(|word| *word = 1) };
        counter.join().unwrap();
    });
}

#[test]
fn loom_the_latch_may_be_freed_as_soon_as_it_is_done() {
    freed_when_done(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_looking_at_the_latch_after_counting_is_noticed() {
    freed_when_done(Flaws::only(Flaw::LookAfterCounting));
}
