//! Tasks of an async runtime: their polls are strands.
//!
//! A task begins where it is spawned, in a strand of a profile; one that is spawned elsewhere is nobody's. Whoever polls it goes on with its strand where the last poll has ended, so the
//! polls of a task are a path, one after the other, whichever threads run them, and forks inside of a poll are forks of that path. Whoever awaits the task's handle goes on where
//! the later of both paths has got to. Other ways to wait for each other (channels, locks, timers) are not seen: they make no path longer.
//!
//! Tasks that stay on one thread, a `LocalSet`'s, are polled by whoever polls the set: in its strand ([`in_turn`]). A poll begins there where that strand has got to, if the task has not got
//! further, and the strand goes on where the poll has ended. So they do not run beside each other. A recording does not have this: steps of several tasks by turns are no tree.
//!
//! What a poll has done is told at its end, to the profile that the task belongs to ([`Profiled`]), which is known by its number: a task may outlive it, and then tells nobody. When the
//! computation ends, that is when its closure returns, it goes on where the longest path of its tasks has got to, as if it had waited for what they did until then.

use super::path::Path;
use super::strand::{Depth, Origin, Reached, Strand, Tally, pause};
use crate::site::Site;
use crate::sync::ignore_poison;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll};

/// What the tasks of a profile have told so far.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) depth: Depth,
    pub(super) tally: Tally,
    /// By the tasks' numbers.
    pub(super) paths: BTreeMap<u64, Path>,
}

/// Profiles that are under way, by number.
static UNDER_WAY: Mutex<BTreeMap<u64, Told>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// What the calling thread polls next is polled in the strand of that profile which has got so far.
    static TURN: Cell<Option<(u64, Depth)>> = const { Cell::new(None) };
}

/// Polls a task in the thread's strand: not beside it.
#[inline]
pub fn in_turn<R>(poll: impl FnOnce() -> R) -> R {
    match Strand::take() {
        Some(strand) => strand_in_turn(strand, poll),
        None => poll(),
    }
}

fn strand_in_turn<R>(strand: Box<Strand>, poll: impl FnOnce() -> R) -> R {
    /// Also if the poll panics.
    struct GoesOn(Option<Box<Strand>>);
    impl Drop for GoesOn {
        fn drop(&mut self) {
            let end = TURN.take();
            if let Some(mut strand) = self.0.take() {
                if let Some((_, depth)) = end {
                    strand.is_at(depth);
                }
                strand.go_on();
            }
        }
    }
    TURN.set(Some((strand.config().profile, strand.depth())));
    let _goes_on = GoesOn(Some(strand));
    poll()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    ignore_poison(mutex.lock())
}

/// A profile, as long as its computation runs: tasks can tell it something.
#[derive(Debug)]
pub(super) struct Profiled(u64);

impl Profiled {
    pub(super) fn begin() -> Self {
        static PROFILES: AtomicU64 = AtomicU64::new(1);
        let number = PROFILES.fetch_add(1, Ordering::Relaxed);
        lock(&UNDER_WAY).insert(number, Told::default());
        Profiled(number)
    }

    /// 0 is nobody's.
    pub(super) fn number(&self) -> u64 {
        self.0
    }

    /// The computation is through: its strand, which is the calling thread's, takes up what its tasks did.
    pub(super) fn end(self) {
        let told = lock(&UNDER_WAY).remove(&self.0);
        if let Some(told) = told.filter(|told| told.tally.strands > 0) {
            Strand::meet_tasks(told);
        }
    }
}

impl Drop for Profiled {
    fn drop(&mut self) {
        lock(&UNDER_WAY).remove(&self.0);
    }
}

fn tell(profile: u64, task: u64, reached: Reached, grain: Option<u64>) {
    if let Some(told) = lock(&UNDER_WAY).get_mut(&profile) {
        told.depth = told.depth.later(reached.depth);
        told.tally.add(&reached.tally);
        if let Some(grain) = grain {
            told.paths
                .entry(task)
                .or_default()
                .append(reached.path, grain);
        }
    }
}

/// A task's part in a profile: nothing, if it is nobody's.
#[derive(Debug)]
pub struct Polled(Option<Box<Task>>);

#[derive(Debug)]
struct Task {
    /// Of the task that has spawned it; 0 if none did.
    parent: u64,
    number: u64,
    origin: Origin,
    /// Until the next poll.
    at_rest: Mutex<Option<Box<Strand>>>,
    /// Where its last poll has got to.
    end: Mutex<Depth>,
}

impl Polled {
    /// A task begins here, at a line of the user's.
    #[inline]
    pub fn spawned(site: Site) -> Self {
        Polled(Strand::spawn(site).map(|(parent, strand)| {
            Box::new(Task {
                parent,
                number: strand.task(),
                origin: strand.origin(),
                end: Mutex::new(strand.depth()),
                at_rest: Mutex::new(Some(strand)),
            })
        }))
    }

    /// The calling thread polls it. What the thread was in before goes on afterwards.
    #[inline]
    pub fn poll<R>(&self, poll: impl FnOnce() -> R) -> R {
        let strand = self.0.as_ref().and_then(|task| {
            let strand = lock(&task.at_rest).take()?;
            Some((task, strand))
        });
        // What is polled inside of this poll has other turns.
        let turn = TURN.take();
        let Some((task, mut strand)) = strand else {
            let _belongs_to_nobody = pause();
            return poll();
        };
        let (config, mut rest) = (strand.config(), strand.rest());
        let turn = turn.filter(|&(profile, _)| profile == config.profile);
        if let Some((_, depth)) = turn {
            strand.is_at(depth);
        }
        let end = |reached: Box<Reached>| {
            let depth = reached.depth;
            rest.goes_on_from(depth, task.origin);
            *lock(&task.end) = depth;
            tell(config.profile, task.number, *reached, config.grain);
            *lock(&task.at_rest) = Some(rest);
            if turn.is_some() {
                TURN.set(Some((config.profile, depth)));
            }
        };
        strand.run(end, poll)
    }

    /// It is through, and whoever has waited for it goes on: the calling thread.
    #[inline]
    pub fn awaited(&self) {
        if let Some(task) = &self.0 {
            let end = *lock(&task.end);
            Strand::waited_for(task.parent, task.number, end, task.origin);
        }
    }

    /// The calling thread waits for a future, as if that were a task that it has spawned; `wait` gets it and runs until it is through.
    pub fn wait<F: Future, R>(site: Site, future: F, wait: impl FnOnce(Followed<'_, F>) -> R) -> R {
        let polled = Polled::spawned(site);
        let result = {
            let _waiting_is_no_work = pause();
            wait(Followed {
                polled: &polled,
                future,
            })
        };
        polled.awaited();
        result
    }
}

/// A future whose polls belong to somebody.
#[derive(Debug)]
pub struct Followed<'a, F> {
    polled: &'a Polled,
    future: F,
}

impl<F: Future> Future for Followed<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let polled = self.polled;
        // SAFETY: the future stays where it is as long as we do; nothing else here is pinned.
        let future = unsafe { self.map_unchecked_mut(|followed| &mut followed.future) };
        polled.poll(|| future.poll(context))
    }
}
