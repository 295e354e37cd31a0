//! Connections as a stream.

use crate::net::{TcpListener, TcpStream};
#[cfg(unix)]
use crate::net::{UnixListener, UnixStream};
use futures_core::Stream;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The connections of a listener, without end. See [`TcpListener::incoming`].
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Incoming<'a, L> {
    listener: &'a L,
}

macro_rules! incoming {
    ($listener:ty, $stream:ty) => {
        impl $listener {
            /// The connections as a stream, which never ends. One task at a time: of several only the last is woken.
            ///
            /// ```
            /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            /// use blitz_io::net::{TcpListener, TcpStream};
            /// use blitz_io::stream;
            ///
            /// let listener = TcpListener::bind("127.0.0.1:0").await?;
            /// let client = TcpStream::connect(listener.local_addr()?).await?;
            /// let mut connections = listener.incoming(); // those of a `UnixListener` likewise
            /// let server = stream::next(&mut connections).await.unwrap()?;
            /// assert_eq!(server.peer_addr()?, client.local_addr()?);
            /// # std::io::Result::Ok(()) }).unwrap();
            /// ```
            pub fn incoming(&self) -> Incoming<'_, Self> {
                Incoming { listener: self }
            }
        }

        impl Stream for Incoming<'_, $listener> {
            type Item = io::Result<$stream>;

            fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
                let accepted = self.listener.poll_accept(cx);
                accepted.map(|result| Some(result.map(|(stream, _)| stream)))
            }
        }
    };
}

incoming!(TcpListener, TcpStream);
#[cfg(unix)]
incoming!(UnixListener, UnixStream);
