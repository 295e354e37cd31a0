//! Adaptors that keep positions: in rows, and one by one.

use super::over_lengths;
use crate::prelude::*;

/// One adaptor applied to a parallel or a sequential iterator over `i64`s.
macro_rules! apply {
    (map, $iter:expr) => {
        $iter.map(|n| n * 3 + 1)
    };
    (inspect, $iter:expr) => {
        $iter.inspect(|n| assert!(*n > i64::MIN))
    };
    (chain, $iter:expr) => {
        $iter.chain(vec![100, 200, 300])
    };
    (enumerate, $iter:expr) => {
        $iter.enumerate().map(|(index, n)| index as i64 * 1000 + n)
    };
    (zip, $iter:expr) => {
        $iter.zip(0..40i32).map(|(a, b)| a * 50 + i64::from(b))
    };
    (rev, $iter:expr) => {
        $iter.rev()
    };
    (skip, $iter:expr) => {
        $iter.skip(3)
    };
    (take, $iter:expr) => {
        $iter.take(11)
    };
    (step_by, $iter:expr) => {
        $iter.step_by(3)
    };
}

/// All of the named adaptors, one after the other.
macro_rules! apply_all {
    ($iter:expr;) => { $iter };
    ($iter:expr; $first:ident $($others:ident)*) => { apply_all!(apply!($first, $iter); $($others)*) };
}

/// The same by `std`. It goes through a vector after each adaptor, because some of `std`'s forget what others need.
macro_rules! expected {
    ($items:expr; $($adaptor:ident)*) => {{
        let items: Vec<i64> = $items.to_vec();
        $(let items: Vec<i64> = apply!($adaptor, items.into_iter()).collect();)*
        items
    }};
}

/// Adaptors in a row, so that each is driven and cut by its neighbours: collected by place, and collected in pieces.
///
/// Every line here is a loop to be compiled for each row, which is why there are few.
macro_rules! row {
    ($($adaptor:ident)*) => {
        over_lengths(|items| {
            let expected = expected!(items; $($adaptor)*);
            let what = (stringify!($($adaptor)*), items.len());
            let par = || apply_all!(items.to_vec().into_par_iter(); $($adaptor)*);
            assert_eq!(par().len(), expected.len(), "{what:?}");
            assert_eq!(par().collect::<Vec<_>>(), expected, "{what:?}");
            let odd: Vec<i64> = par().filter(|n| n % 2 != 0).collect();
            assert!(odd.iter().eq(expected.iter().filter(|n| *n % 2 != 0)), "{what:?}");
        });
    };
}

#[test]
fn indexed_adaptors_in_rows_agree_with_std() {
    row!(map rev skip chain step_by enumerate take inspect);
    row!(zip step_by rev take chain enumerate skip map);
    row!(enumerate zip inspect step_by chain rev);
    row!(skip take rev zip map chain zip step_by);
}

#[test]
fn bounds_on_pieces_change_nothing_but_the_pieces() {
    over_lengths(|items| {
        let halves: Vec<i64> = items
            .to_vec()
            .into_par_iter()
            .with_max_len(2)
            .with_min_len(2)
            .collect();
        assert_eq!(halves, items);
        let mut filled = vec![-1; 7];
        items
            .par_iter()
            .copied()
            .with_max_len(3)
            .collect_into_vec(&mut filled);
        assert_eq!(filled, items);
    });
}

#[test]
fn chains_agree_with_std_before_what_std_can_do_with_them() {
    over_lengths(|items| {
        let seq = || {
            items
                .iter()
                .copied()
                .chain((100..120).collect::<Vec<_>>())
                .chain(items.iter().copied())
        };
        let par = || {
            items
                .par_iter()
                .copied()
                .chain((100..120).collect::<Vec<_>>())
                .chain(items.par_iter().copied())
        };
        let expected: Vec<i64> = seq().collect();
        assert_eq!(par().collect::<Vec<_>>(), expected);
        let backwards: Vec<i64> = par().rev().collect();
        assert!(backwards.iter().rev().eq(&expected));
        assert!(
            par()
                .step_by(4)
                .collect::<Vec<_>>()
                .into_iter()
                .eq(seq().step_by(4))
        );
        let skipped: Vec<i64> = par().rev().skip(5).step_by(2).collect();
        assert!(skipped.iter().eq(expected.iter().rev().skip(5).step_by(2)));
    });
}

#[test]
fn interleaving_alternates_and_then_goes_on_alone() {
    fn expected(mut a: Vec<i64>, mut b: Vec<i64>, shortest: bool) -> Vec<i64> {
        a.reverse();
        b.reverse();
        let mut out = vec![];
        let mut turn_of_a = true;
        loop {
            let (now, other) = if turn_of_a {
                (&mut a, &mut b)
            } else {
                (&mut b, &mut a)
            };
            match now.pop() {
                Some(n) => out.push(n),
                None if shortest => break,
                None => match other.pop() {
                    Some(n) => out.push(n),
                    None => break,
                },
            }
            turn_of_a = !turn_of_a;
        }
        out
    }
    over_lengths(|items| {
        for other in [0usize, 1, 2, 7, 40] {
            let (a, b): (Vec<i64>, Vec<i64>) =
                (items.to_vec(), (1000..1000 + other as i64).collect());
            let all = expected(a.clone(), b.clone(), false);
            let par = || a.par_iter().copied().interleave(b.par_iter().copied());
            assert_eq!(par().collect::<Vec<_>>(), all);
            assert!(par().rev().collect::<Vec<_>>().iter().rev().eq(&all));
            assert!(
                par()
                    .skip(3)
                    .step_by(2)
                    .collect::<Vec<_>>()
                    .iter()
                    .eq(all.iter().skip(3).step_by(2))
            );
            let short = expected(a.clone(), b.clone(), true);
            let par = a
                .par_iter()
                .copied()
                .interleave_shortest(b.par_iter().copied());
            assert_eq!(par.collect::<Vec<_>>(), short);
        }
    });
}

#[test]
fn elements_come_between_items_and_nowhere_else() {
    fn expected(items: &[i64]) -> Vec<i64> {
        let mut out: Vec<i64> = items.iter().flat_map(|&n| [n, -77]).collect();
        out.pop();
        out
    }
    over_lengths(|items| {
        let par = || items.par_iter().copied().intersperse(-77);
        let all = expected(items);
        assert_eq!(par().collect::<Vec<_>>(), all);
        assert_eq!(par().len(), all.len());
        assert!(par().rev().collect::<Vec<_>>().iter().rev().eq(&all));
        assert!(
            par()
                .skip(2)
                .step_by(3)
                .collect::<Vec<_>>()
                .iter()
                .eq(all.iter().skip(2).step_by(3))
        );
        // Of unknown length, with pieces that turn out empty.
        for keep in [1, 2, 5, 50] {
            let kept: Vec<i64> = items.iter().copied().filter(|n| n % keep == 0).collect();
            let par: Vec<i64> = items
                .par_iter()
                .copied()
                .filter(|n| n % keep == 0)
                .intersperse(-77)
                .collect();
            assert_eq!(par, expected(&kept));
        }
    });
}

#[test]
fn chunks_are_those_of_std() {
    over_lengths(|items| {
        for size in [1, 2, 3, 7, 1000] {
            let expected: Vec<Vec<i64>> = items.chunks(size).map(<[i64]>::to_vec).collect();
            let par = || items.par_iter().copied().chunks(size);
            assert_eq!(par().collect::<Vec<_>>(), expected);
            assert!(par().rev().collect::<Vec<_>>().iter().rev().eq(&expected));
            let sums: Vec<i64> = expected.iter().map(|chunk| chunk.iter().sum()).collect();
            let folded = items.par_iter().fold_chunks(size, || 0, |sum, n| sum + n);
            assert_eq!(folded.collect::<Vec<i64>>(), sums);
            let folded = items
                .par_iter()
                .fold_chunks_with(size, 0, |sum, n| sum + n)
                .rev();
            assert!(folded.collect::<Vec<i64>>().iter().rev().eq(&sums));
        }
    });
}
