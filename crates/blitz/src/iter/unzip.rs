//! `unzip`, `partition` and `partition_map`: one iterator into two collections.
//!
//! A collection takes items in through `par_extend`, which needs an iterator and drives it into a consumer of its own,
//! unknown here. So to feed two collections in one pass, two iterators are nested. The first collection gets an iterator ([`ForLeft`]). When driven, it gives
//! the second collection an iterator ([`ForRight`]). When that one is driven, it has both consumers, and drives the real iterator into
//! the pair of them.
//!
//! What a predicate sorts is written to both sides, where they have [room](Folder::room), and counted on one: a branch on the predicate would be guessed wrong every other time
//! if its outcome is random, which takes longer than all the rest.

use super::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use super::{Either, FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator};
use crate::delegate::copied_as_it_is;
use std::mem::MaybeUninit;
use std::ptr;

/// Sends each item to the left consumer, the right one, or in parts to both.
trait Sort<T>: Copy + Send {
    type Left: Send;
    type Right: Send;

    /// Both sides get exactly one item per item, so the length of both is known if that of the iterator is.
    const KEEPS_THE_LENGTH: bool = false;

    fn sort<A, B>(self, item: T, left: A, right: B) -> (A, B)
    where
        A: Folder<Self::Left>,
        B: Folder<Self::Right>;

    /// The same for many.
    #[inline]
    fn sort_all<A, B, I>(self, items: I, left: A, right: B) -> (A, B)
    where
        A: Folder<Self::Left>,
        B: Folder<Self::Right>,
        I: Iterator<Item = T>,
    {
        one_by_one(self, items, left, right)
    }
}

#[inline]
fn one_by_one<T, S, A, B, I>(sort: S, items: I, mut left: A, mut right: B) -> (A, B)
where
    S: Sort<T>,
    A: Folder<S::Left>,
    B: Folder<S::Right>,
    I: Iterator<Item = T>,
{
    for item in items {
        (left, right) = sort.sort(item, left, right);
        if left.full() && right.full() {
            break;
        }
    }
    (left, right)
}

/// So many items are sorted before they are counted.
const BATCH: usize = 128;

/// Larger items than this are not written twice.
const LARGE: usize = 32;

/// Room of a folder, and how many of the items that were written there count.
struct Slots<'f, T, F>
where
    F: Folder<T>,
{
    folder: &'f mut F,
    next: *mut T,
    filled: usize,
}

impl<'f, T, F> Slots<'f, T, F>
where
    F: Folder<T>,
{
    /// Room for `items`, if the folder has any.
    #[inline]
    fn of(folder: &'f mut F, items: usize) -> Option<Self> {
        let room = folder.room(items);
        let next = (room.len() >= items).then(|| room.as_mut_ptr().cast())?;
        Some(Slots {
            folder,
            next,
            filled: 0,
        })
    }

    /// Writes `item`, and leaves room for as many more as there was room for if it does not count.
    ///
    /// # Safety
    /// There is room for one more.
    #[inline]
    unsafe fn write(&mut self, item: &MaybeUninit<T>, counts: bool) {
        // SAFETY: bits that do not count are nobody's item; there is room, as the caller says.
        unsafe { ptr::copy_nonoverlapping(item.as_ptr(), self.next.add(self.filled), 1) };
        self.filled += usize::from(counts);
    }
}

impl<T, F> Drop for Slots<'_, T, F>
where
    F: Folder<T>,
{
    #[inline]
    fn drop(&mut self) {
        // SAFETY: so many items have been written to the beginning of the room, and the folder was borrowed since.
        unsafe { self.folder.count_in(self.filled) };
    }
}

pub(super) fn unzip<I, A, B, FromA, FromB>(iter: I) -> (FromA, FromB)
where
    I: ParallelIterator<Item = (A, B)>,
    FromA: Default + Send + ParallelExtend<A>,
    FromB: Default + Send + ParallelExtend<B>,
    A: Send,
    B: Send,
{
    into_new_collections(iter, Apart)
}

pub(super) fn partition<I, A, B, P>(iter: I, predicate: P) -> (A, B)
where
    I: ParallelIterator,
    A: Default + Send + ParallelExtend<I::Item>,
    B: Default + Send + ParallelExtend<I::Item>,
    P: Fn(&I::Item) -> bool + Sync,
{
    into_new_collections(iter, ByPredicate(&predicate))
}

pub(super) fn partition_map<I, A, B, P, L, R>(iter: I, predicate: P) -> (A, B)
where
    I: ParallelIterator,
    A: Default + Send + ParallelExtend<L>,
    B: Default + Send + ParallelExtend<R>,
    P: Fn(I::Item) -> Either<L, R> + Sync,
    L: Send,
    R: Send,
{
    into_new_collections(iter, ByEither(&predicate))
}

fn into_new_collections<I, S, A, B>(iter: I, sort: S) -> (A, B)
where
    I: ParallelIterator,
    S: Sort<I::Item>,
    A: Default + Send + ParallelExtend<S::Left>,
    B: Default + Send + ParallelExtend<S::Right>,
{
    let (mut a, mut b) = (A::default(), B::default());
    into_collections(iter, sort, &mut a, &mut b);
    (a, b)
}

fn into_collections<I, S, A, B>(iter: I, sort: S, a: &mut A, b: &mut B)
where
    I: ParallelIterator,
    S: Sort<I::Item>,
    A: Send + ParallelExtend<S::Left>,
    B: Send + ParallelExtend<S::Right>,
{
    a.par_extend(ForLeft { iter, sort, b });
}

/// Takes pairs apart.
#[derive(Clone, Copy)]
struct Apart;

impl<A, B> Sort<(A, B)> for Apart
where
    A: Send,
    B: Send,
{
    type Left = A;
    type Right = B;
    const KEEPS_THE_LENGTH: bool = true;

    #[inline]
    fn sort<FA, FB>(self, (a, b): (A, B), left: FA, right: FB) -> (FA, FB)
    where
        FA: Folder<A>,
        FB: Folder<B>,
    {
        (left.consume(a), right.consume(b))
    }
}

struct ByPredicate<'p, P>(&'p P);

copied_as_it_is! { ByPredicate<'_, P> }

impl<T, P> Sort<T> for ByPredicate<'_, P>
where
    T: Send,
    P: Fn(&T) -> bool + Sync,
{
    type Left = T;
    type Right = T;

    #[inline]
    fn sort<A, B>(self, item: T, left: A, right: B) -> (A, B)
    where
        A: Folder<T>,
        B: Folder<T>,
    {
        if (self.0)(&item) {
            (left.consume(item), right)
        } else {
            (left, right.consume(item))
        }
    }

    #[inline]
    fn sort_all<A, B, I>(self, mut items: I, mut left: A, mut right: B) -> (A, B)
    where
        A: Folder<T>,
        B: Folder<T>,
        I: Iterator<Item = T>,
    {
        // Without a branch: every item is written to both sides, and counts on one, also if the predicate panics later.
        while size_of::<T>() <= LARGE {
            let batch = BATCH.min(items.size_hint().1.unwrap_or(BATCH));
            // The end, or an iterator that promises less than it has: nobody's items are lost for that.
            if batch == 0 {
                break;
            }
            let to_left = Slots::of(&mut left, batch);
            let to_right = Slots::of(&mut right, batch);
            let (Some(mut to_left), Some(mut to_right)) = (to_left, to_right) else {
                break;
            };
            for item in items.by_ref().take(batch) {
                let is_left = (self.0)(&item);
                let item = MaybeUninit::new(item);
                // SAFETY: it is one of `batch` items, and there is room for as many on both sides.
                unsafe {
                    to_left.write(&item, is_left);
                    to_right.write(&item, !is_left);
                }
            }
            let sorted = to_left.filled + to_right.filled;
            drop((to_left, to_right));
            if sorted < batch || left.full() && right.full() {
                return (left, right);
            }
        }
        one_by_one(self, items, left, right)
    }
}

struct ByEither<'p, P>(&'p P);

copied_as_it_is! { ByEither<'_, P> }

impl<T, P, L, R> Sort<T> for ByEither<'_, P>
where
    P: Fn(T) -> Either<L, R> + Sync,
    L: Send,
    R: Send,
{
    type Left = L;
    type Right = R;

    #[inline]
    fn sort<A, B>(self, item: T, left: A, right: B) -> (A, B)
    where
        A: Folder<L>,
        B: Folder<R>,
    {
        match (self.0)(item) {
            Either::Left(item) => (left.consume(item), right),
            Either::Right(item) => (left, right.consume(item)),
        }
    }
}

/// What the left collection is given.
struct ForLeft<'b, I, S, B> {
    iter: I,
    sort: S,
    b: &'b mut B,
}

impl<I, S, B> ParallelIterator for ForLeft<'_, I, S, B>
where
    I: ParallelIterator,
    S: Sort<I::Item>,
    B: Send + ParallelExtend<S::Right>,
{
    type Item = S::Left;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<S::Left>,
    {
        let mut result = None;
        self.b.par_extend(ForRight {
            iter: self.iter,
            sort: self.sort,
            left: consumer,
            left_result: &mut result,
        });
        // The left collection waits for the result of its own consumer, which nobody else can make up.
        result.expect("the right collection did not drive its iterator")
    }

    fn opt_len(&self) -> Option<usize> {
        if S::KEEPS_THE_LENGTH {
            self.iter.opt_len()
        } else {
            None
        }
    }
}

/// What the right collection is given.
struct ForRight<'r, I, S, C, R> {
    iter: I,
    sort: S,
    left: C,
    left_result: &'r mut Option<R>,
}

impl<I, S, C> ParallelIterator for ForRight<'_, I, S, C, C::Result>
where
    I: ParallelIterator,
    S: Sort<I::Item>,
    C: UnindexedConsumer<S::Left>,
{
    type Item = S::Right;

    fn drive_unindexed<D>(self, consumer: D) -> D::Result
    where
        D: UnindexedConsumer<S::Right>,
    {
        let (left, right) = self.iter.drive_unindexed(SortConsumer {
            sort: self.sort,
            left: self.left,
            right: consumer,
        });
        *self.left_result = Some(left);
        right
    }

    fn opt_len(&self) -> Option<usize> {
        if S::KEEPS_THE_LENGTH {
            self.iter.opt_len()
        } else {
            None
        }
    }
}

/// A consumer of pairs, made of two consumers.
pub(super) struct PairConsumer;

impl PairConsumer {
    #[expect(
        clippy::new_ret_no_self,
        reason = "the consumer it makes has private parts"
    )]
    pub(super) fn new<A, B, CA, CB>(
        left: CA,
        right: CB,
    ) -> impl Consumer<(A, B), Result = (CA::Result, CB::Result)>
    where
        A: Send,
        B: Send,
        CA: Consumer<A>,
        CB: Consumer<B>,
    {
        SortConsumer {
            sort: Apart,
            left,
            right,
        }
    }
}

struct SortConsumer<S, A, B> {
    sort: S,
    left: A,
    right: B,
}

impl<T, S, A, B> Consumer<T> for SortConsumer<S, A, B>
where
    S: Sort<T>,
    A: Consumer<S::Left>,
    B: Consumer<S::Right>,
{
    type Folder = SortFolder<S, A::Folder, B::Folder>;
    type Reducer = SortReducer<A::Reducer, B::Reducer>;
    type Result = (A::Result, B::Result);

    const MAY_SEARCH: bool = A::MAY_SEARCH || B::MAY_SEARCH;

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, Self::Reducer) {
        let sort = self.sort;
        let (a_left, a_right, a) = self.left.split_at(index);
        let (b_left, b_right, b) = self.right.split_at(index);
        (
            SortConsumer {
                sort,
                left: a_left,
                right: b_left,
            },
            SortConsumer {
                sort,
                left: a_right,
                right: b_right,
            },
            SortReducer(a, b),
        )
    }

    #[inline]
    fn into_folder(self) -> Self::Folder {
        SortFolder {
            sort: self.sort,
            left: self.left.into_folder(),
            right: self.right.into_folder(),
        }
    }

    #[inline]
    fn full(&self) -> bool {
        // One side may be full while the other still wants items.
        self.left.full() && self.right.full()
    }

    #[inline]
    fn is_never_full(&self) -> bool {
        self.left.is_never_full() && self.right.is_never_full()
    }

    #[inline]
    fn is_search(&self) -> bool {
        self.left.is_search() || self.right.is_search()
    }

    #[inline]
    fn can_resume(&self, folder: &Self::Folder) -> bool {
        self.left.can_resume(&folder.left) && self.right.can_resume(&folder.right)
    }

    #[inline]
    fn resume(self, folder: Self::Folder) -> Self::Folder {
        SortFolder {
            sort: folder.sort,
            left: self.left.resume(folder.left),
            right: self.right.resume(folder.right),
        }
    }
}

impl<T, S, A, B> UnindexedConsumer<T> for SortConsumer<S, A, B>
where
    S: Sort<T>,
    A: UnindexedConsumer<S::Left>,
    B: UnindexedConsumer<S::Right>,
{
    #[inline]
    fn split_off_left(&self) -> Self {
        SortConsumer {
            sort: self.sort,
            left: self.left.split_off_left(),
            right: self.right.split_off_left(),
        }
    }

    #[inline]
    fn to_reducer(&self) -> Self::Reducer {
        SortReducer(self.left.to_reducer(), self.right.to_reducer())
    }
}

struct SortFolder<S, A, B> {
    sort: S,
    left: A,
    right: B,
}

impl<T, S, A, B> Folder<T> for SortFolder<S, A, B>
where
    S: Sort<T>,
    A: Folder<S::Left>,
    B: Folder<S::Right>,
{
    type Result = (A::Result, B::Result);

    const MAY_BE_FULL: bool = A::MAY_BE_FULL && B::MAY_BE_FULL;

    #[inline]
    fn consume(self, item: T) -> Self {
        let sort = self.sort;
        let (left, right) = sort.sort(item, self.left, self.right);
        SortFolder { sort, left, right }
    }

    #[inline]
    fn consume_iter<I>(self, items: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        let sort = self.sort;
        let (left, right) = sort.sort_all(items.into_iter(), self.left, self.right);
        SortFolder { sort, left, right }
    }

    #[inline]
    fn complete(self) -> Self::Result {
        (self.left.complete(), self.right.complete())
    }

    #[inline]
    fn full(&self) -> bool {
        self.left.full() && self.right.full()
    }
}

struct SortReducer<A, B>(A, B);

impl<A, B, RA, RB> Reducer<(RA, RB)> for SortReducer<A, B>
where
    A: Reducer<RA>,
    B: Reducer<RB>,
{
    #[inline]
    fn reduce(self, left: (RA, RB), right: (RA, RB)) -> (RA, RB) {
        (
            self.0.reduce(left.0, right.0),
            self.1.reduce(left.1, right.1),
        )
    }
}

/// Takes pairs apart into two collections.
impl<A, B, FromA, FromB> ParallelExtend<(A, B)> for (FromA, FromB)
where
    A: Send,
    B: Send,
    FromA: Send + ParallelExtend<A>,
    FromB: Send + ParallelExtend<B>,
{
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: IntoParallelIterator<Item = (A, B)>,
    {
        into_collections(par_iter.into_par_iter(), Apart, &mut self.0, &mut self.1);
    }
}

/// Sorts `Left`s and `Right`s into two collections.
impl<L, R, A, B> ParallelExtend<Either<L, R>> for (A, B)
where
    L: Send,
    R: Send,
    A: Send + ParallelExtend<L>,
    B: Send + ParallelExtend<R>,
{
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: IntoParallelIterator<Item = Either<L, R>>,
    {
        let as_it_is = |item| item;
        into_collections(
            par_iter.into_par_iter(),
            ByEither(&as_it_is),
            &mut self.0,
            &mut self.1,
        );
    }
}

/// Takes pairs apart into two new collections.
impl<A, B, FromA, FromB> FromParallelIterator<(A, B)> for (FromA, FromB)
where
    A: Send,
    B: Send,
    FromA: Send + FromParallelIterator<A>,
    FromB: Send + FromParallelIterator<B>,
{
    fn from_par_iter<I>(par_iter: I) -> Self
    where
        I: IntoParallelIterator<Item = (A, B)>,
    {
        let (a, b): (FromParts<FromA>, FromParts<FromB>) = par_iter.into_par_iter().unzip();
        (a.whole(), b.whole())
    }
}

/// Sorts `Left`s and `Right`s into two new collections.
impl<L, R, A, B> FromParallelIterator<Either<L, R>> for (A, B)
where
    L: Send,
    R: Send,
    A: Send + FromParallelIterator<L>,
    B: Send + FromParallelIterator<R>,
{
    fn from_par_iter<I>(par_iter: I) -> Self
    where
        I: IntoParallelIterator<Item = Either<L, R>>,
    {
        let (a, b): (FromParts<A>, FromParts<B>) =
            par_iter.into_par_iter().partition_map(|item| item);
        (a.whole(), b.whole())
    }
}

/// Lets something that can be built from an iterator stand in for something that can be extended, once.
struct FromParts<C>(Option<C>);

impl<C> Default for FromParts<C> {
    fn default() -> Self {
        FromParts(None)
    }
}

impl<C> FromParts<C> {
    fn whole(self) -> C {
        self.0.expect("extended exactly once")
    }
}

impl<T, C> ParallelExtend<T> for FromParts<C>
where
    T: Send,
    C: Send + FromParallelIterator<T>,
{
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: IntoParallelIterator<Item = T>,
    {
        debug_assert!(self.0.is_none(), "extended exactly once");
        self.0 = Some(C::from_par_iter(par_iter));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;
    use std::sync::Arc;

    /// Sorts what is made of the numbers up to `all`; `at` panics.
    fn partition<T, const N: usize>(all: usize, at: usize, of: impl Fn(usize) -> T + Sync)
    where
        T: AsRef<usize> + Send,
    {
        let items = || (0..all).into_par_iter().map(|n| (of(n), [n; N]));
        let even = |n: usize| {
            assert_ne!(n, at);
            n % 2 == 0 || n % 7 == 0
        };
        let expected: (Vec<usize>, Vec<usize>) = (0..all).partition(|n| n % 2 == 0 || n % 7 == 0);
        let (left, right): (Vec<_>, Vec<_>) = items().partition(|(n, _)| even(*n.as_ref()));
        let numbers =
            |side: &[(T, [usize; N])]| side.iter().map(|(n, _)| *n.as_ref()).collect::<Vec<_>>();
        assert_eq!((numbers(&left), numbers(&right)), expected);
        let (left, right): (Vec<_>, Vec<_>) = items().partition_map(|item| {
            if even(*item.0.as_ref()) {
                Either::Left(item)
            } else {
                Either::Right(item)
            }
        });
        assert_eq!((numbers(&left), numbers(&right)), expected);
    }

    #[test]
    fn every_item_goes_to_one_side_and_is_dropped_once_also_after_a_panic() {
        for all in [0, 1, 31, 32, 33, 64, 1000, 100_000] {
            let shared: Vec<Arc<usize>> = (0..all).map(Arc::new).collect();
            let of = |n: usize| Arc::clone(&shared[n]);
            partition::<_, 0>(all, usize::MAX, of);
            partition::<_, 20>(all, usize::MAX, of);
            for at in [0, all / 3, all.saturating_sub(1)] {
                let attempt = catch_unwind(|| partition::<_, 1>(all, at, of));
                assert_eq!(attempt.is_err(), all > 0);
            }
            assert!(shared.iter().all(|item| Arc::strong_count(item) == 1));
        }
    }

    /// Wants three items.
    #[derive(Default)]
    struct Three(Vec<u32>);

    impl ParallelExtend<u32> for Three {
        fn par_extend<I>(&mut self, items: I)
        where
            I: IntoParallelIterator<Item = u32>,
        {
            self.0 = items.into_par_iter().take_any(3).collect();
        }
    }

    #[test]
    fn a_side_that_has_enough_gets_no_more() {
        let (left, right): (Three, Three) = (0..100_000).into_par_iter().partition(|n| n % 2 == 0);
        assert_eq!((left.0.len(), right.0.len()), (3, 3));
        assert!(left.0.iter().all(|n| n % 2 == 0) && right.0.iter().all(|n| n % 2 == 1));
    }

    /// Has `left` items and says that there are at most `most`.
    struct Modest {
        left: usize,
        most: usize,
    }

    impl Iterator for Modest {
        type Item = usize;

        fn next(&mut self) -> Option<usize> {
            self.left = self.left.checked_sub(1)?;
            Some(self.left)
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            (0, Some(self.most.min(self.left)))
        }
    }

    #[test]
    fn an_iterator_that_has_more_items_than_it_says_loses_none() {
        for left in [1, 2, 127, 128, 129, 1000] {
            for most in [0, 1, left / 2, 128] {
                let items = (0..3)
                    .into_par_iter()
                    .flat_map_iter(|_| Modest { left, most });
                let (even, odd): (Vec<_>, Vec<_>) = items.partition(|n| n % 2 == 0);
                assert_eq!(
                    (even.len(), odd.len()),
                    (3 * left.div_ceil(2), 3 * (left / 2))
                );
            }
        }
    }
}
