//! Wakers that have been taken out under a lock, to be called after it.
//!
//! The first few lie in the batch itself, so that handing a lock on allocates nothing. A caller that goes on although the batch
//! is full gets memory for the rest, which the batch keeps.

use std::mem::MaybeUninit;
use std::task::Waker;

/// How many wakers are collected before they are called.
const CAPACITY: usize = 32;

/// A few wakers. All of them are called, in the order in which they came, even if one of them panics.
pub(crate) struct WakeBatch {
    /// The first `len` are there.
    first: [MaybeUninit<Waker>; CAPACITY],
    len: usize,
    /// What came to a full batch.
    more: Vec<Waker>,
}

impl WakeBatch {
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            first: [const { MaybeUninit::uninit() }; CAPACITY],
            len: 0,
            more: Vec::new(),
        }
    }

    /// Whether it is time to call them. There is room for more nevertheless.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len == CAPACITY
    }

    #[inline]
    pub(crate) fn push(&mut self, waker: Waker) {
        match self.first.get_mut(self.len) {
            Some(place) => {
                place.write(waker);
                self.len += 1;
            }
            None => self.more.push(waker),
        }
    }

    pub(crate) fn extend(&mut self, wakers: impl IntoIterator<Item = Waker>) {
        wakers.into_iter().for_each(|waker| self.push(waker));
    }

    /// Calls them and returns their number. Not to be called under a lock.
    #[inline]
    pub(crate) fn wake(&mut self) -> usize {
        if self.len == 0 {
            return 0;
        }
        self.wake_all()
    }

    fn wake_all(&mut self) -> usize {
        /// Calls the rest as well if one of them unwinds.
        struct Rest<'a> {
            first: &'a [MaybeUninit<Waker>],
            more: std::vec::Drain<'a, Waker>,
        }
        impl Rest<'_> {
            fn wake(&mut self) {
                while let Some((waker, rest)) = self.first.split_first() {
                    self.first = rest;
                    // SAFETY: it is one of the first `len`; each is left out of `first` before it is taken, and
                    // the batch has forgotten all of them.
                    unsafe { waker.assume_init_read() }.wake();
                }
                self.more.by_ref().for_each(Waker::wake);
            }
        }
        impl Drop for Rest<'_> {
            fn drop(&mut self) {
                self.wake();
            }
        }
        let len = std::mem::take(&mut self.len);
        let number = len + self.more.len();
        let mut rest = Rest {
            first: &self.first[..len],
            more: self.more.drain(..),
        };
        rest.wake();
        number
    }
}

/// A batch that is dropped has been called, or else whoever collected it has panicked: nobody may sleep for ever because of that.
impl Drop for WakeBatch {
    #[inline]
    fn drop(&mut self) {
        self.wake();
    }
}

impl std::fmt::Debug for WakeBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = self.len + self.more.len();
        f.debug_struct("WakeBatch")
            .field("wakers", &number)
            .finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            if self.0.fetch_add(1, Ordering::Relaxed) == 1 {
                panic!("a waker that fails");
            }
        }
    }

    #[test]
    fn a_waker_that_panics_does_not_keep_the_others_from_being_called() {
        for number in [5, CAPACITY + 5] {
            let count = Arc::new(Count(AtomicUsize::new(0)));
            let mut batch = WakeBatch::new();
            batch.extend((0..number).map(|_| Waker::from(count.clone())));
            assert_eq!(batch.is_full(), number > CAPACITY);
            catch_unwind(AssertUnwindSafe(|| batch.wake())).unwrap_err();
            assert_eq!(count.0.load(Ordering::Relaxed), number);
            assert_eq!(batch.wake(), 0);
        }
    }

    #[test]
    fn a_batch_that_is_dropped_calls_its_wakers() {
        let count = Arc::new(Count(AtomicUsize::new(10)));
        let mut batch = WakeBatch::new();
        batch.extend((0..CAPACITY + 2).map(|_| Waker::from(count.clone())));
        drop(batch);
        assert_eq!(count.0.load(Ordering::Relaxed), 10 + CAPACITY + 2);
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
