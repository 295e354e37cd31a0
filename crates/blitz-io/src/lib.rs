//! Async tasks, timers and sockets on the threads of the Blitz engine.

mod context;
pub mod coop;
#[allow(dead_code)]
mod driver;
pub mod net;
#[allow(unused_imports, dead_code)]
mod sync;
pub mod time;
