//! What a runtime has done so far.

use crate::primitives::AtomicU64;
use crate::scheduler::{Core, Shared};
use crate::task::LocalTasks;
use blitz_core::demand::{ticks, ticks_per_us};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Buckets of the histogram: bucket k counts polls of less than 2^k nanoseconds (and not less than half of that).
const BUCKETS: usize = 40;

/// How long polls took.
pub(crate) struct PollTimes([AtomicU64; BUCKETS]);

impl Default for PollTimes {
    fn default() -> Self {
        PollTimes([const { AtomicU64::new(0) }; BUCKETS])
    }
}

impl PollTimes {
    pub(crate) fn measure<R>(&self, poll: impl FnOnce() -> R) -> R {
        let start = ticks();
        let polled = poll();
        let ns = ticks().saturating_sub(start) * 1000 / ticks_per_us().max(1);
        let bucket = (u64::BITS - ns.leading_zeros()) as usize;
        self.0[bucket.min(BUCKETS - 1)].fetch_add(1, Ordering::Relaxed);
        polled
    }
}

/// A way to a runtime's numbers, as they are when they are asked for; see [`Handle::metrics`](crate::Handle::metrics).
///
/// Those of the workers and of the shared queue are the pool's: on the global pool, of all runtimes together.
///
/// ```
/// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(3).build().unwrap();
/// assert_eq!(runtime.metrics().num_workers(), 3);
/// assert_eq!(runtime.metrics().snapshot().spawned, 0);
/// ```
#[derive(Clone)]
pub struct RuntimeMetrics {
    shared: Arc<Shared>,
}

impl RuntimeMetrics {
    pub(super) fn of(shared: Arc<Shared>) -> Self {
        RuntimeMetrics { shared }
    }

    /// How many workers there are; 1 if it is a current-thread runtime.
    pub fn num_workers(&self) -> usize {
        self.shared.workers()
    }

    /// How many tasks are not through.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_current_thread().build()?;
    /// let task = runtime.spawn(async {});
    /// assert_eq!(runtime.metrics().num_alive_tasks(), 1);
    /// runtime.block_on(task)?;
    /// assert_eq!(runtime.metrics().num_alive_tasks(), 0);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn num_alive_tasks(&self) -> usize {
        let local = self.shared.local.get().map_or(0, LocalTasks::len);
        self.shared.owned.len() + local
    }

    /// How many tasks are in the shared queue.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_current_thread().build()?;
    /// println!("{} tasks wait", runtime.metrics().global_queue_depth());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn global_queue_depth(&self) -> usize {
        self.shared.injector.len()
    }

    /// How long a worker has been awake, up to its last sleep.
    ///
    /// # Panics
    /// If there is no such worker.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(2).build()?;
    /// let metrics = runtime.metrics();
    /// for worker in 0..metrics.num_workers() {
    ///     println!("{worker} was awake for {:?}", metrics.worker_total_busy_duration(worker));
    /// }
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        Duration::from_nanos(self.worker(worker).counts.busy_ns.load(Ordering::Relaxed))
    }

    /// How often a worker has gone to sleep.
    ///
    /// # Panics
    /// If there is no such worker.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(1).build()?;
    /// let before = runtime.metrics().worker_park_count(0);
    /// runtime.block_on(runtime.spawn(async {}))?;
    /// assert!(runtime.metrics().worker_park_count(0) >= before);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        self.worker(worker).counts.parked.load(Ordering::Relaxed)
    }

    /// How often a worker has gone to sleep or woken up: odd while it sleeps.
    ///
    /// # Panics
    /// If there is no such worker.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(1).build()?;
    /// let sleeps = runtime.metrics().worker_park_unpark_count(0) % 2 == 1;
    /// println!("the worker {}", if sleeps { "sleeps" } else { "is awake" });
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        let counts = &self.worker(worker).counts;
        let woken = counts.unparked.load(Ordering::Acquire);
        counts.parked.load(Ordering::Relaxed) + woken
    }

    #[track_caller]
    fn worker(&self, index: usize) -> &Core {
        let core = self.shared.cores.of_worker(index);
        match core.filter(|_| index < self.num_workers()) {
            Some(core) => core,
            None => panic!("there is no worker {index}"),
        }
    }

    /// All numbers at once, and more of them.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_current_thread().build()?;
    /// runtime.block_on(runtime.spawn(async {}))?;
    /// let metrics = runtime.metrics().snapshot();
    /// assert_eq!((metrics.spawned, metrics.alive), (1, 0));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn snapshot(&self) -> Metrics {
        Metrics::of(&self.shared)
    }
}

// As for `Runtime`.
impl UnwindSafe for RuntimeMetrics {}
impl RefUnwindSafe for RuntimeMetrics {}

impl fmt::Debug for RuntimeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeMetrics").finish_non_exhaustive()
    }
}

/// Numbers of one worker.
///
/// ```
/// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(2).build()?;
/// runtime.block_on(runtime.spawn(async {}))?;
/// for (index, worker) in runtime.metrics().snapshot().workers.iter().enumerate() {
///     println!("worker {index}: {} polls, {} thefts, {} sleeps", worker.polled, worker.stolen, worker.parked);
/// }
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// Polls of tasks.
    pub polled: u64,
    /// Tasks taken from other workers.
    pub stolen: u64,
    /// Times it went to sleep.
    pub parked: u64,
    /// Tasks that ran right after the one that woke them.
    pub lifo_hits: u64,
    /// Batches taken from the shared queue.
    pub injector_batches: u64,
    /// Times its ring was full and half of it went to the shared queue.
    pub overflows: u64,
}

/// All numbers of a runtime, as they were at one moment; see [`RuntimeMetrics::snapshot`].
///
/// Those of the workers and of the shared queue are the pool's: on the global pool, of all runtimes together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Tasks and computations spawned so far.
    pub spawned: u64,
    /// Those that are not through.
    pub alive: usize,
    /// Tasks in the shared queue.
    pub queued: usize,
    /// One entry for each worker, then the relief thread's.
    pub workers: Vec<WorkerMetrics>,
    /// Threads for blocking code, those of them that are idle, and closures that wait for one.
    pub blocking_threads: usize,
    /// See above.
    pub blocking_idle: usize,
    /// See above.
    pub blocking_queued: usize,
    /// With [`Builder::poll_times`](crate::Builder::poll_times): polls that took up to so long, for each power of two nanoseconds.
    pub poll_times: Vec<(Duration, u64)>,
}

impl Metrics {
    pub(crate) fn of(shared: &Shared) -> Self {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let workers = (0..shared.workers()).filter_map(|worker| shared.cores.of_worker(worker));
        let workers = workers
            .chain(shared.cores.of_reliefs())
            .map(|core| WorkerMetrics {
                polled: read(&core.counts.polled),
                stolen: read(&core.counts.stolen),
                parked: read(&core.counts.parked),
                lifo_hits: read(&core.counts.slot_hits),
                injector_batches: read(&core.counts.batches),
                overflows: read(&core.counts.overflows),
            });
        let times = shared.poll_times.as_ref().map(|times| {
            let bound = |bucket: usize| Duration::from_nanos(1 << bucket);
            let counts = times.0.iter().map(read).enumerate();
            counts
                .filter(|&(_, count)| count > 0)
                .map(|(bucket, count)| (bound(bucket), count))
                .collect()
        });
        let (blocking_threads, blocking_idle, blocking_queued) = shared.blocking.numbers();
        Metrics {
            spawned: shared.owned.admitted(),
            alive: shared.owned.len(),
            queued: shared.injector.len(),
            workers: workers.collect(),
            blocking_threads,
            blocking_idle,
            blocking_queued,
            poll_times: times.unwrap_or_default(),
        }
    }
}
