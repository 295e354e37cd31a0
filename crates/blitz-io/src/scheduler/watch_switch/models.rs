//! Loom models of the switch: a worker leaves a task lying while the watcher is about to rest.

use super::*;
use crate::primitives::AtomicUsize;
use blitz_core::checking::model::{Race, race};
use std::rc::Rc;

fn task_against_rest(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let shared = Rc::new((WatchSwitch::with_flaws(true, flaws), AtomicUsize::new(0)));
        let (worker, watcher) = (shared.clone(), shared);
        Race::new(|done: Vec<bool>| {
            let (told, rests) = (done[0], done[1]);
            assert!(told || !rests, "a task lies there, and nobody watches");
        })
        .thread(move || {
            let (switch, tasks) = &*worker;
            tasks.store(1, Ordering::Relaxed);
            switch.is_off() && switch.turn_on()
        })
        .thread(move || {
            let (switch, tasks) = &*watcher;
            switch.turn_off_unless(|| tasks.load(Ordering::Relaxed) > 0)
        })
    });
}

#[test]
fn loom_a_task_that_is_left_lying_is_watched() {
    task_against_rest(Flaws::NONE);
}

#[test]
#[should_panic(expected = "nobody watches")]
fn loom_a_watcher_that_looks_before_it_rests_misses_a_task() {
    task_against_rest(Flaws::only(Flaw::LooksTooEarly));
}

#[test]
#[should_panic(expected = "nobody watches")]
fn loom_a_worker_that_does_not_fence_misses_that_the_watcher_rests() {
    task_against_rest(Flaws::only(Flaw::DoesNotFence));
}
