//! Channels whose messages all receivers see: `broadcast` and `watch`.

mod common;

use blitz_io::sync::broadcast::error::{RecvError, TryRecvError};
use blitz_io::sync::{broadcast, watch};
use blitz_io::{spawn, task::yield_now};
use common::{run, run_on, runtime, soon};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls `future` again and again in one poll of a task, until the task's budget makes it wait.
fn assert_takes_budget(mut poll_one: impl FnMut(&mut Context<'_>) -> bool + Send + 'static) {
    let spent = run(|| {
        spawn(std::future::poll_fn(move |cx| {
            Poll::Ready((0..1000).any(|_| !poll_one(cx)))
        }))
    });
    assert!(spent.unwrap(), "a task could do this for ever in one poll");
}

#[test]
fn what_is_ready_at_once_takes_a_part_of_the_budget() {
    let (sender, mut receiver) = watch::channel(1);
    assert_takes_budget(move |cx| pin!(receiver.wait_for(|n| *n == 1)).poll(cx).is_ready());
    assert_takes_budget(move |cx| pin!(sender.closed()).poll(cx).is_ready());
    let sender = broadcast::Sender::<u8>::new(1);
    assert_takes_budget(move |cx| pin!(sender.closed()).poll(cx).is_ready());
}

// ---- broadcast ------------------------------------------------------------------------------

#[test]
fn whoever_is_told_that_no_receiver_is_left_finds_the_channel_empty() {
    struct Looks(broadcast::Sender<u8>, Mutex<Option<(usize, usize)>>);
    impl std::task::Wake for Looks {
        fn wake(self: Arc<Self>) {
            *self.1.lock().unwrap() = Some((self.0.receiver_count(), self.0.len()));
        }
    }
    let (sender, receiver) = broadcast::channel(2);
    sender.send(1).unwrap();
    let looks = Arc::new(Looks(sender.clone(), Mutex::new(None)));
    let waker = Waker::from(looks.clone());
    let mut closed = pin!(sender.closed());
    assert!(
        closed
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    drop(receiver);
    assert_eq!(*looks.1.lock().unwrap(), Some((0, 0)));
    assert!(poll(closed).is_ready());
}

#[test]
fn every_receiver_gets_every_message_in_order() {
    run_on(
        || runtime(4),
        || async {
            let (sender, first) = broadcast::channel(4096);
            let mut receivers = vec![first];
            receivers.extend((0..3).map(|_| sender.subscribe()));
            let tasks: Vec<_> = receivers
                .into_iter()
                .map(|mut receiver| {
                    spawn(async move {
                        let mut last = [None; 4];
                        let mut count = 0;
                        while let Ok((producer, number)) = receiver.recv().await {
                            let last: &mut Option<u32> = &mut last[producer];
                            assert_eq!(
                                last.map_or(0, |last| last + 1),
                                number,
                                "lost or out of order"
                            );
                            *last = Some(number);
                            count += 1;
                        }
                        count
                    })
                })
                .collect();
            let threads: Vec<_> = (0..4)
                .map(|producer| {
                    let sender = sender.clone();
                    thread::spawn(move || {
                        for number in 0..1000 {
                            assert_eq!(sender.send((producer, number)).unwrap(), 4);
                        }
                    })
                })
                .collect();
            drop(sender);
            for thread in threads {
                thread.join().unwrap();
            }
            for task in tasks {
                assert_eq!(soon(task).await.unwrap(), 4000);
            }
        },
    );
}

#[test]
fn slow_receivers_are_told_exactly_what_they_missed() {
    run(|| async {
        let (sender, receiver) = broadcast::channel(8);
        let slow: Vec<_> = (0..3)
            .map(|_| {
                let mut receiver = receiver.resubscribe();
                spawn(async move {
                    let (mut next, mut missed_at_all) = (0u64, 0);
                    loop {
                        match receiver.recv().await {
                            Ok(number) => {
                                assert_eq!(number, next);
                                next += 1;
                            }
                            Err(RecvError::Lagged(missed)) => {
                                assert!(missed > 0);
                                next += missed;
                                missed_at_all += missed;
                            }
                            Err(RecvError::Closed) => return (next, missed_at_all),
                        }
                        if next % 3 == 0 {
                            yield_now().await;
                        }
                    }
                })
            })
            .collect();
        drop(receiver);
        for number in 0..20_000u64 {
            sender.send(number).unwrap();
            if number % 5 == 0 {
                yield_now().await;
            }
        }
        drop(sender);
        for task in slow {
            assert_eq!(soon(task).await.unwrap().0, 20_000);
        }
    });
}

#[test]
fn bug_31_a_receiver_that_is_dropped_unsubscribes() {
    let message = Arc::new(());
    let (sender, first) = broadcast::channel(4);
    let second = sender.subscribe();
    assert_eq!(sender.send(message.clone()).unwrap(), 2);
    assert_eq!((sender.len(), sender.is_empty()), (1, false));
    drop(first);
    assert_eq!(sender.receiver_count(), 1);
    assert_eq!(Arc::strong_count(&message), 2, "the second has not read it");
    drop(second);
    assert_eq!(Arc::strong_count(&message), 1, "kept for nobody");
    assert!(sender.is_empty());
    assert!(sender.send(message.clone()).is_err());
    let mut third = sender.subscribe();
    assert_eq!(third.try_recv(), Err(TryRecvError::Empty));
    sender.send(message.clone()).unwrap();
    assert!(third.try_recv().is_ok());
    assert_eq!(Arc::strong_count(&message), 1, "read by all");
}

#[test]
fn a_message_is_dropped_without_a_lock() {
    /// Sends another one when it is dropped.
    #[derive(Clone)]
    struct Echo(Option<broadcast::Sender<Echo>>);
    impl Drop for Echo {
        fn drop(&mut self) {
            if let Some(sender) = self.0.take() {
                let _ = sender.send(Echo(None));
            }
        }
    }
    let (sender, mut receiver) = broadcast::channel(1);
    let _ = sender.send(Echo(Some(sender.clone())));
    // Replaces the first, which sends.
    let _ = sender.send(Echo(None));
    assert!(matches!(receiver.try_recv(), Err(TryRecvError::Lagged(2))));
    assert!(receiver.try_recv().is_ok());
    let _ = sender.send(Echo(Some(sender.clone())));
    drop(receiver);
}

/// A message whose clones take until they are told to end.
struct Endless {
    begun: mpsc::Sender<()>,
    end: Arc<Mutex<mpsc::Receiver<()>>>,
}

impl Clone for Endless {
    fn clone(&self) -> Self {
        self.begun.send(()).unwrap();
        self.end.lock().unwrap().recv().unwrap();
        Endless {
            begun: self.begun.clone(),
            end: Arc::clone(&self.end),
        }
    }
}

#[test]
fn who_waits_for_the_clone_of_another_one_keeps_no_thread_busy() {
    let (begun, begins) = mpsc::channel();
    let (end, ends) = mpsc::channel();
    let (sender, mut first) = broadcast::channel(4);
    let (mut second, mut third) = (sender.subscribe(), sender.subscribe());
    let _fourth = sender.subscribe();
    let end_of = Arc::new(Mutex::new(ends));
    assert!(sender.send(Endless { begun, end: end_of }).is_ok());
    thread::scope(|scope| {
        scope.spawn(move || first.try_recv().is_ok());
        begins.recv().unwrap();
        // The second one waits as a future does.
        let (polled, answers) = mpsc::channel();
        let second = scope.spawn(move || {
            blitz_io::Builder::new_current_thread()
                .build()
                .unwrap()
                .block_on(async {
                    let mut waiting = pin!(second.recv());
                    polled.send(poll(waiting.as_mut()).is_pending()).unwrap();
                    waiting.await.is_ok()
                })
        });
        let answer = answers.recv_timeout(Duration::from_secs(30));
        // The third one sleeps.
        let third = scope.spawn(move || third.try_recv().is_ok());
        for _ in 0..3 {
            end.send(()).unwrap();
        }
        assert_eq!(answer, Ok(true), "a poll does not return");
        assert!(second.join().unwrap() && third.join().unwrap());
    });
}

#[test]
fn a_clone_may_use_the_channel_that_its_message_comes_from() {
    /// Sends a successor while it is cloned, with room for one of them.
    struct Chatty(u32, broadcast::Sender<Chatty>);
    impl Clone for Chatty {
        fn clone(&self) -> Self {
            assert_eq!((self.1.len(), self.1.is_empty()), (1, false));
            let sent = self.1.send(Chatty(self.0 + 1, self.1.clone()));
            assert!(sent.is_ok());
            drop(self.1.subscribe());
            Chatty(self.0, self.1.clone())
        }
    }
    let (sender, mut first) = broadcast::channel(1);
    let mut second = sender.subscribe();
    sender.send(Chatty(1, sender.clone())).ok().unwrap();
    let heard = |receiver: &mut broadcast::Receiver<Chatty>| receiver.try_recv().ok().unwrap().0;
    assert_eq!(heard(&mut first), 1);
    assert!(matches!(second.try_recv(), Err(TryRecvError::Lagged(1))));
    assert_eq!(heard(&mut second), 2);
    assert!(matches!(first.try_recv(), Err(TryRecvError::Lagged(1))));
    drop(second);
    assert_eq!(heard(&mut first), 3, "the last reader needs no clone");
    assert!(sender.is_empty());
}

#[test]
fn nobody_but_the_readers_of_a_message_waits_for_its_clone() {
    /// A clone takes until somebody says so.
    struct Slow(u32, Arc<[std::sync::Barrier; 2]>);
    impl Clone for Slow {
        fn clone(&self) -> Self {
            self.1.iter().for_each(|gate| {
                gate.wait();
            });
            Slow(self.0, Arc::clone(&self.1))
        }
    }
    let gates = Arc::new([(); 2].map(|()| std::sync::Barrier::new(2)));
    let (sender, mut first) = broadcast::channel(1);
    let second = sender.subscribe();
    sender.send(Slow(1, Arc::clone(&gates))).ok().unwrap();
    let clones = thread::spawn(move || (first.try_recv().ok().unwrap().0, first));
    gates[0].wait();
    assert_eq!(sender.len(), 1, "not read yet");
    drop(sender.subscribe());
    sender.send(Slow(2, Arc::clone(&gates))).ok().unwrap();
    drop(second);
    assert_eq!(sender.receiver_count(), 1);
    gates[1].wait();
    let (message, mut first) = clones.join().unwrap();
    assert_eq!(message, 1);
    assert_eq!(first.try_recv().ok().unwrap().0, 2);
}

#[test]
fn a_sender_learns_that_no_receiver_is_left() {
    run(|| async {
        let (sender, receiver) = broadcast::channel::<u8>(1);
        let weak = sender.downgrade();
        let waits = spawn(async move { sender.closed().await });
        yield_now().await;
        drop(receiver);
        soon(waits).await.unwrap();
        assert!(weak.upgrade().is_none());

        let (sender, receiver) = watch::channel(0);
        let waits = spawn(async move {
            sender.closed().await;
            sender.send(1).is_err()
        });
        yield_now().await;
        drop(receiver);
        assert!(soon(waits).await.unwrap());
    });
}

#[test]
fn messages_that_are_not_sync_are_cloned_by_one_thread_at_a_time() {
    use std::cell::Cell;
    /// A clone that would notice another one at the same time.
    struct Alone(Cell<u32>);
    impl Clone for Alone {
        fn clone(&self) -> Self {
            let before = self.0.get();
            self.0.set(before + 1);
            thread::yield_now();
            assert_eq!(self.0.get(), before + 1, "cloned by two at once");
            Alone(Cell::new(0))
        }
    }
    let (sender, first) = broadcast::channel(64);
    let receivers: Vec<_> = (0..3).map(|_| sender.subscribe()).chain([first]).collect();
    let threads: Vec<_> = receivers
        .into_iter()
        .map(|mut receiver| thread::spawn(move || while receiver.blocking_recv().is_ok() {}))
        .collect();
    for _ in 0..50 {
        sender.send(Alone(Cell::new(0))).ok().unwrap();
    }
    drop(sender);
    for thread in threads {
        thread.join().unwrap();
    }
}

#[derive(Debug, Clone)]
enum Step {
    Send,
    Recv(usize),
    Subscribe,
    Drop(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Send),
        5 => any::<usize>().prop_map(Step::Recv),
        1 => Just(Step::Subscribe),
        1 => any::<usize>().prop_map(Step::Drop),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_broadcast_does_what_a_log_would(log_capacity in 0u32..4, steps in proptest::collection::vec(step(), 1..100)) {
        let capacity = 1usize << log_capacity;
        let (sender, receiver) = broadcast::channel(capacity);
        // The model: everything that was ever sent, and how far each receiver is.
        let mut sent = 0usize;
        let mut receivers = vec![(receiver, 0usize)];
        let mut alive: VecDeque<Arc<usize>> = VecDeque::new();
        for step in steps {
            match step {
                Step::Send => {
                    let message = Arc::new(sent);
                    let result = sender.send(message.clone());
                    if receivers.is_empty() {
                        prop_assert!(result.is_err());
                    } else {
                        prop_assert_eq!(result.unwrap(), receivers.len());
                        alive.push_back(message);
                        sent += 1;
                    }
                }
                Step::Recv(_) if receivers.is_empty() => {}
                Step::Recv(index) => {
                    let index = index % receivers.len();
                    let (receiver, next) = &mut receivers[index];
                    prop_assert_eq!(receiver.len(), sent - *next);
                    let received = receiver.try_recv();
                    if *next == sent {
                        prop_assert_eq!(received, Err(TryRecvError::Empty));
                    } else if sent - *next > capacity {
                        let missed = sent - capacity - *next;
                        prop_assert_eq!(received, Err(TryRecvError::Lagged(missed as u64)));
                        *next += missed;
                    } else {
                        prop_assert_eq!(*received.unwrap(), *next);
                        *next += 1;
                    }
                }
                Step::Subscribe => receivers.push((sender.subscribe(), sent)),
                Step::Drop(_) if receivers.is_empty() => {}
                Step::Drop(index) => drop(receivers.remove(index % receivers.len())),
            }
            prop_assert_eq!(sender.receiver_count(), receivers.len());
            // Kept is what somebody has not read, of the last so many.
            let oldest = receivers.iter().map(|(_, next)| *next).min().unwrap_or(sent);
            let kept_from = oldest.max(sent.saturating_sub(capacity));
            prop_assert_eq!(sender.len(), sent - kept_from);
            for message in &alive {
                let kept = **message >= kept_from;
                prop_assert_eq!(Arc::strong_count(message), 1 + usize::from(kept));
            }
        }
    }
}

// ---- watch ----------------------------------------------------------------------------------

#[test]
fn bug_31_a_borrowed_value_is_never_torn() {
    let (sender, receiver) = watch::channel([0u64; 8]);
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let mut receiver = receiver.clone();
            thread::spawn(move || {
                let mut last = 0;
                loop {
                    {
                        let value = receiver.borrow_and_update();
                        assert!(value.iter().all(|&part| part == value[0]), "torn");
                        assert!(value[0] >= last, "back in time");
                        last = value[0];
                    }
                    if receiver.has_changed().is_err() {
                        return *receiver.borrow();
                    }
                }
            })
        })
        .collect();
    drop(receiver);
    for n in 1..=20_000 {
        sender.send([n; 8]).unwrap();
    }
    drop(sender);
    for reader in readers {
        assert_eq!(reader.join().unwrap()[0], 20_000);
    }
}

#[test]
fn receivers_see_the_last_value_and_the_end() {
    run(|| async {
        for _ in 0..50 {
            let (sender, receiver) = watch::channel(0);
            let tasks: Vec<_> = (0..4)
                .map(|_| {
                    let mut receiver = receiver.clone();
                    spawn(async move {
                        let mut last = 0;
                        while receiver.changed().await.is_ok() {
                            let value = *receiver.borrow_and_update();
                            assert!(value > last);
                            last = value;
                        }
                        last
                    })
                })
                .collect();
            drop(receiver);
            for n in 1..=100 {
                sender.send(n).unwrap();
                if n % 7 == 0 {
                    yield_now().await;
                }
            }
            drop(sender);
            for task in tasks {
                assert_eq!(soon(task).await.unwrap(), 100);
            }
        }
    });
}

#[test]
fn a_receiver_knows_what_it_has_seen() {
    let (sender, mut receiver) = watch::channel(1);
    assert!(!receiver.has_changed().unwrap());
    assert!(poll(pin!(receiver.changed())).is_pending());
    sender.send(2).unwrap();
    assert!(receiver.has_changed().unwrap() && receiver.borrow().has_changed());
    assert!(!receiver.clone().borrow_and_update().eq(&1));
    receiver.mark_unchanged();
    assert!(poll(pin!(receiver.changed())).is_pending());
    receiver.mark_changed();
    assert_eq!(poll(pin!(receiver.changed())), Poll::Ready(Ok(())));
    assert!(sender.subscribe().same_channel(&receiver));
    assert_eq!(sender.send_replace(3), 2);
    drop(sender.clone());
    drop(sender);
    // The last value first, then the end.
    assert_eq!(poll(pin!(receiver.changed())), Poll::Ready(Ok(())));
    assert_eq!(*receiver.borrow(), 3);
    assert!(matches!(
        poll(pin!(receiver.changed())),
        Poll::Ready(Err(_))
    ));
}

#[test]
fn a_change_that_panics_leaves_the_channel_usable() {
    let (sender, mut receiver) = watch::channel(1);
    let panics = || sender.send_modify(|_| panic!("half way"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    assert!(!receiver.has_changed().unwrap());
    sender.send(2).unwrap();
    assert_eq!(*receiver.borrow_and_update(), 2);
}
