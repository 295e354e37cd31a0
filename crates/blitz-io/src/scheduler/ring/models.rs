//! Loom models of the ring: owner and thieves get every task exactly once, whatever the order.

use super::*;
use blitz_core::checking::model::{Race, race};
use std::rc::Rc;

type Small = Ring<u32, 4>;

/// Owner and thieves share the ring; loom's threads are one.
fn ring(flaws: Flaws<Flaw>) -> Rc<Small> {
    Rc::new(Small::with_flaws(flaws))
}

/// Pushes `tasks`; what does not fit is returned.
fn push_all(ring: &Small, tasks: std::ops::Range<u32>) -> Vec<u32> {
    let mut over = Vec::new();
    for task in tasks {
        // SAFETY: each model has one owner of this ring.
        match unsafe { ring.push(task) } {
            Ok(()) => {}
            Err(Full::One(task)) => over.push(task),
            Err(Full::Half(tasks)) => over.extend(tasks),
        }
    }
    over
}

fn pop_all(ring: &Small) -> Vec<u32> {
    // SAFETY: as above.
    std::iter::from_fn(|| unsafe { ring.pop() }).collect()
}

fn steal_all(ring: &Small) -> Vec<u32> {
    let mine = Small::new();
    let mut got = Vec::new();
    // SAFETY: `mine` is this thread's.
    if let Some((task, count)) = unsafe { ring.steal_into(&mine) } {
        got.push(task);
        got.extend(pop_all(&mine));
        assert_eq!(got.len(), count);
    }
    got
}

fn exactly_once(tasks: u32) -> impl FnOnce(Vec<Vec<u32>>) {
    move |results| {
        let mut all: Vec<_> = results.into_iter().flatten().collect();
        all.sort_unstable();
        assert_eq!(
            all,
            (0..tasks).collect::<Vec<_>>(),
            "each task exactly once"
        );
    }
}

fn owner_against_thief(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let ring = ring(flaws);
        let rest = Rc::clone(&ring);
        let theirs = Rc::clone(&ring);
        Race::new(move |mut results: Vec<Vec<u32>>| {
            results.push(pop_all(&rest));
            exactly_once(3)(results);
        })
        .thread(move || {
            let mut got = push_all(&ring, 0..3);
            // SAFETY: the owner.
            got.extend(unsafe { ring.pop() });
            got
        })
        .thread(move || steal_all(&theirs))
    });
}

#[test]
fn loom_owner_and_thief_share_the_tasks() {
    owner_against_thief(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_tail_shows_places_that_are_not_written() {
    owner_against_thief(Flaws::only(Flaw::RelaxedTail));
}

fn overflow_against_thief(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let ring = ring(flaws);
        push_all(&ring, 0..4);
        let rest = Rc::clone(&ring);
        let theirs = Rc::clone(&ring);
        Race::new(move |mut results: Vec<Vec<u32>>| {
            results.push(pop_all(&rest));
            exactly_once(6)(results);
        })
        .thread(move || push_all(&ring, 4..6))
        .thread(move || steal_all(&theirs))
    });
}

#[test]
fn loom_a_full_ring_and_a_thief_do_not_lose_or_double_a_task() {
    overflow_against_thief(Flaws::NONE);
}

#[test]
#[should_panic]
fn loom_an_owner_that_ignores_a_theft_overwrites_what_is_being_copied() {
    overflow_against_thief(Flaws::only(Flaw::IgnoresBack));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_end_of_a_theft_lets_the_owner_write_too_early() {
    overflow_against_thief(Flaws::only(Flaw::RelaxedRelease));
}

#[test]
fn loom_two_thieves_and_the_owner_share_the_tasks() {
    race::<3, _>(|| {
        let ring = ring(Flaws::NONE);
        push_all(&ring, 0..3);
        let rest = Rc::clone(&ring);
        let (first, second) = (Rc::clone(&ring), Rc::clone(&ring));
        Race::new(move |mut results: Vec<Vec<u32>>| {
            results.push(pop_all(&rest));
            exactly_once(3)(results);
        })
        // SAFETY: the owner.
        .thread(move || unsafe { ring.pop() }.into_iter().collect())
        .thread(move || steal_all(&first))
        .thread(move || steal_all(&second))
    });
}
