//! The standard streams of this process, on Windows.
//!
//! They are those of the standard library, which can write to a console (a console takes only text, not bytes). They are read and written by a thread that may
//! block (`fs::buffered`).

use crate::fs::{Attempt, Buffered, Medium};
use crate::net::macros::{readable_stream, writable_stream};
use std::io::{self, Read, SeekFrom, Write};
use std::mem::MaybeUninit;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, RawHandle};
use std::sync::Arc;

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Defines a standard stream: its type, the function that makes it, and what it shares with the others.
macro_rules! stream {
    (
        $(#[$doc:meta])* $name:ident, $(#[$function_doc:meta])* $function:ident,
        read($read_stream:ident, $read_bytes:ident): $read:expr,
        write($write_stream:ident, $write_bytes:ident): $write:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            io: Buffered<io::$name>,
        }

        $(#[$function_doc])*
        pub fn $function() -> $name {
            $name {
                io: Buffered::of_stream(Arc::new(io::$function())),
            }
        }

        impl Medium for io::$name {
            fn read(&self, $read_bytes: &mut [u8]) -> io::Result<usize> {
                let $read_stream = self;
                $read
            }

            fn write_all(&self, $write_bytes: &[u8]) -> io::Result<()> {
                let $write_stream = self;
                $write
            }

            fn seek(&self, _: SeekFrom) -> io::Result<u64> {
                unsupported()
            }

            fn set_len(&self, _: u64) -> io::Result<()> {
                unsupported()
            }

            fn read_at_once(&self, _: &mut [MaybeUninit<u8>]) -> Attempt {
                Attempt::Never
            }
        }

        impl AsHandle for $name {
            fn as_handle(&self) -> BorrowedHandle<'_> {
                self.io.medium().as_handle()
            }
        }

        impl AsRawHandle for $name {
            fn as_raw_handle(&self) -> RawHandle {
                self.as_handle().as_raw_handle()
            }
        }
    };
}

stream! {
    /// The standard input; see [`stdin`].
    Stdin,
    /// The standard input of this process.
    ///
    /// Bytes that one handle has read, also for a read that was cancelled, are not there for another. Have one handle, and wrap it in a
    /// [`BufReader`](crate::io::BufReader) to read lines.
    ///
    /// **A read that waits for somebody to type keeps a thread.** The end of the runtime waits for that thread, unless it is told for how long:
    /// [`Runtime::shutdown_timeout`](crate::Runtime::shutdown_timeout), [`Runtime::shutdown_background`](crate::Runtime::shutdown_background).
    ///
    /// # Cost
    /// A trip to a [thread that may block](crate::spawn_blocking) for each read that finds no bytes.
    ///
    /// # Panics
    /// A read does, outside of a runtime.
    stdin,
    read(stream, bytes): Read::read(&mut &*stream, bytes),
    write(_stream, _bytes): unsupported()
}

stream! {
    /// The standard output; see [`stdout`].
    Stdout,
    /// The standard output of this process.
    ///
    /// A write copies the bytes and leaves them to a thread; **flush** to wait until they are out. They are written even if the
    /// handle is dropped or the runtime ends. The bytes of one handle come out in order. A console takes text only: bytes that are not UTF-8 are an
    /// error there.
    ///
    /// # Cost
    /// No trip to a thread for a write while an earlier one is under way: many small writes become a few large ones.
    ///
    /// # Panics
    /// A write does, outside of a runtime.
    stdout,
    read(_stream, _bytes): unsupported(),
    write(stream, bytes): {
        let mut stream = stream;
        // At once: it has a buffer of its own, of which nobody here knows.
        Write::write_all(&mut stream, bytes).and_then(|()| stream.flush())
    }
}

stream! {
    /// The standard error; see [`stderr`].
    Stderr,
    /// The standard error of this process. As [`stdout`]: flush to see what was written.
    stderr,
    read(_stream, _bytes): unsupported(),
    write(stream, bytes): Write::write_all(&mut &*stream, bytes)
}

readable_stream!([] Stdin, this => this.io);
writable_stream!([] Stdout, this => this.io);
writable_stream!([] Stderr, this => this.io);
