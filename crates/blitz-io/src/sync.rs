//! The door to everything that is shared between threads; see the engine's module of the same name.

#[allow(unused_imports, reason = "one door for the whole crate")]
pub(crate) use blitz_core::checking::sync::*;
