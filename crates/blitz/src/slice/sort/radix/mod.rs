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

use self::element::{Element, Places};
use self::parallel::Cut;
use super::raw::Scratch;
use super::runs;
use crate::current_num_threads;

/// Below this, a comparison sort is faster than counting.
const SHORTEST: usize = 256;

/// Slices up to this length are sorted by the calling thread alone: about 100 us.
const ALONE: usize = 16 << 10;

/// Sorts `v` by its elements' bits. Stable, in the sense that matters for plain keys.
pub(super) fn sort<K: RadixKey>(v: &mut [K]) {
    sort_elements(v);
}

/// Sorts plain elements by their keys, stable.
fn sort_elements<E: Element>(v: &mut [E]) {
    if v.len() < SHORTEST {
        v.sort_unstable_by(E::compare);
        return;
    }
    let threads = current_num_threads();
    if runs::finish_if_single_run(v, &|a, b| E::compare(a, b).is_lt(), ALONE) {
        return;
    }
    let mut scratch = Scratch::new(v.len());
    let places = Places {
        source: v.as_mut_ptr(),
        other: scratch.as_mut_ptr(),
        len: v.len(),
    };
    // SAFETY: `v` is borrowed exclusively and the scratch buffer is as long; elements are plain copies.
    unsafe {
        if threads < 2 || v.len() <= ALONE {
            sequential::sort(places, false, 0);
        } else {
            let cut = Cut {
                alone: ALONE.max(v.len() / (8 * threads)).min(1 << 17),
                stripes: 2 * threads,
            };
            parallel::sort(places, false, 0, cut);
        }
    }
}
