//! Collections by value, by reference, by exclusive reference and drained, against their sequential iteration.

use super::{binary_heap, btree_map, btree_set, hash_map, hash_set, linked_list, vec_deque};
use crate::ThreadPoolBuilder;
use crate::iter::plumbing::{Consumer, Folder, Reducer};
use crate::prelude::*;
use crate::slice::tests::{SIZES, check_every_split};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::ThreadId;
use std::time::Duration;

/// Checks that a parallel iterator has the items of a sequential one, in the same order.
fn check_in_order<I, E>(items: I, expected: E)
where
    I: ParallelIterator<Item: PartialEq + Debug>,
    E: IntoIterator<Item = I::Item>,
{
    let items: Vec<I::Item> = items.collect();
    assert_eq!(items, expected.into_iter().collect::<Vec<_>>());
}

/// The same in any order.
fn check_in_any_order<I, E>(items: I, expected: E)
where
    I: ParallelIterator<Item: Ord + Debug>,
    E: IntoIterator<Item = I::Item>,
{
    let mut items: Vec<I::Item> = items.collect();
    items.sort();
    let mut expected: Vec<I::Item> = expected.into_iter().collect();
    expected.sort();
    assert_eq!(items, expected);
}

#[test]
fn maps_give_every_entry_once() {
    for len in SIZES {
        let entries: Vec<(usize, u64)> = (0..len).map(|i| (i * 7919 % 50_021, 1)).collect();
        let mut tree: BTreeMap<usize, u64> = entries.iter().copied().collect();
        let mut hash: HashMap<usize, u64> = entries.iter().copied().collect();
        assert_eq!(tree.par_iter().opt_len(), Some(len));
        assert_eq!(hash.par_iter().opt_len(), Some(len));

        check_in_order(tree.par_iter().clone(), &tree);
        check_in_order(hash.par_iter().clone(), &hash);
        tree.par_iter_mut()
            .for_each(|(key, value)| *value += *key as u64);
        hash.par_iter_mut()
            .for_each(|(key, value)| *value += *key as u64);
        assert!(tree.iter().all(|(key, value)| *value == *key as u64 + 1));

        let from_tree: Vec<(usize, u64)> = tree.into_par_iter().collect();
        check_in_any_order(hash.clone().into_par_iter(), from_tree.clone());
        let capacity = hash.capacity();
        check_in_any_order(hash.par_drain(), from_tree);
        assert_eq!((hash.len(), hash.capacity()), (0, capacity));
    }
}

#[test]
fn sets_give_every_item_once() {
    for len in SIZES {
        let tree: BTreeSet<usize> = (0..len).collect();
        let mut hash: HashSet<usize> = (0..len).collect();
        check_in_order(tree.par_iter().clone(), &tree);
        check_in_order(hash.par_iter().clone(), &hash);
        check_in_order(tree.into_par_iter(), 0..len);
        check_in_any_order(hash.clone().into_par_iter(), 0..len);
        let capacity = hash.capacity();
        drop(hash.par_drain());
        assert_eq!((hash.len(), hash.capacity()), (0, capacity));
    }
}

#[test]
fn lists_keep_their_order() {
    for len in SIZES {
        let mut list: LinkedList<usize> = (0..len).collect();
        check_in_order(list.par_iter().clone(), &list);
        list.par_iter_mut().for_each(|x| *x += 1);
        let owned = list.into_par_iter();
        check_in_order(owned.clone(), 1..=len);
        assert_eq!(owned.count(), len);
    }
}

/// A deque whose items wrap around the end of its buffer.
fn wrapped(len: usize) -> VecDeque<String> {
    let mut deque = VecDeque::with_capacity(len);
    deque.extend((len / 2..len).map(|i| i.to_string()));
    (0..len / 2)
        .rev()
        .for_each(|i| deque.push_front(i.to_string()));
    deque
}

#[test]
fn deques_cut_anywhere_give_the_items_of_the_whole() {
    for len in 0..8 {
        let (mut a, mut b) = (wrapped(len), wrapped(len));
        check_every_split!(a.par_iter(), b.iter());
        check_every_split!(a.par_iter_mut(), b.iter_mut());
        check_every_split!(a.clone().into_par_iter(), b.clone().into_iter());
        for start in 0..=len {
            for end in start..=len {
                let (mut a, mut b) = (wrapped(len), wrapped(len));
                check_every_split!(
                    {
                        a = wrapped(len);
                        a.par_drain(start..end)
                    },
                    b.drain(start..end)
                );
                assert_eq!(a, b);
                let mut unused = wrapped(len);
                drop(unused.par_drain(start..end));
                assert_eq!(unused, b);
            }
        }
    }
}

#[test]
fn heaps_give_every_item_once_and_stay_heaps() {
    for len in SIZES {
        let mut heap: BinaryHeap<usize> = (0..len).collect();
        assert!(heap.par_iter().clone().eq(heap.as_slice()));
        check_in_any_order(heap.clone().into_par_iter(), 0..len);
        let capacity = heap.capacity();
        assert_eq!(heap.par_drain().len(), len);
        assert_eq!((heap.len(), heap.capacity()), (0, capacity));
        heap.extend(0..len);
        assert_eq!(heap.par_drain().max(), len.checked_sub(1));
        assert_eq!((heap.len(), heap.capacity()), (0, capacity));
        heap.extend([3, 1, 2]);
        assert_eq!(heap.into_sorted_vec(), [1, 2, 3]);
    }
}

#[test]
fn a_panic_in_the_middle_of_a_drain_drops_everything_once_and_restores_the_collection() {
    let token = Arc::new(0);
    let boom = |_| panic!("boom");
    for len in [1, 2, 3, 100, 1000] {
        let tokens = || (0..len).map(|_| token.clone());
        let mut heap: BinaryHeap<Arc<i32>> = tokens().collect();
        let mut set: HashMap<usize, Arc<i32>> = tokens().enumerate().collect();
        let mut deque: VecDeque<Arc<i32>> = tokens().collect();
        assert!(catch_unwind(AssertUnwindSafe(|| heap.par_drain().for_each(boom))).is_err());
        assert!(
            catch_unwind(AssertUnwindSafe(|| set
                .par_drain()
                .map(|(_, token)| token)
                .for_each(boom)))
            .is_err()
        );
        assert!(
            catch_unwind(AssertUnwindSafe(|| deque
                .par_drain(..len - len / 3)
                .for_each(boom)))
            .is_err()
        );
        assert_eq!((heap.len(), set.len(), deque.len()), (0, 0, len / 3));
        assert_eq!(Arc::strong_count(&token), 1 + len / 3);
    }
}

/// Keeps the first item of every piece it is cut into, and where that piece began.
struct FirstOfPiece(usize);

impl Consumer<usize> for FirstOfPiece {
    type Folder = FirstFolder;
    type Reducer = Append;
    type Result = Vec<(usize, usize)>;

    fn split_at(self, index: usize) -> (Self, Self, Append) {
        (FirstOfPiece(self.0), FirstOfPiece(self.0 + index), Append)
    }

    fn into_folder(self) -> FirstFolder {
        FirstFolder(self.0, None)
    }

    fn full(&self) -> bool {
        false
    }
}

struct FirstFolder(usize, Option<usize>);

impl Folder<usize> for FirstFolder {
    type Result = Vec<(usize, usize)>;

    fn consume(self, item: usize) -> Self {
        FirstFolder(self.0, self.1.or(Some(item)))
    }

    fn complete(self) -> Self::Result {
        self.1.map(|item| (self.0, item)).into_iter().collect()
    }

    fn full(&self) -> bool {
        self.1.is_some()
    }
}

struct Append;

impl Reducer<Vec<(usize, usize)>> for Append {
    fn reduce(
        self,
        mut left: Vec<(usize, usize)>,
        right: Vec<(usize, usize)>,
    ) -> Vec<(usize, usize)> {
        left.extend(right);
        left
    }
}

#[test]
fn a_piece_that_has_had_enough_does_not_shift_those_behind_it() {
    for len in SIZES {
        let pieces = super::walk::drive(0..len, FirstOfPiece(0), super::walk::Order::Meaningful);
        assert!(
            pieces.iter().all(|(start, item)| start == item),
            "{pieces:?}"
        );
        assert_eq!(pieces.is_empty(), len == 0);
    }
}

#[test]
fn a_search_that_finds_its_item_leaves_the_rest_alone() {
    let set: BTreeSet<usize> = (0..100_000).collect();
    let looked_at = AtomicUsize::new(0);
    let found = set.par_iter().find_first(|item| {
        looked_at.fetch_add(1, Ordering::Relaxed);
        **item >= 100
    });
    assert_eq!(found, Some(&100));
    assert!(looked_at.into_inner() < 50_000);
}

#[test]
fn dear_items_are_shared_out_among_threads() {
    let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let map: HashMap<usize, ()> = (0..1000).map(|key| (key, ())).collect();
    let threads: HashSet<ThreadId> = pool.install(|| {
        map.par_iter()
            .map(|_| {
                std::thread::sleep(Duration::from_micros(200));
                std::thread::current().id()
            })
            .collect()
    });
    assert!(threads.len() > 1);
}

#[test]
fn items_that_become_dear_late_are_still_shared_out_in_order() {
    let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let list: LinkedList<usize> = (0..5000).collect();
    let seen: Vec<(usize, Option<ThreadId>)> = pool.install(|| {
        list.par_iter()
            .map(|&item| {
                let is_dear = item >= 4000;
                if is_dear {
                    std::thread::sleep(Duration::from_micros(100));
                }
                (item, is_dear.then(|| std::thread::current().id()))
            })
            .collect()
    });
    assert!(seen.iter().map(|(item, _)| *item).eq(0..5000));
    let threads: HashSet<ThreadId> = seen.iter().filter_map(|(_, thread)| *thread).collect();
    assert!(threads.len() > 1);
}

#[test]
fn few_dear_items_run_at_the_same_time() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let meeting = Barrier::new(2);
    let list = LinkedList::from([1, 2]);
    // Returns only if two threads are in the closure at once.
    pool.install(|| {
        list.par_iter().for_each(|_| {
            meeting.wait();
        })
    });
}

/// It compiles.
#[test]
fn iterators_that_own_their_items_are_unwind_safe_if_these_are() {
    fn check<T: UnwindSafe>() {}
    /// What is unwind safe, but not behind a reference.
    type Item = Cell<u8>;
    check::<btree_map::IntoIter<Item, Item>>();
    check::<btree_set::IntoIter<Item>>();
    check::<hash_map::IntoIter<Item, Item>>();
    check::<hash_set::IntoIter<Item>>();
    check::<linked_list::IntoIter<Item>>();
    check::<binary_heap::IntoIter<Item>>();
    check::<vec_deque::IntoIter<Item>>();
}
