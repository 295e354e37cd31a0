//! The building blocks of the engine, public because they are useful on their own.

pub mod deque;
pub(crate) mod flaw;
pub(crate) mod futex;
pub mod injector;
mod ring;
mod spin_wait;
mod word;

pub use deque::{Owner, Steal, Stealer, deque};
pub use injector::{Full, FullPolicy, Injector};
pub use spin_wait::SpinWait;
pub use word::Word;
