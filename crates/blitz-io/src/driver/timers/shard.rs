//! A wheel and its lock: the timers that one thread has armed, more or less.
//!
//! Everything that happens to an armed entry happens under this lock. Wakers are called and dropped after it has been
//! released, because they are foreign code, which may arm or drop another timer.

use super::entry::{Entry, Flaw};
use super::wheel::{LAST_TICK, Wheel};
use crate::place::Tally;
use crate::primitives::{AtomicU64, Mutex, Ordering, ignore_poison};
use crate::wake_batch::WakeBatch;
use crate::waker_place::leave;
use std::task::Waker;

#[cfg(all(test, loom))]
#[path = "models.rs"]
mod models;

/// What became of an attempt to arm a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Armed {
    /// Nothing: it is due already.
    Due,
    /// The driver fires it.
    Waiting,
    /// As before, and somebody has to look at this shard at that tick: earlier than was known.
    First(u64),
}

#[derive(Debug)]
struct Guarded {
    wheel: Wheel,
    /// The runtime is going away: whoever waits is woken, and told so.
    closed: bool,
    counts: Tally,
}

/// A part of the runtime's timers.
#[derive(Debug)]
pub(super) struct Shard {
    guarded: Mutex<Guarded>,
    /// The tick at which somebody has to look at the wheel, written under the lock.
    next_look: AtomicU64,
}

impl Shard {
    pub(super) fn new() -> Self {
        Self {
            guarded: Mutex::new(Guarded {
                wheel: Wheel::new(),
                closed: false,
                counts: Tally::new(),
            }),
            next_look: AtomicU64::new(u64::MAX),
        }
    }

    fn locked<R>(&self, access: impl FnOnce(&mut Guarded) -> R) -> R {
        // Nothing unwinds in the middle of a change.
        let mut guarded = ignore_poison(self.guarded.lock());
        access(&mut guarded)
    }

    /// See the field.
    pub(super) fn next_look(&self) -> u64 {
        self.next_look.load(Ordering::Relaxed)
    }

    /// How many are armed, and how many have gone off.
    #[cfg(all(feature = "console", not(loom)))]
    pub(super) fn seen(&self) -> (u64, u64) {
        self.locked(|guarded| guarded.counts.get())
    }

    /// Arms an entry that is not armed. The waker is the caller's still if it is due already.
    ///
    /// # Safety
    /// The entry stays where it is until [`cancel`](Self::cancel) has been called or it has fired, and only its owner
    /// calls this, `rewake` and `cancel`, one at a time.
    pub(super) unsafe fn arm(&self, entry: &Entry, when: u64, waker: &mut Option<Waker>) -> Armed {
        let when = when.min(LAST_TICK);
        self.locked(|guarded| {
            if guarded.closed || when <= guarded.wheel.elapsed() {
                return Armed::Due;
            }
            // SAFETY: not armed, so its fields are the caller's; it stays until it is removed or handed out.
            let look = unsafe {
                entry.prepare(waker.take());
                guarded.wheel.insert(entry, when)
            };
            entry.set_armed();
            guarded.counts.armed();
            if look < self.next_look() {
                self.next_look.store(look, Ordering::Relaxed);
                Armed::First(look)
            } else {
                Armed::Waiting
            }
        })
    }

    /// Says whom an entry is to wake from now on. Returns whether it still waits.
    pub(super) fn rewake(&self, entry: &Entry, waker: &Waker) -> bool {
        leave(waker, |waker| {
            self.locked(|guarded| {
                let _lock_is_what_counts = guarded;
                if !entry.is_armed_under_lock() {
                    return Some(false);
                }
                // SAFETY: armed, and the lock is held.
                let left = unsafe { entry.fields(|fields| waker.at(&mut fields.waker)) };
                left.map(|()| true)
            })
        })
    }

    /// Takes an entry out, if it is in, and returns whom it would have woken. Afterwards the driver does not know of it.
    pub(super) fn cancel(&self, entry: &Entry) -> Option<Waker> {
        if !entry.may_be_armed() {
            return None;
        }
        self.locked(|guarded| {
            if !entry.is_armed_under_lock() {
                return None;
            }
            // SAFETY: armed entries are linked in their shard's wheel, and the lock is held.
            let (emptied, when, waker) = unsafe {
                let emptied = guarded.wheel.remove(entry);
                entry.fields(|fields| (emptied, fields.when, fields.waker.take()))
            };
            entry.set_idle();
            guarded.counts.cancelled();
            if emptied || when <= self.next_look() {
                self.next_look
                    .store(guarded.wheel.next_look(), Ordering::Relaxed);
            }
            waker
        })
    }

    /// Fires timers that are due at `now` until the batch is full. Returns whether there may be more of them.
    pub(super) fn fire(&self, now: u64, batch: &mut WakeBatch) -> bool {
        if self.next_look() > now {
            return false;
        }
        self.locked(|guarded| {
            while !batch.is_full() {
                let Some(entry) = guarded.wheel.pop_due(now) else {
                    // If a portion has been spread there may be more, which has to be done soon, but not before those who
                    // have been woken have had their turn.
                    let next_look = if guarded.wheel.spread_early() {
                        now
                    } else {
                        guarded.wheel.next_look()
                    };
                    self.next_look.store(next_look, Ordering::Relaxed);
                    return false;
                };
                guarded.counts.fired();
                // SAFETY: just taken out of the wheel, still armed, and the lock is held.
                unsafe { Self::release(entry, batch) };
            }
            true
        })
    }

    /// Fires everything, whatever its time, until the batch is full, and accepts no more timers. Returns whether
    /// there is more.
    pub(super) fn close(&self, batch: &mut WakeBatch) -> bool {
        self.locked(|guarded| {
            guarded.closed = true;
            while !batch.is_full() {
                let Some(entry) = guarded.wheel.pop_any() else {
                    self.next_look.store(u64::MAX, Ordering::Relaxed);
                    return false;
                };
                guarded.counts.cancelled();
                // SAFETY: as in `fire`.
                unsafe { Self::release(entry, batch) };
            }
            true
        })
    }

    /// Moves an entry's waker to the batch and lets go of it.
    ///
    /// # Safety
    /// The entry is armed, no longer linked, and the lock is held.
    unsafe fn release(entry: *const Entry, batch: &mut WakeBatch) {
        // SAFETY: an armed entry is alive.
        let entry = unsafe { &*entry };
        if entry.flaws.has(Flaw::LetsGoTooEarly) {
            entry.set_fired();
        }
        // SAFETY: armed, and the lock is held.
        batch.extend(unsafe { entry.fields(|fields| fields.waker.take()) });
        entry.set_fired();
    }
}
