//! The halves of a TCP connection.

use super::TcpStream;
use crate::io::{Interest, ReadBuf, Ready};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

halves!(TcpStream, SocketAddr);

/// Looking at what is to be read without taking it.
macro_rules! peek {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// As [`peek`](Self::peek).
            pub fn poll_peek(
                &mut self,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<usize>> {
                self.0.poll_peek(cx, buf)
            }

            /// Waits for something to read and copies it, without taking it: the next read sees it, too.
            ///
            /// # Errors
            /// Those of the connection.
            pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let mut buf = ReadBuf::new(buf);
                std::future::poll_fn(|cx| self.0.poll_peek(cx, &mut buf)).await
            }
        }
    };
}

peek!(['a] ReadHalf<'a>);
peek!([] OwnedReadHalf);
