//! Waiting for a future on a thread that has nothing else to do.
//!
//! This is what the `blocking_…` methods of locks and channels do, and a runtime's `block_on`. It needs no runtime; if there is one, or a pool of threads, it is asked
//! (`blitz_primitives::host`).

use crate::coop;
use blitz_primitives::clock::ticks;
use blitz_primitives::host;
use std::cell::Cell;
use std::future::Future;
use std::hint::spin_loop;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Wakes a thread.
struct ThreadWaker {
    thread: Thread,
    woken: AtomicBool,
}

thread_local! {
    /// So many waits of this thread do without looking around first; so many did after the last look.
    static IN_VAIN: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// After a look around that was in vain, so many waits do without; after another one twice as many, and so on.
const AFTER_A_VAIN_LOOK: u32 = 1;
const AT_MOST: u32 = 1024;

impl ThreadWaker {
    /// Looks around for as long as the thread's host allows. Who waits for something else, the network say, mostly does without.
    fn is_woken_soon(&self) -> bool {
        let (skip, last) = IN_VAIN.get();
        let enough = (host::get().patience)();
        if skip > 0 || enough == 0 {
            IN_VAIN.set((skip.saturating_sub(1), last));
            return false;
        }
        let start = ticks();
        while !self.woken.load(Ordering::Relaxed) {
            if ticks().saturating_sub(start) > enough {
                let skip = (2 * last).clamp(AFTER_A_VAIN_LOOK, AT_MOST);
                IN_VAIN.set((skip, skip));
                return false;
            }
            spin_loop();
        }
        IN_VAIN.set((0, 0));
        self.woken.swap(false, Ordering::AcqRel)
    }
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release: what the waker's caller did comes before the poll. The first wake is enough.
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.thread.unpark();
        }
    }
}

thread_local! {
    /// The thread's, for the next wait, so that waits do not allocate. While a wait uses it, it is not here: a wait inside of a poll of
    /// another one needs its own, or it would take the other's wake-up.
    static SPARE: Cell<Option<Arc<ThreadWaker>>> = const { Cell::new(None) };
}

/// A wake-up that an earlier wait left behind is no harm: a poll too many.
struct Borrowed(Option<Arc<ThreadWaker>>);

impl Borrowed {
    fn new() -> Self {
        // A thread that ends has no thread-locals any more.
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        Self(Some(spare.unwrap_or_else(|| {
            Arc::new(ThreadWaker {
                thread: thread::current(),
                woken: AtomicBool::new(false),
            })
        })))
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let _ = SPARE.try_with(|spare| spare.set(self.0.take()));
    }
}

/// Polls `future` on the calling thread until it is ready; in between, the thread calls `sleep` with a function that sleeps until there is a
/// reason to poll again.
pub fn poll_until_ready<F: Future>(future: F, mut sleep: impl FnMut(&dyn Fn())) -> F::Output {
    let mut future = pin!(future);
    let borrowed = Borrowed::new();
    let parker = borrowed.0.as_ref().expect("there until it is dropped");
    let waker = Waker::from(Arc::clone(parker));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        if parker.woken.swap(false, Ordering::AcqRel) || parker.is_woken_soon() {
            continue;
        }
        sleep(&|| {
            while !parker.woken.swap(false, Ordering::AcqRel) {
                thread::park();
            }
        });
    }
}

/// Nobody else waits for a thread that sleeps: its future has no budget, which it would spend polling.
fn unhurried<F: Future>(mut future: Pin<&mut F>) -> impl Future<Output = F::Output> {
    std::future::poll_fn(move |cx| coop::without_budget(|| future.as_mut().poll(cx)))
}

/// May the calling thread wait for a lock or a channel, in `method`, one of the `blocking_…` ones?
///
/// It is asked whether there is something to wait for or not: a program that may not wait learns it in its first run, not in the first one with contention.
///
/// # Panics
/// Inside of a current-thread runtime: its one thread would wait for itself.
#[track_caller]
pub(crate) fn assert_may_wait(method: &str) {
    assert!(
        (host::get().may_wait)(),
        "Cannot block the current thread from within a runtime: {method} in a current-thread one would wait for itself; await the async method instead",
    );
}

/// Waits for a lock or a channel on the calling thread: for `method`, one of the `blocking_…` ones.
///
/// On any thread: outside of pools and runtimes it just sleeps; in a task of a runtime with workers other threads serve the tasks meanwhile.
///
/// # Panics
/// See [`assert_may_wait`].
#[track_caller]
pub(crate) fn wait<F: Future>(method: &str, future: F) -> F::Output {
    assert_may_wait(method);
    wait_anywhere(future)
}

/// Waits for a future on the calling thread, as the `blocking_…` methods do: an executor for one.
///
/// # Panics
/// Inside of a current-thread runtime of `blitz-io`, whose thread would wait for itself.
///
/// ```
/// use blitz_sync::{block_on, oneshot};
///
/// let (sender, receiver) = oneshot::channel();
/// std::thread::spawn(move || sender.send(42));
/// assert_eq!(block_on(receiver), Ok(42));
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    wait("block_on", future)
}

/// Waits, on any thread, for something that others are about to finish, as for a lock of the standard library.
pub(crate) fn wait_anywhere<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_until_ready(unhurried(future.as_mut()), host::get().sleep)
}
