//! Why a task has no output.

use super::id::Id;
use crate::primitives::ignore_poison;
use std::any::Any;
use std::fmt;
use std::sync::Mutex;

/// Why a task has no output, without its name: one word, so that a task's memory does not grow by it.
pub(crate) struct Failure {
    // Two boxes for that reason. The mutex makes the payload, which is only `Send`, shareable.
    panic: Option<Box<Mutex<Box<dyn Any + Send>>>>,
}

impl Failure {
    pub(crate) fn cancelled() -> Self {
        Failure { panic: None }
    }

    /// It has unwound: because it panicked, or because the token that it runs under has stopped it.
    pub(crate) fn unwound(payload: Box<dyn Any + Send>) -> Self {
        if was_stopped(&*payload) {
            Self::cancelled()
        } else {
            Self::panicked(payload)
        }
    }

    pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> Self {
        Failure {
            panic: Some(Box::new(Mutex::new(payload))),
        }
    }
}

#[cfg(not(loom))]
fn was_stopped(payload: &(dyn Any + Send)) -> bool {
    blitz_core::Cancelled::of_panic(payload).is_some()
}

/// Models have no tokens.
#[cfg(loom)]
fn was_stopped(_: &(dyn Any + Send)) -> bool {
    false
}

/// A task that ended without an output: it was aborted, or it panicked.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let task = blitz_io::spawn(std::future::pending::<()>());
/// task.abort();
/// let error = task.await.unwrap_err();
/// assert!(error.is_cancelled() && !error.is_panic());
/// # });
/// ```
pub struct JoinError {
    id: Id,
    failure: Failure,
}

impl JoinError {
    pub(super) fn new(id: Id, failure: Failure) -> Self {
        JoinError { id, failure }
    }

    /// Was the task aborted, stopped by a [token](blitz_core::CancelToken), or its runtime shut down?
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let task = blitz_io::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.failure.panic.is_none()
    }

    /// Did the task panic?
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let task = blitz_io::spawn(async { panic!("oh") });
    /// assert!(task.await.unwrap_err().is_panic());
    /// # });
    /// ```
    pub fn is_panic(&self) -> bool {
        self.failure.panic.is_some()
    }

    /// The panic's payload, for [`std::panic::resume_unwind`].
    ///
    /// # Panics
    /// If the task did not panic; see [`JoinError::try_into_panic`].
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let task = blitz_io::spawn(async { panic!("oh") });
    /// let payload = task.await.unwrap_err().into_panic();
    /// assert_eq!(payload.downcast_ref(), Some(&"oh"));
    /// # });
    /// ```
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.try_into_panic()
            .expect("`JoinError` reason is not a panic.")
    }

    /// The panic's payload, if the task panicked.
    ///
    /// # Errors
    /// The error itself, if it did not.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let task = blitz_io::spawn(async { panic!("oh") });
    /// let payload = task.await.unwrap_err().try_into_panic().unwrap();
    /// assert_eq!(payload.downcast_ref(), Some(&"oh"));
    /// # });
    /// ```
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, JoinError> {
        match self.failure.panic {
            Some(payload) => Ok(ignore_poison(payload.into_inner())),
            None => Err(self),
        }
    }

    /// The task's name.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let task = blitz_io::spawn(std::future::pending::<()>());
    /// let id = task.id();
    /// task.abort();
    /// assert_eq!(task.await.unwrap_err().id(), id);
    /// # });
    /// ```
    pub fn id(&self) -> Id {
        self.id
    }

    fn message(&self) -> Option<String> {
        let payload = self.failure.panic.as_ref()?;
        let payload = payload.lock().ok()?;
        let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id;
        match (self.is_panic(), self.message()) {
            (false, _) => write!(f, "JoinError::Cancelled({id:?})"),
            (true, Some(message)) => write!(f, "JoinError::Panic({id:?}, {message:?}, ...)"),
            (true, None) => write!(f, "JoinError::Panic({id:?}, ...)"),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.id;
        match (self.is_panic(), self.message()) {
            (false, _) => write!(f, "task {id} was cancelled"),
            (true, Some(message)) => write!(f, "task {id} panicked with message {message:?}"),
            (true, None) => write!(f, "task {id} panicked"),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> Self {
        std::io::Error::other(if error.is_panic() {
            "task panicked"
        } else {
            "task was cancelled"
        })
    }
}
