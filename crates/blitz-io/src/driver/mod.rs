//! The driver: where a runtime waits for sockets and for time.
//!
//! It has two halves. The [`Driver`] is for the thread that attends it, one at a time. A *turn* of it fetches events, notes
//! them at their sources, fires timers, and calls the wakers of those that waited. The [`Handle`] is shared by all
//! sockets and timers. They register, read what has been noted, and leave their wakers.
//!
//! A turn that waits ends when there is an event, when the first timer is due, or when somebody interrupts it; there is no
//! other time-out. Timers that come in meanwhile move its alarm forward if they have to (see `alarm`).

mod alarm;
pub(crate) mod clock;
#[cfg(all(unix, not(loom)))]
mod descriptor;
#[cfg(all(any(unix, windows), not(loom)))]
mod interest;
mod pace;
#[cfg_attr(not(any(unix, windows)), allow(dead_code))]
mod readiness;
#[cfg(all(any(unix, windows), not(loom)))]
mod registration;
#[cfg_attr(not(any(unix, windows)), allow(dead_code))]
mod source;
#[cfg(not(any(unix, windows)))]
mod system;
pub(crate) mod timers;

pub(crate) use self::clock::Clock;
#[cfg(all(unix, not(loom)))]
pub(crate) use self::descriptor::Descriptor;
#[cfg(all(any(unix, windows), not(loom)))]
pub use self::interest::Interest;
#[cfg(any(unix, windows))]
pub use self::readiness::Ready;
#[cfg(not(any(unix, windows)))]
use self::readiness::Ready;
#[cfg(all(unix, not(loom)))]
pub(crate) use self::readiness::Seen;
#[cfg(all(any(unix, windows), not(loom)))]
pub use self::registration::Registered;
#[cfg(all(unix, not(loom)))]
pub(crate) use self::registration::Registration;
#[cfg(any(unix, windows))]
pub(crate) use self::source::Way;

use self::alarm::{Alarm, SystemDevice};
use self::pace::Pace;
use self::source::Sources;
use self::timers::{Timers, nanos_of, tick_at};
use crate::wake_batch::WakeBatch;
#[cfg(any(unix, windows))]
use mio as system;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Not keys of sources: those count from zero.
const INTERRUPT: system::Token = system::Token(usize::MAX);
const ALARM: system::Token = system::Token(usize::MAX - 1);

/// How many events one turn fetches.
const EVENTS: usize = 1024;

/// Whether a turn may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It only looks.
    Look,
    /// It waits for an event, a timer, or [`Handle::interrupt`].
    Block,
}

/// The half of the thread that attends the driver.
#[derive(Debug)]
pub(crate) struct Driver {
    poll: system::Poll,
    events: system::Events,
    batch: WakeBatch,
    pace: Pace,
    handle: Arc<Handle>,
}

/// The half that sockets and timers share.
#[derive(Debug)]
pub(crate) struct Handle {
    #[cfg_attr(not(any(unix, windows)), allow(dead_code))]
    registry: system::Registry,
    interrupter: Arc<system::Waker>,
    /// Whether the attending thread need not be told: it has been, or it is about to come out of its turn.
    interrupted: AtomicBool,
    sources: Sources,
    timers: Timers,
    alarm: Alarm,
    clock: Clock,
}

/// A driver. `alone`: the thread that attends it is the only one that runs tasks.
pub(crate) fn new(clock: Clock, alone: bool) -> io::Result<(Driver, Arc<Handle>)> {
    let poll = system::Poll::new()?;
    let registry = poll.registry().try_clone()?;
    let interrupter = Arc::new(system::Waker::new(&registry, INTERRUPT)?);
    let handle = Arc::new(Handle {
        interrupted: AtomicBool::new(false),
        sources: Sources::new(),
        timers: Timers::new(),
        alarm: Alarm::new(SystemDevice::new(&registry, ALARM, &interrupter)?),
        interrupter,
        registry,
        clock,
    });
    let driver = Driver {
        poll,
        events: system::Events::with_capacity(EVENTS),
        batch: WakeBatch::new(),
        pace: Pace::new(alone),
        handle: handle.clone(),
    };
    Ok((driver, handle))
}

impl Driver {
    /// Fetches events and fires timers; returns how many wakers it called.
    ///
    /// If the clock is paused, a turn that may wait moves it to the next timer instead.
    pub(crate) fn turn(&mut self, wait: Wait) -> usize {
        self.handle.sources.recycle();
        let waited = match wait {
            Wait::Look => self.look(),
            Wait::Block if self.handle.clock.is_paused() => self.jump(),
            Wait::Block => self.wait(),
        };
        let handle = &*self.handle;
        let is_interrupt = |event: &system::event::Event| event.token() == INTERRUPT;
        let _awake = (wait == Wait::Block || self.events.iter().any(is_interrupt))
            .then(|| Awake::new(&handle.interrupted));
        let events = self.events.iter().filter_map(|event| match event.token() {
            ALARM | INTERRUPT => None,
            system::Token(key) => Some((key, Ready::of_event(event))),
        });
        let called = handle.sources.dispatch(events, &mut self.batch);
        let (fired, now) = handle.fire(&mut self.batch);
        if !waited {
            self.pace.finds(fired);
        } else if fired > 0 {
            self.pace.wakes_for(fired, now);
        }
        called + fired
    }

    /// Fetches what is there. `false`, as it does not wait.
    fn look(&mut self) -> bool {
        self.fetch(Some(Duration::ZERO));
        false
    }

    /// What waiting is with a paused clock: if nothing has happened, the next thing to happen is a timer.
    fn jump(&mut self) -> bool {
        self.look();
        if !self.events.is_empty() {
            return false;
        }
        let next = self.handle.timers.next_look();
        // Since then a closure may have ended that held the clock. It has delivered its result before it let go, and that is an interrupt.
        let is_interrupted = || self.handle.interrupted.load(Ordering::Acquire);
        let clock = &self.handle.clock;
        let jumps = next != u64::MAX && clock.jump_to(nanos_of(next), is_interrupted);
        !jumps && self.wait()
    }

    /// Waits for events. `false`: there was no need to, as a timer is due.
    fn wait(&mut self) -> bool {
        let (handle, pace) = (&*self.handle, &self.pace);
        let next_look = || pace.wake_at(handle.timers.next_look());
        let time_out = handle.alarm.begin(next_look, |tick| handle.until(tick));
        self.fetch(time_out);
        self.handle.alarm.end();
        time_out != Some(Duration::ZERO)
    }

    /// Fetches events.
    fn fetch(&mut self, time_out: Option<Duration>) {
        match self.poll.poll(&mut self.events, time_out) {
            Ok(()) => {}
            // A signal: nothing has been fetched.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => panic!("the driver cannot wait for events: {error}"),
        }
    }

    /// Nobody will attend the driver any more: whoever waits for a socket gets an error, whoever waits for a time panics, and so does
    /// everybody who tries to wait later.
    pub(crate) fn shutdown(&mut self) {
        self.handle.sources.close(&mut self.batch);
        self.handle.timers.close(&mut self.batch);
    }

    /// A descriptor that is readable when a turn would find an event (not: a timer that is due and has no alarm).
    /// Others may poll it while somebody attends the driver.
    #[cfg(unix)]
    pub(crate) fn raw_fd(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.poll)
    }
}

/// The attending thread has what it waited for and calls wakers: these may well lead to interrupts, which it does not need.
struct Awake<'a>(&'a AtomicBool);

impl<'a> Awake<'a> {
    fn new(interrupted: &'a AtomicBool) -> Self {
        // A read-modify-write: it must not hide an interrupt that came in just before.
        interrupted.swap(true, Ordering::AcqRel);
        Self(interrupted)
    }
}

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        // Pairs with the one in `interrupt`: what was published before it is seen after this turn.
        self.0.swap(false, Ordering::AcqRel);
    }
}

impl Handle {
    /// Ends the turn that waits; if none does, the next one does not wait. What the caller has done before is seen by the thread
    /// that comes out of that turn.
    pub(crate) fn interrupt(&self) {
        if !self.interrupted.swap(true, Ordering::AcqRel) {
            self.interrupter
                .wake()
                .expect("the thread that attends the driver can be woken");
        }
    }

    /// Whether anybody may wait for the driver: a socket is registered or a timer is armed.
    pub(crate) fn has_interest(&self) -> bool {
        !self.sources.is_empty() || self.timers.next_look() != u64::MAX
    }

    /// For somebody who looks: timers that are armed, and how many have gone off.
    #[cfg(all(feature = "console", not(loom)))]
    pub(crate) fn timers_seen(&self) -> (u64, u64) {
        self.timers.seen()
    }

    /// The same: how many sources there are.
    #[cfg(all(feature = "console", not(loom)))]
    pub(crate) fn sources_seen(&self) -> usize {
        self.sources.len()
    }

    /// The clock by which its timers go.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Stops the clock. Returns whether it was running.
    pub(crate) fn pause(&self) -> bool {
        self.changed(self.clock.pause())
    }

    /// Lets the clock run on from where it was stopped. Returns whether it was stopped.
    pub(crate) fn resume(&self) -> bool {
        self.changed(self.clock.resume())
    }

    /// The clock goes otherwise than before, if `changed`: whoever waits in the driver looks again, by that clock.
    fn changed(&self, changed: bool) -> bool {
        if changed {
            self.alarm.forget();
            self.interrupt();
        }
        changed
    }

    /// While this lives a stopped clock does not jump: something goes on that the runtime cannot see, such as
    /// a call on the blocking pool. `None` if the clock is never stopped.
    pub(crate) fn hold_clock(self: Arc<Self>) -> Option<ClockHold> {
        self.clock.can_stop().then(|| {
            self.clock.hold();
            ClockHold(self)
        })
    }

    /// Fires the timers that are due and returns how many wakers were called, and up to which tick. Any thread may do that at any time.
    pub(crate) fn fire(&self, batch: &mut WakeBatch) -> (usize, u64) {
        if self.timers.next_look() == u64::MAX {
            return (0, 0);
        }
        let now = tick_at(self.clock.nanos());
        (self.timers.fire(now, batch), now)
    }

    /// How long it is until a tick is over; `None` if the clock stands still before that.
    fn until(&self, tick: u64) -> Option<Duration> {
        let left = nanos_of(tick).saturating_sub(self.clock.nanos());
        (left == 0 || !self.clock.is_paused()).then(|| Duration::from_nanos(left))
    }

    /// A timer has been armed, and its shard has none that is earlier.
    fn timer_is_first(&self, when: u64) {
        if self.alarm.move_forward(when, |tick| self.until(tick)) {
            self.interrupt();
        }
    }
}

/// See [`Handle::hold_clock`].
#[derive(Debug)]
pub(crate) struct ClockHold(Arc<Handle>);

impl Drop for ClockHold {
    fn drop(&mut self) {
        if self.0.clock.let_go() {
            // It waits for events alone: the next thing to happen may be a timer again.
            self.0.interrupt();
        }
    }
}

#[cfg(all(test, unix, not(loom)))]
mod tests;
