//! The handle to a pool of one's own.

use crate::broadcast::{self, BroadcastContext};
use crate::builder::revive;
use crate::fork::{self, ForkLock};
use crate::guest::in_pool;
use crate::handle::JoinHandle;
use crate::join;
use crate::pool::Pool;
use crate::scope::{self, Scope, ScopeFifo};
use crate::seat;
use crate::site::Site;
use crate::spawn;
use crate::stats::PoolStats;
use crate::worker;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A pool of threads of one's own.
///
/// Made by [`ThreadPoolBuilder`](crate::ThreadPoolBuilder). Dropping it lets its threads finish what has
/// been spawned and then end; it does not wait for them.
///
/// ```
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// let (a, b) = pool.join(|| 1 + 1, || 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// ```
pub struct ThreadPool {
    /// Owns a reference.
    pool: AtomicPtr<Pool>,
}

impl ThreadPool {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        ThreadPool {
            pool: AtomicPtr::new(Arc::into_raw(pool).cast_mut()),
        }
    }

    #[inline]
    pub(crate) fn pool(&self) -> &Pool {
        // SAFETY: the reference is ours, and what it leads to is replaced, but not freed, before we are dropped. Acquire: one that somebody else has made.
        let pool = unsafe { &*self.pool.load(Ordering::Acquire) };
        if pool.generation == fork::generation() {
            return pool;
        }
        self.revive()
    }

    /// In a child of the process that made the pool: makes it anew.
    #[cold]
    fn revive(&self) -> &Pool {
        static REVIVING: ForkLock<()> = ForkLock::new(());
        let _one_at_a_time = REVIVING.lock();
        // SAFETY: as above.
        let old = unsafe { &*self.pool.load(Ordering::Acquire) };
        if old.generation == fork::generation() {
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
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        broadcast::broadcast_in(self.pool(), op)
    }

    /// How many threads this pool has.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.pool().num_threads()
    }

    /// The calling thread's index in this pool, if it is in it.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.pool().current_seat()?.thread_index()
    }

    /// Does the calling thread, if it is in this pool, have tasks that it has not begun?
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.pool().current_seat().map(|seat| seat.offers_work())
    }

    /// [`join`](crate::join()) in this pool.
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
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        scope::in_place_scope_on(Site::caller(), self.pool(), op)
    }

    /// [`in_place_scope_fifo`](crate::in_place_scope_fifo), with tasks that run in this pool.
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        scope::in_place_scope_fifo_on(Site::caller(), self.pool(), op)
    }

    /// [`spawn`](crate::spawn) in this pool.
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn::spawn_in(self.pool(), op);
    }

    /// [`spawn_fifo`](crate::spawn_fifo) in this pool.
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn::spawn_fifo_in(self.pool(), op);
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
        spawn::spawn_handle_in(self.pool(), op)
    }

    /// [`spawn_broadcast`](crate::spawn_broadcast) in this pool.
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        broadcast::spawn_broadcast_in(self.pool(), op);
    }

    /// [`yield_now`](crate::yield_now), if the calling thread is in this pool.
    pub fn yield_now(&self) -> Option<Yield> {
        self.pool().current_seat().map(|_| ())?;
        yield_now()
    }

    /// [`yield_local`](crate::yield_local), if the calling thread is in this pool.
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
    pub fn reset_stats(&self) {
        self.pool().reset_stats();
    }

    /// For scoped pools: ends the pool and waits for its threads.
    pub(crate) fn end_and_wait(self) {
        let pool = self.arc();
        drop(self);
        pool.wait_until_stopped();
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        let pool = *self.pool.get_mut();
        // SAFETY: made by `Arc::into_raw`, and ours.
        let pool = unsafe { Arc::from_raw(pool) };
        if pool.generation == fork::generation() {
            pool.release();
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
    let task = unsafe { worker::take_local(seat, &mut 0) };
    let ran = task.is_some();
    if let Some(task) = task {
        // SAFETY: as above.
        unsafe { seat.run_task(task) };
    }
    Some(Yield::from_ran(ran))
}

/// The calling thread's index in its pool; `None` if it is in none.
///
/// It is below [`current_num_threads`], and no other thread of the pool has the same at the same time, with one
/// exception: a thread that had to be started because all others wait for another pool shares the index of one
/// of those. A thread that works for a pool beside all of its threads has no index: one from outside that nobody has served for a while, or one that
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
    crate::entered::current().num_threads()
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
