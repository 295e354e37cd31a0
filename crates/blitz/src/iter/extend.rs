//! `ParallelExtend` for the standard collections.
//!
//! Items of known number go straight to their places ([`collect`](super::collect)). Items of unknown number are gathered
//! piece by piece, each piece into a collection of its own, and the pieces are strung together: a loop nobody helped with
//! has one piece, and it is handed over as it is. Collections without a parallel way in (maps, sets, heaps) are filled from
//! the pieces by the calling thread, after reserving room.

use super::collect::extend_exactly;
use super::noop::Nothing;
use super::plumbing::Folder;
use super::recipe::{Everywhere, Recipe};
use super::{IntoParallelIterator, ParallelExtend, ParallelIterator};
use crate::delegate::copied_as_it_is;
use crate::engine::operation;
use crate::slice::sort::raw::{Shared, copy_in_parallel, welcome_huge_pages};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A collection that holds one piece of the items.
trait Piece<T>: Default + Send + Extend<T> {
    /// How much is in it.
    fn size(&self) -> usize;

    #[inline]
    fn push(&mut self, item: T) {
        self.extend(Some(item));
    }

    /// Prepares for about so many items.
    #[inline]
    fn make_room(&mut self, _items: usize) {}

    /// Gives back room that turned out to be far too much.
    #[inline]
    fn give_room_back(&mut self) {}

    /// How much it can hold before it has to grow, if there is something to be done when it has.
    #[inline]
    fn capacity(&self) -> usize {
        0
    }

    /// Its capacity has changed.
    #[inline]
    fn has_grown(&mut self) {}

    /// As [`Folder::room`].
    #[inline]
    fn room(&mut self, _items: usize) -> &mut [MaybeUninit<T>] {
        &mut []
    }

    /// As [`Folder::count_in`].
    ///
    /// # Safety
    /// As there.
    #[inline]
    unsafe fn count_in(&mut self, items: usize) {
        debug_assert_eq!(items, 0, "there was no room");
    }
}

/// A piece makes room for no more bytes than this at a time.
const ROOM: usize = 1 << 16;

impl<T> Piece<T> for Vec<T>
where
    T: Send,
{
    #[inline]
    fn size(&self) -> usize {
        self.len()
    }

    #[inline]
    fn push(&mut self, item: T) {
        self.push(item);
    }

    #[inline]
    fn make_room(&mut self, items: usize) {
        self.reserve(items.min(ROOM / size_of::<T>().max(1)));
    }

    fn give_room_back(&mut self) {
        // As little as growing from nothing would have left.
        if self.capacity() > (2 * self.len()).max(4) {
            self.shrink_to(4);
        }
    }

    #[inline]
    fn capacity(&self) -> usize {
        self.capacity()
    }

    #[inline]
    fn has_grown(&mut self) {
        welcome_huge_pages(self);
    }

    #[inline]
    fn room(&mut self, items: usize) -> &mut [MaybeUninit<T>] {
        if self.capacity() - self.len() < items {
            self.reserve(items);
            self.has_grown();
        }
        self.spare_capacity_mut()
    }

    #[inline]
    unsafe fn count_in(&mut self, items: usize) {
        // SAFETY: the items were written to the spare room, as the caller says.
        unsafe { self.set_len(self.len() + items) };
    }
}

impl<T> Piece<T> for LinkedList<T>
where
    T: Send,
{
    fn size(&self) -> usize {
        self.len()
    }
}

impl<T> Piece<T> for String
where
    String: Extend<T>,
{
    fn size(&self) -> usize {
        self.len()
    }
}

impl<T> Piece<T> for OsString
where
    OsString: Extend<T>,
{
    fn size(&self) -> usize {
        self.as_os_str().len()
    }
}

/// The pieces of a loop in order, without empty ones. A single piece, which is what a loop that nobody helped with has, takes
/// no memory of its own.
pub(super) struct Pieces<P> {
    first: Option<P>,
    others: LinkedList<P>,
}

impl<P> Pieces<P> {
    fn of(piece: Option<P>) -> Self {
        Pieces {
            first: piece,
            others: LinkedList::new(),
        }
    }

    /// Puts `later` behind what is here.
    fn append(&mut self, mut later: Self) {
        if self.first.is_none() {
            *self = later;
            return;
        }
        self.others.extend(later.first.take());
        self.others.append(&mut later.others);
    }

    fn pop_front(&mut self) -> Option<P> {
        let next = self.others.pop_front();
        std::mem::replace(&mut self.first, next)
    }

    fn iter(&self) -> impl Iterator<Item = &P> {
        self.first.iter().chain(&self.others)
    }

    /// As a list.
    pub(super) fn into_list(self) -> LinkedList<P> {
        let mut list = self.others;
        if let Some(first) = self.first {
            list.push_front(first);
        }
        list
    }
}

impl<P> IntoIterator for Pieces<P> {
    type Item = P;
    type IntoIter =
        std::iter::Chain<std::option::IntoIter<P>, std::collections::linked_list::IntoIter<P>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.others)
    }
}

/// Gathers the items of every piece into a `P`.
struct Gather<P>(PhantomData<fn() -> P>);

copied_as_it_is! { Gather<P> }

impl<T, P> Recipe<T> for Gather<P>
where
    P: Piece<T>,
{
    type Result = Pieces<P>;
    type Folder = Gathered<P>;

    #[inline]
    fn begin(self) -> Gathered<P> {
        Gathered(P::default())
    }

    #[inline]
    fn combine(self, mut left: Pieces<P>, right: Pieces<P>) -> Pieces<P> {
        left.append(right);
        left
    }
}

/// Nothing but the piece: it is moved with every single item, and more words than a vector has would cost much more to move.
struct Gathered<P>(P);

impl<T, P> Folder<T> for Gathered<P>
where
    P: Piece<T>,
{
    type Result = Pieces<P>;

    const MAY_BE_FULL: bool = false;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.0.push(item);
        self
    }

    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        let iter = iter.into_iter();
        let (least, most) = iter.size_hint();
        // A vector that grows from nothing is moved a dozen times on its way to a few thousand items.
        if self.0.size() == 0 {
            self.0.make_room(most.unwrap_or(least));
        }
        let capacity = self.0.capacity();
        self.0.extend(iter);
        if self.0.capacity() != capacity {
            self.0.has_grown();
        }
        self
    }

    fn complete(mut self) -> Pieces<P> {
        Pieces::of((self.0.size() > 0).then(|| {
            self.0.give_room_back();
            self.0
        }))
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }

    #[inline]
    fn room(&mut self, items: usize) -> &mut [MaybeUninit<T>] {
        self.0.room(items)
    }

    #[inline]
    unsafe fn count_in(&mut self, items: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.0.count_in(items) };
    }
}

fn gather<I, P>(iter: I) -> Pieces<P>
where
    I: ParallelIterator,
    P: Piece<I::Item>,
{
    iter.drive_unindexed(Everywhere(Gather(PhantomData)))
}

/// What an iterator must not do that always has a length.
const NO_LENGTH: &str = "an iterator that always has a length has none";

/// All items, in one or more vectors; in one if their number is known.
pub(super) fn gather_vecs<I>(iter: I) -> Pieces<Vec<I::Item>>
where
    I: ParallelIterator,
{
    if I::MAY_HAVE_LEN {
        if let Some(len) = iter.opt_len() {
            let mut vec = Vec::new();
            extend_exactly(iter, len, &mut vec);
            return Pieces::of((len > 0).then_some(vec));
        }
    }
    if I::MAY_LACK_LEN {
        gather(iter)
    } else {
        unreachable!("{NO_LENGTH}")
    }
}

/// Moves all items of `piece` behind those of `vec`, which has room for them.
fn append<T: Send>(vec: &mut Vec<T>, mut piece: Vec<T>) {
    let len = piece.len();
    let room = &mut vec.spare_capacity_mut()[..len];
    let (from, to) = (piece.as_mut_ptr(), room.as_mut_ptr().cast());
    // SAFETY: `len` items are in one place, there is room for as many in the other, and both are borrowed or owned here. The items change hands: the piece
    // forgets them before the vector counts them.
    unsafe {
        copy_in_parallel(Shared::new(from), Shared::new(to), len);
        piece.set_len(0);
        vec.set_len(vec.len() + len);
    }
}

fn total_len<T>(vecs: &Pieces<Vec<T>>) -> usize {
    vecs.iter().map(Vec::len).sum()
}

/// Appends the items of a parallel iterator, in order.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let mut numbers = vec![1];
/// numbers.par_extend((2..9).into_par_iter().filter(|n| n % 3 == 0));
/// assert_eq!(numbers, [1, 3, 6]);
/// ```
impl<T> ParallelExtend<T> for Vec<T>
where
    T: Send,
{
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: IntoParallelIterator<Item = T>,
    {
        let _operation = operation();
        let iter = par_iter.into_par_iter();
        if I::Iter::MAY_HAVE_LEN {
            if let Some(len) = iter.opt_len() {
                return extend_exactly(iter, len, self);
            }
        }
        if !I::Iter::MAY_LACK_LEN {
            unreachable!("{NO_LENGTH}");
        }
        let mut pieces: Pieces<Vec<T>> = gather(iter);
        let (before, total) = (self.capacity(), total_len(&pieces));
        if self.is_empty() && before < total {
            // The first piece may as well stay where it is. Nobody has said that there will be more than this.
            *self = pieces.pop_front().unwrap_or_default();
            self.reserve_exact(total - self.len());
        } else {
            self.reserve(total);
        }
        if self.capacity() != before {
            self.has_grown();
        }
        for piece in pieces {
            append(self, piece);
        }
    }
}

/// Appends the items of a parallel iterator, in order.
impl<T> ParallelExtend<T> for LinkedList<T>
where
    T: Send,
{
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: IntoParallelIterator<Item = T>,
    {
        let _operation = operation();
        for mut piece in gather::<_, LinkedList<T>>(par_iter.into_par_iter()) {
            self.append(&mut piece);
        }
    }
}

macro_rules! extend_from_references {
    ($($collection:ident)+) => {
        $(
            /// Appends copies of the items of a parallel iterator, in order.
            impl<'a, T> ParallelExtend<&'a T> for $collection<T>
            where
                T: 'a + Copy + Send + Sync,
            {
                #[cfg_attr(feature = "sites", track_caller)]
                fn par_extend<I>(&mut self, par_iter: I)
                where
                    I: IntoParallelIterator<Item = &'a T>,
                {
                    let _operation = operation();
                    self.par_extend(par_iter.into_par_iter().copied());
                }
            }
        )+
    };
}

extend_from_references! { Vec LinkedList }

/// Collections that the calling thread fills from vectors.
macro_rules! extend_from_vecs {
    ($([$($generics:tt)*] $collection:ty, $item:ty, $reserve:tt;)+) => {
        $(
            /// Takes in the items of a parallel iterator. They are made in parallel and put in by the calling thread.
            impl<$($generics)*> ParallelExtend<$item> for $collection {
                #[cfg_attr(feature = "sites", track_caller)]
                fn par_extend<ITER>(&mut self, par_iter: ITER)
                where
                    ITER: IntoParallelIterator<Item = $item>,
                {
                    let _operation = operation();
                    let pieces = gather_vecs(par_iter.into_par_iter());
                    extend_from_vecs!(@$reserve self, pieces);
                    for piece in pieces {
                        self.extend(piece);
                    }
                }
            }
        )+
    };
    (@reserve $self:ident, $pieces:ident) => { $self.reserve(total_len(&$pieces)) };
    // Room for all would be too much if many are there already, or equal.
    (@reserve_half $self:ident, $pieces:ident) => {
        let len = total_len(&$pieces);
        $self.reserve(if $self.is_empty() { len } else { len.div_ceil(2) })
    };
    (@cannot_reserve $self:ident, $pieces:ident) => {};
}

extend_from_vecs! {
    [T: Send] VecDeque<T>, T, reserve;
    ['a, T: 'a + Copy + Send + Sync] VecDeque<T>, &'a T, reserve;
    [T: Ord + Send] BinaryHeap<T>, T, reserve;
    ['a, T: 'a + Copy + Ord + Send + Sync] BinaryHeap<T>, &'a T, reserve;
    [K: Eq + Hash + Send, V: Send, S: BuildHasher + Send] HashMap<K, V, S>, (K, V), reserve_half;
    [
        'a, K: 'a + Copy + Eq + Hash + Send + Sync, V: 'a + Copy + Send + Sync, S: BuildHasher + Send
    ] HashMap<K, V, S>, (&'a K, &'a V), reserve_half;
    [T: Eq + Hash + Send, S: BuildHasher + Send] HashSet<T, S>, T, reserve_half;
    ['a, T: 'a + Copy + Eq + Hash + Send + Sync, S: BuildHasher + Send] HashSet<T, S>, &'a T, reserve_half;
    [K: Ord + Send, V: Send] BTreeMap<K, V>, (K, V), cannot_reserve;
    [
        'a, K: 'a + Copy + Ord + Send + Sync, V: 'a + Copy + Send + Sync
    ] BTreeMap<K, V>, (&'a K, &'a V), cannot_reserve;
    [T: Ord + Send] BTreeSet<T>, T, cannot_reserve;
    ['a, T: 'a + Copy + Ord + Send + Sync] BTreeSet<T>, &'a T, cannot_reserve;
}

/// Strings that are gathered in pieces and strung together.
macro_rules! extend_string {
    ($([$($generics:tt)*] $string:ty, $item:ty;)+) => {
        $(
            /// Appends the items of a parallel iterator, in order.
            impl<$($generics)*> ParallelExtend<$item> for $string {
                #[cfg_attr(feature = "sites", track_caller)]
                fn par_extend<I>(&mut self, par_iter: I)
                where
                    I: IntoParallelIterator<Item = $item>,
                {
                    let _operation = operation();
                    let mut pieces: Pieces<$string> = gather(par_iter.into_par_iter());
                    if self.is_empty() && self.capacity() == 0 {
                        *self = pieces.pop_front().unwrap_or_default();
                    }
                    self.reserve(pieces.iter().map(|piece| piece.len()).sum());
                    self.extend(pieces);
                }
            }
        )+
    };
}

extend_string! {
    [] String, char;
    ['a] String, &'a char;
    ['a] String, &'a str;
    [] String, String;
    [] String, Box<str>;
    ['a] String, Cow<'a, str>;
    ['a] OsString, &'a OsStr;
    [] OsString, OsString;
    ['a] OsString, Cow<'a, OsStr>;
}

/// Runs the iterator; there is nothing to keep.
impl ParallelExtend<()> for () {
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: IntoParallelIterator<Item = ()>,
    {
        let _operation = operation();
        par_iter.into_par_iter().drive_unindexed(Nothing);
    }
}
