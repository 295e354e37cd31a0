//! A set of tasks with one type of output, awaited in the order in which they finish, and aborted together.

use super::join_handle::{AbortHandle, JoinHandle};
use super::{Id, JoinError, LocalSet, on_heap_if_large, spawn, spawn_blocking, spawn_local};
use crate::coop;
use crate::primitives::ignore_poison;
use crate::runtime::Handle;
use crate::waker_place::leave;
use slab::Slab;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker, ready};

/// Tasks that belong together. Dropping the set aborts those that still run.
///
/// ```
/// use blitz_io::task::JoinSet;
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut set = JoinSet::new();
/// for number in 0..10 {
///     set.spawn(async move { number * number });
/// }
/// let mut sum = 0;
/// while let Some(square) = set.join_next().await {
///     sum += square.unwrap();
/// }
/// assert_eq!(sum, 285);
/// # });
/// ```
pub struct JoinSet<T> {
    handles: Slab<JoinHandle<T>>,
    finished: Arc<Finished>,
}

/// Which tasks are finished, and whom to tell.
#[derive(Default)]
struct Finished {
    inner: Mutex<FinishedInner>,
}

#[derive(Default)]
struct FinishedInner {
    keys: VecDeque<usize>,
    /// How often all keys have been thrown away: wakers of tasks from before do not count any more.
    round: usize,
    waiter: Option<Waker>,
}

impl Finished {
    fn lock(&self) -> MutexGuard<'_, FinishedInner> {
        ignore_poison(self.inner.lock())
    }
}

/// The waker that a task of the set calls when it is through.
struct Member {
    key: usize,
    round: usize,
    finished: Arc<Finished>,
}

impl Wake for Member {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waiter = {
            let mut inner = self.finished.lock();
            if inner.round != self.round {
                return;
            }
            inner.keys.push_back(self.key);
            inner.waiter.take()
        };
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

impl<T> JoinSet<T> {
    /// An empty set.
    ///
    /// ```
    /// let tasks = blitz_io::task::JoinSet::<u32>::new();
    /// assert!(tasks.is_empty());
    /// ```
    pub fn new() -> Self {
        JoinSet {
            handles: Slab::new(),
            finished: Arc::default(),
        }
    }

    /// How many tasks have not been joined yet.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// tasks.spawn(async { 1 });
    /// assert_eq!(tasks.len(), 1);
    /// # });
    /// ```
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Are all joined?
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// tasks.spawn(async { 1 });
    /// assert!(!tasks.is_empty());
    /// tasks.join_next().await;
    /// assert!(tasks.is_empty());
    /// # });
    /// ```
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task into the set.
    ///
    /// # Panics
    /// Outside of a runtime.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// tasks.spawn(async { 6 * 7 });
    /// assert_eq!(tasks.join_next().await.unwrap().unwrap(), 42);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T>,
        F: Send + 'static,
        T: Send,
    {
        let handle = on_heap_if_large!(future: F, spawn(future));
        self.insert(handle)
    }

    /// Spawns a task of that runtime into the set.
    ///
    /// ```
    /// use blitz_io::task::JoinSet;
    ///
    /// let runtime = blitz_io::Runtime::new()?;
    /// let mut tasks = JoinSet::new();
    /// tasks.spawn_on(async { 42 }, runtime.handle());
    /// assert_eq!(runtime.block_on(tasks.join_all()), [42]);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T>,
        F: Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn(future))
    }

    /// Spawns a task that need not be `Send` into this set, and into the [`LocalSet`] that polls the caller.
    ///
    /// # Panics
    /// Outside of a `LocalSet`.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::task::{JoinSet, LocalSet};
    /// use std::rc::Rc;
    ///
    /// let shared = Rc::new(42);
    /// let set = LocalSet::new();
    /// let outputs = set.run_until(async move {
    ///     let mut tasks = JoinSet::new();
    ///     tasks.spawn_local(async move { *shared });
    ///     tasks.join_all().await
    /// });
    /// assert_eq!(outputs.await, [42]);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T>,
        F: 'static,
    {
        self.insert(spawn_local(future))
    }

    /// Spawns a task that need not be `Send` into this set, and into that [`LocalSet`].
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::task::{JoinSet, LocalSet};
    ///
    /// let (set, mut tasks) = (LocalSet::new(), JoinSet::new());
    /// tasks.spawn_local_on(async { 42 }, &set);
    /// assert_eq!(set.run_until(tasks.join_all()).await, [42]);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, future: F, local: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T>,
        F: 'static,
    {
        self.insert(local.spawn_local(future))
    }

    /// Runs a closure that blocks, as a task of the set.
    ///
    /// # Panics
    /// Outside of a runtime.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// tasks.spawn_blocking(|| 6 * 7);
    /// assert_eq!(tasks.join_next().await.unwrap().unwrap(), 42);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, work: F) -> AbortHandle
    where
        F: FnOnce() -> T,
        F: Send + 'static,
        T: Send,
    {
        self.insert(spawn_blocking(work))
    }

    /// Runs a closure that blocks on a thread of that runtime, as a task of the set.
    ///
    /// ```
    /// use blitz_io::task::JoinSet;
    ///
    /// let runtime = blitz_io::Runtime::new()?;
    /// let mut tasks = JoinSet::new();
    /// tasks.spawn_blocking_on(|| std::fs::read("Cargo.toml"), runtime.handle());
    /// assert!(runtime.block_on(tasks.join_all())[0].is_ok());
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, work: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T,
        F: Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn_blocking(work))
    }

    /// Adds a task that runs already.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let task = blitz_io::spawn(async { 42 });
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// tasks.insert(task);
    /// assert_eq!(tasks.join_all().await, [42]);
    /// # });
    /// ```
    pub fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let entry = self.handles.vacant_entry();
        let member = Arc::new(Member {
            key: entry.key(),
            round: self.finished.lock().round,
            finished: Arc::clone(&self.finished),
        });
        let handle = entry.insert(handle);
        let waker = Waker::from(Arc::clone(&member));
        if handle.tell_when_finished(&waker) {
            member.wake();
        }
        abort
    }

    /// The next task that is through, or `None` if the set is empty. Cancel-safe: nothing is lost if this future is dropped.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// for n in 1..=3 {
    ///     tasks.spawn(async move { n });
    /// }
    /// let mut sum = 0;
    /// while let Some(n) = tasks.join_next().await {
    ///     sum += n.unwrap();
    /// }
    /// assert_eq!(sum, 6);
    /// # });
    /// ```
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// As [`JoinSet::join_next`], with the task's name. Cancel-safe.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// let id = tasks.spawn(async { 42 }).id();
    /// assert_eq!(tasks.join_next_with_id().await.unwrap().unwrap(), (id, 42));
    /// # });
    /// ```
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        poll_fn(|cx| self.poll_join_next_with_id(cx)).await
    }

    /// As [`JoinSet::join_next`], without waiting.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// tasks.spawn(std::future::pending::<()>());
    /// assert!(tasks.try_join_next().is_none(), "it runs for ever");
    /// # });
    /// ```
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        without_id(self.try_join_next_with_id())
    }

    /// As [`JoinSet::try_join_next`], with the task's name.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// let id = tasks.spawn(async { 42 }).id();
    /// let (of, output) = loop {
    ///     match tasks.try_join_next_with_id() {
    ///         Some(result) => break result.unwrap(),
    ///         None => blitz_io::task::yield_now().await,
    ///     }
    /// };
    /// assert_eq!((of, output), (id, 42));
    /// # });
    /// ```
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        // Whoever waits goes on waiting, and there is nothing to wait for here that a budget would have to limit.
        let key = self.finished.lock().keys.pop_front()?;
        Some(self.take(key))
    }

    /// As [`JoinSet::join_next`], for hand-written futures.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use std::future::poll_fn;
    ///
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// tasks.spawn(async { 42 });
    /// let output = poll_fn(|cx| tasks.poll_join_next(cx)).await;
    /// assert_eq!(output.unwrap().unwrap(), 42);
    /// # });
    /// ```
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx).map(without_id)
    }

    /// As [`JoinSet::join_next_with_id`], for hand-written futures.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use std::future::poll_fn;
    ///
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// let id = tasks.spawn(async { 42 }).id();
    /// let output = poll_fn(|cx| tasks.poll_join_next_with_id(cx)).await;
    /// assert_eq!(output.unwrap().unwrap(), (id, 42));
    /// # });
    /// ```
    pub fn poll_join_next_with_id(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Id, T), JoinError>>> {
        if self.handles.is_empty() {
            return Poll::Ready(None);
        }
        let unit = ready!(coop::take_unit(cx));
        let key = leave(cx.waker(), |waiter| {
            let mut inner = self.finished.lock();
            match inner.keys.pop_front() {
                Some(key) => Some(Some(key)),
                None => waiter.at(&mut inner.waiter).map(|()| None),
            }
        });
        match key {
            Some(key) => Poll::Ready(Some(self.take(key))),
            None => {
                unit.refund();
                Poll::Pending
            }
        }
    }

    /// Joins a task that is through.
    fn take(&mut self, key: usize) -> Result<(Id, T), JoinError> {
        let mut handle = self.handles.remove(key);
        match handle.poll_without_budget(Waker::noop()) {
            Poll::Ready(joined) => joined.map(|output| (handle.id(), output)),
            Poll::Pending => {
                unreachable!("a task tells the set when it is through, and not before")
            }
        }
    }

    /// Asks all tasks to end. They stay in the set until they are joined.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// tasks.spawn(std::future::pending::<()>());
    /// tasks.abort_all();
    /// assert!(tasks.join_next().await.unwrap().unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort_all(&mut self) {
        self.handles.iter().for_each(|(_, handle)| handle.abort());
    }

    /// Aborts all tasks and waits until they are gone. The first poll asks all of them to end, also if the future is dropped after that.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// tasks.spawn(std::future::pending::<()>());
    /// tasks.shutdown().await;
    /// assert!(tasks.is_empty());
    /// # });
    /// ```
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Waits for all tasks, and returns their outputs in the order in which they finished.
    /// If the future is dropped, so is the set, and what still runs is aborted.
    ///
    /// # Panics
    /// If a task panicked, with its panic; also if one was aborted.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// for n in 1..=3 {
    ///     tasks.spawn(async move { n });
    /// }
    /// assert_eq!(tasks.join_all().await.iter().sum::<i32>(), 6);
    /// # });
    /// ```
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(joined) = self.join_next().await {
            match joined.map_err(JoinError::try_into_panic) {
                Ok(output) => outputs.push(output),
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                Err(Err(cancelled)) => panic!("JoinSet::join_all: {cancelled}"),
            }
        }
        outputs
    }

    /// Lets all tasks run on without the set.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let (sender, receiver) = blitz_io::sync::oneshot::channel();
    /// let mut tasks = blitz_io::task::JoinSet::new();
    /// tasks.spawn(async move { sender.send(42) });
    /// tasks.detach_all();
    /// drop(tasks); // aborts nothing
    /// assert_eq!(receiver.await.unwrap(), 42);
    /// # });
    /// ```
    pub fn detach_all(&mut self) {
        {
            let mut inner = self.finished.lock();
            inner.keys.clear();
            inner.round += 1;
        }
        self.handles.clear();
    }
}

fn without_id<T>(joined: Option<Result<(Id, T), JoinError>>) -> Option<Result<T, JoinError>> {
    joined.map(|joined| joined.map(|(_, output)| output))
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.handles.iter().for_each(|(_, handle)| handle.abort());
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet")
            .field("len", &self.handles.len())
            .finish()
    }
}

/// Spawns all of them.
impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T>,
    F: Send + 'static,
    T: Send + 'static,
{
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        let mut set = Self::new();
        set.extend(futures);
        set
    }
}

/// Spawns all of them, too.
impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T>,
    F: Send + 'static,
    T: Send + 'static,
{
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
    }
}
