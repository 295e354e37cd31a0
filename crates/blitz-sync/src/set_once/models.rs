//! Loom models of a cell that is set: one of those who set it succeeds, and whoever waits for it is woken and sees the value.
//! "maximum number of branches" stands for a task that sleeps for ever.

use super::*;
use crate::modelling::block_on;
use blitz_primitives::model::{Race, oversleeping_race, race};
use std::rc::Rc;

fn empty(flaws: Flaws<Flaw>) -> Rc<SetOnce<usize>> {
    Rc::new(SetOnce::with(false, MaybeUninit::uninit(), flaws))
}

/// One sets it, one looks.
fn set_and_look(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let cell = empty(flaws);
        let (setter, reader) = (cell.clone(), cell.clone());
        Race::new(move |seen: Vec<usize>| {
            assert!(seen[1] == 0 || seen[1] == 5);
            assert_eq!(cell.get(), Some(&5));
        })
        .thread(move || setter.set(5).map_or(0, |()| 5))
        .thread(move || reader.get().copied().unwrap_or(0))
    });
}

#[test]
fn loom_whoever_sees_that_a_cell_is_set_sees_the_value() {
    set_and_look(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_cell_that_is_set_without_order_shows_a_value_that_is_not_there() {
    set_and_look(Flaws::only(Flaw::SaysRelaxed));
}

#[test]
fn loom_of_two_who_set_a_cell_one_is_refused_and_finds_it_set() {
    race::<2, _>(|| {
        let cell = empty(Flaws::NONE);
        let setter = |value: usize| {
            let cell = cell.clone();
            move || {
                let refused = cell.set(value).is_err();
                assert!(cell.initialized());
                usize::from(refused)
            }
        };
        let (one, two) = (setter(1), setter(2));
        Race::new(move |refused: Vec<usize>| {
            assert_eq!(refused.iter().sum::<usize>(), 1);
            assert_eq!(cell.get(), Some(&(1 + refused[0])));
        })
        .thread(one)
        .thread(two)
    });
}

/// One sets it, one waits for it.
fn set_and_wait(flaws: Flaws<Flaw>) -> Race<usize> {
    let cell = empty(flaws);
    let (setter, waiter) = (cell.clone(), cell);
    Race::new(|seen: Vec<usize>| assert_eq!(seen, [7, 7]))
        .thread(move || setter.set(7).map_or(0, |()| 7))
        .thread(move || *block_on(waiter.wait()))
}

#[test]
fn loom_who_waits_for_a_cell_is_woken_when_it_is_set() {
    race::<2, _>(|| set_and_wait(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_cell_that_lets_go_before_it_is_set_is_overslept() {
    oversleeping_race::<2, _>(|flawed| set_and_wait(Flaws::only_if(flawed, Flaw::LetsGoTooEarly)));
}
