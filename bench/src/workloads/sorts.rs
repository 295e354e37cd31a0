//! What the sorts are given, and how their results are checked.
//!
//! Every input is a list of numbers in some arrangement, turned into elements of a type. An element also carries its position where
//! the type has room for it, so that a stable sort can be told from an unstable one and a lost element from a doubled one.

use std::cmp::Ordering;

/// A number that looks like a random one, different for different arguments.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// How the elements of an input are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// In no order.
    Random,
    /// In order.
    Sorted,
    /// In exactly the opposite order.
    Reversed,
    /// All of them equal.
    Equal,
    /// Sixteen different values in no order.
    Sixteen,
    /// In order, but one element in a hundred has changed places with another one.
    Swapped,
    /// Nine tenths in order, then a random tail.
    Tail,
}

impl Input {
    /// All of them, in the order they are reported.
    pub const ALL: [Input; 7] = [
        Input::Random,
        Input::Sorted,
        Input::Reversed,
        Input::Equal,
        Input::Sixteen,
        Input::Swapped,
        Input::Tail,
    ];

    /// The part of a bench's name that says what was sorted.
    pub fn name(self) -> &'static str {
        match self {
            Input::Random => "random",
            Input::Sorted => "sorted",
            Input::Reversed => "reversed",
            Input::Equal => "equal",
            Input::Sixteen => "16values",
            Input::Swapped => "1%swapped",
            Input::Tail => "tail",
        }
    }

    /// That many elements.
    pub fn elements<T: Element>(self, count: usize) -> Vec<T> {
        let random = |i: usize| mix(i as u64);
        let mut keys: Vec<u64> = (0..count).map(random).collect();
        match self {
            Input::Random => {}
            Input::Sorted | Input::Swapped => keys.sort_unstable(),
            Input::Reversed => {
                keys.sort_unstable();
                keys.reverse();
            }
            Input::Equal => keys.fill(42),
            Input::Sixteen => {
                for key in &mut keys {
                    *key = (*key >> 60) << 59;
                }
            }
            Input::Tail => keys[..count / 10 * 9].sort_unstable(),
        }
        if self == Input::Swapped {
            // Two elements change places at a time.
            for i in 0..count / 200 {
                let at = |salt: usize| random(count + 2 * i + salt) as usize % count;
                keys.swap(at(0), at(1));
            }
        }
        keys.into_iter()
            .enumerate()
            .map(|(position, key)| T::new(key, position))
            .collect()
    }
}

/// A type to sort.
pub trait Element: Clone + PartialEq + Send + Sync + 'static {
    /// The part of a bench's name that says what was sorted.
    const NAME: &'static str;

    /// The element with this key. Keys order as numbers do.
    fn new(key: u64, position: usize) -> Self;

    /// The order all libraries sort by.
    fn compare(&self, other: &Self) -> Ordering;

    /// A number that differs for different elements, almost certainly.
    fn digest(&self) -> u64;
}

impl Element for u64 {
    const NAME: &'static str = "u64";

    fn new(key: u64, _position: usize) -> Self {
        key
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    fn digest(&self) -> u64 {
        mix(*self)
    }
}

impl Element for f64 {
    const NAME: &'static str = "f64";

    fn new(key: u64, _position: usize) -> Self {
        key as f64 / u64::MAX as f64
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }

    fn digest(&self) -> u64 {
        mix(self.to_bits())
    }
}

/// Two numbers, compared one after the other.
impl Element for (u32, u32) {
    const NAME: &'static str = "pair";

    fn new(key: u64, _position: usize) -> Self {
        ((key >> 50) as u32, (key >> 18) as u32)
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    fn digest(&self) -> u64 {
        mix(u64::from(self.0) << 32 | u64::from(self.1))
    }
}

impl Element for String {
    const NAME: &'static str = "String";

    fn new(key: u64, _position: usize) -> Self {
        format!("key-{key:016x}")
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    fn digest(&self) -> u64 {
        self.bytes().fold(0, |digest, byte| {
            digest.rotate_left(5).wrapping_mul(31) ^ u64::from(byte)
        })
    }
}

/// Sixty-four bytes, sorted by one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it is sorted by.
    pub key: u64,
    position: u64,
    rest: [u64; 6],
}

#[cfg(feature = "full")]
impl Record {
    /// The order of the keys, as a function: no library can see through it.
    pub fn by_key(&self, other: &Record) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl Element for Record {
    const NAME: &'static str = "struct64";

    fn new(key: u64, position: usize) -> Self {
        Record {
            key,
            position: position as u64,
            rest: [key; 6],
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }

    fn digest(&self) -> u64 {
        mix(self.key ^ self.position.rotate_left(32))
            ^ self.rest.iter().fold(0_u64, |a, b| a.rotate_left(7) ^ b)
    }
}

/// What a sorted slice is compared with.
pub struct Expected<T> {
    /// The result of a stable sort.
    sorted: Vec<T>,
    digest: u64,
    stable: bool,
}

impl<T: Element> Expected<T> {
    /// The right result for this input.
    pub fn new(input: &[T], stable: bool) -> Self {
        let mut sorted = input.to_vec();
        sorted.sort_by(T::compare);
        Expected {
            digest: digest(&sorted),
            sorted,
            stable,
        }
    }

    /// Whether `result` is right: the very same elements, in an order that a sort of this kind may give.
    pub fn allows(&self, result: &[T]) -> bool {
        if self.stable {
            return result == self.sorted;
        }
        result.len() == self.sorted.len()
            && digest(result) == self.digest
            && result
                .iter()
                .zip(&self.sorted)
                .all(|(a, b)| a.compare(b).is_eq())
    }
}

fn digest<T: Element>(elements: &[T]) -> u64 {
    elements
        .iter()
        .fold(0, |sum, element| sum.wrapping_add(element.digest()))
}

/// Defines the sorts of a library with rayon's names.
macro_rules! parallel_sorts {
    ($library:ident) => {
        use ::$library::prelude::*;

        #[cfg(feature = "full")]
        use $crate::workloads::sorts::Record;

        /// By the elements' own order.
        pub fn unstable<T: Ord + Send>(v: &mut [T]) {
            v.par_sort_unstable();
        }

        /// By the elements' own order, equal ones as they were.
        pub fn stable<T: Ord + Send>(v: &mut [T]) {
            v.par_sort();
        }

        /// By a comparison that the library cannot see through.
        pub fn unstable_by<T: Ord + Send>(v: &mut [T]) {
            v.par_sort_unstable_by(|a, b| a.cmp(b));
        }

        /// The same, stable.
        pub fn stable_by<T: Ord + Send>(v: &mut [T]) {
            v.par_sort_by(|a, b| a.cmp(b));
        }

        /// Doubles.
        pub fn unstable_f64(v: &mut [f64]) {
            v.par_sort_unstable_by(f64::total_cmp);
        }

        /// Doubles, stable.
        #[cfg(feature = "full")]
        pub fn stable_f64(v: &mut [f64]) {
            v.par_sort_by(f64::total_cmp);
        }

        /// Records by their key.
        #[cfg(feature = "full")]
        pub fn unstable_record(v: &mut [Record]) {
            v.par_sort_unstable_by_key(|record| record.key);
        }

        /// Records, in an order that is a closure.
        #[cfg(feature = "full")]
        pub fn unstable_by_record(v: &mut [Record]) {
            v.par_sort_unstable_by(Record::by_key);
        }

        /// Records by their key, stable.
        #[cfg(feature = "full")]
        pub fn stable_record(v: &mut [Record]) {
            v.par_sort_by_key(|record| record.key);
        }
    };
}
pub(crate) use parallel_sorts;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_arranged_as_their_names_say() {
        let keys = |input: Input| input.elements::<u64>(10_000);
        assert!(keys(Input::Sorted).is_sorted());
        assert!(keys(Input::Reversed).is_sorted_by(|a, b| a > b));
        assert!(keys(Input::Equal).iter().all(|key| *key == 42));
        let mut values = keys(Input::Sixteen);
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 16);
        let swapped = keys(Input::Swapped);
        let mut sorted = swapped.clone();
        sorted.sort_unstable();
        let moved = swapped.iter().zip(&sorted).filter(|(a, b)| a != b).count();
        assert!((50..=100).contains(&moved), "{moved} of 10000 moved");
        assert!(keys(Input::Tail)[..9000].is_sorted());
        assert!(!keys(Input::Tail).is_sorted());
    }

    #[test]
    fn keys_order_as_numbers_do() {
        fn check<T: Element>() {
            let sorted = Input::Sorted.elements::<T>(1000);
            assert!(sorted.is_sorted_by(|a, b| a.compare(b).is_le()));
            assert!(sorted[0].compare(&sorted[999]).is_lt());
        }
        check::<u64>();
        check::<f64>();
        check::<(u32, u32)>();
        check::<String>();
        check::<Record>();
    }

    #[test]
    fn wrong_results_are_noticed() {
        let input = Input::Sixteen.elements::<Record>(100);
        let mut sorted = input.clone();
        sorted.sort_by_key(|record| record.key);
        let (stable, unstable) = (Expected::new(&input, true), Expected::new(&input, false));
        assert!(stable.allows(&sorted) && unstable.allows(&sorted));
        assert!(!stable.allows(&input) && !unstable.allows(&input));

        let equal = (1..100)
            .find(|&i| sorted[i - 1].key == sorted[i].key)
            .expect("equal neighbours");
        let mut exchanged = sorted.clone();
        exchanged.swap(equal - 1, equal);
        assert!(!stable.allows(&exchanged) && unstable.allows(&exchanged));
        let mut doubled = sorted;
        doubled[equal] = doubled[equal - 1];
        assert!(!unstable.allows(&doubled));
    }
}
