//! Runtimes: what owns the threads, the driver and the tasks. Names and meanings are tokio's, and there is a little more.

mod block_on;
mod builder;
mod drivers;
mod handle;
pub(crate) mod hooks;
mod identity;
mod local;
pub(crate) mod metrics;

pub use builder::Builder;
pub(crate) use builder::ThreadName;
pub(crate) use drivers::Drivers;
pub use handle::{EnterGuard, Handle, TryCurrentError};
pub(crate) use identity::Identity;
pub use identity::{Id, RuntimeFlavor, worker_index};
pub use local::{LocalOptions, LocalRuntime};
pub use metrics::{Metrics, RuntimeMetrics, WorkerMetrics};

use crate::context;
use crate::driver::clock::system_time;
use crate::scheduler::Shared;
use crate::task::{JoinHandle, on_heap_if_large};
use blitz_core::ThreadPool;
use blitz_core::companion::{PoolHandle, sleep_elsewhere};
use std::fmt;
use std::future::Future;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An async runtime: tasks, timers and sockets on the threads of a Blitz pool.
///
/// The same threads run [`blitz::join`](blitz_core::join()), scopes and parallel iterators that tasks call, and
/// [`spawn_cpu`](crate::spawn_cpu). Dropping a runtime drops every future in it, and waits for what is
/// running just then and for every closure of [`spawn_blocking`](crate::spawn_blocking). The threads that are its own are joined: their
/// thread-locals are gone, too. (Inside of one of its tasks it waits for nothing.)
///
/// A runtime lives on the *global* pool, beside whatever else runs there, other runtimes included, unless its
/// [`Builder`] was asked for threads of its own. Dropping it leaves the pool as it is. Each runtime has its own tasks and its own threads for
/// code that blocks.
/// Default runtimes share their workers: tasks of one that block without a word, or more of them with a word than its
/// [`max_blocking_threads`](Builder::max_blocking_threads), keep tasks of the others waiting. One that must not be kept waiting asks for
/// [`worker_threads`](Builder::worker_threads) of its own.
///
/// After a `fork`, a runtime of the parent is of no use in the child, where its threads are not: using it panics, dropping it does
/// nothing. A new runtime works.
///
/// ```
/// let runtime = blitz_io::Runtime::new().unwrap();
/// let answer = runtime.block_on(async {
///     blitz_io::time::sleep(std::time::Duration::from_millis(1)).await;
///     blitz_io::spawn_cpu(|| (1..=6).product::<u32>()).await.unwrap()
/// });
/// assert_eq!(answer, 720);
/// ```
pub struct Runtime {
    handle: Handle,
    pool: Option<ThreadPool>,
}

impl Runtime {
    /// A runtime on the global pool, which has one thread for each CPU and is started now if need be.
    ///
    /// # Errors
    /// If the operating system refuses a thread or a file descriptor.
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new()?;
    /// assert_eq!(runtime.block_on(async { 42 }), 42);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn new() -> io::Result<Self> {
        Builder::new_multi_thread().build()
    }

    fn new_with(shared: Arc<Shared>, pool: Option<ThreadPool>) -> Self {
        Runtime {
            handle: Handle { shared },
            pool,
        }
    }

    /// The runtime's handle.
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new()?;
    /// let task = runtime.handle().spawn(async { 42 });
    /// assert_eq!(runtime.block_on(task)?, 42);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The pool that the workers are in, if it is the runtime's own: `None` for one on the global pool, and for a current-thread runtime.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(2).build()?;
    /// // A computation on the threads that run the tasks.
    /// let (a, b) = runtime.pool().unwrap().join(|| 1, || 2);
    /// assert_eq!(a + b, 3);
    /// assert!(blitz_io::Runtime::new()?.pool().is_none()); // on the global pool
    /// # std::io::Result::Ok(())
    /// ```
    pub fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_ref()
    }

    /// As [`Handle::block_on`].
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new().unwrap();
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// As [`Handle::spawn`].
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new().unwrap();
    /// let task = runtime.spawn(async { 6 * 7 });
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        on_heap_if_large!(future: F, self.handle.spawn(future))
    }

    /// As [`Handle::spawn_blocking`].
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new().unwrap();
    /// let read = runtime.spawn_blocking(|| std::fs::read_to_string("/no/such/file").is_err());
    /// assert!(runtime.block_on(read).unwrap());
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, work: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(work)
    }

    /// As [`Handle::enter`].
    ///
    /// ```
    /// use blitz_io::time::{Duration, sleep};
    ///
    /// let runtime = blitz_io::Runtime::new()?;
    /// let pause = {
    ///     let _guard = runtime.enter();
    ///     sleep(Duration::ZERO) // needs to know which runtime's clock
    /// };
    /// runtime.block_on(pause);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Waits until all tasks are through on their own, but not longer than `limit`. `false`: some are not.
    ///
    /// For a graceful end: stop accepting, drain, drop.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let runtime = blitz_io::Runtime::new().unwrap();
    /// runtime.spawn(async { blitz_io::time::sleep(Duration::from_millis(5)).await });
    /// assert!(runtime.drain(Duration::from_secs(10)));
    /// ```
    pub fn drain(&self, limit: Duration) -> bool {
        let owned = &self.handle.shared.owned;
        if self.handle.shared.pool().is_some() {
            self.handle.shared.caller_waits_for_us();
            return sleep_elsewhere(|| owned.wait_until_empty(Some(limit)));
        }
        // Somebody has to run them. The limit goes by the runtime's clock.
        let drained = async { crate::time::timeout(limit, owned.empty()).await };
        self.block_on(drained).is_ok()
    }

    /// Drops every future, and waits for what is running just then, including closures that block, but not longer than `limit`. What
    /// still runs then ends on its own. Closures that still wait for a thread then are cancelled.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(1).build()?;
    /// let task = runtime.spawn(std::future::pending::<()>());
    /// runtime.shutdown_timeout(Duration::from_secs(10)); // the task does not keep it: it does nothing just now
    /// assert!(task.is_finished());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown_timeout(self, limit: Duration) {
        self.shutdown_within(limit);
    }

    /// As [`Runtime::shutdown_timeout`], and says whether everything has ended. `false`: something still runs.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use std::sync::mpsc::channel;
    ///
    /// let runtime = blitz_io::Builder::new_current_thread().build()?;
    /// let ((begun, begins), (end, ended)) = (channel(), channel::<()>());
    /// runtime.spawn_blocking(move || {
    ///     begun.send(()).unwrap();
    ///     ended.recv()
    /// });
    /// begins.recv().unwrap();
    /// assert!(!runtime.shutdown_within(Duration::from_millis(1))); // the closure waits for us
    /// drop(end);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown_within(mut self, limit: Duration) -> bool {
        self.end(Some(limit))
    }

    /// As [`Runtime::shutdown_timeout`], without waiting. May be called inside of a task.
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new()?;
    /// runtime.spawn(std::future::pending::<()>());
    /// runtime.shutdown_background();
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown_background(self) {
        self.shutdown_timeout(Duration::ZERO);
    }

    /// As [`Handle::metrics`].
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(3).build()?;
    /// assert_eq!(runtime.metrics().num_workers(), 3);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    fn end(&mut self, limit: Option<Duration>) -> bool {
        let shared = &self.handle.shared;
        if shared.ended() {
            return true;
        }
        if !shared.is_of_this_process() {
            // After a fork, in the child: the tasks, and the threads that could be waited for, are the parent's.
            std::mem::forget(self.pool.take());
            std::mem::forget(Arc::clone(shared));
            return false;
        }
        // Without a clock there are no other threads to wait for, either.
        let deadline = limit.and_then(|limit| system_time()?.checked_add(limit));
        let left = || deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let _entered = context::enter(Arc::clone(shared));
        shared.shut_down_tasks();
        shared.empty_after_the_end();
        // A worker cannot wait for the poll that it is in itself, or for one that may wait for it. They end on their own.
        let may_wait = !shared.is_my_thread() && !shared.pool().is_some_and(PoolHandle::is_current);
        if may_wait {
            // Perhaps it is another runtime's worker.
            shared.caller_waits_for_us();
        }
        let mut through = may_wait && sleep_elsewhere(|| shared.owned.wait_until_empty(left()));
        if shared.is_alone() {
            drop(self.pool.take());
            // Computations may still wait for a timer or a socket: the relief thread serves them to the end.
            let has_stopped = |pool: &PoolHandle| sleep_elsewhere(|| pool.join_threads(deadline));
            through &= may_wait && shared.pool().is_none_or(has_stopped);
            if through {
                shared.watch.stop(true);
                shared.relief.stop(shared, true);
            }
            shared.leave();
            shared.drivers.next();
        }
        let limit = if may_wait {
            left()
        } else {
            Some(Duration::ZERO)
        };
        shared.blocking.shut_down(limit) && through
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.end(None);
    }
}

// A panic leaves no task, queue or list in a state that others could not go on from: tasks panic all the time.
impl UnwindSafe for Runtime {}
impl RefUnwindSafe for Runtime {}

/// Whether there can be more than one thread. On WebAssembly that depends on how the standard library was compiled, and stable compilers do not tell: it is tried.
pub(crate) fn has_threads() -> bool {
    use std::sync::atomic::{AtomicU8, Ordering};
    const YES: u8 = 1;
    const NO: u8 = 2;
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    if cfg!(any(not(target_family = "wasm"), target_feature = "atomics")) {
        return true;
    }
    if KNOWN.load(Ordering::Relaxed) == 0 {
        let refused = std::thread::Builder::new().spawn(|| ()).err();
        let never = refused.is_some_and(|error| error.kind() == io::ErrorKind::Unsupported);
        KNOWN.store(if never { NO } else { YES }, Ordering::Relaxed);
    }
    KNOWN.load(Ordering::Relaxed) == YES
}

/// What operations of a runtime that has ended say; [`is_rt_shutdown_err`] knows it by this.
pub(crate) const SHUT_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";

/// Does the error say that the runtime of a socket, say, has ended?
///
/// ```
/// use blitz_io::net::UdpSocket;
/// use blitz_io::runtime::is_rt_shutdown_err;
///
/// let runtime = blitz_io::Builder::new_current_thread().build()?;
/// let socket = runtime.block_on(UdpSocket::bind("127.0.0.1:0"))?;
/// drop(runtime);
/// let another = blitz_io::Builder::new_current_thread().build()?;
/// let error = another.block_on(socket.recv(&mut [0; 16])).unwrap_err();
/// assert!(is_rt_shutdown_err(&error));
/// # std::io::Result::Ok(())
/// ```
pub fn is_rt_shutdown_err(error: &io::Error) -> bool {
    let is_it = |inner: &(dyn std::error::Error + Send + Sync + 'static)| {
        inner.source().is_none() && inner.to_string() == SHUT_DOWN
    };
    error.kind() == io::ErrorKind::Other && error.get_ref().is_some_and(is_it)
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("workers", &self.handle.shared.workers())
            .finish_non_exhaustive()
    }
}
