//! Scans against the plain loop.

use super::{SIZES, on_all_pools, scrambled};
use blitz::ops::*;
use blitz::{ThreadPoolBuilder, current_thread_index};
use proptest::prelude::*;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};

/// Affine maps `x -> a * x + b` under composition: associative, not commutative.
type Affine = (u64, u64);

fn compose(f: &Affine, g: &Affine) -> Affine {
    (
        f.0.wrapping_mul(g.0),
        f.1.wrapping_mul(g.0).wrapping_add(g.1),
    )
}

fn plain_scan<T: Clone>(v: &[T], op: impl Fn(&T, &T) -> T) -> Vec<T> {
    let mut sums: Vec<T> = Vec::new();
    for x in v {
        sums.push(sums.last().map_or_else(|| x.clone(), |sum| op(sum, x)));
    }
    sums
}

/// All four forms against the plain one.
fn check<T>(v: &[T], identity: T, op: impl Fn(&T, &T) -> T + Sync + Send + Copy)
where
    T: Clone + Send + Sync + PartialEq + std::fmt::Debug,
{
    let expected = plain_scan(v, op);
    assert_eq!(par_scan(v, op), expected);
    let mut in_place = v.to_vec();
    par_scan_in_place(&mut in_place, op);
    assert_eq!(in_place, expected);

    let total = expected.last().unwrap_or(&identity).clone();
    let mut before = vec![identity.clone()];
    before.extend(expected);
    before.truncate(v.len());
    let (sums, sum) = par_scan_exclusive(v, identity.clone(), op);
    assert_eq!((sums, &sum), (before.clone(), &total));
    let mut in_place = v.to_vec();
    let sum = par_scan_exclusive_in_place(&mut in_place, identity, op);
    assert_eq!((in_place, sum), (before, total));
}

#[test]
fn scans_agree_with_the_plain_loop() {
    on_all_pools(|| {
        for len in SIZES {
            let v: Vec<Affine> = scrambled(len)
                .into_iter()
                .map(|x| (x | 1, x >> 7))
                .collect();
            check(&v, (1, 0), compose);
        }
        check(&[(); 3000], (), |_, _| ());
        let words: Vec<String> = (0..200).map(|i| format!("{i} ")).collect();
        check(&words, String::new(), |a, b| format!("{a}{b}"));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn scans_of_any_length_agree_with_the_plain_loop(v in prop::collection::vec(any::<Affine>(), 0..6000)) {
        on_all_pools(|| check(&v, (1, 0), compose));
    }
}

#[test]
fn several_threads_share_a_scan_of_dear_operations() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let threads = Mutex::new(HashSet::new());
    let v: Vec<u64> = (0..400).collect();
    let slow_sum = |a: &u64, b: &u64| {
        threads.lock().unwrap().insert(current_thread_index());
        std::thread::sleep(std::time::Duration::from_micros(100));
        a + b
    };
    // The other thread may be late for one scan, not for all.
    for _ in 0..50 {
        let sums = pool.install(|| par_scan(&v, slow_sum));
        assert_eq!(sums, plain_scan(&v, |a, b| a + b));
        if threads.lock().unwrap().len() == 2 {
            return;
        }
    }
    panic!("only one thread took part");
}

#[test]
fn a_panicking_operator_leaks_nothing_and_drops_nothing_twice() {
    static ALIVE: AtomicIsize = AtomicIsize::new(0);
    struct Counted(u64);
    impl Counted {
        fn new(x: u64) -> Self {
            ALIVE.fetch_add(1, Relaxed);
            Counted(x)
        }
    }
    impl Clone for Counted {
        fn clone(&self) -> Self {
            Counted::new(self.0)
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Relaxed);
        }
    }
    on_all_pools(|| {
        let mut v: Vec<Counted> = (0..20_000).map(Counted::new).collect();
        for last in [1, 100, 5000, 19_998, 25_000] {
            let calls = AtomicUsize::new(0);
            let op = |a: &Counted, b: &Counted| {
                assert!(calls.fetch_add(1, Relaxed) != last, "the operator panics");
                Counted::new(a.0.wrapping_add(b.0))
            };
            let result = catch_unwind(AssertUnwindSafe(|| par_scan(&v, op)));
            assert!(result.is_err() || calls.load(Relaxed) <= last);
            drop(result);
            assert_eq!(ALIVE.load(Relaxed), 20_000);
            calls.store(0, Relaxed);
            let _ = catch_unwind(AssertUnwindSafe(|| par_scan_in_place(&mut v, op)));
            assert_eq!(ALIVE.load(Relaxed), 20_000);
        }
    });
}
