//! The building blocks of the engine, public because they are useful on their own.

pub(crate) mod futex;
