//! Loom models of the orderly end: who is told, who may still begin, and who is waited for.
//! "Maximum number of branches" stands for a task that sleeps for ever.

use super::*;
use crate::modelling::block_on;
use crate::primitives::UnsafeCell;
use blitz_core::checking::model::{Race, oversleeping_race, race};
use std::mem::ManuallyDrop;
use std::rc::Rc;

fn with_flaws(flaws: Flaws<Flaw>) -> Shutdown {
    Shutdown {
        inner: Arc::new(Inner {
            flaws,
            ..Inner::default()
        }),
    }
}

#[test]
fn loom_all_who_wait_are_told_and_one_goes_away() {
    race::<3, _>(|| {
        let shutdown = with_flaws(Flaws::NONE);
        let (first, second) = (shutdown.clone(), shutdown.clone());
        Race::new(|_: Vec<()>| {})
            .thread(move || assert!(shutdown.trigger()))
            .thread(move || block_on(first.wait()))
            .thread(move || {
                // Gives up, whether it has been told or not, and comes back.
                let mut wait = Box::pin(second.wait());
                let _ = crate::modelling::poll_once(wait.as_mut());
                drop(wait);
                block_on(second.wait());
            })
    });
}

/// Work under a guard against the end: what it writes is there when `drained` returns, and nothing is written after that.
fn work_against_the_end(flaws: Flaws<Flaw>) -> Race<()> {
    let shutdown = with_flaws(flaws);
    let work = Rc::new(UnsafeCell::new(0));
    let (worker, workplace) = (shutdown.clone(), work.clone());
    Race::new(|_: Vec<()>| {})
        .thread(move || {
            // Loom's verdict on a flawed program must not find another panic in a destructor.
            let Some(guard) = worker.guard().map(ManuallyDrop::new) else {
                return;
            };
            // SAFETY: the other thread reads only after the guard is gone. The model checks that.
            workplace.with_mut(|work| unsafe { *work += 1 });
            drop(ManuallyDrop::into_inner(guard));
        })
        .thread(move || {
            shutdown.trigger();
            block_on(shutdown.drained());
            // SAFETY: nothing is written any more. The model checks that.
            assert!(work.with(|work| unsafe { *work }) <= 1);
            assert_eq!(shutdown.guards(), 0);
        })
}

#[test]
fn loom_a_guard_is_refused_or_waited_for() {
    race::<2, _>(|| work_against_the_end(Flaws::NONE));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_guard_that_asks_before_the_lock_works_after_the_end() {
    race::<2, _>(|| work_against_the_end(Flaws::only(Flaw::AsksBeforeTheLock)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_last_guard_that_looks_too_early_lets_everybody_sleep() {
    oversleeping_race::<2, _>(|flawed| {
        work_against_the_end(Flaws::only_if(flawed, Flaw::LooksTooEarly))
    });
}

/// Two guards go at once, one of which has been cloned after the trigger.
#[test]
fn loom_the_last_of_several_guards_ends_it() {
    race::<3, _>(|| {
        let shutdown = with_flaws(Flaws::NONE);
        let (first, second) = (shutdown.guard().unwrap(), shutdown.guard().unwrap());
        shutdown.trigger();
        Race::new(|_: Vec<()>| {})
            .thread(move || drop(first))
            .thread(move || drop((second.clone(), second)))
            .thread(move || block_on(shutdown.drained()))
    });
}

/// Whoever sees the flag sees what came before the trigger.
fn flag(flaws: Flaws<Flaw>) -> Race<()> {
    let shutdown = with_flaws(flaws);
    let reason = Rc::new(UnsafeCell::new(""));
    let (seen, seen_reason) = (shutdown.clone(), reason.clone());
    Race::new(|_: Vec<()>| {})
        .thread(move || {
            // SAFETY: the other thread reads only after the trigger. The model checks that.
            reason.with_mut(|reason| unsafe { *reason = "tired" });
            shutdown.trigger();
        })
        .thread(move || {
            if seen.is_shutdown() {
                // SAFETY: written before the trigger. The model checks that.
                assert_eq!(seen_reason.with(|reason| unsafe { *reason }), "tired");
            }
        })
}

#[test]
fn loom_the_flag_shows_what_came_before_it() {
    race::<2, _>(|| flag(Flaws::NONE));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_flag_shows_nothing() {
    race::<2, _>(|| flag(Flaws::only(Flaw::RelaxedFlag)));
}
