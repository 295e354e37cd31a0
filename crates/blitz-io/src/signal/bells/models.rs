//! Loom models of bells: a signal after the registration is heard.
//! "Maximum number of branches" stands for a listener that waits for ever.

use super::*;
use crate::modelling::{Woken, block_on};
use blitz_core::checking::model::{Race, oversleeping_race, race};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Wake;

/// The pipe, as small as can be: it has room for one byte, and says once that there is something in it. The kernel's has a lock, so
/// that whoever empties it sees what was done before any write, also before one for which there was no room.
struct Pipe {
    full: AtomicUsize,
    event: Arc<Woken>,
}

/// A process with one signal.
struct Process {
    bells: Bells,
    pipe: Pipe,
}

type Ear = Listener<Way>;

/// The listener's way to the bells.
struct Way(Arc<Process>);

impl Deref for Way {
    type Target = Bells;

    fn deref(&self) -> &Bells {
        &self.0.bells
    }
}

impl Process {
    fn new(flaws: Flaws<Flaw>) -> Arc<Self> {
        Arc::new(Process {
            bells: Bells::with_flaws(1, flaws),
            pipe: Pipe {
                full: AtomicUsize::new(0),
                event: Woken::new(),
            },
        })
    }

    fn listener(self: &Arc<Self>) -> Ear {
        Listener::new(Way(self.clone()), 0)
    }

    /// What the handler does.
    fn signal(&self) {
        self.bells.ring(0);
        if self.pipe.full.swap(1, Ordering::AcqRel) == 0 {
            self.pipe.event.clone().wake();
        }
    }

    /// What a driver does, until `rings` have been answered.
    fn answer(&self, rings: usize) {
        while self.bells.bells[0].locked(|listeners| listeners.answered) < rings {
            self.pipe.event.wait();
            let empty = || {
                self.pipe.full.swap(0, Ordering::AcqRel);
            };
            self.bells.answer(empty);
        }
    }
}

/// Listens until `rings` have been heard, together or one by one.
fn hear(mut listener: Ear, rings: usize) {
    while listener.heard != rings {
        block_on(poll_fn(|cx| listener.poll(cx)));
    }
}

/// A listener that has been registered, a process that is sent signals, and a driver.
fn listener_signals_and_driver(flaws: Flaws<Flaw>, rings: usize) -> Race<()> {
    let process = Process::new(flaws);
    let listener = process.listener();
    let driver = process.clone();
    Race::new(|_| {})
        .thread(move || hear(listener, rings))
        .thread(move || (0..rings).for_each(|_| process.signal()))
        .thread(move || driver.answer(rings))
}

#[test]
fn loom_a_signal_after_the_registration_is_heard() {
    race::<3, _>(|| listener_signals_and_driver(Flaws::NONE, 1));
}

#[test]
fn loom_the_last_of_two_signals_is_heard() {
    race::<3, _>(|| listener_signals_and_driver(Flaws::NONE, 2));
}

#[test]
fn loom_two_listeners_both_hear() {
    race::<3, _>(|| {
        let process = Process::new(Flaws::NONE);
        let (first, second) = (process.listener(), process.listener());
        Race::new(|_| {})
            .thread(move || hear(first, 1))
            .thread(move || hear(second, 1))
            .thread(move || {
                process.signal();
                process.answer(1);
            })
    });
}

/// A listener that has been registered, and a process that is sent a signal and answers it.
fn listener_and_the_rest(flaws: Flaws<Flaw>) -> Race<()> {
    let process = Process::new(flaws);
    let listener = process.listener();
    Race::new(|_| {})
        .thread(move || hear(listener, 1))
        .thread(move || {
            process.signal();
            process.answer(1);
        })
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_listening_late_misses_a_signal() {
    oversleeping_race::<2, _>(|flawed| {
        listener_and_the_rest(Flaws::only_if(flawed, Flaw::ListensLate))
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_waiting_blindly_loses_a_wake_up() {
    oversleeping_race::<2, _>(|flawed| {
        listener_and_the_rest(Flaws::only_if(flawed, Flaw::WaitsBlindly))
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_emptying_the_pipe_late_swallows_a_signal() {
    oversleeping_race::<2, _>(|flawed| {
        let process = Process::new(Flaws::only_if(flawed, Flaw::EmptiesLate));
        let driver = process.clone();
        Race::new(|_| {})
            .thread(move || (0..2).for_each(|_| process.signal()))
            .thread(move || driver.answer(2))
    });
}
