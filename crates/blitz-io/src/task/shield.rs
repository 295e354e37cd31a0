//! Sections of a task that a cancellation has to wait for.

use super::cell::{self, Header};
use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// Runs `future` to its end even if its task is aborted meanwhile; the task ends at its next `await` after it.
///
/// For what must not stop half-way: two writes that belong together, a protocol's goodbye. The section
/// begins with the first poll, and stays in the task that polled it. The end of the runtime does not wait for it.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// static BOTH: AtomicBool = AtomicBool::new(false);
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (started, begun) = std::sync::mpsc::channel();
/// let task = blitz_io::spawn(async move {
///     blitz_io::task::shield(async {
///         started.send(()).unwrap();
///         for _ in 0..100 {
///             blitz_io::task::yield_now().await;
///         }
///         BOTH.store(true, Ordering::Relaxed);
///     })
///     .await;
///     std::future::pending::<()>().await;
/// });
/// while begun.try_recv().is_err() {
///     blitz_io::task::yield_now().await;
/// }
/// task.abort();
/// assert!(task.await.unwrap_err().is_cancelled());
/// assert!(BOTH.load(Ordering::Relaxed));
/// # });
/// ```
pub fn shield<F: Future>(future: F) -> Shield<F> {
    Shield { future, task: None }
}

/// See [`shield`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Shield<F> {
    future: F,
    /// The task whose shields we are counted in.
    task: Option<NonNull<Header>>,
}

// SAFETY: the pointer is only used while its task is polled or dropped, by the thread that does so.
unsafe impl<F: Send> Send for Shield<F> {}
// SAFETY: nothing is reachable through a shared reference.
unsafe impl<F: Sync> Sync for Shield<F> {}

impl<F> Shield<F> {
    fn leave(&mut self) {
        match self.task.take() {
            Some(task) if cell::current() == Some(task) => {
                // SAFETY: this thread polls or drops the task.
                unsafe { cell::shield(task, false) };
            }
            _ => {}
        }
    }
}

impl<F: Future> Future for Shield<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is not moved; the other field is not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let current = cell::current();
        // Once for each task that polls it; a section that has gone to another task stays counted in the one that began it.
        if let Some(task) = current.filter(|_| this.task != current) {
            // SAFETY: this thread polls the task.
            unsafe { cell::shield(task, true) };
            this.task = current;
        }
        // SAFETY: as above.
        let polled = unsafe { Pin::new_unchecked(&mut this.future) }.poll(cx);
        if polled.is_ready() {
            this.leave();
        }
        polled
    }
}

impl<F> Drop for Shield<F> {
    fn drop(&mut self) {
        self.leave();
    }
}
