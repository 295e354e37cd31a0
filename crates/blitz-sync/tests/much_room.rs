//! Channels with much room: how much they take, and that they are channels like any other.

use blitz_sync::{block_on, mpmc, mpsc};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the bytes that are in use, and remembers the most there have been.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(used, Ordering::Relaxed);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes in use while `run` runs, beyond those before.
fn most(run: impl FnOnce()) -> usize {
    let before = USED.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    run();
    MOST.load(Ordering::Relaxed) - before
}

/// All in one: the counters are the process's.
#[test]
fn room_that_is_not_used_takes_no_memory() {
    let largest = usize::MAX >> 3;
    let capacities = [1_000_000, u32::MAX as usize, 1 << 30, largest];
    // Words of 32 bits have fewer.
    for capacity in capacities
        .into_iter()
        .filter(|&capacity| capacity <= largest)
    {
        let bytes = most(|| {
            let (sender, mut receiver) = mpsc::channel::<[u64; 128]>(capacity);
            assert_eq!(sender.max_capacity(), capacity);
            for round in 0..10_000 {
                sender.try_send([round; 128]).unwrap();
                assert_eq!(receiver.try_recv().unwrap()[7], round);
            }
            assert_eq!(sender.capacity(), capacity);
        });
        assert!(bytes < 64 << 10, "room for {capacity}: {bytes} bytes");
        drop(mpmc::bounded::<[u8; 65536]>(capacity));
    }
    let bytes = most(|| {
        let (sender, receiver) = mpmc::bounded::<[u64; 128]>(1_000_000);
        for round in 0..10_000 {
            sender.try_send([round; 128]).unwrap();
            assert_eq!(receiver.try_recv().unwrap()[7], round);
        }
    });
    assert!(bytes < 64 << 10, "{bytes} bytes");
    // After a crowd of messages, what they took is given back.
    let (sender, mut receiver) = mpsc::channel(1_000_000);
    let before = USED.load(Ordering::Relaxed);
    (0..100_000_u64).for_each(|number| sender.try_send(number).unwrap());
    assert!((0..100_000).all(|number| receiver.try_recv() == Ok(number)));
    assert!(USED.load(Ordering::Relaxed) < before + (64 << 10));
    full_and_ended();
    for refused in [0, largest + 1] {
        let made = std::panic::catch_unwind(|| drop(mpsc::channel::<()>(refused)));
        assert!(made.is_err(), "room for {refused}");
    }
}

/// What a small channel does, a large one does.
fn full_and_ended() {
    const MANY: usize = 5000;
    let (sender, mut receiver) = mpsc::channel(MANY);
    let permits = sender.try_reserve_many(MANY - 1).unwrap();
    sender.try_send(0).unwrap();
    assert!(matches!(
        sender.try_send(1),
        Err(mpsc::error::TrySendError::Full(1))
    ));
    block_on(async {
        let waiting = sender.send(7);
        let mut waiting = std::pin::pin!(waiting);
        let poll = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(std::future::Future::poll(waiting.as_mut(), cx).is_pending())
        });
        assert!(poll.await, "there is no room");
        assert_eq!(receiver.recv().await, Some(0));
        waiting.await.unwrap();
        assert_eq!(receiver.recv().await, Some(7));
    });
    receiver.close();
    assert_eq!(sender.try_send(1).unwrap_err().into_inner(), 1);
    for (number, permit) in permits.enumerate() {
        permit.send(number);
    }
    block_on(async {
        for number in 0..MANY - 1 {
            assert_eq!(receiver.recv().await, Some(number));
        }
        assert_eq!(receiver.recv().await, None);
    });
    // Many threads, and waiting on both sides.
    let (sender, receiver) = mpmc::bounded(MANY);
    let sum = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let (sender, receiver) = (sender.clone(), receiver.clone());
            scope.spawn(move || {
                (0..20_000).for_each(|number| block_on(sender.send(number)).unwrap());
            });
            let sum = &sum;
            scope.spawn(move || {
                while let Ok(number) = block_on(receiver.recv()) {
                    sum.fetch_add(number, Ordering::Relaxed);
                }
            });
        }
        drop((sender, receiver));
    });
    assert_eq!(sum.into_inner(), 2 * (19_999 * 20_000 / 2));
}
