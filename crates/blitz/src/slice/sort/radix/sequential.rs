//! Radix sort of one slice on one thread.
//!
//! Long slices are spread over a [`Scale`] into buckets of a few thousand elements, which fit the nearest caches. A bucket is sorted
//! by bits. It begins at the highest bit in which its elements differ, so constant digits cost nothing. It ends a few bits below what is needed
//! to distinguish them if they are spread evenly. That takes two passes, the lower digit first. Then one insertion sort moves
//! the few elements that are still out of order to their places. Where keys are crowded, the insertion sort meets long groups that
//! agree in all those bits, and returns them to be sorted by the bits below.
//!
//! Every level is meant to look at fewer bits. But a scale is laid out by a sample, and keys may be arranged so that a sample
//! says nothing about the others. So levels are counted, and after [`DEEPEST`] of them the rest is sorted by comparing.
//!
//! Elements are plain copies with trusted keys: nothing here runs user code.

use super::element::{Digit, Element, Places, Reading, Variation};
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

/// Levels of buckets within buckets, those on several threads included. Keys that crowd at every scale, with as many between `2^k` and
/// `2^(k + 1)` for every `k`, take seven per 64 bits.
pub(super) const DEEPEST: u32 = 16;

/// How far the insertion sort moves an element before it asks for help.
const INSERTION: usize = 12;

/// What is known about elements that are to be sorted.
#[derive(Clone, Copy)]
pub(super) struct Task<R> {
    pub(super) reading: R,
    /// The elements' keys are equal before this word.
    pub(super) first_word: u32,
    /// Levels of buckets that are left.
    pub(super) levels: u32,
    /// Whether the elements are wanted in the other place.
    pub(super) to_other: bool,
}

impl<R> Task<R> {
    /// For all elements, which are to stay where they are.
    pub(super) fn whole(reading: R) -> Self {
        Task {
            reading,
            first_word: 0,
            levels: DEEPEST,
            to_other: false,
        }
    }

    /// For the elements of one bucket, whose keys are equal before `word`, and which have moved to the other place if `have_moved`.
    pub(super) fn within(self, word: u32, have_moved: bool) -> Self {
        Task {
            first_word: word,
            levels: self.levels - 1,
            to_other: self.to_other != have_moved,
            ..self
        }
    }
}

/// Sorts the elements, stable, by their keys.
///
/// # Safety
/// The source holds elements, the other place is writable, they do not overlap, nobody else touches them, and the length fits 32
/// bits.
pub(super) unsafe fn sort<E: Element, R: Reading<E>>(places: Places<E>, task: Task<R>) {
    debug_assert!(u32::try_from(places.len).is_ok());
    // SAFETY: the caller's promise, and each function leaves the elements where the next one expects them.
    unsafe {
        if places.len <= SHORT || task.levels == 0 {
            sort_by_comparing(places, task);
        } else if places.len < LONG {
            sort_cached(places, task);
        } else {
            sort_long(places, task);
        }
    }
}

/// Sorts the elements by comparing them: `O(n log n)` whatever they are.
///
/// # Safety
/// As for [`sort`], but the length may be any.
pub(super) unsafe fn sort_by_comparing<E: Element, R: Reading<E>>(
    places: Places<E>,
    task: Task<R>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        compare_all(places.elements(), task.reading);
        places.finish(task.to_other);
    }
}

/// The standard library's sort. The only call of it, because each comes with some two thousand lines to compile.
pub(super) fn compare_all<E: Element, R: Reading<E>>(elements: &mut [E], reading: R) {
    elements.sort_unstable_by(|a, b| reading.compare(a, b));
}

/// Sorts a slice that does not fit the cache, bucket by bucket.
///
/// # Safety
/// As for [`sort`].
#[inline(never)]
unsafe fn sort_long<E: Element, R: Reading<E>>(places: Places<E>, task: Task<R>) {
    let Task {
        reading,
        first_word,
        ..
    } = task;
    // SAFETY: the caller's promise. The scale is monotone and pure, so what is counted is what is spread; buckets are disjoint parts.
    unsafe {
        let width = (places.len / CACHED).ilog2() + 1;
        let Some(scale) = Scale::for_elements(places.elements(), reading, first_word, width) else {
            return places.finish(task.to_other);
        };
        let mut next = vec![0_u32; scale.buckets()];
        for element in &*places.elements() {
            next[scale.of(element, reading)] += 1;
        }
        starts_from_counts(&mut next);
        spread(places, &mut next, |element| scale.of(element, reading));
        let places = places.exchanged();
        let mut start = 0;
        for end in next {
            let end = end as usize;
            if end > start {
                let bucket = places.part(start, end - start);
                sort(bucket, task.within(scale.word, true));
            }
            start = end;
        }
    }
}

/// Sorts a slice that fits the cache: by two digits from the lower to the upper, then by insertion.
///
/// # Safety
/// As for [`sort`].
unsafe fn sort_cached<E: Element, R: Reading<E>>(places: Places<E>, task: Task<R>) {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(sorted) = sort_by_digits(places, task) else {
            return places.finish(task.to_other);
        };
        let Sorted {
            digit,
            varying,
            have_moved,
        } = sorted;
        let places = if have_moved {
            places.exchanged()
        } else {
            places
        };
        if digit.leaves_work(varying, R::WORDS) {
            // Groups stay where they are, whether that is where they are wanted or not.
            let stay = Task {
                to_other: false,
                ..task.within(digit.word, false)
            };
            let mut from = 1;
            while let Some(group) = insertion_sort(places.elements(), task.reading, digit, from) {
                sort(places.part(group.start, group.len()), stay);
                from = group.end;
            }
        }
        places.finish(task.to_other != have_moved);
    }
}

/// How far some elements have been sorted.
struct Sorted {
    /// By all bits down to those of this digit,
    digit: Digit,
    /// of these bits, in which they differ,
    varying: u64,
    /// and they are in the other place now.
    have_moved: bool,
}

/// Sorts by one or two digits; nothing if the elements do not differ. A function of its own, so that the counters are gone when groups are
/// sorted.
///
/// # Safety
/// As for [`sort`].
#[inline(never)]
unsafe fn sort_by_digits<E: Element, R: Reading<E>>(
    places: Places<E>,
    task: Task<R>,
) -> Option<Sorted> {
    // SAFETY: the caller's promise; both digits count the very elements that they spread.
    unsafe {
        let reading = task.reading;
        let (varying, word) = first_varying_word(places.elements(), task)?;
        let wanted = places.len.ilog2() + 1 + SPARE;
        let upper = Digit::at_top_of(varying, wanted.div_ceil(2), word);
        let of_upper = |element: &E| upper.of(reading.word(element, word));
        let mut upper_counts = Counts::new();
        let upper_next = upper_counts.zeroed(upper);
        let Some(lower) = upper.below(varying, wanted / 2) else {
            for element in &*places.elements() {
                upper_next[of_upper(element)] += 1;
            }
            starts_from_counts(upper_next);
            spread(places, upper_next, of_upper);
            return Some(Sorted {
                digit: upper,
                varying,
                have_moved: true,
            });
        };
        let mut lower_counts = Counts::new();
        let lower_next = lower_counts.zeroed(lower);
        for element in &*places.elements() {
            let word = reading.word(element, word);
            upper_next[upper.of(word)] += 1;
            lower_next[lower.of(word)] += 1;
        }
        starts_from_counts(lower_next);
        starts_from_counts(upper_next);
        let of_lower = |element: &E| lower.of(reading.word(element, word));
        spread(places, lower_next, of_lower);
        spread(places.exchanged(), upper_next, of_upper);
        Some(Sorted {
            digit: lower,
            varying,
            have_moved: false,
        })
    }
}

/// The first word in which elements differ, and the bits in which they do.
fn first_varying_word<E, R: Reading<E>>(elements: &[E], task: Task<R>) -> Option<(u64, u32)> {
    (task.first_word..R::WORDS).find_map(|word| {
        let varying = Variation::of(elements, task.reading, word).bits();
        (varying != 0).then_some((varying, word))
    })
}

/// Sorts `v[from..]` into the sorted `v[..from]`, given that elements are out of order only within groups that agree down to
/// `digit`. Returns the first group in which an element would have to move far, unsorted.
fn insertion_sort<E: Element, R: Reading<E>>(
    v: &mut [E],
    reading: R,
    digit: Digit,
    from: usize,
) -> Option<std::ops::Range<usize>> {
    for i in from.max(1)..v.len() {
        if reading.compare(&v[i], &v[i - 1]).is_ge() {
            continue;
        }
        let farthest = i.saturating_sub(INSERTION);
        let mut place = i - 1;
        while place > farthest && reading.compare(&v[i], &v[place - 1]).is_lt() {
            place -= 1;
        }
        if place == farthest && place > 0 {
            let prefix = |x: &E| digit.prefix(reading.word(x, digit.word));
            let in_group = |x: &E| prefix(x) == prefix(&v[i]);
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
        let written: *mut [MaybeUninit<u32>] = used;
        // SAFETY: each one has just been written, and the borrow goes on.
        unsafe { &mut *(written as *mut [u32]) }
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
