//! `intersperse`: an element between every two items.
//!
//! A piece puts the element between its own items. Between two neighbouring pieces it belongs only if both have items,
//! which is known in two different ways:
//!
//! * If the length is known ([`Known`]), so is the position of every piece: all but the first begin with the element, and
//!   cuts of the items translate into cuts of what comes out.
//! * If it is not ([`Unknown`]), a piece may turn out empty. So every cut reserves a place between its two sides, and the
//!   reducer fills it in the end if both sides have something.

use super::plumbing::{Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer};
use super::{IndexedParallelIterator, ParallelIterator};
use crate::delegate::forward_to_base;

/// Puts clones of an element between the items. Made by [`intersperse`](super::ParallelIterator::intersperse).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let spaced: Vec<i32> = vec![1, 2, 3].into_par_iter().intersperse(0).collect();
/// assert_eq!(spaced, [1, 0, 2, 0, 3]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone, Debug)]
pub struct Intersperse<I>
where
    I: ParallelIterator,
{
    base: I,
    element: I::Item,
}

impl<I> Intersperse<I>
where
    I: ParallelIterator,
{
    pub(super) fn new(base: I, element: I::Item) -> Self {
        Intersperse { base, element }
    }
}

/// How many items come out if `len` go in.
fn with_elements(len: usize) -> Option<usize> {
    if len == 0 {
        Some(0)
    } else {
        (len - 1).checked_add(len)
    }
}

impl<I> ParallelIterator for Intersperse<I>
where
    I: ParallelIterator<Item: Clone + Send>,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<I::Item>,
    {
        let Intersperse { base, element } = self;
        if base.opt_len().is_some() {
            return base.drive_unindexed(Known {
                base: consumer,
                element,
                element_first: false,
            });
        }
        let (result, _) = base.drive_unindexed(Unknown {
            base: consumer,
            element,
        });
        result
    }

    fn opt_len(&self) -> Option<usize> {
        with_elements(self.base.opt_len()?)
    }
}

impl<I> IndexedParallelIterator for Intersperse<I>
where
    I: IndexedParallelIterator<Item: Clone + Send>,
{
    fn drive<C>(self, consumer: C) -> C::Result
    where
        C: Consumer<I::Item>,
    {
        self.base.drive(Known {
            base: consumer,
            element: self.element,
            element_first: false,
        })
    }

    fn len(&self) -> usize {
        with_elements(self.base.len()).expect("overflow")
    }

    fn with_producer<CB>(self, callback: CB) -> CB::Output
    where
        CB: ProducerCallback<I::Item>,
    {
        let len = self.len();
        self.base.with_producer(Between {
            callback,
            element: self.element,
            len,
        })
    }
}

/// The consumer when positions are known.
struct Known<C, T> {
    base: C,
    element: T,
    element_first: bool,
}

impl<C, T> Consumer<T> for Known<C, T>
where
    C: Consumer<T>,
    T: Clone + Send,
{
    type Folder = Interspersed<C::Folder, T>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const MAY_SEARCH: bool = C::MAY_SEARCH;

    forward_to_base! { outlet }

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        // Nothing on the left leaves everything as it is; something on the left puts the element first on the right.
        let cut = match index {
            0 => 0,
            _ if self.element_first => 2 * index,
            _ => 2 * index - 1,
        };
        let (left, right, reducer) = self.base.split_at(cut);
        let left = Known {
            base: left,
            element: self.element.clone(),
            element_first: self.element_first,
        };
        let right = Known {
            base: right,
            element: self.element,
            element_first: self.element_first || index > 0,
        };
        (left, right, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        Interspersed {
            base: self.base.into_folder(),
            element: self.element,
            element_first: self.element_first,
        }
    }

    forward_to_base! { full is_never_full is_search }

    fn can_resume(&self, folder: &Self::Folder) -> bool {
        self.base.can_resume(&folder.base)
    }

    fn resume(self, folder: Self::Folder) -> Self::Folder {
        Interspersed {
            base: self.base.resume(folder.base),
            ..folder
        }
    }
}

impl<C, T> UnindexedConsumer<T> for Known<C, T>
where
    C: UnindexedConsumer<T>,
    T: Clone + Send,
{
    fn split_off_left(&self) -> Self {
        unreachable!("an iterator with a known length must be driven by position")
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

struct Interspersed<F, T> {
    base: F,
    element: T,
    element_first: bool,
}

impl<F, T> Folder<T> for Interspersed<F, T>
where
    F: Folder<T>,
    T: Clone,
{
    type Result = F::Result;

    const MAY_BE_FULL: bool = F::MAY_BE_FULL;

    fn consume(mut self, item: T) -> Self {
        if self.element_first {
            self.base = self.base.consume(self.element.clone());
            if self.base.full() {
                return self;
            }
        }
        self.base = self.base.consume(item);
        self.element_first = true;
        self
    }

    fn complete(self) -> F::Result {
        self.base.complete()
    }

    forward_to_base! { full }
}

/// The consumer when pieces may be empty. The result also tells whether the piece had items.
struct Unknown<C, T> {
    base: C,
    element: T,
}

impl<C, T> Consumer<T> for Unknown<C, T>
where
    C: UnindexedConsumer<T>,
    T: Clone + Send,
{
    type Folder = MaybeEmpty<Interspersed<C::Folder, T>>;
    type Reducer = Junction<C, T>;
    type Result = (C::Result, bool);

    const MAY_SEARCH: bool = C::MAY_SEARCH;

    fn split_at(self, _index: usize) -> (Self, Self, Self::Reducer) {
        let left = self.split_off_left();
        let reducer = self.to_reducer();
        (left, self, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        MaybeEmpty(Interspersed {
            base: self.base.into_folder(),
            element: self.element,
            element_first: false,
        })
    }

    forward_to_base! { full is_never_full is_search }

    fn can_resume(&self, folder: &Self::Folder) -> bool {
        self.base.can_resume(&folder.0.base)
    }

    fn resume(self, folder: Self::Folder) -> Self::Folder {
        MaybeEmpty(Interspersed {
            base: self.base.resume(folder.0.base),
            ..folder.0
        })
    }
}

impl<C, T> UnindexedConsumer<T> for Unknown<C, T>
where
    C: UnindexedConsumer<T>,
    T: Clone + Send,
{
    fn split_off_left(&self) -> Self {
        Unknown {
            base: self.base.split_off_left(),
            element: self.element.clone(),
        }
    }

    fn to_reducer(&self) -> Self::Reducer {
        Junction {
            between: self.base.split_off_left(),
            element: self.element.clone(),
        }
    }
}

struct MaybeEmpty<F>(F);

impl<F, T> Folder<T> for MaybeEmpty<Interspersed<F, T>>
where
    F: Folder<T>,
    T: Clone,
{
    type Result = (F::Result, bool);

    const MAY_BE_FULL: bool = F::MAY_BE_FULL;

    fn consume(self, item: T) -> Self {
        MaybeEmpty(self.0.consume(item))
    }

    fn complete(self) -> Self::Result {
        // The element comes first exactly if an item came before.
        (self.0.base.complete(), self.0.element_first)
    }

    fn full(&self) -> bool {
        self.0.full()
    }
}

/// The place between two pieces.
struct Junction<C, T> {
    between: C,
    element: T,
}

impl<C, T> Reducer<(C::Result, bool)> for Junction<C, T>
where
    C: UnindexedConsumer<T>,
    T: Clone + Send,
{
    fn reduce(self, left: (C::Result, bool), right: (C::Result, bool)) -> (C::Result, bool) {
        let Junction { between, element } = self;
        if !(left.1 && right.1) {
            return (
                between.to_reducer().reduce(left.0, right.0),
                left.1 || right.1,
            );
        }
        let (before, after) = (between.to_reducer(), between.to_reducer());
        let mut folder = between.into_folder();
        if !folder.full() {
            folder = folder.consume(element);
        }
        let middle = folder.complete();
        (after.reduce(before.reduce(left.0, middle), right.0), true)
    }
}

struct Between<CB, T> {
    callback: CB,
    element: T,
    len: usize,
}

impl<T, CB> ProducerCallback<T> for Between<CB, T>
where
    CB: ProducerCallback<T>,
    T: Clone + Send,
{
    type Output = CB::Output;

    fn callback<P>(self, base: P) -> CB::Output
    where
        P: Producer<Item = T>,
    {
        self.callback.callback(WithBetween {
            base,
            element: self.element,
            len: self.len,
            element_first: false,
        })
    }
}

/// A producer of `len` items, every second of them the element, beginning with it or not.
struct WithBetween<P, T> {
    base: P,
    element: T,
    len: usize,
    element_first: bool,
}

impl<P, T> Producer for WithBetween<P, T>
where
    P: Producer<Item = T>,
    T: Clone + Send,
{
    type Item = T;
    type IntoIter = BetweenIter<P::IntoIter, T>;

    fn into_iter(self) -> Self::IntoIter {
        BetweenIter {
            base: self.base.into_iter(),
            element: self.element,
            len: self.len,
            element_first: self.element_first,
        }
    }

    forward_to_base! { wishes min_len max_len }

    fn split_at(self, index: usize) -> (Self, Self) {
        // How many of the first `index` are items of the base.
        let of_base = if self.element_first {
            index / 2
        } else {
            index.div_ceil(2)
        };
        let (left, right) = self.base.split_at(of_base);
        (
            WithBetween {
                base: left,
                element: self.element.clone(),
                len: index,
                element_first: self.element_first,
            },
            WithBetween {
                base: right,
                element: self.element,
                len: self.len - index,
                element_first: self.element_first ^ (index % 2 == 1),
            },
        )
    }
}

/// The sequential iterator. `len` is kept because a piece may end with an element.
struct BetweenIter<I, T> {
    base: I,
    element: T,
    len: usize,
    element_first: bool,
}

impl<I, T> Iterator for BetweenIter<I, T>
where
    I: Iterator<Item = T>,
    T: Clone,
{
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        let element = self.element_first;
        self.element_first = !element;
        if element {
            Some(self.element.clone())
        } else {
            self.base.next()
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<I, T> DoubleEndedIterator for BetweenIter<I, T>
where
    I: DoubleEndedIterator<Item = T>,
    T: Clone,
{
    fn next_back(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        // The last item is an element if it is the second, fourth … after an item, or first, third … from an element.
        if self.element_first ^ (self.len % 2 == 1) {
            Some(self.element.clone())
        } else {
            self.base.next_back()
        }
    }
}

impl<I, T> ExactSizeIterator for BetweenIter<I, T>
where
    I: DoubleEndedIterator<Item = T>,
    T: Clone,
{
}
