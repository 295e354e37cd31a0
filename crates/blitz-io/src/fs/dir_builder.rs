//! Making directories with options.

use super::on_a_thread;
use std::io;
use std::path::Path;

/// Makes directories, as [`std::fs::DirBuilder`] does.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let path = std::env::temp_dir().join(format!("blitz-io-dirs-{}", std::process::id()));
/// let mut builder = blitz_io::fs::DirBuilder::new();
/// builder.recursive(true).create(path.join("a/b")).await.unwrap();
/// assert!(path.join("a/b").is_dir());
/// # std::fs::remove_dir_all(&path).unwrap();
/// # });
/// ```
#[derive(Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
    #[cfg(unix)]
    mode: Option<u32>,
}

impl DirBuilder {
    /// Makes one directory at a time, for everybody (what the process's mask leaves of that).
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-dir-builder-new-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::DirBuilder;
    ///
    /// DirBuilder::new().create(folder.join("new")).await?;
    /// // What is above must be there.
    /// assert!(DirBuilder::new().create(folder.join("a/b")).await.is_err());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether directories above are made too, and one that exists is no error.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-dir-builder-recursive-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::DirBuilder;
    ///
    /// let mut builder = DirBuilder::new();
    /// builder.recursive(true).create(folder.join("a/b/c")).await?;
    /// builder.recursive(true).create(folder.join("a/b/c")).await?; // no error
    /// assert!(folder.join("a/b/c").is_dir());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.recursive = recursive;
        self
    }

    /// Who may do what with them.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-dir-builder-mode-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::DirBuilder;
    /// use std::os::unix::fs::PermissionsExt;
    ///
    /// let private = folder.join("private");
    /// DirBuilder::new().mode(0o700).create(&private).await?;
    /// assert_eq!(std::fs::metadata(&private)?.permissions().mode() & 0o777, 0o700);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = Some(mode);
        self
    }

    /// Makes a directory. If the future is dropped half-way, it is done or not done.
    ///
    /// # Errors
    /// Those of [`std::fs::DirBuilder::create`].
    ///
    /// # Panics
    /// Outside of a runtime.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-dir-builder-create-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let new = folder.join("new");
    /// blitz_io::fs::DirBuilder::new().create(&new).await?;
    /// assert!(new.is_dir());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref().to_owned();
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(self.recursive);
        #[cfg(unix)]
        if let Some(mode) = self.mode {
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
        }
        on_a_thread(move || builder.create(path)).await
    }
}
