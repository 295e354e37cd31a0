//! How the kernel schedules a thread that has little to do each time it wakes up, and for which somebody waits.
//!
//! With a short slice (Linux 6.12 and later) such a thread runs at once when it wakes up, although others compute: that is
//! what serves sockets while every worker is inside of a computation that has no beats.

/// Asks for short slices for the calling thread. Kernels that do not know them change nothing.
#[cfg(target_os = "linux")]
pub(crate) fn ask() {
    /// The kernel's `sched_attr`, first version.
    #[repr(C)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime_ns: u64,
        deadline_ns: u64,
        period_ns: u64,
    }
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        policy: libc::SCHED_OTHER as u32,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime_ns: 100_000,
        deadline_ns: 0,
        period_ns: 0,
    };
    // SAFETY: the size of the structure is in it. A kernel that does not know it says so, and nothing changes.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

/// Elsewhere there is no such thing.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ask() {}
