//! What a builder does in the end: it makes a pool and starts its threads.

use super::threads::start_thread;
use super::{ErrorKind, ThreadBuilder, ThreadPoolBuildError, ThreadPoolBuilder, ThreadSpawn};
use crate::join_stack::MAX_SEATS;
use crate::placement::{Pinning, Placement, allowed_cpus};
use crate::pool::{Pool, Settings};
use crate::process_fork;
use crate::rescue;
use crate::seat;
use crate::thread_attributes::ThreadAttributes;
use crate::thread_latch::ThreadLatch;
use blitz_primitives::{BackoffMode, fence};
use std::sync::Arc;
use std::thread;

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    pub(crate) fn build_pool(mut self, global: bool) -> Result<Arc<Pool>, ThreadPoolBuildError> {
        let threads = self.resolve_num_threads();
        self.check(threads)?;
        // Before any thread of ours exists: light fences must not change under a running owner.
        fence::mode();
        process_fork::notice();
        let pool = Pool::new(self.settings(threads, global));
        self.start_threads(&pool)?;
        if self.use_current_thread {
            // Last: a pool that could not be built must leave the thread as it was.
            adopt_current_thread(&pool);
        }
        Ok(pool)
    }

    /// Can there be such a pool?
    fn check(&self, threads: usize) -> Result<(), ThreadPoolBuildError> {
        if threads > MAX_SEATS - 1 {
            return Err(ErrorKind::TooManyThreads(threads).into());
        }
        if !self.backoff.limits().are_in_order() {
            return Err(ErrorKind::Backoff.into());
        }
        if let Some((0, _)) = self.queue_capacity {
            return Err(ErrorKind::NoCapacity.into());
        }
        if self.use_current_thread && seat::current().is_some() {
            return Err(ErrorKind::CurrentThreadInPool.into());
        }
        if let (Pinning::Shares(shares), Some(allowed)) = (&self.pinning, allowed_cpus()) {
            let missing = shares.iter().flatten().find(|cpu| !allowed.contains(cpu));
            if let Some(&cpu) = missing {
                return Err(ErrorKind::NoSuchCpu(cpu).into());
            }
        }
        Ok(())
    }

    /// What it is made with. Pinning and handlers go there.
    fn settings(&mut self, threads: usize, global: bool) -> Settings {
        let plain = self.is_plain();
        // A name is nothing that a closure could need of its thread.
        let differ = self.stack_size.is_some()
            || self.handlers.start.is_some()
            || self.handlers.exit.is_some()
            || self.handlers.park.is_some()
            || self.handlers.unpark.is_some()
            || self.use_current_thread
            || S::CUSTOM;
        Settings {
            threads,
            backoff: self.backoff,
            guests: self.caller_participates.unwrap_or(global && !differ),
            placement: Placement::new(threads, std::mem::take(&mut self.pinning)),
            handlers: Arc::new(std::mem::take(&mut self.handlers)),
            attributes: ThreadAttributes::new(threads, self.stack_size),
            grain: self.grain,
            max_rescue_threads: self.max_rescue_threads,
            global,
            queue_capacity: self.queue_capacity,
            resizable: !S::CUSTOM,
            plain,
        }
    }

    fn start_threads(&mut self, pool: &Arc<Pool>) -> Result<(), ThreadPoolBuildError> {
        let threads = pool.num_threads();
        // If a thread cannot be started, or the user's spawn handler panics, those that run must end.
        let guard = EndPool(pool);
        for index in usize::from(self.use_current_thread)..threads {
            if let Some(name) = &mut self.thread_name {
                pool.attributes.set_name(index, name(index));
            }
            let thread = ThreadBuilder {
                pool: Arc::clone(pool),
                index,
            };
            if let Err(error) = self.spawn.spawn(thread) {
                drop(guard);
                // Nobody is there whose end could be waited for.
                let own = usize::from(self.use_current_thread);
                let stopped = pool.stopped.iter().enumerate();
                let never = stopped.filter(|&(other, _)| other < own || other >= index);
                never.for_each(|(_, stopped)| stopped.set());
                if !S::CUSTOM && pool.handlers.start.is_none() {
                    pool.join_threads(None);
                }
                return Err(ErrorKind::Start {
                    started: index,
                    threads,
                    error,
                }
                .into());
            }
        }
        // Threads of a pool that lives do not end. Fewer than asked for will do, but not none at all: whatever is given to the pool would wait for ever.
        if S::CUSTOM && pool.stopped.iter().all(ThreadLatch::is_set) {
            return Err(ErrorKind::NeverRun.into());
        }
        std::mem::forget(guard);
        // Those that the user starts may begin whenever the user likes.
        #[cfg(windows)]
        if !S::CUSTOM {
            let own = usize::from(self.use_current_thread);
            pool.begun.iter().skip(own).for_each(ThreadLatch::wait);
        }
        Ok(())
    }

    /// Does it ask for nothing but a number of threads?
    pub(crate) fn is_plain(&self) -> bool {
        let handlers = &self.handlers;
        let handled =
            handlers.panic.is_some() || handlers.start.is_some() || handlers.exit.is_some();
        let named = self.thread_name.is_some() || self.stack_size.is_some();
        let placed = self.use_current_thread || self.pinning != Pinning::Free;
        let tuned = self.grain != 1
            || self.backoff != BackoffMode::default()
            || self.caller_participates.is_some()
            || self.queue_capacity.is_some()
            || self.max_rescue_threads != rescue::MOST;
        !(handled || named || placed || tuned || S::CUSTOM)
    }

    pub(crate) fn resolve_num_threads(&self) -> usize {
        if self.num_threads > 0 {
            return self.num_threads;
        }
        if let Pinning::Shares(shares) = &self.pinning {
            return shares.len();
        }
        let from_environment = [
            "BLITZ_NUM_THREADS",
            "RAYON_NUM_THREADS",
            "RAYON_RS_NUM_CPUS",
        ]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok()?.trim().parse::<usize>().ok())
        .find(|&threads| threads > 0);
        from_environment.unwrap_or_else(available_cpus)
    }
}

/// As many threads as the process may use CPUs: its affinity mask and its cgroup's CPU quota count.
pub(crate) fn available_cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A pool like `old`, whose threads are those of this process's parent.
pub(crate) fn revive(old: &Pool) -> Result<Arc<Pool>, ThreadPoolBuildError> {
    let threads = old.num_threads();
    let pool = Pool::new(Settings {
        threads,
        backoff: old.backoff,
        guests: old.guests,
        placement: old.placement.again(threads),
        handlers: Arc::clone(&old.handlers),
        attributes: old.attributes.clone(),
        grain: old.grain,
        max_rescue_threads: old.max_rescue_threads,
        global: old.global,
        queue_capacity: old.queue_capacity,
        // From now on it is the engine that starts them.
        resizable: true,
        plain: old.plain,
    });
    let guard = EndPool(&pool);
    for index in 0..threads {
        start_thread(Arc::clone(&pool), index)?;
    }
    std::mem::forget(guard);
    Ok(pool)
}

struct EndPool<'a>(&'a Arc<Pool>);

impl Drop for EndPool<'_> {
    fn drop(&mut self) {
        self.0.release_handle();
    }
}

/// Makes the calling thread the pool's thread 0, for as long as both exist.
fn adopt_current_thread(pool: &Arc<Pool>) {
    let seat = &pool.seats[0];
    seat.occupancy.take();
    // The thread-local keeps pointing to the seat until the thread ends, so the pool's memory stays.
    std::mem::forget(Arc::clone(pool));
    // SAFETY: the seat is this thread's from now on.
    unsafe { seat.enter() };
    pool.adopted
        .set(thread::current().id())
        .expect("a pool adopts one thread");
    pool.started[0].set();
    pool.stopped[0].set();
}
