//! What a radix sort can sort by: values that map to bit strings in the same order.
//!
//! A key is read as a string of [`BITS`](RadixKey::BITS) bits, most significant first, 64 at a time. Comparing the strings compares the
//! keys. Integers are their own bits with the sign flipped, and floats follow IEEE 754 total order. Tuples and arrays are the
//! strings of their parts one after the other. So `(u16, i64)` costs 80 bits, and not a comparison per field.
//!
//! The trait is sealed. That is what lets the sort trust its keys: they are pure functions of the element and never panic.

use std::cmp::{Ordering, Reverse};

mod sealed {
    /// Only this crate knows how a type maps to bits.
    pub trait Sealed {}
}
use sealed::Sealed;

/// A value that a radix sort can sort by: all integers, `f32` and `f64` (in the order of `total_cmp`), `bool`, `char`, [`Reverse`],
/// and tuples and arrays of them.
///
/// Sealed: the order of the bits is relied upon for memory safety.
///
/// ```
/// use blitz::slice::RadixKey;
///
/// fn needs_a_key<K: RadixKey>(_: K) {}
/// needs_a_key(7_u64);
/// needs_a_key((true, -1.5_f32, ['a', 'b']));
/// ```
pub trait RadixKey: Copy + Send + Sync + Sealed {
    /// Length of the bit string.
    #[doc(hidden)]
    const BITS: u32;

    /// Bits `from .. from + 64` of the string, the first one topmost; zeros after its end. `from` is below `BITS`.
    #[doc(hidden)]
    fn bits_from(self, from: u32) -> u64;
}

macro_rules! integer {
    ($($unsigned:ty, $signed:ty;)*) => {$(
        impl Sealed for $unsigned {}

        impl RadixKey for $unsigned {
            const BITS: u32 = <$unsigned>::BITS;

            #[inline(always)]
            fn bits_from(self, from: u32) -> u64 {
                (u64::from(self) << (64 - Self::BITS)) << from
            }
        }

        impl Sealed for $signed {}

        impl RadixKey for $signed {
            const BITS: u32 = <$signed>::BITS;

            #[inline(always)]
            fn bits_from(self, from: u32) -> u64 {
                ((self ^ <$signed>::MIN) as $unsigned).bits_from(from)
            }
        }
    )*};
}

integer! {
    u8, i8;
    u16, i16;
    u32, i32;
    u64, i64;
}

/// Types whose bits are those of another key.
macro_rules! like {
    ($($name:ty as $other:ty: $convert:expr;)*) => {$(
        impl Sealed for $name {}

        impl RadixKey for $name {
            const BITS: u32 = <$other>::BITS;

            #[inline(always)]
            fn bits_from(self, from: u32) -> u64 {
                let convert: fn($name) -> $other = $convert;
                convert(self).bits_from(from)
            }
        }
    )*};
}

like! {
    i128 as u128: |x| (x ^ i128::MIN) as u128;
    char as u32: u32::from;
    // Flip the sign bit of positive numbers and all bits of negative ones: the order of `total_cmp`.
    f32 as u32: |x| {
        let bits = x.to_bits();
        bits ^ ((bits as i32 >> 31) as u32 | 1 << 31)
    };
    f64 as u64: |x| {
        let bits = x.to_bits();
        bits ^ ((bits as i64 >> 63) as u64 | 1 << 63)
    };
}

#[cfg(target_pointer_width = "64")]
like! {
    usize as u64: |x| x as u64;
    isize as i64: |x| x as i64;
}

#[cfg(target_pointer_width = "32")]
like! {
    usize as u32: |x| x as u32;
    isize as i32: |x| x as i32;
}

#[cfg(target_pointer_width = "16")]
like! {
    usize as u16: |x| x as u16;
    isize as i16: |x| x as i16;
}

impl Sealed for u128 {}

impl RadixKey for u128 {
    const BITS: u32 = u128::BITS;

    #[inline(always)]
    fn bits_from(self, from: u32) -> u64 {
        ((self << from) >> 64) as u64
    }
}

impl Sealed for bool {}

impl RadixKey for bool {
    const BITS: u32 = 1;

    #[inline(always)]
    fn bits_from(self, from: u32) -> u64 {
        (u64::from(self) << 63) << from
    }
}

impl Sealed for () {}

impl RadixKey for () {
    const BITS: u32 = 0;

    #[inline(always)]
    fn bits_from(self, _from: u32) -> u64 {
        0
    }
}

impl<K: RadixKey> Sealed for Reverse<K> {}

impl<K: RadixKey> RadixKey for Reverse<K> {
    const BITS: u32 = K::BITS;

    #[inline(always)]
    fn bits_from(self, from: u32) -> u64 {
        let rest = K::BITS - from;
        let inside = if rest < 64 {
            !(u64::MAX >> rest)
        } else {
            u64::MAX
        };
        !self.0.bits_from(from) & inside
    }
}

/// The bits of `head` from `from` on, continued with those of a string that follows it.
#[inline(always)]
fn continued<K: RadixKey>(head: K, from: u32, tail_bits_from: impl FnOnce(u32) -> u64) -> u64 {
    if from >= K::BITS {
        return tail_bits_from(from - K::BITS);
    }
    let rest = K::BITS - from;
    let bits = head.bits_from(from);
    if rest >= 64 {
        bits
    } else {
        bits | tail_bits_from(0) >> rest
    }
}

macro_rules! tuple {
    ($head:ident $(, $tail:ident)*) => {
        impl<$head: RadixKey $(, $tail: RadixKey)*> Sealed for ($head, $($tail,)*) {}

        impl<$head: RadixKey $(, $tail: RadixKey)*> RadixKey for ($head, $($tail,)*) {
            const BITS: u32 = $head::BITS $(+ $tail::BITS)*;

            #[inline(always)]
            #[allow(non_snake_case)]
            fn bits_from(self, from: u32) -> u64 {
                let ($head, $($tail,)*) = self;
                continued($head, from, |from| {
                    let tail = ($($tail,)*);
                    // The string may end here: nothing but zeros follows.
                    if from >= bits_of(&tail) { 0 } else { tail.bits_from(from) }
                })
            }
        }
    };
}

#[inline(always)]
fn bits_of<K: RadixKey>(_: &K) -> u32 {
    K::BITS
}

tuple!(A);
tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
tuple!(A, B, C, D, E);
tuple!(A, B, C, D, E, F);
tuple!(A, B, C, D, E, F, G);
tuple!(A, B, C, D, E, F, G, H);

impl<K: RadixKey, const N: usize> Sealed for [K; N] {}

impl<K: RadixKey, const N: usize> RadixKey for [K; N] {
    const BITS: u32 = K::BITS * N as u32;

    #[inline(always)]
    fn bits_from(self, from: u32) -> u64 {
        if K::BITS == 0 {
            return 0;
        }
        let mut bits = 0;
        let mut filled = 0;
        let mut position = from;
        while filled < 64 && position < Self::BITS {
            let within = position % K::BITS;
            let part = self[(position / K::BITS) as usize].bits_from(within);
            bits |= part >> filled;
            let taken = (K::BITS - within).min(64 - filled);
            filled += taken;
            position += taken;
        }
        bits
    }
}

/// Number of 64-bit words that hold the bits of a `K`.
pub(super) const fn words<K: RadixKey>() -> u32 {
    K::BITS.div_ceil(64)
}

/// The order of two keys, by their bits.
#[inline(always)]
pub(in super::super) fn compare<K: RadixKey>(a: K, b: K) -> Ordering {
    for word in 0..words::<K>() {
        let order = a.bits_from(64 * word).cmp(&b.bits_from(64 * word));
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn check<K: RadixKey + Debug>(keys: &[K], expected: impl Fn(&K, &K) -> Ordering) {
        for a in keys {
            for b in keys {
                assert_eq!(compare(*a, *b), expected(a, b), "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn bits_order_integers_as_they_order_themselves() {
        check(&[0_u8, 1, 127, 128, 255], Ord::cmp);
        check(&[i8::MIN, -1, 0, 1, i8::MAX], Ord::cmp);
        check(&[i16::MIN, -300, 0, 300, i16::MAX], Ord::cmp);
        check(&[i64::MIN, -1, 0, 1 << 40, i64::MAX], Ord::cmp);
        check(
            &[0_u128, 1, u128::from(u64::MAX), 1 << 64, u128::MAX],
            Ord::cmp,
        );
        check(&[i128::MIN, -1 << 64, -1, 0, 1 << 64, i128::MAX], Ord::cmp);
        check(&[usize::MIN, 1, usize::MAX], Ord::cmp);
        check(&[isize::MIN, -1, isize::MAX], Ord::cmp);
        check(&[false, true], Ord::cmp);
        check(&['\0', 'a', 'é', '\u{10ffff}'], Ord::cmp);
    }

    #[test]
    fn bits_order_floats_totally() {
        let specials = [
            f64::NEG_INFINITY,
            -1.5,
            -f64::MIN_POSITIVE,
            -0.0,
            0.0,
            1e-310,
            1.0,
            f64::INFINITY,
            f64::NAN,
            -f64::NAN,
        ];
        check(&specials, f64::total_cmp);
        check(&specials.map(|x| x as f32), f32::total_cmp);
    }

    #[test]
    fn bits_order_tuples_and_arrays_part_by_part() {
        let mut pairs = Vec::new();
        let mut triples = Vec::new();
        let mut arrays = Vec::new();
        let mut reversed = Vec::new();
        for a in [i8::MIN, -1, 0, 5] {
            for b in [0_u64, 1, u64::MAX] {
                pairs.push((a, b));
                for c in [false, true] {
                    triples.push((b, c, a));
                    reversed.push((Reverse(c), Reverse(b), a));
                }
                arrays.push([(a, b), (a, 1), (3, b)]);
            }
        }
        check(&pairs, Ord::cmp);
        check(&triples, Ord::cmp);
        check(&arrays, Ord::cmp);
        check(&reversed, Ord::cmp);
        check(&[[1_u8, 2, 3], [1, 2, 4], [0, 9, 9]], Ord::cmp);
        check(&[((), 1_u16), ((), 2)], Ord::cmp);
        check(&[[0_u16; 0]; 2], Ord::cmp);
    }
}
