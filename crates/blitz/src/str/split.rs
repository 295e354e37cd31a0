//! Iterators over the parts of a string: between separators, lines and words.
//!
//! All of them are [`Pieces`] of the text; the cutters below say where it may be cut. Positions are bytes, and every search
//! begins and ends on a character boundary.

use super::pattern::Pattern;
use super::word_search::{Ascii, AsciiSpace, UnicodeSpace};
use super::{middle, word_search};
use crate::delegate::unindexed_source;
use crate::iter::ParallelIterator;
use crate::iter::plumbing::{Folder, UnindexedConsumer};
use crate::slice::pieces::{Cutter, Pieces, WithSeparator, WithoutSeparator};

/// Defines a public iterator that holds a string and a pattern.
macro_rules! pattern_iterator {
    ($(#[$doc:meta])* $name:ident, $pattern:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        #[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
        pub struct $name<'ch, P: Pattern> {
            text: &'ch str,
            $pattern: P,
        }

        impl<'ch, P: Pattern> $name<'ch, P> {
            pub(super) fn new(text: &'ch str, $pattern: P) -> Self {
                $name { text, $pattern }
            }
        }
    };
}

/// Defines a public iterator that holds a string.
macro_rules! plain_iterator {
    ($(#[$doc:meta])* $name:ident) => {
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
    };
}

pattern_iterator! {
    /// Parallel iterator over the parts of a string between matches of a pattern. Made by
    /// [`par_split`](super::ParallelString::par_split).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let parts: Vec<&str> = "a-b-".par_split('-').collect();
    /// assert_eq!(parts, ["a", "b", ""]);
    /// ```
    Split, separator
}

pattern_iterator! {
    /// Parallel iterator over the parts of a string that matches of a pattern end. Made by
    /// [`par_split_inclusive`](super::ParallelString::par_split_inclusive).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let parts: Vec<&str> = "a-b-".par_split_inclusive('-').collect();
    /// assert_eq!(parts, ["a-", "b-"]);
    /// ```
    SplitInclusive, separator
}

pattern_iterator! {
    /// Parallel iterator over the parts of a string that matches of a pattern end, without the matches. Made by
    /// [`par_split_terminator`](super::ParallelString::par_split_terminator).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let parts: Vec<&str> = "a-b-".par_split_terminator('-').collect();
    /// assert_eq!(parts, ["a", "b"]);
    /// ```
    SplitTerminator, terminator
}

plain_iterator! {
    /// Parallel iterator over the lines of a string. Made by [`par_lines`](super::ParallelString::par_lines).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!("a\nb\r\n".par_lines().collect::<String>(), "ab");
    /// ```
    Lines
}

plain_iterator! {
    /// Parallel iterator over the words of a string. Made by
    /// [`par_split_whitespace`](super::ParallelString::par_split_whitespace).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!("  two words ".par_split_whitespace().count(), 2);
    /// ```
    SplitWhitespace
}

plain_iterator! {
    /// Parallel iterator over the words of a string between ASCII white space. Made by
    /// [`par_split_ascii_whitespace`](super::ParallelString::par_split_ascii_whitespace).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!("  two words ".par_split_ascii_whitespace().count(), 2);
    /// ```
    SplitAsciiWhitespace
}

unindexed_source! {
    impl ['ch, P: Pattern] Split<'ch, P> => &'ch str;
    fn size(this) { this.text.len() }
    fn producer(self) { Pieces::new(self.text, WithoutSeparator(&self.separator)) }
}

unindexed_source! {
    impl ['ch, P: Pattern] SplitInclusive<'ch, P> => &'ch str;
    fn size(this) { this.text.len() }
    fn producer(self) { Pieces::new(self.text, WithSeparator(&self.separator)) }
}

impl<'ch, P: Pattern> ParallelIterator for SplitTerminator<'ch, P> {
    type Item = &'ch str;

    const MAY_HAVE_LEN: bool = false;

    fn drive_unindexed<C: UnindexedConsumer<&'ch str>>(self, consumer: C) -> C::Result {
        // Without a terminator at its end, the text is to be split as if it ended just there; but no text has no part at all.
        if self.text.is_empty() {
            return consumer.into_folder().complete();
        }
        let text = self
            .terminator
            .strip_from_end(self.text)
            .unwrap_or(self.text);
        Split::new(text, self.terminator).drive_unindexed(consumer)
    }
}

unindexed_source! {
    impl ['ch] Lines<'ch> => &'ch str;
    fn size(this) { this.text.len() }
    fn producer(self) { Pieces::new(self.text, LineEnds) }
}

unindexed_source! {
    impl ['ch] SplitWhitespace<'ch> => &'ch str;
    fn size(this) { this.text.len() }
    fn producer(self) { Pieces::new(self.text, UnicodeWords) }
}

unindexed_source! {
    impl ['ch] SplitAsciiWhitespace<'ch> => &'ch str;
    fn size(this) { this.text.len() }
    fn producer(self) { Pieces::new(self.text, AsciiWords) }
}

/// The parts of [`Cutter`] that are the same for all cuts of a text.
macro_rules! text_positions {
    () => {
        fn len(data: &&'ch str) -> usize {
            data.len()
        }

        fn positions(data: &&'ch str) -> usize {
            data.len()
        }

        fn middle(data: &&'ch str, unseen: usize) -> usize {
            middle(&data[..unseen])
        }
    };
}

/// Searching for the pattern `$pattern` of the cutter.
macro_rules! pattern_search {
    (|$this:ident| $pattern:expr) => {
        fn first_cut(self, data: &&'ch str, from: usize, to: usize) -> Option<usize> {
            let $this = self;
            let found = $pattern.find_in(&data[from..to])?;
            Some(from + found)
        }

        fn last_cut(self, data: &&'ch str, to: usize) -> Option<usize> {
            let $this = self;
            $pattern.rfind_in(&data[..to])
        }
    };
}

/// The text before the character at `at`, and the text behind it.
fn around(text: &str, at: usize) -> (&str, &str) {
    let (left, right) = text.split_at(at);
    let mut right = right.chars();
    right.next();
    (left, right.as_str())
}

impl<'ch, P: Pattern> Cutter<&'ch str> for WithoutSeparator<&P> {
    text_positions!();
    pattern_search!(|this| this.0);

    fn cut(self, data: &'ch str, at: usize) -> (&'ch str, &'ch str) {
        around(data, at)
    }

    fn fold_pieces<F: Folder<&'ch str>>(self, data: &'ch str, folder: F) -> F {
        match self.0.as_ascii() {
            Some(separator) => folder.consume_iter(word_search::Split::new(data, Ascii(separator))),
            None => self.0.fold_split(data, folder),
        }
    }
}

impl<'ch, P: Pattern> Cutter<&'ch str> for WithSeparator<&P> {
    text_positions!();
    pattern_search!(|this| this.0);

    fn cut(self, data: &'ch str, at: usize) -> (&'ch str, &'ch str) {
        let (_, right) = around(data, at);
        data.split_at(data.len() - right.len())
    }

    fn fold_pieces<F: Folder<&'ch str>>(self, data: &'ch str, folder: F) -> F {
        match self.0.as_ascii() {
            Some(separator) => {
                folder.consume_iter(word_search::SplitInclusive::new(data, Ascii(separator)))
            }
            None => self.0.fold_split_inclusive(data, folder),
        }
    }
}

/// Cuts behind newlines.
#[derive(Clone, Copy)]
pub(super) struct LineEnds;

impl<'ch> Cutter<&'ch str> for LineEnds {
    text_positions!();
    pattern_search!(|_this| '\n');

    fn cut(self, data: &'ch str, at: usize) -> (&'ch str, &'ch str) {
        data.split_at(at + 1)
    }

    fn fold_pieces<F: Folder<&'ch str>>(self, data: &'ch str, folder: F) -> F {
        folder.consume_iter(word_search::SplitInclusive::new(data, Ascii(b'\n')).map(without_end))
    }

    fn fold_piece<F: Folder<&'ch str>>(data: &'ch str, folder: F) -> F {
        folder.consume(without_end(data))
    }
}

/// The line without its end. A carriage return belongs to the line unless a newline follows it.
#[inline]
fn without_end(line: &str) -> &str {
    match line.strip_suffix('\n') {
        Some(line) => line.strip_suffix('\r').unwrap_or(line),
        None => line,
    }
}

/// Cuts at white space; the empty pieces between neighbouring spaces are not words.
macro_rules! words {
    ($(#[$doc:meta])* $cutter:ident, $is_space:expr, $class:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $cutter;

        impl<'ch> Cutter<&'ch str> for $cutter {
            text_positions!();
            pattern_search!(|_this| $is_space);

            fn cut(self, data: &'ch str, at: usize) -> (&'ch str, &'ch str) {
                around(data, at)
            }

            fn fold_pieces<F: Folder<&'ch str>>(self, data: &'ch str, folder: F) -> F {
                folder.consume_iter(word_search::words(data, $class))
            }

            fn fold_piece<F: Folder<&'ch str>>(data: &'ch str, folder: F) -> F {
                if data.is_empty() { folder } else { folder.consume(data) }
            }
        }
    };
}

words! {
    /// Words between Unicode white space.
    UnicodeWords, char::is_whitespace, UnicodeSpace
}

words! {
    /// Words between ASCII white space.
    AsciiWords, |c: char| c.is_ascii_whitespace(), AsciiSpace
}
