//! Loom models of a source: nobody waits for something that is there.
//! "Maximum number of branches" stands for a task that sleeps for ever.

use super::*;
use crate::modelling::Woken;
use blitz_core::checking::model::{Race, oversleeping_race, race};
use std::rc::Rc;

/// A source, and the data that the kernel has for it.
struct Socket {
    source: Source,
    bytes: AtomicUsize,
}

impl Socket {
    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        Rc::new(Self {
            source: Source::with_flaws(flaws),
            bytes: AtomicUsize::new(0),
        })
    }

    /// The kernel has data, and the driver hears of it.
    fn arrive(&self) {
        self.bytes.fetch_add(1, Ordering::AcqRel);
        let mut batch = WakeBatch::new();
        self.source.event(Ready::READABLE, &mut batch);
        batch.wake();
    }

    /// Reads once, as `poll_io` does, with `poll_ready` to wait.
    fn read(&self, mut poll_ready: impl FnMut(&mut Context<'_>) -> Poll<Seen>) {
        loop {
            let woken = Woken::new();
            let waker = Waker::from(woken.clone());
            match poll_ready(&mut Context::from_waker(&waker)) {
                Poll::Pending => woken.wait(),
                Poll::Ready(seen) => {
                    if self.bytes.load(Ordering::Acquire) != 0 {
                        return;
                    }
                    self.source.readiness.forget(seen, Ready::FOR_READ);
                }
            }
        }
    }

    fn read_alone(&self) {
        self.read(|cx| self.source.poll_ready(Way::Read, cx));
    }

    fn read_among_others(&self) {
        let mut waiter = Waiter::new(&self.source, Ready::FOR_READ);
        self.read(|cx| waiter.poll(cx));
    }
}

/// A reader that was told of data that is not there any more, and data that arrives.
fn reader_and_driver(flaws: Flaws<Flaw>) -> Race<()> {
    let reader = Socket::new(flaws);
    reader.source.readiness.add(Ready::READABLE);
    let driver = reader.clone();
    Race::new(|_| {})
        .thread(move || reader.read_alone())
        .thread(move || driver.arrive())
}

#[test]
fn loom_a_reader_that_waits_is_woken() {
    race::<2, _>(|| reader_and_driver(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_forgetting_blindly_loses_an_event() {
    oversleeping_race::<2, _>(|flawed| {
        reader_and_driver(Flaws::only_if(flawed, Flaw::ForgetsBlindly))
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_waiting_blindly_loses_an_event() {
    oversleeping_race::<2, _>(|flawed| {
        reader_and_driver(Flaws::only_if(flawed, Flaw::WaitsBlindly))
    });
}

#[test]
fn loom_two_readers_that_wait_are_both_woken() {
    race::<3, _>(|| {
        let first = Socket::new(Flaws::NONE);
        let (second, driver) = (first.clone(), first.clone());
        Race::new(|_| {})
            .thread(move || first.read_among_others())
            .thread(move || second.read_alone())
            .thread(move || driver.arrive())
    });
}
