//! Blitz under rayon's name: `[patch.crates-io] rayon = { path = "…/compat/rayon" }` puts a whole
//! dependency tree on the Blitz engine.
#![forbid(unsafe_code)]

pub use blitz::*;
