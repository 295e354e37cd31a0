//! Wakers that have been taken out under a lock, to be called after it.

use std::task::Waker;

/// How many wakers are collected before they are called.
const CAPACITY: usize = 64;

/// A few wakers. All of them are called, even if one of them panics.
#[derive(Debug)]
pub(crate) struct WakeBatch {
    wakers: Vec<Waker>,
}

impl WakeBatch {
    pub(crate) fn new() -> Self {
        Self {
            wakers: Vec::with_capacity(CAPACITY),
        }
    }

    /// Whether it is time to call them. There is room for more nevertheless.
    pub(crate) fn is_full(&self) -> bool {
        self.wakers.len() >= CAPACITY
    }

    pub(crate) fn extend(&mut self, wakers: impl IntoIterator<Item = Waker>) {
        self.wakers.extend(wakers);
    }

    /// Calls them, in the order in which they came, and returns their number. Not to be called under a lock.
    pub(crate) fn wake(&mut self) -> usize {
        struct Rest<'a>(std::vec::Drain<'a, Waker>);
        impl Rest<'_> {
            fn wake(&mut self) {
                self.0.by_ref().for_each(Waker::wake);
            }
        }
        impl Drop for Rest<'_> {
            fn drop(&mut self) {
                self.wake();
            }
        }
        let number = self.wakers.len();
        Rest(self.wakers.drain(..)).wake();
        number
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
            if self.0.fetch_add(1, Ordering::Relaxed) == 1 {
                panic!("a waker that fails");
            }
        }
    }

    #[test]
    fn a_waker_that_panics_does_not_keep_the_others_from_being_called() {
        let count = Arc::new(Count(AtomicUsize::new(0)));
        let mut batch = WakeBatch::new();
        batch.extend((0..5).map(|_| Waker::from(count.clone())));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| batch.wake())).unwrap_err();
        assert_eq!(count.0.load(Ordering::Relaxed), 5);
        assert_eq!(batch.wake(), 0);
    }
}
