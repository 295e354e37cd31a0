//! Radix sort of one slice on one thread.
//!
//! Long slices are spread over a [`Scale`] into buckets of a few thousand elements, which fit the nearest caches. A bucket is sorted
//! by bits, from the highest one in which its elements differ (so constant digits cost nothing) down to a few more than it takes
//! to tell them apart if they are spread evenly. That takes two passes, the lower digit first; then one insertion sort brings
//! the few that are still out of order to their places. Where keys are crowded, the insertion sort meets long groups that
//! agree in all those bits, and hands them back to be sorted by the bits below.
//!
//! Elements are plain copies with trusted keys: nothing here runs user code.

use super::element::{Digit, Element, Places, Variation, word_count, word_of};
use super::scale::Scale;
use std::mem::MaybeUninit;

/// Slices this short go to the standard library's sort.
const SHORT: usize = 96;

/// Slices this long are first cut into buckets of about [`CACHED`] elements.
const LONG: usize = 3 * CACHED;
const CACHED: usize = 4096;

/// Bits to sort by beyond the logarithm of the length: with evenly spread keys, one element in `2^SPARE` then shares its bits with
/// another one.
const SPARE: u32 = 4;

/// How far the insertion sort moves an element before it asks for help.
const INSERTION: usize = 12;

/// Sorts the elements, stable, by their keys from `first_word` on; they end up in the other place if `to_other` says so.
///
/// # Safety
/// The source holds elements, the other place is writable, they do not overlap, nobody else touches them, and the length fits 32
/// bits.
pub(super) unsafe fn sort<E: Element>(places: Places<E>, to_other: bool, first_word: u32) {
    debug_assert!(u32::try_from(places.len).is_ok());
    // SAFETY: the caller's promise, and each function leaves the elements where the next one expects them.
    unsafe {
        if places.len <= SHORT {
            places.elements().sort_unstable_by(E::compare);
            places.finish(to_other);
        } else if places.len < LONG {
            sort_cached(places, to_other, first_word);
        } else {
            sort_long(places, to_other, first_word);
        }
    }
}

/// Sorts a slice that does not fit the cache, bucket by bucket.
///
/// # Safety
/// As for [`sort`].
#[inline(never)]
unsafe fn sort_long<E: Element>(places: Places<E>, to_other: bool, first_word: u32) {
    // SAFETY: the caller's promise. The scale is monotone and pure, so what is counted is what is spread; buckets are disjoint parts.
    unsafe {
        let width = (places.len / CACHED).ilog2() + 1;
        let Some(scale) = Scale::for_elements(places.elements(), first_word, width) else {
            return places.finish(to_other);
        };
        let mut next = vec![0_u32; scale.buckets()];
        for element in &*places.elements() {
            next[scale.of(element)] += 1;
        }
        starts_from_counts(&mut next);
        spread(places, &mut next, |element| scale.of(element));
        let places = places.exchanged();
        let mut start = 0;
        for end in next {
            let end = end as usize;
            if end > start {
                sort(places.part(start, end - start), !to_other, scale.word);
            }
            start = end;
        }
    }
}

/// Sorts a slice that fits the cache: by two digits from the lower to the upper, then by insertion.
///
/// # Safety
/// As for [`sort`].
unsafe fn sort_cached<E: Element>(places: Places<E>, to_other: bool, first_word: u32) {
    // SAFETY: the caller's promise; both digits count the very elements that they spread.
    unsafe {
        let Some((varying, word)) = first_varying_word(places.elements(), first_word) else {
            return places.finish(to_other);
        };
        let wanted = places.len.ilog2() + 1 + SPARE;
        let upper = Digit::at_top_of(varying, wanted.div_ceil(2), word);
        let mut upper_counts = Counts::new();
        let upper_next = upper_counts.zeroed(upper);
        let Some(lower) = upper.below(varying, wanted / 2) else {
            for element in &*places.elements() {
                upper_next[upper.of(element)] += 1;
            }
            starts_from_counts(upper_next);
            spread(places, upper_next, |element| upper.of(element));
            let places = places.exchanged();
            finish_groups(places, upper, varying);
            return places.finish(!to_other);
        };
        let mut lower_counts = Counts::new();
        let lower_next = lower_counts.zeroed(lower);
        for element in &*places.elements() {
            let word = word_of(element, word);
            upper_next[upper.of_word(word)] += 1;
            lower_next[lower.of_word(word)] += 1;
        }
        starts_from_counts(lower_next);
        starts_from_counts(upper_next);
        spread(places, lower_next, |element| lower.of(element));
        spread(places.exchanged(), upper_next, |element| upper.of(element));
        finish_groups(places, lower, varying);
        places.finish(to_other);
    }
}

/// The first word from `first` on in which elements differ, and the bits in which they do.
fn first_varying_word<E: Element>(elements: &[E], first: u32) -> Option<(u64, u32)> {
    (first..word_count::<E>()).find_map(|word| {
        let varying = Variation::of(elements.iter().copied(), word).bits();
        (varying != 0).then_some((varying, word))
    })
}

/// Finishes a slice that is sorted by all bits down to those of `digit`.
///
/// # Safety
/// As for [`sort`].
unsafe fn finish_groups<E: Element>(places: Places<E>, digit: Digit, varying: u64) {
    if !digit.leaves_work::<E>(varying) {
        return;
    }
    // SAFETY: the caller's promise. A group is a part of the places.
    unsafe {
        let mut from = 1;
        while let Some(group) = insertion_sort(places.elements(), digit, from) {
            sort(places.part(group.start, group.len()), false, digit.word);
            from = group.end;
        }
    }
}

/// Sorts `v[from..]` into the sorted `v[..from]`, given that elements are out of order only within groups that agree down to
/// `digit`. Returns the first group in which an element would have to move far, unsorted.
fn insertion_sort<E: Element>(
    v: &mut [E],
    digit: Digit,
    from: usize,
) -> Option<std::ops::Range<usize>> {
    for i in from.max(1)..v.len() {
        if E::compare(&v[i], &v[i - 1]).is_ge() {
            continue;
        }
        let farthest = i.saturating_sub(INSERTION);
        let mut place = i - 1;
        while place > farthest && E::compare(&v[i], &v[place - 1]).is_lt() {
            place -= 1;
        }
        if place == farthest && place > 0 {
            let in_group = |x: &E| digit.prefix(x) == digit.prefix(&v[i]);
            let start = i - v[..i].iter().rev().take_while(|x| in_group(x)).count();
            let end = i + v[i..].iter().take_while(|x| in_group(x)).count();
            return Some(start..end);
        }
        v[place..=i].rotate_right(1);
    }
    None
}

/// Room for a counter per bucket; only those that are used get written.
struct Counts([MaybeUninit<u32>; 1 << Digit::WIDEST]);

impl Counts {
    #[inline(always)]
    fn new() -> Self {
        Counts([const { MaybeUninit::uninit() }; 1 << Digit::WIDEST])
    }

    #[inline]
    fn zeroed(&mut self, digit: Digit) -> &mut [u32] {
        let used = &mut self.0[..digit.buckets()];
        for count in &mut *used {
            count.write(0);
        }
        // SAFETY: each one has just been written.
        unsafe { used.assume_init_mut() }
    }
}

/// Turns the number of elements of each bucket into the position where it starts.
fn starts_from_counts(counts: &mut [u32]) {
    let mut start = 0;
    for count in counts {
        start += std::mem::replace(count, start);
    }
}

/// Copies every element to the next place of its bucket in the other memory; afterwards `next` says where each bucket ends.
///
/// # Safety
/// The places are valid, and `next` holds the starts that counting these very elements by `bucket`, a pure function, gave.
#[inline(always)]
unsafe fn spread<E: Element>(places: Places<E>, next: &mut [u32], bucket: impl Fn(&E) -> usize) {
    // SAFETY: the caller's promise.
    for element in unsafe { &*places.elements() } {
        let place = &mut next[bucket(element)];
        // SAFETY: every element finds the place that was counted for it, below the length.
        unsafe { places.other.add(*place as usize).write(*element) };
        *place += 1;
    }
}
