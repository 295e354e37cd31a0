//! Rings of events: one per thread, written by that thread only.
//!
//! An event is two words, both atomic, so that a reader that comes while the owner still writes (a thread may be in the middle of
//! an event when the recording is switched off) sees old or new words, never undefined ones. `written` is stored after
//! the words it counts, with release, and loaded by the reader with acquire: all but the newest lap is complete. The reader
//! leaves out the oldest events of a ring that has gone round, which are those that may be overwritten under its eyes.

use super::timeline::{Kind, Phase};
use crate::clock::ticks;
use crate::sync::AtomicU64;
use crate::sync::ignore_poison;
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Events that a ring holds.
pub(super) const CAPACITY: usize = 1 << 14;

/// The number of the recording under way; even: none is.
static RECORDING: AtomicU64 = AtomicU64::new(0);

/// All rings of threads that have ever recorded and are alive, or have recorded since the last start.
static RINGS: Mutex<Vec<Arc<Ring>>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: RefCell<Option<Arc<Ring>>> = const { RefCell::new(None) };
}

/// One thread's events.
pub(super) struct Ring {
    pub(super) name: String,
    /// Which recording the events belong to.
    recording: AtomicU64,
    /// How many events were written in it.
    written: AtomicU64,
    slots: Box<[Slot]>,
}

struct Slot {
    at: AtomicU64,
    what: AtomicU64,
}

/// An event as it lies in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raw {
    pub(super) at: u64,
    pub(super) kind: Kind,
    pub(super) phase: Phase,
    pub(super) about: u32,
}

impl Raw {
    fn pack(self) -> u64 {
        (self.kind as u64) | (self.phase as u64) << 8 | u64::from(self.about) << 32
    }

    fn unpack(at: u64, what: u64) -> Option<Self> {
        Some(Raw {
            at,
            kind: Kind::from_index((what & 0xFF) as usize)?,
            phase: Phase::from_index((what >> 8 & 0xFF) as usize)?,
            about: (what >> 32) as u32,
        })
    }
}

impl Ring {
    fn new(name: String) -> Self {
        let slot = || Slot {
            at: AtomicU64::new(0),
            what: AtomicU64::new(0),
        };
        Ring {
            name,
            recording: AtomicU64::new(0),
            written: AtomicU64::new(0),
            slots: (0..CAPACITY).map(|_| slot()).collect(),
        }
    }

    /// Called by the ring's own thread only.
    fn write(&self, recording: u64, event: Raw) {
        let mut written = self.written.load(Ordering::Relaxed);
        if self.recording.load(Ordering::Relaxed) != recording {
            written = 0;
            self.written.store(0, Ordering::Relaxed);
            self.recording.store(recording, Ordering::Relaxed);
        }
        let slot = &self.slots[written as usize % CAPACITY];
        slot.at.store(event.at, Ordering::Relaxed);
        slot.what.store(event.pack(), Ordering::Relaxed);
        self.written.store(written + 1, Ordering::Release);
    }

    /// The events of a recording, oldest first, and how many were lost.
    pub(super) fn read(&self, recording: u64) -> (Vec<Raw>, u64) {
        if self.recording.load(Ordering::Relaxed) != recording {
            return (Vec::new(), 0);
        }
        let written = self.written.load(Ordering::Acquire);
        let capacity = CAPACITY as u64;
        let first = if written > capacity {
            // The oldest may be overwritten while we read.
            written - capacity + capacity / 64
        } else {
            0
        };
        let events = (first..written).filter_map(|index| {
            let slot = &self.slots[index as usize % CAPACITY];
            Raw::unpack(
                slot.at.load(Ordering::Relaxed),
                slot.what.load(Ordering::Relaxed),
            )
        });
        (events.collect(), first)
    }
}

/// The process records until this is dropped.
pub(super) struct Recording(u64);

impl Recording {
    /// Switches the recording on. There must be none.
    pub(super) fn start() -> Self {
        let mut rings = ignore_poison(RINGS.lock());
        // Rings of threads that have ended.
        rings.retain(|ring| Arc::strong_count(ring) > 1);
        let number = RECORDING.load(Ordering::Relaxed) + 1;
        RECORDING.store(number, Ordering::SeqCst);
        Recording(number)
    }

    /// Switches it off and hands out the rings.
    pub(super) fn stop(self) -> Vec<(Arc<Ring>, u64)> {
        let number = self.0;
        drop(self);
        let rings = ignore_poison(RINGS.lock());
        rings
            .iter()
            .map(|ring| (Arc::clone(ring), number))
            .collect()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        RECORDING.store(self.0 + 1, Ordering::SeqCst);
    }
}

/// The recording under way, if there is one.
#[inline]
fn under_way() -> Option<u64> {
    let number = RECORDING.load(Ordering::Relaxed);
    (number % 2 == 1).then_some(number)
}

#[cold]
fn record(recording: u64, kind: Kind, phase: Phase, about: usize) {
    let event = Raw {
        at: ticks(),
        kind,
        phase,
        about: u32::try_from(about).unwrap_or(u32::MAX),
    };
    // A thread that is ending has no ring any more, and nothing to tell.
    let _ = MINE.try_with(|mine| {
        let mut mine = mine.borrow_mut();
        let ring = mine.get_or_insert_with(|| {
            let thread = std::thread::current();
            let name = match thread.name() {
                Some(name) => name.to_string(),
                None => format!("{:?}", thread.id()),
            };
            let ring = Arc::new(Ring::new(name));
            let mut rings = ignore_poison(RINGS.lock());
            rings.push(Arc::clone(&ring));
            ring
        });
        ring.write(recording, event);
    });
}

/// Something has happened; `about` says more, depending on the kind.
#[inline]
pub(crate) fn instant(kind: Kind, about: usize) {
    if let Some(recording) = under_way() {
        record(recording, kind, Phase::Instant, about);
    }
}

/// Something that takes a while: from now on until this is dropped.
pub(crate) struct Span {
    kind: Kind,
    recording: Option<u64>,
}

/// Begins something that takes a while.
#[inline]
pub(crate) fn span(kind: Kind, about: usize) -> Span {
    let recording = under_way();
    if let Some(recording) = recording {
        record(recording, kind, Phase::Begin, about);
    }
    Span { kind, recording }
}

impl Span {
    /// Ends it before its scope does.
    #[inline]
    pub(crate) fn end(self) {}
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        // The end of what has begun in an earlier recording belongs to none.
        if let Some(recording) = under_way().filter(|&now| self.recording == Some(now)) {
            record(recording, self.kind, Phase::End, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: u64) -> Raw {
        Raw {
            at,
            kind: Kind::Steal,
            phase: Phase::Instant,
            about: 7,
        }
    }

    #[test]
    fn events_come_back_as_they_were_written() {
        let ring = Ring::new("a".into());
        for at in 0..100 {
            ring.write(1, event(at));
        }
        let (events, lost) = ring.read(1);
        assert_eq!(lost, 0);
        assert!(events.iter().copied().eq((0..100).map(event)));
    }

    #[test]
    fn a_full_ring_keeps_the_newest_and_says_how_many_are_gone() {
        let ring = Ring::new("a".into());
        let total = 3 * CAPACITY as u64;
        for at in 0..total {
            ring.write(1, event(at));
        }
        let (events, lost) = ring.read(1);
        assert_eq!(events.len() as u64 + lost, total);
        assert!(events.len() > CAPACITY / 2);
        assert_eq!(events.last(), Some(&event(total - 1)));
    }

    #[test]
    fn a_new_recording_begins_with_an_empty_ring() {
        let ring = Ring::new("a".into());
        ring.write(1, event(1));
        assert!(ring.read(3).0.is_empty());
        ring.write(3, event(2));
        assert_eq!(ring.read(3).0, [event(2)]);
        assert!(ring.read(1).0.is_empty());
    }
}
