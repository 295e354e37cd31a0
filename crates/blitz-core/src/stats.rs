//! What the threads of a pool have been doing, counted where it happens.
//!
//! Each seat counts for itself with plain loads and stores; nothing is shared while counting. Forks that
//! nobody steals are not counted: they cost a nanosecond, and counting would double it.

use crate::sync::AtomicU64;
use std::iter::Sum;
use std::ops::AddAssign;
use std::sync::atomic::Ordering;

macro_rules! stats {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counts of one worker, or of all of them together. They never go down, but for [`reset_stats`](crate::ThreadPool::reset_stats).
        ///
        /// ```
        /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build()?;
        /// let before = pool.stats().total;
        /// pool.install(|| ());
        /// assert!(pool.stats().total.executed >= before.executed);
        /// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct WorkerStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl AddAssign for WorkerStats {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)*
            }
        }

        /// The counters behind [`WorkerStats`].
        #[derive(Debug, Default)]
        pub(crate) struct Counting {
            $(pub(crate) $name: Count,)*
        }

        impl Counting {
            pub(crate) fn read(&self) -> WorkerStats {
                WorkerStats { $($name: self.$name.0.load(Ordering::Relaxed),)* }
            }

            pub(crate) fn reset(&self) {
                $(self.$name.0.store(0, Ordering::Relaxed);)*
            }
        }
    };
}

stats! {
    /// Jobs run: stolen forks, spawned and scoped tasks, installed closures, broadcasts.
    executed,
    /// Forks and tasks taken from another worker.
    stolen,
    /// Times this worker made another's private forks public by force.
    forced,
    /// Times this worker went to sleep, idle or waiting. An idle sleep counts when it is over.
    parked,
    /// Times this worker woke another one.
    woken,
    /// Times this worker ran out of work of its own and began to search: the shared queue, where tasks from outside are, and other workers.
    searches,
    /// Times an outside thread took this worker's seat.
    guests,
    /// Times this worker was woken, found nothing, and went back to sleep.
    vain,
}

impl Sum for WorkerStats {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        let mut total = WorkerStats::default();
        iter.for_each(|one| total += one);
        total
    }
}

/// What [`ThreadPool::stats`](crate::ThreadPool::stats) returns.
///
/// ```
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build()?;
/// pool.install(|| ());
/// let stats = pool.stats();
/// assert_eq!(stats.workers.len(), 2);
/// println!("{} thefts in all, {} by the first worker", stats.total.stolen, stats.workers[0].stolen);
/// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// One entry per worker, by index. A guest counts for the worker whose seat it takes.
    pub workers: Vec<WorkerStats>,
    /// The sum of all workers; and of those that the pool had when it had [more threads](crate::ThreadPool::set_num_threads).
    pub total: WorkerStats,
}

/// One counter with one writer at a time.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Counts one. Load and store instead of an atomic addition: only the seat's occupant counts, so
    /// nothing is lost (a concurrent reset may be, which is as good as coming a moment later).
    #[inline]
    pub(crate) fn one(&self) {
        let count = self.0.load(Ordering::Relaxed);
        self.0.store(count + 1, Ordering::Relaxed);
    }
}
