//! Sorting by a key that is computed once per element.
//!
//! The keys go into a table, each with the index of its element; the table is sorted, and then says for every place which
//! element belongs there. Indices differ, so no two entries are equal and an unstable sort of the table is a stable sort of the
//! slice. A panicking key function or comparison only ever meets the table: the slice is touched afterwards, by swaps alone, so
//! it keeps all its elements whatever happens.

use super::ParallelSliceMut;
use crate::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

/// An integer that numbers the elements of a slice. A small one can make the table of keys considerably smaller.
trait Index: Copy + Ord + Send {
    const LIMIT: usize;

    /// `index` is at most `LIMIT`.
    fn new(index: usize) -> Self;
    fn get(self) -> usize;
}

macro_rules! index {
    ($($integer:ty)*) => {$(
        impl Index for $integer {
            const LIMIT: usize = <$integer>::MAX as usize;

            #[inline]
            fn new(index: usize) -> Self {
                debug_assert!(index <= Self::LIMIT);
                index as $integer
            }

            #[inline]
            fn get(self) -> usize {
                self as usize
            }
        }
    )*};
}

index!(u8 u16 u32 usize);

/// Sorts the slice by `key`, stably.
pub(super) fn sort<T: Send, K: Ord + Send>(slice: &mut [T], key: &(impl Fn(&T) -> K + Sync)) {
    if slice.len() < 2 {
        return;
    }

    /// Whether this index type numbers the whole slice and saves space over the next larger one.
    fn pays<K, I: Index, Larger>(len: usize) -> bool {
        len <= I::LIMIT && size_of::<(K, I)>() < size_of::<(K, Larger)>()
    }

    let len = slice.len();
    if pays::<K, u8, u16>(len) {
        sort_with::<u8, T, K>(slice, key);
    } else if pays::<K, u16, u32>(len) {
        sort_with::<u16, T, K>(slice, key);
    } else if pays::<K, u32, usize>(len) {
        sort_with::<u32, T, K>(slice, key);
    } else {
        sort_with::<usize, T, K>(slice, key);
    }
}

fn sort_with<I: Index, T: Send, K: Ord + Send>(slice: &mut [T], key: &(impl Fn(&T) -> K + Sync)) {
    // Exclusive references, although nothing is written: `T` need not be `Sync`.
    let mut table: Vec<(K, I)> = slice
        .par_iter_mut()
        .enumerate()
        .map(|(index, element)| (key(element), I::new(index)))
        .collect();
    table.par_sort_unstable();

    // Place by place from the left. An element that should come from a place already filled was swapped away from there; the
    // table remembers where to.
    for place in 0..slice.len() {
        let mut source = table[place].1;
        while source.get() < place {
            source = table[source.get()].1;
        }
        table[place].1 = source;
        slice.swap(place, source.get());
    }
}
