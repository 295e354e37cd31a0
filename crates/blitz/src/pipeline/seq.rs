//! `into_seq`: the results of a parallel iterator as a sequential one, while the rest is computed.
//!
//! The parallel iterator is driven on a thread of its own, the *driver*, whose only purpose is its stack: the producer lives there, with what it borrows. Its consumer, [`Outflow`], makes the
//! loop hand itself out ([`Outlet`]). Then the driver sleeps until all pieces are gone. The thread that asks for results splits blocks off the front of what was handed out, and
//! puts them into a [`Line`]. From there on it is a pipeline like any other.
//!
//! # Why pieces may borrow from the driver's stack
//! The types say that they may live as long as `'w`, but they do not. Each of them is a [`Part`] with a [`Hold`] on the driver, which stays where it is until no hold is left. A part
//! gives its hold back after the piece in it has been dropped, or run to its end, also by unwinding. What comes out of a run, results and panics, borrows nothing from there.

use super::line::{Line, Open, Order, Start, Turn, Work};
use super::pace::Pace;
use super::par_map::Detached;
use crate::engine::crew::{Crew, Surroundings};
use crate::engine::demand::ticks_at_work;
use crate::engine::site::Site;
use crate::engine::sync::locks::{Condvar, Mutex};
use crate::engine::{
    Scope, ThreadPool, caller_may_take_part, checkpoint, hand_over, in_place_scope,
};
use crate::iter::ParallelIterator;
use crate::iter::plumbing::{
    Consumer, Cut, Folder, Outlet, Reducer, Rest, UnindexedConsumer, this_thread,
};
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::{thread, vec};

type Payload = Box<dyn Any + Send>;

/// Unless it is set, the look-ahead is this many results per thread.
const RESULTS_PER_THREAD: usize = 256;

/// What can only be halved is halved so often at most, and so often if nothing is known about its parts: more than any range of integers can be. Some sources can be halved for ever.
const DEEPEST: u32 = 128;

/// Something that keeps the driver where it is.
struct Hold(Arc<Holds>);

#[derive(Default)]
struct Holds {
    count: Mutex<usize>,
    none: Condvar,
}

impl Holds {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(self: &Arc<Self>) -> Hold {
        *self.count() += 1;
        Hold(Arc::clone(self))
    }

    /// Waits until nothing holds the driver any more.
    fn wait(&self) {
        let count = self.count();
        let none = self.none.wait_while(count, |count| *count > 0);
        drop(none.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Clone for Hold {
    fn clone(&self) -> Self {
        self.0.hold()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut count = self.0.count();
        *count -= 1;
        if *count == 0 {
            self.0.none.notify_all();
        }
    }
}

/// A part of what was handed out. The order of its fields is that in which they are dropped.
pub struct Part<'w, T> {
    piece: Rest<'w, Vec<T>>,
    /// How often it was halved.
    depth: u32,
    /// Where it has to run, if that is not left to us. Alive as long as the hold.
    pool: Option<PoolRef>,
    hold: Hold,
}

#[derive(Clone, Copy)]
struct PoolRef(NonNull<ThreadPool>);

// SAFETY: it is a reference to something that may be shared.
unsafe impl Send for PoolRef {}

impl<'w, T: Send + 'w> Part<'w, T> {
    /// Runs it to its end.
    fn run(self) -> thread::Result<Vec<T>> {
        let Part {
            piece, pool, hold, ..
        } = self;
        let run = move || match pool {
            // SAFETY: whoever drives has borrowed the pool, and is held.
            Some(pool) => unsafe { pool.0.as_ref() }.install(|| piece.run()),
            None => piece.run(),
        };
        let result = catch_unwind(AssertUnwindSafe(run));
        drop(hold);
        result
    }

    fn cut(self, len: usize) -> (Self, Option<Self>) {
        let Part {
            piece,
            depth,
            pool,
            hold,
        } = self;
        let halved = u32::from(matches!(piece.how(), Cut::Halves));
        let (first, rest) = piece.cut(len);
        let of = |piece, hold| Part {
            piece,
            depth: depth + halved,
            pool,
            hold,
        };
        let rest = rest.map(|rest| of(rest, hold.clone()));
        (of(first, hold), rest)
    }
}

/// Between the driver and whoever asks for results.
struct Mail<'w, T> {
    crew: Crew,
    holds: Arc<Holds>,
    state: Mutex<MailState<'w, T>>,
}

struct MailState<'w, T> {
    offered: Option<Part<'w, T>>,
    /// The loop has ended. What did not come as pieces is here.
    ended: Option<thread::Result<Vec<T>>>,
    has_ended: bool,
    /// Nobody wants anything any more.
    closed: bool,
    awaited: bool,
}

impl<'w, T> Mail<'w, T> {
    fn lock(&self) -> MutexGuard<'_, MailState<'w, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, mut state: MutexGuard<'_, MailState<'w, T>>) {
        let awaited = mem::take(&mut state.awaited);
        drop(state);
        if awaited {
            self.crew.ring();
        }
    }

    /// Owner: waits until `seen` is true.
    fn wait_until(&self, seen: impl Fn(&MailState<'w, T>) -> bool) {
        loop {
            let mut state = self.lock();
            if seen(&state) {
                return;
            }
            self.crew.hush();
            state.awaited = true;
            drop(state);
            self.crew.wait();
        }
    }
}

/// The consumer that has a loop hand itself out.
struct Outflow<'w, T> {
    mail: Arc<Mail<'w, T>>,
    /// The thread that may be held.
    driver: usize,
    state: Cell<Flow>,
    pool: Cell<Option<PoolRef>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// Nobody has asked for the outlet yet. If nobody does, or somebody splits it without a word, it collects.
    Open,
    /// The next split makes two of them.
    InTurn,
    /// What is right of the piece that was handed out: nothing.
    Behind,
    /// For a piece.
    Inside,
}

impl<'w, T> Outflow<'w, T> {
    fn split(&self) -> (Self, Flow) {
        let (left, right) = match self.state.get() {
            Flow::InTurn => (Flow::Open, Flow::Open),
            Flow::Open => (Flow::Inside, Flow::Inside),
            Flow::Behind => (Flow::Inside, Flow::Behind),
            Flow::Inside => (Flow::Inside, Flow::Inside),
        };
        let left = Outflow {
            mail: Arc::clone(&self.mail),
            driver: self.driver,
            state: Cell::new(left),
            pool: self.pool.clone(),
        };
        (left, right)
    }
}

impl<'w, T: Send> Consumer<T> for Outflow<'w, T> {
    type Folder = Poured<T>;
    type Reducer = Append;
    type Result = Vec<T>;

    const HAS_OUTLET: bool = true;

    fn outlet(&self) -> Option<&dyn Outlet<Vec<T>>> {
        let is_here = self.driver == this_thread();
        (is_here && self.state.get() != Flow::Inside).then_some(self)
    }

    fn split_at(self, _index: usize) -> (Self, Self, Append) {
        let (left, right) = self.split();
        self.state.set(right);
        (left, self, Append)
    }

    fn into_folder(self) -> Poured<T> {
        Poured {
            items: Vec::new(),
            counts: self.state.get() != Flow::Behind,
        }
    }

    fn full(&self) -> bool {
        false
    }

    fn is_never_full(&self) -> bool {
        true
    }

    const MAY_SEARCH: bool = false;
}

impl<'w, T: Send> UnindexedConsumer<T> for Outflow<'w, T> {
    fn split_off_left(&self) -> Self {
        let (left, right) = self.split();
        self.state.set(right);
        left
    }

    fn to_reducer(&self) -> Append {
        Append
    }
}

impl<'w, T: Send> Outlet<Vec<T>> for Outflow<'w, T> {
    fn begin(&self) {
        self.state.set(Flow::Behind);
    }

    fn in_turn(&self) {
        self.state.set(Flow::InTurn);
    }

    unsafe fn run_in(&self, pool: &ThreadPool) {
        self.pool.set(Some(PoolRef(NonNull::from(pool))));
    }

    fn offer<'p>(&self, piece: Rest<'p, Vec<T>>) {
        let holds = &self.mail.holds;
        // SAFETY: the two types differ in a lifetime only. The part that we put it into holds us: we do not leave, nor unwind, before it and all that is
        // cut from it is gone.
        let piece = unsafe { mem::transmute::<Rest<'p, Vec<T>>, Rest<'w, Vec<T>>>(piece) };
        let part = Part {
            piece,
            depth: 0,
            pool: self.pool.get(),
            hold: holds.hold(),
        };
        let mut state = self.mail.lock();
        if state.closed {
            drop(state);
            drop(part);
        } else {
            state.offered = Some(part);
            self.mail.tell(state);
        }
        holds.wait();
    }
}

/// The folder of [`Outflow`].
struct Poured<T> {
    items: Vec<T>,
    /// What is behind everything has no items. (A `fold` would make one of nothing.)
    counts: bool,
}

impl<T> Folder<T> for Poured<T> {
    type Result = Vec<T>;

    const MAY_BE_FULL: bool = false;

    fn consume(mut self, item: T) -> Self {
        if self.counts {
            self.items.push(item);
        }
        self
    }

    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        if self.counts {
            self.items.extend(iter);
        }
        self
    }

    fn complete(self) -> Vec<T> {
        self.items
    }

    fn full(&self) -> bool {
        false
    }
}

struct Append;

impl<T> Reducer<Vec<T>> for Append {
    fn reduce(self, mut left: Vec<T>, mut right: Vec<T>) -> Vec<T> {
        if left.is_empty() {
            return right;
        }
        left.append(&mut right);
        left
    }
}

/// What the line does: run parts.
pub struct Running<'w, T>(PhantomData<fn() -> Part<'w, T>>);

/// What has become of a part.
pub struct Ran<T> {
    results: thread::Result<Vec<T>>,
    /// What it counted for in the look-ahead.
    counted: usize,
    halved: Option<u32>,
    ticks: u64,
}

impl<'w, T: Send + 'w> Work for Running<'w, T> {
    type Job = (Part<'w, T>, usize);
    type Outcome = Ran<T>;

    fn run(&self, (part, counted): Self::Job) -> Ran<T> {
        let start = ticks_at_work();
        let halved = matches!(part.piece.how(), Cut::Halves).then_some(part.depth);
        let results = part.run();
        Ran {
            results,
            counted,
            halved,
            ticks: ticks_at_work().saturating_sub(start),
        }
    }
}

/// Asks for the results of what a driver has handed out.
struct Reader<'w, T: Send + 'w, S> {
    /// First, so that parts are over before anything else is gone.
    line: Open<Running<'w, T>>,
    work: Arc<Running<'w, T>>,
    mail: Arc<Mail<'w, T>>,
    /// What has not gone into the line, the last part first.
    ahead: Vec<Part<'w, T>>,
    block: vec::IntoIter<T>,
    /// What the parts in the line count for.
    in_line: usize,
    /// Something has panicked, after what is on its way now.
    panicked: Option<Payload>,
    ended: bool,
    look_ahead: Option<usize>,
    /// Parts that can only be halved are halved so often.
    depth: u32,
    pace: Pace,
    start: S,
}

impl<'w, T, S> Reader<'w, T, S>
where
    T: Send + 'w,
    S: Start<Running<'w, T>>,
{
    fn new(mail: Arc<Mail<'w, T>>, order: Order, look_ahead: Option<usize>, start: S) -> Self {
        let work = Arc::new(Running(PhantomData));
        let line = Line::new(mail.crew.clone(), order, Arc::clone(&work));
        Reader {
            line: Open::new(line),
            work,
            mail,
            ahead: Vec::new(),
            block: Vec::new().into_iter(),
            in_line: 0,
            panicked: None,
            ended: false,
            look_ahead,
            depth: DEEPEST,
            pace: Pace::new(),
            start,
        }
    }

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.block.next().or_else(|| self.next_block())
    }

    fn next_block(&mut self) -> Option<T> {
        while !self.ended {
            checkpoint();
            let others = self.start.others();
            let room = self.look_ahead.unwrap_or(RESULTS_PER_THREAD * (others + 1));
            let most = (room / (2 * (others + 1))).max(1);
            self.refill(others, room, most);
            match self.line.line().turn() {
                Turn::Take(ran) => {
                    self.in_line -= ran.counted;
                    self.take(ran, most);
                }
                Turn::Run(place, job) => {
                    let ran = self.run(job);
                    self.line.line().put(place, ran);
                }
                Turn::Wait => self.line.line().wait(),
                Turn::Rest => self.go_on_alone(most),
            }
            if let Some(result) = self.block.next() {
                return Some(result);
            }
        }
        None
    }

    fn run(&self, job: (Part<'w, T>, usize)) -> Ran<T> {
        if caller_may_take_part() {
            self.work.run(job)
        } else {
            let work = &self.work;
            hand_over(|| work.run(job))
        }
    }

    fn take(&mut self, ran: Ran<T>, most: usize) {
        match ran.results {
            Ok(results) => {
                let items = if let Some(depth) = ran.halved {
                    self.learn_depth(depth, results.len(), most);
                    results.len()
                } else {
                    ran.counted
                };
                self.pace.note(items, ran.ticks);
                self.block = results.into_iter();
            }
            Err(payload) => self.end_with(payload),
        }
    }

    /// A part of this depth had so many results: the next ones are cut so that they have at most `most`, but not many fewer.
    fn learn_depth(&mut self, depth: u32, results: usize, most: usize) {
        self.depth = if results > most {
            (depth + 1).min(DEEPEST)
        } else if results * 4 < most {
            depth.saturating_sub(1)
        } else {
            depth
        };
    }

    /// Results of blocks that are on their way are for nobody.
    fn end_with(&mut self, payload: Payload) {
        self.ended = true;
        self.close();
        resume_unwind(payload);
    }

    /// Puts as many blocks into the line as there is room for, if they are worth it.
    fn refill(&mut self, others: usize, room: usize, most: usize) {
        if others == 0 {
            return;
        }
        while let Some(block) = self.pace.block(most) {
            if self.in_line + block > room {
                return;
            }
            let Some(part) = self.first_part(block) else {
                return;
            };
            // A source may have a minimum length of its own.
            let counted = match part.piece.how() {
                Cut::At(items) => items.max(block),
                Cut::Somewhere | Cut::Halves => block,
            };
            if self.in_line + counted > room {
                self.ahead.push(part);
                return;
            }
            self.in_line += counted;
            let line = self.line.line();
            if line.push((part, counted), others) {
                self.start.start(line);
            }
        }
    }

    /// The line is empty. Runs the next block here, or sees what the driver has.
    fn go_on_alone(&mut self, most: usize) {
        if let Some(payload) = self.panicked.take() {
            self.end_with(payload);
        }
        // The first one tells how dear they are.
        let block = if self.pace.is_known() { most } else { 1 };
        if let Some(part) = self.first_part(block) {
            let ran = self.run((part, block));
            return self.take(ran, most);
        }
        if self.panicked.is_some() {
            return;
        }
        self.mail
            .wait_until(|state| state.offered.is_some() || state.has_ended);
        let ended = self.mail.lock().ended.take();
        match ended {
            None => {}
            Some(Ok(left_over)) => {
                self.ended = true;
                self.block = left_over.into_iter();
            }
            Some(Err(payload)) => self.end_with(payload),
        }
    }

    /// Cuts off the first `len` items, or about as many.
    fn first_part(&mut self, len: usize) -> Option<Part<'w, T>> {
        if self.panicked.is_some() {
            return None;
        }
        if self.ahead.is_empty() {
            let offered = self.mail.lock().offered.take();
            self.ahead.extend(offered);
        }
        loop {
            let part = self.ahead.pop()?;
            let cut = match part.piece.how() {
                Cut::At(items) => items > len,
                Cut::Somewhere => true,
                Cut::Halves => part.depth < self.depth,
            };
            if !cut {
                return Some(part);
            }
            let halves = matches!(part.piece.how(), Cut::Halves);
            match catch_unwind(AssertUnwindSafe(|| part.cut(len))) {
                Ok((first, None)) => return Some(first),
                Ok((first, Some(rest))) => {
                    self.ahead.push(rest);
                    if !halves {
                        return Some(first);
                    }
                    self.ahead.push(first);
                }
                Err(payload) => {
                    self.panicked = Some(payload);
                    return None;
                }
            }
        }
    }
}

impl<'w, T: Send + 'w, S> Reader<'w, T, S> {
    /// Lets go of everything, and waits until the driver has.
    fn close(&mut self) {
        let mut state = self.mail.lock();
        state.closed = true;
        let offered = state.offered.take();
        drop(state);
        drop(self.line.close());
        drop(offered);
        self.ahead.clear();
        self.block = Vec::new().into_iter();
        self.mail.wait_until(|state| state.has_ended);
    }
}

impl<'w, T: Send + 'w, S> Drop for Reader<'w, T, S> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<'w, T: Send + 'w> Mail<'w, T> {
    fn new(crew: Crew) -> Arc<Self> {
        Arc::new(Mail {
            crew,
            holds: Arc::default(),
            state: Mutex::new(MailState {
                offered: None,
                ended: None,
                has_ended: false,
                closed: false,
                awaited: false,
            }),
        })
    }

    /// What the driver does, for somebody with these surroundings.
    fn drive(self: Arc<Self>, iter: impl ParallelIterator<Item = T>, around: Surroundings) {
        let consumer = Outflow {
            mail: Arc::clone(&self),
            driver: this_thread(),
            state: Cell::new(Flow::Open),
            pool: Cell::new(None),
        };
        let drive = || around.run(|| iter.drive_unindexed(consumer));
        let result = catch_unwind(AssertUnwindSafe(drive));
        let mut state = self.lock();
        state.ended = Some(result);
        state.has_ended = true;
        self.tell(state);
    }
}

fn driver() -> thread::Builder {
    thread::Builder::new().name(String::from("blitz-seq"))
}

#[cold]
fn no_driver(error: &std::io::Error) -> ! {
    panic!(
        "the thread that into_seq and with_seq need cannot be started: {error}. Is there a limit on the number of threads?"
    );
}

#[track_caller]
fn assert_room(results: usize) {
    assert!(
        results > 0,
        "a look-ahead of 0 leaves no room for the result that is computed: use 1 to compute one result at a time"
    );
}

/// The results of a parallel iterator, one after the other, while the rest is computed. Made by [`into_seq`](ParallelIterator::into_seq) and
/// [`into_seq_unordered`](ParallelIterator::into_seq_unordered).
///
/// ```
/// use blitz::prelude::*;
/// let mut seq: blitz::pipeline::IntoSeq<_> = (0..3).into_par_iter().into_seq();
/// assert_eq!((seq.next(), seq.next(), seq.next(), seq.next()), (Some(0), Some(1), Some(2), None));
/// ```
#[must_use = "iterators do nothing until they are asked"]
pub struct IntoSeq<I>
where
    I: ParallelIterator<Item: 'static>,
{
    state: State<I>,
    order: Order,
    look_ahead: Option<usize>,
    /// The line of the user's that made it.
    site: Site,
}

enum State<I>
where
    I: ParallelIterator<Item: 'static>,
{
    /// Nobody has asked for anything yet.
    New(Option<I>),
    Begun(Reader<'static, I::Item, Detached>),
}

impl<I> IntoSeq<I>
where
    I: ParallelIterator<Item: 'static> + 'static,
{
    #[cfg_attr(feature = "sites", track_caller)]
    pub(crate) fn new(iter: I, order: Order) -> Self {
        IntoSeq {
            state: State::New(Some(iter)),
            order,
            look_ahead: None,
            site: Site::caller(),
        }
    }

    /// At most so many results are computed ahead of what has been returned. Without this it is 256 for each thread of the pool.
    ///
    /// # Panics
    /// If `results` is 0.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let first = (0..1000).into_par_iter().into_seq().look_ahead(10).next();
    /// assert_eq!(first, Some(0));
    /// ```
    #[track_caller]
    pub fn look_ahead(mut self, results: usize) -> Self {
        assert_room(results);
        self.look_ahead = Some(results);
        if let State::Begun(reader) = &mut self.state {
            reader.look_ahead = Some(results);
        }
        self
    }

    #[cold]
    fn begin(&mut self) -> Option<I::Item> {
        let State::New(iter) = &mut self.state else {
            unreachable!("begun once");
        };
        // After a panic for want of a thread there is nothing any more.
        let iter = iter.take()?;
        let mail = Mail::new(Crew::new(self.site));
        let (theirs, around) = (Arc::clone(&mail), Surroundings::here());
        if let Err(error) = driver().spawn(move || theirs.drive(iter, around)) {
            no_driver(&error);
        }
        let reader = Reader::new(mail, self.order, self.look_ahead, Detached::new());
        self.state = State::Begun(reader);
        self.next()
    }
}

impl<I> Iterator for IntoSeq<I>
where
    I: ParallelIterator<Item: 'static> + 'static,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        match &mut self.state {
            State::Begun(reader) => reader.next(),
            State::New(_) => self.begin(),
        }
    }
}

impl<I> FusedIterator for IntoSeq<I> where I: ParallelIterator<Item: 'static> + 'static {}

impl<I> fmt::Debug for IntoSeq<I>
where
    I: ParallelIterator<Item: 'static> + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("IntoSeq");
        debug.field("order", &self.order);
        if let State::New(Some(iter)) = &self.state {
            debug.field("iter", iter);
        }
        debug.finish_non_exhaustive()
    }
}

/// The results of a parallel iterator that may borrow, one after the other, while the rest is computed: what [`with_seq`](ParallelIterator::with_seq) passes to its
/// closure.
///
/// ```
/// use blitz::prelude::*;
/// let words = ["a", "bb", "ccc"];
/// let first = words.par_iter().map(|word| word.len()).with_seq(|seq| seq.look_ahead(2).next());
/// assert_eq!(first, Some(1));
/// ```
pub struct Seq<'s, 'w, T: Send + 'w> {
    reader: Reader<'w, T, &'s Scope<'w>>,
}

impl<'w, T: Send + 'w> Seq<'_, 'w, T> {
    /// At most so many results are computed ahead of what has been returned. Without this it is 256 for each thread of the pool.
    ///
    /// # Panics
    /// If `results` is 0.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sum: i32 = [1, 2, 3].par_iter().with_seq(|seq| seq.look_ahead(1).sum());
    /// assert_eq!(sum, 6);
    /// ```
    #[track_caller]
    pub fn look_ahead(&mut self, results: usize) -> &mut Self {
        assert_room(results);
        self.reader.look_ahead = Some(results);
        self
    }
}

impl<'w, T: Send + 'w> Iterator for Seq<'_, 'w, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.reader.next()
    }
}

impl<'w, T: Send + 'w> FusedIterator for Seq<'_, 'w, T> {}

impl<'w, T: Send + 'w> fmt::Debug for Seq<'_, 'w, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seq").finish_non_exhaustive()
    }
}

/// What [`ParallelIterator::with_seq`] does.
#[cfg_attr(feature = "sites", track_caller)]
pub(crate) fn with_seq<I, R>(iter: I, op: impl FnOnce(&mut Seq<'_, '_, I::Item>) -> R) -> R
where
    I: ParallelIterator,
{
    let site = Site::caller();
    thread::scope(|threads| {
        in_place_scope(|scope| {
            // SAFETY: the reader, which starts parts in the scope, is gone before its body ends, and waits for the driver, which rings.
            let mail = Mail::new(unsafe { Crew::of(scope, site) });
            let (theirs, around) = (Arc::clone(&mail), Surroundings::here());
            let drive = move || theirs.drive(iter, around);
            if let Err(error) = driver().spawn_scoped(threads, drive) {
                no_driver(&error);
            }
            let reader = Reader::new(mail, Order::Kept, None, scope);
            op(&mut Seq { reader })
        })
    })
}
