//! Reading as futures.

use super::operations::Operation;
use super::operations::number::{Big, Little, ReadNumber};
use super::operations::read::{Read, ReadExact, ReadInto};
use super::operations::read_all::{ReadToEnd, ReadToString};
use super::{AsyncRead, Chain, Take};
use bytes::BufMut;

/// Methods to read numbers: each is a `read_exact` of the number's size.
macro_rules! read_numbers {
    ($($number:ty: $big:ident, $little:ident;)*) => {$(
        #[doc = concat!("Reads a `", stringify!($number), "`, most significant byte first.")]
        ///
        /// # Errors
        /// As [`read_exact`](Self::read_exact).
        ///
        /// ```
        /// use blitz_io::io::AsyncReadExt;
        ///
        /// # blitz_io::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        #[doc = concat!("let number = 7 as ", stringify!($number), ";")]
        /// let bytes = number.to_be_bytes();
        #[doc = concat!("assert_eq!((&bytes[..]).", stringify!($big), "().await?, number);")]
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        fn $big(&mut self) -> Operation<'_, Self, ReadNumber<$number, Big>>
        where
            Self: Unpin,
        {
            Operation::new(self, ReadNumber::new())
        }

        #[doc = concat!("Reads a `", stringify!($number), "`, least significant byte first.")]
        ///
        /// # Errors
        /// As [`read_exact`](Self::read_exact).
        ///
        /// ```
        /// use blitz_io::io::AsyncReadExt;
        ///
        /// # blitz_io::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        #[doc = concat!("let number = 7 as ", stringify!($number), ";")]
        /// let bytes = number.to_le_bytes();
        #[doc = concat!("assert_eq!((&bytes[..]).", stringify!($little), "().await?, number);")]
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        fn $little(&mut self) -> Operation<'_, Self, ReadNumber<$number, Little>>
        where
            Self: Unpin,
        {
            Operation::new(self, ReadNumber::new())
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
/// (&mut reader).take(length.into()).read_to_string(&mut word).await?;
/// assert_eq!(word, "hello");
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub trait AsyncReadExt: AsyncRead {
    /// A reader of this, and then of `next`.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    ///
    /// let mut text = String::new();
    /// (&b"hello, "[..]).chain(&b"world"[..]).read_to_string(&mut text).await?;
    /// assert_eq!(text, "hello, world");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn chain<R>(self, next: R) -> Chain<Self, R>
    where
        Self: Sized,
        R: AsyncRead,
    {
        Chain::new(self, next)
    }

    /// Reads what there is, at most a buffer full. Zero bytes are the end, or an empty buffer.
    ///
    /// # Errors
    /// Those of the reader.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    ///
    /// let (mut reader, mut buffer) = (&b"hello"[..], [0; 3]);
    /// assert_eq!(reader.read(&mut buffer).await?, 3);
    /// assert_eq!(&buffer, b"hel");
    /// assert_eq!(reader.read(&mut buffer).await?, 2); // what there was
    /// assert_eq!(reader.read(&mut buffer).await?, 0); // the end
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn read<'a>(&'a mut self, buf: &'a mut [u8]) -> Operation<'a, Self, Read<'a>>
    where
        Self: Unpin,
    {
        Operation::new(self, Read { buffer: buf })
    }

    /// Reads what there is into something that has room, and advances it by as much. Zero bytes are the end, or no room.
    ///
    /// A `Vec` and a `BytesMut` always have room: they grow by a little if they are full. The memory is not zeroed before.
    ///
    /// # Errors
    /// Those of the reader.
    ///
    /// ```
    /// use blitz_io::io::AsyncReadExt;
    ///
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let mut bytes = Vec::with_capacity(8);
    /// let mut reader = &b"hello, world"[..];
    /// while reader.read_buf(&mut bytes).await? > 0 {}
    /// assert_eq!(bytes, b"hello, world");
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    fn read_buf<'a, B>(&'a mut self, buf: &'a mut B) -> Operation<'a, Self, ReadInto<'a, B>>
    where
        Self: Unpin,
        B: BufMut + ?Sized,
    {
        Operation::new(self, ReadInto { buffer: buf })
    }

    /// Fills the buffer, and returns its length.
    ///
    /// # Errors
    /// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) if the end comes first, and those of the reader. How much has been read then
    /// is not known.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    /// use std::io::ErrorKind;
    ///
    /// let (mut reader, mut header) = (&b"PNG!"[..], [0; 3]);
    /// reader.read_exact(&mut header).await?;
    /// assert_eq!(&header, b"PNG");
    /// let error = reader.read_exact(&mut header).await.unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn read_exact<'a>(&'a mut self, buf: &'a mut [u8]) -> Operation<'a, Self, ReadExact<'a>>
    where
        Self: Unpin,
    {
        let step = ReadExact {
            buffer: buf,
            filled: 0,
        };
        Operation::new(self, step)
    }

    read_numbers! {
        u16: read_u16, read_u16_le;
        i16: read_i16, read_i16_le;
        u32: read_u32, read_u32_le;
        i32: read_i32, read_i32_le;
        u64: read_u64, read_u64_le;
        i64: read_i64, read_i64_le;
        u128: read_u128, read_u128_le;
        i128: read_i128, read_i128_le;
        f32: read_f32, read_f32_le;
        f64: read_f64, read_f64_le;
    }

    /// Reads a byte.
    ///
    /// # Errors
    /// As [`read_exact`](Self::read_exact).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    ///
    /// assert_eq!((&b"\xFF"[..]).read_u8().await?, 255);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn read_u8(&mut self) -> Operation<'_, Self, ReadNumber<u8, Big>>
    where
        Self: Unpin,
    {
        Operation::new(self, ReadNumber::new())
    }

    /// Reads a byte with a sign.
    ///
    /// # Errors
    /// As [`read_exact`](Self::read_exact).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    ///
    /// assert_eq!((&b"\xFF"[..]).read_i8().await?, -1);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn read_i8(&mut self) -> Operation<'_, Self, ReadNumber<i8, Big>>
    where
        Self: Unpin,
    {
        Operation::new(self, ReadNumber::new())
    }

    /// Appends everything up to the end, and returns how much that was.
    ///
    /// The sender decides how much memory that takes: see [`take`](Self::take).
    ///
    /// # Errors
    /// Those of the reader; what had been read is in `buf`.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    ///
    /// let (mut reader, mut bytes) = (&b"hello"[..], vec![]);
    /// // A stranger may send no more than a megabyte.
    /// (&mut reader).take(1 << 20).read_to_end(&mut bytes).await?;
    /// assert_eq!(bytes, b"hello");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn read_to_end<'a>(&'a mut self, buf: &'a mut Vec<u8>) -> Operation<'a, Self, ReadToEnd<'a>>
    where
        Self: Unpin,
    {
        Operation::new(self, ReadToEnd::new(buf))
    }

    /// As [`read_to_end`](Self::read_to_end), for text.
    ///
    /// # Errors
    /// [`InvalidData`](std::io::ErrorKind::InvalidData) if it is not UTF-8, and those of the reader; `dst` is as before then.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    ///
    /// let mut text = String::new();
    /// (&b"hello"[..]).read_to_string(&mut text).await?;
    /// assert_eq!(text, "hello");
    /// assert!((&b"\xFF"[..]).read_to_string(&mut text).await.is_err()); // no UTF-8
    /// assert_eq!(text, "hello");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn read_to_string<'a>(
        &'a mut self,
        dst: &'a mut String,
    ) -> Operation<'a, Self, ReadToString<'a>>
    where
        Self: Unpin,
    {
        Operation::new(self, ReadToString::new(dst))
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
}

impl<R: AsyncRead + ?Sized> AsyncReadExt for R {}
