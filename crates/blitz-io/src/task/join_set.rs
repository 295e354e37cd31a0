//! A set of tasks with one type of output, awaited in the order in which they finish, and aborted together.

use super::join_handle::{AbortHandle, JoinHandle};
use super::{JoinError, spawn};
use crate::coop;
use crate::waker_place::leave;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    handles: HashMap<usize, JoinHandle<T>>,
    next: usize,
    finished: Arc<Finished>,
}

/// Which tasks may be finished, and whom to tell.
#[derive(Default)]
struct Finished {
    inner: Mutex<FinishedInner>,
}

#[derive(Default)]
struct FinishedInner {
    keys: VecDeque<usize>,
    waiter: Option<Waker>,
}

impl Finished {
    fn lock(&self) -> MutexGuard<'_, FinishedInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The waker that a task of the set calls when it is through.
struct Member {
    key: usize,
    finished: Arc<Finished>,
}

impl Wake for Member {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let waiter = {
            let mut inner = self.finished.lock();
            inner.keys.push_back(self.key);
            inner.waiter.take()
        };
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

impl<T: 'static> JoinSet<T> {
    /// An empty set.
    pub fn new() -> Self {
        JoinSet {
            handles: HashMap::new(),
            next: 0,
            finished: Arc::default(),
        }
    }

    /// How many tasks have not been joined yet.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Are all joined?
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Spawns a task into the set.
    ///
    /// # Panics
    /// Outside of a runtime.
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(spawn(future))
    }

    /// Adds a task that runs already.
    pub fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort = handle.abort_handle();
        let key = self.next;
        self.next += 1;
        self.handles.insert(key, handle);
        // The first poll tells the task whom to tell.
        self.finished.lock().keys.push_back(key);
        abort
    }

    /// The next task that is through, or `None` if the set is empty. Cancel-safe: nothing is lost if this future is dropped.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// As [`JoinSet::join_next`], without waiting.
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        // Whoever waits goes on waiting, and there is nothing to wait for here that a budget would have to limit.
        self.next_finished(None)
    }

    /// As [`JoinSet::join_next`], for hand-written futures.
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        if self.handles.is_empty() {
            return Poll::Ready(None);
        }
        let unit = ready!(coop::take_unit(cx));
        match self.next_finished(Some(cx.waker())) {
            Some(joined) => Poll::Ready(Some(joined)),
            None => {
                unit.refund();
                Poll::Pending
            }
        }
    }

    /// Joins a task that is through. If there is none, `waiter` is told of the next one.
    fn next_finished(&mut self, waiter: Option<&Waker>) -> Option<Result<T, JoinError>> {
        loop {
            let key = match waiter {
                Some(waiter) => leave(waiter, |waiter| {
                    let mut inner = self.finished.lock();
                    match inner.keys.pop_front() {
                        Some(key) => Some(Some(key)),
                        None => waiter.at(&mut inner.waiter).map(|()| None),
                    }
                })?,
                None => self.finished.lock().keys.pop_front()?,
            };
            let Some(handle) = self.handles.get_mut(&key) else {
                continue;
            };
            let member = Arc::new(Member {
                key,
                finished: Arc::clone(&self.finished),
            });
            if let Poll::Ready(output) = handle.poll_without_budget(&Waker::from(member)) {
                self.handles.remove(&key);
                return Some(output);
            }
        }
    }

    /// Asks all tasks to end. They stay in the set until they are joined.
    pub fn abort_all(&mut self) {
        self.handles.values().for_each(JoinHandle::abort);
    }

    /// Aborts all tasks and waits until they are gone.
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Waits for all tasks, and returns their outputs in the order in which they finished.
    ///
    /// # Panics
    /// If a task panicked, with its panic; also if one was aborted.
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
    pub fn detach_all(&mut self) {
        self.handles.clear();
    }
}

impl<T: 'static> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        self.handles.values().for_each(JoinHandle::abort);
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet")
            .field("len", &self.handles.len())
            .finish()
    }
}
