//! Loom models of notifications: who waits is notified, and no notification goes away with a future.
//! "Maximum number of branches" stands for a task that sleeps for ever.

use super::*;
use crate::modelling::{block_on, poll_once};
use crate::primitives::{AtomicBool, UnsafeCell};
use blitz_primitives::model::{Race, oversleeping_race, race};
use std::pin::{Pin, pin};
use std::rc::Rc;

/// A flag and a cell that somebody sets, and the notification of it.
struct Model {
    notify: Notify,
    flag: AtomicBool,
    cell: UnsafeCell<u32>,
}

impl Model {
    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        Rc::new(Self {
            notify: Notify::with_flaws(flaws),
            flag: AtomicBool::new(false),
            cell: UnsafeCell::new(0),
        })
    }

    /// A future of this model's.
    fn notified(self: &Rc<Self>) -> Pin<Box<Notified<'static>>> {
        // SAFETY: whoever has the future has the `Rc`.
        Box::pin(unsafe { &*Rc::as_ptr(self) }.notify.notified())
    }

    /// One that is in the line.
    fn waiting(self: &Rc<Self>) -> Pin<Box<Notified<'static>>> {
        let mut future = self.notified();
        assert!(poll_once(future.as_mut()).is_pending());
        future
    }

    fn write(&self) {
        // SAFETY: the only writer, and before the notification. The model checks that.
        self.cell.with_mut(|cell| unsafe { *cell = 7 });
    }

    fn read(&self) {
        // SAFETY: after the notification. The model checks that.
        self.cell.with(|cell| assert_eq!(unsafe { *cell }, 7));
    }
}

/// One writes and notifies, one waits and reads.
fn writer_and_reader(flaws: Flaws<Flaw>, tell: fn(&Notify)) -> Race<()> {
    let model = Model::new(flaws);
    let reader = model.clone();
    // It exists: so it is notified, whether it is polled before or after.
    let notified = model.notified();
    Race::new(|_| {})
        .thread(move || {
            model.write();
            tell(&model.notify);
        })
        .thread(move || {
            block_on(notified);
            reader.read();
        })
}

#[test]
fn loom_notify_one_shows_what_was_written_before() {
    race::<2, _>(|| writer_and_reader(Flaws::NONE, Notify::notify_one));
}

#[test]
fn loom_notify_waiters_reaches_every_future_that_exists() {
    race::<2, _>(|| writer_and_reader(Flaws::NONE, Notify::notify_waiters));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_bug_28_joining_the_line_without_a_second_look_misses_a_notification() {
    oversleeping_race::<2, _>(|flawed| {
        let flaws = Flaws::only_if(flawed, Flaw::ArrivesBlindly);
        writer_and_reader(flaws, Notify::notify_one)
    });
}

/// There is a permit; somebody sets the flag and notifies once more; somebody waits until the flag is set.
fn second_notification(flaws: Flaws<Flaw>) -> Race<()> {
    let model = Model::new(flaws);
    model.notify.notify_one();
    let waiter = model.clone();
    Race::new(|_| {})
        .thread(move || {
            model.flag.store(true, Ordering::Relaxed);
            model.notify.notify_one();
        })
        .thread(move || {
            while !waiter.flag.load(Ordering::Relaxed) {
                block_on(waiter.notify.notified());
            }
        })
}

#[test]
fn loom_a_notification_that_finds_a_permit_is_not_lost() {
    race::<2, _>(|| second_notification(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_notification_that_only_looks_at_the_permit_is_lost() {
    oversleeping_race::<2, _>(|flawed| {
        second_notification(Flaws::only_if(flawed, Flaw::LeavesPermitAlone))
    });
}

/// Joins the line, looks, waits: the idiom for conditions.
fn enabled_and_told(tell: fn(&Notify)) {
    race::<2, _>(move || {
        let model = Model::new(Flaws::NONE);
        let waiter = model.clone();
        Race::new(|_: Vec<()>| {})
            .thread(move || {
                model.flag.store(true, Ordering::Relaxed);
                tell(&model.notify);
            })
            .thread(move || {
                let mut notified = pin!(waiter.notify.notified());
                notified.as_mut().enable();
                if !waiter.flag.load(Ordering::Relaxed) {
                    block_on(notified);
                    assert!(waiter.flag.load(Ordering::Relaxed), "notified for nothing");
                }
            })
    });
}

#[test]
fn loom_whoever_has_joined_the_line_and_then_looks_misses_nothing() {
    enabled_and_told(Notify::notify_one);
    enabled_and_told(Notify::notify_waiters);
}

/// A future in the line goes away while it is notified; its thread waits again.
fn dropped_while_notified(flaws: Flaws<Flaw>) -> Race<()> {
    let model = Model::new(flaws);
    let leaver = model.waiting();
    let waiter = model.clone();
    Race::new(|_| {})
        .thread(move || model.notify.notify_one())
        .thread(move || {
            drop(leaver);
            block_on(waiter.notify.notified());
        })
}

#[test]
fn loom_a_notification_of_a_dropped_future_goes_to_the_next() {
    race::<2, _>(|| dropped_while_notified(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_bug_29b_a_dropped_future_that_keeps_its_notification_leaves_the_next_asleep() {
    oversleeping_race::<2, _>(|flawed| {
        dropped_while_notified(Flaws::only_if(flawed, Flaw::KeepsNotification))
    });
}

/// All are notified while one goes away and a single notification comes in: that one is not wasted.
#[test]
fn loom_notifying_all_against_one_and_a_drop() {
    race::<3, _>(|| {
        let model = Model::new(Flaws::NONE);
        let (leaver, mut stayer) = (model.waiting(), model.waiting());
        let (all, one) = (model.clone(), model.clone());
        Race::new(move |_: Vec<()>| {
            assert!(poll_once(stayer.as_mut()).is_ready());
            // The single one went to the leaver (which handed it on), to the stayer, or is there.
            let mut next = model.notified();
            let left = poll_once(next.as_mut()).is_ready();
            let state = model.notify.word.load(Ordering::Relaxed) & STATE;
            assert_eq!(state, if left { EMPTY } else { WAITING });
        })
        .thread(move || all.notify.notify_waiters())
        .thread(move || one.notify.notify_one())
        .thread(move || drop(leaver))
    });
}
