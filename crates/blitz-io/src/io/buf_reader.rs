//! A reader with a buffer.

use super::seek_state::SeekState;
use super::{AsyncBufRead, AsyncRead, AsyncSeek, BUFFER, ReadBuf};
use pin_project_lite::pin_project;
use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A buffer, and where in it that is which has been read ahead.
pub(super) type Ahead = (Box<[u8]>, usize, usize);

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
        seek: SeekState,
    }
}

impl<R: AsyncRead> BufReader<R> {
    /// With a buffer of 8 KiB.
    pub fn new(reader: R) -> Self {
        Self::with_capacity(BUFFER, reader)
    }

    /// With a buffer of `capacity` bytes.
    ///
    /// # Panics
    /// If that is 0.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{AsyncReadExt, BufReader};
    ///
    /// let mut reader = BufReader::with_capacity(4, &b"hello, world"[..]);
    /// assert_eq!(reader.read_u8().await?, b'h');
    /// assert_eq!(reader.buffer(), b"ell"); // read ahead
    /// // What it wraps: without what it has read ahead.
    /// assert_eq!(*reader.get_ref(), b"o, world");
    /// assert_eq!(reader.get_mut().read_u8().await?, b'o');
    /// assert_eq!(reader.into_inner(), b", world");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[track_caller]
    pub fn with_capacity(capacity: usize, reader: R) -> Self {
        assert!(
            capacity > 0,
            "a buffer's capacity must be greater than zero: it needs room for at least a byte"
        );
        Self {
            reader,
            buffer: vec![0; capacity].into_boxed_slice(),
            start: 0,
            end: 0,
            seek: SeekState::Idle,
        }
    }
}

impl<R> BufReader<R> {
    /// With a buffer that may hold something already.
    pub(super) fn from_parts(reader: R, (buffer, start, end): Ahead) -> Self {
        Self {
            reader,
            buffer,
            start,
            end,
            seek: SeekState::Idle,
        }
    }

    pub(super) fn into_parts(self) -> (R, Ahead) {
        (self.reader, (self.buffer, self.start, self.end))
    }

    /// What has been read ahead.
    ///
    /// ```
    /// use blitz_io::io::BufReader;
    /// use std::pin::pin;
    ///
    /// let reader = pin!(BufReader::new(&b"hello"[..]));
    /// assert!(reader.buffer().is_empty()); // nothing has been asked for
    /// assert_eq!(*reader.get_pin_mut(), b"hello");
    /// ```
    pub fn buffer(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Whether a read of this size is better done without the buffer.
    fn bypasses(&self, length: usize) -> bool {
        self.start == self.end && length >= self.buffer.len()
    }
}

inner_access!([R: AsyncRead] BufReader<R>, R, reader);
delegate_write!([W: crate::io::AsyncWrite] BufReader<W>, reader);

impl<R: AsyncRead> AsyncRead for BufReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.bypasses(buf.remaining()) {
            return self.project().reader.poll_read(cx, buf);
        }
        let ahead = ready!(self.as_mut().poll_fill_buf(cx))?;
        let length = ahead.len().min(buf.remaining());
        buf.put_slice(&ahead[..length]);
        self.consume(length);
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncRead> AsyncBufRead for BufReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if this.start == this.end {
            let mut buffer = ReadBuf::new(this.buffer);
            ready!(this.reader.poll_read(cx, &mut buffer))?;
            (*this.start, *this.end) = (0, buffer.filled().len());
        }
        Poll::Ready(Ok(&this.buffer[*this.start..*this.end]))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let this = self.project();
        *this.start = (*this.start + amount).min(*this.end);
    }
}

impl<R: AsyncSeek> AsyncSeek for BufReader<R> {
    /// Only notes where to: the reader may be busy.
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        *self.project().seek = SeekState::Wanted(position);
        Ok(())
    }

    /// Forgets what has been read ahead, once it is there.
    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let mut this = self.project();
        while let SeekState::Wanted(position) = *this.seek {
            ready!(this.reader.as_mut().poll_complete(cx))?;
            // The reader is as much further on as has been read ahead.
            let ahead = (*this.end - *this.start) as i64;
            let position = match position {
                SeekFrom::Current(distance) => match distance.checked_sub(ahead) {
                    Some(distance) => SeekFrom::Current(distance),
                    None => {
                        // Too much for one number: first back to where the user is.
                        this.reader.as_mut().start_seek(SeekFrom::Current(-ahead))?;
                        (*this.start, *this.end) = (0, 0);
                        continue;
                    }
                },
                absolute => absolute,
            };
            this.seek.begin(this.reader.as_mut(), position)?;
        }
        let place = ready!(this.reader.poll_complete(cx));
        if this.seek.end() && place.is_ok() {
            (*this.start, *this.end) = (0, 0);
        }
        Poll::Ready(place)
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
