//! Streams by name.

use crate::future::support::start;
use futures_core::Stream;
use std::borrow::Borrow;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Any number of streams as one, each with a key: streams come and go while it is used, and each item says which stream it is of.
///
/// A stream that ends is removed. Whenever one is woken, all are asked, from a random one on: meant for some dozens.
///
/// ```
/// use blitz_io::io::AsyncBufReadExt;
/// use blitz_io::stream::{self, StreamMap};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut rooms = StreamMap::new();
/// rooms.insert("kitchen", (&b"tea\n"[..]).lines());
/// rooms.insert("study", (&b"books\n"[..]).lines());
/// let mut heard = Vec::new();
/// while let Some((room, line)) = stream::next(&mut rooms).await {
///     heard.push(format!("{room}: {}", line.unwrap()));
/// }
/// heard.sort();
/// assert_eq!(heard, ["kitchen: tea", "study: books"]);
/// assert!(rooms.is_empty());
/// # });
/// ```
///
/// # Looking after it
/// ```
/// use blitz_io::io::AsyncBufReadExt;
/// use blitz_io::stream::StreamMap;
///
/// let mut rooms = StreamMap::new();
/// rooms.insert("kitchen", (&b"tea\n"[..]).lines());
/// rooms.insert("study", (&b"books\n"[..]).lines());
/// assert!(rooms.len() == 2 && rooms.contains_key("study"));
/// assert!(rooms.keys().any(|room| *room == "kitchen"));
/// for (_room, lines) in rooms.iter_mut() {
///     *lines.get_mut() = b"new text\n"; // each stream can be changed
/// }
/// let kitchen = rooms.remove("kitchen");
/// assert!(kitchen.is_some() && rooms.remove("cellar").is_none());
/// rooms.clear();
/// assert!(rooms.is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct StreamMap<K, S> {
    streams: Vec<(K, S)>,
}

impl<K, S> StreamMap<K, S> {
    /// Without streams. It is at its end then, until one is inserted.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many streams there are.
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// The keys, in any order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.streams.iter().map(|(key, _)| key)
    }

    /// The keys and their streams, in any order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut S)> {
        self.streams.iter_mut().map(|(key, stream)| (&*key, stream))
    }

    /// Removes all streams.
    pub fn clear(&mut self) {
        self.streams.clear();
    }

    fn place<Q: Eq + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.streams.iter().position(|(k, _)| k.borrow() == key)
    }

    /// Adds a stream, and returns the one that had this key before. The task that waits for an item is not woken: add streams between two
    /// waits.
    pub fn insert(&mut self, key: K, stream: S) -> Option<S>
    where
        K: Eq,
    {
        let before = self.remove(&key);
        self.streams.push((key, stream));
        before
    }

    /// Takes a stream out.
    pub fn remove<Q: Eq + ?Sized>(&mut self, key: &Q) -> Option<S>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key)?;
        Some(self.streams.swap_remove(place).1)
    }

    /// Whether there is a stream with this key. Not any more if it has ended.
    pub fn contains_key<Q: Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_some()
    }
}

impl<K, S> Default for StreamMap<K, S> {
    fn default() -> Self {
        Self {
            streams: Vec::new(),
        }
    }
}

impl<K: Eq, S> FromIterator<(K, S)> for StreamMap<K, S> {
    fn from_iter<I: IntoIterator<Item = (K, S)>>(streams: I) -> Self {
        let mut map = Self::new();
        map.extend(streams);
        map
    }
}

impl<K: Eq, S> Extend<(K, S)> for StreamMap<K, S> {
    fn extend<I: IntoIterator<Item = (K, S)>>(&mut self, streams: I) {
        for (key, stream) in streams {
            self.insert(key, stream);
        }
    }
}

impl<K: Clone + Unpin, S: Stream + Unpin> Stream for StreamMap<K, S> {
    type Item = (K, S::Item);

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let count = self.streams.len();
        if count == 0 {
            return Poll::Ready(None);
        }
        let mut place = start(u32::try_from(count).unwrap_or(u32::MAX)) as usize;
        for _ in 0..count {
            if place >= self.streams.len() {
                place = 0;
            }
            let (key, stream) = &mut self.streams[place];
            match Pin::new(stream).poll_next(cx) {
                Poll::Ready(Some(item)) => return Poll::Ready(Some((key.clone(), item))),
                Poll::Pending => place += 1,
                // In order: whoever has not been asked yet still comes after this place.
                Poll::Ready(None) => drop(self.streams.remove(place)),
            }
        }
        if self.streams.is_empty() {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.streams
            .iter()
            .map(|(_, stream)| stream.size_hint())
            .fold((0, Some(0)), |(least, most), (more, at_most)| {
                let most = most
                    .zip(at_most)
                    .and_then(|(a, b): (usize, usize)| a.checked_add(b));
                (least.saturating_add(more), most)
            })
    }
}
