//! What loops end in: reductions, comparisons and collections.

use super::over_lengths;
use crate::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, LinkedList, VecDeque};

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
fn of_equal_keys_a_tree_keeps_the_one_that_std_would() {
    /// Equal if `key` is.
    #[derive(Clone, Copy, Debug)]
    struct Keyed {
        key: i64,
        place: usize,
    }
    impl PartialEq for Keyed {
        fn eq(&self, other: &Self) -> bool {
            self.key == other.key
        }
    }
    impl Eq for Keyed {}
    impl PartialOrd for Keyed {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Keyed {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            self.key.cmp(&other.key)
        }
    }
    over_lengths(|items| {
        let keyed = |(place, n): (usize, &i64)| Keyed { key: n % 7, place };
        let set: BTreeSet<Keyed> = items.par_iter().enumerate().map(keyed).collect();
        let expected: BTreeSet<Keyed> = items.iter().enumerate().map(keyed).collect();
        let places = |set: &BTreeSet<Keyed>| set.iter().map(|k| k.place).collect::<Vec<_>>();
        assert_eq!(places(&set), places(&expected));

        let pair = |(place, n)| (keyed((place, n)), place);
        let map: BTreeMap<Keyed, usize> = items.par_iter().enumerate().map(pair).collect();
        let expected: BTreeMap<Keyed, usize> = items.iter().enumerate().map(pair).collect();
        let places = |map: &BTreeMap<Keyed, usize>| {
            let places = map.iter().map(|(k, &v)| (k.place, v));
            places.collect::<Vec<_>>()
        };
        assert_eq!(places(&map), places(&expected));
    });
}

#[test]
fn collections_hold_what_std_would_put_in() {
    over_lengths(|items| {
        let pairs = || items.par_iter().map(|&n| (n, n * n));
        macro_rules! keeps_the_order {
            ($($collection:ty)*) => {$(
                let collected: $collection = items.par_iter().copied().collect();
                assert!(collected.iter().eq(items));
            )*};
        }
        keeps_the_order!(LinkedList<i64> VecDeque<i64> Box<[i64]>);
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
