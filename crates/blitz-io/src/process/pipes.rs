//! The pipes to and from a child.
//!
//! The parent's ends do not block and are registered with the driver; the child's are ordinary ones. A pipe is at its end when all descriptors of the
//! other side are closed: a child that has passed its own on keeps it open.

use crate::driver::Registered;
use crate::net::macros::{readable_stream, writable_stream};
use crate::net::stream::{RawIncoming, RawOutgoing};
use mio::Interest;
use mio::unix::pipe::{Receiver, Sender};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::process::Stdio;

/// Defines a pipe: its type, and what can be done with it apart from reading or writing.
macro_rules! pipe {
    ($(#[$doc:meta])* $name:ident, $end:ty, $interest:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            io: Registered<$end>,
        }

        impl $name {
            /// Takes over a pipe of the standard library.
            ///
            /// # Errors
            /// If it cannot be registered.
            ///
            /// # Panics
            /// If the thread is in no runtime.
            ///
            /// ```
            /// # #[cfg(unix)] {
            /// # blitz_io::Runtime::new().unwrap().block_on(async {
            /// use blitz_io::io::AsyncReadExt;
            /// use blitz_io::process::ChildStdout;
            /// use std::process::{Command, Stdio};
            ///
            /// let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
            /// let mut stdout = ChildStdout::from_std(child.stdout.take().unwrap())?;
            /// let mut text = String::new();
            /// stdout.read_to_string(&mut text).await?;
            /// assert_eq!(text, "hello\n");
            /// child.wait()?;
            /// # std::io::Result::Ok(()) }).unwrap();
            /// # }
            /// ```
            #[track_caller]
            pub fn from_std(pipe: std::process::$name) -> io::Result<Self> {
                let end = <$end>::from(pipe);
                end.set_nonblocking(true)?;
                let io = Registered::with_interest(end, $interest)?;
                Ok(Self { io })
            }

            /// Gives the descriptor back, out of the runtime, as one that blocks.
            ///
            /// # Errors
            /// If the kernel does not let go of it.
            ///
            /// ```
            /// # #[cfg(unix)] {
            /// # blitz_io::Runtime::new().unwrap().block_on(async {
            /// use blitz_io::process::Command;
            /// use std::io::Read;
            /// use std::process::Stdio;
            ///
            /// let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
            /// let descriptor = child.stdout.take().unwrap().into_owned_fd()?;
            /// let mut text = String::new();
            /// std::fs::File::from(descriptor).read_to_string(&mut text)?; // blocks
            /// assert_eq!(text, "hello\n");
            /// child.wait().await?;
            /// # std::io::Result::Ok(()) }).unwrap();
            /// # }
            /// ```
            pub fn into_owned_fd(self) -> io::Result<OwnedFd> {
                let end = self.io.into_inner()?;
                end.set_nonblocking(false)?;
                Ok(end.into())
            }
        }

        /// For another process, as its standard input, say.
        impl TryFrom<$name> for Stdio {
            type Error = io::Error;

            fn try_from(pipe: $name) -> io::Result<Stdio> {
                pipe.into_owned_fd().map(Stdio::from)
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.io.as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.io.as_raw_fd()
            }
        }
    };
}

pipe! {
    /// The standard input of a child: to be written to. The child reads to the end when this is dropped.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
    /// use blitz_io::process::{ChildStdin, ChildStdout, Command};
    /// use std::process::Stdio;
    ///
    /// let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    /// let mut stdin: ChildStdin = child.stdin.take().unwrap();
    /// let mut stdout: ChildStdout = child.stdout.take().unwrap();
    /// stdin.write_all(b"hello").await?;
    /// drop(stdin); // the end, for the child
    /// let mut text = String::new();
    /// stdout.read_to_string(&mut text).await?;
    /// assert_eq!(text, "hello");
    /// child.wait().await?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    ChildStdin, Sender, Interest::WRITABLE
}

pipe! {
    /// The standard output of a child: to be read from.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::io::{AsyncBufReadExt, BufReader};
    /// use blitz_io::process::Command;
    /// use std::process::Stdio;
    ///
    /// let mut child = Command::new("sh").args(["-c", "echo one; echo two"]).stdout(Stdio::piped()).spawn()?;
    /// let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    /// assert_eq!(lines.next_line().await?.as_deref(), Some("one"));
    /// assert_eq!(lines.next_line().await?.as_deref(), Some("two"));
    /// child.wait().await?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    ChildStdout, Receiver, Interest::READABLE
}

pipe! {
    /// The standard error of a child: to be read from.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// use blitz_io::io::AsyncReadExt;
    /// use blitz_io::process::Command;
    /// use std::process::Stdio;
    ///
    /// let mut child = Command::new("sh").args(["-c", "echo oh >&2"]).stderr(Stdio::piped()).spawn()?;
    /// let mut complaint = String::new();
    /// child.stderr.take().unwrap().read_to_string(&mut complaint).await?;
    /// assert_eq!(complaint, "oh\n");
    /// child.wait().await?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    ChildStderr, Receiver, Interest::READABLE
}

writable_stream!([] ChildStdin, this => this.io);
readable_stream!([] ChildStdout, this => this.io);
readable_stream!([] ChildStderr, this => this.io);

impl RawIncoming for Receiver {
    /// A child that writes packets (`O_DIRECT`) ends a read with each of them.
    const READS_TO_THE_END: bool = false;

    fn receive(&self, buffer: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        // SAFETY: the descriptor is open, and the kernel writes at most that many bytes to the buffer.
        let read =
            unsafe { libc::read(self.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
        usize::try_from(read).map_err(|_| io::Error::last_os_error())
    }
}

impl RawOutgoing for Sender {
    /// Only closing it does that.
    fn end(&self) -> io::Result<()> {
        Ok(())
    }
}
