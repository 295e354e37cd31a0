//! The building blocks of the engine, public because they are useful on their own.

pub mod deque;
pub(crate) mod flaw;
pub(crate) mod futex;
mod word;

pub use deque::{Owner, Steal, Stealer, deque};
pub use word::Word;
