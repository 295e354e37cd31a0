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
                // SAFETY: nothing that was initialised is made uninitialised.
                let room = unsafe { buf.unfilled_mut() };
                let length = std::task::ready!($stream.poll_read(cx, room))?;
                // SAFETY: that much has been read.
                unsafe { buf.assume_init(length) };
                buf.advance(length);
                std::task::Poll::Ready(Ok(()))
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

/// Waiting without doing, and doing without waiting: for a type with a field `io`.
macro_rules! readiness_methods {
    ($type:ty) => {
        /// # Readiness
        impl $type {
            /// Waits until it is worth trying what `interest` says, for any number of tasks, and returns what is known.
            ///
            /// # Errors
            /// Only if the runtime has been shut down.
            pub async fn ready(
                &self,
                interest: crate::net::Interest,
            ) -> std::io::Result<crate::net::Ready> {
                self.io.ready(interest.wanted()).await
            }

            /// Waits until it is worth reading. It may turn out that it was not: try, and wait again.
            ///
            /// # Errors
            /// Only if the runtime has been shut down.
            pub async fn readable(&self) -> std::io::Result<()> {
                self.ready(crate::net::Interest::READABLE).await.map(drop)
            }

            /// Waits until it is worth writing. It may turn out that it was not: try, and wait again.
            ///
            /// # Errors
            /// Only if the runtime has been shut down.
            pub async fn writable(&self) -> std::io::Result<()> {
                self.ready(crate::net::Interest::WRITABLE).await.map(drop)
            }

            /// As [`readable`](Self::readable). Of several tasks only the last one that called this, or another `poll` method
            /// that reads, is woken.
            pub fn poll_read_ready(
                &self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let ready = self.io.poll_ready(crate::driver::Way::Read, cx);
                ready.map_ok(drop)
            }

            /// As [`writable`](Self::writable). Of several tasks only the last one that called this, or another `poll` method
            /// that writes, is woken.
            pub fn poll_write_ready(
                &self,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let ready = self.io.poll_ready(crate::driver::Way::Write, cx);
                ready.map_ok(drop)
            }

            /// Does something of one's own with the socket if that is known to be worth trying. `operation` has to return
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if, and only if, the socket did: the next wait then
            /// waits for an event.
            ///
            /// # Errors
            /// Those of `operation`; `WouldBlock` if it was not tried.
            pub fn try_io<R>(
                &self,
                interest: crate::net::Interest,
                operation: impl FnOnce() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io
                    .try_io(interest.wanted(), |socket| socket.try_io(operation))
            }
        }
    };
}

/// The trying versions of reading and writing a stream: for a type with a field `io`.
macro_rules! try_stream_methods {
    ($type:ty) => {
        /// # Without waiting
        impl $type {
            /// Reads what there is, without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is nothing, and those of the connection.
            pub fn try_read(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let wanted = crate::net::Interest::READABLE.wanted();
                self.io.try_io(wanted, |mut socket| {
                    std::io::Read::read(&mut socket, buffer)
                })
            }

            /// As [`try_read`](Self::try_read), into several buffers.
            ///
            /// # Errors
            /// As for [`try_read`](Self::try_read).
            pub fn try_read_vectored(
                &self,
                buffers: &mut [std::io::IoSliceMut<'_>],
            ) -> std::io::Result<usize> {
                let wanted = crate::net::Interest::READABLE.wanted();
                self.io.try_io(wanted, |mut socket| {
                    std::io::Read::read_vectored(&mut socket, buffers)
                })
            }

            /// Writes what there is room for, without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is none, and those of the connection.
            pub fn try_write(&self, bytes: &[u8]) -> std::io::Result<usize> {
                let wanted = crate::net::Interest::WRITABLE.wanted();
                self.io.try_io(wanted, |mut socket| {
                    std::io::Write::write(&mut socket, bytes)
                })
            }

            /// As [`try_write`](Self::try_write), from several buffers.
            ///
            /// # Errors
            /// As for [`try_write`](Self::try_write).
            pub fn try_write_vectored(
                &self,
                buffers: &[std::io::IoSlice<'_>],
            ) -> std::io::Result<usize> {
                let wanted = crate::net::Interest::WRITABLE.wanted();
                self.io.try_io(wanted, |mut socket| {
                    std::io::Write::write_vectored(&mut socket, buffers)
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
            /// If the thread is in no runtime.
            #[track_caller]
            pub fn from_std(socket: $std) -> std::io::Result<Self> {
                Self::from_mio(<$mio>::from_std(socket))
            }

            /// Gives the socket back, out of the runtime. It is still non-blocking.
            ///
            /// # Errors
            /// If the kernel does not let go of it.
            pub fn into_std(self) -> std::io::Result<$std> {
                self.io.into_inner().map(Into::into)
            }

            #[track_caller]
            pub(in crate::net) fn from_mio(socket: $mio) -> std::io::Result<Self> {
                Ok(Self {
                    io: crate::driver::Registered::new(socket)?,
                })
            }

            /// The error that the socket has kept for the next one to ask, if any.
            ///
            /// # Errors
            /// If it cannot be asked.
            pub fn take_error(&self) -> std::io::Result<Option<std::io::Error>> {
                self.io.take_error()
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
    };
}

/// What all datagram sockets do: for a type with a field `io`.
macro_rules! datagram_methods {
    ($type:ty, $address:ty) => {
        impl $type {
            /// Sends to the address that it is connected to.
            ///
            /// # Errors
            /// If it is not connected, or the other side has answered that nobody listens.
            pub async fn send(&self, bytes: &[u8]) -> std::io::Result<usize> {
                self.io
                    .io(crate::driver::Way::Write, |socket| socket.send(bytes))
                    .await
            }

            /// Receives a datagram from the address that it is connected to. What does not fit is lost.
            ///
            /// # Errors
            /// If it is not connected, or the other side has answered that nobody listens.
            pub async fn recv(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
                self.io
                    .io(crate::driver::Way::Read, |socket| socket.recv(buffer))
                    .await
            }

            /// Receives a datagram and says who sent it. What does not fit is lost.
            ///
            /// # Errors
            /// Those of the socket.
            pub async fn recv_from(&self, buffer: &mut [u8]) -> std::io::Result<(usize, $address)> {
                self.io
                    .io(crate::driver::Way::Read, |socket| socket.recv_from(buffer))
                    .await
            }

            /// As [`send`](Self::send), without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is no room, and those of [`send`](Self::send).
            pub fn try_send(&self, bytes: &[u8]) -> std::io::Result<usize> {
                let wanted = crate::net::Interest::WRITABLE.wanted();
                self.io.try_io(wanted, |socket| socket.send(bytes))
            }

            /// As [`recv`](Self::recv), without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is none, and those of [`recv`](Self::recv).
            pub fn try_recv(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let wanted = crate::net::Interest::READABLE.wanted();
                self.io.try_io(wanted, |socket| socket.recv(buffer))
            }

            /// As [`recv_from`](Self::recv_from), without waiting.
            ///
            /// # Errors
            /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if there is none, and those of the socket.
            pub fn try_recv_from(&self, buffer: &mut [u8]) -> std::io::Result<(usize, $address)> {
                let wanted = crate::net::Interest::READABLE.wanted();
                self.io.try_io(wanted, |socket| socket.recv_from(buffer))
            }

            /// As [`send`](Self::send); of several tasks only the last one that sends with a `poll` method is woken.
            pub fn poll_send(
                &self,
                cx: &mut std::task::Context<'_>,
                bytes: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io
                    .poll_io(crate::driver::Way::Write, cx, |socket| socket.send(bytes))
            }

            /// As [`recv`](Self::recv); of several tasks only the last one that receives with a `poll` method is woken.
            pub fn poll_recv(
                &self,
                cx: &mut std::task::Context<'_>,
                buffer: &mut [u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io
                    .poll_io(crate::driver::Way::Read, cx, |socket| socket.recv(buffer))
            }

            /// As [`recv_from`](Self::recv_from); of several tasks only the last one that receives with a `poll` method is
            /// woken.
            pub fn poll_recv_from(
                &self,
                cx: &mut std::task::Context<'_>,
                buffer: &mut [u8],
            ) -> std::task::Poll<std::io::Result<(usize, $address)>> {
                self.io.poll_io(crate::driver::Way::Read, cx, |socket| {
                    socket.recv_from(buffer)
                })
            }

            /// The address of this side.
            ///
            /// # Errors
            /// If the system does not say.
            pub fn local_addr(&self) -> std::io::Result<$address> {
                self.io.local_addr()
            }

            /// The address that it is connected to.
            ///
            /// # Errors
            /// If it is not connected.
            pub fn peer_addr(&self) -> std::io::Result<$address> {
                self.io.peer_addr()
            }
        }
    };
}

// For files and pipes.
pub(crate) use {readable_stream, writable_stream};
