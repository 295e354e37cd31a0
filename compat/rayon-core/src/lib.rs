//! Blitz's engine under rayon-core's name, for crates that use pools, joins and scopes but no iterators:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { path = "path/to/blitz/compat/rayon-core" }
//! ```
//!
//! ```
//! let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build()?;
//! assert_eq!(pool.install(|| rayon_core::join(|| 1, || 2)), (1, 2));
//! # Ok::<(), rayon_core::ThreadPoolBuildError>(())
//! ```
//!
//! Both compat crates lead to the same engine, so `rayon_core::scope` and `rayon::scope` run in the same global pool. Everything here is re-exported from `blitz-core`, whose front page has the map.
//!
//! | feature | what it adds |
//! |---|---|
//! | `web_spin_lock` | as rayon-core's: in a web page with threads, the page's own thread spins where others block |
//!
//! Platforms are those of `blitz-core`. Rust 1.85 or later.
#![forbid(unsafe_code)]

pub use blitz_core::*;
