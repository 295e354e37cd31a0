//! Blitz under tokio's name: `[patch.crates-io] tokio = { path = "…/compat/tokio" }` puts a whole dependency tree on the Blitz
//! runtime.
#![forbid(unsafe_code)]

// Linked, it begins by itself.
#[cfg(feature = "blitz-console")]
use blitz_console as _;
pub use blitz_io::*;

/// The attributes name their crate, and here it is called `tokio`.
pub use blitz_io_macros::{tokio_main as main, tokio_test as test};
