//! The functions on paths: each is the standard library's, on a thread that may block.

use super::on_a_thread;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

/// Defines functions that pass their arguments, all of them paths, on to the function of the same name in `std::fs`.
macro_rules! on_paths {
    ($($(#[$doc:meta])* $name:ident($($path:ident),+) -> $result:ty = $std:path;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// Those of the function of the same name in the standard library.
        ///
        /// # Panics
        /// Outside of a runtime.
        pub async fn $name($($path: impl AsRef<Path>),+) -> io::Result<$result> {
            $(let $path = $path.as_ref().to_owned();)+
            on_a_thread(move || $std($($path),+)).await
        }
    )*};
}

on_paths! {
    /// Reads a whole file.
    ///
    /// ```
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let bytes = blitz_io::fs::read("Cargo.toml").await.unwrap();
    /// assert_eq!(bytes, std::fs::read("Cargo.toml").unwrap());
    /// # });
    /// ```
    read(path) -> Vec<u8> = fs::read;
    /// Reads a whole file of text.
    ///
    /// ```
    /// # let runtime = blitz_io::Runtime::new().unwrap();
    /// # runtime.block_on(async {
    /// let text = blitz_io::fs::read_to_string("Cargo.toml").await.unwrap();
    /// assert!(text.contains("blitz-io"));
    /// # });
    /// ```
    read_to_string(path) -> String = fs::read_to_string;
    /// Copies a file with its permissions, and returns its length. The kernel does the copying where it can.
    copy(from, to) -> u64 = fs::copy;
    /// Gives a file or a directory another name, and replaces a file that has it.
    rename(from, to) -> () = fs::rename;
    /// Removes a file.
    remove_file(path) -> () = fs::remove_file;
    /// Makes a directory.
    create_dir(path) -> () = fs::create_dir;
    /// Makes a directory and those above it, as far as they are missing.
    create_dir_all(path) -> () = fs::create_dir_all;
    /// Removes an empty directory.
    remove_dir(path) -> () = fs::remove_dir;
    /// Removes a directory and everything in it. Does not follow symbolic links.
    remove_dir_all(path) -> () = fs::remove_dir_all;
    /// What the system knows about a file; of that behind a symbolic link.
    metadata(path) -> Metadata = fs::metadata;
    /// What the system knows about a file, or about a symbolic link.
    symlink_metadata(path) -> Metadata = fs::symlink_metadata;
    /// The absolute path, without symbolic links.
    canonicalize(path) -> PathBuf = fs::canonicalize;
    /// Makes a second name for a file.
    hard_link(original, link) -> () = fs::hard_link;
    /// What a symbolic link says.
    read_link(path) -> PathBuf = fs::read_link;
    /// Whether there is something at this path. An error if that cannot be found out.
    try_exists(path) -> bool = fs::exists;
}

#[cfg(unix)]
on_paths! {
    /// Makes a symbolic link that leads to `original`.
    symlink(original, link) -> () = std::os::unix::fs::symlink;
}

#[cfg(windows)]
on_paths! {
    /// Makes a symbolic link that leads to a file.
    symlink_file(original, link) -> () = std::os::windows::fs::symlink_file;
    /// Makes a symbolic link that leads to a directory.
    symlink_dir(original, link) -> () = std::os::windows::fs::symlink_dir;
}

/// Makes a file of these bytes, in place of one that is there. Copies them once.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let path = std::env::temp_dir().join(format!("blitz-io-write-{}", std::process::id()));
/// blitz_io::fs::write(&path, b"bytes").await.unwrap();
/// assert_eq!(std::fs::read(&path).unwrap(), b"bytes");
/// # std::fs::remove_file(&path).unwrap();
/// # });
/// ```
///
/// # Errors
/// Those of [`std::fs::write`].
///
/// # Panics
/// Outside of a runtime.
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    let contents = contents.as_ref().to_owned();
    on_a_thread(move || fs::write(path, contents)).await
}

/// Changes who may do what with a file.
///
/// # Errors
/// Those of [`std::fs::set_permissions`].
///
/// # Panics
/// Outside of a runtime.
pub async fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    on_a_thread(move || fs::set_permissions(path, permissions)).await
}
