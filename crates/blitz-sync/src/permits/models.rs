//! Loom models of permits: takers, givers, and takers that go away.
//! "Maximum number of branches" stands for a task that sleeps for ever.

use super::*;
use crate::modelling::{block_on, poll_once};
use crate::primitives::UnsafeCell;
use blitz_primitives::model::{Race, oversleeping_race, race};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

/// Permits, and what they guard: loom notices if two threads touch it without order between them.
struct Model {
    permits: Permits,
    value: UnsafeCell<usize>,
}

impl Model {
    fn new(free: usize, flaws: Flaws<Flaw>) -> Rc<Self> {
        Rc::new(Self {
            permits: Permits::with_flaws(free, flaws),
            value: UnsafeCell::new(0),
        })
    }

    /// Changes the value with all permits in hand.
    fn write(&self, all: usize) {
        block_on(self.permits.acquire(all)).unwrap();
        // SAFETY: exclusive. The model checks that.
        self.value.with_mut(|value| unsafe { *value += 1 });
        self.permits.release(all);
    }

    /// Reads it with one.
    fn read(&self) -> usize {
        block_on(self.permits.acquire(1)).unwrap();
        // SAFETY: no writer. The model checks that.
        let value = self.value.with(|value| unsafe { *value });
        self.permits.release(1);
        value
    }

    /// A future of this model's that waits for `wanted`.
    fn waiting(self: &Rc<Self>, wanted: usize) -> Pin<Box<Acquire<'static>>> {
        // SAFETY: whoever has the future has the `Rc`.
        let lent = unsafe { &*Rc::as_ptr(self) };
        let mut future = Box::pin(lent.permits.acquire(wanted));
        assert!(poll_once(future.as_mut()).is_pending());
        future
    }
}

/// Two that want the same, as with a mutex.
fn two_writers(flaws: Flaws<Flaw>) -> Race<()> {
    let model = Model::new(1, flaws);
    let (first, second) = (model.clone(), model.clone());
    Race::new(move |_: Vec<()>| {
        // SAFETY: all threads are through.
        model.value.with(|value| assert_eq!(unsafe { *value }, 2));
        assert_eq!(model.permits.free(), 1);
    })
    .thread(move || first.write(1))
    .thread(move || second.write(1))
}

#[test]
fn loom_two_writers_exclude_each_other_and_both_get_through() {
    race::<2, _>(|| two_writers(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_bug_28_a_release_that_does_not_look_for_waiters_leaves_one_asleep() {
    oversleeping_race::<2, _>(|flawed| two_writers(Flaws::only_if(flawed, Flaw::ReleasesBlindly)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_bug_28_an_arrival_without_a_second_look_sleeps_for_ever() {
    oversleeping_race::<2, _>(|flawed| two_writers(Flaws::only_if(flawed, Flaw::ArrivesBlindly)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_taking_without_order_shows_a_value_half_written() {
    race::<2, _>(|| two_writers(Flaws::only(Flaw::AcquiresRelaxed)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_giving_back_without_order_shows_a_value_half_written() {
    race::<2, _>(|| two_writers(Flaws::only(Flaw::ReleasesRelaxed)));
}

/// A read-write lock for two readers.
fn readers_and_writer(flaws: Flaws<Flaw>) -> Race<usize> {
    let model = Model::new(2, flaws);
    let (one, two, writer) = (model.clone(), model.clone(), model.clone());
    Race::new(move |_: Vec<usize>| assert_eq!(model.permits.free(), 2))
        .thread(move || one.read())
        .thread(move || two.read())
        .thread(move || {
            writer.write(2);
            0
        })
}

#[test]
fn loom_a_writer_excludes_readers_and_all_get_through() {
    race::<3, _>(|| readers_and_writer(Flaws::NONE));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_reader_that_leaves_without_order_is_overwritten() {
    race::<3, _>(|| readers_and_writer(Flaws::only(Flaw::ReleasesRelaxed)));
}

/// A writer waits for two readers; a reader that comes later does not overtake it.
#[test]
fn loom_a_writer_that_waits_is_before_readers_that_come_later() {
    race::<2, _>(|| {
        let model = Model::new(2, Flaws::NONE);
        model.permits.try_acquire(1).unwrap();
        let mut writer = model.waiting(2);
        let (late, early) = (model.clone(), model.clone());
        Race::new(move |_: Vec<usize>| assert_eq!(model.permits.free(), 2))
            .thread(move || {
                let value = late.read();
                assert_eq!(value, 7, "the reader has overtaken the writer");
                value
            })
            .thread(move || {
                early.permits.release(1);
                assert_eq!(poll_once(writer.as_mut()), Poll::Ready(Ok(())));
                // SAFETY: all permits. The model checks that.
                early.value.with_mut(|value| unsafe { *value = 7 });
                early.permits.release(2);
                0
            })
    });
}

#[test]
fn loom_a_permit_granted_to_a_dropped_future_goes_to_the_next() {
    race::<3, _>(|| {
        let model = Model::new(0, Flaws::NONE);
        let leaver = model.waiting(1);
        let (giver, next) = (model.clone(), model.clone());
        Race::new(move |_: Vec<()>| assert_eq!(model.permits.free(), 1))
            .thread(move || giver.permits.release(1))
            .thread(move || drop(leaver))
            .thread(move || next.write(1))
    });
}

/// Somebody who waits goes away while it is being served, and comes back.
fn cancelled_while_served(flaws: Flaws<Flaw>) -> Race<()> {
    let model = Model::new(0, flaws);
    let leaver = model.waiting(1);
    let (giver, next) = (model.clone(), model.clone());
    Race::new(move |_: Vec<()>| assert_eq!(model.permits.free(), 1))
        .thread(move || giver.permits.release(1))
        .thread(move || {
            drop(leaver);
            next.write(1);
        })
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_bug_29b_a_dropped_future_that_keeps_its_grant_leaves_the_next_asleep() {
    oversleeping_race::<2, _>(|flawed| {
        cancelled_while_served(Flaws::only_if(flawed, Flaw::KeepsGrant))
    });
}

/// The same for one that has got a part of what it needs.
fn cancelled_with_a_part(flaws: Flaws<Flaw>) -> Race<()> {
    let model = Model::new(1, flaws);
    let leaver = model.waiting(2);
    let next = model.clone();
    Race::new(move |_: Vec<()>| assert_eq!(model.permits.free(), 1))
        .thread(move || drop(leaver))
        .thread(move || next.write(1))
}

#[test]
fn loom_what_a_dropped_future_has_got_so_far_goes_to_the_next() {
    race::<2, _>(|| cancelled_with_a_part(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_dropped_future_that_keeps_its_part_leaves_the_next_asleep() {
    oversleeping_race::<2, _>(|flawed| {
        cancelled_with_a_part(Flaws::only_if(flawed, Flaw::KeepsPart))
    });
}

/// Closing against an arrival and a release: nobody waits for ever, and no permit is lost.
#[test]
fn loom_closing_wakes_everybody() {
    race::<3, _>(|| {
        let model = Model::new(1, Flaws::NONE);
        let (taker, closer, giver) = (model.clone(), model.clone(), model.clone());
        Race::new(move |taken: Vec<usize>| {
            assert!(model.permits.is_closed());
            assert_eq!(model.permits.free() + taken[0], 2, "a permit is lost");
        })
        .thread(move || match block_on(taker.permits.acquire(2)) {
            Ok(()) => 2,
            Err(_) => 0,
        })
        .thread(move || {
            closer.permits.close();
            0
        })
        .thread(move || {
            giver.permits.release(1);
            0
        })
    });
}
