//! Every path of this crate that moves or places items by `unsafe` code, small enough for the address sanitizer.
//!
//! Items live on the heap, so a double drop, a read after a drop or a write out of bounds is something the sanitizer sees; and
//! each is counted, so a leak or a double drop also fails an ordinary test run. To run under the sanitizer:
//!
//! ```text
//! RUSTFLAGS=-Zsanitizer=address cargo +nightly test -p blitz-rt --test asan_surface --target x86_64-unknown-linux-gnu
//! ```

use blitz::ThreadPoolBuilder;
use blitz::iter::Either;
use blitz::prelude::*;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicIsize, Ordering};

/// How many items there are now. Each test has its own census.
#[derive(Default)]
struct Census(AtomicIsize);

/// A number on the heap, counted.
#[derive(Debug)]
struct Item<'a> {
    number: Box<usize>,
    census: &'a Census,
}

impl std::fmt::Debug for Census {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Census")
    }
}

impl Census {
    fn item(&self, number: usize) -> Item<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Item {
            number: Box::new(number),
            census: self,
        }
    }

    fn items(&self, len: usize) -> Vec<Item<'_>> {
        (0..len).map(|number| self.item(number)).collect()
    }

    #[track_caller]
    fn assert_empty(&self) {
        assert_eq!(
            self.0.load(Ordering::Relaxed),
            0,
            "items leaked or dropped twice"
        );
    }
}

impl Item<'_> {
    fn get(&self) -> usize {
        *self.number
    }
}

impl Drop for Item<'_> {
    fn drop(&mut self) {
        self.census.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Clone for Item<'_> {
    fn clone(&self) -> Self {
        self.census.item(self.get())
    }
}

impl PartialEq for Item<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Item<'_> {}

impl PartialOrd for Item<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Item<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number.cmp(&other.number)
    }
}

impl std::hash::Hash for Item<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

const SIZES: [usize; 9] = [0, 1, 2, 3, 5, 17, 64, 257, 2000];

/// Runs the body in pools of several sizes for all sizes of data, and checks that no item outlives it.
fn everywhere(body: impl Fn(&Census, usize) + Sync) {
    for threads in [1, 2, 3, 8] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        for len in SIZES {
            let census = Census::default();
            pool.install(|| body(&census, len));
            census.assert_empty();
        }
    }
    // And from a thread of no pool.
    let census = Census::default();
    body(&census, 1000);
    census.assert_empty();
}

/// Runs something that is expected to panic if there is at least one item.
fn expect_panic<R>(len: usize, body: impl FnOnce() -> R) {
    assert_eq!(catch_unwind(AssertUnwindSafe(body)).is_err(), len > 0);
}

fn numbers<'a>(items: impl IntoIterator<Item = Item<'a>>) -> Vec<usize> {
    items.into_iter().map(|item| item.get()).collect()
}

#[test]
fn items_are_collected_in_place() {
    everywhere(|census, len| {
        let items: Vec<Item> = (0..len)
            .into_par_iter()
            .map(|number| census.item(number))
            .collect();
        assert!(items.iter().map(Item::get).eq(0..len));
        // In small pieces, so that many results are joined.
        let items: Vec<Item> = items.into_par_iter().with_max_len(3).collect();
        assert!(items.iter().map(Item::get).eq(0..len));
        let items: Box<[Item]> = items.into_par_iter().rev().collect();
        assert!(items.iter().map(Item::get).eq((0..len).rev()));

        // Into vectors that hold something already, with and without room.
        let mut target = census.items(10);
        items.par_iter().cloned().collect_into_vec(&mut target);
        assert_eq!(target, *items);
        let (mut left, mut right) = (census.items(3), Vec::with_capacity(5000));
        items
            .into_par_iter()
            .map(|item| (item.clone(), item))
            .unzip_into_vecs(&mut left, &mut right);
        assert_eq!(left, right);
        assert_eq!(left.len(), len);
        left.par_extend(right);
        assert_eq!(left.len(), 2 * len);
    });
}

#[test]
fn a_panic_while_collecting_drops_what_was_collected() {
    everywhere(|census, len| {
        for victim in [0, len / 2, len.saturating_sub(1)] {
            let explode = |number| {
                assert!(number != victim);
                census.item(number)
            };
            let numbers = (0..len).into_par_iter().with_max_len(3);
            expect_panic(len, || numbers.clone().map(explode).collect::<Vec<_>>());
            expect_panic(len, || {
                numbers
                    .clone()
                    .map(explode)
                    .collect_into_vec(&mut census.items(2))
            });
            expect_panic(len, || {
                numbers
                    .clone()
                    .map(explode)
                    .filter(|_| true)
                    .collect::<Vec<_>>()
            });
            expect_panic(len, || {
                numbers.clone().map(explode).collect::<LinkedList<_>>()
            });
            let pair = |number| (census.item(number), explode(number));
            expect_panic(len, || {
                numbers
                    .clone()
                    .map(pair)
                    .unzip_into_vecs(&mut Vec::new(), &mut census.items(2));
            });
            expect_panic(len, || {
                numbers.clone().map(pair).unzip::<_, _, Vec<_>, Vec<_>>()
            });
        }
    });
}

#[test]
fn collecting_that_stops_early_drops_what_was_collected() {
    everywhere(|census, len| {
        let items = || census.items(len).into_par_iter().with_max_len(3);
        let stop = len / 2;
        let all = items().map(|item| (item.get() != stop).then_some(item));
        assert_eq!(all.collect::<Option<Vec<_>>>().is_none(), len > 0);
        let all = items().map(|item| {
            if item.get() == stop {
                Err(item)
            } else {
                Ok(item)
            }
        });
        assert_eq!(all.collect::<Result<Vec<_>, _>>().is_err(), len > 0);
        let kept: Vec<Option<Item>> = items().map(Some).collect();
        let kept: Vec<Item> = kept.into_par_iter().while_some().collect();
        assert_eq!(numbers(kept).len(), len);
        let taken: Vec<Item> = items().take_any(5).collect();
        assert_eq!(taken.len(), len.min(5));
    });
}

#[test]
fn unindexed_results_are_joined() {
    everywhere(|census, len| {
        let items = || census.items(len).into_par_iter().with_max_len(5);
        let odd: Vec<Item> = items().filter(|item| item.get() % 2 == 1).collect();
        assert_eq!(numbers(odd).len(), len / 2);
        let doubled: Vec<Item> = items().flat_map(|item| [item.clone(), item]).collect();
        assert!(numbers(doubled).into_iter().eq((0..2 * len).map(|i| i / 2)));
        let doubled: Vec<Item> = items().flat_map_iter(|item| [item.clone(), item]).collect();
        assert_eq!(doubled.len(), 2 * len);
        let (even, odd): (Vec<Item>, VecDeque<Item>) =
            items().partition(|item| item.get() % 2 == 0);
        assert_eq!((even.len(), odd.len()), (len.div_ceil(2), len / 2));
        let (low, high): (Vec<Item>, Vec<Item>) = items().partition_map(|item| {
            if item.get() < len / 2 {
                Either::Left(item)
            } else {
                Either::Right(item)
            }
        });
        assert_eq!((low.len(), high.len()), (len / 2, len - len / 2));
        assert_eq!(items().collect::<HashSet<Item>>().len(), len);
        assert_eq!(items().collect::<BTreeSet<Item>>().len(), len);
        assert_eq!(
            items()
                .map(|item| (item.get(), item))
                .collect::<HashMap<_, _>>()
                .len(),
            len
        );
        assert_eq!(
            items()
                .map(|item| (item.get(), item))
                .collect::<BTreeMap<_, _>>()
                .len(),
            len
        );
        assert_eq!(
            items().collect_vec_list().into_iter().flatten().count(),
            len
        );
        let chunks: Vec<Vec<Item>> = items().chunks(7).collect();
        assert_eq!(chunks.len(), len.div_ceil(7));
        assert_eq!(
            items().reduce_with(|a, b| a.max(b)).map(|item| item.get()),
            len.checked_sub(1)
        );
    });
}

#[test]
fn owned_items_survive_every_adaptor_that_cuts() {
    everywhere(|census, len| {
        let items = || census.items(len).into_par_iter().with_max_len(3);
        assert_eq!(items().zip(census.items(len / 2)).count(), len / 2);
        assert_eq!(items().chain(census.items(3)).rev().count(), len + 3);
        assert_eq!(
            items().skip(len / 3).take(4).count(),
            (len - len / 3).min(4)
        );
        assert_eq!(items().step_by(3).count(), len.div_ceil(3));
        assert_eq!(items().interleave(census.items(2)).count(), len + 2);
        assert_eq!(
            items().interleave_shortest(census.items(2)).count(),
            if len < 3 { 2 * len } else { 5 }
        );
        assert_eq!(
            items().intersperse(census.item(7)).count(),
            (2 * len).saturating_sub(1)
        );
        assert_eq!(
            items()
                .enumerate()
                .find_first(|(index, _)| *index == 1)
                .is_some(),
            len > 1
        );
        assert_eq!(
            items()
                .fold_chunks_with(4, census.item(0), |a, b| a.max(b))
                .count(),
            len.div_ceil(4)
        );
        assert_eq!(items().panic_fuse().count(), len);
        assert_eq!(
            items().positions(|item| item.get() % 2 == 0).count(),
            len.div_ceil(2)
        );
        assert!(items().find_last(|item| item.get() > len).is_none());
        assert_eq!(
            items().find_any(|item| item.get() == len / 2).is_some(),
            len > 0
        );
        drop(items());
    });
}

#[test]
fn vectors_are_drained_in_place() {
    everywhere(|census, len| {
        for range in [
            0..len,
            0..len / 2,
            len / 3..len,
            len / 3..len / 2,
            len..len,
            0..0,
        ] {
            let rest = len - range.len();
            let mut items = census.items(len);
            let drained: Vec<Item> = items.par_drain(range.clone()).with_max_len(3).collect();
            assert!(numbers(drained).into_iter().eq(range.clone()));
            assert_eq!(items.len(), rest);

            let mut items = census.items(len);
            drop(items.par_drain(range.clone()));
            assert_eq!(items.len(), rest);

            let mut items = census.items(len);
            let _ = items
                .par_drain(range.clone())
                .with_max_len(3)
                .find_any(|item| item.get() % 5 == 3);
            assert_eq!(items.len(), rest);

            let mut items = census.items(len);
            let drained = items.par_drain(range.clone()).with_max_len(3);
            expect_panic(range.len(), || {
                drained.for_each(|item| assert!(item.get() % 7 != range.start % 7))
            });
            assert_eq!(items.len(), rest);
            items.push(census.item(1));
        }
    });
}

#[test]
fn arrays_boxes_and_single_values_are_moved_out() {
    everywhere(|census, len| {
        let array: [Item; 50] = std::array::from_fn(|number| census.item(number));
        assert_eq!(array.clone().into_par_iter().with_max_len(3).count(), 50);
        drop(array.clone().into_par_iter());
        expect_panic(1, || {
            array
                .into_par_iter()
                .for_each(|item| assert!(item.get() != len % 50))
        });
        let boxed = census.items(len).into_boxed_slice();
        assert_eq!(
            boxed.into_par_iter().map(|item| item.get()).sum::<usize>(),
            (0..len).sum()
        );
        assert_eq!(
            Some(census.item(1))
                .into_par_iter()
                .chain([census.item(2)])
                .count(),
            2
        );
        assert_eq!(
            Ok::<_, ()>(census.item(1))
                .into_par_iter()
                .zip(Some(census.item(2)))
                .count(),
            1
        );
        assert_eq!(
            blitz::iter::once(census.item(1))
                .chain(blitz::iter::repeat_n(census.item(2), 3))
                .count(),
            4
        );
    });
}

#[test]
#[expect(
    clippy::mutable_key_type,
    reason = "the census takes no part in hashing"
)]
fn collections_are_emptied_and_refilled() {
    everywhere(|census, len| {
        let mut heap: BinaryHeap<Item> = census.items(len).into_par_iter().collect();
        let mut deque: VecDeque<Item> = census.items(len).into_par_iter().collect();
        let mut map: HashMap<usize, Item> = census
            .items(len)
            .into_par_iter()
            .map(|item| (item.get(), item))
            .collect();
        let mut set: HashSet<Item> = census.items(len).into_par_iter().collect();
        // The deque wraps around its buffer.
        let turned = len / 3;
        for _ in 0..turned {
            let front = deque.pop_front().unwrap();
            deque.push_back(front);
        }
        assert_eq!(deque.par_drain(turned..).count(), len - turned);
        assert_eq!(deque.len(), turned);
        expect_panic(turned, || deque.par_drain(..).for_each(|_| panic!("boom")));
        assert!(deque.is_empty());

        assert_eq!(
            heap.par_drain().max().map(|item| item.get()),
            len.checked_sub(1)
        );
        heap.par_extend(census.items(len));
        expect_panic(len, || heap.par_drain().for_each(|_| panic!("boom")));
        assert!(heap.is_empty());
        heap.par_extend(census.items(len));
        drop(heap.par_drain());

        assert_eq!(map.par_iter().count(), len);
        assert_eq!(map.par_drain().count(), len);
        map.par_extend(
            census
                .items(len)
                .into_par_iter()
                .map(|item| (item.get(), item)),
        );
        expect_panic(len, || map.par_drain().for_each(|_| panic!("boom")));
        assert!(set.par_drain().find_any(|item| item.get() > len).is_none());
        assert!(map.is_empty() && set.is_empty());
    });
}

#[test]
fn sorting_moves_every_element_once() {
    everywhere(|census, len| {
        let scrambled = || -> Vec<Item> {
            (0..len)
                .map(|i| census.item(i * 7919 % (len + 1)))
                .collect()
        };
        let mut expected = scrambled();
        expected.sort();

        let mut items = scrambled();
        items.par_sort();
        assert_eq!(items, expected);
        let mut items = scrambled();
        items.par_sort_unstable();
        assert_eq!(items, expected);
        let mut items = scrambled();
        items.par_sort_by_cached_key(|item| item.clone());
        assert_eq!(items, expected);

        let panics = |a: &Item, b: &Item| {
            assert!(a.get() != len / 2 && b.get() != len / 2);
            a.cmp(b)
        };
        let mut items = scrambled();
        let _ = catch_unwind(AssertUnwindSafe(|| items.par_sort_by(panics)));
        items.sort();
        assert_eq!(items, expected);
        let _ = catch_unwind(AssertUnwindSafe(|| {
            items.par_sort_unstable_by(|a, b| panics(b, a))
        }));
        items.sort();
        assert_eq!(items, expected);
        let _ = catch_unwind(AssertUnwindSafe(|| {
            items.par_sort_by_cached_key(|item| {
                assert!(item.get() != len / 2);
                item.clone()
            })
        }));
        assert_eq!(items, expected);
    });
}

#[test]
fn strings_are_cut_between_characters() {
    everywhere(|_, len| {
        let text: String = "aß€😀, \r\n".chars().cycle().take(len).collect();
        let mut drained = text.clone();
        let taken: String = drained.par_drain(..).collect();
        assert_eq!((taken.as_str(), drained.as_str()), (text.as_str(), ""));
        let lines: Vec<String> = text.par_lines().map(str::to_string).collect();
        assert!(lines.iter().eq(text.lines().collect::<Vec<_>>()));
        let words: Vec<&str> = text.par_split(['€', ' ']).collect();
        assert_eq!(words, text.split(['€', ' ']).collect::<Vec<_>>());
        let mut joined = String::new();
        joined.par_extend(text.par_chars());
        joined.par_extend(lines.par_iter().map(|line| &**line));
        assert_eq!(
            joined.len(),
            text.len() + lines.iter().map(String::len).sum::<usize>()
        );
    });
}

#[test]
fn many_threads_drain_at_once() {
    let census = Census::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for len in SIZES {
                    let mut items = census.items(len);
                    let drained: Vec<Item> = items.par_drain(len / 4..).with_max_len(2).collect();
                    assert_eq!(drained.len() + items.len(), len);
                    let sum: usize = drained.into_par_iter().map(|item| item.get()).sum();
                    assert_eq!(sum, (len / 4..len).sum());
                }
            });
        }
    });
    census.assert_empty();
}
