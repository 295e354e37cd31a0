//! Loom models of the broadcast channel: messages that are read, overwritten, missed and dropped.

use super::error::{RecvError, TryRecvError};
use super::slot::Flaw;
use super::*;
use crate::channel::model::{Mint, await_woken, use_up};
use blitz_primitives::model::{Race, race};

/// The sender overtakes the receiver: with room for one message, two are sent while the receiver reads.
///
/// With `idle` receivers that read nothing it takes each message along to clone it.
fn overtaking(idle: usize, flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let (sender, receiver) = with_flaws(1, flaws);
        let idle: Vec<_> = (0..idle).map(|_| sender.subscribe()).collect();
        let receivers = idle.len() + 1;
        assert!(sender.send(1u32).is_ok());
        Race::new(move |results: Vec<Vec<Result<u32, u64>>>| {
            // Every message is read or counted as missed, in order.
            let mut next = 1;
            for &result in &results[1] {
                match result {
                    Ok(message) => {
                        assert_eq!(u64::from(message), next, "out of order, or torn");
                        next += 1;
                    }
                    Err(missed) => next += missed,
                }
            }
            assert_eq!(next, 4, "lost without a word");
            drop(idle);
        })
        .thread(move || {
            use_up(sender, |sender| {
                for message in [2, 3] {
                    assert_eq!(sender.send(message).ok(), Some(receivers));
                }
            });
            Vec::new()
        })
        .thread(move || {
            use_up(receiver, |receiver| {
                let mut seen = Vec::new();
                let mut patience = 0;
                loop {
                    match receiver.try_recv() {
                        Ok(message) => seen.push(Ok(message)),
                        Err(TryRecvError::Lagged(missed)) => seen.push(Err(missed)),
                        Err(TryRecvError::Closed) => return seen,
                        Err(TryRecvError::Empty) => {
                            patience += 1;
                            assert!(patience < 100);
                            crate::primitives::yield_now();
                        }
                    }
                }
            })
        })
    });
}

#[test]
fn loom_a_receiver_reads_or_misses_every_message() {
    overtaking(0, Flaws::NONE);
}

#[test]
fn loom_a_message_that_is_lent_comes_back_or_is_missed() {
    overtaking(1, Flaws::NONE);
}

#[test]
#[should_panic(expected = "out of order")]
fn loom_a_message_that_comes_back_unasked_replaces_a_newer_one() {
    overtaking(1, Flaws::only(Flaw::ReturnsUnasked));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_return_of_a_slot_tears_messages() {
    overtaking(0, Flaws::only(Flaw::RelaxedGiving));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_taking_of_a_slot_tears_messages() {
    overtaking(0, Flaws::only(Flaw::RelaxedTaking));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_sender_that_does_not_wait_for_a_reader_tears_messages() {
    overtaking(0, Flaws::only(Flaw::WritesUnasked));
}

/// A receiver waits while a message is sent, or not, and the sender goes.
#[test]
fn loom_a_waiting_receiver_learns_of_a_message_and_of_the_end() {
    for sends in [true, false] {
        race::<2, _>(move || {
            let (sender, receiver) = channel(1);
            Race::new(move |results: Vec<Result<u32, RecvError>>| {
                let expected = if sends { Ok(1) } else { Err(RecvError::Closed) };
                assert_eq!(results[1], expected);
            })
            .thread(move || {
                if sends {
                    assert!(sender.send(1u32).is_ok());
                }
                drop(sender);
                Err(RecvError::Closed)
            })
            .thread(move || use_up(receiver, |receiver| await_woken(receiver.recv())))
        });
    }
}

/// Two receivers, one of which unsubscribes while the other reads: the message is dropped once, by whoever is last.
#[test]
fn loom_the_last_reader_drops_the_message() {
    race::<2, _>(|| {
        let mint = Mint::new();
        let message = std::rc::Rc::new(mint.token(1));
        let (sender, mut reader) = channel(2);
        let leaver = sender.subscribe();
        assert_eq!(sender.send(message).ok(), Some(2));
        assert_eq!(sender.len(), 1);
        Race::new(move |_: Vec<()>| {
            assert!(sender.is_empty());
            mint.assert_empty();
        })
        .thread(move || drop(leaver))
        .thread(move || assert!(reader.try_recv().is_ok()))
    });
}

/// One receiver clones the message while the other unsubscribes, or reads it, too.
#[test]
fn loom_a_message_that_is_lent_is_kept_for_those_who_have_not_read_it() {
    for reads in [true, false] {
        race::<2, _>(move || {
            let mint = Mint::new();
            let message = std::sync::Arc::new(mint.token(1));
            let (sender, first) = channel(1);
            let second = sender.subscribe();
            let third = sender.subscribe();
            assert_eq!(sender.send(message).ok(), Some(3));
            Race::new(move |results: Vec<bool>| {
                assert!(results[0]);
                assert_eq!(results[1], reads);
                assert_eq!(sender.len(), 1);
                drop(third);
                assert!(sender.is_empty());
                mint.assert_empty();
            })
            .thread(move || use_up(first, |first| first.try_recv().is_ok()))
            .thread(move || use_up(second, |second| reads && second.try_recv().is_ok()))
        });
    }
}

fn read(receiver: Receiver<u32>) -> Result<u32, RecvError> {
    use_up(receiver, |receiver| await_woken(receiver.recv()))
}

/// Two receivers want the same message, and a third keeps it from being the last one's: one of them clones it while the other may have to wait for that.
fn waiting_for_a_loan(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let (sender, first) = with_flaws(1, flaws);
        let (second, third) = (sender.subscribe(), sender.subscribe());
        assert_eq!(sender.send(1u32).ok(), Some(3));
        Race::new(move |results: Vec<Result<u32, RecvError>>| {
            assert_eq!(results, [Ok(1), Ok(1)]);
            drop((sender, third));
        })
        .thread(move || read(first))
        .thread(move || read(second))
    });
}

#[test]
fn loom_who_waits_for_a_loan_learns_of_its_end() {
    waiting_for_a_loan(Flaws::NONE);
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_a_silent_return_leaves_somebody_waiting() {
    waiting_for_a_loan(Flaws::only(Flaw::ReturnsSilently));
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_a_mark_outside_of_the_lock_leaves_somebody_waiting() {
    waiting_for_a_loan(Flaws::only(Flaw::MarksOutsideOfTheLock));
}

/// While a message is lent, a sender puts another one in its place; somebody else may wait for the end of the loan.
fn waiting_for_a_loan_that_is_overwritten(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let (sender, first) = with_flaws(1, flaws);
        let second = sender.subscribe();
        assert_eq!(sender.send(1u32).ok(), Some(2));
        Race::new(move |results: Vec<Result<u32, RecvError>>| {
            assert!(matches!(results[1], Ok(1) | Err(RecvError::Lagged(1))));
            drop(first);
        })
        .thread(move || {
            use_up(sender, |sender| {
                let shared = &sender.shared;
                // It may have been read, and be gone.
                let taken = shared.slot(0).take(0);
                let loan = taken.ok().and_then(|taken| taken.lend(&shared.loans));
                assert!(sender.send(2).is_ok());
                // The loan is not over before that.
                std::mem::forget(loan);
            });
            Ok(2)
        })
        .thread(move || read(second))
    });
}

#[test]
fn loom_who_waits_for_a_loan_learns_that_it_was_overwritten() {
    waiting_for_a_loan_that_is_overwritten(Flaws::NONE);
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_a_silent_overwriting_leaves_somebody_waiting() {
    waiting_for_a_loan_that_is_overwritten(Flaws::only(Flaw::OverwritesSilently));
}
