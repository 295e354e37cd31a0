//! A mutex: one permit, and a value that whoever has it may change.

use super::guard::{Hold, Lock, guard, projection};
use super::permits::Permits;
use crate::parking;
use crate::primitives::error;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

/// A lock around a value; its guard may be held across `await`.
///
/// First come, first served: a task that unlocks and locks again at once waits behind those that came before. A future that is dropped while it waits, or
/// after the lock has been handed to it, hands it on. Locking and unlocking are one atomic operation each while nobody waits; waiting allocates nothing.
/// Works on any executor. It is not poisoned by a panic: the guard unlocks it.
///
/// ```
/// use blitz_sync::Mutex;
/// use std::sync::Arc;
///
/// async fn one_more(count: Arc<Mutex<u32>>) {
///     let mut count = count.lock().await;
///     // Others may wait for the lock while this one awaits something.
///     *count += std::future::ready(1).await;
/// }
///
/// let count = Arc::new(Mutex::new(0));
/// let threads: Vec<_> = (0..4)
///     .map(|_| {
///         let count = count.clone();
///         std::thread::spawn(move || blitz_sync::block_on(one_more(count)))
///     })
///     .collect();
/// for thread in threads {
///     thread.join().unwrap();
/// }
/// assert_eq!(*count.blocking_lock(), 4);
/// ```
pub struct Mutex<T: ?Sized> {
    permits: Permits,
    value: UnsafeCell<T>,
}

// SAFETY: it gives access to the value to one at a time, from any thread.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> Lock for Mutex<T> {
    #[inline]
    fn permits(&self) -> &Permits {
        &self.permits
    }
}

/// Somebody else has the lock.
///
/// ```
/// use blitz_sync::Mutex;
///
/// let mutex = Mutex::new(7);
/// let guard = mutex.try_lock().unwrap();
/// println!("{}", mutex.try_lock().unwrap_err());
/// drop(guard);
/// assert!(mutex.try_lock().is_ok());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TryLockError(pub(super) ());

error!(TryLockError, _ => "somebody else has the lock");

guard! {
    mut
    /// Access to the value of a [`Mutex`], which is locked until this is dropped.
    ///
    /// ```
    /// use blitz_sync::{Mutex, MutexGuard};
    ///
    /// let pair = Mutex::new((1, "one"));
    /// let mut number = MutexGuard::map(pair.try_lock().unwrap(), |pair| &mut pair.0);
    /// *number += 1;
    /// assert!(pair.try_lock().is_err());
    /// drop(number);
    /// assert_eq!(*pair.try_lock().unwrap(), (2, "one"));
    /// ```
    ///
    /// ```
    /// use blitz_sync::{Mutex, MutexGuard};
    ///
    /// let words = Mutex::new(vec!["one", "two"]);
    /// let guard = words.try_lock().unwrap();
    /// assert!(std::ptr::eq(MutexGuard::mutex(&guard), &words));
    /// // A part, if it is there; otherwise the guard comes back.
    /// let guard = MutexGuard::try_map(guard, |words| words.get_mut(5)).unwrap_err();
    /// let mut second = MutexGuard::try_map(guard, |words| words.get_mut(1)).unwrap();
    /// *second = "2";
    /// drop(second);
    /// assert_eq!(words.into_inner(), ["one", "2"]);
    /// ```
    [MutexGuard<'a, T>] T ['a, T: ?Sized] => &'a Mutex<T>
}

guard! {
    mut
    /// Access to a part of the value of a [`Mutex`]; made by [`MutexGuard::map`].
    ///
    /// ```
    /// use blitz_sync::{MappedMutexGuard, Mutex, MutexGuard};
    ///
    /// let person = Mutex::new((("Ada", "Lovelace"), 1815));
    /// let names = MutexGuard::map(person.try_lock().unwrap(), |person| &mut person.0);
    /// let mut first = MappedMutexGuard::map(names, |names| &mut names.0);
    /// *first = "Augusta";
    /// let none = MappedMutexGuard::try_map(first, |_| None::<&mut str>);
    /// assert_eq!(*none.unwrap_err(), "Augusta"); // the guard as it was
    /// ```
    [MappedMutexGuard<'a, T>] T ['a, T: ?Sized] => &'a Permits
}

guard! {
    mut
    /// As [`MutexGuard`], without a lifetime: it shares the mutex.
    ///
    /// ```
    /// use blitz_sync::{Mutex, OwnedMutexGuard};
    /// use std::sync::Arc;
    ///
    /// let pair = Arc::new(Mutex::new((1, "one")));
    /// let guard = pair.clone().try_lock_owned().unwrap();
    /// assert!(Arc::ptr_eq(OwnedMutexGuard::mutex(&guard), &pair));
    /// let guard = OwnedMutexGuard::try_map(guard, |_| None::<&mut i32>).unwrap_err(); // as it was
    /// let mut number = OwnedMutexGuard::map(guard, |pair| &mut pair.0);
    /// *number = 2;
    /// std::thread::spawn(move || drop(number)).join().unwrap(); // may go anywhere
    /// assert_eq!(*pair.try_lock().unwrap(), (2, "one"));
    /// ```
    [OwnedMutexGuard<T>] T [T: ?Sized] => Arc<Mutex<T>>
}

guard! {
    mut
    /// Access to a part of the value of a [`Mutex`]; made by [`OwnedMutexGuard::map`].
    ///
    /// ```
    /// use blitz_sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};
    /// use std::sync::Arc;
    ///
    /// let person = Arc::new(Mutex::new((("Ada", "Lovelace"), 1815)));
    /// let names = OwnedMutexGuard::map(person.clone().try_lock_owned().unwrap(), |person| &mut person.0);
    /// let mut first = OwnedMappedMutexGuard::map(names, |names| &mut names.0);
    /// *first = "Augusta";
    /// let none = OwnedMappedMutexGuard::try_map(first, |_| None::<&mut str>);
    /// assert_eq!(*none.unwrap_err(), "Augusta"); // the guard as it was
    /// ```
    [OwnedMappedMutexGuard<T, U>] U [T: ?Sized, U: ?Sized] => Arc<Mutex<T>>
}

// SAFETY: exclusive access to a value may be sent if the value may.
unsafe impl<T: ?Sized + Send> Send for MutexGuard<'_, T> {}
// SAFETY: a shared guard gives shared access.
unsafe impl<T: ?Sized + Send + Sync> Sync for MutexGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Send for MappedMutexGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for MappedMutexGuard<'_, T> {}
// SAFETY: as above; it may drop the mutex as well.
unsafe impl<T: ?Sized + Send> Send for OwnedMutexGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedMutexGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send, U: ?Sized + Send> Send for OwnedMappedMutexGuard<T, U> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedMappedMutexGuard<T, U> {}

projection!([MutexGuard<'a, T>] ['a, T: ?Sized] mut map try_map <U, F>, T => U, MappedMutexGuard [<'a, U>], |hold: Hold<_>| hold.erase());
projection!([MappedMutexGuard<'a, T>] ['a, T: ?Sized] mut map try_map <U, F>, T => U, MappedMutexGuard [<'a, U>], |hold| hold);
projection!([OwnedMutexGuard<T>] [T: ?Sized] mut map try_map <U, F>, T => U, OwnedMappedMutexGuard [<T, U>], |hold| hold);
projection!([OwnedMappedMutexGuard<T, U>] [T: ?Sized, U: ?Sized] mut map try_map <V, F>, U => V, OwnedMappedMutexGuard [<T, V>], |hold| hold);

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The mutex that it is of.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.hold.lock()
    }
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    /// The mutex that it is of.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        this.hold.lock()
    }
}

impl<T> Mutex<T> {
    /// A mutex around `value`.
    ///
    /// ```
    /// use blitz_sync::Mutex;
    ///
    /// static NAMES: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    ///
    /// NAMES.try_lock().unwrap().push("Ada");
    /// assert_eq!(NAMES.try_lock().unwrap().len(), 1);
    /// ```
    pub const fn new(value: T) -> Self {
        Self {
            permits: Permits::new(1),
            value: UnsafeCell::new(value),
        }
    }

    /// As [`new`](Self::new).
    ///
    /// ```
    /// static COUNT: blitz_sync::Mutex<u32> = blitz_sync::Mutex::const_new(7);
    /// assert_eq!(*COUNT.try_lock().unwrap(), 7);
    /// ```
    pub const fn const_new(value: T) -> Self {
        Self::new(value)
    }

    /// The value.
    ///
    /// ```
    /// let count = blitz_sync::Mutex::new(1);
    /// assert_eq!(count.into_inner(), 1);
    /// ```
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock.
    ///
    /// # Cancel safety
    /// A future that is dropped loses its place in the line, and nothing else.
    ///
    /// ```
    /// use blitz_sync::Mutex;
    /// # blitz_sync::block_on(async {
    /// let count = Mutex::new(1);
    /// *count.lock().await += 1;
    /// assert_eq!(*count.lock().await, 2);
    /// # });
    /// ```
    #[inline]
    pub fn lock(&self) -> impl Future<Output = MutexGuard<'_, T>> {
        self.permits.acquire(1).then(|_never_closed| self.guard())
    }

    /// The lock, if nobody has it.
    ///
    /// # Errors
    /// If somebody has it.
    ///
    /// ```
    /// use blitz_sync::Mutex;
    /// let count = Mutex::new(1);
    /// let held = count.try_lock().unwrap();
    /// assert!(count.try_lock().is_err());
    /// # drop(held);
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        self.try_take()?;
        Ok(self.guard())
    }

    /// Waits for the lock, on the calling thread.
    ///
    /// In a task of a runtime with workers, other threads serve the tasks meanwhile.
    ///
    /// # Panics
    /// Inside of a current-thread runtime, whose thread would wait for itself.
    ///
    /// ```
    /// let mutex = std::sync::Arc::new(blitz_sync::Mutex::new(1));
    /// let theirs = mutex.clone();
    /// let thread = std::thread::spawn(move || {
    ///     blitz_sync::block_on(async { *theirs.lock().await += 1 });
    /// });
    /// *mutex.blocking_lock() += 1;
    /// thread.join().unwrap();
    /// assert_eq!(*mutex.blocking_lock(), 3);
    /// ```
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T> {
        self.take_blocking("Mutex::blocking_lock");
        self.guard()
    }

    /// As [`lock`](Self::lock), for a guard that shares the mutex.
    ///
    /// ```
    /// use blitz_sync::Mutex;
    /// use std::sync::Arc;
    ///
    /// # blitz_sync::block_on(async {
    /// let mutex = Arc::new(Mutex::new(1));
    /// let mut guard = mutex.clone().lock_owned().await;
    /// // It has no lifetime, so it may go to another thread or task.
    /// std::thread::spawn(move || *guard += 1).join().unwrap();
    /// assert_eq!(*mutex.lock().await, 2);
    /// # });
    /// ```
    #[inline]
    pub async fn lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        let _never_closed = self.permits.acquire(1).await;
        self.owned_guard()
    }

    /// As [`try_lock`](Self::try_lock), for a guard that shares the mutex.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use blitz_sync::Mutex;
    /// use std::sync::Arc;
    ///
    /// let mutex = Arc::new(Mutex::new(7));
    /// let guard = mutex.clone().try_lock_owned().unwrap();
    /// assert!(mutex.try_lock_owned().is_err());
    /// # drop(guard);
    /// ```
    #[inline]
    pub fn try_lock_owned(self: Arc<Self>) -> Result<OwnedMutexGuard<T>, TryLockError> {
        self.try_take()?;
        Ok(self.owned_guard())
    }

    /// As [`blocking_lock`](Self::blocking_lock), for a guard that shares the mutex.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// use blitz_sync::Mutex;
    /// use std::sync::Arc;
    ///
    /// let mutex = Arc::new(Mutex::new(7));
    /// let guard = mutex.clone().blocking_lock_owned();
    /// let other = std::thread::spawn(move || *mutex.blocking_lock_owned() + 1); // waits for us
    /// drop(guard);
    /// assert_eq!(other.join().unwrap(), 8);
    /// ```
    #[track_caller]
    pub fn blocking_lock_owned(self: Arc<Self>) -> OwnedMutexGuard<T> {
        self.take_blocking("Mutex::blocking_lock_owned");
        self.owned_guard()
    }

    /// The value: whoever has the mutex to itself needs no lock.
    ///
    /// ```
    /// let mut count = blitz_sync::Mutex::new(1);
    /// *count.get_mut() += 1;
    /// assert_eq!(count.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[inline]
    fn try_take(&self) -> Result<(), TryLockError> {
        self.permits.try_acquire(1).map_err(|_| TryLockError(()))
    }

    #[track_caller]
    fn take_blocking(&self, method: &str) {
        parking::assert_may_wait(method);
        if self.try_take().is_err() {
            let _never_closed = parking::wait(method, self.permits.acquire(1));
        }
    }

    fn value(&self) -> NonNull<T> {
        // SAFETY: the address of a field.
        unsafe { NonNull::new_unchecked(self.value.get()) }
    }

    /// The caller has taken the permit.
    #[inline]
    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard {
            hold: Hold::new(self, 1),
            value: self.value(),
            _value: PhantomData,
        }
    }

    /// The caller has taken the permit.
    #[inline]
    fn owned_guard(self: Arc<Self>) -> OwnedMutexGuard<T> {
        OwnedMutexGuard {
            value: self.value(),
            hold: Hold::new(self, 1),
            _value: PhantomData,
        }
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(value) => debug.field("data", &&*value),
            Err(_) => debug.field("data", &format_args!("<locked>")),
        };
        debug.finish()
    }
}
