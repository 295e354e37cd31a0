//! Loom models of workers that leave the driver to each other: the lines of `Scheduler::caller_leaves_driver`, and the engine's count of those who sleep, repeated.

use crate::primitives::{AtomicBool, AtomicUsize, Ordering};
use blitz_core::checking::model::{Race, race};
use std::rc::Rc;

/// Two workers that came late end their slices and fall asleep. `counts`: each enters itself in the count before its last look.
fn late_workers(counts: bool) {
    race::<2, _>(move || {
        let shared = Rc::new((
            [AtomicBool::new(true), AtomicBool::new(true)],
            AtomicUsize::new(0),
        ));
        let falls_asleep = |me: usize| {
            let shared = shared.clone();
            move || {
                let (serving, sleeping) = &*shared;
                serving[me].store(false, Ordering::Relaxed);
                if counts {
                    sleeping.fetch_add(1, Ordering::SeqCst);
                }
                serving[1 - me].load(Ordering::Relaxed)
            }
        };
        Race::new(|left: Vec<bool>| {
            assert!(!left[0] || !left[1], "nobody is in the driver");
        })
        .thread(falls_asleep(0))
        .thread(falls_asleep(1))
    });
}

#[test]
fn loom_one_of_two_late_workers_stays_in_the_driver() {
    late_workers(true);
}

#[test]
#[should_panic(expected = "nobody is in the driver")]
fn loom_late_workers_that_are_not_counted_first_leave_the_driver_to_each_other() {
    late_workers(false);
}
