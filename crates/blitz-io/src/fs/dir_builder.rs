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
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether directories above are made too, and one that exists is no error.
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.recursive = recursive;
        self
    }

    /// Who may do what with them.
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = Some(mode);
        self
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// Those of [`std::fs::DirBuilder::create`].
    ///
    /// # Panics
    /// Outside of a runtime.
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
