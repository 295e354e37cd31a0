//! A stream in two halves, for two tasks.
//!
//! `ReadHalf` and `WriteHalf` borrow the stream; `OwnedReadHalf` and `OwnedWriteHalf` share it, and can be put together
//! again. Each half is the only one of its way, so it needs no lock. They are written once, for TCP and for Unix streams.

/// Defines the halves of a stream with a field `io`.
macro_rules! halves {
    // `$pair` begins the examples: a line that makes a `stream` and its `peer`.
    ($stream:ident, $address:ty, $pair:literal) => {
        /// The half that reads, borrowed. See
        #[doc = concat!("[`", stringify!($stream), "::split`].")]
        ///
        /// ```
        /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        #[doc = $pair]
        /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt, Interest};
        /// use std::io::{ErrorKind, IoSliceMut};
        ///
        /// let (mut reader, _writer) = stream.split();
        /// peer.write_all(b"hello").await?;
        /// let mut word = [0; 5];
        /// reader.read_exact(&mut word).await?;
        /// assert_eq!(&word, b"hello");
        /// println!("{:?}, connected to {:?}", reader.local_addr()?, reader.peer_addr()?);
        ///
        /// // Without waiting.
        /// peer.write_all(b"world").await?;
        /// assert!(reader.ready(Interest::READABLE).await?.is_readable());
        /// let length = loop {
        ///     reader.readable().await?;
        ///     match reader.try_read(&mut word) {
        ///         Err(error) if error.kind() == ErrorKind::WouldBlock => {} // it was not: wait again
        ///         result => break result?,
        ///     }
        /// };
        /// assert_eq!(&word[..length], b"world");
        /// assert!(reader.try_read_buf(&mut Vec::new()).is_err()); // nothing more has come
        /// assert!(reader.try_read_vectored(&mut [IoSliceMut::new(&mut word)]).is_err());
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        #[derive(Debug)]
        pub struct ReadHalf<'a>(&'a $stream);

        /// The half that writes, borrowed. See
        #[doc = concat!("[`", stringify!($stream), "::split`].")]
        ///
        /// ```
        /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        #[doc = $pair]
        /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt, Interest};
        /// use std::io::IoSlice;
        ///
        /// let (_reader, mut writer) = stream.split();
        /// writer.write_all(b"hello").await?;
        /// let mut word = [0; 5];
        /// peer.read_exact(&mut word).await?;
        /// assert_eq!(&word, b"hello");
        /// println!("{:?}, connected to {:?}", writer.local_addr()?, writer.peer_addr()?);
        ///
        /// // Without waiting.
        /// assert!(writer.ready(Interest::WRITABLE).await?.is_writable());
        /// writer.writable().await?;
        /// assert_eq!(writer.try_write(b"wor")?, 3);
        /// assert_eq!(writer.try_write_vectored(&[IoSlice::new(b"l"), IoSlice::new(b"d")])?, 2);
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        #[derive(Debug)]
        pub struct WriteHalf<'a>(&'a $stream);

        /// The half that reads. See
        #[doc = concat!("[`", stringify!($stream), "::into_split`].")]
        ///
        /// ```
        /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        #[doc = $pair]
        /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt, Interest};
        /// use std::io::{ErrorKind, IoSliceMut};
        ///
        /// let (mut reader, writer) = stream.into_split();
        /// peer.write_all(b"hello").await?;
        /// let mut word = [0; 5];
        /// reader.read_exact(&mut word).await?;
        /// assert_eq!(&word, b"hello");
        /// println!("{:?}, connected to {:?}", reader.local_addr()?, reader.peer_addr()?);
        ///
        /// // Without waiting.
        /// peer.write_all(b"world").await?;
        /// assert!(reader.ready(Interest::READABLE).await?.is_readable());
        /// let length = loop {
        ///     reader.readable().await?;
        ///     match reader.try_read(&mut word) {
        ///         Err(error) if error.kind() == ErrorKind::WouldBlock => {} // it was not: wait again
        ///         result => break result?,
        ///     }
        /// };
        /// assert_eq!(&word[..length], b"world");
        /// assert!(reader.try_read_buf(&mut Vec::new()).is_err()); // nothing more has come
        /// assert!(reader.try_read_vectored(&mut [IoSliceMut::new(&mut word)]).is_err());
        ///
        /// assert!(reader.reunite(writer).is_ok()); // one again
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        #[derive(Debug)]
        pub struct OwnedReadHalf(Arc<$stream>);

        /// The half that writes. See
        #[doc = concat!("[`", stringify!($stream), "::into_split`].")]
        ///
        /// When it is dropped, the peer is told that this was all.
        ///
        /// ```
        /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        #[doc = $pair]
        /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt, Interest};
        /// use std::io::IoSlice;
        ///
        /// let (reader, mut writer) = stream.into_split();
        /// writer.write_all(b"hello").await?;
        /// let mut word = [0; 5];
        /// peer.read_exact(&mut word).await?;
        /// assert_eq!(&word, b"hello");
        /// println!("{:?}, connected to {:?}", writer.local_addr()?, writer.peer_addr()?);
        ///
        /// // Without waiting.
        /// assert!(writer.ready(Interest::WRITABLE).await?.is_writable());
        /// writer.writable().await?;
        /// assert_eq!(writer.try_write(b"wor")?, 3);
        /// assert_eq!(writer.try_write_vectored(&[IoSlice::new(b"l"), IoSlice::new(b"d")])?, 2);
        ///
        /// let stream = writer.reunite(reader); // one again
        /// assert!(stream.is_ok());
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        #[derive(Debug)]
        pub struct OwnedWriteHalf {
            stream: Arc<$stream>,
            shuts: bool,
        }

        pub(super) fn borrowed(stream: &mut $stream) -> (ReadHalf<'_>, WriteHalf<'_>) {
            (ReadHalf(stream), WriteHalf(stream))
        }

        pub(super) fn owned(stream: $stream) -> (OwnedReadHalf, OwnedWriteHalf) {
            let stream = Arc::new(stream);
            let write = OwnedWriteHalf {
                stream: Arc::clone(&stream),
                shuts: true,
            };
            (OwnedReadHalf(stream), write)
        }

        halves!(@half ['a] ReadHalf<'a>, $stream, $address, this => this.0);
        halves!(@half ['a] WriteHalf<'a>, $stream, $address, this => this.0);
        halves!(@half [] OwnedReadHalf, $stream, $address, this => this.0);
        halves!(@half [] OwnedWriteHalf, $stream, $address, this => this.stream);
        halves!(@read ['a] ReadHalf<'a>, this => this.0);
        halves!(@read [] OwnedReadHalf, this => this.0);
        halves!(@write ['a] WriteHalf<'a>, this => this.0);
        halves!(@write [] OwnedWriteHalf, this => this.stream);

        impl OwnedReadHalf {
            /// Puts the halves of a stream together.
            ///
            /// # Errors
            /// Gives both back if they are of different streams.
            pub fn reunite(self, other: OwnedWriteHalf) -> Result<$stream, ReuniteError> {
                if !Arc::ptr_eq(&self.0, &other.stream) {
                    return Err(ReuniteError(self, other));
                }
                other.forget();
                Ok(Arc::into_inner(self.0).expect("a stream has two halves"))
            }
        }

        impl OwnedWriteHalf {
            /// As [`OwnedReadHalf::reunite`].
            ///
            /// # Errors
            /// Gives both back if they are of different streams.
            pub fn reunite(self, other: OwnedReadHalf) -> Result<$stream, ReuniteError> {
                other.reunite(self)
            }

            /// Drops it without telling the peer that this was all.
            ///
            /// ```
            /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            #[doc = $pair]
            /// use blitz_io::io::AsyncReadExt;
            ///
            /// let (reader, writer) = stream.into_split();
            /// writer.forget(); // the peer goes on waiting ...
            /// drop(reader); // ... until this is gone, too
            /// assert_eq!(peer.read(&mut [0; 5]).await?, 0);
            /// # std::io::Result::Ok(()) }).unwrap();
            /// ```
            pub fn forget(mut self) {
                self.shuts = false;
            }
        }

        impl Drop for OwnedWriteHalf {
            fn drop(&mut self) {
                if self.shuts {
                    // If that does not work the connection is over anyway.
                    let _ = self.stream.io.shutdown(std::net::Shutdown::Write);
                }
            }
        }

        /// Two halves that do not belong together.
        ///
        /// ```
        /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        #[doc = $pair]
        /// let (reader, _writer) = stream.into_split();
        /// let (_reader, writer) = peer.into_split();
        /// let error = reader.reunite(writer).unwrap_err();
        /// println!("{error}");
        /// let (reader, writer) = (error.0, error.1); // both are still there
        /// # drop((reader, writer));
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        #[derive(Debug)]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        impl fmt::Display for ReuniteError {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tried to reunite halves that are not from the same socket")
            }
        }

        impl std::error::Error for ReuniteError {}
    };
    (@half [$($generics:tt)*] $type:ty, $stream:ident, $address:ty, $this:ident => $whole:expr) => {
        impl<$($generics)*> $type {
            /// Waits until it is worth trying what `interest` says, and returns what is known of that. Cancel-safe.
            ///
            /// # Errors
            /// Only if the runtime has been shut down.
            pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
                let $this = self;
                $whole.ready(interest).await
            }

            /// The address of the other side.
            ///
            /// # Errors
            /// If it is gone.
            pub fn peer_addr(&self) -> io::Result<$address> {
                let $this = self;
                $whole.peer_addr()
            }

            /// The address of this side.
            ///
            /// # Errors
            /// If the system does not say.
            pub fn local_addr(&self) -> io::Result<$address> {
                let $this = self;
                $whole.local_addr()
            }
        }

        impl<$($generics)*> AsRef<$stream> for $type {
            fn as_ref(&self) -> &$stream {
                let $this = self;
                &$whole
            }
        }
    };
    (@read [$($generics:tt)*] $type:ty, $this:ident => $whole:expr) => {
        impl<$($generics)*> $type {
            /// Waits until it is worth reading. It may turn out that it was not: try, and wait again. Cancel-safe.
            ///
            /// # Errors
            /// Only if the runtime has been shut down.
            pub async fn readable(&self) -> io::Result<()> {
                let $this = self;
                $whole.readable().await
            }
        }

        try_read_methods!([$($generics)*] $type, $this => $whole.io);
        readable_stream!([$($generics)*] $type, $this => $whole.io);
    };
    (@write [$($generics:tt)*] $type:ty, $this:ident => $whole:expr) => {
        impl<$($generics)*> $type {
            /// Waits until it is worth writing. It may turn out that it was not: try, and wait again. Cancel-safe.
            ///
            /// # Errors
            /// Only if the runtime has been shut down.
            pub async fn writable(&self) -> io::Result<()> {
                let $this = self;
                $whole.writable().await
            }
        }

        try_write_methods!([$($generics)*] $type, $this => $whole.io);
        writable_stream!([$($generics)*] $type, $this => $whole.io);
    };
}
