//! The futures of the extension traits.
//!
//! All of them do the same: they borrow a reader or writer, and take steps with it until the operation is done. So there is one future, [`Operation`], and a
//! [`Step`] for each method. A step is a plain value that stores how far it has come.

pub(super) mod buf_read;
pub(super) mod number;
pub(super) mod read;
pub(super) mod read_all;
pub(super) mod seek;
pub(super) mod write;

use pin_project_lite::pin_project;
use std::future::Future;
use std::io;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Asks again as long as the answer is that a signal came in between.
#[inline]
pub(super) fn uninterrupted<T>(
    mut operation: impl FnMut() -> Poll<io::Result<T>>,
) -> Poll<io::Result<T>> {
    loop {
        match operation() {
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

/// What a method does with the target that it borrows.
pub trait Step<T: ?Sized> {
    /// What comes of it.
    type Output;

    /// Goes on. Not called any more once it is ready.
    fn poll(&mut self, target: Pin<&mut T>, cx: &mut Context<'_>) -> Poll<Self::Output>;
}

pin_project! {
    /// The future of a method of one of the extension traits.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Operation<'a, T: ?Sized, S> {
        target: &'a mut T,
        step: S,
        // As an `async fn` would be: what is inside can then change.
        #[pin]
        pinned: PhantomPinned,
    }
}

impl<'a, T: ?Sized, S> Operation<'a, T, S> {
    pub(super) fn new(target: &'a mut T, step: S) -> Self {
        Self {
            target,
            step,
            pinned: PhantomPinned,
        }
    }
}

impl<T: Unpin + ?Sized, S: Step<T>> Future for Operation<'_, T, S> {
    type Output = S::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<S::Output> {
        let this = self.project();
        this.step.poll(Pin::new(&mut **this.target), cx)
    }
}
