//! A read-write lock: as many permits as there may be readers, one for each; a writer needs all of them.

use super::guard::{Hold, Lock, guard, projection};
use super::mutex::TryLockError;
use super::permits::{Acquire, Permits};
use crate::parking;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

/// How many readers there may be at the same time, if nobody says otherwise.
const MAX_READERS: u32 = u32::MAX >> 3;

/// A lock around a value, for many readers or one writer; its guards may be held across `await`.
///
/// First come, first served: readers that come while a writer waits do not overtake it, so writers do not starve; and a writer waits its turn behind
/// readers that came before. (So a task that holds a read guard must not wait for another one: a writer may have come in between.) A future that is
/// dropped while it waits hands on what it has got. Locking and unlocking are one atomic operation each while nobody waits; waiting
/// allocates nothing. Works on any executor, and is not poisoned by panics.
///
/// ```
/// use blitz_sync::RwLock;
///
/// # blitz_sync::block_on(async {
/// let lock = RwLock::new(5);
/// {
///     let (one, two) = (lock.read().await, lock.read().await);
///     assert_eq!(*one + *two, 10);
/// }
/// let mut writer = lock.write().await;
/// *writer += 1;
/// // Others may read, but nobody can have written in between.
/// let reader = writer.downgrade();
/// assert_eq!((*reader, *lock.read().await), (6, 6));
/// # });
/// ```
pub struct RwLock<T: ?Sized> {
    permits: Permits,
    max_readers: u32,
    value: UnsafeCell<T>,
}

// SAFETY: it may be dropped, and the value taken out, on another thread.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: it gives shared access from several threads at a time, and exclusive access from any.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> Lock for RwLock<T> {
    #[inline]
    fn permits(&self) -> &Permits {
        &self.permits
    }
}

guard! {
    ref
    /// Shared access to the value of a [`RwLock`], or to a part of it.
    ///
    /// ```
    /// use blitz_sync::{RwLock, RwLockReadGuard};
    ///
    /// let pair = RwLock::new((1, "one"));
    /// let first = RwLockReadGuard::map(pair.try_read().unwrap(), |pair| &pair.0);
    /// let second = RwLockReadGuard::try_map(pair.try_read().unwrap(), |pair| Some(&pair.1)).unwrap();
    /// assert_eq!((*first, *second), (1, "one")); // two readers
    /// assert!(pair.try_write().is_err());
    /// ```
    [RwLockReadGuard<'a, T>] T ['a, T: ?Sized] => &'a Permits
}

guard! {
    mut
    /// Exclusive access to the value of a [`RwLock`].
    ///
    /// ```
    /// use blitz_sync::{RwLock, RwLockWriteGuard};
    ///
    /// let pair = RwLock::new((1, "one"));
    /// // A part of it, to be changed.
    /// let guard = RwLockWriteGuard::try_map(pair.try_write().unwrap(), |_| None::<&mut i32>).unwrap_err();
    /// *RwLockWriteGuard::map(guard, |pair| &mut pair.0) = 2;
    /// *RwLockWriteGuard::into_mapped(pair.try_write().unwrap()) = (3, "three");
    ///
    /// // From a writer to a reader, of all or of a part, with nobody in between.
    /// let guard = RwLockWriteGuard::try_downgrade_map(pair.try_write().unwrap(), |_| None::<&i32>).unwrap_err();
    /// let number = RwLockWriteGuard::downgrade_map(guard, |pair| &pair.0);
    /// assert_eq!(*number, 3);
    /// drop(number);
    /// let reader = pair.try_write().unwrap().downgrade();
    /// assert_eq!(*pair.try_read().unwrap(), *reader);
    /// ```
    [RwLockWriteGuard<'a, T>] T ['a, T: ?Sized] => &'a Permits
}

guard! {
    mut
    /// Exclusive access to a part of the value of a [`RwLock`]; made by [`RwLockWriteGuard::map`].
    ///
    /// ```
    /// use blitz_sync::{RwLock, RwLockMappedWriteGuard, RwLockWriteGuard};
    ///
    /// let person = RwLock::new((("Ada", "Lovelace"), 1815));
    /// let names = RwLockWriteGuard::map(person.try_write().unwrap(), |person| &mut person.0);
    /// let mut first = RwLockMappedWriteGuard::map(names, |names| &mut names.0);
    /// *first = "Augusta";
    /// let none = RwLockMappedWriteGuard::try_map(first, |_| None::<&mut str>);
    /// assert_eq!(*none.unwrap_err(), "Augusta"); // the guard as it was
    /// ```
    [RwLockMappedWriteGuard<'a, T>] T ['a, T: ?Sized] => &'a Permits
}

guard! {
    ref
    /// As [`RwLockReadGuard`], without a lifetime: it shares the lock.
    ///
    /// ```
    /// use blitz_sync::{OwnedRwLockReadGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let pair = Arc::new(RwLock::new((1, "one")));
    /// let guard = pair.clone().try_read_owned().unwrap();
    /// assert!(Arc::ptr_eq(OwnedRwLockReadGuard::rwlock(&guard), &pair));
    /// let guard = OwnedRwLockReadGuard::try_map(guard, |pair| (pair.0 > 5).then_some(&pair.0)).unwrap_err(); // as it was
    /// let name = OwnedRwLockReadGuard::map(guard, |pair| pair.1);
    /// assert_eq!(&*name, "one");
    /// ```
    [OwnedRwLockReadGuard<T, U>] U [T: ?Sized, U: ?Sized] = T => Arc<RwLock<T>>
}

guard! {
    mut
    /// As [`RwLockWriteGuard`], without a lifetime: it shares the lock.
    ///
    /// ```
    /// use blitz_sync::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let pair = Arc::new(RwLock::new((1, "one")));
    /// let write = || pair.clone().try_write_owned().unwrap();
    /// assert!(Arc::ptr_eq(OwnedRwLockWriteGuard::rwlock(&write()), &pair));
    /// // A part of it, to be changed.
    /// let guard = OwnedRwLockWriteGuard::try_map(write(), |_| None::<&mut i32>).unwrap_err();
    /// *OwnedRwLockWriteGuard::map(guard, |pair| &mut pair.0) = 2;
    /// *OwnedRwLockWriteGuard::into_mapped(write()) = (3, "three");
    ///
    /// // From a writer to a reader, of all or of a part, with nobody in between.
    /// let guard = OwnedRwLockWriteGuard::try_downgrade_map(write(), |_| None::<&i32>).unwrap_err();
    /// let number = OwnedRwLockWriteGuard::downgrade_map(guard, |pair| &pair.0);
    /// assert_eq!(*number, 3);
    /// drop(number);
    /// assert_eq!(write().downgrade().1, "three");
    /// ```
    [OwnedRwLockWriteGuard<T>] T [T: ?Sized] => Arc<RwLock<T>>
}

guard! {
    mut
    /// As [`RwLockMappedWriteGuard`], without a lifetime: it shares the lock.
    ///
    /// ```
    /// use blitz_sync::{OwnedRwLockMappedWriteGuard, OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// let person = Arc::new(RwLock::new((("Ada", "Lovelace"), 1815)));
    /// let names = OwnedRwLockWriteGuard::map(person.clone().try_write_owned().unwrap(), |person| &mut person.0);
    /// assert!(Arc::ptr_eq(OwnedRwLockMappedWriteGuard::rwlock(&names), &person));
    /// let mut first = OwnedRwLockMappedWriteGuard::map(names, |names| &mut names.0);
    /// *first = "Augusta";
    /// let none = OwnedRwLockMappedWriteGuard::try_map(first, |_| None::<&mut str>);
    /// assert_eq!(*none.unwrap_err(), "Augusta"); // the guard as it was
    /// ```
    [OwnedRwLockMappedWriteGuard<T, U>] U [T: ?Sized, U: ?Sized] = T => Arc<RwLock<T>>
}

// SAFETY: shared access may be sent if the value may be shared.
unsafe impl<T: ?Sized + Sync> Send for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: exclusive access may be sent if the value may.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockWriteGuard<'_, T> {}
// SAFETY: a shared guard gives shared access.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: as above; it may drop the lock as well.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Send for OwnedRwLockReadGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedRwLockReadGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Send for OwnedRwLockWriteGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedRwLockWriteGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Send
    for OwnedRwLockMappedWriteGuard<T, U>
{
}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send + Sync> Sync
    for OwnedRwLockMappedWriteGuard<T, U>
{
}

/// A writer becomes a reader; nobody can have written in between.
fn to_reader<R: std::ops::Deref<Target: Lock>>(mut hold: Hold<R>) -> Hold<R> {
    hold.shrink(1);
    hold
}

projection!([RwLockReadGuard<'a, T>] ['a, T: ?Sized] ref map try_map <F, U>, T => U, RwLockReadGuard [<'a, U>], |hold| hold);
projection!([RwLockWriteGuard<'a, T>] ['a, T: ?Sized] mut map try_map <F, U>, T => U, RwLockMappedWriteGuard [<'a, U>], |hold| hold);
projection!([RwLockWriteGuard<'a, T>] ['a, T: ?Sized] ref downgrade_map try_downgrade_map <F, U>, T => U, RwLockReadGuard [<'a, U>], to_reader);
projection!([RwLockMappedWriteGuard<'a, T>] ['a, T: ?Sized] mut map try_map <F, U>, T => U, RwLockMappedWriteGuard [<'a, U>], |hold| hold);
projection!([OwnedRwLockReadGuard<T, U>] [T: ?Sized, U: ?Sized] ref map try_map <F, V>, U => V, OwnedRwLockReadGuard [<T, V>], |hold| hold);
projection!([OwnedRwLockWriteGuard<T>] [T: ?Sized] mut map try_map <F, U>, T => U, OwnedRwLockMappedWriteGuard [<T, U>], |hold| hold);
projection!([OwnedRwLockWriteGuard<T>] [T: ?Sized] ref downgrade_map try_downgrade_map <F, U>, T => U, OwnedRwLockReadGuard [<T, U>], to_reader);
projection!([OwnedRwLockMappedWriteGuard<T, U>] [T: ?Sized, U: ?Sized] mut map try_map <F, V>, U => V, OwnedRwLockMappedWriteGuard [<T, V>], |hold| hold);

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Becomes a reader. Nobody can write in between; a writer that waits stays first in the line, and readers behind it wait for it.
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        Self::downgrade_map(self, |value| value)
    }

    /// A guard of the type that [`map`](Self::map) makes.
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        Self::map(this, |value| value)
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    /// As [`RwLockWriteGuard::downgrade`].
    pub fn downgrade(self) -> OwnedRwLockReadGuard<T> {
        Self::downgrade_map(self, |value| value)
    }

    /// A guard of the type that [`map`](Self::map) makes.
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        Self::map(this, |value| value)
    }

    /// The lock that it is of.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.hold.lock()
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    /// The lock that it is of.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.hold.lock()
    }
}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    /// The lock that it is of.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.hold.lock()
    }
}

impl<T> RwLock<T> {
    /// A lock around `value`.
    ///
    /// ```
    /// use blitz_sync::RwLock;
    ///
    /// static NAMES: RwLock<Vec<&str>> = RwLock::new(Vec::new());
    ///
    /// NAMES.try_write().unwrap().push("Ada");
    /// assert_eq!(NAMES.try_read().unwrap().len(), 1);
    /// ```
    pub const fn new(value: T) -> Self {
        Self::with_max_readers(value, MAX_READERS)
    }

    /// As [`new`](Self::new).
    ///
    /// ```
    /// static COUNT: blitz_sync::RwLock<u32> = blitz_sync::RwLock::const_new(7);
    /// assert_eq!(*COUNT.try_read().unwrap(), 7);
    /// ```
    pub const fn const_new(value: T) -> Self {
        Self::new(value)
    }

    /// A lock around `value` for so many readers at a time; more of them wait.
    ///
    /// # Panics
    /// If it is 0 (a writer takes the places of all readers, so there must be one), or more than `u32::MAX >> 3`.
    ///
    /// ```
    /// use blitz_sync::RwLock;
    ///
    /// let lock = RwLock::with_max_readers(7, 2);
    /// let readers = (lock.try_read().unwrap(), lock.try_read().unwrap());
    /// assert!(lock.try_read().is_err()); // the third waits
    /// # drop(readers);
    /// ```
    #[track_caller]
    pub const fn with_max_readers(value: T, max_reads: u32) -> Self {
        assert!(
            max_reads > 0,
            "a RwLock may not be created with 0 readers: nothing would keep two writers apart"
        );
        assert!(
            max_reads <= MAX_READERS,
            "a RwLock has room for u32::MAX >> 3 readers at most"
        );
        Self {
            permits: Permits::new(max_reads as usize),
            max_readers: max_reads,
            value: UnsafeCell::new(value),
        }
    }

    /// As [`with_max_readers`](Self::with_max_readers).
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// static COUNT: blitz_sync::RwLock<u32> = blitz_sync::RwLock::const_with_max_readers(7, 16);
    /// assert_eq!(*COUNT.try_read().unwrap(), 7);
    /// ```
    #[track_caller]
    pub const fn const_with_max_readers(value: T, max_reads: u32) -> Self {
        Self::with_max_readers(value, max_reads)
    }

    /// The value.
    ///
    /// ```
    /// assert_eq!(blitz_sync::RwLock::new(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until it may read: until no writer has the lock, nor waits for it in front of this.
    ///
    /// # Cancel safety
    /// A future that is dropped loses its place in the line, and nothing else.
    ///
    /// ```
    /// use blitz_sync::RwLock;
    /// # blitz_sync::block_on(async {
    /// let numbers = RwLock::new(vec![1]);
    /// let (one, two) = (numbers.read().await, numbers.read().await);
    /// assert_eq!(*one, *two);
    /// # });
    /// ```
    #[inline]
    pub fn read(&self) -> impl Future<Output = RwLockReadGuard<'_, T>> {
        self.take(1).then(|_never_closed| self.reader())
    }

    /// May read, if that is possible at once.
    ///
    /// # Errors
    /// If a writer has the lock or waits for it.
    ///
    /// ```
    /// let lock = blitz_sync::RwLock::new(1);
    /// let changing = lock.try_write().unwrap();
    /// assert!(lock.try_read().is_err());
    /// # drop(changing);
    /// ```
    #[inline]
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        self.try_take(1)?;
        Ok(self.reader())
    }

    /// As [`read`](Self::read), on the calling thread.
    ///
    /// # Panics
    /// Inside of a current-thread runtime, whose thread would wait for itself.
    ///
    /// ```
    /// let lock = blitz_sync::RwLock::new(7);
    /// std::thread::scope(|threads| {
    ///     let writer = lock.blocking_write();
    ///     let reader = threads.spawn(|| *lock.blocking_read()); // waits for us
    ///     drop(writer);
    ///     assert_eq!(reader.join().unwrap(), 7);
    /// });
    /// ```
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T> {
        self.take_blocking(1, "RwLock::blocking_read");
        self.reader()
    }

    /// As [`read`](Self::read), for a guard that shares the lock.
    ///
    /// ```
    /// use blitz_sync::RwLock;
    /// use std::sync::Arc;
    ///
    /// # blitz_sync::block_on(async {
    /// let lock = Arc::new(RwLock::new(7));
    /// let guard = lock.clone().read_owned().await;
    /// let thread = std::thread::spawn(move || *guard);
    /// assert_eq!(thread.join().unwrap(), 7);
    /// *lock.write_owned().await += 1;
    /// # });
    /// ```
    #[inline]
    pub async fn read_owned(self: Arc<Self>) -> OwnedRwLockReadGuard<T> {
        let _never_closed = self.take(1).await;
        self.owned_reader()
    }

    /// As [`try_read`](Self::try_read), for a guard that shares the lock.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let lock = Arc::new(blitz_sync::RwLock::new(7));
    /// let reader = lock.clone().try_read_owned().unwrap();
    /// assert!(lock.clone().try_read_owned().is_ok() && lock.try_write_owned().is_err());
    /// assert_eq!(*reader, 7);
    /// ```
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        self.try_take(1)?;
        Ok(self.owned_reader())
    }

    /// Waits until it may write: until everybody who came before is through.
    ///
    /// # Cancel safety
    /// A future that is dropped loses its place in the line, and nothing else.
    ///
    /// ```
    /// use blitz_sync::RwLock;
    /// # blitz_sync::block_on(async {
    /// let numbers = RwLock::new(vec![1]);
    /// numbers.write().await.push(2);
    /// assert_eq!(*numbers.read().await, [1, 2]);
    /// # });
    /// ```
    #[inline]
    pub fn write(&self) -> impl Future<Output = RwLockWriteGuard<'_, T>> {
        let taking = self.take(self.max_readers);
        taking.then(|_never_closed| self.writer())
    }

    /// May write, if nobody has the lock.
    ///
    /// # Errors
    /// If somebody has it.
    ///
    /// ```
    /// let lock = blitz_sync::RwLock::new(1);
    /// let reading = lock.try_read().unwrap();
    /// assert!(lock.try_write().is_err());
    /// # drop(reading);
    /// ```
    #[inline]
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        self.try_take(self.max_readers)?;
        Ok(self.writer())
    }

    /// As [`write`](Self::write), on the calling thread.
    ///
    /// # Panics
    /// Inside of a current-thread runtime, whose thread would wait for itself.
    ///
    /// ```
    /// let lock = blitz_sync::RwLock::new(7);
    /// *lock.blocking_write() += 1;
    /// assert_eq!(*lock.blocking_read(), 8);
    /// ```
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T> {
        self.take_blocking(self.max_readers, "RwLock::blocking_write");
        self.writer()
    }

    /// As [`write`](Self::write), for a guard that shares the lock.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// use std::sync::Arc;
    ///
    /// let lock = Arc::new(blitz_sync::RwLock::new(7));
    /// *lock.clone().write_owned().await += 1;
    /// assert_eq!(*lock.read().await, 8);
    /// # });
    /// ```
    #[inline]
    pub async fn write_owned(self: Arc<Self>) -> OwnedRwLockWriteGuard<T> {
        let _never_closed = self.take(self.max_readers).await;
        self.owned_writer()
    }

    /// As [`try_write`](Self::try_write), for a guard that shares the lock.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let lock = Arc::new(blitz_sync::RwLock::new(7));
    /// *lock.clone().try_write_owned().unwrap() += 1;
    /// assert_eq!(*lock.try_read().unwrap(), 8);
    /// ```
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        self.try_take(self.max_readers)?;
        Ok(self.owned_writer())
    }

    /// The value: whoever has the lock to itself needs no guard.
    ///
    /// ```
    /// let mut lock = blitz_sync::RwLock::new(7);
    /// *lock.get_mut() += 1;
    /// assert_eq!(lock.into_inner(), 8);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[inline]
    fn take(&self, permits: u32) -> Acquire<'_> {
        self.permits.acquire(permits as usize)
    }

    #[inline]
    fn try_take(&self, permits: u32) -> Result<(), TryLockError> {
        let taken = self.permits.try_acquire(permits as usize);
        taken.map_err(|_| TryLockError(()))
    }

    #[track_caller]
    fn take_blocking(&self, permits: u32, method: &str) {
        parking::assert_may_wait(method);
        if self.try_take(permits).is_err() {
            let _never_closed = parking::wait(method, self.take(permits));
        }
    }

    fn value(&self) -> NonNull<T> {
        // SAFETY: the address of a field.
        unsafe { NonNull::new_unchecked(self.value.get()) }
    }

    // The caller has taken the permits.

    #[inline]
    fn reader(&self) -> RwLockReadGuard<'_, T> {
        RwLockReadGuard {
            hold: Hold::new(&self.permits, 1),
            value: self.value(),
            _value: PhantomData,
        }
    }

    #[inline]
    fn writer(&self) -> RwLockWriteGuard<'_, T> {
        RwLockWriteGuard {
            hold: Hold::new(&self.permits, self.max_readers as usize),
            value: self.value(),
            _value: PhantomData,
        }
    }

    #[inline]
    fn owned_reader(self: Arc<Self>) -> OwnedRwLockReadGuard<T> {
        OwnedRwLockReadGuard {
            value: self.value(),
            hold: Hold::new(self, 1),
            _value: PhantomData,
        }
    }

    #[inline]
    fn owned_writer(self: Arc<Self>) -> OwnedRwLockWriteGuard<T> {
        let all = self.max_readers as usize;
        OwnedRwLockWriteGuard {
            value: self.value(),
            hold: Hold::new(self, all),
            _value: PhantomData,
        }
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(value) => debug.field("data", &&*value),
            Err(_) => debug.field("data", &format_args!("<locked>")),
        };
        debug.finish()
    }
}
