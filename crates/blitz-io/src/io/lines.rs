//! What a reader says, piece by piece.
//!
//! The piece that has come so far is kept in the splitter and not in a future, so that dropping a future loses nothing.

use super::AsyncBufRead;
use super::operations::buf_read::up_to;
use futures_core::Stream;
use pin_project_lite::pin_project;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// The stretches between delimiters. See [`AsyncBufReadExt::split`](super::AsyncBufReadExt::split).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    ///
    /// let mut words = AsyncBufReadExt::split(&b"one two  three"[..], b' ');
    /// let mut lengths = vec![];
    /// while let Some(word) = words.next_segment().await? {
    ///     lengths.push(word.len());
    /// }
    /// assert_eq!(lengths, [3, 3, 0, 5]);
    /// assert!(words.get_ref().is_empty());
    /// *words.get_mut() = b"four"; // there is more
    /// assert_eq!(words.into_inner(), b"four");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    /// use std::pin::pin;
    ///
    /// let words = pin!(AsyncBufReadExt::split(&b"one two"[..], b' '));
    /// assert_eq!(*words.get_pin_mut(), b"one two");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[derive(Debug)]
    pub struct Split<R> {
        #[pin]
        reader: R,
        delimiter: u8,
        // What has come of the next one.
        partial: Vec<u8>,
        max_length: usize,
    }
}

impl<R> Split<R> {
    pub(super) fn new(reader: R, delimiter: u8) -> Self {
        Self {
            reader,
            delimiter,
            partial: Vec::new(),
            max_length: usize::MAX,
        }
    }

    /// Refuses stretches of more than `bytes`, without the delimiter: no more than that is ever stored.
    ///
    /// A longer one is an [error](io::ErrorKind::InvalidData), again and again: there is no way to go on after it.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    ///
    /// let mut words = AsyncBufReadExt::split(&b"short tooooooo long"[..], b' ').max_length(5);
    /// assert_eq!(words.next_segment().await?.unwrap(), b"short");
    /// assert!(words.next_segment().await.is_err());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn max_length(mut self, bytes: usize) -> Self {
        self.max_length = bytes;
        self
    }
}

inner_access!([R] Split<R>, R, reader);

/// What is between two delimiters, or after the last.
struct Piece {
    bytes: Vec<u8>,
    is_last: bool,
}

impl<R: AsyncBufRead> Split<R> {
    /// The next one, or nothing at the end. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// Those of the reader, and [`InvalidData`](io::ErrorKind::InvalidData) for a stretch that is too long.
    pub async fn next_segment(&mut self) -> io::Result<Option<Vec<u8>>>
    where
        R: Unpin,
    {
        poll_fn(|cx| Pin::new(&mut *self).poll_next_segment(cx)).await
    }

    /// As [`next_segment`](Self::next_segment).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    /// use std::future::poll_fn;
    /// use std::pin::pin;
    ///
    /// let mut words = pin!(AsyncBufReadExt::split(&b"one two"[..], b' '));
    /// let first = poll_fn(|cx| words.as_mut().poll_next_segment(cx)).await?;
    /// assert_eq!(first.unwrap(), b"one");
    /// # let _ = words.get_pin_mut();
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn poll_next_segment(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Option<Vec<u8>>>> {
        self.poll_piece(cx)
            .map_ok(|piece| piece.map(|piece| piece.bytes))
    }

    fn poll_piece(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<Option<Piece>>> {
        let mut this = self.project();
        loop {
            let chunk = match ready!(this.reader.as_mut().poll_fill_buf(cx)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let is_end = chunk.is_empty();
            if is_end && this.partial.is_empty() {
                return Poll::Ready(Ok(None));
            }
            let (used, complete) = up_to(*this.delimiter, chunk);
            let text = &chunk[..used - usize::from(complete && !is_end)];
            if this.partial.len().saturating_add(text.len()) > *this.max_length {
                let message = format!("more than {} bytes without a delimiter", this.max_length);
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, message)));
            }
            this.partial.extend_from_slice(text);
            this.reader.as_mut().consume(used);
            if complete {
                let bytes = std::mem::take(this.partial);
                let is_last = is_end;
                return Poll::Ready(Ok(Some(Piece { bytes, is_last })));
            }
        }
    }
}

impl<R: AsyncBufRead> Stream for Split<R> {
    type Item = io::Result<Vec<u8>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_next_segment(cx).map(Result::transpose)
    }
}

pin_project! {
    /// The lines of a text, without their ends. See [`AsyncBufReadExt::lines`](super::AsyncBufReadExt::lines).
    ///
    /// ```
    /// use blitz_io::io::AsyncBufReadExt;
    ///
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let text: &[u8] = b"short\nfar too long\n";
    /// let mut lines = text.lines().max_length(10);
    /// assert_eq!(lines.next_line().await?.as_deref(), Some("short"));
    /// assert!(lines.next_line().await.is_err());
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    #[derive(Debug)]
    pub struct Lines<R> {
        #[pin]
        split: Split<R>,
    }
}

impl<R> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            split: Split::new(reader, b'\n'),
        }
    }

    /// Refuses lines of more than `bytes`, without the newline: no more than that is ever stored.
    ///
    /// A longer one is an [error](io::ErrorKind::InvalidData), again and again: there is no way to go on after it.
    #[must_use]
    pub fn max_length(mut self, bytes: usize) -> Self {
        self.split.max_length = bytes;
        self
    }

    /// The reader.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    ///
    /// let mut lines = (&b"one\ntwo\nthree"[..]).lines();
    /// lines.next_line().await?;
    /// assert_eq!(*lines.get_ref(), b"two\nthree");
    /// lines.get_mut().consume(4); // skips a line
    /// assert_eq!(lines.into_inner(), b"three");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn get_ref(&self) -> &R {
        self.split.get_ref()
    }

    /// The reader. What is read there is missing here.
    pub fn get_mut(&mut self) -> &mut R {
        self.split.get_mut()
    }

    /// The reader. A part of a line that has come already is lost.
    pub fn into_inner(self) -> R {
        self.split.into_inner()
    }
}

impl<R: AsyncBufRead> Lines<R> {
    /// The next line, without `\n` or `\r\n`, or nothing at the end. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// Those of the reader, and [`InvalidData`](io::ErrorKind::InvalidData) for a line that is too long or not UTF-8.
    pub async fn next_line(&mut self) -> io::Result<Option<String>>
    where
        R: Unpin,
    {
        poll_fn(|cx| Pin::new(&mut *self).poll_next_line(cx)).await
    }

    /// As [`next_line`](Self::next_line).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    /// use std::future::poll_fn;
    /// use std::pin::pin;
    ///
    /// let mut lines = pin!((&b"one\ntwo"[..]).lines());
    /// let first = poll_fn(|cx| lines.as_mut().poll_next_line(cx)).await?;
    /// assert_eq!(first.as_deref(), Some("one"));
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn poll_next_line(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Option<String>>> {
        let Some(mut line) = ready!(self.project().split.poll_piece(cx))? else {
            return Poll::Ready(Ok(None));
        };
        if !line.is_last && line.bytes.last() == Some(&b'\r') {
            line.bytes.pop();
        }
        Poll::Ready(into_text(line.bytes).map(Some))
    }
}

fn into_text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

impl<R: AsyncBufRead> Stream for Lines<R> {
    type Item = io::Result<String>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_next_line(cx).map(Result::transpose)
    }
}
