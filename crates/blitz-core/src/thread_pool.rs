//! The handle to a pool of one's own.

use crate::broadcast::{self, BroadcastContext};
use crate::builder::{ThreadPoolBuildError, revive};
use crate::clock;
use crate::companion::sleep_elsewhere;
use crate::entered::Current;
use crate::global;
use crate::guest::in_pool;
use crate::handle::JoinHandle;
use crate::join;
use crate::pool::Pool;
use crate::process_fork::{self, ForkLock};
use crate::scope::{self, Scope, ScopeFifo};
use crate::seat;
use crate::site::Site;
use crate::spawn;
use crate::stats::PoolStats;
use crate::worker;
use blitz_primitives::Full;
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

/// A pool of threads of one's own.
///
/// Made by [`ThreadPoolBuilder`](crate::ThreadPoolBuilder). Dropping it lets its threads finish what has
/// been spawned and then end; it does not wait for them. [`shutdown`](ThreadPool::shutdown) does.
///
/// ```
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// let (a, b) = pool.join(|| 1 + 1, || 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// ```
pub struct ThreadPool {
    /// Owns a reference; null: the global pool, whichever that is.
    pool: AtomicPtr<Pool>,
}

static GLOBAL: ThreadPool = ThreadPool {
    pool: AtomicPtr::new(ptr::null_mut()),
};

impl ThreadPool {
    /// The global pool, as if it were one of one's own. It is started when it is first needed.
    ///
    /// ```
    /// let global = blitz_core::ThreadPool::global();
    /// assert_eq!(global.current_num_threads(), blitz_core::current_num_threads());
    /// ```
    pub fn global() -> &'static ThreadPool {
        &GLOBAL
    }

    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        ThreadPool {
            pool: AtomicPtr::new(Arc::into_raw(pool).cast_mut()),
        }
    }

    #[inline]
    pub(crate) fn pool(&self) -> &Pool {
        // SAFETY: the reference is ours, and what it leads to is replaced, but not freed, before we are dropped. Acquire: one that somebody else has made.
        let pool = unsafe { self.pool.load(Ordering::Acquire).as_ref() };
        match pool {
            Some(pool) if pool.generation == process_fork::generation() => pool,
            Some(_) => self.revive(),
            None => global::pool(),
        }
    }

    /// The same with the calling thread in it, so that it does not end meanwhile.
    ///
    /// # Panics
    /// If it has been shut down.
    #[track_caller]
    fn open(&self) -> Current<'_> {
        loop {
            let pool = self.pool();
            if let Some(current) = Current::visiting(pool) {
                return current;
            }
            global::instead_of(pool);
        }
    }

    /// In a child of the process that made the pool: makes it anew.
    #[cold]
    fn revive(&self) -> &Pool {
        static REVIVING: ForkLock<()> = ForkLock::new(());
        let _one_at_a_time = REVIVING.lock();
        // SAFETY: as above.
        let old = unsafe { &*self.pool.load(Ordering::Acquire) };
        if old.generation == process_fork::generation() {
            return old;
        }
        let new = match revive(old) {
            Ok(new) => Arc::into_raw(new),
            Err(error) => {
                panic!("the threads of a pool could not be started again after a fork: {error}")
            }
        };
        // The old one is never freed: its threads, whoever was in it, and what they held, ended in the middle of something.
        self.pool.store(new.cast_mut(), Ordering::Release);
        // SAFETY: as above.
        unsafe { &*new }
    }

    fn arc(&self) -> Arc<Pool> {
        self.pool().arc().expect("the reference is ours")
    }

    /// Runs `op` in this pool and returns its result: whatever it forks and spawns goes to this pool.
    ///
    /// A thread of the pool runs it, unless the pool admits guests (see
    /// [`caller_participates`](crate::ThreadPoolBuilder::caller_participates)) and a seat is free: then the caller
    /// does, at a thousandth of the cost.
    ///
    /// # Panics
    /// If `op` panics.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    /// assert_eq!(pool.install(blitz_core::current_num_threads), 3);
    /// ```
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        in_pool(self.pool(), |_, _| op())
    }

    /// [`broadcast`](crate::broadcast) in this pool.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.broadcast(|thread| 10 * thread.index()), [0, 10]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        broadcast::broadcast_in(&self.open(), op)
    }

    /// How many threads this pool has.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.current_num_threads(), 2);
    /// ```
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.pool().num_threads()
    }

    /// Gives the pool another number of threads, while it is used.
    ///
    /// New threads have been started when this returns. Threads that are too many, those with the highest indices, leave when they are through with what they run: what is queued behind that is for the
    /// others. Until then they are in the pool, and their index is not below [`current_num_threads`](ThreadPool::current_num_threads), which is the new number
    /// at once. Code that counts by that index should not be running meanwhile.
    ///
    /// New threads are as the others, but for their names: [`thread_name`](crate::ThreadPoolBuilder::thread_name) is not asked again. They are called `blitz-4`, say.
    /// Start and exit handlers are called for each thread that comes or leaves. An async runtime on the pool uses the new threads, too, and goes on with those that stay.
    ///
    /// # Errors
    /// For 0 threads, or more than [`max_num_threads`](crate::max_num_threads); if the pool's threads are started by the user ([`spawn_handler`](crate::ThreadPoolBuilder::spawn_handler)); in
    /// an exit handler; and if the system has no thread for us: then the pool has as many as before.
    ///
    /// # Panics
    /// If the pool has been shut down.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// pool.set_num_threads(4).unwrap();
    /// assert_eq!(pool.broadcast(|thread| thread.index()), [0, 1, 2, 3]);
    /// pool.set_num_threads(1).unwrap();
    /// assert_eq!(pool.broadcast(|thread| thread.index()), [0]);
    /// ```
    pub fn set_num_threads(&self, threads: usize) -> Result<(), ThreadPoolBuildError> {
        self.open().resize(threads)
    }

    /// The calling thread's index in this pool, if it is in it.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.current_thread_index(), None);
    /// pool.install(|| assert!(pool.current_thread_index().is_some()));
    /// ```
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.pool().current_seat()?.thread_index()
    }

    /// Does the calling thread, if it is in this pool, have tasks that it has not begun?
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.current_thread_has_pending_tasks(), None);
    /// ```
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.pool().current_seat().map(|seat| seat.offers_work())
    }

    /// [`join`](crate::join()) in this pool.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.join(|| 1 + 1, || "two"), (2, "two"));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let site = Site::caller();
        self.install(|| join::join_at(site, oper_a, oper_b))
    }

    /// [`scope`](crate::scope) in this pool.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let mut halves = [0, 0];
    /// let [left, right] = &mut halves;
    /// pool.scope(|s| {
    ///     s.spawn(|_| *left = 1);
    ///     s.spawn(|_| *right = 2);
    /// });
    /// assert_eq!(halves, [1, 2]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        let site = Site::caller();
        in_pool(self.pool(), |seat, _| scope::scope_in(site, seat, op))
    }

    /// [`scope_fifo`](crate::scope_fifo) in this pool.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// let order = Mutex::new(Vec::new());
    /// let note = &order;
    /// pool.scope_fifo(|s| {
    ///     for n in 0..3 {
    ///         s.spawn_fifo(move |_| note.lock().unwrap().push(n));
    ///     }
    /// });
    /// assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        let site = Site::caller();
        in_pool(self.pool(), |seat, _| scope::scope_fifo_in(site, seat, op))
    }

    /// [`in_place_scope`](crate::in_place_scope), with tasks that run in this pool.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let here = std::thread::current().id();
    /// let mut answer = 0;
    /// pool.in_place_scope(|s| {
    ///     s.spawn(|_| answer = 42);
    ///     assert_eq!(std::thread::current().id(), here);
    /// });
    /// assert_eq!(answer, 42);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        scope::in_place_scope_on(Site::caller(), &self.open(), op)
    }

    /// [`in_place_scope_fifo`](crate::in_place_scope_fifo), with tasks that run in this pool.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let mut answer = 0;
    /// pool.in_place_scope_fifo(|s| s.spawn_fifo(|_| answer = 42));
    /// assert_eq!(answer, 42);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        scope::in_place_scope_fifo_on(Site::caller(), &self.open(), op)
    }

    /// [`spawn`](crate::spawn) in this pool.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let (sender, receiver) = mpsc::channel();
    /// pool.spawn(move || sender.send(6 * 7).unwrap());
    /// assert_eq!(receiver.recv(), Ok(42));
    /// ```
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn::spawn_in(&self.open(), op);
    }

    /// [`try_spawn`](crate::try_spawn) in this pool.
    ///
    /// # Errors
    /// With the closure, if there are too many tasks.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert!(pool.try_spawn(|| println!("there was room")).is_ok());
    /// pool.wait_idle();
    /// ```
    pub fn try_spawn<OP>(&self, op: OP) -> Result<(), Full<OP>>
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn::try_spawn_in(&self.open(), op)
    }

    /// [`spawn_fifo`](crate::spawn_fifo) in this pool.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// let (sender, receiver) = mpsc::channel();
    /// for n in 0..3 {
    ///     let sender = sender.clone();
    ///     pool.spawn_fifo(move || sender.send(n).unwrap());
    /// }
    /// drop(sender);
    /// assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
    /// ```
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn::spawn_fifo_in(&self.open(), op);
    }

    /// [`spawn_handle`](crate::spawn_handle) in this pool.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// assert_eq!(pool.spawn_handle(|| 6 * 7).join().unwrap(), 42);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn spawn_handle<OP, T>(&self, op: OP) -> JoinHandle<T>
    where
        OP: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn::spawn_handle_in(&self.open(), op)
    }

    /// [`spawn_broadcast`](crate::spawn_broadcast) in this pool.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let (sender, receiver) = mpsc::channel();
    /// pool.spawn_broadcast(move |thread| sender.send(thread.index()).unwrap());
    /// let mut indices = [receiver.recv().unwrap(), receiver.recv().unwrap()];
    /// indices.sort();
    /// assert_eq!(indices, [0, 1]);
    /// ```
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        broadcast::spawn_broadcast_in(&self.open(), op);
    }

    /// [`yield_now`](crate::yield_now), if the calling thread is in this pool.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.yield_now(), None);
    /// assert!(pool.install(|| pool.yield_now()).is_some());
    /// ```
    pub fn yield_now(&self) -> Option<Yield> {
        self.pool().current_seat().map(|_| ())?;
        yield_now()
    }

    /// [`yield_local`](crate::yield_local), if the calling thread is in this pool.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.yield_local(), None);
    /// ```
    pub fn yield_local(&self) -> Option<Yield> {
        self.pool().current_seat().map(|_| ())?;
        yield_local()
    }

    /// Gives the pool a companion, for life; see [`crate::companion`]. `false`: it has one.
    #[doc(hidden)]
    pub fn attach(&self, companion: &Arc<dyn crate::companion::Companion>) -> bool {
        self.pool().attach(companion)
    }

    /// For the pool's companion.
    #[doc(hidden)]
    pub fn handle(&self) -> crate::companion::PoolHandle {
        crate::companion::PoolHandle::new(self.arc())
    }

    /// Waits until everything spawned in this pool has ended.
    ///
    /// A caller that is in the pool runs whatever there is meanwhile. One that is a part of a task does not wait for that task, nor for others that
    /// are in this call themselves.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let count = Arc::new(AtomicU32::new(0));
    /// for _ in 0..10 {
    ///     let count = Arc::clone(&count);
    ///     pool.spawn(move || { count.fetch_add(1, Ordering::Relaxed); });
    /// }
    /// pool.wait_idle();
    /// assert_eq!(count.load(Ordering::Relaxed), 10);
    /// ```
    pub fn wait_idle(&self) {
        self.pool().wait_idle();
    }

    /// What the pool's threads have done since the pool was made, or since the last
    /// [`ThreadPool::reset_stats`].
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// pool.spawn_handle(|| ()).join().unwrap();
    /// assert!(pool.stats().total.executed >= 1);
    /// ```
    pub fn stats(&self) -> PoolStats {
        self.pool().stats()
    }

    /// Starts counting from zero.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// pool.spawn_handle(|| ()).join().unwrap();
    /// pool.reset_stats();
    /// ```
    pub fn reset_stats(&self) {
        self.pool().reset_stats();
    }

    /// Ends the pool and joins its threads, which first finish everything that has been spawned and installed.
    ///
    /// Tasks of the pool may still spawn others, and these are run. From outside nothing gets in any more: see below.
    ///
    /// The [global](ThreadPool::global) pool is started again by whoever needs it next, with the settings that it had, or by
    /// [`build_global`](crate::ThreadPoolBuilder::build_global) with others. Each stop costs the memory of a pool, which is not freed: some kilobytes for each thread.
    ///
    /// A thread that the pool was made with ([`use_current_thread`](crate::ThreadPoolBuilder::use_current_thread)) may call this outside of the pool's tasks, and is in no pool
    /// afterwards.
    ///
    /// # Panics
    /// If the calling thread is in the pool: it would wait for itself. Dropping the handle there is fine, and waits for nobody.
    ///
    /// If the pool is an async runtime's: end the runtime.
    ///
    /// A pool that has been shut down takes no work: `install`, `spawn` and the others panic.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// static COUNT: AtomicU32 = AtomicU32::new(0);
    ///
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// for _ in 0..10 {
    ///     pool.spawn(|| { COUNT.fetch_add(1, Ordering::Relaxed); });
    /// }
    /// pool.shutdown();
    /// assert_eq!(COUNT.load(Ordering::Relaxed), 10);
    /// ```
    #[track_caller]
    pub fn shutdown(&self) {
        self.end_within(None);
    }

    /// As [`ThreadPool::shutdown`], but waits no longer than `limit`. `false`: something still runs, and the threads end when it is through.
    ///
    /// It may be called again, to go on waiting.
    ///
    /// # Panics
    /// As [`ThreadPool::shutdown`].
    ///
    /// ```
    /// # use std::{sync::mpsc, time::Duration};
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// let (go_on, wait) = mpsc::channel::<()>();
    /// pool.spawn(move || wait.recv().unwrap());
    /// assert!(!pool.shutdown_timeout(Duration::from_millis(1)));
    /// go_on.send(()).unwrap();
    /// assert!(pool.shutdown_timeout(Duration::from_secs(60)));
    /// ```
    #[track_caller]
    pub fn shutdown_timeout(&self, limit: Duration) -> bool {
        self.end_within(clock::deadline(limit))
    }

    #[track_caller]
    fn end_within(&self, deadline: Option<Instant>) -> bool {
        if self.pool.load(Ordering::Relaxed).is_null() {
            return global::stop(deadline);
        }
        let pool = self.pool();
        assert!(
            pool.companion().is_none(),
            "this thread pool belongs to an async runtime: drop the runtime, or call its shutdown_timeout, instead of ThreadPool::shutdown"
        );
        pool.assert_outside();
        pool.close();
        wait_for_end(pool, deadline)
    }
}

/// Waits until the threads of a pool that has been closed have ended, until `deadline` at most. `false`: some have not.
pub(crate) fn wait_for_end(pool: &Pool, deadline: Option<Instant>) -> bool {
    if let Some(seat) = pool.adopted_seat() {
        if !pool.run_until_stopped(seat, deadline) {
            return false;
        }
        // The thread is its own again.
        seat::forget();
    }
    // A thread of another pool does not keep what is queued there.
    sleep_elsewhere(|| pool.join_threads(deadline))
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        let pool = *self.pool.get_mut();
        if pool.is_null() {
            return;
        }
        // SAFETY: made by `Arc::into_raw`, and ours.
        let pool = unsafe { Arc::from_raw(pool) };
        if pool.generation == process_fork::generation() {
            pool.release_handle();
        } else {
            std::mem::forget(pool);
        }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .finish_non_exhaustive()
    }
}

/// What [`yield_now`] and [`yield_local`] did.
///
/// ```
/// use blitz_core::Yield;
///
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build()?;
/// let (first, second) = pool.install(|| {
///     blitz_core::spawn(|| println!("a task"));
///     (blitz_core::yield_local(), blitz_core::yield_local())
/// });
/// assert_eq!((first, second), (Some(Yield::Executed), Some(Yield::Idle)));
/// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A task was run.
    Executed,
    /// There was nothing to run.
    Idle,
}

impl Yield {
    fn from_ran(ran: bool) -> Self {
        if ran { Yield::Executed } else { Yield::Idle }
    }
}

/// Runs one task of the current pool, whatever it is, on top of the caller's stack. `None` outside of pools.
///
/// This and [`yield_local`] (and `wait_idle`) are the only calls that run unrelated work, because that is
/// what they are for.
///
/// ```
/// assert_eq!(blitz_core::yield_now(), None);
/// ```
pub fn yield_now() -> Option<Yield> {
    let seat = seat::current()?;
    // SAFETY: the caller occupies the seat.
    Some(Yield::from_ran(unsafe { worker::run_anything(seat) }))
}

/// Runs one task from the calling thread's own queue. `None` outside of pools.
///
/// ```
/// assert_eq!(blitz_core::yield_local(), None);
/// ```
pub fn yield_local() -> Option<Yield> {
    let seat = seat::current()?;
    // SAFETY: the caller occupies the seat.
    let ran = unsafe { worker::run_if_any(seat, worker::take_local(seat, &mut 0)) };
    Some(Yield::from_ran(ran))
}

/// The calling thread's index in its pool; `None` if it is in none.
///
/// It is below [`current_num_threads`], and no other thread of the pool has the same at the same time. There is one
/// exception: a thread that had to be started because others wait for another pool, or are in [`block_in_place`](crate::block_in_place), shares the index of one
/// of those.
///
/// A thread that works for a pool beside all of its threads has no index. That is one from outside that nobody has served for a while, or one that
/// serves an async runtime's tasks while all others compute.
///
/// ```
/// assert_eq!(blitz_core::current_thread_index(), None);
/// let (inside, _) = blitz_core::join(blitz_core::current_thread_index, || ());
/// assert!(inside.is_some());
/// ```
#[inline]
pub fn current_thread_index() -> Option<usize> {
    seat::current()?.thread_index()
}

/// Does the calling thread have tasks that it has not begun? `None` if it is in no pool.
///
/// ```
/// assert_eq!(blitz_core::current_thread_has_pending_tasks(), None);
/// ```
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    seat::current().map(|seat| seat.offers_work())
}

/// How many threads the current pool has. Starts the global pool if the caller is in none.
///
/// ```
/// assert!(blitz_core::current_num_threads() >= 1);
/// ```
#[inline]
pub fn current_num_threads() -> usize {
    crate::entered::found().num_threads()
}

/// The largest number of threads a pool can have.
///
/// ```
/// assert!(blitz_core::max_num_threads() >= 200);
/// ```
#[inline]
pub fn max_num_threads() -> usize {
    crate::join_stack::MAX_SEATS - 1
}
