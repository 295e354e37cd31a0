//! Who looks at MPI, and how often.
//!
//! MPI moves messages only while somebody is inside of it. Two kinds of callers are:
//!
//! * a future that is polled for the first time looks for 50 us at most: about what it costs to send its task away and to wake it. So a short `all_reduce` among ranks that are all there is
//!   nearly as fast as MPI's own. If that was in vain, others look a few times only, until something has moved: a hundred futures that wait together do not wait one after the other;
//! * the *driver*, a task of the runtime, looks for everybody else. It never waits in MPI, so that it never keeps a worker; while all workers compute, the
//!   runtime's relief thread runs it.
//!
//! While somebody waits, the driver looks again and again for as long as what is under way should take (100 us, and 4 ns for each byte), giving way to other tasks in between. Then,
//! and while everybody computes, it naps: a quarter of the time since something last happened, from 50 us to 1 ms (1 ms if everybody computes and little is under way: each look takes a CPU
//! from somebody, and messages that are short are fetched in no time by who awaits them). So a message that comes late is noticed at most a quarter later, waiting for
//! a long time costs next to nothing, and who computes is left the CPUs. Nothing under way for 10 ms, and it rests: no timer, no CPU.
//!
//! # No operation is overlooked
//! The driver goes to rest with the lock held and nothing under way. An operation is begun with the lock held, and calls a driver that rests. A nap
//! ends by itself; operations that are long, and futures that are about to wait, end it early.

use crate::core::Core;
use crate::dynamic::Loops;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// How long a first poll looks.
const HELP: Duration = Duration::from_micros(50);
/// How long the driver looks without a nap, and for each byte under way.
const PATIENCE: Duration = Duration::from_micros(100);
const NS_PER_BYTE: u64 = 4;
const SHORTEST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_millis(1);
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
}

impl Shared {
    pub(crate) fn new(core: Core, threads: usize) -> Arc<Shared> {
        Arc::new(Shared {
            rank: core.links.rank,
            size: core.links.size,
            threads,
            core: Mutex::new(core),
            state: AtomicU8::new(AWAKE),
            called: AtomicBool::new(false),
            driver: Mutex::new(None),
            ended: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            loops: Mutex::default(),
            in_vain: AtomicBool::new(false),
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
        loop {
            // The clock takes about as long as a look.
            for _ in 0..8 {
                // Whoever has the lock looks for us, too.
                if let Ok(mut core) = self.core.try_lock() {
                    let moved = self.look_once(&mut core);
                    leave(core);
                    if !moved {
                        continue;
                    }
                }
                if done() {
                    return;
                }
            }
            if self.in_vain.load(Ordering::SeqCst) {
                return;
            }
            if start.get_or_insert_with(Instant::now).elapsed() > HELP {
                self.in_vain.store(true, Ordering::SeqCst);
                return;
            }
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
    fn look(&self, last: &mut Instant) -> Next {
        let mut core = self.lock();
        if self.look_once(&mut core) {
            *last = Instant::now();
        }
        let quiet = last.elapsed();
        let patience = PATIENCE + Duration::from_nanos(core.bytes as u64 * NS_PER_BYTE);
        let (state, next) = match core.under_way() {
            0 if quiet > REST_AFTER => (RESTING, Next::Nap(None)),
            0 => (NAPPING, Next::Nap(Some(LONGEST_NAP))),
            _ if self.waiting.load(Ordering::SeqCst) == 0 && core.bytes < LONG => {
                (NAPPING, Next::Nap(Some(LONGEST_NAP)))
            }
            _ if quiet > patience || self.waiting.load(Ordering::SeqCst) == 0 => {
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
    // When something last happened, or the driver was called.
    let mut last = Instant::now();
    while !shared.ended.load(Ordering::SeqCst) {
        match shared.look(&mut last) {
            Next::Again => blitz_io::task::yield_now().await,
            Next::Nap(limit) => {
                if shared.nap(limit).await {
                    last = Instant::now();
                }
            }
        }
    }
}

/// What the driver does after a look.
enum Next {
    Again,
    /// `None`: rest.
    Nap(Option<Duration>),
}
