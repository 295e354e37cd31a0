//! A cell that is written once, by a future: one permit to write it, and closed when that is done.
//!
//! Who has the permit initialises the cell. If it fails, panics, or is dropped half way, the permit goes to the next. When the value is there the permits are closed,
//! which is the one thing that readers look at: closing is a release, the look an acquire, so that whoever sees "closed" sees the value.

#[cfg(all(test, loom))]
mod models;

use super::permits::{Permits, Refused};
use super::place::{Place, Said, cell};
use crate::primitives::const_fn;
use crate::primitives::error;
use std::mem::MaybeUninit;

/// A value that is computed when it is first needed, by an async function.
///
/// Many tasks may ask for it at the same time; one of them computes it, the others wait. If that one fails, panics or is dropped, the next takes over. Reading
/// is one load. Works on any executor; waiting allocates nothing.
///
/// ```
/// use blitz_sync::OnceCell;
///
/// static ANSWER: OnceCell<u32> = OnceCell::const_new();
///
/// # blitz_sync::block_on(async {
/// assert_eq!(ANSWER.get(), None);
/// let answer = ANSWER.get_or_init(|| async { 6 * 7 }).await;
/// assert_eq!(*answer, 42);
/// assert_eq!(ANSWER.get(), Some(&42));
/// # });
/// ```
pub struct OnceCell<T> {
    /// One permit: nobody writes. None: somebody does. Closed: there is a value.
    place: Place<T, Permits>,
}

// SAFETY: closing is a release and the look at it an acquire; nobody opens permits that are closed.
unsafe impl Said for Permits {
    #[inline]
    fn is_said(&self) -> bool {
        self.is_closed()
    }

    fn unsay(&mut self) {
        *self = Permits::new(1);
    }
}

/// Why a cell was not set. The value comes back.
///
/// ```
/// use blitz_sync::{OnceCell, SetError};
///
/// let cell = OnceCell::const_new_with(7);
/// let error = cell.set(8).unwrap_err();
/// assert!(error.is_already_init_err() && !error.is_initializing_err());
/// assert_eq!(error, SetError::AlreadyInitializedError(8)); // the value comes back
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetError<T> {
    /// There is a value already.
    AlreadyInitializedError(T),
    /// Somebody is computing it at the moment.
    InitializingError(T),
}

impl<T> SetError<T> {
    /// Whether there is a value already.
    pub fn is_already_init_err(&self) -> bool {
        matches!(self, SetError::AlreadyInitializedError(_))
    }

    /// Whether somebody is computing it at the moment.
    pub fn is_initializing_err(&self) -> bool {
        matches!(self, SetError::InitializingError(_))
    }
}

error!(SetError<T: std::fmt::Debug>,
    Self::AlreadyInitializedError(_) => "the cell has a value already",
    Self::InitializingError(_) => "the cell is being initialised by another task");

/// The right to write. Goes to the next when it is dropped.
struct Writing<'a, T>(&'a OnceCell<T>);

impl<'a, T> Writing<'a, T> {
    fn finish(self, value: T) -> &'a T {
        let cell = self.0;
        std::mem::forget(self);
        // SAFETY: nobody else has the permit, and it is not closed.
        unsafe { cell.place.write(value) };
        cell.place.said.close();
        // SAFETY: just written.
        unsafe { cell.place.get_unchecked() }
    }
}

impl<T> Drop for Writing<'_, T> {
    fn drop(&mut self) {
        self.0.place.said.release(1);
    }
}

impl<T> OnceCell<T> {
    const_fn! {
        /// An empty cell.
        ///
        /// ```
        /// use blitz_sync::OnceCell;
        ///
        /// static CONFIG: OnceCell<String> = OnceCell::new();
        ///
        /// assert!(CONFIG.get().is_none() && !CONFIG.initialized());
        /// ```
        pub const fn new() -> Self {
            Self {
                place: Place::new(Permits::new(1), MaybeUninit::uninit()),
            }
        }
    }

    const_fn! {
        /// As [`new`](Self::new).
        ///
        /// ```
        /// static ANSWER: blitz_sync::OnceCell<u32> = blitz_sync::OnceCell::const_new();
        /// assert_eq!(ANSWER.set(42), Ok(()));
        /// ```
        pub const fn const_new() -> Self {
            Self::new()
        }
    }

    const_fn! {
        /// A cell with a value.
        ///
        /// ```
        /// static ANSWER: blitz_sync::OnceCell<u32> = blitz_sync::OnceCell::const_new_with(42);
        /// assert_eq!(ANSWER.get(), Some(&42));
        /// ```
        pub const fn const_new_with(value: T) -> Self {
            Self {
                place: Place::new(Permits::closed(), MaybeUninit::new(value)),
            }
        }
    }

    /// The value, to change it.
    ///
    /// ```
    /// let mut cell = blitz_sync::OnceCell::new_with(Some(7));
    /// *cell.get_mut().unwrap() += 1;
    /// assert_eq!(cell.into_inner(), Some(8));
    /// ```
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.place.get_mut()
    }

    /// Sets the value.
    ///
    /// # Errors
    /// If there is one already, or somebody is computing it.
    ///
    /// ```
    /// let cell = blitz_sync::OnceCell::new();
    /// assert!(cell.set(1).is_ok());
    /// assert!(cell.set(2).unwrap_err().is_already_init_err());
    /// assert_eq!(cell.get(), Some(&1));
    /// ```
    #[inline]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        match self.place.said.try_acquire(1) {
            Ok(()) => {
                Writing(self).finish(value);
                Ok(())
            }
            Err(Refused::TooFew) => Err(SetError::InitializingError(value)),
            Err(Refused::Closed) => Err(SetError::AlreadyInitializedError(value)),
        }
    }

    /// The value; if there is none, `init` computes it. One task at a time does so, the others wait for it.
    ///
    /// A task must not ask for the value of the cell that it is computing: it would wait for itself.
    ///
    /// # Cancel safety
    /// If this is dropped while `init`'s future runs, that is dropped as well, and the next who waits calls its own `init`.
    ///
    /// ```
    /// # blitz_sync::block_on(async {
    /// let cell = blitz_sync::OnceCell::new();
    /// assert_eq!(*cell.get_or_init(|| async { 6 * 7 }).await, 42);
    /// assert_eq!(*cell.get_or_init(|| async { unreachable!() }).await, 42);
    /// # });
    /// ```
    #[inline]
    pub async fn get_or_init<F, Fut>(&self, init: F) -> &T
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        if let Some(value) = self.get() {
            return value;
        }
        match self.write().await {
            Ok(writing) => writing.finish(init().await),
            Err(value) => value,
        }
    }

    /// As [`get_or_init`](Self::get_or_init), with a computation that may fail; then the cell stays empty, and the next who waits calls its own.
    ///
    /// # Errors
    /// That of `init`.
    ///
    /// ```
    /// # blitz_sync::block_on(async {
    /// let cell = blitz_sync::OnceCell::new();
    /// assert_eq!(cell.get_or_try_init(|| async { Err("no") }).await, Err("no"));
    /// assert_eq!(cell.get_or_try_init(|| async { Ok::<_, &str>(7) }).await, Ok(&7));
    /// # });
    /// ```
    #[inline]
    pub async fn get_or_try_init<E, F, Fut>(&self, init: F) -> Result<&T, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        if let Some(value) = self.get() {
            return Ok(value);
        }
        match self.write().await {
            Ok(writing) => Ok(writing.finish(init().await?)),
            Err(value) => Ok(value),
        }
    }

    /// Waits for the right to write, or for somebody else's value.
    async fn write(&self) -> Result<Writing<'_, T>, &T> {
        match self.place.said.acquire(1).await {
            Ok(()) => Ok(Writing(self)),
            // SAFETY: closed means that there is one.
            Err(_closed) => Err(unsafe { self.place.get_unchecked() }),
        }
    }

    /// Takes the value out: the cell is empty then.
    ///
    /// ```
    /// let mut cell = blitz_sync::OnceCell::new_with(Some(1));
    /// assert_eq!(cell.take(), Some(1));
    /// assert_eq!(cell.get(), None);
    /// ```
    pub fn take(&mut self) -> Option<T> {
        self.place.take()
    }
}

cell!(OnceCell);
