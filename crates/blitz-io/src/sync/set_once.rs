//! A cell that is set once, and that others wait for.
//!
//! The lock of those who wait is also that of those who set: the first of them writes the value, says so in an atomic word, and lets everybody in the line
//! go, in one section. Whoever comes later sees the word under the lock, and is refused or need not wait. Readers look at the word alone: it is stored with
//! release and loaded with acquire, so that whoever sees it set sees the value.

#[cfg(all(test, loom))]
mod models;

use super::until::Until;
use crate::primitives::{AtomicBool, Ordering, UnsafeCell, const_fn, constant};
use crate::waiters::{State, Waiters};
use blitz_core::checking::Flaws;
use std::error::Error;
use std::fmt;
use std::mem::MaybeUninit;

/// A value that is set once, at most, and that tasks can wait for.
///
/// Reading is one load. Works on any executor; waiting allocates nothing.
///
/// ```
/// use blitz_io::sync::SetOnce;
///
/// static ADDRESS: SetOnce<String> = SetOnce::const_new();
///
/// # blitz_io::Runtime::new().unwrap().block_on(async {
/// let client = blitz_io::spawn(async { ADDRESS.wait().await.len() });
/// assert!(ADDRESS.set("127.0.0.1:80".into()).is_ok());
/// assert!(ADDRESS.set("too late".into()).is_err());
/// assert_eq!(client.await.unwrap(), 12);
/// # });
/// ```
pub struct SetOnce<T> {
    is_set: AtomicBool,
    value: UnsafeCell<MaybeUninit<T>>,
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

// SAFETY: a value may come from one thread and be dropped by another.
unsafe impl<T: Send> Send for SetOnce<T> {}
// SAFETY: it gives shared access, and takes a value, from any thread.
unsafe impl<T: Send + Sync> Sync for SetOnce<T> {}

/// The cell was set before. Here is the value that came too late.
#[derive(Debug, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetOnceError")
    }
}

impl<T: fmt::Debug> Error for SetOnceError<T> {}

impl<T> SetOnce<T> {
    const_fn! {
        /// An empty cell.
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
        pub const fn const_new_with(value: T) -> Self {
            Self::with(true, MaybeUninit::new(value), Flaws::NONE)
        }
    }

    const_fn! {
        const fn with(is_set: bool, value: MaybeUninit<T>, flaws: Flaws<Flaw>) -> Self {
            Self {
                is_set: AtomicBool::new(is_set),
                value: UnsafeCell::new(value),
                waiters: constant!(Waiters::new(())),
                flaws,
            }
        }
    }

    /// A cell with a value, or an empty one.
    pub fn new_with(value: Option<T>) -> Self {
        match value {
            Some(value) => Self::const_new_with(value),
            None => Self::new(),
        }
    }

    /// Whether there is a value.
    #[inline]
    pub fn initialized(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// The value, if it is there.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: there is one, and that was said with release.
        self.initialized().then(|| unsafe { self.get_unchecked() })
    }

    /// # Safety
    /// There is a value, and its writing has happened before.
    #[inline]
    unsafe fn get_unchecked(&self) -> &T {
        // SAFETY: given; it is never written again while the cell is shared.
        self.value
            .with(|place| unsafe { (*place).assume_init_ref() })
    }

    /// Sets the value, and wakes everybody who waits for it.
    ///
    /// # Errors
    /// The value, if there is one already.
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
            self.value.with_mut(|place| {
                // SAFETY: nobody reads before the word says so, and nobody else writes: this is under the lock, and the first time.
                unsafe { (*place).write(value) };
            });
            self.is_set.store(true, order);
            !self.flaws.has(Flaw::LetsGoTooEarly)
        });
        value.map_or(Ok(()), |late| Err(SetOnceError(late)))
    }

    /// Waits until there is a value.
    ///
    /// # Cancel safety
    /// It may be dropped at any time: nothing is lost.
    pub async fn wait(&self) -> &T {
        loop {
            if let Some(value) = self.get() {
                return value;
            }
            Until::new(&self.waiters, || self.initialized()).await;
        }
    }

    /// The value.
    pub fn into_inner(mut self) -> Option<T> {
        if !self.initialized() {
            return None;
        }
        self.is_set = AtomicBool::new(false);
        // SAFETY: there is one, and from now on nobody believes so.
        Some(
            self.value
                .with(|place| unsafe { (*place).assume_init_read() }),
        )
    }
}

impl<T> Drop for SetOnce<T> {
    #[inline]
    fn drop(&mut self) {
        if self.initialized() {
            // SAFETY: there is one, and nobody uses the cell any more.
            self.value
                .with_mut(|place| unsafe { (*place).assume_init_drop() });
        }
    }
}

impl<T> Default for SetOnce<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for SetOnce<T> {
    fn from(value: T) -> Self {
        Self::const_new_with(value)
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    fn clone(&self) -> Self {
        Self::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnce")
            .field("value", &self.get())
            .finish()
    }
}
