//! Keys that are arranged against the sort. It samples the same places every time, so an attacker who knows them decides what it sees
//! there. Even then the sort must stay within `O(n log n)` and a bounded stack.

use super::element::{Itself, Reading};
use super::scale::{SAMPLE, Scale};
use super::sequential::DEEPEST;
use super::sort_elements;
use crate::ThreadPoolBuilder;
use crate::slice::ParallelSliceMut;
use std::cmp::{Ordering, Reverse};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Numbers below `length / SAMPLE * 2000`. Wherever a sample of them is taken, it spreads evenly over a thousand numbers and all others fall
/// into one bucket; so do a sample of those others, and so on, until a few thousand are left. Here and there something is out of line,
/// or the numbers would look sorted before any sample is taken.
fn crafted(length: usize) -> Vec<u64> {
    let mut numbers = vec![0; length];
    let mut noise = vec![false; length];
    for window in 0..64 {
        for offset in [1, 3, 5, 7, 9] {
            noise[window * (length / 64) + offset] = true;
        }
    }
    let mut rest: Vec<usize> = (0..length).collect();
    let mut low = 1000;
    while rest.len() > 12_400 {
        let step = rest.len() / SAMPLE;
        let spread = |k: usize| low + ((k * 37 % SAMPLE).clamp(4, 123) - 4) as u64 * 964 / 119;
        let sample: Vec<u64> = (0..SAMPLE).map(spread).collect();
        for (k, number) in sample.iter().enumerate() {
            numbers[rest[k * step]] = *number;
        }
        low += 2000;
        let scale = Scale::for_elements(&sample, Itself, 0, 10).expect("the sample spreads");
        let others = scale.of(&low, Itself);
        assert!(sample.iter().all(|x| scale.of(x, Itself) != others));
        let is_first = rest.len() == length;
        let mut at = 0..;
        rest.retain(|place| {
            let at = at.next().unwrap_or_default();
            let is_sampled = at % step == 0 && at / step < SAMPLE;
            !(is_sampled || is_first && noise[*place])
        });
    }
    let mut random = 1_u64;
    for place in rest {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        numbers[place] = low + (random >> 33) % 100_000;
    }
    numbers
}

/// Keys that count how often they are read.
#[derive(Clone, Copy)]
struct Counting<'a>(&'a AtomicUsize);

impl Reading<u64> for Counting<'_> {
    const WORDS: u32 = 1;

    fn word(self, element: &u64, _: u32) -> u64 {
        self.0.fetch_add(1, Relaxed);
        *element
    }

    fn compare(self, a: &u64, b: &u64) -> Ordering {
        self.0.fetch_add(2, Relaxed);
        a.cmp(b)
    }
}

/// On threads with small stacks: two of them, or one, which goes another way.
fn on_small_stacks(test: impl Fn() + Sync) {
    for threads in [1, 2] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(512 << 10)
            .build()
            .expect("a pool of threads");
        pool.install(&test);
    }
}

#[test]
fn crafted_keys_are_read_a_bounded_number_of_times() {
    on_small_stacks(|| {
        for length in [50_000, 100_000] {
            let mut v = crafted(length);
            let reads = AtomicUsize::new(0);
            assert!(sort_elements(&mut v, Counting(&reads)));
            assert!(v.is_sorted());
            // A level reads a key twice, or three times if a sample tells nothing; a comparison reads two.
            let most = length * (3 * DEEPEST + 4 * length.ilog2()) as usize;
            let reads = reads.into_inner();
            assert!(reads < most, "{reads} reads of {length} keys");
        }
    });
}

/// Sorts crafted keys of one type in every way there is, and compares with the standard library.
fn check<K>(numbers: &[u64], make: impl Fn(u64) -> K)
where
    K: super::RadixKey + Ord,
{
    let crafted: Vec<K> = numbers.iter().copied().map(make).collect();
    let mut expected = crafted.clone();
    expected.sort();
    on_small_stacks(|| {
        let check = |sort: &dyn Fn(&mut [K])| {
            let mut v = crafted.clone();
            sort(&mut v);
            assert!(v == expected);
        };
        check(&|v| v.par_sort());
        check(&|v| v.par_sort_unstable());
        check(&|v| v.par_sort_radix());
    });
}

#[test]
fn crafted_integers_of_every_type_are_sorted() {
    const MIDDLE: i64 = 1 << 18;
    let numbers = &crafted(40_000);
    check(numbers, |x| x as u8);
    check(numbers, |x| x as i8);
    check(numbers, |x| x as u16);
    check(numbers, |x| x as i16);
    check(numbers, |x| x as u32);
    check(numbers, |x| x as i32 - MIDDLE as i32);
    check(numbers, |x| x);
    check(numbers, |x| x as i64 - MIDDLE);
    check(numbers, |x| u128::from(x) << 64);
    check(numbers, |x| i128::from(x as i64 - MIDDLE));
    check(numbers, |x| x as usize);
    check(numbers, |x| x as isize - MIDDLE as isize);
    check(numbers, |x| x % 2 == 0);
    check(numbers, |x| {
        let beyond_surrogates = if x < 0xd800 { x } else { x + 0x800 };
        char::from_u32(beyond_surrogates as u32).expect("small enough")
    });
    check(numbers, |x| (7_u32, Reverse(!x)));
}

#[test]
fn crafted_floats_and_keys_are_sorted() {
    let numbers = crafted(40_000);
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    on_small_stacks(|| {
        // The bits of these floats are the numbers.
        let mut floats: Vec<f64> = numbers.iter().map(|x| f64::from_bits(*x)).collect();
        floats.par_sort_radix();
        assert!(
            floats
                .iter()
                .map(|x| x.to_bits())
                .eq(sorted.iter().copied())
        );

        type Row = (u64, [u32; 5]);
        let rows: Vec<Row> = numbers.iter().map(|x| (*x, [7; 5])).collect();
        let check = |sort: &dyn Fn(&mut [Row])| {
            let mut v = rows.clone();
            sort(&mut v);
            assert!(v.iter().map(|row| row.0).eq(sorted.iter().copied()));
        };
        check(&|v| v.par_sort_by_key(|row| row.0));
        check(&|v| v.par_sort_by_key(|row| row.0 as u32));
        check(&|v| v.par_sort_unstable_by_key(|row| row.0));
        check(&|v| v.par_sort_radix_by_key(|row| row.0));
        check(&|v| v.par_sort_radix_by_key(|row| (row.0, row.1)));
    });
}

/// Every word tells a few of the rows apart and leaves the rest to the next one.
#[test]
fn long_keys_that_differ_late_take_no_stack() {
    const WORDS: usize = 120;
    let rows: Vec<[u64; WORDS]> = (0..12_000_u64)
        .map(|i| {
            let mut row = [5; WORDS];
            row[i as usize % WORDS] = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            row
        })
        .collect();
    let mut expected = rows.clone();
    expected.sort_unstable();
    on_small_stacks(|| {
        let mut v = rows.clone();
        v.par_sort_radix();
        assert!(v == expected);
    });
}
