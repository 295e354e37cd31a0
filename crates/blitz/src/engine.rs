//! The one door between the iterators and the engine.
//!
//! Everything above this file (`iter`, `slice`, `ops`, the sources) names the engine only through here, so that the
//! scheduler underneath can change without touching a single algorithm.

pub use blitz_core::*;
