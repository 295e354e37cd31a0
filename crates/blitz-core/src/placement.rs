//! Where a woken thread runs.
//!
//! Some kernels put a woken thread on its waker's CPU and leave it there for milliseconds: two threads
//! then take turns on one CPU while another idles. A waker that goes on computing (the owner of a fork)
//! therefore forbids its own CPU to the thread it wakes. A waker that is about to block does not.
//!
//! Only threads that the pool itself created are placed, never a user's, and only inside the set of CPUs
//! the process was allowed when the pool was built. A thread that changes its own affinity in the start
//! handler is left alone. `BLITZ_PLACEMENT=off` or `ThreadPoolBuilder::place_wakes(false)` turns it off.

#[cfg(target_os = "linux")]
pub(crate) use linux::Placement;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Placement;

#[cfg(target_os = "linux")]
mod linux {
    use crossbeam_utils::CachePadded;
    use std::sync::atomic::{AtomicI32, Ordering};

    const ANY_CPU: i32 = -1;
    const LEAVE_ALONE: i32 = 0;

    /// The affinity of a pool's threads.
    pub(crate) struct Placement {
        allowed: libc::cpu_set_t,
        cpus: Vec<usize>,
        threads: Box<[CachePadded<Thread>]>,
        pin: bool,
        place: bool,
    }

    struct Thread {
        /// The kernel's id, or `LEAVE_ALONE`.
        id: AtomicI32,
        /// The CPU the thread may not use, or `ANY_CPU`.
        excluded: AtomicI32,
    }

    fn affinity_of_caller() -> Option<libc::cpu_set_t> {
        // SAFETY: all-zero bits are an empty set, and the kernel writes at most the size we give.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let ok = libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) == 0;
            ok.then_some(set)
        }
    }

    fn set_affinity(thread: i32, set: &libc::cpu_set_t) -> bool {
        // SAFETY: the kernel reads the set; a stale thread id makes it fail.
        unsafe { libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), set) == 0 }
    }

    fn current_cpu() -> i32 {
        // SAFETY: no arguments; negative on failure, which means "any CPU".
        unsafe { libc::sched_getcpu() }.max(ANY_CPU)
    }

    fn members(set: &libc::cpu_set_t) -> Vec<usize> {
        let all = 0..libc::CPU_SETSIZE as usize;
        // SAFETY: the index is inside the set.
        all.filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, set) })
            .collect()
    }

    impl Placement {
        /// For a pool of `threads` threads. `pin`: each stays on one CPU for ever.
        pub(crate) fn new(threads: usize, pin: bool, place: bool) -> Self {
            let allowed = affinity_of_caller();
            let cpus = allowed.as_ref().map(members).unwrap_or_default();
            let switched_off = std::env::var_os("BLITZ_PLACEMENT").is_some_and(|v| v == "off");
            let thread = |_| {
                CachePadded::new(Thread {
                    id: AtomicI32::new(LEAVE_ALONE),
                    excluded: AtomicI32::new(ANY_CPU),
                })
            };
            Placement {
                // SAFETY: all-zero bits are an empty set; unused when `cpus` is empty.
                allowed: allowed.unwrap_or_else(|| unsafe { std::mem::zeroed() }),
                place: place && !pin && !switched_off && cpus.len() > 1,
                pin: pin && !cpus.is_empty(),
                cpus,
                threads: (0..threads).map(thread).collect(),
            }
        }

        /// A thread of the pool introduces itself, after the user's start handler.
        pub(crate) fn thread_started(&self, thread: usize) {
            if self.pin {
                self.pin_caller(thread);
            } else if self.place {
                let own = affinity_of_caller();
                if own.is_some_and(|own| members(&own) == self.cpus) {
                    // SAFETY: no arguments, no failure.
                    let id = unsafe { libc::gettid() };
                    self.threads[thread].id.store(id, Ordering::Release);
                }
            }
        }

        /// A thread that stands in for one of the pool's introduces itself, before the user's start handler. It has inherited
        /// the affinity of whoever started it, which may be kept off a CPU or belong to another pool.
        pub(crate) fn stand_in_started(&self, thread: usize) {
            if self.pin {
                self.pin_caller(thread);
            } else if self.place {
                set_affinity(0, &self.allowed);
            }
        }

        fn pin_caller(&self, thread: usize) {
            let mut one = self.allowed;
            let cpu = self.cpus[thread % self.cpus.len()];
            // SAFETY: the indices are inside the set.
            unsafe {
                libc::CPU_ZERO(&mut one);
                libc::CPU_SET(cpu, &mut one);
            }
            set_affinity(0, &one);
        }

        /// A thread of the pool ends; its id may be given to a stranger.
        pub(crate) fn thread_stopped(&self, thread: usize) {
            self.threads[thread]
                .id
                .store(LEAVE_ALONE, Ordering::Release);
        }

        /// `thread` is about to be woken by the caller, who goes on computing if `busy`.
        pub(crate) fn before_wake(&self, thread: usize, busy: bool) {
            let wanted = if self.place && busy {
                current_cpu()
            } else {
                ANY_CPU
            };
            self.exclude(thread, wanted);
        }

        /// Keeps `thread`, which is awake, off the caller's CPU: the kernel may have moved the caller to
        /// where the thread was put. Costs a few nanoseconds when there is nothing to do.
        ///
        /// Where there are more threads than CPUs that is left to the kernel: it would herd the others together on what is left, and
        /// as the caller changes CPUs, again and again.
        pub(crate) fn keep_apart(&self, thread: usize) {
            if self.place && self.threads.len() <= self.cpus.len() {
                self.exclude(thread, current_cpu());
            }
        }

        /// The seat whose pinned thread shares the caller's CPU, if threads are pinned.
        pub(crate) fn seat_of_caller(&self) -> Option<usize> {
            if !self.pin {
                return None;
            }
            let here = current_cpu();
            let seat = self.cpus.iter().position(|&cpu| cpu as i32 == here)?;
            (seat < self.threads.len()).then_some(seat)
        }

        fn exclude(&self, thread: usize, wanted: i32) {
            let thread = &self.threads[thread];
            let id = thread.id.load(Ordering::Acquire);
            if id == LEAVE_ALONE || thread.excluded.load(Ordering::Relaxed) == wanted {
                return;
            }
            let mut set = self.allowed;
            if wanted != ANY_CPU {
                // SAFETY: the index is inside the set: the kernel gave it.
                unsafe { libc::CPU_CLR(wanted as usize, &mut set) };
            }
            if set_affinity(id, &set) {
                thread.excluded.store(wanted, Ordering::Relaxed);
            } else {
                // Not allowed to (a sandbox), or the cpuset changed under us: stop trying.
                thread.id.store(LEAVE_ALONE, Ordering::Release);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    /// Leaves placement to the kernel.
    pub(crate) struct Placement;

    impl Placement {
        pub(crate) fn new(_threads: usize, _pin: bool, _place: bool) -> Self {
            Placement
        }

        pub(crate) fn thread_started(&self, _thread: usize) {}

        pub(crate) fn stand_in_started(&self, _thread: usize) {}

        pub(crate) fn thread_stopped(&self, _thread: usize) {}

        pub(crate) fn before_wake(&self, _thread: usize, _busy: bool) {}

        pub(crate) fn keep_apart(&self, _thread: usize) {}

        pub(crate) fn seat_of_caller(&self) -> Option<usize> {
            None
        }
    }
}
