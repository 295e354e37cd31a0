//! What a task is called.

use super::cell::{self, Header};
use std::fmt;
use std::num::NonZeroUsize;
use std::ptr::NonNull;

/// Names a task as long as somebody holds a handle to it, or it runs; a later task may have the same one.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let task = blitz_io::spawn(async { blitz_io::task::id() });
/// let from_outside = task.id();
/// assert_eq!(task.await.unwrap(), from_outside);
/// # });
/// ```
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
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// blitz_io::spawn(async { println!("in task {}", blitz_io::task::id()) }).await.unwrap();
/// # });
/// ```
#[track_caller]
pub fn id() -> Id {
    try_id().expect("Can't get a task id when not inside a task")
}

/// The name of the task that runs here, if it is one.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::task::try_id;
///
/// assert_eq!(try_id(), None); // `block_on` runs no task
/// assert!(blitz_io::spawn(async { try_id() }).await.unwrap().is_some());
/// # });
/// ```
pub fn try_id() -> Option<Id> {
    cell::current().map(Id::of)
}
