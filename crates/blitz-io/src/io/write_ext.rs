//! Writing as futures.

use super::AsyncWrite;
use super::operations::Operation;
use super::operations::number::WriteNumber;
use super::operations::write::{
    Flush, Shutdown, Write, WriteAll, WriteAllFrom, WriteFrom, WriteVectored,
};
use bytes::Buf;
use std::io::IoSlice;

/// Methods to write numbers: each is a `write_all` of the number's bytes.
macro_rules! write_numbers {
    ($($number:ty: $big:ident, $little:ident;)*) => {$(
        #[doc = concat!("Writes a `", stringify!($number), "`, most significant byte first.")]
        ///
        /// # Errors
        /// As [`write_all`](Self::write_all).
        ///
        /// ```
        /// use blitz_io::io::AsyncWriteExt;
        ///
        /// # blitz_io::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        /// let mut bytes = Vec::new();
        #[doc = concat!("let number = 7 as ", stringify!($number), ";")]
        #[doc = concat!("bytes.", stringify!($big), "(number).await?;")]
        /// assert_eq!(bytes, number.to_be_bytes());
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        fn $big(&mut self, n: $number) -> Operation<'_, Self, WriteNumber<$number>>
        where
            Self: Unpin,
        {
            Operation::new(self, WriteNumber::big(n))
        }

        #[doc = concat!("Writes a `", stringify!($number), "`, least significant byte first.")]
        ///
        /// # Errors
        /// As [`write_all`](Self::write_all).
        ///
        /// ```
        /// use blitz_io::io::AsyncWriteExt;
        ///
        /// # blitz_io::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        /// let mut bytes = Vec::new();
        #[doc = concat!("let number = 7 as ", stringify!($number), ";")]
        #[doc = concat!("bytes.", stringify!($little), "(number).await?;")]
        /// assert_eq!(bytes, number.to_le_bytes());
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        fn $little(&mut self, n: $number) -> Operation<'_, Self, WriteNumber<$number>>
        where
            Self: Unpin,
        {
            Operation::new(self, WriteNumber::little(n))
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
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncWriteExt;
    /// use std::io::Cursor;
    ///
    /// let mut room = [0; 3];
    /// let written = Cursor::new(&mut room[..]).write(b"hello").await?;
    /// assert_eq!((written, &room), (3, b"hel"));
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn write<'a>(&'a mut self, src: &'a [u8]) -> Operation<'a, Self, Write<'a>>
    where
        Self: Unpin,
    {
        Operation::new(self, Write { bytes: src })
    }

    /// As [`write`](Self::write), from several buffers one after the other.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncWriteExt;
    /// use std::io::IoSlice;
    ///
    /// let mut message = Vec::new();
    /// message.write_vectored(&[IoSlice::new(b"head"), IoSlice::new(b"body")]).await?;
    /// assert_eq!(message, b"headbody");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn write_vectored<'a, 'b>(
        &'a mut self,
        bufs: &'a [IoSlice<'b>],
    ) -> Operation<'a, Self, WriteVectored<'a, 'b>>
    where
        Self: Unpin,
    {
        Operation::new(self, WriteVectored { buffers: bufs })
    }

    /// As [`write`](Self::write), and advances `src` by as much: what is left in it has not been written.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// ```
    /// use blitz_io::io::AsyncWriteExt;
    ///
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let mut rest = &b"a slice is a buffer that gets shorter"[..];
    /// let mut seven = [0; 7];
    /// let mut writer = std::io::Cursor::new(&mut seven[..]);
    /// assert_eq!(writer.write_buf(&mut rest).await?, 7);
    /// assert_eq!(rest, b" is a buffer that gets shorter");
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    fn write_buf<'a, B>(&'a mut self, src: &'a mut B) -> Operation<'a, Self, WriteFrom<'a, B>>
    where
        Self: Sized + Unpin,
        B: Buf,
    {
        Operation::new(self, WriteFrom { buffer: src })
    }

    /// Writes everything, and advances `src` by what has been written: if the future is dropped half-way, what is left in `src` has
    /// not been written.
    ///
    /// # Errors
    /// [`WriteZero`](std::io::ErrorKind::WriteZero) if the writer takes nothing any more, and those of the writer.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncWriteExt;
    ///
    /// let (mut writer, mut rest) = (Vec::new(), &b"hello"[..]);
    /// writer.write_all_buf(&mut rest).await?;
    /// assert!(rest.is_empty()); // all of it has been written
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn write_all_buf<'a, B>(
        &'a mut self,
        src: &'a mut B,
    ) -> Operation<'a, Self, WriteAllFrom<'a, B>>
    where
        Self: Sized + Unpin,
        B: Buf,
    {
        Operation::new(self, WriteAllFrom { buffer: src })
    }

    /// Writes everything.
    ///
    /// # Errors
    /// [`WriteZero`](std::io::ErrorKind::WriteZero) if the writer takes nothing any more, and those of the writer. How much has been written
    /// then is not known.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{self, AsyncReadExt, AsyncWriteExt};
    ///
    /// let (mut client, mut server) = io::duplex(64);
    /// client.write_all(b"hello").await?;
    /// let mut word = [0; 5];
    /// server.read_exact(&mut word).await?;
    /// assert_eq!(&word, b"hello");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn write_all<'a>(&'a mut self, src: &'a [u8]) -> Operation<'a, Self, WriteAll<'a>>
    where
        Self: Unpin,
    {
        Operation::new(self, WriteAll { bytes: src })
    }

    write_numbers! {
        u16: write_u16, write_u16_le;
        i16: write_i16, write_i16_le;
        u32: write_u32, write_u32_le;
        i32: write_i32, write_i32_le;
        u64: write_u64, write_u64_le;
        i64: write_i64, write_i64_le;
        u128: write_u128, write_u128_le;
        i128: write_i128, write_i128_le;
        f32: write_f32, write_f32_le;
        f64: write_f64, write_f64_le;
    }

    /// Writes a byte.
    ///
    /// # Errors
    /// As [`write_all`](Self::write_all).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncWriteExt;
    ///
    /// let mut bytes = Vec::new();
    /// bytes.write_u8(255).await?;
    /// assert_eq!(bytes, [0xFF]);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn write_u8(&mut self, n: u8) -> Operation<'_, Self, WriteNumber<u8>>
    where
        Self: Unpin,
    {
        Operation::new(self, WriteNumber::big(n))
    }

    /// Writes a byte with a sign.
    ///
    /// # Errors
    /// As [`write_all`](Self::write_all).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncWriteExt;
    ///
    /// let mut bytes = Vec::new();
    /// bytes.write_i8(-1).await?;
    /// assert_eq!(bytes, [0xFF]);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn write_i8(&mut self, n: i8) -> Operation<'_, Self, WriteNumber<i8>>
    where
        Self: Unpin,
    {
        Operation::new(self, WriteNumber::big(n))
    }

    /// Sees that what has been written is on its way: buffers are emptied.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{AsyncWriteExt, BufWriter};
    ///
    /// let mut writer = BufWriter::new(Vec::new());
    /// writer.write_all(b"hello").await?;
    /// assert!(writer.get_ref().is_empty());
    /// writer.flush().await?;
    /// assert_eq!(writer.get_ref(), b"hello");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn flush(&mut self) -> Operation<'_, Self, Flush>
    where
        Self: Unpin,
    {
        Operation::new(self, Flush)
    }

    /// Flushes, and tells the other side that this was all. A stream that is read from too can still be read from.
    ///
    /// # Errors
    /// Those of the writer.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{self, AsyncReadExt, AsyncWriteExt};
    ///
    /// let (mut client, mut server) = io::duplex(64);
    /// client.write_all(b"that is all").await?;
    /// client.shutdown().await?;
    /// let mut text = String::new();
    /// server.read_to_string(&mut text).await?; // sees the end
    /// assert_eq!(text, "that is all");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn shutdown(&mut self) -> Operation<'_, Self, Shutdown>
    where
        Self: Unpin,
    {
        Operation::new(self, Shutdown)
    }
}

impl<W: AsyncWrite + ?Sized> AsyncWriteExt for W {}
