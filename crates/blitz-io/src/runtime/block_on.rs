//! Waiting for a future on a thread: one that is not the runtime's, a worker's in the middle of a computation, or the one
//! thread of a current-thread runtime, which runs everything meanwhile.

use crate::coop;
use crate::runtime::{has_threads, hooks};
use crate::scheduler::{Scheduler, Shared};
use blitz_core::Yield;
use blitz_core::companion::sleep_elsewhere;
use blitz_sync::parking;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Polls `future` on the calling thread until it is ready; the thread sleeps in between.
pub(super) fn block_on<F: Future>(shared: &Shared, future: F) -> F::Output {
    // With a budget: a branch that is always ready must not keep a time-out beside it from being polled.
    let mut future = pin!(future);
    let budgeted = std::future::poll_fn(|cx| coop::budgeted(|| future.as_mut().poll(cx)));
    parking::poll_until_ready(budgeted, |sleep| shared.caller_sleeps(sleep))
}

/// Wakes the thread of a current-thread runtime, wherever it is.
struct MainWaker {
    woken: AtomicBool,
    shared: Arc<Shared>,
    thread: Thread,
}

impl Wake for MainWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, Ordering::SeqCst) {
            self.shared.driver.interrupt_if_blocked();
            self.thread.unpark();
        }
    }
}

/// Polls `future` and runs the runtime's tasks, on the calling thread.
pub(super) fn block_on_current<F: Future>(shared: &Arc<Shared>, future: F) -> F::Output {
    // If it is another runtime's worker, that one has to do without it.
    shared.caller_waits_for_us();
    let future = pin!(future);
    let main = Arc::new(MainWaker {
        woken: AtomicBool::new(true),
        shared: Arc::clone(shared),
        thread: thread::current(),
    });
    let waker = Waker::from(Arc::clone(&main));
    let mut polled = Polled {
        future,
        waker,
        main,
    };
    loop {
        // First of all: as the worker, so that the seed determines what the first poll does too.
        if shared.driver.try_enter() {
            return drive(shared, polled);
        }
        if let Some(output) = polled.poll_if_woken() {
            return output;
        }
        shared.assert_of_this_process();
        // Another thread drives the runtime at the moment. It wakes us when it stops, or when our future is woken.
        let _waiting = shared.drivers.wait(thread::current());
        if !shared.driver.is_attended() || polled.main.woken.load(Ordering::SeqCst) {
            continue;
        }
        sleep_elsewhere(thread::park);
    }
}

struct Polled<'a, F> {
    future: Pin<&'a mut F>,
    waker: Waker,
    main: Arc<MainWaker>,
}

impl<F: Future> Polled<'_, F> {
    fn poll_if_woken(&mut self) -> Option<F::Output> {
        if !self.main.woken.swap(false, Ordering::SeqCst) {
            return None;
        }
        let mut cx = Context::from_waker(&self.waker);
        match coop::budgeted(|| self.future.as_mut().poll(&mut cx)) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }
}

/// Without threads, nobody else runs the computations that the tasks wait for.
fn runs_the_pools_work() -> bool {
    !has_threads() && blitz_core::yield_now() == Some(Yield::Executed)
}

/// Leaves the driver and the worker's role, also if the future panics.
struct Driving<'a> {
    shared: &'a Shared,
    before: (*const Scheduler, usize),
}

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        self.shared.cores[0].was_busy();
        Scheduler::leave_worker(self.before);
        // SAFETY: entered by `block_on_current`.
        unsafe { self.shared.driver.leave() };
        self.shared.empty_after_the_end();
        self.shared.drivers.next();
    }
}

fn drive<F: Future>(shared: &Arc<Shared>, mut polled: Polled<'_, F>) -> F::Output {
    let driving = Driving {
        shared,
        before: shared.enter_worker(0),
    };
    let driver = &driving.shared.driver;
    shared.cores[0].is_busy();
    if let Some(output) = polled.poll_if_woken() {
        return output;
    }
    // As between any two polls: one that yields once finds out what has happened to its sockets.
    // SAFETY: entered.
    unsafe { driver.look_inside() };
    loop {
        // Tasks first: the future has just been polled, and one that only yields is meant to let them run, each once. The same if it is a task that wakes it and
        // yields.
        let woken = || polled.main.woken.load(Ordering::Relaxed);
        let ran = shared.run_slice_beside(0, woken);
        if let Some(output) = polled.poll_if_woken() {
            return output;
        }
        let goes_on =
            |ran| ran || shared.has_ready_task() || polled.main.woken.load(Ordering::SeqCst);
        if goes_on(ran) {
            // Also if it is always the future that goes on: one that yields until a timer has gone off, say.
            // SAFETY: entered.
            unsafe { driver.look_inside() };
            continue;
        }
        if runs_the_pools_work() {
            continue;
        }
        // What it wakes or spawns is seen by the last look.
        hooks::call(&shared.hooks.park);
        // Announced before the last look; wakers do it the other way round.
        driver.announce_blocking(true);
        if goes_on(false) {
            driver.announce_blocking(false);
            // If it is the hook every time, somebody has to look here all the same.
            // SAFETY: entered.
            unsafe { driver.look_inside() };
        } else {
            shared.assert_of_this_process();
            shared.cores[0].falls_asleep();
            // SAFETY: entered.
            sleep_elsewhere(|| unsafe { driver.block() });
            shared.cores[0].is_busy();
        }
        hooks::call(&shared.hooks.unpark);
    }
}
