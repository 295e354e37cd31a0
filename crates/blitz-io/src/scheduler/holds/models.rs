//! Loom models of the holds: the scheduler is freed once, after everything that touches it.

use super::*;
use crate::primitives::{AtomicUsize, UnsafeCell};
use blitz_core::checking::model::{Race, race};
use std::rc::Rc;

/// A scheduler as far as its life is concerned.
struct Scheduler {
    holds: Holds,
    stripe: Stripe,
    /// Strong references; one is the runtime's.
    strong: AtomicUsize,
    freed: UnsafeCell<bool>,
}

impl Scheduler {
    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        Rc::new(Scheduler {
            holds: Holds::with_flaws(flaws),
            stripe: Stripe::new(),
            strong: AtomicUsize::new(1),
            freed: UnsafeCell::new(false),
        })
    }

    /// Somebody uses the scheduler.
    fn touch(&self) {
        // SAFETY: loom checks that nobody writes meanwhile.
        self.freed
            .with(|freed| assert!(!unsafe { *freed }, "used after its end"));
    }

    fn add(&self, first: bool) {
        if first {
            self.strong.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Drops a strong reference if `last`.
    fn release(&self, last: bool) {
        if !last {
            return;
        }
        let before = self.strong.fetch_sub(1, Ordering::AcqRel);
        assert!(before > 0, "dropped more often than taken");
        if before == 1 {
            // SAFETY: loom checks that nobody else looks.
            self.freed.with_mut(|freed| {
                assert!(!unsafe { *freed }, "freed once");
                // SAFETY: as above.
                unsafe { *freed = true };
            });
        }
    }

    fn take(&self, own: Option<&Stripe>) {
        self.touch();
        self.add(self.holds.take(own));
    }

    fn give(&self, own: Option<&Stripe>) {
        self.touch();
        self.release(self.holds.give(own));
    }

    fn is_freed(&self) -> bool {
        // SAFETY: after all threads.
        self.freed.with(|freed| unsafe { *freed })
    }
}

fn is_freed_at_the_end(scheduler: &Rc<Scheduler>) -> Race<()> {
    let scheduler = Rc::clone(scheduler);
    Race::new(move |_| assert!(scheduler.is_freed(), "leaked"))
}

/// A worker makes tasks and ends; another thread drops the last waker of one of them; the runtime's handle goes.
fn tasks_outlive_their_worker(flaws: Flaws<Flaw>) {
    race::<3, _>(move || {
        let scheduler = Scheduler::new(flaws);
        scheduler.add(scheduler.holds.open(&scheduler.stripe));
        // One of them is dropped elsewhere.
        scheduler.take(Some(&scheduler.stripe));
        scheduler.take(Some(&scheduler.stripe));
        let [worker, outsider, runtime] = [(); 3].map(|()| Rc::clone(&scheduler));
        is_freed_at_the_end(&scheduler)
            .thread(move || {
                worker.give(Some(&worker.stripe));
                worker.touch();
                worker.release(worker.holds.close(&worker.stripe));
            })
            .thread(move || outsider.give(None))
            .thread(move || runtime.release(true))
    });
}

#[test]
fn loom_a_scheduler_lives_until_its_last_task_is_freed() {
    tasks_outlive_their_worker(Flaws::NONE);
}

#[test]
#[should_panic]
fn loom_a_stripe_that_is_not_announced_ends_the_scheduler_early() {
    tasks_outlive_their_worker(Flaws::only(Flaw::OpensSilently));
}

#[test]
#[should_panic]
fn loom_a_stripe_that_is_closed_in_two_steps_ends_the_scheduler_early() {
    tasks_outlive_their_worker(Flaws::only(Flaw::ClosesInTwoSteps));
}

#[test]
#[should_panic]
fn loom_relaxed_steps_free_the_scheduler_under_those_who_used_it() {
    tasks_outlive_their_worker(Flaws::only(Flaw::RelaxedSteps));
}

/// A spawn through a handle, after the runtime's end, against the last waker of an old task.
#[test]
fn loom_a_late_spawn_against_the_last_hold_frees_the_scheduler_once() {
    race::<2, _>(|| {
        let scheduler = Scheduler::new(Flaws::NONE);
        // Of an old task; the one strong reference that is left is a handle's.
        scheduler.take(None);
        let [outsider, handle] = [(); 2].map(|()| Rc::clone(&scheduler));
        is_freed_at_the_end(&scheduler)
            .thread(move || outsider.give(None))
            .thread(move || {
                handle.take(None);
                // The handle goes before the task that it made.
                handle.release(true);
                handle.give(None);
            })
    });
}

/// A worker starts while an outsider's task, made before, goes.
#[test]
fn loom_a_worker_that_starts_against_the_last_hold_frees_the_scheduler_once() {
    race::<2, _>(|| {
        let scheduler = Scheduler::new(Flaws::NONE);
        scheduler.take(None);
        let [outsider, worker] = [(); 2].map(|()| Rc::clone(&scheduler));
        is_freed_at_the_end(&scheduler)
            .thread(move || outsider.give(None))
            .thread(move || {
                worker.add(worker.holds.open(&worker.stripe));
                worker.take(Some(&worker.stripe));
                worker.give(Some(&worker.stripe));
                worker.release(worker.holds.close(&worker.stripe));
                // The runtime's.
                worker.release(true);
            })
    });
}
