//! Loom models of a line: its nodes, those who release them, and owners that go away.
//! "Maximum number of branches" stands for a task that sleeps for ever.

use super::tokens::{Take, Tokens};
use super::*;
use crate::modelling::{block_on, poll_once};
use blitz_primitives::flaw::Flaws;
use blitz_primitives::model::{Race, race};
use std::mem::ManuallyDrop;
use std::rc::Rc;

/// Tokens, and futures that already wait for one.
struct Waiting {
    takers: Vec<Pin<Box<Take<'static>>>>,
    tokens: Rc<Tokens>,
}

impl Waiting {
    fn new(number: usize, flaws: Flaws<Flaw>) -> Self {
        let tokens = Rc::new(Tokens::new(0));
        // SAFETY: whoever has one of the futures has the `Rc`.
        let lent = unsafe { &*Rc::as_ptr(&tokens) };
        let takers = (0..number)
            .map(|_| {
                let mut taker = Box::pin(lent.take(flaws));
                assert!(poll_once(taker.as_mut()).is_pending());
                taker
            })
            .collect();
        Self { takers, tokens }
    }
}

/// A future goes away while a token is handed to it. Nodes are written to after that, as freed memory would be.
fn grant_against_drop(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let Waiting { mut takers, tokens } = Waiting::new(1, flaws);
        // Loom's verdict on a flawed program must not find another panic in a destructor.
        let taker = ManuallyDrop::new(takers.pop().unwrap());
        let (giver, dropper) = (tokens.clone(), tokens.clone());
        Race::new(move |_: Vec<()>| assert_eq!(tokens.left(), 1, "the token is lost"))
            .thread(move || giver.give())
            .thread(move || {
                let node = taker.as_ref().node();
                // As `drop` does it, and then some.
                let granted = dropper.withdraw(node);
                // SAFETY: withdrawn, so it is the owner's. The model checks that.
                unsafe { node.fields(|fields| fields.need = 99) };
                if granted {
                    dropper.give();
                }
                drop(ManuallyDrop::into_inner(taker));
            })
    });
}

#[test]
fn loom_a_token_that_is_handed_to_a_dropped_future_stays_in_the_world() {
    grant_against_drop(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_node_that_is_let_go_without_order_is_freed_under_the_giver() {
    grant_against_drop(Flaws::only(Flaw::LetsGoRelaxed));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_bug_29_a_node_that_is_let_go_too_early_is_freed_under_the_giver() {
    grant_against_drop(Flaws::only(Flaw::LetsGoTooEarly));
}

#[test]
#[should_panic(expected = "the token is lost")]
fn loom_bug_29b_a_future_that_believes_that_it_still_waits_takes_a_token_with_it() {
    grant_against_drop(Flaws::only(Flaw::TrustsOldState));
}

#[test]
fn loom_a_token_that_is_handed_to_a_dropped_future_wakes_the_next() {
    race::<3, _>(|| {
        let Waiting { mut takers, tokens } = Waiting::new(1, Flaws::NONE);
        let first = takers.pop().unwrap();
        let (giver, next) = (tokens.clone(), tokens.clone());
        Race::new(move |_: Vec<()>| assert_eq!(tokens.left(), 0))
            .thread(move || giver.give())
            .thread(move || drop(first))
            .thread(move || assert!(block_on(next.take(Flaws::NONE))))
    });
}

#[test]
fn loom_everybody_who_waits_gets_a_token() {
    race::<3, _>(|| {
        let tokens = Rc::new(Tokens::new(0));
        let (giver, first, second) = (tokens.clone(), tokens.clone(), tokens.clone());
        Race::new(move |_: Vec<()>| assert_eq!(tokens.left(), 0))
            .thread(move || {
                giver.give();
                giver.give();
            })
            .thread(move || assert!(block_on(first.take(Flaws::NONE))))
            .thread(move || assert!(block_on(second.take(Flaws::NONE))))
    });
}

/// Everybody is told to go, while one goes on its own and one gets a token.
#[test]
fn loom_waking_all_against_a_grant_and_a_drop() {
    race::<3, _>(|| {
        let Waiting { mut takers, tokens } = Waiting::new(2, Flaws::NONE);
        let (second, first) = (takers.pop().unwrap(), takers.pop().unwrap());
        let (giver, all) = (tokens.clone(), tokens.clone());
        Race::new(move |got: Vec<bool>| {
            let taken = usize::from(got[2]);
            assert_eq!(tokens.left() + taken, 1, "the token is lost");
        })
        .thread(move || {
            giver.give();
            drop(first);
            false
        })
        .thread(move || {
            all.dismiss_all();
            false
        })
        .thread(move || block_on(second))
    });
}
