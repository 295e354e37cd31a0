//! Strands: what runs on a thread between two points where the scheduler has a say, and how their times are put together.
//!
//! The thread-local [`CURRENT`] is the strand that the thread is in, or nothing: outside of a profile, inside of the scheduler,
//! and in work that does not belong to the profile. Everything about a strand is a value. It is moved along with the fork, the
//! task or the closure that goes on with it, and what comes back is a value too ([`Reached`]): no shared session, nothing
//! that could outlive or be outlived by the computation. Only where any number of tasks end together (a scope, a handle)
//! is there a place with a lock ([`Ends`]).

use super::path::{Path, Size, Step};
use super::polled::Told;
use super::taken;
use crate::seat;
use crate::site::{Operation, Site};
use crate::sync::ignore_poison;
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// By which clock, and at what price.
#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    /// The user's clock, if it is not the real one.
    pub(super) clock: Option<fn() -> u64>,
    /// What the profiler adds to a strand, in ticks.
    pub(super) cost: u64,
    /// What a steal adds to its path, in ticks.
    pub(super) burden: u64,
    /// The grain of the recording, in ticks, if there is one.
    pub(super) grain: Option<u64>,
    /// Which profile it is, for tasks of an async runtime; 0 if these tell nobody.
    pub(super) profile: u64,
}

impl Config {
    /// A strand begins.
    fn begin(self) -> u64 {
        self.clock.map_or_else(taken::begin, |now| now())
    }

    /// A strand ends that began at `since`: how long it took.
    pub(super) fn end(self, since: u64) -> u64 {
        let elapsed = match self.clock {
            Some(now) => now().saturating_sub(since),
            None => taken::end(since),
        };
        // What a strand was too short for is taken from the next one: of very many short ones, each is off by its own luck, and the sum is not.
        let owed = self.cost + OWED.get();
        OWED.set(owed.saturating_sub(elapsed).min(self.cost));
        elapsed.saturating_sub(owed)
    }

    /// What a loop of `items` strands beside each other, `work` in all, adds to the burdened span: cut as often as it pays.
    fn burdened_loop(self, work: u64, items: u64) -> u64 {
        let mut least = work;
        let (mut parts, mut steals) = (2, self.burden);
        while parts <= items && steals < least {
            least = least.min(work / parts + steals);
            parts *= 2;
            steals += self.burden;
        }
        least
    }
}

/// Where a strand began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) role: Role,
    pub(super) site: Option<Site>,
    pub(super) label: Option<&'static str>,
}

/// What a strand is to the call at its site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The beginning of the computation.
    Start,
    /// The left half of a fork.
    Left,
    /// The right half of a fork.
    Right,
    /// What follows a join, a spawn or the end of a scope.
    After,
    /// A spawned task.
    Task,
    /// A loop that was not cut.
    Loop,
    /// The fork itself.
    Fork,
}

/// Sums over strands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) work: u64,
    pub(super) strands: u64,
    /// Times that the clock was read for them, in pairs: of a loop in one piece, once for all of its items.
    pub(super) timed: u64,
    pub(super) forks: u64,
    pub(super) steals: u64,
    pub(super) longest: Option<(u64, Origin)>,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.work += other.work;
        self.strands += other.strands;
        self.timed += other.timed;
        self.forks += other.forks;
        self.steals += other.steals;
        if let Some((time, origin)) = other.longest {
            self.offer_longest(time, origin);
        }
    }

    fn offer_longest(&mut self, time: u64, origin: Origin) {
        if self.longest.is_none_or(|(longest, _)| time > longest) {
            self.longest = Some((time, origin));
        }
    }
}

/// How far a path has got.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Depth {
    /// The span from the beginning of the computation.
    pub(super) plain: u64,
    /// The same with the price of steals.
    pub(super) burdened: u64,
}

impl Depth {
    pub(super) fn later(self, other: Depth) -> Depth {
        Depth {
            plain: self.plain.max(other.plain),
            burdened: self.burdened.max(other.burdened),
        }
    }
}

/// The end of a path, and what was done on the way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reached {
    pub(super) depth: Depth,
    pub(super) tally: Tally,
    /// The steps, if they are recorded.
    pub(super) path: Path,
}

impl Reached {
    /// How much it is, for a path that began at `start`.
    fn size(&self, start: Depth) -> Size {
        Size {
            work: self.tally.work,
            span: self.depth.plain.saturating_sub(start.plain),
            forks: self.tally.forks,
            strands: self.tally.timed,
        }
    }
}

/// The strand a thread is in. Boxed wherever it is handed on: forks nest, and frames with strands in them would be many times as large.
#[derive(Debug)]
pub(super) struct Strand {
    config: Config,
    reached: Reached,
    since: u64,
    origin: Origin,
    /// The operation of a library that it is a part of.
    operation: Option<Site>,
    /// The task that it belongs to; 0 if it is none.
    task: u64,
}

/// Numbers of tasks, for recordings.
static TASKS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static CURRENT: Cell<Option<Box<Strand>>> = const { Cell::new(None) };
    /// What the profiler has added to strands of this thread and could not be subtracted yet, in ticks.
    static OWED: Cell<u64> = const { Cell::new(0) };
}

/// What the profiler adds to a strand, in ticks of the real clock: the mean of a tree of joins that do nothing, on a thread of its own. A strand among others takes longer than one by
/// itself, for which everything is where it was.
pub(super) fn cost() -> u64 {
    fn tree(levels: u32) {
        if levels > 0 {
            crate::join(|| tree(levels - 1), || tree(levels - 1));
        }
    }
    let config = Config {
        clock: None,
        cost: 0,
        burden: 0,
        grain: None,
        profile: 0,
    };
    let mean = || {
        let mut tally = Tally::default();
        Strand::first(config).run(|reached| tally = reached.tally, || tree(7));
        tally.work / tally.strands
    };
    // The least of some: whatever disturbs makes it longer.
    let least = || std::iter::repeat_with(mean).take(32).min().unwrap_or(0);
    let _interrupted = pause();
    match crate::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(least),
        Err(_) => 0,
    }
}

/// Names the strands that begin inside of `work`, for the report's longest strand.
///
/// ```
/// let (_, profile) = blitz_core::profile(|| {
///     blitz_core::profile::label("parse", || blitz_core::join(|| (), || std::thread::yield_now()))
/// });
/// assert!(profile.longest().is_some());
/// ```
pub fn label<R>(name: &'static str, work: impl FnOnce() -> R) -> R {
    struct Outer(Option<&'static str>);
    impl Drop for Outer {
        fn drop(&mut self) {
            relabel(self.0);
        }
    }
    let outer = Outer(relabel(Some(name)));
    let result = work();
    drop(outer);
    result
}

/// Cuts the current strand, if any, and goes on under another label. Returns the label so far.
fn relabel(label: Option<&'static str>) -> Option<&'static str> {
    let mut strand = Strand::take()?;
    let before = std::mem::replace(&mut strand.origin.label, label);
    strand.go_on();
    before
}

impl Strand {
    /// The first strand of a computation.
    pub(super) fn first(config: Config) -> Box<Self> {
        Box::new(Strand {
            config,
            reached: Reached::default(),
            since: 0,
            origin: Origin {
                role: Role::Start,
                site: None,
                label: None,
            },
            operation: None,
            task: 0,
        })
    }

    /// Ends the thread's strand, adding its time.
    pub(super) fn take() -> Option<Box<Self>> {
        let (mut strand, time) = Self::cut()?;
        strand.reached.tally.offer_longest(time, strand.origin);
        Some(strand)
    }

    /// The same, for a strand of which it is not yet known whether it counts as one. Also says how long it took.
    fn cut() -> Option<(Box<Self>, u64)> {
        let mut strand = CURRENT.take()?;
        let time = strand.config.end(strand.since);
        let Reached { depth, tally, path } = &mut strand.reached;
        depth.plain += time;
        depth.burdened += time;
        tally.work += time;
        tally.strands += 1;
        tally.timed += 1;
        if let Some(grain) = strand.config.grain {
            path.ran(time, strand.origin, grain);
        }
        Some((strand, time))
    }

    /// Makes this the thread's strand, from now on.
    pub(super) fn go_on(mut self: Box<Self>) {
        self.since = self.config.begin();
        CURRENT.set(Some(self));
    }

    /// Goes on after something at `site` has ended.
    fn go_on_after(mut self: Box<Self>, site: Option<Site>) {
        self.origin.role = Role::After;
        self.origin.site = site.or(self.origin.site);
        self.go_on();
    }

    /// A strand that begins where this one has ended, with nothing done yet.
    fn branch(&self, role: Role, site: Option<Site>) -> Box<Self> {
        let mut depth = self.reached.depth;
        if matches!(role, Role::Right | Role::Task) {
            depth.burdened += self.config.burden;
        }
        Box::new(Strand {
            config: self.config,
            reached: Reached {
                depth,
                ..Reached::default()
            },
            since: 0,
            origin: Origin {
                role,
                site,
                label: self.origin.label,
            },
            operation: Operation::current(),
            task: self.task,
        })
    }

    /// Cuts the thread's strand, if it has one: a task begins here, and so does what follows the spawn. Also says which task has spawned it.
    pub(super) fn spawn(site: Site) -> Option<(u64, Box<Strand>)> {
        let mut strand = Strand::take()?;
        let parent = strand.task;
        strand.reached.tally.forks += 1;
        let mut task = strand.branch(Role::Task, Some(site));
        if strand.config.grain.is_some() {
            task.task = TASKS.fetch_add(1, Ordering::Relaxed);
            let origin = task.origin;
            let task = task.task;
            strand.reached.path.0.push(Step::Spawn { task, origin });
        }
        strand.go_on_after(Some(site));
        Some((parent, task))
    }

    pub(super) fn config(&self) -> Config {
        self.config
    }

    pub(super) fn task(&self) -> u64 {
        self.task
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    pub(super) fn depth(&self) -> Depth {
        self.reached.depth
    }

    /// It goes on from there, if it has not got further.
    pub(super) fn is_at(&mut self, depth: Depth) {
        self.reached.depth = self.reached.depth.later(depth);
    }

    /// What a task goes on with later, once this has run: nothing done yet.
    pub(super) fn rest(&self) -> Box<Strand> {
        let mut rest = Strand::first(self.config);
        rest.task = self.task;
        rest.operation = self.operation;
        rest
    }

    /// See [`Strand::rest`].
    pub(super) fn goes_on_from(&mut self, depth: Depth, origin: Origin) {
        self.reached.depth = depth;
        self.origin = origin;
    }

    /// The thread's strand, if it has one, has waited for a task that got so far. What that did is told elsewhere.
    pub(super) fn waited_for(parent: u64, task: u64, end: Depth, origin: Origin) {
        let Some(mut strand) = Strand::take() else {
            return;
        };
        strand.reached.depth = strand.reached.depth.later(end);
        // A recording says only what a stack of calls could do as well: that one waits for what it has spawned.
        if strand.config.grain.is_some() && strand.task == parent {
            strand.reached.path.0.push(Step::Meet {
                awaited: vec![task],
                ended: Vec::new(),
                origin,
            });
        }
        strand.go_on_after(origin.site);
    }

    /// The thread's strand takes up what the tasks of the computation have done.
    pub(super) fn meet_tasks(told: Told) {
        let Some(mut strand) = Strand::take() else {
            return;
        };
        strand.reached.depth = strand.reached.depth.later(told.depth);
        strand.reached.tally.add(&told.tally);
        if strand.config.grain.is_some() {
            let origin = strand.origin;
            strand.reached.path.0.push(Step::Meet {
                awaited: told.paths.keys().copied().collect(),
                ended: told.paths.into_iter().collect(),
                origin,
            });
        }
        strand.go_on();
    }

    /// Where it came from, as another role.
    fn origin_as(&self, role: Role, site: Option<Site>) -> Origin {
        Origin {
            role,
            site,
            label: self.origin.label,
        }
    }

    /// Runs `work` as this strand and what follows it. What came of it goes to `end`, also if `work` panics: what it has done until then is done. The thread's strand is as before
    /// afterwards.
    pub(super) fn run<R>(
        self: Box<Self>,
        end: impl FnOnce(Box<Reached>),
        work: impl FnOnce() -> R,
    ) -> R {
        let running = Running {
            config: self.config,
            start: self.reached.depth,
            end: Some(end),
            interrupted: Some(pause()),
            operation: Some(Operation::resume(self.operation)),
        };
        self.go_on();
        let result = work();
        drop(running);
        result
    }
}

/// A strand that is being run, until the end.
struct Running<E: FnOnce(Box<Reached>)> {
    config: Config,
    start: Depth,
    end: Option<E>,
    interrupted: Option<Paused>,
    operation: Option<Operation>,
}

impl<E: FnOnce(Box<Reached>)> Drop for Running<E> {
    fn drop(&mut self) {
        let lost = || {
            let mut lost = Strand::first(self.config);
            lost.reached.depth = self.start;
            lost
        };
        let reached = Strand::take().unwrap_or_else(lost).reached;
        self.operation = None;
        self.interrupted = None;
        if let Some(end) = self.end.take() {
            end(Box::new(reached));
        }
    }
}

/// Adds a path that has ended to the thread's strand, if it has one: as if the strand had waited for it.
pub(super) fn absorb(reached: &Reached) {
    if let Some(mut strand) = Strand::take() {
        strand.reached.depth = strand.reached.depth.later(Depth {
            plain: strand.reached.depth.plain + reached.depth.plain,
            burdened: strand.reached.depth.burdened + reached.depth.burdened,
        });
        strand.reached.tally.add(&reached.tally);
        if let Some(grain) = strand.config.grain {
            strand.reached.path.append(reached.path.clone(), grain);
        }
        strand.go_on();
    }
}

/// A part of a loop that nobody has cut: so many pieces of it could have run beside each other.
#[derive(Clone, Copy, Debug)]
pub struct Parts(usize);

impl Parts {
    /// Of `len` items, in pieces of at least `shortest`.
    #[inline]
    pub fn of(len: usize, shortest: usize) -> Self {
        Parts(len / shortest.max(1))
    }

    /// Does the calling thread run something that is profiled? What is run in several pieces then, one after the other, adds all of them to the span.
    #[inline]
    pub fn are_counted() -> bool {
        let strand = CURRENT.take();
        let are_counted = strand.is_some();
        CURRENT.set(strand);
        are_counted
    }

    /// Runs all of them, one after the other. On the span of a profile they count as one of them does on average, because that is what it would take
    /// if enough threads were there.
    #[inline]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        if self.0 < 2 {
            return work();
        }
        let Some(mut strand) = Strand::take() else {
            return work();
        };
        let uncut = Uncut {
            items: self.0 as u64,
            before: strand.reached.depth,
            work_before: strand.reached.tally.work,
            timed_before: strand.reached.tally.timed,
            strands: strand.reached.tally.strands,
            path: std::mem::take(&mut strand.reached.path),
            outer: strand.origin,
            site: Operation::current().or(strand.origin.site),
        };
        strand.origin = strand.origin_as(Role::Loop, uncut.site);
        strand.go_on();
        let result = work();
        drop(uncut);
        result
    }
}

/// A loop that runs in one piece, until its end or a panic.
struct Uncut {
    items: u64,
    before: Depth,
    work_before: u64,
    timed_before: u64,
    strands: u64,
    path: Path,
    outer: Origin,
    site: Option<Site>,
}

impl Drop for Uncut {
    fn drop(&mut self) {
        let Some((mut strand, time)) = Strand::cut() else {
            return;
        };
        let (items, before) = (self.items, self.before);
        let origin = strand.origin_as(Role::Loop, self.site);
        let Reached {
            depth,
            tally,
            path: inner,
        } = &mut strand.reached;
        let took = depth.plain.saturating_sub(before.plain);
        let burdened = depth.burdened.saturating_sub(before.burdened);
        depth.plain = before.plain + took / items;
        depth.burdened = before.burdened + strand.config.burdened_loop(burdened, items);
        if tally.strands == self.strands + 1 {
            // Plain items: each is a strand.
            tally.strands = self.strands + items;
            tally.offer_longest(time / items, origin);
        } else {
            tally.offer_longest(time, origin);
        }
        let inner = std::mem::replace(inner, std::mem::take(&mut self.path));
        if let Some(grain) = strand.config.grain {
            let done = (
                tally.work - self.work_before,
                tally.timed - self.timed_before,
            );
            let path = &mut strand.reached.path;
            path.loop_of(inner, done, items, origin, grain);
        }
        strand.origin = self.outer;
        strand.go_on();
    }
}

/// A strand that has ended in a fork, until this is dropped: then both halves have ended, also if one of them panicked.
pub(crate) struct Forked {
    strand: Option<Box<Strand>>,
    /// What came of the halves. Nothing, if it was not begun: a token may say so.
    left: Option<Box<Reached>>,
    right: Option<Box<Reached>>,
    site: Site,
    of_loop: bool,
}

impl Forked {
    /// Ends the thread's strand in a fork, if it has one.
    #[inline]
    pub(crate) fn at(site: Site) -> Option<Self> {
        let mut strand = Strand::take()?;
        strand.reached.tally.forks += 1;
        Some(Forked {
            strand: Some(strand),
            left: None,
            right: None,
            site,
            of_loop: false,
        })
    }

    /// The halves are parts of a loop.
    pub(crate) fn of_loop(mut self, of_loop: bool) -> Self {
        self.of_loop = of_loop;
        self
    }

    /// The two halves' strands.
    pub(crate) fn halves(&mut self) -> (Half<'_>, Half<'_>) {
        let strand = self.strand.as_ref().expect("until the join");
        let half = |role, end| Half {
            strand: strand.branch(role, Some(self.site)),
            end,
        };
        (
            half(Role::Left, &mut self.left),
            half(Role::Right, &mut self.right),
        )
    }
}

impl Drop for Forked {
    /// The longer path goes on.
    fn drop(&mut self) {
        let Some(mut strand) = self.strand.take() else {
            return;
        };
        let start = strand.reached.depth;
        let mut half = |end: &mut Option<Box<Reached>>| {
            let end = end.take().map_or_else(
                || Reached {
                    depth: start,
                    ..Reached::default()
                },
                |end| *end,
            );
            strand.reached.depth = strand.reached.depth.later(end.depth);
            strand.reached.tally.add(&end.tally);
            let size = end.size(start);
            (end.path, size)
        };
        let (left, right) = (half(&mut self.left), half(&mut self.right));
        if let Some(grain) = strand.config.grain {
            let origin = strand.origin_as(Role::Fork, Some(self.site));
            let path = &mut strand.reached.path;
            path.fork(left, right, self.of_loop, origin, grain);
        }
        strand.go_on_after(Some(self.site));
    }
}

/// The strand of one half.
pub(crate) struct Half<'a> {
    strand: Box<Strand>,
    end: &'a mut Option<Box<Reached>>,
}

impl Half<'_> {
    /// Runs the half; `moved`: on another thread than its sibling.
    pub(crate) fn run<R>(mut self, moved: bool, work: impl FnOnce() -> R) -> R {
        self.strand.reached.tally.steals += u64::from(moved);
        let end = self.end;
        self.strand.run(|reached| *end = Some(reached), work)
    }
}

/// The strand of a task that has been spawned, and the seat that spawned it.
#[derive(Debug)]
pub(crate) struct Spawned {
    strand: Option<Box<Strand>>,
    seat: Option<usize>,
}

impl Spawned {
    /// Cuts the thread's strand: the task begins here, and so does what follows the spawn.
    #[track_caller]
    pub(crate) fn here() -> Self {
        Self::at(Site::caller())
    }

    /// The same, for something that was called at `site`.
    pub(crate) fn at(site: Site) -> Self {
        let seat = seat::current().map(|seat| seat.index);
        let strand = Strand::spawn(site).map(|(_, strand)| strand);
        Spawned { strand, seat }
    }

    /// Runs the task, and tells `ends` when it has ended.
    pub(crate) fn run<R>(self, ends: &Ends, part: impl FnOnce() -> R) -> R {
        let Some(mut strand) = self.strand else {
            return part();
        };
        let here = seat::current().map(|seat| seat.index);
        strand.reached.tally.steals += u64::from(here != self.seat);
        let task = strand.task;
        strand.run(|reached| ends.add(task, *reached, true), part)
    }
}

/// Where tasks end together: the end of a scope, or the join of a handle.
#[derive(Debug)]
pub(crate) struct Ends {
    site: Site,
    so_far: Mutex<Option<Ended>>,
}

/// What has ended.
#[derive(Debug, Default)]
struct Ended {
    depth: Depth,
    tally: Tally,
    awaited: Vec<u64>,
    paths: Vec<(u64, Path)>,
}

impl Ends {
    /// Of something that was called at `site`.
    pub(crate) fn at(site: Site) -> Self {
        Ends {
            site,
            so_far: Mutex::new(None),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Ended>> {
        ignore_poison(self.so_far.lock())
    }

    /// `task` got so far. `told_here`: with what it has done.
    fn add(&self, task: u64, reached: Reached, told_here: bool) {
        let mut ends = self.lock();
        let so_far = ends.get_or_insert_default();
        so_far.depth = so_far.depth.later(reached.depth);
        so_far.tally.add(&reached.tally);
        if task != 0 {
            so_far.awaited.push(task);
            if told_here {
                so_far.paths.push((task, reached.path));
            }
        }
    }

    /// The thread's strand has got so far, and goes on; what it has done is told elsewhere.
    pub(crate) fn note(&self) {
        if let Some(strand) = Strand::take() {
            let reached = Reached {
                depth: strand.reached.depth,
                ..Reached::default()
            };
            self.add(strand.task, reached, false);
            strand.go_on();
        }
    }

    /// The thread has waited for all of them: the longest path goes on. Their work is handed over once.
    pub(crate) fn meet(&self) {
        let Some(ended) = self.lock().take() else {
            return;
        };
        if let Some(mut strand) = Strand::take() {
            strand.reached.depth = strand.reached.depth.later(ended.depth);
            strand.reached.tally.add(&ended.tally);
            if strand.config.grain.is_some() {
                let origin = strand.origin_as(Role::After, Some(self.site));
                strand.reached.path.0.push(Step::Meet {
                    awaited: ended.awaited,
                    ended: ended.paths,
                    origin,
                });
            }
            strand.go_on_after(Some(self.site));
        }
    }
}

/// A strand that goes on in another pool while this thread waits. Goes on here when this is dropped, from where the work has got to there, also by a panic.
pub(crate) struct Carried {
    strand: Option<Box<Strand>>,
    end: Option<Box<Reached>>,
}

/// The strand on its way there.
pub(crate) struct Passage<'a> {
    strand: Option<Box<Strand>>,
    end: &'a mut Option<Box<Reached>>,
}

impl Carried {
    /// Takes the thread's strand away.
    pub(crate) fn away() -> Self {
        Carried {
            strand: Strand::take(),
            end: None,
        }
    }

    /// What is to be taken along.
    pub(crate) fn passage(&mut self) -> Passage<'_> {
        let from = self.strand.as_ref();
        Passage {
            strand: from.map(|strand| strand.branch(strand.origin.role, strand.origin.site)),
            end: &mut self.end,
        }
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        let Some(mut strand) = self.strand.take() else {
            return;
        };
        if let Some(reached) = self.end.take() {
            strand.reached.depth = reached.depth;
            strand.reached.tally.add(&reached.tally);
            if let Some(grain) = strand.config.grain {
                strand.reached.path.append(reached.path, grain);
            }
        }
        strand.go_on();
    }
}

impl Passage<'_> {
    /// Goes on with the strand on the thread that runs the work.
    pub(crate) fn run<R>(self, work: impl FnOnce() -> R) -> R {
        let end = self.end;
        match self.strand {
            Some(strand) => strand.run(|reached| *end = Some(reached), work),
            None => work(),
        }
    }
}

/// The thread's strand, put aside; it goes on when this is dropped, and whatever runs then ends.
pub(crate) struct Paused(Option<Box<Strand>>);

/// The thread is going to wait, which is no work, or to run work of somebody else.
#[inline]
pub(crate) fn pause() -> Paused {
    Paused(Strand::take())
}

impl Drop for Paused {
    fn drop(&mut self) {
        match self.0.take() {
            Some(strand) => strand.go_on(),
            None => CURRENT.set(None),
        }
    }
}
