//! Scopes: any number of tasks that may borrow from the frame that waits for them.
//!
//! A scope counts its unfinished parts (its own body, and each task). Whoever finishes the last part sets
//! the scope's latch; the owner looks at nothing but the latch, because the count reaches zero a moment
//! before the last finisher is done with the scope. The finisher reads the owner's parker before it sets
//! the latch: after that the scope may be gone.

use crate::broadcast::{self, BroadcastContext};
use crate::cancel;
use crate::context::{self, Context};
use crate::entered::{current, found};
use crate::guest::{self, outsider_parker};
use crate::handle::{ScopedHandle, Shared, UnclaimedPanic};
use crate::inherited::Captured;
use crate::pool::{Pool, without_unwinding};
use crate::priority::{Priority, current_priority};
use crate::profile::{self, Spawned};
use crate::seat::{self, Seat};
use crate::site::Site;
use crate::spawn;
use crate::sync::locks::{Mutex, OnceLock};
use crate::task::{self, TaskRef};
use crate::wait::{LatchWait, wait_for};
use blitz_primitives::{CoreLatch, FullPolicy, Injector, Parker};
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::iter;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

/// A fork-join scope, in which tasks can be spawned that borrow from outside of it.
///
/// Tasks run newest first on the thread that spawned them, oldest first on thieves. See [`scope`].
///
/// ```
/// let (mut evens, mut odds) = (vec![], vec![]);
/// blitz_core::scope(|scope| {
///     scope.spawn(|_| evens.extend((0..10).step_by(2)));
///     scope.spawn(|_| odds.extend((1..10).step_by(2)));
/// });
/// assert_eq!((evens.len(), odds.len()), (5, 5));
/// ```
pub struct Scope<'scope> {
    base: Base<'scope>,
}

/// A fork-join scope whose tasks run oldest first. See [`scope_fifo`].
///
/// ```
/// use std::sync::Mutex;
///
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build()?;
/// let order = Mutex::new(vec![]);
/// pool.scope_fifo(|scope| {
///     for name in ["first", "second"] {
///         let order = &order;
///         scope.spawn_fifo(move |_| order.lock().unwrap().push(name));
///     }
/// });
/// assert_eq!(order.into_inner().unwrap(), ["first", "second"]);
/// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
/// ```
pub struct ScopeFifo<'scope> {
    base: Base<'scope>,
    /// In the order of spawning. For each entry there is a token in some deque; whoever runs a token runs
    /// the oldest entry.
    queue: Injector<TaskRef>,
}

type Payload = Box<dyn Any + Send>;
type Invariant<'scope> = PhantomData<Box<dyn FnOnce(&Scope<'scope>) + Send + Sync + 'scope>>;

/// What both kinds have in common.
struct Base<'scope> {
    context: Context,
    pool: *const Pool,
    /// Unfinished parts: the body and the tasks.
    unfinished: AtomicUsize,
    latch: CoreLatch,
    waiter: &'static Parker,
    /// The first panic, boxed once more to make it a thin pointer.
    panic: AtomicPtr<Payload>,
    /// Panics that belong to a handle; the scope's if the handle is never asked. Made for the first of them.
    handles: OnceLock<Mutex<Vec<Arc<dyn UnclaimedPanic + 'scope>>>>,
    ends: profile::Ends,
    _marker: Invariant<'scope>,
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
            &raw const self.base.context,
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
        unsafe { self.base.submit_in(priority, context, run) };
        ScopedHandle::new(shared)
    }

    pub(crate) fn context(&self) -> *const Context {
        &raw const self.base.context
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
        unsafe { self.base.submit_in(current_priority(), context, run) };
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
        let task = unsafe { spawn::make(seat, &raw const self.base.context, run) };
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

impl<'scope> Base<'scope> {
    fn new(site: Site, pool: &Pool, seat: Option<&Seat>) -> Self {
        let parent = seat.map_or(&raw const context::ROOT, Seat::context);
        Base {
            context: Context::new(parent),
            pool,
            unfinished: AtomicUsize::new(1),
            latch: CoreLatch::new(),
            waiter: seat.map_or_else(outsider_parker, Seat::parker),
            panic: AtomicPtr::new(ptr::null_mut()),
            handles: OnceLock::new(),
            ends: profile::Ends::at(site),
            _marker: PhantomData,
        }
    }

    fn pool(&self) -> &Pool {
        // SAFETY: a scope is created inside its pool or with a reference to it, and ends before that does.
        unsafe { &*self.pool }
    }

    fn add_part(&self) {
        // Relaxed: the caller is itself an unfinished part, so the count cannot reach zero meanwhile.
        self.unfinished.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs one part, keeping its panic for the scope.
    fn run_part(&self, spawned: Spawned, part: impl FnOnce()) {
        let part = || spawned.run(&self.ends, part);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(part)) {
            self.panicked(payload);
        }
        self.part_done();
    }

    /// One part has ended. The scope may be gone when this returns.
    fn part_done(&self) {
        // AcqRel: what the parts did happens before the end of the scope.
        if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
            let waiter = self.waiter;
            if self.latch.set() {
                waiter.unpark();
            }
        }
    }

    /// Keeps the first panic.
    fn panicked(&self, payload: Payload) {
        let boxed = Box::into_raw(Box::new(payload));
        let kept = self.panic.compare_exchange(
            ptr::null_mut(),
            boxed,
            Ordering::Release,
            Ordering::Relaxed,
        );
        if kept.is_err() {
            // SAFETY: made a moment ago, and nobody else has it.
            let late = unsafe { Box::from_raw(boxed) };
            let forget_it = || drop_quietly(*late);
            match seat::current() {
                // In the scope's own context: that of the part, which was its handle's, may be gone.
                // SAFETY: the caller occupies the seat. Nothing unwinds, and joins leave the stack as they found it.
                Some(seat) => unsafe { seat.run_in(&raw const self.context, forget_it) },
                None => forget_it(),
            }
        }
    }

    fn remember(&self, handle: Arc<dyn UnclaimedPanic + 'scope>) {
        let handles = self.handles.get_or_init(Mutex::default);
        let mut handles = handles.lock().unwrap_or_else(PoisonError::into_inner);
        handles.push(handle);
    }

    /// Those of handles that nobody has asked. All tasks have ended.
    #[cold]
    fn claim_panics(&self, handles: &Mutex<Vec<Arc<dyn UnclaimedPanic + 'scope>>>) {
        let handles = std::mem::take(&mut *handles.lock().unwrap_or_else(PoisonError::into_inner));
        for payload in handles.iter().filter_map(|handle| handle.take_panic()) {
            self.panicked(payload);
        }
    }

    /// Runs the body, waits for all tasks, and lets the first panic go on.
    fn complete<R>(&self, seat: Option<&Seat>, body: impl FnOnce() -> R) -> R {
        let result = catch_unwind(AssertUnwindSafe(body));
        let result = match result {
            Ok(result) => Some(result),
            Err(payload) => {
                self.panicked(payload);
                None
            }
        };
        without_unwinding("a panic at the end of a scope", || {
            // Only the body is left, and nobody else knows the scope. Acquire: as in `part_done`.
            if self.unfinished.load(Ordering::Acquire) == 1 {
                return;
            }
            self.part_done();
            let wait = LatchWait {
                latch: &self.latch,
                context: &raw const self.context,
            };
            match seat {
                // SAFETY: the caller occupies the seat.
                Some(seat) => unsafe { wait_for(seat, &wait) },
                None => guest::wait_outside(self.pool(), &wait, self.waiter),
            }
        });
        self.ends.meet();
        if let Some(handles) = self.handles.get() {
            self.claim_panics(handles);
        }
        // Nobody else is left to write it.
        let panic = self.panic.load(Ordering::Acquire);
        match result {
            Some(result) if panic.is_null() => result,
            _ => {
                // SAFETY: a null pointer would mean that the body panicked without a payload being kept.
                cancel::resume(*unsafe { Box::from_raw(panic) })
            }
        }
    }

    /// # Safety
    /// `run` stays callable until it has run: the scope waits for it.
    unsafe fn submit(&self, priority: Priority, run: impl FnOnce()) {
        // SAFETY: passed on.
        unsafe { self.submit_in(priority, &raw const self.context, run) };
    }

    /// # Safety
    /// As for `submit`, and `context` is alive until then.
    unsafe fn submit_in(&self, priority: Priority, context: *const Context, run: impl FnOnce()) {
        let seat = self.pool().current_seat();
        // SAFETY: passed on.
        let task = unsafe { spawn::make(seat, context, run) };
        match seat {
            _ if priority == Priority::Background => self.pool().inject_behind(task),
            // SAFETY: the caller occupies the seat; the context is alive because the caller runs inside the
            // scope (or holds a reference to it), so the scope cannot end during the call.
            Some(seat) if !seat.spawns_to_all() => unsafe {
                seat.push_task(task);
                self.pool().task_posted(&raw const self.context);
            },
            _ => self.pool().inject(task),
        }
    }

    #[cfg_attr(feature = "sites", track_caller)]
    fn spawn_broadcast(&self, body: impl Fn(BroadcastContext<'_>) + Send + Sync + 'scope) {
        let body = Arc::new(body);
        let this = ScopePtr(self);
        let _shape = self.pool().shape();
        let threads = self.pool().num_threads();
        for seat in self.pool().seats.iter().take(threads) {
            let body = Arc::clone(&body);
            self.add_part();
            let spawned = Spawned::here();
            let inherited = Captured::here();
            let run = move || {
                // SAFETY: as in `Scope::spawn`.
                let scope = unsafe { this.get() };
                let body = || BroadcastContext::with(threads, |context| body(context));
                scope.run_part(spawned, || inherited.run_task(body));
            };
            // SAFETY: as in `Scope::spawn`.
            let task = unsafe { task::allocate_boxed(&raw const self.context, run) };
            broadcast::post(seat, task);
        }
    }
}

impl Drop for Base<'_> {
    fn drop(&mut self) {
        let alone = self.unfinished.load(Ordering::Relaxed) == 1;
        debug_assert!(
            alone || self.latch.probe(),
            "a scope ended before its tasks"
        );
    }
}

/// Drops a panic's payload whose own drop may panic, when there is somebody else to report already.
pub(crate) fn drop_quietly(payload: Payload) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}

/// A scope that the holder knows to be alive.
struct ScopePtr<T>(*const T);

impl<T> Clone for ScopePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ScopePtr<T> {}

// SAFETY: scopes are shared between the threads that run their tasks; all their fields are.
unsafe impl<T> Send for ScopePtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for ScopePtr<T> {}

impl<T> ScopePtr<T> {
    /// # Safety
    /// The scope is alive during the use of the reference.
    unsafe fn get<'a>(self) -> &'a T {
        // SAFETY: by contract.
        unsafe { &*self.0 }
    }
}

// SAFETY: everything in `Base` is made for sharing; the pool outlives the scope.
unsafe impl Sync for Base<'_> {}
// SAFETY: as above.
unsafe impl Send for Base<'_> {}

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

impl Base<'_> {
    fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("unfinished", &self.unfinished)
            .field("latch", &self.latch)
            .finish_non_exhaustive()
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
                of_scope = (&raw const scope.base.context).addr();
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
