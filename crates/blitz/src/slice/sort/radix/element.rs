//! What the radix sort moves around: plain values, how their keys are read, and the buckets a digit sorts them into.

use super::key::{RadixKey, compare, words};
use crate::delegate::copied_as_it_is;
use std::cmp::Ordering;
use std::ops::BitXor;
use std::ptr;

/// A plain value. Copying it is all the sort ever does, so there is nothing to drop and nothing to panic.
pub(super) trait Element: Copy + Send + Sync {}

impl<E: Copy + Send + Sync> Element for E {}

/// How the keys of elements are read: pure, and never panicking.
pub(super) trait Reading<E>: Copy + Send + Sync {
    /// Number of words in a key.
    const WORDS: u32;

    /// Bits `64 * word ..` of an element's key.
    fn word(self, element: &E, word: u32) -> u64;

    /// An order that refines that of the keys and keeps elements apart that a stable sort must not exchange.
    fn compare(self, a: &E, b: &E) -> Ordering;
}

/// Keys sorted for their own sake. Elements with equal keys are the same bits, so every sort of them is stable.
#[derive(Clone, Copy)]
pub(super) struct Itself;

impl<K: RadixKey> Reading<K> for Itself {
    const WORDS: u32 = words::<K>();

    #[inline(always)]
    fn word(self, element: &K, word: u32) -> u64 {
        element.bits_from(64 * word)
    }

    #[inline(always)]
    fn compare(self, a: &K, b: &K) -> Ordering {
        compare(*a, *b)
    }
}

/// Integers without a sign whose bits are read with some of them flipped: the topmost one makes signed integers of them. So five widths
/// stand for all integer types.
#[derive(Clone, Copy)]
pub(super) struct Flipped<U>(pub(super) U);

impl<U: RadixKey + BitXor<Output = U> + Ord> Reading<U> for Flipped<U> {
    const WORDS: u32 = words::<U>();

    #[inline(always)]
    fn word(self, element: &U, word: u32) -> u64 {
        (*element ^ self.0).bits_from(64 * word)
    }

    #[inline(always)]
    fn compare(self, a: &U, b: &U) -> Ordering {
        (*a ^ self.0).cmp(&(*b ^ self.0))
    }
}

/// A key and the position of what it belongs to. Positions are distinct and ascend in the input, so any sort by both is a stable
/// sort by the key.
#[derive(Clone, Copy)]
pub(in super::super) struct Keyed<K> {
    pub(in super::super) key: K,
    pub(in super::super) position: u32,
}

/// Elements by their keys and then their positions.
#[derive(Clone, Copy)]
pub(super) struct KeyThenPosition;

impl<K: RadixKey> Reading<Keyed<K>> for KeyThenPosition {
    const WORDS: u32 = words::<K>();

    #[inline(always)]
    fn word(self, element: &Keyed<K>, word: u32) -> u64 {
        element.key.bits_from(64 * word)
    }

    #[inline(always)]
    fn compare(self, a: &Keyed<K>, b: &Keyed<K>) -> Ordering {
        compare(a.key, b.key).then_with(|| a.position.cmp(&b.position))
    }
}

/// Two pieces of memory, both for `len` elements.
pub(super) struct Places<E> {
    /// Where the elements are.
    pub(super) source: *mut E,
    /// As much room again.
    pub(super) other: *mut E,
    pub(super) len: usize,
}

copied_as_it_is! { Places<E> }

// SAFETY: only addresses; the functions that take them say who may touch what lies behind.
unsafe impl<E: Element> Send for Places<E> {}
// SAFETY: as above.
unsafe impl<E: Element> Sync for Places<E> {}

impl<E: Element> Places<E> {
    /// The same with the roles exchanged: the elements have moved.
    pub(super) fn exchanged(self) -> Self {
        Places {
            source: self.other,
            other: self.source,
            len: self.len,
        }
    }

    /// # Safety
    /// `start + len` is within these places.
    pub(super) unsafe fn part(self, start: usize, len: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Places {
                source: self.source.add(start),
                other: self.other.add(start),
                len,
            }
        }
    }

    /// Moves the elements to the other place if they are wanted there.
    ///
    /// # Safety
    /// The places are valid and do not overlap.
    pub(super) unsafe fn finish(self, to_other: bool) {
        if to_other {
            // SAFETY: the caller's promise.
            unsafe { ptr::copy_nonoverlapping(self.source, self.other, self.len) };
        }
    }

    /// # Safety
    /// The source holds elements, and nobody else touches them.
    pub(super) unsafe fn elements<'a>(self) -> &'a mut [E] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.source, self.len) }
    }
}

/// The bits of one word in which some elements differ from others.
#[derive(Clone, Copy)]
pub(super) struct Variation {
    any: u64,
    all: u64,
}

impl Variation {
    /// The varying bits; zero if all words are the same.
    pub(super) fn bits(self) -> u64 {
        self.any & !self.all
    }

    pub(super) fn of<E, R: Reading<E>>(elements: &[E], reading: R, word: u32) -> Variation {
        let mut variation = Variation {
            any: 0,
            all: u64::MAX,
        };
        for element in elements {
            let word = reading.word(element, word);
            variation.any |= word;
            variation.all &= word;
        }
        variation
    }
}

/// A few neighbouring bits of a word. Above them, all elements agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digit {
    pub(super) word: u32,
    shift: u32,
    mask: u64,
}

impl Digit {
    /// Widest digit in bits: 1024 counters of four bytes sit easily in the first-level cache.
    pub(super) const WIDEST: u32 = 10;

    /// The topmost `width` bits from the highest varying bit down.
    ///
    /// # Panics
    /// When nothing varies.
    pub(super) fn at_top_of(varying: u64, width: u32, word: u32) -> Digit {
        let significant = u64::BITS - varying.leading_zeros();
        assert!(
            significant > 0,
            "a digit needs a bit in which elements differ"
        );
        let width = width.clamp(1, Digit::WIDEST).min(significant);
        Digit {
            word,
            shift: significant - width,
            mask: (1 << width) - 1,
        }
    }

    /// Number of values the digit has.
    pub(super) fn buckets(self) -> usize {
        self.mask as usize + 1
    }

    /// The digit's value in a word.
    #[inline(always)]
    pub(super) fn of(self, word: u64) -> usize {
        ((word >> self.shift) & self.mask) as usize
    }

    /// The next `width` bits below this digit, if any of them varies.
    pub(super) fn below(self, varying: u64, width: u32) -> Option<Digit> {
        let rest = varying & ((1 << self.shift) - 1);
        let width = width.clamp(1, Digit::WIDEST).min(self.shift);
        let digit = Digit {
            word: self.word,
            shift: self.shift - width,
            mask: (1 << width) - 1,
        };
        (rest >> digit.shift != 0).then_some(digit)
    }

    /// A word's bits down to the digit.
    #[inline(always)]
    pub(super) fn prefix(self, word: u64) -> u64 {
        word >> self.shift
    }

    /// Whether elements of one bucket can still differ: in lower bits of this word, or in a later one of so many words.
    pub(super) fn leaves_work(self, varying: u64, words: u32) -> bool {
        varying & ((1 << self.shift) - 1) != 0 || self.word + 1 < words
    }
}
