//! Iterators that look at every character: characters, bytes, UTF-16 units and matches.
//!
//! They differ only in what they make of a stretch of text, so there is one producer, [`Stretch`], and a [`View`] for each.
//! Cutting the text between two characters changes nothing for any of them.

use super::middle;
use super::pattern::Pattern;
use crate::delegate::unindexed_source;
use crate::iter::plumbing::{Folder, UnindexedProducer};

/// What an iterator sees in a stretch of text that begins `start` bytes into the whole.
pub(super) trait View<'ch>: Copy + Send {
    type Item;

    fn fold<F: Folder<Self::Item>>(self, text: &'ch str, start: usize, folder: F) -> F;
}

/// A stretch of a longer text and how to look at it.
pub(super) struct Stretch<'ch, V> {
    text: &'ch str,
    start: usize,
    view: V,
}

impl<'ch, V> Stretch<'ch, V> {
    pub(super) fn whole(text: &'ch str, view: V) -> Self {
        Stretch {
            text,
            start: 0,
            view,
        }
    }
}

impl<'ch, V: View<'ch>> UnindexedProducer for Stretch<'ch, V> {
    type Item = V::Item;

    fn split(self) -> (Self, Option<Self>) {
        let middle = middle(self.text);
        if middle == 0 {
            return (self, None);
        }
        let (left, right) = self.text.split_at(middle);
        let right = Stretch {
            text: right,
            start: self.start + middle,
            view: self.view,
        };
        (Stretch { text: left, ..self }, Some(right))
    }

    fn fold_with<F: Folder<V::Item>>(self, folder: F) -> F {
        self.view.fold(self.text, self.start, folder)
    }
}

/// Defines a public iterator over a string and the view behind it.
macro_rules! text_iterator {
    (
        $(#[$doc:meta])*
        $name:ident => $item:ty, $view:ident,
        |$text:ident, $start:ident| $iter:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        #[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
        pub struct $name<'ch> {
            text: &'ch str,
        }

        impl<'ch> $name<'ch> {
            pub(super) fn new(text: &'ch str) -> Self {
                $name { text }
            }
        }

        unindexed_source! {
            impl ['ch] $name<'ch> => $item;
            fn size(this) { this.text.len() }
            fn producer(self) { Stretch::whole(self.text, $view) }
        }

        #[derive(Clone, Copy)]
        pub(super) struct $view;

        impl<'ch> View<'ch> for $view {
            type Item = $item;

            fn fold<F: Folder<$item>>(self, $text: &'ch str, $start: usize, folder: F) -> F {
                folder.consume_iter($iter)
            }
        }
    };
}

text_iterator! {
    /// Parallel iterator over the characters of a string. Made by [`par_chars`](super::ParallelString::par_chars).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!("stressed".par_chars().max(), Some('t'));
    /// ```
    Chars => char, CharsView, |text, _start| text.chars()
}

text_iterator! {
    /// Parallel iterator over the characters of a string with their byte positions. Made by
    /// [`par_char_indices`](super::ParallelString::par_char_indices).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let capitals: Vec<usize> = "BliTz".par_char_indices().filter(|(_, c)| c.is_uppercase()).map(|(i, _)| i).collect();
    /// assert_eq!(capitals, [0, 3]);
    /// ```
    CharIndices => (usize, char), CharIndicesView,
    |text, start| text.char_indices().map(move |(index, c)| (start + index, c))
}

text_iterator! {
    /// Parallel iterator over the bytes of a string. Made by [`par_bytes`](super::ParallelString::par_bytes).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!("a b c".par_bytes().filter(|&b| b == b' ').count(), 2);
    /// ```
    Bytes => u8, BytesView, |text, _start| text.bytes()
}

text_iterator! {
    /// Parallel iterator over the UTF-16 code units of a string. Made by
    /// [`par_encode_utf16`](super::ParallelString::par_encode_utf16).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!("😀".par_encode_utf16().count(), 2);
    /// ```
    EncodeUtf16 => u16, EncodeUtf16View, |text, _start| text.encode_utf16()
}

/// Parallel iterator over the matches of a pattern in a string. Made by
/// [`par_matches`](super::ParallelString::par_matches).
///
/// ```
/// use blitz::prelude::*;
///
/// assert_eq!("banana".par_matches(['a', 'n']).count(), 5);
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct Matches<'ch, P: Pattern> {
    text: &'ch str,
    pattern: P,
}

/// Parallel iterator over the matches of a pattern in a string with their byte positions. Made by
/// [`par_match_indices`](super::ParallelString::par_match_indices).
///
/// ```
/// use blitz::prelude::*;
///
/// assert_eq!("banana".par_match_indices('n').map(|(index, _)| index).max(), Some(4));
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct MatchIndices<'ch, P: Pattern> {
    text: &'ch str,
    pattern: P,
}

impl<'ch, P: Pattern> Matches<'ch, P> {
    pub(super) fn new(text: &'ch str, pattern: P) -> Self {
        Matches { text, pattern }
    }
}

impl<'ch, P: Pattern> MatchIndices<'ch, P> {
    pub(super) fn new(text: &'ch str, pattern: P) -> Self {
        MatchIndices { text, pattern }
    }
}

unindexed_source! {
    impl ['ch, P: Pattern] Matches<'ch, P> => &'ch str;
    fn size(this) { this.text.len() }
    fn producer(self) { Stretch::whole(self.text, MatchesView(&self.pattern)) }
}

unindexed_source! {
    impl ['ch, P: Pattern] MatchIndices<'ch, P> => (usize, &'ch str);
    fn size(this) { this.text.len() }
    fn producer(self) { Stretch::whole(self.text, MatchIndicesView(&self.pattern)) }
}

#[derive(Clone, Copy)]
pub(super) struct MatchesView<P>(pub(super) P);

impl<'ch, P: Pattern> View<'ch> for MatchesView<&P> {
    type Item = &'ch str;

    fn fold<F: Folder<&'ch str>>(self, text: &'ch str, _start: usize, folder: F) -> F {
        self.0.fold_matches(text, folder)
    }
}

#[derive(Clone, Copy)]
pub(super) struct MatchIndicesView<P>(pub(super) P);

impl<'ch, P: Pattern> View<'ch> for MatchIndicesView<&P> {
    type Item = (usize, &'ch str);

    fn fold<F: Folder<(usize, &'ch str)>>(self, text: &'ch str, start: usize, folder: F) -> F {
        self.0.fold_match_indices(text, start, folder)
    }
}
