//! One value that changes: receivers see the latest, and can wait for the next.
//!
//! ```
//! use blitz_sync::watch;
//!
//! # blitz_sync::block_on(async {
//! let (sender, mut receiver) = watch::channel("first");
//! assert_eq!(*receiver.borrow(), "first");
//! std::thread::spawn(move || sender.send("second"));
//! receiver.changed().await.unwrap();
//! assert_eq!(*receiver.borrow_and_update(), "second");
//! assert!(receiver.changed().await.is_err()); // the sender is gone
//! # });
//! ```
//!
//! The names are tokio's. A receiver that is slow misses values in between, never the last one. A borrowed value holds a read lock: senders wait
//! for it, so do not keep it for long, and not across an `await`.
//!
//! # How it works
//! The value lies behind a reader-writer lock. Its *version* is a word of its own: a count in the upper bits, and two flags:
//! CLOSED (all senders are gone) and WAITED (a receiver waits for the next version). A sender raises the version while it has the
//! lock, so who reads value and version under the lock reads a pair that belongs together.
//!
//! No wake-up is lost: a receiver that is about to wait sets WAITED, under the lock of the waiting line, by a swap that fails if the version has changed; a sender that
//! raises the version afterwards finds the flag in the word that it changes, and releases the line. One word, so one of them is first.

mod receiver;
mod sender;
mod version;

pub mod error;

#[cfg(all(test, loom))]
mod models;

pub use receiver::Receiver;
pub use sender::Sender;

use crate::primitives::{Arc, AtomicUsize, ignore_poison};
use crate::waiters::{State, Waiters};
use std::fmt;
use std::ops::Deref;
use version::Version;

#[cfg(loom)]
use loom::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(not(loom))]
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

struct Shared<T> {
    value: RwLock<T>,
    version: Version,
    /// Those who wait for the next version.
    waiting: Waiters<()>,
    /// Those who wait until no receiver is left.
    watchers: Waiters<()>,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

impl<T> Shared<T> {
    // A closure that panicked while it changed the value has left it as it is; there is nothing that we could repair.
    fn read(&self) -> RwLockReadGuard<'_, T> {
        ignore_poison(self.value.read())
    }

    fn write(&self) -> RwLockWriteGuard<'_, T> {
        ignore_poison(self.value.write())
    }

    /// The version has been raised, or all senders are gone: tells those who wait.
    #[cold]
    fn release_waiting(&self) {
        self.waiting.release_all(State::Dismissed, |()| {
            self.version.retract();
            true
        });
    }
}

/// Makes a channel with a first value, which its first receiver has seen already.
///
/// ```
/// use blitz_sync::watch;
/// # blitz_sync::block_on(async {
/// let (sender, mut receiver) = watch::channel(1);
/// sender.send(2).unwrap();
/// receiver.changed().await.unwrap();
/// assert_eq!(*receiver.borrow(), 2);
/// # });
/// ```
pub fn channel<T>(first: T) -> (Sender<T>, Receiver<T>) {
    with_version(first, Version::new())
}

fn with_version<T>(first: T, version: Version) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        value: RwLock::new(first),
        version,
        waiting: Waiters::new(()),
        watchers: Waiters::new(()),
        senders: AtomicUsize::new(1),
        receivers: AtomicUsize::new(0),
    });
    let sender = Sender::new_of(shared);
    let receiver = sender.subscribe();
    (sender, receiver)
}

/// A borrowed value: while it is there, no other value can be sent.
///
/// ```
/// let (sender, mut receiver) = blitz_sync::watch::channel(vec![1, 2]);
/// sender.send(vec![3]).unwrap();
/// let value = receiver.borrow_and_update();
/// assert!(value.has_changed());
/// assert_eq!(*value, [3]);
/// drop(value); // soon: whoever sends waits for this
/// assert!(!receiver.borrow().has_changed());
/// ```
pub struct Ref<'a, T> {
    value: RwLockReadGuard<'a, T>,
    has_changed: bool,
}

impl<T> Ref<'_, T> {
    /// Was it new to the receiver when it was borrowed?
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
