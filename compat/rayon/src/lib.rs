//! Blitz under rayon's name: `[patch.crates-io] rayon = { path = "…/compat/rayon" }` puts a whole
//! dependency tree on the Blitz engine.
#![forbid(unsafe_code)]

// Linked, it begins by itself.
pub use blitz::*;
#[cfg(feature = "blitz-console")]
use blitz_console as _;
