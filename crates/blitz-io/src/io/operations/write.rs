//! Writing.

use super::{Step, uninterrupted};
use crate::io::AsyncWrite;
use bytes::Buf;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// How many buffers are handed to a writer at once.
const MOST_SLICES: usize = 64;

/// Writes what there is room for.
#[derive(Debug)]
pub struct Write<'a> {
    pub(in crate::io) bytes: &'a [u8],
}

impl<W: AsyncWrite + ?Sized> Step<W> for Write<'_> {
    type Output = io::Result<usize>;

    #[inline]
    fn poll(&mut self, writer: Pin<&mut W>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        writer.poll_write(cx, self.bytes)
    }
}

/// As [`Write`], from several buffers.
#[derive(Debug)]
pub struct WriteVectored<'a, 'b> {
    pub(in crate::io) buffers: &'a [IoSlice<'b>],
}

impl<W: AsyncWrite + ?Sized> Step<W> for WriteVectored<'_, '_> {
    type Output = io::Result<usize>;

    #[inline]
    fn poll(&mut self, writer: Pin<&mut W>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        writer.poll_write_vectored(cx, self.buffers)
    }
}

/// Writes everything.
#[derive(Debug)]
pub struct WriteAll<'a> {
    pub(in crate::io) bytes: &'a [u8],
}

impl<W: AsyncWrite + ?Sized> Step<W> for WriteAll<'_> {
    type Output = io::Result<()>;

    #[inline]
    fn poll(&mut self, mut writer: Pin<&mut W>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.bytes.is_empty() {
            match ready!(uninterrupted(|| writer.as_mut().poll_write(cx, self.bytes)))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                length => self.bytes = &self.bytes[length..],
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Writes what is behind `written`.
#[inline]
pub(super) fn poll_write_rest<W: AsyncWrite + ?Sized>(
    mut writer: Pin<&mut W>,
    cx: &mut Context<'_>,
    bytes: &[u8],
    written: &mut usize,
) -> Poll<io::Result<()>> {
    while *written < bytes.len() {
        let rest = &bytes[*written..];
        match ready!(uninterrupted(|| writer.as_mut().poll_write(cx, rest)))? {
            0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            length => *written += length,
        }
    }
    Poll::Ready(Ok(()))
}

/// Writes what there is room for of something that knows how much of it has been used.
#[derive(Debug)]
pub struct WriteFrom<'a, B: ?Sized> {
    pub(in crate::io) buffer: &'a mut B,
}

impl<W: AsyncWrite + ?Sized, B: Buf + ?Sized> Step<W> for WriteFrom<'_, B> {
    type Output = io::Result<usize>;

    fn poll(&mut self, writer: Pin<&mut W>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if !self.buffer.has_remaining() {
            return Poll::Ready(Ok(0));
        }
        poll_write_some(writer, cx, self.buffer)
    }
}

/// As [`WriteFrom`], everything.
#[derive(Debug)]
pub struct WriteAllFrom<'a, B: ?Sized> {
    pub(in crate::io) buffer: &'a mut B,
}

impl<W: AsyncWrite + ?Sized, B: Buf + ?Sized> Step<W> for WriteAllFrom<'_, B> {
    type Output = io::Result<()>;

    fn poll(&mut self, mut writer: Pin<&mut W>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.buffer.has_remaining() {
            let written = uninterrupted(|| poll_write_some(writer.as_mut(), cx, self.buffer));
            if ready!(written)? == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Writes a part, and advances by as much.
fn poll_write_some<W: AsyncWrite + ?Sized, B: Buf + ?Sized>(
    writer: Pin<&mut W>,
    cx: &mut Context<'_>,
    buffer: &mut B,
) -> Poll<io::Result<usize>> {
    let length = if writer.is_write_vectored() {
        let mut slices = [IoSlice::new(&[]); MOST_SLICES];
        let count = buffer.chunks_vectored(&mut slices);
        ready!(writer.poll_write_vectored(cx, &slices[..count]))?
    } else {
        ready!(writer.poll_write(cx, buffer.chunk()))?
    };
    buffer.advance(length);
    Poll::Ready(Ok(length))
}

/// Sees that what has been written is on its way.
#[derive(Debug)]
pub struct Flush;

impl<W: AsyncWrite + ?Sized> Step<W> for Flush {
    type Output = io::Result<()>;

    #[inline]
    fn poll(&mut self, writer: Pin<&mut W>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        writer.poll_flush(cx)
    }
}

/// Tells the peer that this was all.
#[derive(Debug)]
pub struct Shutdown;

impl<W: AsyncWrite + ?Sized> Step<W> for Shutdown {
    type Output = io::Result<()>;

    #[inline]
    fn poll(&mut self, writer: Pin<&mut W>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        writer.poll_shutdown(cx)
    }
}
