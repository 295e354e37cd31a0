//! The wheel against a binary heap, and the errors that such wheels have had.

use super::entry::Entry;
use super::shard::{Armed, Shard};
use super::wheel::{LAST_TICK, Wheel};
use super::*;
use crate::driver::{self, Clock, Wait};
use crate::time;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::future::Future;
use std::sync::atomic::AtomicBool;
use std::task::{Wake, Waker};
use std::time::Duration;

/// A wheel and what should be in it.
struct Checked {
    wheel: Wheel,
    /// Boxed, so that they stay where they are; `None` for those that are not in the wheel.
    entries: Vec<(Box<Entry>, Option<u64>)>,
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    now: u64,
}

impl Checked {
    fn new(now: u64) -> Self {
        let mut checked = Self {
            wheel: Wheel::new(),
            entries: Vec::new(),
            heap: BinaryHeap::new(),
            now: 0,
        };
        checked.advance_to(now);
        checked
    }

    fn insert(&mut self, after: u64) -> usize {
        let entry = Entry::new();
        // SAFETY: new.
        unsafe { entry.prepare(None) };
        self.entries.push((Box::new(entry), None));
        self.link(self.entries.len() - 1, after);
        self.entries.len() - 1
    }

    fn link(&mut self, number: usize, after: u64) {
        let when = (self.now + after.max(1)).min(LAST_TICK);
        let (entry, place) = &mut self.entries[number];
        // SAFETY: boxed, not in the wheel, and both live as long as `self`.
        let look = unsafe { self.wheel.insert(entry, when) };
        assert!(look > self.now && look <= when);
        *place = Some(when);
        self.heap.push(Reverse((when, number)));
    }

    fn remove(&mut self, number: usize) -> bool {
        let (entry, place) = &mut self.entries[number];
        let was_in = place.take().is_some();
        if was_in {
            // SAFETY: it is in.
            unsafe { self.wheel.remove(entry) };
        }
        was_in
    }

    /// Lets time pass, as the driver does, and compares what fires.
    fn advance_to(&mut self, now: u64) {
        self.now = now;
        let mut fired = BTreeMap::new();
        let mut last = 0;
        loop {
            while let Some(entry) = self.wheel.pop_due(now) {
                let number = self.entries.iter().position(|(e, _)| ptr_eq(e, entry));
                let number = number.expect("an entry that was inserted");
                let when = self.entries[number].1.take();
                let when = when.expect("fires once, and not if it was cancelled");
                assert!(when >= last, "in order");
                last = when;
                fired.insert(number, when);
            }
            if !self.wheel.spread_early() {
                break;
            }
        }
        while let Some(&Reverse((when, number))) = self.heap.peek()
            && when <= now
        {
            self.heap.pop();
            // What was cancelled, or reset, is still in the heap.
            if fired.get(&number) == Some(&when) {
                fired.remove(&number);
            } else {
                assert_ne!(self.entries[number].1, Some(when), "late");
            }
        }
        assert!(fired.is_empty(), "early: {fired:?}");
        self.check_next_look();
    }

    fn first(&self) -> u64 {
        let ticks = self.entries.iter().filter_map(|(_, when)| *when);
        ticks.min().unwrap_or(u64::MAX)
    }

    fn check_next_look(&self) {
        let (next, first) = (self.wheel.next_look(), self.first());
        assert!(next > self.now);
        assert!(
            next <= first,
            "would look at {next} only, a timer is due at {first}"
        );
        assert_eq!(first == u64::MAX, next == u64::MAX);
    }
}

fn ptr_eq(left: &Entry, right: *const Entry) -> bool {
    std::ptr::eq(left, right)
}

#[derive(Debug, Clone)]
enum Step {
    Insert(u64),
    Cancel(usize),
    Reset(usize, u64),
    Advance(u64),
    AdvanceToNext,
}

/// Durations of every order of magnitude, and around the edges of slots.
fn ticks() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..300u64,
        (0..46u32, -3..=3i64).prop_map(|(bits, off)| { (1u64 << bits).saturating_add_signed(off) }),
        (0..46u32).prop_flat_map(|bits| 0..=1u64 << bits),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => ticks().prop_map(Step::Insert),
        1 => any::<usize>().prop_map(Step::Cancel),
        1 => (any::<usize>(), ticks()).prop_map(|(which, after)| Step::Reset(which, after)),
        2 => ticks().prop_map(Step::Advance),
        2 => Just(Step::AdvanceToNext),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_wheel_fires_what_a_heap_would(
        start in 0..1u64 << 40,
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut checked = Checked::new(start);
        for step in steps {
            let number = checked.entries.len();
            match step {
                Step::Insert(after) => {
                    checked.insert(after);
                }
                Step::Cancel(which) if number > 0 => {
                    checked.remove(which % number);
                }
                Step::Reset(which, after) if number > 0 => {
                    checked.remove(which % number);
                    checked.link(which % number, after);
                }
                Step::Advance(by) => checked.advance_to((checked.now + by).min(LAST_TICK - 1)),
                Step::AdvanceToNext if checked.wheel.next_look() < LAST_TICK => {
                    checked.advance_to(checked.wheel.next_look());
                }
                _ => {}
            }
            checked.check_next_look();
        }
        checked.advance_to(LAST_TICK);
        assert_eq!(checked.first(), u64::MAX, "never fired");
    }

    #[test]
    fn sleeps_end_at_their_tick_on_a_paused_clock(
        millis in prop::collection::vec(1..100_000u64, 1..50),
    ) {
        let clock = Clock::new(true);
        clock.pause();
        let (mut driver, handle) = driver::new(clock.clone(), true).unwrap();
        let start = clock.nanos();
        let mut sleeps: Vec<_> = millis
            .iter()
            .map(|&millis| {
                let deadline = clock.now() + Duration::from_millis(millis);
                (millis, Box::pin(Timer::new(handle.clone(), deadline)))
            })
            .collect();
        let mut cx = Context::from_waker(Waker::noop());
        for (_, sleep) in &mut sleeps {
            prop_assert!(sleep.as_mut().poll(&mut cx).is_pending());
        }
        while !sleeps.is_empty() {
            driver.turn(Wait::Block);
            let now = (clock.nanos() - start) / 1_000_000;
            for (millis, sleep) in &sleeps {
                prop_assert_eq!(sleep.has_fired(), *millis <= now);
            }
            sleeps.retain(|(_, sleep)| !sleep.has_fired());
        }
        prop_assert_eq!(clock.nanos() - start, millis.iter().max().unwrap() * 1_000_000);
        prop_assert!(!handle.has_interest());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn sleeps_are_never_early_on_a_running_clock(
        micros in prop::collection::vec(1..12_000u64, 1..200),
    ) {
        let (mut driver, handle) = driver::new(Clock::new(true), true).unwrap();
        let before = crate::context::bare_driver::enter(handle.clone());
        let mut sleeps: Vec<_> = micros
            .iter()
            .map(|&micros| Box::pin(time::sleep(Duration::from_micros(micros))))
            .collect();
        crate::context::bare_driver::leave(before);
        let mut cx = Context::from_waker(Waker::noop());
        sleeps.retain_mut(|sleep| sleep.as_mut().poll(&mut cx).is_pending());
        while !sleeps.is_empty() {
            driver.turn(Wait::Block);
            let now = time::Instant::now();
            sleeps.retain(|sleep| {
                assert!(!sleep.is_elapsed() || sleep.deadline() <= now, "early");
                !sleep.is_elapsed()
            });
        }
        prop_assert!(!handle.has_interest());
    }
}

#[test]
fn bug_21_the_slot_does_not_depend_on_where_the_wheel_stands() {
    for now in 0..300 {
        for after in [1, 10, 50, 63, 64, 65, 127, 128, 129, 200] {
            let mut checked = Checked::new(now);
            checked.insert(after);
            for tick in now..=now + after {
                checked.advance_to(tick);
            }
            assert_eq!(checked.first(), u64::MAX);
        }
    }
}

#[test]
fn bug_22_a_timer_beyond_the_next_boundary_is_on_time() {
    // Just before and just after the boundary of a slot, on every level.
    for level in 1..8u32 {
        let boundary = 3u64 << (6 * level);
        for before in [1, 2, 63] {
            // The last one but one is 128 slots of level 1 away, and less than 128 times as long as such a slot.
            for after in [0, 1, 62, 100, 4000, 8190, 1 << 18] {
                let mut checked = Checked::new(boundary - before);
                checked.insert(before + after);
                checked.advance_to(boundary + after - 1);
                assert_eq!(checked.first(), boundary + after);
                checked.advance_to(boundary + after);
                assert_eq!(checked.first(), u64::MAX);
            }
        }
    }
}

#[test]
fn bug_23_centuries_fit_and_nothing_is_lost_in_a_long_pause() {
    let mut checked = Checked::new(12_345);
    for bits in 0..49 {
        checked.insert(1 << bits);
        checked.insert((1 << bits) - 1);
    }
    checked.insert(u64::MAX / 2);
    // Half a level's worth, ten levels' worth …
    for now in [12_400, 20_000, 1 << 20, (1 << 40) + 1, LAST_TICK - 1] {
        checked.advance_to(now);
    }
    assert_eq!(checked.first(), LAST_TICK);
    checked.advance_to(LAST_TICK);
    assert_eq!(checked.first(), u64::MAX);
}

/// A waker that sets a flag.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn bug_24_a_cancelled_timer_is_out_of_the_wheel_at_once() {
    let shard = Shard::new();
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    for after in [1, 100, 10_000, 1 << 40] {
        let entry = Box::new(Entry::new());
        // SAFETY: boxed, and cancelled below.
        let armed = unsafe { shard.arm(&entry, after, &mut Some(Waker::from(flag.clone()))) };
        assert_eq!(armed, Armed::First(after));
        drop(shard.cancel(&entry));
        assert_eq!(shard.next_look(), u64::MAX);
        assert_eq!(Arc::strong_count(&flag), 1, "its waker is gone, too");
        drop(entry);
    }
    let mut batch = WakeBatch::new();
    assert!(!shard.fire(1 << 41, &mut batch));
    assert_eq!(batch.wake(), 0);
}

#[test]
fn bug_25_a_timer_can_be_dropped_while_it_fires() {
    let (mut driver, handle) = driver::new(Clock::new(true), true).unwrap();
    let droppers: Vec<_> = (0..3)
        .map(|seed| {
            let handle = handle.clone();
            std::thread::spawn(move || {
                let before = crate::context::bare_driver::enter(handle);
                let mut elapsed = 0;
                for round in 0..2000u64 {
                    let micros = 20 + round * (seed + 7) % 100;
                    let flag = Arc::new(Flag(AtomicBool::new(false)));
                    let waker = Waker::from(flag.clone());
                    let mut sleep = Box::pin(time::sleep(Duration::from_micros(micros)));
                    let mut cx = Context::from_waker(&waker);
                    if sleep.as_mut().poll(&mut cx).is_pending() && round % 3 == 0 {
                        std::thread::yield_now();
                    }
                    elapsed += usize::from(sleep.is_elapsed());
                    drop(sleep);
                    drop(waker);
                    // Nobody but the driver, in the middle of calling it, may still have the waker.
                    assert!(Arc::strong_count(&flag) <= 2);
                }
                crate::context::bare_driver::leave(before);
                elapsed
            })
        })
        .collect();
    while !droppers.iter().all(|thread| thread.is_finished()) {
        driver.turn(Wait::Look);
    }
    for thread in droppers {
        thread.join().unwrap();
    }
    assert!(!handle.has_interest());
}

#[test]
fn a_crowded_slot_is_spread_before_its_first_timer_is_due() {
    let mut checked = Checked::new(0);
    // Two slots of level 2 away, all within a few ticks.
    for i in 0..3000 {
        checked.insert(20_000 + i % 40);
    }
    let look = checked.wheel.next_look();
    assert!((19_940..19_980).contains(&look), "{look}");
    checked.advance_to(look);
    // What remains to be done is on level 0 and 1, with looks of its own.
    for tick in 20_000..20_040 {
        checked.advance_to(tick);
    }
    assert_eq!(checked.first(), u64::MAX);
}
