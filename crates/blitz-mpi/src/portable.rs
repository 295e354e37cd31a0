//! What may travel: plain data as it lies in memory, other data packed into bytes.
//!
//! [`Plain`] is the promise behind every operation that hands memory to MPI: whatever bytes arrive, they are a value. So a receiver that is
//! wrong about the sender's type gets wrong numbers, never undefined behaviour, and `bool`, `char`, references and the like are not plain.
//! Bytes between fields (padding) may be there: MPI copies them without a look.
//!
//! [`Portable`] is what [`Distributed`](crate::Distributed) needs of its elements: plain data, or data that can be packed. One trait with a
//! constant, so that a pair of plain types is plain and a pair with a `String` in it is packed.

use crate::error::{Error, Result};
use mpi::datatype::Equivalence;
use mpi::ffi;
use mpi::raw::AsRaw;

/// Plain data: numbers, arrays and tuples of plain data, and structs made by [`plain!`](crate::plain!).
///
/// # Safety
/// Every pattern of bytes is a value of the type, it has no interior mutability, and [`Portable::PLAIN`] is true for it.
pub unsafe trait Plain: Portable + Copy {}

/// What can move to another rank: [`Plain`] data, strings, vectors, options, tuples of these, and structs made by
/// [`portable!`](crate::portable!).
///
/// All ranks run the same program, so both ends agree about the layout.
///
/// # Safety
/// `PLAIN` is true only if the type keeps the promise of [`Plain`] (it need not be `Copy`).
pub unsafe trait Portable: Sized + Send + Sync + 'static {
    /// Whether values are sent as they lie in memory. If not, they are packed.
    const PLAIN: bool = false;

    /// Appends the value to `bytes`.
    fn pack(&self, bytes: &mut Vec<u8>);

    /// Takes a value off the front of `bytes`.
    ///
    /// # Errors
    /// [`Error::Garbled`] if there is none.
    fn unpack(bytes: &mut &[u8]) -> Result<Self>;
}

/// Whether vectors of `T` go as they are. Elements without bytes do not: their number could not be told from a message's length. Nor do those with a
/// destructor, which would be called for both copies.
pub(crate) const fn goes_as_it_is<T: Portable>() -> bool {
    T::PLAIN && size_of::<T>() > 0 && !std::mem::needs_drop::<T>()
}

/// Takes `count` bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], count: usize, what: &'static str) -> Result<&'a [u8]> {
    let (front, rest) = bytes.split_at_checked(count).ok_or(Error::Garbled(what))?;
    *bytes = rest;
    Ok(front)
}

fn pack_length(length: usize, bytes: &mut Vec<u8>) {
    (length as u64).pack(bytes);
}

fn unpack_length(bytes: &mut &[u8]) -> Result<usize> {
    usize::try_from(u64::unpack(bytes)?).map_err(|_| Error::Garbled("a length"))
}

/// How [`all_reduce`](crate::Cluster::all_reduce) combines numbers. Sums and products of integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl Op {
    pub(crate) fn code(self) -> u8 {
        self as u8 + 1
    }

    pub(crate) const fn with_code(code: u8) -> Op {
        match code {
            1 => Op::Sum,
            2 => Op::Product,
            3 => Op::Min,
            _ => Op::Max,
        }
    }

    /// The one with this code, in words.
    pub(crate) fn named(code: u8) -> &'static str {
        match code {
            1 => "sum",
            2 => "product",
            3 => "minimum",
            4 => "maximum",
            _ => "something unknown",
        }
    }
}

/// Numbers that MPI can compute with.
pub trait Number: Plain {
    #[doc(hidden)]
    const CODE: u8;
    // Every pair of numbers, not MPI's own way: Open MPI's sums of short integers end at the largest one instead of wrapping.
    #[doc(hidden)]
    fn combine(op: Op, left: Self, right: Self) -> Self;
    #[doc(hidden)]
    fn datatype() -> ffi::MPI_Datatype;
}

macro_rules! numbers {
    ($($code:literal $number:ident $add:expr, $multiply:expr;)*) => {$(
        // SAFETY: numbers have no invalid patterns.
        unsafe impl Portable for $number {
            const PLAIN: bool = true;

            fn pack(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn unpack(bytes: &mut &[u8]) -> Result<Self> {
                let front = take(bytes, size_of::<Self>(), stringify!($number))?;
                Ok(Self::from_le_bytes(front.try_into().expect("as many bytes as asked for")))
            }
        }

        // SAFETY: as above.
        unsafe impl Plain for $number {}

        impl Number for $number {
            const CODE: u8 = $code;

            fn combine(op: Op, left: Self, right: Self) -> Self {
                let (add, multiply): (fn(Self, Self) -> Self, fn(Self, Self) -> Self) = ($add, $multiply);
                match op {
                    Op::Sum => add(left, right),
                    Op::Product => multiply(left, right),
                    Op::Min => left.min(right),
                    Op::Max => left.max(right),
                }
            }

            fn datatype() -> ffi::MPI_Datatype {
                <$number as Equivalence>::equivalent_datatype().as_raw()
            }
        }
    )*};
}

numbers! {
    1 u8 u8::wrapping_add, u8::wrapping_mul;
    2 u16 u16::wrapping_add, u16::wrapping_mul;
    3 u32 u32::wrapping_add, u32::wrapping_mul;
    4 u64 u64::wrapping_add, u64::wrapping_mul;
    5 usize usize::wrapping_add, usize::wrapping_mul;
    6 i8 i8::wrapping_add, i8::wrapping_mul;
    7 i16 i16::wrapping_add, i16::wrapping_mul;
    8 i32 i32::wrapping_add, i32::wrapping_mul;
    9 i64 i64::wrapping_add, i64::wrapping_mul;
    10 isize isize::wrapping_add, isize::wrapping_mul;
    11 f32 |a, b| a + b, |a, b| a * b;
    12 f64 |a, b| a + b, |a, b| a * b;
}

/// The type with this code, in words.
pub(crate) fn number_named(code: u8) -> &'static str {
    const NAMES: [&str; 12] = [
        "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize", "f32", "f64",
    ];
    usize::from(code)
        .checked_sub(1)
        .and_then(|at| NAMES.get(at).copied())
        .unwrap_or("something unknown")
}

macro_rules! wide {
    ($($number:ident)*) => {$(
        // SAFETY: numbers have no invalid patterns.
        unsafe impl Portable for $number {
            const PLAIN: bool = true;

            fn pack(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn unpack(bytes: &mut &[u8]) -> Result<Self> {
                let front = take(bytes, size_of::<Self>(), stringify!($number))?;
                Ok(Self::from_le_bytes(front.try_into().expect("as many bytes as asked for")))
            }
        }

        // SAFETY: as above.
        unsafe impl Plain for $number {}
    )*};
}

wide!(u128 i128);

// SAFETY: an array of plain elements has their bytes one after the other, and nothing else.
unsafe impl<T: Portable, const N: usize> Portable for [T; N] {
    const PLAIN: bool = T::PLAIN;

    fn pack(&self, bytes: &mut Vec<u8>) {
        self.iter().for_each(|item| item.pack(bytes));
    }

    fn unpack(bytes: &mut &[u8]) -> Result<Self> {
        let items = (0..N)
            .map(|_| T::unpack(bytes))
            .collect::<Result<Vec<T>>>()?;
        items.try_into().map_err(|_| Error::Garbled("an array"))
    }
}

// SAFETY: as above.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

// SAFETY: not plain.
unsafe impl Portable for () {
    fn pack(&self, _: &mut Vec<u8>) {}

    fn unpack(_: &mut &[u8]) -> Result<Self> {
        Ok(())
    }
}

macro_rules! tuples {
    ($(($($item:ident $index:tt),+))*) => {$(
        // SAFETY: a tuple of plain parts has their bytes and padding.
        unsafe impl<$($item: Portable),+> Portable for ($($item,)+) {
            const PLAIN: bool = $($item::PLAIN)&&+;

            fn pack(&self, bytes: &mut Vec<u8>) {
                $(self.$index.pack(bytes);)+
            }

            fn unpack(bytes: &mut &[u8]) -> Result<Self> {
                Ok(($($item::unpack(bytes)?,)+))
            }
        }

        // SAFETY: as above.
        unsafe impl<$($item: Plain),+> Plain for ($($item,)+) {}
    )*};
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

// SAFETY: not plain.
unsafe impl Portable for bool {
    fn pack(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(*self));
    }

    fn unpack(bytes: &mut &[u8]) -> Result<Self> {
        match u8::unpack(bytes)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Error::Garbled("bool")),
        }
    }
}

// SAFETY: not plain.
unsafe impl Portable for char {
    fn pack(&self, bytes: &mut Vec<u8>) {
        u32::from(*self).pack(bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Result<Self> {
        char::from_u32(u32::unpack(bytes)?).ok_or(Error::Garbled("char"))
    }
}

// SAFETY: not plain.
unsafe impl Portable for String {
    fn pack(&self, bytes: &mut Vec<u8>) {
        pack_length(self.len(), bytes);
        bytes.extend_from_slice(self.as_bytes());
    }

    fn unpack(bytes: &mut &[u8]) -> Result<Self> {
        let length = unpack_length(bytes)?;
        let text = take(bytes, length, "a string")?;
        String::from_utf8(text.to_vec()).map_err(|_| Error::Garbled("a string"))
    }
}

// SAFETY: not plain.
unsafe impl<T: Portable> Portable for Vec<T> {
    fn pack(&self, bytes: &mut Vec<u8>) {
        pack_length(self.len(), bytes);
        self.iter().for_each(|item| item.pack(bytes));
    }

    fn unpack(bytes: &mut &[u8]) -> Result<Self> {
        let length = unpack_length(bytes)?;
        // Not reserved: a wrong length must not ask for all memory.
        (0..length).map(|_| T::unpack(bytes)).collect()
    }
}

// SAFETY: not plain.
unsafe impl<T: Portable> Portable for Option<T> {
    fn pack(&self, bytes: &mut Vec<u8>) {
        self.is_some().pack(bytes);
        self.iter().for_each(|item| item.pack(bytes));
    }

    fn unpack(bytes: &mut &[u8]) -> Result<Self> {
        bool::unpack(bytes)?.then(|| T::unpack(bytes)).transpose()
    }
}

/// Defines a struct that is [`Portable`], from fields that are: sent as it lies in memory if all of them are plain, packed otherwise.
///
/// ```
/// blitz_mpi::portable! {
///     #[derive(Debug, PartialEq)]
///     pub struct Word {
///         pub text: String,
///         pub count: u64,
///     }
/// }
/// # use blitz_mpi::Portable;
/// assert!(!Word::PLAIN);
/// ```
#[macro_export]
macro_rules! portable {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty),* $(,)? }) => {
        $(#[$meta])*
        $vis struct $name { $($(#[$field_meta])* $field_vis $field: $type),* }

        // SAFETY: plain if all fields are, and the macro sees all of them.
        unsafe impl $crate::Portable for $name {
            const PLAIN: bool = true $(&& <$type as $crate::Portable>::PLAIN)*;

            fn pack(&self, bytes: &mut ::std::vec::Vec<u8>) {
                $($crate::Portable::pack(&self.$field, bytes);)*
                let _ = bytes;
            }

            fn unpack(bytes: &mut &[u8]) -> $crate::Result<Self> {
                let _ = &bytes;
                Ok($name { $($field: <$type as $crate::Portable>::unpack(bytes)?),* })
            }
        }
    };
}

/// Defines a struct that is [`Plain`], from fields that are.
///
/// ```
/// blitz_mpi::plain! {
///     #[derive(Debug, PartialEq)]
///     pub struct Particle {
///         pub place: [f64; 3],
///         pub kind: u32,
///     }
/// }
/// ```
///
/// A field that is not plain does not compile:
///
/// ```compile_fail
/// blitz_mpi::plain! { pub struct Flag { on: bool } }
/// ```
#[macro_export]
macro_rules! plain {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty),* $(,)? }) => {
        $crate::portable! {
            $(#[$meta])*
            #[derive(Clone, Copy)]
            $vis struct $name { $($(#[$field_meta])* $field_vis $field: $type),* }
        }

        const _: () = {
            const fn is_plain<T: $crate::Plain>() {}
            $(is_plain::<$type>();)*
        };

        // SAFETY: every field is plain, as the lines above ask for.
        unsafe impl $crate::Plain for $name {}
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn back_and_forth<T: Portable + PartialEq + Debug>(value: T) {
        let mut bytes = Vec::new();
        value.pack(&mut bytes);
        let mut rest = &bytes[..];
        assert_eq!(T::unpack(&mut rest).unwrap(), value);
        assert!(rest.is_empty());
        for short in 0..bytes.len() {
            assert!(
                T::unpack(&mut &bytes[..short]).is_err(),
                "{value:?} of {short} bytes"
            );
        }
    }

    #[test]
    fn what_is_packed_is_unpacked_and_a_part_of_it_is_an_error() {
        back_and_forth(7u64);
        back_and_forth(-1.5f32);
        back_and_forth((String::from("grüße"), 3u16, 'ß', true));
        back_and_forth(vec![Some(vec![1u8, 2]), None]);
        back_and_forth([(1u32, 2u64), (3, 4)]);
    }

    #[test]
    fn tuples_are_plain_if_their_parts_are() {
        const {
            assert!(<(u64, [u8; 3])>::PLAIN);
            assert!(!<(u64, String)>::PLAIN);
            assert!(!<[bool; 2]>::PLAIN);
        }
    }

    #[test]
    fn a_length_that_is_too_large_is_an_error_and_asks_for_no_memory() {
        let mut bytes = Vec::new();
        u64::MAX.pack(&mut bytes);
        assert!(Vec::<u64>::unpack(&mut &bytes[..]).is_err());
        assert!(String::unpack(&mut &bytes[..]).is_err());
    }
}
