//! How much of the machine other processes used while we measured.
//!
//! A benchmark next to a compiler measures the compiler. The kernel counts busy time of all CPUs; what this process and
//! its children did not use was somebody else's. Above a few per cent the figures are not worth keeping, and the
//! program says so.

use std::time::Instant;

/// Share of one run's CPU time that others may have before the user is told.
const TOLERATED: f64 = 0.05;

/// The counters at the start of a run.
pub struct Watch {
    start: Instant,
    busy_s: Option<f64>,
    own_s: f64,
}

impl Watch {
    /// Starts watching.
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
            busy_s: busy_seconds(),
            own_s: own_seconds(),
        }
    }

    /// The share of the machine that others used since the start; nothing where the system does not say.
    pub fn others(&self) -> Option<f64> {
        let busy = busy_seconds()? - self.busy_s?;
        let own = own_seconds() - self.own_s;
        let cpus = crate::pin::cpus_at_start().len().max(1) as f64;
        let capacity = self.start.elapsed().as_secs_f64() * cpus;
        // The kernel counts in hundredths of a second, so short runs say nothing.
        (capacity > 1.0).then(|| ((busy - own) / capacity).max(0.0))
    }

    /// Tells the user if the figures are disturbed.
    pub fn warn(&self) {
        if let Some(share) = self.others().filter(|&share| share > TOLERATED) {
            eprintln!(
                "blitz-bench: other processes used {:.0} % of the CPUs meanwhile; repeat this on a quiet machine",
                share * 100.0
            );
        }
    }
}

/// Seconds all CPUs together have been busy since boot.
fn busy_seconds() -> Option<f64> {
    parse_busy_ticks(&std::fs::read_to_string("/proc/stat").ok()?).map(|ticks| ticks as f64 / 100.0)
}

/// Sums the first line of `/proc/stat` but for the columns of idleness (fourth and fifth) and of guests (counted twice).
fn parse_busy_ticks(text: &str) -> Option<u64> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let columns: Vec<u64> = line
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect::<Option<_>>()?;
    let busy = columns.iter().take(8).enumerate();
    Some(
        busy.filter(|(column, _)| !matches!(column, 3 | 4))
            .map(|(_, ticks)| ticks)
            .sum(),
    )
}

/// Seconds of CPU time of this process and of its children that have ended.
#[cfg(unix)]
fn own_seconds() -> f64 {
    let of = |who| {
        // SAFETY: `rusage` is plain integers, for which zero bits are a valid value.
        let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `raw` is writable and of the type the call fills in.
        unsafe { libc::getrusage(who, &mut raw) };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(raw.ru_utime) + seconds(raw.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

#[cfg(not(unix))]
fn own_seconds() -> f64 {
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_guest_columns_are_left_out() {
        let text = "cpu  100 10 50 9000 800 5 5 30 7 7\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(parse_busy_ticks(text), Some(200));
        assert_eq!(parse_busy_ticks("intr 5\n"), None);
    }

    #[test]
    fn a_run_too_short_to_tell_says_nothing() {
        assert_eq!(Watch::start().others(), None);
    }
}
