//! A semaphore: a number of permits, for users.

use super::guard::{Hold, Lock, same_lock};
use super::permits::{Acquire, Permits, Refused};
use crate::parking;
use crate::primitives::const_fn;
use crate::primitives::error;
use std::sync::Arc;

/// A number of permits, to limit how many do something at the same time.
///
/// First come, first served: who waits for many permits is not overtaken by those who want few. A future that is dropped while it waits hands on
/// what it has got. Taking and giving back are one atomic operation each while nobody waits; waiting allocates nothing. Works on any
/// executor.
///
/// ```
/// use blitz_sync::Semaphore;
/// use std::sync::Arc;
///
/// async fn client(connections: Arc<Semaphore>) {
///     let _permit = connections.acquire().await.unwrap();
///     // At most two of them are here at a time.
/// }
///
/// let connections = Arc::new(Semaphore::new(2));
/// let clients: Vec<_> = (0..4)
///     .map(|_| {
///         let connections = connections.clone();
///         std::thread::spawn(move || blitz_sync::block_on(client(connections)))
///     })
///     .collect();
/// for client in clients {
///     client.join().unwrap();
/// }
/// assert_eq!(connections.available_permits(), 2);
/// ```
#[derive(Debug)]
pub struct Semaphore {
    permits: Permits,
}

impl Lock for Semaphore {
    #[inline]
    fn permits(&self) -> &Permits {
        &self.permits
    }
}

/// The semaphore has been closed.
///
/// ```
/// use blitz_sync::Semaphore;
///
/// let semaphore = Semaphore::new(0);
/// semaphore.close();
/// println!("{}", semaphore.blocking_acquire().unwrap_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcquireError(());

error!(AcquireError, _ => "the semaphore has been closed");

impl From<Refused> for AcquireError {
    fn from(_closed: Refused) -> Self {
        AcquireError(())
    }
}

/// Why there is no permit.
///
/// ```
/// use blitz_sync::{Semaphore, TryAcquireError};
///
/// let semaphore = Semaphore::new(0);
/// assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
/// semaphore.close();
/// assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore has been closed.
    Closed,
    /// There are not enough permits at the moment.
    NoPermits,
}

error!(TryAcquireError,
    Self::Closed => "the semaphore has been closed",
    Self::NoPermits => "the semaphore has not enough permits at the moment");

impl From<Refused> for TryAcquireError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Closed => TryAcquireError::Closed,
            Refused::TooFew => TryAcquireError::NoPermits,
        }
    }
}

/// Permits of a [`Semaphore`], which go back when this is dropped.
///
/// ```
/// use blitz_sync::Semaphore;
///
/// let semaphore = Semaphore::new(3);
/// let mut permits = semaphore.try_acquire_many(3).unwrap();
/// let one = permits.split(1).unwrap();
/// assert_eq!((permits.num_permits(), one.num_permits()), (2, 1));
/// assert!(std::ptr::eq(permits.semaphore(), &semaphore));
/// drop(permits); // two go back
/// assert_eq!(semaphore.available_permits(), 2);
/// let mut all = semaphore.try_acquire_many(2).unwrap();
/// all.merge(one);
/// all.forget(); // none of them goes back
/// assert_eq!(semaphore.available_permits(), 0);
/// ```
#[must_use = "the permits go back as soon as this is dropped"]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    hold: Hold<&'a Semaphore>,
}

/// As [`SemaphorePermit`], without a lifetime: it shares the semaphore.
///
/// ```
/// use blitz_sync::Semaphore;
/// use std::sync::Arc;
///
/// let semaphore = Arc::new(Semaphore::new(3));
/// let mut permits = semaphore.clone().try_acquire_many_owned(3).unwrap();
/// let one = permits.split(1).unwrap();
/// assert!(permits.num_permits() == 2 && Arc::ptr_eq(permits.semaphore(), &semaphore));
/// std::thread::spawn(move || drop(permits)).join().unwrap(); // may go anywhere
/// let mut all = semaphore.clone().try_acquire_many_owned(2).unwrap();
/// all.merge(one);
/// all.forget(); // none of them goes back
/// assert_eq!(semaphore.available_permits(), 0);
/// ```
#[must_use = "the permits go back as soon as this is dropped"]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    hold: Hold<Arc<Semaphore>>,
}

impl Semaphore {
    /// As many permits as a semaphore can have.
    pub const MAX_PERMITS: usize = Permits::MAX;

    const_fn! {
        /// A semaphore with `permits` permits.
        ///
        /// # Panics
        /// If these are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
        ///
        /// ```
        /// let semaphore = blitz_sync::Semaphore::new(2);
        /// assert_eq!(semaphore.available_permits(), 2);
        /// ```
        #[track_caller]
        pub const fn new(permits: usize) -> Self {
            Self {
                permits: Permits::new(permits),
            }
        }
    }

    const_fn! {
        /// As [`new`](Self::new).
        ///
        /// ```
        /// static DOWNLOADS: blitz_sync::Semaphore = blitz_sync::Semaphore::const_new(4);
        /// assert!(DOWNLOADS.try_acquire().is_ok());
        /// ```
        #[track_caller]
        pub const fn const_new(permits: usize) -> Self {
            Self::new(permits)
        }
    }

    /// How many permits there are at the moment.
    ///
    /// ```
    /// let semaphore = blitz_sync::Semaphore::new(2);
    /// let _permit = semaphore.try_acquire().unwrap();
    /// assert_eq!(semaphore.available_permits(), 1);
    /// ```
    pub fn available_permits(&self) -> usize {
        self.permits.free()
    }

    /// Adds permits.
    ///
    /// # Panics
    /// If there are more than [`MAX_PERMITS`](Self::MAX_PERMITS) then.
    ///
    /// ```
    /// let seats = blitz_sync::Semaphore::new(0);
    /// seats.add_permits(3);
    /// assert_eq!(seats.available_permits(), 3);
    /// ```
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        if n != 0 {
            self.permits.release(n);
        }
    }

    /// Removes up to `n` permits, and returns how many there were to remove.
    ///
    /// ```
    /// let semaphore = blitz_sync::Semaphore::new(2);
    /// assert_eq!(semaphore.forget_permits(5), 2); // as many as there were
    /// assert!(semaphore.try_acquire().is_err());
    /// ```
    pub fn forget_permits(&self, n: usize) -> usize {
        self.permits.forget(n)
    }

    /// From now on there are no permits: whoever waits for one is told so, and whoever comes later. Permits that are held stay valid.
    ///
    /// ```
    /// use blitz_sync::{Semaphore, TryAcquireError};
    ///
    /// let semaphore = Semaphore::new(1);
    /// semaphore.close();
    /// assert!(semaphore.is_closed());
    /// assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
    /// ```
    pub fn close(&self) {
        self.permits.close();
    }

    /// Whether [`close`](Self::close) has been called.
    ///
    /// ```
    /// let semaphore = blitz_sync::Semaphore::new(2);
    /// assert!(!semaphore.is_closed());
    /// semaphore.close();
    /// assert!(semaphore.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        self.permits.is_closed()
    }

    #[inline]
    fn try_take(&self, n: u32) -> Result<(), TryAcquireError> {
        // On a machine with small words `n` may be more than there can be: then there are too few.
        Ok(self.permits.try_acquire(n as usize)?)
    }

    #[inline]
    #[track_caller]
    fn take(&self, n: u32) -> Acquire<'_> {
        assert!(
            n as usize <= Self::MAX_PERMITS,
            "more than MAX_PERMITS permits"
        );
        self.permits.acquire(n as usize)
    }

    #[track_caller]
    fn take_blocking(&self, n: u32, method: &str) -> Result<(), AcquireError> {
        parking::assert_may_wait(method);
        match self.try_take(n) {
            Ok(()) => Ok(()),
            Err(_) => Ok(parking::wait(method, self.take(n))?),
        }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// If the semaphore is closed, or is closed meanwhile.
    ///
    /// # Cancel safety
    /// A future that is dropped loses its place in the line, and nothing else.
    ///
    /// ```
    /// use blitz_sync::Semaphore;
    /// # blitz_sync::block_on(async {
    /// let seats = Semaphore::new(2);
    /// let one = seats.acquire().await.unwrap();
    /// assert_eq!(seats.available_permits(), 1);
    /// drop(one);
    /// assert_eq!(seats.available_permits(), 2);
    /// # });
    /// ```
    #[inline]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.acquire_many(1)
    }

    /// Waits for `n` permits, in one place of the line.
    ///
    /// # Errors
    /// If the semaphore is closed, or is closed meanwhile.
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// let megabytes = blitz_sync::Semaphore::new(100);
    /// let room = megabytes.acquire_many(30).await.unwrap();
    /// assert_eq!(megabytes.available_permits(), 70);
    /// drop(room);
    /// # });
    /// ```
    #[inline]
    #[track_caller]
    pub fn acquire_many(
        &self,
        n: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        self.take(n).then(move |taken| {
            taken?;
            Ok(self.permit(n))
        })
    }

    /// A permit, if there is one.
    ///
    /// # Errors
    /// If there is none, or the semaphore is closed.
    ///
    /// ```
    /// let lock = blitz_sync::Semaphore::new(1);
    /// let held = lock.try_acquire().unwrap();
    /// assert!(lock.try_acquire().is_err());
    /// # drop(held);
    /// ```
    #[inline]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// `n` permits, if there are so many.
    ///
    /// # Errors
    /// If there are not, or the semaphore is closed.
    ///
    /// ```
    /// let semaphore = blitz_sync::Semaphore::new(2);
    /// assert!(semaphore.try_acquire_many(3).is_err());
    /// assert!(semaphore.try_acquire_many(2).is_ok());
    /// ```
    #[inline]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_take(n)?;
        Ok(self.permit(n))
    }

    /// Waits for a permit, on the calling thread.
    ///
    /// # Errors
    /// As with [`acquire`](Self::acquire).
    ///
    /// # Panics
    /// Inside of a current-thread runtime, whose thread would wait for itself.
    ///
    /// ```
    /// let semaphore = blitz_sync::Semaphore::new(1);
    /// let permit = semaphore.blocking_acquire().unwrap();
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| drop(semaphore.blocking_acquire())); // waits for us
    ///     drop(permit);
    /// });
    /// ```
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.blocking_acquire_many(1)
    }

    /// Waits for `n` permits, on the calling thread.
    ///
    /// # Errors
    /// As with [`acquire_many`](Self::acquire_many).
    ///
    /// # Panics
    /// Inside of a current-thread runtime, whose thread would wait for itself; if `n` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    ///
    /// ```
    /// let semaphore = blitz_sync::Semaphore::new(3);
    /// let permits = semaphore.blocking_acquire_many(2).unwrap();
    /// assert_eq!(permits.num_permits(), 2);
    /// ```
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.take_blocking(n, "Semaphore::blocking_acquire")?;
        Ok(self.permit(n))
    }

    /// As [`acquire`](Self::acquire), for a permit that shares the semaphore.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use blitz_sync::Semaphore;
    /// use std::sync::Arc;
    ///
    /// # blitz_sync::block_on(async {
    /// let semaphore = Arc::new(Semaphore::new(1));
    /// let permit = semaphore.clone().acquire_owned().await.unwrap();
    /// let thread = std::thread::spawn(move || drop(permit));
    /// let _next = semaphore.acquire().await.unwrap();
    /// thread.join().unwrap();
    /// # });
    /// ```
    #[inline]
    pub async fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many_owned(1).await
    }

    /// As [`acquire_many`](Self::acquire_many), for permits that share the semaphore.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// use std::sync::Arc;
    ///
    /// let semaphore = Arc::new(blitz_sync::Semaphore::new(3));
    /// let permits = semaphore.clone().acquire_many_owned(2).await.unwrap();
    /// assert_eq!(semaphore.available_permits(), 1);
    /// # drop(permits);
    /// # });
    /// ```
    #[inline]
    pub async fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.take(n).await?;
        Ok(self.owned_permit(n))
    }

    /// As [`try_acquire`](Self::try_acquire), for a permit that shares the semaphore.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let semaphore = Arc::new(blitz_sync::Semaphore::new(1));
    /// let permit = semaphore.clone().try_acquire_owned().unwrap();
    /// assert!(semaphore.try_acquire_owned().is_err());
    /// # drop(permit);
    /// ```
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// As [`try_acquire_many`](Self::try_acquire_many), for permits that share the semaphore.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let semaphore = Arc::new(blitz_sync::Semaphore::new(2));
    /// assert!(semaphore.clone().try_acquire_many_owned(3).is_err());
    /// assert!(semaphore.try_acquire_many_owned(2).is_ok());
    /// ```
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_take(n)?;
        Ok(self.owned_permit(n))
    }

    /// As [`blocking_acquire`](Self::blocking_acquire), for a permit that shares the semaphore.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let semaphore = Arc::new(blitz_sync::Semaphore::new(1));
    /// let permit = semaphore.clone().blocking_acquire_owned().unwrap();
    /// let other = std::thread::spawn(move || semaphore.blocking_acquire_owned().is_ok()); // waits for us
    /// drop(permit);
    /// assert!(other.join().unwrap());
    /// ```
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.blocking_acquire_many_owned(1)
    }

    /// As [`blocking_acquire_many`](Self::blocking_acquire_many), for permits that share the semaphore.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let semaphore = Arc::new(blitz_sync::Semaphore::new(3));
    /// let permits = semaphore.blocking_acquire_many_owned(3).unwrap();
    /// assert_eq!(permits.num_permits(), 3);
    /// ```
    #[track_caller]
    pub fn blocking_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.take_blocking(n, "Semaphore::blocking_acquire_owned")?;
        Ok(self.owned_permit(n))
    }

    #[inline]
    fn permit(&self, n: u32) -> SemaphorePermit<'_> {
        SemaphorePermit {
            hold: Hold::new(self, n as usize),
        }
    }

    #[inline]
    fn owned_permit(self: Arc<Self>, n: u32) -> OwnedSemaphorePermit {
        OwnedSemaphorePermit {
            hold: Hold::new(self, n as usize),
        }
    }
}

/// What both kinds of permits can do.
macro_rules! permits {
    ([$($permit:tt)*] $semaphore:ty) => {
        impl $($permit)* {
            /// The permits never go back: the semaphore has fewer from now on.
            pub fn forget(mut self) {
                self.hold.set_number(0);
            }

            /// Takes over the permits of another one.
            ///
            /// # Panics
            /// If that is of another semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!(same_lock(&self.hold, &other.hold), "permits of different semaphores cannot be merged");
                self.hold.set_number(self.hold.number() + other.hold.number());
                other.hold.set_number(0);
            }

            /// Passes `n` of the permits to a new one; `None` if there are not so many.
            pub fn split(&mut self, n: usize) -> Option<Self> {
                let rest = self.hold.number().checked_sub(n)?;
                self.hold.set_number(rest);
                Some(Self { hold: Hold::new(self.hold.lock().clone(), n) })
            }

            /// The semaphore that they belong to.
            pub fn semaphore(&self) -> $semaphore {
                self.hold.lock()
            }

            /// How many there are.
            pub fn num_permits(&self) -> usize {
                self.hold.number()
            }
        }
    };
}
permits!([SemaphorePermit<'_>] &Semaphore);
permits!([OwnedSemaphorePermit] &Arc<Semaphore>);
