//! A cell that is set once, and that others wait for.
//!
//! The lock of those who wait is also that of those who set: the first of them writes the value, says so in an atomic word, and lets everybody in the line
//! go, in one section. Whoever comes later sees the word under the lock, and is refused or need not wait. Readers look at the word alone: it is stored with
//! release and loaded with acquire, so that whoever sees it set sees the value.

#[cfg(all(test, loom))]
mod models;

use super::place::{Place, cell};
use super::until::Until;
use crate::primitives::error;
use crate::primitives::{AtomicBool, Ordering, const_fn, constant};
use crate::waiters::{State, Waiters};
use blitz_primitives::flaw::Flaws;
use std::mem::MaybeUninit;

/// A value that is set once, at most, and that tasks can wait for.
///
/// Reading is one load. Works on any executor; waiting allocates nothing.
///
/// ```
/// use blitz_sync::SetOnce;
///
/// static ADDRESS: SetOnce<String> = SetOnce::const_new();
///
/// let client = std::thread::spawn(|| blitz_sync::block_on(ADDRESS.wait()).len());
/// assert!(ADDRESS.set("127.0.0.1:80".into()).is_ok());
/// assert!(ADDRESS.set("too late".into()).is_err());
/// assert_eq!(client.join().unwrap(), 12);
/// ```
pub struct SetOnce<T> {
    place: Place<T, AtomicBool>,
    /// Those who wait, and the right to set.
    waiters: Waiters<()>,
    flaws: Flaws<Flaw>,
}

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
enum Flaw {
    /// That there is a value is said without order.
    SaysRelaxed,
    /// Who waits is let go before there is a value.
    LetsGoTooEarly,
}

/// The cell was set before. Here is the value that came too late.
///
/// ```
/// use blitz_sync::{SetOnce, SetOnceError};
///
/// let cell = SetOnce::const_new_with(7);
/// assert_eq!(cell.set(8), Err(SetOnceError(8))); // the value comes back
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

error!(SetOnceError<T: std::fmt::Debug>, _ => "SetOnceError");

impl<T> SetOnce<T> {
    const_fn! {
        /// An empty cell.
        ///
        /// ```
        /// use blitz_sync::SetOnce;
        ///
        /// static ADDRESS: SetOnce<String> = SetOnce::new();
        ///
        /// assert!(!ADDRESS.initialized() && ADDRESS.get().is_none());
        /// ```
        pub const fn new() -> Self {
            Self::with(false, MaybeUninit::uninit(), Flaws::NONE)
        }
    }

    const_fn! {
        /// As [`new`](Self::new).
        pub const fn const_new() -> Self {
            Self::new()
        }
    }

    const_fn! {
        /// A cell with a value.
        ///
        /// ```
        /// static ANSWER: blitz_sync::SetOnce<u32> = blitz_sync::SetOnce::const_new_with(42);
        /// assert_eq!(ANSWER.get(), Some(&42));
        /// let cell = blitz_sync::SetOnce::new_with(Some(7));
        /// assert_eq!(cell.into_inner(), Some(7));
        /// ```
        pub const fn const_new_with(value: T) -> Self {
            Self::with(true, MaybeUninit::new(value), Flaws::NONE)
        }
    }

    const_fn! {
        const fn with(is_set: bool, value: MaybeUninit<T>, flaws: Flaws<Flaw>) -> Self {
            Self {
                place: Place::new(AtomicBool::new(is_set), value),
                waiters: constant!(Waiters::new(())),
                flaws,
            }
        }
    }

    /// Sets the value, and wakes everybody who waits for it.
    ///
    /// # Errors
    /// The value, if there is one already.
    ///
    /// ```
    /// let cell = blitz_sync::SetOnce::new();
    /// assert!(cell.set(1).is_ok());
    /// assert_eq!(cell.set(2).unwrap_err().0, 2);
    /// assert_eq!(cell.get(), Some(&1));
    /// ```
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        if self.initialized() {
            return Err(SetOnceError(value));
        }
        let mut value = Some(value);
        if self.flaws.has(Flaw::LetsGoTooEarly) {
            self.waiters.release_all(State::Dismissed, |()| true);
        }
        let order = self.flaws.relax(Flaw::SaysRelaxed, Ordering::Release);
        self.waiters.release_all(State::Dismissed, |()| {
            if self.initialized() {
                return false;
            }
            let Some(value) = value.take() else {
                return false;
            };
            // SAFETY: this is under the lock, and the first time.
            unsafe { self.place.write(value) };
            self.place.said.store(true, order);
            !self.flaws.has(Flaw::LetsGoTooEarly)
        });
        value.map_or(Ok(()), |late| Err(SetOnceError(late)))
    }

    /// Waits until there is a value.
    ///
    /// # Cancel safety
    /// It may be dropped at any time: nothing is lost.
    ///
    /// ```
    /// use blitz_sync::SetOnce;
    /// use std::sync::Arc;
    /// let cell = Arc::new(SetOnce::new());
    /// let other = Arc::clone(&cell);
    /// let thread = std::thread::spawn(move || *blitz_sync::block_on(other.wait()));
    /// cell.set(42).unwrap();
    /// assert_eq!(thread.join().unwrap(), 42);
    /// ```
    pub async fn wait(&self) -> &T {
        loop {
            if let Some(value) = self.get() {
                return value;
            }
            Until::new(&self.waiters, || self.initialized()).await;
        }
    }
}

cell!(SetOnce);
