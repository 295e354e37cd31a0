//! The line behind every pipeline: jobs on their way in, results on their way out.
//!
//! The *owner* (the thread that calls `next` of the pipeline) puts jobs in and takes results out. *Helpers*, tasks in the owner's pool, take the oldest job that nobody
//! has begun, again and again, until there is none. If the result that the owner needs is not there, the owner does the same. So it waits only for
//! jobs that another thread is in the middle of. A pool whose threads are all busy, or which has no other thread, never stops it.
//!
//! Everything meets under one mutex, which is held for a few moves of pointers, never while a job runs or anything of the user's is dropped. Jobs are blocks that take some
//! microseconds or more, so the mutex is no bottleneck.
//!
//! # Who waits for whom
//! The owner waits by its [`Crew`]'s bell: it says under the mutex what it waits for, and the thread that brings that rings the bell. While it waits, it runs
//! nothing but forks of its own jobs. So if it holds a lock across `next`, only the pipeline's own closure could meet that lock.
//!
//! # The end
//! [`Open`] ends the line when it is dropped. Jobs that nobody has begun are taken out, running jobs are waited for, and then the owner drops all of them. A helper that
//! begins later finds the line closed. The work itself (the user's closure) is shared only by those that run jobs, so it is gone by then, too.

use crate::engine::crew::Crew;
use crate::engine::demand::beat;
use crate::engine::site::Site;
use crate::engine::sync::locks::Mutex;
use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, MutexGuard, PoisonError};

/// What is done with each job.
pub trait Work {
    /// What goes in.
    type Job;
    /// What comes out.
    type Outcome;

    /// Runs a job. Does not unwind: a panic is an outcome.
    fn run(&self, job: Self::Job) -> Self::Outcome;
}

/// In which order results come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As the jobs went in.
    Kept,
    /// As they are ready.
    Any,
}

/// Starts helpers: in the current pool, or in a scope.
pub trait Start<W: Work> {
    /// The crew that the helpers will belong to.
    fn crew(&self, site: Site) -> Crew;

    /// How many helpers could run at the same time as the caller?
    fn others(&self) -> usize;

    /// Has [`Line::help`] called on another thread, some time.
    fn start(&self, line: &Arc<Line<W>>);
}

/// The line, shared by the owner and its helpers.
pub struct Line<W: Work> {
    crew: Crew,
    order: Order,
    state: Mutex<State<W>>,
}

struct State<W: Work> {
    /// `None`: the line is closed.
    work: Option<Arc<W>>,
    /// Jobs that nobody has begun, oldest first, with their places.
    pending: VecDeque<(u64, W::Job)>,
    /// In order: a place for each job that went in and whose result has not come out. Otherwise: the results that are there.
    results: VecDeque<Option<W::Outcome>>,
    /// The first place of `results`, if they are in order.
    first: u64,
    /// The place of the next job.
    next: u64,
    /// Jobs that have been begun and whose result is not there yet.
    running: usize,
    /// Helpers that have been started, whether they have begun or not.
    helpers: usize,
    /// Helpers that may run jobs.
    at_work: usize,
    /// The owner waits.
    awaited: bool,
}

/// What the owner can do next.
pub enum Turn<W: Work> {
    /// Take this result.
    Take(W::Outcome),
    /// Run this job and [`put`](Line::put) its result to its place.
    Run(u64, W::Job),
    /// [`wait`](Line::wait).
    Wait,
    /// Nothing: the line is empty.
    Rest,
}

impl<W: Work> Line<W> {
    /// An empty line.
    pub(crate) fn new(crew: Crew, order: Order, work: Arc<W>) -> Self {
        Line {
            crew,
            order,
            state: Mutex::new(State {
                work: Some(work),
                pending: VecDeque::new(),
                results: VecDeque::new(),
                first: 0,
                next: 0,
                running: 0,
                helpers: 0,
                at_work: 0,
                awaited: false,
            }),
        }
    }

    pub(crate) fn crew(&self) -> &Crew {
        &self.crew
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        // Nothing panics while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Owner: a job goes in. `true`: a helper is to be started for it; `most` of them are enough.
    pub(crate) fn push(&self, job: W::Job, most: usize) -> bool {
        let mut state = self.lock();
        let place = state.next;
        state.next += 1;
        state.pending.push_back((place, job));
        if self.order == Order::Kept {
            state.results.push_back(None);
        }
        let another = state.helpers < most.min(state.pending.len());
        state.helpers += usize::from(another);
        another
    }

    /// Owner: what next?
    pub(crate) fn turn(&self) -> Turn<W> {
        let mut state = self.lock();
        if let Some(outcome) = state.take_ready(self.order) {
            return Turn::Take(outcome);
        }
        if let Some((place, job)) = state.begin() {
            return Turn::Run(place, job);
        }
        if state.running == 0 {
            return Turn::Rest;
        }
        self.crew.hush();
        state.awaited = true;
        Turn::Wait
    }

    /// Owner: waits for what [`turn`](Self::turn) has found to be running.
    pub(crate) fn wait(&self) {
        self.crew.wait();
    }

    /// The job of this place has been run.
    pub(crate) fn put(&self, place: u64, outcome: W::Outcome) {
        let mut state = self.lock();
        state.put(self.order, place, outcome);
    }

    /// A helper's life.
    pub(crate) fn help(&self) {
        let mut state = self.lock();
        let Some(work) = state.work.clone() else {
            return;
        };
        state.at_work += 1;
        while let Some((place, job)) = state.begin() {
            drop(state);
            beat();
            let outcome = work.run(job);
            state = self.lock();
            state.put(self.order, place, outcome);
            let news = state.results.front().is_some_and(Option::is_some);
            if news && mem::take(&mut state.awaited) {
                drop(state);
                self.crew.ring();
                state = self.lock();
            }
        }
        state.helpers -= 1;
        drop(state);
        // May be the last share, if the line is being closed; so it goes while the owner waits.
        drop(work);
        let mut state = self.lock();
        state.at_work -= 1;
        let last = state.work.is_none() && state.at_work == 0;
        if last && mem::take(&mut state.awaited) {
            drop(state);
            self.crew.ring();
        }
    }

    fn close(&self) -> impl Sized + use<W> {
        let mut state = self.lock();
        let work = state.work.take();
        let pending = mem::take(&mut state.pending);
        while state.at_work > 0 {
            self.crew.hush();
            state.awaited = true;
            drop(state);
            self.crew.wait();
            state = self.lock();
        }
        (work, pending, mem::take(&mut state.results))
    }
}

impl<W: Work> State<W> {
    /// Takes the oldest job that nobody has begun.
    fn begin(&mut self) -> Option<(u64, W::Job)> {
        let begun = self.pending.pop_front()?;
        self.running += 1;
        Some(begun)
    }

    fn put(&mut self, order: Order, place: u64, outcome: W::Outcome) {
        self.running -= 1;
        match order {
            Order::Kept => {
                let index = (place - self.first) as usize;
                self.results[index] = Some(outcome);
            }
            Order::Any => self.results.push_back(Some(outcome)),
        }
    }

    fn take_ready(&mut self, order: Order) -> Option<W::Outcome> {
        let outcome = self.results.front_mut()?.take()?;
        self.results.pop_front();
        if order == Order::Kept {
            self.first += 1;
        }
        Some(outcome)
    }
}

/// The owner's end of a line; closes it when dropped.
pub(crate) struct Open<W: Work>(Arc<Line<W>>);

impl<W: Work> Open<W> {
    pub(crate) fn new(line: Line<W>) -> Self {
        Open(Arc::new(line))
    }

    pub(crate) fn line(&self) -> &Arc<Line<W>> {
        &self.0
    }
}

impl<W: Work> Open<W> {
    /// Nothing is begun any more, and what has been begun is over when this returns. What is left is returned, to be dropped.
    pub(crate) fn close(&self) -> impl Sized + use<W> {
        self.0.close()
    }
}

impl<W: Work> Drop for Open<W> {
    fn drop(&mut self) {
        drop(self.close());
    }
}
