//! Where threads run: the allowed CPUs of this process, and pinning one thread to one of them.
//!
//! Some virtual machines put a woken thread on its waker's CPU and leave it there for milliseconds, so an unpinned
//! comparison measures the kernel's luck. Every arm is therefore pinned the same way: main and worker 0 on the first
//! allowed CPU, worker 1 on the second, and so on. Threads a library starts without a hook are found by comparing the
//! thread list of the process before and after.

use std::sync::OnceLock;

/// A thread id of the operating system.
pub type Tid = i32;

#[cfg(target_os = "linux")]
mod os {
    use super::Tid;
    use std::mem;

    pub fn allowed_cpus() -> Vec<usize> {
        // SAFETY: a zeroed `cpu_set_t` is an empty set, a valid value of this plain bit array.
        let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
        // SAFETY: `set` is writable and its true size is passed; pid 0 means the calling thread.
        let rc = unsafe { libc::sched_getaffinity(0, mem::size_of_val(&set), &mut set) };
        if rc != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as usize)
            // SAFETY: every index is below CPU_SETSIZE, the number of bits in the set.
            .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
            .collect()
    }

    pub fn pin(tid: Tid, cpus: &[usize]) -> bool {
        // SAFETY: as in `allowed_cpus`, zero bits are an empty set.
        let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
        for &cpu in cpus {
            assert!(cpu < libc::CPU_SETSIZE as usize);
            // SAFETY: the index was just checked against the number of bits in the set.
            unsafe { libc::CPU_SET(cpu, &mut set) };
        }
        // SAFETY: `set` is initialised and its true size is passed; an id of no thread is reported, not undefined.
        unsafe { libc::sched_setaffinity(tid, mem::size_of_val(&set), &set) == 0 }
    }

    pub fn thread_ids() -> Vec<Tid> {
        let Ok(entries) = std::fs::read_dir("/proc/self/task") else {
            return Vec::new();
        };
        let mut ids: Vec<Tid> = entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        ids.sort_unstable();
        ids
    }
}

#[cfg(not(target_os = "linux"))]
mod os {
    use super::Tid;

    pub fn allowed_cpus() -> Vec<usize> {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        (0..count).collect()
    }

    pub fn pin(_tid: Tid, _cpus: &[usize]) -> bool {
        false
    }

    pub fn thread_ids() -> Vec<Tid> {
        Vec::new()
    }
}

/// CPUs the calling thread may run on, ascending.
pub fn allowed_cpus() -> Vec<usize> {
    os::allowed_cpus()
}

/// CPUs the process could use when it started; later the main thread may be pinned to one of them.
pub fn cpus_at_start() -> &'static [usize] {
    static AT_START: OnceLock<Vec<usize>> = OnceLock::new();
    AT_START.get_or_init(allowed_cpus)
}

/// Runs `work` while the calling thread may use every CPU of the process again: a child process inherits that.
pub fn unpinned<R>(work: impl FnOnce() -> R) -> R {
    let placed = allowed_cpus();
    os::pin(0, cpus_at_start());
    let result = work();
    os::pin(0, &placed);
    result
}

/// Pins the calling thread to one CPU; false where the system refuses or cannot.
pub fn pin_current_thread(cpu: usize) -> bool {
    os::pin(0, &[cpu])
}

/// Pins another thread of this process to one CPU.
pub fn pin_thread(tid: Tid, cpu: usize) -> bool {
    os::pin(tid, &[cpu])
}

/// Runs `start` and returns its result with the ids of the threads it added, in the order they were started.
///
/// Nothing else in the process may start threads meanwhile; pools are set up one after the other on the main thread.
pub fn threads_started_by<R>(start: impl FnOnce() -> R) -> (R, Vec<Tid>) {
    let before = os::thread_ids();
    let result = start();
    let mut added = os::thread_ids();
    added.retain(|id| !before.contains(id));
    (result, added)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_may_run_on_its_cpu_only() {
        let last = *allowed_cpus().last().unwrap();
        let after = std::thread::spawn(move || {
            assert!(pin_current_thread(last));
            allowed_cpus()
        });
        assert_eq!(after.join().unwrap(), vec![last]);
    }

    #[test]
    fn a_pinned_thread_can_borrow_the_whole_set_for_a_while() {
        let last = *cpus_at_start().last().unwrap();
        let (within, after) = std::thread::spawn(move || {
            pin_current_thread(last);
            (unpinned(allowed_cpus), allowed_cpus())
        })
        .join()
        .unwrap();
        assert_eq!(within, cpus_at_start());
        assert_eq!(after, vec![last]);
    }

    #[test]
    fn a_started_thread_is_listed() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        // Other tests start threads in this process too, so only the presence of ours can be asserted.
        let (handle, added) = threads_started_by(|| {
            std::thread::spawn(move || {
                let _ = wait.recv();
            })
        });
        assert!(!added.is_empty());
        drop(stop);
        handle.join().unwrap();
    }
}
