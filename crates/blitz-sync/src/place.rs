//! Where the value of a cell lies that is written once: [`OnceCell`](super::OnceCell)'s and [`SetOnce`](super::SetOnce)'s.
//!
//! The two differ in who may write and in how others wait for it. What they share is here: the memory, the word that says that it has been written, and what
//! may be done with it then. Whoever sees the word sees the value: it is said with release, after the writing, and looked at with acquire.

use crate::primitives::{AtomicBool, Ordering, UnsafeCell, const_fn};
use std::mem::MaybeUninit;

/// What says whether there is a value.
///
/// # Safety
/// `is_said` is a load with acquire, at least. Once it has returned `true` it does so until `unsay`.
pub(super) unsafe trait Said {
    fn is_said(&self) -> bool;
    /// There is no value any more.
    fn unsay(&mut self);
}

// SAFETY: an acquire, and nobody else stores `false`.
unsafe impl Said for AtomicBool {
    #[inline]
    fn is_said(&self) -> bool {
        self.load(Ordering::Acquire)
    }

    fn unsay(&mut self) {
        *self = AtomicBool::new(false);
    }
}

/// A value that is written once, and the word about it.
pub(super) struct Place<T, S: Said> {
    pub(super) said: S,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: a value may come from one thread and be dropped by another.
unsafe impl<T: Send, S: Said + Send> Send for Place<T, S> {}
// SAFETY: it gives shared access, and takes a value, from any thread.
unsafe impl<T: Send + Sync, S: Said + Sync> Sync for Place<T, S> {}

impl<T, S: Said> Place<T, S> {
    const_fn! {
        /// `said` speaks the truth about `value`.
        pub(super) const fn new(said: S, value: MaybeUninit<T>) -> Self {
            Place { said, value: UnsafeCell::new(value) }
        }
    }

    #[inline]
    pub(super) fn is_filled(&self) -> bool {
        self.said.is_said()
    }

    #[inline]
    pub(super) fn get(&self) -> Option<&T> {
        // SAFETY: there is a value, and we have just seen so.
        self.is_filled().then(|| unsafe { self.get_unchecked() })
    }

    /// # Safety
    /// There is a value, and its writing has happened before.
    #[inline]
    pub(super) unsafe fn get_unchecked(&self) -> &T {
        // SAFETY: given; it is never written again while the place is shared.
        self.value
            .with(|place| unsafe { (*place).assume_init_ref() })
    }

    pub(super) fn get_mut(&mut self) -> Option<&mut T> {
        if !self.is_filled() {
            return None;
        }
        // SAFETY: there is one, and the place is ours.
        Some(
            self.value
                .with_mut(|place| unsafe { (*place).assume_init_mut() }),
        )
    }

    /// Writes the value. The caller says so afterwards.
    ///
    /// # Safety
    /// There is none, and nobody else writes.
    #[inline]
    pub(super) unsafe fn write(&self, value: T) {
        self.value.with_mut(|place| {
            // SAFETY: nobody reads before it is said, and nobody else writes.
            unsafe { (*place).write(value) };
        });
    }

    /// Takes the value out: the place is empty then.
    pub(super) fn take(&mut self) -> Option<T> {
        if !self.is_filled() {
            return None;
        }
        self.said.unsay();
        // SAFETY: there is one, and from now on nobody believes so.
        Some(
            self.value
                .with(|place| unsafe { (*place).assume_init_read() }),
        )
    }
}

impl<T, S: Said> Drop for Place<T, S> {
    #[inline]
    fn drop(&mut self) {
        if self.is_filled() {
            // SAFETY: there is one, and nobody uses the place any more.
            self.value
                .with_mut(|place| unsafe { (*place).assume_init_drop() });
        }
    }
}

/// What a cell is beside its waiting: [`Default`], [`Clone`] and so on, and a constructor. It has a field `place`.
macro_rules! cell {
    ($cell:ident) => {
        impl<T> $cell<T> {
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
                self.place.is_filled()
            }

            /// The value, if it is there.
            #[inline]
            pub fn get(&self) -> Option<&T> {
                self.place.get()
            }

            /// The value.
            pub fn into_inner(mut self) -> Option<T> {
                self.place.take()
            }
        }

        impl<T> Default for $cell<T> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<T> From<T> for $cell<T> {
            fn from(value: T) -> Self {
                Self::const_new_with(value)
            }
        }

        impl<T: Clone> Clone for $cell<T> {
            fn clone(&self) -> Self {
                Self::new_with(self.get().cloned())
            }
        }

        impl<T: PartialEq> PartialEq for $cell<T> {
            fn eq(&self, other: &Self) -> bool {
                self.get() == other.get()
            }
        }

        impl<T: Eq> Eq for $cell<T> {}

        impl<T: std::fmt::Debug> std::fmt::Debug for $cell<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($cell))
                    .field("value", &self.get())
                    .finish()
            }
        }
    };
}
pub(super) use cell;
