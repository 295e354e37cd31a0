//! Loom models of cancellation: whoever waits hears of it, and no child escapes.
//! "Maximum number of branches" stands for a task that sleeps for ever.

use super::family::Flaw;
use super::*;
use crate::modelling::block_on;
use crate::primitives::UnsafeCell;
use blitz_primitives::model::{Race, oversleeping_race, race};
use std::rc::Rc;

fn token(flaws: Flaws<Flaw>) -> CancellationToken {
    CancellationToken {
        node: Family::new(flaws).root(),
    }
}

/// One writes and cancels, one waits with a child's token and reads.
fn cancel_against_wait(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let parent = token(flaws);
        let child = parent.child_token();
        let written = Rc::new(UnsafeCell::new(0));
        let read = written.clone();
        Race::new(|_: Vec<()>| {})
            .thread(move || {
                // SAFETY: the only writer, and before the cancellation. The model checks that.
                written.with_mut(|cell| unsafe { *cell = 7 });
                parent.cancel();
            })
            .thread(move || {
                block_on(child.cancelled());
                // SAFETY: after the cancellation. The model checks that.
                read.with(|cell| assert_eq!(unsafe { *cell }, 7));
            })
    });
}

#[test]
fn loom_whoever_waits_hears_of_a_cancellation_above() {
    cancel_against_wait(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_flag_without_order_shows_what_is_not_there() {
    cancel_against_wait(Flaws::only(Flaw::CancelsRelaxed));
}

/// A child is born while its parent is cancelled.
fn birth_against_cancel(flaws: Flaws<Flaw>) -> Race<()> {
    let (parent, canceller) = {
        let token = token(flaws);
        (token.clone(), token)
    };
    Race::new(|_| {})
        .thread(move || canceller.cancel())
        .thread(move || block_on(parent.child_token().cancelled_owned()))
}

#[test]
fn loom_no_child_escapes() {
    race::<2, _>(|| birth_against_cancel(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_child_that_does_not_look_for_its_parent_waits_for_ever() {
    oversleeping_race::<2, _>(|flawed| {
        birth_against_cancel(Flaws::only_if(flawed, Flaw::IgnoresParentsEnd))
    });
}

/// The one in the middle goes away while the one above is cancelled: its child hears of it one way or the other.
#[test]
fn loom_a_cancellation_finds_the_children_of_those_who_go_away() {
    race::<2, _>(|| {
        let top = token(Flaws::NONE);
        let middle = top.child_token();
        let bottom = middle.child_token();
        Race::new(move |_: Vec<()>| assert!(bottom.is_cancelled()))
            .thread(move || top.cancel())
            .thread(move || drop(middle))
    });
}
