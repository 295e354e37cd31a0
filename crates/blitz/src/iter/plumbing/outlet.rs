//! Loops whose pieces other threads run one by one: what `into_seq` is made of.
//!
//! A loop runs from the call of `drive` to its end, on the caller's stack. The producer lives there, with everything that it borrows. A sequential iterator over the results has to stop
//! in between. So such a loop is driven on a stack of its own. A consumer with an [`Outlet`] does not let it run its producer, but hands the producer out, as a [`Piece`]. Other threads
//! split blocks off the piece and run them. When all of that has ended, [`Outlet::offer`] returns, and so does the loop.
//!
//! Other code that drives consumers need not know about this. A consumer whose outlet is not used is a consumer that collects. So is one that has been split, or moved to another
//! thread, by code that does not know.

use super::polled_loop::Steps;
use super::{Consumer, Folder, Producer, UnindexedConsumer, UnindexedProducer};
use crate::engine::ThreadPool;
use std::marker::PhantomData;

/// Where pieces go.
#[doc(hidden)]
pub trait Outlet<R> {
    /// From now on what is split off to the left is for a piece: it has no outlet any more. What stays on the right stands for nothing.
    fn begin(&self);

    /// The two sides of the next split will be driven one after the other, the left one first, on this thread. (Otherwise the sides have no outlet: they collect.)
    fn in_turn(&self);

    /// Blocks will run in this pool.
    ///
    /// # Safety
    /// The pool is there until the loop ends: the caller drives it, and has borrowed the pool for longer than that.
    ///
    /// ```compile_fail,E0133
    /// fn with_any_pool(outlet: &dyn blitz::iter::plumbing::Outlet<()>, pool: &blitz::ThreadPool) {
    ///     outlet.run_in(pool);
    /// }
    /// ```
    unsafe fn run_in(&self, pool: &ThreadPool);

    /// Hands out a piece. Returns when it is over: all of it has been run or dropped.
    fn offer<'p>(&self, piece: Box<dyn Piece<'p, R> + 'p>);
}

/// How a piece can be cut.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Cut {
    /// It has so many items, and can be cut anywhere.
    At(usize),
    /// It can be cut anywhere; how many items there are is unknown.
    Somewhere,
    /// It can be halved, perhaps.
    Halves,
}

/// What is left of a loop, with all that becomes of its items.
#[doc(hidden)]
pub trait Piece<'p, R>: Send {
    fn how(&self) -> Cut;

    /// Cuts after `len` items, or in the middle. `None`: there is no second part.
    fn cut(self: Box<Self>, len: usize) -> (Rest<'p, R>, Option<Rest<'p, R>>);

    fn run(self: Box<Self>) -> R;
}

/// A piece, wherever it lives.
#[doc(hidden)]
pub type Rest<'p, R> = Box<dyn Piece<'p, R> + 'p>;

/// What a loop does if its consumer has an outlet: hand itself out, or come back as it is. It is a constant, so that a loop whose consumer cannot have one does not contain the code.
pub(super) struct Pour<P, C>(PhantomData<(P, C)>);

impl<P, C> Pour<P, C>
where
    P: Producer,
    C: Consumer<P::Item>,
{
    #[allow(clippy::type_complexity)]
    pub(super) const LOOP: Option<fn(usize, P, C) -> Result<C::Result, (P, C)>> = if C::HAS_OUTLET {
        Some(Self::pour)
    } else {
        None
    };

    fn pour(len: usize, producer: P, consumer: C) -> Result<C::Result, (P, C)> {
        let Some(outlet) = consumer.outlet() else {
            return Err((producer, consumer));
        };
        outlet.begin();
        let (consumer, end, _) = consumer.split_at(len);
        let piece = Box::new(Indexed {
            len,
            producer,
            consumer,
        });
        offer(&end, piece);
        Ok(end.into_folder().complete())
    }
}

/// The same for producers of unknown length.
pub(super) struct PourUnindexed<P, C>(PhantomData<(P, C)>);

impl<P, C> PourUnindexed<P, C>
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    #[allow(clippy::type_complexity)]
    pub(super) const LOOP: Option<fn(P, C) -> Result<C::Result, (P, C)>> = if C::HAS_OUTLET {
        Some(Self::pour)
    } else {
        None
    };

    fn pour(producer: P, end: C) -> Result<C::Result, (P, C)> {
        let Some(outlet) = end.outlet() else {
            return Err((producer, end));
        };
        outlet.begin();
        let consumer = end.split_off_left();
        offer(&end, Box::new(Unindexed { producer, consumer }));
        Ok(end.into_folder().complete())
    }
}

/// The same for sources that can only be gone through.
pub(crate) struct PourPulled<S, T, C>(PhantomData<(S, T, C)>);

/// Takes up to so many items from a source; fewer only at its end.
type Pull<S, T> = fn(&mut S, usize) -> Vec<T>;

impl<S, T, C> PourPulled<S, T, C>
where
    S: Send,
    T: Send,
    C: Consumer<T>,
{
    #[allow(clippy::type_complexity)]
    pub(crate) const LOOP: Option<fn(usize, S, Pull<S, T>, C) -> Result<C::Result, (S, C)>> =
        if C::HAS_OUTLET {
            Some(Self::pour)
        } else {
            None
        };

    /// `len` is the number of items; anything, if that is unknown.
    fn pour(len: usize, source: S, pull: Pull<S, T>, consumer: C) -> Result<C::Result, (S, C)> {
        let Some(outlet) = consumer.outlet() else {
            return Err((source, consumer));
        };
        outlet.begin();
        let (consumer, end, _) = consumer.split_at(len);
        let piece = Box::new(Pulled {
            source,
            pull,
            consumer,
        });
        offer(&end, piece);
        Ok(end.into_folder().complete())
    }
}

fn offer<'p, T, C>(end: &C, piece: Rest<'p, C::Result>)
where
    C: Consumer<T>,
{
    let outlet = end.outlet().expect("the right part keeps its outlet");
    outlet.offer(piece);
}

fn run<I, C, F>(consumer: C, fold: F) -> C::Result
where
    C: Consumer<I>,
    F: FnOnce(C::Folder) -> C::Folder,
{
    let full = consumer.full();
    let folder = consumer.into_folder();
    if full {
        return folder.complete();
    }
    fold(folder).complete()
}

struct Indexed<P, C> {
    len: usize,
    producer: P,
    consumer: C,
}

impl<'p, P, C> Piece<'p, C::Result> for Indexed<P, C>
where
    P: Producer + 'p,
    C: Consumer<P::Item> + 'p,
{
    fn how(&self) -> Cut {
        Cut::At(self.len)
    }

    fn cut(self: Box<Self>, len: usize) -> (Rest<'p, C::Result>, Option<Rest<'p, C::Result>>) {
        let min = self.producer.min_len().max(1);
        let len = len.max(min);
        // Users choose the minimum: two of them may be more than there are numbers.
        if self.len < len.saturating_add(min) {
            return (self, None);
        }
        let (left_items, right_items) = self.producer.split_at(len);
        let (left, right, _) = self.consumer.split_at(len);
        let first = Indexed {
            len,
            producer: left_items,
            consumer: left,
        };
        let rest = Indexed {
            len: self.len - len,
            producer: right_items,
            consumer: right,
        };
        (Box::new(first), Some(Box::new(rest)))
    }

    fn run(self: Box<Self>) -> C::Result {
        let producer = self.producer;
        run(self.consumer, |folder| producer.fold_with(folder))
    }
}

struct Unindexed<P, C> {
    producer: P,
    consumer: C,
}

impl<'p, P, C> Piece<'p, C::Result> for Unindexed<P, C>
where
    P: UnindexedProducer + 'p,
    C: UnindexedConsumer<P::Item> + 'p,
{
    fn how(&self) -> Cut {
        Cut::Halves
    }

    fn cut(self: Box<Self>, _len: usize) -> (Rest<'p, C::Result>, Option<Rest<'p, C::Result>>) {
        let Unindexed { producer, consumer } = *self;
        let (first, rest) = producer.split();
        let of = |producer, consumer| -> Rest<'p, C::Result> {
            Box::new(Unindexed { producer, consumer })
        };
        match rest {
            Some(rest) => {
                let left = consumer.split_off_left();
                (of(first, left), Some(of(rest, consumer)))
            }
            None => (of(first, consumer), None),
        }
    }

    fn run(self: Box<Self>) -> C::Result {
        let producer = self.producer;
        run(self.consumer, |folder| producer.fold_with(folder))
    }
}

struct Pulled<S, T, C> {
    source: S,
    pull: Pull<S, T>,
    consumer: C,
}

impl<'p, S, T, C> Piece<'p, C::Result> for Pulled<S, T, C>
where
    S: Send + 'p,
    T: Send + 'p,
    C: Consumer<T> + 'p,
{
    fn how(&self) -> Cut {
        Cut::Somewhere
    }

    fn cut(self: Box<Self>, len: usize) -> (Rest<'p, C::Result>, Option<Rest<'p, C::Result>>) {
        let Pulled {
            mut source,
            pull,
            consumer,
        } = *self;
        let items = pull(&mut source, len);
        let ended = items.len() < len;
        let (left, consumer, _) = consumer.split_at(items.len());
        let first = Box::new(Items {
            items,
            consumer: left,
        });
        let rest = Pulled {
            source,
            pull,
            consumer,
        };
        (
            first,
            (!ended).then(|| Box::new(rest) as Rest<'p, C::Result>),
        )
    }

    fn run(mut self: Box<Self>) -> C::Result {
        let items = (self.pull)(&mut self.source, usize::MAX);
        run(self.consumer, |folder| folder.consume_iter(items))
    }
}

struct Items<T, C> {
    items: Vec<T>,
    consumer: C,
}

impl<'p, T, C> Piece<'p, C::Result> for Items<T, C>
where
    T: Send + 'p,
    C: Consumer<T> + 'p,
{
    fn how(&self) -> Cut {
        Cut::At(self.items.len())
    }

    fn cut(self: Box<Self>, _len: usize) -> (Rest<'p, C::Result>, Option<Rest<'p, C::Result>>) {
        (self, None)
    }

    fn run(self: Box<Self>) -> C::Result {
        let items = self.items;
        run(self.consumer, |folder| folder.consume_iter(items))
    }
}

/// What is there already.
struct Done<R>(R);

impl<'p, R: Send + 'p> Piece<'p, R> for Done<R> {
    fn how(&self) -> Cut {
        Cut::At(1)
    }

    fn cut(self: Box<Self>, _len: usize) -> (Rest<'p, R>, Option<Rest<'p, R>>) {
        (self, None)
    }

    fn run(self: Box<Self>) -> R {
        self.0
    }
}

/// Drives `left` and then `right`, whose consumers are the sides of a split in turn.
pub(crate) fn drive_in_turn<T, C>(
    left: impl FnOnce() -> C::Result,
    right: C,
    drive_right: impl FnOnce(C) -> C::Result,
) -> C::Result
where
    C: Consumer<T>,
{
    let collected = left();
    match right.outlet() {
        // What was not handed out comes before what will be.
        Some(outlet) => outlet.offer(Box::new(Done(collected))),
        None => unreachable!("a split in turn keeps the outlet"),
    }
    drive_right(right)
}

/// Takes up to `limit` items of stepwise sources, for [`pour_pulled`].
pub(super) fn take_steps<S: Steps>(steps: &mut S, limit: usize) -> Vec<S::Item> {
    struct Taken<T>(Vec<T>);
    impl<T> Folder<T> for Taken<T> {
        type Result = Vec<T>;
        fn consume(mut self, item: T) -> Self {
            self.0.push(item);
            self
        }
        fn complete(self) -> Vec<T> {
            self.0
        }
        fn full(&self) -> bool {
            false
        }
    }
    let mut taken = Taken(Vec::new());
    while taken.0.len() < limit && !steps.is_done() {
        let missing = limit - taken.0.len();
        taken = steps.step(taken, missing);
    }
    taken.0
}
