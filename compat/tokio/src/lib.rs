//! Blitz under tokio's name. Two lines in a manifest put a whole dependency tree on the Blitz runtime; no source changes:
//!
//! ```toml
//! [patch.crates-io]
//! tokio = { path = "path/to/blitz/compat/tokio" }
//! ```
//!
//! Programs go on as they are:
//!
//! ```
//! use tokio::sync::mpsc;
//!
//! #[tokio::main]
//! async fn main() {
//!     let (sender, mut receiver) = mpsc::channel(8);
//!     tokio::spawn(async move { sender.send("hello").await });
//!     assert_eq!(receiver.recv().await, Some("hello"));
//! }
//! ```
//!
//! Everything here is re-exported from the crate `blitz_io`, whose front page has the map of its modules. It has more than tokio: a program that uses that no longer compiles with the original.
//! The version of this crate is that of the tokio whose API it has. [Coming from tokio](https://github.com/blitz-rt/blitz/blob/main/docs/coming-from-tokio.md) says what differs and why.
//!
//! # Features
//! All of tokio's names are there, so that manifests that ask for them work, and they change nothing: everything is always there. What a program does not use costs it a little compile time.
//!
//! One is not tokio's: `blitz-console`, a live page of what tasks and threads do, at the address in the environment variable `BLITZ_CONSOLE`.
//!
//! # Platforms
//! Those of `blitz-io`. Rust 1.85 or later.
#![forbid(unsafe_code)]

pub use blitz_io::*;

// To be linked is all that it needs: it begins before `main`.
#[cfg(feature = "blitz-console")]
use blitz_console as _;

/// The attributes name their crate, and here it is called `tokio`.
pub use blitz_io_macros::{tokio_main as main, tokio_test as test};

/// Tasks. tokio's `task::Builder` is there only with `--cfg tokio_unstable`, as with tokio: a program may import all of `runtime`, which has a `Builder`, and all of this module.
#[cfg(not(tokio_unstable))]
pub mod task {
    #[doc(inline)]
    pub use blitz_io::task::{
        AbortHandle, Id, JoinError, JoinHandle, JoinSet, LocalEnterGuard, LocalKey, LocalSet,
        Shield, block_in_place, consume_budget, coop, futures, id, shield, spawn, spawn_blocking,
        spawn_local, try_id, unconstrained, yield_now,
    };
}

/// ```
/// use tokio::{runtime::*, task::*};
///
/// let runtime = Builder::new_current_thread().build()?;
/// let answer = runtime.block_on(async { spawn(async { 42 }).await });
/// assert_eq!(answer.unwrap(), 42);
/// # std::io::Result::Ok(())
/// ```
#[cfg(doctest)]
struct GlobsThatMeet;
