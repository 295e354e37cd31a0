//! From a reader to a writer.
//!
//! A buffer of fixed size holds what has been read and not yet written. Nothing more is read before there is room. When
//! the reader has no data at the moment, the writer is flushed: data that has come must not wait in a buffer for data that has not.

use super::operations::uninterrupted;
use super::{AsyncBufRead, AsyncRead, AsyncWrite, BUFFER, ReadBuf};
use crate::coop;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Copies everything from `reader` to `writer`, flushes, and returns how much that was.
///
/// Neither is closed. If the future is dropped half-way, up to a buffer full has been read and not written.
///
/// # Errors
/// Those of the reader and of the writer, and [`WriteZero`](io::ErrorKind::WriteZero) if it takes nothing any more.
///
/// # Cost
/// One allocation of 8 KiB.
///
/// ```
/// use blitz_io::io::{self, AsyncReadExt};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut reader = io::repeat(b'x').take(100_000);
/// let mut writer = Vec::new();
/// assert_eq!(io::copy(&mut reader, &mut writer).await?, 100_000);
/// assert_eq!(writer.len(), 100_000);
/// # io::Result::Ok(())
/// # }).unwrap();
/// ```
pub async fn copy<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut copier = Copier::new(BUFFER);
    poll_fn(|cx| copier.poll(cx, Pin::new(&mut *reader), Pin::new(&mut *writer))).await
}

/// As [`copy`], out of the reader's own buffer. If the future is dropped half-way, what has not been written is still in there.
///
/// # Errors
/// Those of the reader and of the writer, and [`WriteZero`](io::ErrorKind::WriteZero) if it takes nothing any more.
///
/// # Cost
/// No allocation.
///
/// ```
/// use blitz_io::io;
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut reader: &[u8] = b"has a buffer: itself";
/// let mut writer = Vec::new();
/// assert_eq!(io::copy_buf(&mut reader, &mut writer).await?, 20);
/// # io::Result::Ok(())
/// # }).unwrap();
/// ```
pub async fn copy_buf<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncBufRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut copied = 0;
    let mut flushed = true;
    poll_fn(|cx| {
        let mut turns = Turns::default();
        loop {
            ready!(turns.poll_next(cx));
            let chunk = match Pin::new(&mut *reader).poll_fill_buf(cx) {
                Poll::Pending => {
                    return poll_flush_once(&mut flushed, Pin::new(&mut *writer), cx);
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
                Poll::Ready(chunk) => chunk?,
            };
            if chunk.is_empty() {
                ready!(Pin::new(&mut *writer).poll_flush(cx))?;
                return Poll::Ready(Ok(copied));
            }
            let written = ready!(poll_write_some(Pin::new(&mut *writer), cx, chunk))?;
            Pin::new(&mut *reader).consume(written);
            copied += written as u64;
            flushed = false;
        }
    })
    .await
}

/// Flushes a writer that has not been flushed since it was written to, while the reader has nothing; never ready, unless it fails.
fn poll_flush_once<W: AsyncWrite + ?Sized>(
    flushed: &mut bool,
    writer: Pin<&mut W>,
    cx: &mut Context<'_>,
) -> Poll<io::Result<u64>> {
    if !*flushed {
        ready!(writer.poll_flush(cx))?;
        *flushed = true;
    }
    Poll::Pending
}

/// Writes at least a byte.
fn poll_write_some<W: AsyncWrite + ?Sized>(
    mut writer: Pin<&mut W>,
    cx: &mut Context<'_>,
    bytes: &[u8],
) -> Poll<io::Result<usize>> {
    match ready!(uninterrupted(|| writer.as_mut().poll_write(cx, bytes)))? {
        0 => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
        length => Poll::Ready(Ok(length)),
    }
}

/// A loop that may turn for ever without waiting takes a unit of the budget each time but the first: a poll always gets
/// somewhere.
#[derive(Default)]
struct Turns {
    turned: bool,
}

impl Turns {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.turned, true) {
            let _spent = ready!(coop::take_unit(cx));
        }
        Poll::Ready(())
    }
}

/// One direction of copying.
#[derive(Debug)]
pub(super) struct Copier {
    buffer: Box<[u8]>,
    // What has been read and not written is at `start..end`.
    start: usize,
    end: usize,
    read_all: bool,
    flushed: bool,
    copied: u64,
}

impl Copier {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            buffer: vec![0; capacity].into_boxed_slice(),
            start: 0,
            end: 0,
            read_all: false,
            flushed: true,
            copied: 0,
        }
    }

    /// Copies until everything is through and flushed.
    pub(super) fn poll<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<u64>>
    where
        R: AsyncRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        let mut turns = Turns::default();
        loop {
            ready!(turns.poll_next(cx));
            if self.start == self.end && !self.read_all {
                let mut buffer = ReadBuf::new(&mut self.buffer);
                let read = uninterrupted(|| reader.as_mut().poll_read(cx, &mut buffer));
                let Poll::Ready(()) = read? else {
                    return poll_flush_once(&mut self.flushed, writer, cx);
                };
                let length = buffer.filled().len();
                (self.start, self.end) = (0, length);
                self.read_all = length == 0;
            }
            if self.read_all {
                ready!(writer.poll_flush(cx))?;
                return Poll::Ready(Ok(self.copied));
            }
            let rest = &self.buffer[self.start..self.end];
            let written = ready!(poll_write_some(writer.as_mut(), cx, rest))?;
            self.start += written;
            self.copied += written as u64;
            self.flushed = false;
        }
    }
}
