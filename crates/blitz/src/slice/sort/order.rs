//! The three ways to say how elements compare, behind one trait, and what a sort remembers about the answers.

use super::dispatch;
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A total order on `T`, at least if the caller's comparison is one. Nothing may rely on that for memory safety.
pub(crate) trait Order<T>: Sync {
    /// Whether `a` comes strictly before `b`.
    fn is_less(&self, a: &T, b: &T) -> bool;

    /// How `a` compares to `b`.
    fn compare(&self, a: &T, b: &T) -> Ordering;

    /// The element's key as a number that orders as it does, if the order is one of keys that are numbers. For one order either all
    /// elements have one or none.
    #[inline(always)]
    fn bits(&self, _element: &T) -> Option<u64> {
        None
    }

    /// Whether the comparison has been caught contradicting itself during this sort.
    fn is_broken(&self) -> bool {
        false
    }

    /// Says that the comparison contradicts itself.
    fn declare_broken(&self) {}
}

/// The element type's own order.
pub(crate) struct Natural;

impl<T: Ord> Order<T> for Natural {
    #[inline(always)]
    fn is_less(&self, a: &T, b: &T) -> bool {
        a.lt(b)
    }

    #[inline(always)]
    fn compare(&self, a: &T, b: &T) -> Ordering {
        a.cmp(b)
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

    #[inline(always)]
    fn compare(&self, a: &T, b: &T) -> Ordering {
        (self.0)(a, b)
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

    #[inline(always)]
    fn compare(&self, a: &T, b: &T) -> Ordering {
        (self.key)(a).cmp(&(self.key)(b))
    }

    #[inline(always)]
    fn bits(&self, element: &T) -> Option<u64> {
        dispatch::bits(&(self.key)(element))
    }
}

/// An order that remembers whether it was caught contradicting itself, for all threads of one sort.
pub(crate) struct Watched<'a, O> {
    order: &'a O,
    broken: AtomicBool,
}

impl<'a, O> Watched<'a, O> {
    pub(crate) fn new(order: &'a O) -> Self {
        Watched {
            order,
            broken: AtomicBool::new(false),
        }
    }
}

impl<T, O: Order<T>> Order<T> for Watched<'_, O> {
    #[inline(always)]
    fn is_less(&self, a: &T, b: &T) -> bool {
        self.order.is_less(a, b)
    }

    #[inline(always)]
    fn compare(&self, a: &T, b: &T) -> Ordering {
        self.order.compare(a, b)
    }

    #[inline(always)]
    fn bits(&self, element: &T) -> Option<u64> {
        self.order.bits(element)
    }

    fn is_broken(&self) -> bool {
        self.broken.load(Relaxed)
    }

    fn declare_broken(&self) {
        self.broken.store(true, Relaxed);
    }
}
