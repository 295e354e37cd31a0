//! Reading as futures.

use super::{Chain, Take, ops};
use futures_io::AsyncRead;
use std::future::Future;
use std::io::{self, IoSliceMut};

/// Methods to read numbers: each is a `read_exact` of the number's size.
macro_rules! read_numbers {
    ($($number:ty: $big:ident, $little:ident;)*) => {$(
        #[doc = concat!("Reads a `", stringify!($number), "`, most significant byte first.")]
        ///
        /// # Errors
        /// As [`read_exact`](Self::read_exact).
        fn $big(&mut self) -> impl Future<Output = io::Result<$number>>
        where
            Self: Unpin,
        {
            async move { Ok(<$number>::from_be_bytes(ops::read_array(self).await?)) }
        }

        #[doc = concat!("Reads a `", stringify!($number), "`, least significant byte first.")]
        ///
        /// # Errors
        /// As [`read_exact`](Self::read_exact).
        fn $little(&mut self) -> impl Future<Output = io::Result<$number>>
        where
            Self: Unpin,
        {
            async move { Ok(<$number>::from_le_bytes(ops::read_array(self).await?)) }
        }
    )*};
}

/// What can be done with an [`AsyncRead`].
///
/// Which of the futures may be dropped half-way is in [a table](crate::future#what-is-lost-when-a-future-is-dropped).
///
/// ```
/// use blitz_io::io::AsyncReadExt;
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut reader: &[u8] = b"\x00\x05hello and the rest";
/// let length = reader.read_u16().await?;
/// let mut word = String::new();
/// reader.by_ref().take(length.into()).read_to_string(&mut word).await?;
/// assert_eq!(word, "hello");
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub trait AsyncReadExt: AsyncRead {
    /// Reads what there is, at most a buffer full. Zero bytes are the end, or an empty buffer.
    ///
    /// # Errors
    /// Those of the reader.
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>>
    where
        Self: Unpin,
    {
        ops::read(self, buffer)
    }

    /// As [`read`](Self::read), into several buffers one after the other.
    ///
    /// # Errors
    /// Those of the reader.
    fn read_vectored(
        &mut self,
        buffers: &mut [IoSliceMut<'_>],
    ) -> impl Future<Output = io::Result<usize>>
    where
        Self: Unpin,
    {
        ops::read_vectored(self, buffers)
    }

    /// Fills the buffer, and returns its length.
    ///
    /// # Errors
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the end comes first, and those of the reader. How much has been read then
    /// is not known.
    fn read_exact(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>>
    where
        Self: Unpin,
    {
        async move {
            let length = buffer.len();
            ops::read_exact(self, buffer).await?;
            Ok(length)
        }
    }

    /// Appends everything up to the end, and returns how much that was.
    ///
    /// The sender decides how much memory that takes: see [`take`](Self::take).
    ///
    /// # Errors
    /// Those of the reader; what had been read is in `bytes`.
    fn read_to_end(&mut self, bytes: &mut Vec<u8>) -> impl Future<Output = io::Result<usize>>
    where
        Self: Unpin,
    {
        ops::read_to_end(self, bytes)
    }

    /// As [`read_to_end`](Self::read_to_end), for text.
    ///
    /// # Errors
    /// [`InvalidData`](io::ErrorKind::InvalidData) if it is not UTF-8, and those of the reader; `text` is as before then.
    fn read_to_string(&mut self, text: &mut String) -> impl Future<Output = io::Result<usize>>
    where
        Self: Unpin,
    {
        ops::read_to_string(self, text)
    }

    read_numbers! {
        u16: read_u16, read_u16_le;
        u32: read_u32, read_u32_le;
        u64: read_u64, read_u64_le;
        u128: read_u128, read_u128_le;
        i16: read_i16, read_i16_le;
        i32: read_i32, read_i32_le;
        i64: read_i64, read_i64_le;
        i128: read_i128, read_i128_le;
        f32: read_f32, read_f32_le;
        f64: read_f64, read_f64_le;
    }

    /// Reads a byte.
    ///
    /// # Errors
    /// As [`read_exact`](Self::read_exact).
    fn read_u8(&mut self) -> impl Future<Output = io::Result<u8>>
    where
        Self: Unpin,
    {
        async move { Ok(u8::from_be_bytes(ops::read_array(self).await?)) }
    }

    /// Reads a byte with a sign.
    ///
    /// # Errors
    /// As [`read_exact`](Self::read_exact).
    fn read_i8(&mut self) -> impl Future<Output = io::Result<i8>>
    where
        Self: Unpin,
    {
        async move { Ok(i8::from_be_bytes(ops::read_array(self).await?)) }
    }

    /// A reader that ends after `limit` bytes: the way to bound what a stranger can make us store.
    ///
    /// ```
    /// use blitz_io::io::{self, AsyncReadExt};
    ///
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let mut endless = io::repeat(b'x').take(1000);
    /// let mut bytes = Vec::new();
    /// assert_eq!(endless.read_to_end(&mut bytes).await?, 1000);
    /// assert_eq!(endless.limit(), 0, "there may have been more");
    /// # io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    fn take(self, limit: u64) -> Take<Self>
    where
        Self: Sized,
    {
        Take::new(self, limit)
    }

    /// A reader of this, and then of `next`.
    fn chain<R: AsyncRead>(self, next: R) -> Chain<Self, R>
    where
        Self: Sized,
    {
        Chain::new(self, next)
    }

    /// Itself, borrowed: for adapters that would take it otherwise.
    fn by_ref(&mut self) -> &mut Self
    where
        Self: Sized,
    {
        self
    }
}

impl<R: AsyncRead + ?Sized> AsyncReadExt for R {}
