//! Loom models of the queues: every message once, in order, whatever the threads do.

use super::list::{self, Shared, Single};
use super::locked::Locked;
use super::ring::{self, Ring};
use super::*;
use crate::channel::model::{Mint, Token};
use blitz_primitives::flaw::Flaws;
use blitz_primitives::model::{Race, race};
use std::mem::ManuallyDrop;
use std::rc::Rc;

/// A queue that is not dropped when loom's verdict unwinds.
type Held<Q> = Rc<ManuallyDrop<Q>>;

fn held<Q>(queue: Q) -> Held<Q> {
    Rc::new(ManuallyDrop::new(queue))
}

fn drop_last<Q>(queue: Held<Q>) {
    drop(ManuallyDrop::into_inner(
        Rc::into_inner(queue).expect("the last one"),
    ));
}

/// One thread pushes two messages, the other one pushes one and pops twice; the rest is popped afterwards.
fn producers_against_consumer<Q: Queue<Token> + 'static>(
    make: impl Fn() -> Q + Copy + Send + Sync + 'static,
) {
    race::<2, _>(move || {
        let mint = Mint::new();
        let queue = held(make());
        let (first, second) = (queue.clone(), queue.clone());
        let (one, other) = (mint.clone(), mint.clone());
        Race::new(move |results: Vec<Vec<u32>>| {
            let mut all = results.concat();
            // SAFETY: no other thread is left.
            while let Some((token, _)) = unsafe { queue.pop() } {
                all.push(token.0);
            }
            let of_first: Vec<_> = all.iter().filter(|&&n| n < 10).collect();
            assert_eq!(of_first, [&1, &2], "in the order of their producer");
            all.sort_unstable();
            assert_eq!(all, [1, 2, 10], "each message once");
            drop_last(queue);
            mint.assert_empty();
        })
        .thread(move || {
            for number in [1, 2] {
                assert!(first.push(one.token(number)).is_ok());
            }
            Vec::new()
        })
        .thread(move || {
            assert!(second.push(other.token(10)).is_ok());
            // SAFETY: the only one who pops at this time.
            let pops = (0..2).filter_map(|_| unsafe { second.pop() });
            pops.map(|(token, _)| token.0).collect()
        })
    });
}

#[test]
fn loom_a_ring_hands_over_every_message() {
    producers_against_consumer(|| Ring::new(3));
}

#[test]
fn loom_a_locked_queue_hands_over_every_message() {
    producers_against_consumer(|| Locked::new(3));
}

#[test]
fn loom_a_list_hands_over_every_message() {
    producers_against_consumer(Single::new);
}

#[test]
fn loom_a_list_for_many_receivers_hands_over_every_message() {
    producers_against_consumer(Shared::new);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_fill_of_a_ring_shows_a_message_that_is_not_written() {
    producers_against_consumer(|| Ring::with_flaws(3, Flaws::only(ring::Flaw::RelaxedFill)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_fill_of_a_list_shows_a_message_that_is_not_written() {
    producers_against_consumer(|| Single::with_flaws(Flaws::only(list::Flaw::RelaxedFill)));
}

/// Two consumers of a queue with two messages, one of which puts a third one where it has made room.
fn two_consumers<Q: Queue<Token> + 'static>(make: impl Fn() -> Q + Copy + Send + Sync + 'static) {
    race::<2, _>(move || {
        let mint = Mint::new();
        let queue = held(make());
        for number in 1..=2 {
            assert!(queue.push(mint.token(number)).is_ok());
        }
        let (one, other) = (queue.clone(), queue.clone());
        let minted = mint.clone();
        Race::new(move |results: Vec<u32>| {
            let mut all = results;
            // SAFETY: the queues of these models are for many receivers.
            while let Some((token, _)) = unsafe { queue.pop() } {
                all.push(token.0);
            }
            all.sort_unstable();
            assert_eq!(all, [1, 2, 3], "each message once");
            drop_last(queue);
            mint.assert_empty();
        })
        .thread(move || {
            // SAFETY: as above.
            let (token, _) = unsafe { one.pop() }.expect("there were two");
            assert!(
                one.push(minted.token(3)).is_ok(),
                "full with a message less"
            );
            token.0
        })
        .thread(move || {
            // SAFETY: as above.
            let (token, _) = unsafe { other.pop() }.expect("there were two");
            token.0
        })
    });
}

#[test]
fn loom_a_full_ring_changes_hands_with_two_consumers() {
    two_consumers(|| Ring::new(2));
}

#[test]
fn loom_two_consumers_share_a_list() {
    two_consumers(Shared::new);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_recycling_overwrites_a_message_that_is_being_read() {
    two_consumers(|| Ring::with_flaws(2, Flaws::only(ring::Flaw::RelaxedRecycle)));
}

/// Two consumers empty a block, which one of them then fills again.
fn block_is_used_again(flaws: Flaws<list::Flaw>) {
    race::<2, _>(move || {
        let mint = Mint::new();
        let queue = held(Shared::with_flaws(flaws));
        for number in 1..=2 {
            assert!(queue.push(mint.token(number)).is_ok());
        }
        let (one, other) = (queue.clone(), queue.clone());
        let minted = mint.clone();
        Race::new(move |_: Vec<()>| {
            drop_last(queue);
            mint.assert_empty();
        })
        .thread(move || {
            // SAFETY: a list for many receivers.
            drop(unsafe { one.pop() }.expect("there were two"));
            for number in 3..=5 {
                assert!(one.push(minted.token(number)).is_ok());
            }
        })
        .thread(move || {
            // SAFETY: as above.
            drop(unsafe { other.pop() }.expect("there were two"));
        })
    });
}

#[test]
fn loom_a_block_is_used_again_when_everybody_has_left_it() {
    block_is_used_again(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_count_of_emptied_cells_gives_a_block_away_too_early() {
    block_is_used_again(Flaws::only(list::Flaw::RelaxedEmptied));
}

/// Nothing that was pushed before is overlooked, though another push is under way.
fn in_flight<Q: Queue<Token> + 'static>(make: impl Fn() -> Q + Copy + Send + Sync + 'static) {
    race::<2, _>(move || {
        let mint = Mint::new();
        let queue = held(make());
        let (slow, quick) = (queue.clone(), queue.clone());
        let (one, other) = (mint.clone(), mint.clone());
        Race::new(move |_: Vec<()>| {
            drop_last(queue);
            mint.assert_empty();
        })
        .thread(move || assert!(slow.push(one.token(1)).is_ok()))
        .thread(move || {
            assert!(quick.push(other.token(2)).is_ok());
            // SAFETY: nobody else pops.
            let popped = unsafe { quick.pop() };
            assert!(popped.is_some(), "overlooked");
        })
    });
}

#[test]
fn loom_a_pop_does_not_overlook_what_was_pushed_before() {
    in_flight(|| Ring::new(2));
    in_flight(Single::new);
    in_flight(Shared::new);
}

#[test]
#[should_panic(expected = "overlooked")]
fn loom_a_ring_that_does_not_wait_for_a_push_overlooks_the_next() {
    in_flight(|| Ring::with_flaws(2, Flaws::only(ring::Flaw::EmptyWhileInFlight)));
}

#[test]
#[should_panic(expected = "overlooked")]
fn loom_a_list_that_does_not_wait_for_a_push_overlooks_the_next() {
    in_flight(|| Single::with_flaws(Flaws::only(list::Flaw::EmptyWhileInFlight)));
}
