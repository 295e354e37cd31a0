//! Loom models of the latch, with a parker for the sleeping, as the engine uses it. "Maximum number of
//! branches" stands for a waiter that sleeps for ever.

use super::*;
use crate::model::{Race, oversleeping_race, race};
use crate::parker::Parker;
use loom::cell::UnsafeCell;
use std::rc::Rc;

/// What is in the frame of a waiting thread, and the parker, which is not.
struct Frame {
    latch: CoreLatch,
    result: UnsafeCell<u32>,
    parker: Parker,
}

impl Frame {
    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        Rc::new(Frame {
            latch: CoreLatch::with_flaws(flaws),
            result: UnsafeCell::new(0),
            parker: Parker::new(),
        })
    }

    fn wait(&self) {
        while !self.latch.probe() {
            if self.latch.get_sleepy() && self.latch.fall_asleep() {
                self.parker.park();
                self.latch.wake_up();
            }
        }
    }

    /// Takes the result and returns from the function whose frame this is.
    fn wait_and_return(&self) {
        self.wait();
        // SAFETY: the setter is done with it; the model checks that.
        let result = self.result.with_mut(|result| unsafe { result.replace(99) });
        assert_eq!(result, 7);
        let state = &raw const self.latch.state;
        // SAFETY: the setter is done with the latch, too: an access that is not ordered before this is what
        // the model looks for.
        unsafe { (*state.cast_mut()).with_mut(|word| *word = 99) };
    }

    fn finish(&self) {
        // SAFETY: nobody reads it before the latch is set; the model checks that.
        self.result.with_mut(|result| unsafe { *result = 7 });
        if self.latch.set() {
            self.parker.unpark();
        }
    }
}

fn waiter_and_setter(flaws: Flaws<Flaw>) -> Race<()> {
    let waiter = Frame::new(flaws);
    let setter = waiter.clone();
    Race::new(|_| {})
        .thread(move || waiter.wait_and_return())
        .thread(move || setter.finish())
}

#[test]
fn loom_a_waiter_never_sleeps_through_set_and_frees_its_frame() {
    race::<2, _>(|| waiter_and_setter(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_falling_asleep_without_looking_can_be_for_ever() {
    oversleeping_race::<2, _>(|flawed| {
        waiter_and_setter(Flaws::only_if(flawed, Flaw::FallAsleepBlindly))
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_setter_that_does_not_report_the_sleeper_leaves_it_asleep() {
    oversleeping_race::<2, _>(|flawed| {
        waiter_and_setter(Flaws::only_if(flawed, Flaw::SetSilently))
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_set_does_not_publish_the_result() {
    race::<2, _>(|| waiter_and_setter(Flaws::only(Flaw::RelaxedSet)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_probe_does_not_see_the_result() {
    race::<2, _>(|| waiter_and_setter(Flaws::only(Flaw::RelaxedProbe)));
}

/// Somebody unparks the waiter for another reason (a task that it may run), so that it wakes up, finds the
/// latch unset, and goes back to sleep while it is being set.
fn waiter_that_is_disturbed(flaws: Flaws<Flaw>) -> Race<()> {
    let waiter = Frame::new(flaws);
    let setter = waiter.clone();
    // The disturbance is a token that is there from the start: it ends the first sleep.
    waiter.parker.unpark();
    Race::new(|_| {})
        .thread(move || waiter.wait_and_return())
        .thread(move || setter.finish())
}

#[test]
fn loom_a_waiter_that_wakes_up_for_other_reasons_still_sees_set() {
    race::<2, _>(|| waiter_that_is_disturbed(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_waking_up_without_keeping_set_can_lose_it() {
    oversleeping_race::<2, _>(|flawed| {
        waiter_that_is_disturbed(Flaws::only_if(flawed, Flaw::WakeUpBlindly))
    });
}
