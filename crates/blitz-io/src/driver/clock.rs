//! What time it is: the system's, or a test's.
//!
//! A paused clock stands still until it is told to move, or until the runtime has nothing else to do. Then the driver moves it
//! to the next timer at once. So a test of an hour of time-outs takes no time, and always runs in the same way. This is only possible
//! if one thread runs everything. With several threads, one may have nothing to do while a task runs on another. So only the
//! clocks of current-thread runtimes can be paused.
//!
//! Closures on other threads (`spawn_blocking`, `spawn_cpu`) *hold* the clock: it does not jump before they are over and their results
//! delivered. The driver has to be told of that, and of every other change; so users change the clock through the driver's handle.

use super::timers::{nanos_of, tick_after};
use crate::primitives::ignore_poison;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How many clocks do not show the system's time: the shortcut of everybody else.
static VIRTUAL_CLOCKS: AtomicUsize = AtomicUsize::new(0);

/// Whether there is any clock that does not show the system's time.
pub(crate) fn any_virtual() -> bool {
    VIRTUAL_CLOCKS.load(Ordering::Relaxed) != 0
}

/// The system's time, unless it has none: a web page gives no clock to a library that knows nothing of JavaScript, and `Instant::now` panics there. A runtime's clock
/// then stands still at its start, and whoever wants to know a point in time panics.
pub(crate) fn system_time() -> Option<Instant> {
    let has_clock = cfg!(not(all(target_family = "wasm", target_os = "unknown")));
    has_clock.then(Instant::now)
}

/// A runtime's clock. Clones show the same time.
#[derive(Debug, Clone)]
pub(crate) struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    start: Option<Instant>,
    /// Whether it can be paused.
    can_stop: bool,
    /// Whether `course` counts.
    is_virtual: AtomicBool,
    course: Mutex<Course>,
    /// How many ask that a paused clock is not moved although the runtime is idle.
    holds: AtomicUsize,
}

/// The time of a clock that has been paused at least once: nanoseconds since the start.
#[derive(Debug)]
enum Course {
    Paused { at: u64 },
    Running { at: u64, since: Option<Instant> },
}

impl Course {
    fn nanos(&self) -> u64 {
        match self {
            Course::Paused { at } => *at,
            Course::Running { at, since } => at.saturating_add(nanos_since(*since)),
        }
    }
}

impl Clock {
    /// The system's time. Whether the clock can be paused is decided for good.
    pub(crate) fn new(can_stop: bool) -> Self {
        let start = system_time();
        Self(Arc::new(Inner {
            start,
            can_stop,
            is_virtual: AtomicBool::new(false),
            course: Mutex::new(Course::Running {
                at: 0,
                since: start,
            }),
            holds: AtomicUsize::new(0),
        }))
    }

    /// Nanoseconds since the clock was made.
    #[inline]
    pub(crate) fn nanos(&self) -> u64 {
        if self.0.is_virtual.load(Ordering::Acquire) {
            self.course().nanos()
        } else {
            nanos_since(self.0.start)
        }
    }

    /// The same as a point in time.
    pub(crate) fn now(&self) -> Instant {
        if self.0.is_virtual.load(Ordering::Acquire) {
            self.instant(self.nanos())
        } else {
            Instant::now()
        }
    }

    /// The point in time that is `nanos` after the start.
    pub(crate) fn instant(&self, nanos: u64) -> Instant {
        self.start() + Duration::from_nanos(nanos)
    }

    /// How long after the start a point in time is; one before it counts as the start.
    pub(crate) fn nanos_at(&self, instant: Instant) -> u64 {
        to_nanos(instant.saturating_duration_since(self.start()))
    }

    /// Whether it can be paused.
    pub(crate) fn can_stop(&self) -> bool {
        self.0.can_stop
    }

    /// Whether it stands still.
    pub(crate) fn is_paused(&self) -> bool {
        self.0.is_virtual.load(Ordering::Acquire) && matches!(*self.course(), Course::Paused { .. })
    }

    /// Stops it. Returns whether it was running.
    pub(crate) fn pause(&self) -> bool {
        debug_assert!(self.0.can_stop);
        let mut course = self.course();
        if matches!(*course, Course::Paused { .. }) {
            return false;
        }
        // On a tick: what is a whole number of milliseconds away is exact then.
        *course = Course::Paused {
            at: nanos_of(tick_after(course.nanos())),
        };
        if !self.0.is_virtual.swap(true, Ordering::Release) {
            VIRTUAL_CLOCKS.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// Lets it run on from where it was stopped. Returns whether it was stopped.
    pub(crate) fn resume(&self) -> bool {
        let mut course = self.course();
        let Course::Paused { at } = *course else {
            return false;
        };
        *course = Course::Running {
            at,
            since: system_time(),
        };
        true
    }

    /// Moves a stopped clock on. Returns whether it was stopped.
    pub(crate) fn advance(&self, by: Duration) -> bool {
        match &mut *self.course() {
            Course::Paused { at } => {
                *at = at.saturating_add(to_nanos(by));
                true
            }
            Course::Running { .. } => false,
        }
    }

    /// Moves a stopped clock on to a point in time that is not in its past, unless somebody holds it, or something has happened: `happened` sees
    /// what those have done who held it. Returns whether it did.
    pub(crate) fn jump_to(&self, nanos: u64, happened: impl FnOnce() -> bool) -> bool {
        match &mut *self.course() {
            // In this order: Acquire pairs with `let_go`.
            Course::Paused { at } if self.0.holds.load(Ordering::Acquire) == 0 && !happened() => {
                *at = nanos.max(*at);
                true
            }
            _ => false,
        }
    }

    /// From now on it does not jump, until [`let_go`](Self::let_go).
    pub(super) fn hold(&self) {
        self.0.holds.fetch_add(1, Ordering::AcqRel);
    }

    /// As before `hold`. Returns whether it may jump now.
    pub(super) fn let_go(&self) -> bool {
        self.0.holds.fetch_sub(1, Ordering::AcqRel) == 1 && self.is_paused()
    }

    fn start(&self) -> Instant {
        self.0.start.unwrap_or_else(Instant::now)
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        ignore_poison(self.0.course.lock())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if *self.is_virtual.get_mut() {
            VIRTUAL_CLOCKS.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn nanos_since(start: Option<Instant>) -> u64 {
    start.map_or(0, |start| to_nanos(start.elapsed()))
}

/// 584 years fit, and nobody waits longer.
fn to_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
