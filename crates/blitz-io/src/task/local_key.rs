//! Values that belong to a task, as thread-locals belong to a thread.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

/// Declares task-locals.
///
/// ```
/// blitz_io::task_local! {
///     static REQUEST: u64;
/// }
///
/// let runtime = blitz_io::Runtime::new().unwrap();
/// let seen = runtime.block_on(REQUEST.scope(42, async {
///     blitz_io::task::yield_now().await;
///     REQUEST.with(|request| *request)
/// }));
/// assert_eq!(seen, 42);
/// assert!(REQUEST.try_with(|_| ()).is_none());
/// ```
#[macro_export]
macro_rules! task_local {
    ($($(#[$attr:meta])* $vis:vis static $name:ident : $t:ty);+ $(;)?) => {
        $(
            $(#[$attr])*
            $vis static $name: $crate::task::LocalKey<$t> = {
                std::thread_local! {
                    static VALUE: std::cell::RefCell<Option<$t>> = const { std::cell::RefCell::new(None) };
                }
                $crate::task::LocalKey::__new(&VALUE)
            };
        )+
    };
}

/// A task-local, made by [`task_local!`](crate::task_local).
#[derive(Debug)]
pub struct LocalKey<T: 'static> {
    value: &'static thread::LocalKey<RefCell<Option<T>>>,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn __new(value: &'static thread::LocalKey<RefCell<Option<T>>>) -> Self {
        LocalKey { value }
    }

    /// Runs `future` with the value set to `value`.
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture {
            key: self,
            value: Some(value),
            future: Some(future),
        }
    }

    /// Runs `work` with the value set to `value`.
    pub fn sync_scope<R>(&'static self, value: T, work: impl FnOnce() -> R) -> R {
        let mut value = Some(value);
        let _swapped = Swapped::new(self, &mut value);
        work()
    }

    /// Calls `look` with the value.
    ///
    /// # Panics
    /// Outside of a scope; see [`LocalKey::try_with`].
    #[track_caller]
    pub fn with<R>(&'static self, look: impl FnOnce(&T) -> R) -> R {
        self.try_with(look).expect(
            "the task-local has no value here: wrap the future with `KEY.scope(value, future)`",
        )
    }

    /// Calls `look` with the value, if there is one.
    pub fn try_with<R>(&'static self, look: impl FnOnce(&T) -> R) -> Option<R> {
        self.value.with_borrow(|value| value.as_ref().map(look))
    }

    /// A copy of the value.
    ///
    /// # Panics
    /// Outside of a scope.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }
}

/// Exchanges the thread's value with the future's, and back.
struct Swapped<'a, T: 'static> {
    key: &'static LocalKey<T>,
    value: &'a mut Option<T>,
}

impl<'a, T> Swapped<'a, T> {
    fn new(key: &'static LocalKey<T>, value: &'a mut Option<T>) -> Self {
        key.value
            .with_borrow_mut(|current| std::mem::swap(current, value));
        Swapped { key, value }
    }

    /// `None`: somebody looks at the value, or the thread is about to end.
    fn try_new(key: &'static LocalKey<T>, value: &'a mut Option<T>) -> Option<Self> {
        let swap = |current: &RefCell<Option<T>>| {
            let mut current = current.try_borrow_mut().ok()?;
            std::mem::swap(&mut *current, value);
            Some(())
        };
        key.value.try_with(swap).ok()??;
        Some(Swapped { key, value })
    }
}

impl<T> Drop for Swapped<'_, T> {
    fn drop(&mut self) {
        let value = &mut *self.value;
        self.key
            .value
            .with_borrow_mut(|current| std::mem::swap(current, value));
    }
}

/// See [`LocalKey::scope`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct TaskLocalFuture<T: 'static, F> {
    key: &'static LocalKey<T>,
    value: Option<T>,
    future: Option<F>,
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is not moved; the other fields are not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let _swapped = Swapped::new(this.key, &mut this.value);
        let future = this.future.as_mut().expect("polled after completion");
        // SAFETY: as above.
        let polled = unsafe { Pin::new_unchecked(future) }.poll(cx);
        if polled.is_ready() {
            // Its destructor may want the value, too. Dropped in place.
            this.future = None;
        }
        polled
    }
}

impl<T: 'static, F> Drop for TaskLocalFuture<T, F> {
    fn drop(&mut self) {
        if self.future.is_some() {
            // Its destructor sees the value, if that is possible here; a destructor must not panic because it is not.
            let _swapped = Swapped::try_new(self.key, &mut self.value);
            self.future = None;
        }
    }
}
