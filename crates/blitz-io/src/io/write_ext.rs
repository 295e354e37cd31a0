//! Writing as futures.

use super::ops;
use futures_io::AsyncWrite;
use std::future::Future;
use std::io::{self, IoSlice};

/// Methods to write numbers: each is a `write_all` of the number's bytes.
macro_rules! write_numbers {
    ($($number:ty: $big:ident, $little:ident;)*) => {$(
        #[doc = concat!("Writes a `", stringify!($number), "`, most significant byte first.")]
        ///
        /// # Errors
        /// As [`write_all`](Self::write_all).
        fn $big(&mut self, number: $number) -> impl Future<Output = io::Result<()>>
        where
            Self: Unpin,
        {
            async move { ops::write_all(self, &number.to_be_bytes()).await }
        }

        #[doc = concat!("Writes a `", stringify!($number), "`, least significant byte first.")]
        ///
        /// # Errors
        /// As [`write_all`](Self::write_all).
        fn $little(&mut self, number: $number) -> impl Future<Output = io::Result<()>>
        where
            Self: Unpin,
        {
            async move { ops::write_all(self, &number.to_le_bytes()).await }
        }
    )*};
}

/// What can be done with an [`AsyncWrite`].
///
/// Which of the futures may be dropped half-way is in [a table](crate::future#what-is-lost-when-a-future-is-dropped).
///
/// ```
/// use blitz_io::io::AsyncWriteExt;
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut bytes = Vec::new();
/// bytes.write_u16(5).await?;
/// bytes.write_all(b"hello").await?;
/// assert_eq!(bytes, b"\x00\x05hello");
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub trait AsyncWriteExt: AsyncWrite {
    /// Writes what there is room for, and returns how much that was.
    ///
    /// # Errors
    /// Those of the writer.
    fn write(&mut self, bytes: &[u8]) -> impl Future<Output = io::Result<usize>>
    where
        Self: Unpin,
    {
        ops::write(self, bytes)
    }

    /// As [`write`](Self::write), from several buffers one after the other.
    ///
    /// # Errors
    /// Those of the writer.
    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> impl Future<Output = io::Result<usize>>
    where
        Self: Unpin,
    {
        ops::write_vectored(self, buffers)
    }

    /// Writes everything.
    ///
    /// # Errors
    /// [`WriteZero`](io::ErrorKind::WriteZero) if the writer takes nothing any more, and those of the writer. How much has been written
    /// then is not known.
    fn write_all(&mut self, bytes: &[u8]) -> impl Future<Output = io::Result<()>>
    where
        Self: Unpin,
    {
        ops::write_all(self, bytes)
    }

    write_numbers! {
        u16: write_u16, write_u16_le;
        u32: write_u32, write_u32_le;
        u64: write_u64, write_u64_le;
        u128: write_u128, write_u128_le;
        i16: write_i16, write_i16_le;
        i32: write_i32, write_i32_le;
        i64: write_i64, write_i64_le;
        i128: write_i128, write_i128_le;
        f32: write_f32, write_f32_le;
        f64: write_f64, write_f64_le;
    }

    /// Writes a byte.
    ///
    /// # Errors
    /// As [`write_all`](Self::write_all).
    fn write_u8(&mut self, number: u8) -> impl Future<Output = io::Result<()>>
    where
        Self: Unpin,
    {
        async move { ops::write_all(self, &[number]).await }
    }

    /// Writes a byte with a sign.
    ///
    /// # Errors
    /// As [`write_all`](Self::write_all).
    fn write_i8(&mut self, number: i8) -> impl Future<Output = io::Result<()>>
    where
        Self: Unpin,
    {
        async move { ops::write_all(self, &number.to_be_bytes()).await }
    }

    /// Sees that what has been written is on its way: buffers are emptied.
    ///
    /// # Errors
    /// Those of the writer.
    fn flush(&mut self) -> impl Future<Output = io::Result<()>>
    where
        Self: Unpin,
    {
        ops::flush(self)
    }

    /// Flushes, and tells the other side that this was all. A stream that is read from too can still be read from.
    ///
    /// # Errors
    /// Those of the writer.
    fn shutdown(&mut self) -> impl Future<Output = io::Result<()>>
    where
        Self: Unpin,
    {
        ops::shutdown(self)
    }

    /// [`shutdown`](Self::shutdown) under the name that the trait has for it.
    ///
    /// # Errors
    /// Those of the writer.
    fn close(&mut self) -> impl Future<Output = io::Result<()>>
    where
        Self: Unpin,
    {
        ops::shutdown(self)
    }
}

impl<W: AsyncWrite + ?Sized> AsyncWriteExt for W {}
