//! Methods and traits that several socket types have, written once.

/// Implements reading for a type that has the right to read `$stream`.
macro_rules! readable_stream {
    ([$($generics:tt)*] $type:ty, $this:ident => $stream:expr) => {
        impl<$($generics)*> crate::io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                use crate::net::stream::Incoming as _;
                let $this = &*self;
                // SAFETY: that much has been read, and nothing is made uninitialised.
                unsafe {
                    buf.poll_with(|room| $stream.poll_read(cx, room).map_ok(|length| (length, ())))
                }
            }
        }

        #[cfg(feature = "futures-io")]
        impl<$($generics)*> futures_io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffer: &mut [u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                crate::io::poll_read_bytes(self, cx, buffer)
            }
        }

        #[cfg(feature = "tokio-io")]
        impl<$($generics)*> tokio::io::AsyncRead for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffer: &mut tokio::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                use crate::net::stream::Incoming as _;
                let $this = &*self;
                // SAFETY: nothing that was initialised is made uninitialised.
                let room = unsafe { buffer.unfilled_mut() };
                let length = std::task::ready!($stream.poll_read(cx, room))?;
                // SAFETY: that much has been read.
                unsafe { buffer.assume_init(length) };
                buffer.advance(length);
                std::task::Poll::Ready(Ok(()))
            }
        }

        #[cfg(feature = "hyper")]
        impl<$($generics)*> hyper::rt::Read for $type {
            fn poll_read(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                mut buffer: hyper::rt::ReadBufCursor<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                use crate::net::stream::Incoming as _;
                let $this = &*self;
                // SAFETY: nothing that was initialised is made uninitialised.
                let room = unsafe { buffer.as_mut() };
                let length = std::task::ready!($stream.poll_read(cx, room))?;
                // SAFETY: that much has been read.
                unsafe { buffer.advance(length) };
                std::task::Poll::Ready(Ok(()))
            }
        }
    };
}

/// Implements writing for a type that has the right to write `$stream`.
macro_rules! writable_stream {
    ([$($generics:tt)*] $type:ty, $this:ident => $stream:expr) => {
        impl<$($generics)*> crate::io::AsyncWrite for $type {
            writable_stream!(@methods $this => $stream, poll_shutdown);

            fn is_write_vectored(&self) -> bool {
                true
            }
        }

        #[cfg(feature = "futures-io")]
        impl<$($generics)*> futures_io::AsyncWrite for $type {
            writable_stream!(@methods $this => $stream, poll_close);
        }

        #[cfg(feature = "tokio-io")]
        impl<$($generics)*> tokio::io::AsyncWrite for $type {
            writable_stream!(@methods $this => $stream, poll_shutdown);

            fn is_write_vectored(&self) -> bool {
                true
            }
        }

        #[cfg(feature = "hyper")]
        impl<$($generics)*> hyper::rt::Write for $type {
            writable_stream!(@methods $this => $stream, poll_shutdown);

            fn is_write_vectored(&self) -> bool {
                true
            }
        }
    };
    (@methods $this:ident => $stream:expr, $close:ident) => {
        fn poll_write(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
            bytes: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            use crate::net::stream::Outgoing as _;
            let $this = &*self;
            $stream.poll_write(cx, bytes)
        }

        fn poll_write_vectored(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
            buffers: &[std::io::IoSlice<'_>],
        ) -> std::task::Poll<std::io::Result<usize>> {
            use crate::net::stream::Outgoing as _;
            let $this = &*self;
            $stream.poll_write_vectored(cx, buffers)
        }

        fn poll_flush(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            use crate::net::stream::Outgoing as _;
            let $this = &*self;
            $stream.poll_flush(cx)
        }

        fn $close(
            self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            use crate::net::stream::Outgoing as _;
            let $this = &*self;
            $stream.poll_close(cx)
        }
    };
}

/// Waiting without doing, and doing without waiting: for a type with a field `io`. How something of one's own is tried is up to the type.
macro_rules! readiness_methods {
    ($type:ty, $poll_read_ready:ident, $poll_write_ready:ident) => {
        readiness_methods!(
            $type, $poll_read_ready, $poll_write_ready,
            try(socket, f): socket.try_io(f)
        );
    };
    (
        $type:ty, $poll_read_ready:ident, $poll_write_ready:ident,
        try($socket:ident, $f:ident): $try:expr
    ) => {
        /// # Readiness
        impl $type {
            /// Waits until it is worth trying what `interest` says, for any number of tasks, and returns what is known of that. Cancel-safe.
            ///
            /// # Errors
            /// Only if the runtime has been shut down.
            pub async fn ready(
                &self,
                interest: crate::io::Interest,
            ) -> std::io::Result<crate::io::Ready> {
                self.io.ready(interest).await
            }

            /// Waits until it is worth reading. It may turn out that it was not: try, and wait again. Cancel-safe.
            ///
            /// # Errors
            /// Only if the runtime has been shut down.
            pub async fn readable(&self) -> std::io::Result<()> {
                self.ready(crate::io::Interest::READABLE).await.map(drop)
            }

            /// Waits until it is worth writing. It may turn out that it was not: try, and wait again. Cancel-safe.
            ///
            /// # Errors
            /// Only if the runtime has been shut down.
            pub async fn writable(&self) -> std::io::Result<()> {
                self.ready(crate::io::Interest::WRITABLE).await.map(drop)
            }

            /// As [`readable`](Self::readable). Of several tasks only the last one that called this, or another `poll` method
            /// that reads, is woken.
            pub fn $poll_read_ready(
                &self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.io.poll_read_ready(cx)
            }

            /// As [`writable`](Self::writable). Of several tasks only the last one that called this, or another `poll` method
            /// that writes, is woken.
            pub fn $poll_write_ready(
                &self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                self.io.poll_write_ready(cx)
            }

            /// Does something of one's own with it if that is known to be worth trying. `f` has to return
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if, and only if, the system did: the next wait then
            /// waits for an event.
            ///
            /// # Errors
            /// Those of `f`; `WouldBlock` if it was not tried.
            pub fn try_io<R>(
                &self,
                interest: crate::io::Interest,
                $f: impl FnOnce() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io.try_io(interest, |$socket| $try)
            }

            /// As [`try_io`](Self::try_io), again and again until it does not say
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock). For any number of tasks. Cancel-safe.
            ///
            /// # Errors
            /// Those of `f`, and if the runtime has been shut down.
            pub async fn async_io<R>(
                &self,
                interest: crate::io::Interest,
                mut $f: impl FnMut() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io
                    .async_io(interest, || {
                        let ($socket, $f) = (&*self.io, &mut $f);
                        $try
                    })
                    .await
            }
        }
    };
}

/// The trying versions of reading a stream: for a type with the right to it.
macro_rules! try_read_methods {
    ([$($generics:tt)*] $type:ty, $this:ident => $io:expr) => {
        /// # Reading without waiting
        impl<$($generics)*> $type {
            /// Reads what there is, without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is nothing, and those of the connection.
            pub fn try_read(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                let $this = self;
                $io.try_io(crate::io::Interest::READABLE, |mut socket| {
                    std::io::Read::read(&mut socket, buf)
                })
            }

            /// As [`try_read`](Self::try_read), into several buffers.
            ///
            /// # Errors
            /// As for [`try_read`](Self::try_read).
            pub fn try_read_vectored(
                &self,
                bufs: &mut [std::io::IoSliceMut<'_>],
            ) -> std::io::Result<usize> {
                let $this = self;
                $io.try_io(crate::io::Interest::READABLE, |mut socket| {
                    std::io::Read::read_vectored(&mut socket, bufs)
                })
            }

            /// As [`try_read`](Self::try_read), into something that has room, and advances it by as much.
            ///
            /// # Errors
            /// As for [`try_read`](Self::try_read).
            pub fn try_read_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
                let $this = self;
                $io.try_io(crate::io::Interest::READABLE, |socket| {
                    crate::net::stream::receive_into(buf, |room| {
                        crate::net::stream::RawIncoming::receive(socket, room)
                            .map(|length| (length, length))
                    })
                })
            }
        }
    };
}

/// The trying versions of writing a stream: for a type with the right to it.
macro_rules! try_write_methods {
    ([$($generics:tt)*] $type:ty, $this:ident => $io:expr) => {
        /// # Writing without waiting
        impl<$($generics)*> $type {
            /// Writes what there is room for, without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is none, and those of the connection.
            pub fn try_write(&self, buf: &[u8]) -> std::io::Result<usize> {
                let $this = self;
                $io.try_io(crate::io::Interest::WRITABLE, |mut socket| {
                    std::io::Write::write(&mut socket, buf)
                })
            }

            /// As [`try_write`](Self::try_write), from several buffers.
            ///
            /// # Errors
            /// As for [`try_write`](Self::try_write).
            pub fn try_write_vectored(
                &self,
                bufs: &[std::io::IoSlice<'_>],
            ) -> std::io::Result<usize> {
                let $this = self;
                $io.try_io(crate::io::Interest::WRITABLE, |mut socket| {
                    std::io::Write::write_vectored(&mut socket, bufs)
                })
            }
        }
    };
}

/// To and from the standard library's type, the descriptor, and the pending error: for a type with a field `io`.
macro_rules! standard_socket {
    ($type:ident, $mio:ty, $std:ty) => {
        impl $type {
            /// Takes over a socket of the standard library, which must have been set to non-blocking.
            ///
            /// # Errors
            /// If it cannot be registered.
            ///
            /// # Panics
            /// If the thread is in no runtime; if the socket blocks, in a build with debug assertions.
            #[track_caller]
            pub fn from_std(socket: $std) -> std::io::Result<Self> {
                #[cfg(unix)]
                crate::net::stream::expect_nonblocking(&socket)?;
                Self::from_mio(<$mio>::from_std(socket))
            }

            /// Gives the socket back, out of the runtime. It is still non-blocking.
            ///
            /// # Errors
            /// If the kernel does not let go of it.
            pub fn into_std(self) -> std::io::Result<$std> {
                self.io.into_inner().map(Into::into)
            }

            /// As `from_mio`, for one that is probably ready for that.
            #[allow(dead_code)]
            #[track_caller]
            pub(in crate::net) fn assuming(
                socket: $mio,
                ready: crate::io::Ready,
            ) -> std::io::Result<Self> {
                Ok(Self {
                    io: crate::driver::Registered::assuming(socket, ready)?,
                })
            }

            #[track_caller]
            pub(in crate::net) fn from_mio(socket: $mio) -> std::io::Result<Self> {
                Ok(Self {
                    io: crate::driver::Registered::new(socket)?,
                })
            }
        }

        impl TryFrom<$std> for $type {
            type Error = std::io::Error;

            /// As [`from_std`](Self::from_std).
            fn try_from(socket: $std) -> std::io::Result<Self> {
                Self::from_std(socket)
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&*self.io, f)
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                std::os::fd::AsFd::as_fd(&*self.io)
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsRawFd for $type {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                std::os::fd::AsRawFd::as_raw_fd(&*self.io)
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsSocket for $type {
            fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
                std::os::windows::io::AsSocket::as_socket(&*self.io)
            }
        }

        #[cfg(windows)]
        impl std::os::windows::io::AsRawSocket for $type {
            fn as_raw_socket(&self) -> std::os::windows::io::RawSocket {
                std::os::windows::io::AsRawSocket::as_raw_socket(&*self.io)
            }
        }
    };
}

/// The error that a socket has kept: for a type with a field `io`.
macro_rules! pending_error {
    ($type:ident) => {
        impl $type {
            /// The error that the socket has kept for the next one to ask, if any.
            ///
            /// # Errors
            /// If it cannot be asked.
            pub fn take_error(&self) -> std::io::Result<Option<std::io::Error>> {
                self.io.take_error()
            }
        }
    };
}

/// What all datagram sockets do: for a type with a field `io`, which is a [`RawDatagrams`](super::datagram::RawDatagrams).
macro_rules! datagram_methods {
    ($type:ty, $address:ty) => {
        impl $type {
            /// Sends to the address that it is connected to. Cancel-safe.
            ///
            /// # Errors
            /// If it is not connected, or the other side has answered that nobody listens.
            pub async fn send(&self, buf: &[u8]) -> std::io::Result<usize> {
                self.io
                    .io(crate::driver::Way::Write, |socket| socket.send(buf))
                    .await
            }

            /// As [`send`](Self::send); of several tasks only the last one that sends with a `poll` method is woken.
            pub fn poll_send(
                &self,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io
                    .poll_io(crate::driver::Way::Write, cx, |socket| socket.send(buf))
            }

            /// As [`send`](Self::send), without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is no room, and those of [`send`](Self::send).
            pub fn try_send(&self, buf: &[u8]) -> std::io::Result<usize> {
                self.io
                    .try_io(crate::io::Interest::WRITABLE, |socket| socket.send(buf))
            }

            /// Receives a datagram from the address that it is connected to. What does not fit is lost. Cancel-safe.
            ///
            /// # Errors
            /// If it is not connected, or the other side has answered that nobody listens.
            pub async fn recv(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.io
                    .io(crate::driver::Way::Read, |socket| socket.recv(buf))
                    .await
            }

            /// As [`recv`](Self::recv); of several tasks only the last one that receives with a `poll` method is woken.
            pub fn poll_recv(
                &self,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                crate::net::datagram::poll_receive(&self.io, cx, buf, |socket, room| {
                    socket.receive(room).map(|length| (length, ()))
                })
            }

            /// As [`recv`](Self::recv), without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is none, and those of [`recv`](Self::recv).
            pub fn try_recv(&self, buf: &mut [u8]) -> std::io::Result<usize> {
                self.io
                    .try_io(crate::io::Interest::READABLE, |socket| socket.recv(buf))
            }

            /// As [`recv`](Self::recv), into something that has room, and advances it by as much. A vector should have room for the largest datagram
            /// before: it grows by a little only. Cancel-safe.
            ///
            /// # Errors
            /// As [`recv`](Self::recv).
            pub async fn recv_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
                self.io
                    .io(crate::driver::Way::Read, |socket| {
                        crate::net::stream::receive_into(buf, |room| {
                            socket.receive(room).map(|length| (length, length))
                        })
                    })
                    .await
            }

            /// As [`recv_buf`](Self::recv_buf), without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is none, and those of [`recv`](Self::recv).
            pub fn try_recv_buf<B: bytes::BufMut>(&self, buf: &mut B) -> std::io::Result<usize> {
                self.io.try_io(crate::io::Interest::READABLE, |socket| {
                    crate::net::stream::receive_into(buf, |room| {
                        socket.receive(room).map(|length| (length, length))
                    })
                })
            }

            /// Receives a datagram and says who sent it. What does not fit is lost. Cancel-safe.
            ///
            /// # Errors
            /// Those of the socket.
            pub async fn recv_from(&self, buf: &mut [u8]) -> std::io::Result<(usize, $address)> {
                let (length, from) = self
                    .io
                    .io(crate::driver::Way::Read, |socket| socket.recv_from(buf))
                    .await?;
                Ok((length, from.into()))
            }

            /// As [`recv_from`](Self::recv_from); of several tasks only the last one that receives with a `poll` method is
            /// woken.
            pub fn poll_recv_from(
                &self,
                cx: &mut std::task::Context<'_>,
                buf: &mut crate::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<$address>> {
                crate::net::datagram::poll_receive(&self.io, cx, buf, |socket, room| {
                    socket.receive_from(room)
                })
            }

            /// As [`recv_from`](Self::recv_from), without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is none, and those of the socket.
            pub fn try_recv_from(&self, buf: &mut [u8]) -> std::io::Result<(usize, $address)> {
                let (length, from) = self.io.try_io(crate::io::Interest::READABLE, |socket| {
                    socket.recv_from(buf)
                })?;
                Ok((length, from.into()))
            }

            /// As [`recv_from`](Self::recv_from), into something that has room; see [`recv_buf`](Self::recv_buf). Cancel-safe.
            ///
            /// # Errors
            /// Those of the socket.
            pub async fn recv_buf_from<B: bytes::BufMut>(
                &self,
                buf: &mut B,
            ) -> std::io::Result<(usize, $address)> {
                self.io
                    .io(crate::driver::Way::Read, |socket| {
                        crate::net::stream::receive_into(buf, |room| {
                            socket
                                .receive_from(room)
                                .map(|(length, from)| (length, (length, from)))
                        })
                    })
                    .await
            }

            /// As [`recv_buf_from`](Self::recv_buf_from), without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is none, and those of the socket.
            pub fn try_recv_buf_from<B: bytes::BufMut>(
                &self,
                buf: &mut B,
            ) -> std::io::Result<(usize, $address)> {
                self.io.try_io(crate::io::Interest::READABLE, |socket| {
                    crate::net::stream::receive_into(buf, |room| {
                        socket
                            .receive_from(room)
                            .map(|(length, from)| (length, (length, from)))
                    })
                })
            }

            /// The address of this side.
            ///
            /// # Errors
            /// If the system does not say.
            pub fn local_addr(&self) -> std::io::Result<$address> {
                self.io.local_addr().map(Into::into)
            }

            /// The address that it is connected to.
            ///
            /// # Errors
            /// If it is not connected.
            pub fn peer_addr(&self) -> std::io::Result<$address> {
                self.io.peer_addr().map(Into::into)
            }
        }
    };
}

// For files and pipes.
pub(crate) use {readable_stream, writable_stream};
