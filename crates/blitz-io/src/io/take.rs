//! The beginning of a reader.

use super::{AsyncBufRead, AsyncRead, ReadBuf};
use pin_project_lite::pin_project;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// Ends after a number of bytes. See [`AsyncReadExt::take`](super::AsyncReadExt::take).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    ///
    /// let mut part = (&b"hello, world"[..]).take(5);
    /// let mut text = String::new();
    /// part.read_to_string(&mut text).await?;
    /// assert_eq!((&text[..], part.limit()), ("hello", 0));
    ///
    /// part.set_limit(3); // three more
    /// assert_eq!(*part.get_ref(), b", world");
    /// assert_eq!(part.get_mut().read_u8().await?, b','); // past the limit
    /// assert_eq!(part.into_inner(), b" world");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[derive(Debug)]
    pub struct Take<R> {
        #[pin]
        reader: R,
        limit: u64,
    }
}

impl<R: AsyncRead> Take<R> {
    pub(super) fn new(reader: R, limit: u64) -> Self {
        Self { reader, limit }
    }

    /// How many bytes it may still read.
    ///
    /// ```
    /// use blitz_io::io::AsyncReadExt;
    /// use std::pin::pin;
    ///
    /// let part = pin!((&b"hello, world"[..]).take(5));
    /// assert_eq!(part.limit(), 5);
    /// assert_eq!(*part.get_pin_mut(), b"hello, world");
    /// ```
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Changes how many bytes it may still read.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }
}

inner_access!([R: AsyncRead] Take<R>, R, reader);

/// As many of `length` as the limit allows.
fn within(limit: u64, length: usize) -> usize {
    usize::try_from(limit).map_or(length, |limit| limit.min(length))
}

impl<R: AsyncRead> AsyncRead for Take<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.project();
        if *this.limit == 0 {
            // Also when the reader has more: it is not asked.
            return Poll::Ready(Ok(()));
        }
        let mut part = buf.take(within(*this.limit, buf.remaining()));
        let place = part.filled().as_ptr();
        ready!(this.reader.poll_read(cx, &mut part))?;
        let (filled, initialized) = (part.filled(), part.initialized().len());
        assert!(
            std::ptr::eq(place, filled.as_ptr()),
            "a reader has put another buffer in the place of the one that it was given"
        );
        let length = filled.len();
        // SAFETY: as much of the part is, and the part is the beginning of what is not filled.
        unsafe { buf.assume_init(initialized) };
        buf.advance(length);
        *this.limit -= length as u64;
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncBufRead> AsyncBufRead for Take<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if *this.limit == 0 {
            return Poll::Ready(Ok(&[]));
        }
        let bytes = ready!(this.reader.poll_fill_buf(cx))?;
        Poll::Ready(Ok(&bytes[..within(*this.limit, bytes.len())]))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let this = self.project();
        let amount = within(*this.limit, amount);
        *this.limit -= amount as u64;
        this.reader.consume(amount);
    }
}
