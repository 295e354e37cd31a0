//! The version of a value, with a name for every step.

use crate::primitives::{AtomicUsize, Ordering};
use blitz_primitives::flaw::Flaws;

/// All senders are gone.
const CLOSED: usize = 1 << 0;
/// A receiver waits for the next version.
const WAITED: usize = 1 << 1;
const ONE: usize = 1 << 2;

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(super) enum Flaw {
    WaitsBlindly,
    ClosesSilently,
}

/// Which version a receiver has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen(usize);

impl Seen {
    /// One that differs from all that may come soon.
    pub(super) fn before(self) -> Self {
        Seen(self.0.wrapping_sub(ONE))
    }
}

/// What a receiver finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Same,
    Changed(Seen),
    /// The same, and it will stay so.
    Closed,
}

/// The word.
#[derive(Debug)]
pub(super) struct Version(AtomicUsize, Flaws<Flaw>);

impl Version {
    pub(super) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    pub(super) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Version(AtomicUsize::new(0), flaws)
    }

    /// The version of the value at this moment. Exact under the lock of the value.
    #[inline]
    pub(super) fn now(&self) -> Seen {
        Seen(self.0.load(Ordering::Acquire) & !(ONE - 1))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.0.load(Ordering::Acquire) & CLOSED != 0
    }

    /// The value has been changed; the caller has its lock. `true`: somebody waits for that.
    ///
    /// AcqRel: who sees the version sees what its sender did before. (The value itself is handed over by its lock.)
    #[inline]
    pub(super) fn raise(&self) -> bool {
        self.0.fetch_add(ONE, Ordering::AcqRel) & WAITED != 0
    }

    /// The last sender is gone. `true`: somebody waits.
    pub(super) fn close(&self) -> bool {
        let waited = self.0.fetch_or(CLOSED, Ordering::AcqRel) & WAITED != 0;
        waited && !self.1.has(Flaw::ClosesSilently)
    }

    fn compare(word: usize, seen: Seen) -> Look {
        if word & !(ONE - 1) != seen.0 {
            Look::Changed(Seen(word & !(ONE - 1)))
        } else if word & CLOSED != 0 {
            Look::Closed
        } else {
            Look::Same
        }
    }

    #[inline]
    pub(super) fn look(&self, seen: Seen) -> Look {
        Self::compare(self.0.load(Ordering::Acquire), seen)
    }

    /// A receiver is about to wait: looks once more, and announces it if nothing has changed. Under the lock of the line.
    pub(super) fn announce(&self, seen: Seen) -> Look {
        let mut now = self.0.load(Ordering::Acquire);
        loop {
            let look = Self::compare(now, seen);
            if look != Look::Same {
                return look;
            }
            if self.1.has(Flaw::WaitsBlindly) {
                self.0.fetch_or(WAITED, Ordering::AcqRel);
                return Look::Same;
            }
            // Fails if the version has changed since we looked.
            match self.0.compare_exchange_weak(
                now,
                now | WAITED,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Look::Same,
                Err(changed) => now = changed,
            }
        }
    }

    /// Nobody waits any more. Under the lock of the line.
    pub(super) fn retract(&self) {
        self.0.fetch_and(!WAITED, Ordering::AcqRel);
    }
}
