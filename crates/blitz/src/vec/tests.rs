//! Every item is moved out or dropped exactly once, whatever happens, and the vector is left as std would leave it.

use crate::prelude::*;
use crate::slice::tests::{SIZES, check_every_split};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};

/// Counts the drops of each of its items, and lets one of them panic when dropped.
struct Ledger {
    drops: Vec<AtomicU8>,
    bomb: Option<usize>,
}

struct Item<'a> {
    id: usize,
    ledger: &'a Ledger,
}

impl Drop for Item<'_> {
    fn drop(&mut self) {
        self.ledger.drops[self.id].fetch_add(1, Ordering::Relaxed);
        assert!(self.ledger.bomb != Some(self.id), "the bomb goes off");
    }
}

impl Ledger {
    fn new(len: usize) -> Self {
        Ledger {
            drops: (0..len).map(|_| AtomicU8::new(0)).collect(),
            bomb: None,
        }
    }

    fn items(&self) -> Vec<Item<'_>> {
        (0..self.drops.len())
            .map(|id| Item { id, ledger: self })
            .collect()
    }

    fn dropped(&self, ids: impl IntoIterator<Item = usize>) -> bool {
        ids.into_iter()
            .all(|id| self.drops[id].load(Ordering::Relaxed) == 1)
    }

    fn alive(&self, ids: impl IntoIterator<Item = usize>) -> bool {
        ids.into_iter()
            .all(|id| self.drops[id].load(Ordering::Relaxed) == 0)
    }
}

/// Ranges at the beginning, the middle and the end, empty and full.
fn ranges(len: usize) -> impl Iterator<Item = Range<usize>> {
    let marks = [0, 1, len / 3, len / 2, len.saturating_sub(1), len];
    marks
        .into_iter()
        .flat_map(move |start| marks.into_iter().map(move |end| start..end))
        .filter(move |range| range.start <= range.end && range.end <= len)
}

/// Drains `range` with `consume`, and checks that the range is gone, the rest is in place, and all is dropped once at the end.
fn check_drain(len: usize, range: Range<usize>, consume: impl Fn(crate::vec::Drain<'_, Item<'_>>)) {
    let ledger = Ledger::new(len);
    let mut items = ledger.items();
    let capacity = items.capacity();
    let _ = catch_unwind(AssertUnwindSafe(|| consume(items.par_drain(range.clone()))));

    let rest = || (0..range.start).chain(range.end..len);
    assert!(
        items.iter().map(|item| item.id).eq(rest()),
        "{len} {range:?}"
    );
    assert_eq!(items.capacity(), capacity);
    assert!(ledger.dropped(range.clone()), "{len} {range:?}");
    assert!(ledger.alive(rest()), "{len} {range:?}");
    drop(items);
    assert!(ledger.dropped(0..len), "{len} {range:?}");
}

#[test]
fn vectors_cut_anywhere_give_the_items_of_the_whole() {
    for len in 0..8 {
        let data: Vec<String> = (0..len).map(|i| i.to_string()).collect();
        check_every_split!(data.clone().into_par_iter(), data.clone().into_iter());
        for range in ranges(len) {
            let (mut a, mut b) = (data.clone(), data.clone());
            check_every_split!(
                {
                    a.clone_from(&data);
                    a.par_drain(range.clone())
                },
                b.drain(range.clone())
            );
            assert_eq!(a, b);
        }
        check_every_split!(vec![(); len].into_par_iter(), vec![(); len].into_iter());
    }
}

#[test]
fn a_drain_that_is_used_up_removes_its_range() {
    for len in SIZES {
        for range in ranges(len) {
            check_drain(len, range, |drain| drain.for_each(drop));
        }
    }
}

#[test]
fn a_drain_that_is_never_used_removes_its_range() {
    for len in SIZES {
        for range in ranges(len) {
            check_drain(len, range, |drain| drop(drain));
        }
    }
}

#[test]
fn a_drain_whose_consumer_stops_early_removes_its_range() {
    for len in SIZES {
        for range in ranges(len) {
            let stop = range.start + range.len() / 3;
            check_drain(len, range.clone(), |drain| {
                drop(drain.find_any(|item| item.id == stop))
            });
            check_drain(len, range.clone(), |drain| {
                drop(drain.find_first(|item| item.id >= stop))
            });
            check_drain(len, range, |drain| drop(drain.take(3).collect::<Vec<_>>()));
        }
    }
}

#[test]
fn a_drain_whose_consumer_panics_removes_its_range() {
    for len in SIZES {
        for range in ranges(len) {
            for victim in [
                range.start,
                range.start + range.len() / 2,
                range.end.saturating_sub(1),
            ] {
                check_drain(len, range.clone(), |drain| {
                    drain.for_each(|item| assert!(item.id != victim))
                });
                check_drain(len, range.clone(), |drain| {
                    let kept: Vec<_> = drain.inspect(|item| assert!(item.id != victim)).collect();
                    drop(kept);
                });
            }
        }
    }
}

#[test]
fn an_item_that_panics_when_dropped_takes_no_other_with_it() {
    for len in [1, 2, 3, 100, 1000] {
        for bomb in [0, len / 2, len - 1] {
            let mut ledger = Ledger::new(len);
            ledger.bomb = Some(bomb);
            let items = ledger.items();
            let result = catch_unwind(AssertUnwindSafe(|| {
                items.into_par_iter().find_first(|_| false)
            }));
            assert!(result.is_err());
            assert!(ledger.dropped(0..len));

            let mut ledger = Ledger::new(len);
            ledger.bomb = Some(bomb);
            let mut items = ledger.items();
            let result = catch_unwind(AssertUnwindSafe(|| drop(items.par_drain(..))));
            assert!(result.is_err());
            assert!(items.is_empty());
            assert!(ledger.dropped(0..len));
        }
    }
}

#[test]
fn owned_items_are_dropped_once_used_or_not() {
    for len in SIZES {
        let ledger = Ledger::new(len);
        drop(ledger.items().into_par_iter());
        assert!(ledger.dropped(0..len));

        let ledger = Ledger::new(len);
        let kept: Vec<_> = ledger
            .items()
            .into_par_iter()
            .filter(|item| item.id % 3 == 0)
            .collect();
        assert!(ledger.alive((0..len).step_by(3)));
        drop(kept);
        assert!(ledger.dropped(0..len));

        let ledger = Ledger::new(len);
        let boxed = ledger.items().into_boxed_slice();
        let half = len / 2;
        let _ = catch_unwind(AssertUnwindSafe(|| {
            boxed
                .into_par_iter()
                .for_each(|item| assert!(item.id != half))
        }));
        assert!(ledger.dropped(0..len));
    }
}

#[test]
fn a_leaked_drain_leaves_the_vector_sound() {
    let mut items = vec![String::from("a"), String::from("b"), String::from("c")];
    std::mem::forget(items.par_drain(1..2));
    assert_eq!(items, ["a", "b", "c"]);
}

#[test]
fn items_without_a_size_are_counted_all_the_same() {
    static DROPS: AtomicU8 = AtomicU8::new(0);
    struct Unit;
    impl Drop for Unit {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Ordering::Relaxed);
        }
    }
    let mut units: Vec<Unit> = (0..100).map(|_| Unit).collect();
    assert_eq!(units.par_drain(10..30).count(), 20);
    assert_eq!((units.len(), DROPS.load(Ordering::Relaxed)), (80, 20));
    assert!(units.into_par_iter().any(|_| true));
    assert_eq!(DROPS.load(Ordering::Relaxed), 100);
}
