//! How a pool's threads are started: by the engine, or by a function of the user's.

use super::error::{ErrorKind, ThreadPoolBuildError};
use crate::abort::AbortOnDrop;
use crate::pool::Pool;
use crate::process_fork;
use crate::worker;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;

/// How threads are started. Implemented by [`DefaultSpawn`] and [`CustomSpawn`] only.
pub trait ThreadSpawn: private::Sealed {
    /// Starts a thread that calls [`ThreadBuilder::run`].
    #[doc(hidden)]
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;

    /// Are the threads a user's own?
    #[doc(hidden)]
    const CUSTOM: bool;
}

mod private {
    pub trait Sealed {}
}

/// Starts threads with [`std::thread::Builder`].
#[derive(Debug, Default)]
pub struct DefaultSpawn;

/// Starts threads with a user's function. See [`ThreadPoolBuilder::spawn_handler`](crate::ThreadPoolBuilder::spawn_handler).
#[derive(Debug)]
pub struct CustomSpawn<F>(pub(super) F);

impl private::Sealed for DefaultSpawn {}

impl<F> private::Sealed for CustomSpawn<F> {}

impl ThreadSpawn for DefaultSpawn {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        let (builder, pool) = (thread.std_builder(), Arc::clone(&thread.pool));
        let handle = process_fork::start_thread(builder, || thread.run())?;
        pool.keep_handle(handle);
        Ok(())
    }

    const CUSTOM: bool = false;
}

impl<F: FnMut(ThreadBuilder) -> io::Result<()>> ThreadSpawn for CustomSpawn<F> {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }

    const CUSTOM: bool = true;
}

/// A thread that is about to join a pool: what a spawn handler gets.
///
/// ```
/// use blitz_core::ThreadPoolBuilder;
///
/// let pool = ThreadPoolBuilder::new()
///     .num_threads(2)
///     .spawn_handler(|thread| {
///         let name = format!("worker {} of the game", thread.index());
///         std::thread::Builder::new().name(name).spawn(|| thread.run())?;
///         Ok(())
///     })
///     .build()?;
/// let name = pool.broadcast(|_| std::thread::current().name().map(str::to_owned)).remove(1);
/// assert_eq!(name.as_deref(), Some("worker 1 of the game"));
/// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadBuilder {
    pub(super) pool: Arc<Pool>,
    pub(super) index: usize,
}

impl ThreadBuilder {
    /// The thread's index in its pool.
    ///
    /// ```
    /// let mut indices = Vec::new();
    /// blitz_core::ThreadPoolBuilder::new().num_threads(2).spawn_handler(|thread| {
    ///     indices.push(thread.index());
    ///     std::thread::spawn(|| thread.run());
    ///     Ok(())
    /// }).build()?;
    /// assert_eq!(indices, [0, 1]);
    /// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
    /// ```
    pub fn index(&self) -> usize {
        self.index
    }

    /// The name asked for, if any. Without one, the pool calls the threads that it starts itself `blitz-0`, `blitz-1` and so on.
    ///
    /// ```
    /// blitz_core::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .thread_name(|index| format!("part {index}"))
    ///     .spawn_handler(|thread| {
    ///         assert_eq!(thread.name(), Some("part 0"));
    ///         std::thread::spawn(|| thread.run());
    ///         Ok(())
    ///     })
    ///     .build()?;
    /// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.pool.attributes.name(self.index)
    }

    /// The stack size asked for, if any.
    ///
    /// ```
    /// blitz_core::ThreadPoolBuilder::new().num_threads(1).stack_size(1 << 20).spawn_handler(|thread| {
    ///     let size = thread.stack_size().unwrap();
    ///     assert_eq!(size, 1 << 20);
    ///     std::thread::Builder::new().stack_size(size).spawn(|| thread.run())?;
    ///     Ok(())
    /// }).build()?;
    /// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
    /// ```
    pub fn stack_size(&self) -> Option<usize> {
        self.pool.attributes.stack_size
    }

    /// Runs the thread's part in the pool; returns when the pool ends.
    ///
    /// ```
    /// use std::cell::Cell;
    ///
    /// thread_local!(static IS_MINE: Cell<bool> = const { Cell::new(false) });
    ///
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).spawn_handler(|thread| {
    ///     std::thread::spawn(|| {
    ///         IS_MINE.set(true); // before the pool's work
    ///         thread.run(); // all of it
    ///     });
    ///     Ok(())
    /// }).build()?;
    /// assert!(pool.install(|| IS_MINE.get()));
    /// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
    /// ```
    pub fn run(self) {
        #[cfg(windows)]
        self.pool.begun[self.index].set();
        let abort = AbortOnDrop("a pool thread panicked outside of any job");
        worker::run(&self.pool, self.index);
        std::mem::forget(abort);
    }

    pub(super) fn std_builder(&self) -> thread::Builder {
        self.pool.attributes.builder(self.index)
    }
}

/// The thread's part in the pool has ended, or whoever was to run it has given it up: nobody waits for its start or its end. This is the only place that says so: as soon as it is said, the seat may
/// get its next thread, and a second word would be taken for that one's.
impl Drop for ThreadBuilder {
    fn drop(&mut self) {
        #[cfg(windows)]
        self.pool.begun[self.index].set();
        self.pool.started[self.index].set();
        self.pool.stopped[self.index].set();
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.index)
            .field("name", &self.name())
            .field("stack_size", &self.stack_size())
            .finish_non_exhaustive()
    }
}

/// Starts thread `index` of a pool whose threads are not the user's.
pub(crate) fn start_thread(pool: Arc<Pool>, index: usize) -> Result<(), ThreadPoolBuildError> {
    let threads = pool.num_threads();
    let thread = ThreadBuilder { pool, index };
    let started = DefaultSpawn.spawn(thread);
    started.map_err(|error| {
        let started = index;
        ErrorKind::Start {
            started,
            threads,
            error,
        }
        .into()
    })
}
