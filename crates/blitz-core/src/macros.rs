//! `join!` and `try_join!`: any number of closures, results in a tuple or in a struct of your names.

/// Runs any number of closures, perhaps in parallel.
///
/// With plain closures the results come as a tuple; with names, as a struct with those fields. All closures run
/// to their end; if some panic, the leftmost panic goes on. There may be as many as the compiler's `recursion_limit` allows: a hundred, unless you raise it.
///
/// ```
/// let data = vec![3, 1, 4, 1, 5];
/// let (min, max, sum) = blitz_core::join!(
///     || *data.iter().min().unwrap(),
///     || *data.iter().max().unwrap(),
///     || data.iter().sum::<i32>(),
/// );
/// assert_eq!((min, max, sum), (1, 5, 14));
///
/// let stats = blitz_core::join! {
///     longest: || ["a", "bcd"].iter().map(|s| s.len()).max(),
///     total: || data.len(),
/// };
/// assert_eq!(stats.longest, Some(3));
/// assert_eq!(stats.total, 5);
/// ```
#[macro_export]
macro_rules! join {
    ($($name:ident : $op:expr),+ $(,)?) => {
        $crate::__named_fields!([$($name)+] $crate::__nested_join!($($op),+))
    };
    ($($op:expr),+ $(,)?) => {
        $crate::__flatten!($crate::__nested_join!($($op),+); $($op),+)
    };
}

/// Runs any number of fallible closures, perhaps in parallel; the leftmost error wins.
///
/// Takes the same two forms as [`join!`] and returns `Result`s of them. All closures run to their end.
///
/// ```
/// let parsed: Result<_, std::num::ParseIntError> = blitz_core::try_join! {
///     width: || "640".parse::<u32>(),
///     height: || "480".parse::<u32>(),
/// };
/// let size = parsed.unwrap();
/// assert_eq!(size.width * size.height, 307_200);
///
/// let bad = blitz_core::try_join!(|| "1".parse::<u8>(), || "x".parse::<u8>(), || "".parse::<u8>());
/// assert_eq!(bad.unwrap_err(), "x".parse::<u8>().unwrap_err());
/// ```
#[macro_export]
macro_rules! try_join {
    ($($name:ident : $op:expr),+ $(,)?) => {
        $crate::__try_nested!($($op),+)
            .map(|nested| $crate::__named_fields!([$($name)+] nested))
    };
    ($($op:expr),+ $(,)?) => {
        $crate::__try_nested!($($op),+).map(|nested| $crate::__flatten!(nested; $($op),+))
    };
}

/// `(a, (b, (c, ())))` by nested joins.
#[doc(hidden)]
#[macro_export]
macro_rules! __nested_join {
    ($only:expr) => {
        (($only)(), ())
    };
    ($first:expr, $($rest:expr),+) => {
        $crate::join($first, || $crate::__nested_join!($($rest),+))
    };
}

/// As `__nested_join`, for results.
#[doc(hidden)]
#[macro_export]
macro_rules! __try_nested {
    ($only:expr) => {
        ($only)().map(|only| (only, ()))
    };
    ($first:expr, $($rest:expr),+) => {
        $crate::try_join($first, || $crate::__try_nested!($($rest),+))
    };
}

/// Turns `(a, (b, (c, ())))` into `(a, b, c)`, one name per expression. All of them are called `value`; each is another one, because each comes from another step.
#[doc(hidden)]
#[macro_export]
macro_rules! __flatten {
    ($nested:expr; $($op:expr),+) => {
        $crate::__flatten!(@ $nested; []; $($op),+)
    };
    (@ $nested:expr; [$($name:ident)*]; $op:expr, $($ops:expr),+) => {
        $crate::__flatten!(@ $nested; [$($name)* value]; $($ops),+)
    };
    (@ $nested:expr; [$($name:ident)*]; $op:expr) => {{
        let $crate::__nested_pattern!($($name)* value) = $nested;
        ($($name,)* value,)
    }};
}

/// The pattern `(a, (b, (c, ())))`.
#[doc(hidden)]
#[macro_export]
macro_rules! __nested_pattern {
    () => { () };
    ($first:ident $($rest:ident)*) => { ($first, $crate::__nested_pattern!($($rest)*)) };
}

/// A struct with the given field names, from `(a, (b, (c, ())))`.
#[doc(hidden)]
#[macro_export]
macro_rules! __named_fields {
    ([$($name:ident)+] $nested:expr) => {{
        /// The results, by name.
        #[allow(non_camel_case_types)]
        #[derive(Debug, Clone, PartialEq)]
        struct Joined<$($name),+> {
            $($name: $name),+
        }
        let $crate::__nested_pattern!($($name)+) = $nested;
        Joined { $($name),+ }
    }};
}
