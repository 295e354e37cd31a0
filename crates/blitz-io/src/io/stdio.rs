//! The standard streams of this process.
//!
//! They are files like others, read and written by a thread that may block (`fs::buffered`). A terminal or a pipe that other processes share must not be made
//! non-blocking, because that would change it for them, too. The descriptors are never closed: one reference to each is kept for ever, and
//! no handle has the last one.

use crate::fs::Buffered;
use crate::net::macros::{readable_stream, writable_stream};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, RawFd};
use std::sync::{Arc, OnceLock};

/// The file behind a standard stream, which stays open.
fn standing(place: &'static OnceLock<Arc<File>>, number: RawFd) -> Arc<File> {
    let file = place.get_or_init(|| {
        // SAFETY: the standard library sees to it that the three are open when `main` begins, and it does not close them either. This reference stays
        // in a static, so the file is never dropped.
        Arc::new(unsafe { File::from_raw_fd(number) })
    });
    Arc::clone(file)
}

/// Defines a standard stream: its type, the function that makes it, and what it shares with the others.
macro_rules! stream {
    ($(#[$doc:meta])* $name:ident, $(#[$function_doc:meta])* $function:ident, $number:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            io: Buffered,
        }

        $(#[$function_doc])*
        pub fn $function() -> $name {
            static FILE: OnceLock<Arc<File>> = OnceLock::new();
            $name {
                io: Buffered::of_stream(standing(&FILE, $number)),
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.io.as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.as_fd().as_raw_fd()
            }
        }
    };
}

stream! {
    /// The standard input; see [`stdin`].
    Stdin,
    /// The standard input of this process.
    ///
    /// Each handle reads on its own: bytes that one of them has read, also for a read that was cancelled, are not there for another. Nor are those that
    /// [`std::io::stdin`] has in its buffer. Have one handle, and wrap it in a [`BufReader`](crate::io::BufReader) to read lines.
    ///
    /// **A read that waits for somebody to type keeps a thread.** The end of the runtime waits for that thread, unless it is told for how long:
    /// [`Runtime::shutdown_timeout`](crate::Runtime::shutdown_timeout), [`Runtime::shutdown_background`](crate::Runtime::shutdown_background).
    ///
    /// # Cost
    /// A trip to a [thread that may block](crate::spawn_blocking) for each read that finds no bytes.
    ///
    /// # Panics
    /// A read does, outside of a runtime.
    ///
    /// ```no_run
    /// use blitz_io::io::{self, AsyncBufReadExt, BufReader};
    ///
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut lines = BufReader::new(io::stdin()).lines();
    /// while let Some(line) = lines.next_line().await? {
    ///     println!("{}", line.len());
    /// }
    /// # io::Result::Ok(()) }).unwrap();
    /// ```
    stdin, libc::STDIN_FILENO
}

stream! {
    /// The standard output; see [`stdout`].
    Stdout,
    /// The standard output of this process.
    ///
    /// A write copies the bytes and leaves them to a thread; **flush** to wait until they are out. They are written even if the
    /// handle is dropped or the runtime ends. The bytes of one handle come out in order; those of two handles, or of `print!`, are put between them anywhere. What
    /// `print!` still has in its buffer is not flushed along.
    ///
    /// # Cost
    /// No trip to a thread for a write while an earlier one is under way: many small writes become a few large ones.
    ///
    /// # Panics
    /// A write does, outside of a runtime.
    ///
    /// ```
    /// use blitz_io::io::{self, AsyncWriteExt};
    ///
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut out = io::stdout();
    /// out.write_all(b"hello\n").await?;
    /// out.flush().await?;
    /// # io::Result::Ok(()) }).unwrap();
    /// ```
    stdout, libc::STDOUT_FILENO
}

stream! {
    /// The standard error; see [`stderr`].
    Stderr,
    /// The standard error of this process. As [`stdout`]: flush to see what was written.
    ///
    /// ```
    /// use blitz_io::io::{self, AsyncWriteExt};
    ///
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// io::stderr().write_all(b"this goes out, even if nobody waits\n").await?;
    /// # io::Result::Ok(()) }).unwrap();
    /// ```
    stderr, libc::STDERR_FILENO
}

readable_stream!([] Stdin, this => this.io);
writable_stream!([] Stdout, this => this.io);
writable_stream!([] Stderr, this => this.io);
