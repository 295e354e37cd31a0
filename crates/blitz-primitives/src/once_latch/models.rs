//! Loom models of the latch. The expected message "maximum number of branches" stands for a waiter
//! that sleeps for ever.

use super::*;
use crate::model::{Race, oversleeping_race, race};
use crate::sync::Arc;
use loom::cell::UnsafeCell;

/// A latch and what it guards, as in a job.
struct Guarded {
    latch: OnceLatch,
    value: UnsafeCell<u32>,
}

impl Guarded {
    fn new(flaws: Flaws<Flaw>) -> Arc<Self> {
        Arc::new(Self {
            latch: OnceLatch::with_flaws(flaws),
            value: UnsafeCell::new(0),
        })
    }

    fn read(&self) {
        // SAFETY: after the latch is set nobody writes; the model checks that this is ordered.
        assert_eq!(self.value.with(|value| unsafe { *value }), 7);
    }

    fn wait_and_read(&self) {
        self.latch.wait();
        self.read();
    }

    fn write_and_set(&self) {
        // SAFETY: nobody reads before the latch is set; the model checks that.
        self.value.with_mut(|value| unsafe { *value = 7 });
        // SAFETY: the `Arc` keeps the latch alive, and nobody else sets it.
        unsafe { OnceLatch::set_raw(&self.latch) };
    }
}

fn one_waiter(flaws: Flaws<Flaw>) -> Race<()> {
    let setter = Guarded::new(flaws);
    let waiter = setter.clone();
    Race::new(|_| {})
        .thread(move || setter.write_and_set())
        .thread(move || waiter.wait_and_read())
}

#[test]
fn loom_a_waiter_never_sleeps_through_set() {
    race::<2, _>(|| one_waiter(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_looking_for_sleepers_before_setting_misses_them() {
    oversleeping_race::<2, _>(|flawed| one_waiter(Flaws::only_if(flawed, Flaw::LookThenSet)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_going_to_sleep_without_looking_can_be_for_ever() {
    oversleeping_race::<2, _>(|flawed| one_waiter(Flaws::only_if(flawed, Flaw::SleepBlindly)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_set_does_not_publish_the_value() {
    race::<2, _>(|| one_waiter(Flaws::only(Flaw::RelaxedSet)));
}

#[test]
fn loom_two_waiters_never_sleep_through_set() {
    race::<3, _>(|| {
        let setter = Guarded::new(Flaws::NONE);
        let [one, two] = [(); 2].map(|()| setter.clone());
        Race::new(|_| {})
            .thread(move || setter.write_and_set())
            .thread(move || one.wait_and_read())
            .thread(move || two.wait_and_read())
    });
}

#[test]
fn loom_probing_sees_the_value_once_it_sees_the_latch() {
    race::<2, _>(|| {
        let setter = Guarded::new(Flaws::NONE);
        let prober = setter.clone();
        Race::new(|_| {})
            .thread(move || setter.write_and_set())
            .thread(move || {
                if prober.latch.probe() {
                    prober.read();
                }
            })
    });
}

/// The waiter takes the latch apart as soon as it is set. Loom objects to any access by the setter
/// that is not ordered before that.
fn freed_when_set(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let setter = Guarded::new(flaws);
        let waiter = setter.clone();
        Race::new(|_| {})
            .thread(move || setter.write_and_set())
            .thread(move || {
                waiter.latch.wait();
                let state = &raw const waiter.latch.state;
                // SAFETY: in the sound protocol the setter is done with the word, so this is the only
                // access. The word is overwritten, like memory that is put to another use.
                unsafe { (*state.cast_mut()).with_mut(|word| *word = UNSET) };
            })
    });
}

#[test]
fn loom_the_latch_may_be_freed_as_soon_as_it_is_set() {
    freed_when_set(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_touching_the_latch_after_setting_it_is_noticed() {
    freed_when_set(Flaws::only(Flaw::TouchAfterSet));
}
