//! Slices seen as arrays of a fixed length and a rest, for loops that are unrolled by hand. The standard library has them since Rust 1.88
//! (`as_chunks`).

use std::slice::{from_raw_parts, from_raw_parts_mut};

/// As many arrays of `N` elements as there are, and what is left.
#[inline(always)]
pub(super) fn chunks_of<T, const N: usize>(slice: &[T]) -> (&[[T; N]], &[T]) {
    let (whole, rest) = slice.split_at(slice.len() / N * N);
    // SAFETY: an array lies in memory as its elements do, and so many arrays are all of `whole`.
    let chunks = unsafe { from_raw_parts(whole.as_ptr().cast(), whole.len() / N) };
    (chunks, rest)
}

/// As [`chunks_of`], to write to.
#[inline(always)]
pub(super) fn chunks_of_mut<T, const N: usize>(slice: &mut [T]) -> (&mut [[T; N]], &mut [T]) {
    let (whole, rest) = slice.split_at_mut(slice.len() / N * N);
    // SAFETY: as above, and the borrow of `whole` ends here.
    let chunks = unsafe { from_raw_parts_mut(whole.as_mut_ptr().cast(), whole.len() / N) };
    (chunks, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_and_rest_are_the_slice() {
        for len in 0..20 {
            let mut v: Vec<usize> = (0..len).collect();
            let (chunks, rest) = chunks_of::<_, 4>(&v);
            assert_eq!((chunks.len(), rest.len()), (len / 4, len % 4));
            assert!(chunks.iter().flatten().chain(rest).copied().eq(0..len));
            let (chunks, rest) = chunks_of_mut::<_, 3>(&mut v);
            assert_eq!((chunks.len(), rest.len()), (len / 3, len % 3));
            for x in chunks.iter_mut().flatten().chain(rest) {
                *x += 1;
            }
            assert!(v.into_iter().eq(1..=len));
        }
    }
}
