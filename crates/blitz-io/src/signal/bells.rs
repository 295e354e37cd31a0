//! Counts of signals, and their listeners.
//!
//! Each signal has a bell. A handler *rings* it: one atomic addition, no lock, nothing that could be interrupted halfway. Then it writes to
//! a pipe. The thread that reads the pipe *answers*: it empties the pipe, and wakes the listeners of all bells that have rung since the last time.
//!
//! **No signal is missed.** When a listener is made, it notes a count: that of the last ring that has reached anybody. It has something to hear whenever the
//! count is different, whether or not it has been polled before. So it also hears a ring just before it, if there was no other listener.
//!
//! **No wake-up is lost.** The count goes up before the byte is written, and the answer reads the counts after it has emptied the pipe. So a
//! byte that is swallowed together with others (or that did not fit) stands for a ring that the answer sees. A listener leaves its waker under the
//! lock, after it has read the count there. If it comes before the answer, the answer finds the waker. If it comes after, it sees
//! the count that the answer has seen.

use crate::primitives::{AtomicUsize, Mutex, Ordering, ignore_poison};
use crate::wake_batch::WakeBatch;
use crate::waker_place::leave;
use blitz_core::checking::Flaws;
use slab::Slab;
use std::ops::Deref;
use std::task::{Context, Poll, Waker};

#[cfg(all(test, loom))]
mod models;

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// Note the count at the first poll only.
    ListensLate,
    /// Look at the count, and leave a waker in another step.
    WaitsBlindly,
    /// Look at the counts, and empty the pipe afterwards.
    EmptiesLate,
}

/// A bell for each signal.
#[derive(Debug)]
pub(super) struct Bells {
    bells: Vec<Bell>,
    flaws: Flaws<Flaw>,
}

#[derive(Debug)]
struct Bell {
    /// How often it has rung. What counts is only whether it has changed.
    rung: AtomicUsize,
    listeners: Mutex<Listeners>,
}

#[derive(Debug, Default)]
struct Listeners {
    /// The count at the last answer.
    answered: usize,
    /// The count of the last ring that somebody has heard, or that has been answered although nobody was there to hear it.
    settled: usize,
    wakers: Slab<Option<Waker>>,
}

impl Bells {
    pub(super) fn new(number: usize) -> Self {
        Self::with_flaws(number, Flaws::NONE)
    }

    fn with_flaws(number: usize, flaws: Flaws<Flaw>) -> Self {
        let bell = |_| Bell {
            rung: AtomicUsize::new(0),
            listeners: Mutex::new(Listeners::default()),
        };
        Bells {
            bells: (0..number).map(bell).collect(),
            flaws,
        }
    }

    /// How many there are.
    #[cfg(unix)]
    pub(super) fn number(&self) -> usize {
        self.bells.len()
    }

    /// Called in signal handlers.
    pub(super) fn ring(&self, number: usize) {
        self.bells[number].rung.fetch_add(1, Ordering::AcqRel);
    }

    /// There is something in the pipe, which `empty` empties: wakes the listeners of the bells that have rung.
    pub(super) fn answer(&self, empty: impl FnOnce()) {
        if self.flaws.has(Flaw::EmptiesLate) {
            self.wake_those_with_news();
            empty();
        } else {
            empty();
            self.wake_those_with_news();
        }
    }

    fn wake_those_with_news(&self) {
        self.wake(|listeners, rung| {
            listeners.settled = rung;
            std::mem::replace(&mut listeners.answered, rung) != rung
        });
    }

    /// Wakes everybody.
    #[cfg(unix)]
    pub(super) fn wake_all(&self) {
        self.wake(|_, _| true);
    }

    fn wake(&self, mut whom: impl FnMut(&mut Listeners, usize) -> bool) {
        let mut batch = WakeBatch::new();
        for bell in &self.bells {
            bell.locked(|listeners| {
                if whom(listeners, bell.count()) {
                    let wakers = listeners.wakers.iter_mut();
                    batch.extend(wakers.filter_map(|(_, waker)| waker.take()));
                }
            });
        }
        batch.wake();
    }
}

impl Bell {
    fn count(&self) -> usize {
        self.rung.load(Ordering::Acquire)
    }

    fn locked<R>(&self, access: impl FnOnce(&mut Listeners) -> R) -> R {
        let listeners = self.listeners.lock();
        let mut guarded = ignore_poison(listeners);
        access(&mut guarded)
    }
}

/// Somebody who listens to one bell.
#[derive(Debug)]
pub(super) struct Listener<B: Deref<Target = Bells>> {
    bells: B,
    number: usize,
    /// The count of the last ring that has been heard.
    heard: usize,
    place: Option<usize>,
}

impl<B: Deref<Target = Bells>> Listener<B> {
    /// Hears every ring from now on, and one just before that has reached nobody yet.
    pub(super) fn new(bells: B, number: usize) -> Self {
        Listener {
            heard: bells.bells[number].locked(|listeners| listeners.settled),
            bells,
            number,
            place: None,
        }
    }

    /// Whether it has rung since this was ready the last time.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self {
            bells,
            number,
            heard,
            place,
        } = self;
        let bell = &bells.bells[*number];
        if bells.flaws.has(Flaw::ListensLate) && place.is_none() {
            *heard = bell.count();
        }
        let mut news = |listeners: &mut Listeners| {
            let count = bell.count();
            let news = std::mem::replace(heard, count) != count;
            if news {
                listeners.settled = count;
            }
            news
        };
        if bells.flaws.has(Flaw::WaitsBlindly) && bell.locked(&mut news) {
            return Poll::Ready(());
        }
        leave(cx.waker(), |waker| {
            bell.locked(|listeners| {
                if !bells.flaws.has(Flaw::WaitsBlindly) && news(listeners) {
                    return Some(Poll::Ready(()));
                }
                let place = *place.get_or_insert_with(|| listeners.wakers.insert(None));
                let left = waker.at(&mut listeners.wakers[place]);
                left.map(|()| Poll::Pending)
            })
        })
    }
}

impl<B: Deref<Target = Bells>> Drop for Listener<B> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            let bell = &self.bells.bells[self.number];
            let waker = bell.locked(|listeners| listeners.wakers.remove(place));
            drop(waker);
        }
    }
}
