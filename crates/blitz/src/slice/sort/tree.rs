//! A search tree of splitters: which of `k` buckets does an element belong to?
//!
//! The `k - 1` splitters lie in one array, level by level: the children of slot `i` are slots `2 i` and `2 i + 1`, the root is slot 1,
//! slot 0 is not used. Going down takes `log2 k` comparisons and no branch that depends on them, so several elements can go down at
//! the same time: their comparisons do not wait for each other.

/// Elements that go down together.
pub(super) const BATCH: usize = 8;

/// Which of the `size - 1` ranks, from 0 on, belongs in a slot (from 1 on) of a tree of `size` slots, a power of two.
pub(super) fn rank_of_slot(slot: usize, size: usize) -> usize {
    // The slots of a level hold ranks that are `stride` apart.
    let level = slot.ilog2();
    let stride = size >> level;
    stride / 2 + (slot - (1 << level)) * stride - 1
}

/// The buckets of some elements: the number of splitters that are not above each. Always below `2^levels`, whatever the comparator
/// answers.
///
/// # Safety
/// `slots` points to `2^levels` slots, of which all but the first hold elements that the calling thread may look at. `levels <= 8`.
#[inline(always)]
pub(super) unsafe fn buckets<T, const N: usize>(
    slots: *const T,
    levels: u32,
    elements: [&T; N],
    is_less: &impl Fn(&T, &T) -> bool,
) -> [u8; N] {
    let mut at = [1_usize; N];
    for _ in 0..levels {
        for i in 0..N {
            // SAFETY: before the last step down, a slot is at least 1 and below `2^levels`.
            let splitter = unsafe { &*slots.add(at[i]) };
            at[i] = 2 * at[i] + usize::from(!is_less(elements[i], splitter));
        }
    }
    at.map(|slot| (slot - (1 << levels)) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bucket_of_an_element_is_its_number_of_lower_splitters() {
        for levels in [1, 2, 3, 8] {
            let size = 1 << levels;
            // Splitters 10, 20, 30 …
            let slots: Vec<usize> = (0..size)
                .map(|slot| match slot {
                    0 => 0,
                    slot => 10 * (rank_of_slot(slot, size) + 1),
                })
                .collect();
            for x in 0..10 * size + 5 {
                // SAFETY: the slots are initialised, and there are `2^levels` of them.
                let [bucket] = unsafe { buckets(slots.as_ptr(), levels, [&x], &|a, b| a < b) };
                assert_eq!(usize::from(bucket), (x / 10).min(size - 1));
            }
        }
    }
}
