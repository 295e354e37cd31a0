//! Comparators that panic or contradict themselves, elements that count their drops, elements that are not `Sync`: whatever happens,
//! the slice keeps every element exactly once.

use blitz::prelude::*;
use std::cell::Cell;
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

/// A heap-allocated number that is dropped exactly once, or the count shows it.
struct Counted<'a> {
    value: Box<u32>,
    drops: &'a [AtomicU32],
    position: usize,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.drops[self.position].fetch_add(1, Relaxed);
    }
}

fn scrambled(i: usize) -> u32 {
    (i as u32).wrapping_mul(0x9e37_79b9).rotate_left(11)
}

/// As [`every_element_survives`], and `sort` does not panic.
fn no_panic_and_every_element_survives<F>(len: usize, threads: usize, sort: F)
where
    F: FnOnce(&mut Vec<Counted<'_>>) + Send,
{
    assert!(
        !every_element_survives(len, threads, sort),
        "the sort panicked"
    );
}

/// Sorts counted elements with `sort`, which may panic, then checks that all elements are there and drops them. Says whether it
/// panicked.
fn every_element_survives<F>(len: usize, threads: usize, sort: F) -> bool
where
    F: FnOnce(&mut Vec<Counted<'_>>) + Send,
{
    let drops: Vec<AtomicU32> = (0..len).map(|_| AtomicU32::new(0)).collect();
    let mut v: Vec<Counted> = (0..len)
        .map(|position| Counted {
            value: Box::new(scrambled(position)),
            drops: &drops,
            position,
        })
        .collect();
    let pool = blitz::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool of threads");
    let outcome = catch_unwind(AssertUnwindSafe(|| pool.install(|| sort(&mut v))));
    assert!(
        drops.iter().all(|count| count.load(Relaxed) == 0),
        "an element was dropped by the sort"
    );
    let mut seen = vec![false; len];
    for element in &v {
        assert_eq!(
            *element.value,
            scrambled(element.position),
            "an element was torn"
        );
        assert!(
            !std::mem::replace(&mut seen[element.position], true),
            "an element is there twice"
        );
    }
    drop(v);
    assert!(
        drops.iter().all(|count| count.load(Relaxed) == 1),
        "an element was not dropped exactly once"
    );
    outcome.is_err()
}

const LEN: usize = 60_000;

#[test]
fn a_panic_in_any_comparison_leaves_a_permutation_and_goes_on() {
    for threads in [2, 8] {
        // There are some 900000 comparisons: early, late and in between.
        for panic_at in [
            0, 1, 40, 5_000, 100_000, 300_000, 600_000, 800_000, 850_000, 900_000,
        ] {
            for which in 0..2 {
                let calls = AtomicUsize::new(0);
                let panicked = every_element_survives(LEN, threads, |v| {
                    let compare = |a: &Counted, b: &Counted| {
                        assert!(
                            calls.fetch_add(1, Relaxed) != panic_at,
                            "the comparison that panics"
                        );
                        a.value.cmp(&b.value)
                    };
                    match which {
                        0 => v.par_sort_by(compare),
                        _ => v.par_sort_unstable_by(compare),
                    }
                });
                assert_eq!(panicked, calls.into_inner() > panic_at);
            }
        }
    }
}

#[test]
fn contradictory_comparisons_neither_panic_nor_lose_anything() {
    type Compare = fn(&Counted, &Counted) -> Ordering;
    let turn = AtomicU32::new(1);
    let random = |_: &Counted, _: &Counted| {
        let turn = turn.fetch_add(1, Relaxed);
        match (turn ^ (turn >> 15)).wrapping_mul(0x9e37_79b9) >> 30 {
            0 => Ordering::Less,
            1 => Ordering::Equal,
            _ => Ordering::Greater,
        }
    };
    let not_transitive: Compare = |a, b| (*a.value % 7).cmp(&(*b.value % 5));
    for threads in [1, 2, 3, 8, 65] {
        let survives = |sort: &(dyn Fn(&mut Vec<Counted>) + Sync)| {
            no_panic_and_every_element_survives(LEN / 2, threads, sort)
        };
        for constant in [Ordering::Less, Ordering::Greater, Ordering::Equal] {
            survives(&|v| v.par_sort_by(|_, _| constant));
            survives(&|v| v.par_sort_unstable_by(|_, _| constant));
        }
        survives(&|v| v.par_sort_by(random));
        survives(&|v| v.par_sort_unstable_by(random));
        survives(&|v| v.par_sort_by(not_transitive));
        survives(&|v| v.par_sort_unstable_by(not_transitive));
    }
}

#[test]
fn a_panicking_or_fickle_key_leaves_a_permutation() {
    for panic_at in [0, 1, 1_000, 50_000, 59_999] {
        let calls = AtomicUsize::new(0);
        let key = |x: &Counted| {
            assert!(
                calls.fetch_add(1, Relaxed) != panic_at,
                "the key that panics"
            );
            *x.value
        };
        every_element_survives(LEN, 2, |v| v.par_sort_by_key(key));
        calls.store(0, Relaxed);
        every_element_survives(LEN, 2, |v| v.par_sort_by_cached_key(key));
    }
    let calls = AtomicU32::new(0);
    let fickle = |_: &Counted| calls.fetch_add(0x9e37_79b9, Relaxed);
    every_element_survives(LEN, 2, |v| v.par_sort_by_key(fickle));
    every_element_survives(LEN, 2, |v| v.par_sort_unstable_by_key(fickle));
    every_element_survives(LEN, 2, |v| v.par_sort_by_key(|x| (fickle(x), fickle(x))));
}

#[test]
fn comparisons_that_change_elements_through_a_cell_are_not_lost() {
    // Every element counts its own comparisons in a cell, and its token moves in and out of a box: a stale copy of an element would
    // show a different count or free the token twice. `Cell` is not `Sync`, so two threads must never meet at one element.
    struct Busy {
        value: u32,
        comparisons: Cell<u32>,
        token: Cell<Option<Box<u32>>>,
    }
    let touch = |x: &Busy| {
        x.comparisons.set(x.comparisons.get() + 1);
        let token = x.token.take().expect("nobody else holds the token");
        assert_eq!(*token, x.value);
        x.token.set(Some(token));
    };
    for threads in [2, 8] {
        for stable in [true, false] {
            let total = AtomicUsize::new(0);
            let mut v: Vec<Busy> = (0..LEN)
                .map(|i| Busy {
                    value: scrambled(i),
                    comparisons: Cell::new(0),
                    token: Cell::new(Some(Box::new(scrambled(i)))),
                })
                .collect();
            let compare = |a: &Busy, b: &Busy| {
                touch(a);
                touch(b);
                total.fetch_add(2, Relaxed);
                a.value.cmp(&b.value)
            };
            let pool = blitz::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool of threads");
            pool.install(|| {
                if stable {
                    v.par_sort_by(compare)
                } else {
                    v.par_sort_unstable_by(compare)
                }
            });
            assert!(v.is_sorted_by_key(|x| x.value));
            // The standard library may compare copies of an element within a leaf and forget what the copy counted, but only for
            // types it knows to be free of cells; so nothing may be missing here.
            let counted: usize = v.iter().map(|x| x.comparisons.get() as usize).sum();
            assert_eq!(counted, total.into_inner());
        }
    }
}

#[test]
fn huge_runs_of_equal_elements_survive_hostile_order() {
    type Compare = fn(&Counted, &Counted) -> Ordering;
    let by_parity: Compare = |a, b| (*a.value & 1).cmp(&(*b.value & 1));
    every_element_survives(200_000, 3, |v| v.par_sort_by(by_parity));
    every_element_survives(200_000, 3, |v| v.par_sort_unstable_by(by_parity));
}

/// A comparison that makes up its mind as late as it can (after McIlroy): elements are undecided until they meet one that is undecided too, so
/// that whatever is chosen as a pivot turns out to be among the smallest.
struct Adversary {
    /// The value of each element that has one.
    values: Vec<Option<usize>>,
    decided: usize,
    candidate: usize,
    comparisons: usize,
}

impl Adversary {
    fn compare(&mut self, a: usize, b: usize) -> Ordering {
        self.comparisons += 1;
        if self.values[a].is_none() && self.values[b].is_none() && a != b {
            let frozen = if a == self.candidate { a } else { b };
            self.values[frozen] = Some(self.decided);
            self.decided += 1;
        }
        if self.values[a].is_none() {
            self.candidate = a;
        } else if self.values[b].is_none() {
            self.candidate = b;
        }
        let value = |x: usize| self.values[x].unwrap_or(usize::MAX);
        value(a).cmp(&value(b))
    }
}

#[test]
fn no_order_makes_a_sort_quadratic() {
    const LENGTH: usize = 20_000;
    let pool = blitz::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .expect("a pool of threads");
    for stable in [false, true] {
        let adversary = std::sync::Mutex::new(Adversary {
            values: vec![None; LENGTH],
            decided: 0,
            candidate: 0,
            comparisons: 0,
        });
        let compare = |a: &usize, b: &usize| adversary.lock().unwrap().compare(*a, *b);
        let mut v: Vec<usize> = (0..LENGTH).collect();
        pool.install(|| match stable {
            true => v.par_sort_by(compare),
            false => v.par_sort_unstable_by(compare),
        });
        let adversary = adversary.into_inner().unwrap();
        let value = |x: &usize| adversary.values[*x].unwrap_or(usize::MAX);
        assert!(v.is_sorted_by_key(value));
        let most = 10 * LENGTH * LENGTH.ilog2() as usize;
        assert!(
            adversary.comparisons < most,
            "{} comparisons",
            adversary.comparisons
        );
    }
}
