//! One socket as the driver sees it: its readiness, and who waits for it.
//!
//! Any number of tasks may wait at once, for reading or for writing. An event wakes all tasks that wait for it, and those that find
//! nothing left wait again. So a task that is cancelled does not take a wake-up with it.
//!
//! **No wake-up is lost.** The driver changes the word, and then takes the lock to collect wakers. A waiter takes the lock, reads the word,
//! and only then leaves its waker. If the waiter comes first, the driver finds its waker. If the driver comes first, the waiter
//! sees the word.

use super::readiness::{Flaw, Readiness, Ready, Seen};
use crate::primitives::{Mutex, Ordering, atomic::AtomicUsize, ignore_poison};
use crate::wake_batch::WakeBatch;
use crate::waker_place::leave;
use blitz_core::checking::Flaws;
use slab::Slab;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

#[cfg(all(test, loom))]
#[path = "source_models.rs"]
mod models;

/// A way of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Write,
}

impl Way {
    pub(crate) fn wanted(self) -> Ready {
        match self {
            Way::Read => Ready::FOR_READ,
            Way::Write => Ready::FOR_WRITE,
        }
    }
}

/// The state of one registered socket.
#[derive(Debug)]
pub(crate) struct Source {
    readiness: Readiness,
    waiters: Mutex<Waiters>,
}

#[derive(Debug, Default)]
struct Waiters {
    /// The one task that uses `poll_read` and the like, and the one for `poll_write`: no memory for these.
    own: [Option<Waker>; 2],
    /// All others. `None` for those that have been woken and have not come back yet.
    others: Slab<(Ready, Option<Waker>)>,
}

impl Source {
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Self {
            readiness: Readiness::with_flaws(flaws),
            waiters: Mutex::new(Waiters::default()),
        }
    }

    pub(crate) fn readiness(&self) -> &Readiness {
        &self.readiness
    }

    fn locked<R>(&self, access: impl FnOnce(&mut Waiters) -> R) -> R {
        let mut guarded = ignore_poison(self.waiters.lock());
        access(&mut guarded)
    }

    /// The driver has had an event: remembers it and collects the wakers.
    pub(super) fn event(&self, ready: Ready, batch: &mut WakeBatch) {
        self.readiness.add(ready);
        self.collect(ready, batch);
    }

    /// The driver is going away.
    pub(super) fn close(&self, batch: &mut WakeBatch) {
        self.readiness.close();
        self.collect(Ready::FOR_READ | Ready::FOR_WRITE, batch);
    }

    fn collect(&self, ready: Ready, batch: &mut WakeBatch) {
        self.locked(|waiters| {
            for way in [Way::Read, Way::Write] {
                if ready.intersects(way.wanted()) {
                    batch.extend(waiters.own[way as usize].take());
                }
            }
            for (_, (wanted, waker)) in &mut waiters.others {
                if ready.intersects(*wanted) {
                    batch.extend(waker.take());
                }
            }
        });
    }

    /// Waits in the place that each way has for one task: a second one takes it from the first.
    pub(crate) fn poll_ready(&self, way: Way, cx: &mut Context<'_>) -> Poll<Seen> {
        self.poll_ready_for(way, way.wanted(), cx)
    }

    /// As [`poll_ready`](Self::poll_ready), for a part of what the way is for.
    pub(crate) fn poll_ready_for(
        &self,
        way: Way,
        wanted: Ready,
        cx: &mut Context<'_>,
    ) -> Poll<Seen> {
        self.poll_place(wanted, cx, |waiters| &mut waiters.own[way as usize])
    }

    /// Looks at the word, and leaves the waker at a place if that does not say what is wanted.
    fn poll_place(
        &self,
        wanted: Ready,
        cx: &mut Context<'_>,
        mut place: impl FnMut(&mut Waiters) -> &mut Option<Waker>,
    ) -> Poll<Seen> {
        let seen = self.readiness.get();
        if seen.satisfies(wanted) {
            return Poll::Ready(seen);
        }
        leave(cx.waker(), |waker| {
            self.locked(|waiters| {
                let seen = self.readiness.get();
                if seen.satisfies(wanted) && !self.readiness.flaws.has(Flaw::WaitsBlindly) {
                    return Some(Poll::Ready(seen));
                }
                waker.at(place(waiters)).map(|()| Poll::Pending)
            })
        })
    }
}

/// One of any number that wait for a source. Gives up its place when it is dropped.
#[derive(Debug)]
pub(crate) struct Waiter<'a> {
    source: &'a Source,
    wanted: Ready,
    key: Option<usize>,
}

impl<'a> Waiter<'a> {
    pub(crate) fn new(source: &'a Source, wanted: Ready) -> Self {
        Self {
            source,
            wanted,
            key: None,
        }
    }

    /// Whether it need not wait (any more).
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Seen> {
        let Self {
            source,
            wanted,
            key,
        } = self;
        source.poll_place(*wanted, cx, |waiters| {
            let key = *key.get_or_insert_with(|| waiters.others.insert((*wanted, None)));
            &mut waiters.others[key].1
        })
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let place = self.source.locked(|waiters| waiters.others.remove(key));
            drop(place);
        }
    }
}

/// All sources of a driver.
///
/// The key of a source is its token with the kernel. Events that a turn has fetched may name a source that has been
/// deregistered since. Its key is not given to another one before the next turn begins, when those events have been
/// dealt with: so an event never reaches the wrong socket, and nothing is ever freed under the driver's hands.
#[derive(Debug)]
pub(super) struct Sources {
    table: Mutex<Table>,
    number: AtomicUsize,
}

#[derive(Debug, Default)]
struct Table {
    sources: Slab<Arc<Source>>,
    /// Keys that nobody has any more.
    retired: Vec<usize>,
    closed: bool,
}

impl Sources {
    pub(super) fn new() -> Self {
        Self {
            table: Mutex::new(Table::default()),
            number: AtomicUsize::new(0),
        }
    }

    fn locked<R>(&self, access: impl FnOnce(&mut Table) -> R) -> R {
        let mut guarded = ignore_poison(self.table.lock());
        access(&mut guarded)
    }

    /// Whether there are any.
    pub(super) fn is_empty(&self) -> bool {
        self.number.load(Ordering::Relaxed) == 0
    }

    /// How many there are.
    #[cfg(all(feature = "console", not(loom)))]
    pub(super) fn len(&self) -> usize {
        self.number.load(Ordering::Relaxed)
    }

    /// A new source and its key; `None` if the driver is gone.
    pub(super) fn add(&self) -> Option<(usize, Arc<Source>)> {
        self.number.fetch_add(1, Ordering::Relaxed);
        let added = self.locked(|table| {
            if table.closed {
                return None;
            }
            let source = Arc::new(Source::new());
            Some((table.sources.insert(source.clone()), source))
        });
        if added.is_none() {
            self.number.fetch_sub(1, Ordering::Relaxed);
        }
        added
    }

    /// Nobody has this source any more, and the kernel has forgotten it.
    pub(super) fn retire(&self, key: usize) {
        self.number.fetch_sub(1, Ordering::Relaxed);
        self.locked(|table| table.retired.push(key));
    }

    /// A turn begins: there are no events of an earlier one left.
    pub(super) fn recycle(&self) {
        let gone = self.locked(|table| {
            let Table {
                sources, retired, ..
            } = table;
            // Nearly always.
            if retired.is_empty() {
                return Vec::new();
            }
            retired.drain(..).map(|key| sources.remove(key)).collect()
        });
        // A source may hold the last waker of a task.
        drop(gone);
    }

    /// Tells the sources of their events and calls wakers; returns how many.
    pub(super) fn dispatch(
        &self,
        events: impl IntoIterator<Item = (usize, Ready)>,
        batch: &mut WakeBatch,
    ) -> usize {
        let mut events = events.into_iter();
        let mut called = 0;
        loop {
            let over = self.locked(|table| {
                while !batch.is_full() {
                    let Some((key, ready)) = events.next() else {
                        return true;
                    };
                    if let Some(source) = table.sources.get(key) {
                        source.event(ready, batch);
                    }
                }
                false
            });
            called += batch.wake();
            if over {
                return called;
            }
        }
    }

    /// No more events: everybody who waits is told so.
    pub(super) fn close(&self, batch: &mut WakeBatch) -> usize {
        let sources: Vec<_> = self.locked(|table| {
            table.closed = true;
            table
                .sources
                .iter()
                .map(|(_, source)| source.clone())
                .collect()
        });
        for source in &sources {
            source.close(batch);
        }
        batch.wake()
    }
}
