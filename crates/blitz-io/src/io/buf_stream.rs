//! A stream with a buffer each way.

use super::{AsyncRead, AsyncSeek, AsyncWrite, BufReader, BufWriter};
use pin_project_lite::pin_project;
use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// A [`BufReader`] and a [`BufWriter`] around one stream.
    ///
    /// ```
    /// use blitz_io::io::{AsyncBufReadExt, AsyncWriteExt, BufStream, duplex};
    ///
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let (client, server) = duplex(64);
    /// let (mut client, mut server) = (BufStream::new(client), BufStream::new(server));
    /// client.write_all(b"ping\n").await?;
    /// client.flush().await?;
    /// let mut line = String::new();
    /// server.read_line(&mut line).await?;
    /// assert_eq!(line, "ping\n");
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    #[derive(Debug)]
    pub struct BufStream<S> {
        #[pin]
        stream: BufReader<BufWriter<S>>,
    }
}

impl<S: AsyncRead + AsyncWrite> BufStream<S> {
    /// With buffers of 8 KiB.
    pub fn new(stream: S) -> Self {
        BufReader::new(BufWriter::new(stream)).into()
    }

    /// With buffers of these sizes.
    ///
    /// # Panics
    /// If the reader's is 0.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{self, AsyncWriteExt, BufStream};
    ///
    /// let (here, _there) = io::duplex(64);
    /// let mut stream = BufStream::with_capacity(1024, 256, here);
    /// stream.write_all(b"hello").await?; // into the buffer
    /// stream.get_mut().write_all(b"past it").await?;
    /// println!("{:?}", stream.get_ref());
    /// let here = stream.into_inner(); // what was in the buffer is lost
    /// # drop(here);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[track_caller]
    pub fn with_capacity(
        reader_capacity: usize,
        writer_capacity: usize,
        stream: S,
    ) -> BufStream<S> {
        let writer = BufWriter::with_capacity(writer_capacity, stream);
        BufReader::with_capacity(reader_capacity, writer).into()
    }

    /// What it wraps.
    pub fn get_ref(&self) -> &S {
        self.stream.get_ref().get_ref()
    }

    /// What it wraps. Reading or writing there bypasses the buffers.
    pub fn get_mut(&mut self) -> &mut S {
        self.stream.get_mut().get_mut()
    }

    /// What it wraps, pinned. Reading or writing there bypasses the buffers.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{self, AsyncWriteExt, BufStream};
    /// use std::pin::pin;
    ///
    /// let (here, _there) = io::duplex(64);
    /// let stream = pin!(BufStream::new(here));
    /// stream.get_pin_mut().write_all(b"past the buffer").await?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut S> {
        self.project().stream.get_pin_mut().get_pin_mut()
    }

    /// What it wraps, without the buffers. What they hold is lost.
    pub fn into_inner(self) -> S {
        self.stream.into_inner().into_inner()
    }
}

impl<S> From<BufReader<BufWriter<S>>> for BufStream<S> {
    fn from(stream: BufReader<BufWriter<S>>) -> Self {
        Self { stream }
    }
}

impl<S> From<BufWriter<BufReader<S>>> for BufStream<S> {
    /// Turns it inside out: what the buffers hold stays.
    fn from(stream: BufWriter<BufReader<S>>) -> Self {
        let (reader, writer_buffer) = stream.into_parts();
        let (stream, reader_buffer) = reader.into_parts();
        let writer = BufWriter::from_parts(stream, writer_buffer);
        BufReader::from_parts(writer, reader_buffer).into()
    }
}

impl<S: AsyncRead + AsyncWrite + AsyncSeek> AsyncSeek for BufStream<S> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.project().stream.start_seek(position)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.project().stream.poll_complete(cx)
    }
}

delegate_read!([S: AsyncRead + AsyncWrite] BufStream<S>, stream);
delegate_buf_read!([S: AsyncRead + AsyncWrite] BufStream<S>, stream);
delegate_write!([S: AsyncRead + AsyncWrite] BufStream<S>, stream);
