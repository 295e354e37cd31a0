//! How a file is opened.

use super::{File, on_a_thread};
use std::io;
use std::path::Path;

/// How a file is opened, as [`std::fs::OpenOptions`].
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// use blitz_io::fs::OpenOptions;
/// use blitz_io::io::AsyncWriteExt;
///
/// let path = std::env::temp_dir().join(format!("blitz-io-options-{}", std::process::id()));
/// for line in ["one\n", "two\n"] {
///     let mut file = OpenOptions::new().create(true).append(true).open(&path).await?;
///     file.write_all(line.as_bytes()).await?;
///     file.flush().await?;
/// }
/// assert_eq!(std::fs::read_to_string(&path)?, "one\ntwo\n");
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions(std::fs::OpenOptions);

/// Defines the options that are on or off.
macro_rules! switches {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, $name: bool) -> &mut Self {
            self.0.$name($name);
            self
        }
    )*};
}

impl OpenOptions {
    /// Everything is off.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-open-options-new-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::OpenOptions;
    ///
    /// # std::fs::write(folder.join("a"), "hello")?;
    /// let path = folder.join("a");
    /// assert!(OpenOptions::new().open(&path).await.is_err()); // for what?
    /// assert!(OpenOptions::new().read(true).open(&path).await.is_ok());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn new() -> Self {
        Self(std::fs::OpenOptions::new())
    }

    switches! {
        /// For reading.
        ///
        /// ```
        /// # blitz_io::Runtime::new().unwrap().block_on(async {
        /// # let folder = std::env::temp_dir().join(format!("blitz-io-open-options-read--{}", std::process::id()));
        /// # std::fs::create_dir_all(&folder)?;
        /// use blitz_io::{fs::OpenOptions, io::AsyncReadExt};
        ///
        /// # std::fs::write(folder.join("a"), "hello")?;
        /// let mut file = OpenOptions::new().read(true).open(folder.join("a")).await?;
        /// let mut text = String::new();
        /// file.read_to_string(&mut text).await?;
        /// assert_eq!(text, "hello");
        /// # std::fs::remove_dir_all(&folder)?;
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        read;
        /// For writing.
        ///
        /// ```
        /// # blitz_io::Runtime::new().unwrap().block_on(async {
        /// # let folder = std::env::temp_dir().join(format!("blitz-io-open-options-write--{}", std::process::id()));
        /// # std::fs::create_dir_all(&folder)?;
        /// use blitz_io::{fs::OpenOptions, io::AsyncWriteExt};
        ///
        /// # std::fs::write(folder.join("a"), "hello")?;
        /// let mut file = OpenOptions::new().write(true).open(folder.join("a")).await?;
        /// file.write_all(b"J").await?; // the rest stays
        /// file.flush().await?;
        /// assert_eq!(std::fs::read(folder.join("a"))?, b"Jello");
        /// # std::fs::remove_dir_all(&folder)?;
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        write;
        /// For writing at the end, wherever that is at that moment.
        ///
        /// ```
        /// # blitz_io::Runtime::new().unwrap().block_on(async {
        /// # let folder = std::env::temp_dir().join(format!("blitz-io-open-options-append--{}", std::process::id()));
        /// # std::fs::create_dir_all(&folder)?;
        /// use blitz_io::{fs::OpenOptions, io::AsyncWriteExt};
        ///
        /// # std::fs::write(folder.join("log"), "one\n")?;
        /// let mut log = OpenOptions::new().append(true).open(folder.join("log")).await?;
        /// log.write_all(b"two\n").await?;
        /// log.flush().await?;
        /// assert_eq!(std::fs::read(folder.join("log"))?, b"one\ntwo\n");
        /// # std::fs::remove_dir_all(&folder)?;
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        append;
        /// Empties it.
        ///
        /// ```
        /// # blitz_io::Runtime::new().unwrap().block_on(async {
        /// # let folder = std::env::temp_dir().join(format!("blitz-io-open-options-truncate--{}", std::process::id()));
        /// # std::fs::create_dir_all(&folder)?;
        /// use blitz_io::fs::OpenOptions;
        ///
        /// # std::fs::write(folder.join("a"), "hello")?;
        /// OpenOptions::new().write(true).truncate(true).open(folder.join("a")).await?;
        /// assert_eq!(std::fs::read(folder.join("a"))?, b"");
        /// # std::fs::remove_dir_all(&folder)?;
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        truncate;
        /// Makes it if it is missing.
        ///
        /// ```
        /// # blitz_io::Runtime::new().unwrap().block_on(async {
        /// # let folder = std::env::temp_dir().join(format!("blitz-io-open-options-create--{}", std::process::id()));
        /// # std::fs::create_dir_all(&folder)?;
        /// use blitz_io::fs::OpenOptions;
        ///
        /// OpenOptions::new().write(true).create(true).open(folder.join("new")).await?;
        /// assert!(folder.join("new").exists());
        /// # std::fs::remove_dir_all(&folder)?;
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        create;
        /// Makes it, and fails if it is there.
        ///
        /// ```
        /// # blitz_io::Runtime::new().unwrap().block_on(async {
        /// # let folder = std::env::temp_dir().join(format!("blitz-io-open-options-create-new--{}", std::process::id()));
        /// # std::fs::create_dir_all(&folder)?;
        /// use blitz_io::fs::OpenOptions;
        ///
        /// // A lock between processes: one of them makes the file.
        /// let mut take = OpenOptions::new();
        /// take.write(true).create_new(true);
        /// let mine = take.open(folder.join("lock")).await?;
        /// assert!(take.open(folder.join("lock")).await.is_err());
        /// # drop(mine);
        /// # std::fs::remove_dir_all(&folder)?;
        /// # std::io::Result::Ok(()) }).unwrap();
        /// ```
        create_new;
    }

    /// Who may do what with a file that is made.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-open-options-mode-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::OpenOptions;
    /// use std::os::unix::fs::PermissionsExt;
    ///
    /// let secret = OpenOptions::new().write(true).create(true).mode(0o600).open(folder.join("key")).await?;
    /// assert_eq!(secret.metadata().await?.permissions().mode() & 0o777, 0o600);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::mode(&mut self.0, mode);
        self
    }

    /// More flags for the system call.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-open-options-i--{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::OpenOptions;
    ///
    /// std::os::unix::fs::symlink("target", folder.join("link"))?;
    /// // Not through a symbolic link.
    /// let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(folder.join("link")).await;
    /// assert!(file.is_err());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[cfg(unix)]
    pub fn custom_flags(&mut self, flags: i32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut self.0, flags);
        self
    }

    /// What the process may do with the file, instead of what the other options say.
    #[cfg(windows)]
    pub fn access_mode(&mut self, access: u32) -> &mut Self {
        std::os::windows::fs::OpenOptionsExt::access_mode(&mut self.0, access);
        self
    }

    /// What others may do with the file meanwhile.
    #[cfg(windows)]
    pub fn share_mode(&mut self, share: u32) -> &mut Self {
        std::os::windows::fs::OpenOptionsExt::share_mode(&mut self.0, share);
        self
    }

    /// More flags for the system call.
    #[cfg(windows)]
    pub fn custom_flags(&mut self, flags: u32) -> &mut Self {
        std::os::windows::fs::OpenOptionsExt::custom_flags(&mut self.0, flags);
        self
    }

    /// The attributes of a file that is made.
    #[cfg(windows)]
    pub fn attributes(&mut self, attributes: u32) -> &mut Self {
        std::os::windows::fs::OpenOptionsExt::attributes(&mut self.0, attributes);
        self
    }

    /// Whom the server of a named pipe may act for.
    #[cfg(windows)]
    pub fn security_qos_flags(&mut self, flags: u32) -> &mut Self {
        std::os::windows::fs::OpenOptionsExt::security_qos_flags(&mut self.0, flags);
        self
    }

    /// Opens a file.
    ///
    /// # Errors
    /// Those of [`std::fs::OpenOptions::open`].
    ///
    /// # Panics
    /// Outside of a runtime.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-open-options-open-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::OpenOptions;
    /// use std::io::ErrorKind;
    ///
    /// let nothing = OpenOptions::new().read(true).open(folder.join("nothing")).await;
    /// assert_eq!(nothing.unwrap_err().kind(), ErrorKind::NotFound);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let path = path.as_ref().to_owned();
        let options = self.0.clone();
        let file = on_a_thread(move || options.open(path)).await?;
        Ok(File::from_std(file))
    }
}

impl From<std::fs::OpenOptions> for OpenOptions {
    fn from(options: std::fs::OpenOptions) -> Self {
        Self(options)
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}
