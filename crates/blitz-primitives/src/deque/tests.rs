//! The deque as its users see it, on one thread and on several.

use super::*;
use std::sync::atomic::AtomicBool;
use std::thread;

#[test]
fn the_owner_pops_newest_first_and_thieves_take_oldest_first() {
    let (owner, stealer) = deque::<usize>();
    (0..10).for_each(|item| {
        owner.push(item);
    });
    assert_eq!(stealer.steal(), Steal::Success(0));
    assert_eq!(owner.pop(), Some(9));
    assert_eq!(owner.pop_oldest(), Some(1));
    assert_eq!(owner.len(), 7);
    assert_eq!(stealer.len(), 7);
}

#[test]
fn push_tells_whether_the_deque_was_empty() {
    let (owner, stealer) = deque::<usize>();
    assert!(owner.push(1));
    assert!(!owner.push(2));
    assert_eq!(stealer.steal().success(), Some(1));
    assert_eq!(owner.pop(), Some(2));
    assert!(owner.is_empty() && stealer.is_empty());
    assert!(owner.push(3));
}

#[test]
fn popping_an_empty_deque_again_and_again_leaves_it_usable() {
    let (owner, stealer) = deque::<usize>();
    for round in 0..100 {
        assert_eq!(owner.pop(), None);
        assert_eq!(stealer.steal(), Steal::Empty);
        owner.push(round);
        assert_eq!(owner.pop(), Some(round));
    }
}

#[test]
fn the_ring_grows_by_doubling_and_keeps_order() {
    let (owner, stealer) = with_capacity::<usize>(2);
    // Wrap around first, so that growth has to move a split range.
    owner.push(100);
    assert_eq!(stealer.steal(), Steal::Success(100));
    (0..1000).for_each(|item| {
        owner.push(item);
    });
    assert_eq!(owner.capacity(), 1024);
    assert_eq!(owner.len(), 1000);
    for item in 0..500 {
        assert_eq!(stealer.steal(), Steal::Success(item));
    }
    for item in (500..1000).rev() {
        assert_eq!(owner.pop(), Some(item));
    }
    assert_eq!(owner.pop(), None);
}

#[test]
fn a_requested_capacity_is_rounded_up_to_a_power_of_two() {
    for (asked, given) in [(0, 1), (1, 1), (3, 4), (256, 256), (257, 512)] {
        assert_eq!(with_capacity::<usize>(asked).0.capacity(), given);
    }
}

#[test]
fn indices_may_wrap_around() {
    let (owner, stealer) = with_capacity::<usize>(4);
    owner.shared.top.store(usize::MAX - 2, Ordering::Relaxed);
    owner.shared.bottom.store(usize::MAX - 2, Ordering::Relaxed);
    (0..9).for_each(|item| {
        owner.push(item);
    });
    assert_eq!(owner.len(), 9);
    assert_eq!(stealer.steal(), Steal::Success(0));
    assert_eq!(owner.pop(), Some(8));
    for item in 1..8 {
        assert_eq!(stealer.steal(), Steal::Success(item));
    }
    assert_eq!(stealer.steal(), Steal::Empty);
}

#[test]
fn remaining_items_are_dropped_exactly_once_with_the_last_handle() {
    let counted = Arc::new(());
    let (owner, stealer) = with_capacity::<Arc<()>>(2);
    for _ in 0..20 {
        owner.push(counted.clone());
    }
    drop(owner.pop());
    drop(stealer.steal());
    assert_eq!(Arc::strong_count(&counted), 19);
    drop(owner);
    assert_eq!(Arc::strong_count(&counted), 19);
    drop(stealer.steal());
    drop(stealer);
    assert_eq!(Arc::strong_count(&counted), 1);
}

#[test]
fn every_item_comes_out_once_under_three_thieves_and_growth() {
    const ITEMS: usize = 60_000;
    let (owner, stealer) = with_capacity::<Box<usize>>(2);
    let seen: Vec<AtomicBool> = (0..ITEMS).map(|_| AtomicBool::new(false)).collect();
    let taken = std::sync::atomic::AtomicUsize::new(0);
    let mark = |item: Box<usize>| {
        assert!(!seen[*item].swap(true, Ordering::Relaxed), "taken twice");
        taken.fetch_add(1, Ordering::Relaxed);
    };
    thread::scope(|threads| {
        for _ in 0..3 {
            let stealer = stealer.clone();
            let mark = &mark;
            let taken = &taken;
            threads.spawn(move || {
                while taken.load(Ordering::Relaxed) < ITEMS {
                    match stealer.steal_until_settled() {
                        Some(item) => mark(item),
                        None => thread::yield_now(),
                    }
                }
            });
        }
        // Bursts of growing length, each popped down to nothing, so that the race for the
        // last item happens often and growth happens under the eyes of the thieves.
        let mut next = 0;
        let mut burst = 1;
        while next < ITEMS {
            for _ in 0..burst.min(ITEMS - next) {
                owner.push(Box::new(next));
                next += 1;
            }
            while let Some(item) = owner.pop() {
                mark(item);
            }
            burst = burst % 37 + 1 + if next % 10_007 < 40 { 3_000 } else { 0 };
        }
    });
    assert_eq!(taken.load(Ordering::Relaxed), ITEMS);
}
