//! A current-thread runtime that stays on the thread that made it: its tasks need not be `Send`.
//!
//! It is a current-thread runtime and a [`LocalSet`], which the runtime knows: [`spawn_local`](crate::task::spawn_local) works in everything
//! that is in the runtime, on its thread. The runtime's own tasks may be spawned from anywhere, and run there, too.

use super::{EnterGuard, Handle, Runtime, RuntimeMetrics};
use crate::task::{JoinHandle, LocalSet};
use std::fmt;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

/// Settings for a [`LocalRuntime`]. There are none yet.
///
/// ```
/// use blitz_io::runtime::{Builder, LocalOptions};
///
/// let runtime = Builder::new_current_thread().build_local(LocalOptions::default())?;
/// # drop(runtime);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LocalOptions {
    not_send_or_sync: PhantomData<*const ()>,
}

/// A runtime for one thread, whose tasks need not be `Send`.
///
/// ```
/// use blitz_io::runtime::LocalRuntime;
/// use std::rc::Rc;
///
/// let runtime = LocalRuntime::new().unwrap();
/// let text = Rc::new("not Send".to_owned());
/// let length = runtime.block_on(async { blitz_io::task::spawn_local(async move { text.len() }).await });
/// assert_eq!(length.unwrap(), 8);
/// ```
pub struct LocalRuntime {
    // First to go: what its futures hold may want the runtime when they are dropped.
    local: LocalSet,
    runtime: Runtime,
}

impl LocalRuntime {
    /// One with usual settings.
    ///
    /// # Errors
    /// If the operating system refuses a file descriptor.
    pub fn new() -> io::Result<LocalRuntime> {
        super::Builder::new_current_thread()
            .enable_all()
            .build_local(LocalOptions::default())
    }

    pub(super) fn new_with(runtime: Runtime) -> Self {
        let local = LocalSet::new();
        let shared = &runtime.handle().shared;
        assert!(shared.local.set(local.tasks()).is_ok(), "a new runtime");
        #[cfg(feature = "console")]
        crate::console::has_local_tasks(shared);
        LocalRuntime { local, runtime }
    }

    /// The way to it, for other threads, too. What is spawned by it has to be `Send`.
    ///
    /// ```
    /// let runtime = blitz_io::runtime::LocalRuntime::new()?;
    /// let handle = runtime.handle().clone();
    /// let task = std::thread::spawn(move || handle.spawn(async { 42 })).join().unwrap();
    /// assert_eq!(runtime.block_on(task)?, 42);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Spawns a task that need not be `Send`. It runs while the runtime is in [`block_on`](Self::block_on).
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// let runtime = blitz_io::runtime::LocalRuntime::new()?;
    /// let shared = Rc::new(42);
    /// let task = runtime.spawn_local(async move { *shared });
    /// assert_eq!(runtime.block_on(task)?, 42);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.local.spawn_local(future)
    }

    /// As [`Handle::spawn_blocking`].
    ///
    /// ```
    /// let runtime = blitz_io::runtime::LocalRuntime::new()?;
    /// let task = runtime.spawn_blocking(|| std::fs::read("Cargo.toml"));
    /// assert!(runtime.block_on(task)?.is_ok());
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, work: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.runtime.spawn_blocking(work)
    }

    /// Runs a future, and tasks meanwhile.
    ///
    /// # Panics
    /// Inside of a task of the same runtime.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(self.local.run_until(future))
    }

    /// As [`Handle::enter`].
    ///
    /// ```
    /// let runtime = blitz_io::runtime::LocalRuntime::new()?;
    /// let _guard = runtime.enter();
    /// let task = blitz_io::task::spawn_local(async { 42 });
    /// assert_eq!(runtime.block_on(task)?, 42);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }

    /// As [`Runtime::shutdown_timeout`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = blitz_io::runtime::LocalRuntime::new()?;
    /// runtime.shutdown_timeout(Duration::from_secs(1));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown_timeout(self, limit: Duration) {
        let LocalRuntime { local, runtime } = self;
        let entered = runtime.enter();
        drop(local);
        drop(entered);
        runtime.shutdown_timeout(limit);
    }

    /// As [`Runtime::shutdown_background`].
    ///
    /// ```
    /// let runtime = blitz_io::runtime::LocalRuntime::new()?;
    /// runtime.shutdown_background();
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown_background(self) {
        self.shutdown_timeout(Duration::ZERO);
    }

    /// As [`Handle::metrics`].
    ///
    /// ```
    /// let runtime = blitz_io::runtime::LocalRuntime::new()?;
    /// assert_eq!(runtime.metrics().num_workers(), 1);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn metrics(&self) -> RuntimeMetrics {
        self.runtime.metrics()
    }
}

// As for `Runtime`.
impl UnwindSafe for LocalRuntime {}
impl RefUnwindSafe for LocalRuntime {}

impl fmt::Debug for LocalRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalRuntime").finish_non_exhaustive()
    }
}
