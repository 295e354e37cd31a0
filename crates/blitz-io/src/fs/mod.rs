//! Files and directories, with the names and the behaviour of tokio's.
//!
//! No operating system lets a program wait for a disk without a thread. So the calls run on the [threads that may
//! block](crate::spawn_blocking). [`File`] reduces the cost of that. It reads what the system has in memory at once (Linux). And it
//! accepts bytes while a thread writes the previous ones, so many small writes become a few large ones.
//!
//! The functions ([`read`], [`write()`], [`rename`] …) each make one trip to such a thread. If their future is dropped, the call is
//! still made, unless it has not begun when the runtime ends.
//!
//! ```
//! # let runtime = blitz_io::Runtime::new().unwrap();
//! # runtime.block_on(async {
//! use blitz_io::fs;
//!
//! let path = std::env::temp_dir().join(format!("blitz-io-fs-{}", std::process::id()));
//! fs::write(&path, "hello").await?;
//! assert_eq!(fs::read_to_string(&path).await?, "hello");
//! fs::remove_file(&path).await?;
//! assert!(!fs::try_exists(&path).await?);
//! # std::io::Result::Ok(()) }).unwrap();
//! ```

#[cfg(not(loom))]
mod buffered;
#[cfg(not(loom))]
mod dir_builder;
#[cfg(not(loom))]
mod file;
#[cfg(not(loom))]
mod file_times;
#[cfg(not(loom))]
mod functions;
#[cfg(not(loom))]
mod immediate;
mod job;
#[cfg(not(loom))]
mod open_options;
#[cfg(not(loom))]
mod read_dir;

#[cfg(all(any(unix, windows), not(loom)))]
pub(crate) use self::buffered::Buffered;
#[cfg(not(loom))]
pub use self::dir_builder::DirBuilder;
#[cfg(not(loom))]
pub use self::file::File;
#[cfg(not(loom))]
pub use self::file_times::FileTimes;
#[cfg(all(unix, not(loom)))]
pub use self::functions::symlink;
#[cfg(not(loom))]
pub use self::functions::{
    canonicalize, copy, create_dir, create_dir_all, hard_link, metadata, read, read_link,
    read_to_string, remove_dir, remove_dir_all, remove_file, rename, set_permissions,
    symlink_metadata, try_exists, write,
};
#[cfg(all(windows, not(loom)))]
pub use self::functions::{symlink_dir, symlink_file};
#[cfg(not(loom))]
pub use self::open_options::OpenOptions;
#[cfg(not(loom))]
pub use self::read_dir::{DirEntry, ReadDir, read_dir};
#[cfg(all(windows, not(loom)))]
pub(crate) use self::{buffered::Medium, immediate::Attempt};

/// Does what `work` does on a thread that may block.
///
/// # Errors
/// Those of `work`; and if nobody does it, because no thread can be started or the runtime is gone.
///
/// # Panics
/// Outside of a runtime.
#[cfg(not(loom))]
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> std::io::Result<T> {
    match crate::spawn_blocking(work).await {
        Ok(result) => result,
        // It says why. Going on with it as a panic would say nothing: whoever reports those has seen none if there was no thread.
        Err(error) if error.is_panic() => Err(std::io::Error::other(error)),
        Err(_) => Err(job::runtime_is_gone()),
    }
}
