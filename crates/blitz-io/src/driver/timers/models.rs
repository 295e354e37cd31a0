//! Loom models of a timer: its owner and the driver, in every order.

use super::super::entry::Flaw;
use super::*;
use crate::primitives::{AtomicBool, yield_now};
use blitz_core::checking::Flaws;
use blitz_core::checking::model::{Race, race};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Wake;

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// A timer that is armed for tick 5, and its shard.
struct Armed5 {
    shard: Shard,
    entry: Entry,
    first: Arc<Woken>,
}

impl Armed5 {
    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        let armed = Rc::new(Self {
            shard: Shard::new(),
            entry: Entry::with_flaws(flaws),
            first: Arc::new(Woken(AtomicBool::new(false))),
        });
        let waker = Waker::from(armed.first.clone());
        // SAFETY: behind an `Rc`, and cancelled or fired before it is dropped.
        let result = unsafe { armed.shard.arm(&armed.entry, 5, &mut Some(waker)) };
        assert_eq!(result, Armed::First(5));
        armed
    }

    /// The driver at tick 7.
    fn fire(&self) -> usize {
        let mut batch = WakeBatch::new();
        assert!(!self.shard.fire(7, &mut batch));
        batch.wake()
    }

    /// The owner drops the timer: what belongs to it alone is written without the lock.
    fn cancel_and_free(&self) -> usize {
        drop(self.shard.cancel(&self.entry));
        // SAFETY: cancelled or fired, so it is the owner's. The model checks that.
        unsafe { self.entry.fields(|fields| fields.when = 99) };
        0
    }
}

fn firing_and_freeing(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let driver = Armed5::new(flaws);
        let (owner, state) = (driver.clone(), driver.clone());
        Race::new(move |called: Vec<usize>| {
            assert_eq!(called[0] == 1, state.entry.has_fired(), "fires or not");
            assert_eq!(state.first.0.load(Ordering::Acquire), called[0] == 1);
            assert_eq!(state.shard.next_look(), u64::MAX);
        })
        .thread(move || driver.fire())
        .thread(move || owner.cancel_and_free())
    });
}

#[test]
fn loom_a_timer_is_fired_or_cancelled_and_free_afterwards() {
    firing_and_freeing(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_timer_that_fires_without_order_is_freed_under_the_driver() {
    firing_and_freeing(Flaws::only(Flaw::FiresRelaxed));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_timer_that_is_let_go_too_early_is_freed_under_the_driver() {
    firing_and_freeing(Flaws::only(Flaw::LetsGoTooEarly));
}

#[test]
#[should_panic]
fn loom_what_was_read_before_the_lock_is_not_to_be_trusted() {
    firing_and_freeing(Flaws::only(Flaw::TrustsOldState));
}

#[test]
fn loom_whoever_is_told_to_wait_is_woken() {
    race::<2, _>(|| {
        let driver = Armed5::new(Flaws::NONE);
        let owner = driver.clone();
        Race::new(|_| {})
            .thread(move || driver.fire())
            .thread(move || {
                let second = Arc::new(Woken(AtomicBool::new(false)));
                let waker = Waker::from(second.clone());
                if owner.shard.rewake(&owner.entry, &waker) {
                    while !second.0.load(Ordering::Acquire) {
                        yield_now();
                    }
                }
                assert!(owner.entry.has_fired());
                0
            })
    });
}

#[test]
fn loom_a_timer_armed_while_the_runtime_ends_does_not_hang() {
    race::<2, _>(|| {
        let closer = Rc::new(Shard::new());
        let owner = closer.clone();
        Race::new(|_| {})
            .thread(move || {
                let mut batch = WakeBatch::new();
                assert!(!closer.close(&mut batch));
                batch.wake();
            })
            .thread(move || {
                let entry = Entry::new();
                let woken = Arc::new(Woken(AtomicBool::new(false)));
                // SAFETY: cancelled below.
                if unsafe { owner.arm(&entry, 5, &mut Some(Waker::from(woken.clone()))) }
                    != Armed::Due
                {
                    while !woken.0.load(Ordering::Acquire) {
                        yield_now();
                    }
                    assert!(entry.has_fired());
                }
                drop(owner.cancel(&entry));
            })
    });
}
