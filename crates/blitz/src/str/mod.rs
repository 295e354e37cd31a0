//! Parallel iterators over strings.
//!
//! [`ParallelString`] comes with the [prelude](crate::prelude) and adds parallel forms of the iterating methods of `str`. A
//! string is only ever cut between characters, near the middle of its bytes, so no thread sees half a character; nothing is
//! allocated or copied.
//!
//! The methods that take a pattern accept what std's do except for substrings: a `char`, a `&[char]`, `[char; N]` or
//! `&[char; N]` (any of them), or a closure `Fn(char) -> bool + Sync + Send`. The trait behind that is private.
//!
//! ```
//! use blitz::prelude::*;
//!
//! let log = "ok\nfailed: disk\nok\nfailed: net\n";
//! assert_eq!(log.par_lines().filter(|line| line.starts_with("failed")).count(), 2);
//! ```

mod chars;
mod parallel_string;
mod pattern;
mod split;
mod word_search;

#[cfg(test)]
mod tests;

pub use self::chars::{Bytes, CharIndices, Chars, EncodeUtf16, MatchIndices, Matches};
pub use self::parallel_string::ParallelString;
pub use self::split::{
    Lines, Split, SplitAsciiWhitespace, SplitInclusive, SplitTerminator, SplitWhitespace,
};

/// A character boundary near the middle of the text, preferably behind it; 0 if the text cannot be divided.
#[inline]
fn middle(text: &str) -> usize {
    let half = text.len() / 2;
    let behind = (half..text.len()).find(|at| text.is_char_boundary(*at));
    let before = || (0..half).rev().find(|at| text.is_char_boundary(*at));
    behind.or_else(before).unwrap_or(0)
}
