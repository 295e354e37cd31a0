//! A second source of work for a pool's threads: how an async runtime lives on the same threads as fork-join.
//!
//! The engine knows nothing of futures, sockets or timers. It offers its threads, when they have nothing on their stacks, to a
//! [`Companion`]: something that has work of its own, runs some of it for a while when asked, and can do a thread's
//! sleeping for it (in `epoll_wait`, say, rather than on a futex), so that one thread waits for everything at once.
//!
//! # Nobody oversleeps
//! The companion's work takes part in the engine's sleep protocol (`sleep.rs`) like any other: whoever makes some visible
//! calls [`PoolHandle::notify`] (visible, then fence, then a look at the counters), and a thread that falls asleep looks at
//! [`Companion::has_work`] after it has announced itself.
//!
//! A thread that sleeps *inside* the companion is told by [`Companion::interrupt`] instead of the futex. It makes itself the
//! *attendant* before it counts as asleep, so whoever claims its sleep, and thereby owes it a wake, sees where it sleeps. A
//! needless interrupt (the thread left and came back meanwhile) costs one look around.
//!
//! # Long computations
//! A thread in a long loop or a deep recursion cannot run the companion's work: its stack may hold locks. It calls
//! [`Companion::beat`] every few dozen microseconds instead, and the companion sees to it that somebody else serves its work.

use crate::away;
use crate::builder::ThreadPoolBuildError;
use crate::demand;
use crate::entered;
pub use crate::extra::StandIn;
use crate::global;
use crate::pool::Pool;
pub use crate::profile::{Polled, in_turn};
use crate::seat;
use crate::spawn;
use blitz_primitives::host::Host;
use std::sync::{Arc, Weak};
use std::time::Instant;

/// What a runtime does on a pool's threads. `index` is always the calling thread's, and below the number of threads.
pub trait Companion: Send + Sync + 'static {
    /// The thread belongs to the companion from now on. One without an index never runs the companion's work: it just takes the place of a thread that
    /// waits ([`max_rescue_threads`](crate::ThreadPoolBuilder::max_rescue_threads)).
    fn thread_started(&self, index: Option<usize>);

    /// The thread ends.
    fn thread_stopped(&self, index: Option<usize>);

    /// Is there anything to run? Called before each sleep, after a fence; work made visible before that fence is
    /// seen.
    fn has_work(&self) -> bool;

    /// Runs some of it, for a bounded time. The thread's stack holds nothing else. `false`: there was nothing.
    fn run(&self, index: usize) -> bool;

    /// The thread has just run out of the companion's work: is it worth a look or two more before it sleeps, since somebody elsewhere
    /// is making some right now?
    fn expects_more(&self, index: usize) -> bool;

    /// The thread has found nothing to do and is going to sleep, here or elsewhere. May make work, which is then seen.
    fn falls_asleep(&self, index: usize);

    /// The thread has slept, or has found a reason not to.
    fn is_awake(&self, index: usize);

    /// The thread is about to sleep: should it do so in [`Companion::block`]? At most one thread at a time may get
    /// `true`, and keeps it until [`Companion::unattend`].
    fn attend(&self, index: usize) -> bool;

    /// Should the thread, which is about to sleep elsewhere, rather come back and attend? Asked after it has announced its sleep;
    /// whoever makes it true has to call [`PoolHandle::wake_one`] afterwards.
    fn wants_attendant(&self) -> bool;

    /// Sleeps until something happens; `true` if there may be work now, `false` if not, or for [`Companion::interrupt`].
    fn block(&self, index: usize) -> bool;

    /// The end of what `attend` began.
    fn unattend(&self, index: usize);

    /// As [`Companion::block`], without the sleep, if nobody attends: for a thread that has work, which can wait. It need not attend.
    fn listen(&self) -> bool;

    /// Gets the attendant out of [`Companion::block`], now or when it enters it. Any thread may call this.
    fn interrupt(&self);

    /// The thread is busy with something long, in a frame that others' code must not run on top of.
    fn beat(&self, index: usize);

    /// The thread waits for others' work, in such a frame, and is about to block.
    fn blocked(&self, index: usize);

    /// The global pool is to end. If the companion has nothing to run there, and gets nothing any more, it calls `replace`, after which the global pool is another one.
    /// `false`: it has, and the pool stays.
    fn leaves(&self, replace: &mut dyn FnMut()) -> bool;

    /// The pool has one more task in its queues, and none of its threads is idle. If they do not come back from the companion's work, it is for the
    /// companion to say so ([`PoolHandle::set_absent`]). Any thread may call this.
    fn task_waits(&self);
}

/// A companion's hold on its pool. It keeps no thread alive.
#[derive(Clone)]
pub struct PoolHandle {
    pool: Arc<Pool>,
}

impl PoolHandle {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        PoolHandle { pool }
    }

    /// The global pool, started now if need be. As long as nobody computes in it, a program may still build another one as the global pool.
    ///
    /// # Errors
    /// If its threads cannot be started.
    pub fn global() -> Result<Self, ThreadPoolBuildError> {
        let pool = global::get_or_start()?;
        Ok(Self::new(pool.arc().expect("a global pool is never freed")))
    }

    /// Gives the pool its companion, for life. `false`: it has one, or [is ending](PoolHandle::is_ending).
    pub fn attach(&self, companion: &Arc<dyn Companion>) -> bool {
        self.pool.attach(companion)
    }

    /// The companion has made work visible: somebody will look at it.
    #[inline]
    pub fn notify(&self) {
        let counters = self.pool.sleep.post();
        if counters.searching() == 0 && counters.sleeping() > 0 {
            // A companion's pieces are short: they are not worth sending anybody elsewhere.
            self.pool.wake_any();
        }
    }

    /// As [`PoolHandle::notify`], for work that the calling thread will get to itself if nobody else does: without the fence, a
    /// thread that falls asleep at this very moment may not be told.
    #[inline]
    pub fn hint(&self) {
        let counters = self.pool.sleep.counters();
        if counters.searching() == 0 && counters.sleeping() > 0 {
            self.notify();
        }
    }

    /// Is there a task in the pool's queues?
    pub fn has_queued_task(&self) -> bool {
        self.pool.has_tasks()
    }

    /// Is there a task in the queues in which the calling thread, one of the pool's, looks first?
    pub fn has_task_for_caller(&self) -> bool {
        let mine = self.pool.current_seat();
        self.pool.injected() > 0 || mine.is_some_and(|seat| !seat.stealer().is_empty())
    }

    /// Says whether one of the pool's threads, given by its index, seems not to come back from the companion's work. As long as it does not, and all others are busy or wait, another
    /// thread takes what nobody else does: as if the missing one had said so by [`block_in_place`](crate::block_in_place). To be said again and again, by one thread at a time.
    pub fn set_absent(&self, thread: usize, absent: bool) {
        self.pool.set_absent(thread, absent);
    }

    /// Is some thread without work, awake or asleep?
    pub fn has_idle_thread(&self) -> bool {
        self.pool.sleep.counters().inactive() > 0
    }

    /// Wakes a sleeping thread, whatever the others do. `false`: none sleeps.
    pub fn wake_one(&self) -> bool {
        // Makes threads that are about to sleep look again, and comes before the look at those that sleep.
        self.pool.sleep.post().sleeping() > 0 && self.pool.wake_any()
    }

    /// Runs `func` on a thread of the pool, or gives it back if the pool has ended. If it is known to take only so many ticks, too few for a wake, a
    /// caller that is itself such a thread wakes nobody for it: it will get to it soon. (If such work piles up again and again, somebody is
    /// woken in the end.) `func` does not unwind.
    pub fn spawn<F: FnOnce() + Send + 'static>(
        &self,
        expected: Option<u64>,
        func: F,
    ) -> Result<(), F> {
        spawn::spawn_unless_ended(&self.pool, expected, func)
    }

    /// A way for the calling thread to run work in the pool, in a seat beside those of the pool's threads: for one that runs the companion's work while these
    /// are busy.
    pub fn stand_in(&self) -> StandIn {
        StandIn::new(Arc::clone(&self.pool))
    }

    /// Waits until the pool's threads are through, which they are when its handle is dropped and its tasks have ended; until
    /// `deadline` at most. `false`: some are not. Otherwise they are joined: their thread-locals are gone.
    pub fn join_threads(&self, deadline: Option<Instant>) -> bool {
        self.pool.join_threads(deadline)
    }

    /// The pool's number of threads.
    pub fn num_threads(&self) -> usize {
        self.pool.num_threads()
    }

    /// Is it the global pool, or was it when it was started?
    pub fn is_global(&self) -> bool {
        self.pool.global
    }

    /// Stands for the pool, as `console::PoolView::key` does.
    #[cfg(all(feature = "console", not(loom)))]
    pub fn key(&self) -> usize {
        self.pool.watched.number()
    }

    /// Has it been stopped, or shut down? Its threads may still be there.
    pub fn is_ending(&self) -> bool {
        self.pool.is_closed()
    }

    /// Is the calling thread in the pool, in a seat of whatever kind?
    pub fn is_current(&self) -> bool {
        self.pool.current_seat().is_some()
    }
}

/// Makes `pool` the one that parallel calls of this thread go to while it sits in none; `None`: the global pool.
///
/// # Safety
/// The handle, or another one to the same pool, is not dropped before this is called again.
pub unsafe fn set_entered_pool(pool: Option<&PoolHandle>) {
    let pool = pool.map_or(std::ptr::null(), |handle| Arc::as_ptr(&handle.pool));
    // SAFETY: passed on.
    unsafe { entered::set(pool) };
}

/// Forks are counted from now on, if they have not been before, since there was no pool.
pub fn notice_forks() {
    crate::process_fork::notice();
}

/// How many forks lie between the first process and this one. What was made in another generation has no threads here.
pub fn forks() -> u64 {
    crate::process_fork::generation()
}

pub use crate::parents_only::{Descriptor, ParentsOnly};
pub use crate::process_fork::{ForkLock, ThreadHandle};

/// Starts a thread that a fork waits for while it starts or ends. [`notice_forks`] has been called.
///
/// # Errors
/// If the system has no thread for us.
pub fn start_thread(
    builder: std::thread::Builder,
    work: impl FnOnce() + Send + 'static,
) -> std::io::Result<ThreadHandle> {
    crate::process_fork::start_thread(builder, work)
}

impl std::fmt::Debug for PoolHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PoolHandle")
            .field("threads", &self.num_threads())
            .finish()
    }
}

/// Calls `sleep`, in which the calling thread sleeps, for something that is not the engine's.
///
/// If it is a pool's thread, in the middle of something that it runs, it may wait for a task that is still in one of the pool's queues, and so may all
/// the others: then another thread is started, which runs the tasks.
///
/// ```
/// # use std::sync::mpsc;
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let answer = pool.install(|| {
///     let (sender, receiver) = mpsc::channel();
///     blitz_core::spawn(move || sender.send(42).unwrap());
///     // The pool's only thread sleeps here.
///     blitz_core::companion::sleep_elsewhere(|| receiver.recv())
/// });
/// assert_eq!(answer, Ok(42));
/// ```
pub fn sleep_elsewhere<R>(sleep: impl FnOnce() -> R) -> R {
    match seat::current() {
        Some(seat) => away::sleep_elsewhere(seat, sleep),
        None => sleep(),
    }
}

/// As [`sleep_elsewhere`], for something that may compute as well as sleep: a profile counts what it computes.
pub fn work_elsewhere<R>(work: impl FnOnce() -> R) -> R {
    match seat::current() {
        Some(seat) => away::work_elsewhere(seat, work),
        None => work(),
    }
}

/// What locks ask of the engine. A runtime has more to say.
pub const HOST: Host = Host {
    rank: 1,
    patience: || {
        if demand::is_in_pool() {
            return 0;
        }
        // As long as it takes to wake a worker: what that does at once is over by then, and the next time it finds it awake, and the thread, too.
        demand::worth_a_wake() / 2
    },
    sleep: |sleep| sleep_elsewhere(sleep),
    ..Host::NONE
};

pub use crate::abort::complain;
pub use crate::placement::Steering;

/// The pool's side: one companion at most, for life. Threads hold it strongly while they run, the pool weakly, since the
/// companion holds the pool.
pub(crate) type Slot = crate::sync::locks::OnceLock<Weak<dyn Companion>>;
