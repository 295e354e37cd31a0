//! Reading and writing.
//!
//! [`AsyncRead`], [`AsyncWrite`], [`AsyncBufRead`] and [`AsyncSeek`] have the shape of tokio's. Types that implement them get
//! the methods of [`AsyncReadExt`], [`AsyncWriteExt`], [`AsyncBufReadExt`] and [`AsyncSeekExt`]. Nothing here needs our runtime.
//!
//! With the features `futures-io`, `hyper` and `tokio-io`, our types also implement the traits of `futures-io`, of hyper and of the real tokio.
//!
//! ```
//! use blitz_io::io::{self, AsyncBufReadExt, AsyncWriteExt, BufReader};
//!
//! # let runtime = blitz_io::Runtime::new().unwrap();
//! # runtime.block_on(async {
//! let (mut client, server) = io::duplex(64);
//! client.write_all(b"first\nsecond\n").await?;
//! client.shutdown().await?;
//! let mut lines = BufReader::new(server).lines();
//! while let Some(line) = lines.next_line().await? {
//!     println!("{line}");
//! }
//! # std::io::Result::Ok(())
//! # }).unwrap();
//! ```
//!
//! # How much a peer can make us store
//!
//! Buffers here have a fixed size, and [`copy`] stores no more than one of them. What grows is what the caller asks to hold a whole of:
//! [`read_to_end`](AsyncReadExt::read_to_end), [`read_line`](AsyncBufReadExt::read_line) and
//! [`read_until`](AsyncBufReadExt::read_until) end when the peer says so. Put a limit on what a stranger may send with
//! [`take`](AsyncReadExt::take), and on lines with [`Lines::max_length`].

#[macro_use]
mod delegate;
mod async_buf_read;
#[cfg(unix)]
mod async_fd;
mod async_read;
mod async_seek;
mod async_write;
mod buf_read_ext;
mod buf_reader;
mod buf_stream;
mod buf_writer;
mod chain;
mod copy;
mod copy_bidirectional;
mod duplex;
#[cfg(feature = "futures-io")]
mod futures_traits;
mod join;
mod lines;
mod operations;
mod read_buf;
mod read_ext;
mod seek_ext;
mod seek_state;
mod simplex;
mod split;
#[cfg(unix)]
mod stdio;
#[cfg(windows)]
#[path = "stdio_windows.rs"]
mod stdio;
mod take;
mod trivial;
mod write_ext;

pub use self::async_buf_read::AsyncBufRead;
pub use self::async_read::AsyncRead;
pub use self::async_seek::AsyncSeek;
pub use self::async_write::AsyncWrite;
pub use self::buf_read_ext::AsyncBufReadExt;
pub use self::buf_reader::BufReader;
pub use self::buf_stream::BufStream;
pub use self::buf_writer::BufWriter;
pub use self::chain::Chain;
pub use self::copy::{copy, copy_buf};
pub use self::copy_bidirectional::{copy_bidirectional, copy_bidirectional_with_sizes};
pub use self::duplex::{DuplexStream, duplex};
#[cfg(feature = "futures-io")]
pub(crate) use self::futures_traits::poll_read_bytes;
pub use self::join::{Join, join};
pub use self::lines::{Lines, Split};
pub use self::read_buf::ReadBuf;
pub use self::read_ext::AsyncReadExt;
pub use self::seek_ext::AsyncSeekExt;
pub use self::simplex::{SimplexStream, simplex};
pub use self::split::{ReadHalf, WriteHalf, split};
#[cfg(any(unix, windows))]
pub use self::stdio::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
pub use self::take::Take;
pub use self::trivial::{Empty, Repeat, Sink, empty, repeat, sink};
pub use self::write_ext::AsyncWriteExt;
#[cfg(any(unix, windows))]
pub use crate::driver::{Interest, Ready};
pub use std::io::{Error, ErrorKind, Result, SeekFrom};

/// Descriptors that are neither sockets nor files.
#[cfg(unix)]
pub mod unix {
    #[allow(deprecated)]
    pub use super::async_fd::AsyncFdTryNewError;
    pub use super::async_fd::{
        AsyncFd, AsyncFdReadyGuard, AsyncFdReadyMutGuard, AsyncFdRegisterError, TryIoError,
    };
}

/// The size of a buffer if nobody says another.
const BUFFER: usize = 8 * 1024;
