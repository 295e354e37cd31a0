//! Parallel sorting.
//!
//! | function | stable | extra memory |
//! |---|---|---|
//! | [`par_sort`], [`par_sort_by`], [`par_sort_by_key`] | yes | as much as the slice, and the standard sort's per thread |
//! | [`par_sort_unstable`], [`par_sort_unstable_by`], [`par_sort_unstable_by_key`] | no | up to a megabyte per thread |
//! | [`par_sort_radix`], and all of the above for integers | yes | as much as the slice |
//! | [`par_sort_radix_by_key`], and by integer keys | yes | as much as the slice, and the keys with positions twice |
//!
//! On Linux with 64 bits, what a sort has used besides stays mapped for the next one, if it is no more than 32 MiB; the kernel may take it back at any time ([`pages`]).
//!
//! All of them follow one plan. First they time a few comparisons ([`plan`](mod@plan)). If the whole sort takes less than a wake-up of another thread
//! is worth, and no thread is awake and looking for work, the calling thread does it at once. Otherwise they check whether the slice is, or starts with, one run ([`runs`]), and only then split.
//! Pieces are sorted by the standard library ([`leaf`], [`guarded`]), because there is no better sequential sort. Our own code is
//! what happens between the pieces: exact merging ([`merge`], [`stable`]), partitioning in place ([`partition`], [`multiway`],
//! [`unstable`]) or into other memory ([`sample`]), and sorting by bits if the order is one of plain numbers ([`dispatch`],
//! [`radix`]).
//!
//! Elements are `Send` and need not be `Sync`, so no element is ever visible to two threads at once. Comparisons may panic. The panic then
//! reaches the caller, and the slice is a permutation of what it was. Comparisons may contradict themselves. Then no panic reaches the caller, and
//! the slice is a permutation in no particular order. (The standard library may panic inside, and [`guarded`] catches that. Where panics
//! abort the process it cannot. There a contradiction may end the process, as with the standard sorts.)
//!
//! Generic code is compiled again in every program, for every type and order, so there is as little of it as possible. Forks go through [`fork`],
//! integers are sorted by five functions, and what a type cannot need is cut off by `if const`. `.ci/run` checks the size of a one-line program
//! (`examples/one_sort.rs`).

mod buckets;
mod dispatch;
mod fork;
mod guarded;
mod leaf;
pub(crate) mod merge;
mod multiway;
mod named;
mod nearly;
mod order;
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
mod pages;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64", not(miri))))]
#[path = "pages_none.rs"]
mod pages;
pub(crate) mod partition;
pub(crate) mod permute;
mod plan;
mod radix;
pub(crate) mod raw;
pub(crate) mod runs;
mod sample;
mod select;
mod stable;
mod tree;
mod unstable;

use self::dispatch::Need;
pub use self::named::{sort_asc, sort_by_cached_key, sort_by_key, sort_desc};
use self::order::{By, ByKey, Natural, Order, Watched};
use self::plan::{Plan, plan};
use self::radix::Outcome;
pub use self::radix::RadixKey;
pub(crate) use self::select::select_nth;
use std::cmp::Ordering;

/// Sorts integers in whatever way suits them, since equal ones are the same; says whether they are integers, and enough of them.
#[inline]
fn sort_integers<T: Ord + Send>(v: &mut [T]) -> bool {
    // Most types are known to be none before any of this is compiled for them.
    if const { !dispatch::may_be_integer::<T>() } {
        return false;
    }
    match dispatch::sort_by_bits(v) {
        Some(Outcome::Sorted) => {}
        Some(Outcome::Runs) => sort_stable(v, &Natural),
        Some(Outcome::Partition) => sort_unstable(v, &Natural),
        None => return false,
    }
    true
}

/// Sorts by the elements' own order, stable.
pub(crate) fn par_sort<T: Ord + Send>(v: &mut [T]) {
    if !sort_integers(v) {
        sort_stable(v, &Natural);
    }
}

/// Sorts by a comparison function, stable.
pub(crate) fn par_sort_by<T, F>(v: &mut [T], compare: F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    sort_stable(v, &By(compare));
}

/// Sorts by a key that is computed for every comparison, stable.
pub(crate) fn par_sort_by_key<T, K, F>(v: &mut [T], key: F)
where
    T: Send,
    K: Ord,
    F: Fn(&T) -> K + Sync,
{
    if !dispatch::sort_by_key_bits(v, &key, Need::Stable) {
        sort_stable(v, &ByKey::new(key));
    }
}

/// Sorts by the elements' own order; equal elements may change places.
pub(crate) fn par_sort_unstable<T: Ord + Send>(v: &mut [T]) {
    if !sort_integers(v) {
        sort_unstable(v, &Natural);
    }
}

/// Sorts by a comparison function; equal elements may change places.
pub(crate) fn par_sort_unstable_by<T, F>(v: &mut [T], compare: F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    sort_unstable(v, &By(compare));
}

/// Sorts by a key that is computed for every comparison; elements with equal keys may change places.
pub(crate) fn par_sort_unstable_by_key<T, K, F>(v: &mut [T], key: F)
where
    T: Send,
    K: Ord,
    F: Fn(&T) -> K + Sync,
{
    // Keys of wide elements are not sorted apart from them: the elements would have to follow one by one through memory.
    if leaf::is_wide::<T>() || !dispatch::sort_by_key_bits(v, &key, Need::Any) {
        sort_unstable(v, &ByKey::new(key));
    }
}

/// Sorts keys by their bits.
pub(crate) fn par_sort_radix<K: RadixKey>(v: &mut [K]) {
    // Keys that are equal are the same bits, so no sort of them is unstable.
    let order = &By(|a: &K, b: &K| radix::compare(*a, *b));
    match radix::sort(v) {
        Outcome::Sorted => {}
        Outcome::Runs => sort_stable(v, order),
        Outcome::Partition => sort_unstable(v, order),
    }
}

/// Sorts by the bits of a key that is computed once per element, stable.
pub(crate) fn par_sort_radix_by_key<T, K, F>(v: &mut [T], key: F)
where
    T: Send,
    K: RadixKey,
    F: Fn(&T) -> K + Sync,
{
    if !radix::sort_by_key(v, &key) {
        sort_stable(v, &By(|a: &T, b: &T| radix::compare(key(a), key(b))));
    }
}

/// The standard library's sort of plain numbers, compiled once.
fn sort_places(v: &mut [usize]) {
    v.sort_unstable();
}

fn sort_stable<T: Send, O: Order<T>>(v: &mut [T], order: &O) {
    sort_stable_watched(v, &Watched::new(order));
}

fn sort_stable_watched<T: Send, O: Order<T>>(v: &mut [T], order: &O) {
    let is_less = |a: &T, b: &T| order.is_less(a, b);
    match plan(v, &is_less) {
        Plan::Sequential => leaf::sort_stable(v, order),
        Plan::Parallel(grain) => {
            let middle = v.len() / 2;
            let run = runs::order_leading_run(v, &is_less, grain.look());
            if run == v.len() {
                return;
            }
            if run >= middle {
                sort_stable_watched(&mut v[run..], order);
                stable::merge_neighbours(v, run, order, grain);
            } else if runs::order_leading_run(&mut v[middle..], &is_less, grain.look())
                == v.len() - middle
            {
                sort_stable_watched(&mut v[..middle], order);
                stable::merge_neighbours(v, middle, order, grain);
            } else if !sample::sort(v, order, grain) {
                stable::merge_sort(v, order, grain);
            }
        }
    }
}

fn sort_unstable<T: Send, O: Order<T>>(v: &mut [T], order: &O) {
    let order = &Watched::new(order);
    let is_less = |a: &T, b: &T| order.is_less(a, b);
    match plan(v, &is_less) {
        Plan::Sequential => unstable::sort_at_once(v, order),
        Plan::Parallel(grain) => {
            if runs::order_leading_run(v, &is_less, grain.look()) < v.len() {
                unstable::quicksort(v, order, grain);
            }
        }
    }
}
