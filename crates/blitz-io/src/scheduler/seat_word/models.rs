//! Loom models of the driver's end against those who enter and leave it.

use super::*;
use crate::primitives::UnsafeCell;
use blitz_core::checking::model::{Race, race};
use std::rc::Rc;

/// What is inside: how often it was shut.
struct Inside {
    word: SeatWord,
    shut: UnsafeCell<u32>,
}

impl Inside {
    fn leave(&self) {
        // As the attendant does, exclusively.
        self.shut.with_mut(|_| ());
        // SAFETY: inside.
        self.word
            .leave(|| self.shut.with_mut(|shut| unsafe { *shut += 1 }));
    }
}

fn end_against_a_visit(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let inside = Rc::new(Inside {
            word: SeatWord::with_flaws(flaws),
            shut: UnsafeCell::new(0),
        });
        let (visitor, ender, judge) = (inside.clone(), inside.clone(), inside);
        Race::new(move |_: Vec<()>| {
            assert!(!judge.word.is_taken(), "somebody is still inside");
            // SAFETY: nobody is.
            let shut = judge.shut.with(|shut| unsafe { *shut });
            assert!(shut > 0, "the driver was not shut");
        })
        .thread(move || {
            if visitor.word.try_enter() {
                visitor.leave();
            }
        })
        .thread(move || {
            if ender.word.close() {
                ender.leave();
            }
        })
    });
}

#[test]
fn loom_a_driver_is_shut_by_the_end_or_by_whoever_leaves() {
    end_against_a_visit(Flaws::NONE);
}

#[test]
#[should_panic(expected = "the driver was not shut")]
fn loom_a_visitor_that_leaves_blindly_leaves_the_driver_open() {
    end_against_a_visit(Flaws::only(Flaw::LeavesInTwoSteps));
}

#[test]
#[should_panic(expected = "the driver was not shut")]
fn loom_an_end_that_looks_before_its_note_leaves_the_driver_open() {
    end_against_a_visit(Flaws::only(Flaw::ClosesInTwoSteps));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_leaving_without_order_lets_two_into_the_driver() {
    end_against_a_visit(Flaws::only(Flaw::RelaxedLeaving));
}
