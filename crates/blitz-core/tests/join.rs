//! Joins: results, panics, depth, and that they really are parallel.
#![cfg(not(loom))]

use blitz_core::{ThreadPoolBuilder, join, join_context};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

fn sum(from: u64, to: u64) -> u64 {
    if to - from == 1 {
        return from;
    }
    let middle = from + (to - from) / 2;
    let (left, right) = join(|| sum(from, middle), || sum(middle, to));
    left + right
}

#[test]
fn a_tree_of_joins_gives_the_sequential_answer_in_pools_of_every_size() {
    for threads in [1, 2, 3, 8, 65] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        for n in [1, 2, 3, 1000, 10_000] {
            assert_eq!(
                pool.install(|| sum(0, n)),
                n * (n - 1) / 2,
                "{threads} threads"
            );
        }
    }
}

/// Waits until `flag` is set, but not for ever: nobody promises that a single join is shared.
fn saw(flag: &AtomicBool) -> bool {
    let start = Instant::now();
    while !flag.load(Ordering::Acquire) && start.elapsed().as_millis() < 20 {
        thread::yield_now();
    }
    flag.load(Ordering::Acquire)
}

#[test]
fn the_two_halves_of_a_join_run_at_the_same_time() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .caller_participates(true)
        .build()
        .unwrap();
    let together = (0..200).any(|_| {
        let (left_runs, right_runs) = (AtomicBool::new(false), AtomicBool::new(false));
        let meet = |mine: &AtomicBool, others: &AtomicBool| {
            mine.store(true, Ordering::Release);
            (saw(others), thread::current().id())
        };
        let (left, right) = pool.join(
            || meet(&left_runs, &right_runs),
            || meet(&right_runs, &left_runs),
        );
        left.0 && right.0 && left.1 != right.1
    });
    assert!(together);
}

#[test]
fn a_fork_below_a_long_leaf_can_still_be_stolen() {
    // The inner fork is private when the owner enters its leaf: only a forced exposure frees it. A thief
    // has to be awake for that, which nobody promises for a single join; but not one of many is too few.
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .caller_participates(true)
        .build()
        .unwrap();
    let stolen = (0..200).any(|_| {
        let inner_ran = AtomicBool::new(false);
        let leaf = || saw(&inner_ran);
        let inner = || join(leaf, || inner_ran.store(true, Ordering::Release)).0;
        pool.join(inner, || ()).0
    });
    assert!(stolen);
}

#[test]
fn outside_threads_take_part_and_see_an_index() {
    assert_eq!(blitz_core::current_thread_index(), None);
    let here = thread::current().id();
    let (left, _) = join(
        || (thread::current().id(), blitz_core::current_thread_index()),
        || (),
    );
    assert_eq!(left.0, here);
    assert!(left.1.unwrap() < blitz_core::current_num_threads());
    assert_eq!(blitz_core::current_thread_index(), None);
}

#[test]
fn any_number_of_outside_threads_get_their_answers_at_once() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .caller_participates(true)
        .build()
        .unwrap();
    let indices = Mutex::new(HashSet::new());
    thread::scope(|s| {
        for _ in 0..64 {
            s.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(pool.install(|| sum(0, 500)), 500 * 499 / 2);
                    // Without one if nobody took the work for long, and the thread does it beside the pool.
                    let index = pool.install(|| pool.current_thread_index());
                    indices.lock().unwrap().extend(index);
                }
            });
        }
    });
    assert!(indices.into_inner().unwrap().iter().all(|&index| index < 2));
}

#[test]
fn thread_indices_are_unique_at_any_moment() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(3)
        .caller_participates(true)
        .build()
        .unwrap();
    let taken: [AtomicBool; 3] = Default::default();
    let runs = AtomicUsize::new(0);
    let leaf = || {
        runs.fetch_add(1, Ordering::Relaxed);
        // As above.
        let Some(index) = pool.current_thread_index() else {
            return;
        };
        assert!(
            !taken[index].swap(true, Ordering::AcqRel),
            "two threads with index {index}"
        );
        thread::yield_now();
        taken[index].store(false, Ordering::Release);
    };
    thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| {
                for _ in 0..50 {
                    pool.join(|| join(leaf, leaf), || join(leaf, leaf));
                }
            });
        }
    });
    assert_eq!(runs.into_inner(), 8 * 50 * 4);
}

#[test]
fn a_panic_on_either_side_leaves_nothing_behind() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .caller_participates(true)
        .build()
        .unwrap();
    for (left, right, expected) in [
        (true, false, "left"),
        (false, true, "right"),
        (true, true, "left"),
    ] {
        for _ in 0..50 {
            let ran = AtomicUsize::new(0);
            let side = |panics: bool, name: &'static str| {
                ran.fetch_add(1, Ordering::Relaxed);
                if panics {
                    std::panic::panic_any(name);
                }
            };
            let result = catch_unwind(AssertUnwindSafe(|| {
                pool.join(|| side(left, "left"), || side(right, "right"))
            }));
            let payload = result.unwrap_err();
            assert_eq!(payload.downcast_ref::<&str>(), Some(&expected));
            assert_eq!(ran.into_inner(), 2, "both halves run");
        }
    }
    assert_eq!(pool.install(|| sum(0, 1000)), 499_500);
}

#[test]
fn closures_and_results_are_dropped_exactly_once() {
    struct Counted<'a>(&'a AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let drops = AtomicUsize::new(0);
    let make = || Counted(&drops);
    fn go<'a>(depth: u32, panics: bool, make: &(impl Fn() -> Counted<'a> + Sync)) -> Counted<'a> {
        if depth == 0 {
            assert!(!panics, "as planned");
            return make();
        }
        let (a, b) = (make(), make());
        let (left, right) = join(
            move || {
                let _a = a;
                go(depth - 1, false, make)
            },
            move || {
                let _b = b;
                go(depth - 1, panics, make)
            },
        );
        drop(left);
        right
    }
    for _ in 0..20 {
        drops.store(0, Ordering::Relaxed);
        drop(go(8, false, &make));
        let inner = (1 << 8) - 1;
        assert_eq!(drops.load(Ordering::Relaxed), 2 * inner + (1 << 8));
        drops.store(0, Ordering::Relaxed);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(go(8, true, &make)))).is_err());
        // The rightmost leaf makes no result; everything else is made and dropped.
        assert_eq!(drops.load(Ordering::Relaxed), 2 * inner + (1 << 8) - 1);
    }
}

#[test]
fn joins_nest_deeper_than_the_join_stack() {
    fn down(depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let (a, b) = join(|| down(depth - 1), || 1);
        a + b
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .stack_size(64 << 20)
        .build()
        .unwrap();
    assert_eq!(pool.install(|| down(20_000)), 20_001);
}

#[test]
fn migration_is_reported_truthfully() {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let neither = pool.install(|| join_context(|a| a.migrated(), |b| b.migrated()));
    assert_eq!(neither, (false, false));
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .caller_participates(true)
        .build()
        .unwrap();
    let moved = (0..200).any(|_| {
        let right_runs = AtomicBool::new(false);
        let (left, right) = pool.install(|| {
            join_context(
                |a| (a.migrated(), saw(&right_runs), thread::current().id()),
                |b| {
                    right_runs.store(true, Ordering::Release);
                    (b.migrated(), thread::current().id())
                },
            )
        });
        assert!(!left.0);
        assert_eq!(right.0, left.2 != right.1, "migrated means another thread");
        right.0
    });
    assert!(moved);
}

#[test]
fn named_and_tuple_forms_of_the_macros() {
    let (a, b, c, d) = blitz_core::join!(|| 1, || "two", || 3.0, || [4; 4]);
    assert_eq!((a, b, c, d), (1, "two", 3.0, [4; 4]));
    let (only,) = blitz_core::join!(|| 7);
    assert_eq!(only, 7);
    let named = blitz_core::join! { left: || vec![1], right: || String::from("r") };
    assert_eq!((named.left, named.right.as_str()), (vec![1], "r"));
    let ran = AtomicUsize::new(0);
    let count = |result: Result<u8, &'static str>| {
        ran.fetch_add(1, Ordering::Relaxed);
        result
    };
    let failed = blitz_core::try_join!(|| count(Ok(1)), || count(Err("first")), || count(Err(
        "second"
    )));
    assert_eq!(failed, Err("first"));
    assert_eq!(ran.into_inner(), 3, "all sides complete");
}

/// Halves `leaves` by joins, and calls `leaf` for each.
fn tree_of(leaves: usize, leaf: &(dyn Fn() + Sync)) {
    if leaves == 1 {
        return leaf();
    }
    let half = leaves / 2;
    join(|| tree_of(half, leaf), || tree_of(leaves - half, leaf));
}

#[test]
fn every_leaf_of_a_tree_gets_a_thread_of_its_own_if_there_are_as_many_threads() {
    for threads in [4, 8, 16] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        // More than once: threads that have searched in vain before are soon asleep again.
        for _ in 0..6 {
            let inside = AtomicUsize::new(0);
            let all_inside = AtomicBool::new(false);
            pool.install(|| {
                tree_of(threads, &|| {
                    if inside.fetch_add(1, Ordering::SeqCst) + 1 == threads {
                        all_inside.store(true, Ordering::SeqCst);
                    }
                    // Each leaf takes as long as all others together need to begin.
                    let start = Instant::now();
                    while !all_inside.load(Ordering::SeqCst) && start.elapsed().as_secs() < 20 {
                        thread::sleep(std::time::Duration::from_micros(100));
                    }
                    assert!(all_inside.load(Ordering::SeqCst), "{threads} threads");
                });
            });
        }
    }
}
