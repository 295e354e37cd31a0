//! Reading into a buffer of the caller.

use super::{Step, uninterrupted};
use crate::io::{AsyncRead, ReadBuf};
use bytes::BufMut;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Reads what there is, at most a buffer full.
#[derive(Debug)]
pub struct Read<'a> {
    pub(in crate::io) buffer: &'a mut [u8],
}

impl<R: AsyncRead + ?Sized> Step<R> for Read<'_> {
    type Output = io::Result<usize>;

    #[inline]
    fn poll(&mut self, reader: Pin<&mut R>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut buffer = ReadBuf::new(self.buffer);
        ready!(reader.poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

/// Fills the buffer.
#[derive(Debug)]
pub struct ReadExact<'a> {
    pub(in crate::io) buffer: &'a mut [u8],
    pub(in crate::io) filled: usize,
}

impl<R: AsyncRead + ?Sized> Step<R> for ReadExact<'_> {
    type Output = io::Result<usize>;

    #[inline]
    fn poll(&mut self, reader: Pin<&mut R>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        ready!(poll_fill(
            reader,
            cx,
            self.buffer,
            &mut self.filled,
            early_end
        ))?;
        Poll::Ready(Ok(self.filled))
    }
}

/// Reads until the buffer, of which `filled` bytes are, is full. `early_end` makes the error if the reader ends before.
#[inline]
pub(super) fn poll_fill<R: AsyncRead + ?Sized>(
    mut reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
    filled: &mut usize,
    early_end: fn() -> io::Error,
) -> Poll<io::Result<()>> {
    while *filled < buffer.len() {
        let mut rest = ReadBuf::new(&mut buffer[*filled..]);
        ready!(uninterrupted(|| reader.as_mut().poll_read(cx, &mut rest)))?;
        match rest.filled().len() {
            0 => return Poll::Ready(Err(early_end())),
            length => *filled += length,
        }
    }
    Poll::Ready(Ok(()))
}

/// In tokio's words, which logs and tests of programs know.
fn early_end() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "early eof")
}

/// Reads what there is into something that grows or advances.
#[derive(Debug)]
pub struct ReadInto<'a, B: ?Sized> {
    pub(in crate::io) buffer: &'a mut B,
}

impl<R: AsyncRead + ?Sized, B: BufMut + ?Sized> Step<R> for ReadInto<'_, B> {
    type Output = io::Result<usize>;

    fn poll(&mut self, reader: Pin<&mut R>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if !self.buffer.has_remaining_mut() {
            return Poll::Ready(Ok(0));
        }
        let length = {
            let room = self.buffer.chunk_mut();
            // SAFETY: nothing but a `ReadBuf` gets at it, through which no byte becomes uninitialised.
            let room: &mut [MaybeUninit<u8>] = unsafe { room.as_uninit_slice_mut() };
            let place = room.as_ptr();
            let mut buffer = ReadBuf::uninit(room);
            ready!(reader.poll_read(cx, &mut buffer))?;
            let filled = buffer.filled();
            assert!(
                std::ptr::eq(place.cast(), filled.as_ptr()),
                "a reader has put another buffer in the place of the one that it was given"
            );
            filled.len()
        };
        // SAFETY: as many bytes of the chunk have been filled.
        unsafe { self.buffer.advance_mut(length) };
        Poll::Ready(Ok(length))
    }
}
