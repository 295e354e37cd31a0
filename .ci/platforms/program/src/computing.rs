//! Joins, scopes, tasks, iterators, sorts and algorithms, compared with plain code. Needs neither threads nor a clock; ends
//! with a panic if something is wrong.

use blitz::ops;
use blitz::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// Long enough for every sort to take its parallel ways, and for emulators to be done with it in seconds.
const LEN: usize = 20_000;

fn main() {
    // A pool of this thread alone.
    let builder = blitz::ThreadPoolBuilder::new().num_threads(1);
    let pool = builder.use_current_thread().build().unwrap();
    pool.install(everything);
    pool.spawn(|| ());
    assert!(pool.shutdown_timeout(Duration::MAX));
    println!("a pool of the caller alone is right");
    // One of several, if there can be any.
    match blitz::ThreadPoolBuilder::new().num_threads(3).build() {
        Ok(pool) => {
            pool.install(everything);
            assert_eq!(pool.broadcast(|context| context.index()), [0, 1, 2]);
            pool.spawn(|| ());
            pool.wait_idle();
        }
        Err(error) => assert!(!has_threads(), "{error}"),
    }
    // One that cannot be had leaves the default as it was.
    let global = blitz::ThreadPoolBuilder::new().num_threads(2);
    assert_eq!(global.build_global().is_ok(), has_threads());
    // Whatever the platform gives: on one without threads, the caller alone.
    everything();
    unusual();
    println!("so is what few programs do");
    as_rayon();
}

fn has_threads() -> bool {
    std::thread::Builder::new().spawn(|| ()).is_ok()
}

fn everything() {
    joins();
    scopes();
    tasks();
    println!("joins, scopes and tasks are right");
    iterators();
    println!("iterators are right");
    sorts();
    println!("sorts are right");
    algorithms();
    println!("algorithms are right");
    #[cfg(panic = "unwind")]
    panics();
}

fn joins() {
    fn fib(n: u32) -> u64 {
        if n < 2 {
            return u64::from(n);
        }
        let (a, b) = blitz::join(|| fib(n - 1), || fib(n - 2));
        a + b
    }
    assert_eq!(fib(20), 6765);
    // Deeper than the stack of forks.
    fn deep(n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        let (a, b) = blitz::join(|| deep(n - 1), || 1);
        a + b
    }
    assert_eq!(deep(300), 300);
}

fn scopes() {
    let sum = AtomicUsize::new(0);
    blitz::scope(|scope| {
        for i in 0..1000 {
            let sum = &sum;
            scope.spawn(move |inner| {
                sum.fetch_add(i, Ordering::Relaxed);
                inner.spawn(move |_| {
                    sum.fetch_add(1, Ordering::Relaxed);
                });
            });
        }
    });
    assert_eq!(sum.into_inner(), 999 * 500 + 1000);
    let order = std::sync::Mutex::new(Vec::new());
    blitz::scope_fifo(|scope| {
        for i in 0..10 {
            let order = &order;
            scope.spawn_fifo(move |_| order.lock().unwrap().push(i));
        }
    });
    let mut order = order.into_inner().unwrap();
    order.sort_unstable();
    assert!(order.into_iter().eq(0..10));
}

fn tasks() {
    let handles: Vec<_> = (0..100_u64)
        .map(|i| blitz::spawn_handle(move || i * i))
        .collect();
    for (i, handle) in (0..).zip(handles) {
        assert_eq!(handle.join().unwrap(), i * i);
    }
    let done = Arc::new(AtomicU32::new(0));
    for _ in 0..10 {
        let done = Arc::clone(&done);
        blitz::spawn(move || {
            done.fetch_add(1, Ordering::Release);
        });
    }
    while done.load(Ordering::Acquire) < 10 {
        // Without threads, nobody else runs them.
        if blitz::yield_now().is_none() {
            std::thread::yield_now();
        }
    }
}

/// Numbers without any order, all different.
fn numbers() -> impl Iterator<Item = u64> {
    (0..LEN as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
}

fn iterators() {
    let v: Vec<u64> = numbers().collect();
    let sum = |v: &[u64]| v.iter().fold(0, |a: u64, b| a.wrapping_add(*b));
    assert_eq!(
        v.par_iter().copied().reduce(|| 0, u64::wrapping_add),
        sum(&v)
    );
    let even: Vec<u64> = v.par_iter().copied().filter(|x| x % 2 == 0).collect();
    assert!(even.iter().eq(v.iter().filter(|x| *x % 2 == 0)));
    let doubled: Vec<(usize, u64)> = v.par_iter().map(|x| x ^ 1).enumerate().collect();
    assert!(doubled.into_iter().eq(v.iter().map(|x| x ^ 1).enumerate()));
    assert_eq!(v.par_iter().max(), v.iter().max());
    assert_eq!(v.par_iter().position_first(|x| *x == v[77]), Some(77));
    assert_eq!(
        v.par_windows(3).filter(|w| w[0] < w[2]).count(),
        v.windows(3).filter(|w| w[0] < w[2]).count()
    );
    assert_eq!(
        (0..LEN as u64).into_par_iter().sum::<u64>(),
        (0..LEN as u64).sum()
    );
    let text = "the quick brown fox jumps over the lazy dog — déjà vu ".repeat(500);
    assert_eq!(
        text.par_split_whitespace().count(),
        text.split_whitespace().count()
    );
    let foreign: String = text.par_chars().filter(|c| !c.is_ascii()).collect();
    assert!(foreign.chars().eq(text.chars().filter(|c| !c.is_ascii())));
    let map: HashMap<u64, u64> = v.par_iter().map(|x| (*x, x % 7)).collect();
    assert_eq!(map.len(), LEN);
    let tree: BTreeMap<u64, u64> = map.into_par_iter().collect();
    assert_eq!(
        tree.par_iter().filter(|(_, x)| **x == 3).count(),
        v.iter().filter(|x| *x % 7 == 3).count()
    );
}

fn sorts() {
    check_sorts(numbers().collect::<Vec<u64>>());
    check_sorts(numbers().map(|x| x as i64).collect::<Vec<_>>());
    check_sorts(numbers().map(|x| x as u32).collect::<Vec<_>>());
    check_sorts(numbers().map(|x| x as i32).collect::<Vec<_>>());
    check_sorts(numbers().map(|x| x as u16).collect::<Vec<_>>());
    check_sorts(numbers().map(|x| x as i8).collect::<Vec<_>>());
    check_sorts(numbers().map(|x| x as usize).collect::<Vec<_>>());
    check_sorts(
        numbers()
            .map(|x| u128::from(x) << 40 | u128::from(x))
            .collect::<Vec<_>>(),
    );
    check_sorts(numbers().map(|x| (x as u8, x)).collect::<Vec<_>>());
    check_sorts(
        numbers()
            .take(LEN / 8)
            .map(|x| (x % 5000).to_string())
            .collect::<Vec<_>>(),
    );
    let mut floats: Vec<f64> = numbers().map(|x| x as i64 as f64 / 1e3).collect();
    let mut expected = floats.clone();
    expected.sort_by(f64::total_cmp);
    floats.par_sort_unstable_by(f64::total_cmp);
    assert_eq!(floats, expected);
}

fn check_sorts<T: Ord + Clone + Send + Sync + Debug>(v: Vec<T>) {
    let mut expected = v.clone();
    expected.sort();
    let mut sorted = v.clone();
    sorted.par_sort();
    assert!(sorted == expected);
    let mut sorted = v.clone();
    sorted.par_sort_unstable();
    assert!(sorted == expected);
    let mut by_key = v;
    by_key.par_sort_by_key(|x| Reverse(x.clone()));
    expected.reverse();
    assert!(by_key == expected);
}

fn algorithms() {
    let v: Vec<u32> = numbers().map(|x| x as u32).collect();
    let mut sum = 0_u32;
    let scanned: Vec<u32> = v
        .iter()
        .map(|x| {
            sum = sum.wrapping_add(*x);
            sum
        })
        .collect();
    assert!(ops::par_scan(&v, |a, b| a.wrapping_add(*b)) == scanned);
    assert_eq!(
        ops::par_min_max(&v),
        v.iter().min().copied().zip(v.iter().max().copied())
    );
    let mut histogram = vec![0; 16];
    v.iter().for_each(|x| histogram[(x >> 28) as usize] += 1);
    assert_eq!(
        ops::par_histogram(&v, 16, |x| (x >> 28) as usize),
        histogram
    );
    let counts = ops::par_count_by(&v, |x| x % 10);
    assert_eq!(counts.values().sum::<usize>(), LEN);
    let transposed = ops::par_transpose(&v, 1000, LEN / 1000);
    assert!(ops::par_transpose(&transposed, LEN / 1000, 1000) == v);
    let keep: Vec<bool> = v.iter().map(|x| x % 3 == 0).collect();
    assert!(
        ops::par_pack(&v, &keep)
            .iter()
            .eq(v.iter().filter(|x| *x % 3 == 0))
    );
    let ones = vec![1.0_f64; 1000];
    assert_eq!(ops::par_dot(&ones, &ones), 1000.0);
}

#[cfg(panic = "unwind")]
fn panics() {
    use std::panic::{catch_unwind, resume_unwind};
    let caught = catch_unwind(|| blitz::join(|| 1, || resume_unwind(Box::new(7_u32))));
    assert_eq!(
        caught.map(|_: (i32, ())| ()).unwrap_err().downcast_ref(),
        Some(&7_u32)
    );
    let caught = catch_unwind(|| {
        (0..LEN).into_par_iter().for_each(|i| {
            if i == LEN / 2 {
                resume_unwind(Box::new(8_u32));
            }
        });
    });
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&8_u32));
}

/// In the global pool, of however many threads.
fn unusual() {
    let squares = (0..LEN).par_map(|n| n * n % 97);
    assert!(squares.eq((0..LEN).map(|n| n * n % 97)));
    if has_threads() {
        // It needs one of its own.
        let ahead = (0..LEN).into_par_iter().map(|n| n ^ 1).into_seq();
        assert!(ahead.eq((0..LEN).map(|n| n ^ 1)));
    }
    let bridged = (0..LEN).par_bridge().filter(|n| n % 2 == 0).count();
    assert_eq!(bridged, LEN / 2);
    let sum = AtomicUsize::new(0);
    blitz::in_place_scope(|scope| {
        scope.spawn(|_| _ = sum.fetch_add(1, Ordering::Relaxed));
        scope.spawn_broadcast(|_, _| _ = sum.fetch_add(1, Ordering::Relaxed));
    });
    assert_eq!(sum.into_inner(), 1 + blitz::current_num_threads());
    assert_eq!(blitz::broadcast(|_| ()).len(), blitz::current_num_threads());
    let sum = blitz::fork(|| 1, |forked| 2 + forked.join());
    assert_eq!(sum, 3);
    assert_eq!(blitz::block_in_place(|| 4), 4);
    let late = blitz::with_priority(blitz::Priority::Background, || {
        blitz::spawn_handle(|| blitz::join(|| 5, || 6))
    });
    assert_eq!(late.join().unwrap(), (5, 6));
    let token = blitz::CancelToken::new();
    assert!(token.run(|| (0..LEN).into_par_iter().count()) == Ok(LEN));
    token.cancel();
    #[cfg(panic = "unwind")]
    assert!(token.run(|| (0..LEN).into_par_iter().count()).is_err());
    let pool = blitz::ThreadPool::global();
    pool.spawn(|| ());
    pool.wait_idle();
    _ = format!("{:?} {:?}", pool, pool.stats());
}

/// The same under rayon's name.
fn as_rayon() {
    use rayon::iter::{IntoParallelIterator, ParallelIterator};
    assert_eq!(rayon::join(|| 1, || 2), (1, 2));
    assert!(rayon::current_num_threads() >= 1);
    assert_eq!(
        (0..LEN).into_par_iter().filter(|i| i % 3 == 0).count(),
        LEN.div_ceil(3)
    );
}
