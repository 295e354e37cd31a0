//! Loom models of the watch channel: the last value is never missed.

use super::version::Flaw;
use super::*;
use crate::channel::model::{await_woken, use_up};
use blitz_primitives::flaw::Flaws;
use blitz_primitives::model::{Race, race};

/// One value is sent, and the sender goes; the receiver follows to the end.
fn following(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let (sender, receiver) = with_version(0, Version::with_flaws(flaws));
        Race::new(|results: Vec<u32>| assert_eq!(results[1], 1, "the last value is missed"))
            .thread(move || {
                sender.send_replace(1);
                drop(sender);
                0
            })
            .thread(move || {
                use_up(receiver, |receiver| {
                    let mut last = 0;
                    while await_woken(receiver.changed()).is_ok() {
                        last = *receiver.borrow_and_update();
                    }
                    last
                })
            })
    });
}

#[test]
fn loom_a_receiver_sees_the_last_value_and_the_end() {
    following(Flaws::NONE);
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_a_receiver_that_does_not_look_again_misses_a_value() {
    following(Flaws::only(Flaw::WaitsBlindly));
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_a_silent_end_leaves_receivers_asleep() {
    following(Flaws::only(Flaw::ClosesSilently));
}

/// Value and version that are borrowed together belong together, though a sender changes them meanwhile.
#[test]
fn loom_bug_31_a_borrowed_value_is_whole_and_has_its_version() {
    race::<2, _>(|| {
        let (sender, mut receiver) = channel((0, 0));
        let mut late = receiver.clone();
        Race::new(move |_: Vec<()>| {
            assert_eq!(*late.borrow_and_update(), (1, 1));
        })
        .thread(move || {
            sender.send_modify(|value| {
                value.0 = 1;
                value.1 = 1;
            });
        })
        .thread(move || {
            let value = receiver.borrow_and_update();
            assert_eq!(value.0, value.1, "torn");
            assert_eq!(value.has_changed(), value.0 == 1, "of another version");
        })
    });
}

/// The last receiver goes while the sender looks whether anybody is left.
#[test]
fn loom_a_sender_learns_that_nobody_listens() {
    race::<2, _>(|| {
        let (sender, receiver) = channel(0);
        Race::new(|_: Vec<()>| ())
            .thread(move || drop(receiver))
            .thread(move || await_woken(sender.closed()))
    });
}
