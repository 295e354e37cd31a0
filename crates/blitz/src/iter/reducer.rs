//! Ready-made reductions: an identity and an associative operation that belong together.
//!
//! A [`Reducer`] holds its two closures by value and by type, so a reduction by `Reducer::sum()` compiles to the same loop
//! as one written out.

use std::fmt;

/// An identity and an associative operation, for [`reduce_by`](super::ParallelIterator::reduce_by) and for slices.
///
/// # Examples
///
/// ```
/// use blitz::iter::Reducer;
/// use blitz::prelude::*;
///
/// assert_eq!((1..=5u64).into_par_iter().reduce_by(Reducer::product()), 120);
///
/// // One's own: the greatest common divisor; zero is its identity.
/// fn gcd(a: u64, b: u64) -> u64 { if b == 0 { a } else { gcd(b, a % b) } }
/// let reducer = Reducer::new(|| 0, gcd);
/// assert_eq!([12, 18, 30].into_par_iter().reduce_by(reducer), 6);
/// ```
#[derive(Clone, Copy)]
pub struct Reducer<ID, OP> {
    identity: ID,
    op: OP,
}

impl<ID, OP> Reducer<ID, OP> {
    /// A reducer of one's own. `op` must be associative, and `identity()` must not change what it is combined with.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// let longest = Reducer::new(|| "", |a: &'static str, b| if b.len() > a.len() { b } else { a });
    /// assert_eq!(longest.reduce_slice(&["ox", "goose", "horse"]), "goose");
    /// ```
    pub fn new<T>(identity: ID, op: OP) -> Self
    where
        ID: Fn() -> T,
        OP: Fn(T, T) -> T,
    {
        Reducer { identity, op }
    }

    /// What an empty sequence amounts to.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// assert_eq!(Reducer::product::<u32>().identity(), 1);
    /// ```
    pub fn identity<T>(&self) -> T
    where
        ID: Fn() -> T,
    {
        (self.identity)()
    }

    /// Combines two results, left before right.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// assert_eq!(Reducer::min().merge(3, 5), 3);
    /// ```
    pub fn merge<T>(&self, left: T, right: T) -> T
    where
        OP: Fn(T, T) -> T,
    {
        (self.op)(left, right)
    }

    /// Reduces a slice on this thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// assert_eq!(Reducer::sum().reduce_slice(&[0.5, 0.25]), 0.75);
    /// ```
    pub fn reduce_slice<T>(&self, items: &[T]) -> T
    where
        T: Copy,
        ID: Fn() -> T,
        OP: Fn(T, T) -> T,
    {
        items.iter().copied().fold((self.identity)(), &self.op)
    }

    pub(super) fn into_parts(self) -> (ID, OP) {
        (self.identity, self.op)
    }
}

impl Reducer<(), ()> {
    /// Addition. Overflow does what `+` does: panics in debug builds, wraps in release builds.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// use blitz::prelude::*;
    /// assert_eq!((1..=100).into_par_iter().reduce_by(Reducer::sum()), 5050);
    /// ```
    pub fn sum<T>()
    -> Reducer<impl Fn() -> T + Copy + Send + Sync, impl Fn(T, T) -> T + Copy + Send + Sync>
    where
        T: Number,
    {
        Reducer::new(|| T::ZERO, T::plus)
    }

    /// Multiplication. Overflow does what `*` does.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// use blitz::prelude::*;
    /// assert_eq!([0.5, 4.0].into_par_iter().reduce_by(Reducer::product()), 2.0);
    /// ```
    pub fn product<T>()
    -> Reducer<impl Fn() -> T + Copy + Send + Sync, impl Fn(T, T) -> T + Copy + Send + Sync>
    where
        T: Number,
    {
        Reducer::new(|| T::ONE, T::times)
    }

    /// The least. Of nothing: the greatest value there is (infinity, for floats). NaN is ignored where there is anything
    /// else.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// use blitz::prelude::*;
    /// assert_eq!([3, 1, 2].into_par_iter().reduce_by(Reducer::min()), 1);
    /// assert_eq!(Vec::<f64>::new().into_par_iter().reduce_by(Reducer::min()), f64::INFINITY);
    /// ```
    pub fn min<T>()
    -> Reducer<impl Fn() -> T + Copy + Send + Sync, impl Fn(T, T) -> T + Copy + Send + Sync>
    where
        T: Number,
    {
        Reducer::new(|| T::GREATEST, T::lesser)
    }

    /// The greatest. Of nothing: the least value there is (minus infinity, for floats). NaN is ignored where there is
    /// anything else.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// use blitz::prelude::*;
    /// assert_eq!([3u8, 1, 2].into_par_iter().reduce_by(Reducer::max()), 3);
    /// ```
    pub fn max<T>()
    -> Reducer<impl Fn() -> T + Copy + Send + Sync, impl Fn(T, T) -> T + Copy + Send + Sync>
    where
        T: Number,
    {
        Reducer::new(|| T::LEAST, T::greater)
    }

    /// Is all of it true? All items are looked at; [`all`](super::ParallelIterator::all) stops early.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// assert!(!Reducer::all().reduce_slice(&[true, false]));
    /// ```
    pub fn all() -> Reducer<
        impl Fn() -> bool + Copy + Send + Sync,
        impl Fn(bool, bool) -> bool + Copy + Send + Sync,
    > {
        Reducer::new(|| true, |a, b| a & b)
    }

    /// Is any of it true? All items are looked at; [`any`](super::ParallelIterator::any) stops early.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// assert!(Reducer::any().reduce_slice(&[true, false]));
    /// ```
    pub fn any() -> Reducer<
        impl Fn() -> bool + Copy + Send + Sync,
        impl Fn(bool, bool) -> bool + Copy + Send + Sync,
    > {
        Reducer::new(|| false, |a, b| a | b)
    }
}

impl<ID, OP> fmt::Debug for Reducer<ID, OP> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reducer").finish_non_exhaustive()
    }
}

/// What the presets of [`Reducer`] need to know about a number. Implemented for all integers and floats.
///
/// # Examples
///
/// ```
/// use blitz::iter::Number;
/// assert_eq!(<u8 as Number>::GREATEST, 255);
/// assert_eq!(f64::NAN.lesser(1.0), 1.0);
/// assert_eq!(2_u8.plus(3).times(4).greater(7), 20);
/// ```
pub trait Number: Copy + Send + Sync {
    /// The identity of addition.
    const ZERO: Self;
    /// The identity of multiplication.
    const ONE: Self;
    /// Not greater than any other.
    const LEAST: Self;
    /// Not less than any other.
    const GREATEST: Self;

    /// `self + other`
    fn plus(self, other: Self) -> Self;
    /// `self * other`
    fn times(self, other: Self) -> Self;
    /// The lesser of the two.
    fn lesser(self, other: Self) -> Self;
    /// The greater of the two.
    fn greater(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($zero:literal, $one:literal, $least:ident..$greatest:ident: $($number:ident)+) => {
        $(
            impl Number for $number {
                const ZERO: Self = $zero;
                const ONE: Self = $one;
                const LEAST: Self = $number::$least;
                const GREATEST: Self = $number::$greatest;

                #[inline]
                fn plus(self, other: Self) -> Self {
                    self + other
                }

                #[inline]
                fn times(self, other: Self) -> Self {
                    self * other
                }

                #[inline]
                fn lesser(self, other: Self) -> Self {
                    self.min(other)
                }

                #[inline]
                fn greater(self, other: Self) -> Self {
                    self.max(other)
                }
            }
        )+
    };
}

numbers! { 0, 1, MIN..MAX: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }
numbers! { 0.0, 1.0, NEG_INFINITY..INFINITY: f32 f64 }
