//! What `try_for_each`, `try_fold` and `try_reduce` accept as "may fail".
//!
//! `std`'s own trait for `?` is not stable, so this one stands in for it, for the same types. It can neither be named
//! nor implemented outside this crate; only its `Output` shows in signatures.

use std::convert::Infallible;
use std::ops::ControlFlow::{self, Break, Continue};
use std::task::Poll;

/// Only this crate can name it, so only this crate can implement [`Try`].
#[derive(Debug)]
pub struct Seal;

/// A value that is either an output to go on with or a residual to stop with.
pub trait Try {
    /// What a success carries.
    type Output;

    /// What a failure carries, without the success.
    type Residual;

    /// A success.
    fn from_output(output: Self::Output) -> Self;

    /// A failure.
    fn from_residual(residual: Self::Residual) -> Self;

    /// Which of the two it is.
    fn branch(self) -> ControlFlow<Self::Residual, Self::Output>;

    #[doc(hidden)]
    fn __sealed(&self) -> Seal;
}

impl<B, C> Try for ControlFlow<B, C> {
    type Output = C;
    type Residual = ControlFlow<B, Infallible>;

    #[inline]
    fn from_output(output: C) -> Self {
        Continue(output)
    }

    #[inline]
    fn from_residual(residual: Self::Residual) -> Self {
        let Break(b) = residual;
        Break(b)
    }

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, C> {
        match self {
            Continue(c) => Continue(c),
            Break(b) => Break(Break(b)),
        }
    }

    fn __sealed(&self) -> Seal {
        Seal
    }
}

impl<T> Try for Option<T> {
    type Output = T;
    type Residual = Option<Infallible>;

    #[inline]
    fn from_output(output: T) -> Self {
        Some(output)
    }

    #[inline]
    fn from_residual(residual: Self::Residual) -> Self {
        let None = residual;
        None
    }

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, T> {
        match self {
            Some(output) => Continue(output),
            None => Break(None),
        }
    }

    fn __sealed(&self) -> Seal {
        Seal
    }
}

impl<T, E> Try for Result<T, E> {
    type Output = T;
    type Residual = Result<Infallible, E>;

    #[inline]
    fn from_output(output: T) -> Self {
        Ok(output)
    }

    #[inline]
    fn from_residual(residual: Self::Residual) -> Self {
        let Err(error) = residual;
        Err(error)
    }

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, T> {
        match self {
            Ok(output) => Continue(output),
            Err(error) => Break(Err(error)),
        }
    }

    fn __sealed(&self) -> Seal {
        Seal
    }
}

impl<T, E> Try for Poll<Result<T, E>> {
    type Output = Poll<T>;
    type Residual = Result<Infallible, E>;

    #[inline]
    fn from_output(output: Poll<T>) -> Self {
        output.map(Ok)
    }

    #[inline]
    fn from_residual(residual: Self::Residual) -> Self {
        let Err(error) = residual;
        Poll::Ready(Err(error))
    }

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, Poll<T>> {
        match self {
            Poll::Pending => Continue(Poll::Pending),
            Poll::Ready(Ok(output)) => Continue(Poll::Ready(output)),
            Poll::Ready(Err(error)) => Break(Err(error)),
        }
    }

    fn __sealed(&self) -> Seal {
        Seal
    }
}

impl<T, E> Try for Poll<Option<Result<T, E>>> {
    type Output = Poll<Option<T>>;
    type Residual = Result<Infallible, E>;

    #[inline]
    fn from_output(output: Poll<Option<T>>) -> Self {
        output.map(|inside| inside.map(Ok))
    }

    #[inline]
    fn from_residual(residual: Self::Residual) -> Self {
        let Err(error) = residual;
        Poll::Ready(Some(Err(error)))
    }

    #[inline]
    fn branch(self) -> ControlFlow<Self::Residual, Poll<Option<T>>> {
        match self {
            Poll::Pending => Continue(Poll::Pending),
            Poll::Ready(None) => Continue(Poll::Ready(None)),
            Poll::Ready(Some(Ok(output))) => Continue(Poll::Ready(Some(output))),
            Poll::Ready(Some(Err(error))) => Break(Err(error)),
        }
    }

    fn __sealed(&self) -> Seal {
        Seal
    }
}
