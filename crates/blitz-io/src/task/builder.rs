//! Tasks with names.

use super::{JoinHandle, LocalSet};
use crate::blocking::Duty;
use crate::context;
use crate::place::Place;
use crate::runtime::Handle;
use std::future::Future;
use std::io;

/// Spawns tasks with names, for those who look at them: `blitz-console` shows them with the line that spawned them.
///
/// A thousand different names are remembered, so a name should say what a task is for, not which one it is. Without the cargo feature `console` names are
/// forgotten.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let task = blitz_io::task::Builder::new().name("answer").spawn(async { 42 })?;
/// assert_eq!(task.await?, 42);
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
#[derive(Debug, Default, Clone, Copy)]
pub struct Builder<'a> {
    name: Option<&'a str>,
}

impl<'a> Builder<'a> {
    /// Without a name yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the task.
    #[must_use]
    pub fn name(self, name: &'a str) -> Self {
        Builder { name: Some(name) }
    }

    #[track_caller]
    fn place(self) -> Place {
        let here = Place::here();
        self.name.map_or(here, |name| here.named(name))
    }

    /// As [`spawn`](crate::spawn).
    ///
    /// # Errors
    /// None; the result is tokio's.
    ///
    /// # Panics
    /// Outside of a runtime.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let place = self.place();
        Ok(context::with(|shared| {
            JoinHandle::new(shared.spawn(place, future))
        }))
    }

    /// As [`Handle::spawn`].
    ///
    /// # Errors
    /// None.
    ///
    /// ```
    /// use blitz_io::task::Builder;
    ///
    /// let runtime = blitz_io::Runtime::new()?;
    /// let task = Builder::new().name("answer").spawn_on(async { 42 }, runtime.handle())?;
    /// assert_eq!(runtime.block_on(task)?, 42);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(handle.spawn_at(self.place(), future))
    }

    /// As [`LocalSet::spawn_local`].
    ///
    /// # Errors
    /// None.
    ///
    /// ```
    /// use blitz_io::task::{Builder, LocalSet};
    ///
    /// let (runtime, set) = (blitz_io::Runtime::new()?, LocalSet::new());
    /// let task = Builder::new().name("local").spawn_local_on(async { 42 }, &set)?;
    /// assert_eq!(set.block_on(&runtime, task)?, 42);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, set: &LocalSet) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(set.spawn_at(self.place(), future))
    }

    /// As [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// # Errors
    /// None.
    ///
    /// # Panics
    /// Outside of a runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let task = blitz_io::task::Builder::new().name("file").spawn_blocking(|| std::fs::read("Cargo.toml"))?;
    /// assert!(task.await?.is_ok());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, T>(self, work: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let place = self.place();
        let duty = Duty::MayBeCancelled;
        Ok(context::with(|shared| {
            shared.blocking.spawn(place, duty, work)
        }))
    }
}
