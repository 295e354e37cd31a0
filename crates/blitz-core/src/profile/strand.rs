//! Strands: what runs on a thread between two points where the scheduler has a say, and how their times are put together.
//!
//! The thread-local [`CURRENT`] is the strand that the thread is in, or nothing: outside of a profile, inside of the scheduler,
//! and in work that does not belong to the profile. Everything about a strand is a value. It is moved along with the fork, the
//! task or the closure that goes on with it, and what comes back is a value too ([`Reached`]): no shared session, nothing
//! that could outlive or be outlived by the computation. Only where any number of tasks end together (a scope, a handle)
//! is there a place with a lock ([`Ends`]).

use crate::seat;
use std::cell::Cell;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// By which clock, and at what price.
#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    pub(super) now: fn() -> u64,
    /// What one reading of the clock adds to a strand, in ticks.
    pub(super) reading: u64,
    /// What a steal adds to its path, in ticks.
    pub(super) burden: u64,
}

/// Where a strand began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) role: Role,
    pub(super) site: Option<&'static Location<'static>>,
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
}

/// Sums over strands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) work: u64,
    pub(super) strands: u64,
    pub(super) forks: u64,
    pub(super) steals: u64,
    pub(super) longest: Option<(u64, Origin)>,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.work += other.work;
        self.strands += other.strands;
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
    fn later(self, other: Depth) -> Depth {
        Depth {
            plain: self.plain.max(other.plain),
            burdened: self.burdened.max(other.burdened),
        }
    }
}

/// The end of a path, and what was done on the way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reached {
    pub(super) depth: Depth,
    pub(super) tally: Tally,
}

/// The strand a thread is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strand {
    config: Config,
    reached: Reached,
    since: u64,
    origin: Origin,
}

thread_local! {
    static CURRENT: Cell<Option<Strand>> = const { Cell::new(None) };
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
    pub(super) fn first(config: Config) -> Self {
        Strand {
            config,
            reached: Reached::default(),
            since: 0,
            origin: Origin {
                role: Role::Start,
                site: None,
                label: None,
            },
        }
    }

    /// Ends the thread's strand, adding its time.
    fn take() -> Option<Self> {
        let mut strand = CURRENT.take()?;
        let elapsed = (strand.config.now)().saturating_sub(strand.since);
        let time = elapsed.saturating_sub(strand.config.reading);
        let Reached { depth, tally } = &mut strand.reached;
        depth.plain += time;
        depth.burdened += time;
        tally.work += time;
        tally.strands += 1;
        tally.offer_longest(time, strand.origin);
        Some(strand)
    }

    /// Makes this the thread's strand, from now on.
    fn go_on(mut self) {
        self.since = (self.config.now)();
        CURRENT.set(Some(self));
    }

    /// Goes on after something at `site` has ended.
    fn go_on_after(mut self, site: Option<&'static Location<'static>>) {
        self.origin.role = Role::After;
        self.origin.site = site.or(self.origin.site);
        self.go_on();
    }

    /// A strand that begins where this one has ended, with nothing done yet.
    fn branch(&self, role: Role, site: Option<&'static Location<'static>>) -> Self {
        let mut depth = self.reached.depth;
        if matches!(role, Role::Right | Role::Task) {
            depth.burdened += self.config.burden;
        }
        Strand {
            config: self.config,
            reached: Reached {
                depth,
                tally: Tally::default(),
            },
            since: 0,
            origin: Origin {
                role,
                site,
                label: self.origin.label,
            },
        }
    }

    /// Runs `work` as this strand and what follows it. The thread's strand is as before afterwards, also if `work` panics.
    pub(super) fn run<R>(self, work: impl FnOnce() -> R) -> (R, Reached) {
        let start = self.reached;
        let interrupted = pause();
        self.go_on();
        let result = work();
        let reached = Strand::take().map_or(start, |strand| strand.reached);
        drop(interrupted);
        (result, reached)
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
        strand.go_on();
    }
}

/// A strand that has ended in a fork, until the join. Goes on by itself if the halves panic.
pub(crate) struct Forked {
    strand: Option<Strand>,
    site: &'static Location<'static>,
}

impl Forked {
    /// Ends the thread's strand in a fork, if it has one.
    #[track_caller]
    #[inline]
    pub(crate) fn here() -> Option<Self> {
        let mut strand = Strand::take()?;
        strand.reached.tally.forks += 1;
        Some(Forked {
            strand: Some(strand),
            site: Location::caller(),
        })
    }

    /// The two halves' strands.
    pub(crate) fn halves(&self) -> (Half, Half) {
        let half = |role| {
            let strand = self.strand.as_ref();
            Half(
                strand
                    .expect("until the join")
                    .branch(role, Some(self.site)),
            )
        };
        (half(Role::Left), half(Role::Right))
    }

    /// Both halves have ended: the longer path goes on.
    pub(crate) fn joined(mut self, left: Reached, right: Reached) {
        if let Some(mut strand) = self.strand.take() {
            strand.reached.depth = left.depth.later(right.depth);
            strand.reached.tally.add(&left.tally);
            strand.reached.tally.add(&right.tally);
            strand.go_on_after(Some(self.site));
        }
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        if let Some(strand) = self.strand.take() {
            strand.go_on_after(Some(self.site));
        }
    }
}

/// The strand of one half.
#[derive(Clone, Copy)]
pub(crate) struct Half(Strand);

impl Half {
    /// Runs the half; `moved`: on another thread than its sibling.
    pub(crate) fn run<R>(mut self, moved: bool, work: impl FnOnce() -> R) -> (R, Reached) {
        self.0.reached.tally.steals += u64::from(moved);
        self.0.run(work)
    }
}

/// The strand of a task that has been spawned, and the seat that spawned it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spawned {
    strand: Option<Strand>,
    seat: Option<usize>,
}

impl Spawned {
    /// Cuts the thread's strand: the task begins here, and so does what follows the spawn.
    #[track_caller]
    pub(crate) fn here() -> Self {
        let site = Some(Location::caller());
        let seat = seat::current().map(|seat| seat.index);
        let Some(mut strand) = Strand::take() else {
            return Spawned { strand: None, seat };
        };
        strand.reached.tally.forks += 1;
        let task = strand.branch(Role::Task, site);
        strand.go_on_after(site);
        Spawned {
            strand: Some(task),
            seat,
        }
    }

    /// Runs the task, and tells `ends` when it has ended.
    pub(crate) fn run<R>(self, ends: &Ends, part: impl FnOnce() -> R) -> R {
        let Some(mut strand) = self.strand else {
            return part();
        };
        let here = seat::current().map(|seat| seat.index);
        strand.reached.tally.steals += u64::from(here != self.seat);
        let (result, reached) = strand.run(part);
        ends.add(&reached);
        result
    }
}

/// Where tasks end together: the end of a scope, or the join of a handle.
#[derive(Debug)]
pub(crate) struct Ends(Mutex<Option<Reached>>);

impl Ends {
    pub(crate) fn new() -> Self {
        Ends(Mutex::new(None))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Reached>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, reached: &Reached) {
        let mut ends = self.lock();
        let so_far = ends.get_or_insert_default();
        so_far.depth = so_far.depth.later(reached.depth);
        so_far.tally.add(&reached.tally);
    }

    /// The thread's strand has got so far, and goes on; what it has done is told elsewhere.
    pub(crate) fn note(&self) {
        if let Some(strand) = Strand::take() {
            self.add(&Reached {
                depth: strand.reached.depth,
                tally: Tally::default(),
            });
            strand.go_on();
        }
    }

    /// The thread has waited for all of them: the longest path goes on. Their work is handed over once.
    pub(crate) fn meet(&self) {
        let Some(reached) = self.lock().take() else {
            return;
        };
        if let Some(mut strand) = Strand::take() {
            strand.reached.depth = strand.reached.depth.later(reached.depth);
            strand.reached.tally.add(&reached.tally);
            strand.go_on_after(None);
        }
    }
}

/// A strand that goes on in another pool while this thread waits. Goes on here by itself if the work panics.
pub(crate) struct Carried(Option<Strand>);

/// The strand on its way there.
#[derive(Clone, Copy)]
pub(crate) struct Passage(Option<Strand>);

impl Carried {
    /// Takes the thread's strand away.
    pub(crate) fn away() -> Self {
        Carried(Strand::take())
    }

    /// What is to be taken along.
    pub(crate) fn passage(&self) -> Passage {
        Passage(self.0)
    }

    /// The work has ended there: the thread that waited goes on.
    pub(crate) fn arrived(mut self, reached: Option<Reached>) {
        if let (Some(strand), Some(reached)) = (&mut self.0, reached) {
            strand.reached = reached;
        }
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        if let Some(strand) = self.0.take() {
            strand.go_on();
        }
    }
}

impl Passage {
    /// Goes on with the strand on the thread that runs the work.
    pub(crate) fn run<R>(self, work: impl FnOnce() -> R) -> (R, Option<Reached>) {
        match self.0 {
            Some(strand) => {
                let (result, reached) = strand.run(work);
                (result, Some(reached))
            }
            None => (work(), None),
        }
    }
}

/// The thread's strand, put aside; it goes on when this is dropped, and whatever runs then ends.
pub(crate) struct Paused(Option<Strand>);

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
