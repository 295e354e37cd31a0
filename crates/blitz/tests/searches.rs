//! Searches find what is there, however the loop is cut, and end once it is found, whatever the other pieces are busy with.

use blitz::iter::{CancelToken, Splitter};
use blitz::prelude::*;
use std::iter::repeat;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

/// More than two of the longest runs that any folder goes through without looking up.
const LEN: usize = 150_000;

/// Around everything that a piece, a block, a stretch or a stride may be long, from both ends.
fn places() -> Vec<usize> {
    let lengths = [0, 64, 1024, 4096, 1 << 16, 1 << 17];
    let near = lengths
        .iter()
        .flat_map(|len: &usize| [len.saturating_sub(1), *len, len + 1]);
    let mut places: Vec<usize> = near.flat_map(|place| [place, LEN - 1 - place]).collect();
    places.sort();
    places.dedup();
    places
}

/// Everything that can be searched, with one hit at `place`.
fn search<I>(items: impl Fn() -> I, place: usize)
where
    I: ParallelIterator<Item = usize>,
{
    let is_hit = |n: &usize| *n == place;
    assert_eq!(items().find_any(is_hit), Some(place));
    assert_eq!(items().find_first(is_hit), Some(place));
    assert_eq!(items().find_last(is_hit), Some(place));
    assert!(items().any(|n| is_hit(&n)), "{place}");
    assert!(!items().all(|n| !is_hit(&n)), "{place}");
    let failed = items().try_for_each(|n| if is_hit(&n) { Err(n) } else { Ok(()) });
    assert_eq!(failed, Err(place));
}

/// The same with stages in front, which pass on all items or some.
fn search_behind_stages<I>(items: impl Fn() -> I, place: usize)
where
    I: ParallelIterator<Item = usize>,
{
    search(&items, place);
    search(|| items().map(|n| n), place);
    let every_other = || items().filter(|n| n % 2 == place % 2);
    assert_eq!(every_other().find_any(|n| *n == place), Some(place));
}

#[test]
fn a_search_sees_every_item_however_long_the_pieces_are() {
    let one_piece = || (0..LEN).into_par_iter().with_min_len(LEN);
    for place in places().into_iter().step_by(2) {
        search_behind_stages(one_piece, place);
        assert_eq!(one_piece().position_any(|n| n == place), Some(place));
    }
}

#[test]
fn a_search_sees_every_item_whoever_decides_where_to_cut() {
    let range = || (0..LEN).into_par_iter();
    let is = |place: usize| move |n: &usize| *n == place;
    for place in places() {
        let found = [
            range().map(|n| n).find_any(is(place)),
            range()
                .with_min_len(LEN / 2 - 1)
                .map(|n| n)
                .find_any(is(place)),
            range().with_max_len(70_000).map(|n| n).find_any(is(place)),
            range().with_max_chunks(1).map(|n| n).find_any(is(place)),
            range().with_max_chunks(2).map(|n| n).find_any(is(place)),
            range()
                .by_uniform_blocks(140_000)
                .map(|n| n)
                .find_any(is(place)),
            range()
                .by_exponential_blocks()
                .map(|n| n)
                .find_any(is(place)),
            range()
                .with_splitter(Splitter::pieces(1))
                .map(|n| n)
                .find_any(is(place)),
            range()
                .with_splitter(Splitter::pieces(3))
                .filter(is(place))
                .find_any(|_| true),
            [0, 1]
                .par_iter()
                .flat_map_iter(|_| 0..LEN)
                .find_any(is(place)),
        ];
        assert_eq!(found, [Some(place); 10]);
    }
}

#[test]
fn sequences_with_one_difference_are_not_equal() {
    let numbers: Vec<usize> = (0..LEN).collect();
    for place in places().into_iter().step_by(3) {
        let mut other = numbers.clone();
        other[place] += 1;
        for min in [1, LEN / 2 - 1, LEN] {
            let left = numbers.par_iter().with_min_len(min);
            assert!(!left.clone().eq(&other), "{place}");
            assert!(left.ne(&other), "{place}");
        }
    }
}

/// Runs `test` on a pool of two threads, and gives up on it if it does not come to an end.
fn ends(test: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || {
        let pool = blitz::ThreadPoolBuilder::new().num_threads(2).build();
        pool.unwrap().install(test);
        done.send(()).unwrap();
    });
    let ended = is_done.recv_timeout(Duration::from_secs(60));
    assert!(ended.is_ok(), "the loop does not end, or has failed");
}

#[test]
fn a_hit_elsewhere_ends_a_piece_without_end_that_passes_nothing_on() {
    ends(|| {
        let numbers = || [0, 1].par_iter().flat_map_iter(|&n| repeat(n));
        assert_eq!(numbers().filter(|&n| n == 1).find_any(|_| true), Some(1));
    });
    ends(|| {
        let numbers = || [0, 1].par_iter().flat_map_iter(|&n| repeat(n));
        let ones = numbers().filter_map(|n| (n == 1).then_some(n));
        assert!(ones.any(|n| n == 1));
    });
    ends(|| {
        let hit = [0, 1].par_iter().flat_map_iter(|&n| repeat(n));
        assert_eq!(hit.flat_map_iter(|n| 0..n).find_any(|_| true), Some(0));
    });
    ends(|| {
        let numbers = || [0, 1].par_iter().flat_map_iter(|&n| repeat(n));
        let failed = numbers()
            .filter(|&n| n == 1)
            .try_for_each(|n| if n == 1 { Err(n) } else { Ok(()) });
        assert_eq!(failed, Err(1));
    });
    ends(|| {
        let numbers = || [0, 1].par_iter().flat_map_iter(|&n| repeat(n));
        assert_eq!(numbers().filter(|&n| n == 1).take_any(5).count(), 5);
    });
}

#[test]
fn a_loop_without_end_that_passes_nothing_on_can_be_cancelled() {
    ends(|| {
        let token = CancelToken::new();
        let run = [0, 1]
            .par_iter()
            .inspect(|_| token.cancel())
            .flat_map_iter(|&n| repeat(n))
            .filter(|n| *n > 1)
            .with_cancel(&token)
            .run(|numbers| numbers.count());
        assert_eq!((run.value, run.done), (0, 0));
        assert!(!run.is_completed());
    });
    ends(|| {
        let run = [0, 1]
            .par_iter()
            .flat_map_iter(|&n| repeat(n))
            .filter(|n| *n > 1)
            .with_timeout(Duration::from_millis(5))
            .run(|numbers| numbers.count());
        assert!(!run.is_completed());
    });
}

#[test]
fn a_sum_or_product_of_results_ends_a_piece_at_an_error() {
    // More numbers than can ever be seen, and one of each ten thousand is an error.
    let numbers = || (0..u64::MAX).into_par_iter();
    let checked = |n: u64| if n % 10_000 == 9_999 { Err(n) } else { Ok(1) };
    ends(move || assert_eq!(numbers().map(checked).sum::<Result<u64, _>>(), Err(9_999)));
    ends(move || {
        assert_eq!(
            numbers().map(checked).product::<Result<u64, _>>(),
            Err(9_999)
        )
    });
    ends(move || {
        let some = numbers().map(move |n| checked(n).ok());
        assert_eq!(some.sum::<Option<u64>>(), None);
    });
    ends(move || {
        let odd = numbers().filter(|n| n % 2 == 1).map(checked);
        assert_eq!(odd.sum::<Result<u64, _>>(), Err(9_999));
    });
    ends(move || {
        let twice = numbers().flat_map_iter(move |n| [Ok(1), checked(n)]);
        assert_eq!(twice.product::<Result<u64, _>>(), Err(9_999));
    });
    ends(|| {
        let pieces = [0, 1]
            .par_iter()
            .flat_map_iter(|&n| (0u64..).map(move |i| (n, i)));
        let total = pieces.map(|(n, i)| if i == 1000 { Err(n) } else { Ok(i) });
        assert_eq!(total.sum::<Result<u64, _>>(), Err(0));
    });
    ends(|| {
        let bridged = (0u64..)
            .par_bridge()
            .map(|n| if n < 1000 { Ok(1) } else { Err(()) });
        assert_eq!(bridged.sum::<Result<u64, _>>(), Err(()));
    });
}

#[test]
fn no_item_is_made_behind_the_error_that_ends_a_sum() {
    // One piece: it cannot be cut.
    let items = (0..100).into_par_iter().with_min_len(100);
    let seen = AtomicUsize::new(0);
    let total = items
        .inspect(|_| _ = seen.fetch_add(1, Relaxed))
        .map(|n| if n == 10 { Err(n) } else { Ok(n) });
    assert_eq!(total.sum::<Result<i32, _>>(), Err(10));
    assert_eq!(seen.into_inner(), 11);
}

#[test]
fn a_stop_is_noticed_within_a_piece_of_dear_items() {
    // Each of two pieces is as long as it can be. Who looks up only at its end sees all of its items.
    const PIECE: usize = 1000;
    const HIT: usize = 100;
    let dear = || std::thread::sleep(Duration::from_micros(200));
    let count = AtomicUsize::new(0);
    let items = || {
        let items = (0..2 * PIECE).into_par_iter().with_min_len(PIECE);
        items.inspect(|_| {
            dear();
            count.fetch_add(1, Relaxed);
        })
    };
    let soon = || assert!(count.swap(0, Relaxed) < PIECE, "nobody has looked up");
    let pool = blitz::ThreadPoolBuilder::new().num_threads(2).build();
    pool.unwrap().install(|| {
        assert_eq!(items().find_any(|n| *n == HIT), Some(HIT));
        soon();
        assert_eq!(items().find_first(|n| *n == HIT), Some(HIT));
        soon();
        assert!(items().filter(|n| *n == HIT).any(|_| true));
        soon();
        let failed = items().try_for_each(|n| if n == HIT { None } else { Some(()) });
        assert!(failed.is_none());
        soon();
        let token = CancelToken::new();
        let cancelled = items().inspect(|n| {
            if *n == HIT {
                token.cancel();
            }
        });
        let watched = cancelled.with_cancel(&token);
        assert!(!watched.for_each(|_| {}).is_completed());
        soon();
    });
}
