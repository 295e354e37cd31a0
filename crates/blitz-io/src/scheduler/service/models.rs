//! Loom models of workers that leave the driver to each other, with the engine's count of those who sleep.

use super::*;
use blitz_core::checking::model::{Race, race};
use blitz_core::primitives::AtomicCounters;
use std::rc::Rc;

/// Two workers end their slices and fall asleep, as the engine's threads do. `looks_again`: once they are counted among those who sleep, too.
fn late_workers(looks_again: bool) {
    race::<2, _>(move || {
        let shared = Rc::new(([Service::new(), Service::new()], AtomicCounters::new()));
        let (workers, counters) = &*shared;
        for worker in workers {
            counters.add_inactive();
            worker.goes_on();
        }
        // Somebody else gets sleepy, too: saying so once more is no more than a look.
        counters.announce_sleepy();
        let falls_asleep = |me: usize| {
            let shared = shared.clone();
            move || {
                let (workers, counters) = &*shared;
                let leaves_driver = || leaves_driver_to(workers.iter());
                workers[me].ends();
                let announced = counters.announce_sleepy();
                let first = leaves_driver();
                let asleep = counters.try_add_sleeping(announced, 0);
                let last = if looks_again { leaves_driver() } else { first };
                first && last && asleep
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
fn loom_late_workers_that_do_not_look_again_leave_the_driver_to_each_other() {
    late_workers(false);
}
