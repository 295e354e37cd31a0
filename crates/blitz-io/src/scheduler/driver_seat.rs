//! Which thread may be inside the driver: one at a time. It is the *attendant* while it sleeps there.
//!
//! This is a try-lock around the driver's exclusive half, in one word. Workers that are busy with tasks check the driver between two tasks, if no thread is inside.
//! A worker that goes to sleep stays inside, and waits there for sockets, timers and [`DriverSeat::interrupt`].
//!
//! The end of a runtime waits for no thread. If a thread is inside, the end leaves a note, and that thread shuts the driver before it leaves.

use super::seat_word::SeatWord;
use crate::driver::{Driver, Handle, Wait};
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

pub(crate) struct DriverSeat {
    word: SeatWord,
    driver: UnsafeCell<Driver>,
    handle: Arc<Handle>,
    #[cfg(unix)]
    fd: std::os::fd::RawFd,
}

// SAFETY: the driver is touched by whoever is inside only.
unsafe impl Sync for DriverSeat {}
// SAFETY: a driver may move between threads.
unsafe impl Send for DriverSeat where Driver: Send {}

impl DriverSeat {
    pub(crate) fn new(driver: Driver, handle: Arc<Handle>) -> Self {
        DriverSeat {
            word: SeatWord::new(),
            #[cfg(unix)]
            fd: driver.raw_fd(),
            driver: UnsafeCell::new(driver),
            handle,
        }
    }

    pub(crate) fn handle(&self) -> &Arc<Handle> {
        &self.handle
    }

    /// Takes the driver, if nobody has it. The caller leaves with [`DriverSeat::leave`].
    pub(crate) fn try_enter(&self) -> bool {
        self.word.try_enter()
    }

    /// # Safety
    /// The caller has entered.
    pub(crate) unsafe fn leave(&self) {
        // SAFETY: we are still inside.
        self.word
            .leave(|| unsafe { (*self.driver.get()).shutdown() });
    }

    /// Is a thread inside, which will see whatever happens?
    pub(crate) fn is_attended(&self) -> bool {
        self.word.is_taken()
    }

    /// Does somebody wait for a socket or a timer, and nobody watches?
    pub(crate) fn needs_attendant(&self) -> bool {
        !self.is_attended() && self.handle.has_interest()
    }

    /// Dispatches what has happened, if nobody else is inside to do it.
    pub(crate) fn look(&self) -> usize {
        if !self.try_enter() {
            return 0;
        }
        // SAFETY: entered.
        unsafe {
            let woken = (*self.driver.get()).turn(Wait::Look);
            self.leave();
            woken
        }
    }

    /// Sleeps until something happens. `true` if wakers were called.
    ///
    /// # Safety
    /// The caller has entered.
    pub(crate) unsafe fn block(&self) -> bool {
        self.announce_blocking(true);
        // SAFETY: passed on.
        let woken = unsafe { (*self.driver.get()).turn(Wait::Block) };
        self.announce_blocking(false);
        woken > 0
    }

    /// Dispatches what has happened without sleeping.
    ///
    /// # Safety
    /// The caller has entered.
    pub(crate) unsafe fn look_inside(&self) -> bool {
        // SAFETY: passed on.
        unsafe { (*self.driver.get()).turn(Wait::Look) > 0 }
    }

    /// Gets the attendant out of its sleep, or the next one.
    pub(crate) fn interrupt(&self) {
        self.handle.interrupt();
    }

    /// For the one thread of a current-thread runtime. It announces its sleep before its last look at its queues.
    pub(crate) fn interrupt_if_blocked(&self) {
        fence(Ordering::SeqCst);
        if self.word.is_asleep() {
            self.handle.interrupt();
        }
    }

    /// The attendant is about to sleep, or is awake. A current-thread runtime's does this before its last look at the queues.
    pub(crate) fn announce_blocking(&self, blocking: bool) {
        self.word.set_asleep(blocking);
        fence(Ordering::SeqCst);
    }

    /// Ends whatever waits in the driver, now or when the attendant leaves.
    pub(crate) fn shut_down(&self) {
        if self.word.close() {
            // SAFETY: entered. Leaving shuts it.
            unsafe { self.leave() };
        }
    }

    /// Has the kernel something for the driver that nobody has fetched yet?
    #[cfg(unix)]
    pub(crate) fn has_events(&self) -> bool {
        let mut poll = libc::pollfd {
            fd: self.fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one valid entry, no waiting.
        unsafe { libc::poll(&raw mut poll, 1, 0) > 0 }
    }

    /// Elsewhere one has to go and see.
    #[cfg(not(unix))]
    pub(crate) fn has_events(&self) -> bool {
        !self.is_attended()
    }
}
