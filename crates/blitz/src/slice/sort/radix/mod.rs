//! Sorting by the bits of a key instead of by comparisons.
//!
//! Sorting `n` keys this way takes two or three passes over the elements, whatever `n` is, where comparisons take `log2 n`. It needs
//! memory for `n` more elements, and keys that map to bits ([`RadixKey`]). Keys of elements that are not keys themselves are
//! computed once and sorted together with the positions of their elements, which then move only once; so user code runs before
//! anything moves, and a panic in it leaves the slice as it was.

mod element;
mod key;
mod parallel;
mod scale;
mod sequential;

pub use self::key::RadixKey;
pub(super) use self::key::compare;

pub(super) use self::element::Keyed;
use self::element::{Element, Places};
use self::parallel::Cut;
use super::nearly;
use super::order::By;
use super::permute::rearrange;
use super::raw::Scratch;
use super::runs;
use crate::current_num_threads;
use crate::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

/// Below this many elements, a comparison sort is faster than counting.
pub(super) const SHORTEST: usize = 256;

/// The same when keys are computed and elements moved afterwards.
pub(super) const SHORTEST_BY_KEY: usize = 1 << 15;

/// Slices up to this length are sorted by the calling thread alone: about 100 us.
const ALONE: usize = 16 << 10;

/// Sorts keys by their bits; says whether it did. It does not if there is no memory for as many keys again.
pub(super) fn sort<K: RadixKey>(v: &mut [K]) -> bool {
    if v.len() >= SHORTEST {
        let is_less = |a: &K, b: &K| compare(*a, *b).is_lt();
        let run = runs::order_leading_run(v, &is_less, ALONE);
        if run == v.len() {
            return true;
        }
        if run >= v.len() / 2 || runs::is_mostly_runs(v, &is_less) {
            super::sort_stable(v, &By(|a: &K, b: &K| compare(*a, *b)));
            return true;
        }
        if suits_quicksort(v) {
            super::sort_in_order_of_bits(v);
            return true;
        }
    }
    sort_elements(v)
}

/// Sorts keys with positions, by both.
pub(super) fn sort_keyed(v: &mut [Keyed<u64, u32>]) {
    if !sort_elements(v) {
        v.sort_unstable_by(Element::compare);
    }
}

/// Whether a quicksort is better: it is done with a few values in a few passes, and the nearly sorted needs hardly any.
fn suits_quicksort<K: RadixKey>(v: &[K]) -> bool {
    let is_less = |a: &K, b: &K| compare(*a, *b).is_lt();
    looks_repetitive(v)
        || v.len() > ALONE && current_num_threads() > 1 && nearly::looks_nearly_sorted(v, &is_less)
}

/// Whether a sample has a few different keys only.
fn looks_repetitive<K: RadixKey>(v: &[K]) -> bool {
    const SAMPLE: usize = 64;
    const FEW: u32 = 20;
    // Every key sets one of 64 bits. If all are different, that makes about 40.
    let seen = v.iter().step_by(v.len() / SAMPLE).take(SAMPLE);
    let seen = seen.fold(0_u64, |seen, key| {
        let words = (0..key::words::<K>()).map(|word| key.bits_from(64 * word));
        let hash = words.fold(0_u64, |hash, word| {
            (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        seen | 1 << (hash >> 58)
    });
    seen.count_ones() <= FEW
}

/// Sorts elements by the bits of their keys, stable, calling `key` once per element; says whether it did. It does not if there is no
/// memory for the keys and as many elements again.
pub(super) fn sort_by_key<T, K, F>(v: &mut [T], key: &F) -> bool
where
    T: Send,
    K: RadixKey,
    F: Fn(&T) -> K + Sync,
{
    if u32::try_from(v.len()).is_ok() {
        sort_by_key_with(v, key, |i| i as u32, |position| *position as usize)
    } else {
        sort_by_key_with(v, key, |i| i, |position| *position)
    }
}

fn sort_by_key_with<T, K, F, P>(
    v: &mut [T],
    key: &F,
    to_position: fn(usize) -> P,
    from_position: fn(&P) -> usize,
) -> bool
where
    T: Send,
    K: RadixKey,
    F: Fn(&T) -> K + Sync,
    P: Copy + Ord + Send + Sync,
{
    // Exclusive references although nothing is written: `T` need not be `Sync`.
    let mut order: Vec<Keyed<K, P>> = v
        .par_iter_mut()
        .enumerate()
        .map(|(i, x)| Keyed {
            key: key(x),
            position: to_position(i),
        })
        .collect();
    if !sort_elements(&mut order) {
        return false;
    }
    // SAFETY: every position of `v` was put into `order` once, and sorting only moves what is there.
    unsafe { rearrange(v, &order, &|keyed| from_position(&keyed.position)) };
    true
}

/// Sorts plain elements by their keys, stable; says whether there was memory for it.
fn sort_elements<E: Element>(v: &mut [E]) -> bool {
    if v.len() < SHORTEST {
        v.sort_unstable_by(E::compare);
        return true;
    }
    let is_less = |a: &E, b: &E| E::compare(a, b).is_lt();
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
    // SAFETY: `v` is borrowed exclusively and the scratch buffer is as long; elements are plain copies.
    unsafe {
        if v.len() <= ALONE || (threads < 2 && u32::try_from(v.len()).is_ok()) {
            sequential::sort(places, false, 0);
        } else {
            let cut = Cut {
                alone: ALONE.max(v.len() / (8 * threads)).min(1 << 17),
                stripes: 2 * threads,
            };
            parallel::sort(places, false, 0, cut);
        }
    }
    true
}
