//! Named pipes of Windows, with the names and the behaviour of tokio's.
//!
//! A server makes an *instance* of a pipe and waits for a client to [connect](NamedPipeServer::connect). The next client needs another instance. Make
//! it before you hand the first one to a task: in between, clients find no instance.
//!
//! ```
//! # let runtime = blitz_io::Runtime::new().unwrap();
//! # runtime.block_on(async {
//! use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
//! use blitz_io::net::windows::named_pipe::{ClientOptions, ServerOptions};
//!
//! let name = r"\\.\pipe\blitz-io-example";
//! let mut server = ServerOptions::new().first_pipe_instance(true).create(name)?;
//! let task = blitz_io::spawn(async move {
//!     server.connect().await?;
//!     let mut bytes = [0; 4];
//!     server.read_exact(&mut bytes).await?;
//!     server.write_all(&bytes).await?;
//!     std::io::Result::Ok(())
//! });
//! let mut client = ClientOptions::new().open(name)?;
//! client.write_all(b"ping").await?;
//! let mut answer = [0; 4];
//! client.read_exact(&mut answer).await?;
//! assert_eq!(&answer, b"ping");
//! task.await.unwrap()?;
//! # std::io::Result::Ok(()) }).unwrap();
//! ```

mod options;

pub use self::options::{ClientOptions, ServerOptions};

use crate::driver::Registered;
use crate::io::Interest;
use crate::net::stream::{RawIncoming, RawOutgoing};
use mio::windows::NamedPipe;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, RawHandle};
use windows_sys::Win32::System::Pipes::{GetNamedPipeInfo, PIPE_SERVER_END, PIPE_TYPE_MESSAGE};

/// How bytes are put together on a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PipeMode {
    /// One after the other: a stream.
    Byte,
    /// As messages: each write is one, and a read ends with it.
    Message,
}

/// A side of a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PipeEnd {
    /// The one that has opened it.
    Client,
    /// The one that has made it.
    Server,
}

/// What the system knows of a pipe.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PipeInfo {
    /// How bytes are put together.
    pub mode: PipeMode,
    /// Which side this is.
    pub end: PipeEnd,
    /// How many instances there may be.
    pub max_instances: u32,
    /// The size of the buffer for what goes out.
    pub out_buffer_size: u32,
    /// The size of the buffer for what comes in.
    pub in_buffer_size: u32,
}

/// Defines an end of a pipe.
macro_rules! end {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            io: Registered<NamedPipe>,
        }

        impl $name {
            /// Takes over a handle.
            ///
            /// # Safety
            /// It is a named pipe that was opened for overlapped operations, and nobody else's.
            ///
            /// # Errors
            /// If it cannot be registered; the handle is closed then.
            ///
            /// # Panics
            /// If the thread is in no runtime.
            #[track_caller]
            pub unsafe fn from_raw_handle(handle: RawHandle) -> io::Result<Self> {
                // SAFETY: the caller promises that it is one, and ours.
                let pipe = unsafe { NamedPipe::from_raw_handle(handle) };
                Ok(Self {
                    io: Registered::new(pipe)?,
                })
            }

            /// What the system knows of the pipe.
            ///
            /// # Errors
            /// If the system does not say.
            pub fn info(&self) -> io::Result<PipeInfo> {
                info(&self.as_handle())
            }
        }

        impl AsHandle for $name {
            fn as_handle(&self) -> BorrowedHandle<'_> {
                // SAFETY: it is open for as long as the pipe is there.
                unsafe { BorrowedHandle::borrow_raw(self.io.as_raw_handle()) }
            }
        }

        impl AsRawHandle for $name {
            fn as_raw_handle(&self) -> RawHandle {
                self.io.as_raw_handle()
            }
        }

        readiness_methods!($name, poll_read_ready, poll_write_ready, try(_pipe, f): f());
        try_read_methods!([] $name, this => this.io);
        try_write_methods!([] $name, this => this.io);
        readable_stream!([] $name, this => this.io);
        writable_stream!([] $name, this => this.io);
    };
}

end! {
    /// An instance of a named pipe, which [`ServerOptions::create`] makes.
    ///
    /// Writing is over when the system has the bytes, not when the client has read them: a server that disconnects or goes away takes them along.
    NamedPipeServer
}

end! {
    /// The client's end of a named pipe, which [`ClientOptions::open`] makes.
    NamedPipeClient
}

impl NamedPipeServer {
    /// Waits until a client has opened the pipe; there at once if one already has. May be cancelled.
    ///
    /// # Errors
    /// Those of the system, and if the runtime has been shut down.
    pub async fn connect(&self) -> io::Result<()> {
        match self.io.connect() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let connect = || self.io.connect();
                self.io.async_io(Interest::WRITABLE, connect).await
            }
            result => result,
        }
    }

    /// Sends the client away, if there is one. What it has not read is lost. Another one may [connect](Self::connect) afterwards. The system has been reading
    /// ahead: the error with which that ends is told by the next read, although there may be another client by then.
    ///
    /// # Errors
    /// Those of the system.
    pub fn disconnect(&self) -> io::Result<()> {
        self.io.disconnect()
    }
}

impl RawIncoming for NamedPipe {
    const READS_TO_THE_END: bool = false;

    fn receive(&self, buffer: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        /// It hands out what it has in a buffer of its own, which is no larger.
        const MOST: usize = 4096;
        let room = buffer.len().min(MOST);
        let room = &mut buffer[..room];
        room.fill(MaybeUninit::new(0));
        // SAFETY: just initialised.
        let room = unsafe { &mut *(std::ptr::from_mut(room) as *mut [u8]) };
        let mut pipe = self;
        pipe.read(room)
    }
}

impl RawOutgoing for NamedPipe {
    /// Only closing it does that.
    fn end(&self) -> io::Result<()> {
        Ok(())
    }
}

fn info(pipe: &BorrowedHandle<'_>) -> io::Result<PipeInfo> {
    let (mut flags, mut max_instances) = (0, 0);
    let (mut out_buffer_size, mut in_buffer_size) = (0, 0);
    // SAFETY: the handle is open, and there is a place for each number.
    let told = unsafe {
        GetNamedPipeInfo(
            pipe.as_raw_handle(),
            &mut flags,
            &mut out_buffer_size,
            &mut in_buffer_size,
            &mut max_instances,
        )
    };
    if told == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(PipeInfo {
        mode: match flags & PIPE_TYPE_MESSAGE {
            0 => PipeMode::Byte,
            _ => PipeMode::Message,
        },
        end: match flags & PIPE_SERVER_END {
            0 => PipeEnd::Client,
            _ => PipeEnd::Server,
        },
        max_instances,
        out_buffer_size,
        in_buffer_size,
    })
}
