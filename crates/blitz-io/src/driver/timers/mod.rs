//! Timers: many wheels, one per lock, so that threads that arm timers at once do not wait for each other.
//!
//! A timer belongs to the shard of the thread that arms it, until it has fired. The driver goes through all the shards in
//! each turn; one that has nothing due costs it a load.

mod entry;
mod shard;
mod wheel;

use self::entry::Entry;
use self::shard::{Armed, Shard};
use super::Handle;
use crate::wake_batch::WakeBatch;
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// A tick in nanoseconds, a 32nd of a millisecond: how late a timer may be for the sake of being handled with others.
/// Whole milliseconds are whole ticks, so that a paused clock shows round figures.
const TICK: u64 = 31_250;

/// The first tick that is not before `nanos`.
pub(crate) fn tick_after(nanos: u64) -> u64 {
    nanos.div_ceil(TICK)
}

/// The last tick that is not after `nanos`.
pub(crate) fn tick_at(nanos: u64) -> u64 {
    nanos / TICK
}

/// The time of a tick.
pub(crate) fn nanos_of(tick: u64) -> u64 {
    tick.saturating_mul(TICK)
}

/// All timers of a runtime.
#[derive(Debug)]
pub(crate) struct Timers {
    shards: Box<[CachePadded<Shard>]>,
    /// Nobody will fire them any more.
    closed: AtomicBool,
}

impl Timers {
    pub(crate) fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        Self {
            shards: (0..threads.next_power_of_two().min(16))
                .map(|_| CachePadded::new(Shard::new()))
                .collect(),
            closed: AtomicBool::new(false),
        }
    }

    /// The tick at which somebody has to look, `u64::MAX` for never.
    pub(crate) fn next_look(&self) -> u64 {
        let ticks = self.shards.iter().map(|shard| shard.next_look());
        ticks.min().unwrap_or(u64::MAX)
    }

    /// Timers that are armed, and how many have gone off.
    #[cfg(all(feature = "console", not(loom)))]
    pub(crate) fn seen(&self) -> (u64, u64) {
        let all = self.shards.iter().map(|shard| shard.seen());
        all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Fires all that is due at tick `now` and returns how many wakers were called.
    pub(crate) fn fire(&self, now: u64, batch: &mut WakeBatch) -> usize {
        self.each(batch, |shard, batch| shard.fire(now, batch))
    }

    /// Wakes everybody who waits, and who will: the next poll says that the runtime has ended.
    pub(crate) fn close(&self, batch: &mut WakeBatch) -> usize {
        // Whoever finds its timer fired by this, or its shard closed, has synchronized with it.
        self.closed.store(true, Ordering::Relaxed);
        self.each(batch, Shard::close)
    }

    fn each(&self, batch: &mut WakeBatch, step: impl Fn(&Shard, &mut WakeBatch) -> bool) -> usize {
        let mut called = 0;
        for shard in &self.shards {
            while step(shard, batch) {
                called += batch.wake();
            }
        }
        called + batch.wake()
    }

    /// The shard of this thread: threads take turns.
    fn shard_of_thread(&self) -> usize {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
        }
        let number = NUMBER.get().unwrap_or_else(|| {
            let number = THREADS.fetch_add(1, Ordering::Relaxed);
            NUMBER.set(Some(number));
            number
        });
        // There is a power of two of them.
        number & (self.shards.len() - 1)
    }
}

/// Begins as [`crate::runtime::SHUT_DOWN`].
const ENDED: &str = "A Tokio 1.x context was found, but it is being shutdown. (The timer cannot go off any more: the runtime that it was made in has ended.)";

/// A timer that somebody can wait for. Does nothing before it is polled.
#[derive(Debug)]
pub(crate) struct Timer {
    entry: Entry,
    handle: Arc<Handle>,
    /// Where it is armed; of no meaning otherwise.
    shard: usize,
    deadline: Instant,
}

impl Timer {
    /// Few of them are ever armed: nothing is computed before that.
    #[inline]
    pub(crate) fn new(handle: Arc<Handle>, deadline: Instant) -> Self {
        Self {
            entry: Entry::new(),
            shard: 0,
            handle,
            deadline,
        }
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The tick at which it is due.
    fn when(&self) -> u64 {
        tick_after(self.handle.clock.nanos_at(self.deadline))
    }

    /// Whether it has been seen to be over.
    pub(crate) fn has_fired(&self) -> bool {
        self.entry.has_fired() && !self.will_not_come()
    }

    /// Has the runtime ended before its time?
    fn will_not_come(&self) -> bool {
        self.handle.timers.closed.load(Ordering::Relaxed)
            && self.when() > tick_after(self.handle.clock.nanos())
    }

    fn shard(&self) -> &Shard {
        &self.handle.timers.shards[self.shard]
    }

    /// Gives it another time; whoever waits for it waits on. Constant time.
    pub(crate) fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let mut waiting = self.shard().cancel(&self.entry);
        self.entry.set_idle();
        // SAFETY: nothing is moved.
        let this = unsafe { self.get_unchecked_mut() };
        this.deadline = deadline;
        if waiting.is_some() && this.arm(&mut waiting).is_ready() {
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    /// Whether its time is up; arms it if not.
    ///
    /// # Panics
    /// If the runtime has ended, and the time is not up. Waiting for ever would be worse, and so would be a time that passes at once.
    pub(crate) fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved.
        let this = unsafe { self.get_unchecked_mut() };
        let poll = this.poll_entry(cx);
        if poll.is_ready() {
            assert!(!this.will_not_come(), "{ENDED}");
        }
        poll
    }

    fn poll_entry(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.entry.has_fired() {
            return Poll::Ready(());
        }
        if self.entry.may_be_armed() {
            return if self.shard().rewake(&self.entry, cx.waker()) {
                Poll::Pending
            } else {
                Poll::Ready(())
            };
        }
        self.arm(&mut Some(cx.waker().clone()))
    }

    /// For the owner of a pinned timer that is not armed: arms it, unless its time is up. Then the waker stays the caller's.
    fn arm(&mut self, waker: &mut Option<Waker>) -> Poll<()> {
        self.shard = self.handle.timers.shard_of_thread();
        let when = self.when();
        if when > tick_at(self.handle.clock.nanos()) {
            // SAFETY: it is pinned and cancels itself when it is dropped, and the caller is the owner.
            match unsafe { self.shard().arm(&self.entry, when, waker) } {
                Armed::Due => {}
                Armed::Waiting => return Poll::Pending,
                Armed::First(look) => {
                    self.handle.timer_is_first(look);
                    return Poll::Pending;
                }
            }
        }
        self.entry.set_fired();
        Poll::Ready(())
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        if self.entry.may_be_armed() {
            drop(self.shard().cancel(&self.entry));
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
