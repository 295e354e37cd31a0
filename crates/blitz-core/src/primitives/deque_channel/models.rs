//! Loom models of the channel.

use super::*;
use loom::thread;

/// A worker sheds its older half while another one looks for work.
fn shedding(flaws: Flaws<Flaw>) {
    loom::model(move || {
        let channel = DequeChannel::new().local_capacity(2).global_capacity(2);
        let (mut workers, _sender) = channel.build_with_flaws::<usize>(2, flaws);
        let (thief, victim) = (workers.pop().unwrap(), workers.pop().unwrap());
        victim.send(1).unwrap();
        victim.send(2).unwrap();
        let thief = thread::spawn(move || {
            // Of two items one may be in the other worker's hands, but not both.
            let received = [thief.recv(), thief.recv()];
            assert!(received[0].is_some(), "overlooked an item");
            assert!(received[1].is_some(), "overlooked an item");
            received
        });
        victim.send(3).unwrap();
        let received = thief.join().unwrap();
        let mut all: Vec<_> = received.into_iter().flatten().collect();
        all.extend(std::iter::from_fn(|| victim.recv()));
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3]);
    });
}

#[test]
fn loom_a_receiver_finds_items_on_the_move() {
    shedding(Flaws::NONE);
}

#[test]
#[should_panic(expected = "overlooked an item")]
fn loom_a_receiver_that_ignores_moves_overlooks_items() {
    shedding(Flaws::only(Flaw::IgnoreMoves));
}
