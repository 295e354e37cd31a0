//! What would 64 cores do?
//!
//! A computation that was recorded (`blitz::profile::record`) is run again by virtual workers that follow the engine's rules, on a machine that one describes: so many
//! cores, so much for a theft, a wake, a cache line. The result is always the same for the same input.
//!
//! * [`Program`] is the recorded computation: [`Program::read`].
//! * [`Machine`] is where it runs; [`measure`] measures what two or more cores can tell about this one.
//! * [`simulate`] runs it; [`Outcome`] has the time, thefts, wakes, and how much the single words were used.
//! * [`page`] makes an HTML page of a program: its speed-up, the places that make its span, a picture of work and span.

mod calibrate;
mod machine;
pub mod measure;
pub mod page;
mod program;
mod world;

pub use calibrate::Calibrated;
pub use machine::{Cascade, Costs, Machine, Waiting};
pub use program::{Path, Program, Shape, Step};
pub use world::{Outcome, WordUse, mean_speedup, simulate};

#[cfg(test)]
mod tests;
