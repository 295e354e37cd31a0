//! When is a sort worth a second thread? Ask the comparator, not only the length.
//!
//! A length alone decides badly: ten thousand integers sort in 100 us, and so do fifty elements whose comparison reads a file.
//! So the sorts time a handful of real comparisons first. The probe compares each pair twice and times only the second round,
//! because the first one pays for cache misses that the sort itself would amortise. It costs two clock readings and at most
//! [`PROBES`] · 2 comparisons, some 80 ns for integers, and for short slices a single pair, about 50 ns.
//!
//! What a thread that has to be woken costs, and whether one is awake, the engine knows ([`worth_sharing`]).
//!
//! The probe only reads; whatever the comparator does (panic, lie), no element has moved yet.

use crate::current_num_threads;
use crate::engine::{demand, may_be_stopped};
use crate::ops::stopwatch::{Stopwatch, ticks};

/// Slices shorter than this always go straight to the standard library.
const ALWAYS_SEQUENTIAL: usize = 32;

/// Slices at least this long are probed with [`PROBES`] pairs instead of one.
const LONG_ENOUGH_TO_PROBE: usize = 512;

/// Number of pairs compared to find out what a comparison costs.
const PROBES: usize = 16;

/// A piece of work given to one thread should last at least about this long.
const PIECE_NS: f64 = 25_000.0;

/// The same for a part of a pass over the elements of a short sort: a helper who is there takes it at once, and one who has to be woken should be called as soon as there is
/// anything to do.
const PASS_NS: f64 = 3_000.0;

/// No more elements than this are passed over at a time.
const LONGEST_PASS: usize = 1 << 15;

/// A piece of a sort that somebody may stop lasts about this long at most: nobody looks in the middle of it.
const STOPPED_WITHIN_NS: f64 = 1_000_000.0;

/// What sorting takes per element and level when the comparison itself is nearly free.
const fn floor_ns<T>() -> f64 {
    if size_of::<T>() > 16 { 0.9 } else { 0.65 }
}

/// Pieces per thread: enough to even out pieces of unequal cost, few enough to keep each one long.
const PIECES_PER_THREAD: usize = 4;

/// How a slice is to be sorted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Plan {
    /// By the calling thread alone, with the standard library's sort.
    Sequential,
    /// In parallel.
    Parallel(Grain),
}

/// Sizes below which the parallel sorts stop splitting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grain {
    /// Sort this many elements or fewer on one thread.
    pub(crate) leaf: usize,
    /// Merge or partition this many elements or fewer on one thread.
    pub(crate) pass: usize,
    /// How long the sort takes, in ticks, for those who consider waking somebody for it.
    pub(crate) expected: u64,
}

/// Decides for one slice by timing a few comparisons of its elements.
pub(crate) fn plan<T>(v: &[T], is_less: &impl Fn(&T, &T) -> bool) -> Plan {
    if v.len() < ALWAYS_SEQUENTIAL || size_of::<T>() == 0 {
        return Plan::Sequential;
    }
    let threads = current_num_threads();
    let longest_ns = if may_be_stopped() {
        STOPPED_WITHIN_NS
    } else if threads < 2 {
        return Plan::Sequential;
    } else {
        f64::INFINITY
    };
    let level_ns = comparison_ns(v, is_less).max(floor_ns::<T>());
    let total_ns = v.len() as f64 * v.len().ilog2() as f64 * level_ns;
    // What must be cut because it may be stopped is always worth it.
    worth_sharing(total_ns).map_or(Plan::Sequential, |expected| {
        Plan::Parallel(Grain::new(v.len(), level_ns, threads, longest_ns, expected))
    })
}

/// How many ticks to reckon with when a sort of so many nanoseconds forks; nothing if it should not. As loops decide: a sort that is too short for a wake is shared
/// with whoever is awake and looks for work, and many of them in a row are worth waking somebody after all.
fn worth_sharing(total_ns: f64) -> Option<u64> {
    if total_ns < PIECE_NS {
        return None;
    }
    let ticks = ticks(total_ns);
    if is_worth_sharing(ticks) {
        Some(ticks)
    } else {
        demand::ends_a_row(ticks).then_some(u64::MAX)
    }
}

/// Is a sort of so many ticks worth a wake, or somebody there to help?
pub(super) fn is_worth_sharing(ticks: u64) -> bool {
    demand::outlasts_a_wake(ticks) || demand::hungry()
}

/// Nanoseconds of one comparison, as the nearest pairs at the front of the slice cost them.
pub(super) fn comparison_ns<T>(v: &[T], is_less: &impl Fn(&T, &T) -> bool) -> f64 {
    let pairs = if v.len() >= LONG_ENOUGH_TO_PROBE {
        PROBES
    } else {
        1
    };
    let compare_all = || {
        for pair in v[..=pairs].windows(2) {
            std::hint::black_box(is_less(&pair[1], &pair[0]));
        }
    };
    compare_all();
    let start = Stopwatch::start();
    compare_all();
    // One clock reading is part of the interval; for cheap comparisons it dominates, so it is taken off generously.
    let elapsed = start.ns() - 40.0;
    (elapsed / pairs as f64).max(0.0)
}

impl Grain {
    /// Look whether this many elements or fewer are in order on one thread.
    pub(crate) fn look(&self) -> usize {
        (8 * self.pass).min(LONGEST_PASS)
    }

    /// For so many elements, each of which takes `level_ns` on every level.
    fn new(len: usize, level_ns: f64, threads: usize, longest_ns: f64, expected: u64) -> Grain {
        // A leaf of `x` elements takes `x * log2(x) * level_ns`; one division by the logarithm of the whole errs on the long side.
        let leaf = |ns: f64| (ns / (level_ns * len.ilog2() as f64)) as usize;
        let shortest_leaf = leaf(PIECE_NS);
        let even_leaf = len.div_ceil(threads * PIECES_PER_THREAD);
        let pass = |ns: f64| (ns / level_ns) as usize;
        Grain {
            leaf: even_leaf.min(leaf(longest_ns)).max(shortest_leaf).max(4),
            pass: even_leaf
                .clamp(pass(PASS_NS), pass(PIECE_NS))
                .clamp(4, LONGEST_PASS),
            expected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sorts_of_cheap_elements_stay_on_the_calling_thread() {
        assert_eq!(worth_sharing(5_000.0), None);
        assert!(worth_sharing(3_000_000.0).is_some());
    }

    #[test]
    fn long_slices_are_split_into_a_few_pieces_per_thread() {
        let grain = Grain::new(1 << 20, 0.65, 2, f64::INFINITY, 0);
        assert_eq!(grain.leaf, (1 << 20) / (2 * PIECES_PER_THREAD));
    }

    #[test]
    fn dear_comparisons_make_short_slices_worth_splitting() {
        let grain = Grain::new(100, 5_000.0, 2, f64::INFINITY, 0);
        assert!(grain.leaf < 50);
    }

    #[test]
    fn zero_sized_elements_are_never_worth_a_thread() {
        assert_eq!(plan(&[(); 1000], &|_, _| false), Plan::Sequential);
    }
}
