//! A reader with a buffer.

use super::BUFFER;
use futures_io::{AsyncBufRead, AsyncRead, AsyncSeek};
use pin_project_lite::pin_project;
use std::io::{self, IoSliceMut, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// Reads ahead, so that many small reads take few large ones; can be read by lines.
    ///
    /// What it has read ahead is lost when it is dropped or taken apart. Writing goes straight to what it wraps.
    ///
    /// # Cost
    /// One allocation, of 8 KiB unless [`with_capacity`](Self::with_capacity) says otherwise. A read that is no smaller than the buffer
    /// bypasses it while it is empty.
    ///
    /// ```
    /// use blitz_io::io::{AsyncBufReadExt, BufReader};
    ///
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let mut reader = BufReader::new(&b"one\ntwo"[..]);
    /// let mut line = String::new();
    /// assert_eq!(reader.read_line(&mut line).await?, 4);
    /// assert_eq!((line.as_str(), reader.buffer()), ("one\n", &b"two"[..]));
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub struct BufReader<R> {
        #[pin]
        reader: R,
        buffer: Box<[u8]>,
        // What has been read ahead is at `start..end`.
        start: usize,
        end: usize,
    }
}

impl<R> BufReader<R> {
    /// With a buffer of 8 KiB.
    pub fn new(reader: R) -> Self {
        Self::with_capacity(BUFFER, reader)
    }

    /// With a buffer of `capacity` bytes.
    ///
    /// # Panics
    /// If that is 0.
    #[track_caller]
    pub fn with_capacity(capacity: usize, reader: R) -> Self {
        assert!(
            capacity > 0,
            "the buffer of a BufReader needs room for at least a byte"
        );
        Self {
            reader,
            buffer: vec![0; capacity].into_boxed_slice(),
            start: 0,
            end: 0,
        }
    }

    /// What has been read ahead.
    pub fn buffer(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether a read of this size is better done without the buffer.
    fn bypasses(&self, length: usize) -> bool {
        self.start == self.end && length >= self.buffer.len()
    }
}

inner_access!([R] BufReader<R>, R, reader);
delegate_write!([W: futures_io::AsyncWrite] BufReader<W>, reader);

impl<R: AsyncRead> BufReader<R> {
    /// Lets `take` have what is in the buffer, and consumes what it says.
    fn poll_from_buffer(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        take: impl FnOnce(&mut &[u8]) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let mut bytes = ready!(self.as_mut().poll_fill_buf(cx))?;
        let length = take(&mut bytes)?;
        self.consume(length);
        Poll::Ready(Ok(length))
    }
}

impl<R: AsyncRead> AsyncRead for BufReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if self.bypasses(buffer.len()) {
            return self.project().reader.poll_read(cx, buffer);
        }
        self.poll_from_buffer(cx, |bytes| io::Read::read(bytes, buffer))
    }

    fn poll_read_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.bypasses(buffers.iter().map(|buffer| buffer.len()).sum()) {
            return self.project().reader.poll_read_vectored(cx, buffers);
        }
        self.poll_from_buffer(cx, |bytes| io::Read::read_vectored(bytes, buffers))
    }
}

impl<R: AsyncRead> AsyncBufRead for BufReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if this.start == this.end {
            *this.end = ready!(this.reader.poll_read(cx, this.buffer))?;
            *this.start = 0;
        }
        Poll::Ready(Ok(&this.buffer[*this.start..*this.end]))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let this = self.project();
        *this.start = (*this.start + amount).min(*this.end);
    }
}

impl<R: AsyncSeek> AsyncSeek for BufReader<R> {
    /// Forgets what has been read ahead.
    fn poll_seek(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        let this = self.project();
        let to = match to {
            // The reader is as much further on as has been read ahead.
            SeekFrom::Current(offset) => {
                let ahead = (*this.end - *this.start) as i64;
                let too_far = || io::Error::from(io::ErrorKind::InvalidInput);
                SeekFrom::Current(offset.checked_sub(ahead).ok_or_else(too_far)?)
            }
            absolute => absolute,
        };
        let place = ready!(this.reader.poll_seek(cx, to))?;
        (*this.start, *this.end) = (0, 0);
        Poll::Ready(Ok(place))
    }
}

impl<R: std::fmt::Debug> std::fmt::Debug for BufReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BufReader")
            .field("reader", &self.reader)
            .field(
                "buffer",
                &format_args!("{}/{}", self.end - self.start, self.buffer.len()),
            )
            .finish()
    }
}
