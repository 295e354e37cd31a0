//! Waiting on a channel allocates nothing.

use blitz_io::sync::{broadcast, mpmc, mpsc, oneshot, watch};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

struct Counting;

thread_local! {
    static BYTES: Cell<usize> = const { Cell::new(0) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: passes everything on.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size());
        LIVE.set(LIVE.get() + layout.size() as isize);
        // SAFETY: as given by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: as given by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Runs `work` often; the bytes that it allocates on this thread.
fn bytes(mut work: impl FnMut()) -> usize {
    // What is made once, the first time.
    work();
    let before = BYTES.get();
    for _ in 0..100 {
        work();
    }
    BYTES.get() - before
}

#[test]
fn the_count_counts() {
    assert_eq!(bytes(|| drop(Box::new(7u64))), 800);
}

#[test]
fn waiting_for_a_message_or_for_room_allocates_nothing() {
    let (sender, mut receiver) = mpsc::channel(1);
    let mpsc = bytes(|| {
        {
            let mut recv = pin!(receiver.recv());
            assert!(poll(recv.as_mut()).is_pending());
            sender.try_send(1).unwrap();
            assert!(poll(recv).is_ready());
        }
        sender.try_send(1).unwrap();
        let mut send = pin!(sender.send(2));
        assert!(poll(send.as_mut()).is_pending());
        receiver.try_recv().unwrap();
        assert!(poll(send).is_ready());
        receiver.try_recv().unwrap();
    });
    assert_eq!(mpsc, 0, "mpsc");

    let (sender, receiver) = mpmc::bounded(1);
    let mpmc = bytes(|| {
        let mut recv = pin!(receiver.recv());
        assert!(poll(recv.as_mut()).is_pending());
        let mut second = pin!(receiver.recv());
        assert!(poll(second.as_mut()).is_pending());
        sender.try_send(1).unwrap();
        assert!(poll(recv).is_ready());
    });
    assert_eq!(mpmc, 0, "mpmc");

    let (sender, mut receiver) = broadcast::channel(4);
    let broadcast = bytes(|| {
        let mut recv = pin!(receiver.recv());
        assert!(poll(recv.as_mut()).is_pending());
        sender.send(1).unwrap();
        assert!(poll(recv).is_ready());
    });
    assert_eq!(broadcast, 0, "broadcast");

    let (sender, mut receiver) = watch::channel(0);
    let watch = bytes(|| {
        let mut changed = pin!(receiver.changed());
        assert!(poll(changed.as_mut()).is_pending());
        sender.send(1).unwrap();
        assert!(poll(changed).is_ready());
    });
    assert_eq!(watch, 0, "watch");
}

#[test]
fn an_unbounded_channel_uses_its_blocks_again() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let single = bytes(|| {
        for n in 0..100u64 {
            sender.send(n).unwrap();
            assert_eq!(receiver.try_recv(), Ok(n));
        }
    });
    assert_eq!(single, 0, "mpsc");
    let (sender, receiver) = mpmc::unbounded();
    let shared = bytes(|| {
        for n in 0..100u64 {
            sender.try_send(n).unwrap();
            assert_eq!(receiver.try_recv(), Ok(n));
        }
    });
    assert_eq!(shared, 0, "mpmc");
}

#[test]
fn a_oneshot_is_one_allocation_whether_or_not_it_waits() {
    let quick = bytes(|| {
        let (sender, mut receiver) = oneshot::channel();
        sender.send(1u64).unwrap();
        receiver.try_recv().unwrap();
    });
    let waits = bytes(|| {
        let (sender, mut receiver) = oneshot::channel();
        assert!(poll(Pin::new(&mut receiver)).is_pending());
        sender.send(1u64).unwrap();
        assert!(poll(Pin::new(&mut receiver)).is_ready());
    });
    assert_eq!(quick, waits);
    assert!(quick <= 100 * 64, "{} bytes each", quick / 100);
}

/// Calls `visit` with every order of `0 .. count`.
fn orders(count: usize, chosen: &mut Vec<usize>, visit: &mut impl FnMut(&[usize])) {
    if chosen.len() == count {
        return visit(chosen);
    }
    for next in 0..count {
        if !chosen.contains(&next) {
            chosen.push(next);
            orders(count, chosen, visit);
            chosen.pop();
        }
    }
}

#[test]
fn a_oneshot_is_freed_whatever_the_ends_do_in_whatever_order() {
    let mut visited = 0;
    orders(6, &mut Vec::with_capacity(6), &mut |order| {
        let before = LIVE.get();
        let (sender, receiver) = oneshot::channel::<Box<u64>>();
        let (mut sender, mut receiver) = (Some(sender), Some(receiver));
        let mut cx = Context::from_waker(Waker::noop());
        for step in order {
            match step {
                0 => drop(sender.take().map(|sender| sender.send(Box::new(1)))),
                1 => drop(sender.take()),
                2 => {
                    if let Some(sender) = &mut sender {
                        let _ = sender.poll_closed(&mut cx);
                    }
                }
                3 => {
                    if let Some(receiver) = &mut receiver {
                        receiver.close();
                    }
                }
                4 => {
                    if let Some(receiver) = receiver.as_mut().filter(|end| !end.is_terminated()) {
                        let _ = poll(Pin::new(receiver));
                    }
                }
                _ => drop(receiver.take()),
            }
        }
        assert_eq!(LIVE.get(), before, "leaks after {order:?}");
        visited += 1;
    });
    assert_eq!(visited, 720);
}
