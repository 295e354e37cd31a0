//! Channels with a queue: every message once, in the order of its sender, whatever waits, leaves or closes.

mod common;

use blitz_io::sync::{mpmc, mpsc};
use blitz_io::{spawn, task::yield_now};
use common::{run, run_on, runtime, soon};
use std::collections::HashSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

const PRODUCERS: u64 = 4;

/// What a message says: who sent it, and which of its messages it is.
type Message = (u64, u64);

/// Checks that every message came once, and that each of `streams` (one per receiver) has the messages of a producer in order.
fn check(streams: Vec<Vec<Message>>, per_producer: u64) {
    let mut seen = HashSet::new();
    for stream in &streams {
        let mut last = [None; PRODUCERS as usize];
        for &(producer, number) in stream {
            assert!(seen.insert((producer, number)), "received twice");
            let last = &mut last[producer as usize];
            assert!(last.is_none_or(|last| last < number), "out of order");
            *last = Some(number);
        }
    }
    assert_eq!(seen.len() as u64, PRODUCERS * per_producer, "lost");
}

#[test]
fn bug_26_messages_that_wait_for_room_are_received() {
    for capacity in [1, 2, 3, 100] {
        run(move || async move {
            let (sender, mut receiver) = mpsc::channel(capacity);
            let mut tasks = Vec::new();
            for producer in 0..PRODUCERS {
                let sender = sender.clone();
                tasks.push(spawn(async move {
                    for number in 0..1000 {
                        sender.send((producer, number)).await.unwrap();
                    }
                    thread::current().id()
                }));
            }
            drop(sender);
            let mut received = Vec::new();
            while let Some(message) = soon(receiver.recv()).await {
                received.push(message);
            }
            check(vec![received], 1000);
        });
    }
}

#[test]
fn threads_send_and_receive_each_message_once() {
    for capacity in [Some(1), Some(3), Some(64), None] {
        let (sender, receiver) = match capacity {
            Some(capacity) => mpmc::bounded(capacity),
            None => mpmc::unbounded(),
        };
        let senders: Vec<_> = (0..PRODUCERS)
            .map(|producer| {
                let sender = sender.clone();
                thread::spawn(move || {
                    for number in 0..3000 {
                        sender.send_blocking((producer, number)).unwrap();
                    }
                })
            })
            .collect();
        let receivers: Vec<_> = (0..4)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || {
                    std::iter::from_fn(|| receiver.recv_blocking().ok()).collect::<Vec<_>>()
                })
            })
            .collect();
        drop((sender, receiver));
        for thread in senders {
            thread.join().unwrap();
        }
        let streams = receivers.into_iter().map(|thread| thread.join().unwrap());
        check(streams.collect(), 3000);
    }
}

#[test]
fn tasks_on_several_workers_share_the_messages() {
    run_on(
        || runtime(4),
        || async {
            for capacity in [Some(2), Some(1000), None] {
                let (sender, receiver) = match capacity {
                    Some(capacity) => mpmc::bounded(capacity),
                    None => mpmc::unbounded(),
                };
                let senders: Vec<_> = (0..PRODUCERS)
                    .map(|producer| {
                        let sender = sender.clone();
                        spawn(async move {
                            for number in 0..2500 {
                                sender.send((producer, number)).await.unwrap();
                            }
                        })
                    })
                    .collect();
                let receivers: Vec<_> = (0..4)
                    .map(|_| {
                        let receiver = receiver.clone();
                        spawn(async move {
                            let mut stream = Vec::new();
                            while let Ok(message) = receiver.recv().await {
                                stream.push(message);
                            }
                            stream
                        })
                    })
                    .collect();
                drop((sender, receiver));
                for task in senders {
                    soon(task).await.unwrap();
                }
                let mut streams = Vec::new();
                for task in receivers {
                    streams.push(soon(task).await.unwrap());
                }
                check(streams, 2500);
            }
        },
    );
}

#[test]
fn an_unbounded_channel_hands_over_messages_of_threads_to_a_task() {
    run(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let threads: Vec<_> = (0..PRODUCERS)
            .map(|producer| {
                let sender = sender.clone();
                thread::spawn(move || {
                    for number in 0..5000 {
                        sender.send((producer, number)).unwrap();
                    }
                })
            })
            .collect();
        drop(sender);
        let mut received = Vec::new();
        while soon(receiver.recv_many(&mut received, 100)).await > 0 {}
        check(vec![received], 5000);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn bug_31_receivers_that_give_up_lose_nothing() {
    run(|| async {
        let (sender, receiver) = mpmc::bounded(2);
        let quitters: Vec<_> = (0..4)
            .map(|_| {
                let receiver = receiver.clone();
                spawn(async move {
                    let mut stream = Vec::new();
                    loop {
                        // Polled once or twice and dropped, over and over; sometimes woken when it is.
                        let mut recv = Box::pin(receiver.recv());
                        let mut polls = 0;
                        let outcome = std::future::poll_fn(|cx| match recv.as_mut().poll(cx) {
                            Poll::Ready(message) => Poll::Ready(Some(message)),
                            Poll::Pending if polls == 1 => Poll::Ready(None),
                            Poll::Pending => {
                                polls += 1;
                                cx.waker().wake_by_ref();
                                Poll::Pending
                            }
                        })
                        .await;
                        drop(recv);
                        match outcome {
                            Some(Ok(message)) => stream.push(message),
                            Some(Err(_)) => return stream,
                            None => yield_now().await,
                        }
                    }
                })
            })
            .collect();
        // One that is patient: it must not be left asleep.
        let patient = spawn(async move {
            let mut stream = Vec::new();
            while let Ok(message) = receiver.recv().await {
                stream.push(message);
            }
            stream
        });
        for number in 0..1000 {
            for producer in 0..PRODUCERS {
                soon(sender.send((producer, number))).await.unwrap();
            }
        }
        drop(sender);
        let mut streams = vec![soon(patient).await.unwrap()];
        for quitter in quitters {
            streams.push(soon(quitter).await.unwrap());
        }
        check(streams, 1000);
    });
}

#[test]
fn bug_29b_senders_that_give_up_take_no_room_with_them() {
    run(|| async {
        let (sender, mut receiver) = mpsc::channel(1);
        let quitters: Vec<_> = (0..4)
            .map(|_| {
                let sender = sender.clone();
                spawn(async move {
                    for _ in 0..500 {
                        let mut send = Box::pin(sender.reserve());
                        let once = std::future::poll_fn(|cx| Poll::Ready(send.as_mut().poll(cx)));
                        drop(once.await);
                        yield_now().await;
                    }
                })
            })
            .collect();
        let patient = spawn(async move {
            for number in 0..500 {
                sender.send(number).await.unwrap();
            }
        });
        for number in 0..500 {
            assert_eq!(soon(receiver.recv()).await, Some(number));
        }
        for task in quitters.into_iter().chain([patient]) {
            soon(task).await.unwrap();
        }
        assert_eq!(receiver.capacity(), 1);
        assert_eq!(soon(receiver.recv()).await, None);
    });
}

// ---- one thread, step by step ---------------------------------------------------------------

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn senders_get_room_in_the_order_in_which_they_came() {
    let (sender, mut receiver) = mpsc::channel(1);
    sender.try_send(0).unwrap();
    let mut waiting: Vec<_> = (1..4).map(|n| Box::pin(sender.send(n))).collect();
    for send in &mut waiting {
        assert!(poll(send.as_mut()).is_pending());
    }
    assert_eq!(sender.capacity(), 0);
    for expected in 0..4 {
        assert_eq!(receiver.try_recv(), Ok(expected));
        // Nobody jumps the queue.
        assert_eq!(sender.try_send(9).is_ok(), expected == 3);
        for (index, send) in waiting.iter_mut().enumerate() {
            if index == expected {
                assert_eq!(poll(send.as_mut()), Poll::Ready(Ok(())));
            } else if index > expected {
                assert!(poll(send.as_mut()).is_pending());
            }
        }
    }
}

#[test]
fn bug_27_a_waker_that_comes_back_to_the_channel_does_not_deadlock() {
    struct Sends(mpmc::Sender<u32>, mpmc::Receiver<u32>);
    impl Wake for Sends {
        fn wake(self: Arc<Self>) {
            let _ = self.0.try_send(7);
            let _ = self.1.try_recv();
            let mut recv = pin!(self.1.recv());
            let _ = poll(recv.as_mut());
        }
    }
    let (sender, receiver) = mpmc::bounded(1);
    let waker = Waker::from(Arc::new(Sends(sender.clone(), receiver.clone())));
    let mut cx = Context::from_waker(&waker);
    let mut recv = pin!(receiver.recv());
    assert!(recv.as_mut().poll(&mut cx).is_pending());
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    let mut send = pin!(sender.send(3));
    assert!(send.as_mut().poll(&mut cx).is_pending());
    receiver.try_recv().unwrap();
    sender.close();
}

#[test]
fn room_can_be_reserved_and_given_back() {
    let (sender, mut receiver) = mpsc::channel(3);
    let mut permits = sender.try_reserve_many(3).unwrap();
    assert_eq!((sender.capacity(), permits.len()), (0, 3));
    assert_eq!(sender.try_send(0), Err(mpsc::error::TrySendError::Full(0)));
    permits.next().unwrap().send(1);
    drop(permits);
    assert_eq!((sender.capacity(), receiver.len()), (2, 1));
    let owned = sender.clone().try_reserve_owned().unwrap();
    assert!(owned.same_channel_as_sender(&sender));
    let again = owned.send(2);
    drop(again.try_reserve_owned().unwrap().release());
    assert_eq!(sender.capacity(), 1);
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Ok(2));
    assert!(sender.try_reserve_many(4).is_err());
    // A large wish waits for all of it, and nobody overtakes it.
    sender.try_send(3).unwrap();
    let mut many = Box::pin(sender.reserve_many(3));
    assert!(poll(many.as_mut()).is_pending());
    assert!(sender.try_reserve().is_err());
    assert_eq!(receiver.try_recv(), Ok(3));
    let Poll::Ready(Ok(permits)) = poll(many.as_mut()) else {
        panic!("there is room");
    };
    for (permit, n) in permits.zip(4..) {
        permit.send(n);
    }
    assert_eq!(receiver.len(), 3);
}

#[test]
fn a_closed_channel_waits_for_reserved_room() {
    let (sender, mut receiver) = mpsc::channel(2);
    let first = sender.try_reserve().unwrap();
    let second = sender.try_reserve().unwrap();
    receiver.close();
    assert!(sender.is_closed() && sender.try_send(0).is_err());
    {
        let mut recv = pin!(receiver.recv());
        assert!(poll(recv.as_mut()).is_pending());
        first.send(1);
        assert_eq!(poll(recv.as_mut()), Poll::Ready(Some(1)));
    }
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(count.clone());
    assert!(
        receiver
            .poll_recv(&mut Context::from_waker(&waker))
            .is_pending()
    );
    drop(second);
    assert_eq!(
        count.0.load(Ordering::Relaxed),
        1,
        "not told that nothing comes"
    );
    assert_eq!(poll(pin!(receiver.recv()).as_mut()), Poll::Ready(None));
}

#[test]
fn room_that_was_handed_over_before_the_close_is_given_back_after_it() {
    let (sender, mut receiver) = mpsc::channel::<u8>(1);
    let permit = sender.try_reserve().unwrap();
    let mut reserve = Box::pin(sender.reserve());
    assert!(poll(reserve.as_mut()).is_pending());
    drop(permit);
    receiver.close();
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(count.clone());
    let mut cx = Context::from_waker(&waker);
    assert!(receiver.poll_recv(&mut cx).is_pending());
    assert!(matches!(poll(reserve.as_mut()), Poll::Ready(Err(_))));
    assert_eq!(
        count.0.load(Ordering::Relaxed),
        1,
        "not told that nothing comes"
    );
    assert_eq!(receiver.poll_recv(&mut cx), Poll::Ready(None));
}

#[test]
fn a_wish_for_much_room_takes_what_there_is_at_once() {
    let (sender, mut receiver) = mpsc::channel::<u8>(3);
    let permit = sender.try_reserve().unwrap();
    let mut many = Box::pin(sender.reserve_many(3));
    assert!(poll(many.as_mut()).is_pending());
    receiver.close();
    drop(permit);
    // Two places are still taken: whoever has them has to say that it does not use them.
    assert!(poll(pin!(receiver.recv()).as_mut()).is_pending());
    drop(many);
    assert_eq!(poll(pin!(receiver.recv()).as_mut()), Poll::Ready(None));
    // The same without a close: the room goes to those behind.
    let (sender, _receiver) = mpsc::channel::<u8>(3);
    let permit = sender.try_reserve().unwrap();
    let mut many = Box::pin(sender.reserve_many(3));
    assert!(poll(many.as_mut()).is_pending());
    let mut behind = Box::pin(sender.reserve_many(2));
    assert!(poll(behind.as_mut()).is_pending());
    drop(many);
    assert!(matches!(poll(behind.as_mut()), Poll::Ready(Ok(_))));
    drop(permit);
}

#[test]
fn a_message_whose_destructor_panics_does_not_keep_the_others() {
    struct Angry<'a>(&'a AtomicUsize, bool);
    impl Drop for Angry<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            assert!(!self.1, "as it should");
        }
    }
    let dropped = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::unbounded_channel();
    for angry in [true, false, false] {
        assert!(sender.send(Angry(&dropped, angry)).is_ok());
    }
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(receiver)));
    assert!(result.is_err());
    assert_eq!(dropped.load(Ordering::Relaxed), 3);
}

#[test]
fn either_side_closes_and_messages_are_dropped_with_the_receiver() {
    let message = Arc::new(());
    for capacity in [Some(4), None] {
        let (sender, receiver) = match capacity {
            Some(capacity) => mpmc::bounded(capacity),
            None => mpmc::unbounded(),
        };
        for _ in 0..3 {
            sender.try_send(message.clone()).unwrap();
        }
        drop(receiver.clone());
        assert!(!sender.is_closed());
        let weak = receiver.downgrade();
        drop(receiver);
        assert!(sender.is_closed() && weak.upgrade().is_none());
        assert!(sender.try_send(message.clone()).unwrap_err().is_closed());
        assert_eq!(Arc::strong_count(&message), 1, "kept for nobody");
    }
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let weak = sender.downgrade();
    assert!(weak.upgrade().unwrap().same_channel(&sender));
    sender.send(1).unwrap();
    assert_eq!(
        (receiver.sender_strong_count(), receiver.sender_weak_count()),
        (1, 1)
    );
    drop(sender);
    assert!(weak.upgrade().is_none());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(
        receiver.try_recv(),
        Err(mpsc::error::TryRecvError::Disconnected)
    );
}

#[test]
#[should_panic(expected = "between 1 and")]
fn a_channel_without_room_is_refused() {
    let _ = mpsc::channel::<u8>(0);
}

#[test]
fn bug_32_positions_wrap_around_any_capacity() {
    for capacity in 1..=17 {
        let (sender, mut receiver) = mpsc::channel(capacity);
        for round in 0..200 {
            for n in 0..capacity {
                sender.try_send((round, n)).unwrap();
                assert_eq!(receiver.len(), n + 1);
            }
            assert!(sender.try_send((0, 0)).is_err());
            for n in 0..capacity {
                assert_eq!(receiver.try_recv(), Ok((round, n)));
            }
            assert!(receiver.is_empty() && receiver.try_recv().is_err());
            // Shift the place where it wraps.
            sender.try_send((round, 0)).unwrap();
            receiver.try_recv().unwrap();
        }
    }
}

#[test]
fn a_task_that_receives_in_a_loop_lets_others_run() {
    let mut builder = blitz_io::Builder::new_current_thread();
    builder.build().unwrap().block_on(async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let other = spawn(async {});
        let mut rounds = 0u64;
        while !other.is_finished() {
            sender.send(()).unwrap();
            receiver.recv().await.unwrap();
            rounds += 1;
            assert!(rounds < 1_000_000, "the other task starves");
        }
    });
}
