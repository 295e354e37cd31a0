//! What chunks from the front and chunks from the back have in common: all but where they are cut.
//!
//! An item is a whole chunk, so positions count chunks and a split at chunk `k` cuts `k * chunk_size` elements off the end where
//! the iteration begins. Every cut falls on a multiple of the chunk size from there, which is why the parts chunk exactly as
//! the whole would. The product saturates: slices of zero-sized elements can be as long as `usize::MAX`, and there the last
//! chunk's end is not representable.
//!
//! The functions are the directions: each cuts off the first `elements` in the order of iteration.

/// The first `elements` of the slice, then what stands behind them.
#[inline]
pub(super) fn front_first<T>(slice: &[T], elements: usize) -> (&[T], &[T]) {
    slice.split_at(elements)
}

/// As [`front_first`], for an exclusive slice.
#[inline]
pub(super) fn front_first_mut<T>(slice: &mut [T], elements: usize) -> (&mut [T], &mut [T]) {
    slice.split_at_mut(elements)
}

/// The last `elements` of the slice first, then what stands before them.
#[inline]
pub(super) fn back_first<T>(slice: &[T], elements: usize) -> (&[T], &[T]) {
    let (before, back) = slice.split_at(slice.len() - elements);
    (back, before)
}

/// As [`back_first`], for an exclusive slice.
#[inline]
pub(super) fn back_first_mut<T>(slice: &mut [T], elements: usize) -> (&mut [T], &mut [T]) {
    let (before, back) = slice.split_at_mut(slice.len() - elements);
    (back, before)
}

/// Defines a parallel iterator over chunks and its producer.
///
/// `shared` or `exclusive` says how it holds the slice. `chunks` may end with a shorter one, `exact chunks` leave the
/// remainder out. Then follow the slice method that makes the sequential iterator, and the function that cuts.
macro_rules! chunk_iterator {
    ($(#[$docs:meta])* shared $name:ident, $($rest:tt)*) => {
        $crate::slice::chunking::chunk_iterator! { @define $(#[$docs])* $name: Sync, &'data [T], $($rest)* }

        // By hand: a derive would ask for `T: Clone`, although only references are copied.
        impl<T> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                $name { ..*self }
            }
        }
    };
    ($(#[$docs:meta])* exclusive $name:ident, $($rest:tt)*) => {
        $crate::slice::chunking::chunk_iterator! { @define $(#[$docs])* $name: Send, &'data mut [T], $($rest)* }
    };
    (
        @define $(#[$docs:meta])* $name:ident: $bound:ident, $slice:ty,
        chunks by $std:ident, cut by $cut:ident
    ) => {
        $(#[$docs])*
        #[derive(Debug)]
        #[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
        pub struct $name<'data, T> {
            chunk_size: usize,
            slice: $slice,
        }

        impl<'data, T> $name<'data, T> {
            pub(super) fn new(chunk_size: usize, slice: $slice) -> Self {
                $name { chunk_size, slice }
            }
        }

        $crate::slice::chunking::chunk_iterator! {
            @source $name: $bound, $slice, $std, $cut, slice, |len, chunk_size| len.div_ceil(chunk_size)
        }
    };
    (
        @define $(#[$docs:meta])* $name:ident: $bound:ident, $slice:ty,
        exact chunks by $std:ident, cut by $cut:ident
    ) => {
        $(#[$docs])*
        #[derive(Debug)]
        #[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
        pub struct $name<'data, T> {
            chunk_size: usize,
            whole: $slice,
            remainder: $slice,
        }

        impl<'data, T> $name<'data, T> {
            pub(super) fn new(chunk_size: usize, slice: $slice) -> Self {
                let in_chunks = slice.len() - slice.len() % chunk_size;
                let (whole, remainder) = $crate::slice::chunking::$cut(slice, in_chunks);
                $name { chunk_size, whole, remainder }
            }
        }

        $crate::slice::chunking::chunk_iterator! {
            @source $name: $bound, $slice, $std, $cut, whole, |len, chunk_size| len / chunk_size
        }
    };
    (
        @source $name:ident: $bound:ident, $slice:ty, $std:ident, $cut:ident, $field:ident,
        |$len:ident, $chunk_size:ident| $chunks:expr
    ) => {
        const _: () = {
            $crate::delegate::indexed_source! {
                impl ['data, T: $bound] $name<'data, T> => $slice;
                fn len(self) {
                    let ($len, $chunk_size) = (self.$field.len(), self.chunk_size);
                    $chunks
                }
                fn with_producer(self, callback) {
                    callback.callback(Part { chunk_size: self.chunk_size, slice: self.$field })
                }
            }

            struct Part<'data, T> {
                chunk_size: usize,
                slice: $slice,
            }

            impl<'data, T: $bound> $crate::iter::plumbing::Producer for Part<'data, T> {
                type Item = $slice;
                type IntoIter = std::slice::$name<'data, T>;

                #[inline]
                fn into_iter(self) -> Self::IntoIter {
                    self.slice.$std(self.chunk_size)
                }

                #[inline]
                fn split_at(self, index: usize) -> (Self, Self) {
                    let Part { chunk_size, slice } = self;
                    let elements = index.saturating_mul(chunk_size).min(slice.len());
                    let (first, rest) = $crate::slice::chunking::$cut(slice, elements);
                    let part = |slice| Part { chunk_size, slice };
                    (part(first), part(rest))
                }
            }
        };
    };
}
pub(super) use chunk_iterator;
