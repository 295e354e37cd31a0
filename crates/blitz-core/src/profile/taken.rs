//! Time that was taken away from a thread: the system ran somebody else on its CPU, or the thread slept.
//!
//! A strand is timed by the CPU's tick counter, which goes on while the thread does not run. The thread's own CPU clock does not, but a reading is a call into the
//! kernel (0.1 to 0.3 us), too dear for strands of nanoseconds. So it is read where it can have something to say: at the end of a strand that took [`LONG_US`] or more. What has
//! passed by the tick counter and not by the CPU clock, since both were last read, was taken away and is subtracted.
//!
//! Both clocks are read together again at the beginning of a strand, if the thread did something else before (it slept, it searched), or if that is
//! [`RENEWED_US`] ago. So what is subtracted was taken from this strand, or from a few short ones just before it.
//!
//! The error: a strand shorter than `LONG_US` that is interrupted for less than that keeps the interruption; a longer one is
//! off by the cost of two readings of the CPU clock at most, that is 5 % of the shortest of them. On systems without such a clock nothing is subtracted.

use crate::clock;
use std::cell::Cell;

/// From here on a strand is worth a reading of the CPU clock.
const LONG_US: u64 = 10;

/// Longer than this between two strands, and the thread did something else.
const GAP_US: u64 = 1;

/// Both clocks are read together at least this often.
const RENEWED_US: u64 = 100;

/// What the clocks said.
#[derive(Clone, Copy)]
struct Seen {
    /// Both at the same time.
    ticks: u64,
    cpu_ns: u64,
    /// At the end of the last strand.
    end: u64,
}

thread_local! {
    static SEEN: Cell<Option<Seen>> = const { Cell::new(None) };
}

/// A strand begins: the time, by the tick counter.
pub(super) fn begin() -> u64 {
    let now = clock::ticks();
    let rate = clock::ticks_per_us();
    let is_recent = |seen: Seen| {
        now.saturating_sub(seen.end) < GAP_US * rate
            && now.saturating_sub(seen.ticks) < RENEWED_US * rate
    };
    if SEEN.get().is_some_and(is_recent) {
        return now;
    }
    read_both()
}

/// Reads both clocks; returns the ticks.
fn read_both() -> u64 {
    let cpu_ns = cpu_ns();
    let ticks = clock::ticks();
    SEEN.set(cpu_ns.map(|cpu_ns| Seen {
        ticks,
        cpu_ns,
        end: ticks,
    }));
    ticks
}

/// A strand ends that began at `since`: how long the thread ran, in ticks.
pub(super) fn end(since: u64) -> u64 {
    let now = clock::ticks();
    let elapsed = now.saturating_sub(since);
    let Some(mut seen) = SEEN.get() else {
        return elapsed;
    };
    let rate = clock::ticks_per_us();
    if elapsed < LONG_US * rate {
        seen.end = now;
        SEEN.set(Some(seen));
        return elapsed;
    }
    let Some(cpu_ns) = cpu_ns() else {
        return elapsed;
    };
    let ran = cpu_ns.saturating_sub(seen.cpu_ns) as u128 * u128::from(rate) / 1000;
    let passed = now.saturating_sub(seen.ticks);
    let taken = passed.saturating_sub(ran as u64);
    // The thread may have been interrupted since `now`.
    let ticks = clock::ticks();
    SEEN.set(Some(Seen {
        ticks,
        cpu_ns,
        end: ticks,
    }));
    elapsed.saturating_sub(taken)
}

/// How long the calling thread has run, if the system tells.
#[cfg(all(
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "macos",
        target_os = "freebsd"
    ),
    not(miri)
))]
pub(super) fn cpu_ns() -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes to `time`, which is ours.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    (failed == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(not(all(
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "macos",
        target_os = "freebsd"
    ),
    not(miri)
)))]
pub(super) fn cpu_ns() -> Option<u64> {
    None
}
