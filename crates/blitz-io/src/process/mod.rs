//! Child processes, with the names and the manners of tokio's.
//!
//! [`Command`] is the standard library's, with an environment, directories and all; its [`Child`] has pipes to read and write with futures, and is waited for
//! without a thread: the kernel tells the runtime's driver (a `pidfd` on Linux, SIGCHLD on other systems and old kernels); on Windows a thread of the
//! system, which waits for all of them, tells whoever waits. Windows cannot wait for the pipes either: there each read and write is a trip to a thread that may block, as
//! with files, and the end of a runtime waits for those that are under way.
//!
//! No child stays behind as a zombie. One that is dropped before it has been waited for runs on (or is [killed](Command::kill_on_drop)), and is reaped when
//! it ends. If its runtime has ended by then, that happens when the next process is spawned in another one.
//!
//! A pipe whose other end is gone is an error of the write ([`BrokenPipe`](std::io::ErrorKind::BrokenPipe)): Rust programs ignore SIGPIPE from the
//! start, and their children get it back as it was.
//!
//! ```
//! # #[cfg(unix)] {
//! # let runtime = blitz_io::Runtime::new().unwrap();
//! # runtime.block_on(async {
//! use blitz_io::process::Command;
//!
//! let output = Command::new("echo").arg("hello").output().await?;
//! assert!(output.status.success());
//! assert_eq!(output.stdout, b"hello\n");
//! # std::io::Result::Ok(()) }).unwrap(); }
//! ```

mod child;
mod command;
#[cfg(unix)]
mod exit;
#[cfg(windows)]
#[path = "exit_windows.rs"]
mod exit;
#[cfg(unix)]
mod orphans;
#[cfg(unix)]
mod pipes;
#[cfg(windows)]
#[path = "pipes_windows.rs"]
mod pipes;
#[cfg(all(test, unix))]
mod tests;

pub use self::child::Child;
pub use self::command::Command;
pub use self::pipes::{ChildStderr, ChildStdin, ChildStdout};
pub use std::process::{ExitStatus, Output, Stdio};
