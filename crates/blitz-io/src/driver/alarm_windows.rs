//! The alarm on Windows: a waitable timer, and a thread of the system that waits for it on behalf of all and interrupts the driver.
//!
//! Timers and what waits for them are never freed, only reused. To end a wait, a thread would have to wait for the system's thread, and a thread that
//! destroys its thread-locals must not do that. There are as many timers as there have been drivers at the same time.
//!
//! A call may come too late, when the timer already belongs to another driver or to none. It is then an interrupt for nothing.

use super::Device;
use crate::primitives::ignore_poison;
use std::ffi::c_void;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use windows_sys::Win32::Foundation::{CloseHandle, HANDLE};
use windows_sys::Win32::System::Threading::{
    CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, CancelWaitableTimer, CreateWaitableTimerExW, INFINITE,
    RegisterWaitForSingleObject, SetWaitableTimer, TIMER_ALL_ACCESS, WT_EXECUTEINWAITTHREAD,
};

/// A timer, and whom it is for.
#[derive(Debug)]
struct Station {
    /// Goes off once each time it is set.
    timer: HANDLE,
    /// Since it was set: the system's timers and its performance counter are two clocks.
    has_gone_off: AtomicBool,
    interrupts: Mutex<Option<Arc<mio::Waker>>>,
}

// SAFETY: the system's functions for timers may be called by any thread.
unsafe impl Send for Station {}
// SAFETY: as above.
unsafe impl Sync for Station {}

static IDLE: Mutex<Vec<&'static Station>> = Mutex::new(Vec::new());

impl Station {
    fn new() -> io::Result<&'static Self> {
        let create = |flags| {
            // SAFETY: no attributes and no name.
            unsafe { CreateWaitableTimerExW(ptr::null(), ptr::null(), flags, TIMER_ALL_ACCESS) }
        };
        let mut timer = create(CREATE_WAITABLE_TIMER_HIGH_RESOLUTION);
        if timer.is_null() {
            // Before Windows 10 of 2018 there are only those that go by the system's tick.
            timer = create(0);
        }
        if timer.is_null() {
            return Err(io::Error::last_os_error());
        }
        let station: *mut Station = Box::into_raw(Box::new(Station {
            timer,
            has_gone_off: AtomicBool::new(false),
            interrupts: Mutex::new(None),
        }));
        let mut wait: HANDLE = ptr::null_mut();
        // SAFETY: the timer stays open, and the station stays where it is, for ever, once there is somebody who waits. The function does next to
        // nothing, as it should on a thread that waits for others, too.
        let registered = unsafe {
            RegisterWaitForSingleObject(
                &mut wait,
                timer,
                Some(goes_off),
                station.cast(),
                INFINITE,
                WT_EXECUTEINWAITTHREAD,
            )
        };
        if registered == 0 {
            let error = io::Error::last_os_error();
            // SAFETY: nobody else knows of either.
            unsafe {
                CloseHandle(timer);
                drop(Box::from_raw(station));
            }
            return Err(error);
        }
        // SAFETY: never freed.
        Ok(unsafe { &*station })
    }

    fn is_for(&self, interrupter: Option<Arc<mio::Waker>>) {
        let place = self.interrupts.lock();
        let before = std::mem::replace(&mut *ignore_poison(place), interrupter);
        drop(before);
    }
}

unsafe extern "system" fn goes_off(station: *mut c_void, _: bool) {
    // SAFETY: a station, which is never freed.
    let station = unsafe { &*station.cast::<Station>() };
    // Before the driver is woken, so that it sees it.
    station.has_gone_off.store(true, Ordering::Release);
    let interrupter = station.interrupts.lock();
    let interrupter = ignore_poison(interrupter).clone();
    if let Some(interrupter) = interrupter {
        // There is nobody here to tell of an error, and memory is all that can be missing.
        let _ = interrupter.wake();
    }
}

/// A station that is this driver's.
#[derive(Debug)]
pub(in crate::driver) struct SystemDevice(&'static Station);

impl SystemDevice {
    pub(in crate::driver) fn new(
        _registry: &mio::Registry,
        _token: mio::Token,
        interrupter: &Arc<mio::Waker>,
    ) -> io::Result<Self> {
        let idle = ignore_poison(IDLE.lock()).pop();
        let station = idle.map_or_else(Station::new, Ok)?;
        station.is_for(Some(Arc::clone(interrupter)));
        Ok(SystemDevice(station))
    }
}

impl Drop for SystemDevice {
    fn drop(&mut self) {
        // SAFETY: the timer is open.
        unsafe { CancelWaitableTimer(self.0.timer) };
        self.0.is_for(None);
        ignore_poison(IDLE.lock()).push(self.0);
    }
}

impl Device for SystemDevice {
    const INTERRUPTS: bool = false;

    fn has_gone_off(&self) -> bool {
        self.0.has_gone_off.load(Ordering::Acquire)
    }

    fn set(&self, after: Duration) {
        // Before it can.
        self.0.has_gone_off.store(false, Ordering::Release);
        // In units of 100 ns, rounded up; negative: from now on. Nobody waits for decades.
        let units = after.as_nanos().div_ceil(100).clamp(1, 1 << 60) as i64;
        // SAFETY: the timer is open, and the number is read during the call only.
        let set = unsafe { SetWaitableTimer(self.0.timer, &-units, 0, None, ptr::null(), 0) };
        assert_ne!(set, 0, "SetWaitableTimer: {}", io::Error::last_os_error());
    }

    fn time_out(&self, _until: Duration) -> Option<Duration> {
        None
    }
}
