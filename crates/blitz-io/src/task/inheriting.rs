//! Tasks that inherit something from the code that spawned them ([`blitz_core::Inherited`], a [token](blitz_core::CancelToken)).
//!
//! Most tasks inherit nothing, and a task's memory is counted by the word (see [`super::cell`]). So tasks that do are another kind of future, in a box. This costs one
//! more allocation, and no copy of the task's machinery for each type of future.

use super::cell::{self, Queued, Schedule, Task};
use crate::place::Place;
use blitz_core::inherited::Captured;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A task of `future`, which inherits what its spawner has. Otherwise as [`cell::new`].
///
/// # Safety
/// As there.
pub(crate) unsafe fn new<F, S>(place: Place, future: F, scheduler: S) -> (Task, Queued, Task)
where
    F: Future,
    S: Schedule,
{
    let inherited = Captured::for_detached();
    // SAFETY: passed on. A box is polled and dropped where its future may be.
    unsafe {
        if inherited.is_nothing() {
            cell::new(place, future, scheduler)
        } else {
            cell::new(place, Inheriting::new(inherited, future), scheduler)
        }
    }
}

pub(crate) struct Inheriting<'a, T> {
    inherited: Captured,
    future: Pin<Box<dyn Future<Output = T> + 'a>>,
}

impl<'a, T> Inheriting<'a, T> {
    pub(crate) fn new(inherited: Captured, future: impl Future<Output = T> + 'a) -> Self {
        let future = Box::pin(future);
        Inheriting { inherited, future }
    }
}

impl<T> Future for Inheriting<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        if let Some(stopped) = this.inherited.why_cancelled() {
            if !cfg!(panic = "abort") {
                resume_unwind(Box::new(stopped));
            }
        }
        this.inherited.run(|| this.future.as_mut().poll(cx))
    }
}
