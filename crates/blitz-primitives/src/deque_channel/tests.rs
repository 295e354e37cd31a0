//! The channel as its users see it, on one thread and on several.

use super::*;
use std::sync::atomic::AtomicBool;
use std::thread;

#[test]
fn a_worker_prefers_its_own_then_the_global_queue_then_others() {
    let (workers, sender) = DequeChannel::new().build::<usize>(2);
    workers[1].send(3).unwrap();
    sender.send(2).unwrap();
    workers[0].send(1).unwrap();
    let received: Vec<_> = std::iter::from_fn(|| workers[0].recv()).collect();
    assert_eq!(received, [1, 2, 3]);
}

#[test]
fn a_full_deque_sheds_its_oldest_half() {
    let (workers, sender) = DequeChannel::new().local_capacity(4).build::<usize>(1);
    (0..5).for_each(|i| workers[0].send(i).unwrap());
    assert_eq!(sender.global_len(), 2);
    assert_eq!(workers[0].local_len(), 3);
    let received: Vec<_> = std::iter::from_fn(|| workers[0].recv()).collect();
    assert_eq!(received, [4, 3, 2, 0, 1]);
}

#[test]
fn a_refused_item_comes_back_and_nothing_else_is_disturbed() {
    let (workers, sender) = DequeChannel::new()
        .local_capacity(4)
        .global_capacity(2)
        .build::<Box<usize>>(1);
    let mut sent = 0;
    let back = loop {
        match workers[0].send(Box::new(sent)) {
            Ok(()) => sent += 1,
            Err(full) => break full.into_inner(),
        }
    };
    assert_eq!((*back, sent), (6, 6));
    assert_eq!(*sender.send(Box::new(99)).unwrap_err().into_inner(), 99);
    let mut received: Vec<_> = std::iter::from_fn(|| workers[0].recv()).collect();
    received.sort();
    assert!(received.into_iter().map(|item| *item).eq(0..6));
    workers[0].send(back).unwrap();
}

#[test]
fn a_growing_channel_takes_everything() {
    let channel = DequeChannel::new()
        .local_capacity(2)
        .global_capacity(2)
        .when_full(FullPolicy::Grow);
    let (workers, sender) = channel.build::<usize>(1);
    (0..100).for_each(|i| workers[0].send(i).unwrap());
    (100..200).for_each(|i| sender.send(i).unwrap());
    assert_eq!(sender.try_send(999), Err(Full(999)));
    let mut received: Vec<_> = std::iter::from_fn(|| workers[0].recv()).collect();
    received.sort();
    assert!(received.into_iter().eq(0..200));
}

#[test]
fn try_send_refuses_where_send_would_block() {
    let channel = DequeChannel::new()
        .local_capacity(2)
        .global_capacity(2)
        .when_full(FullPolicy::Block);
    let (workers, _sender) = channel.build::<usize>(1);
    (0..4).for_each(|i| workers[0].try_send(i).unwrap());
    assert_eq!(workers[0].try_send(4), Err(Full(4)));
    assert_eq!(workers[0].recv(), Some(3));
    workers[0].try_send(4).unwrap();
}

#[test]
fn one_item_anywhere_is_found_from_everywhere() {
    let (workers, _sender) = DequeChannel::new().build::<usize>(7);
    for holder in &workers {
        for finder in &workers {
            holder.send(1).unwrap();
            assert_eq!(finder.recv(), Some(1));
        }
    }
}

#[test]
fn what_is_left_is_dropped_exactly_once() {
    let counted = Arc::new(());
    let (workers, sender) = DequeChannel::new().local_capacity(4).build(2);
    for i in 0..20 {
        workers[i % 2].send(counted.clone()).unwrap();
        sender.send(counted.clone()).unwrap();
    }
    drop(workers[0].recv());
    assert_eq!(Arc::strong_count(&counted), 40);
    drop((workers, sender));
    assert_eq!(Arc::strong_count(&counted), 1);
}

/// Two senders from outside and three workers that also send; everything arrives once.
fn torture(policy: FullPolicy) {
    const EACH: usize = 4_000;
    const SOURCES: usize = 5;
    let (workers, sender) = DequeChannel::new()
        .local_capacity(8)
        .global_capacity(8)
        .when_full(policy)
        .build::<Box<usize>>(3);
    let seen: Vec<_> = (0..SOURCES * EACH)
        .map(|_| AtomicBool::new(false))
        .collect();
    let received = AtomicUsize::new(0);
    let receive = |worker: &Worker<Box<usize>>| {
        if let Some(item) = worker.recv() {
            assert!(!seen[*item].swap(true, Ordering::Relaxed), "received twice");
            received.fetch_add(1, Ordering::Relaxed);
        } else {
            thread::yield_now();
        }
    };
    let receive = &receive;
    thread::scope(|threads| {
        for source in 3..SOURCES {
            let sender = sender.clone();
            threads.spawn(move || {
                for i in 0..EACH {
                    let mut item = Box::new(source * EACH + i);
                    while let Err(Full(back)) = sender.send(item) {
                        item = back;
                        thread::yield_now();
                    }
                }
            });
        }
        for worker in workers {
            let received = &received;
            threads.spawn(move || {
                for i in 0..EACH {
                    let mut item = Box::new(worker.index() * EACH + i);
                    // Workers must not block: they are the ones who make room.
                    while let Err(Full(back)) = worker.try_send(item) {
                        item = back;
                        receive(&worker);
                    }
                    if i % 3 == 0 {
                        receive(&worker);
                    }
                }
                while received.load(Ordering::Relaxed) < SOURCES * EACH {
                    receive(&worker);
                }
            });
        }
    });
    assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed)));
}

#[test]
fn everything_arrives_once_when_refusing() {
    torture(FullPolicy::Refuse);
}

#[test]
fn everything_arrives_once_when_blocking() {
    torture(FullPolicy::Block);
}

#[test]
fn everything_arrives_once_when_growing() {
    torture(FullPolicy::Grow);
}
