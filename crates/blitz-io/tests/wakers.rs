//! Wakers are somebody else's code. Cloning or dropping one may panic, and may use the very thing that it is left with.

mod common;

use blitz_io::io::{AsyncReadExt, DuplexStream, duplex};
use blitz_io::sync::oneshot;
use blitz_io::task::LocalSet;
use common::soon;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;
use std::time::Duration;

/// A waker that has something with it, which is dropped when the waker is.
struct Owner<T>(#[allow(dead_code, reason = "it is there to be dropped")] T);

impl<T: Send + Sync + 'static> Wake for Owner<T> {
    fn wake(self: Arc<Self>) {}
}

fn poll_with<F: Future + ?Sized>(waker: &Waker, future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// Fails if `test` does not end.
fn ends(test: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        test();
        sender.send(()).unwrap();
    });
    match receiver.recv_timeout(Duration::from_secs(30)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
        _ => thread.join().unwrap(),
    }
}

#[test]
fn a_waker_that_is_replaced_may_end_the_connection_that_it_waits_for() {
    fn wait(reader: &mut DuplexStream, waker: &Waker) {
        let mut byte = [0];
        assert!(poll_with(waker, pin!(reader.read(&mut byte))).is_pending());
    }
    ends(|| {
        let (mut here, there) = duplex(8);
        let owner = Waker::from(Arc::new(Owner(there)));
        wait(&mut here, &owner);
        drop(owner);
        // The last reference to it is in the place that this takes.
        wait(&mut here, Waker::noop());
        let mut byte = [0];
        let read = poll_with(Waker::noop(), pin!(here.read(&mut byte)));
        assert!(matches!(read, Poll::Ready(Ok(0))), "the other end is gone");
    });
}

#[test]
fn a_waker_that_is_replaced_may_wake_a_task_of_the_set_that_it_waits_for() {
    ends(|| {
        let mut set = LocalSet::new();
        let (sender, receiver) = oneshot::channel::<()>();
        let task = set.spawn_local(receiver);
        let owner = Waker::from(Arc::new(Owner(sender)));
        assert!(poll_with(&owner, Pin::new(&mut set)).is_pending());
        drop(owner);
        let _ = poll_with(Waker::noop(), Pin::new(&mut set));
        assert!(poll_with(Waker::noop(), Pin::new(&mut set)).is_ready());
        assert!(task.is_finished());
    });
}

/// A waker that cannot be cloned.
fn brittle() -> Waker {
    fn clone(_: *const ()) -> RawWaker {
        panic!("not to be cloned")
    }
    static TABLE: RawWakerVTable = RawWakerVTable::new(clone, |_| (), |_| (), |_| ());
    // SAFETY: there is no data, and panicking is allowed.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &TABLE)) }
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn after_a_waker_that_cannot_be_cloned_the_one_from_before_is_woken() {
    let count = Arc::new(Count::default());
    let good = Waker::from(count.clone());
    let refuse = |poll: &mut dyn FnMut(&Waker)| {
        catch_unwind(AssertUnwindSafe(|| poll(&brittle()))).unwrap_err();
    };

    let (sender, mut receiver) = oneshot::channel();
    assert!(poll_with(&good, Pin::new(&mut receiver)).is_pending());
    refuse(&mut |brittle| {
        let _ = poll_with(brittle, Pin::new(&mut receiver));
    });
    assert!(poll_with(&good, Pin::new(&mut receiver)).is_pending());
    sender.send(7).unwrap();
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert_eq!(
        poll_with(&good, Pin::new(&mut receiver)),
        Poll::Ready(Ok(7))
    );

    let (mut sender, receiver) = oneshot::channel::<u32>();
    let mut closed = |waker: &Waker| sender.poll_closed(&mut Context::from_waker(waker));
    assert!(closed(&good).is_pending());
    refuse(&mut |brittle| {
        let _ = closed(brittle);
    });
    drop(receiver);
    assert_eq!(count.0.load(Ordering::Relaxed), 2);
}

#[test]
fn a_waker_that_cannot_be_cloned_leaves_everything_usable() {
    common::run(|| async {
        let mut set = blitz_io::task::JoinSet::new();
        set.spawn(blitz_io::task::yield_now());
        let (mut here, mut there) = duplex(1);
        let mut byte = [0];
        let mut polls: [&mut dyn FnMut(&Waker); 2] = [
            &mut |waker| drop(poll_with(waker, pin!(here.read(&mut byte)))),
            &mut |waker| {
                let mut sleep = pin!(blitz_io::time::sleep(Duration::from_secs(3600)));
                let _ = poll_with(Waker::noop(), sleep.as_mut());
                let _ = poll_with(waker, sleep);
            },
        ];
        for poll in &mut polls {
            catch_unwind(AssertUnwindSafe(|| poll(&brittle()))).unwrap_err();
        }
        soon(write_byte(&mut there)).await;
        assert_eq!(soon(here.read(&mut byte)).await.unwrap(), 1);
        soon(set.join_next()).await.unwrap().unwrap();
        soon(blitz_io::time::sleep(Duration::from_millis(1))).await;
    });
}

async fn write_byte(stream: &mut DuplexStream) {
    use blitz_io::io::AsyncWriteExt;
    stream.write_all(b"x").await.unwrap();
}
