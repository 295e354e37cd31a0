//! What a task is called.

use super::cell::{self, Header};
use std::fmt;
use std::num::NonZeroUsize;
use std::ptr::NonNull;

/// Names a task as long as somebody holds a handle to it, or it runs; a later task may have the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(NonZeroUsize);

impl Id {
    pub(super) fn of(task: NonNull<Header>) -> Self {
        // Its address, which no other task has.
        Id(NonZeroUsize::new(task.as_ptr() as usize).expect("a pointer that is not null"))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of the task that runs here.
///
/// # Panics
/// Outside of tasks; a future in `block_on` is none.
#[track_caller]
pub fn id() -> Id {
    try_id().expect("Can't get a task id when not inside a task")
}

/// The name of the task that runs here, if it is one.
pub fn try_id() -> Option<Id> {
    cell::current().map(Id::of)
}
