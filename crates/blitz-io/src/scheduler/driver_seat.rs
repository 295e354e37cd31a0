//! Who may be inside of the driver: one thread at a time, the *attendant* for as long as it sleeps there.
//!
//! A try-lock around the driver's exclusive half. Workers that are busy with tasks look in between two tasks if nobody is inside;
//! a worker that goes to sleep stays inside and waits there for sockets, timers and [`DriverSeat::interrupt`].

use crate::driver::{Driver, Handle, Wait};
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) struct DriverSeat {
    taken: AtomicBool,
    /// Somebody is inside to sleep.
    blocking: AtomicBool,
    driver: UnsafeCell<Driver>,
    handle: Arc<Handle>,
    #[cfg(unix)]
    fd: std::os::fd::RawFd,
}

// SAFETY: the driver is touched by whoever has `taken` only.
unsafe impl Sync for DriverSeat {}
// SAFETY: a driver may move between threads.
unsafe impl Send for DriverSeat where Driver: Send {}

impl DriverSeat {
    pub(crate) fn new(driver: Driver, handle: Arc<Handle>) -> Self {
        DriverSeat {
            taken: AtomicBool::new(false),
            blocking: AtomicBool::new(false),
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
        // Acquire: the driver as the last one left it.
        !self.taken.load(Ordering::Relaxed) && !self.taken.swap(true, Ordering::Acquire)
    }

    /// # Safety
    /// The caller has entered.
    pub(crate) unsafe fn leave(&self) {
        self.taken.store(false, Ordering::Release);
    }

    /// Is a thread inside, which will see whatever happens?
    pub(crate) fn is_attended(&self) -> bool {
        self.taken.load(Ordering::SeqCst)
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
        self.blocking.store(true, Ordering::SeqCst);
        // SAFETY: passed on.
        let woken = unsafe { (*self.driver.get()).turn(Wait::Block) };
        self.blocking.store(false, Ordering::SeqCst);
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

    /// For the one thread of a current-thread runtime. It sets `blocking` before its last look at its queues.
    pub(crate) fn interrupt_if_blocked(&self) {
        std::sync::atomic::fence(Ordering::SeqCst);
        if self.blocking.load(Ordering::SeqCst) {
            self.handle.interrupt();
        }
    }

    /// For a current-thread runtime: announces a sleep before the last look at the queues.
    pub(crate) fn announce_blocking(&self, blocking: bool) {
        self.blocking.store(blocking, Ordering::SeqCst);
        std::sync::atomic::fence(Ordering::SeqCst);
    }

    /// Ends whatever waits in the driver. Waits for the attendant to leave.
    pub(crate) fn shut_down(&self) {
        while !self.try_enter() {
            self.handle.interrupt();
            std::thread::yield_now();
        }
        // SAFETY: entered.
        unsafe {
            (*self.driver.get()).shutdown();
            self.leave();
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
