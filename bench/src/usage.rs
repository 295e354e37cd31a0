//! What the process has cost the machine so far: CPU time and context switches.

/// Totals since the process started; subtract two to get a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// User and system CPU time of all threads, in microseconds.
    pub cpu_us: u64,
    /// Times a thread gave up its CPU to wait: each is a wake-up later.
    pub voluntary: u64,
    /// Times a thread was preempted.
    pub involuntary: u64,
}

impl Usage {
    /// The totals of this process now.
    #[cfg(unix)]
    pub fn now() -> Self {
        // SAFETY: `rusage` is plain integers, for which zero bits are a valid value.
        let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `raw` is writable and of the type the call fills in.
        let rc = unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut raw) };
        assert_eq!(rc, 0, "getrusage failed");
        // CPU time comes from the CPU clock, which counts nanoseconds; `rusage` may count in scheduler ticks.
        // SAFETY: `timespec` is plain integers, for which zero bits are a valid value.
        let mut cpu: libc::timespec = unsafe { std::mem::zeroed() };
        // SAFETY: `cpu` is writable and of the type the call fills in.
        let rc = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut cpu) };
        assert_eq!(rc, 0, "the process CPU clock is missing");
        Self {
            cpu_us: cpu.tv_sec as u64 * 1_000_000 + cpu.tv_nsec as u64 / 1000,
            voluntary: raw.ru_nvcsw as u64,
            involuntary: raw.ru_nivcsw as u64,
        }
    }

    /// Only Unix systems can be asked.
    #[cfg(not(unix))]
    pub fn now() -> Self {
        eprintln!("blitz-bench: CPU time and context switches can only be read on Unix");
        std::process::exit(1);
    }

    /// What happened between `earlier` and this reading.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu_us: self.cpu_us - earlier.cpu_us,
            voluntary: self.voluntary - earlier.voluntary,
            involuntary: self.involuntary - earlier.involuntary,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn work_shows_up_as_cpu_time() {
        let before = Usage::now();
        std::hint::black_box(crate::spin::spin(20_000_000, 3));
        assert!(Usage::now().since(before).cpu_us > 1000);
    }
}
