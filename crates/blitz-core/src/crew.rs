//! A crew: jobs that somebody waits for bit by bit.
//!
//! A scope is waited for when all of its tasks are over, a handle when its one task is. Pipelines need something in between: jobs that bring results again
//! and again, and one thread, the *owner*, that waits for the next one. All jobs of a crew run in one context, so a waiting owner may help
//! with whatever they have forked (and with a job that nobody has begun), and with nothing else.
//!
//! What is waited for is a *bell*. The owner hushes it, tells its jobs under a lock of its own that it is about to wait, and waits; a job that has news
//! and finds the owner's word under the same lock rings it. Ringing and falling asleep meet under the bell's mutex, as for handles, so neither can miss the other.
//!
//! A job holds a share of the crew until it has run, and with it the context.

use crate::context::{self, Context};
use crate::entered::current;
use crate::fork;
use crate::guest::{outsider_parker, wait_outside};
use crate::pool::Pool;
use crate::primitives::parker::Parker;
use crate::profile::{self, Spawned};
use crate::scope::Scope;
use crate::seat;
use crate::spawn::{detached, submit};
use crate::wait::{Awaited, wait_for};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Jobs with one owner, who waits for their news.
#[derive(Clone)]
pub struct Crew {
    shared: Arc<Shared>,
}

struct Shared {
    /// Of the process that the jobs run in; see `fork.rs`.
    generation: u64,
    context: Context,
    rung: AtomicBool,
    /// The owner's, if it sleeps.
    sleeper: Mutex<Option<&'static Parker>>,
    ends: profile::Ends,
}

impl Crew {
    /// A crew whose jobs descend from nothing else.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Crew::under(&raw const context::ROOT)
    }

    /// A crew whose jobs are parts of `scope`.
    pub fn of(scope: &Scope<'_>) -> Self {
        Crew::under(scope.context())
    }

    fn under(parent: *const Context) -> Self {
        Crew {
            shared: Arc::new(Shared {
                generation: fork::generation(),
                context: Context::new(parent),
                rung: AtomicBool::new(false),
                sleeper: Mutex::new(None),
                ends: profile::Ends::new(),
            }),
        }
    }

    /// Runs `job` in the pool that the caller's calls go to.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        let pool = current();
        let (shared, spawned) = (Arc::clone(&self.shared), Spawned::here());
        let run = move || spawned.run(&shared.ends, job);
        // SAFETY: the task holds the context until it has run, and we do during this call.
        unsafe { submit(&pool, &raw const self.shared.context, detached(&pool, run)) };
    }

    /// Runs `job` as a part of `scope`, which is the one that the crew was made for.
    pub fn spawn_in<'scope>(&self, scope: &Scope<'scope>, job: impl FnOnce() + Send + 'scope) {
        let (shared, spawned) = (Arc::clone(&self.shared), Spawned::here());
        let run = move || spawned.run(&shared.ends, job);
        // SAFETY: as above.
        unsafe { scope.spawn_within(&raw const self.shared.context, run) };
    }

    /// How many threads there are for jobs of [`spawn`](Self::spawn), besides the caller.
    pub fn others() -> usize {
        others(&current())
    }

    /// How many threads there are for jobs of [`spawn_in`](Self::spawn_in), besides the caller.
    pub fn others_in(scope: &Scope<'_>) -> usize {
        others(scope.pool())
    }

    /// Owner: forgets that the bell was rung.
    pub fn hush(&self) {
        // Relaxed: the owner tells its jobs under a lock, and before that none of them rings.
        self.shared.rung.store(false, Ordering::Relaxed);
    }

    /// A job: there is news.
    pub fn ring(&self) {
        let mut sleeper = self.shared.sleeper();
        self.shared.rung.store(true, Ordering::Release);
        let parker = sleeper.take();
        drop(sleeper);
        if let Some(parker) = parker {
            parker.unpark();
        }
    }

    /// Owner: waits until the bell has been rung since it was hushed, helping with the jobs and their descendants if the caller is in a pool.
    pub fn wait(&self) {
        if !self.shared.is_rung() {
            fork::assert_may_wait(self.shared.generation);
        }
        match seat::current() {
            // SAFETY: the caller occupies the seat.
            Some(seat) => unsafe { wait_for(seat, &Listening(&self.shared, seat.parker())) },
            None => {
                let parker = outsider_parker();
                wait_outside(&current(), &Listening(&self.shared, parker), parker);
            }
        }
        self.shared.ends.meet();
    }
}

fn others(pool: &Pool) -> usize {
    let here = pool.current_seat().is_some();
    pool.num_threads() - usize::from(here).min(pool.num_threads())
}

impl Shared {
    fn is_rung(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }

    fn sleeper(&self) -> MutexGuard<'_, Option<&'static Parker>> {
        self.sleeper.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Listening<'a>(&'a Shared, &'static Parker);

impl Awaited for Listening<'_> {
    fn context(&self) -> *const Context {
        &raw const self.0.context
    }

    fn is_done(&self) -> bool {
        self.0.is_rung()
    }

    fn announce_parked(&self) -> bool {
        let mut sleeper = self.0.sleeper();
        let parks = !self.0.is_rung();
        if parks {
            *sleeper = Some(self.1);
        }
        parks
    }

    fn announce_awake(&self) {
        *self.0.sleeper() = None;
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rung = self.shared.is_rung();
        f.debug_struct("Crew").field("rung", &rung).finish()
    }
}
