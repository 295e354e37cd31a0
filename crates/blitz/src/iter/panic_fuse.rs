//! `panic_fuse`: a panic anywhere stops the loop everywhere, soon.
//!
//! Without it, a panic in one piece still lets the other pieces run to their end before it is passed on. Here every
//! piece carries a fuse, and all fuses share one flag. A fuse that is dropped while its thread unwinds sets the flag;
//! everybody looks at the flag once per item.

use super::plumbing::Folder;
use super::stage::{IndexedPlan, Stage, its_own_plan, staged_adaptor};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

/// Stops all threads soon after a panic in one. Made by [`panic_fuse`](super::ParallelIterator::panic_fuse).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let attempt = std::panic::catch_unwind(|| {
///     (0..1_000_000).into_par_iter().panic_fuse().for_each(|n| assert_ne!(n, 17));
/// });
/// assert!(attempt.is_err());
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct PanicFuse<I> {
    base: I,
}

impl<I> PanicFuse<I> {
    pub(super) fn new(base: I) -> Self {
        PanicFuse { base }
    }
}

staged_adaptor! {
    impl [I] PanicFuse<I> => I::Item, keeps the length;
    fn plan(self) { Fuse { blown: &AtomicBool::new(false) } }
}

/// The stage that passes everything on until the flag is set, and sets it when dropped by a panic.
#[derive(Clone)]
struct Fuse<'f> {
    blown: &'f AtomicBool,
}

its_own_plan! { ['f,] Fuse<'f> }

impl Drop for Fuse<'_> {
    #[inline]
    fn drop(&mut self) {
        if thread::panicking() {
            self.blown.store(true, Relaxed);
        }
    }
}

impl Fuse<'_> {
    #[inline]
    fn blown(&self) -> bool {
        self.blown.load(Relaxed)
    }
}

impl<In> Stage<In> for Fuse<'_> {
    type Out = In;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        folder.consume(item)
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<In>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.take_while(|_| !self.blown()))
    }

    const CAN_BE_FULL: bool = true;

    #[inline]
    fn full(&self) -> bool {
        self.blown()
    }
}

impl<'f, In> IndexedPlan<In> for Fuse<'f> {
    type Iter<I>
        = Fused<'f, I>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator;

    #[inline]
    fn over<I>(self, base: I) -> Fused<'f, I>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator,
    {
        Fused { base, fuse: self }
    }
}

/// A sequential iterator that carries a fuse, for adaptors that need one (`zip`).
struct Fused<'f, I> {
    base: I,
    fuse: Fuse<'f>,
}

impl<I> Iterator for Fused<'_, I>
where
    I: Iterator,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        if self.fuse.blown() {
            None
        } else {
            self.base.next()
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }
}

impl<I> DoubleEndedIterator for Fused<'_, I>
where
    I: DoubleEndedIterator,
{
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        if self.fuse.blown() {
            None
        } else {
            self.base.next_back()
        }
    }
}

impl<I> ExactSizeIterator for Fused<'_, I>
where
    I: ExactSizeIterator,
{
    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
}
