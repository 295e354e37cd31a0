//! When is a sort worth a second thread? Ask the comparator, not only the length.
//!
//! A length alone decides badly: ten thousand integers sort in 100 us, and so do fifty elements whose comparison reads a file.
//! So the sorts time a handful of real comparisons first. The probe compares each pair twice and times only the second round,
//! because the first one pays for cache misses that the sort itself would amortise. It costs two clock readings and at most
//! [`PROBES`] · 2 comparisons, some 80 ns for integers, and for short slices a single pair, about 50 ns.
//!
//! The probe only reads; whatever the comparator does (panic, lie), no element has moved yet.

use crate::current_num_threads;
use crate::engine::may_be_stopped;
use crate::ops::stopwatch::Stopwatch;

/// Slices shorter than this always go straight to the standard library.
const ALWAYS_SEQUENTIAL: usize = 32;

/// Slices at least this long are probed with [`PROBES`] pairs instead of one.
const LONG_ENOUGH_TO_PROBE: usize = 512;

/// Number of pairs compared to find out what a comparison costs.
const PROBES: usize = 16;

/// Sorting work below this many nanoseconds is done at once on the calling thread: waking a helper costs tens of microseconds
/// and pays back half of the work at best.
const WORTH_HELP_NS: f64 = 130_000.0;

/// A piece of work given to one thread should last at least about this long.
const PIECE_NS: f64 = 25_000.0;

/// A piece of a sort that somebody may stop lasts about this long at most: nobody looks in the middle of it.
const STOPPED_WITHIN_NS: f64 = 1_000_000.0;

/// What sorting takes per element and level when the comparison itself is nearly free.
const fn floor_ns<T>() -> f64 {
    if size_of::<T>() > 16 { 1.5 } else { 0.65 }
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
    plan_for_cost(v.len(), level_ns, threads, longest_ns)
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

/// The same decision for a known cost per element and level.
fn plan_for_cost(len: usize, level_ns: f64, threads: usize, longest_ns: f64) -> Plan {
    let total_ns = len as f64 * len.ilog2() as f64 * level_ns;
    if total_ns < WORTH_HELP_NS {
        return Plan::Sequential;
    }
    // A leaf of `x` elements takes `x * log2(x) * level_ns`; one division by the logarithm of the whole errs on the long side.
    let leaf = |ns: f64| (ns / (level_ns * len.ilog2() as f64)) as usize;
    let shortest_leaf = leaf(PIECE_NS);
    let even_leaf = len.div_ceil(threads * PIECES_PER_THREAD);
    let shortest_pass = (PIECE_NS / level_ns) as usize;
    Plan::Parallel(Grain {
        leaf: even_leaf.min(leaf(longest_ns)).max(shortest_leaf).max(4),
        pass: shortest_pass.clamp(4, 1 << 15),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_slices_of_cheap_elements_stay_on_the_calling_thread() {
        assert_eq!(
            plan_for_cost(10_000, 0.65, 2, f64::INFINITY),
            Plan::Sequential
        );
        assert_eq!(
            plan_for_cost(10_000, 0.65, 64, f64::INFINITY),
            Plan::Sequential
        );
    }

    #[test]
    fn long_slices_are_split_into_a_few_pieces_per_thread() {
        let Plan::Parallel(grain) = plan_for_cost(1 << 20, 0.65, 2, f64::INFINITY) else {
            panic!("a million elements must be split")
        };
        assert_eq!(grain.leaf, (1 << 20) / (2 * PIECES_PER_THREAD));
    }

    #[test]
    fn dear_comparisons_make_short_slices_worth_splitting() {
        let Plan::Parallel(grain) = plan_for_cost(100, 5_000.0, 2, f64::INFINITY) else {
            panic!("three milliseconds of work must be split")
        };
        assert!(grain.leaf < 50);
    }

    #[test]
    fn zero_sized_elements_are_never_worth_a_thread() {
        assert_eq!(plan(&[(); 1000], &|_, _| false), Plan::Sequential);
    }
}
