//! Child processes, with the names and the behaviour of tokio's.
//!
//! [`Command`] is that of the standard library, with its environment, directories and so on. Its [`Child`] has pipes to read and write with futures. Waiting for a child takes
//! no thread: the kernel tells the runtime's driver (by a `pidfd` on Linux, by SIGCHLD on other systems and old kernels). On Windows one thread of the
//! system waits for all children, and tells the tasks that wait. Windows also cannot wait for the pipes. There each read and write is a trip to a thread that may block, as
//! with files, and the end of a runtime waits for those that are under way.
//!
//! No child is left as a zombie. A child that is dropped before it has been waited for keeps running (or is [killed](Command::kill_on_drop)), and is reaped when
//! it ends. If its runtime has ended by then, it is reaped when the next process is spawned in another runtime.
//!
//! If the other end of a pipe is gone, a write returns an error ([`BrokenPipe`](std::io::ErrorKind::BrokenPipe)). Rust programs ignore SIGPIPE from the
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
