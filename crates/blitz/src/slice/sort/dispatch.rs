//! Which element and key types sort by their bits without being asked to.
//!
//! `par_sort` on a slice of `u64` cannot say so in its types, because it is written for every `T: Ord`. So it asks at run time, by [`type_id`]. For
//! the types listed here the order of the bits is the order of `Ord`, and equal elements have the same bits. So neither order nor
//! stability can differ.
//!
//! Most callers sort something else, and pay nothing. What cannot be an integer, judging by its size, is known as such before code is generated
//! ([`may_be_integer`]). What can be one is handed on by its width, to code that is there already for 32 and 64 bits.

use super::plan;
use super::radix::{self, Outcome, RadixKey};
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

/// Whether `T` may be one of the types that sort by their bits, by what is known while it is compiled.
pub(super) const fn may_be_integer<T>() -> bool {
    let is_as_wide = match size_of::<T>() {
        // Not pairs of pointers or numbers, where those lie less strictly.
        16 => align_of::<T>() == align_of::<u128>(),
        width => matches!(width, 1 | 2 | 4 | 8),
    };
    is_as_wide && !std::mem::needs_drop::<T>()
}

/// Whether integers of the type with this identity have a sign; nothing if it is none of those that sort by their bits.
fn has_sign(id: TypeId) -> Option<bool> {
    fn any<const N: usize>(id: TypeId, of: [TypeId; N]) -> bool {
        of.contains(&id)
    }
    macro_rules! ids {
        ($($type:ty)*) => { [$(TypeId::of::<$type>()),*] };
    }
    if any(id, ids!(u8 u16 u32 u64 u128 usize bool char)) {
        Some(false)
    } else {
        any(id, ids!(i8 i16 i32 i64 i128 isize)).then_some(true)
    }
}

/// Sorts `v` in its natural order if it is of a type that sorts by its bits, and if that is best; nothing if it is of another type or
/// too short.
pub(super) fn sort_by_bits<T>(v: &mut [T]) -> Option<Outcome> {
    if const { !may_be_integer::<T>() } || v.len() < radix::SHORTEST {
        return None;
    }
    let signed = has_sign(type_id::<T>())?;
    // SAFETY: `T` is an integer, a `bool` or a `char`.
    unsafe { sort_integers(v, signed) }
}

/// # Safety
/// `T` is an integer, or has the same bytes as one that orders as it does.
unsafe fn sort_integers<T>(v: &mut [T], signed: bool) -> Option<Outcome> {
    let (start, len) = (v.as_mut_ptr(), v.len());
    macro_rules! with {
        ($sort:ident, $unsigned:ty) => {{
            let flip = if signed { 1 << (<$unsigned>::BITS - 1) } else { 0 };
            // SAFETY: the caller's promise. Sorting only moves what is there, so a `char` stays one.
            let v = unsafe { std::slice::from_raw_parts_mut(start.cast::<$unsigned>(), len) };
            Some(radix::$sort(v, flip))
        }};
    }
    // Known before code is generated, so that only one of them is asked for.
    if const { size_of::<T>() == 1 } {
        with!(sort_8, u8)
    } else if const { size_of::<T>() == 2 } {
        with!(sort_16, u16)
    } else if const { size_of::<T>() == 4 } {
        with!(sort_32, u32)
    } else if const { size_of::<T>() == 8 } {
        with!(sort_64, u64)
    } else if const { size_of::<T>() == 16 } {
        with!(sort_128, u128)
    } else {
        None
    }
}

macro_rules! bits_of_key_as {
    ($key:ident: $($type:ty)*) => {$(
        if same::<K, $type>() {
            // SAFETY: `K` is this very type, and it is `Copy`.
            return Some(unsafe { std::mem::transmute_copy::<K, $type>($key) }.bits_from(0));
        }
    )*};
}

/// The key's bits, topmost first, if it is of a type that sorts by up to 64 of them. For one type either all keys have them or none, and
/// the compiler knows which.
#[inline(always)]
pub(super) fn bits<K>(key: &K) -> Option<u64> {
    if const { !may_be_integer::<K>() } {
        return None;
    }
    bits_of_key_as!(key: u8 u16 u32 u64 usize i8 i16 i32 i64 isize bool char);
    None
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
#[inline]
pub(super) fn sort_by_key_bits<T, K, F>(v: &mut [T], key_of: &F, need: Need) -> bool
where
    T: Send,
    F: Fn(&T) -> K + Sync,
{
    if const { !may_be_integer::<K>() } || v.len() < radix::SHORTEST_BY_KEY {
        return false;
    }
    if bits(&key_of(&v[0])).is_none() {
        return false;
    }
    let is_less = |a: &T, b: &T| bits(&key_of(a)) < bits(&key_of(b));
    // Runs are merged where they are.
    if comparing_pays::<T>(v.len(), need) && plan::comparison_ns(v, &is_less) < CHEAP_NS
        || runs::is_mostly_runs(v, &is_less)
    {
        return false;
    }
    let bits_of = |x: &T| bits(&key_of(x)).unwrap_or_default();
    if const { size_of::<K>() <= 4 } {
        radix::sort_by_key_32(v, &|x| (bits_of(x) >> 32) as u32)
    } else {
        radix::sort_by_key_64(v, &bits_of)
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
        assert_eq!(sort_by_bits(&mut reversed), None);
        let mut plain: Vec<u64> = (0..1000).rev().collect();
        assert_eq!(sort_by_bits(&mut plain), Some(Outcome::Sorted));
        assert!(plain.is_sorted());
    }
}
