//! What is known about a socket's readiness, in one word.
//!
//! Events are edge-triggered: the kernel says *once* that there is something to read. This word remembers it until
//! an operation has found that nothing is left. A new event may come in between finding that and forgetting the readiness. It
//! must not be forgotten. So every event changes a count in the same word. An operation notes the count before it
//! asks the kernel, and forgets only if the count is still the same.

use crate::primitives::{AtomicU64, Ordering};
use blitz_core::checking::Flaws;
use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

/// What is known about a socket.
///
/// ```
/// use blitz_io::io::Ready;
///
/// let known = Ready::READABLE | Ready::WRITABLE;
/// assert!(known.is_readable() && !known.is_error());
/// assert_eq!(known - Ready::READABLE, Ready::WRITABLE);
/// ```
///
/// ```
/// use blitz_io::io::Ready;
///
/// // A peer that has hung up: what it has sent can still be read.
/// let known = Ready::READABLE | Ready::READ_CLOSED | Ready::WRITE_CLOSED;
/// assert!(!known.is_empty() && known.is_read_closed() && known.is_write_closed());
/// assert!(!known.is_writable() || known.is_write_closed());
/// # #[cfg(target_os = "linux")]
/// assert!(!known.is_priority()); // no urgent data
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ready(u8);

impl Ready {
    /// Nothing is ready.
    pub const EMPTY: Ready = Ready(0);
    /// There is something to read, or to accept.
    pub const READABLE: Ready = Ready(1);
    /// There is room to write.
    pub const WRITABLE: Ready = Ready(2);
    /// The peer will send no more.
    pub const READ_CLOSED: Ready = Ready(4);
    /// The peer takes no more.
    pub const WRITE_CLOSED: Ready = Ready(8);
    /// There is urgent data among what there is to read: a read ends before it, and has to be tried again for what comes after.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const PRIORITY: Ready = Ready(16);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) const PRIORITY: Ready = Ready(16);
    /// The socket has an error to report.
    pub const ERROR: Ready = Ready(32);
    /// All of it.
    pub const ALL: Ready = Ready(if cfg!(any(target_os = "linux", target_os = "android")) {
        63
    } else {
        63 & !16
    });

    /// All that makes a read worth trying.
    pub(crate) const FOR_READ: Ready = Ready(1 | 4 | 16 | 32);
    /// All that makes a write worth trying.
    pub(crate) const FOR_WRITE: Ready = Ready(2 | 8 | 32);

    /// Whether nothing is ready.
    pub fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    /// Whether there is data, or the end of the stream.
    pub fn is_readable(self) -> bool {
        self.intersects(Self::READABLE | Self::READ_CLOSED)
    }

    /// Whether there is room, or nobody who takes more.
    pub fn is_writable(self) -> bool {
        self.intersects(Self::WRITABLE | Self::WRITE_CLOSED)
    }

    /// Whether the peer will send no more.
    pub fn is_read_closed(self) -> bool {
        self.intersects(Self::READ_CLOSED)
    }

    /// Whether the peer takes no more.
    pub fn is_write_closed(self) -> bool {
        self.intersects(Self::WRITE_CLOSED)
    }

    /// Whether there is urgent data.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn is_priority(self) -> bool {
        self.intersects(Self::PRIORITY)
    }

    /// Whether the socket has an error to report.
    pub fn is_error(self) -> bool {
        self.intersects(Self::ERROR)
    }

    pub(crate) fn intersects(self, other: Ready) -> bool {
        self.0 & other.0 != 0
    }

    #[cfg(any(unix, windows))]
    pub(crate) fn of_event(event: &mio::event::Event) -> Self {
        let part = |is: bool, part: Ready| if is { part } else { Ready::EMPTY };
        part(event.is_readable(), Self::READABLE)
            | part(event.is_writable(), Self::WRITABLE)
            | part(event.is_read_closed(), Self::READ_CLOSED)
            | part(event.is_write_closed(), Self::WRITE_CLOSED)
            | part(event.is_error(), Self::ERROR)
            | part(event.is_priority(), Self::PRIORITY)
    }

    /// There is nothing that could be ready.
    #[cfg(not(any(unix, windows)))]
    pub(crate) fn of_event(_: &super::system::event::Event) -> Self {
        Self::EMPTY
    }
}

impl BitOr for Ready {
    type Output = Ready;

    fn bitor(self, other: Ready) -> Ready {
        Ready(self.0 | other.0)
    }
}

impl BitOrAssign for Ready {
    fn bitor_assign(&mut self, other: Ready) {
        *self = *self | other;
    }
}

impl BitAnd for Ready {
    type Output = Ready;

    fn bitand(self, other: Ready) -> Ready {
        Ready(self.0 & other.0)
    }
}

impl Sub for Ready {
    type Output = Ready;

    fn sub(self, other: Ready) -> Ready {
        Ready(self.0 & !other.0)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("Ready");
        f.field("is_readable", &self.is_readable())
            .field("is_writable", &self.is_writable())
            .field("is_read_closed", &self.is_read_closed())
            .field("is_write_closed", &self.is_write_closed())
            .field("is_error", &self.is_error());
        #[cfg(any(target_os = "linux", target_os = "android"))]
        f.field("is_priority", &self.is_priority());
        f.finish()
    }
}

const READY: u64 = 0xff;
/// The runtime is going away: no more events will come.
const CLOSED: u64 = 0x100;
/// One event, in the count in the upper bits.
const EVENT: u64 = 0x1_0000;

/// A value of the word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen(u64);

impl Seen {
    pub(crate) fn ready(self) -> Ready {
        Ready((self.0 & READY) as u8)
    }

    /// Whether the driver is gone.
    pub(crate) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    /// Whether somebody who waits for one of `wanted` need not.
    pub(crate) fn satisfies(self, wanted: Ready) -> bool {
        self.is_closed() || self.ready().intersects(wanted)
    }
}

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub(crate) enum Flaw {
    /// Forget although there has been an event since.
    ForgetsBlindly,
    /// Leave a waker without a second look under the lock.
    WaitsBlindly,
}

/// The word.
#[derive(Debug)]
pub(crate) struct Readiness {
    word: AtomicU64,
    pub(super) flaws: Flaws<Flaw>,
}

impl Readiness {
    pub(super) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Self {
            word: AtomicU64::new(0),
            flaws,
        }
    }

    /// What is known now.
    pub(crate) fn get(&self) -> Seen {
        Seen(self.word.load(Ordering::Acquire))
    }

    /// The driver has had an event.
    pub(crate) fn add(&self, ready: Ready) {
        self.change(|word| (word | u64::from(ready.0)).wrapping_add(EVENT));
    }

    /// Something is probably true, although there has been no event. If it is not, an operation will find that out and forget it.
    pub(crate) fn assume(&self, ready: Ready) {
        self.change(|word| word | u64::from(ready.0));
    }

    /// There will be no more events.
    pub(crate) fn close(&self) {
        self.change(|word| word | CLOSED);
    }

    /// An operation that was begun after `seen` has found that none of `ready` is true, unless there has been an event since.
    pub(crate) fn forget(&self, seen: Seen, ready: Ready) {
        self.change(|word| {
            let no_event_since = word & !(READY | CLOSED) == seen.0 & !(READY | CLOSED);
            if no_event_since || self.flaws.has(Flaw::ForgetsBlindly) {
                word & !u64::from(ready.0)
            } else {
                word
            }
        });
    }

    fn change(&self, change: impl Fn(u64) -> u64) {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            match self.word.compare_exchange_weak(
                word,
                change(word),
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }
}
