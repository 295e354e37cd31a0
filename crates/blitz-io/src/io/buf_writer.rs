//! A writer with a buffer.

use super::operations::uninterrupted;
use super::seek_state::SeekState;
use super::{AsyncSeek, AsyncWrite, BUFFER};
use pin_project_lite::pin_project;
use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A buffer, how large it may get, and how much of it has been written.
pub(super) type Behind = (Vec<u8>, usize, usize);

pin_project! {
    /// Collects small writes into large ones.
    ///
    /// Nothing is written when it is dropped, since that would have to wait: call [`flush`](super::AsyncWriteExt::flush) or
    /// [`shutdown`](super::AsyncWriteExt::shutdown) before. Reading goes straight to what it wraps.
    ///
    /// # Cost
    /// One allocation, of 8 KiB unless [`with_capacity`](Self::with_capacity) says otherwise. A write that is no smaller than the buffer
    /// bypasses it.
    ///
    /// ```
    /// use blitz_io::io::{AsyncWriteExt, BufWriter};
    ///
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let mut writer = BufWriter::new(Vec::new());
    /// for word in ["many ", "small ", "writes"] {
    ///     writer.write_all(word.as_bytes()).await?;
    /// }
    /// assert!(writer.get_ref().is_empty());
    /// writer.flush().await?;
    /// assert_eq!(writer.get_ref(), b"many small writes");
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub struct BufWriter<W> {
        #[pin]
        writer: W,
        // Never larger than it was made.
        buffer: Vec<u8>,
        capacity: usize,
        // How much of the buffer has been written.
        written: usize,
        seek: SeekState,
    }
}

impl<W: AsyncWrite> BufWriter<W> {
    /// With a buffer of 8 KiB.
    pub fn new(writer: W) -> Self {
        Self::with_capacity(BUFFER, writer)
    }

    /// With a buffer of `capacity` bytes. With none it writes everything at once.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{AsyncWriteExt, BufWriter};
    ///
    /// let mut writer = BufWriter::with_capacity(16, Vec::new());
    /// writer.write_all(b"hello").await?;
    /// assert_eq!(writer.buffer(), b"hello");
    /// assert!(writer.get_ref().is_empty());
    /// writer.flush().await?;
    /// writer.get_mut().push(b'!');
    /// assert_eq!(writer.into_inner(), b"hello!");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn with_capacity(capacity: usize, writer: W) -> Self {
        Self {
            writer,
            buffer: Vec::with_capacity(capacity),
            capacity,
            written: 0,
            seek: SeekState::Idle,
        }
    }
}

impl<W> BufWriter<W> {
    /// With a buffer that may hold something already.
    pub(super) fn from_parts(writer: W, (buffer, capacity, written): Behind) -> Self {
        Self {
            writer,
            buffer,
            capacity,
            written,
            seek: SeekState::Idle,
        }
    }

    pub(super) fn into_parts(self) -> (W, Behind) {
        (self.writer, (self.buffer, self.capacity, self.written))
    }

    /// What has not been written yet.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{AsyncWriteExt, BufWriter};
    /// use std::pin::pin;
    ///
    /// let mut writer = pin!(BufWriter::new(Vec::new()));
    /// writer.write_all(b"hello").await?;
    /// assert_eq!(writer.buffer(), b"hello");
    /// assert!(writer.get_pin_mut().is_empty());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn buffer(&self) -> &[u8] {
        &self.buffer[self.written..]
    }
}

impl<W: AsyncWrite> BufWriter<W> {
    /// Empties the buffer. What has been written is known whatever happens: nothing is lost or written twice.
    fn poll_flush_buffer(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut this = self.project();
        while *this.written < this.buffer.len() {
            let rest = &this.buffer[*this.written..];
            match ready!(uninterrupted(|| this.writer.as_mut().poll_write(cx, rest)))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                length => *this.written += length,
            }
        }
        this.buffer.clear();
        *this.written = 0;
        Poll::Ready(Ok(()))
    }

    /// For a writer that takes one slice at a time: as many of them as there is room for, or else the first alone.
    fn poll_write_slices(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut slices = buffers.iter().filter(|slice| !slice.is_empty());
        let Some(first) = slices.next() else {
            return Poll::Ready(Ok(0));
        };
        if ready!(self.as_mut().poll_room(cx, first.len()))? {
            return self.project().writer.poll_write(cx, first);
        }
        let this = self.project();
        this.buffer.extend_from_slice(first);
        let mut taken = first.len();
        for slice in slices {
            if this.buffer.len() + slice.len() > *this.capacity {
                break;
            }
            this.buffer.extend_from_slice(slice);
            taken += slice.len();
        }
        Poll::Ready(Ok(taken))
    }

    /// Makes room for a write of this length, and says whether it is to bypass the buffer.
    fn poll_room(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        length: usize,
    ) -> Poll<io::Result<bool>> {
        if self.buffer.len() + length > self.capacity {
            ready!(self.as_mut().poll_flush_buffer(cx))?;
        }
        Poll::Ready(Ok(length >= self.capacity))
    }
}

inner_access!([W: AsyncWrite] BufWriter<W>, W, writer);
delegate_read!([R: crate::io::AsyncRead] BufWriter<R>, writer);
delegate_buf_read!([R: crate::io::AsyncBufRead] BufWriter<R>, writer);

impl<W: AsyncWrite> AsyncWrite for BufWriter<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if ready!(self.as_mut().poll_room(cx, bytes.len()))? {
            return self.project().writer.poll_write(cx, bytes);
        }
        self.project().buffer.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if !self.writer.is_write_vectored() {
            return self.poll_write_slices(cx, buffers);
        }
        let length = buffers
            .iter()
            .fold(0_usize, |sum, buffer| sum.saturating_add(buffer.len()));
        if ready!(self.as_mut().poll_room(cx, length))? {
            return self.project().writer.poll_write_vectored(cx, buffers);
        }
        let this = self.project();
        buffers
            .iter()
            .for_each(|bytes| this.buffer.extend_from_slice(bytes));
        Poll::Ready(Ok(length))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush_buffer(cx))?;
        self.project().writer.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush_buffer(cx))?;
        self.project().writer.poll_shutdown(cx)
    }
}

impl<W: AsyncWrite + AsyncSeek> AsyncSeek for BufWriter<W> {
    /// Only notes where to: what is in the buffer has to be written before.
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        *self.project().seek = SeekState::Wanted(position);
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        if let SeekState::Wanted(position) = self.seek {
            ready!(self.as_mut().poll_flush_buffer(cx))?;
            let mut this = self.as_mut().project();
            ready!(this.writer.as_mut().poll_complete(cx))?;
            this.seek.begin(this.writer, position)?;
        }
        let this = self.project();
        let place = ready!(this.writer.poll_complete(cx));
        this.seek.end();
        Poll::Ready(place)
    }
}

impl<W: std::fmt::Debug> std::fmt::Debug for BufWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BufWriter")
            .field("writer", &self.writer)
            .field(
                "buffer",
                &format_args!("{}/{}", self.buffer().len(), self.capacity),
            )
            .finish()
    }
}
