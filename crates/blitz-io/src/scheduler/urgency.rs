//! For a thread that does little at a time, and should do it soon.
//!
//! The relief thread runs for some microseconds whenever something happens, and needs a CPU that a computing worker has. Linux (from 6.12 on) lets a thread ask for short
//! time slices. It gets no more of the CPU than other threads, but gets it sooner, because a short slice does not make others wait for long. On kernels without this
//! the call changes nothing. Threads that this thread starts do not inherit it.

/// For the calling thread.
pub(super) fn ask_for_short_turns() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        /// As in the kernel's headers, in its first version.
        #[repr(C)]
        struct Attributes {
            size: u32,
            policy: u32,
            flags: u64,
            nice: i32,
            priority: u32,
            runtime: u64,
            deadline: u64,
            period: u64,
        }
        /// The ordinary one, which has two names.
        const SCHED_OTHER: u32 = 0;
        const RESET_ON_FORK: u64 = 1;
        /// The shortest turn that the kernel gives.
        const TURN_NS: u64 = 100_000;
        // SAFETY: 0 is the caller; the thread's nice value is read, and has no failure to report that matters here.
        let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t) };
        let attributes = Attributes {
            size: size_of::<Attributes>() as u32,
            policy: SCHED_OTHER,
            flags: RESET_ON_FORK,
            nice,
            priority: 0,
            runtime: TURN_NS,
            deadline: 0,
            period: 0,
        };
        // SAFETY: the kernel reads as much as `size` says. If it refuses, nothing has changed.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    }
}
