//! Tuples of parallel iterables: all of them side by side, as far as the shortest reaches.
//!
//! A tuple of twelve is eleven zips inside one another and a `map` that flattens the nested pairs. Both vanish when
//! compiled.

use super::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};
use super::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelIterator,
};

/// Yields tuples with one item of each of its parts. Made from tuples by
/// [`into_par_iter`](super::IntoParallelIterator::into_par_iter).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let (names, ages, mut seen) = (["Ada", "Bo"], [36, 41], [false; 2]);
/// (&names, &ages, &mut seen).into_par_iter().for_each(|(name, &age, seen)| {
///     *seen = name.len() == 2 && age > 40;
/// });
/// assert_eq!(seen, [false, true]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct MultiZip<T> {
    parts: T,
}

/// `zipped!(a, b, c)` is `a.zip(b).zip(c)`.
macro_rules! zipped {
    ($first:expr $(, $rest:expr)*) => { $first$(.zip($rest))* };
}

/// `nested!(() a b c)` is the pattern `((a, b), c)`.
macro_rules! nested {
    (($($done:tt)*)) => { $($done)* };
    (($($done:tt)+) $next:ident $($rest:ident)*) => { nested!((($($done)+, $next)) $($rest)*) };
    (() $next:ident $($rest:ident)*) => { nested!(($next) $($rest)*) };
}

/// `shortest!(a, b, c)` is `a.min(b).min(c)`.
macro_rules! shortest {
    ($first:expr $(, $rest:expr)*) => { $first$(.min($rest))* };
}

macro_rules! multizip {
    ($($part:ident $number:tt),+) => {
        impl<$($part),+> IntoParallelIterator for ($($part,)+)
        where
            $($part: IntoParallelIterator<Iter: IndexedParallelIterator>),+
        {
            type Item = ($($part::Item,)+);
            type Iter = MultiZip<($($part::Iter,)+)>;

            fn into_par_iter(self) -> Self::Iter {
                MultiZip { parts: ($(self.$number.into_par_iter(),)+) }
            }
        }

        // Not `&'a $part: IntoParallelIterator`: where a program leaves the type to be inferred, the compiler would try tuples of
        // tuples of tuples.
        impl<'a, $($part),+> IntoParallelIterator for &'a ($($part,)+)
        where
            $($part: IntoParallelRefIterator<'a, Iter: IndexedParallelIterator>),+
        {
            type Item = ($($part::Item,)+);
            type Iter = MultiZip<($($part::Iter,)+)>;

            fn into_par_iter(self) -> Self::Iter {
                MultiZip { parts: ($(self.$number.par_iter(),)+) }
            }
        }

        impl<'a, $($part),+> IntoParallelIterator for &'a mut ($($part,)+)
        where
            $($part: IntoParallelRefMutIterator<'a, Iter: IndexedParallelIterator>),+
        {
            type Item = ($($part::Item,)+);
            type Iter = MultiZip<($($part::Iter,)+)>;

            fn into_par_iter(self) -> Self::Iter {
                MultiZip { parts: ($(self.$number.par_iter_mut(),)+) }
            }
        }

        impl<$($part),+> ParallelIterator for MultiZip<($($part,)+)>
        where
            $($part: IndexedParallelIterator),+
        {
            type Item = ($($part::Item,)+);

            fn drive_unindexed<CONSUMER>(self, consumer: CONSUMER) -> CONSUMER::Result
            where
                CONSUMER: UnindexedConsumer<Self::Item>,
            {
                self.drive(consumer)
            }

            fn opt_len(&self) -> Option<usize> {
                Some(self.len())
            }

            const MAY_LACK_LEN: bool = false;
        }

        #[allow(non_snake_case, reason = "the type parameters double as variable names")]
        impl<$($part),+> IndexedParallelIterator for MultiZip<($($part,)+)>
        where
            $($part: IndexedParallelIterator),+
        {
            fn drive<CONSUMER>(self, consumer: CONSUMER) -> CONSUMER::Result
            where
                CONSUMER: Consumer<Self::Item>,
            {
                zipped!($(self.parts.$number),+)
                    .map(|nested!(() $($part)+)| ($($part,)+))
                    .drive(consumer)
            }

            fn len(&self) -> usize {
                shortest!($(self.parts.$number.len()),+)
            }

            fn with_producer<CB>(self, callback: CB) -> CB::Output
            where
                CB: ProducerCallback<Self::Item>,
            {
                zipped!($(self.parts.$number),+)
                    .map(|nested!(() $($part)+)| ($($part,)+))
                    .with_producer(callback)
            }
        }
    };
}

multizip! { A 0 }
multizip! { A 0, B 1 }
multizip! { A 0, B 1, C 2 }
multizip! { A 0, B 1, C 2, D 3 }
multizip! { A 0, B 1, C 2, D 3, E 4 }
multizip! { A 0, B 1, C 2, D 3, E 4, F 5 }
multizip! { A 0, B 1, C 2, D 3, E 4, F 5, G 6 }
multizip! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7 }
multizip! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8 }
multizip! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9 }
multizip! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10 }
multizip! { A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11 }

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    /// Compiles only if the compiler need not look into tuples to find out what `T` is.
    fn all_mut<'a, T>(values: &'a mut T) -> <&'a mut T as IntoParallelIterator>::Iter
    where
        &'a mut T: IntoParallelIterator,
    {
        values.par_iter_mut()
    }

    #[test]
    fn the_type_of_a_collection_behind_a_reference_can_be_inferred() {
        struct Holder {
            values: Vec<u32>,
        }
        let mut holder = Holder {
            values: vec![1, 2, 3],
        };
        all_mut(&mut holder.values)
            .enumerate()
            .for_each(|(index, value)| *value += index as u32);
        assert_eq!(holder.values, [1, 3, 5]);
        let mut columns = (vec![1, 2], [3, 4]);
        columns.par_iter_mut().for_each(|(a, b)| *a *= *b);
        assert_eq!(columns.par_iter().map(|(a, b)| a + b).sum::<i32>(), 18);
    }
}
