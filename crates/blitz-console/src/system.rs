//! What the system knows of this process and its threads. On systems other than Linux: little.

use std::time::Duration;

/// Memory in bytes, threads, and the CPU time so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) memory: u64,
    pub(crate) threads: u64,
    pub(crate) cpu: Duration,
}

/// How long a thread has run so far, and how long it has waited for a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadTimes {
    pub(crate) ran: Duration,
    pub(crate) waited: Duration,
}

/// Where a thread is in the kernel.
#[cfg(feature = "hooks")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InKernel {
    /// Not there: it runs, or could.
    No,
    /// It waits for this word to change: a lock, most likely.
    Word(u64),
    /// It is in another system call, which this number stands for.
    Call(u64),
}

pub(crate) fn program_name() -> String {
    let program = std::env::current_exe().ok();
    let name = program
        .as_deref()
        .and_then(|path| path.file_name()?.to_str());
    name.unwrap_or("this program").to_string()
}

pub(crate) fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, |cpus| cpus.get())
}

#[cfg(all(feature = "hooks", target_os = "linux"))]
pub(crate) use linux::{in_kernel, thread_times};
#[cfg(target_os = "linux")]
pub(crate) use linux::{own_times, usage};

#[cfg(all(feature = "hooks", not(target_os = "linux")))]
pub(crate) use others::{in_kernel, thread_times};
#[cfg(not(target_os = "linux"))]
pub(crate) use others::{own_times, usage};

#[cfg(target_os = "linux")]
mod linux {
    #[cfg(feature = "hooks")]
    use super::InKernel;
    use super::{ThreadTimes, Usage};
    use std::fs::read_to_string;
    #[cfg(feature = "hooks")]
    use std::hash::{Hash, Hasher};
    use std::time::Duration;

    pub(crate) fn usage() -> Usage {
        let mut usage = Usage::default();
        let status = read_to_string("/proc/self/status").unwrap_or_default();
        for line in status.lines() {
            let number = || {
                let word = line.split_whitespace().nth(1)?;
                word.parse::<u64>().ok()
            };
            if line.starts_with("VmRSS:") {
                usage.memory = number().unwrap_or(0) * 1024;
            } else if line.starts_with("Threads:") {
                usage.threads = number().unwrap_or(0);
            }
        }
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the pointer is to a timespec.
        if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } == 0 {
            usage.cpu = Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
        }
        usage
    }

    /// Of the calling thread.
    pub(crate) fn own_times() -> Option<ThreadTimes> {
        times("/proc/thread-self/schedstat")
    }

    /// Of another one of this process.
    #[cfg(feature = "hooks")]
    pub(crate) fn thread_times(thread: u32) -> Option<ThreadTimes> {
        times(&format!("/proc/self/task/{thread}/schedstat"))
    }

    fn times(file: &str) -> Option<ThreadTimes> {
        let text = read_to_string(file).ok()?;
        let mut numbers = text
            .split_whitespace()
            .map(|word| word.parse().map(Duration::from_nanos));
        Some(ThreadTimes {
            ran: numbers.next()?.ok()?,
            waited: numbers.next()?.ok()?,
        })
    }

    /// Where another thread of this process is, if the system tells.
    #[cfg(feature = "hooks")]
    pub(crate) fn in_kernel(thread: u32) -> Option<InKernel> {
        let text = read_to_string(format!("/proc/self/task/{thread}/syscall")).ok()?;
        let mut words = text.split_whitespace();
        let call = words.next()?;
        if call == "running" {
            return Some(InKernel::No);
        }
        if call.starts_with('-') {
            // Blocked outside of any call: in a page fault, say.
            return Some(InKernel::No);
        }
        if call != libc::SYS_futex.to_string() {
            let mut hash = std::hash::DefaultHasher::new();
            text.hash(&mut hash);
            return Some(InKernel::Call(hash.finish()));
        }
        let word = words.next()?.trim_start_matches("0x");
        u64::from_str_radix(word, 16).ok().map(InKernel::Word)
    }
}

#[cfg(not(target_os = "linux"))]
mod others {
    #[cfg(feature = "hooks")]
    use super::InKernel;
    use super::{ThreadTimes, Usage};

    pub(crate) fn usage() -> Usage {
        Usage::default()
    }

    pub(crate) fn own_times() -> Option<ThreadTimes> {
        None
    }

    #[cfg(feature = "hooks")]
    pub(crate) fn thread_times(_thread: u32) -> Option<ThreadTimes> {
        None
    }

    #[cfg(feature = "hooks")]
    pub(crate) fn in_kernel(_thread: u32) -> Option<InKernel> {
        None
    }
}
