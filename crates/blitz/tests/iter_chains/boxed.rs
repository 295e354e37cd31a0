//! An indexed parallel iterator whose type does not tell what it is made of.
//!
//! The producer is erased the same way, and fed both ways: through `fold_with` of what is inside, item by item, and through
//! its sequential iterator, which `rev`, `zip` and others ask for.

use blitz::iter::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer, bridge,
};
use blitz::prelude::*;

trait AnyIndexed<T>: Send {
    fn len(&self) -> usize;
    fn with_any(self: Box<Self>, callback: &mut dyn FnMut(AnyProducer<'_, T>));
}

pub struct Boxed<T>(Box<dyn AnyIndexed<T>>);

impl<T> Boxed<T> {
    pub fn new<I>(iter: I) -> Self
    where
        I: IndexedParallelIterator<Item = T> + 'static,
    {
        Boxed(Box::new(iter))
    }
}

impl<T, I> AnyIndexed<T> for I
where
    I: IndexedParallelIterator<Item = T>,
{
    fn len(&self) -> usize {
        IndexedParallelIterator::len(self)
    }

    fn with_any(self: Box<Self>, callback: &mut dyn FnMut(AnyProducer<'_, T>)) {
        struct Erase<'c, T>(&'c mut dyn FnMut(AnyProducer<'_, T>));

        impl<T> ProducerCallback<T> for Erase<'_, T> {
            type Output = ();

            fn callback<P>(self, producer: P)
            where
                P: Producer<Item = T>,
            {
                (self.0)(AnyProducer(Box::new(producer)));
            }
        }

        self.with_producer(Erase(callback));
    }
}

impl<T: Send> ParallelIterator for Boxed<T> {
    type Item = T;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<T: Send> IndexedParallelIterator for Boxed<T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn drive<C: Consumer<T>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<T>>(self, callback: CB) -> CB::Output {
        let (mut callback, mut output) = (Some(callback), None);
        self.0.with_any(&mut |producer| {
            let callback = callback.take().expect("called once");
            output = Some(callback.callback(producer));
        });
        output.expect("with_producer calls back")
    }
}

/// A producer of unknown type.
struct AnyProducer<'p, T>(Box<dyn Erased<'p, T> + 'p>);

trait Items<T>: DoubleEndedIterator<Item = T> + ExactSizeIterator {}

impl<T, I> Items<T> for I where I: DoubleEndedIterator<Item = T> + ExactSizeIterator {}

trait Erased<'p, T>: Send {
    fn split(self: Box<Self>, index: usize) -> (AnyProducer<'p, T>, AnyProducer<'p, T>);
    fn items(self: Box<Self>) -> Box<dyn Items<T> + 'p>;
    /// Feeds all items to `sink`, until it returns `false`.
    fn feed(self: Box<Self>, sink: &mut dyn FnMut(T) -> bool);
    fn bounds(&self) -> (usize, usize);
}

impl<'p, P> Erased<'p, P::Item> for P
where
    P: Producer + 'p,
{
    fn split(
        self: Box<Self>,
        index: usize,
    ) -> (AnyProducer<'p, P::Item>, AnyProducer<'p, P::Item>) {
        let (left, right) = self.split_at(index);
        (AnyProducer(Box::new(left)), AnyProducer(Box::new(right)))
    }

    fn items(self: Box<Self>) -> Box<dyn Items<P::Item> + 'p> {
        Box::new(self.into_iter())
    }

    fn feed(self: Box<Self>, sink: &mut dyn FnMut(P::Item) -> bool) {
        self.fold_with(Sink { sink, full: false });
    }

    fn bounds(&self) -> (usize, usize) {
        (self.min_len(), self.max_len())
    }
}

struct Sink<'s, T> {
    sink: &'s mut dyn FnMut(T) -> bool,
    full: bool,
}

impl<T> Folder<T> for Sink<'_, T> {
    type Result = ();

    fn consume(mut self, item: T) -> Self {
        self.full = !(self.sink)(item);
        self
    }

    fn complete(self) {}

    fn full(&self) -> bool {
        self.full
    }
}

impl<'p, T> Producer for AnyProducer<'p, T> {
    type Item = T;
    type IntoIter = Box<dyn Items<T> + 'p>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.items()
    }

    fn min_len(&self) -> usize {
        self.0.bounds().0
    }

    fn max_len(&self) -> usize {
        self.0.bounds().1
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        self.0.split(index)
    }

    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<T>,
    {
        let mut folder = Some(folder);
        self.0.feed(&mut |item| {
            let fed = folder.take().expect("put back below").consume(item);
            let wants_more = !fed.full();
            folder = Some(fed);
            wants_more
        });
        folder.expect("put back after every item")
    }
}
