//! Bringing the relief thread to a CPU that is offered to it, on Linux; elsewhere that is left to the kernel.
//!
//! A worker that yields its CPU helps the relief thread only if that thread waits for this CPU. If it waits for another one, behind a thread
//! that does not yield, it may wait for milliseconds. The worker then calls it over, by its affinity. The relief thread never leaves
//! the set of CPUs that it started with, and may use all of them again when it rests.

#[cfg(target_os = "linux")]
pub(crate) use linux::Placement;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Placement;

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// The thread, and the CPUs it may use. Empty while there is none.
    #[derive(Default)]
    pub(crate) struct Placement(Mutex<Option<(libc::pid_t, libc::cpu_set_t)>>);

    const SET: usize = size_of::<libc::cpu_set_t>();

    impl Placement {
        fn place(&self) -> MutexGuard<'_, Option<(libc::pid_t, libc::cpu_set_t)>> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// For the relief thread, when it starts.
        pub(crate) fn settle_in(&self) {
            let mut allowed = MaybeUninit::zeroed();
            // SAFETY: the buffer is as large as it says; all bit patterns are sets.
            unsafe {
                let thread = libc::gettid();
                if libc::sched_getaffinity(thread, SET, allowed.as_mut_ptr()) == 0 {
                    *self.place() = Some((thread, allowed.assume_init()));
                }
            }
        }

        /// Moves the relief thread to the caller's CPU.
        pub(crate) fn bring_here(&self) {
            // Under the lock: the thread is still the relief thread.
            let place = self.place();
            let Some((thread, allowed)) = &*place else {
                return;
            };
            // SAFETY: a set is plain data, and the index is checked against its size.
            unsafe {
                let Ok(cpu) = usize::try_from(libc::sched_getcpu()) else {
                    return;
                };
                if cpu < 8 * SET && libc::CPU_ISSET(cpu, allowed) {
                    let mut here = MaybeUninit::<libc::cpu_set_t>::zeroed().assume_init();
                    libc::CPU_SET(cpu, &mut here);
                    libc::sched_setaffinity(*thread, SET, &raw const here);
                }
            }
        }

        /// The relief thread rests, and may wake up on any of its CPUs.
        pub(crate) fn anywhere(&self) {
            if let Some((thread, allowed)) = &*self.place() {
                // SAFETY: a valid set.
                unsafe { libc::sched_setaffinity(*thread, SET, &raw const *allowed) };
            }
        }

        /// The relief thread is no longer one.
        pub(crate) fn move_out(&self) {
            self.anywhere();
            *self.place() = None;
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    #[derive(Default)]
    pub(crate) struct Placement;

    impl Placement {
        pub(crate) fn settle_in(&self) {}
        pub(crate) fn bring_here(&self) {}
        pub(crate) fn anywhere(&self) {}
        pub(crate) fn move_out(&self) {}
    }
}
