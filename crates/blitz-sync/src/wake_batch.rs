//! Wakers that have been taken out under a lock, to be called after it.
//!
//! The first few lie in the batch itself, so that handing a lock on allocates nothing. A caller that goes on although the batch
//! is full gets memory for the rest, which the batch keeps.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// How many wakers are collected before they are called.
const CAPACITY: usize = 32;

/// A few wakers. All of them are called, in the order in which they came.
///
/// A waker that panics has been reported by the panic's hook; that is all that comes of it. Whoever calls it (a worker in the driver, a
/// destructor) has others to serve, and is not the one who made it.
pub struct WakeBatch {
    /// The first `len` are there.
    first: [MaybeUninit<Waker>; CAPACITY],
    len: usize,
    /// What came to a full batch.
    more: Vec<Waker>,
}

fn call(waker: Waker) {
    drop(catch_unwind(AssertUnwindSafe(|| waker.wake())));
}

impl WakeBatch {
    #[inline]
    #[allow(clippy::new_without_default, reason = "hidden: who makes one says so")]
    pub fn new() -> Self {
        Self {
            first: [const { MaybeUninit::uninit() }; CAPACITY],
            len: 0,
            more: Vec::new(),
        }
    }

    /// Whether it is time to call them. There is room for more nevertheless.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len == CAPACITY
    }

    #[inline]
    pub fn push(&mut self, waker: Waker) {
        match self.first.get_mut(self.len) {
            Some(place) => {
                place.write(waker);
                self.len += 1;
            }
            None => self.more.push(waker),
        }
    }

    pub fn extend(&mut self, wakers: impl IntoIterator<Item = Waker>) {
        wakers.into_iter().for_each(|waker| self.push(waker));
    }

    /// Calls them and returns their number. Not to be called under a lock.
    #[inline]
    pub fn wake(&mut self) -> usize {
        if self.len == 0 {
            return 0;
        }
        self.wake_all()
    }

    fn wake_all(&mut self) -> usize {
        let len = std::mem::take(&mut self.len);
        let number = len + self.more.len();
        for waker in &self.first[..len] {
            // SAFETY: it is one of the first `len`, and the batch has forgotten all of them.
            call(unsafe { waker.assume_init_read() });
        }
        if !self.more.is_empty() {
            self.more.drain(..).for_each(call);
        }
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            if self.0.fetch_add(1, Ordering::Relaxed) < 3 {
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
            assert_eq!(batch.wake(), number);
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
