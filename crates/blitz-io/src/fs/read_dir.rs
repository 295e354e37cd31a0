//! What is in a directory, some entries at a time.

use super::on_a_thread;
use futures_core::Stream;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{FileType, Metadata};
use std::future::{Future, poll_fn};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// How many entries one trip to another thread brings.
const BATCH: usize = 64;

/// The entries of a directory, in no particular order.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut entries = blitz_io::fs::read_dir(".").await?;
/// let mut names = Vec::new();
/// while let Some(entry) = entries.next_entry().await? {
///     names.push(entry.file_name());
/// }
/// assert!(names.iter().any(|name| name == "Cargo.toml"));
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Errors
/// Those of [`std::fs::read_dir`].
///
/// # Panics
/// Outside of a runtime.
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref().to_owned();
    let batch = on_a_thread(move || Ok(Batch::read(std::fs::read_dir(path)?))).await?;
    Ok(ReadDir {
        batch,
        coming: None,
    })
}

/// See [`read_dir`]. Also a [`Stream`].
///
/// ```
/// # blitz_io::Runtime::new().unwrap().block_on(async {
/// # let folder = std::env::temp_dir().join(format!("blitz-io-read-dir--ead-ir-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # std::fs::write(folder.join("a"), "hello")?;
/// # std::fs::write(folder.join("b"), "hello")?;
/// let mut entries = blitz_io::fs::read_dir(&folder).await?;
/// let mut names = vec![];
/// while let Some(entry) = entries.next_entry().await? {
///     names.push(entry.file_name());
/// }
/// names.sort();
/// assert_eq!(names, ["a", "b"]);
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[must_use = "reads nothing unless asked for entries"]
pub struct ReadDir {
    batch: Batch,
    /// The next batch, if it has been asked for.
    coming: Option<Pin<Box<dyn Future<Output = io::Result<Batch>> + Send + Sync>>>,
}

#[derive(Default)]
struct Batch {
    entries: VecDeque<io::Result<DirEntry>>,
    /// Where there are more, if there are.
    rest: Option<std::fs::ReadDir>,
}

impl Batch {
    /// Blocks.
    fn read(mut rest: std::fs::ReadDir) -> Self {
        let entries: VecDeque<_> = rest.by_ref().take(BATCH).map(DirEntry::new).collect();
        Batch {
            rest: (entries.len() == BATCH).then_some(rest),
            entries,
        }
    }
}

impl ReadDir {
    /// The next entry; `None` after the last one. May be cancelled without losing an entry.
    ///
    /// # Errors
    /// If an entry cannot be read; the next call tries the one after it.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-read-dir-next-entry-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let mut entries = blitz_io::fs::read_dir(&folder).await?;
    /// assert!(entries.next_entry().await?.is_none()); // there is nothing in it
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// As [`next_entry`](Self::next_entry).
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-read-dir-poll-next-entry-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use std::future::poll_fn;
    ///
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// let mut entries = blitz_io::fs::read_dir(&folder).await?;
    /// let entry = poll_fn(|cx| entries.poll_next_entry(cx)).await?;
    /// assert_eq!(entry.unwrap().file_name(), "a");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        loop {
            if let Some(entry) = self.batch.entries.pop_front() {
                return Poll::Ready(entry.map(Some));
            }
            if let Some(coming) = &mut self.coming {
                let batch = ready!(coming.as_mut().poll(cx));
                self.coming = None;
                self.batch = batch?;
            } else if let Some(rest) = self.batch.rest.take() {
                self.coming = Some(Box::pin(on_a_thread(move || Ok(Batch::read(rest)))));
            } else {
                return Poll::Ready(Ok(None));
            }
        }
    }
}

impl Stream for ReadDir {
    type Item = io::Result<DirEntry>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_next_entry(cx).map(Result::transpose)
    }
}

impl std::fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadDir")
            .field("at_hand", &self.batch.entries.len())
            .finish_non_exhaustive()
    }
}

/// An entry of a directory.
///
/// ```
/// # blitz_io::Runtime::new().unwrap().block_on(async {
/// # let folder = std::env::temp_dir().join(format!("blitz-io-read-dir--ir-ntry-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # std::fs::write(folder.join("a.txt"), "hello")?;
/// let mut entries = blitz_io::fs::read_dir(&folder).await?;
/// let entry = entries.next_entry().await?.unwrap();
/// assert_eq!(entry.path(), folder.join("a.txt"));
/// assert!(entry.file_type().await?.is_file());
/// assert_eq!(entry.metadata().await?.len(), 5);
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct DirEntry {
    entry: Arc<std::fs::DirEntry>,
    /// What the directory says about it, where it does.
    file_type: Option<FileType>,
}

impl DirEntry {
    /// Blocks, on file systems that do not keep types in directories.
    fn new(entry: io::Result<std::fs::DirEntry>) -> io::Result<Self> {
        let entry = entry?;
        Ok(DirEntry {
            file_type: entry.file_type().ok(),
            entry: Arc::new(entry),
        })
    }

    /// The directory's path and the entry's name.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-read-dir-path-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// let entry = blitz_io::fs::read_dir(&folder).await?.next_entry().await?.unwrap();
    /// assert_eq!(std::fs::read(entry.path())?, b"hello");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn path(&self) -> PathBuf {
        self.entry.path()
    }

    /// The name in the directory.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-read-dir-file-name-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// let entry = blitz_io::fs::read_dir(&folder).await?.next_entry().await?.unwrap();
    /// assert_eq!(entry.file_name(), "a");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn file_name(&self) -> OsString {
        self.entry.file_name()
    }

    /// What it is. Known already, as a rule.
    ///
    /// # Errors
    /// If it is gone.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-read-dir-file-type-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::create_dir(folder.join("inner"))?;
    /// let entry = blitz_io::fs::read_dir(&folder).await?.next_entry().await?.unwrap();
    /// assert!(entry.file_type().await?.is_dir());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn file_type(&self) -> io::Result<FileType> {
        match self.file_type {
            Some(file_type) => Ok(file_type),
            None => self.on_a_thread(std::fs::DirEntry::file_type).await,
        }
    }

    /// What the system knows about it. Does not follow symbolic links.
    ///
    /// # Errors
    /// If it is gone.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-read-dir-metadata-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// let entry = blitz_io::fs::read_dir(&folder).await?.next_entry().await?.unwrap();
    /// assert_eq!(entry.metadata().await?.len(), 5);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.on_a_thread(std::fs::DirEntry::metadata).await
    }

    async fn on_a_thread<T: Send + 'static>(
        &self,
        ask: fn(&std::fs::DirEntry) -> io::Result<T>,
    ) -> io::Result<T> {
        let entry = Arc::clone(&self.entry);
        on_a_thread(move || ask(&entry)).await
    }

    /// The number of the file in its file system.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-read-dir-ino-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use std::os::unix::fs::MetadataExt;
    ///
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// let entry = blitz_io::fs::read_dir(&folder).await?.next_entry().await?.unwrap();
    /// assert_eq!(entry.ino(), entry.metadata().await?.ino());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[cfg(unix)]
    pub fn ino(&self) -> u64 {
        std::os::unix::fs::DirEntryExt::ino(&*self.entry)
    }
}
