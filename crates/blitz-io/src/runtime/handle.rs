//! The way to a runtime, from anywhere.

use super::{Id, RuntimeFlavor, RuntimeMetrics, block_on};
use crate::blocking::Duty;
use crate::context;
use crate::cpu::WhenUnwanted;
use crate::place::Place;
use crate::scheduler::Shared;
use crate::task::{JoinHandle, on_heap_if_large};
use blitz_core::companion::Polled;
use blitz_core::site::Site;
use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// A way to a runtime that does not keep it running. Cheap to clone.
///
/// ```
/// let runtime = blitz_io::Runtime::new()?;
/// let handle = runtime.handle().clone();
/// // From a thread that the runtime knows nothing of.
/// let answer = std::thread::spawn(move || handle.block_on(handle.spawn(async { 42 })));
/// assert_eq!(answer.join().unwrap()?, 42);
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct Handle {
    pub(super) shared: Arc<Shared>,
}

impl Handle {
    /// The runtime that the calling code runs in.
    ///
    /// # Panics
    /// If it runs in none.
    ///
    /// ```
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// let handle = runtime.block_on(async { blitz_io::runtime::Handle::current() });
    /// assert_eq!(handle.block_on(async { 6 * 7 }), 42);
    /// ```
    #[track_caller]
    pub fn current() -> Self {
        context::with(|shared| Handle {
            shared: Arc::clone(shared),
        })
    }

    /// The runtime that the calling code runs in.
    ///
    /// # Errors
    /// If it runs in none.
    ///
    /// ```
    /// assert!(blitz_io::runtime::Handle::try_current().is_err(), "there is no runtime here");
    /// ```
    pub fn try_current() -> Result<Self, TryCurrentError> {
        let current = context::current().map(|shared| Handle { shared });
        current.ok_or(TryCurrentError(()))
    }

    /// Runs a future on the calling thread, and returns its output. Tasks that it spawns run on the runtime's threads.
    ///
    /// May be called anywhere, also in a closure of [`spawn_cpu`](crate::spawn_cpu) or of a parallel iterator: while the
    /// thread waits, the runtime's other threads (and if all are busy, the relief thread) serve the tasks.
    ///
    /// # Panics
    /// Inside of a task of the same current-thread runtime: its one thread would wait for itself.
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new()?;
    /// let handle = runtime.handle().clone();
    /// let answer = std::thread::spawn(move || handle.block_on(async { blitz_io::spawn(async { 42 }).await }));
    /// assert_eq!(answer.join().unwrap()?, 42);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.shared.assert_of_this_process();
        let _entered = context::enter(Arc::clone(&self.shared));
        if self.shared.pool().is_none() {
            self.assert_may_block();
        }
        Polled::wait(Site::caller(), future, |future| {
            if self.shared.pool().is_some() {
                block_on::block_on(&self.shared, future)
            } else {
                block_on::block_on_current(&self.shared, future)
            }
        })
    }

    /// The caller is about to wait for this runtime's tasks.
    ///
    /// # Panics
    /// If it is one of them, and nobody else could run the others.
    #[track_caller]
    pub(crate) fn assert_may_block(&self) {
        assert!(
            self.shared.pool().is_some() || self.shared.my_core().is_none(),
            "block_on inside of a task of a current-thread runtime: its thread would wait for itself; await the future instead",
        );
    }

    /// Runs a future as a task; see [`spawn`](crate::spawn).
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new().unwrap();
    /// let handle = runtime.handle().clone();
    /// // From a thread of its own, say.
    /// let task = handle.spawn(async { 6 * 7 });
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let place = Place::here();
        on_heap_if_large!(future: F, self.spawn_at(place, future))
    }

    /// The same from somewhere else.
    pub(crate) fn spawn_at<F>(&self, place: Place, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.shared.assert_of_this_process();
        JoinHandle::new(self.shared.spawn(place, future))
    }

    /// Runs a closure that blocks; see [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new()?;
    /// let text = runtime.handle().spawn_blocking(|| std::fs::read_to_string("Cargo.toml"));
    /// assert!(runtime.block_on(text)??.contains("blitz-io"));
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, work: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.shared.assert_of_this_process();
        let _entered = context::enter(Arc::clone(&self.shared));
        let place = Place::here();
        self.shared
            .blocking
            .spawn(place, Duty::MayBeCancelled, work)
    }

    /// Runs a computation; see [`spawn_cpu`](crate::spawn_cpu).
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new()?;
    /// let sum = runtime.handle().spawn_cpu(|| (1..=1000_u64).sum::<u64>());
    /// assert_eq!(runtime.block_on(sum)?, 500_500);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_cpu<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        crate::cpu::spawn_cpu_in(Place::here(), &self.shared, WhenUnwanted::Stops, work)
    }

    /// Runs a computation that nobody waits for; see [`spawn_cpu_detached`](crate::spawn_cpu_detached).
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// runtime.handle().spawn_cpu_detached(move || sender.send((1..=10).sum::<u32>()).unwrap());
    /// assert_eq!(receiver.recv(), Ok(55));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn spawn_cpu_detached(&self, work: impl FnOnce() + Send + 'static) {
        drop(crate::cpu::spawn_cpu_in(
            Place::here(),
            &self.shared,
            WhenUnwanted::GoesOn,
            work,
        ));
    }

    /// Makes this the calling thread's runtime until the guard is dropped, so that sockets and timers can be made.
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new().unwrap();
    /// let handle = runtime.handle().clone();
    /// let _inside = handle.enter();
    /// let task = blitz_io::spawn(async { 6 * 7 });
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard {
            _entered: context::enter(Arc::clone(&self.shared)),
            _handle: std::marker::PhantomData,
        }
    }

    /// What the runtime has done so far.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_current_thread().build()?;
    /// let task = runtime.spawn(std::future::pending::<()>());
    /// assert_eq!(runtime.handle().metrics().num_alive_tasks(), 1);
    /// # drop(task);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics::of(Arc::clone(&self.shared))
    }

    /// Does it have threads of its own, or use the caller's?
    ///
    /// ```
    /// use blitz_io::runtime::RuntimeFlavor;
    ///
    /// let runtime = blitz_io::Builder::new_current_thread().build()?;
    /// assert_eq!(runtime.handle().runtime_flavor(), RuntimeFlavor::CurrentThread);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        match self.shared.pool() {
            Some(_) => RuntimeFlavor::MultiThread,
            None => RuntimeFlavor::CurrentThread,
        }
    }

    /// The runtime's number, which no other one of this process has.
    ///
    /// ```
    /// let one = blitz_io::Builder::new_current_thread().build()?;
    /// let two = blitz_io::Builder::new_current_thread().build()?;
    /// assert_ne!(one.handle().id(), two.handle().id());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn id(&self) -> Id {
        self.shared.identity.id()
    }

    /// The name that its [`Builder`](super::Builder::name) gave it.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_current_thread().build()?;
    /// assert_eq!(runtime.handle().name(), None);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.shared.identity.name()
    }
}

// As for `Runtime`.
impl UnwindSafe for Handle {}
impl RefUnwindSafe for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("workers", &self.shared.workers())
            .finish_non_exhaustive()
    }
}

/// See [`Handle::enter`]. Guards may be dropped in any order: the thread is in the runtime of the last one made that is still there.
#[must_use = "the runtime is left when the guard is dropped"]
pub struct EnterGuard<'a> {
    _entered: context::Entered,
    _handle: std::marker::PhantomData<&'a Handle>,
}

// SAFETY: a shared guard gives access to nothing.
unsafe impl Sync for EnterGuard<'_> {}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnterGuard")
    }
}

/// The calling code runs in no runtime. See [`Handle::try_current`].
///
/// ```
/// let error = blitz_io::Handle::try_current().unwrap_err();
/// assert!(error.is_missing_context() && !error.is_thread_local_destroyed());
/// println!("{error}");
/// ```
pub struct TryCurrentError(());

impl TryCurrentError {
    /// Always: there is no other reason.
    pub fn is_missing_context(&self) -> bool {
        true
    }

    /// Never: which runtime a thread is in is known until its very end.
    pub fn is_thread_local_destroyed(&self) -> bool {
        false
    }
}

impl fmt::Debug for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryCurrentError")
            .field("kind", &format_args!("NoContext"))
            .finish()
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(context::MISSING)
    }
}

impl std::error::Error for TryCurrentError {}
