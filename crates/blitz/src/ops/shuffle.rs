//! Random orders that depend on the seed alone.
//!
//! A long slice is shuffled in two steps (Rao and Sandelius). First, every element goes into one of many buckets, by a random number
//! that is a function of the seed and of the element's index. Then each bucket is shuffled with a generator of its own. If the
//! numbers are random, all orders are equally likely: the first step chooses any assignment with the same chance, and the second any
//! order within buckets. The number of buckets depends on the length and the size of elements, never on threads. So the
//! result is the same on any machine of the same pointer width. Buckets fit a cache, which makes this faster than the textbook
//! loop even on one thread, and no two threads access the same place.
//!
//! No user code runs in between, so elements are moved bit by bit and nothing can panic half-way, nor be stopped once the slice is written to.

use crate::engine::operation;
use crate::engine::primitives::SyncPtr;
use crate::engine::uncancelled;
use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator,
};
use crate::math::bucket_starts;
use crate::ops::collect::par_tabulate;
use crate::slice::sort::raw::Scratch;
use std::ops::Range;

/// Slices of fewer bytes are shuffled by the textbook loop: it is the fastest as long as they are near.
const SHORT_BYTES: usize = 8 << 20;

/// Bytes per bucket, about: a good part of a second-level cache.
const BUCKET_BYTES: usize = 128 << 10;

/// More buckets than this would be more places to write to than a processor keeps in mind.
const MOST_BUCKETS: usize = 512;

/// Brings a slice into a random order, the same for the same seed, length and type on any number of threads.
///
/// Every order is equally likely, as far as a 64-bit seed and a generator that is fast rather than cryptographic go.
///
/// Work: `O(n)`. Span: `O(log n)`, a bucket of `n / 512` elements at most, and one piece. Slices of more than 8 MiB need memory for a
/// second one; shorter ones are shuffled by the calling thread.
///
/// ```
/// let mut a: Vec<u32> = (0..100_000).collect();
/// let mut b = a.clone();
/// blitz::ops::par_shuffle(&mut a, 42);
/// blitz::ops::par_shuffle(&mut b, 42);
/// assert_eq!(a, b);
/// assert!(!a.is_sorted());
/// b.sort();
/// assert!(b.into_iter().eq(0..100_000));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_shuffle<T: Send>(v: &mut [T], seed: u64) {
    let _operation = operation();
    if size_of_val(v) < SHORT_BYTES {
        return shuffle(v, Random::new(seed, 0));
    }
    let len = v.len();
    let bytes = len.saturating_mul(size_of::<T>());
    let buckets = (bytes / BUCKET_BYTES)
        .clamp(2, MOST_BUCKETS)
        .next_power_of_two();
    let bucket_of = |i: usize| (mix(seed, i as u64) >> 32) as usize & (buckets - 1);

    // Stripes are counted one by one, so that each knows where in every bucket its elements go.
    let stripe_len = (64 * buckets).max(1 << 16);
    let stripe = |i: usize| i * stripe_len..((i + 1) * stripe_len).min(len);
    let mut places: Vec<Vec<usize>> = (0..len.div_ceil(stripe_len))
        .into_par_iter()
        .map(|i| {
            let mut counts = vec![0; buckets];
            for element in stripe(i) {
                counts[bucket_of(element)] += 1;
            }
            counts
        })
        .collect();
    let starts = bucket_starts(&mut places, buckets);

    let mut scratch = Scratch::<T>::new(len);
    // SAFETY: memory for `len` elements that nobody else knows of and that lives longer than the pointer.
    let dealt = unsafe { SyncPtr::from_raw_parts(scratch.as_mut_ptr(), len) };
    let all = SyncPtr::new(v);
    places.par_iter_mut().enumerate().for_each(|(i, places)| {
        for element in stripe(i) {
            let place = &mut places[bucket_of(element)];
            // SAFETY: the stripes cover the slice once, so each element is moved out once; the places of this stripe in this
            // bucket, as many as were counted, belong to this call alone.
            unsafe { dealt.write_at(*place, all.read_at(element)) };
            *place += 1;
        }
    });
    let shuffle_bucket = |bucket: usize| {
        let random = Random::new(seed, 1 + bucket as u64);
        // SAFETY: the buckets cover scratch and slice once, and everything in the scratch has been moved there above. After
        // this loop the slice owns all elements again, each of them once.
        unsafe { shuffle_over(dealt, all, starts[bucket]..starts[bucket + 1], random) };
    };
    uncancelled(|| (0..buckets).into_par_iter().for_each(shuffle_bucket));
}

/// The numbers from 0 to `n - 1` in a random order: what [`par_shuffle`] makes of them.
///
/// Work and span: as [`par_shuffle`].
///
/// ```
/// let order = blitz::ops::par_random_permutation(1000, 7);
/// assert_eq!(order, blitz::ops::par_random_permutation(1000, 7));
/// assert_ne!(order, blitz::ops::par_random_permutation(1000, 8));
/// ```
// Compiled where it is used: with this crate, nearly nobody would need it.
#[inline]
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_random_permutation(n: usize, seed: u64) -> Vec<usize> {
    let _operation = operation();
    let mut order = par_tabulate(n, |i| i);
    par_shuffle(&mut order, seed);
    order
}

/// The textbook loop: every element changes places with one at or before it.
fn shuffle<T>(v: &mut [T], mut random: Random) {
    for i in 1..v.len() {
        v.swap(i, random.below(i as u64 + 1) as usize);
    }
}

/// Moves the elements of `range` from one memory to the other, in a random order: the textbook loop inside out.
///
/// # Safety
/// The range is within both. Its elements are initialised in `from`, and are moved out; nobody else accesses either meanwhile.
unsafe fn shuffle_over<T>(
    from: SyncPtr<'_, T>,
    to: SyncPtr<'_, T>,
    range: Range<usize>,
    mut random: Random,
) {
    for (i, place) in range.clone().enumerate() {
        let other = range.start + random.below(i as u64 + 1) as usize;
        // SAFETY: `other` is at most `place`. The places before this one are filled; the element that lies at `other` moves
        // here, unless this is the place, and the new one takes its place.
        unsafe {
            if other != place {
                to.write_at(place, to.read_at(other));
            }
            to.write_at(other, from.read_at(place));
        }
    }
}

/// A generator of 64-bit numbers: SplitMix64, of which every start is as good as any other.
struct Random {
    state: u64,
}

/// The distance between the states of one stream, and of the elements' numbers.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// One of many streams of a seed.
    fn new(seed: u64, stream: u64) -> Self {
        Random {
            state: mix(!seed, stream),
        }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        finish(self.state)
    }

    /// A number below `bound`, each with the same chance (Lemire).
    #[inline]
    fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.next()) * u128::from(bound);
        if (product as u64) < bound {
            // The lowest results of this many come up once too often.
            let surplus = bound.wrapping_neg() % bound;
            while (product as u64) < surplus {
                product = u128::from(self.next()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }
}

/// The number of an element under a seed.
#[inline]
fn mix(seed: u64, index: u64) -> u64 {
    finish(finish(seed).wrapping_add(index.wrapping_mul(STEP)))
}

#[inline]
fn finish(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
