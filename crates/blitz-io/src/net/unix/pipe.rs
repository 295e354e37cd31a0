//! Pipes: between processes, with a name in the file system or without.

use crate::driver::Registered;
use mio::Interest as MioInterest;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::task::{Context, Poll};

/// Makes a pipe: what is written to the one comes out of the other.
///
/// # Errors
/// If the system has none left.
///
/// # Panics
/// If the thread is in no runtime.
///
/// ```
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
/// use blitz_io::net::unix::pipe;
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (mut sender, mut receiver) = pipe::pipe()?;
/// sender.write_all(b"hello").await?;
/// drop(sender);
/// let mut text = String::new();
/// receiver.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[track_caller]
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let (sender, receiver) = mio::unix::pipe::new()?;
    Ok((Sender::from_mio(sender)?, Receiver::from_mio(receiver)?))
}

/// How a pipe with a name in the file system (a FIFO) is opened.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let folder = std::env::temp_dir().join(format!("blitz-io-pipe--pen-ptions-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
/// use blitz_io::net::unix::pipe::OpenOptions;
///
/// # let path = folder.join("fifo");
/// # let _ = std::process::Command::new("mkfifo").arg(&path).status()?;
/// // `path` is a FIFO, as `mkfifo` makes them.
/// let mut receiver = OpenOptions::new().open_receiver(&path)?;
/// let mut sender = OpenOptions::new().open_sender(&path)?;
/// sender.write_all(b"hello").await?;
/// drop(sender);
/// let mut text = String::new();
/// receiver.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    read_write: bool,
    unchecked: bool,
}

impl OpenOptions {
    /// As usual: for one way, and only if it is a pipe.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Opens both ways, although only one is used. So a receiver does not see an end when the last sender is gone, and a sender can be opened
    /// before there is a receiver.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-pipe-read-write-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::unix::pipe::OpenOptions;
    ///
    /// # let path = folder.join("fifo");
    /// # let _ = std::process::Command::new("mkfifo").arg(&path).status()?;
    /// assert!(OpenOptions::new().open_sender(&path).is_err()); // nobody receives
    /// # #[cfg(target_os = "linux")]
    /// OpenOptions::new().read_write(true).open_sender(&path)?;
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn read_write(&mut self, value: bool) -> &mut Self {
        self.read_write = value;
        self
    }

    /// Does not look whether it is a pipe. What happens with something else is up to the system.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-pipe-unchecked-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::unix::pipe::OpenOptions;
    ///
    /// # let path = folder.join("fifo");
    /// # let _ = std::process::Command::new("mkfifo").arg(&path).status()?;
    /// let receiver = OpenOptions::new().unchecked(true).open_receiver(&path)?; // a system call less
    /// # drop(receiver);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn unchecked(&mut self, value: bool) -> &mut Self {
        self.unchecked = value;
        self
    }

    /// Opens the end that is read from.
    ///
    /// # Errors
    /// Those of opening a file, and [`InvalidInput`](io::ErrorKind::InvalidInput) if it is not a pipe.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub fn open_receiver<P: AsRef<Path>>(&self, path: P) -> io::Result<Receiver> {
        let mut options = File::options();
        Receiver::from_file_unchecked(self.open(path.as_ref(), options.read(true))?)
    }

    /// Opens the end that is written to.
    ///
    /// # Errors
    /// Those of opening a file, `ENXIO` among them if there is no receiver, and [`InvalidInput`](io::ErrorKind::InvalidInput) if it is not
    /// a pipe.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-pipe-open-sender-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::unix::pipe::OpenOptions;
    /// use std::io::ErrorKind;
    ///
    /// std::fs::write(folder.join("file"), "hello")?;
    /// let error = OpenOptions::new().open_sender(folder.join("file")).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidInput); // no pipe
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[track_caller]
    pub fn open_sender<P: AsRef<Path>>(&self, path: P) -> io::Result<Sender> {
        let mut options = File::options();
        Sender::from_file_unchecked(self.open(path.as_ref(), options.write(true))?)
    }

    fn open(&self, path: &Path, options: &mut std::fs::OpenOptions) -> io::Result<File> {
        options.custom_flags(libc::O_NONBLOCK);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if self.read_write {
            options.read(true).write(true);
        }
        let file = options.open(path)?;
        if !self.unchecked {
            expect_pipe(&file)?;
        }
        Ok(file)
    }
}

fn expect_pipe(file: &File) -> io::Result<()> {
    if file.metadata()?.file_type().is_fifo() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "this is not a pipe",
    ))
}

/// The flags of an open file.
fn flags(file: &File) -> io::Result<libc::c_int> {
    // SAFETY: the descriptor is open.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) } {
        -1 => Err(io::Error::last_os_error()),
        flags => Ok(flags),
    }
}

fn set_nonblocking(file: &File, nonblocking: bool) -> io::Result<()> {
    let before = flags(file)?;
    let after = if nonblocking {
        before | libc::O_NONBLOCK
    } else {
        before & !libc::O_NONBLOCK
    };
    // SAFETY: the descriptor is open.
    if after != before && unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, after) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Takes a file for one end of a pipe, if that is what it is.
fn checked(file: File, access: libc::c_int, problem: &'static str) -> io::Result<File> {
    expect_pipe(&file)?;
    let mode = flags(&file)? & libc::O_ACCMODE;
    if mode != access && mode != libc::O_RDWR {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    set_nonblocking(&file, true)?;
    Ok(file)
}

/// Defines an end of a pipe: its type, and what can be done with it apart from reading or writing.
macro_rules! end {
    ($(#[$doc:meta])* $name:ident, $interest:ident, $access:expr, $problem:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            io: Registered<mio::unix::pipe::$name>,
        }

        impl $name {
            #[track_caller]
            fn from_mio(end: mio::unix::pipe::$name) -> io::Result<Self> {
                let io = Registered::with_interest(end, MioInterest::$interest)?;
                Ok(Self { io })
            }

            /// Takes over a file, and makes it non-blocking.
            ///
            /// # Errors
            /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it is not a pipe, or open for the other way only; if it cannot be registered.
            ///
            /// # Panics
            /// If the thread is in no runtime.
            #[track_caller]
            pub fn from_file(file: File) -> io::Result<$name> {
                Self::from_file_unchecked(checked(file, $access, $problem)?)
            }

            /// As [`from_file`](Self::from_file).
            ///
            /// # Errors
            /// As [`from_file`](Self::from_file).
            ///
            /// # Panics
            /// If the thread is in no runtime.
            #[track_caller]
            pub fn from_owned_fd(owned_fd: OwnedFd) -> io::Result<$name> {
                Self::from_file(owned_fd.into())
            }

            /// Takes over a file without a look at it. It should be a pipe that does not block.
            ///
            /// # Errors
            /// If it cannot be registered.
            ///
            /// # Panics
            /// If the thread is in no runtime.
            #[track_caller]
            pub fn from_file_unchecked(file: File) -> io::Result<$name> {
                Self::from_owned_fd_unchecked(file.into())
            }

            /// As [`from_file_unchecked`](Self::from_file_unchecked).
            ///
            /// # Errors
            /// If it cannot be registered.
            ///
            /// # Panics
            /// If the thread is in no runtime.
            #[track_caller]
            pub fn from_owned_fd_unchecked(owned_fd: OwnedFd) -> io::Result<$name> {
                Self::from_mio(owned_fd.into())
            }

            /// Waits until it is worth trying what `interest` says, and returns what is known of that. Cancel-safe.
            ///
            /// # Errors
            /// Only if the runtime has been shut down.
            pub async fn ready(&self, interest: crate::io::Interest) -> io::Result<crate::io::Ready> {
                self.io.ready(interest).await
            }

            /// Does something of one's own with the pipe if that is known to be worth trying. `f` has to return
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if, and only if, the pipe did: the next wait then waits for an event.
            ///
            /// # Errors
            /// Those of `f`; `WouldBlock` if it was not tried.
            pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
                self.io
                    .try_io(crate::io::Interest::$interest, |end| end.try_io(f))
            }

            /// Gives the descriptor back, out of the runtime, as one that blocks.
            ///
            /// # Errors
            /// If the kernel does not let go of it.
            pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
                let file = File::from(self.into_nonblocking_fd()?);
                set_nonblocking(&file, false)?;
                Ok(file.into())
            }

            /// Gives the descriptor back, out of the runtime.
            ///
            /// # Errors
            /// If the kernel does not let go of it.
            pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
                self.io.into_inner().map(OwnedFd::from)
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

end! {
    /// The end of a pipe that is written to. The other end is at its end when all of these are gone.
    ///
    /// # More ways
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::Interest;
    /// use blitz_io::net::unix::pipe::{Sender, pipe};
    /// use std::fs::File;
    /// use std::future::poll_fn;
    /// use std::io::{IoSlice, Write};
    ///
    /// let (sender, _receiver) = pipe()?;
    /// // Without waiting.
    /// sender.writable().await?;
    /// assert_eq!(sender.try_write(b"hello, ")?, 7);
    /// assert_eq!(sender.try_write_vectored(&[IoSlice::new(b"wor"), IoSlice::new(b"ld")])?, 5);
    /// poll_fn(|cx| sender.poll_write_ready(cx)).await?;
    /// assert!(sender.ready(Interest::WRITABLE).await?.is_writable());
    /// // With system calls of one's own.
    /// sender.try_io(|| File::from(std::os::fd::AsFd::as_fd(&sender).try_clone_to_owned()?).write(b"!"))?;
    ///
    /// // Out of the runtime, and in again.
    /// let descriptor = sender.into_nonblocking_fd()?;
    /// let sender = Sender::from_owned_fd(descriptor)?;
    /// let sender = Sender::from_owned_fd_unchecked(sender.into_nonblocking_fd()?)?;
    /// let sender = Sender::from_file(File::from(sender.into_blocking_fd()?))?;
    /// let sender = Sender::from_file_unchecked(File::from(sender.into_nonblocking_fd()?))?;
    /// # drop(sender);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    Sender, WRITABLE, libc::O_WRONLY, "this file is not open for writing"
}

end! {
    /// The end of a pipe that is read from.
    ///
    /// # More ways
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{AsyncWriteExt, Interest};
    /// use blitz_io::net::unix::pipe::{Receiver, pipe};
    /// use std::fs::File;
    /// use std::future::poll_fn;
    /// use std::io::{ErrorKind, IoSliceMut, Read};
    ///
    /// let (mut sender, receiver) = pipe()?;
    /// sender.write_all(b"hello").await?;
    /// poll_fn(|cx| receiver.poll_read_ready(cx)).await?;
    /// assert!(receiver.ready(Interest::READABLE).await?.is_readable());
    /// // Without waiting.
    /// let mut word = [0; 5];
    /// let length = loop {
    ///     receiver.readable().await?;
    ///     match receiver.try_read(&mut word) {
    ///         Err(error) if error.kind() == ErrorKind::WouldBlock => {} // it was not: wait again
    ///         result => break result?,
    ///     }
    /// };
    /// assert_eq!(&word[..length], b"hello");
    /// assert!(receiver.try_read_buf(&mut Vec::new()).is_err()); // nothing more has come
    /// assert!(receiver.try_read_vectored(&mut [IoSliceMut::new(&mut word)]).is_err());
    /// // With system calls of one's own.
    /// let nothing = receiver.try_io(|| File::from(std::os::fd::AsFd::as_fd(&receiver).try_clone_to_owned()?).read(&mut word));
    /// assert_eq!(nothing.unwrap_err().kind(), ErrorKind::WouldBlock);
    ///
    /// // Out of the runtime, and in again.
    /// let descriptor = receiver.into_nonblocking_fd()?;
    /// let receiver = Receiver::from_owned_fd(descriptor)?;
    /// let receiver = Receiver::from_owned_fd_unchecked(receiver.into_nonblocking_fd()?)?;
    /// let receiver = Receiver::from_file(File::from(receiver.into_blocking_fd()?))?;
    /// let receiver = Receiver::from_file_unchecked(File::from(receiver.into_nonblocking_fd()?))?;
    /// # drop(receiver);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    Receiver, READABLE, libc::O_RDONLY, "this file is not open for reading"
}

impl Sender {
    /// Waits until it is worth writing. It may turn out that it was not: try, and wait again. Cancel-safe.
    ///
    /// # Errors
    /// Only if the runtime has been shut down.
    pub async fn writable(&self) -> io::Result<()> {
        self.ready(crate::io::Interest::WRITABLE).await.map(drop)
    }

    /// As [`writable`](Self::writable). Of several tasks only the last one that called this, or writes, is woken.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_write_ready(cx)
    }
}

impl Receiver {
    /// Waits until it is worth reading. It may turn out that it was not: try, and wait again. Cancel-safe.
    ///
    /// # Errors
    /// Only if the runtime has been shut down.
    pub async fn readable(&self) -> io::Result<()> {
        self.ready(crate::io::Interest::READABLE).await.map(drop)
    }

    /// As [`readable`](Self::readable). Of several tasks only the last one that called this, or reads, is woken.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_read_ready(cx)
    }
}

try_read_methods!([] Receiver, this => this.io);
try_write_methods!([] Sender, this => this.io);
readable_stream!([] Receiver, this => this.io);
writable_stream!([] Sender, this => this.io);
