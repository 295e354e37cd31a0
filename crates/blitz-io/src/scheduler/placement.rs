//! Bringing the relief thread to a CPU that is offered to it, on Linux; elsewhere that is left to the kernel.
//!
//! A worker that yields its CPU helps the relief thread only if that thread waits for this CPU. If it waits for another one, behind a thread
//! that does not yield, it may wait for milliseconds. The worker then calls it over, by its affinity. The relief thread never leaves
//! the set of CPUs of the thread that built the runtime, and may use all of them again when it rests. (Its own maker is a worker, and may be bound
//! to a single CPU: a relief thread that had to stay there would wait for that worker whatever the others do.)

#[cfg(target_os = "linux")]
pub(crate) use linux::Placement;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Placement;

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    pub(crate) struct Placement {
        /// The CPUs that it may use; none if the kernel did not say, and then it is left alone.
        allowed: libc::cpu_set_t,
        /// While there is a relief thread. Locked to make sure that it still is the one.
        thread: Mutex<Option<libc::pid_t>>,
    }

    const SET: usize = size_of::<libc::cpu_set_t>();

    impl Placement {
        /// For the thread that builds the runtime.
        pub(crate) fn new() -> Self {
            Placement {
                allowed: own_cpus(),
                thread: Mutex::new(None),
            }
        }

        fn thread(&self) -> MutexGuard<'_, Option<libc::pid_t>> {
            self.thread.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// For the relief thread, when it starts.
        pub(crate) fn settle_in(&self) {
            // SAFETY: no arguments.
            *self.thread() = Some(unsafe { libc::gettid() });
            self.anywhere();
        }

        /// Moves the relief thread to the caller's CPU.
        pub(crate) fn bring_here(&self) {
            let thread = self.thread();
            let Some(thread) = *thread else { return };
            // SAFETY: a set is plain data, and the index is checked against its size.
            unsafe {
                let Ok(cpu) = usize::try_from(libc::sched_getcpu()) else {
                    return;
                };
                if cpu < 8 * SET && libc::CPU_ISSET(cpu, &self.allowed) {
                    let mut here = MaybeUninit::<libc::cpu_set_t>::zeroed().assume_init();
                    libc::CPU_SET(cpu, &mut here);
                    libc::sched_setaffinity(thread, SET, &raw const here);
                }
            }
        }

        /// The relief thread rests, and may wake up on any of its CPUs.
        pub(crate) fn anywhere(&self) {
            if let Some(thread) = *self.thread() {
                // SAFETY: a valid set. An empty one is refused.
                unsafe { libc::sched_setaffinity(thread, SET, &raw const self.allowed) };
            }
        }

        /// The relief thread is no longer one.
        pub(crate) fn move_out(&self) {
            self.anywhere();
            *self.thread() = None;
        }
    }

    /// Those that the calling thread may use.
    fn own_cpus() -> libc::cpu_set_t {
        // SAFETY: all bit patterns are sets, and this one is as large as it says.
        unsafe {
            let mut cpus = MaybeUninit::zeroed().assume_init();
            libc::sched_getaffinity(0, SET, &raw mut cpus);
            cpus
        }
    }

    #[cfg(all(test, not(loom)))]
    mod tests {
        use super::*;
        use std::sync::mpsc;

        /// How many CPUs the calling thread may use.
        fn own_count() -> i32 {
            // SAFETY: a valid set.
            unsafe { libc::CPU_COUNT(&own_cpus()) }
        }

        #[test]
        fn a_thread_that_was_called_is_bound_until_it_rests() {
            let all = own_count();
            let placement = Placement::new();
            std::thread::scope(|scope| {
                let (tell, told) = mpsc::channel();
                let (go, gone) = mpsc::channel();
                let placement = &placement;
                scope.spawn(move || {
                    placement.settle_in();
                    tell.send(own_count()).unwrap();
                    gone.recv().unwrap();
                    tell.send(own_count()).unwrap();
                    placement.anywhere();
                    tell.send(own_count()).unwrap();
                });
                assert_eq!(told.recv().unwrap(), all);
                placement.bring_here();
                go.send(()).unwrap();
                assert_eq!(told.recv().unwrap(), 1);
                assert_eq!(told.recv().unwrap(), all);
            });
        }

        #[test]
        fn a_relief_thread_made_by_a_bound_worker_may_use_all_cpus_of_the_runtime() {
            let all = own_count();
            let placement = Placement::new();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut one = MaybeUninit::<libc::cpu_set_t>::zeroed();
                    // SAFETY: a valid set of one CPU, which the thread is on.
                    unsafe {
                        libc::CPU_SET(libc::sched_getcpu() as usize, one.assume_init_mut());
                        libc::sched_setaffinity(0, SET, one.as_ptr());
                    }
                    assert_eq!(own_count(), 1);
                    placement.settle_in();
                    assert_eq!(own_count(), all);
                });
            });
        }

        #[test]
        fn nobody_calls_a_thread_that_has_moved_out() {
            let placement = Placement::new();
            placement.settle_in();
            placement.move_out();
            let all = own_count();
            placement.bring_here();
            assert_eq!(own_count(), all);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    pub(crate) struct Placement;

    impl Placement {
        pub(crate) fn new() -> Self {
            Placement
        }
        pub(crate) fn settle_in(&self) {}
        pub(crate) fn bring_here(&self) {}
        pub(crate) fn anywhere(&self) {}
        pub(crate) fn move_out(&self) {}
    }
}
