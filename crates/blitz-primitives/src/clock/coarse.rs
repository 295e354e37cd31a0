//! A clock that moves every few milliseconds only, and takes next to nothing to read: the system keeps it in memory, and the processor goes on with other things meanwhile. A reading of the
//! tick counter, short as it is, makes it wait.

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
))]
mod source {
    use std::sync::atomic::{AtomicU8, Ordering};
    use std::time::Instant;

    #[inline]
    pub(super) fn mark() -> u64 {
        let mut now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the system fills it in; if it does not, it is 0.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
        (now.tv_sec as u64) << 30 | now.tv_nsec as u64
    }

    const UNKNOWN: u8 = 0;
    const CHEAP: u8 = 1;
    const DEAR: u8 = 2;

    #[inline]
    pub(super) fn is_cheap() -> bool {
        static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
        match KNOWN.load(Ordering::Relaxed) {
            UNKNOWN => {
                let is_cheap = measure();
                KNOWN.store(if is_cheap { CHEAP } else { DEAR }, Ordering::Relaxed);
                is_cheap
            }
            known => known == CHEAP,
        }
    }

    /// Without a page of the system's in memory (some sandboxes have none) a reading is a call into the kernel.
    #[cold]
    fn measure() -> bool {
        const READINGS: u32 = 16;
        const CHEAP_NS: u128 = 25;
        let round = |_| {
            let start = Instant::now();
            (0..READINGS).for_each(|_| _ = std::hint::black_box(mark()));
            start.elapsed().as_nanos() / u128::from(READINGS)
        };
        (0..4).map(round).min().is_some_and(|ns| ns < CHEAP_NS)
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
)))]
mod source {
    #[inline]
    pub(super) fn mark() -> u64 {
        0
    }

    #[inline]
    pub(super) fn is_cheap() -> bool {
        false
    }
}

/// A number that is another one some milliseconds later.
///
/// ```
/// use blitz_primitives::clock::{coarse_is_cheap, coarse_mark};
/// let mark = coarse_mark();
/// std::thread::sleep(std::time::Duration::from_millis(50));
/// assert!(!coarse_is_cheap() || coarse_mark() != mark);
/// ```
#[inline]
pub fn coarse_mark() -> u64 {
    source::mark()
}

/// Does [`coarse_mark`] take next to nothing? If not, it may say nothing at all. The first call finds out, in a microsecond or so.
///
/// ```
/// let worth_asking_often: bool = blitz_primitives::clock::coarse_is_cheap();
/// # let _ = worth_asking_often;
/// ```
#[inline]
pub fn coarse_is_cheap() -> bool {
    source::is_cheap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_mark_changes_while_one_waits() {
        if !coarse_is_cheap() {
            return;
        }
        let (start, mark) = (Instant::now(), coarse_mark());
        while coarse_mark() == mark {
            assert!(start.elapsed() < Duration::from_secs(10), "it stands still");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
