//! A stream with a buffer each way.

use super::{BufReader, BufWriter};
use pin_project_lite::pin_project;

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

impl<S> BufStream<S> {
    /// With buffers of 8 KiB.
    pub fn new(stream: S) -> Self {
        Self::from_buffered(BufReader::new(BufWriter::new(stream)))
    }

    /// With buffers of these sizes.
    ///
    /// # Panics
    /// If the reader's is 0.
    #[track_caller]
    pub fn with_capacity(reader: usize, writer: usize, stream: S) -> Self {
        let writer = BufWriter::with_capacity(writer, stream);
        Self::from_buffered(BufReader::with_capacity(reader, writer))
    }

    fn from_buffered(stream: BufReader<BufWriter<S>>) -> Self {
        Self { stream }
    }

    /// What it wraps.
    pub fn get_ref(&self) -> &S {
        self.stream.get_ref().get_ref()
    }

    /// What it wraps. Reading or writing there bypasses the buffers.
    pub fn get_mut(&mut self) -> &mut S {
        self.stream.get_mut().get_mut()
    }

    /// What it wraps, without the buffers. What they hold is lost.
    pub fn into_inner(self) -> S {
        self.stream.into_inner().into_inner()
    }
}

delegate_read!([S: crate::io::AsyncRead] BufStream<S>, stream);
delegate_buf_read!([S: crate::io::AsyncRead] BufStream<S>, stream);
delegate_write!([S: crate::io::AsyncWrite] BufStream<S>, stream);
