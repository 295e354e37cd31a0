//! Loom models of the channel.

use super::*;
use crate::model::{Race, race};

/// A worker sheds its older half while another one looks for work.
fn shedding(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let channel = DequeChannel::new().local_capacity(2).global_capacity(2);
        let (mut workers, _sender) = channel.build_with_flaws::<usize>(2, flaws);
        let (thief, victim) = (workers.pop().unwrap(), workers.pop().unwrap());
        victim.send(1).unwrap();
        victim.send(2).unwrap();
        Race::new(|received: Vec<Vec<usize>>| {
            let mut all = received.concat();
            all.sort_unstable();
            assert_eq!(all, [1, 2, 3], "lost or doubled");
        })
        .thread(move || {
            victim.send(3).unwrap();
            std::iter::from_fn(|| victim.recv()).collect()
        })
        .thread(move || {
            let received: Vec<_> = thief.recv().into_iter().collect();
            received
        })
    });
}

/// As above, but nobody else receives: what was sent before must be found.
fn shedding_only(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let channel = DequeChannel::new().local_capacity(2).global_capacity(2);
        let (mut workers, _sender) = channel.build_with_flaws::<usize>(2, flaws);
        let (thief, victim) = (workers.pop().unwrap(), workers.pop().unwrap());
        victim.send(1).unwrap();
        victim.send(2).unwrap();
        Race::new(|_| {})
            .thread(move || victim.send(3).unwrap())
            .thread(move || {
                for _ in 0..2 {
                    assert!(thief.recv().is_some(), "overlooked an item");
                }
            })
    });
}

#[test]
fn loom_every_item_is_received_once_while_a_worker_sheds() {
    shedding(Flaws::NONE);
}

#[test]
fn loom_a_receiver_finds_items_on_the_move() {
    shedding_only(Flaws::NONE);
}

#[test]
#[should_panic(expected = "overlooked an item")]
fn loom_a_receiver_that_ignores_moves_overlooks_items() {
    shedding_only(Flaws::only(Flaw::IgnoreMoves));
}
