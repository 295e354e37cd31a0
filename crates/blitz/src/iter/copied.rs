//! `cloned` and `copied`: references turned into values.

use super::plumbing::Folder;
use super::stage::{IndexedPlan, Stage, its_own_plan, staged_adaptor};

/// Defines an adaptor that turns references into values as the method `$method` of `Iterator` does, and its stage.
macro_rules! values_behind_references {
    (
        $(#[$docs:meta])*
        $adaptor:ident by $stage:ident for $bound:ident, as $method:ident, unnoticed: $unnoticed:expr;
        |$item:ident| $value:expr
    ) => {
        $(#[$docs])*
        #[must_use = "parallel iterators do nothing until they are driven"]
        #[derive(Debug, Clone)]
        pub struct $adaptor<I> {
            base: I,
        }

        impl<I> $adaptor<I> {
            pub(super) fn new(base: I) -> Self {
                $adaptor { base }
            }
        }

        staged_adaptor! {
            impl ['a, T, I] $adaptor<I> => T, keeps the length
            where [I: crate::iter::ParallelIterator<Item = &'a T>, T: 'a + $bound + Send];
            fn plan(self) { $stage }
        }

        /// Passes on the value that each reference points to.
        #[derive(Clone)]
        struct $stage;

        its_own_plan! { [] $stage }

        impl<'a, T> Stage<&'a T> for $stage
        where
            T: 'a + $bound,
        {
            type Out = T;

            #[inline]
            fn feed<F>(&mut self, folder: F, $item: &'a T) -> F
            where
                F: Folder<T>,
            {
                folder.consume($value)
            }

            #[inline]
            fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
            where
                F: Folder<T>,
                I: Iterator<Item = &'a T>,
            {
                folder.consume_iter(iter.$method())
            }
        }

        impl<'a, T> IndexedPlan<&'a T> for $stage
        where
            T: 'a + $bound,
        {
            const MAY_BE_LEFT: bool = $unnoticed;

            type Iter<I>
                = std::iter::$adaptor<I>
            where
                I: Iterator<Item = &'a T> + DoubleEndedIterator + ExactSizeIterator;

            #[inline]
            fn over<I>(self, iter: I) -> Self::Iter<I>
            where
                I: Iterator<Item = &'a T> + DoubleEndedIterator + ExactSizeIterator,
            {
                iter.$method()
            }
        }
    };
}

values_behind_references! {
    /// Clones the items behind references. Made by [`cloned`](super::ParallelIterator::cloned).
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let names = [String::from("Ada"), String::from("Bo")];
    /// let copies: Vec<String> = names.par_iter().cloned().collect();
    /// assert_eq!(copies, names);
    /// ```
    Cloned by CloneEach for Clone, as cloned, unnoticed: false;
    |item| item.clone()
}

values_behind_references! {
    /// Copies the items behind references. Made by [`copied`](super::ParallelIterator::copied).
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let total: i32 = [1, 2, 3].par_iter().copied().sum();
    /// assert_eq!(total, 6);
    /// ```
    Copied by CopyEach for Copy, as copied, unnoticed: true;
    |item| *item
}
