//! Clones of one value for every piece that begins, for `map_with`, `fold_with` and `try_fold_with`.
//!
//! The value need not be `Sync`, so no two threads may clone the same one at the same time. A thread that needs a clone takes an original, clones it
//! without holding the lock, and puts it back. At first there is one original. If it is taken, another thread is cloning it right now and has not
//! finished: clones take long, and several are needed at once. So a thread that had to wait for an original makes another one first. Then
//! their number grows as fast as a tree, not one by one.

use crate::engine::sync::locks::{Condvar, Mutex};
use std::ops::Deref;
use std::sync::{MutexGuard, PoisonError};

/// What clones are made of.
pub(super) struct Originals<U> {
    free: Mutex<Vec<U>>,
    put_back: Condvar,
}

impl<U> Originals<U> {
    pub(super) fn new(value: U) -> Self {
        Originals {
            free: Mutex::new(vec![value]),
            put_back: Condvar::new(),
        }
    }

    /// A clone.
    pub(super) fn copy(&self) -> U
    where
        U: Clone,
    {
        let (original, has_waited) = self.take();
        if has_waited {
            self.put(original.clone());
        }
        original.clone()
    }

    /// Takes an original, and says whether none was there at first.
    fn take(&self) -> (Taken<'_, U>, bool) {
        let mut free = self.lock();
        let mut has_waited = false;
        loop {
            if let Some(value) = free.pop() {
                let value = Some(value);
                let originals = self;
                return (Taken { value, originals }, has_waited);
            }
            has_waited = true;
            free = self
                .put_back
                .wait(free)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn put(&self, original: U) {
        self.lock().push(original);
        self.put_back.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<U>> {
        // No code of the user's runs under the lock.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An original that goes back when it is done with, also if a clone panics: that leaves it as it was.
struct Taken<'o, U> {
    value: Option<U>,
    originals: &'o Originals<U>,
}

impl<U> Deref for Taken<'_, U> {
    type Target = U;

    fn deref(&self) -> &U {
        self.value.as_ref().expect("it is there until it goes back")
    }
}

impl<U> Drop for Taken<'_, U> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            self.originals.put(value);
        }
    }
}
