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
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-copy-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// let length = blitz_io::fs::copy(folder.join("a"), folder.join("b")).await?;
    /// assert_eq!(length, 5);
    /// assert_eq!(std::fs::read(folder.join("b"))?, b"hello");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    copy(from, to) -> u64 = fs::copy;
    /// Gives a file or a directory another name, and replaces a file that has it.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-rename-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs;
    ///
    /// // Readers see the old contents or the new ones, and nothing in between.
    /// fs::write(folder.join("settings.new"), "volume = 11").await?;
    /// fs::rename(folder.join("settings.new"), folder.join("settings")).await?;
    /// assert!(!fs::try_exists(folder.join("settings.new")).await?);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    rename(from, to) -> () = fs::rename;
    /// Removes a file.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-remove-file-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// blitz_io::fs::remove_file(folder.join("a")).await?;
    /// assert!(!folder.join("a").exists());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    remove_file(path) -> () = fs::remove_file;
    /// Makes a directory.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-create-dir-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// blitz_io::fs::create_dir(folder.join("new")).await?;
    /// assert!(blitz_io::fs::create_dir(folder.join("new")).await.is_err()); // it is there
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    create_dir(path) -> () = fs::create_dir;
    /// Makes a directory and those above it, as far as they are missing.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-create-dir-all-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// blitz_io::fs::create_dir_all(folder.join("a/b/c")).await?;
    /// blitz_io::fs::create_dir_all(folder.join("a/b/c")).await?; // no error
    /// assert!(folder.join("a/b/c").is_dir());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    create_dir_all(path) -> () = fs::create_dir_all;
    /// Removes an empty directory.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-remove-dir-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::create_dir_all(folder.join("a/b"))?;
    /// assert!(blitz_io::fs::remove_dir(folder.join("a")).await.is_err()); // `b` is in it
    /// blitz_io::fs::remove_dir(folder.join("a/b")).await?;
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    remove_dir(path) -> () = fs::remove_dir;
    /// Removes a directory and everything in it. Does not follow symbolic links.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-remove-dir-all-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::create_dir_all(folder.join("a/b"))?;
    /// blitz_io::fs::remove_dir_all(folder.join("a")).await?;
    /// assert!(!folder.join("a").exists());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    remove_dir_all(path) -> () = fs::remove_dir_all;
    /// What the system knows about a file; of that behind a symbolic link.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-metadata-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// let about = blitz_io::fs::metadata(folder.join("a")).await?;
    /// assert!(about.is_file() && about.len() == 5);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    metadata(path) -> Metadata = fs::metadata;
    /// What the system knows about a file, or about a symbolic link.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-symlink-metadata-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let about = blitz_io::fs::symlink_metadata(&folder).await?;
    /// assert!(about.is_dir() && !about.is_symlink());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    symlink_metadata(path) -> Metadata = fs::symlink_metadata;
    /// The absolute path, without symbolic links.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-canonicalize-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// let path = blitz_io::fs::canonicalize(folder.join(".").join("a")).await?;
    /// assert!(path.is_absolute() && path.ends_with("a"));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    canonicalize(path) -> PathBuf = fs::canonicalize;
    /// Makes a second name for a file.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-hard-link-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// blitz_io::fs::hard_link(folder.join("a"), folder.join("b")).await?;
    /// std::fs::remove_file(folder.join("a"))?;
    /// assert_eq!(std::fs::read(folder.join("b"))?, b"hello");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    hard_link(original, link) -> () = fs::hard_link;
    /// What a symbolic link says.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-read-link-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::os::unix::fs::symlink("target", folder.join("link"))?;
    /// let target = blitz_io::fs::read_link(folder.join("link")).await?;
    /// assert_eq!(target.to_str(), Some("target"));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// # }
    /// ```
    read_link(path) -> PathBuf = fs::read_link;
    /// Whether there is something at this path. An error if that cannot be found out.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-try-exists-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// assert!(blitz_io::fs::try_exists(&folder).await?);
    /// assert!(!blitz_io::fs::try_exists(folder.join("nothing")).await?);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    try_exists(path) -> bool = fs::exists;
}

#[cfg(unix)]
on_paths! {
    /// Makes a symbolic link that leads to `original`.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-symlink-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("v2"), "hello")?;
    /// blitz_io::fs::symlink("v2", folder.join("current")).await?;
    /// assert_eq!(std::fs::read(folder.join("current"))?, b"hello");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    symlink(original, link) -> () = std::os::unix::fs::symlink;
}

#[cfg(windows)]
on_paths! {
    /// Makes a symbolic link that leads to a file.
    symlink_file(original, link) -> () = std::os::windows::fs::symlink_file;
    /// Makes a symbolic link that leads to a directory.
    symlink_dir(original, link) -> () = std::os::windows::fs::symlink_dir;
}

/// Makes a file of these bytes, in place of one that is there. Copies them once. If the future is dropped half-way, it is done or not done.
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

/// Changes who may do what with a file. If the future is dropped half-way, it is done or not done.
///
/// # Errors
/// Those of [`std::fs::set_permissions`].
///
/// # Panics
/// Outside of a runtime.
///
/// ```
/// # blitz_io::Runtime::new().unwrap().block_on(async {
/// # let folder = std::env::temp_dir().join(format!("blitz-io-functions-set-permissions-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// use blitz_io::fs;
///
/// let path = folder.join("a");
/// fs::write(&path, "do not change").await?;
/// let mut permissions = fs::metadata(&path).await?.permissions();
/// permissions.set_readonly(true);
/// fs::set_permissions(&path, permissions).await?;
/// assert!(fs::metadata(&path).await?.permissions().readonly());
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub async fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    on_a_thread(move || fs::set_permissions(path, permissions)).await
}
