//! Which CPUs a pool's threads may use (Linux; elsewhere that is left to the kernel).
//!
//! Threads may use what the process may use, and the engine does not touch that: a task that asks for the number of CPUs, starts a
//! program or builds a pool would see it, and whoever confines the process later (`taskset`) would be overruled. The one
//! exception is asked for: [`pin_workers`](crate::ThreadPoolBuilder::pin_workers) binds each thread to one CPU when it starts.
//!
//! A thread that stands in for the pool's threads is started by one of them and inherits what that one may use, which is a single CPU
//! if they are bound, by us or by the user's start handler. It may use what any of them may use at that moment.

#[cfg(target_os = "linux")]
pub(crate) use linux::Placement;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Placement;

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicI32, Ordering};

    /// See the module's documentation.
    pub(crate) struct Placement {
        /// The CPUs to bind threads to, in turn; none if they are not to be bound.
        cpus: Vec<usize>,
        /// The kernel's ids of the pool's threads; 0 before the thread has started.
        threads: Box<[AtomicI32]>,
    }

    /// What `thread` may use; 0 is the caller.
    fn affinity_of(thread: i32) -> Option<libc::cpu_set_t> {
        // SAFETY: all-zero bits are an empty set, and the kernel writes at most the size we give.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of::<libc::cpu_set_t>();
            (libc::sched_getaffinity(thread, size, &raw mut set) == 0).then_some(set)
        }
    }

    /// From now on the caller may use these. If the kernel does not agree, what it might before.
    fn bind_caller(cpus: impl Iterator<Item = usize>) {
        // SAFETY: all-zero bits are an empty set, the indices come out of one, and the kernel only reads it.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            cpus.for_each(|cpu| libc::CPU_SET(cpu, &mut set));
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
        }
    }

    fn members(set: libc::cpu_set_t) -> impl Iterator<Item = usize> {
        let all = 0..libc::CPU_SETSIZE as usize;
        // SAFETY: the index is inside the set.
        all.filter(move |&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
    }

    impl Placement {
        /// For a pool of `threads` threads. `pin`: each is bound to one CPU.
        pub(crate) fn new(threads: usize, pin: bool) -> Self {
            let allowed = pin.then(|| affinity_of(0)).flatten();
            Placement {
                cpus: allowed.into_iter().flat_map(members).collect(),
                threads: (0..threads).map(|_| AtomicI32::new(0)).collect(),
            }
        }

        /// A thread of the pool introduces itself.
        pub(crate) fn thread_started(&self, thread: usize) {
            // SAFETY: no arguments, no failure.
            let id = unsafe { libc::gettid() };
            self.threads[thread].store(id, Ordering::Relaxed);
            if !self.cpus.is_empty() {
                bind_caller([self.cpus[thread % self.cpus.len()]].into_iter());
            }
        }

        /// A thread that stands in for the pool's introduces itself, before the user's start handler.
        pub(crate) fn stand_in_started(&self) {
            let ids = self.threads.iter().map(|id| id.load(Ordering::Relaxed));
            // 0 would be the caller itself. An id whose thread has ended is refused, or a stranger's, which does no harm: the pool is over.
            let theirs = ids.filter(|&id| id != 0).filter_map(affinity_of);
            bind_caller(theirs.flat_map(members));
        }

        /// The seat whose thread is bound to the CPU that the caller is on, if threads are bound.
        pub(crate) fn seat_of_caller(&self) -> Option<usize> {
            if self.cpus.is_empty() {
                return None;
            }
            // SAFETY: no arguments; negative on failure.
            let here = usize::try_from(unsafe { libc::sched_getcpu() }).ok()?;
            let seat = self.cpus.iter().position(|&cpu| cpu == here)?;
            (seat < self.threads.len()).then_some(seat)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    /// Leaves everything to the kernel.
    pub(crate) struct Placement;

    impl Placement {
        pub(crate) fn new(_threads: usize, _pin: bool) -> Self {
            Placement
        }

        pub(crate) fn thread_started(&self, _thread: usize) {}

        pub(crate) fn stand_in_started(&self) {}

        pub(crate) fn seat_of_caller(&self) -> Option<usize> {
            None
        }
    }
}
