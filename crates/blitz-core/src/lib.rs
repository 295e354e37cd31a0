//! The Blitz engine.

#[cfg_attr(loom, allow(unused_imports, dead_code))]
#[allow(unused_imports, dead_code)]
mod sync;

pub mod primitives;
