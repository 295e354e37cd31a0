//! The methods every string gains.

use super::pattern::Pattern;
use super::{
    Bytes, CharIndices, Chars, EncodeUtf16, Lines, MatchIndices, Matches, Split,
    SplitAsciiWhitespace, SplitInclusive, SplitTerminator, SplitWhitespace,
};

/// Parallel methods of strings.
///
/// Implemented for `str`, and so reachable from `String`, `Box<str>` and everything else that derefs to it. A pattern is a
/// `char`, a slice or array of them, or a closure `Fn(char) -> bool + Sync + Send`.
///
/// ```
/// use blitz::prelude::*;
///
/// let text = "one two\nthree";
/// assert_eq!(text.par_lines().count(), 2);
/// let longest = text.par_split_whitespace().max_by_key(|word| word.len());
/// assert_eq!(longest, Some("three"));
/// ```
pub trait ParallelString {
    /// The string slice itself; all other methods are built on it.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!(String::from("text").as_parallel_string(), "text");
    /// ```
    fn as_parallel_string(&self) -> &str;

    /// The characters, in parallel.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!("Grüße".par_chars().filter(|c| !c.is_ascii()).count(), 2);
    /// ```
    fn par_chars(&self) -> Chars<'_> {
        Chars::new(self.as_parallel_string())
    }

    /// The characters with their byte positions, in parallel.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let first_umlaut = "Grüße".par_char_indices().find_first(|(_, c)| !c.is_ascii());
    /// assert_eq!(first_umlaut, Some((2, 'ü')));
    /// ```
    fn par_char_indices(&self) -> CharIndices<'_> {
        CharIndices::new(self.as_parallel_string())
    }

    /// The bytes, in parallel.
    ///
    /// The bytes of one character are never seen by two threads. Where that does not matter,
    /// `string.as_bytes().par_iter().copied()` gives an indexed iterator.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let checksum = "abc".par_bytes().map(u32::from).sum::<u32>();
    /// assert_eq!(checksum, 97 + 98 + 99);
    /// ```
    fn par_bytes(&self) -> Bytes<'_> {
        Bytes::new(self.as_parallel_string())
    }

    /// The string as UTF-16 code units, in parallel.
    ///
    /// The two units of a surrogate pair are never seen by two threads.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let units: Vec<u16> = "a😀".par_encode_utf16().collect();
    /// assert_eq!(String::from_utf16(&units).unwrap(), "a😀");
    /// ```
    fn par_encode_utf16(&self) -> EncodeUtf16<'_> {
        EncodeUtf16::new(self.as_parallel_string())
    }

    /// The parts between matches of the pattern, in parallel; as `str::split`.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let total: i32 = "3;4;5".par_split(';').map(|n| n.parse::<i32>().unwrap()).sum();
    /// assert_eq!(total, 12);
    /// ```
    fn par_split<P: Pattern>(&self, separator: P) -> Split<'_, P> {
        Split::new(self.as_parallel_string(), separator)
    }

    /// The parts that matches of the pattern end, including them, in parallel; as `str::split_inclusive`.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let sentences: Vec<&str> = "Go. Now!".par_split_inclusive(['.', '!']).collect();
    /// assert_eq!(sentences, ["Go.", " Now!"]);
    /// ```
    fn par_split_inclusive<P: Pattern>(&self, separator: P) -> SplitInclusive<'_, P> {
        SplitInclusive::new(self.as_parallel_string(), separator)
    }

    /// The parts between matches of the pattern, without the empty one behind a match at the end, in parallel; as
    /// `str::split_terminator`.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let fields: Vec<&str> = "a;;b;".par_split_terminator(';').collect();
    /// assert_eq!(fields, ["a", "", "b"]);
    /// ```
    fn par_split_terminator<P: Pattern>(&self, terminator: P) -> SplitTerminator<'_, P> {
        SplitTerminator::new(self.as_parallel_string(), terminator)
    }

    /// The lines without their ends, `\n` or `\r\n`, in parallel; as `str::lines`.
    ///
    /// The last line need not have an end.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let lines: Vec<&str> = "one\r\ntwo\n\nfour".par_lines().collect();
    /// assert_eq!(lines, ["one", "two", "", "four"]);
    /// ```
    fn par_lines(&self) -> Lines<'_> {
        Lines::new(self.as_parallel_string())
    }

    /// The words, separated by any amount of Unicode white space, in parallel.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let longest = " a  few\u{2003}words\n".par_split_whitespace().max_by_key(|word| word.len());
    /// assert_eq!(longest, Some("words"));
    /// assert_eq!("  ".par_split_whitespace().count(), 0);
    /// ```
    fn par_split_whitespace(&self) -> SplitWhitespace<'_> {
        SplitWhitespace::new(self.as_parallel_string())
    }

    /// The words, separated by any amount of ASCII white space, in parallel.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let words: Vec<&str> = " em\u{2003}space\tand tab ".par_split_ascii_whitespace().collect();
    /// assert_eq!(words, ["em\u{2003}space", "and", "tab"]);
    /// ```
    fn par_split_ascii_whitespace(&self) -> SplitAsciiWhitespace<'_> {
        SplitAsciiWhitespace::new(self.as_parallel_string())
    }

    /// The matches of the pattern, in parallel; as `str::matches`.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!("b1a2".par_matches(char::is_numeric).collect::<String>(), "12");
    /// ```
    fn par_matches<P: Pattern>(&self, pattern: P) -> Matches<'_, P> {
        Matches::new(self.as_parallel_string(), pattern)
    }

    /// The matches of the pattern with their byte positions, in parallel; as `str::match_indices`.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let places: Vec<(usize, &str)> = "ß-a-".par_match_indices('-').collect();
    /// assert_eq!(places, [(2, "-"), (4, "-")]);
    /// ```
    fn par_match_indices<P: Pattern>(&self, pattern: P) -> MatchIndices<'_, P> {
        MatchIndices::new(self.as_parallel_string(), pattern)
    }
}

impl ParallelString for str {
    #[inline]
    fn as_parallel_string(&self) -> &str {
        self
    }
}
