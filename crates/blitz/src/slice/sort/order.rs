//! The three ways to say how elements compare, behind one trait.
//!
//! The parallel code asks only `is_less`. Leaves are sorted by the standard library, and it is given the caller's own comparison in
//! its own form (`sort`, `sort_by`, `sort_by_key`), so that leaves run exactly the code a sequential program would.

use std::cmp::Ordering;
use std::marker::PhantomData;

/// A total order on `T`, at least if the caller's comparison is one. Nothing may rely on that for memory safety.
pub(crate) trait Order<T>: Sync {
    /// Whether `a` comes strictly before `b`.
    fn is_less(&self, a: &T, b: &T) -> bool;

    /// The standard library's stable sort.
    fn sort_stable(&self, v: &mut [T]);

    /// The standard library's unstable sort.
    fn sort_unstable(&self, v: &mut [T]);
}

/// The element type's own order.
pub(crate) struct Natural;

impl<T: Ord> Order<T> for Natural {
    #[inline(always)]
    fn is_less(&self, a: &T, b: &T) -> bool {
        a.lt(b)
    }

    fn sort_stable(&self, v: &mut [T]) {
        v.sort();
    }

    fn sort_unstable(&self, v: &mut [T]) {
        v.sort_unstable();
    }
}

/// The order of a comparison function.
pub(crate) struct By<F>(pub(crate) F);

impl<T, F> Order<T> for By<F>
where
    F: Fn(&T, &T) -> Ordering + Sync,
{
    #[inline(always)]
    fn is_less(&self, a: &T, b: &T) -> bool {
        (self.0)(a, b) == Ordering::Less
    }

    fn sort_stable(&self, v: &mut [T]) {
        v.sort_by(&self.0);
    }

    fn sort_unstable(&self, v: &mut [T]) {
        v.sort_unstable_by(&self.0);
    }
}

/// The order of keys computed from the elements, anew for every comparison.
pub(crate) struct ByKey<F, K> {
    key: F,
    // A function pointer, because keys are made and used on one thread: this type is `Sync` whatever `K` is.
    keys: PhantomData<fn() -> K>,
}

impl<F, K> ByKey<F, K> {
    pub(crate) fn new(key: F) -> Self {
        ByKey {
            key,
            keys: PhantomData,
        }
    }
}

impl<T, F, K> Order<T> for ByKey<F, K>
where
    F: Fn(&T) -> K + Sync,
    K: Ord,
{
    #[inline(always)]
    fn is_less(&self, a: &T, b: &T) -> bool {
        (self.key)(a).lt(&(self.key)(b))
    }

    fn sort_stable(&self, v: &mut [T]) {
        v.sort_by_key(&self.key);
    }

    fn sort_unstable(&self, v: &mut [T]) {
        v.sort_unstable_by_key(&self.key);
    }
}
