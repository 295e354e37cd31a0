//! Adaptors that pass items on one at a time, and the values they carry along.

use super::over_lengths;
use crate::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
