//! Loom models of the oneshot channel: send, receive, close, wait and drop in every order.
//!
//! The shipped channel runs under loom, which watches its cells: two threads that touch one of them without order between them are a
//! "Causality violation", and so is an end that frees the memory under the other.

use super::*;
use crate::channel::model::{Mint, Token, poll_and_drop, use_up};
use crate::modelling::block_on;
use blitz_primitives::model::{Race, oversleeping_race, race};

type Ends = (Sender<Token>, Receiver<Token>);

/// Runs `sender` against `receiver`; both say how many messages they ended up with, and together that is `total`.
fn two_ends(
    flaws: Flaws<Flaw>,
    sender: impl Fn(Sender<Token>, Mint) -> usize + Copy + Send + Sync + 'static,
    receiver: impl Fn(Receiver<Token>) -> usize + Copy + Send + Sync + 'static,
    total: usize,
) {
    race::<2, _>(move || ends_race(flaws, sender, receiver, total));
}

fn ends_race(
    flaws: Flaws<Flaw>,
    sender: impl Fn(Sender<Token>, Mint) -> usize + 'static,
    receiver: impl Fn(Receiver<Token>) -> usize + 'static,
    total: usize,
) -> Race<usize> {
    let mint = Mint::new();
    let minted = mint.clone();
    let (tx, rx): Ends = with_flaws(flaws);
    Race::new(move |results: Vec<usize>| {
        assert_eq!(results.iter().sum::<usize>(), total, "each message once");
        mint.assert_empty();
    })
    .thread(move || sender(tx, minted))
    .thread(move || receiver(rx))
}

/// 1 if the message came back.
fn send(tx: Sender<Token>, mint: Mint) -> usize {
    tx.send(mint.token(1)).is_err().into()
}

fn receive(rx: Receiver<Token>) -> usize {
    use_up(rx, |rx| block_on(rx).is_ok().into())
}

#[test]
fn loom_a_message_arrives_whoever_is_first() {
    two_ends(Flaws::NONE, send, receive, 1);
}

#[test]
fn loom_a_dropped_sender_is_noticed_whoever_is_first() {
    two_ends(
        Flaws::NONE,
        |tx, _| {
            drop(tx);
            0
        },
        receive,
        0,
    );
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_send_shows_a_message_that_is_not_written() {
    two_ends(Flaws::only(Flaw::RelaxedSend), send, receive, 1);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_wait_shows_a_waker_that_is_not_written() {
    two_ends(Flaws::only(Flaw::RelaxedWait), send, receive, 1);
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_receiver_that_waits_blindly_oversleeps() {
    oversleeping_race::<2, _>(|flawed| {
        ends_race(Flaws::only_if(flawed, Flaw::WaitsBlindly), send, receive, 1)
    });
}

/// The receiver looks at the channel a few times with wakers that differ, then leaves.
fn impatient(rx: Receiver<Token>) -> usize {
    use_up(rx, |rx| {
        for _ in 0..2 {
            if let Some(received) = poll_and_drop(&mut *rx) {
                return received.is_ok().into();
            }
        }
        rx.try_recv().is_ok().into()
    })
}

/// As [`send`], and a message that is left to a receiver that is gone was not lost by the channel.
fn dropped_or_sent(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let mint = Mint::new();
        let minted = mint.clone();
        let (tx, rx): Ends = with_flaws(flaws);
        Race::new(move |_: Vec<usize>| mint.assert_empty())
            .thread(move || send(tx, minted))
            .thread(move || impatient(rx))
    });
}

#[test]
fn loom_a_receiver_that_leaves_while_it_is_sent_to_drops_the_message() {
    dropped_or_sent(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_departure_frees_what_is_in_use() {
    dropped_or_sent(Flaws::only(Flaw::RelaxedDeparture));
}

#[test]
#[should_panic]
fn loom_a_sender_that_leaves_before_it_wakes_is_freed_under_its_feet() {
    dropped_or_sent(Flaws::only(Flaw::LeavesBeforeWaking));
}

fn close_against_send(flaws: Flaws<Flaw>) {
    two_ends(
        flaws,
        send,
        |rx| {
            use_up(rx, |rx| {
                rx.close();
                rx.try_recv().is_ok().into()
            })
        },
        1,
    );
}

#[test]
fn loom_a_message_is_received_or_refused_by_a_closing_receiver() {
    close_against_send(Flaws::NONE);
}

#[test]
#[should_panic]
fn loom_a_message_to_a_closed_receiver_would_be_lost() {
    close_against_send(Flaws::only(Flaw::SendsToTheClosed));
}

/// The receiver closes and goes, the sender goes without a word: one of them frees the memory.
fn close_against_drop(flaws: Flaws<Flaw>) {
    two_ends(
        flaws,
        |tx, _| {
            drop(tx);
            0
        },
        |mut rx| {
            rx.close();
            drop(rx);
            0
        },
        0,
    );
}

#[test]
fn loom_somebody_frees_a_channel_that_was_closed() {
    close_against_drop(Flaws::NONE);
}

#[test]
#[should_panic]
fn loom_an_end_that_is_gone_and_not_done_is_never_freed() {
    close_against_drop(Flaws::only(Flaw::GoesUndone));
}

fn sender_waits(flaws: Flaws<Flaw>, closes_first: bool) -> Race<usize> {
    ends_race(
        flaws,
        |mut tx, mint| {
            let _ = poll_and_drop(tx.closed());
            block_on(tx.closed());
            assert!(tx.is_closed());
            send(tx, mint)
        },
        move |mut rx| {
            if closes_first {
                rx.close();
            }
            drop(rx);
            0
        },
        1,
    )
}

#[test]
fn loom_a_waiting_sender_learns_that_the_receiver_is_gone() {
    race::<2, _>(|| sender_waits(Flaws::NONE, false));
    race::<2, _>(|| sender_waits(Flaws::NONE, true));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_sender_that_waits_blindly_oversleeps() {
    oversleeping_race::<2, _>(|flawed| {
        sender_waits(Flaws::only_if(flawed, Flaw::WaitsBlindly), false)
    });
}

#[test]
fn loom_both_ends_wait_and_leave() {
    two_ends(
        Flaws::NONE,
        |mut tx, _| {
            let _ = poll_and_drop(tx.closed());
            0
        },
        |mut rx| {
            let _ = poll_and_drop(&mut rx);
            0
        },
        0,
    );
}
