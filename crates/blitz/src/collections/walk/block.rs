//! The next few items of an iterator that is needed again afterwards.

/// The next `left` items of the iterator that is at `home`.
///
/// As `by_ref().take(left)`, except that `fold` has the iterator to itself: in registers, where a loop can be as fast as one over
/// the whole collection, and not behind a reference.
pub(super) struct Block<'h, I> {
    home: &'h mut Option<I>,
    left: usize,
}

impl<'h, I: ExactSizeIterator> Block<'h, I> {
    /// The iterator is there, has at least `left` items, and comes back unless a closure panics.
    pub(super) fn new(home: &'h mut Option<I>, left: usize) -> Self {
        Block { home, left }
    }
}

impl<I: ExactSizeIterator> Iterator for Block<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.checked_sub(1)?;
        self.home.as_mut()?.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, mut f: F) -> B {
        let Some(mut items) = self.home.take() else {
            return init;
        };
        let mut folded = init;
        // Counted by the iterator itself, so that there is one counter and not two.
        let end = items.len().saturating_sub(self.left);
        while items.len() > end {
            let Some(item) = items.next() else { break };
            folded = f(folded, item);
        }
        *self.home = Some(items);
        folded
    }
}
