//! A current-thread runtime that stays on the thread that made it: its tasks need not be `Send`.
//!
//! It is a current-thread runtime and a [`LocalSet`], which the runtime knows. So [`spawn_local`](crate::task::spawn_local) works in everything
//! that is in the runtime, on its thread. The runtime's own tasks may be spawned from anywhere, and run on that thread, too.

use super::{EnterGuard, Handle, Runtime, RuntimeMetrics};
use crate::task::{JoinHandle, LocalSet};
use std::fmt;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

/// Settings for a [`LocalRuntime`]. There are none yet.
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
    pub fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Spawns a task that need not be `Send`. It runs while the runtime is in [`block_on`](Self::block_on).
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.local.spawn_local(future)
    }

    /// As [`Handle::spawn_blocking`].
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
    pub fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }

    /// As [`Runtime::shutdown_timeout`].
    pub fn shutdown_timeout(self, limit: Duration) {
        let LocalRuntime { local, runtime } = self;
        let entered = runtime.enter();
        drop(local);
        drop(entered);
        runtime.shutdown_timeout(limit);
    }

    /// As [`Runtime::shutdown_background`].
    pub fn shutdown_background(self) {
        self.shutdown_timeout(Duration::ZERO);
    }

    /// As [`Handle::metrics`].
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
