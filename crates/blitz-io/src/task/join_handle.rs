//! What a spawner holds of its task.

use super::cell::Task;
use super::error::JoinError;
use super::id::Id;
use crate::coop;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// The way to a task's output. Await it; drop it to let the task run on its own.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let task = blitz_io::spawn(async { 6 * 7 });
/// assert_eq!(task.await.unwrap(), 42);
///
/// let task = blitz_io::spawn(async { panic!("oh") });
/// assert!(task.await.unwrap_err().is_panic());
/// # });
/// ```
pub struct JoinHandle<T> {
    task: ManuallyDrop<Task>,
    output: PhantomData<T>,
}

// SAFETY: the handle moves a `T` between threads, and nothing else of the task is reachable through it.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle gives no access to the output.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> Unpin for JoinHandle<T> {}

// The output of a task that panicked is its panic; there is nothing else that could be seen half done.
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// The caller knows that `T` is the type of the task's output.
    pub(crate) fn new(task: Task) -> Self {
        JoinHandle {
            task: ManuallyDrop::new(task),
            output: PhantomData,
        }
    }

    pub(crate) fn poll_without_budget(&mut self, waker: &Waker) -> Poll<Result<T, JoinError>> {
        if !self.tell_when_finished(waker) {
            return Poll::Pending;
        }
        // SAFETY: the task is complete, and `T` is its output's type. A second call panics inside.
        Poll::Ready(unsafe { self.task.take_output() })
    }

    /// Is the task through? If not, `waker` is called when it is, and not before.
    pub(super) fn tell_when_finished(&mut self, waker: &Waker) -> bool {
        self.task.poll_complete(waker)
    }

    /// Asks the task to end: its future is dropped before it is polled again, and the handle returns an error that
    /// [is a cancellation](JoinError::is_cancelled). A task that is already through keeps its output.
    ///
    /// ```
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let task = blitz_io::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort(&self) {
        self.task.cancel();
    }

    /// Is the task through, with or without an output?
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let task = blitz_io::spawn(async { 42 });
    /// while !task.is_finished() {
    ///     blitz_io::task::yield_now().await;
    /// }
    /// assert_eq!(task.await.unwrap(), 42);
    /// # });
    /// ```
    pub fn is_finished(&self) -> bool {
        self.task.header().state.is_complete()
    }

    /// A handle that can only abort, and does not keep the output.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let task = blitz_io::spawn(std::future::pending::<()>());
    /// let other = task.abort_handle();
    /// other.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle {
            task: Task::clone(&self.task),
        }
    }

    /// The task's name.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let (one, two) = (blitz_io::spawn(async {}), blitz_io::spawn(async {}));
    /// assert_ne!(one.id(), two.id());
    /// # });
    /// ```
    pub fn id(&self) -> Id {
        self.task.id()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let unit = ready!(coop::take_unit(cx));
        let polled = self.get_mut().poll_without_budget(cx.waker());
        if polled.is_pending() {
            unit.refund();
        }
        polled
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        // SAFETY: once, at the end.
        unsafe { ManuallyDrop::take(&mut self.task) }.detach();
    }
}

impl<T> fmt::Debug for JoinHandle<T>
where
    T: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("id", &self.id())
            .finish()
    }
}

/// Aborts a task from anywhere.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let task = blitz_io::spawn(std::future::pending::<()>());
/// let abort = task.abort_handle(); // for somebody who does not want the output
/// assert!(!abort.is_finished());
/// assert_eq!(abort.id(), task.id());
/// abort.abort();
/// assert!(task.await.unwrap_err().is_cancelled());
/// # });
/// ```
#[derive(Clone)]
pub struct AbortHandle {
    task: Task,
}

// As for `JoinHandle`.
impl UnwindSafe for AbortHandle {}
impl RefUnwindSafe for AbortHandle {}

impl AbortHandle {
    /// As [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.task.cancel();
    }

    /// As [`JoinHandle::is_finished`].
    pub fn is_finished(&self) -> bool {
        self.task.header().state.is_complete()
    }

    /// The task's name.
    pub fn id(&self) -> Id {
        self.task.id()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle")
            .field("id", &self.id())
            .finish()
    }
}
