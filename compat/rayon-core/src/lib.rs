//! Blitz's engine under rayon-core's name, for crates that use pools, joins and scopes but no iterators:
//! `[patch.crates-io] rayon-core = { path = "…/compat/rayon-core" }`.
//!
//! Both compat crates lead to the same engine, so `rayon_core::scope` and `rayon::scope` run in the same global pool.
//!
//! ```
//! let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build()?;
//! assert_eq!(pool.install(|| rayon_core::join(|| 1, || 2)), (1, 2));
//! # Ok::<(), rayon_core::ThreadPoolBuildError>(())
//! ```
#![forbid(unsafe_code)]

pub use blitz_core::*;
