//! What the splitting and matching methods of strings can search for.
//!
//! std's pattern trait cannot be named on stable Rust, so this one lists the searches the iterators need and passes them on.
//! Every pattern matches single characters: a cut between two characters can then never tear a match apart.

use crate::iter::plumbing::Folder;

/// A set of characters to search for. Public because public bounds mention it, unreachable because only this crate should
/// implement it.
pub trait Pattern: Sized + Sync + Send {
    /// Byte position of the first match.
    fn find_in(&self, text: &str) -> Option<usize>;

    /// Byte position of the last match.
    fn rfind_in(&self, text: &str) -> Option<usize>;

    /// The text without the match at its end, if there is one.
    fn strip_from_end<'t>(&self, text: &'t str) -> Option<&'t str>;

    /// The byte this pattern stands for, if it is an ASCII character: there are faster ways to search for that.
    #[inline]
    fn as_ascii(&self) -> Option<u8> {
        None
    }

    /// Passes on what lies between the matches.
    fn fold_split<'t, F: Folder<&'t str>>(&self, text: &'t str, folder: F) -> F;

    /// Passes on what the matches end.
    fn fold_split_inclusive<'t, F: Folder<&'t str>>(&self, text: &'t str, folder: F) -> F;

    /// Passes on the matches.
    fn fold_matches<'t, F: Folder<&'t str>>(&self, text: &'t str, folder: F) -> F;

    /// Passes on the matches with their byte positions, counted from `base`.
    fn fold_match_indices<'t, F: Folder<(usize, &'t str)>>(
        &self,
        text: &'t str,
        base: usize,
        folder: F,
    ) -> F;
}

/// Implements the searches by the methods of `str`, with `$pattern` as std's pattern.
macro_rules! pattern {
    ([$($generics:tt)*] $type:ty, |$this:ident| $pattern:expr $(, ascii: $ascii:expr)?) => {
        impl<$($generics)*> Pattern for $type {
            fn find_in(&self, text: &str) -> Option<usize> {
                let $this = self;
                text.find($pattern)
            }

            fn rfind_in(&self, text: &str) -> Option<usize> {
                let $this = self;
                text.rfind($pattern)
            }

            fn strip_from_end<'t>(&self, text: &'t str) -> Option<&'t str> {
                let $this = self;
                text.strip_suffix($pattern)
            }

            $(
                #[inline]
                fn as_ascii(&self) -> Option<u8> {
                    let $this = self;
                    $ascii
                }
            )?

            fn fold_split<'t, F: Folder<&'t str>>(&self, text: &'t str, folder: F) -> F {
                let $this = self;
                folder.consume_iter(text.split($pattern))
            }

            fn fold_split_inclusive<'t, F: Folder<&'t str>>(&self, text: &'t str, folder: F) -> F {
                let $this = self;
                folder.consume_iter(text.split_inclusive($pattern))
            }

            fn fold_matches<'t, F: Folder<&'t str>>(&self, text: &'t str, folder: F) -> F {
                let $this = self;
                folder.consume_iter(text.matches($pattern))
            }

            fn fold_match_indices<'t, F: Folder<(usize, &'t str)>>(&self, text: &'t str, base: usize, folder: F) -> F {
                let $this = self;
                let matches = text.match_indices($pattern);
                folder.consume_iter(matches.map(|(index, matched)| (base + index, matched)))
            }
        }
    };
}

pattern!([] char, |this| *this, ascii: u8::try_from(*this).ok().filter(u8::is_ascii));
pattern!([] & [char], |this| *this);
pattern!([const N: usize] [char; N], |this| *this);
pattern!([const N: usize] &[char; N], |this| *this);
pattern!([P: Fn(char) -> bool + Sync + Send] P, |this| this);
