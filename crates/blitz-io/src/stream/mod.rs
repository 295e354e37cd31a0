//! Streams: what the `futures` crate has no adapters for.
//!
//! [`Stream`] is the standard trait. `map`, `filter`, `next`, `chunks` and the like are in `futures::StreamExt` or `futures_lite`; here are those that need a
//! clock ([`timeout`](StreamExt::timeout), [`throttle`](StreamExt::throttle), [`chunks_timeout`](StreamExt::chunks_timeout)), a fair
//! [`merge`](StreamExt::merge), and the keyed [`StreamMap`]. Our [`StreamExt`] has no method in common with that of `futures`, so both can be
//! imported. To get at the items without another crate there is [`next`].
//!
//! What of this crate is a stream: [`Interval`](crate::time::Interval), [`Lines`](crate::io::Lines) and [`Split`](crate::io::Split),
//! [`TcpListener::incoming`](crate::net::TcpListener::incoming), `Signal`, and the receivers of [`mpsc`](crate::sync::mpsc) and
//! [`mpmc`](crate::sync::mpmc). [`broadcast`](broadcast()) and [`watch`](watch()) make streams of the receivers of those channels.
//!
//! ```
//! use blitz_io::io::AsyncBufReadExt;
//! use blitz_io::stream::{self, StreamExt};
//!
//! # let runtime = blitz_io::Runtime::new().unwrap();
//! # runtime.block_on(async {
//! let mut words = (&b"one\ntwo\n"[..]).lines().merge((&b"three\n"[..]).lines());
//! let mut letters = 0;
//! while let Some(word) = stream::next(&mut words).await {
//!     letters += word.unwrap().len();
//! }
//! assert_eq!(letters, 11);
//! # });
//! ```

mod chunks_timeout;
#[cfg(any(unix, windows))]
mod incoming;
mod map;
mod merge;
mod receivers;
mod throttle;
mod timeout;

pub use self::chunks_timeout::ChunksTimeout;
#[cfg(any(unix, windows))]
pub use self::incoming::Incoming;
pub use self::map::StreamMap;
pub use self::merge::Merge;
pub use self::receivers::{broadcast, watch};
pub use self::throttle::Throttle;
pub use self::timeout::Timeout;
pub use futures_core::Stream;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::time::Duration;

/// The next item, or nothing at the end. Nothing is lost if the future is dropped.
///
/// ```
/// use blitz_io::stream;
/// use blitz_io::time::{Duration, interval};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut beat = interval(Duration::from_millis(1));
/// assert!(stream::next(&mut beat).await < stream::next(&mut beat).await);
/// # });
/// ```
pub fn next<S: Stream + Unpin + ?Sized>(
    stream: &mut S,
) -> impl Future<Output = Option<S::Item>> + use<'_, S> {
    poll_fn(move |cx| Pin::new(&mut *stream).poll_next(cx))
}

/// What can be done with a [`Stream`] that `futures::StreamExt` does not do.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::AsyncBufReadExt;
/// use blitz_io::stream::{self, StreamExt};
/// use std::time::Duration;
///
/// // No more than ten lines a millisecond, in portions of two.
/// let lines = (&b"one\ntwo\nthree\n"[..]).lines();
/// let mut portions = lines.throttle(Duration::from_micros(100)).chunks_timeout(2, Duration::from_secs(60));
/// assert_eq!(stream::next(&mut portions).await.unwrap().len(), 2);
/// assert_eq!(stream::next(&mut portions).await.unwrap().len(), 1);
/// # });
/// ```
pub trait StreamExt: Stream {
    /// Says so when an item is a long time coming: after `duration` without one comes an error, once, and then the stream goes on.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// # Cost
    /// One allocation, here: a timer has to stay where it is.
    ///
    /// ```
    /// use blitz_io::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};
    /// use blitz_io::stream::{self, StreamExt};
    /// use std::time::Duration;
    ///
    /// # let runtime = blitz_io::Builder::new_current_thread().start_paused(true).build().unwrap();
    /// # runtime.block_on(async {
    /// let (mut client, server) = duplex(64);
    /// client.write_all(b"hello\n").await.unwrap();
    /// let mut lines = BufReader::new(server).lines().timeout(Duration::from_secs(10));
    /// assert_eq!(stream::next(&mut lines).await.unwrap().unwrap().unwrap(), "hello");
    /// assert!(stream::next(&mut lines).await.unwrap().is_err(), "the client is silent");
    /// # });
    /// ```
    #[track_caller]
    fn timeout(self, duration: Duration) -> Pin<Box<Timeout<Self>>>
    where
        Self: Sized,
    {
        Box::pin(Timeout::new(self, duration))
    }

    /// Lets no more than one item through per `duration`; the stream is not asked for more before.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// # Cost
    /// One allocation, here.
    ///
    /// ```
    /// use blitz_io::io::AsyncBufReadExt;
    /// use blitz_io::stream::{self, StreamExt};
    /// use blitz_io::time::{Duration, Instant};
    ///
    /// # let runtime = blitz_io::Builder::new_current_thread().start_paused(true).build().unwrap();
    /// # runtime.block_on(async {
    /// let start = Instant::now();
    /// let mut slow = (&b"one\ntwo\nthree\n"[..]).lines().throttle(Duration::from_secs(1));
    /// while let Some(line) = stream::next(&mut slow).await {
    ///     println!("{}", line.unwrap());
    /// }
    /// assert!(start.elapsed() >= Duration::from_secs(2));
    /// # });
    /// ```
    #[track_caller]
    fn throttle(self, duration: Duration) -> Pin<Box<Throttle<Self>>>
    where
        Self: Sized,
    {
        Box::pin(Throttle::new(self, duration))
    }

    /// Collects up to `size` items, but for no longer than `duration` after the first of them: what there is by then comes as it is. There are no
    /// empty chunks.
    ///
    /// # Panics
    /// If `size` is 0, or the thread is in no runtime.
    ///
    /// # Cost
    /// One allocation, here, and one for each chunk.
    ///
    /// ```
    /// use blitz_io::stream::{self, StreamExt};
    /// use blitz_io::time::{Duration, interval};
    ///
    /// # let runtime = blitz_io::Builder::new_current_thread().start_paused(true).build().unwrap();
    /// # runtime.block_on(async {
    /// let beats = interval(Duration::from_secs(1));
    /// let mut batches = beats.chunks_timeout(100, Duration::from_millis(2500));
    /// assert_eq!(stream::next(&mut batches).await.unwrap().len(), 3, "at 0, 1 and 2 seconds");
    /// # });
    /// ```
    #[track_caller]
    fn chunks_timeout(self, size: usize, duration: Duration) -> Pin<Box<ChunksTimeout<Self>>>
    where
        Self: Sized,
    {
        Box::pin(ChunksTimeout::new(self, size, duration))
    }

    /// The items of both, as they come. The two take turns to be asked first, so that neither starves the other. It ends when
    /// both have.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    /// use blitz_io::stream::{self, StreamExt};
    ///
    /// let mut both = (&b"one\n"[..]).lines().merge((&b"two\n"[..]).lines());
    /// let mut words = vec![];
    /// while let Some(word) = stream::next(&mut both).await {
    ///     words.push(word.unwrap());
    /// }
    /// words.sort();
    /// assert_eq!(words, ["one", "two"]);
    /// # });
    /// ```
    fn merge<S: Stream<Item = Self::Item>>(self, other: S) -> Merge<Self, S>
    where
        Self: Sized,
    {
        Merge::new(self, other)
    }
}

impl<S: Stream + ?Sized> StreamExt for S {}
