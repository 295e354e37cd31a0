//! Loom models of a cell: it is written once, and whoever sees that sees the value.

use super::super::permits::Flaw;
use super::*;
use crate::modelling::{block_on, poll_once};
use crate::primitives::{AtomicUsize, Ordering};
use blitz_primitives::flaw::Flaws;
use blitz_primitives::model::{Race, race};
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;

impl OnceCell<usize> {
    fn with_flaws(flaws: Flaws<Flaw>) -> Rc<Self> {
        Rc::new(Self {
            place: Place::new(Permits::with_flaws(1, flaws), MaybeUninit::uninit()),
        })
    }
}

/// Two that need the value.
fn two_readers(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let cell = OnceCell::with_flaws(flaws);
        let computed = Rc::new(AtomicUsize::new(0));
        let reader = |cell: &Rc<OnceCell<usize>>| {
            let (cell, computed) = (cell.clone(), computed.clone());
            move || {
                let init = || async { 1 + computed.fetch_add(1, Ordering::Relaxed) };
                *block_on(cell.get_or_init(init))
            }
        };
        let (one, two) = (reader(&cell), reader(&cell));
        Race::new(move |seen: Vec<usize>| {
            assert_eq!(seen, [1, 1]);
            assert_eq!(cell.get(), Some(&1));
        })
        .thread(one)
        .thread(two)
    });
}

#[test]
fn loom_a_value_is_computed_once() {
    two_readers(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_cell_that_is_closed_without_order_shows_a_value_that_is_not_there() {
    two_readers(Flaws::only(Flaw::ClosesRelaxed));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_refusal_without_order_shows_a_value_that_is_not_there() {
    two_readers(Flaws::only(Flaw::AcquiresRelaxed));
}

#[test]
fn loom_whoever_sees_that_there_is_a_value_sees_it() {
    race::<2, _>(|| {
        let cell = OnceCell::with_flaws(Flaws::NONE);
        let (writer, reader) = (cell.clone(), cell.clone());
        Race::new(move |seen: Vec<usize>| {
            assert!(seen[1] == 0 || seen[1] == 5);
            assert_eq!(cell.get(), Some(&5));
        })
        .thread(move || {
            writer.set(5).unwrap();
            5
        })
        .thread(move || reader.get().copied().unwrap_or(0))
    });
}

/// One begins to compute the value, and goes away; another one needs it.
#[test]
fn loom_a_computation_that_is_dropped_is_taken_over() {
    race::<2, _>(|| {
        let cell = OnceCell::with_flaws(Flaws::NONE);
        let (leaver, stayer) = (cell.clone(), cell.clone());
        Race::new(move |seen: Vec<usize>| assert_eq!(Some(&seen[1]), cell.get()))
            .thread(move || {
                let mut begun = pin!(leaver.get_or_init(pending));
                poll_once(begun.as_mut()).is_ready().into()
            })
            .thread(move || *block_on(stayer.get_or_init(|| async { 9 })))
    });
}
