//! Loom models of the alarm: a timer that is armed while a thread goes to sleep is not slept through.

use super::*;
use crate::primitives::AtomicU64;
use blitz_core::checking::model::{Race, race};
use std::rc::Rc;

/// Remembers, in nanoseconds, what it was set to last.
struct Memory(Mutex<Option<u64>>);

impl Device for Memory {
    const INTERRUPTS: bool = false;

    fn set(&self, after: Duration) {
        *self.0.lock().unwrap() = Some(after.as_nanos() as u64);
    }

    fn time_out(&self, _until: Duration) -> Option<Duration> {
        None
    }
}

struct Scene {
    alarm: Alarm<Memory>,
    /// The earliest timer, as the shards publish it.
    next_look: AtomicU64,
}

/// A clock that stands at its start.
fn running(tick: u64) -> Option<Duration> {
    Some(Duration::from_nanos(tick))
}

/// Two threads arm a timer, the earlier one for tick 3, while a third goes to sleep.
fn sleeping_and_arming(flaws: Flaws<Flaw>) {
    fn arm(scene: &Scene, when: u64) {
        // As a shard does under its lock.
        let mut before = scene.next_look.load(Ordering::Relaxed);
        while when < before {
            match scene.next_look.compare_exchange(
                before,
                when,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    scene.alarm.move_forward(when, running);
                    return;
                }
                Err(now) => before = now,
            }
        }
    }
    race::<3, _>(move || {
        let sleeper = Rc::new(Scene {
            alarm: Alarm::with_flaws(Memory(Mutex::new(None)), flaws),
            next_look: AtomicU64::new(u64::MAX),
        });
        let (early, late, state) = (sleeper.clone(), sleeper.clone(), sleeper.clone());
        Race::new(move |_| {
            // It sleeps now, and nobody else does anything.
            let set_to = *state.alarm.device.0.lock().unwrap();
            assert_eq!(set_to, Some(3), "slept through");
        })
        .thread(move || {
            let next_look = || sleeper.next_look.load(Ordering::Relaxed);
            sleeper.alarm.begin(next_look, running);
        })
        .thread(move || arm(&early, 3))
        .thread(move || arm(&late, 8))
    });
}

#[test]
fn loom_no_timer_is_slept_through() {
    sleeping_and_arming(Flaws::NONE);
}

#[test]
#[should_panic(expected = "slept through")]
fn loom_without_a_fence_a_timer_is_slept_through() {
    sleeping_and_arming(Flaws::only(Flaw::NoFence));
}

#[test]
#[should_panic(expected = "slept through")]
fn loom_a_look_before_the_lock_sets_the_alarm_back() {
    sleeping_and_arming(Flaws::only(Flaw::LooksBeforeTheLock));
}

/// A thread goes to sleep for a timer of tick 3 while the clock, which was stopped and stood at 0, goes on; when the sleeper has been interrupted it
/// waits again. The device had been set before the clock was stopped.
fn waiting_while_the_clock_goes_on(flaws: Flaws<Flaw>) {
    struct Clocked {
        alarm: Alarm<Memory>,
        goes: AtomicBool,
    }
    fn wait(scene: &Clocked) {
        let until = |tick| {
            let goes = scene.goes.load(Ordering::Relaxed);
            goes.then(|| Duration::from_nanos(tick))
        };
        scene.alarm.begin(|| 3, until);
    }
    race::<2, _>(move || {
        let alarm = Alarm::with_flaws(Memory(Mutex::new(None)), flaws);
        alarm.begin(|| 3, running);
        // That event has come, when it meant nothing.
        *alarm.device.0.lock().unwrap() = None;
        let goes = AtomicBool::new(false);
        let sleeper = Rc::new(Clocked { alarm, goes });
        let (changer, state) = (sleeper.clone(), sleeper.clone());
        Race::new(move |_| {
            // It has been interrupted.
            wait(&state);
            let set_to = *state.alarm.device.0.lock().unwrap();
            assert_eq!(set_to, Some(3), "slept through");
        })
        .thread(move || wait(&sleeper))
        .thread(move || {
            changer.goes.store(true, Ordering::Relaxed);
            changer.alarm.forget();
        })
    });
}

#[test]
fn loom_no_timer_is_slept_through_when_the_clock_goes_on() {
    waiting_while_the_clock_goes_on(Flaws::NONE);
}

#[test]
#[should_panic(expected = "slept through")]
fn loom_with_the_old_setting_a_timer_is_slept_through_when_the_clock_goes_on() {
    waiting_while_the_clock_goes_on(Flaws::only(Flaw::TrustsTheOldSetting));
}
