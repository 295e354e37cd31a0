//! A pool: its seats, its queues, its sleepers, and its end.
//!
//! This file has the parts of a pool and holds them together; `pool/` has what is asked of it. What threads *do* with it is elsewhere: searching and running in
//! [`crate::worker`], waiting in [`crate::wait`], the decision to wake somebody in [`crate::wake`],
//! taking part from outside in [`crate::guest`].

use crate::abort::AbortOnDrop;
use crate::builder::available_cpus;
use crate::capacity::Capacity;
use crate::companion::{self, Companion};
use crate::console::OfPool;
use crate::extra::{self, ExtraSeats};
use crate::life::Life;
use crate::placement::Placement;
use crate::priority::Relays;
use crate::process_fork::{self, ThreadHandle};
use crate::rescue::Rescue;
use crate::rows::{self, Rows};
use crate::seat::{self, Seat};
use crate::shared_queue::SharedQueue;
use crate::sleep::Sleep;
use crate::stats::PoolStats;
use crate::sync::AtomicU64;
use crate::sync::locks::{Mutex, OnceLock};
use crate::task::TaskRef;
use crate::thread_attributes::ThreadAttributes;
use crate::thread_latch::ThreadLatch;
use crate::waiters::Waiters;
use blitz_primitives::{BackoffMode, FullPolicy, host};
use idle::IdleWaiters;
use std::any::Any;
use std::mem;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread::ThreadId;

pub(crate) use ends::Visit;

mod blocked;
mod ends;
mod idle;
mod posting;
mod queues;

type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;

/// What the user gave the builder to be called later.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) panic: Option<Box<PanicHandler>>,
    pub(crate) start: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) exit: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) steal: Option<Box<dyn Fn(usize, usize) + Send + Sync>>,
    pub(crate) park: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) unpark: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) deadlock: Option<Box<dyn Fn() + Send + Sync>>,
}

/// What a pool is made from.
pub(crate) struct Settings {
    pub(crate) threads: usize,
    pub(crate) backoff: BackoffMode,
    pub(crate) guests: bool,
    pub(crate) placement: Placement,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) attributes: ThreadAttributes,
    /// See [`ThreadPoolBuilder::grain`](crate::ThreadPoolBuilder::grain).
    pub(crate) grain: usize,
    pub(crate) max_rescue_threads: usize,
    /// It never ends: it is the global pool, or was until a child of this process got its own.
    pub(crate) global: bool,
    /// The most detached tasks that wait, and what happens to others.
    pub(crate) queue_capacity: Option<(usize, FullPolicy)>,
    /// The engine starts the threads, and may start more.
    pub(crate) resizable: bool,
    /// Nobody has asked for anything but a number of threads.
    pub(crate) plain: bool,
}

/// See the module's documentation.
pub(crate) struct Pool {
    this: Weak<Pool>,
    /// A pool is asked for them as if they were its own.
    settings: Settings,
    /// The process that has its threads; see [`crate::process_fork`].
    pub(crate) generation: u64,
    /// Those of threads that have left are retired.
    pub(crate) seats: Rows<Seat>,
    /// How many threads there are to be.
    threads: AtomicUsize,
    /// Held while that changes, and while something is done for each thread.
    pub(crate) shape: Mutex<()>,
    /// Tasks from threads without a seat here, and tasks that a waiting thread had to put aside.
    queue: SharedQueue<TaskRef>,
    /// Background tasks, wherever they come from.
    background: SharedQueue<TaskRef>,
    pub(crate) relays: Relays,
    pub(crate) sleep: Sleep,
    /// There are more threads than CPUs.
    oversubscribed: AtomicBool,
    pub(crate) waiters: Waiters,
    pub(crate) rescue: Rescue,
    pub(crate) extra: ExtraSeats,
    /// A poster found threads asleep but guests in all of their seats.
    starved: AtomicBool,
    /// See [`Pool::found_blocked`].
    blocked_since: AtomicU64,
    /// Reasons to go on.
    life: Life,
    /// The threads are there. On Windows a pool is not before they are: its end may have to be waited for where no thread can begin, see [`crate::process_fork`].
    #[cfg(windows)]
    pub(crate) begun: Rows<ThreadLatch>,
    pub(crate) started: Rows<ThreadLatch>,
    pub(crate) stopped: Rows<ThreadLatch>,
    /// Nobody pays for it who has not asked for it.
    pub(crate) capacity: Option<Capacity>,
    idle: IdleWaiters,
    companion: companion::Slot,
    pub(crate) watched: OfPool,
    /// The thread that was there before the pool and is its first one, if any.
    pub(crate) adopted: OnceLock<ThreadId>,
    /// Of the threads that the user has not started.
    handles: Mutex<Vec<ThreadHandle>>,
}

impl Deref for Pool {
    type Target = Settings;

    #[inline]
    fn deref(&self) -> &Settings {
        &self.settings
    }
}

/// The seats of a pool one after the other; see [`Pool::victims`]. By hand for the sake of those who compile it (see `rows::Iter`).
#[derive(Clone)]
pub(crate) struct Victims<'a> {
    at_hand: slice::Iter<'a, Seat>,
    /// Whose turn it is after those at hand, and then the others.
    before: &'a [Seat],
    rest: rows::Iter<'a, Seat>,
    extra: extra::Seats<'a>,
}

impl<'a> Iterator for Victims<'a> {
    type Item = &'a Seat;

    #[inline]
    fn next(&mut self) -> Option<&'a Seat> {
        if let Some(seat) = self.at_hand.next() {
            return Some(seat);
        }
        self.at_hand = mem::take(&mut self.before).iter();
        self.at_hand
            .next()
            .or_else(|| self.rest.next())
            .or_else(|| self.extra.next())
    }
}

impl Pool {
    pub(crate) fn new(settings: Settings) -> Arc<Pool> {
        // Before any thread is the pool's.
        host::set(const { &companion::HOST });
        let threads = settings.threads;
        let pool = Arc::new_cyclic(|this: &Weak<Pool>| Pool {
            this: this.clone(),
            generation: process_fork::generation(),
            seats: (0..threads)
                .map(|index| Seat::new(index, this.as_ptr()))
                .collect(),
            threads: AtomicUsize::new(threads),
            shape: Mutex::new(()),
            queue: SharedQueue::new(),
            background: SharedQueue::new(),
            relays: Relays::default(),
            sleep: Sleep::new(threads),
            oversubscribed: AtomicBool::new(threads > available_cpus()),
            waiters: Waiters::new(),
            rescue: Rescue::default(),
            extra: ExtraSeats::default(),
            starved: AtomicBool::new(false),
            blocked_since: AtomicU64::new(0),
            life: Life::new(),
            #[cfg(windows)]
            begun: (0..threads).map(|_| ThreadLatch::new()).collect(),
            started: (0..threads).map(|_| ThreadLatch::new()).collect(),
            stopped: (0..threads).map(|_| ThreadLatch::new()).collect(),
            capacity: settings.queue_capacity.map(Capacity::new),
            idle: IdleWaiters::default(),
            companion: companion::Slot::new(),
            watched: OfPool::new(),
            adopted: OnceLock::new(),
            handles: Mutex::default(),
            settings,
        });
        OfPool::begins(&pool);
        if pool.handlers.start.is_some() {
            // The start handler is user code in the seat: no guest before it has run.
            pool.seats.iter().for_each(|seat| seat.occupancy.take());
        }
        pool
    }

    /// A reference that keeps nothing.
    pub(crate) fn weak(&self) -> Weak<Pool> {
        self.this.clone()
    }

    /// A share of the pool. `None`: it is being freed.
    pub(crate) fn arc(&self) -> Option<Arc<Pool>> {
        self.this.upgrade()
    }

    #[inline]
    pub(crate) fn num_threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    /// The pool is to have so many threads. Everything is there that they need.
    pub(crate) fn set_target(&self, threads: usize) {
        self.sleep.resize(threads);
        let crowded = threads > available_cpus();
        self.oversubscribed.store(crowded, Ordering::Relaxed);
        self.threads.store(threads, Ordering::SeqCst);
    }

    /// Are there more threads than CPUs?
    #[inline]
    pub(crate) fn oversubscribed(&self) -> bool {
        self.oversubscribed.load(Ordering::Relaxed)
    }

    /// The seat that the calling thread occupies in this pool, if any.
    #[inline]
    pub(crate) fn current_seat(&self) -> Option<&Seat> {
        seat::current().filter(|seat| self.owns(seat))
    }

    #[inline]
    pub(crate) fn owns(&self, seat: &Seat) -> bool {
        std::ptr::eq(seat.pool(), self)
    }

    // ---- the companion ----------------------------------------------------------------------

    /// Gives the pool its companion, for life. `false`: it has one, or has been closed.
    pub(crate) fn attach(&self, companion: &Arc<dyn Companion>) -> bool {
        let interrupt = Arc::downgrade(companion);
        // First: a thread that sees the companion may sleep in it at once, and has to be got out of there.
        let first = self.sleep.set_interrupt(Box::new(move || {
            if let Some(companion) = interrupt.upgrade() {
                companion.interrupt();
            }
        }));
        if !first {
            return false;
        }
        let set = self.companion.set(Arc::downgrade(companion));
        debug_assert!(set.is_ok(), "whoever sets the interrupt sets the companion");
        if self.is_closed() {
            // Whoever has closed it may not have seen the companion.
            return false;
        }
        // Threads that sleep learn of it now; the others before they sleep.
        self.sleep.wake_all();
        true
    }

    /// The companion, if there is one and it has not ended.
    pub(crate) fn companion(&self) -> Option<Arc<dyn Companion>> {
        self.companion.get()?.upgrade()
    }

    /// All seats: `first` and the others in turn, then the extra ones.
    #[inline]
    pub(crate) fn victims(&self, first: usize) -> Victims<'_> {
        let seats = self.seats.first();
        let (before, after) = seats.split_at(first % seats.len());
        Victims {
            at_hand: after.iter(),
            before,
            rest: self.seats.rest(),
            extra: self.extra.seats(),
        }
    }

    /// What this pool is known by where nobody looks into it.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).expose_provenance()
    }

    // ---- panics -----------------------------------------------------------------------------

    /// Runs user code that has nobody to report a panic to.
    pub(crate) fn catch_panic(&self, work: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
            self.handle_panic(payload);
        }
    }

    /// Hands a panic to the user's handler; without one, or if it panics itself, the process ends.
    pub(crate) fn handle_panic(&self, payload: Box<dyn Any + Send>) {
        let abort = AbortOnDrop("a panic handler panicked");
        match &self.handlers.panic {
            Some(handler) => handler(payload),
            None => {
                std::mem::forget(abort);
                let _abort =
                    AbortOnDrop("a detached task panicked and the pool has no panic handler");
                return;
            }
        }
        std::mem::forget(abort);
    }

    // ---- numbers ----------------------------------------------------------------------------

    pub(crate) fn stats(&self) -> PoolStats {
        let all = self.seats.iter().map(|seat| seat.stats.read());
        PoolStats {
            workers: all.clone().take(self.num_threads()).collect(),
            total: all.sum(),
        }
    }

    pub(crate) fn reset_stats(&self) {
        self.seats.iter().for_each(|seat| seat.stats.reset());
    }
}
