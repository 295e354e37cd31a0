//! What a `fork` leaves of a pool.
//!
//! The child has one thread, the one that forked. The parent's pools are there in memory, in whatever state their threads were at that moment, but no
//! thread will ever run their work. So each pool knows the *generation* of the process that made it, which is counted up in every child, and a pool of an
//! older one is not used again: the global pool and a `ThreadPool` are made anew, with the same settings, when they are next needed
//! ([`crate::global`], [`crate::thread_pool`]). What the child inherits unfinished it cannot wait for; it gets a panic that says so.
//!
//! The thread that forked may itself have been in a pool. In the child it is in none.
//!
//! Locks that may be held by a thread of the parent when it forks are [`ForkLock`]s. Memory is the allocator's business, and those of the common systems can be used in a
//! child. (A child of `vfork` or of a bare `clone` knows nothing of this.)
//!
//! One lock is the standard library's: each thread takes it for a moment before its closure is called and after that has returned (it guards the list of
//! stacks for the message about an overflow). Threads of ours are therefore started by [`start_thread`], and a fork waits until none of them is in such a
//! moment ([`Crossings`]). Threads that others start are out of our reach: a child made while one of them starts or ends may find the lock locked, and cannot start any.

use crate::abort::without_unwinding;
use crate::crossings::Crossings;
use crate::sync::AtomicU64;
use blitz_primitives::futex;
use std::cell::{Cell, UnsafeCell};
use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{Builder, JoinHandle, Thread};
#[cfg(windows)]
use {crate::thread_latch::ThreadLatch, std::sync::Arc};

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// How many forks lie between the first process and this one.
#[inline]
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// The caller is about to wait for something that a thread of generation `made` was to do.
///
/// # Panics
/// If that is not this process.
pub(crate) fn assert_may_wait(made: u64) {
    assert!(
        made == generation(),
        "this process is a child made by fork(), and waits for work that only threads of its parent could finish: \
         fork while nothing parallel is unfinished, or call exec in the child"
    );
}

/// Notices forks from now on. Before the first pool there is nothing to notice.
pub(crate) fn notice() {
    // Not a `Once`: a fork in the middle of it would leave the child waiting for it.
    static NOTICED: AtomicBool = AtomicBool::new(false);
    if !NOTICED.swap(true, Ordering::Relaxed) {
        #[cfg(unix)]
        // SAFETY: the last function may be called in a child: it stores to atomics and to thread-locals without destructors. If there is no
        // memory to register them, children of this process are as badly off as without.
        unsafe {
            libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child));
        }
    }
}

#[cfg(unix)]
extern "C" fn before() {
    CROSSINGS.close();
}

#[cfg(unix)]
extern "C" fn in_parent() {
    CROSSINGS.open();
}

#[cfg(unix)]
extern "C" fn in_child() {
    CROSSINGS.open();
    GENERATION.fetch_add(1, Ordering::Relaxed);
    crate::parents_only::close();
    crate::seat::forget();
    crate::global::forget();
}

static CROSSINGS: Crossings = Crossings::new();

/// No fork comes as long as there is one: from when a thread of ours is about to be started until its closure is called; from when that has returned until the standard library is
/// through with the thread; and between the making of a descriptor and its note ([`crate::parents_only`]).
pub(crate) struct Crossing(());

impl Crossing {
    pub(crate) fn begin() -> Self {
        CROSSINGS.enter();
        Crossing(())
    }
}

impl Drop for Crossing {
    fn drop(&mut self) {
        CROSSINGS.leave();
    }
}

/// Starts a thread of ours, such that no fork comes while it starts or ends.
pub(crate) fn start_thread(
    builder: Builder,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<ThreadHandle> {
    thread_local! {
        /// Destructors of thread-locals run after the standard library's own end of a thread.
        static LEAVES: Cell<Option<Crossing>> = const { Cell::new(None) };
    }
    let starts = Crossing::begin();
    #[cfg(windows)]
    let course = Arc::new(Course::default());
    #[cfg(windows)]
    let own_course = Arc::clone(&course);
    // If there is no thread, the closure is dropped.
    let handle = builder.spawn(move || {
        drop(starts);
        #[cfg(windows)]
        if !own_course.begins() {
            return;
        }
        // A child made by work that has returned from it ends here, and not as if all were well: its last thread would.
        without_unwinding("a thread panicked outside of any job", work);
        // Last, and not before: what is used last is destroyed first. The destructors of other thread-locals are other people's code,
        // which may wait for the thread that forks.
        LEAVES.set(Some(Crossing::begin()));
        #[cfg(windows)]
        own_course.done.set();
    })?;
    Ok(ThreadHandle {
        handle,
        #[cfg(windows)]
        course,
    })
}

/// How far a thread is. On Windows a thread that destroys its thread-locals has a lock which others need to start and to end, so nobody may wait for that
/// who might be such a thread: somebody who owns a runtime in a thread-local.
#[cfg(windows)]
#[derive(Debug, Default)]
struct Course {
    /// By the thread, or by the first who cannot wait for it to begin: then its work is not done at all.
    begun: AtomicBool,
    done: ThreadLatch,
}

#[cfg(windows)]
impl Course {
    /// `true` for the first one to ask.
    fn begins(&self) -> bool {
        !self.begun.swap(true, Ordering::AcqRel)
    }
}

/// A thread of ours.
#[derive(Debug)]
pub struct ThreadHandle {
    handle: JoinHandle<()>,
    #[cfg(windows)]
    course: Arc<Course>,
}

impl ThreadHandle {
    /// To unpark it, or to tell it from others.
    pub fn thread(&self) -> &Thread {
        self.handle.thread()
    }

    /// Is it past its work?
    pub(crate) fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }

    /// Waits until it has ended. What it was to do is not needed any more, whether or not it has begun.
    ///
    /// On Windows it may still be on its way out afterwards, or in.
    pub fn join(self) {
        #[cfg(windows)]
        if !self.course.begins() {
            self.course.done.wait();
        }
        // It does not panic.
        #[cfg(not(windows))]
        let _ = self.handle.join();
    }
}

/// A lock that a fork opens in the child, with what `T::default()` is: whoever held it may have left half of a change behind.
pub struct ForkLock<T> {
    /// Twice the generation, and 1 more while it is locked.
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: as a mutex.
unsafe impl<T: Send> Sync for ForkLock<T> {}

impl<T: Default> ForkLock<T> {
    /// Open.
    pub const fn new(value: T) -> Self {
        ForkLock {
            state: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for whoever has it.
    pub fn lock(&self) -> Locked<'_, T> {
        let open = (generation() as u32).wrapping_mul(2);
        loop {
            let state = self.state.load(Ordering::Relaxed);
            let takes = if state == open | 1 {
                futex::wait(&self.state, state);
                continue;
            } else {
                self.state
                    .compare_exchange(state, open | 1, Ordering::Acquire, Ordering::Relaxed)
            };
            if takes.is_err() {
                continue;
            }
            if state != open {
                // SAFETY: the lock is ours. The old value is the parent's, perhaps in the middle of a change: it is not dropped.
                unsafe { self.value.get().write(T::default()) };
            }
            return Locked { lock: self, open };
        }
    }
}

impl<T: Default> Default for ForkLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

pub struct Locked<'a, T> {
    lock: &'a ForkLock<T>,
    open: u32,
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is ours.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        self.lock.state.store(self.open, Ordering::Release);
        futex::wake_one(&raw const self.lock.state);
    }
}
