//! Splitting text sequentially, eight bytes at a time.
//!
//! std's searchers are made for patterns of any length. With one the compiler does not know they spend most of their time
//! between matches that are close together, as they are in most texts that get split; and they decode every character to find
//! white space. Here eight bytes are examined at once, in one machine word, by a [`Class`]: bit 7 of each byte of the result says
//! whether that byte may be a match. ASCII bytes are no part of any other character, so for these that is the whole answer;
//! other characters are decoded, but only where their first byte stands.
//!
//! All arithmetic on words keeps to the low seven bits of each byte before it adds, so no byte ever carries into the next.

/// One bit 7 per byte.
const HIGH: u64 = repeat(0x80);
const LOW: u64 = repeat(0x7f);

/// A word of equal bytes.
const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Bit 7 is set in each byte that equals `byte`.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ repeat(byte);
    // Adding 0x7f to the low bits reaches bit 7 unless they are all zero.
    !(((difference & LOW) + LOW) | difference) & HIGH
}

/// Bit 7 is set in each byte from `first` to `last`, which are ASCII.
#[inline]
fn within(word: u64, first: u8, last: u8) -> u64 {
    let low = word & LOW;
    let from_first = low + repeat(0x80 - first);
    let past_last = low + repeat(0x7f - last);
    from_first & !past_last & !word & HIGH
}

/// Which characters to look for.
pub(super) trait Class: Copy {
    /// Bit 7 is set in each byte where a match may begin.
    fn candidates(self, word: u64) -> u64;

    /// Length of the match that begins with the candidate at `at`, or `None` if it is not one.
    #[inline]
    fn confirm(self, _text: &str, _at: usize) -> Option<usize> {
        Some(1)
    }
}

/// One ASCII character.
#[derive(Clone, Copy)]
pub(super) struct Ascii(pub(super) u8);

impl Class for Ascii {
    #[inline]
    fn candidates(self, word: u64) -> u64 {
        equal(word, self.0)
    }
}

/// What `u8::is_ascii_whitespace` accepts.
#[derive(Clone, Copy)]
pub(super) struct AsciiSpace;

impl Class for AsciiSpace {
    #[inline]
    fn candidates(self, word: u64) -> u64 {
        equal(word, b' ') | (within(word, b'\t', b'\r') & !equal(word, b'\x0b'))
    }
}

/// What `char::is_whitespace` accepts.
#[derive(Clone, Copy)]
pub(super) struct UnicodeSpace;

impl Class for UnicodeSpace {
    #[inline]
    fn candidates(self, word: u64) -> u64 {
        // The first byte of a longer character has its two highest bits set; the bit that moves in from the byte below is bit 0.
        let longer = word & (word << 1) & HIGH;
        equal(word, b' ') | within(word, b'\t', b'\r') | longer
    }

    #[inline]
    fn confirm(self, text: &str, at: usize) -> Option<usize> {
        if text.as_bytes()[at].is_ascii() {
            return Some(1);
        }
        let character = text[at..].chars().next()?;
        character.is_whitespace().then(|| character.len_utf8())
    }
}

/// The matches in a text, as ranges of bytes, in order.
struct Matches<'t, C> {
    text: &'t str,
    class: C,
    /// Where the bytes begin that have not been examined yet.
    next: usize,
    /// Bit 7 of byte `i` is set if there is an untried candidate at `next - 8 + i`.
    candidates: u64,
}

impl<'t, C: Class> Matches<'t, C> {
    fn new(text: &'t str, class: C) -> Self {
        Matches {
            text,
            class,
            next: 0,
            candidates: 0,
        }
    }

    /// Examines the next eight bytes. False at the end of the text.
    #[inline]
    fn advance(&mut self) -> bool {
        let ahead = self.text.as_bytes().get(self.next..).unwrap_or(&[]);
        self.candidates = match ahead.first_chunk() {
            Some(word) => self.class.candidates(u64::from_le_bytes(*word)),
            None if ahead.is_empty() => return false,
            None => {
                let mut word = [0; 8];
                word[..ahead.len()].copy_from_slice(ahead);
                // The bytes that were filled in do not count, whatever the class thinks of them.
                let filled_in = HIGH << (8 * ahead.len());
                self.class.candidates(u64::from_le_bytes(word)) & !filled_in
            }
        };
        self.next += 8;
        true
    }

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            while self.candidates == 0 {
                if !self.advance() {
                    return None;
                }
            }
            let at = self.next - 8 + self.candidates.trailing_zeros() as usize / 8;
            self.candidates &= self.candidates - 1;
            if let Some(length) = self.class.confirm(self.text, at) {
                return Some((at, at + length));
            }
        }
    }
}

/// As `str::split`.
pub(super) struct Split<'t, C> {
    /// Where the next piece begins; `None` after the last one.
    start: Option<usize>,
    separators: Matches<'t, C>,
}

impl<'t, C: Class> Split<'t, C> {
    pub(super) fn new(text: &'t str, separator: C) -> Self {
        Split {
            start: Some(0),
            separators: Matches::new(text, separator),
        }
    }
}

impl<'t, C: Class> Iterator for Split<'t, C> {
    type Item = &'t str;

    #[inline]
    fn next(&mut self) -> Option<&'t str> {
        let start = self.start?;
        let text = self.separators.text;
        match self.separators.next() {
            Some((end, next)) => {
                self.start = Some(next);
                Some(&text[start..end])
            }
            None => {
                self.start = None;
                Some(&text[start..])
            }
        }
    }
}

/// As `str::split_inclusive`.
pub(super) struct SplitInclusive<'t, C> {
    start: usize,
    separators: Matches<'t, C>,
}

impl<'t, C: Class> SplitInclusive<'t, C> {
    pub(super) fn new(text: &'t str, separator: C) -> Self {
        SplitInclusive {
            start: 0,
            separators: Matches::new(text, separator),
        }
    }
}

impl<'t, C: Class> Iterator for SplitInclusive<'t, C> {
    type Item = &'t str;

    #[inline]
    fn next(&mut self) -> Option<&'t str> {
        let start = self.start;
        let text = self.separators.text;
        self.start = match self.separators.next() {
            Some((_, end)) => end,
            None => text.len(),
        };
        (start < text.len()).then(|| &text[start..self.start])
    }
}

/// The pieces between white space that are not empty.
pub(super) fn words<C: Class>(text: &str, space: C) -> impl Iterator<Item = &str> {
    Split::new(text, space).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Ascii, AsciiSpace, Split, SplitInclusive, UnicodeSpace, words};

    #[test]
    fn separators_at_every_place_are_found() {
        // All subsets of the places in a text that spans several words, among characters that differ from the separator in one
        // bit, in the highest bit, or are longer.
        for length in 0..=11 {
            for places in 0..1u32 << length {
                let text: String = (0..length)
                    .map(|place| match ((places >> place) & 1, place % 4) {
                        (1, _) => ',',
                        (_, 0) => '-',
                        (_, 1) => 'ʬ',
                        (_, 2) => '\0',
                        _ => '€',
                    })
                    .collect();
                let comma = Ascii(b',');
                assert!(Split::new(&text, comma).eq(text.split(',')), "{text:?}");
                assert!(
                    SplitInclusive::new(&text, comma).eq(text.split_inclusive(',')),
                    "{text:?}"
                );
            }
        }
    }

    #[test]
    fn every_ascii_character_can_separate() {
        let text: String = (0..3).flat_map(|_| '\0'..'\u{100}').collect();
        for separator in '\0'..='\u{7f}' {
            let class = Ascii(separator as u8);
            assert!(Split::new(&text, class).eq(text.split(separator)));
            assert!(SplitInclusive::new(&text, class).eq(text.split_inclusive(separator)));
        }
    }

    #[test]
    fn every_character_is_white_space_or_not_as_std_has_it() {
        for c in '\0'..=char::MAX {
            for text in [format!("{c}"), format!("xéx{c}{c}éé{c}")] {
                assert!(
                    words(&text, UnicodeSpace).eq(text.split_whitespace()),
                    "{text:?}"
                );
                assert!(
                    words(&text, AsciiSpace).eq(text.split_ascii_whitespace()),
                    "{text:?}"
                );
            }
        }
    }
}
