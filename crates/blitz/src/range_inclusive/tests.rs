//! Inclusive ranges of every type against std, above all at the last value of each type.

use crate::prelude::*;
use crate::range::tests::check_characters;
use crate::slice::tests::{SIZES, check_every_split};

macro_rules! check_integer {
    ($($integer:ident)*) => {$(
        #[test]
        fn $integer() {
            let (min, max) = (<$integer>::MIN, <$integer>::MAX);
            let mut exhausted = 5..=6;
            while exhausted.next().is_some() {}
            let mut exhausted_at_max = max - 1..=max;
            while exhausted_at_max.next().is_some() {}
            let mut exhausted_from_behind = min..=min + 1;
            while exhausted_from_behind.next_back().is_some() {}
            #[expect(clippy::reversed_empty_ranges)]
            let ranges = [
                0..=0, 1..=0, max..=min, 5..=6, 3..=20, min..=min, min..=min + 9, max..=max, max - 9..=max, max - 1..=max,
                exhausted, exhausted_at_max, exhausted_from_behind,
            ];
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
                let doubled: Vec<u128> = (0..=end).into_par_iter().map(|x| x as u128 * 2).collect();
                assert!(doubled.into_iter().eq((0..=len as u128).map(|x| x * 2)));
            }
        }
    )*};
}

mod integers {
    check_integer!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
    use super::*;
}

#[test]
fn indexed_ranges_cut_anywhere_give_the_items_of_the_whole() {
    check_every_split!((0..=6u8).into_par_iter(), 0..=6u8);
    check_every_split!((250..=255u8).into_par_iter(), 250..=255u8);
    check_every_split!((255..=255u8).into_par_iter(), 255..=255u8);
    check_every_split!((-3..=3i16).into_par_iter(), -3..=3i16);
    check_every_split!((32_762..=32_767i16).into_par_iter(), 32_762..=32_767i16);
    check_every_split!(('x'..='}').into_par_iter(), 'x'..='}');
    check_every_split!(
        ('\u{D7FD}'..='\u{E002}').into_par_iter(),
        '\u{D7FD}'..='\u{E002}'
    );
    check_every_split!(
        ('\u{10FFFB}'..=char::MAX).into_par_iter(),
        '\u{10FFFB}'..=char::MAX
    );
}

#[test]
fn whole_types_are_ranges() {
    assert!(
        (0..=u8::MAX)
            .into_par_iter()
            .eq((0..=u8::MAX).collect::<Vec<_>>())
    );
    assert_eq!((i16::MIN..=i16::MAX).into_par_iter().len(), 1 << 16);
    assert_eq!(
        (i16::MIN..=i16::MAX)
            .into_par_iter()
            .map(i64::from)
            .sum::<i64>(),
        -(1 << 15)
    );
    assert_eq!(
        (0..=u32::MAX).into_par_iter().opt_len(),
        usize::try_from(1_u64 << 32).ok()
    );
    assert_eq!((0..=u64::MAX).into_par_iter().opt_len(), None);
    assert_eq!(
        (1..=u64::MAX).into_par_iter().opt_len(),
        usize::try_from(u64::MAX).ok()
    );
    assert_eq!((0..=usize::MAX).into_par_iter().opt_len(), None);
    assert_eq!((i128::MIN..=i128::MAX).into_par_iter().opt_len(), None);
    assert_eq!(
        (0..=u128::MAX).into_par_iter().find_first(|_| true),
        Some(0)
    );
    assert!((0..=u64::MAX).into_par_iter().any(|x| x % 1000 == 999));
}

#[test]
fn characters_skip_the_surrogates() {
    check_characters(|start, end| start..=end);
    assert_eq!(('\0'..=char::MAX).into_par_iter().len(), 0x110000 - 0x800);
}

#[test]
fn an_integer_literal_takes_its_type_from_its_use() {
    fn halve(n: i64) -> i64 {
        n / 2
    }
    let halves: Vec<_> = (0..=5).into_par_iter().map(halve).collect();
    assert_eq!(halves, [0i64, 0, 1, 1, 2, 2]);
    assert_eq!(
        (0..=10).into_par_iter().position_any(|x| x == 5u16),
        Some(5)
    );
    assert!(
        (0..=10)
            .into_par_iter()
            .zip(0..=10)
            .all(|(a, b)| i8::eq(&a, &b))
    );
}
