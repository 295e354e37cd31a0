//! Loom models of the deque: every interleaving and every allowed stale read of small programs.
//!
//! Each model exists as shipped, where it must pass, and with flaws, where it must fail.

use super::*;
use loom::thread;

/// Takes from the deque until it is settled whether there is something.
fn steal(stealer: &Stealer<usize>) -> Option<usize> {
    loop {
        match stealer.steal() {
            Steal::Success(item) => return Some(item),
            Steal::Empty => return None,
            Steal::Retry => thread::yield_now(),
        }
    }
}

/// All items `1..=n` came out, each once.
fn assert_each_once(items: impl IntoIterator<Item = Option<usize>>, n: usize) {
    let mut items: Vec<usize> = items.into_iter().flatten().collect();
    items.sort_unstable();
    assert_eq!(items, (1..=n).collect::<Vec<_>>(), "lost or doubled");
}

/// The owner pops two items while a thief tries for both: the race for the last item, and the
/// pop without a compare-and-swap beside it.
fn owner_and_thief(flaws: Flaws<Flaw>) {
    loom::model(move || {
        let (owner, stealer) = with_flaws(2, flaws);
        owner.push(1);
        owner.push(2);
        let thief = thread::spawn(move || [steal(&stealer), steal(&stealer)]);
        let popped = [owner.pop(), owner.pop()];
        let stolen = thief.join().unwrap();
        assert_each_once(popped.into_iter().chain(stolen), 2);
        assert!(owner.pop().is_none());
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
    loom::model(move || {
        let (owner, stealer) = with_flaws::<usize>(2, flaws);
        let content = Arc::new(loom::cell::UnsafeCell::new(0));
        let thief = {
            let content = content.clone();
            thread::spawn(move || {
                if stealer.steal() == Steal::Success(1) {
                    // SAFETY: written before the push; the model checks that this is ordered.
                    assert_eq!(content.with(|content| unsafe { *content }), 7);
                }
            })
        };
        // SAFETY: nobody reads before the item is pushed.
        content.with_mut(|content| unsafe { *content = 7 });
        owner.push(1);
        owner.push(2);
        owner.pop();
        thief.join().unwrap();
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
    loom::model(move || {
        let (owner, stealer) = with_flaws(2, flaws);
        owner.push(1);
        owner.push(2);
        let thief = thread::spawn(move || [steal(&stealer), steal(&stealer)]);
        owner.push(3);
        let stolen = thief.join().unwrap();
        let popped = [owner.pop(), owner.pop(), owner.pop()];
        assert!(stolen[0].is_some(), "two items were there all along");
        assert_each_once(popped.into_iter().chain(stolen), 3);
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
    loom::model(|| {
        let (owner, stealer) = with_capacity(2);
        owner.push(1);
        owner.push(2);
        let thief = thread::spawn(move || [steal(&stealer), steal(&stealer)]);
        let popped = [owner.pop_oldest(), None, None];
        owner.push(3);
        let stolen = thief.join().unwrap();
        let rest = [owner.pop(), owner.pop(), owner.pop()];
        assert_each_once(popped.into_iter().chain(stolen).chain(rest), 3);
    });
}

#[test]
fn loom_two_thieves_and_an_owner_take_each_item_once() {
    loom::model(|| {
        let (owner, stealer) = with_capacity(2);
        owner.push(1);
        owner.push(2);
        let thieves =
            [stealer.clone(), stealer].map(|stealer| thread::spawn(move || steal(&stealer)));
        let popped = [owner.pop(), owner.pop()];
        let stolen = thieves.map(|thief| thief.join().unwrap());
        let rest = [owner.pop(), owner.pop()];
        assert_each_once(popped.into_iter().chain(stolen).chain(rest), 2);
    });
}

/// Items left in the deque are dropped by whoever lets go last.
#[test]
fn loom_the_last_handle_drops_what_is_left() {
    loom::model(|| {
        let counted = std::sync::Arc::new(());
        let (owner, stealer) = with_capacity(2);
        for _ in 0..3 {
            owner.push(counted.clone());
        }
        let thief = thread::spawn(move || drop(stealer.steal()));
        drop(owner.pop());
        drop(owner);
        thief.join().unwrap();
        assert_eq!(std::sync::Arc::strong_count(&counted), 1);
    });
}
