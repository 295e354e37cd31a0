//! Loom models of a barrier.

use super::*;
use crate::modelling::{block_on, poll_once};
use crate::primitives::{AtomicBool, Ordering};
use blitz_primitives::model::{Race, race};
use std::pin::pin;
use std::rc::Rc;

#[test]
fn loom_two_tasks_wait_for_each_other_round_after_round() {
    race::<2, _>(|| {
        let one = Rc::new(Barrier::new(2));
        let two = one.clone();
        let rounds = |barrier: Rc<Barrier>| move || [(); 2].map(|()| block_on(barrier.wait()).0);
        Race::new(|leads: Vec<[bool; 2]>| {
            for round in 0..2 {
                assert!(leads[0][round] != leads[1][round], "one leader in a round");
            }
        })
        .thread(rounds(one))
        .thread(rounds(two))
    });
}

/// A task that waits goes away while another one comes.
fn gone_while_another_comes(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let barrier = Rc::new(Barrier {
            flaws,
            ..Barrier::new(2)
        });
        // SAFETY: whoever has one of the futures has the `Rc`.
        let lent = unsafe { &*Rc::as_ptr(&barrier) };
        let mut leaver = Box::pin(lent.wait());
        assert!(poll_once(leaver.as_mut()).is_pending());
        let mut comer = Box::pin(lent.wait());
        let gone = Rc::new(AtomicBool::new(false));
        let going = gone.clone();
        Race::new(move |mut came: Vec<Option<_>>| {
            let (mut comer, first) = came.pop().unwrap().unwrap();
            let mut next = Box::pin(barrier.wait());
            let second = poll_once(next.as_mut());
            if first == Poll::Ready(BarrierWaitResult(true)) {
                // That round is over, and `next` is the first of another.
                assert_eq!(second, Poll::Pending, "one too many was counted");
                let third = poll_once(pin!(barrier.wait()));
                assert!(third.is_ready(), "the next round has lost one");
            } else {
                assert_eq!(second, Poll::Ready(BarrierWaitResult(true)));
                assert_eq!(
                    poll_once(Pin::as_mut(&mut comer)),
                    Poll::Ready(BarrierWaitResult(false))
                );
            }
        })
        .thread(move || {
            drop(leaver);
            going.store(true, Ordering::Release);
            None
        })
        .thread(move || {
            let alone = gone.load(Ordering::Acquire);
            let polled = poll_once(comer.as_mut());
            assert!(!alone || polled.is_pending(), "somebody else was counted");
            Some((comer, polled))
        })
    });
}

#[test]
fn loom_a_task_that_goes_away_does_not_count() {
    gone_while_another_comes(Flaws::NONE);
}

#[test]
#[should_panic(expected = "somebody else was counted")]
fn loom_a_task_that_is_still_counted_lets_others_through_too_early() {
    gone_while_another_comes(Flaws::only(Flaw::CountsThoseWhoLeft));
}

#[test]
#[should_panic(expected = "the next round has lost one")]
fn loom_a_task_of_a_complete_round_is_not_discounted_from_the_next() {
    gone_while_another_comes(Flaws::only(Flaw::DiscountsTwice));
}
