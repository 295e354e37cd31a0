//! The halves of a queueing channel, as counted handles.
//!
//! The last sender that is dropped closes the channel. Weak handles keep the memory, but do not count.

use super::core::{Core, add};
use super::queue::Queue;
use crate::primitives::{Arc, AtomicUsize, Ordering};
use std::ops::Deref;

/// A sender.
pub(crate) struct Tx<T, Q: Queue<T>>(Arc<Core<T, Q>>);

impl<T, Q: Queue<T>> Tx<T, Q> {
    /// The first one, which is counted already.
    pub(crate) fn new(core: Arc<Core<T, Q>>) -> Self {
        Tx(core)
    }

    pub(crate) fn same_channel(&self, other: &Self) -> bool {
        std::ptr::eq::<Core<T, Q>>(&**self, &**other)
    }

    pub(crate) fn downgrade(&self) -> WeakTx<T, Q> {
        add(&self.0.weak_sender_count);
        WeakTx(Arc::clone(&self.0))
    }
}

impl<T, Q: Queue<T>> Deref for Tx<T, Q> {
    type Target = Core<T, Q>;

    #[inline]
    fn deref(&self) -> &Core<T, Q> {
        &self.0
    }
}

impl<T, Q: Queue<T>> Clone for Tx<T, Q> {
    fn clone(&self) -> Self {
        self.add_sender();
        Tx(Arc::clone(&self.0))
    }
}

impl<T, Q: Queue<T>> Drop for Tx<T, Q> {
    fn drop(&mut self) {
        self.remove_sender();
    }
}

/// A sender that does not keep the channel open.
pub(crate) struct WeakTx<T, Q: Queue<T>>(Arc<Core<T, Q>>);

impl<T, Q: Queue<T>> WeakTx<T, Q> {
    pub(crate) fn upgrade(&self) -> Option<Tx<T, Q>> {
        self.0.revive_sender().then(|| Tx(Arc::clone(&self.0)))
    }

    pub(crate) fn strong_count(&self) -> usize {
        read(&self.0.sender_count)
    }

    pub(crate) fn weak_count(&self) -> usize {
        read(&self.0.weak_sender_count)
    }
}

impl<T, Q: Queue<T>> Clone for WeakTx<T, Q> {
    fn clone(&self) -> Self {
        add(&self.0.weak_sender_count);
        WeakTx(Arc::clone(&self.0))
    }
}

impl<T, Q: Queue<T>> Drop for WeakTx<T, Q> {
    fn drop(&mut self) {
        self.0.weak_sender_count.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A count, as it is at this moment.
pub(crate) fn read(count: &AtomicUsize) -> usize {
    count.load(Ordering::Acquire)
}
