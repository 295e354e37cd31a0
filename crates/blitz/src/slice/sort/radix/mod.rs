//! Sorting by the bits of a key instead of by comparisons.
//!
//! Sorting `n` keys this way takes two or three passes over the elements, whatever `n` is, where comparisons take `log2 n`. It needs
//! memory for `n` more elements, and keys that map to bits ([`RadixKey`]). Keys of elements that are not keys themselves are
//! computed once and sorted together with the positions of their elements, which then move only once; so user code runs before
//! anything moves, and a panic in it leaves the slice as it was.

#[cfg(test)]
mod crafted;
mod element;
mod key;
mod parallel;
mod scale;
mod sequential;

pub use self::key::RadixKey;
pub(super) use self::key::compare;

pub(super) use self::element::Keyed;
use self::element::{Element, Flipped, Itself, KeyThenPosition, Places, Reading};
use self::parallel::Cut;
use self::sequential::Task;
use super::nearly;
use super::permute::rearrange;
use super::raw::Scratch;
use super::runs;
use crate::current_num_threads;
use crate::engine::{checkpoint, may_be_stopped};
use crate::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

/// Below this many elements, a comparison sort is faster than counting.
pub(super) const SHORTEST: usize = 256;

/// The same when keys are computed and elements moved afterwards.
pub(super) const SHORTEST_BY_KEY: usize = 1 << 15;

/// Slices up to this length are sorted by the calling thread alone: about 100 us.
const ALONE: usize = 16 << 10;

/// What became of keys that were to be sorted by their bits. Unless they are sorted, they may be in another order than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Sorted,
    /// They are runs, which are better merged.
    Runs,
    /// They are better partitioned: there are only a few values, or they are nearly sorted, or there is no memory for as many again.
    Partition,
}

/// Sorts keys by their bits, if that is best.
pub(super) fn sort<K: RadixKey>(v: &mut [K]) -> Outcome {
    sort_if_suited(v, Itself)
}

/// The same for all integers of one width, given the bits to flip to make them integers without a sign. Those of 32 and 64 bits are compiled with this crate, so that nobody
/// has to compile them again; the others are sorted so seldom that whoever does gets a copy, and everybody else gets this crate sooner.
#[inline]
pub(super) fn sort_8(v: &mut [u8], flip: u8) -> Outcome {
    sort_if_suited(v, Flipped(flip))
}

#[inline]
pub(super) fn sort_16(v: &mut [u16], flip: u16) -> Outcome {
    sort_if_suited(v, Flipped(flip))
}

pub(super) fn sort_32(v: &mut [u32], flip: u32) -> Outcome {
    sort_if_suited(v, Flipped(flip))
}

pub(super) fn sort_64(v: &mut [u64], flip: u64) -> Outcome {
    sort_if_suited(v, Flipped(flip))
}

#[inline]
pub(super) fn sort_128(v: &mut [u128], flip: u128) -> Outcome {
    sort_if_suited(v, Flipped(flip))
}

/// Sorts keys with positions, by both.
pub(super) fn sort_keyed(v: &mut [Keyed<u64>]) {
    if !sort_elements(v, KeyThenPosition) {
        sequential::compare_all(v, KeyThenPosition);
    }
}

fn sort_if_suited<E: Element, R: Reading<E>>(v: &mut [E], reading: R) -> Outcome {
    if v.len() >= SHORTEST {
        let is_less = less_by(reading);
        let run = runs::order_leading_run(v, &is_less, ALONE);
        if run == v.len() {
            return Outcome::Sorted;
        }
        if run >= v.len() / 2 || runs::is_mostly_runs(v, &is_less) {
            return Outcome::Runs;
        }
        // A quicksort is done with a few values in a few passes, and the nearly sorted needs hardly any.
        let may_be_repaired = v.len() > ALONE && current_num_threads() > 1;
        if looks_repetitive(v, reading)
            || may_be_repaired && nearly::looks_nearly_sorted(v, &is_less)
        {
            return Outcome::Partition;
        }
    }
    match sort_elements(v, reading) {
        true => Outcome::Sorted,
        false => Outcome::Partition,
    }
}

/// The order as a question: one closure, so that what asks it is compiled once.
fn less_by<E, R: Reading<E>>(reading: R) -> impl Fn(&E, &E) -> bool + Sync {
    move |a, b| reading.compare(a, b).is_lt()
}

/// Whether a sample has a few different keys only.
fn looks_repetitive<E, R: Reading<E>>(v: &[E], reading: R) -> bool {
    const SAMPLE: usize = 64;
    const FEW: u32 = 20;
    // Every key sets one of 64 bits. If all are different, that makes about 40.
    let seen = v.iter().step_by(v.len() / SAMPLE).take(SAMPLE);
    let seen = seen.fold(0_u64, |seen, x| {
        let words = (0..R::WORDS).map(|word| reading.word(x, word));
        let hash = words.fold(0_u64, |hash, word| {
            (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        seen | 1 << (hash >> 58)
    });
    seen.count_ones() <= FEW
}

/// Sorts elements by the bits of their keys, stable, calling `key` once per element; says whether it did. It does not if there is no
/// memory for the keys and as many elements again, or if there are more elements than 32 bits can number.
pub(super) fn sort_by_key<T, K, F>(v: &mut [T], key: &F) -> bool
where
    T: Send,
    K: RadixKey,
    F: Fn(&T) -> K + Sync,
{
    sort_by_key_with(v, key, |order| sort_elements(order, KeyThenPosition))
}

/// The same for keys of 32 bits. As with integers there is one copy of the sort itself.
pub(super) fn sort_by_key_32<T: Send>(v: &mut [T], key: &(impl Fn(&T) -> u32 + Sync)) -> bool {
    fn sort(order: &mut [Keyed<u32>]) -> bool {
        sort_elements(order, KeyThenPosition)
    }
    sort_by_key_with(v, key, sort)
}

/// The same for keys of 64 bits.
pub(super) fn sort_by_key_64<T: Send>(v: &mut [T], key: &(impl Fn(&T) -> u64 + Sync)) -> bool {
    fn sort(order: &mut [Keyed<u64>]) -> bool {
        sort_elements(order, KeyThenPosition)
    }
    sort_by_key_with(v, key, sort)
}

fn sort_by_key_with<T, K, F>(v: &mut [T], key: &F, sort: fn(&mut [Keyed<K>]) -> bool) -> bool
where
    T: Send,
    K: RadixKey,
    F: Fn(&T) -> K + Sync,
{
    if u32::try_from(v.len()).is_err() {
        return false;
    }
    // Exclusive references although nothing is written: `T` need not be `Sync`.
    let mut order: Vec<Keyed<K>> = v
        .par_iter_mut()
        .enumerate()
        .map(|(i, x)| Keyed {
            key: key(x),
            position: i as u32,
        })
        .collect();
    if !sort(&mut order) {
        return false;
    }
    // SAFETY: every position of `v` was put into `order` once, and sorting only moves what is there.
    unsafe { rearrange(v, &order, &|keyed| keyed.position as usize) };
    true
}

/// Sorts plain elements by their keys, stable; says whether there was memory for it.
fn sort_elements<E: Element, R: Reading<E>>(v: &mut [E], reading: R) -> bool {
    if v.len() < SHORTEST {
        sequential::compare_all(v, reading);
        return true;
    }
    let is_less = less_by(reading);
    if runs::order_leading_run(v, &is_less, ALONE) == v.len() {
        return true;
    }
    let Some(mut scratch) = Scratch::try_new(v.len()) else {
        return false;
    };
    let places = Places {
        source: v.as_mut_ptr(),
        other: scratch.as_mut_ptr(),
        len: v.len(),
    };
    let threads = current_num_threads();
    let task = Task::whole(reading);
    let may_be_stopped = may_be_stopped();
    // SAFETY: `v` is borrowed exclusively and the scratch buffer is as long; elements are plain copies.
    unsafe {
        let alone = threads < 2 && u32::try_from(v.len()).is_ok() && !may_be_stopped;
        if v.len() <= ALONE || alone {
            sequential::sort(places, task);
        } else {
            let cut = Cut {
                alone: ALONE.max(v.len() / (8 * threads)).min(1 << 17),
                stripes: 2 * threads,
                may_be_stopped,
            };
            parallel::sort(places, task, cut);
            // Not in the middle of it: only now is every element where it belongs, or at least in the slice.
            checkpoint();
        }
    }
    true
}
