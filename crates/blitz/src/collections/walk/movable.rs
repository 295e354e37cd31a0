//! Iterators that std is too careful about.

/// An iterator that may move to another thread whenever its items may.
///
/// std's exclusive iterators over maps ask for `K: Send`, although all they ever give away of a key is a shared reference, for
/// which `K: Sync` is enough.
#[derive(Debug)]
pub(in crate::collections) struct Movable<I>(I);

impl<I> Movable<I> {
    /// # Safety
    ///
    /// The iterator holds nothing but the right to make its items: it does not give out, drop or otherwise use the data behind
    /// them in any other way.
    pub(in crate::collections) unsafe fn new(iter: I) -> Self {
        Movable(iter)
    }
}

// SAFETY: by the promise made to `new`, moving the iterator amounts to moving the items still in it.
unsafe impl<I: Iterator<Item: Send>> Send for Movable<I> {}

impl<I: Iterator> Iterator for Movable<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        self.0.fold(init, f)
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Movable<I> {
    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
}
