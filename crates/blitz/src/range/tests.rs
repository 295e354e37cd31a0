//! Ranges of every type against std, at the limits of the types and beyond the limits of `usize`.

use super::Span;
use crate::iter::plumbing::{Producer, UnindexedProducer};
use crate::prelude::*;
use crate::slice::tests::{SIZES, check_every_split, for_every_depth};
use std::fmt::Debug;
use std::ops::Range;

macro_rules! check_integer {
    ($($integer:ident)*) => {$(
        #[test]
        fn $integer() {
            let (min, max) = (<$integer>::MIN, <$integer>::MAX);
            #[expect(clippy::reversed_empty_ranges)]
            let ranges = [0..0, 1..0, max..min, 5..6, 3..20, min..min, min..min + 9, max..max, max - 9..max, max - 1..max];
            for range in ranges {
                let expected: Vec<$integer> = range.clone().collect();
                let iter = range.clone().into_par_iter();
                assert_eq!(iter.opt_len(), Some(expected.len()), "{range:?}");
                assert_eq!(iter.clone().collect::<Vec<_>>(), expected, "{range:?}");
                assert_eq!(iter.clone().filter(|_| true).collect::<Vec<_>>(), expected, "{range:?}");
                assert_eq!(iter.max(), expected.last().copied(), "{range:?}");
            }
            for len in SIZES {
                if len as u128 > max as u128 {
                    continue;
                }
                let end = len as $integer;
                let doubled: Vec<u128> = (0..end).into_par_iter().map(|x| x as u128 * 2).collect();
                assert!(doubled.into_iter().eq((0..len as u128).map(|x| x * 2)));
            }
        }
    )*};
}

mod integers {
    use super::*;
    check_integer!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
}

#[test]
fn indexed_ranges_cut_anywhere_give_the_items_of_the_whole() {
    check_every_split!((0..0usize).into_par_iter(), 0..0usize);
    check_every_split!((0..7usize).into_par_iter(), 0..7usize);
    check_every_split!((250..255u8).into_par_iter(), 250..255u8);
    check_every_split!((-3..4i32).into_par_iter(), -3..4i32);
    check_every_split!(
        (isize::MIN..isize::MIN + 5).into_par_iter(),
        isize::MIN..isize::MIN + 5
    );
    check_every_split!(
        (u32::MAX - 5..u32::MAX).into_par_iter(),
        u32::MAX - 5..u32::MAX
    );
    check_every_split!(('x'..'~').into_par_iter(), 'x'..'~');
    check_every_split!(
        ('\u{D7FD}'..'\u{E003}').into_par_iter(),
        '\u{D7FD}'..'\u{E003}'
    );
}

#[test]
fn a_signed_range_longer_than_its_type_can_count_splits_in_the_right_place() {
    let (left, right) = Span(-100..100i8).split_at(150);
    assert_eq!((left.0, right.0), (-100..50, 50..100));
    let half = 1 << (usize::BITS - 1);
    let (left, right) = Producer::split_at(Span(isize::MIN..isize::MAX), half);
    assert_eq!((left.0, right.0), (isize::MIN..0, 0..isize::MAX));
    assert_eq!(Span(i128::MIN..i128::MAX).length(), u128::MAX);
    assert_eq!(
        (i64::MIN..i64::MAX).into_par_iter().opt_len(),
        usize::try_from(u64::MAX).ok()
    );
    assert_eq!((isize::MIN..isize::MAX).into_par_iter().len(), usize::MAX);
}

#[test]
fn a_range_knows_its_length_exactly_if_it_fits() {
    let fits = usize::MAX as u128;
    assert_eq!((0..fits).into_par_iter().opt_len(), Some(usize::MAX));
    assert_eq!((0..fits + 1).into_par_iter().opt_len(), None);
    assert_eq!((7..fits + 7).into_par_iter().opt_len(), Some(usize::MAX));
    assert_eq!((0..u128::MAX).into_par_iter().opt_len(), None);
    assert_eq!((i128::MIN..i128::MAX).into_par_iter().opt_len(), None);
}

#[test]
fn wide_ranges_split_to_any_depth_give_the_items_of_the_whole() {
    for range in [0..0, 0..1, 0..2, 5..22u64] {
        for_every_depth(
            || Span(range.clone()),
            |items| assert!(items.into_iter().eq(range.clone())),
        );
    }
    for range in [-9..9, i128::MIN..i128::MIN + 20, i128::MAX - 20..i128::MAX] {
        for_every_depth(
            || Span(range.clone()),
            |items| assert!(items.into_iter().eq(range.clone())),
        );
    }
    for len in 0..12 {
        let expected: Vec<u64> = (10..10 + len).collect();
        for first in 0..=expected.len() {
            let (left, right) = Producer::split_at(Span(10..10 + len), first);
            let (left, right) = (Producer::into_iter(left), Producer::into_iter(right));
            assert_eq!((left.len(), right.len()), (first, expected.len() - first));
            assert!(left.chain(right).rev().eq(expected.iter().rev().copied()));
        }
    }
}

#[test]
fn halves_of_an_astronomical_range_meet() {
    let range: Range<u128> = 0..10u128.pow(27);
    let mut whole = Span(range.clone());
    for _ in 0..60 {
        let (left, right) = UnindexedProducer::split(whole);
        let right = right.expect("there is plenty left to split");
        assert_eq!(left.0.end, right.0.start);
        assert_eq!(right.0.end, range.end);
        whole = right;
    }
    assert_eq!(range.clone().into_par_iter().find_first(|_| true), Some(0));
    assert!(range.into_par_iter().any(|x| x % 1000 == 999));
}

/// Checks ranges of characters from and to places of interest, as `range` makes them, against std.
pub(crate) fn check_characters<R>(range: impl Fn(char, char) -> R)
where
    R: Clone + Debug + DoubleEndedIterator<Item = char>,
    R: IntoParallelIterator<Item = char, Iter: IndexedParallelIterator + Clone>,
{
    let cases = [
        '\0',
        'a',
        '\u{D7FE}',
        '\u{D7FF}',
        '\u{E000}',
        '\u{E001}',
        '\u{FFFF}',
        '\u{10FFFE}',
        char::MAX,
    ];
    for start in cases {
        for end in cases {
            let range = range(start, end);
            let iter = range.clone().into_par_iter();
            // std counts characters one by one; the long ranges are checked by their ends.
            if (start as u32).abs_diff(end as u32) < 0x3000 {
                assert_eq!(iter.len(), range.clone().count(), "{range:?}");
                assert!(iter.eq(range.clone().collect::<Vec<_>>()), "{range:?}");
            } else {
                let first = iter.clone().find_first(|_| true);
                assert_eq!(first, range.clone().next(), "{range:?}");
                assert_eq!(iter.max(), range.clone().next_back(), "{range:?}");
            }
        }
    }
}

#[test]
fn characters_skip_the_surrogates() {
    check_characters(|start, end| start..end);
    assert_eq!(('\0'..char::MAX).into_par_iter().len(), 0x10FFFF - 0x800);
}

#[test]
fn an_integer_literal_takes_its_type_from_its_use() {
    fn halve(n: i64) -> i64 {
        n / 2
    }
    let halves: Vec<_> = (0..10).into_par_iter().map(halve).collect();
    assert_eq!(halves, [0i64, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    assert_eq!((0..10).into_par_iter().position_any(|x| x == 5u16), Some(5));
    assert!(
        (0..10)
            .into_par_iter()
            .zip(0..10)
            .all(|(a, b)| i8::eq(&a, &b))
    );
}
