//! `panic_fuse`: a panic anywhere stops the loop everywhere, soon.
//!
//! Without it, a panic in one piece still lets the other pieces run to their end before it is passed on. Here every
//! piece carries a fuse, and all fuses share one flag. A fuse that is dropped while its thread unwinds sets the flag;
//! everybody looks at the flag once per item.

use super::plumbing::{Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer};
use super::{IndexedParallelIterator, ParallelIterator};
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

/// Sets the shared flag when dropped by a panic.
#[derive(Clone)]
struct Fuse<'f>(&'f AtomicBool);

impl Drop for Fuse<'_> {
    #[inline]
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

impl Fuse<'_> {
    #[inline]
    fn blown(&self) -> bool {
        self.0.load(Relaxed)
    }
}

impl<I> ParallelIterator for PanicFuse<I>
where
    I: ParallelIterator,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let blown = AtomicBool::new(false);
        self.base.drive_unindexed(Fused {
            base: consumer,
            fuse: Fuse(&blown),
        })
    }

    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
}

impl<I> IndexedParallelIterator for PanicFuse<I>
where
    I: IndexedParallelIterator,
{
    fn drive<C>(self, consumer: C) -> C::Result
    where
        C: Consumer<Self::Item>,
    {
        let blown = AtomicBool::new(false);
        self.base.drive(Fused {
            base: consumer,
            fuse: Fuse(&blown),
        })
    }

    fn len(&self) -> usize {
        self.base.len()
    }

    fn with_producer<CB>(self, callback: CB) -> CB::Output
    where
        CB: ProducerCallback<Self::Item>,
    {
        struct WithFuse<CB>(CB);

        impl<T, CB> ProducerCallback<T> for WithFuse<CB>
        where
            CB: ProducerCallback<T>,
        {
            type Output = CB::Output;

            fn callback<P>(self, base: P) -> CB::Output
            where
                P: Producer<Item = T>,
            {
                let blown = AtomicBool::new(false);
                self.0.callback(Fused {
                    base,
                    fuse: Fuse(&blown),
                })
            }
        }

        self.base.with_producer(WithFuse(callback))
    }
}

/// Anything that carries a fuse: a consumer, a folder, a producer or an iterator.
struct Fused<'f, B> {
    base: B,
    fuse: Fuse<'f>,
}

impl<'f, T, C> Consumer<T> for Fused<'f, C>
where
    C: Consumer<T>,
{
    type Folder = Fused<'f, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let (left, right, reducer) = self.base.split_at(index);
        let fuse = self.fuse.clone();
        (
            Fused { base: left, fuse },
            Fused {
                base: right,
                fuse: self.fuse,
            },
            reducer,
        )
    }

    #[inline]
    fn into_folder(self) -> Self::Folder {
        Fused {
            base: self.base.into_folder(),
            fuse: self.fuse,
        }
    }

    #[inline]
    fn full(&self) -> bool {
        self.fuse.blown() || self.base.full()
    }

    #[inline]
    fn can_resume(&self, folder: &Self::Folder) -> bool {
        self.base.can_resume(&folder.base)
    }

    #[inline]
    fn resume(self, folder: Self::Folder) -> Self::Folder {
        Fused {
            base: self.base.resume(folder.base),
            fuse: folder.fuse,
        }
    }
}

impl<T, C> UnindexedConsumer<T> for Fused<'_, C>
where
    C: UnindexedConsumer<T>,
{
    #[inline]
    fn split_off_left(&self) -> Self {
        Fused {
            base: self.base.split_off_left(),
            fuse: self.fuse.clone(),
        }
    }

    #[inline]
    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

impl<T, F> Folder<T> for Fused<'_, F>
where
    F: Folder<T>,
{
    type Result = F::Result;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.base = self.base.consume(item);
        self
    }

    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        let fuse = &self.fuse;
        self.base = self
            .base
            .consume_iter(iter.into_iter().take_while(|_| !fuse.blown()));
        self
    }

    #[inline]
    fn complete(self) -> F::Result {
        self.base.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.fuse.blown() || self.base.full()
    }
}

impl<'f, P> Producer for Fused<'f, P>
where
    P: Producer,
{
    type Item = P::Item;
    type IntoIter = Fused<'f, P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        Fused {
            base: self.base.into_iter(),
            fuse: self.fuse,
        }
    }

    #[inline]
    fn min_len(&self) -> usize {
        self.base.min_len()
    }

    #[inline]
    fn max_len(&self) -> usize {
        self.base.max_len()
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(index);
        let fuse = self.fuse.clone();
        (
            Fused { base: left, fuse },
            Fused {
                base: right,
                fuse: self.fuse,
            },
        )
    }

    #[inline]
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        let folder = Fused {
            base: folder,
            fuse: self.fuse,
        };
        self.base.fold_with(folder).base
    }
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
