//! Sorting by a key that is computed once per element.
//!
//! The keys go into a table, each with the index of its element; the table is sorted, and then says for every place which
//! element belongs there. Indices differ, so no two entries are equal and an unstable sort of the table is a stable sort of the
//! slice.
//!
//! The elements are then brought to their places without any user code. So whatever panics before (the key function, a comparison, the drop of a key), the slice is as it was.

use super::ParallelSliceMut;
use super::sort::permute::rearrange;
use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator,
};

/// An integer that numbers the elements of a slice. A small one can make the table of keys considerably smaller.
trait Index: Copy + Ord + Send + Sync {
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

    /// Whether this index type saves space over the next larger one: if not, there is no need to compile a sort for it.
    const fn pays<K, I, Larger>() -> bool {
        size_of::<(K, I)>() < size_of::<(K, Larger)>()
    }

    let len = slice.len();
    if const { pays::<K, u8, u16>() } && len <= u8::LIMIT {
        sort_with::<u8, T, K>(slice, key);
    } else if const { pays::<K, u16, u32>() } && len <= u16::LIMIT {
        sort_with::<u16, T, K>(slice, key);
    } else if const { pays::<K, u32, usize>() } && len <= u32::LIMIT {
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
    // From here on without keys: should the drop of one panic, nothing has moved.
    let order: Vec<I> = table.into_par_iter().map(|(_key, index)| index).collect();
    // SAFETY: the table is a permutation of what it was before it was sorted (no comparison can make our sort lose or double an entry), so
    // these are the indices of the slice, each one once.
    unsafe { rearrange(slice, &order, &|index| index.get()) };
}
