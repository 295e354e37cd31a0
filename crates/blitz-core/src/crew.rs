//! A crew: jobs that somebody waits for bit by bit.
//!
//! A scope is waited for when all of its tasks are over, a handle when its one task is. Pipelines need something in between: jobs that bring results again
//! and again, and one thread, the *owner*, that waits for the next one. All jobs of a crew run in one context, so a waiting owner may help
//! with whatever they have forked (and with a job that nobody has begun), and with nothing else.
//!
//! What is waited for is a *bell* (`bell.rs`).
//!
//! A job holds a share of the crew until it has run, and with it the context.

use crate::bell::Bell;
use crate::context::{self, Context};
use crate::entered::{self, current};
use crate::inherited::Captured;
use crate::pool::Pool;
use crate::profile::{self, Spawned};
use crate::scope::Scope;
use crate::site::Site;
use crate::spawn::{detached, submit};
use std::fmt;
use std::ptr;
use std::sync::Arc;

/// Jobs with one owner, who waits for their news.
#[derive(Clone)]
pub struct Crew {
    shared: Arc<Shared>,
}

struct Shared {
    bell: Bell,
    /// Whose pipeline it is.
    site: Site,
    ends: profile::Ends,
}

impl Crew {
    /// A crew whose jobs descend from nothing else, of something that was called at `site`.
    pub fn new(site: Site) -> Self {
        Crew::under(&raw const context::ROOT, site)
    }

    /// A crew whose jobs are parts of `scope`.
    ///
    /// # Safety
    /// It is used as long as the scope's body runs, and its jobs are started by [`spawn_in`](Self::spawn_in), in that scope.
    ///
    /// ```compile_fail,E0133
    /// use blitz_core::crew::Crew;
    /// use blitz_core::site::Site;
    /// // Jobs of a scope that is gone.
    /// blitz_core::scope(|scope| Crew::of(scope, Site::caller())).spawn(|| ());
    /// ```
    pub unsafe fn of(scope: &Scope<'_>, site: Site) -> Self {
        Crew::under(scope.context(), site)
    }

    fn under(parent: *const Context, site: Site) -> Self {
        Crew {
            shared: Arc::new(Shared {
                bell: Bell::new(parent),
                site,
                ends: profile::Ends::at(site),
            }),
        }
    }

    /// Runs `job` in the pool that the caller's calls go to.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        let pool = current();
        let (shared, spawned) = (Arc::clone(&self.shared), Spawned::at(self.shared.site));
        // All of it, also a token that is no business of detached tasks: the owner waits for the job. But the job is not dropped if the token says so, since
        // the owner waits for its news; a check point in it is its own business.
        let inherited = Captured::here();
        let priority = inherited.priority();
        let run = move || inherited.run(|| spawned.run(&shared.ends, job));
        // SAFETY: the task holds the context until it has run, and we do during this call.
        unsafe {
            submit(
                &pool,
                priority,
                &raw const self.shared.bell.context,
                detached::<false>(&pool, run),
            )
        };
    }

    /// Runs `job` as a part of `scope`, which is the one that the crew was made for.
    pub fn spawn_in<'scope>(&self, scope: &Scope<'scope>, job: impl FnOnce() + Send + 'scope) {
        let (shared, spawned) = (Arc::clone(&self.shared), Spawned::at(self.shared.site));
        let inherited = Captured::here();
        let run = move || inherited.run(|| spawned.run(&shared.ends, job));
        // SAFETY: as above.
        unsafe { scope.spawn_within(&raw const self.shared.bell.context, run) };
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
        self.shared.bell.hush();
    }

    /// A job: there is news.
    pub fn ring(&self) {
        self.shared.bell.ring();
    }

    /// Owner: waits until the bell has been rung since it was hushed, helping with the jobs and their descendants if the caller is in a pool.
    pub fn wait(&self) {
        self.shared.bell.wait();
        self.shared.ends.meet();
    }
}

/// What code finds around it where it runs, for a thread that does a part of it and is in no pool: the pool that its calls go to, and what it has inherited.
pub struct Surroundings {
    pool: Arc<Pool>,
    inherited: Captured,
}

impl Surroundings {
    /// Those of the caller.
    pub fn here() -> Self {
        Surroundings {
            pool: current().arc().expect("somebody uses it"),
            inherited: Captured::here(),
        }
    }

    /// Runs `work` in them, on a thread that was started for it.
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        // SAFETY: we hold the pool for the rest of the thread's time in it.
        unsafe { entered::set(Arc::as_ptr(&self.pool)) };
        let _entered = Entered;
        self.inherited.run(work)
    }
}

struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        // SAFETY: there is none to be freed.
        unsafe { entered::set(ptr::null()) };
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").finish_non_exhaustive()
    }
}

fn others(pool: &Pool) -> usize {
    let here = pool.current_seat().is_some();
    pool.num_threads() - usize::from(here).min(pool.num_threads())
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rung = self.shared.bell.is_rung();
        f.debug_struct("Crew").field("rung", &rung).finish()
    }
}
