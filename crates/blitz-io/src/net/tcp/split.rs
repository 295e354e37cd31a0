//! The halves of a TCP connection.

use super::TcpStream;
use crate::io::{Interest, ReadBuf, Ready};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

halves!(
    TcpStream,
    SocketAddr,
    r#"# let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
# let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
# let (mut peer, _) = listener.accept().await?;"#
);

/// Looking at what is to be read without taking it.
macro_rules! peek {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// As [`peek`](Self::peek).
            ///
            /// ```
            /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
            /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
            /// # let (mut peer, _) = listener.accept().await?;
            /// use blitz_io::io::{AsyncWriteExt, ReadBuf};
            /// use std::future::poll_fn;
            ///
            /// let (mut reader, _writer) = stream.into_split();
            /// peer.write_all(b"hello").await?;
            /// let mut memory = [0; 1];
            /// let mut buffer = ReadBuf::new(&mut memory);
            /// poll_fn(|cx| reader.poll_peek(cx, &mut buffer)).await?;
            /// assert_eq!(buffer.filled(), b"h");
            /// # std::io::Result::Ok(()) }).unwrap();
            /// ```
            pub fn poll_peek(
                &mut self,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<usize>> {
                self.0.poll_peek(cx, buf)
            }

            /// Waits for something to read and copies it, without taking it: the next read sees it, too. Cancel-safe.
            ///
            /// # Errors
            /// Those of the connection.
            ///
            /// ```
            /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
            /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
            /// # let (mut peer, _) = listener.accept().await?;
            /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
            ///
            /// let (mut reader, _writer) = stream.into_split();
            /// peer.write_all(b"hello").await?;
            /// let mut first = [0];
            /// reader.peek(&mut first).await?;
            /// assert_eq!(reader.read_u8().await?, first[0]); // it is still there
            /// # std::io::Result::Ok(()) }).unwrap();
            /// ```
            pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let mut buf = ReadBuf::new(buf);
                std::future::poll_fn(|cx| self.0.poll_peek(cx, &mut buf)).await
            }
        }
    };
}

peek!(['a] ReadHalf<'a>);
peek!([] OwnedReadHalf);
