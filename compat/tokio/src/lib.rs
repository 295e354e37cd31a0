//! Blitz under tokio's name: `[patch.crates-io] tokio = { path = "…/compat/tokio" }` puts a whole dependency tree on the Blitz
//! runtime.
#![forbid(unsafe_code)]

pub use blitz_io::*;
