//! Open files.

use super::buffered::Buffered;
use super::job::Call;
use super::{FileTimes, OpenOptions, on_a_thread};
use crate::net::macros::{readable_stream, writable_stream};
use std::fmt;
use std::fs::{Metadata, Permissions};
use std::future::poll_fn;
use std::io::{self, SeekFrom};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::SystemTime;

/// An open file.
///
/// It is read and written with the methods of [`AsyncReadExt`](crate::io::AsyncReadExt), [`AsyncWriteExt`](crate::io::AsyncWriteExt) and
/// [`AsyncSeekExt`](crate::io::AsyncSeekExt).
///
/// **A write is finished when it is flushed.** [`write`](crate::io::AsyncWriteExt::write) copies the bytes and leaves the rest to a thread; it does not wait, unless
/// that thread is behind by more than a [buffer](File::set_max_buf_size). [`flush`](crate::io::AsyncWriteExt::flush) waits until the system has everything, and
/// [`sync_all`](File::sync_all) until the disk does. A write that fails is reported by the next `write`, `flush`, `shutdown` or `sync`; what was written
/// after it and before the report is not written. Bytes that have been accepted are written even if the file is dropped, or the
/// runtime ends; only an error of theirs is then lost.
///
/// **Reading** may be cancelled: bytes that arrive too late for one read are there for the next. A write, or a seek relative to the position,
/// after such a read takes place where the reader is.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// use blitz_io::fs::File;
/// use blitz_io::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
/// use std::io::SeekFrom;
///
/// let path = std::env::temp_dir().join(format!("blitz-io-file-{}", std::process::id()));
/// let mut file = File::options().create(true).read(true).write(true).open(&path).await?;
/// file.write_all(b"hello, world").await?;
/// file.flush().await?;
/// file.seek(SeekFrom::Start(7)).await?;
/// let mut text = String::new();
/// file.read_to_string(&mut text).await?;
/// assert_eq!(text, "world");
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub struct File {
    io: Buffered,
    /// What `start_seek` has asked for, and the last position that is known.
    seeking: (Option<SeekFrom>, u64),
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// Those of [`std::fs::File::open`].
    ///
    /// # Panics
    /// Outside of a runtime.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-open-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::{fs::File, io::AsyncReadExt};
    ///
    /// # std::fs::write(folder.join("greeting"), "hello")?;
    /// let mut file = File::open(folder.join("greeting")).await?;
    /// let mut text = String::new();
    /// file.read_to_string(&mut text).await?;
    /// assert_eq!(text, "hello");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().read(true).open(path).await
    }

    /// Opens a file for writing; makes it if it is missing, empties it if it is not. If the future is dropped half-way, it is done or not done.
    ///
    /// # Errors
    /// Those of [`std::fs::File::create`].
    ///
    /// # Panics
    /// Outside of a runtime.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-create-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::{fs::File, io::AsyncWriteExt};
    ///
    /// let mut file = File::create(folder.join("new")).await?;
    /// file.write_all(b"hello").await?;
    /// file.flush().await?; // waits until it is written: dropping the file does not
    /// assert_eq!(std::fs::read(folder.join("new"))?, b"hello");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        options.open(path).await
    }

    /// Makes a file, for reading and writing. If the future is dropped half-way, it is done or not done.
    ///
    /// # Errors
    /// Those of [`std::fs::File::create_new`]: also if it is there already.
    ///
    /// # Panics
    /// Outside of a runtime.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-create-new-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::File;
    /// use std::io::ErrorKind;
    ///
    /// File::create_new(folder.join("once")).await?;
    /// let again = File::create_new(folder.join("once")).await;
    /// assert_eq!(again.unwrap_err().kind(), ErrorKind::AlreadyExists);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn create_new<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        options.open(path).await
    }

    /// To open a file in other ways.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-options-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::{fs::File, io::AsyncWriteExt};
    ///
    /// let mut log = File::options().append(true).create(true).open(folder.join("log")).await?;
    /// log.write_all(b"started\n").await?;
    /// log.flush().await?;
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Takes over a file of the standard library. Needs no runtime.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-from-std-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::{fs::File, io::AsyncWriteExt};
    ///
    /// let mut file = File::from_std(std::fs::File::create(folder.join("new"))?);
    /// file.write_all(b"hello").await?;
    /// file.flush().await?;
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn from_std(file: std::fs::File) -> Self {
        File {
            io: Buffered::new(file),
            seeking: (None, 0),
        }
    }

    /// Gives the file back, after what is under way. An error of a write that nobody has been told of is lost: flush before.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-into-std-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::{fs::File, io::AsyncWriteExt};
    ///
    /// let mut file = File::create(folder.join("new")).await?;
    /// file.write_all(b"hello").await?;
    /// let file: std::fs::File = file.into_std().await; // after the write
    /// assert_eq!(file.metadata()?.len(), 5);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn into_std(self) -> std::fs::File {
        self.settled().await;
        let mut file = self.io.file;
        loop {
            file = match Arc::try_unwrap(file) {
                Ok(file) => return file,
                Err(shared) => shared,
            };
            // A call to `metadata`, say, that was cancelled and is still on its way. If there is no descriptor left, it will be through some time.
            match file.try_clone() {
                Ok(clone) => return clone,
                Err(_) => crate::time::sleep(std::time::Duration::from_millis(1)).await,
            }
        }
    }

    /// Gives the file back, without waiting.
    ///
    /// # Errors
    /// Gives this one back if something is under way, or a cancelled read has left bytes for the next one.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-try-into-std-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::File;
    ///
    /// let file = File::create(folder.join("new")).await?;
    /// let file: std::fs::File = file.try_into_std().unwrap(); // nothing is under way
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn try_into_std(mut self) -> Result<std::fs::File, Self> {
        if !self.io.is_settled() {
            return Err(self);
        }
        match Arc::try_unwrap(self.io.file) {
            Ok(file) => Ok(file),
            Err(file) => {
                self.io.file = file;
                Err(self)
            }
        }
    }

    /// Writes everything, and waits until the disk has it. If the future is dropped half-way, it is done or not done.
    ///
    /// # Errors
    /// That of an earlier write, or of [`std::fs::File::sync_all`].
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-sync-all-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::{fs::File, io::AsyncWriteExt};
    ///
    /// let mut file = File::create(folder.join("accounts")).await?;
    /// file.write_all(b"100").await?;
    /// file.sync_all().await?; // still there after a power failure
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn sync_all(&self) -> io::Result<()> {
        self.written().await?;
        self.with_file(std::fs::File::sync_all).await
    }

    /// As [`sync_all`](Self::sync_all), without what is known about the file but its length. If the future is dropped half-way, it is done or not done.
    ///
    /// # Errors
    /// That of an earlier write, or of [`std::fs::File::sync_data`].
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-sync-data-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::{fs::File, io::AsyncWriteExt};
    ///
    /// let mut journal = File::create(folder.join("journal")).await?;
    /// for line in ["one\n", "two\n"] {
    ///     journal.write_all(line.as_bytes()).await?;
    ///     journal.sync_data().await?;
    /// }
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn sync_data(&self) -> io::Result<()> {
        self.written().await?;
        self.with_file(std::fs::File::sync_data).await
    }

    /// Cuts the file off, or extends it by zeros, after what has been written so far. If the future is dropped half-way, it is done or not done.
    ///
    /// # Errors
    /// Those of [`std::fs::File::set_len`].
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-set-len-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let file = blitz_io::fs::File::create(folder.join("new")).await?;
    /// file.set_len(1024).await?;
    /// assert_eq!(std::fs::read(folder.join("new"))?, [0; 1024]);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn set_len(&self, length: u64) -> io::Result<()> {
        let result = poll_fn(|cx| self.io.poll_call(cx, Call::SetLen(length))).await;
        result.map(drop)
    }

    /// What the system knows about the file, after what has been written so far.
    ///
    /// # Errors
    /// Those of [`std::fs::File::metadata`].
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-metadata-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("greeting"), "hello")?;
    /// let file = blitz_io::fs::File::open(folder.join("greeting")).await?;
    /// assert_eq!(file.metadata().await?.len(), 5);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn metadata(&self) -> io::Result<Metadata> {
        poll_fn(|cx| self.io.poll_idle(cx)).await;
        self.with_file(std::fs::File::metadata).await
    }

    /// Changes who may do what with the file. If the future is dropped half-way, it is done or not done.
    ///
    /// # Errors
    /// Those of [`std::fs::File::set_permissions`].
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-set-permissions-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let file = blitz_io::fs::File::create(folder.join("new")).await?;
    /// let mut permissions = file.metadata().await?.permissions();
    /// permissions.set_readonly(true);
    /// file.set_permissions(permissions).await?;
    /// assert!(file.metadata().await?.permissions().readonly());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.with_file(move |file| file.set_permissions(permissions))
            .await
    }

    /// Changes when the file was read and written last, as far as `times` says. Call [`flush`](crate::io::AsyncWriteExt::flush) before: a write that a thread has not come
    /// to yet would change it again. If the future is dropped half-way, it is done or not done.
    ///
    /// # Errors
    /// Those of [`std::fs::File::set_times`].
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-set-times-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::{File, FileTimes};
    /// use std::time::{Duration, SystemTime};
    ///
    /// let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    /// let file = File::create(folder.join("old")).await?;
    /// file.set_times(FileTimes::new().set_modified(then)).await?;
    /// assert_eq!(file.metadata().await?.modified()?, then);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        self.with_file(move |file| file.set_times(times.into_std()))
            .await
    }

    /// Changes when the file was written last; see [`set_times`](Self::set_times). If the future is dropped half-way, it is done or not done.
    ///
    /// # Errors
    /// Those of [`std::fs::File::set_modified`].
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-set-modified-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use std::time::{Duration, SystemTime};
    ///
    /// let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    /// let file = blitz_io::fs::File::create(folder.join("old")).await?;
    /// file.set_modified(then).await?;
    /// assert_eq!(file.metadata().await?.modified()?, then);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time)).await
    }

    /// Another one for the same file. They share the position, but not the buffers: flush one before the other is used.
    ///
    /// # Errors
    /// Those of [`std::fs::File::try_clone`].
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-try-clone-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::{fs::File, io::AsyncWriteExt};
    ///
    /// let mut file = File::create(folder.join("new")).await?;
    /// let mut same = file.try_clone().await?;
    /// file.write_all(b"one ").await?;
    /// file.flush().await?;
    /// same.write_all(b"two").await?; // goes on where the other one has got to
    /// same.flush().await?;
    /// assert_eq!(std::fs::read(folder.join("new"))?, b"one two");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn try_clone(&self) -> io::Result<Self> {
        self.settled().await;
        let file = self.with_file(std::fs::File::try_clone).await?;
        let clone = File::from_std(file);
        clone.io.set_limit(self.max_buf_size());
        self.io.position_is_shared();
        clone.io.position_is_shared();
        Ok(clone)
    }

    /// The most that one call to the system reads or writes; what is written while one is under way is kept up to the same limit. 2 MiB
    /// at first.
    ///
    /// # Panics
    /// If it is 0.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-set-max-buf-size-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let mut file = blitz_io::fs::File::create(folder.join("new")).await?;
    /// file.set_max_buf_size(64 << 10); // less memory, more calls
    /// assert_eq!(file.max_buf_size(), 64 << 10);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(max_buf_size > 0, "`max_buf_size` must be greater than 0");
        self.io.set_limit(max_buf_size);
    }

    /// See [`set_max_buf_size`](Self::set_max_buf_size).
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-max-buf-size-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let file = blitz_io::fs::File::create(folder.join("new")).await?;
    /// assert_eq!(file.max_buf_size(), 2 << 20);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn max_buf_size(&self) -> usize {
        self.io.limit()
    }

    async fn settled(&self) {
        poll_fn(|cx| self.io.poll_settled(cx)).await;
    }

    async fn written(&self) -> io::Result<()> {
        poll_fn(|cx| self.io.poll_written(cx)).await
    }

    async fn with_file<T: Send + 'static>(
        &self,
        work: impl FnOnce(&std::fs::File) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let file = Arc::clone(&self.io.file);
        on_a_thread(move || work(&file)).await
    }
}

readable_stream!([] File, this => this.io);
writable_stream!([] File, this => this.io);

/// Implements a trait of seeking in two steps.
macro_rules! seek {
    ($($trait:ident)::+) => {
        impl $($trait)::+ for File {
            fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
                self.seeking.0 = Some(to);
                Ok(())
            }

            fn poll_complete(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
            ) -> Poll<io::Result<u64>> {
                match self.seeking.0 {
                    Some(to) => {
                        let position = std::task::ready!(self.io.poll_call(cx, Call::Seek(to)));
                        self.seeking.0 = None;
                        self.seeking.1 = position?;
                    }
                    None => std::task::ready!(self.io.poll_idle(cx)),
                }
                Poll::Ready(Ok(self.seeking.1))
            }
        }
    };
}

seek!(crate::io::AsyncSeek);
#[cfg(feature = "tokio-io")]
seek!(tokio::io::AsyncSeek);

#[cfg(feature = "futures-io")]
impl futures_io::AsyncSeek for File {
    fn poll_seek(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        self.io.poll_call(cx, Call::Seek(to))
    }
}

/// As tokio's prints itself.
impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("tokio::fs::File")
            .field("std", &self.io.file)
            .finish()
    }
}

impl From<std::fs::File> for File {
    fn from(file: std::fs::File) -> Self {
        Self::from_std(file)
    }
}

#[cfg(unix)]
mod descriptor {
    use super::File;
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

    impl AsFd for File {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.io.file.as_fd()
        }
    }

    impl AsRawFd for File {
        fn as_raw_fd(&self) -> RawFd {
            self.io.file.as_raw_fd()
        }
    }

    impl From<OwnedFd> for File {
        fn from(descriptor: OwnedFd) -> Self {
            Self::from_std(descriptor.into())
        }
    }

    impl FromRawFd for File {
        unsafe fn from_raw_fd(descriptor: RawFd) -> Self {
            // SAFETY: the caller promises that it is open, and nobody else's.
            Self::from_std(unsafe { std::fs::File::from_raw_fd(descriptor) })
        }
    }
}

#[cfg(windows)]
mod handle {
    use super::File;
    use std::os::windows::io::{
        AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle, RawHandle,
    };

    impl AsHandle for File {
        fn as_handle(&self) -> BorrowedHandle<'_> {
            self.io.file.as_handle()
        }
    }

    impl AsRawHandle for File {
        fn as_raw_handle(&self) -> RawHandle {
            self.io.file.as_raw_handle()
        }
    }

    impl From<OwnedHandle> for File {
        fn from(handle: OwnedHandle) -> Self {
            Self::from_std(handle.into())
        }
    }

    impl FromRawHandle for File {
        unsafe fn from_raw_handle(handle: RawHandle) -> Self {
            // SAFETY: the caller promises that it is open, and nobody else's.
            Self::from_std(unsafe { std::fs::File::from_raw_handle(handle) })
        }
    }
}
