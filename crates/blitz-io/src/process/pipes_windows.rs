//! The pipes to and from a child, on Windows: files, read and written by threads that may block (`fs::buffered`).
//!
//! A program could wait for the standard library's pipes only by giving them to a completion port for good. Then no other process could use them any more.

use crate::fs::Buffered;
use crate::net::macros::{readable_stream, writable_stream};
use std::fs::File;
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, OwnedHandle, RawHandle};
use std::process::Stdio;
use std::sync::Arc;

/// Defines a pipe: its type, and what can be done with it apart from reading or writing.
macro_rules! pipe {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            io: Buffered,
        }

        impl $name {
            /// Takes over a pipe of the standard library.
            ///
            /// # Errors
            /// None, on Windows.
            pub fn from_std(pipe: std::process::$name) -> io::Result<Self> {
                let file = File::from(OwnedHandle::from(pipe));
                Ok(Self {
                    io: Buffered::of_stream(Arc::new(file)),
                })
            }

            /// Gives the handle back, or another one of the same pipe if something is still being read or written.
            ///
            /// # Errors
            /// If there are no handles left.
            pub fn into_owned_handle(self) -> io::Result<OwnedHandle> {
                self.io.into_file().map(OwnedHandle::from)
            }
        }

        /// For another process, as its standard input, say.
        impl TryFrom<$name> for Stdio {
            type Error = io::Error;

            fn try_from(pipe: $name) -> io::Result<Stdio> {
                pipe.into_owned_handle().map(Stdio::from)
            }
        }

        impl AsHandle for $name {
            fn as_handle(&self) -> BorrowedHandle<'_> {
                self.io.as_handle()
            }
        }

        impl AsRawHandle for $name {
            fn as_raw_handle(&self) -> RawHandle {
                self.as_handle().as_raw_handle()
            }
        }
    };
}

pipe! {
    /// The standard input of a child: to be written to. The child reads to the end when this is dropped and what was written is out.
    ChildStdin
}

pipe! {
    /// The standard output of a child: to be read from.
    ChildStdout
}

pipe! {
    /// The standard error of a child: to be read from.
    ChildStderr
}

writable_stream!([] ChildStdin, this => this.io);
readable_stream!([] ChildStdout, this => this.io);
readable_stream!([] ChildStderr, this => this.io);
