//! What one thread makes of its part of a loop, and how that survives a fork.
//!
//! # Why moving a folder is sound
//!
//! A folder need not be `Send`: it must stay on the thread that began it. The two closures of a join do not know on which thread
//! they will run. So they carry a reference to the [`Local`] of the thread that forked, and use it only after they have
//! compared that thread with their own. A closure on another thread begins its own folder. A closure on the same thread
//! takes the folder *out* of the `Local`, and puts it back when done. If it is not there, it begins its own as well. (Then the left half panicked, or
//! a `yield_now` in the middle of the left half ran this closure.)

use super::demand_loop::fold;
use super::pace::{Measured, Pace};
use super::trust;
use super::{Consumer, Folder, Producer, Reducer};
use crate::engine::demand::{Parts, Within, in_loop};
use std::cell::Cell;

/// What one thread has made of its part of a loop so far, and how fast.
pub(super) struct Local<T, C>
where
    C: Consumer<T>,
{
    /// The thread it belongs to.
    owner: usize,
    pub(super) pace: Pace,
    made: Cell<Made<C::Result, C::Reducer, C::Folder>>,
    /// The folder is out of `made`, being fed.
    busy: Cell<bool>,
    /// The folder in `made` has had enough.
    full: Cell<bool>,
    /// Pieces are bounded in length, so that each gets a folder of its own.
    apart: bool,
    /// This thread is inside a fork, so it has a seat in the pool, so its left halves run here.
    seated: Cell<bool>,
    /// The loop that this is a part of, once this thread sits in the pool.
    within: Cell<Within>,
}

/// What a part that was handed over has come to, and what it has measured.
pub(super) type Part<R> = (R, Measured);

/// The results so far: `done` and then what is in `folder`, to be put together by `joint`.
struct Made<R, D, F> {
    done: Option<R>,
    joint: Option<D>,
    folder: Option<F>,
}

impl<R, D, F> Default for Made<R, D, F> {
    #[inline]
    fn default() -> Self {
        Made {
            done: None,
            joint: None,
            folder: None,
        }
    }
}

impl<T, C> Local<T, C>
where
    C: Consumer<T>,
{
    #[inline]
    pub(super) fn new(pace: Pace) -> Self {
        Local::of_pieces(pace, false)
    }

    /// If `apart`, each piece gets a folder of its own.
    #[inline]
    pub(super) fn of_pieces(pace: Pace, apart: bool) -> Self {
        Local {
            owner: this_thread(),
            pace,
            made: Cell::default(),
            busy: Cell::new(false),
            full: Cell::new(false),
            apart,
            seated: Cell::new(false),
            within: Cell::new(Within::NOTHING),
        }
    }

    /// What the forks of this thread are parts of.
    #[inline]
    pub(super) fn within(&self) -> Within {
        self.within.get()
    }

    /// This is a part of a loop that another thread has begun.
    #[inline]
    pub(super) fn be_within(&self, within: Within) {
        self.within.set(within);
    }

    /// Runs `work`, which forks, as a loop; if this is a part of one already, as part of that.
    #[inline]
    pub(super) fn in_loop(&self, work: impl FnOnce()) {
        if self.within.get().is_loop() {
            work();
        } else {
            let mut work = Some(work);
            begin_loop(&self.within, &mut || work.take().expect("once")());
        }
    }

    /// Feeds all items of `producer`.
    #[inline]
    pub(super) fn feed_all<P>(&self, parts: Parts, producer: P, consumer: C)
    where
        P: Producer<Item = T>,
    {
        self.feed(consumer, |folder| fold(parts, producer, folder));
    }

    /// Feeds the folder through `fold`: the one that is there, if `consumer` can go on with it, or a new one.
    #[inline]
    pub(super) fn feed(&self, consumer: C, fold: impl FnOnce(C::Folder) -> C::Folder) {
        let mut made = self.made.take();
        let folder = match made.folder.take() {
            Some(folder) if !self.apart && consumer.can_resume(&folder) => consumer.resume(folder),
            Some(folder) => {
                made.folder = Some(folder);
                begin_next(&mut made, consumer)
            }
            None if made.done.is_some() => begin_next(&mut made, consumer),
            None => consumer.into_folder(),
        };
        self.fold(made, folder, fold);
    }

    /// As [`feed`](Self::feed), for items that belong to the same consumer as those before; only a new folder needs to have
    /// one split off.
    #[inline]
    pub(super) fn feed_more(
        &self,
        split_off: impl FnOnce() -> C,
        fold: impl FnOnce(C::Folder) -> C::Folder,
    ) {
        let mut made = self.made.take();
        let folder = match made.folder.take() {
            Some(folder) => folder,
            None if made.done.is_some() => begin_next(&mut made, split_off()),
            None => split_off().into_folder(),
        };
        self.fold(made, folder, fold);
    }

    #[inline]
    fn fold(
        &self,
        made: Made<C::Result, C::Reducer, C::Folder>,
        folder: C::Folder,
        fold: impl FnOnce(C::Folder) -> C::Folder,
    ) {
        self.made.set(made);
        self.busy.set(true);
        let part = self.pace.trusts_loops().then(trust::open);
        let folder = fold(folder);
        drop(part);
        self.busy.set(false);
        self.full.set(folder.full());
        let mut made = self.made.take();
        made.folder = Some(folder);
        self.made.set(made);
    }

    /// Takes over a folder that was begun before there was need for a `Local`.
    pub(super) fn put(&self, folder: C::Folder) {
        self.full.set(folder.full());
        self.made.set(Made {
            folder: Some(folder),
            ..Made::default()
        });
    }

    /// The folder has had enough.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.full.get()
    }

    /// Would `consumer` go on with the folder, as if its items and those before it were one piece?
    #[inline]
    pub(super) fn can_go_on(&self, consumer: &C) -> bool {
        let made = self.made.take();
        let can = made.folder.as_ref();
        let can = !self.apart && can.is_some_and(|folder| consumer.can_resume(folder));
        self.made.set(made);
        can
    }

    /// Nothing more is wanted. There must be a result, though, and only a consumer can begin one.
    #[cold]
    pub(super) fn skip(&self, consumer: C) {
        let mut made = self.made.take();
        if made.done.is_none() && made.folder.is_none() {
            made.folder = Some(consumer.into_folder());
        }
        self.made.set(made);
    }

    /// A reducer for what is already made and what the coming fork makes, in case both of its halves run elsewhere. That
    /// can happen to the outermost fork of a thread, if it gets no seat in the pool.
    #[inline]
    pub(super) fn spare_reducer(&self, consumer: C) -> (C, Option<C::Reducer>) {
        if self.seated.replace(true) {
            return (consumer, None);
        }
        let (_, consumer, reducer) = consumer.split_at(0);
        (consumer, Some(reducer))
    }

    /// Takes in what the halves of a fork have made elsewhere; what they made here is in the folder already.
    #[inline]
    pub(super) fn take_in(
        &self,
        left: Option<Part<C::Result>>,
        right: Option<Part<C::Result>>,
        reducer: C::Reducer,
        spare: Option<C::Reducer>,
    ) {
        let result = |part: Option<Part<C::Result>>| {
            part.map(|(result, measured)| {
                self.pace.take_in(measured);
                result
            })
        };
        let (left, right) = (result(left), result(right));
        if spare.is_some() {
            // That was the outermost fork. A guest has given its seat back and may not get one again.
            self.seated.set(false);
        }
        match (left, right) {
            (None, None) => {}
            (None, Some(right)) => self.append(right, reducer),
            (Some(left), Some(right)) => {
                let both = reducer.reduce(left, right);
                let spare = spare.expect("a thread with a seat runs the left half itself");
                self.append(both, spare);
            }
            (Some(_), None) => {
                unreachable!("the left half left this thread, the right one did not")
            }
        }
    }

    /// Puts `result`, which comes after everything here, behind it.
    #[cold]
    fn append(&self, result: C::Result, reducer: C::Reducer) {
        let mut made = self.made.take();
        made.close::<T>();
        made.done = Some(match made.done {
            Some(done) => reducer.reduce(done, result),
            None => result,
        });
        self.made.set(made);
        // The folder that had enough is closed. What comes now lies behind `result` and may be wanted all the same: a hit in
        // `result` makes everything before it pointless to `find_last`, but nothing behind it.
        self.full.set(false);
    }

    /// The result of a part that was handed over to this thread.
    pub(super) fn finish_part(self) -> Part<C::Result> {
        let measured = self.pace.of_part();
        (self.finish(), measured)
    }

    /// The result of it all. Something must have been fed or skipped.
    #[inline]
    pub(super) fn finish(self) -> C::Result {
        let mut made = self.made.into_inner();
        made.close::<T>();
        made.done.expect("a loop has at least one piece")
    }
}

/// Not generic: each thread that takes part in a loop comes here once, and there are many kinds of loops to be compiled.
#[inline(never)]
fn begin_loop(within: &Cell<Within>, work: &mut dyn FnMut()) {
    struct Leave<'a>(&'a Cell<Within>);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            self.0.set(Within::NOTHING);
        }
    }
    in_loop(|loop_at_hand| {
        within.set(loop_at_hand);
        let _leave = Leave(within);
        work();
    });
}

/// Completes the folder, if any, and begins a new one behind it.
#[cold]
fn begin_next<T, C>(made: &mut Made<C::Result, C::Reducer, C::Folder>, consumer: C) -> C::Folder
where
    C: Consumer<T>,
{
    made.close::<T>();
    // Cut off nothing, for the sake of the reducer.
    let (_, consumer, reducer) = consumer.split_at(0);
    made.joint = Some(reducer);
    consumer.into_folder()
}

impl<R, D, F> Made<R, D, F>
where
    D: Reducer<R>,
{
    /// Completes the folder, if there is one.
    #[inline]
    fn close<T>(&mut self)
    where
        F: Folder<T, Result = R>,
    {
        if let Some(folder) = self.folder.take() {
            let result = folder.complete();
            self.done = Some(match (self.done.take(), self.joint.take()) {
                (Some(done), Some(joint)) => joint.reduce(done, result),
                _ => result,
            });
        }
    }
}

/// A `Local` on its way through a closure that may run anywhere.
pub(super) struct Here<'l, T, C>(&'l Local<T, C>)
where
    C: Consumer<T>;

impl<T, C> Clone for Here<'_, T, C>
where
    C: Consumer<T>,
{
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, C> Copy for Here<'_, T, C> where C: Consumer<T> {}

// SAFETY: the `Local` is not `Sync`, but all that another thread does with it is to read `owner`, which never changes, and
// find that it is not the owner (`Here::local`). The reference is alive: the join that runs the closure does not return
// before the closure has.
unsafe impl<T, C> Send for Here<'_, T, C> where C: Consumer<T> {}

impl<'l, T, C> Here<'l, T, C>
where
    C: Consumer<T>,
{
    #[inline]
    pub(super) fn new(local: &'l Local<T, C>) -> Self {
        Here(local)
    }

    /// This thread is about to wait, and may run other parts of the same loop meanwhile: so there is no folder any more, with whatever its owner's closures have put into it (a
    /// borrow of a thread-local, say).
    #[inline]
    pub(super) fn settle(self) {
        if let Some(local) = self.local() {
            let mut made = local.made.take();
            made.close::<T>();
            local.made.set(made);
            local.pace.begin_wait();
        }
    }

    /// The `Local`, if this is its thread and it is not in the middle of something.
    #[inline]
    pub(super) fn local(self) -> Option<&'l Local<T, C>> {
        (self.0.owner == this_thread() && !self.0.busy.get()).then_some(self.0)
    }

    /// The same, for a right half. (The left half of a fork stays if the right half does.)
    #[inline]
    pub(super) fn local_for_right(self) -> Option<&'l Local<T, C>> {
        #[cfg(test)]
        if super::pretend::elsewhere() {
            return None;
        }
        self.local()
    }
}

/// A number that no other living thread has.
#[inline]
pub(crate) fn this_thread() -> usize {
    thread_local! { static MARK: u8 = const { 0 } }
    MARK.with(|mark| mark as *const u8 as usize)
}
