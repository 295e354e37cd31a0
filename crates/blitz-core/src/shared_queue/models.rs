//! Loom models of the shared queue: somebody looks through it while others look for work.

use super::*;
use crate::sync::Arc;
use blitz_primitives::model::{Race, race};

/// One thread looks at the only element and leaves it; another one does `other`.
fn looked_at_meanwhile(flaws: Flaws<Flaw>, other: fn(&SharedQueue<u32>)) {
    race::<2, _>(move || {
        let queue = Arc::new(SharedQueue::with_flaws(flaws));
        queue.push(1);
        let looker = queue.clone();
        Race::new(|_| ())
            .thread(move || assert_eq!(looker.take(1, |_| false), None))
            .thread(move || other(&queue))
    });
}

fn finds_it(queue: &SharedQueue<u32>) {
    assert_eq!(queue.pop(), Some(1), "overlooked");
}

fn sees_it(queue: &SharedQueue<u32>) {
    assert!(!queue.is_empty(), "overlooked");
}

#[test]
fn loom_an_element_that_is_looked_at_is_found() {
    looked_at_meanwhile(Flaws::NONE, finds_it);
}

#[test]
fn loom_an_element_that_is_looked_at_is_seen() {
    looked_at_meanwhile(Flaws::NONE, sees_it);
}

#[test]
#[should_panic(expected = "overlooked")]
fn loom_an_element_that_counts_late_is_not_found() {
    looked_at_meanwhile(Flaws::only(Flaw::CountedLate), finds_it);
}

#[test]
#[should_panic(expected = "overlooked")]
fn loom_an_element_that_counts_late_is_not_seen() {
    looked_at_meanwhile(Flaws::only(Flaw::CountedLate), sees_it);
}

#[test]
#[should_panic(expected = "overlooked")]
fn loom_who_looks_at_the_list_first_does_not_find_the_element() {
    looked_at_meanwhile(Flaws::only(Flaw::ListFirst), finds_it);
}

#[test]
#[should_panic(expected = "overlooked")]
fn loom_who_looks_at_the_list_first_does_not_see_the_element() {
    looked_at_meanwhile(Flaws::only(Flaw::ListFirst), sees_it);
}

#[test]
fn loom_two_who_look_and_one_who_pops_get_each_element_once() {
    race::<3, _>(|| {
        let queue = Arc::new(SharedQueue::new());
        queue.push(1);
        queue.push(2);
        let [one, two, popper] = [(); 3].map(|()| queue.clone());
        Race::new(move |taken: Vec<Option<u32>>| {
            let mut all: Vec<_> = taken.into_iter().flatten().collect();
            all.extend(std::iter::from_fn(|| queue.pop()));
            all.sort_unstable();
            assert_eq!(all, [1, 2], "lost or doubled");
        })
        .thread(move || one.take(2, |element| *element == 2))
        .thread(move || two.take(2, |_| false))
        .thread(move || popper.pop())
    });
}
