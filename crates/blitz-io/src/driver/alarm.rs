//! How a driver that waits for events notices that a timer is due.
//!
//! On Linux a `timerfd` among the sources wakes it, to the microsecond. (The time-out of `epoll_wait` is in milliseconds.)
//! A `timerfd` can also be set from any thread while another one waits. So a timer that turns out to be the
//! earliest moves the alarm forward with one system call, and wakes no thread. On Windows a waitable timer of high resolution does the same. A thread of the system
//! then interrupts the wait, whose time-out follows a clock that ticks 64 times a second. On other systems the time-out of
//! the wait is used, and an earlier timer has to interrupt the wait. The time-out is in nanoseconds with `kqueue`, and rounded up to milliseconds elsewhere.
//!
//! **No timer is slept through.** A thread that arms an earliest timer publishes its tick and then reads `attended`. A thread that is
//! about to wait sets `attended` and then reads the ticks. Both have a sequentially consistent fence in between, so at least one of them
//! sees the other. If the arming thread does, it takes the lock and moves the alarm, unless the alarm is
//! early enough. If both do, the lock orders them. The waiter reads the ticks under the lock, so it never sets
//! the alarm back to a later time than one that another thread has set.
//!
//! **Nor is one after the clock has been stopped or moved.** The device follows the system's time, and a tick of a clock that stands
//! still has no such time. The waiter then waits without the device, and a timer that is armed meanwhile interrupts it, because the clock may jump. A thread that changes the
//! course of the clock, or releases a clock that it kept from jumping, declares the setting of the device invalid
//! ([`Alarm::forget`]) and then interrupts the wait. The next wait sets the device by the clock as it runs now.

use crate::primitives::{AtomicBool, Mutex, Ordering, fence, ignore_poison};
use blitz_core::checking::Flaws;
use std::time::Duration;

#[cfg(all(test, loom))]
#[path = "alarm_models.rs"]
mod models;

/// What makes an event when it is time.
pub(super) trait Device {
    /// Whether a wait that has begun has to be interrupted to get another time-out.
    const INTERRUPTS: bool;

    /// Makes an event after a while.
    fn set(&self, after: Duration);

    /// Whether it has made its event since it was set. Only of interest if it goes by another clock than the ticks, and may have been too early for them.
    fn has_gone_off(&self) -> bool {
        false
    }

    /// The time-out of a wait that is to last that long.
    fn time_out(&self, until: Duration) -> Option<Duration>;
}

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
enum Flaw {
    /// Nothing keeps the announcement and the look apart.
    NoFence,
    /// The waiter looks at the timers before it has the lock.
    LooksBeforeTheLock,
    /// What the device is set to counts as before, although the clock goes otherwise.
    TrustsTheOldSetting,
}

/// When the driver is to look at the timers.
#[derive(Debug)]
pub(super) struct Alarm<D = SystemDevice> {
    device: D,
    /// Whether a thread waits for events, or is about to.
    attended: AtomicBool,
    /// The tick that the device is set to; the last one there is if it is set to none. Once that is past it means nothing.
    set_to: Mutex<u64>,
    flaws: Flaws<Flaw>,
}

impl<D: Device> Alarm<D> {
    pub(super) fn new(device: D) -> Self {
        Self::with_flaws(device, Flaws::NONE)
    }

    fn with_flaws(device: D, flaws: Flaws<Flaw>) -> Self {
        Self {
            device,
            attended: AtomicBool::new(false),
            set_to: Mutex::new(u64::MAX),
            flaws,
        }
    }

    /// Between saying something and looking what the other has said.
    fn say_then_look(&self) {
        if !self.flaws.has(Flaw::NoFence) {
            fence(Ordering::SeqCst);
        }
    }

    /// A thread is about to wait. `next_look` is the tick of the earliest timer, and `until` says how long that is
    /// from now: zero if it is due, `None` if the clock stands still. Returns the time-out of the wait.
    pub(super) fn begin(
        &self,
        next_look: impl Fn() -> u64,
        until: impl FnOnce(u64) -> Option<Duration>,
    ) -> Option<Duration> {
        self.attended.store(true, Ordering::Relaxed);
        self.say_then_look();
        let hasty = self.flaws.has(Flaw::LooksBeforeTheLock).then(&next_look);
        let mut set_to = ignore_poison(self.set_to.lock());
        let next = hasty.unwrap_or_else(next_look);
        let until = (next != u64::MAX).then(|| until(next)).flatten();
        let Some(until) = until else {
            // The device may still be set for a timer that has been cancelled: an event for nothing, once.
            *set_to = u64::MAX;
            return None;
        };
        if until.is_zero() {
            return Some(until);
        }
        if *set_to != next || self.device.has_gone_off() {
            *set_to = next;
            self.device.set(until);
        }
        self.device.time_out(until)
    }

    /// The thread does not wait any more.
    pub(super) fn end(&self) {
        self.attended.store(false, Ordering::Relaxed);
    }

    /// The clock goes otherwise than before: no tick is where it was. The caller interrupts the waiting thread afterwards.
    pub(super) fn forget(&self) {
        if !self.flaws.has(Flaw::TrustsTheOldSetting) {
            *ignore_poison(self.set_to.lock()) = u64::MAX;
        }
    }

    /// A timer for tick `when` has been armed, and no other is earlier. Returns whether the waiting thread has to be
    /// interrupted. `until` is as in [`begin`](Self::begin).
    pub(super) fn move_forward(
        &self,
        when: u64,
        until: impl FnOnce(u64) -> Option<Duration>,
    ) -> bool {
        self.say_then_look();
        if !self.attended.load(Ordering::Relaxed) {
            return false;
        }
        let mut set_to = ignore_poison(self.set_to.lock());
        if when >= *set_to {
            return false;
        }
        let Some(until) = until(when) else {
            return true;
        };
        *set_to = when;
        self.device.set(until);
        D::INTERRUPTS
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use self::timer_fd::SystemDevice;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod timer_fd {
    use super::Device;
    use std::io;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::ptr;
    use std::sync::Arc;
    use std::time::Duration;

    /// A timer file descriptor. It is never read: setting it anew is enough for another event.
    #[derive(Debug)]
    pub(in crate::driver) struct SystemDevice(OwnedFd);

    impl SystemDevice {
        pub(in crate::driver) fn new(
            registry: &mio::Registry,
            token: mio::Token,
            _interrupter: &Arc<mio::Waker>,
        ) -> io::Result<Self> {
            let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
            // SAFETY: takes no pointers.
            let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: just created, and nobody else's.
            let fd = unsafe { OwnedFd::from_raw_fd(fd) };
            let interest = mio::Interest::READABLE;
            registry.register(&mut mio::unix::SourceFd(&fd.as_raw_fd()), token, interest)?;
            Ok(Self(fd))
        }
    }

    impl Device for SystemDevice {
        const INTERRUPTS: bool = false;

        fn set(&self, after: Duration) {
            // SAFETY: all zero is a value of this type: no interval.
            let mut spec: libc::itimerspec = unsafe { std::mem::zeroed() };
            // Nobody waits for decades; zero would mean never.
            spec.it_value.tv_sec = after.as_secs().min(1 << 30) as libc::time_t;
            spec.it_value.tv_nsec = after.subsec_nanos().max(1) as _;
            // SAFETY: the descriptor is open, and the structure is read during the call only.
            let result =
                unsafe { libc::timerfd_settime(self.0.as_raw_fd(), 0, &spec, ptr::null_mut()) };
            assert_eq!(result, 0, "timerfd_settime: {}", io::Error::last_os_error());
        }

        fn time_out(&self, _until: Duration) -> Option<Duration> {
            None
        }
    }
}

#[cfg(windows)]
pub(super) use self::waitable::SystemDevice;

#[cfg(windows)]
#[path = "alarm_windows.rs"]
mod waitable;

#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
pub(super) use self::waiting::SystemDevice;

#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
mod waiting {
    use super::Device;
    use crate::driver::system;
    use std::io;
    use std::sync::Arc;
    use std::time::Duration;

    /// Nothing: the wait has a time-out.
    #[derive(Debug)]
    pub(in crate::driver) struct SystemDevice;

    impl SystemDevice {
        pub(in crate::driver) fn new(
            _registry: &system::Registry,
            _token: system::Token,
            _interrupter: &Arc<system::Waker>,
        ) -> io::Result<Self> {
            Ok(Self)
        }
    }

    impl Device for SystemDevice {
        const INTERRUPTS: bool = true;

        fn set(&self, _after: Duration) {}

        fn time_out(&self, until: Duration) -> Option<Duration> {
            Some(until)
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Counts how often it is set, and may be early.
    #[derive(Default)]
    struct Counting {
        sets: Cell<usize>,
        has_gone_off: Cell<bool>,
    }

    impl Device for Counting {
        const INTERRUPTS: bool = false;

        fn set(&self, _after: Duration) {
            self.sets.set(self.sets.get() + 1);
            self.has_gone_off.set(false);
        }

        fn has_gone_off(&self) -> bool {
            self.has_gone_off.get()
        }

        fn time_out(&self, _until: Duration) -> Option<Duration> {
            None
        }
    }

    #[test]
    fn a_device_that_has_gone_off_too_early_is_set_again() {
        let alarm = Alarm::new(Counting::default());
        let sets_after_a_wait = || {
            let time_out = alarm.begin(|| 7, |_| Some(Duration::from_millis(1)));
            assert!(time_out.is_none());
            alarm.end();
            alarm.device.sets.get()
        };
        assert_eq!(sets_after_a_wait(), 1);
        assert_eq!(sets_after_a_wait(), 1);
        alarm.device.has_gone_off.set(true);
        assert_eq!(sets_after_a_wait(), 2);
        assert_eq!(sets_after_a_wait(), 2);
    }
}
