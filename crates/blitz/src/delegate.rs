//! The two iterator traits, written once for every source.
//!
//! A source differs from the next one in three facts: its items, its length and its producer. Everything else in
//! `ParallelIterator` and `IndexedParallelIterator` follows, and is generated here:
//!
//! * [`indexed_source!`] for sources with a known length. `drive` and `drive_unindexed` both go through the indexed
//!   bridge, because a source that reports `opt_len() == Some(_)` must be driven by position: `collect` then writes
//!   every item straight to its final place.
//! * [`unindexed_source!`] for sources that only know how to fall into two parts.
//! * [`delegate_unindexed!`] and [`delegate_indexed!`] for a public type that wraps another parallel iterator in a field
//!   `inner`.
//! * [`copied_as_it_is!`] for types that are `Copy` whatever their parameters are.
//! * [`clone_references!`] for a public type that holds an iterator over references in a field `inner`.
//! * [`forward_to_base!`] for what an iterator, consumer, folder or producer answers as the one in its field `base` does.
//! * [`wrapping_callback!`] for the callback of an adaptor that wraps the producer of its base.
//!
//! Generics stand in square brackets, since a macro cannot match balanced angle brackets.

/// Implements `ParallelIterator` and `IndexedParallelIterator` from a length and a way to pass a producer on.
macro_rules! indexed_source {
    (
        impl [$($generics:tt)*] $source:ty => $item:ty;
        fn len($this:ident) $len:block
        fn with_producer($owner:ident, $callback:ident) $with_producer:block
    ) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $source {
            type Item = $item;

            #[inline]
            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::UnindexedConsumer<Self::Item>,
            {
                $crate::iter::plumbing::bridge(self, consumer)
            }

            const MAY_LACK_LEN: bool = false;

            fn opt_len(&self) -> Option<usize> {
                Some($crate::iter::IndexedParallelIterator::len(self))
            }
        }

        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $source {
            #[inline]
            fn drive<C>(self, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::Consumer<Self::Item>,
            {
                $crate::iter::plumbing::bridge(self, consumer)
            }

            #[inline]
            fn len(&$this) -> usize $len

            #[inline]
            fn with_producer<CB>($owner, $callback: CB) -> CB::Output
            where
                CB: $crate::iter::plumbing::ProducerCallback<Self::Item>,
            $with_producer
        }
    };
}

/// Implements `ParallelIterator` for a source without a length, from its `UnindexedProducer`. The size is what the producer has
/// to go through (bytes, elements), or 1 if that is unknown.
macro_rules! unindexed_source {
    (
        impl [$($generics:tt)*] $source:ty => $item:ty;
        fn size($this:ident) $size:block
        fn producer($owner:ident) $producer:block
    ) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $source {
            type Item = $item;

            fn drive_unindexed<C>($owner, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::UnindexedConsumer<Self::Item>,
            {
                let $this = &$owner;
                let size: usize = $size;
                let producer = $producer;
                $crate::iter::plumbing::bridge_unindexed_sized(size, producer, consumer)
            }

            const MAY_HAVE_LEN: bool = false;
        }
    };
}

/// Implements `ParallelIterator` by passing everything on to the field `inner`.
macro_rules! delegate_unindexed {
    (impl [$($generics:tt)*] $wrapper:ty => $item:ty) => {
        $crate::delegate::delegate_unindexed! { impl [$($generics)*] $wrapper => $item {} }
    };
    (impl [$($generics:tt)*] $wrapper:ty => $item:ty { $($length:tt)* }) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $wrapper {
            type Item = $item;

            #[inline]
            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::UnindexedConsumer<Self::Item>,
            {
                $crate::iter::ParallelIterator::drive_unindexed(self.inner, consumer)
            }

            fn opt_len(&self) -> Option<usize> {
                $crate::iter::ParallelIterator::opt_len(&self.inner)
            }

            $($length)*
        }
    };
}

/// Implements both iterator traits by passing everything on to the field `inner`.
macro_rules! delegate_indexed {
    (impl [$($generics:tt)*] $wrapper:ty => $item:ty) => {
        $crate::delegate::delegate_unindexed! { impl [$($generics)*] $wrapper => $item { const MAY_LACK_LEN: bool = false; } }

        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $wrapper {
            #[inline]
            fn drive<C>(self, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::Consumer<Self::Item>,
            {
                $crate::iter::IndexedParallelIterator::drive(self.inner, consumer)
            }

            #[inline]
            fn len(&self) -> usize {
                $crate::iter::IndexedParallelIterator::len(&self.inner)
            }

            #[inline]
            fn with_producer<CB>(self, callback: CB) -> CB::Output
            where
                CB: $crate::iter::plumbing::ProducerCallback<Self::Item>,
            {
                $crate::iter::IndexedParallelIterator::with_producer(self.inner, callback)
            }
        }
    };
}

/// Implements `Clone` for an iterator over references by cloning the field `inner`. A derive would ask that the items can be
/// cloned, although only references are copied.
macro_rules! clone_references {
    ($name:ident of $($generic:ident),+) => {
        impl<$($generic),+> Clone for $name<'_, $($generic),+> {
            fn clone(&self) -> Self {
                $name { inner: self.inner.clone() }
            }
        }
    };
}

/// Implements `Copy` for a type that holds references and numbers only. A derive would ask that what they lead to can be copied.
macro_rules! copied_as_it_is {
    ($name:ident<$($lifetime:lifetime,)? $($generic:ident),+>) => {
        impl<$($generic),+> Clone for $name<$($lifetime,)? $($generic),+> {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($generic),+> Copy for $name<$($lifetime,)? $($generic),+> {}
    };
}

/// Within the implementation of an iterator, a consumer, a folder or a producer: passes the named questions on to the field `base`.
macro_rules! forward_to_base {
    ($($question:ident)+) => {
        $($crate::delegate::forward_to_base! { @ $question })+
    };
    (@ full) => { $crate::delegate::forward_to_base! { @ full -> bool } };
    (@ is_never_full) => { $crate::delegate::forward_to_base! { @ is_never_full -> bool } };
    (@ is_search) => { $crate::delegate::forward_to_base! { @ is_search -> bool } };
    (@ wants_first) => { $crate::delegate::forward_to_base! { @ wants_first -> bool } };
    (@ min_len) => { $crate::delegate::forward_to_base! { @ min_len -> usize } };
    (@ max_len) => { $crate::delegate::forward_to_base! { @ max_len -> usize } };
    // Of a consumer with a base of the type `C`.
    (@ outlet) => {
        const HAS_OUTLET: bool = C::HAS_OUTLET;

        #[inline]
        fn outlet(&self) -> Option<&dyn $crate::iter::plumbing::Outlet<Self::Result>> {
            self.base.outlet()
        }
    };
    // Of an iterator with a base of the type `I`.
    (@ opt_len) => {
        fn opt_len(&self) -> Option<usize> {
            self.base.opt_len()
        }

        const MAY_HAVE_LEN: bool = I::MAY_HAVE_LEN;
        const MAY_LACK_LEN: bool = I::MAY_LACK_LEN;
    };
    // Of a producer with a base of the type `P`.
    (@ wishes) => {
        const HAS_WISHES: bool = P::HAS_WISHES;

        #[inline]
        fn wishes(&self) -> $crate::iter::plumbing::Wishes<'_> {
            self.base.wishes()
        }
    };
    (@ $question:ident -> $answer:ty) => {
        #[inline]
        fn $question(&self) -> $answer {
            self.base.$question()
        }
    };
}

/// Defines a callback with the fields `callback` and `$field`s, which wraps the producer it gets and passes that on: from a
/// producer of `$in`s it makes one of `$out`s.
macro_rules! wrapping_callback {
    (
        struct $name:ident { $($field:ident: $type:ty),* };
        fn wrap($this:ident, $base:ident: $in:ident) -> $out:ty $wrapped:block
    ) => {
        struct $name<CB> {
            callback: CB,
            $($field: $type,)*
        }

        impl<$in, CB> $crate::iter::plumbing::ProducerCallback<$in> for $name<CB>
        where
            CB: $crate::iter::plumbing::ProducerCallback<$out>,
        {
            type Output = CB::Output;

            #[inline]
            fn callback<P>($this, $base: P) -> CB::Output
            where
                P: $crate::iter::plumbing::Producer<Item = $in>,
            {
                let wrapped = $wrapped;
                $this.callback.callback(wrapped)
            }
        }
    };
}

pub(crate) use {
    clone_references, copied_as_it_is, delegate_indexed, delegate_unindexed, forward_to_base,
    indexed_source, unindexed_source, wrapping_callback,
};
