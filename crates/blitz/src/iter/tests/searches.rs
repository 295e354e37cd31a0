//! Searches and other loops that may stop early.

use super::over_lengths;
use crate::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
