//! The standard library's sorts, for comparisons that may contradict themselves.
//!
//! The standard sorts panic when they happen to notice that a comparison is not a total order. Ours must not. Whatever a comparison
//! answers, the slice ends up as some permutation of itself, and only the comparison's own panics reach the caller. So we must know where
//! a panic began. The comparison runs under a guard whose destructor runs only when the
//! comparison itself unwinds. Without that mark, the panic is the standard library's complaint. Then the elements are all there (the
//! standard library promises that much), and heapsort, which works for any answers, finishes the piece.
//!
//! If nothing panics, this costs a landing pad that is never entered. After a complaint the other pieces of the same sort use
//! heapsort directly. So the panic message, which the standard library has printed by then, does not appear once per piece.

use super::order::Order;
use std::cell::Cell;
use std::cmp::Ordering;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The standard library's stable sort.
pub(super) fn sort_stable<T, O: Order<T>>(v: &mut [T], order: &O) {
    sort::<true, T, T, O>(v, &|a, b| order.is_less(a, b), order);
}

/// The standard library's unstable sort.
pub(super) fn sort_unstable<T, O: Order<T>>(v: &mut [T], order: &O) {
    sort::<false, T, T, O>(v, &|a, b| order.is_less(a, b), order);
}

/// The standard library's unstable sort of things that stand for elements; `is_less` asks `order` about those.
pub(super) fn sort_proxies<T, P, O: Order<T>>(
    proxies: &mut [P],
    is_less: &impl Fn(&P, &P) -> bool,
    order: &O,
) {
    sort::<false, T, P, O>(proxies, is_less, order);
}

#[inline(always)]
fn sort<const STABLE: bool, T, P, O: Order<T>>(
    v: &mut [P],
    is_less: &impl Fn(&P, &P) -> bool,
    order: &O,
) {
    if order.is_broken() {
        heapsort(v, &|a, b| is_less(a, b));
        return;
    }
    let blame = Cell::new(false);
    let compare = |a: &P, b: &P| {
        let guard = OnUnwind(&blame);
        let less = is_less(a, b);
        mem::forget(guard);
        if less {
            Ordering::Less
        } else {
            Ordering::Greater
        }
    };
    // A broken invariant is not possible: `v` is a permutation of itself after any panic.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        if STABLE {
            v.sort_by(compare)
        } else {
            v.sort_unstable_by(compare)
        }
    }));
    if let Err(panic) = outcome {
        if blame.get() {
            resume_unwind(panic);
        }
        order.declare_broken();
        heapsort(v, &|a, b| is_less(a, b));
    }
}

/// Notes that the comparison it was made for is unwinding: otherwise it is forgotten.
struct OnUnwind<'a>(&'a Cell<bool>);

impl Drop for OnUnwind<'_> {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

/// Sorts by whole swaps, `O(n log n)` of them whatever `is_less` answers. Rarely used, so there is one for all orders of a type.
#[cold]
fn heapsort<T>(v: &mut [T], is_less: &dyn Fn(&T, &T) -> bool) {
    let sift_down = |v: &mut [T], mut node: usize| {
        loop {
            let mut child = 2 * node + 1;
            if child >= v.len() {
                break;
            }
            if child + 1 < v.len() && is_less(&v[child], &v[child + 1]) {
                child += 1;
            }
            if !is_less(&v[node], &v[child]) {
                break;
            }
            v.swap(node, child);
            node = child;
        }
    };
    for node in (0..v.len() / 2).rev() {
        sift_down(v, node);
    }
    for end in (1..v.len()).rev() {
        v.swap(0, end);
        sift_down(&mut v[..end], 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::{By, Watched};
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// A comparison that answers at random, so that the standard sorts complain about it.
    fn at_random() -> impl Fn(&u32, &u32) -> Ordering + Sync {
        let state = AtomicU64::new(1);
        move |_, _| {
            let x = state.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed);
            let mixed = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            match mixed >> 62 {
                0 => Ordering::Equal,
                1 => Ordering::Less,
                _ => Ordering::Greater,
            }
        }
    }

    fn is_permutation(mut v: Vec<u32>) -> bool {
        v.sort_unstable();
        let len = v.len() as u32;
        v.into_iter().eq(0..len)
    }

    #[test]
    fn complaints_of_the_standard_library_are_not_passed_on() {
        let order = By(at_random());
        let mut complaints = 0;
        for round in 0..20 {
            let watched = Watched::new(&order);
            let mut v: Vec<u32> = (0..2000).collect();
            if round % 2 == 0 {
                sort_stable(&mut v, &watched)
            } else {
                sort_unstable(&mut v, &watched)
            }
            complaints += usize::from(Order::<u32>::is_broken(&watched));
            assert!(is_permutation(v));
        }
        assert!(
            complaints > 0,
            "the standard library never complained: this tests nothing"
        );
    }

    #[test]
    fn panics_of_the_comparison_are_passed_on() {
        let order = By(|a: &u32, b: &u32| {
            assert!(*a != 77, "this is the comparison's own");
            a.cmp(b)
        });
        let mut v: Vec<u32> = (0..2000).rev().collect();
        v.swap(100, 1000);
        let panic = catch_unwind(AssertUnwindSafe(|| sort_unstable(&mut v, &order)))
            .expect_err("the panic must arrive");
        assert_eq!(
            panic.downcast_ref::<&str>(),
            Some(&"this is the comparison's own")
        );
        assert!(is_permutation(v));
    }

    #[test]
    fn the_fallback_sorts() {
        for len in [0_u32, 1, 2, 3, 10, 1000] {
            let mut v: Vec<u32> = (0..len).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
            let mut expected = v.clone();
            heapsort(&mut v, &|a, b| a < b);
            expected.sort_unstable();
            assert_eq!(v, expected);
        }
    }
}
