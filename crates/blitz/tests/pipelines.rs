//! Pipelines: order, bounds, panics, early ends, pools of any size, locks held by whoever consumes.

use blitz::prelude::*;
use blitz::{CancelToken, Inherited, Priority, ThreadPool, ThreadPoolBuilder};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// Computes for so long that an item is worth sharing.
fn spin(us: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(us) {
        std::hint::spin_loop();
    }
}

fn message(payload: &(dyn std::any::Any + Send)) -> &str {
    payload.downcast_ref::<String>().map_or_else(
        || *payload.downcast_ref::<&str>().expect("a text"),
        String::as_str,
    )
}

/// Waits until `count` threads are here at the same time; `false`: they do not come.
struct Meeting {
    here: Mutex<usize>,
    more: Condvar,
    count: usize,
}

impl Meeting {
    fn of(count: usize) -> Arc<Self> {
        Arc::new(Meeting {
            here: Mutex::new(0),
            more: Condvar::new(),
            count,
        })
    }

    fn meet(&self) -> bool {
        let mut here = self.here.lock().unwrap();
        *here += 1;
        self.more.notify_all();
        let limit = Duration::from_secs(20);
        let (_here, late) = self
            .more
            .wait_timeout_while(here, limit, |here| *here < self.count)
            .unwrap();
        !late.timed_out()
    }
}

#[test]
fn results_come_in_the_order_of_the_items_whatever_they_cost() {
    for threads in [1, 2, 3, 16] {
        for cost in [0, 1, 30] {
            let items = if cost == 30 { 300 } else { 3000 };
            let squares = pool(threads).install(|| {
                (0..items)
                    .par_map(move |n| {
                        spin(cost * (n % 3));
                        n * n
                    })
                    .collect::<Vec<_>>()
            });
            assert!(squares.into_iter().eq((0..items).map(|n| n * n)));
        }
    }
}

#[test]
fn unordered_results_are_all_there() {
    for threads in [1, 2, 16] {
        let mut all = pool(threads).install(|| {
            (0..500_u64)
                .par_map_unordered(|n| {
                    spin(20 * (n % 2));
                    n
                })
                .collect::<Vec<_>>()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..500));
    }
}

#[test]
fn items_are_computed_at_the_same_time() {
    let meeting = Meeting::of(3);
    let ours = Arc::clone(&meeting);
    let met = pool(3).install(|| {
        (0..100)
            .par_map(move |n| {
                spin(200);
                n < 90 || ours.meet()
            })
            .all(|met| met)
    });
    assert!(met);
}

#[test]
fn a_thread_outside_of_the_pool_gets_the_results_of_the_global_one() {
    let sum: u64 = (0..1000_u64)
        .par_map(|n| {
            spin(5);
            n
        })
        .sum();
    assert_eq!(sum, 499_500);
}

#[test]
fn never_more_items_are_on_their_way_than_the_look_ahead() {
    for ordered in [true, false] {
        for look_ahead in [1, 2, 3, 7, 64] {
            let pulled = std::cell::Cell::new(0);
            let source = (0..400_u64).inspect(|_| pulled.set(pulled.get() + 1));
            let f = |n: u64| spin(n % 20);
            let most = blitz::in_place_scope(|s| {
                let mapped: Box<dyn Iterator<Item = ()>> = if ordered {
                    Box::new(source.par_map_in(s, f).look_ahead(look_ahead))
                } else {
                    Box::new(source.par_map_unordered_in(s, f).look_ahead(look_ahead))
                };
                let ahead = mapped.enumerate().map(|(before, ())| pulled.get() - before);
                ahead.max()
            });
            assert!(most <= Some(look_ahead), "{most:?} of {look_ahead}");
            assert_eq!(pulled.get(), 400);
        }
    }
}

#[test]
#[should_panic(expected = "use 1 to compute one item at a time")]
fn a_look_ahead_of_zero_says_what_to_do() {
    drop((0..3).par_map(|n| n).look_ahead(0));
}

#[test]
fn a_panic_of_the_closure_comes_at_its_place_and_the_rest_after_it() {
    for threads in [1, 3] {
        for cost in [0, 20] {
            pool(threads).install(|| {
                let mut mapped = (0..300).par_map(move |n| {
                    spin(cost);
                    assert!(n % 100 != 50, "item {n}");
                    n
                });
                for n in 0..300 {
                    match catch_unwind(AssertUnwindSafe(|| mapped.next())) {
                        Ok(next) => assert_eq!(next, Some(n)),
                        Err(payload) => {
                            assert_eq!(n % 100, 50);
                            assert_eq!(message(&*payload), format!("item {n}"));
                        }
                    }
                }
                assert_eq!(mapped.next(), None);
            });
        }
    }
}

#[test]
fn a_panic_of_the_source_comes_after_the_results_before_it() {
    for cost in [0, 20] {
        pool(3).install(|| {
            let source = (0..200).inspect(|n| assert!(*n != 150, "source"));
            let mut mapped = source.par_map(move |n| {
                spin(cost);
                n
            });
            assert!(mapped.by_ref().take(150).eq(0..150));
            let payload = catch_unwind(AssertUnwindSafe(|| mapped.next())).unwrap_err();
            assert_eq!(message(&*payload), "source");
            assert!(mapped.by_ref().eq(151..200));
            assert_eq!(mapped.next(), None);
        });
    }
}

/// Counts those that are alive.
struct Counted<'a>(&'a AtomicUsize, u64);

impl<'a> Counted<'a> {
    fn new(alive: &'a AtomicUsize, n: u64) -> Self {
        alive.fetch_add(1, SeqCst);
        Counted(alive, n)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[test]
fn a_consumer_that_stops_early_leaves_nothing_behind() {
    for threads in [1, 2, 4] {
        for taken in [0, 1, 40, 100] {
            let alive = AtomicUsize::new(0);
            let inside = AtomicUsize::new(0);
            pool(threads).scope(|s| {
                let source = (0..1000).map(|n| Counted::new(&alive, n));
                let mut mapped = source.par_map_in(s, |item| {
                    inside.fetch_add(1, SeqCst);
                    spin(20);
                    inside.fetch_sub(1, SeqCst);
                    Counted::new(&alive, item.1 + 1)
                });
                for n in 0..taken {
                    assert_eq!(mapped.next().unwrap().1, n + 1);
                }
                drop(mapped);
                assert_eq!(inside.load(SeqCst), 0);
                assert_eq!(alive.load(SeqCst), 0);
            });
        }
    }
}

#[test]
fn the_closure_is_gone_when_the_pipeline_is_even_if_a_helper_never_began() {
    let two = pool(2);
    let (go, wait) = mpsc::channel::<()>();
    let (busy, is_busy) = mpsc::channel();
    let held = Arc::new(());
    let ours = Arc::clone(&held);
    two.install(move || {
        // The other thread is somewhere else all the time.
        blitz::spawn(move || {
            busy.send(()).unwrap();
            wait.recv().ok();
        });
        is_busy.recv().unwrap();
        let mut mapped = (0..100).par_map(move |n| {
            let _ours = &ours;
            spin(50);
            n
        });
        assert!(mapped.by_ref().take(20).eq(0..20));
        drop(mapped);
        assert_eq!(Arc::strong_count(&held), 1);
        drop(go);
    });
}

#[test]
fn a_pipeline_that_is_forgotten_in_a_scope_does_not_outlive_it() {
    let alive = AtomicUsize::new(0);
    pool(3).scope(|s| {
        let source = (0..100).map(|n| Counted::new(&alive, n));
        let mut mapped = source.par_map_in(s, |item| {
            spin(50);
            item
        });
        drop(mapped.by_ref().take(10).collect::<Vec<_>>());
        std::mem::forget(mapped);
    });
    // What was on its way is leaked with the pipeline, and nobody touches it.
    let left = alive.load(SeqCst);
    assert!(left <= 3 * 16);
    thread::sleep(Duration::from_millis(1));
    assert_eq!(alive.load(SeqCst), left);
}

#[test]
fn a_lock_may_be_held_across_next() {
    let four = pool(4);
    let lock = Mutex::new(0);
    four.scope(|s| {
        let mut mapped = (0..200).par_map_in(s, |n| {
            // So that there is something to help with.
            blitz::join(|| spin(20), || spin(20));
            n
        });
        let mut sum = 0;
        loop {
            let mut held = lock.lock().unwrap();
            // Everybody else wants the lock, and would wait for ever on top of this frame.
            s.spawn(|_| *lock.lock().unwrap() += 1);
            let Some(n) = mapped.next() else { break };
            sum += n;
            *held += 0;
        }
        assert_eq!(sum, 199 * 100);
    });
    assert_eq!(lock.into_inner().unwrap(), 201);
}

#[test]
fn pipelines_nest() {
    for threads in [1, 2, 5] {
        let sums: Vec<u64> = pool(threads).install(|| {
            (1..30_u64)
                .par_map(|n| {
                    (0..n * 10)
                        .par_map(|m| {
                            spin(3);
                            m
                        })
                        .par_map(|m| m + 1)
                        .sum()
                })
                .collect()
        });
        let expected = (1..30_u64).map(|n| (1..=n * 10).sum());
        assert!(sums.into_iter().eq(expected));
    }
}

#[test]
fn a_pipeline_may_go_from_pool_to_pool() {
    let (a, b) = (pool(2), pool(3));
    let mut mapped = (0..300).par_map(|n| {
        spin(20);
        (n, blitz::current_num_threads())
    });
    let first: Vec<_> = a.install(|| mapped.by_ref().take(100).collect());
    drop(a);
    let second: Vec<_> = b.install(|| mapped.by_ref().take(100).collect());
    drop(b);
    let all = first.into_iter().chain(second).chain(mapped);
    let mut pools = HashSet::new();
    let order = all.inspect(|(_, threads)| pools.extend([*threads]));
    assert!(order.map(|(n, _)| n).eq(0..300));
    assert!(pools.contains(&2) && pools.contains(&3));
}

#[test]
fn the_source_is_asked_by_the_consumer_only() {
    let me = thread::current().id();
    let local = std::rc::Rc::new(());
    let source = (0..300).inspect(move |_| {
        let _not_send = &local;
        assert_eq!(thread::current().id(), me);
    });
    let mapped = source.par_map(|n| {
        spin(20);
        n
    });
    assert!(mapped.eq(0..300));
}

#[test]
fn an_unordered_pipeline_does_not_wait_for_a_slow_item() {
    let enough = Arc::new((Mutex::new(false), Condvar::new()));
    let ours = Arc::clone(&enough);
    pool(3).install(|| {
        let consumer = thread::current().id();
        let mapped = (0..200).par_map_unordered(move |n| {
            spin(100);
            // The consumer itself cannot wait for what it is to do later.
            if n != 100 || thread::current().id() == consumer {
                return true;
            }
            let (lock, changed) = &*ours;
            let limit = Duration::from_secs(20);
            let waited = changed.wait_timeout_while(lock.lock().unwrap(), limit, |done| !*done);
            !waited.unwrap().1.timed_out()
        });
        for (before, in_time) in mapped.enumerate() {
            assert!(in_time, "{before} results came first");
            if before == 110 {
                *enough.0.lock().unwrap() = true;
                enough.1.notify_all();
            }
        }
    });
}

#[test]
fn what_is_left_is_known() {
    let mut mapped = (0..100).par_map(|n| {
        spin(20);
        n
    });
    for left in (0..100).rev() {
        mapped.next().unwrap();
        assert_eq!(mapped.len(), left);
    }
    assert_eq!((mapped.next(), mapped.len()), (None, 0));
}

type Numbers = Box<dyn Iterator<Item = usize>>;

/// Every kind of source and adaptor, as a boxed sequential iterator and as a vector.
fn everything() -> Vec<(&'static str, Numbers, Vec<usize>)> {
    macro_rules! each {
        ($($name:literal: $iter:expr;)*) => {
            vec![$((
                $name,
                Box::new($iter.into_seq().look_ahead(10)) as Numbers,
                $iter.collect::<Vec<usize>>(),
            )),*]
        };
    }
    fn numbers() -> std::ops::Range<usize> {
        0..1000
    }
    fn children(n: &usize) -> Vec<usize> {
        let below = [2 * n + 1, 2 * n + 2];
        below.into_iter().filter(|n| *n < 300).collect()
    }
    each! {
        "range": numbers().into_par_iter();
        "nothing": (0..0usize).into_par_iter();
        "one": blitz::iter::once(7usize);
        "vector": numbers().collect::<Vec<_>>().into_par_iter();
        "map": numbers().into_par_iter().map(|n| { spin(n as u64 % 5); n + 1 });
        "filter": numbers().into_par_iter().filter(|n| n % 7 == 0);
        "flat_map": numbers().into_par_iter().flat_map(|n| (0..n % 4).into_par_iter());
        "flat_map_iter": numbers().into_par_iter().flat_map_iter(|n| 0..n % 4);
        "chain": numbers().into_par_iter().chain(vec![3, 4]).chain(numbers().into_par_iter());
        "chain without length": numbers().into_par_iter().filter(|n| n % 2 == 0).chain(numbers().into_par_iter());
        "zip": numbers().into_par_iter().zip(numbers().into_par_iter().rev()).map(|(a, b)| a * b);
        "enumerate": vec![5usize; 500].into_par_iter().enumerate().map(|(at, n)| at * n);
        "intersperse": numbers().into_par_iter().intersperse(9);
        "intersperse without length": numbers().into_par_iter().filter(|n| n % 3 == 0).intersperse(9);
        "chunks": numbers().into_par_iter().chunks(7).map(|chunk| chunk.into_iter().sum::<usize>());
        "skip and take": numbers().into_par_iter().skip(100).take(333).step_by(3);
        "blocks": numbers().into_par_iter().by_uniform_blocks(50).map(|n| n + 1);
        "max_len": numbers().into_par_iter().with_max_len(3).with_min_len(2).map(|n| n + 1);
        "splitter": numbers().into_par_iter().with_max_chunks(3).map(|n| n + 1);
        "set": numbers().collect::<std::collections::BTreeSet<_>>().into_par_iter();
        "while_some": numbers().into_par_iter().map(Some).while_some();
        "option": Some(3usize).into_par_iter().chain(None);
        "once and others": blitz::iter::once(1).chain(numbers().into_par_iter()).chain(Some(2)).chain(numbers().into_par_iter());
        "list": numbers().collect::<std::collections::LinkedList<_>>().into_par_iter().map(|n| n + 1);
        "repeat": blitz::iter::repeat_n(3usize, 100);
        "split": blitz::iter::split(numbers(), |range| {
            let middle = (range.start + range.end) / 2;
            if range.end - range.start < 5 { (range, None) } else { (range.start..middle, Some(middle..range.end)) }
        }).flat_map_iter(|range| range);
        "tree": blitz::iter::walk_tree_prefix(0usize, children).map(|n| { spin(n as u64 % 5); n });
        "tree, postfix": blitz::iter::walk_tree_postfix(0usize, children);
    }
}

#[test]
fn a_parallel_iterator_of_any_kind_becomes_a_sequential_one() {
    for threads in [1, 2, 5] {
        pool(threads).install(|| {
            for (name, seq, expected) in everything() {
                assert_eq!(seq.collect::<Vec<_>>(), expected, "{name}");
            }
        });
    }
    for (name, seq, expected) in everything() {
        assert_eq!(seq.collect::<Vec<_>>(), expected, "{name}");
    }
}

#[test]
fn a_parallel_iterator_of_any_kind_may_be_left_early() {
    for threads in [1, 3] {
        pool(threads).install(|| {
            for (name, seq, mut expected) in everything() {
                expected.truncate(5);
                assert_eq!(seq.take(5).collect::<Vec<_>>(), expected, "{name}");
            }
        });
    }
}

#[test]
fn a_bridge_becomes_sequential_in_the_order_of_its_source() {
    let text = (0..500).par_bridge().map(|n: u64| {
        spin(n % 9);
        n
    });
    assert!(pool(3).install(|| text.into_seq().eq(0..500)));
}

#[test]
fn a_text_becomes_sequential() {
    let text: String = (0..2000).map(|n| format!("line {n}\n")).collect();
    let lines = text.par_lines().filter(|line| line.ends_with('7'));
    let count = lines
        .clone()
        .with_seq(|seq| seq.map(str::len).sum::<usize>());
    assert_eq!(count, lines.map(str::len).sum::<usize>());
}

#[test]
fn unordered_results_of_a_parallel_iterator_are_all_there() {
    for threads in [1, 3] {
        let mut all: Vec<u64> = pool(threads).install(|| {
            let slow = (0..1000u64).into_par_iter().map(|n| {
                spin(n % 7);
                n
            });
            slow.into_seq_unordered().collect()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1000));
    }
}

#[test]
fn never_more_results_are_there_than_the_look_ahead() {
    for threads in [1, 2, 4] {
        for look_ahead in [1, 2, 5, 100] {
            let made = AtomicUsize::new(0);
            pool(threads).install(|| {
                let slow = (0..500u64).into_par_iter().map(|n| {
                    spin(n % 30);
                    made.fetch_add(1, SeqCst);
                });
                slow.with_seq(|seq| {
                    for (before, ()) in seq.look_ahead(look_ahead).enumerate() {
                        let ahead = made.load(SeqCst) - before;
                        assert!(ahead <= look_ahead, "{ahead} of {look_ahead}");
                    }
                });
            });
            assert_eq!(made.into_inner(), 500);
        }
    }
}

#[test]
#[should_panic(expected = "use 1 to compute one result at a time")]
fn a_look_ahead_of_zero_results_says_what_to_do() {
    drop((0..3).into_par_iter().into_seq().look_ahead(0));
}

#[test]
fn a_parallel_iterator_that_is_left_early_leaves_nothing_behind() {
    for threads in [1, 2, 4] {
        for taken in [0, 1, 40] {
            let alive = AtomicUsize::new(0);
            let items: Vec<_> = (0..1000).map(|n| Counted::new(&alive, n)).collect();
            pool(threads).install(|| {
                let slow = items.into_par_iter().map(|item| {
                    spin(20);
                    Counted::new(&alive, item.1 + 1)
                });
                slow.with_seq(|seq| {
                    for n in 0..taken {
                        assert_eq!(seq.next().unwrap().1, n + 1);
                    }
                });
            });
            assert_eq!(alive.load(SeqCst), 0);
        }
    }
}

#[test]
fn a_sequential_iterator_that_is_dropped_has_let_go_of_everything() {
    let held = Arc::new(());
    let ours = Arc::clone(&held);
    let items = vec![Arc::clone(&held); 500];
    let mut seq = items
        .into_par_iter()
        .map(move |item| {
            spin(5);
            (item, Arc::clone(&ours))
        })
        .into_seq();
    for _ in 0..50 {
        seq.next().unwrap();
    }
    drop(seq);
    // The driver's stack is gone, not only told to go.
    let start = Instant::now();
    while Arc::strong_count(&held) > 1 && start.elapsed() < Duration::from_secs(10) {
        thread::yield_now();
    }
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_panic_in_a_parallel_iterator_comes_after_the_results_before_it() {
    for threads in [1, 3] {
        for cost in [0, 20] {
            pool(threads).install(|| {
                let some = (0..3000u64).into_par_iter().map(move |n| {
                    spin(cost);
                    assert!(n != 2000, "item");
                    n
                });
                let mut seq = some.into_seq().look_ahead(16);
                for n in 0..1980 {
                    assert_eq!(seq.next(), Some(n));
                }
                let rest = catch_unwind(AssertUnwindSafe(|| seq.by_ref().count()));
                assert_eq!(message(&*rest.unwrap_err()), "item");
                assert_eq!(seq.next(), None);
            });
        }
    }
}

#[test]
fn results_are_computed_while_others_are_consumed() {
    let made = Arc::new(AtomicUsize::new(0));
    let ours = Arc::clone(&made);
    pool(2).install(|| {
        let slow = (0..300u64).into_par_iter().map(move |_| {
            spin(100);
            ours.fetch_add(1, SeqCst);
        });
        let mut seq = slow.into_seq().look_ahead(40);
        for _ in 0..200 {
            seq.next().unwrap();
        }
        // This thread does nothing for it now.
        let start = Instant::now();
        while made.load(SeqCst) < 210 && start.elapsed() < Duration::from_secs(20) {
            thread::yield_now();
        }
        assert!((210..=240).contains(&made.load(SeqCst)));
        assert_eq!(seq.count(), 100);
    });
}

#[test]
fn the_pool_of_with_pool_computes_the_results() {
    for threads in [1, 3] {
        let other = pool(threads);
        let here = pool(2);
        let slow = (0..300u64).into_par_iter().with_pool(&other).map(|n| {
            spin(20);
            (n, blitz::current_num_threads())
        });
        let all: Vec<_> = here.install(|| slow.with_seq(|seq| seq.collect()));
        assert!(all.into_iter().eq((0..300).map(|n| (n, threads))));
    }
}

#[test]
fn a_fold_has_one_value_for_each_piece_and_none_for_nothing() {
    let sums = (1..=1000u64).into_par_iter().fold(|| 0, |sum, n| sum + n);
    let sums: Vec<u64> = pool(3).install(|| sums.into_seq().collect());
    assert_eq!(sums.iter().sum::<u64>(), 500_500);
    assert!(sums.iter().all(|sum| *sum > 0));
}

#[test]
fn sources_without_end_become_sequential() {
    fn halves((from, to): (f64, f64)) -> ((f64, f64), Option<(f64, f64)>) {
        let middle = (from + to) / 2.0;
        ((from, middle), Some((middle, to)))
    }
    for threads in [1, 3] {
        pool(threads).install(|| {
            let ones = blitz::iter::repeat(1).map(|n| {
                spin(5);
                n
            });
            assert_eq!(ones.into_seq().take(1000).sum::<u64>(), 1000);
            let line = blitz::iter::walk_tree_prefix(0_u64, |n| vec![n + 1]);
            assert!(line.into_seq().take(100).eq(0..100));
            let huge = (0..u128::MAX).into_par_iter();
            assert!(huge.into_seq().take(1000).eq(0..1000));
            // It can be cut as often as anybody likes.
            let ranges = blitz::iter::split((0.0, 1.0), halves);
            assert!(ranges.into_seq().take(50).is_sorted_by(|a, b| a.1 == b.0));
        });
    }
}

#[test]
fn a_consumer_that_panics_ends_its_pipeline() {
    for threads in [1, 3] {
        let alive = AtomicUsize::new(0);
        let stopped = catch_unwind(AssertUnwindSafe(|| {
            pool(threads).scope(|s| {
                let source = (0..200).map(|n| Counted::new(&alive, n));
                for item in source.par_map_in(s, |item| (spin(20), item).1) {
                    assert!(item.1 < 60, "enough");
                }
            });
        }));
        assert_eq!(message(&*stopped.unwrap_err()), "enough");
        assert_eq!(alive.load(SeqCst), 0);
    }
}

#[test]
fn many_consumers_with_one_lock_get_through() {
    let sum = Mutex::new(0);
    pool(16).scope(|s| {
        for _ in 0..6 {
            s.spawn(|_| {
                let mut mapped = (0..60_u64).par_map(|n| {
                    blitz::join(|| spin(5), || spin(5));
                    n
                });
                loop {
                    let mut held = sum.lock().unwrap();
                    let Some(n) = mapped.next() else { break };
                    *held += n;
                }
            });
            s.spawn(|_| {
                let slow = (0..60_u64).into_par_iter().map(|n| (spin(5), n).1);
                slow.with_seq(|seq| {
                    loop {
                        let mut held = sum.lock().unwrap();
                        let Some(n) = seq.next() else { break };
                        *held += n;
                    }
                });
            });
        }
    });
    assert_eq!(sum.into_inner().unwrap(), 12 * 1770);
}

/// Takes items until the pipeline is stopped by the token, which is cancelled when so many are there.
fn stopped_after(many: usize, token: &CancelToken, items: impl Iterator) -> usize {
    let mut seen = 0;
    for _ in items {
        seen += 1;
        if seen == many {
            token.cancel();
        }
        assert!(seen < many + 100_000, "nobody stops it");
    }
    unreachable!("there is no end");
}

#[test]
fn a_token_stops_pipelines_that_never_end() {
    let check = |pipeline: &(dyn Fn(&CancelToken) -> usize + Sync)| {
        for threads in [1, 2, 4] {
            let token = CancelToken::new();
            let stopped = pool(threads).install(|| token.run(|| pipeline(&token)));
            assert!(!stopped.unwrap_err().timed_out());
        }
    };
    for us in [0, 10] {
        let slow = move |n: u64| {
            spin(us);
            n
        };
        check(&|token| stopped_after(1000, token, (0..).par_map(slow)));
        check(&|token| stopped_after(1000, token, (0..).par_map_unordered(slow)));
        let endless = move || blitz::iter::repeat(1).map(slow);
        check(&|token| stopped_after(1000, token, endless().into_seq()));
        check(&|token| endless().with_seq(|seq| stopped_after(1000, token, seq)));
    }
}

#[test]
fn helpers_hear_of_a_token_that_is_not_for_detached_tasks() {
    for threads in [2, 4] {
        let token = CancelToken::new();
        let (ours, meeting) = (token.clone(), Meeting::of(2));
        let waited_in_vain = Arc::new(AtomicUsize::new(0));
        let in_vain = Arc::clone(&waited_in_vain);
        let stopped = pool(threads).install(|| {
            // As a `spawn_cpu` runs, whose token is its own.
            let work = || {
                let wait = move |n| {
                    spin(20);
                    if n >= 100 {
                        // One of them helps.
                        meeting.meet();
                        ours.cancel();
                        let start = Instant::now();
                        while !blitz::is_cancelled() {
                            if start.elapsed() > Duration::from_secs(10) {
                                in_vain.fetch_add(1, SeqCst);
                                return;
                            }
                        }
                    }
                };
                (0..200).par_map(wait).for_each(drop);
            };
            let work = AssertUnwindSafe(|| CancelToken::run_apart(&|| token.clone(), work));
            catch_unwind(work)
        });
        assert!(stopped.is_err());
        assert_eq!(waited_in_vain.load(SeqCst), 0, "not told");
    }
}

#[test]
fn a_fold_sees_what_a_loop_sees_whatever_items_cost() {
    for threads in [1, 2, 4] {
        for (tiny, dear) in [
            (0, 0),
            (1, 0),
            (100, 0),
            (100_000, 0),
            (5000, 100),
            (0, 300),
        ] {
            let (len, asked) = (2 * tiny + dear, AtomicUsize::new(0));
            let source = || {
                // Not fused: it would begin again.
                let mut next = 0;
                std::iter::from_fn(move || {
                    let item = (next < len).then_some(next);
                    next = if item.is_some() { next + 1 } else { 0 };
                    item
                })
            };
            let cost = move |n| {
                if (tiny..tiny + dear).contains(&n) {
                    spin(20);
                }
                n
            };
            pool(threads).install(|| {
                let mut seen = Vec::new();
                source().par_map(cost).for_each(|n| {
                    asked.fetch_add(1, SeqCst);
                    seen.push(n);
                });
                assert!(seen.into_iter().eq(0..len));
                let sum: usize = source().par_map_unordered(cost).sum();
                assert_eq!(sum, (0..len).sum());
                assert_eq!(source().par_map(cost).look_ahead(1).count(), len);
            });
            assert_eq!(asked.into_inner(), len);
        }
    }
}

/// Does things of its own before it has any items.
struct Prepares;

impl ParallelIterator for Prepares {
    type Item = (usize, Option<u64>, Priority);

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: blitz::iter::plumbing::UnindexedConsumer<Self::Item>,
    {
        let seen = (0..100).into_par_iter().map(|_| surroundings());
        let seen: Vec<_> = seen.collect();
        seen.into_par_iter().drive_unindexed(consumer)
    }
}

static REQUEST: Inherited<u64> = Inherited::new();

fn surroundings() -> (usize, Option<u64>, Priority) {
    (
        blitz::current_num_threads(),
        REQUEST.get(),
        blitz::current_priority(),
    )
}

#[test]
fn what_is_computed_before_the_first_result_is_computed_where_the_consumer_is() {
    let check = |seen: Vec<(usize, Option<u64>, Priority)>, len| {
        assert_eq!(seen, vec![(3, Some(7), Priority::Background); len]);
    };
    pool(3).install(|| {
        let work = || {
            check(Prepares.into_seq().collect(), 100);
            check(Prepares.with_seq(|seq| seq.collect()), 100);
            let whole = || {
                let numbers = (0..1000).into_par_iter().with_max_chunks(4);
                numbers.map(|_| surroundings())
            };
            check(whole().into_seq().collect(), 1000);
            check(whole().with_seq(|seq| seq.collect()), 1000);
        };
        blitz::with_priority(Priority::Background, || REQUEST.set(7, work));
    });
    // Nothing of it is left.
    let outside = Prepares.into_seq().next().unwrap();
    assert_eq!((outside.1, outside.2), (None, Priority::Latency));
}

#[test]
fn a_minimum_length_counts_for_the_look_ahead() {
    for threads in [1, 2, 4] {
        for (least, look_ahead) in [(50, 1), (50, 40), (50, 120), (3, 10)] {
            let made = AtomicUsize::new(0);
            pool(threads).install(|| {
                let slow = (0..2000u32).into_par_iter().with_min_len(least).map(|n| {
                    spin(u64::from(n % 10));
                    made.fetch_add(1, SeqCst);
                });
                slow.with_seq(|seq| {
                    for (before, ()) in seq.look_ahead(look_ahead).enumerate() {
                        let ahead = made.load(SeqCst) - before;
                        // The last piece may be up to twice as long as the shortest.
                        let most = look_ahead.max(2 * least);
                        assert!(ahead <= most, "{ahead} of {look_ahead}, pieces of {least}");
                    }
                });
            });
            assert_eq!(made.into_inner(), 2000);
        }
    }
}

/// Tiny items are run in rows without a question; that has to end when they are not tiny any more.
#[test]
fn items_that_become_dear_after_many_tiny_ones_are_shared() {
    let tiny = 100_000;
    for by_fold in [false, true] {
        let meeting = Meeting::of(2);
        let met = pool(2).install(|| {
            let results = (0..tiny + 1000_u64).par_map(move |n| {
                if n >= tiny {
                    spin(200);
                }
                n < tiny + 900 || meeting.meet()
            });
            if by_fold {
                return results.map(u32::from).sum::<u32>() == tiny as u32 + 1000;
            }
            let mut all = true;
            for met in results {
                all &= met;
            }
            all
        });
        assert!(met, "by fold: {by_fold}");
    }
}

/// A row of tiny items ends in the middle of itself when the source does, and the source, which is not fused, is not asked again.
#[test]
fn a_loop_over_tiny_items_ends_with_the_source() {
    for len in [0, 1, 2, 63, 64, 65, 127, 128, 129, 1000, 4097] {
        let mut next = 0;
        let mut results = std::iter::from_fn(|| {
            next += 1;
            (next != len + 1).then_some(next)
        })
        .par_map(|n| n);
        let mut seen = 0;
        for n in results.by_ref() {
            seen += 1;
            assert_eq!(n, seen);
        }
        assert_eq!((seen, results.next(), results.next()), (len, None, None));
        drop(results);
        assert_eq!(next, len + 1, "asked after its end");
    }
}

#[test]
fn pieces_that_must_be_longer_than_any_loop_are_one_piece() {
    for min in [usize::MAX / 2 + 1, usize::MAX] {
        let items: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let same = items.clone();
        let seen: Vec<String> = items.into_par_iter().with_min_len(min).into_seq().collect();
        assert_eq!(seen, same, "with_min_len({min})");
    }
}
