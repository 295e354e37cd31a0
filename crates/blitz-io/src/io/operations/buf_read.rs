//! Reading out of a reader's buffer.

use super::Step;
use super::read_all::{append, room_of};
use crate::io::AsyncBufRead;
use std::future::Future;
use std::io;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project_lite::pin_project! {
    /// Awaits something in the buffer, or the end.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct FillBuf<'a, R: ?Sized> {
        reader: Option<&'a mut R>,
        #[pin]
        pinned: PhantomPinned,
    }
}

impl<'a, R: ?Sized> FillBuf<'a, R> {
    pub(in crate::io) fn new(reader: &'a mut R) -> Self {
        Self {
            reader: Some(reader),
            pinned: PhantomPinned,
        }
    }
}

impl<'a, R: AsyncBufRead + Unpin + ?Sized> Future for FillBuf<'a, R> {
    type Output = io::Result<&'a [u8]>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let reader = this.reader.take().expect("not polled after it was ready");
        match Pin::new(&mut *reader).poll_fill_buf(cx) {
            Poll::Ready(Ok(bytes)) => {
                // SAFETY: the bytes are borrowed from the reader, which is borrowed for `'a` and which nobody uses any more: it has
                // been taken out of this future, which is how one would tell the compiler if it followed that through a match.
                let bytes = unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                *this.reader = Some(reader);
                Poll::Pending
            }
        }
    }
}

/// Where `chunk` ends, if the delimiter is in it or it is the end: how much of it is to be used, and whether that is all.
pub(in crate::io) fn up_to(delimiter: u8, chunk: &[u8]) -> (usize, bool) {
    match chunk.iter().position(|&byte| byte == delimiter) {
        Some(index) => (index + 1, true),
        None => (chunk.len(), chunk.is_empty()),
    }
}

fn poll_until<R: AsyncBufRead + ?Sized>(
    mut reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    delimiter: u8,
    bytes: &mut Vec<u8>,
    read: &mut usize,
) -> Poll<io::Result<usize>> {
    loop {
        let chunk = match ready!(reader.as_mut().poll_fill_buf(cx)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            chunk => chunk?,
        };
        let (used, complete) = up_to(delimiter, chunk);
        bytes.extend_from_slice(&chunk[..used]);
        reader.as_mut().consume(used);
        *read += used;
        if complete {
            return Poll::Ready(Ok(std::mem::take(read)));
        }
    }
}

/// Appends everything up to the delimiter, which is included, or the end.
#[derive(Debug)]
pub struct ReadUntil<'a> {
    pub(in crate::io) delimiter: u8,
    pub(in crate::io) bytes: &'a mut Vec<u8>,
    pub(in crate::io) read: usize,
}

impl<R: AsyncBufRead + ?Sized> Step<R> for ReadUntil<'_> {
    type Output = io::Result<usize>;

    fn poll(&mut self, reader: Pin<&mut R>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        poll_until(reader, cx, self.delimiter, self.bytes, &mut self.read)
    }
}

/// Appends everything up to the end of the line, which is included, or the end of the stream.
#[derive(Debug)]
pub struct ReadLine<'a> {
    text: &'a mut String,
    bytes: Vec<u8>,
    read: usize,
}

impl<'a> ReadLine<'a> {
    pub(in crate::io) fn new(text: &'a mut String) -> Self {
        Self {
            bytes: room_of(text),
            text,
            read: 0,
        }
    }
}

impl<R: AsyncBufRead + ?Sized> Step<R> for ReadLine<'_> {
    type Output = io::Result<usize>;

    fn poll(&mut self, reader: Pin<&mut R>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let read = ready!(poll_until(
            reader,
            cx,
            b'\n',
            &mut self.bytes,
            &mut self.read
        ));
        // Also if the stream has failed: what came before that is in the text.
        let appended = append(self.text, &mut self.bytes);
        Poll::Ready(read.and_then(|read| appended.map(|()| read)))
    }
}
