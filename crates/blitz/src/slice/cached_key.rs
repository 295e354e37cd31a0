//! Sorting by a key that is computed once per element.
//!
//! The keys go into a table, each with the index of its element; the table is sorted, and then says for every place which
//! element belongs there. Indices differ, so no two entries are equal and an unstable sort of the table is a stable sort of the
//! slice.
//!
//! The elements are then gathered, in parallel, into a second buffer and copied back at once. That buffer never owns them: until
//! the copy, which cannot fail, they are the slice's. So whatever panics before (the key function, a comparison, the drop of a
//! key), the slice is as it was.

use super::ParallelSliceMut;
use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator,
};
use std::mem::MaybeUninit;
use std::ptr;

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

    let elements = Elements(slice.as_ptr());
    let sorted: Vec<MaybeUninit<T>> = table
        .into_par_iter()
        // SAFETY: the table is a permutation of what it was before it was sorted (no comparison can make our sort lose or double
        // an entry), so its indices are those of the slice, and each is asked for once. The slice stays borrowed and is not
        // written to meanwhile.
        .map(|(_key, index)| unsafe { elements.copy(index.get()) })
        .collect();
    assert_eq!(sorted.len(), slice.len());
    // SAFETY: `sorted` holds a copy of every element of the slice exactly once, in a buffer of its own and of the same length;
    // writing them over the slice leaves it with the same elements in another order. The copies in `sorted` are forgotten, as
    // `MaybeUninit` drops nothing.
    unsafe { ptr::copy_nonoverlapping(sorted.as_ptr().cast(), slice.as_mut_ptr(), slice.len()) };
}

/// Where the elements of the slice are, for all threads.
struct Elements<T>(*const T);

// SAFETY: `copy` is the only way to use it, and its caller promises to take each element once: an element is moved to another
// thread, which `T: Send` allows, and never shared.
unsafe impl<T: Send> Sync for Elements<T> {}

impl<T> Elements<T> {
    /// # Safety
    ///
    /// `index` lies within the slice, which is still there and is not being written to, and nobody else copies this element.
    /// Only one of the two copies may go on to be used as a `T`.
    unsafe fn copy(&self, index: usize) -> MaybeUninit<T> {
        // SAFETY: the caller's promise; `MaybeUninit<T>` has the layout of `T`.
        unsafe { self.0.add(index).cast::<MaybeUninit<T>>().read() }
    }
}
