//! Which CPUs a pool's threads may use (Linux; elsewhere that is left to the kernel).
//!
//! Threads may use what the process may use. A task that asks for the number of CPUs, starts a program or builds a pool must not see anything else,
//! and whoever confines the process later (`taskset`) has the last word. One exception is asked for:
//! [`pin_workers`](crate::ThreadPoolBuilder::pin_workers) binds each thread to one CPU when it starts, and
//! [`one_worker_per`](crate::ThreadPoolBuilder::one_worker_per) to those of a core or a node.
//!
//! # Where a woken thread runs
//! Some kernels put a woken thread on its waker's CPU and leave it there for milliseconds: two threads then take turns on one CPU while another
//! idles. So a waker that goes on computing forbids its own CPU to the thread, *while that sleeps* ([`Steering`]); and the thread takes the ban back when it
//! wakes up, before it does anything else. By then it is where it should be, and the kernel has no reason to move it. If the process
//! has been confined between the two, that is what the thread follows.
//!
//! A thread that stands in for the pool's threads is started by one of them and inherits what that one may use, which is a single CPU
//! if they are bound, by us or by the user's start handler. It may use what any of them may use at that moment.
//!
//! # Who has none
//! A thread that makes no progress may be stuck, or wait for a CPU: the kernel knows ([`Placement::may_sleep`]).

#[cfg(target_os = "linux")]
pub use linux::Steering;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Placement, allowed_cpus};
#[cfg(not(target_os = "linux"))]
pub use other::Steering;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Placement, allowed_cpus};

/// What threads are bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pinning {
    /// Nothing.
    #[default]
    Free,
    /// A CPU each, of those that whoever builds the pool may use.
    Cpus,
    /// One of these sets of CPUs each, all of which the builder may use.
    Shares(Vec<Vec<usize>>),
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Pinning;
    use crate::rows::Rows;
    use crate::sync::ignore_poison;
    use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
    use std::sync::{Mutex, MutexGuard};

    /// See the module's documentation.
    pub(crate) struct Placement {
        pinning: Pinning,
        /// What threads are bound to, in turn; nothing if they are not to be bound.
        bound_to: Vec<libc::cpu_set_t>,
        /// The kernel's ids of the pool's threads; 0 before the thread has started.
        threads: Rows<AtomicI32>,
        steering: Rows<Steering>,
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

    /// From now on `thread` may use these; 0 is the caller. `false`: the kernel does not agree, and nothing has changed.
    fn bind(thread: i32, cpus: &libc::cpu_set_t) -> bool {
        // SAFETY: the kernel reads the set; a stale id makes it fail.
        unsafe { libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), cpus) == 0 }
    }

    fn set_of(cpus: impl Iterator<Item = usize>) -> libc::cpu_set_t {
        // SAFETY: all-zero bits are an empty set, and the indices come out of one.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            cpus.for_each(|cpu| libc::CPU_SET(cpu, &mut set));
            set
        }
    }

    fn members(set: libc::cpu_set_t) -> impl Iterator<Item = usize> {
        let all = 0..libc::CPU_SETSIZE as usize;
        // SAFETY: the index is inside the set.
        all.filter(move |&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
    }

    /// A thread that others may send to another CPU while it sleeps, or call there when it is between two things. What it runs does not see
    /// anything of it.
    #[derive(Default)]
    pub struct Steering {
        sleeper: Mutex<Sleeper>,
        /// The number of a CPU, and one; 0 if nobody has called since the last answer.
        called_to: AtomicUsize,
    }

    #[derive(Default)]
    struct Sleeper {
        /// The kernel's id, while the thread sleeps in code of ours; else 0.
        thread: i32,
        sent: Option<Sent>,
    }

    /// What was so before it was sent.
    struct Sent {
        own: libc::cpu_set_t,
        process: libc::cpu_set_t,
    }

    /// What the process may use: its first thread, which nobody here touches, and the first that a tool for processes (`taskset -a`) gets to.
    fn affinity_of_process() -> Option<libc::cpu_set_t> {
        // SAFETY: no arguments, no failure.
        affinity_of(unsafe { libc::getpid() })
    }

    fn equal(one: &libc::cpu_set_t, other: &libc::cpu_set_t) -> bool {
        // SAFETY: both are sets.
        unsafe { libc::CPU_EQUAL(one, other) }
    }

    impl Steering {
        fn sleeper(&self) -> MutexGuard<'_, Sleeper> {
            ignore_poison(self.sleeper.lock())
        }

        /// The calling thread is about to sleep.
        pub fn falls_asleep(&self) {
            thread_local! {
                // SAFETY: no arguments, no failure.
                static ID: i32 = unsafe { libc::gettid() };
            }
            self.sleeper().thread = ID.try_with(|id| *id).unwrap_or(0);
        }

        /// The calling thread has woken up: it may use what it might before.
        pub fn is_awake(&self) {
            let mut sleeper = self.sleeper();
            sleeper.thread = 0;
            let Some(sent) = sleeper.sent.take() else {
                return;
            };
            // If somebody has changed what the process may use meanwhile, that goes for us, too: what they have told us we are about to overwrite.
            // They come to the first thread first, so a change that we do not see here comes to us after this.
            loop {
                let process = affinity_of_process();
                let changed = process.filter(|process| !equal(process, &sent.process));
                bind(0, changed.as_ref().unwrap_or(&sent.own));
                let again = affinity_of_process();
                if process
                    .zip(again)
                    .is_none_or(|(one, other)| equal(&one, &other))
                {
                    return;
                }
            }
        }

        /// Keeps the thread, if it sleeps, off the caller's CPU until it is awake.
        pub fn send_away(&self) {
            let Some(here) = current_cpu() else { return };
            self.sleeper().send(here, |own| {
                let mut elsewhere = *own;
                // SAFETY: the index is inside the set: the kernel gave it.
                unsafe { libc::CPU_CLR(here, &mut elsewhere) };
                elsewhere
            });
        }

        /// Brings the thread to the caller's CPU: at once if it sleeps (or has not run since it was woken), else when it next answers.
        pub fn call(&self) {
            let Some(here) = current_cpu() else { return };
            let mut sleeper = self.sleeper();
            if sleeper.thread == 0 {
                self.called_to.store(here + 1, Ordering::Relaxed);
            } else {
                sleeper.send(here, |_| set_of([here].into_iter()));
            }
        }

        /// The calling thread goes where it was called to since it answered last. It is not bound to that CPU: the kernel just has no reason to
        /// move it, and wakes it there the next time.
        #[inline]
        pub fn answer_call(&self) {
            if self.called_to.load(Ordering::Relaxed) != 0 {
                self.go();
            }
        }

        #[cold]
        fn go(&self) {
            let there = self.called_to.swap(0, Ordering::Relaxed);
            if there == 0 || current_cpu() == Some(there - 1) {
                return;
            }
            // As if it had been sent there in its sleep.
            self.falls_asleep();
            let only = |_: &libc::cpu_set_t| set_of([there - 1].into_iter());
            self.sleeper().send(there - 1, only);
            self.is_awake();
        }
    }

    /// Those that the calling thread may use.
    pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
        affinity_of(0).map(|set| members(set).collect())
    }

    fn current_cpu() -> Option<usize> {
        // SAFETY: no arguments; negative on failure.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }

    impl Sleeper {
        /// Chooses among the CPUs that the thread may use, if `this` is one of several.
        fn send(&mut self, this: usize, choose: impl FnOnce(&libc::cpu_set_t) -> libc::cpu_set_t) {
            if self.thread == 0 || self.sent.is_some() {
                return;
            }
            let Some(own) = affinity_of(self.thread) else {
                return;
            };
            // SAFETY: the index is inside the set: the kernel gave it.
            if unsafe { !libc::CPU_ISSET(this, &own) || libc::CPU_COUNT(&own) == 1 } {
                return;
            }
            let Some(process) = affinity_of_process() else {
                return;
            };
            if bind(self.thread, &choose(&own)) {
                self.sent = Some(Sent { own, process });
            }
        }
    }

    impl std::fmt::Debug for Steering {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Steering").finish_non_exhaustive()
        }
    }

    impl Placement {
        /// For a pool of `threads` threads.
        pub(crate) fn new(threads: usize, pinning: Pinning) -> Self {
            let bound_to = match &pinning {
                Pinning::Free => Vec::new(),
                Pinning::Cpus => {
                    let allowed = allowed_cpus().unwrap_or_default();
                    allowed
                        .into_iter()
                        .map(|cpu| set_of([cpu].into_iter()))
                        .collect()
                }
                Pinning::Shares(shares) => {
                    let set = |share: &Vec<usize>| set_of(share.iter().copied());
                    shares.iter().map(set).collect()
                }
            };
            Placement {
                pinning,
                bound_to,
                threads: (0..threads).map(|_| AtomicI32::new(0)).collect(),
                steering: (0..threads).map(|_| Steering::default()).collect(),
            }
        }

        /// Is it left to the kernel, and to wakers, where threads run?
        pub(crate) fn is_free(&self) -> bool {
            self.bound_to.is_empty()
        }

        /// For another pool like this one's, of so many threads.
        pub(crate) fn again(&self, threads: usize) -> Self {
            Self::new(threads, self.pinning.clone())
        }

        /// The pool gets more threads. For one caller at a time.
        pub(crate) fn grow_to(&self, threads: usize) {
            self.threads.grow_to(threads, |_| AtomicI32::new(0));
            self.steering.grow_to(threads, |_| Steering::default());
        }

        /// How to send a thread of the pool elsewhere while it sleeps.
        pub(crate) fn steering(&self, thread: usize) -> &Steering {
            &self.steering[thread]
        }

        /// A thread of the pool introduces itself.
        pub(crate) fn thread_started(&self, thread: usize) {
            // SAFETY: no arguments, no failure.
            let id = unsafe { libc::gettid() };
            self.threads[thread].store(id, Ordering::Relaxed);
            if !self.bound_to.is_empty() {
                bind(0, &self.bound_to[thread % self.bound_to.len()]);
            }
        }

        /// Does a thread of the pool sleep in the kernel, as far as can be told? One that runs, or waits for a CPU, does not.
        ///
        /// Reads a file: for those who have seen it make no progress for milliseconds.
        pub(crate) fn may_sleep(&self, thread: usize) -> bool {
            let id = self.threads[thread].load(Ordering::Relaxed);
            let text = std::fs::read(format!("/proc/self/task/{id}/stat")).unwrap_or_default();
            // Its number, its name in parentheses, and a letter.
            let name_ends = text.iter().rposition(|&byte| byte == b')');
            name_ends.and_then(|end| text.get(end + 2)) != Some(&b'R')
        }

        /// A thread that stands in for the pool's introduces itself, before the user's start handler.
        pub(crate) fn stand_in_started(&self) {
            let ids = self.threads.iter().map(|id| id.load(Ordering::Relaxed));
            // 0 would be the caller itself. An id whose thread has ended is refused, or a stranger's, which does no harm: the pool is over.
            let theirs = ids.filter(|&id| id != 0).filter_map(affinity_of);
            bind(0, &set_of(theirs.flat_map(members)));
        }

        /// The seat whose thread is bound to the CPU that the caller is on, if threads are bound.
        pub(crate) fn seat_of_caller(&self) -> Option<usize> {
            if self.bound_to.is_empty() {
                return None;
            }
            let here = current_cpu()?;
            // SAFETY: the index is inside the set: the kernel gave it.
            let is_here = |set: &libc::cpu_set_t| unsafe { libc::CPU_ISSET(here, set) };
            let seat = self.bound_to.iter().position(is_here)?;
            (seat < self.threads.len()).then_some(seat)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use super::Pinning;

    /// Nobody tells.
    pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
        None
    }

    /// Leaves everything to the kernel.
    pub(crate) struct Placement(Steering);

    impl Placement {
        pub(crate) fn new(_threads: usize, _pinning: Pinning) -> Self {
            Placement(Steering::default())
        }

        pub(crate) fn is_free(&self) -> bool {
            true
        }

        pub(crate) fn steering(&self, _thread: usize) -> &Steering {
            &self.0
        }

        pub(crate) fn again(&self, _threads: usize) -> Self {
            Placement(Steering::default())
        }

        pub(crate) fn grow_to(&self, _threads: usize) {}

        pub(crate) fn thread_started(&self, _thread: usize) {}

        pub(crate) fn may_sleep(&self, _thread: usize) -> bool {
            true
        }

        pub(crate) fn stand_in_started(&self) {}

        pub(crate) fn seat_of_caller(&self) -> Option<usize> {
            None
        }
    }

    /// Leaves everything to the kernel.
    #[derive(Debug, Default)]
    pub struct Steering(());

    impl Steering {
        /// The calling thread is about to sleep.
        pub fn falls_asleep(&self) {}

        /// The calling thread has woken up.
        pub fn is_awake(&self) {}

        /// Would keep the thread off the caller's CPU.
        pub fn send_away(&self) {}

        /// Would ask the thread to come to the caller's CPU.
        pub fn call(&self) {}

        /// Would go where it was called to.
        pub fn answer_call(&self) {}
    }
}
