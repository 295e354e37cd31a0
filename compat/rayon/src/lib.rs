//! Blitz under rayon's name. Two lines in a manifest put a whole dependency tree on the Blitz engine; no source changes:
//!
//! ```toml
//! [patch.crates-io]
//! rayon = { path = "path/to/blitz/compat/rayon" }
//! ```
//!
//! Programs go on as they are:
//!
//! ```
//! use rayon::prelude::*;
//!
//! let squares: u64 = (0..1000_u64).into_par_iter().map(|n| n * n).sum();
//! assert_eq!(squares, 332_833_500);
//! ```
//!
//! Everything here is re-exported from the crate `blitz` (package `blitz-rt`), whose front page has the map of its modules. It has more than rayon: a program that uses that no longer compiles with the original.
//! The version of this crate is that of the rayon whose API it has. [Coming from rayon](https://github.com/blitz-rt/blitz/blob/main/docs/coming-from-rayon.md) says what differs and why.
//!
//! | feature | what it adds |
//! |---|---|
//! | `blitz-console` | not of rayon: a live page of what the threads do, at the address in the environment variable `BLITZ_CONSOLE` |
//! | `web_spin_lock` | as rayon's: in a web page with threads, the page's own thread spins where others block |
//!
//! Platforms are those of `blitz-rt`. Rust 1.85 or later.
#![forbid(unsafe_code)]

pub use blitz::*;

// To be linked is all that it needs: it begins before `main`.
#[cfg(feature = "blitz-console")]
use blitz_console as _;
