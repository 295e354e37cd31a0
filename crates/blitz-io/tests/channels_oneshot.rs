//! Oneshot channels: one message, once, whatever the two ends do.

mod common;

use blitz_io::sync::oneshot::{self, error::TryRecvError};
use common::{run, soon};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counting() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    (count, waker)
}

#[test]
fn a_message_is_received_once() {
    let (sender, mut receiver) = oneshot::channel();
    assert!(receiver.is_empty() && !receiver.is_terminated());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    sender.send(vec![7]).unwrap();
    assert!(!receiver.is_empty());
    assert_eq!(receiver.try_recv(), Ok(vec![7]));
    assert!(receiver.is_terminated());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
}

#[test]
fn a_receiver_that_was_told_of_its_own_close_is_through() {
    for by_poll in [true, false] {
        let (sender, mut receiver) = oneshot::channel::<u8>();
        receiver.close();
        assert!(!receiver.is_terminated(), "not told yet");
        if by_poll {
            let mut cx = Context::from_waker(Waker::noop());
            assert!(pin!(&mut receiver).poll(&mut cx).is_ready());
        } else {
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
        }
        assert!(receiver.is_terminated());
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(sender.send(1), Err(1));
    }
}

#[test]
fn the_last_waker_is_the_one_that_is_woken() {
    let (sender, receiver) = oneshot::channel();
    let mut receiver = pin!(receiver);
    let ((old, old_waker), (new, new_waker)) = (counting(), counting());
    for waker in [&old_waker, &old_waker, &new_waker, &new_waker] {
        let mut cx = Context::from_waker(waker);
        assert!(receiver.as_mut().poll(&mut cx).is_pending());
    }
    drop(old_waker);
    assert_eq!(Arc::strong_count(&old), 1, "the old one is kept");
    sender.send(1).unwrap();
    assert_eq!(new.0.load(Ordering::Relaxed), 1);
    assert_eq!(old.0.load(Ordering::Relaxed), 0);
    let mut cx = Context::from_waker(&new_waker);
    assert_eq!(receiver.as_mut().poll(&mut cx), Poll::Ready(Ok(1)));
}

#[test]
fn either_end_learns_that_the_other_is_gone() {
    run(|| async {
        let (sender, receiver) = oneshot::channel::<u8>();
        drop(sender);
        assert!(soon(receiver).await.is_err());

        let (mut sender, receiver) = oneshot::channel::<u8>();
        let waits = blitz_io::spawn(async move {
            sender.closed().await;
            sender.send(1)
        });
        blitz_io::task::yield_now().await;
        drop(receiver);
        assert_eq!(soon(waits).await.unwrap(), Err(1));
    });
}

#[test]
fn a_closed_receiver_still_gets_what_was_sent_before() {
    let (sender, mut receiver) = oneshot::channel();
    sender.send(1).unwrap();
    receiver.close();
    receiver.close();
    assert_eq!(receiver.try_recv(), Ok(1));
}

#[test]
fn whoever_is_last_drops_the_message_and_the_wakers() {
    let message = Arc::new(());
    let (sender, receiver) = oneshot::channel();
    sender.send(Arc::clone(&message)).unwrap();
    drop(receiver);
    assert_eq!(Arc::strong_count(&message), 1);

    let (count, waker) = counting();
    let (mut sender, mut receiver) = oneshot::channel::<u8>();
    let mut cx = Context::from_waker(&waker);
    assert!(sender.poll_closed(&mut cx).is_pending());
    assert!(pin!(&mut receiver).poll(&mut cx).is_pending());
    drop(sender);
    drop(receiver);
    drop(waker);
    assert_eq!(Arc::strong_count(&count), 1, "a waker leaks");
}

#[test]
fn bug_32_the_ends_may_move_to_other_threads_and_outlive_their_maker() {
    fn make() -> (oneshot::Sender<String>, oneshot::Receiver<String>) {
        oneshot::channel()
    }
    for round in 0..200 {
        let (sender, receiver) = make();
        let thread = std::thread::spawn(move || sender.send(round.to_string()));
        assert_eq!(receiver.blocking_recv(), Ok(round.to_string()));
        thread.join().unwrap().unwrap();
    }
}

#[test]
fn tasks_send_and_leave_in_any_order() {
    run(|| async {
        let dropped = Arc::new(());
        let mut received = 0;
        for round in 0..3000u32 {
            let (sender, mut receiver) = oneshot::channel();
            let message = Arc::clone(&dropped);
            let task = blitz_io::spawn(async move {
                if round % 3 == 0 {
                    blitz_io::task::yield_now().await;
                }
                if round % 5 == 0 {
                    drop(sender);
                    return false;
                }
                sender.send(message).is_ok()
            });
            if round % 7 == 0 {
                receiver.close();
            }
            if round % 11 == 0 {
                drop(receiver);
                soon(task).await.unwrap();
                continue;
            }
            let got = soon(receiver).await.is_ok();
            assert_eq!(got, soon(task).await.unwrap());
            received += usize::from(got);
        }
        assert!(received > 0);
        assert_eq!(Arc::strong_count(&dropped), 1, "messages leak");
    });
}

#[test]
fn a_task_that_awaits_answers_in_a_loop_lets_others_run() {
    // Every answer is there at once; without a budget this task would keep the only thread.
    let mut builder = blitz_io::Builder::new_current_thread();
    builder.build().unwrap().block_on(async {
        let flag = Arc::new(AtomicUsize::new(0));
        let setter = Arc::clone(&flag);
        let other = blitz_io::spawn(async move { setter.store(1, Ordering::Relaxed) });
        let mut rounds = 0u64;
        while flag.load(Ordering::Relaxed) == 0 {
            let (sender, receiver) = oneshot::channel();
            sender.send(()).unwrap();
            receiver.await.unwrap();
            rounds += 1;
            assert!(rounds < 1_000_000, "the other task starves");
        }
        other.await.unwrap();
    });
}
