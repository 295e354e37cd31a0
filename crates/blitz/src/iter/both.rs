//! The producers of two iterators at once, for adaptors that work on both.
//!
//! A producer exists only inside the callback it is passed to. So the callback of the first asks the second for its own, and
//! the callback of the second has both.

use super::IndexedParallelIterator;
use super::plumbing::{Producer, ProducerCallback};

/// What is to be done with two producers.
pub(super) trait BothCallback<T, U> {
    type Output;

    /// Gets the producers of both.
    fn callback<A, B>(self, a: A, b: B) -> Self::Output
    where
        A: Producer<Item = T>,
        B: Producer<Item = U>;
}

/// Passes the producers of `a` and of `b` to `callback`.
#[inline]
pub(super) fn with_both_producers<A, B, CB>(a: A, b: B, callback: CB) -> CB::Output
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator,
    CB: BothCallback<A::Item, B::Item>,
{
    a.with_producer(First { callback, b })
}

/// Receives the producer of the first and asks for the second.
struct First<CB, B> {
    callback: CB,
    b: B,
}

impl<T, CB, B> ProducerCallback<T> for First<CB, B>
where
    B: IndexedParallelIterator,
    CB: BothCallback<T, B::Item>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<P>(self, a: P) -> CB::Output
    where
        P: Producer<Item = T>,
    {
        self.b.with_producer(Second {
            callback: self.callback,
            a,
        })
    }
}

/// Receives the producer of the second.
struct Second<CB, A> {
    callback: CB,
    a: A,
}

impl<U, CB, A> ProducerCallback<U> for Second<CB, A>
where
    A: Producer,
    CB: BothCallback<A::Item, U>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<P>(self, b: P) -> CB::Output
    where
        P: Producer<Item = U>,
    {
        self.callback.callback(self.a, b)
    }
}

/// Within the implementation of a producer: what it asks of the loop, from what two producers in its fields ask.
macro_rules! wishes_of_both {
    ($a:ident: $A:ident, $b:ident: $B:ident) => {
        const HAS_WISHES: bool = $A::HAS_WISHES || $B::HAS_WISHES;

        #[inline]
        fn wishes(&self) -> $crate::iter::plumbing::Wishes<'_> {
            self.$a.wishes().or(self.$b.wishes())
        }

        #[inline]
        fn min_len(&self) -> usize {
            self.$a.min_len().max(self.$b.min_len())
        }

        #[inline]
        fn max_len(&self) -> usize {
            self.$a.max_len().min(self.$b.max_len())
        }
    };
}

pub(super) use wishes_of_both;
