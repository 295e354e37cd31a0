//! Loom models of the counting latch. The expected message "maximum number of branches" stands for a
//! waiter that sleeps for ever.

use super::*;
use crate::model::{Race, oversleeping_race, race};
use crate::sync::Arc;
use loom::cell::UnsafeCell;

/// A latch that two events have to open, and what they write before.
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
fn two_counters(flaws: Flaws<Flaw>) -> Race<()> {
    let guarded = Guarded::new(flaws);
    let [one, two, waiter] = [(); 3].map(|()| guarded.clone());
    Race::new(|_| {})
        .thread(move || one.write_and_count(0))
        .thread(move || two.write_and_count(1))
        .thread(move || waiter.wait_and_read())
}

/// One thread does both, which is enough for most of what can go wrong.
fn one_counter(flaws: Flaws<Flaw>) -> Race<()> {
    let counter = Guarded::new(flaws);
    let waiter = counter.clone();
    Race::new(|_| {})
        .thread(move || (0..2).for_each(|index| counter.write_and_count(index)))
        .thread(move || waiter.wait_and_read())
}

#[test]
fn loom_a_waiter_sees_both_values_and_never_sleeps_on() {
    race::<3, _>(|| two_counters(Flaws::NONE));
    race::<2, _>(|| one_counter(Flaws::NONE));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_relaxed_counting_does_not_publish_the_values() {
    race::<2, _>(|| one_counter(Flaws::only(Flaw::RelaxedCountDown)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_announcing_in_two_steps_undoes_a_count() {
    oversleeping_race::<2, _>(|flawed| {
        one_counter(Flaws::only_if(flawed, Flaw::AnnounceInTwoSteps))
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_sleeping_unannounced_can_be_for_ever() {
    oversleeping_race::<2, _>(|flawed| one_counter(Flaws::only_if(flawed, Flaw::SleepUnannounced)));
}

#[test]
fn loom_two_waiters_are_both_woken() {
    race::<3, _>(|| {
        let counter = Guarded::new(Flaws::NONE);
        let [one, two] = [(); 2].map(|()| counter.clone());
        Race::new(|_| {})
            .thread(move || (0..2).for_each(|index| counter.write_and_count(index)))
            .thread(move || one.wait_and_read())
            .thread(move || two.wait_and_read())
    });
}

/// A task counts up for another one before it reports itself: the latch never looks done early.
#[test]
fn loom_counting_up_under_a_held_count_keeps_the_latch_closed() {
    race::<2, _>(|| {
        let waiter = Arc::new((CountLatch::new(1), UnsafeCell::new(false)));
        let task = waiter.clone();
        Race::new(|_| {})
            .thread(move || {
                task.0.count_up();
                task.0.count_down();
                // SAFETY: one writer, and the reader waits for it; the model checks that.
                task.1.with_mut(|done| unsafe { *done = true });
                task.0.count_down();
            })
            .thread(move || {
                waiter.0.wait();
                // SAFETY: as above.
                assert!(waiter.1.with(|done| unsafe { *done }));
            })
    });
}

/// The waiter takes the latch apart as soon as it is done.
fn freed_when_done(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let counter = Arc::new(CountLatch::with_flaws(1, flaws));
        let waiter = counter.clone();
        Race::new(|_| {})
            // SAFETY: the `Arc` keeps the memory alive, so that a late access is an error that loom
            // reports and not a crash of the model.
            .thread(move || unsafe { CountLatch::count_down_raw(&*counter) })
            .thread(move || {
                waiter.wait();
                let word = &raw const waiter.word;
                // SAFETY: in the sound protocol the other thread is done with the word.
                unsafe { (*word.cast_mut()).with_mut(|word| *word = 1) };
            })
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
