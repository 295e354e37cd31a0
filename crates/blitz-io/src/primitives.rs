//! The door to everything that is shared between threads (atomics, cells, locks): the model checker's, when it runs; see
//! the `sync` module of `blitz-primitives`.

#[allow(unused_imports, reason = "one door for the whole crate")]
pub(crate) use blitz_primitives::sync::*;
