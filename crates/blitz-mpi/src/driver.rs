//! Who looks at MPI, and how often.
//!
//! MPI moves messages only while somebody is inside of it. Three kinds of callers are:
//!
//! * a future that is polled for the first time looks for 50 us at most: about what it costs to send its task away and to wake it. So a short `all_reduce` among ranks that are all there is
//!   nearly as fast as MPI's own. If that was in vain, others look a few times only, until something has moved: a hundred futures that wait together do not wait one after the other;
//! * one of those that found nothing is the *lookout*: it goes on looking, for 4 ms, in slices of 20 us between which all other tasks, and all other futures of its own, have their turn. Ranks that compute
//!   in step wait for each other again and again, for a time slice of the kernel's if one of them was held up; two thread switches then take a CPU from the rank that is waited for, which comes
//!   late in turn. There is no lookout while a CPU is worth more elsewhere: while all threads of the pool compute, or after four lookouts in vain in a row (then every 16th time somebody tries);
//! * the *driver*, a task of the runtime, looks for everybody else. It never waits in MPI, so that it never keeps a worker; while all workers compute, the
//!   runtime's relief thread runs it.
//!
//! While somebody waits and there is no lookout, the driver looks again and again for as long as what is under way should take (100 us, and 4 ns for each byte), giving way to other tasks in between. Then,
//! and while everybody computes, it naps: a quarter of the time since something last happened, from 50 us to 1 ms. If nobody waits but the lookout, or everybody computes and little is under way, it naps for 1 ms, and for up to 16 ms as long as
//! futures look while it does: each of its looks takes a CPU from somebody who computes, and messages that are short are fetched in no time by who awaits them. So a message that comes late is noticed at most a quarter later, waiting for
//! a long time costs next to nothing, and who computes is left the CPUs. Nothing under way for 10 ms, and it rests: no timer, no CPU.
//!
//! # No operation is overlooked
//! The driver goes to rest with the lock held and nothing under way. An operation is begun with the lock held, and calls a driver that rests. A nap
//! ends by itself; operations that are long, futures that are about to wait, and a lookout that leaves others behind end it early. A lookout that is not polled again is none
//! after 200 us.

use crate::core::Core;
use crate::dynamic::Loops;
use blitz_io::Handle;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// How long a first poll looks.
const HELP: Duration = Duration::from_micros(50);
/// How long a lookout looks: about as long as the kernel keeps somebody off a CPU whom it has taken it from. And before others have their turn.
const LOOKOUT: Duration = Duration::from_millis(4);
const SLICE: Duration = Duration::from_micros(20);
/// One that has not been polled again for this long is none any more.
const ALIVE: Duration = Duration::from_micros(200);
/// After so many lookouts in vain in a row, there is one in `RETRY` times.
const MAX_VAIN: u32 = 4;
const RETRY: u32 = 16;
/// How long the driver looks without a nap, and for each byte under way.
const PATIENCE: Duration = Duration::from_micros(100);
const NS_PER_BYTE: u64 = 4;
const SHORTEST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_millis(1);
/// The longest while others look often enough.
const LONGEST_BESIDE_OTHERS: Duration = Duration::from_millis(16);
/// Nothing under way for this long: rest.
const REST_AFTER: Duration = Duration::from_millis(10);
/// This many bytes are worth a look while everybody computes: what a look costs the computation is less than what is won. An operation of as many ends a nap.
const LONG: usize = 256 << 10;

const AWAKE: u8 = 0;
const NAPPING: u8 = 1;
const RESTING: u8 = 2;

/// What all handles of a cluster share.
pub(crate) struct Shared {
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) threads: usize,
    /// The runtime's: whoever has a handle to the cluster may be outside of it.
    pub(crate) runtime: Handle,
    core: Mutex<Core>,
    state: AtomicU8,
    called: AtomicBool,
    driver: Mutex<Option<Waker>>,
    ended: AtomicBool,
    /// Futures that have been polled in vain.
    waiting: AtomicUsize,
    pub(crate) loops: Mutex<Loops>,
    /// A future has looked for as long as it may, and nothing has moved since.
    in_vain: AtomicBool,
    started: Instant,
    /// Until when there is a lookout, if it is not heard of again, in nanoseconds since the start. 0: there is none.
    lookout: AtomicU64,
    /// Lookouts in vain in a row, and, beyond `MAX_VAIN`, waits without one.
    vain: AtomicU32,
    /// How often others than the driver have looked. Written with the lock held.
    looks: AtomicU64,
}

/// The right to look on. Given up by [`Shared::end_lookout`].
#[derive(Clone, Copy)]
pub(crate) struct Lookout {
    /// What it has last written to `Shared::lookout`.
    alive: u64,
    /// When it has looked for long enough.
    end: u64,
}

impl Shared {
    pub(crate) fn new(core: Core, threads: usize, runtime: Handle) -> Arc<Shared> {
        Arc::new(Shared {
            rank: core.links.rank,
            size: core.links.size,
            threads,
            runtime,
            core: Mutex::new(core),
            state: AtomicU8::new(AWAKE),
            called: AtomicBool::new(false),
            driver: Mutex::new(None),
            ended: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            loops: Mutex::default(),
            in_vain: AtomicBool::new(false),
            started: Instant::now(),
            lookout: AtomicU64::new(0),
            vain: AtomicU32::new(0),
            looks: AtomicU64::new(0),
        })
    }

    /// The way into MPI.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As `lock`, but not for ever: for the end of the process.
    pub(crate) fn lock_for_the_end(&self) -> Option<MutexGuard<'_, Core>> {
        let start = Instant::now();
        loop {
            match self.core.try_lock() {
                Ok(core) => return Some(core),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                // Perhaps the panic that ends the process began with the lock held, below us.
                Err(TryLockError::WouldBlock) if start.elapsed() > Duration::from_secs(1) => {
                    return None;
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Begins an operation.
    pub(crate) fn begin<R>(&self, bytes: usize, start: impl FnOnce(&mut Core) -> R) -> R {
        let mut core = self.lock();
        let result = start(&mut core);
        let state = self.state.load(Ordering::SeqCst);
        leave(core);
        if state == RESTING || bytes >= LONG && state == NAPPING {
            self.call_driver();
        }
        result
    }

    /// For a future that is about to wait, the first time.
    pub(crate) fn starts_to_wait(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        if self.state.load(Ordering::SeqCst) != AWAKE {
            self.call_driver();
        }
    }

    /// For one that does not wait any more.
    pub(crate) fn stops_to_wait(&self) {
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    fn call_driver(&self) {
        if !self.called.swap(true, Ordering::SeqCst) {
            let waker = self
                .driver
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Looks at MPI for a while, or a few times if that was in vain just before, until it is `done`.
    pub(crate) fn help(&self, done: impl Fn() -> bool) {
        let mut start = None;
        // The clock takes about as long as a look.
        while !self.look_a_few_times(&done) && !self.in_vain.load(Ordering::SeqCst) {
            if start.get_or_insert_with(Instant::now).elapsed() > HELP {
                self.in_vain.store(true, Ordering::SeqCst);
                return;
            }
        }
    }

    fn look_a_few_times(&self, done: &impl Fn() -> bool) -> bool {
        for _ in 0..8 {
            // Whoever has the lock looks for us, too.
            if let Ok(mut core) = self.core.try_lock() {
                let moved = self.look_once(&mut core);
                self.looks
                    .store(self.looks.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                leave(core);
                if !moved {
                    continue;
                }
            }
            if done() {
                return true;
            }
        }
        false
    }

    fn now(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// For a future that has looked in vain: whether it is to look on.
    pub(crate) fn start_lookout(&self) -> Option<Lookout> {
        let now = self.now();
        let before = self.lookout.load(Ordering::SeqCst);
        if before > now || !may_look() {
            return None;
        }
        let vain = self.vain.load(Ordering::Relaxed);
        if vain >= MAX_VAIN {
            // Exact or not does not matter.
            self.vain.store(vain.wrapping_add(1), Ordering::Relaxed);
            if !vain.is_multiple_of(RETRY) {
                return None;
            }
        }
        let alive = self.keep_lookout(before, now)?;
        let end = now + LOOKOUT.as_nanos() as u64;
        Some(Lookout { alive, end })
    }

    fn keep_lookout(&self, before: u64, now: u64) -> Option<u64> {
        let alive = now + ALIVE.as_nanos() as u64;
        self.lookout
            .compare_exchange(before, alive, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
            .then_some(alive)
    }

    /// Looks for a slice, until it is `done`. False: there is a better use for this thread now, it has looked for long enough, or was away for so long that somebody else is the lookout.
    pub(crate) fn look_out(&self, lookout: &mut Lookout, done: impl Fn() -> bool) -> bool {
        // Perhaps it is another rank of this machine that needs the CPU.
        std::thread::yield_now();
        let start = self.now();
        match self.keep_lookout(lookout.alive, start) {
            Some(alive) => lookout.alive = alive,
            None => return false,
        }
        loop {
            if self.look_a_few_times(&done) {
                return true;
            }
            let now = self.now();
            if now >= lookout.end {
                self.vain.fetch_add(1, Ordering::Relaxed);
                return false;
            }
            if now >= start + SLICE.as_nanos() as u64 {
                return may_look();
            }
        }
    }

    /// For who was the lookout and waits no more, or not so any more. If others wait, the driver looks for them.
    pub(crate) fn end_lookout(&self, lookout: Lookout, found: bool) {
        if found {
            self.vain.store(0, Ordering::Relaxed);
        }
        // If it has another one by now, that looks for them.
        let was =
            self.lookout
                .compare_exchange(lookout.alive, 0, Ordering::SeqCst, Ordering::SeqCst);
        if was.is_ok() && self.waiting.load(Ordering::SeqCst) > 0 {
            self.call_driver();
        }
    }

    fn look_once(&self, core: &mut Core) -> bool {
        let moved = core.progress();
        if moved {
            self.in_vain.store(false, Ordering::SeqCst);
        }
        moved
    }

    pub(crate) fn end_driver(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.call_driver();
    }

    /// One look of the driver at MPI.
    fn look(&self, seen: &mut Seen) -> Next {
        let mut core = self.lock();
        if self.look_once(&mut core) {
            seen.moved = Instant::now();
        }
        let quiet = seen.moved.elapsed();
        let patience = PATIENCE + Duration::from_nanos(core.bytes as u64 * NS_PER_BYTE);
        let waits = self.waiting.load(Ordering::SeqCst) > 0;
        let others_do = self.lookout.load(Ordering::SeqCst) > self.now();
        let (state, next) = match core.under_way() {
            0 if quiet > REST_AFTER => (RESTING, Next::Nap(None)),
            0 => (NAPPING, seen.nap_beside_others(self)),
            _ if !waits && (others_do || core.bytes < LONG) => {
                (NAPPING, seen.nap_beside_others(self))
            }
            // As long as that one is heard of.
            _ if others_do => (NAPPING, Next::Nap(Some(ALIVE))),
            _ if quiet > patience || !waits => {
                let nap = (quiet / 4).clamp(SHORTEST_NAP, LONGEST_NAP);
                (NAPPING, Next::Nap(Some(nap)))
            }
            _ => (AWAKE, Next::Again),
        };
        self.state.store(state, Ordering::SeqCst);
        leave(core);
        next
    }

    /// Waits until the driver is called, or for `limit`.
    ///
    /// True: it was called.
    async fn nap(&self, limit: Option<Duration>) -> bool {
        let mut alarm = pin!(async {
            match limit {
                Some(limit) => blitz_io::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        });
        let called = poll_fn(|cx| {
            *self.driver.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
            if self.called.swap(false, Ordering::SeqCst) {
                return Poll::Ready(true);
            }
            alarm.as_mut().poll(cx).map(|()| false)
        })
        .await;
        self.state.store(AWAKE, Ordering::SeqCst);
        called
    }
}

/// Whether nobody would rather have this thread's CPU: it is a worker, whose other tasks have their turn in between, or some worker has nothing to do.
fn may_look() -> bool {
    blitz::current_thread_index().is_some() || !blitz::demand::all_others_are_busy()
}

/// Leaves MPI, and does what had to wait for that: it may be anybody's code.
fn leave(mut core: MutexGuard<'_, Core>) {
    let wakes = std::mem::take(&mut core.links.wakes);
    let drops = std::mem::take(&mut core.links.drops);
    drop(core);
    wakes.into_iter().for_each(Waker::wake);
    drop(drops);
}

/// The driver.
pub(crate) async fn drive(shared: Arc<Shared>) {
    let mut seen = Seen {
        moved: Instant::now(),
        looks: 0,
        nap: LONGEST_NAP,
    };
    while !shared.ended.load(Ordering::SeqCst) {
        match shared.look(&mut seen) {
            Next::Again => blitz_io::task::yield_now().await,
            Next::Nap(limit) => {
                if shared.nap(limit).await {
                    seen.moved = Instant::now();
                }
            }
        }
    }
}

/// What the driver remembers.
struct Seen {
    /// When something last happened, or it was called.
    moved: Instant,
    /// How often others had looked before its last nap beside them, and how long that was.
    looks: u64,
    nap: Duration,
}

impl Seen {
    /// Nobody waits for it. If others have looked during the last nap as well, they need it less often.
    fn nap_beside_others(&mut self, shared: &Shared) -> Next {
        let looks = shared.looks.load(Ordering::Relaxed);
        self.nap = if looks == self.looks {
            LONGEST_NAP
        } else {
            (2 * self.nap).min(LONGEST_BESIDE_OTHERS)
        };
        self.looks = looks;
        Next::Nap(Some(self.nap))
    }
}

/// What the driver does after a look.
enum Next {
    Again,
    /// `None`: rest.
    Nap(Option<Duration>),
}
