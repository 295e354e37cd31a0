//! A future, and then its output until somebody takes it.

use pin_project_lite::pin_project;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// A part of `join!`.
    #[project = Part]
    #[project_replace = Owned]
    #[doc(hidden)]
    #[derive(Debug)]
    pub enum MaybeDone<F: Future> {
        /// Not ready yet.
        Running {
            #[pin]
            future: F,
        },
        /// Ready, and dropped.
        Done { output: F::Output },
        /// Taken.
        Taken,
    }
}

/// A part to be polled.
#[doc(hidden)]
pub fn maybe_done<F: IntoFuture>(future: F) -> MaybeDone<F::IntoFuture> {
    MaybeDone::Running {
        future: future.into_future(),
    }
}

impl<F: Future> MaybeDone<F> {
    /// Lets it go on, and says whether it is through. The future is dropped as soon as it is.
    pub fn is_done(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> bool {
        if let Part::Running { future } = self.as_mut().project() {
            match future.poll(cx) {
                Poll::Pending => return false,
                Poll::Ready(output) => self.set(Self::Done { output }),
            }
        }
        true
    }

    /// What it returned.
    ///
    /// # Panics
    /// If it is not through, or that has been taken.
    pub fn take(self: Pin<&mut Self>) -> F::Output {
        match self.project_replace(Self::Taken) {
            Owned::Done { output } => output,
            _ => panic!("a future of `join!` is taken once, when it is ready"),
        }
    }
}

impl<T, E, F: Future<Output = Result<T, E>>> MaybeDone<F> {
    /// As [`is_done`](Self::is_done); an error is taken at once.
    pub fn try_is_done(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Result<bool, E> {
        if !self.as_mut().is_done(cx) {
            return Ok(false);
        }
        match self.as_mut().project() {
            Part::Done { output: Err(_) } => match self.take() {
                Err(error) => Err(error),
                Ok(_) => unreachable!("it is an error"),
            },
            _ => Ok(true),
        }
    }

    /// What it returned if that is known not to be an error.
    ///
    /// # Panics
    /// As [`take`](Self::take).
    pub fn take_ok(self: Pin<&mut Self>) -> T {
        match self.take() {
            Ok(output) => output,
            Err(_) => panic!("errors of `try_join!` are taken when they come"),
        }
    }
}
