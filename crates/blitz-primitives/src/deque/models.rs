//! Loom models of the deque: every interleaving and every allowed stale read of small programs.
//!
//! Each model exists as shipped, where it must pass, and with flaws, where it must fail.

use super::*;
use crate::model::{Race, race};
use loom::thread;

/// Takes one item unless there is none.
fn steal_one(stealer: &Stealer<usize>) -> Option<usize> {
    loop {
        match stealer.steal() {
            Steal::Success(item) => return Some(item),
            Steal::Empty => return None,
            Steal::Retry => thread::yield_now(),
        }
    }
}

fn steal(stealer: &Stealer<usize>, attempts: usize) -> Vec<usize> {
    (0..attempts).filter_map(|_| steal_one(stealer)).collect()
}

/// Pops until there is nothing left; nothing can come after that, since the owner does not push.
fn pop_all(owner: &Owner<usize>) -> Vec<usize> {
    std::iter::from_fn(|| owner.pop()).collect()
}

/// A race at whose end all items `1..=n` have come out, each once.
fn each_once(n: usize) -> Race<Vec<usize>> {
    Race::new(move |taken: Vec<Vec<usize>>| {
        let mut items = taken.concat();
        items.sort_unstable();
        assert_eq!(items, (1..=n).collect::<Vec<_>>(), "lost or doubled");
    })
}

fn two_items(flaws: Flaws<Flaw>) -> (Owner<usize>, Stealer<usize>) {
    let (owner, stealer) = with_flaws(2, flaws);
    owner.push(1);
    owner.push(2);
    (owner, stealer)
}

/// The owner pops two items while a thief tries for both: the race for the last item, and the
/// pop without a compare-and-swap beside it.
fn owner_and_thief(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let (owner, stealer) = two_items(flaws);
        each_once(2)
            .thread(move || pop_all(&owner))
            .thread(move || steal(&stealer, 2))
    });
}

#[test]
fn loom_owner_and_thief_share_two_items() {
    owner_and_thief(Flaws::NONE);
}

#[test]
#[should_panic(expected = "lost or doubled")]
fn loom_without_the_fence_in_pop_an_item_comes_out_twice() {
    owner_and_thief(Flaws::only(Flaw::NoFenceInPop));
}

#[test]
#[should_panic(expected = "lost or doubled")]
fn loom_without_the_fence_in_steal_an_item_comes_out_twice() {
    owner_and_thief(Flaws::only(Flaw::NoFenceInSteal));
}

#[test]
#[should_panic(expected = "lost or doubled")]
fn loom_without_competing_for_the_last_item_it_comes_out_twice() {
    owner_and_thief(Flaws::only(Flaw::LastItemUncontested));
}

/// What is behind a stolen item is visible to the thief, also if it learnt of the item through a
/// store of `pop`.
fn publication(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let (owner, stealer) = with_flaws::<usize>(2, flaws);
        let written = Arc::new(loom::cell::UnsafeCell::new(0));
        let read = written.clone();
        Race::new(|_| {})
            .thread(move || {
                // SAFETY: nobody reads before the item is pushed; the model checks that.
                written.with_mut(|content| unsafe { *content = 7 });
                owner.push(1);
                owner.push(2);
                owner.pop();
            })
            .thread(move || {
                if stealer.steal() == Steal::Success(1) {
                    // SAFETY: written before the push; the model checks that.
                    assert_eq!(read.with(|content| unsafe { *content }), 7);
                }
            })
    });
}

#[test]
fn loom_a_thief_sees_what_is_behind_an_item() {
    publication(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_push_is_seen_as_a_race_on_the_content() {
    publication(Flaws::only(Flaw::RelaxedPush));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_pop_is_seen_as_a_race_on_the_content() {
    publication(Flaws::only(Flaw::RelaxedPop));
}

/// The owner outgrows a ring of two while a thief is at it.
fn growth(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let (owner, stealer) = two_items(flaws);
        each_once(3)
            .thread(move || {
                owner.push(3);
                pop_all(&owner)
            })
            .thread(move || steal(&stealer, 2))
    });
}

#[test]
fn loom_a_thief_is_not_disturbed_by_growth() {
    growth(Flaws::NONE);
}

#[test]
#[should_panic(expected = "lost or doubled")]
fn loom_growth_that_copies_nothing_is_noticed() {
    growth(Flaws::only(Flaw::GrowthForgetsItems));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_growth_that_publishes_the_ring_unordered_is_noticed() {
    growth(Flaws::only(Flaw::RelaxedGrowth));
}

/// A ring of two is used for a second lap while a thief may still look at the first.
#[test]
fn loom_a_slot_is_reused_only_when_its_item_is_gone() {
    race::<2, _>(|| {
        let (owner, stealer) = two_items(Flaws::NONE);
        each_once(3)
            .thread(move || {
                let mut taken: Vec<_> = owner.pop_oldest().into_iter().collect();
                owner.push(3);
                taken.extend(pop_all(&owner));
                taken
            })
            .thread(move || steal(&stealer, 2))
    });
}

#[test]
fn loom_two_thieves_and_an_owner_take_each_item_once() {
    race::<3, _>(|| {
        let (owner, stealer) = two_items(Flaws::NONE);
        let other = stealer.clone();
        each_once(2)
            .thread(move || pop_all(&owner))
            .thread(move || steal(&stealer, 1))
            .thread(move || steal(&other, 1))
    });
}

/// "Empty" is not a guess: an item that was there before and that nobody else takes is found.
#[test]
fn loom_an_item_that_was_there_before_is_never_overlooked() {
    race::<2, _>(|| {
        let (owner, stealer) = two_items(Flaws::NONE);
        Race::new(|_| {})
            .thread(move || {
                // One of the two is always left for the thief.
                owner.pop();
                owner.push(3);
            })
            .thread(move || {
                assert!(!stealer.is_empty(), "overlooked an item");
                assert!(steal_one(&stealer).is_some(), "overlooked an item");
            })
    });
}

/// Items left in the deque are dropped by whoever lets go last.
#[test]
fn loom_the_last_handle_drops_what_is_left() {
    race::<2, _>(|| {
        let counted = std::sync::Arc::new(());
        let (owner, stealer) = with_capacity(2);
        for _ in 0..3 {
            owner.push(counted.clone());
        }
        Race::new(move |_| assert_eq!(std::sync::Arc::strong_count(&counted), 1))
            .thread(move || drop((owner.pop(), owner)))
            .thread(move || drop((stealer.steal(), stealer)))
    });
}
