//! Slice iterators against the standard library, over every way to split them, and the helpers with which the tests of the other
//! sources do the same.

use super::pieces::{Between, Cutter, Pieces, WithSeparator, WithoutSeparator};
use crate::iter::plumbing::{Folder, Producer, ProducerCallback, UnindexedProducer};
use crate::prelude::*;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Sizes around which splitting tends to go wrong, and one large enough to be shared out.
pub(crate) const SIZES: [usize; 12] = [0, 1, 2, 3, 4, 5, 7, 16, 31, 100, 1000, 20_000];

/// Collects what a producer hands over.
pub(crate) struct Gather<T>(pub(crate) Vec<T>);

impl<T> Folder<T> for Gather<T> {
    type Result = Vec<T>;

    fn consume(mut self, item: T) -> Self {
        self.0.push(item);
        self
    }

    fn complete(self) -> Vec<T> {
        self.0
    }

    fn full(&self) -> bool {
        false
    }
}

/// Three places at which to cut an indexed producer, and how to empty the four parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuts {
    places: [usize; 3],
    len: usize,
    pass: Pass,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Pass {
    Forwards,
    Backwards,
    Fold,
}

impl Cuts {
    /// All places and all passes, for an iterator of `len` items.
    pub(crate) fn of(len: usize) -> impl Iterator<Item = Cuts> {
        let places = move |first| {
            (first..=len)
                .flat_map(move |second| (second..=len).map(move |third| [first, second, third]))
        };
        let passes = [Pass::Forwards, Pass::Backwards, Pass::Fold];
        (0..=len)
            .flat_map(places)
            .flat_map(move |places| passes.map(|pass| Cuts { places, len, pass }))
    }

    /// The items of the iterator, cut and put together again.
    pub(crate) fn items_of<I: IndexedParallelIterator>(self, iter: I) -> Vec<I::Item> {
        assert_eq!(iter.len(), self.len);
        assert_eq!(iter.opt_len(), Some(self.len));
        iter.with_producer(self)
    }
}

impl<T> ProducerCallback<T> for Cuts {
    type Output = Vec<T>;

    fn callback<P: Producer<Item = T>>(self, producer: P) -> Vec<T> {
        let [first, second, third] = self.places;
        let (left, right) = producer.split_at(second);
        let (a, b) = left.split_at(first);
        let (c, d) = right.split_at(third - second);
        if self.pass == Pass::Fold {
            let folder = b.fold_with(a.fold_with(Gather(Vec::new())));
            return d.fold_with(c.fold_with(folder)).complete();
        }

        let (a, b, c, d) = (a.into_iter(), b.into_iter(), c.into_iter(), d.into_iter());
        let lengths = [first, second - first, third - second, self.len - third];
        assert_eq!([a.len(), b.len(), c.len(), d.len()], lengths);
        assert_eq!(b.size_hint(), (lengths[1], Some(lengths[1])));
        let all = a.chain(b).chain(c).chain(d);
        if self.pass == Pass::Forwards {
            return all.collect();
        }
        let mut items: Vec<T> = all.rev().collect();
        items.reverse();
        items
    }
}

/// Makes an indexed iterator anew for all [`Cuts`], and compares its items with those of a sequential one.
macro_rules! check_every_split {
    ($parallel:expr, $sequential:expr) => {{
        let expected: Vec<_> = $sequential.collect();
        for cuts in $crate::slice::tests::Cuts::of(expected.len()) {
            assert_eq!(cuts.items_of($parallel), expected, "{cuts:?}");
        }
    }};
}
pub(crate) use check_every_split;

/// Splits an unindexed producer to every depth, until nothing is left to split, and hands over the items of all parts in order.
pub(crate) fn for_every_depth<P: UnindexedProducer>(
    make: impl Fn() -> P,
    mut check: impl FnMut(Vec<P::Item>),
) {
    fn fold_parts<P: UnindexedProducer>(
        producer: P,
        depth: usize,
        parts: &mut usize,
        folder: Gather<P::Item>,
    ) -> Gather<P::Item> {
        if depth == 0 {
            *parts += 1;
            return producer.fold_with(folder);
        }
        match producer.split() {
            (whole, None) => fold_parts(whole, 0, parts, folder),
            (left, Some(right)) => {
                let folder = fold_parts(left, depth - 1, parts, folder);
                fold_parts(right, depth - 1, parts, folder)
            }
        }
    }

    let mut parts_before = 0;
    for depth in 0.. {
        let mut parts = 0;
        check(fold_parts(make(), depth, &mut parts, Gather(Vec::new())).complete());
        if parts == parts_before {
            break;
        }
        parts_before = parts;
    }
}

#[test]
fn slices_cut_anywhere_give_the_items_of_the_whole() {
    for len in 0..8 {
        let mut a: Vec<usize> = (0..len).collect();
        let mut b = a.clone();
        check_every_split!(a.par_iter(), b.iter());
        check_every_split!(a.par_iter_mut(), b.iter_mut());
        check_every_split!(a.par_windows(1), b.windows(1));
        check_every_split!(a.par_windows(3), b.windows(3));
        check_every_split!(a.par_windows(usize::MAX), b.windows(usize::MAX));
        check_every_split!(a.par_array_windows::<1>(), b.array_windows::<1>());
        check_every_split!(a.par_array_windows::<3>(), b.array_windows::<3>());
    }
}

#[test]
fn chunks_cut_anywhere_are_the_chunks_of_the_whole() {
    for len in 0..10 {
        for size in (1..12).chain([usize::MAX - 1, usize::MAX]) {
            let mut a: Vec<usize> = (0..len).collect();
            let mut b = a.clone();
            check_every_split!(a.par_chunks(size), b.chunks(size));
            check_every_split!(a.par_chunks_exact(size), b.chunks_exact(size));
            check_every_split!(a.par_rchunks(size), b.rchunks(size));
            check_every_split!(a.par_rchunks_exact(size), b.rchunks_exact(size));
            check_every_split!(a.par_chunks_mut(size), b.chunks_mut(size));
            check_every_split!(a.par_chunks_exact_mut(size), b.chunks_exact_mut(size));
            check_every_split!(a.par_rchunks_mut(size), b.rchunks_mut(size));
            check_every_split!(a.par_rchunks_exact_mut(size), b.rchunks_exact_mut(size));
        }
    }
}

#[test]
fn remainders_are_those_of_std() {
    for len in 0..10 {
        for size in 1..12 {
            let mut a: Vec<usize> = (0..len).collect();
            let mut b = a.clone();
            assert_eq!(
                a.par_chunks_exact(size).remainder(),
                b.chunks_exact(size).remainder()
            );
            assert_eq!(
                a.par_rchunks_exact(size).remainder(),
                b.rchunks_exact(size).remainder()
            );

            let mut chunks = a.par_chunks_exact_mut(size);
            let rest = b.chunks_exact_mut(size).into_remainder();
            assert_eq!(chunks.remainder(), rest);
            assert_eq!(chunks.take_remainder(), rest);
            assert!(chunks.take_remainder().is_empty() && chunks.into_remainder().is_empty());
            assert_eq!(a.par_chunks_exact_mut(size).into_remainder(), rest);

            let mut chunks = a.par_rchunks_exact_mut(size);
            let rest = b.rchunks_exact_mut(size).into_remainder();
            assert_eq!(chunks.remainder(), rest);
            assert_eq!(chunks.take_remainder(), rest);
            assert!(chunks.take_remainder().is_empty() && chunks.into_remainder().is_empty());
            assert_eq!(a.par_rchunks_exact_mut(size).into_remainder(), rest);
        }
    }
}

#[test]
fn slices_of_nothing_can_be_as_long_as_they_like() {
    let units = [(); usize::MAX];
    assert_eq!(units.par_iter().len(), usize::MAX);
    assert_eq!(units.par_windows(usize::MAX).count(), 1);
    let lengths: Vec<usize> = units.par_chunks(usize::MAX - 1).map(<[()]>::len).collect();
    assert_eq!(lengths, [usize::MAX - 1, 1]);
    let lengths: Vec<usize> = units
        .par_rchunks(usize::MAX / 2 + 1)
        .map(<[()]>::len)
        .collect();
    assert_eq!(lengths, [usize::MAX / 2 + 1, usize::MAX / 2]);
    assert!(units.par_iter().any(|_| true));
}

#[test]
fn a_size_of_zero_is_refused_with_the_documented_words() {
    fn message(f: impl FnOnce() + std::panic::UnwindSafe) -> String {
        *catch_unwind(f)
            .unwrap_err()
            .downcast::<&str>()
            .map(|text| Box::new(text.to_string()))
            .unwrap()
    }
    let zero = "chunk_size must not be zero";
    assert_eq!(message(|| drop([1].par_chunks(0))), zero);
    assert_eq!(message(|| drop([1].par_chunks_exact(0))), zero);
    assert_eq!(message(|| drop([1].par_rchunks(0))), zero);
    assert_eq!(message(|| drop([1].par_rchunks_exact(0))), zero);
    assert_eq!(message(|| drop([1].par_chunks_mut(0))), zero);
    assert_eq!(message(|| drop([1].par_chunks_exact_mut(0))), zero);
    assert_eq!(message(|| drop([1].par_rchunks_mut(0))), zero);
    assert_eq!(message(|| drop([1].par_rchunks_exact_mut(0))), zero);
    assert_eq!(
        message(|| drop([1].par_windows(0))),
        "window_size must not be zero"
    );
}

/// All slices over two letters up to a length: every arrangement of separators there is.
fn every_slice(longest: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..=longest).flat_map(|len| {
        (0..1 << len).map(move |bits| (0..len).map(|bit| ((bits >> bit) & 1) as u8).collect())
    })
}

/// Checks the pieces at every depth of splitting.
fn check_pieces<'a, C: Cutter<&'a [u8]>>(data: &'a [u8], cutter: C, expected: Vec<&'a [u8]>) {
    for_every_depth(
        || Pieces::new(data, cutter),
        |pieces| assert_eq!(pieces, expected, "{data:?}"),
    );
}

#[test]
fn pieces_split_to_any_depth_are_those_of_std() {
    for data in every_slice(9) {
        let is_separator = |x: &u8| *x == 0;
        let together = |a: &u8, b: &u8| a == b;
        check_pieces(
            &data,
            WithoutSeparator(&is_separator),
            data.split(is_separator).collect(),
        );
        check_pieces(
            &data,
            WithSeparator(&is_separator),
            data.split_inclusive(is_separator).collect(),
        );
        check_pieces(&data, Between(&together), data.chunk_by(together).collect());
    }
}

#[test]
fn neighbours_are_compared_once_however_the_slice_is_split() {
    for data in every_slice(9) {
        let calls = AtomicUsize::new(0);
        let together = |a: &u8, b: &u8| {
            calls.fetch_add(1, Ordering::Relaxed);
            a == b
        };
        let pairs = data.len().saturating_sub(1);
        for_every_depth(
            || Pieces::new(&data[..], Between(&together)),
            |_| assert_eq!(calls.swap(0, Ordering::Relaxed), pairs),
        );
    }
}

#[test]
fn pieces_of_large_slices_are_those_of_std() {
    for len in SIZES {
        for period in [1, 2, 3, 50, 7000, 100_000] {
            let mut a: Vec<usize> = (0..len).map(|i| i * 7919 % 50_021 % period).collect();
            let mut b = a.clone();
            let is_separator = |x: &usize| *x == 0;
            let together = |a: &usize, b: &usize| a <= b;
            assert_eq!(
                a.par_split(is_separator).collect::<Vec<_>>(),
                b.split(is_separator).collect::<Vec<_>>()
            );
            assert_eq!(
                a.par_split_inclusive(is_separator).collect::<Vec<_>>(),
                b.split_inclusive(is_separator).collect::<Vec<_>>()
            );
            assert_eq!(
                a.par_chunk_by(together).collect::<Vec<_>>(),
                b.chunk_by(together).collect::<Vec<_>>()
            );

            a.par_split_mut(is_separator)
                .for_each(|piece| piece.reverse());
            b.split_mut(is_separator).for_each(|piece| piece.reverse());
            assert_eq!(a, b);
            a.par_split_inclusive_mut(is_separator)
                .for_each(|piece| piece.rotate_left(1));
            b.split_inclusive_mut(is_separator)
                .for_each(|piece| piece.rotate_left(1));
            assert_eq!(a, b);
            a.par_chunk_by_mut(together)
                .for_each(|run| run.fill(run.len()));
            b.chunk_by_mut(together).for_each(|run| run.fill(run.len()));
            assert_eq!(a, b);
        }
    }
}

#[test]
fn large_slices_give_the_results_of_std() {
    for len in SIZES {
        let mut a: Vec<u64> = (0..len as u64).map(|i| i * i).collect();
        let mut b = a.clone();
        assert_eq!(a.par_iter().sum::<u64>(), b.iter().sum());
        a.par_iter_mut().for_each(|x| *x += 1);
        b.iter_mut().for_each(|x| *x += 1);
        assert_eq!(a, b);
        let steps: Vec<u64> = a.par_array_windows().map(|[x, y]| y - x).collect();
        assert_eq!(steps, b.windows(2).map(|w| w[1] - w[0]).collect::<Vec<_>>());
        let boxed = a.into_boxed_slice();
        assert!(boxed.par_iter().eq(&b));
        assert!(boxed.into_par_iter().eq(b));
    }
}

#[test]
fn cached_keys_are_computed_once_and_sort_stably() {
    // Lengths on both sides of each index type's limit.
    for len in [0, 1, 2, 3, 100, 255, 256, 257, 5000, 65_535, 65_536, 65_537] {
        let data: Vec<(u32, usize)> = (0..len).map(|i| ((i * 7919 % 97) as u32, i)).collect();
        let mut expected = data.clone();
        expected.sort_by_key(|pair| pair.0);

        let calls = AtomicUsize::new(0);
        let mut narrow = data.clone();
        narrow.par_sort_by_cached_key(|pair| {
            calls.fetch_add(1, Ordering::Relaxed);
            pair.0 as u8
        });
        assert_eq!(narrow, expected);
        assert_eq!(calls.into_inner(), if len < 2 { 0 } else { len });

        let mut wide = data.clone();
        wide.par_sort_by_cached_key(|pair| pair.0.to_be_bytes().to_vec());
        assert_eq!(wide, expected);
    }
}

#[test]
fn a_panic_while_sorting_by_cached_keys_leaves_the_slice_as_it_was() {
    #[derive(PartialEq, Eq)]
    struct Key(usize, Fault);
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Fault {
        Compare,
        Drop,
    }
    impl PartialOrd for Key {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Key {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            assert!(self.1 != Fault::Compare || self.0 != 40, "no comparison");
            self.0.cmp(&other.0)
        }
    }
    impl Drop for Key {
        fn drop(&mut self) {
            assert!(
                self.1 != Fault::Drop || self.0 != 40 || std::thread::panicking(),
                "no drop"
            );
        }
    }
    let original: Vec<String> = (0..100).rev().map(|i| i.to_string()).collect();
    for fault in [Fault::Compare, Fault::Drop] {
        let mut strings = original.clone();
        let sorting = || strings.par_sort_by_cached_key(|text| Key(text.parse().unwrap(), fault));
        assert!(catch_unwind(std::panic::AssertUnwindSafe(sorting)).is_err());
        assert_eq!(strings, original);
    }
    let mut strings = original.clone();
    let sorting = || {
        strings.par_sort_by_cached_key(|text| text.parse::<u8>().unwrap().checked_sub(1).unwrap())
    };
    assert!(catch_unwind(std::panic::AssertUnwindSafe(sorting)).is_err());
    assert_eq!(strings, original);
}
