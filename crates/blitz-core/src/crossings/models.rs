//! Loom models of crossings and forks. "Maximum number of branches" stands for a thread that sleeps for ever.

use super::*;
use blitz_primitives::model::{Race, oversleeping_race, race};
use loom::cell::UnsafeCell;
use std::rc::Rc;

/// What a crossing thread holds, one cell for each; whoever forks looks at both.
struct Shore {
    crossings: Crossings,
    held: [UnsafeCell<()>; 2],
}

impl Shore {
    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        let word = AtomicU32::new(0);
        Rc::new(Shore {
            crossings: Crossings { word, flaws },
            held: [UnsafeCell::new(()), UnsafeCell::new(())],
        })
    }

    fn cross(&self, index: usize) {
        self.crossings.enter();
        self.held[index].with_mut(|_| ());
        self.crossings.leave();
    }

    /// Writes as well, so that two that do it at once are seen.
    fn fork(&self) {
        self.crossings.close();
        self.held.iter().for_each(|held| held.with_mut(|_| ()));
        self.crossings.open();
    }
}

fn one_of_each(flaws: Flaws<Flaw>) -> Race<()> {
    let shore = Shore::new(flaws);
    let forks = shore.clone();
    Race::new(|_| {})
        .thread(move || shore.cross(0))
        .thread(move || forks.fork())
}

fn two_cross(flaws: Flaws<Flaw>) -> Race<()> {
    let shore = Shore::new(flaws);
    let (other, forks) = (shore.clone(), shore.clone());
    Race::new(|_| {})
        .thread(move || shore.cross(0))
        .thread(move || other.cross(1))
        .thread(move || forks.fork())
}

fn two_fork(flaws: Flaws<Flaw>) -> Race<()> {
    let shore = Shore::new(flaws);
    let (one, other) = (shore.clone(), shore.clone());
    Race::new(|_| {})
        .thread(move || shore.cross(0))
        .thread(move || one.fork())
        .thread(move || other.fork())
}

#[test]
fn loom_nobody_crosses_while_somebody_forks() {
    race::<2, _>(|| one_of_each(Flaws::NONE));
    race::<3, _>(|| two_cross(Flaws::NONE));
    race::<3, _>(|| two_fork(Flaws::NONE));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_whoever_begins_to_cross_without_a_look_is_met_by_a_fork() {
    race::<2, _>(|| one_of_each(Flaws::only(Flaw::EnterBlindly)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_fork_that_does_not_wait_meets_a_crossing_thread() {
    race::<2, _>(|| one_of_each(Flaws::only(Flaw::ForkBlindly)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_two_forks_at_once_open_the_way_for_each_other() {
    race::<3, _>(|| two_fork(Flaws::only(Flaw::ForkTogether)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_the_last_to_leave_must_wake_whoever_forks() {
    oversleeping_race::<2, _>(|flawed| one_of_each(Flaws::only_if(flawed, Flaw::LeaveSilently)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_the_end_of_a_fork_must_wake_whoever_wants_to_cross() {
    oversleeping_race::<2, _>(|flawed| one_of_each(Flaws::only_if(flawed, Flaw::OpenSilently)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_leaving_without_order_hands_nothing_over() {
    race::<2, _>(|| one_of_each(Flaws::only(Flaw::RelaxedLeave)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_fork_that_ends_without_order_hands_nothing_over() {
    race::<2, _>(|| one_of_each(Flaws::only(Flaw::RelaxedOpen)));
}
