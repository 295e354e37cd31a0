//! Reading and writing numbers: as many bytes as the number's type has, in an order that the method's name says.

use super::Step;
use super::read::poll_fill;
use super::write::poll_write_rest;
use crate::io::{AsyncRead, AsyncWrite};
use std::fmt::Debug;
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A number as bytes.
pub trait Number {
    /// As many as it has.
    type Bytes: AsRef<[u8]> + AsMut<[u8]> + Debug + Copy;
    /// To be read into.
    const ZEROS: Self::Bytes;

    /// Most significant byte first.
    fn to_be(&self) -> Self::Bytes;
    /// Least significant byte first.
    fn to_le(&self) -> Self::Bytes;
    /// Most significant byte first.
    fn of_be(bytes: Self::Bytes) -> Self;
    /// Least significant byte first.
    fn of_le(bytes: Self::Bytes) -> Self;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Number for $number {
            type Bytes = [u8; size_of::<$number>()];
            const ZEROS: Self::Bytes = [0; size_of::<$number>()];

            fn to_be(&self) -> Self::Bytes {
                self.to_be_bytes()
            }

            fn to_le(&self) -> Self::Bytes {
                self.to_le_bytes()
            }

            fn of_be(bytes: Self::Bytes) -> Self {
                Self::from_be_bytes(bytes)
            }

            fn of_le(bytes: Self::Bytes) -> Self {
                Self::from_le_bytes(bytes)
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64);

/// An order of bytes.
pub trait Order {
    /// The number.
    fn of<N: Number>(bytes: N::Bytes) -> N;
}

/// Most significant byte first.
#[derive(Debug)]
pub struct Big;

/// Least significant byte first.
#[derive(Debug)]
pub struct Little;

impl Order for Big {
    fn of<N: Number>(bytes: N::Bytes) -> N {
        N::of_be(bytes)
    }
}

impl Order for Little {
    fn of<N: Number>(bytes: N::Bytes) -> N {
        N::of_le(bytes)
    }
}

/// Reads a number.
#[derive(Debug)]
pub struct ReadNumber<N: Number, O> {
    bytes: N::Bytes,
    filled: usize,
    order: PhantomData<O>,
}

impl<N: Number, O> ReadNumber<N, O> {
    pub(in crate::io) fn new() -> Self {
        Self {
            bytes: N::ZEROS,
            filled: 0,
            order: PhantomData,
        }
    }
}

impl<R: AsyncRead + ?Sized, N: Number, O: Order> Step<R> for ReadNumber<N, O> {
    type Output = io::Result<N>;

    #[inline]
    fn poll(&mut self, reader: Pin<&mut R>, cx: &mut Context<'_>) -> Poll<io::Result<N>> {
        let early_end = || io::ErrorKind::UnexpectedEof.into();
        let (bytes, filled) = (self.bytes.as_mut(), &mut self.filled);
        ready!(poll_fill(reader, cx, bytes, filled, early_end))?;
        Poll::Ready(Ok(O::of(self.bytes)))
    }
}

/// Writes a number.
#[derive(Debug)]
pub struct WriteNumber<N: Number> {
    bytes: N::Bytes,
    written: usize,
}

impl<N: Number> WriteNumber<N> {
    pub(in crate::io) fn big(number: N) -> Self {
        Self {
            bytes: number.to_be(),
            written: 0,
        }
    }

    pub(in crate::io) fn little(number: N) -> Self {
        Self {
            bytes: number.to_le(),
            written: 0,
        }
    }
}

impl<W: AsyncWrite + ?Sized, N: Number> Step<W> for WriteNumber<N> {
    type Output = io::Result<()>;

    #[inline]
    fn poll(&mut self, writer: Pin<&mut W>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_write_rest(writer, cx, self.bytes.as_ref(), &mut self.written)
    }
}
