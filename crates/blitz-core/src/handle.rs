//! Handles: the result of a task, for whoever wants to wait for it.
//!
//! A thread that joins a handle helps with the task's descendants like any other waiting thread, and an
//! async task can await it. The result is written once by the task, taken once by the handle. Completion
//! and waiting meet under a mutex, so "done, so do not sleep" and "asleep, so wake me" cannot miss each
//! other.

use crate::context::Context;
use crate::fork;
use crate::global;
use crate::guest::{block_on, outsider_parker, wait_outside};
use crate::pool::Pool;
use crate::profile;
use crate::seat;
use crate::site::Site;
use crate::sync::locks::Mutex;
use crate::wait::{Awaited, wait_for};
use blitz_primitives::Parker;
use std::any::Any;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::thread;

type Payload = Box<dyn Any + Send>;

/// What a task and its handle share.
pub(crate) struct Shared<T> {
    /// Of the process that runs the task; see [`crate::fork`].
    generation: u64,
    /// Where the task runs; dangling for the global pool, which needs no reference.
    pool: Weak<Pool>,
    context: Context,
    done: AtomicBool,
    inner: Mutex<Inner<T>>,
    /// How far the task's path got, for whoever joins it.
    pub(crate) ends: profile::Ends,
}

struct Inner<T> {
    result: Option<thread::Result<T>>,
    waker: Option<Waker>,
    parker: Option<&'static Parker>,
}

impl<T> Shared<T> {
    pub(crate) fn new(site: Site, pool: &Pool, parent: *const Context) -> Self {
        Shared {
            generation: pool.generation,
            pool: if pool.global {
                Weak::new()
            } else {
                pool.weak()
            },
            context: Context::new(parent),
            done: AtomicBool::new(false),
            inner: Mutex::new(Inner {
                result: None,
                waker: None,
                parker: None,
            }),
            ends: profile::Ends::at(site),
        }
    }

    /// The task runs in this context.
    pub(crate) fn context(&self) -> *const Context {
        &raw const self.context
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task has ended.
    pub(crate) fn complete(&self, result: thread::Result<T>) {
        let mut inner = self.lock();
        inner.result = Some(result);
        self.done.store(true, Ordering::Release);
        let (waker, parker) = (inner.waker.take(), inner.parker.take());
        drop(inner);
        if let Some(parker) = parker {
            parker.unpark();
        }
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    fn take(&self) -> Option<thread::Result<T>> {
        self.lock().result.take()
    }

    /// Waits until the task has ended, helping with it if the caller is in a pool.
    fn wait(&self) {
        if !self.is_done() {
            fork::assert_may_wait(self.generation);
        }
        match seat::current() {
            // SAFETY: the caller occupies the seat.
            Some(seat) => unsafe { wait_for(seat, &Joining(self, seat.parker())) },
            None => {
                let parker = outsider_parker();
                let wait = Joining(self, parker);
                let own = self.pool.upgrade();
                // If neither is there, the task has ended.
                match own.as_deref().or_else(|| global::started()) {
                    Some(pool) => wait_outside(pool, &wait, parker),
                    None => block_on(&wait, parker),
                }
            }
        }
        self.ends.meet();
    }

    fn poll(&self, waker: &Waker) -> Poll<thread::Result<T>> {
        let mut inner = self.lock();
        if let Some(result) = inner.result.take() {
            return Poll::Ready(result);
        }
        assert!(!self.is_done(), "polled after it was ready");
        match &mut inner.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        Poll::Pending
    }
}

struct Joining<'a, T>(&'a Shared<T>, &'static Parker);

impl<T> Awaited for Joining<'_, T> {
    fn context(&self) -> *const Context {
        self.0.context()
    }

    fn is_done(&self) -> bool {
        self.0.is_done()
    }

    fn announce_parked(&self) -> bool {
        let mut inner = self.0.lock();
        let parks = !self.0.is_done();
        if parks {
            inner.parker = Some(self.1);
        }
        parks
    }

    fn announce_awake(&self) {
        self.0.lock().parker = None;
    }
}

/// A panic that nobody has asked for yet.
pub(crate) trait UnclaimedPanic: Send + Sync {
    /// Takes the panic, if the task panicked and the handle has not taken it.
    fn take_panic(&self) -> Option<Payload>;
}

impl<T: Send> UnclaimedPanic for Shared<T> {
    fn take_panic(&self) -> Option<Payload> {
        let mut inner = self.lock();
        match inner.result.take() {
            Some(Err(payload)) => Some(payload),
            other => {
                inner.result = other;
                None
            }
        }
    }
}

macro_rules! handle_methods {
    () => {
        /// Waits for the task and returns its result, or its panic as the error.
        ///
        /// A caller inside of a pool helps with the task and its descendants. Others block; if the pool admits guests and nobody gets to the task for a
        /// while (all threads may wait for a lock that the caller holds), they run it.
        ///
        /// ```
        /// let answer = blitz_core::spawn_handle(|| 6 * 7);
        /// assert_eq!(answer.join().unwrap(), 42);
        ///
        /// let panic = blitz_core::spawn_handle(|| panic!("no answer"));
        /// assert!(panic.join().is_err());
        /// ```
        pub fn join(self) -> thread::Result<T> {
            self.shared.wait();
            self.shared.take().unwrap_or_else(|| gone())
        }

        /// The result if the task has ended, without waiting. `None` also after it has been taken.
        ///
        /// ```
        /// let mut answer = blitz_core::spawn_handle(|| 6 * 7);
        /// let result = loop {
        ///     // Something else, meanwhile.
        ///     if let Some(result) = answer.try_join() {
        ///         break result;
        ///     }
        /// };
        /// assert_eq!(result.unwrap(), 42);
        /// ```
        pub fn try_join(&mut self) -> Option<thread::Result<T>> {
            if self.is_finished() {
                self.shared.take()
            } else {
                None
            }
        }

        /// Has the task ended?
        ///
        /// ```
        /// let answer = blitz_core::spawn_handle(|| 6 * 7);
        /// while !answer.is_finished() {
        ///     std::thread::yield_now();
        /// }
        /// assert_eq!(answer.join().unwrap(), 42);
        /// ```
        pub fn is_finished(&self) -> bool {
            self.shared.is_done()
        }
    };
}

/// The result was taken before: by `try_join`, by polling, or by the end of its scope.
fn gone<T>() -> T {
    panic!("the result of this task has been taken before")
}

/// The result of a task spawned with [`spawn_handle`](crate::spawn_handle). Dropping it detaches the task.
///
/// It is a [`Future`] as well: async code can await it without blocking its executor.
///
/// ```
/// let mut handle = blitz_core::spawn_handle(|| 6 * 7);
/// while !handle.is_finished() {
///     std::thread::yield_now();
/// }
/// assert_eq!(handle.try_join().unwrap().unwrap(), 42);
/// ```
#[must_use = "dropping a handle detaches its task"]
pub struct JoinHandle<T> {
    shared: Arc<Shared<T>>,
}

impl<T> JoinHandle<T> {
    pub(crate) fn new(shared: Arc<Shared<T>>) -> Self {
        JoinHandle { shared }
    }

    handle_methods!();
}

impl<T> Future for JoinHandle<T> {
    type Output = thread::Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        self.shared.poll(cx.waker())
    }
}

/// The result of a task spawned with [`Scope::spawn_handle`](crate::Scope::spawn_handle).
///
/// ```
/// let numbers = vec![3, 1, 2];
/// let (min, max) = blitz_core::scope(|scope| {
///     let min = scope.spawn_handle(|_| numbers.iter().min());
///     let max = scope.spawn_handle(|_| numbers.iter().max());
///     (min.join().unwrap(), max.join().unwrap())
/// });
/// assert_eq!((min, max), (Some(&1), Some(&3)));
/// ```
#[must_use = "dropping a handle leaves its panic to the scope"]
pub struct ScopedHandle<'scope, T> {
    shared: Arc<Shared<T>>,
    _scope: PhantomData<&'scope mut &'scope ()>,
}

impl<T> ScopedHandle<'_, T> {
    pub(crate) fn new(shared: Arc<Shared<T>>) -> Self {
        ScopedHandle {
            shared,
            _scope: PhantomData,
        }
    }

    handle_methods!();
}

impl<T> Future for ScopedHandle<'_, T> {
    type Output = thread::Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        self.shared.poll(cx.waker())
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let finished = self.is_finished();
        f.debug_struct("JoinHandle")
            .field("finished", &finished)
            .finish()
    }
}

impl<T> fmt::Debug for ScopedHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let finished = self.is_finished();
        f.debug_struct("ScopedHandle")
            .field("finished", &finished)
            .finish()
    }
}
