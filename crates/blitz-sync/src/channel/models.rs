//! Loom models of the queueing channels: senders and receivers that wait, are woken, leave, and close.
//!
//! The shipped [`Core`] runs around the shipped queues. Who waits in these models does not sleep: when the threads are through, whoever is still
//! waiting although it could go on, and has not been woken, would sleep for ever.

use super::core::{Closed, Core, Flaw, Reserve};
use super::handles::Tx;
use super::model::{Flag, Mint, Token};
use super::queue::list::{self, Shared, Single};
use super::queue::locked::{self, Locked};
use super::queue::ring::{self, Ring};
use super::queue::{Limited, Queue};
use crate::primitives::Arc;
use crate::waiters::Node;
use blitz_primitives::flaw::Flaws;
use blitz_primitives::model::{Race, race};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A channel that is not dropped when loom's verdict unwinds.
struct Shore<Q: Queue<Token>>(ManuallyDrop<Arc<Core<Token, Q>>>);

impl<Q: Queue<Token>> Shore<Q> {
    fn new(queue: Q, flaws: Flaws<Flaw>) -> Self {
        Shore(ManuallyDrop::new(Core::with_flaws(queue, flaws)))
    }

    fn leave(self) {
        drop(ManuallyDrop::into_inner(self.0));
    }

    /// # Safety
    /// It does not outlive the channel.
    unsafe fn lent(&self) -> &'static Core<Token, Q> {
        // SAFETY: given by the caller.
        unsafe { &*std::ptr::from_ref::<Core<Token, Q>>(&**self) }
    }

    fn filled(queue: Q, flaws: Flaws<Flaw>, mint: &Mint) -> Self {
        let shore = Self::new(queue, flaws);
        assert!(shore.try_send(mint.token(1)).is_ok());
        shore
    }
}

impl<Q: Queue<Token>> Clone for Shore<Q> {
    fn clone(&self) -> Self {
        Shore(self.0.clone())
    }
}

impl<Q: Queue<Token>> std::ops::Deref for Shore<Q> {
    type Target = Arc<Core<Token, Q>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A receiver that waits, or will.
struct Waiting<Q: Queue<Token>> {
    node: Pin<Box<Node>>,
    flag: std::sync::Arc<Flag>,
    core: Shore<Q>,
    room_made: fn(&Core<Token, Q>),
}

impl<Q: Queue<Token>> Waiting<Q> {
    fn new(core: &Shore<Q>, room_made: fn(&Core<Token, Q>)) -> Self {
        Waiting {
            node: Box::pin(Node::new()),
            flag: Flag::new(),
            core: core.clone(),
            room_made,
        }
    }

    /// `Some(0)`: nothing will come any more.
    fn poll(&mut self) -> Option<u32> {
        let waker = Waker::from(self.flag.clone());
        let mut cx = Context::from_waker(&waker);
        // SAFETY: one node per receiver, which leaves in the end. Channels for a single receiver have one.
        let polled = unsafe {
            self.core
                .poll_recv(self.node.as_ref(), self.room_made, &mut cx)
        };
        match polled {
            Poll::Ready(message) => Some(message.map_or(0, |token| token.0)),
            Poll::Pending => None,
        }
    }

    /// It waits for something that is there.
    fn assert_woken(&self) {
        assert!(self.flag.is_set(), "sleeps for ever");
    }

    fn leave(self) {
        self.core.stop_waiting(self.node.as_ref());
        self.core.leave();
    }
}

/// A sender that waits for room, or will.
struct Sending<Q: Limited<Token> + 'static> {
    reserve: ManuallyDrop<Pin<Box<Reserve<'static, Token, Q>>>>,
    flag: std::sync::Arc<Flag>,
    core: Shore<Q>,
}

impl<Q: Limited<Token> + 'static> Sending<Q> {
    fn new(core: &Shore<Q>) -> Self {
        let core = core.clone();
        // SAFETY: whoever has the future has the channel, and drops the future first.
        let lent = unsafe { core.lent() };
        Sending {
            reserve: ManuallyDrop::new(Box::pin(lent.reserve(1))),
            flag: Flag::new(),
            core,
        }
    }

    /// One that waits.
    fn waiting(core: &Shore<Q>) -> Self {
        let mut sending = Self::new(core);
        assert!(sending.poll().is_pending());
        sending
    }

    fn poll(&mut self) -> Poll<Result<(), Closed>> {
        let waker = Waker::from(self.flag.clone());
        self.reserve.as_mut().poll(&mut Context::from_waker(&waker))
    }

    fn assert_woken(&self) {
        assert!(self.flag.is_set(), "sleeps for ever");
    }

    fn leave(self) {
        drop(ManuallyDrop::into_inner(self.reserve));
        self.core.leave();
    }
}

/// What a thread of a model hands to the verdict.
enum Left<Q: Queue<Token>> {
    Nothing,
    /// The message, if it was refused.
    Refused(bool),
    Receiver(Waiting<Q>, Option<u32>),
}

// ---- receivers that wait --------------------------------------------------------------------

/// One sends, one waits.
fn one_waits<Q: Queue<Token> + 'static>(make: impl Fn() -> Q + Copy + Send + Sync + 'static) {
    race::<2, _>(move || {
        let mint = Mint::new();
        let core = Shore::new(make(), Flaws::NONE);
        let mut receiver = Waiting::new(&core, |_| {});
        let minted = mint.clone();
        Race::new(move |mut results: Vec<Left<Q>>| {
            let Some(Left::Receiver(mut receiver, polled)) = results.pop() else {
                unreachable!()
            };
            if polled.is_none() {
                receiver.assert_woken();
                assert_eq!(receiver.poll(), Some(1));
            }
            receiver.leave();
            mint.assert_empty();
        })
        .thread(move || {
            assert!(core.try_send(minted.token(1)).is_ok());
            core.leave();
            Left::Nothing
        })
        .thread(move || {
            let polled = receiver.poll();
            Left::Receiver(receiver, polled)
        })
    });
}

#[test]
fn loom_a_waiting_receiver_is_woken_by_a_message() {
    one_waits(|| Ring::new(1));
    one_waits(|| Locked::new(1));
    one_waits(Single::new);
    one_waits(Shared::new);
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_bug_28_a_receiver_that_does_not_look_again_oversleeps() {
    one_waits(|| Ring::with_flaws(1, Flaws::only(ring::Flaw::ReceiverWaitsBlindly)));
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_bug_28_a_receiver_of_a_locked_queue_that_does_not_look_again_oversleeps() {
    one_waits(|| Locked::with_flaws(1, Flaws::only(locked::Flaw::ReceiverWaitsBlindly)));
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_bug_28_a_receiver_of_a_list_that_does_not_look_again_oversleeps() {
    one_waits(|| Single::with_flaws(Flaws::only(list::Flaw::ReceiverWaitsBlindly)));
}

/// Two wait, the first of them goes away, or looks once more, while a message is sent.
fn first_in_line_leaves(flaws: Flaws<Flaw>, looks: bool) {
    race::<2, _>(move || {
        let mint = Mint::new();
        let core = Shore::new(Ring::new(1), flaws);
        let (mut first, mut second) = (Waiting::new(&core, |_| {}), Waiting::new(&core, |_| {}));
        assert!(first.poll().is_none() && second.poll().is_none());
        let minted = mint.clone();
        Race::new(move |results: Vec<Option<u32>>| {
            if results[1].is_none() {
                second.assert_woken();
                assert_eq!(second.poll(), Some(1));
            }
            second.leave();
            mint.assert_empty();
        })
        .thread(move || {
            assert!(core.try_send(minted.token(1)).is_ok());
            core.leave();
            None
        })
        .thread(move || {
            let polled = if looks { first.poll() } else { None };
            first.leave();
            polled
        })
    });
}

#[test]
fn loom_bug_29b_a_wake_for_a_dropped_receiver_goes_to_the_next() {
    first_in_line_leaves(Flaws::NONE, false);
    first_in_line_leaves(Flaws::NONE, true);
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_bug_29b_a_dropped_receiver_that_keeps_its_wake_leaves_a_message_lying() {
    first_in_line_leaves(Flaws::only(Flaw::KeepsTheWake), false);
}

// ---- closing --------------------------------------------------------------------------------

/// The last sender sends and is dropped; a receiver gets the message and the news.
fn the_end<Q: Queue<Token> + 'static>(
    make: impl Fn() -> Q + Copy + Send + Sync + 'static,
    flaws: Flaws<Flaw>,
) {
    race::<2, _>(move || {
        let core = Shore::new(make(), flaws);
        let mut receiver = Waiting::new(&core, |_| {});
        let sender = ManuallyDrop::new(Tx::new(ManuallyDrop::into_inner(core.0)));
        Race::new(move |mut results: Vec<Left<Q>>| {
            let Some(Left::Receiver(mut receiver, polled)) = results.pop() else {
                unreachable!()
            };
            if polled.is_none() {
                receiver.assert_woken();
                assert_eq!(receiver.poll(), Some(0));
            }
            receiver.leave();
        })
        .thread(move || {
            drop(ManuallyDrop::into_inner(sender));
            Left::Nothing
        })
        .thread(move || {
            let polled = receiver.poll();
            Left::Receiver(receiver, polled)
        })
    });
}

#[test]
fn loom_a_receiver_learns_that_the_last_sender_is_gone() {
    the_end(|| Ring::new(1), Flaws::NONE);
    the_end(|| Locked::new(1), Flaws::NONE);
    the_end(Single::new, Flaws::NONE);
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_a_silent_end_leaves_receivers_asleep() {
    the_end(|| Ring::new(1), Flaws::only(Flaw::ClosesSilently));
}

/// A message is either received or comes back, though the receiver closes meanwhile; who watches for the end learns of it.
fn close_against_send<Q: Queue<Token> + 'static>(
    make: impl Fn() -> Q + Copy + Send + Sync + 'static,
) {
    race::<2, _>(move || {
        let mint = Mint::new();
        let core = Shore::new(make(), Flaws::NONE);
        let mut receiver = Waiting::new(&core, |_| {});
        let minted = mint.clone();
        Race::new(move |results: Vec<Left<Q>>| {
            let (mut received, mut refused) = (false, false);
            for left in results {
                match left {
                    Left::Refused(back) => refused = back,
                    Left::Receiver(receiver, polled) => {
                        received = polled.expect("closed") == 1;
                        receiver.leave();
                    }
                    _ => {}
                }
            }
            assert!(received != refused, "lost, or received and refused");
            mint.assert_empty();
        })
        .thread(move || {
            let refused = core.try_send(minted.token(1)).is_err();
            core.leave();
            Left::Refused(refused)
        })
        .thread(move || {
            receiver.core.close();
            let polled = receiver.poll();
            Left::Receiver(receiver, polled)
        })
    });
}

#[test]
fn loom_a_message_is_received_or_refused_by_a_closing_receiver() {
    close_against_send(|| Ring::new(1));
    close_against_send(|| Locked::new(1));
    close_against_send(Single::new);
}

#[test]
fn loom_who_watches_for_the_end_learns_of_it() {
    race::<2, _>(|| {
        let core = Shore::new(Ring::new(1), Flaws::NONE);
        // SAFETY: dropped in the verdict, before the channel.
        let mut end = Box::pin(unsafe { core.lent() }.closed());
        let closer = core.clone();
        let flag = Flag::new();
        let waker = Waker::from(flag.clone());
        Race::new(move |mut results: Vec<Option<_>>| {
            let (end, polled): (_, Poll<()>) = results.pop().flatten().unwrap();
            let woken = flag.is_set();
            assert!(polled.is_ready() || woken, "sleeps for ever");
            drop::<Pin<Box<_>>>(end);
            core.leave();
        })
        .thread(move || {
            closer.close();
            closer.leave();
            None
        })
        .thread(move || {
            let polled = end.as_mut().poll(&mut Context::from_waker(&waker));
            Some((end, polled))
        })
    });
}

// ---- senders that wait ----------------------------------------------------------------------

/// The channel is full; a sender comes while the receiver takes the message.
fn back_pressure<Q: Limited<Token> + 'static>(make: impl Fn() -> Q + Copy + Send + Sync + 'static) {
    race::<2, _>(move || {
        let mint = Mint::new();
        let core = Shore::filled(make(), Flaws::NONE, &mint);
        let mut receiver = Waiting::new(&core, Core::serve_senders);
        let mut sender = Sending::new(&core);
        Race::new(
            move |mut results: Vec<Option<(Sending<Q>, Poll<Result<(), Closed>>)>>| {
                let (mut sender, mut polled) = results.pop().flatten().expect("the sender's");
                if polled.is_pending() {
                    sender.assert_woken();
                    polled = sender.poll();
                }
                assert_eq!(polled, Poll::Ready(Ok(())));
                core.send_reserved(mint.token(2));
                let mut receiver = Waiting::new(&core, Core::serve_senders);
                assert_eq!(receiver.poll(), Some(2));
                receiver.leave();
                sender.leave();
                core.leave();
                mint.assert_empty();
            },
        )
        .thread(move || {
            assert_eq!(receiver.poll(), Some(1));
            receiver.leave();
            None
        })
        .thread(move || {
            let polled = sender.poll();
            Some((sender, polled))
        })
    });
}

#[test]
fn loom_bug_26_a_message_that_had_to_wait_is_received() {
    back_pressure(|| Ring::new(1));
    back_pressure(|| Locked::new(1));
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_bug_28_a_sender_that_announces_itself_too_late_oversleeps() {
    back_pressure(|| Ring::with_flaws(1, Flaws::only(ring::Flaw::SenderWaitsBlindly)));
}

/// Two wait for room; the first one goes away while room is handed to it.
fn waiting_sender_leaves<Q: Limited<Token> + 'static>(
    make: impl Fn() -> Q + Copy + Send + Sync + 'static,
    flaws: Flaws<Flaw>,
) {
    race::<2, _>(move || {
        let mint = Mint::new();
        let core = Shore::filled(make(), flaws, &mint);
        let mut receiver = Waiting::new(&core, Core::serve_senders);
        let (first, mut second) = (Sending::waiting(&core), Sending::waiting(&core));
        Race::new(move |_: Vec<()>| {
            second.assert_woken();
            assert_eq!(second.poll(), Poll::Ready(Ok(())));
            assert_eq!(core.queue.room(), 0);
            core.release(1);
            assert_eq!(core.queue.room(), 1);
            second.leave();
            core.leave();
            mint.assert_empty();
        })
        .thread(move || {
            assert_eq!(receiver.poll(), Some(1));
            receiver.leave();
        })
        .thread(move || first.leave())
    });
}

#[test]
fn loom_bug_29b_room_for_a_dropped_sender_goes_to_the_next() {
    waiting_sender_leaves(|| Ring::new(1), Flaws::NONE);
    waiting_sender_leaves(|| Locked::new(1), Flaws::NONE);
}

#[test]
#[should_panic(expected = "sleeps for ever")]
fn loom_bug_29b_a_dropped_sender_that_keeps_its_room_blocks_the_next() {
    waiting_sender_leaves(|| Ring::new(1), Flaws::only(Flaw::KeepsTheRoom));
}

/// All room is reserved, a sender waits. The room is given back while the channel is closed: the sender gets it or the news.
fn end_or_room<Q: Limited<Token> + 'static>(make: impl Fn() -> Q + Copy + Send + Sync + 'static) {
    race::<2, _>(move || {
        let core = Shore::new(make(), Flaws::NONE);
        assert!(core.queue.reserve(1).is_ok());
        let mut sender = Sending::waiting(&core);
        let (holder, closer) = (core.clone(), core.clone());
        Race::new(move |_: Vec<()>| {
            sender.assert_woken();
            match sender.poll() {
                Poll::Ready(Ok(())) => core.release(1),
                Poll::Ready(Err(Closed)) => {}
                Poll::Pending => panic!("woken for nothing"),
            }
            let mut receiver = Waiting::new(&core, Core::serve_senders);
            assert_eq!(receiver.poll(), Some(0), "something is still reserved");
            receiver.leave();
            sender.leave();
            core.leave();
        })
        .thread(move || {
            holder.release(1);
            holder.leave();
        })
        .thread(move || {
            closer.close();
            closer.leave();
        })
    });
}

#[test]
fn loom_a_sender_that_waits_learns_of_the_end_or_gets_room() {
    end_or_room(|| Ring::new(1));
    end_or_room(|| Locked::new(1));
}

/// The last message into a closed channel, or the news that none comes, reaches all who wait.
fn last_message<Q: Limited<Token> + 'static>(make: impl Fn() -> Q + Copy + Send + Sync + 'static) {
    for sends in [true, false] {
        race::<2, _>(move || {
            let mint = Mint::new();
            let core = Shore::new(make(), Flaws::NONE);
            assert!(core.queue.reserve(1).is_ok());
            let make = || Waiting::new(&core, Core::serve_senders);
            let mut receivers = [make(), make()];
            for receiver in &mut receivers {
                assert!(receiver.poll().is_none());
            }
            let (holder, closer, minted) = (core.clone(), core, mint.clone());
            Race::new(move |_: Vec<()>| {
                let mut sum = 0;
                for mut receiver in receivers {
                    receiver.assert_woken();
                    sum += receiver.poll().expect("nothing more comes");
                    receiver.leave();
                }
                assert_eq!(sum, u32::from(sends));
                mint.assert_empty();
            })
            .thread(move || {
                if sends {
                    holder.send_reserved(minted.token(1));
                } else {
                    holder.release(1);
                }
                holder.leave();
            })
            .thread(move || {
                closer.close();
                closer.leave();
            })
        });
    }
}

#[test]
fn loom_the_last_message_wakes_everybody() {
    last_message(|| Ring::new(1));
    last_message(|| Locked::new(1));
}

#[test]
#[should_panic(expected = "nothing more comes")]
fn loom_room_that_is_forgotten_ends_a_channel_before_its_last_message() {
    last_message(|| Locked::with_flaws(1, Flaws::only(locked::Flaw::ForgetsReserved)));
}
