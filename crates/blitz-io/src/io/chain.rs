//! One reader after the other.

use super::{AsyncBufRead, AsyncRead, ReadBuf};
use pin_project_lite::pin_project;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// Reads the first to its end and then the second. See [`AsyncReadExt::chain`](super::AsyncReadExt::chain).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    ///
    /// let mut both = (&b"head"[..]).chain(&b"body"[..]);
    /// let mut first = [0; 2];
    /// both.read_exact(&mut first).await?;
    /// assert_eq!(both.get_ref(), (&&b"ad"[..], &&b"body"[..]));
    /// *both.get_mut().1 = b"!"; // another second one
    /// let mut rest = String::new();
    /// both.read_to_string(&mut rest).await?;
    /// assert_eq!(rest, "ad!");
    /// assert_eq!(both.into_inner(), (&b""[..], &b""[..]));
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[derive(Debug)]
    pub struct Chain<A, B> {
        #[pin]
        first: A,
        #[pin]
        second: B,
        first_is_over: bool,
    }
}

impl<A: AsyncRead, B: AsyncRead> Chain<A, B> {
    pub(super) fn new(first: A, second: B) -> Self {
        Self {
            first,
            second,
            first_is_over: false,
        }
    }

    /// Both readers.
    pub fn get_ref(&self) -> (&A, &B) {
        (&self.first, &self.second)
    }

    /// Both readers. What is read there is missing here.
    pub fn get_mut(&mut self) -> (&mut A, &mut B) {
        (&mut self.first, &mut self.second)
    }

    /// Both readers, pinned. What is read there is missing here.
    ///
    /// ```
    /// use blitz_io::io::AsyncReadExt;
    /// use std::pin::pin;
    ///
    /// let both = pin!((&b"head"[..]).chain(&b"body"[..]));
    /// let (first, _second) = both.get_pin_mut();
    /// assert_eq!(*first, b"head");
    /// ```
    pub fn get_pin_mut(self: Pin<&mut Self>) -> (Pin<&mut A>, Pin<&mut B>) {
        let this = self.project();
        (this.first, this.second)
    }

    /// Both readers.
    pub fn into_inner(self) -> (A, B) {
        (self.first, self.second)
    }
}

impl<A: AsyncRead, B: AsyncRead> AsyncRead for Chain<A, B> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.project();
        if !*this.first_is_over {
            let room = buf.remaining();
            ready!(this.first.poll_read(cx, buf))?;
            // Nothing into an empty buffer is not the end.
            if room == 0 || buf.remaining() < room {
                return Poll::Ready(Ok(()));
            }
            *this.first_is_over = true;
        }
        this.second.poll_read(cx, buf)
    }
}

impl<A: AsyncBufRead, B: AsyncBufRead> AsyncBufRead for Chain<A, B> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if !*this.first_is_over {
            let bytes = ready!(this.first.poll_fill_buf(cx))?;
            if !bytes.is_empty() {
                return Poll::Ready(Ok(bytes));
            }
            *this.first_is_over = true;
        }
        this.second.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let this = self.project();
        if *this.first_is_over {
            this.second.consume(amount);
        } else {
            this.first.consume(amount);
        }
    }
}
