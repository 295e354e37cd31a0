//! The injector as its users see it, on one thread and on several.

use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

#[test]
fn a_growing_queue_keeps_order_far_beyond_its_ring() {
    let queue = Injector::with_capacity(4, FullPolicy::Grow);
    (0..1000).for_each(|i| queue.push(i).unwrap());
    assert_eq!(queue.len(), 1000);
    for i in 0..1000 {
        assert!(!queue.is_empty());
        assert_eq!(queue.pop(), Some(i));
    }
    assert_eq!(queue.pop(), None);
    assert!(queue.is_empty());
}

#[test]
fn pushes_go_behind_what_has_spilled_even_when_the_ring_has_room_again() {
    let queue = Injector::with_capacity(2, FullPolicy::Grow);
    (0..4).for_each(|i| queue.push(i).unwrap());
    assert_eq!(queue.pop(), Some(0));
    assert_eq!(queue.try_push(9), Err(Full(9)));
    queue.push(4).unwrap();
    let rest: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
    assert_eq!(rest, [1, 2, 3, 4]);
    queue.try_push(5).unwrap();
    assert_eq!(queue.pop(), Some(5));
}

#[test]
fn a_refusing_queue_gives_the_element_back_and_recovers() {
    let queue = Injector::with_capacity(2, FullPolicy::Refuse);
    queue.push(1).unwrap();
    queue.push(2).unwrap();
    assert_eq!(queue.push(3), Err(Full(3)));
    assert_eq!(queue.push(4).unwrap_err().into_inner(), 4);
    assert_eq!(queue.pop(), Some(1));
    queue.push(3).unwrap();
    assert_eq!(
        (queue.pop(), queue.pop(), queue.pop()),
        (Some(2), Some(3), None)
    );
}

#[test]
fn a_blocked_push_sleeps_until_a_pop_makes_room() {
    let queue = Injector::with_capacity(2, FullPolicy::Block);
    queue.push(1).unwrap();
    queue.push(2).unwrap();
    thread::scope(|threads| {
        threads.spawn(|| queue.push(3).unwrap());
        // Only a producer that has given up spinning registers, so this waits for the sleep.
        while queue.waiters.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        assert_eq!(queue.len(), 2);
        assert_eq!(queue.pop(), Some(1));
    });
    assert_eq!(
        (queue.pop(), queue.pop(), queue.pop()),
        (Some(2), Some(3), None)
    );
    assert_eq!(queue.waiters.load(Ordering::Relaxed), 0);
}

#[test]
fn what_is_left_is_dropped_exactly_once() {
    for policy in [FullPolicy::Grow, FullPolicy::Block, FullPolicy::Refuse] {
        let counted = Arc::new(());
        let queue = Injector::with_capacity(4, policy);
        for _ in 0..if policy == FullPolicy::Grow { 20 } else { 4 } {
            queue.push(counted.clone()).unwrap();
        }
        drop(queue.pop());
        drop(queue);
        assert_eq!(Arc::strong_count(&counted), 1, "{policy:?}");
    }
}

/// Three producers and three consumers: every element once, and each producer's in order.
fn torture(policy: FullPolicy, capacity: usize) {
    const PRODUCERS: usize = 3;
    const EACH: usize = 8_000;
    let queue = Injector::with_capacity(capacity, policy);
    let seen: Vec<_> = (0..PRODUCERS * EACH)
        .map(|_| AtomicBool::new(false))
        .collect();
    let taken = AtomicUsize::new(0);
    thread::scope(|threads| {
        for producer in 0..PRODUCERS {
            let queue = &queue;
            threads.spawn(move || {
                for i in 0..EACH {
                    let mut element = Box::new((producer, i));
                    while let Err(Full(back)) = queue.push(element) {
                        element = back;
                        thread::yield_now();
                    }
                }
            });
        }
        for _ in 0..3 {
            threads.spawn(|| {
                let mut last = [None; PRODUCERS];
                while taken.load(Ordering::Relaxed) < PRODUCERS * EACH {
                    let Some(element) = queue.pop() else {
                        thread::yield_now();
                        continue;
                    };
                    let (producer, i) = *element;
                    assert!(last[producer] < Some(i), "out of order");
                    last[producer] = Some(i);
                    let twice = seen[producer * EACH + i].swap(true, Ordering::Relaxed);
                    assert!(!twice, "taken twice");
                    taken.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(queue.is_empty());
    assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed)));
}

#[test]
fn nothing_is_lost_doubled_or_reordered_when_growing() {
    torture(FullPolicy::Grow, 4);
    torture(FullPolicy::Grow, 1024);
}

#[test]
fn nothing_is_lost_doubled_or_reordered_when_blocking() {
    torture(FullPolicy::Block, 2);
    torture(FullPolicy::Block, 64);
}

#[test]
fn nothing_is_lost_doubled_or_reordered_when_refusing() {
    torture(FullPolicy::Refuse, 2);
}
