//! Why a task has no output.

use std::any::Any;
use std::fmt;
use std::sync::Mutex;

/// A task that ended without an output: it was aborted, or it panicked.
pub struct JoinError {
    // Two boxes, so that the error is one word and a task's memory does not grow by it. The mutex makes the payload, which is
    // only `Send`, shareable.
    panic: Option<Box<Mutex<Box<dyn Any + Send>>>>,
}

impl JoinError {
    pub(crate) fn cancelled() -> Self {
        JoinError { panic: None }
    }

    pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> Self {
        JoinError {
            panic: Some(Box::new(Mutex::new(payload))),
        }
    }

    /// Was the task aborted, or its runtime shut down?
    pub fn is_cancelled(&self) -> bool {
        self.panic.is_none()
    }

    /// Did the task panic?
    pub fn is_panic(&self) -> bool {
        self.panic.is_some()
    }

    /// The panic's payload, for [`std::panic::resume_unwind`].
    ///
    /// # Panics
    /// If the task did not panic; see [`JoinError::try_into_panic`].
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.try_into_panic()
            .expect("the task was cancelled, it did not panic")
    }

    /// The panic's payload, if the task panicked.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.panic {
            Some(payload) => Ok(payload
                .into_inner()
                .unwrap_or_else(std::sync::PoisonError::into_inner)),
            None => Err(self),
        }
    }

    fn message(&self) -> Option<String> {
        let payload = self.panic.as_ref()?;
        let payload = payload.lock().ok()?;
        let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_panic(), self.message()) {
            (false, _) => f.write_str("JoinError::Cancelled"),
            (true, Some(message)) => write!(f, "JoinError::Panic({message:?})"),
            (true, None) => f.write_str("JoinError::Panic(..)"),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_panic(), self.message()) {
            (false, _) => f.write_str("the task was cancelled"),
            (true, Some(message)) => write!(f, "the task panicked: {message}"),
            (true, None) => f.write_str("the task panicked"),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<JoinError> for std::io::Error {
    fn from(error: JoinError) -> Self {
        std::io::Error::other(error)
    }
}
