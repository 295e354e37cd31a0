//! Adaptors that pass items on: the part they have in common.
//!
//! `map`, `filter`, `inspect`, `take_any` and their relatives all do the same thing. Between a producer and a
//! consumer they put a step that turns each incoming item into zero or more outgoing ones. They
//! differ only in that step, the [`Stage`]. How it is split, handed to other threads, reduced and stopped is written
//! once, here.
//!
//! A [`Plan`] is the sendable recipe of a stage; it travels with the consumer and begins one stage per piece. Most
//! stages are their own plan. `map_init` is not: its state is made where it is used and need not be `Send`.
//!
//! A stage gets whole iterators ([`Stage::feed_iter`]), and wraps them in the iterator adaptor of the same name from
//! `std`. So a chain of stages compiles to the same loop as the sequential chain.

use super::find::{FirstLook, LOOK_UP_AFTER};
use super::plumbing::{Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer};
use crate::delegate::forward_to_base;

/// One step between producer and consumer, at work on one piece.
pub(super) trait Stage<In> {
    /// What it passes on.
    type Out;

    /// Passes on what `item` becomes.
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<Self::Out>;

    /// Passes on what all items of `iter` become, until the folder is full.
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<Self::Out>,
        I: Iterator<Item = In>;

    /// Whether [`full`](Self::full) can become true.
    const CAN_BE_FULL: bool = false;

    /// Whether items may come in without any going out. Whoever comes behind cannot look up then whether to stop, so it is done
    /// for them.
    const KEEPS_BACK: bool = false;

    /// True when nothing more will be passed on.
    #[inline]
    fn full(&self) -> bool {
        false
    }
}

/// The recipe of a stage, from which each piece begins its own.
pub(super) trait Plan<In>: Clone + Send {
    /// The stage it begins.
    type Stage: Stage<In>;

    /// Begins the stage for one piece.
    fn begin(self) -> Self::Stage;

    /// True when nothing more will be passed on anywhere.
    #[inline]
    fn full(&self) -> bool {
        false
    }

    /// True if the stage passes on until the end.
    #[inline]
    fn is_never_full(&self) -> bool {
        true
    }

    /// True if the stage may soon pass nothing on any more.
    #[inline]
    fn is_search(&self) -> bool {
        !self.is_never_full()
    }

    /// Whether that can be so.
    const MAY_SEARCH: bool = <Self::Stage as Stage<In>>::CAN_BE_FULL;
}

/// Makes a stage that can be cloned its own plan.
macro_rules! its_own_plan {
    ([$($generics:tt)*] $stage:ty) => {
        impl<$($generics)* In> $crate::iter::stage::Plan<In> for $stage
        where
            Self: $crate::iter::stage::Stage<In> + Clone + Send,
        {
            type Stage = Self;

            #[inline]
            fn begin(self) -> Self {
                self
            }

            #[inline]
            fn full(&self) -> bool {
                $crate::iter::stage::Stage::full(self)
            }

            #[inline]
            fn is_never_full(&self) -> bool {
                !<Self as $crate::iter::stage::Stage<In>>::CAN_BE_FULL
            }
        }
    };
}

/// What the stage of a plan passes on.
pub(super) type Out<In, P> = <<P as Plan<In>>::Stage as Stage<In>>::Out;

/// A plan whose stage passes on exactly one item per item, so that positions survive it.
pub(super) trait IndexedPlan<In>: Plan<In> {
    /// Whether nobody can tell if items have gone through the stage.
    const MAY_BE_LEFT: bool = false;

    /// The stage wrapped around a sequential iterator.
    type Iter<I>: Iterator<Item = Out<In, Self>> + DoubleEndedIterator + ExactSizeIterator
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator;

    /// Wraps the stage around a sequential iterator.
    fn over<I>(self, iter: I) -> Self::Iter<I>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator;
}

/// The consumer that runs a stage and passes on to `base`.
#[derive(Clone)]
pub(super) struct Staged<C, P> {
    base: C,
    plan: P,
}

impl<C, P> Staged<C, P> {
    #[inline]
    pub(super) fn new(base: C, plan: P) -> Self {
        Staged { base, plan }
    }
}

impl<In, C, P> Consumer<In> for Staged<C, P>
where
    P: Plan<In>,
    C: Consumer<Out<In, P>>,
{
    type Folder = StagedFolder<C::Folder, P::Stage>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const MAY_SEARCH: bool = P::MAY_SEARCH || C::MAY_SEARCH;

    forward_to_base! { outlet }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let (left, right, reducer) = self.base.split_at(index);
        (
            Staged::new(left, self.plan.clone()),
            Staged::new(right, self.plan),
            reducer,
        )
    }

    #[inline]
    fn into_folder(self) -> Self::Folder {
        StagedFolder {
            may_stop: !self.base.is_never_full(),
            base: self.base.into_folder(),
            stage: self.plan.begin(),
        }
    }

    #[inline]
    fn full(&self) -> bool {
        self.plan.full() || self.base.full()
    }

    #[inline]
    fn is_never_full(&self) -> bool {
        self.plan.is_never_full() && self.base.is_never_full()
    }

    #[inline]
    fn is_search(&self) -> bool {
        self.plan.is_search() || self.base.is_search()
    }

    forward_to_base! { wants_first }

    #[inline]
    fn can_resume(&self, folder: &Self::Folder) -> bool {
        self.base.can_resume(&folder.base)
    }

    #[inline]
    fn resume(self, folder: Self::Folder) -> Self::Folder {
        StagedFolder {
            base: self.base.resume(folder.base),
            ..folder
        }
    }
}

impl<In, C, P> UnindexedConsumer<In> for Staged<C, P>
where
    P: Plan<In>,
    C: UnindexedConsumer<Out<In, P>>,
{
    #[inline]
    fn split_off_left(&self) -> Self {
        Staged::new(self.base.split_off_left(), self.plan.clone())
    }

    #[inline]
    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

/// The folder that runs a stage and passes on to `base`.
pub(super) struct StagedFolder<F, S> {
    base: F,
    stage: S,
    /// Whether the base can have enough.
    may_stop: bool,
}

impl<In, F, S> Folder<In> for StagedFolder<F, S>
where
    S: Stage<In>,
    F: Folder<S::Out>,
{
    type Result = F::Result;

    const MAY_BE_FULL: bool = S::CAN_BE_FULL || F::MAY_BE_FULL;

    #[inline]
    fn consume(mut self, item: In) -> Self {
        self.base = self.stage.feed(self.base, item);
        self
    }

    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = In>,
    {
        let mut iter = iter.into_iter();
        // What follows has the rest of the chain in it twice. Two such stages make four of it, and so on: only for those who need it.
        if const { !S::KEEPS_BACK || !F::MAY_BE_FULL } {
            self.base = self.stage.feed_iter(self.base, iter);
            return self;
        }
        let most = iter.size_hint().1;
        let is_long = most.is_none_or(|most| most > LOOK_UP_AFTER);
        if !self.may_stop || !is_long {
            self.base = self.stage.feed_iter(self.base, iter);
            return self;
        }
        let mut first_look = Some(FirstLook::begin());
        loop {
            let mut fed = 0;
            let some = iter.by_ref().take(LOOK_UP_AFTER).inspect(|_| fed += 1);
            self.base = self.stage.feed_iter(self.base, some);
            if fed < LOOK_UP_AFTER || self.full() {
                return self;
            }
            if first_look
                .take()
                .is_some_and(|look| look.expects_an_end_of(&iter))
            {
                self.base = self.stage.feed_iter(self.base, iter);
                return self;
            }
        }
    }

    #[inline]
    fn complete(self) -> F::Result {
        self.base.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.stage.full() || self.base.full()
    }
}

/// The producer of a base whose items go through a stage first.
pub(super) struct StagedProducer<P, S> {
    base: P,
    plan: S,
}

impl<P, S> Producer for StagedProducer<P, S>
where
    P: Producer,
    S: IndexedPlan<P::Item>,
{
    type Item = Out<P::Item, S>;
    type IntoIter = S::Iter<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.plan.over(self.base.into_iter())
    }

    const MAY_BE_LEFT: bool = P::MAY_BE_LEFT && S::MAY_BE_LEFT;

    forward_to_base! { min_len max_len wishes }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(index);
        let plan = self.plan.clone();
        (
            StagedProducer { base: left, plan },
            StagedProducer {
                base: right,
                plan: self.plan,
            },
        )
    }

    #[inline]
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        // A stage that passes on one item per item keeps nothing back.
        let folder = StagedFolder {
            base: folder,
            stage: self.plan.begin(),
            may_stop: false,
        };
        self.base.fold_with(folder).base
    }
}

/// The callback that wraps a producer in a stage and passes it on.
pub(super) struct WithStage<CB, S> {
    pub(super) callback: CB,
    pub(super) plan: S,
}

impl<T, CB, S> ProducerCallback<T> for WithStage<CB, S>
where
    S: IndexedPlan<T>,
    CB: ProducerCallback<Out<T, S>>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<P>(self, base: P) -> CB::Output
    where
        P: Producer<Item = T>,
    {
        self.callback.callback(StagedProducer {
            base,
            plan: self.plan,
        })
    }
}

/// Implements `ParallelIterator` for an adaptor with a field `base`, from the plan of its stage.
///
/// The plan may borrow what the whole loop shares, and that may be made on the spot: `Stage { flag: &AtomicBool::new(false) }`
/// lives until the loop is over.
///
/// `keeps the length` adds `opt_len` and `IndexedParallelIterator`; it needs an [`IndexedPlan`].
macro_rules! staged_adaptor {
    (
        impl [$($generics:tt)*] $adaptor:ty => $item:ty
        $(where [$($bounds:tt)*])?;
        fn plan($this:ident) $plan:block
    ) => {
        $crate::iter::stage::staged_adaptor! {
            @unindexed [$($generics)*] $adaptor, $item, [$($($bounds)*)?], $this, $plan, {
                const MAY_HAVE_LEN: bool = false;
            }
        }
    };
    (
        impl [$($generics:tt)*] $adaptor:ty => $item:ty, keeps the length
        $(where [$($bounds:tt)*])?;
        fn plan($this:ident) $plan:block
    ) => {
        $crate::iter::stage::staged_adaptor! {
            @unindexed [$($generics)*] $adaptor, $item, [$($($bounds)*)?], $this, $plan, {
                $crate::delegate::forward_to_base! { opt_len }
            }
        }

        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $adaptor
        where
            I: $crate::iter::IndexedParallelIterator,
            $($($bounds)*)?
        {
            #[inline]
            fn drive<C>($this, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::Consumer<Self::Item>,
            {
                let plan = $plan;
                $this.base.drive($crate::iter::stage::Staged::new(consumer, plan))
            }

            fn len(&self) -> usize {
                self.base.len()
            }

            fn with_producer<CB>($this, callback: CB) -> CB::Output
            where
                CB: $crate::iter::plumbing::ProducerCallback<Self::Item>,
            {
                let plan = $plan;
                $this.base.with_producer($crate::iter::stage::WithStage { callback, plan })
            }
        }
    };
    (
        @unindexed [$($generics:tt)*] $adaptor:ty, $item:ty, [$($bounds:tt)*], $this:ident, $plan:block, { $($length:tt)* }
    ) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $adaptor
        where
            I: $crate::iter::ParallelIterator,
            $($bounds)*
        {
            type Item = $item;

            #[inline]
            fn drive_unindexed<C>($this, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::UnindexedConsumer<Self::Item>,
            {
                let plan = $plan;
                $this.base.drive_unindexed($crate::iter::stage::Staged::new(consumer, plan))
            }

            $($length)*
        }
    };
}

/// Implements `Debug` for an adaptor by showing the named fields; closures cannot be shown.
macro_rules! debug_fields {
    ($adaptor:ident [$($generic:ident),*] shows $($field:ident: $shown:ident),+) => {
        impl<$($generic),*> std::fmt::Debug for $adaptor<$($generic),*>
        where
            $($shown: std::fmt::Debug,)+
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($adaptor))
                    $(.field(stringify!($field), &self.$field))+
                    .finish()
            }
        }
    };
}

/// Makes a stage that holds nothing but shared references its own plan.
macro_rules! plan_by_reference {
    ($stage:ident<$lifetime:lifetime, $($generic:ident),*> { $($field:tt),+ }) => {
        impl<$lifetime, $($generic),*> Clone for $stage<$lifetime, $($generic),*> {
            #[inline]
            fn clone(&self) -> Self {
                $stage { $($field: self.$field),+ }
            }
        }

        $crate::iter::stage::its_own_plan! { [$lifetime, $($generic: Sync,)*] $stage<$lifetime, $($generic),*> }
    };
}

pub(super) use {debug_fields, its_own_plan, plan_by_reference, staged_adaptor};
