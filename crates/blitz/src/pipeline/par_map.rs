//! `par_map`: a sequential iterator through a closure that runs in parallel.

use super::line::{Line, Open, Order, Start, Turn, Work};
use super::pace::{Pace, Stretch};
use crate::engine::crew::Crew;
use crate::engine::demand::ticks_at_work;
use crate::engine::site::Site;
use crate::engine::{Scope, caller_may_take_part, checkpoint, hand_over};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::vec;

type Payload = Box<dyn Any + Send>;

/// Unless it is set, the look-ahead is this many items per thread.
const ITEMS_PER_THREAD: usize = 16;

/// Sequential iterators whose items go through a closure in parallel. See [the module](crate::pipeline) for what to expect.
///
/// It is implemented for every [`Iterator`].
///
/// ```
/// use blitz::prelude::*;
///
/// let mut squares = (1..=1000_u64).par_map(|n| n * n);
/// assert_eq!(squares.next(), Some(1));
/// assert_eq!(squares.last(), Some(1_000_000));
/// ```
pub trait ParallelPipeline: Iterator + Sized {
    /// Replaces each item by `f(item)`, computed ahead by the threads of the pool; results come in the order of the items.
    ///
    /// The pool is that of the thread which calls `next`. The source is asked for up to [`look_ahead`](ParMap::look_ahead) items more than results have been returned, and no more.
    ///
    /// Closures and items that borrow need a scope: [`par_map_in`](Self::par_map_in).
    ///
    /// # Panics
    /// A panic of `f` or of the source goes on in the `next` that is due.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let squares = (1..).par_map(|n: u64| n * n);
    /// assert_eq!(squares.take(5).collect::<Vec<_>>(), [1, 4, 9, 16, 25]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_map<F, R>(self, f: F) -> ParMap<Self, F, R>
    where
        F: Fn(Self::Item) -> R + Send + Sync + 'static,
        Self::Item: Send + 'static,
        R: Send + 'static,
    {
        ParMap::new(self, f, Order::Kept, Detached::new())
    }

    /// Like [`par_map`](Self::par_map), with results in the order in which they are ready.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mut lengths: Vec<usize> = ["b", "aaa", "cc"].into_iter().par_map_unordered(str::len).collect();
    /// lengths.sort();
    /// assert_eq!(lengths, [1, 2, 3]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_map_unordered<F, R>(self, f: F) -> ParMap<Self, F, R>
    where
        F: Fn(Self::Item) -> R + Send + Sync + 'static,
        Self::Item: Send + 'static,
        R: Send + 'static,
    {
        ParMap::new(self, f, Order::Any, Detached::new())
    }

    /// Like [`par_map`](Self::par_map), with a closure and items that may borrow whatever outlives the scope.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let words = ["pipe", "line"].map(String::from);
    /// let suffix = String::from("!");
    /// let loud: Vec<String> = blitz::scope(|s| {
    ///     words.iter().par_map_in(s, |word| word.to_uppercase() + &suffix).collect()
    /// });
    /// assert_eq!(loud, ["PIPE!", "LINE!"]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_map_in<'s, 'scope, F, R>(
        self,
        scope: &'s Scope<'scope>,
        f: F,
    ) -> ParMap<Self, F, R, &'s Scope<'scope>>
    where
        F: Fn(Self::Item) -> R + Send + Sync + 'scope,
        Self::Item: Send + 'scope,
        R: Send + 'scope,
    {
        ParMap::new(self, f, Order::Kept, scope)
    }

    /// Like [`par_map_in`](Self::par_map_in), with results in the order in which they are ready.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let numbers = [1, 2, 3];
    /// let sum: i32 = blitz::scope(|s| numbers.iter().par_map_unordered_in(s, |n| n * 10).sum());
    /// assert_eq!(sum, 60);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_map_unordered_in<'s, 'scope, F, R>(
        self,
        scope: &'s Scope<'scope>,
        f: F,
    ) -> ParMap<Self, F, R, &'s Scope<'scope>>
    where
        F: Fn(Self::Item) -> R + Send + Sync + 'scope,
        Self::Item: Send + 'scope,
        R: Send + 'scope,
    {
        ParMap::new(self, f, Order::Any, scope)
    }
}

impl<I: Iterator> ParallelPipeline for I {}

/// Where the helpers of a pipeline run that borrows nothing: in the pool of whoever calls `next`. See [`par_map`](ParallelPipeline::par_map).
#[derive(Debug, Clone, Copy)]
pub struct Detached(());

impl Detached {
    pub(super) fn new() -> Self {
        Detached(())
    }
}

impl<W> Start<W> for Detached
where
    W: Work<Job: Send, Outcome: Send> + Send + Sync + 'static,
{
    fn crew(&self, site: Site) -> Crew {
        Crew::new(site)
    }

    fn others(&self) -> usize {
        Crew::others()
    }

    fn start(&self, line: &Arc<Line<W>>) {
        let ours = Arc::clone(line);
        line.crew().spawn(move || ours.help());
    }
}

impl<'scope, W> Start<W> for &Scope<'scope>
where
    W: Work<Job: Send, Outcome: Send> + Send + Sync + 'scope,
{
    fn crew(&self, site: Site) -> Crew {
        // SAFETY: the pipeline has borrowed the scope, and starts its helpers below.
        unsafe { Crew::of(self, site) }
    }

    fn others(&self) -> usize {
        Crew::others_in(self)
    }

    fn start(&self, line: &Arc<Line<W>>) {
        let ours = Arc::clone(line);
        line.crew().spawn_in(self, move || ours.help());
    }
}

/// Passes the items of a sequential iterator through a closure, in parallel. Made by [`par_map`](ParallelPipeline::par_map) and its
/// relatives.
///
/// ```
/// use blitz::pipeline::ParMap;
/// use blitz::prelude::*;
/// let doubled: ParMap<std::ops::Range<i32>, _, i32> = (0..3).par_map(|n| 2 * n);
/// assert!(doubled.eq([0, 2, 4]));
/// ```
#[must_use = "iterators do nothing until they are asked"]
pub struct ParMap<I, F, R, S = Detached>
where
    I: Iterator,
    F: Fn(I::Item) -> R,
{
    /// First, so that jobs are over before anything else is gone.
    line: Option<Open<Mapping<I::Item, F, R>>>,
    work: Arc<Mapping<I::Item, F, R>>,
    source: I,
    /// So many items are run by `next` without a question: nothing is on its way, and the source has not ended.
    plain: u32,
    /// They are tiny, and a part of this.
    stretch: Option<Stretch>,
    /// The source has ended.
    ended: bool,
    /// The source has panicked, after what is on its way now.
    panicked: Option<Payload>,
    /// What comes next.
    block: Block<R>,
    /// Items in the line.
    in_line: usize,
    /// Items go through the line.
    shares: bool,
    look_ahead: Option<usize>,
    order: Order,
    pace: Pace,
    start: S,
    /// The line of the user's that made it.
    site: Site,
}

impl<I, F, R, S> ParMap<I, F, R, S>
where
    I: Iterator,
    F: Fn(I::Item) -> R,
{
    #[cfg_attr(feature = "sites", track_caller)]
    fn new(source: I, f: F, order: Order, start: S) -> Self {
        ParMap {
            line: None,
            work: Arc::new(Mapping {
                f,
                _types: PhantomData,
            }),
            source,
            plain: 0,
            stretch: None,
            ended: false,
            panicked: None,
            block: Block::empty(),
            in_line: 0,
            shares: false,
            look_ahead: None,
            order,
            pace: Pace::new(),
            start,
            site: Site::caller(),
        }
    }

    /// There are at most so many items on their way: taken from the source, and not returned yet. Without this it is 16 for each thread of the pool.
    ///
    /// A larger one evens out items of different cost, and lets cheap items be computed in larger blocks; a smaller one needs less memory. With 1, `next` computes
    /// each item itself.
    ///
    /// # Panics
    /// If `items` is 0.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mut asked = 0;
    /// let source = (0..100).inspect(|_| asked += 1);
    /// source.par_map(|n| n).look_ahead(4).nth(9);
    /// assert!(asked <= 10 + 3);
    /// ```
    #[track_caller]
    pub fn look_ahead(mut self, items: usize) -> Self {
        assert!(
            items > 0,
            "a look-ahead of 0 leaves no room for the item that is computed: use 1 to compute one item at a time"
        );
        self.look_ahead = Some(items);
        self
    }
}

impl<I, F, R, S> ParMap<I, F, R, S>
where
    I: Iterator<Item: Send>,
    F: Fn(I::Item) -> R + Send + Sync,
    R: Send,
    S: Start<Mapping<I::Item, F, R>>,
{
    /// The next result, when there is something to ask first.
    #[inline(never)]
    fn next_asking(&mut self) -> Option<R> {
        if let Some(result) = self.block.next() {
            return Some(result);
        }
        if self.shares {
            return self.next_of_line();
        }
        if self.stretch.as_mut().is_some_and(Stretch::goes_on) {
            checkpoint();
            self.plain = Stretch::LEN as u32;
            return self.next();
        }
        self.stretch = None;
        self.next_alone()
    }

    /// The next result, computed here and timed.
    fn next_alone(&mut self) -> Option<R> {
        if self.ended {
            return None;
        }
        checkpoint();
        let item = self.pull()?;
        let start = ticks_at_work();
        let result = self.run_one(item);
        let outlasts_a_wake = self.pace.note_alone(ticks_at_work().saturating_sub(start));
        // From the next call on: this result does not wait for the source.
        self.shares = outlasts_a_wake || self.pace.outlasts_a_wake(self.source.size_hint().0);
        if !self.shares {
            self.go_on_plainly();
        }
        Some(result)
    }

    /// Some items are run without a question, if they are cheap.
    fn go_on_plainly(&mut self) {
        if !self.ended && caller_may_take_part() {
            self.plain = self.pace.pause();
            self.stretch = self.pace.is_tiny().then(Stretch::start);
        }
    }

    /// Takes results one after the other as long as they are tiny.
    fn fold_stretches<B>(&mut self, mut folded: B, g: &mut impl FnMut(B, R) -> B) -> B {
        self.plain = 0;
        let Some(mut stretch) = self.stretch.take() else {
            return folded;
        };
        while !self.ended {
            checkpoint();
            let mut left = Stretch::LEN;
            let items = self.source.by_ref().take(Stretch::LEN);
            let f = &self.work.f;
            folded = items.fold(folded, |folded, item| {
                left -= 1;
                g(folded, f(item))
            });
            self.ended = left > 0;
            if !stretch.goes_on() {
                break;
            }
        }
        folded
    }

    /// One item, on this thread if that is allowed.
    fn run_one(&self, item: I::Item) -> R {
        let work = &self.work;
        if caller_may_take_part() {
            (work.f)(item)
        } else {
            hand_over(|| (work.f)(item))
        }
    }

    fn pull(&mut self) -> Option<I::Item> {
        let item = self.source.next();
        self.ended = item.is_none();
        item
    }

    /// The next result of the line; of the source, if the line is empty.
    fn next_of_line(&mut self) -> Option<R> {
        loop {
            checkpoint();
            self.refill();
            let Some(open) = &self.line else {
                return self.after_the_line();
            };
            let line = open.line();
            match line.turn() {
                Turn::Take(block) => {
                    self.in_line -= block.items;
                    self.pace.note(block.items, block.ticks);
                    self.block = block;
                    if let Some(result) = self.block.next() {
                        return Some(result);
                    }
                }
                Turn::Run(place, items) => {
                    let block = if caller_may_take_part() {
                        self.work.run(items)
                    } else {
                        let work = &self.work;
                        hand_over(|| work.run(items))
                    };
                    line.put(place, block);
                }
                Turn::Wait => line.wait(),
                Turn::Rest => return self.after_the_line(),
            }
        }
    }

    /// Everything that went in has come out, and nothing more was put in.
    fn after_the_line(&mut self) -> Option<R> {
        if let Some(payload) = self.panicked.take() {
            resume_unwind(payload);
        }
        // It is not worth it, or there is nothing left.
        self.shares = false;
        self.go_on_plainly();
        if self.plain > 0 {
            return self.next();
        }
        self.next_alone()
    }

    /// Asks the source for as many items as there is room for, if they are worth it.
    fn refill(&mut self) {
        if self.ended || self.panicked.is_some() {
            return;
        }
        let others = self.start.others();
        let threads = others + 1;
        let room = self.look_ahead.unwrap_or(ITEMS_PER_THREAD * threads);
        if others == 0 || room == 1 {
            return;
        }
        // Two blocks for each thread: one that it runs, and one that is there when it comes for the next.
        let most = (room / (2 * threads)).max(1);
        let Some(block) = self.pace.block(most) else {
            return;
        };
        let (start, order, work, site) = (&self.start, self.order, &self.work, self.site);
        let open = self
            .line
            .get_or_insert_with(|| Open::new(Line::new(start.crew(site), order, Arc::clone(work))));
        while self.in_line + block <= room {
            let mut items = Vec::with_capacity(block);
            let pulled = catch_unwind(AssertUnwindSafe(|| {
                items.extend(self.source.by_ref().take(block));
            }));
            let (len, ended) = (items.len(), items.len() < block);
            if len > 0 {
                self.in_line += len;
                if open.line().push(items, others) {
                    self.start.start(open.line());
                }
            }
            match pulled {
                Err(payload) => self.panicked = Some(payload),
                Ok(()) if ended => self.ended = true,
                Ok(()) => continue,
            }
            break;
        }
    }
}

impl<I, F, R, S> Iterator for ParMap<I, F, R, S>
where
    I: Iterator<Item: Send>,
    F: Fn(I::Item) -> R + Send + Sync,
    R: Send,
    S: Start<Mapping<I::Item, F, R>>,
{
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        if self.plain == 0 {
            return self.next_asking();
        }
        self.plain -= 1;
        let Some(item) = self.source.next() else {
            self.plain = 0;
            self.ended = true;
            return None;
        };
        Some((self.work.f)(item))
    }

    /// As the loop over `next`, but items that are too cheap to be looked at one by one are run in stretches: `sum`, `for_each`, `count` and all others that are made of this.
    fn fold<B, G>(mut self, init: B, mut g: G) -> B
    where
        G: FnMut(B, R) -> B,
    {
        let mut folded = init;
        while let Some(result) = self.next() {
            folded = g(folded, result);
            if self.stretch.is_some() {
                folded = self.fold_stretches(folded, &mut g);
            }
        }
        folded
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let on_their_way = self.in_line + self.block.left();
        let (least, most) = if self.ended {
            (0, Some(0))
        } else {
            self.source.size_hint()
        };
        (
            least.saturating_add(on_their_way),
            most.and_then(|most| most.checked_add(on_their_way)),
        )
    }
}

impl<I, F, R, S> ExactSizeIterator for ParMap<I, F, R, S>
where
    I: ExactSizeIterator<Item: Send>,
    F: Fn(I::Item) -> R + Send + Sync,
    R: Send,
    S: Start<Mapping<I::Item, F, R>>,
{
}

impl<I, F, R, S> FusedIterator for ParMap<I, F, R, S>
where
    I: Iterator<Item: Send>,
    F: Fn(I::Item) -> R + Send + Sync,
    R: Send,
    S: Start<Mapping<I::Item, F, R>>,
{
}

impl<I, F, R, S> fmt::Debug for ParMap<I, F, R, S>
where
    I: Iterator + fmt::Debug,
    F: Fn(I::Item) -> R,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParMap")
            .field("source", &self.source)
            .field("order", &self.order)
            .field("on_their_way", &(self.in_line + self.block.left()))
            .finish_non_exhaustive()
    }
}

/// The closure, as the work of a line: a job is a block of items.
pub struct Mapping<T, F, R> {
    f: F,
    _types: PhantomData<fn(T) -> R>,
}

impl<T, F, R> Work for Mapping<T, F, R>
where
    F: Fn(T) -> R,
{
    type Job = Vec<T>;
    type Outcome = Block<R>;

    fn run(&self, items: Vec<T>) -> Block<R> {
        let start = ticks_at_work();
        let count = items.len();
        let mut items = items.into_iter();
        let mut results = Vec::with_capacity(count);
        let mut panics = VecDeque::new();
        loop {
            let run = || results.extend(items.by_ref().map(&self.f));
            match catch_unwind(AssertUnwindSafe(run)) {
                Ok(()) => break,
                Err(payload) => panics.push_back((results.len(), payload)),
            }
        }
        Block {
            results: results.into_iter(),
            returned: 0,
            panics,
            items: count,
            ticks: ticks_at_work().saturating_sub(start),
        }
    }
}

/// What became of a block of items.
pub struct Block<R> {
    results: vec::IntoIter<R>,
    returned: usize,
    /// Panics, each with the number of results before it.
    panics: VecDeque<(usize, Payload)>,
    items: usize,
    ticks: u64,
}

impl<R> Block<R> {
    fn empty() -> Self {
        Block {
            results: Vec::new().into_iter(),
            returned: 0,
            panics: VecDeque::new(),
            items: 0,
            ticks: 0,
        }
    }

    /// How many items have not been returned, as results or as panics?
    fn left(&self) -> usize {
        self.results.len() + self.panics.len()
    }

    /// The next result; panics if it was a panic.
    #[inline]
    fn next(&mut self) -> Option<R> {
        if !self.panics.is_empty() {
            self.panic_if_due();
        }
        let result = self.results.next();
        self.returned += usize::from(result.is_some());
        result
    }

    #[cold]
    fn panic_if_due(&mut self) {
        if self
            .panics
            .front()
            .is_some_and(|(at, _)| *at == self.returned)
        {
            let (_, payload) = self.panics.pop_front().expect("looked at just now");
            resume_unwind(payload);
        }
    }
}
