//! Loom models of the latch. A waiter that sleeps for ever makes the
//! model endless, which loom reports (see `futex`).

use super::*;
use crate::primitives::futex::model_that_oversleeps;
use crate::sync::Arc;
use loom::cell::UnsafeCell;
use loom::thread;

/// A latch and what it guards, as in a job: the waiter takes the memory back when it is set.
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

    fn read(&self) -> u32 {
        // SAFETY: after the latch is set nobody writes; the model checks that this is ordered.
        self.value.with(|value| unsafe { *value })
    }

    fn write_and_set(&self) {
        // SAFETY: nobody reads before the latch is set; the model checks that.
        self.value.with_mut(|value| unsafe { *value = 7 });
        // SAFETY: the `Arc` keeps the latch alive, and nobody else sets it.
        unsafe { OnceLatch::set_raw(&self.latch) };
    }
}

fn waiters(count: usize, flaws: Flaws<Flaw>) {
    let guarded = Guarded::new(flaws);
    let threads: Vec<_> = (0..count)
        .map(|_| {
            let guarded = guarded.clone();
            thread::spawn(move || {
                guarded.latch.wait();
                assert_eq!(guarded.read(), 7);
            })
        })
        .collect();
    guarded.write_and_set();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn loom_a_waiter_never_sleeps_through_set() {
    loom::model(|| waiters(1, Flaws::NONE));
}

#[test]
fn loom_two_waiters_never_sleep_through_set() {
    loom::model(|| waiters(2, Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_looking_for_sleepers_before_setting_misses_them() {
    model_that_oversleeps(|| waiters(1, Flaws::only(Flaw::LookThenSet)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_going_to_sleep_without_looking_can_be_for_ever() {
    model_that_oversleeps(|| waiters(1, Flaws::only(Flaw::SleepBlindly)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_set_does_not_publish_the_value() {
    loom::model(|| waiters(1, Flaws::only(Flaw::RelaxedSet)));
}

#[test]
fn loom_probing_sees_the_value_once_it_sees_the_latch() {
    loom::model(|| {
        let guarded = Guarded::new(Flaws::NONE);
        let setter = {
            let guarded = guarded.clone();
            thread::spawn(move || guarded.write_and_set())
        };
        if guarded.latch.probe() {
            assert_eq!(guarded.read(), 7);
        }
        setter.join().unwrap();
    });
}

/// The waiter takes the latch apart as soon as it is set. Loom objects to any access by the setter
/// that is not ordered before that.
fn freed_when_set(flaws: Flaws<Flaw>) {
    loom::model(move || {
        let guarded = Guarded::new(flaws);
        let setter = {
            let guarded = guarded.clone();
            thread::spawn(move || guarded.write_and_set())
        };
        guarded.latch.wait();
        let state = &raw const guarded.latch.state;
        // SAFETY: in the sound protocol the setter is done with the word, so this is the only access.
        // The word is replaced by garbage, like memory that is put to another use.
        unsafe { (*state.cast_mut()).with_mut(|word| *word = UNSET) };
        setter.join().unwrap();
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
