//! Every adaptor and terminal operation against `std`, with the loop cut at every place.
//!
//! `pretend` makes each loop fall apart into single items and treats right halves as taken by other threads at random, so
//! that folders are begun, resumed, completed and reduced in all the orders that a real schedule could produce.

use super::plumbing::pretend;
use crate::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, LinkedList, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Lengths around the places where cuts, chunks and strides change their minds.
const LENGTHS: [usize; 9] = [0, 1, 2, 3, 5, 8, 13, 33, 100];

/// Runs `test` under several chances of being stolen from, on pools of several sizes.
fn under_all_schedules(test: &(dyn Fn() + Sync)) {
    for (seed, chance) in [0, 20, 128, 255].into_iter().enumerate() {
        pretend::with(chance, seed as u64 * 77 + 5, test);
    }
    for threads in [1, 2, 3] {
        let pool = crate::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| pretend::with(100, threads as u64, test));
    }
}

/// The same for a list of inputs.
fn over_lengths(test: impl Fn(&[i64]) + Sync) {
    under_all_schedules(&|| {
        for len in LENGTHS {
            let items: Vec<i64> = (0..len as i64).map(|n| n * 7 % 31 - 9).collect();
            test(&items);
        }
    });
}

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

#[test]
fn stages_agree_with_std() {
    over_lengths(|items| {
        let expected: Vec<i64> = items
            .iter()
            .map(|n| n * 2)
            .filter(|n| n % 3 != 0)
            .flat_map(|n| [n, n + 1])
            .collect();
        let par = || items.par_iter().map(|n| n * 2).filter(|n| n % 3 != 0);
        assert_eq!(
            par().flat_map_iter(|n| [n, n + 1]).collect::<Vec<_>>(),
            expected
        );
        assert_eq!(par().flat_map(|n| [n, n + 1]).collect::<Vec<_>>(), expected);
        assert_eq!(
            par().map(|n| vec![n, n + 1]).flatten().collect::<Vec<_>>(),
            expected
        );
        assert_eq!(
            par()
                .map(|n| vec![n, n + 1])
                .flatten_iter()
                .collect::<Vec<_>>(),
            expected
        );
        let nested: i64 = items
            .par_iter()
            .flat_map(|&n| items.par_iter().map(move |m| n * m))
            .sum();
        assert_eq!(
            nested,
            items.iter().sum::<i64>() * items.iter().sum::<i64>()
        );
        let updated: Vec<i64> = items
            .par_iter()
            .copied()
            .update(|n| *n += 5)
            .rev()
            .collect();
        assert!(
            updated
                .iter()
                .rev()
                .copied()
                .eq(items.iter().map(|n| n + 5))
        );
        let positions: Vec<usize> = items.par_iter().positions(|n| n % 2 == 0).collect();
        assert!(
            positions
                .into_iter()
                .eq((0..items.len()).filter(|&i| items[i] % 2 == 0))
        );
        let parsed: Vec<i64> = items
            .par_iter()
            .filter_map(|&n| (n > 0).then_some(n * n))
            .collect();
        assert!(
            parsed
                .into_iter()
                .eq(items.iter().filter(|&&n| n > 0).map(|n| n * n))
        );
    });
}

#[test]
fn carried_values_belong_to_one_piece() {
    over_lengths(|items| {
        // The carried number counts the items of a piece; restarting it anywhere but at the beginning of one would show.
        let begun = AtomicUsize::new(0);
        let counted: Vec<(usize, i64)> = items
            .par_iter()
            .map_init(
                || {
                    begun.fetch_add(1, Relaxed);
                    0
                },
                |seen, &n| {
                    *seen += 1;
                    (*seen, n)
                },
            )
            .collect();
        assert!(counted.iter().map(|(_, n)| n).eq(items));
        let starts = counted.iter().filter(|(seen, _)| *seen == 1).count();
        assert!(
            counted
                .windows(2)
                .all(|pair| pair[1].0 == 1 || pair[1].0 == pair[0].0 + 1)
        );
        assert!(starts <= begun.into_inner());
        let with: Vec<i64> = items
            .par_iter()
            .map_with(10, |ten, n| *ten + n)
            .rev()
            .collect();
        assert!(with.iter().rev().copied().eq(items.iter().map(|n| n + 10)));
    });
}

#[test]
fn reductions_keep_the_order_of_items() {
    over_lengths(|items| {
        let words: Vec<String> = items.iter().map(i64::to_string).collect();
        let joined = words.concat();
        assert_eq!(
            words.par_iter().cloned().reduce(String::new, |a, b| a + &b),
            joined
        );
        assert_eq!(
            words
                .par_iter()
                .cloned()
                .reduce_with(|a, b| a + &b)
                .unwrap_or_default(),
            joined
        );
        let folded = words.par_iter().fold(String::new, |text, word| text + word);
        assert_eq!(folded.reduce(String::new, |a, b| a + &b), joined);
        let folded = words
            .par_iter()
            .fold_with(String::new(), |text, word| text + word);
        assert_eq!(folded.collect::<String>(), joined);
        let tried = words
            .par_iter()
            .try_fold(String::new, |text, word| Some(text + word));
        assert_eq!(
            tried.try_reduce(String::new, |a, b| Some(a + &b)),
            Some(joined.clone())
        );
        assert_eq!(
            words
                .par_iter()
                .map(|word| word.as_str())
                .collect::<String>(),
            joined
        );
        assert_eq!(items.par_iter().sum::<i64>(), items.iter().sum());
        assert_eq!(
            items.par_iter().map(|n| n % 3).product::<i64>(),
            items.iter().map(|n| n % 3).product()
        );
        assert_eq!(items.par_iter().count(), items.len());
        assert_eq!(items.par_iter().min(), items.iter().min());
        assert_eq!(items.par_iter().max(), items.iter().max());
        // Of equals, the first minimum and the last maximum, which their places tell.
        let placed: Vec<(usize, i64)> = items.iter().map(|n| n % 4).enumerate().collect();
        let key = |&(_, n): &(usize, i64)| n;
        assert_eq!(
            placed.par_iter().copied().min_by_key(key),
            placed.iter().copied().min_by_key(key)
        );
        assert_eq!(
            placed.par_iter().copied().max_by_key(key),
            placed.iter().copied().max_by_key(key)
        );
        let by = |a: &(usize, i64), b: &(usize, i64)| a.1.cmp(&b.1);
        assert_eq!(
            placed.par_iter().copied().min_by(by),
            placed.iter().copied().min_by(by)
        );
        assert_eq!(
            placed.par_iter().copied().max_by(by),
            placed.iter().copied().max_by(by)
        );
    });
}

#[test]
fn searches_find_what_std_finds() {
    over_lengths(|items| {
        for wanted in [-9, 0, 5, 12, 99] {
            let hit = |n: &&i64| **n >= wanted;
            assert_eq!(items.par_iter().find_first(hit), items.iter().find(hit));
            assert_eq!(
                items.par_iter().find_last(hit),
                items.iter().rev().find(hit)
            );
            assert_eq!(
                items.par_iter().find_any(hit).is_some(),
                items.iter().any(|n| hit(&n))
            );
            assert_eq!(
                items.par_iter().any(|n| *n >= wanted),
                items.iter().any(|n| *n >= wanted)
            );
            assert_eq!(
                items.par_iter().all(|n| *n < wanted),
                items.iter().all(|n| *n < wanted)
            );
            let place = |n: &i64| *n >= wanted;
            assert_eq!(
                items.par_iter().position_first(place),
                items.iter().position(place)
            );
            assert_eq!(
                items.par_iter().position_last(place),
                items.iter().rposition(place)
            );
            assert_eq!(
                items.par_iter().position_any(place).is_some(),
                items.iter().any(place)
            );
            let odd = |n: &&i64| **n % 2 != 0 && **n > wanted;
            let filtered = items
                .par_iter()
                .filter(|n| **n % 2 != 0)
                .find_first(|n| **n > wanted);
            assert_eq!(filtered, items.iter().find(odd));
            let mapped = items.par_iter().find_map_last(|n| odd(&n).then_some(n * 2));
            assert_eq!(mapped, items.iter().rev().find(odd).map(|n| n * 2));
            let flat = items
                .par_iter()
                .flat_map(|&n| [n, n + 1])
                .find_first(|n| *n > wanted);
            assert_eq!(
                flat,
                items.iter().flat_map(|&n| [n, n + 1]).find(|n| *n > wanted)
            );
        }
    });
}

#[test]
fn collections_hold_what_std_would_put_in() {
    over_lengths(|items| {
        let pairs = || items.par_iter().map(|&n| (n, n * n));
        let expected: Vec<i64> = items.to_vec();
        assert!(
            items
                .par_iter()
                .copied()
                .collect::<LinkedList<_>>()
                .iter()
                .eq(&expected)
        );
        assert!(
            items
                .par_iter()
                .copied()
                .collect::<VecDeque<_>>()
                .iter()
                .eq(&expected)
        );
        assert!(
            items
                .par_iter()
                .copied()
                .collect::<Box<[_]>>()
                .iter()
                .eq(&expected)
        );
        assert_eq!(
            items.par_iter().copied().collect::<BTreeSet<_>>(),
            items.iter().copied().collect()
        );
        assert_eq!(
            pairs().collect::<HashMap<_, _>>(),
            items.iter().map(|&n| (n, n * n)).collect()
        );
        assert_eq!(
            pairs().collect::<BTreeMap<_, _>>(),
            items.iter().map(|&n| (n, n * n)).collect()
        );
        let (numbers, squares): (Vec<i64>, Vec<i64>) = pairs().unzip();
        assert!(numbers == *items && squares.iter().copied().eq(items.iter().map(|n| n * n)));
        let (mut numbers, mut squares) = (vec![1], vec![2]);
        pairs().unzip_into_vecs(&mut numbers, &mut squares);
        assert!(numbers == *items && squares.iter().copied().eq(items.iter().map(|n| n * n)));
        let (kept, others): (Vec<i64>, LinkedList<i64>) =
            pairs().filter(|(n, _)| n % 5 != 0).unzip();
        assert!(
            kept.iter()
                .copied()
                .eq(items.iter().copied().filter(|n| n % 5 != 0))
                && others.len() == kept.len()
        );
        let (even, odd): (Vec<i64>, Vec<i64>) = items.par_iter().partition(|n| **n % 2 == 0);
        let (e, o): (Vec<i64>, Vec<i64>) = items.iter().partition(|n| **n % 2 == 0);
        assert_eq!((even, odd), (e, o));
        let list = items
            .par_iter()
            .copied()
            .filter(|n| n % 3 == 0)
            .collect_vec_list();
        assert!(
            list.iter()
                .flatten()
                .copied()
                .eq(items.iter().copied().filter(|n| n % 3 == 0))
        );
        assert!(list.iter().all(|piece| !piece.is_empty()));
        let all: Option<Vec<i64>> = items.par_iter().map(|&n| (n < 20).then_some(n)).collect();
        assert_eq!(all, items.iter().map(|&n| (n < 20).then_some(n)).collect());
        let text: String = items
            .par_iter()
            .map(|&n| char::from(b'a' + (n + 9) as u8 % 26))
            .collect();
        assert!(
            text.bytes()
                .eq(items.iter().map(|&n| b'a' + (n + 9) as u8 % 26))
        );
        let mut extended = vec![1, 2];
        extended.par_extend(items.par_iter().filter(|n| **n > 3));
        assert!(
            extended
                .iter()
                .eq([1, 2].iter().chain(items.iter().filter(|n| **n > 3)))
        );
    });
}

#[test]
fn comparisons_agree_with_std() {
    over_lengths(|a| {
        for change in 0..a.len().min(6) {
            let mut b = a.to_vec();
            b[change] += 1;
            b.truncate(a.len() - change % 2);
            assert_eq!(a.par_iter().cmp(&b), a.iter().cmp(&b));
            assert_eq!(a.par_iter().partial_cmp(&b), a.iter().partial_cmp(&b));
            assert_eq!(a.par_iter().eq(&b), a.iter().eq(&b));
            assert_eq!(a.par_iter().lt(&b), a.iter().lt(&b));
            assert_eq!(a.par_iter().ge(&b), a.iter().ge(&b));
        }
    });
}

#[test]
fn walks_visit_every_node_in_their_order() {
    fn children(&(from, to): &(u32, u32)) -> Vec<(u32, u32)> {
        let third = (to - from) / 3;
        if third == 0 {
            return vec![];
        }
        vec![
            (from, from + third),
            (from + third, to - third),
            (to - third, to),
        ]
    }
    fn prefix(node: (u32, u32), out: &mut Vec<(u32, u32)>) {
        out.push(node);
        children(&node)
            .into_iter()
            .for_each(|child| prefix(child, out));
    }
    fn postfix(node: (u32, u32), out: &mut Vec<(u32, u32)>) {
        children(&node)
            .into_iter()
            .for_each(|child| postfix(child, out));
        out.push(node);
    }
    let (mut before, mut after) = (vec![], vec![]);
    prefix((0, 200), &mut before);
    postfix((0, 200), &mut after);
    under_all_schedules(&|| {
        assert_eq!(
            super::walk_tree_prefix((0, 200), children).collect::<Vec<_>>(),
            before
        );
        assert_eq!(
            super::walk_tree_postfix((0, 200), children).collect::<Vec<_>>(),
            after
        );
        let mut any: Vec<_> = super::walk_tree((0, 200), children).collect();
        any.sort();
        let mut all = before.clone();
        all.sort();
        assert_eq!(any, all);
    });
}

#[test]
fn a_bridge_passes_every_item_on_once() {
    under_all_schedules(&|| {
        for len in LENGTHS {
            let mut got: Vec<usize> = (0..len).par_bridge().map(|n| n * 2).collect();
            got.sort();
            assert!(got.into_iter().eq((0..len).map(|n| n * 2)));
        }
    });
}

#[test]
fn sources_of_repeats_and_nothing() {
    under_all_schedules(&|| {
        for len in LENGTHS {
            assert_eq!(
                super::repeat_n("x", len).collect::<String>(),
                "x".repeat(len)
            );
            assert_eq!(super::repeat(3).take_any(len).sum::<usize>(), 3 * len);
            assert_eq!(
                super::repeat_n(1, len).rev().skip(1).count(),
                len.saturating_sub(1)
            );
            assert_eq!((0..len).into_par_iter().take_any(5).count(), len.min(5));
            assert_eq!(
                (0..len).into_par_iter().skip_any(5).count(),
                len.saturating_sub(5)
            );
        }
        assert_eq!(
            super::empty::<u8>()
                .chain(super::once(7))
                .collect::<Vec<_>>(),
            [7]
        );
    });
}

#[test]
fn long_searches_find_what_std_finds_wherever_it_is() {
    const LEN: usize = 200_000;
    let items: Vec<usize> = (0..LEN).collect();
    let places = [
        0,
        1,
        3000,
        20_000,
        LEN / 2,
        LEN / 2 + 1,
        LEN / 2 + 7000,
        LEN - 1,
        LEN,
    ];
    let pool = crate::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .unwrap();
    pool.install(|| {
        for place in places {
            // The first run knows nothing about the cost of an item, later ones do.
            for _ in 0..3 {
                let first = items.par_iter().find_first(|&&n| n >= place);
                assert_eq!(first, items.get(place));
                let last = items
                    .par_iter()
                    .filter(|&&n| n <= place)
                    .find_last(|_| true);
                assert_eq!(last.copied(), Some(place.min(LEN - 1)));
                let any = items.par_iter().position_any(|&n| n == place);
                assert_eq!(any, (place < LEN).then_some(place));
                assert_eq!(items.par_iter().all(|&n| n < place), place >= LEN);
                let kept: Option<Vec<usize>> = items
                    .par_iter()
                    .map(|&n| (n != place).then_some(n))
                    .collect();
                assert_eq!(
                    kept.map(|kept| kept == items),
                    (place >= LEN).then_some(true)
                );
            }
        }
    });
}

#[test]
fn what_may_stop_early_sees_every_item_once_if_it_does_not() {
    const LEN: usize = 200_000;
    for _ in 0..3 {
        let seen: Vec<AtomicUsize> = (0..LEN).map(|_| AtomicUsize::new(0)).collect();
        let result = (0..LEN).into_par_iter().try_for_each(|index| {
            seen[index].fetch_add(1, Relaxed);
            Some(())
        });
        assert_eq!(result, Some(()));
        assert!(seen.iter().all(|count| count.load(Relaxed) == 1));
    }
}

#[test]
fn more_outside_threads_than_seats_search_at_once() {
    const LEN: usize = 100_000;
    let items: Vec<usize> = (0..LEN).collect();
    std::thread::scope(|scope| {
        for _ in 0..crate::current_num_threads() + 6 {
            scope.spawn(|| {
                for place in [LEN - 1, LEN / 3, LEN] {
                    for _ in 0..3 {
                        let first = items.par_iter().find_first(|&&n| n >= place);
                        assert_eq!(first, items.get(place));
                        let all = items.par_iter().try_for_each(|&n| (n != LEN).then_some(()));
                        assert_eq!(all, Some(()));
                    }
                }
            });
        }
    });
}
