//! Values that belong to a task, as thread-locals belong to a thread.

use pin_project_lite::pin_project;
use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
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
/// assert!(REQUEST.try_with(|_| ()).is_err());
/// ```
#[macro_export]
macro_rules! task_local {
    ($($(#[$attr:meta])* $vis:vis static $name:ident : $t:ty);+ $(;)?) => {
        $(
            $(#[$attr])*
            $vis static $name: $crate::task::LocalKey<$t> = {
                ::std::thread_local! {
                    static VALUE: ::std::cell::RefCell<::core::option::Option<$t>> =
                        const { ::std::cell::RefCell::new(::core::option::Option::None) };
                }
                $crate::task::LocalKey::__new(&VALUE)
            };
        )+
    };
}

/// A task-local, made by [`task_local!`](crate::task_local).
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// blitz_io::task_local! {
///     static USER: String;
/// }
///
/// async fn greet() -> String {
///     USER.with(|user| format!("hello, {user}"))
/// }
///
/// let greeting = USER.scope("Ada".to_string(), greet()).await;
/// assert_eq!(greeting, "hello, Ada");
/// # });
/// ```
pub struct LocalKey<T: 'static> {
    value: &'static thread::LocalKey<RefCell<Option<T>>>,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn __new(value: &'static thread::LocalKey<RefCell<Option<T>>>) -> Self {
        LocalKey { value }
    }

    /// Runs `future` with the value set to `value`.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// blitz_io::task_local!(static DEPTH: u32);
    ///
    /// let inner = DEPTH.scope(1, async { DEPTH.scope(2, async { DEPTH.get() }).await + DEPTH.get() });
    /// assert_eq!(inner.await, 3);
    /// # });
    /// ```
    pub fn scope<F>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F>
    where
        F: Future,
    {
        TaskLocalFuture {
            key: self,
            value: Some(value),
            future: Some(future),
            pinned: PhantomPinned,
        }
    }

    /// Runs `work` with the value set to `value`.
    ///
    /// # Panics
    /// If somebody looks at the value just now, or the thread is about to end.
    ///
    /// ```
    /// blitz_io::task_local!(static DEPTH: u32);
    ///
    /// assert_eq!(DEPTH.sync_scope(7, || DEPTH.get()), 7);
    /// ```
    #[track_caller]
    pub fn sync_scope<F, R>(&'static self, value: T, work: F) -> R
    where
        F: FnOnce() -> R,
    {
        let mut value = Some(value);
        let _swapped = Swapped::new(self, &mut value);
        work()
    }

    /// Calls `look` with the value.
    ///
    /// # Panics
    /// Outside of a scope; see [`LocalKey::try_with`].
    ///
    /// ```
    /// blitz_io::task_local!(static NAME: String);
    ///
    /// let length = NAME.sync_scope("Ada".into(), || NAME.with(|name| name.len()));
    /// assert_eq!(length, 3);
    /// ```
    #[track_caller]
    pub fn with<F, R>(&'static self, look: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(look) {
            Ok(result) => result,
            Err(_) => panic!(
                "cannot access a task-local storage value without setting it first: wrap the future with `KEY.scope(value, future)`"
            ),
        }
    }

    /// Calls `look` with the value, if there is one.
    ///
    /// # Errors
    /// If there is none.
    ///
    /// ```
    /// blitz_io::task_local!(static NAME: String);
    ///
    /// assert!(NAME.try_with(|name| name.len()).is_err()); // outside of a scope
    /// ```
    pub fn try_with<F, R>(&'static self, look: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        let looked = self
            .value
            .try_with(|value| value.borrow().as_ref().map(look));
        looked.ok().flatten().ok_or(AccessError(()))
    }
}

impl<T: Clone + 'static> LocalKey<T> {
    /// A copy of the value.
    ///
    /// # Panics
    /// Outside of a scope.
    ///
    /// ```
    /// blitz_io::task_local!(static DEPTH: u32);
    ///
    /// assert_eq!(DEPTH.sync_scope(7, || DEPTH.get()), 7);
    /// ```
    #[track_caller]
    pub fn get(&'static self) -> T {
        self.with(T::clone)
    }

    /// A copy of the value, if there is one.
    ///
    /// # Errors
    /// If there is none.
    ///
    /// ```
    /// blitz_io::task_local!(static DEPTH: u32);
    ///
    /// assert!(DEPTH.try_get().is_err());
    /// assert_eq!(DEPTH.sync_scope(7, || DEPTH.try_get().unwrap()), 7);
    /// ```
    pub fn try_get(&'static self) -> Result<T, AccessError> {
        self.try_with(T::clone)
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("LocalKey { .. }")
    }
}

/// A task-local has no value here. See [`LocalKey::try_with`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError(());

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("task-local value not set")
    }
}

impl std::error::Error for AccessError {}

/// Why the thread's value cannot be exchanged.
enum NotNow {
    LookedAt,
    ThreadEnds,
}

/// Exchanges the thread's value with the future's, and back.
struct Swapped<'a, T: 'static> {
    key: &'static LocalKey<T>,
    value: &'a mut Option<T>,
}

impl<'a, T> Swapped<'a, T> {
    #[track_caller]
    fn new(key: &'static LocalKey<T>, value: &'a mut Option<T>) -> Self {
        match Self::try_new(key, value) {
            Ok(swapped) => swapped,
            Err(NotNow::LookedAt) => {
                panic!("cannot enter a task-local scope while the task-local storage is borrowed")
            }
            Err(NotNow::ThreadEnds) => panic!(
                "cannot enter a task-local scope during or after destruction of the underlying thread-local"
            ),
        }
    }

    fn try_new(key: &'static LocalKey<T>, value: &'a mut Option<T>) -> Result<Self, NotNow> {
        let swap = |current: &RefCell<Option<T>>| {
            let mut current = current.try_borrow_mut().map_err(|_| NotNow::LookedAt)?;
            std::mem::swap(&mut *current, value);
            Ok(())
        };
        let swapped = key.value.try_with(swap);
        swapped.unwrap_or(Err(NotNow::ThreadEnds))?;
        Ok(Swapped { key, value })
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

pin_project! {
    /// See [`LocalKey::scope`].
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// blitz_io::task_local!(static SEEN: Vec<u32>);
    ///
    /// let future = SEEN.scope(vec![1, 2], async {});
    /// // The value is in the future while that does not run.
    /// assert_eq!(pin!(future).take_value(), Some(vec![1, 2]));
    /// ```
    #[must_use = "futures do nothing unless polled"]
    pub struct TaskLocalFuture<T, F>
    where
        T: 'static,
    {
        key: &'static LocalKey<T>,
        value: Option<T>,
        #[pin]
        future: Option<F>,
        #[pin]
        pinned: PhantomPinned,
    }

    impl<T: 'static, F> PinnedDrop for TaskLocalFuture<T, F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if this.future.is_some() {
                // Its destructor sees the value, if that is possible here; a destructor must not panic because it is not.
                let _swapped = Swapped::try_new(this.key, this.value);
                this.future.set(None);
            }
        }
    }
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// The value, which the future no longer has then. `None`: it has been taken already.
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        self.project().value.take()
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        let _swapped = Swapped::new(this.key, this.value);
        let Some(future) = this.future.as_mut().as_pin_mut() else {
            panic!("`TaskLocalFuture` polled after completion");
        };
        let polled = future.poll(cx);
        if polled.is_ready() {
            // Its destructor may want the value, too. Dropped in place.
            this.future.set(None);
        }
        polled
    }
}

impl<T: fmt::Debug + 'static, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value: &dyn fmt::Debug = match &self.value {
            Some(value) => value,
            None => &format_args!("<missing>"),
        };
        f.debug_struct("TaskLocalFuture")
            .field("value", value)
            .finish()
    }
}
