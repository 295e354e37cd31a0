//! The door to everything that is shared between threads (atomics, cells, locks): the model checker's, when it runs; see
//! the `sync` module of `blitz-primitives`.

#[allow(unused_imports, reason = "one door for the whole crate")]
pub(crate) use blitz_primitives::sync::*;

/// A function that is `const`, except under the model checker, whose atomics and locks are made at run time.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis const fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$attribute])* $visibility const fn $($rest)*
        #[cfg(loom)]
        $(#[$attribute])* $visibility fn $($rest)*
    };
}
#[allow(unused_imports, reason = "one door for the whole crate")]
pub(crate) use const_fn;

/// A value that is made when the program is compiled, except under the model checker. A lock that is made at run time is put together in one place
/// and copied to another, in pieces of other sizes, which takes longer than to use it.
macro_rules! constant {
    ($value:expr) => {{
        #[cfg(not(loom))]
        let value = const { $value };
        #[cfg(loom)]
        let value = $value;
        value
    }};
}
#[allow(unused_imports, reason = "one door for the whole crate")]
pub(crate) use constant;

/// What an error says. `<T>`: it gives a message back, which need not be something that can be printed.
macro_rules! error {
    ($name:ident $(<$T:ident $(: $bound:path)?>)?, $($shape:pat => $text:expr),+ $(,)?) => {
        impl$(<$T>)? std::fmt::Display for $name$(<$T>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $($shape => $text),+
                })
            }
        }

        impl$(<$T $(: $bound)?>)? std::error::Error for $name$(<$T>)? {}
    };
}
pub(crate) use error;
