//! Which element and key types sort by their bits without being asked to.
//!
//! `par_sort` on a slice of `u64` cannot say so in its types: it is written for every `T: Ord`. So it asks at run time, by [`type_id`],
//! and the compiler answers when it generates the code; other types pay nothing. For the types listed here the order of the
//! bits is the order of `Ord`, and elements that are equal are the same bits, so neither order nor stability can differ.

use super::plan;
use super::radix::{self, RadixKey};
use super::runs;
use std::any::TypeId;
use std::marker::PhantomData;

/// The identity of a type that need not be `'static`, with all its lifetimes erased.
///
/// `TypeId::of` asks for `T: 'static`, and a caller with some `T: Ord` cannot promise that. Going through a trait object whose method
/// has the bound instead of the type, the bound can be dropped from the object: `dyn NonStatic + '_` becomes `dyn NonStatic +
/// 'static`.
#[inline(always)]
fn type_id<T: ?Sized>() -> TypeId {
    trait NonStatic {
        fn type_id(&self) -> TypeId
        where
            Self: 'static;
    }

    impl<T: ?Sized> NonStatic for PhantomData<T> {
        #[inline(always)]
        fn type_id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }

    let phantom = PhantomData::<T>;
    // SAFETY: only the lifetime bound of the trait object changes, not its layout. The object holds no data, and the one method that
    // is called does nothing but return a number; no reference of a lifetime that was forgotten is ever made or used.
    let object =
        unsafe { std::mem::transmute::<&dyn NonStatic, &(dyn NonStatic + 'static)>(&phantom) };
    object.type_id()
}

/// Whether `A` and `B` are the same type, where `B` has no lifetimes in it. Then `A` has none either, so the erasure in [`type_id`]
/// hides nothing: equal identities mean one and the same type.
#[inline(always)]
fn same<A: ?Sized, B: ?Sized + 'static>() -> bool {
    type_id::<A>() == TypeId::of::<B>()
}

macro_rules! sort_by_bits_as {
    ($v:ident: $($key:ty)*) => {$(
        if same::<T, $key>() {
            // SAFETY: `T` is this very type.
            let keys = unsafe { std::slice::from_raw_parts_mut($v.as_mut_ptr().cast::<$key>(), $v.len()) };
            return radix::sort(keys);
        }
    )*};
}

/// Sorts `v` in its natural order if it is of a type that sorts by its bits, and long enough for that to be faster; says whether it
/// did.
#[inline]
pub(super) fn sort_by_bits<T: Ord>(v: &mut [T]) -> bool {
    if v.len() < radix::SHORTEST {
        return false;
    }
    sort_by_bits_as!(v: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize bool char);
    false
}

macro_rules! bits_of_key_as {
    ($key:ident: $($type:ty)*) => {$(
        if same::<K, $type>() {
            // SAFETY: `K` is this very type, and it is `Copy`.
            return Some(unsafe { std::mem::transmute_copy::<K, $type>($key) }.bits_from(0));
        }
    )*};
}

/// The key's bits, topmost first, if it is of a type that sorts by at most 32 of them.
#[inline(always)]
fn short_bits<K>(key: &K) -> Option<u64> {
    bits_of_key_as!(key: u8 u16 u32 i8 i16 i32 bool char);
    None
}

/// The key's bits if it is of a type that sorts by up to 64 of them.
#[inline(always)]
fn long_bits<K>(key: &K) -> Option<u64> {
    bits_of_key_as!(key: u64 i64 usize isize);
    None
}

/// The key's bits, topmost first, if it is of a type that sorts by up to 64 of them.
#[inline(always)]
pub(super) fn bits<K>(key: &K) -> Option<u64> {
    short_bits(key).or_else(|| long_bits(key))
}

/// What the caller asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Equal elements stay in order.
    Stable,
    /// They may change places.
    Any,
}

/// A comparison by key that takes less than this many nanoseconds only loads the keys.
const CHEAP_NS: f64 = 4.0;

/// Whether elements of this type are better compared by keys that are cheap than sorted by their bits: keys with positions are twice
/// as wide as a narrow element, and the elements follow one by one through memory at the end. As measured.
fn comparing_pays<T>(len: usize, need: Need) -> bool {
    match size_of::<T>() {
        0..=8 => true,
        9..=16 => need == Need::Any || len >= 1 << 19,
        _ => need == Need::Any,
    }
}

/// Sorts `v` by `key_of`, stable, if the keys are of a type that sorts by its bits and that pays; says whether it did.
///
/// All such types are brought to two, so that a caller with any other key type does not carry a copy of the sort for each.
#[inline]
pub(super) fn sort_by_key_bits<T, K, F>(v: &mut [T], key_of: &F, need: Need) -> bool
where
    T: Send,
    F: Fn(&T) -> K + Sync,
{
    if v.len() < radix::SHORTEST_BY_KEY {
        return false;
    }
    let first_key = key_of(&v[0]);
    if bits(&first_key).is_none() {
        return false;
    }
    let is_less = |a: &T, b: &T| bits(&key_of(a)) < bits(&key_of(b));
    // Runs are merged where they are.
    if comparing_pays::<T>(v.len(), need) && plan::comparison_ns(v, &is_less) < CHEAP_NS
        || runs::is_mostly_runs(v, &is_less)
    {
        return false;
    }
    if short_bits(&first_key).is_some() {
        radix::sort_by_key(v, &|x| {
            (short_bits(&key_of(x)).unwrap_or_default() >> 32) as u32
        })
    } else if long_bits(&first_key).is_some() {
        radix::sort_by_key(v, &|x| long_bits(&key_of(x)).unwrap_or_default())
    } else {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity_of<T>(_: &T) -> TypeId {
        type_id::<T>()
    }

    #[test]
    fn types_are_told_apart_whatever_they_borrow() {
        let text = String::from("text");
        assert_eq!(identity_of(&text.as_str()), type_id::<&'static str>());
        assert_ne!(identity_of(&text.as_str()), identity_of(&text));
        assert!(same::<u64, u64>());
        assert!(!same::<u64, i64>());
        assert!(!same::<std::num::Wrapping<u64>, u64>());
        assert!(!same::<std::cmp::Reverse<u64>, u64>());
    }

    #[test]
    fn only_types_that_order_as_their_bits_are_taken() {
        let mut reversed: Vec<_> = (0..1000_u64).map(std::cmp::Reverse).collect();
        assert!(!sort_by_bits(&mut reversed));
        let mut plain: Vec<u64> = (0..1000).rev().collect();
        assert!(sort_by_bits(&mut plain));
        assert!(plain.is_sorted());
    }
}
