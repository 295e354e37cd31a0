//! Random sequences of operations on a bounded channel, against a model that is a plain queue.
//!
//! One thread polls all the futures by hand, so every outcome is determined, and the model predicts it: what is received, who has room, who has been
//! woken.

use blitz_io::sync::mpmc;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A future that somebody polls, and whether it has been woken since.
struct Pending<F> {
    future: Pin<Box<F>>,
    woken: Arc<Flag>,
}

impl<F: Future> Pending<F> {
    fn new(future: F) -> Self {
        Pending {
            future: Box::pin(future),
            woken: Arc::new(Flag(AtomicBool::new(false))),
        }
    }

    fn poll(&mut self) -> Poll<F::Output> {
        self.woken.0.store(false, Ordering::Relaxed);
        let waker = Waker::from(self.woken.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Clone)]
enum Step {
    TrySend,
    Send,
    PollSend(usize),
    DropSend(usize),
    TryRecv,
    Recv,
    PollRecv(usize),
    DropRecv(usize),
    Close,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::TrySend),
        4 => Just(Step::Send),
        3 => any::<usize>().prop_map(Step::PollSend),
        2 => any::<usize>().prop_map(Step::DropSend),
        4 => Just(Step::TryRecv),
        4 => Just(Step::Recv),
        3 => any::<usize>().prop_map(Step::PollRecv),
        2 => any::<usize>().prop_map(Step::DropRecv),
        1 => Just(Step::Close),
    ]
}

/// The channel as it should be.
struct Model {
    messages: VecDeque<u32>,
    capacity: usize,
    /// Senders that wait: number of their message, and whether room is reserved for them. Oldest first.
    senders: Vec<(u32, bool)>,
    closed: bool,
}

impl Model {
    fn room(&self) -> usize {
        let reserved = self.senders.iter().filter(|(_, granted)| *granted).count();
        self.capacity - self.messages.len() - reserved
    }

    fn someone_waits(&self) -> bool {
        self.senders.iter().any(|(_, granted)| !granted)
    }

    /// Room goes to those who wait, in order.
    fn serve(&mut self) {
        while !self.closed && self.room() > 0 {
            let Some(first) = self.senders.iter_mut().find(|(_, granted)| !granted) else {
                return;
            };
            first.1 = true;
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let message = self.messages.pop_front()?;
        self.serve();
        Some(message)
    }

    /// What a receiver that finds nothing is told.
    fn is_finished(&self) -> bool {
        self.closed && !self.senders.iter().any(|(_, granted)| *granted)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_channel_does_what_a_queue_would(capacity in 1usize..5, steps in proptest::collection::vec(step(), 1..80)) {
        let (sender, receiver) = mpmc::bounded(capacity);
        let mut model = Model { messages: VecDeque::new(), capacity, senders: Vec::new(), closed: false };
        let mut sends: Vec<Pending<_>> = Vec::new();
        let mut recvs: Vec<Pending<_>> = Vec::new();
        let mut number = 0;
        for step in steps {
            number += 1;
            match step {
                Step::TrySend => {
                    let fits = !model.closed && model.room() > 0 && !model.someone_waits();
                    prop_assert_eq!(sender.try_send(number).is_ok(), fits);
                    if fits {
                        model.messages.push_back(number);
                    }
                }
                Step::Send => {
                    let mut send = Pending::new(sender.send(number));
                    let polled = send.poll();
                    if model.closed {
                        prop_assert!(matches!(polled, Poll::Ready(Err(_))));
                    } else if model.room() > 0 && !model.someone_waits() {
                        prop_assert_eq!(polled, Poll::Ready(Ok(())));
                        model.messages.push_back(number);
                    } else {
                        prop_assert!(polled.is_pending());
                        sends.push(send);
                        model.senders.push((number, false));
                    }
                }
                Step::PollSend(_) if sends.is_empty() => {}
                Step::PollSend(index) => {
                    let index = index % sends.len();
                    let (message, granted) = model.senders[index];
                    let polled = sends[index].poll();
                    if model.closed {
                        // Also if it has got room before: that is given back.
                        prop_assert!(matches!(polled, Poll::Ready(Err(_))));
                    } else if granted {
                        prop_assert_eq!(polled, Poll::Ready(Ok(())));
                        model.messages.push_back(message);
                    } else {
                        prop_assert!(polled.is_pending());
                        continue;
                    }
                    sends.remove(index);
                    model.senders.remove(index);
                }
                Step::DropSend(_) if sends.is_empty() => {}
                Step::DropSend(index) => {
                    let index = index % sends.len();
                    drop(sends.remove(index));
                    model.senders.remove(index);
                    model.serve();
                }
                Step::TryRecv => {
                    let received = receiver.try_recv();
                    let finished = model.is_finished();
                    match model.pop() {
                        Some(message) => prop_assert_eq!(received, Ok(message)),
                        None => prop_assert_eq!(received.unwrap_err().is_closed(), finished),
                    }
                }
                Step::Recv => {
                    let mut recv = Pending::new(receiver.recv());
                    let polled = recv.poll();
                    let finished = model.is_finished();
                    match model.pop() {
                        Some(message) => prop_assert_eq!(polled, Poll::Ready(Ok(message))),
                        None if finished => prop_assert!(matches!(polled, Poll::Ready(Err(_)))),
                        None => {
                            prop_assert!(polled.is_pending());
                            recvs.push(recv);
                        }
                    }
                }
                Step::PollRecv(_) if recvs.is_empty() => {}
                Step::PollRecv(index) => {
                    let index = index % recvs.len();
                    let polled = recvs[index].poll();
                    let finished = model.is_finished();
                    match model.pop() {
                        Some(message) => prop_assert_eq!(polled, Poll::Ready(Ok(message))),
                        None if finished => prop_assert!(matches!(polled, Poll::Ready(Err(_)))),
                        None => {
                            prop_assert!(polled.is_pending());
                            continue;
                        }
                    }
                    recvs.remove(index);
                }
                Step::DropRecv(_) if recvs.is_empty() => {}
                Step::DropRecv(index) => {
                    let index = index % recvs.len();
                    drop(recvs.remove(index));
                }
                Step::Close => {
                    prop_assert_eq!(sender.close(), !model.closed);
                    model.closed = true;
                }
            }
            prop_assert_eq!(receiver.len(), model.messages.len());
            // Nobody sleeps who could go on.
            for (send, &(_, granted)) in sends.iter().zip(&model.senders) {
                prop_assert_eq!(send.is_woken(), granted || model.closed);
            }
            let woken = recvs.iter().filter(|recv| recv.is_woken()).count();
            if model.is_finished() {
                prop_assert_eq!(woken, recvs.len());
            } else {
                prop_assert!(woken >= recvs.len().min(model.messages.len()));
            }
        }
    }
}
