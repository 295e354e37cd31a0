//! Scopes: any number of tasks that may borrow from the frame that waits for them.
//!
//! What is behind both kinds of them, and how they end, is in `scope/base.rs`.

use crate::broadcast::BroadcastContext;
use crate::context::Context;
use crate::entered::{current, found};
use crate::guest;
use crate::handle::{ScopedHandle, Shared};
use crate::inherited::Captured;
use crate::pool::Pool;
use crate::priority::current_priority;
use crate::profile::Spawned;
use crate::seat::{self, Seat};
use crate::site::Site;
use crate::spawn::{self, submit};
use crate::task::TaskRef;
use base::{Base, ScopePtr};
use blitz_primitives::{FullPolicy, Injector};
use std::cell::Cell;
use std::fmt;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

mod base;

/// A fork-join scope, in which tasks can be spawned that borrow from outside of it.
///
/// Tasks run newest first on the thread that spawned them, oldest first on thieves. See [`scope`].
pub struct Scope<'scope> {
    base: Base<'scope>,
}

/// A fork-join scope whose tasks run oldest first. See [`scope_fifo`].
pub struct ScopeFifo<'scope> {
    base: Base<'scope>,
    /// In the order of spawning. For each entry there is a token in some deque; whoever runs a token runs
    /// the oldest entry.
    queue: Injector<TaskRef>,
}

/// Creates a scope, runs `op` in it, and returns when `op` and all tasks spawned in the scope have ended.
///
/// Tasks start at once, on any thread of the pool, and may borrow anything that outlives the scope. The
/// calling thread takes part: as a guest of the global pool if it is in none. While it waits it runs only
/// tasks of this scope and what they forked.
///
/// # Panics
/// If `op` or a task panics, everything else still runs to its end, and then the first panic goes on.
///
/// ```
/// let mut totals = [0_u64; 4];
/// blitz_core::scope(|s| {
///     for (i, total) in totals.iter_mut().enumerate() {
///         s.spawn(move |_| *total = (0..=i as u64).sum());
///     }
/// });
/// assert_eq!(totals, [0, 1, 3, 6]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    let site = Site::caller();
    guest::in_pool(&found(), |seat, _| scope_in(site, seat, op))
}

/// Like [`scope`], with tasks that run in the order in which a thread spawned them.
///
/// ```
/// use std::sync::Mutex;
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let order = Mutex::new(Vec::new());
/// pool.scope_fifo(|s| {
///     for i in 0..3 {
///         let order = &order;
///         s.spawn_fifo(move |_| order.lock().unwrap().push(i));
///     }
/// });
/// assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    let site = Site::caller();
    guest::in_pool(&found(), |seat, _| scope_fifo_in(site, seat, op))
}

/// Like [`scope`], but `op` runs on the calling thread and outside of the pool if the caller is: it needs
/// not be `Send`, and does not take a seat.
///
/// ```
/// let local = std::rc::Rc::new(5);
/// let sum = std::sync::atomic::AtomicUsize::new(0);
/// blitz_core::in_place_scope(|s| {
///     for i in 0..*local {
///         let sum = &sum;
///         s.spawn(move |_| { sum.fetch_add(i, std::sync::atomic::Ordering::Relaxed); });
///     }
/// });
/// assert_eq!(sum.into_inner(), 10);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    in_place_scope_on(Site::caller(), &current(), op)
}

/// Like [`in_place_scope`], with tasks that run in the order in which a thread spawned them.
///
/// ```
/// blitz_core::in_place_scope_fifo(|s| s.spawn_fifo(|_| println!("somewhere")));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    in_place_scope_fifo_on(Site::caller(), &current(), op)
}

pub(crate) fn scope_in<'scope, R>(
    site: Site,
    seat: &Seat,
    op: impl FnOnce(&Scope<'scope>) -> R,
) -> R {
    let scope = Scope {
        base: Base::new(site, seat.pool(), Some(seat)),
    };
    scope.base.complete(Some(seat), || op(&scope))
}

pub(crate) fn scope_fifo_in<'scope, R>(
    site: Site,
    seat: &Seat,
    op: impl FnOnce(&ScopeFifo<'scope>) -> R,
) -> R {
    let scope = ScopeFifo::new(site, seat.pool(), Some(seat));
    scope.base.complete(Some(seat), || op(&scope))
}

pub(crate) fn in_place_scope_on<'scope, R>(
    site: Site,
    pool: &Pool,
    op: impl FnOnce(&Scope<'scope>) -> R,
) -> R {
    let seat = seat::current();
    let scope = Scope {
        base: Base::new(site, pool, seat),
    };
    scope.base.complete(seat, || Body::run(pool, || op(&scope)))
}

pub(crate) fn in_place_scope_fifo_on<'scope, R>(
    site: Site,
    pool: &Pool,
    op: impl FnOnce(&ScopeFifo<'scope>) -> R,
) -> R {
    let seat = seat::current();
    let scope = ScopeFifo::new(site, pool, seat);
    scope.base.complete(seat, || Body::run(pool, || op(&scope)))
}

thread_local! {
    /// The innermost of the bodies that the thread is in.
    static BODY: Cell<*const Body> = const { Cell::new(ptr::null()) };
}

/// The body of a scope that runs where it was called: its pool does not end before it does, and the thread may be none of the pool's.
struct Body {
    pool: *const Pool,
    outer: *const Body,
}

impl Body {
    fn run<R>(pool: &Pool, op: impl FnOnce() -> R) -> R {
        let body = Body {
            pool,
            outer: BODY.get(),
        };
        BODY.set(&raw const body);
        op()
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        BODY.set(self.outer);
    }
}

/// Is the calling thread in the body of a scope of this pool?
pub(crate) fn is_in_body_of(pool: &Pool) -> bool {
    // SAFETY: bodies are in frames below the caller's.
    let body = |at: *const Body| unsafe { at.as_ref() };
    iter::successors(body(BODY.get()), |inner| body(inner.outer))
        .any(|body| ptr::eq(body.pool, pool))
}

impl<'scope> Scope<'scope> {
    /// Spawns a task that ends before the scope does. It gets the scope, to spawn more.
    ///
    /// The task is allocated from the calling worker's arena; no lock is taken. Somebody is woken if nobody
    /// is looking for work.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// let count = AtomicU32::new(0);
    /// blitz_core::scope(|s| {
    ///     s.spawn(|s| {
    ///         count.fetch_add(1, Ordering::Relaxed);
    ///         s.spawn(|_| { count.fetch_add(1, Ordering::Relaxed); });
    ///     });
    /// });
    /// assert_eq!(count.into_inner(), 2);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let scope = ScopePtr(self);
        let spawned = Spawned::here();
        let inherited = Captured::here();
        let priority = inherited.priority();
        // SAFETY: the scope outlives its unfinished parts, of which this is one.
        let run = move || unsafe {
            let scope = scope.get();
            scope
                .base
                .run_part(spawned, || inherited.run_task(|| body(scope)));
        };
        self.base.add_part();
        // SAFETY: the scope waits for the task, and the body is `Send` and outlives the scope.
        unsafe { self.base.submit(priority, run) };
    }

    /// Spawns a task and returns a handle to its result.
    ///
    /// The handle may be joined inside the scope, or after it. If the task panics, the handle's `join`
    /// reports it; if nobody joins, the scope panics.
    ///
    /// ```
    /// let answer = blitz_core::scope(|s| {
    ///     let question = s.spawn_handle(|_| 6 * 7);
    ///     question.join().unwrap()
    /// });
    /// assert_eq!(answer, 42);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn spawn_handle<BODY, T>(&self, body: BODY) -> ScopedHandle<'scope, T>
    where
        BODY: FnOnce(&Scope<'scope>) -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let shared = Arc::new(Shared::new(
            Site::caller(),
            self.base.pool(),
            &raw const self.base.end.context,
        ));
        let ours = Arc::clone(&shared);
        let scope = ScopePtr(self);
        let spawned = Spawned::here();
        let inherited = Captured::here();
        let priority = inherited.priority();
        // SAFETY: as in `spawn`.
        let run = move || unsafe {
            let scope = scope.get();
            scope.base.run_part(spawned, || {
                let body = || inherited.run_task(|| body(scope));
                let result = catch_unwind(AssertUnwindSafe(body));
                if result.is_err() {
                    scope.base.remember(ours.clone());
                }
                ours.ends.note();
                // Here and not after the part: a result that nobody wants is dropped now, and may panic.
                ours.complete(result);
                drop(ours);
            });
        };
        self.base.add_part();
        let context = shared.context();
        // SAFETY: as in `spawn`; `shared` is alive until the task has run.
        unsafe { submit(self.base.pool(), priority, context, run) };
        ScopedHandle::new(shared)
    }

    pub(crate) fn context(&self) -> *const Context {
        &raw const self.base.end.context
    }

    pub(crate) fn pool(&self) -> &Pool {
        self.base.pool()
    }

    /// Spawns a task that runs in another context than the scope's, and ends before the scope does.
    ///
    /// # Safety
    /// The context descends from the scope's, and is alive until `body` is gone and during this call.
    pub(crate) unsafe fn spawn_within(
        &self,
        context: *const Context,
        body: impl FnOnce() + Send + 'scope,
    ) {
        let scope = ScopePtr(self);
        // SAFETY: as in `spawn`.
        let run = move || unsafe {
            let scope = scope.get();
            if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
                scope.base.panicked(payload);
            }
            scope.base.part_done();
        };
        self.base.add_part();
        // SAFETY: as in `spawn`; the rest is passed on.
        unsafe { submit(self.base.pool(), current_priority(), context, run) };
    }

    /// Runs `body` once on every thread of the pool, as tasks of this scope.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// let runs = AtomicUsize::new(0);
    /// blitz_core::scope(|s| s.spawn_broadcast(|_, _| { runs.fetch_add(1, Ordering::Relaxed); }));
    /// assert_eq!(runs.into_inner(), blitz_core::current_num_threads());
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let scope = ScopePtr(self);
        self.base.spawn_broadcast(move |context| {
            // SAFETY: as in `spawn`.
            let scope = unsafe { scope.get() };
            body(scope, context);
        });
    }
}

impl<'scope> ScopeFifo<'scope> {
    fn new(site: Site, pool: &Pool, seat: Option<&Seat>) -> Self {
        ScopeFifo {
            base: Base::new(site, pool, seat),
            queue: Injector::with_capacity(64, FullPolicy::Grow),
        }
    }

    /// Spawns a task that ends before the scope does. Tasks run in the order of their spawning.
    ///
    /// ```
    /// blitz_core::scope_fifo(|s| {
    ///     s.spawn_fifo(|_| println!("first"));
    ///     s.spawn_fifo(|_| println!("second"));
    /// });
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        let scope = ScopePtr(self);
        let spawned = Spawned::here();
        let inherited = Captured::here();
        let priority = inherited.priority();
        // SAFETY: the scope outlives its unfinished parts, of which this is one.
        let run = move || unsafe {
            let scope = scope.get();
            scope
                .base
                .run_part(spawned, || inherited.run_task(|| body(scope)));
        };
        self.base.add_part();
        let seat = self.base.pool().current_seat();
        // SAFETY: as in `Scope::spawn`.
        let task = unsafe { spawn::make(seat, &raw const self.base.end.context, run) };
        if self.queue.push(task).is_err() {
            unreachable!("a growing queue takes everything");
        }
        let token = move || {
            // SAFETY: there are as many entries as tokens, so the scope has an unfinished part.
            let scope = unsafe { scope.get() };
            scope.queue.pop_promised().run();
        };
        // SAFETY: as in `Scope::spawn`.
        unsafe { self.base.submit(priority, token) };
    }

    /// Runs `body` once on every thread of the pool, as tasks of this scope.
    ///
    /// ```
    /// blitz_core::scope_fifo(|s| s.spawn_broadcast(|_, thread| println!("{}", thread.index())));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let scope = ScopePtr(self);
        self.base.spawn_broadcast(move |context| {
            // SAFETY: as in `spawn_fifo`.
            let scope = unsafe { scope.get() };
            body(scope, context);
        });
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.debug("Scope", f)
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.debug("ScopeFifo", f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadPoolBuilder;
    use std::sync::mpsc::{Sender, channel};

    fn context() -> usize {
        let seat = seat::current();
        seat.map_or(0, |seat| seat.context().addr())
    }

    /// A result that nobody wants; it panics with a payload that tells in which context it is dropped.
    struct Bomb(Sender<usize>);
    struct Splinter(Sender<usize>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Splinter(self.0.clone()));
        }
    }

    impl Drop for Splinter {
        fn drop(&mut self) {
            self.0.send(context()).unwrap();
        }
    }

    #[test]
    fn a_late_panic_is_dropped_in_the_context_of_the_scope_not_of_a_handle_that_is_gone() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let (sender, dropped_in) = channel();
        let mut handles = Vec::new();
        let mut of_scope = 0;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.scope(|scope| {
                of_scope = (&raw const scope.base.end.context).addr();
                for _ in 0..2 {
                    let sender = sender.clone();
                    drop(scope.spawn_handle(move |_| Bomb(sender)));
                }
            });
        }));
        handles.push(outcome.unwrap_err());
        // One panic goes on, the other one is late.
        assert_eq!(dropped_in.try_iter().collect::<Vec<_>>(), [of_scope]);
        drop(handles);
    }
}
