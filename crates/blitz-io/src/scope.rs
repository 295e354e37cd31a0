//! Tasks that borrow.
//!
//! The borrowing is sound for the same reason as in `std::thread::scope`: the scope's function does not return, and does not unwind, before
//! every task has ended and its future is dropped. That is why a scope blocks its thread. A scope that were itself a future could be leaked
//! halfway, and its tasks would continue with borrows of memory that is gone. Inside, the body may of course block on a future.
//!
//! A task counts until its future has been dropped ([`Part`] is dropped after it). Its output is handed over before that, in a slot that
//! the task and its handle share. So nothing that borrows is left when the count is zero.

use crate::context;
use crate::place::Place;
use crate::primitives::ignore_poison;
use crate::runtime::Handle;
use crate::scheduler::Shared;
use crate::task::{AbortHandle, JoinError, JoinHandle};
use crate::waker_place::leave;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// Where tasks that borrow can be spawned; see [`scope`].
///
/// ```
/// let runtime = blitz_io::Runtime::new()?;
/// let _entered = runtime.enter();
/// let text = String::from("hello");
/// blitz_io::scope(|scope| {
///     scope.spawn(async { assert_eq!(text.len(), 5) }); // waited for at the end of the scope
/// });
/// # std::io::Result::Ok(())
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    shared: Arc<Shared>,
    parts: Arc<Parts>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// The tasks that are not through.
#[derive(Default)]
struct Parts {
    inner: Mutex<PartsInner>,
}

#[derive(Default)]
struct PartsInner {
    running: usize,
    waiter: Option<Waker>,
    handles: Vec<AbortHandle>,
}

impl Parts {
    fn lock(&self) -> MutexGuard<'_, PartsInner> {
        ignore_poison(self.inner.lock())
    }

    fn abort_all(&self) {
        // Outside of the lock: an abort may drop a future at once, which comes back here.
        let handles = std::mem::take(&mut self.lock().handles);
        handles.iter().for_each(AbortHandle::abort);
    }

    fn poll_through(&self, cx: &Context<'_>) -> Poll<()> {
        leave(cx.waker(), |waker| {
            let mut inner = self.lock();
            if inner.running == 0 {
                return Some(Poll::Ready(()));
            }
            waker.at(&mut inner.waiter).map(|()| Poll::Pending)
        })
    }

    fn remember(&self, handle: AbortHandle) {
        let mut inner = self.lock();
        let mut through = Vec::new();
        if inner.handles.len() == inner.handles.capacity() {
            // Before it grows: tasks that are through need no aborting.
            let handles = std::mem::take(&mut inner.handles);
            (through, inner.handles) = handles.into_iter().partition(AbortHandle::is_finished);
        }
        inner.handles.push(handle);
        drop(inner);
        // With the last handle of a task goes the waker of whoever has awaited it: somebody else's code.
        drop(through);
    }
}

/// A task's share in the scope's life.
struct Part(Arc<Parts>);

impl Part {
    fn new(parts: &Arc<Parts>) -> Self {
        parts.lock().running += 1;
        Part(Arc::clone(parts))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let waiter = {
            let mut inner = self.0.lock();
            inner.running -= 1;
            if inner.running == 0 {
                inner.waiter.take()
            } else {
                None
            }
        };
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

type Slot<T> = Arc<Mutex<Option<T>>>;

/// A task of a scope. Fields are dropped in this order: the future and its share of the slot before the part.
struct ScopedFuture<F: Future> {
    future: F,
    output: Slot<F::Output>,
    _part: Part,
}

impl<F: Future> Future for ScopedFuture<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the future is not moved; the other fields are not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        let polled = unsafe { Pin::new_unchecked(&mut this.future) }.poll(cx);
        polled.map(|output| {
            *ignore_poison(this.output.lock()) = Some(output);
        })
    }
}

/// Runs `body`, which may spawn tasks that borrow from what is around it, and waits until all of them are through.
///
/// Blocks the calling thread. If `body` panics, the tasks are aborted, and the panic goes on when they are gone.
///
/// # Panics
/// Outside of a runtime, and inside of a task of a current-thread runtime, which could not run the others meanwhile.
///
/// ```
/// let runtime = blitz_io::Runtime::new().unwrap();
/// let _entered = runtime.enter();
/// let words = vec!["tasks", "that", "borrow"];
/// let mut letters = 0;
/// blitz_io::scope(|scope| {
///     let counts: Vec<_> = words.iter().map(|word| scope.spawn(async { word.len() })).collect();
///     letters = runtime.block_on(async {
///         let mut sum = 0;
///         for count in counts {
///             sum += count.await.unwrap();
///         }
///         sum
///     });
/// });
/// assert_eq!(letters, 15);
/// ```
#[track_caller]
pub fn scope<'env, R>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    let handle = Handle::current();
    // Before there is a task that borrows: afterwards nothing may keep us from waiting.
    handle.assert_may_block();
    let scope = Scope {
        shared: context::with(Arc::clone),
        parts: Arc::default(),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    if result.is_err() {
        scope.parts.abort_all();
    }
    let abort = AbortOnUnwind;
    handle.block_on(poll_fn(|cx| scope.parts.poll_through(cx)));
    std::mem::forget(abort);
    match result {
        Ok(result) => result,
        Err(panic) => resume_unwind(panic),
    }
}

/// Tasks borrow from the frames below: they must not be left while tasks run.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        eprintln!("blitz-io: a scope cannot wait for its tasks, which borrow from its caller");
        std::process::abort();
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Runs a future as a task of the runtime that the scope was opened in.
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new()?;
    /// let _entered = runtime.enter();
    /// let numbers = [1, 2, 3];
    /// let sum = blitz_io::scope(|scope| {
    ///     let sum = scope.spawn(async { numbers.iter().sum::<i32>() });
    ///     runtime.block_on(sum)
    /// });
    /// assert_eq!(sum?, 6);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn<F>(&'scope self, future: F) -> ScopedJoinHandle<'scope, F::Output>
    where
        F: Future + Send + 'scope,
        F::Output: Send + 'scope,
    {
        let output = Slot::default();
        let future = ScopedFuture {
            future,
            output: Arc::clone(&output),
            _part: Part::new(&self.parts),
        };
        self.shared.assert_of_this_process();
        // The task may outlive this call, but not the scope: see the beginning of the file. Its own output is `()`.
        let task: JoinHandle<()> = JoinHandle::new(self.shared.spawn(Place::here(), future));
        self.parts.remember(task.abort_handle());
        ScopedJoinHandle {
            task,
            output,
            scope: PhantomData,
        }
    }

    /// Asks all tasks that are not through to end.
    ///
    /// ```
    /// let runtime = blitz_io::Runtime::new()?;
    /// let _entered = runtime.enter();
    /// blitz_io::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(std::future::pending::<()>());
    ///     }
    ///     scope.abort_all(); // or the scope would wait for ever
    /// });
    /// # std::io::Result::Ok(())
    /// ```
    pub fn abort_all(&'scope self) {
        self.parts.abort_all();
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("running", &self.parts.lock().running)
            .finish()
    }
}

/// The way to the output of a scope's task: await it.
///
/// ```
/// let runtime = blitz_io::Runtime::new()?;
/// let _entered = runtime.enter();
/// blitz_io::scope(|scope| {
///     let task = scope.spawn(std::future::pending::<()>());
///     assert!(!task.is_finished());
///     task.abort();
///     assert!(runtime.block_on(task).unwrap_err().is_cancelled());
/// });
/// # std::io::Result::Ok(())
/// ```
pub struct ScopedJoinHandle<'scope, T> {
    task: JoinHandle<()>,
    output: Slot<T>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// As [`JoinHandle::abort`].
    pub fn abort(&self) {
        self.task.abort();
    }

    /// As [`JoinHandle::is_finished`].
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }
}

impl<T> Future for ScopedJoinHandle<'_, T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.task).poll(cx).map_ok(|()| {
            let output = ignore_poison(self.output.lock()).take();
            output.expect("a task that is through has left its output")
        })
    }
}

impl<T> Unpin for ScopedJoinHandle<'_, T> {}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle")
            .field("id", &self.task.id())
            .finish()
    }
}
