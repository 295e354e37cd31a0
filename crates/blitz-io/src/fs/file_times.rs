//! When a file was read and written, to be set.

use std::time::SystemTime;

/// When a file was read and written last, for [`File::set_times`](super::File::set_times). What is not set stays as it is.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// use blitz_io::fs::{File, FileTimes};
/// use std::time::{Duration, SystemTime};
///
/// let path = std::env::temp_dir().join(format!("blitz-io-times-{}", std::process::id()));
/// let file = File::create(&path).await?;
/// let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
/// file.set_times(FileTimes::new().set_modified(long_ago)).await?;
/// assert_eq!(file.metadata().await?.modified()?, long_ago);
/// # std::fs::remove_file(&path)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "does nothing unless a file's times are set to it"]
pub struct FileTimes {
    accessed: Option<SystemTime>,
    modified: Option<SystemTime>,
    #[cfg(any(windows, target_vendor = "apple"))]
    created: Option<SystemTime>,
}

impl FileTimes {
    /// Changes nothing.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-times-new-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::{File, FileTimes};
    ///
    /// let file = File::create(folder.join("new")).await?;
    /// let before = file.metadata().await?.modified()?;
    /// file.set_times(FileTimes::new()).await?;
    /// assert_eq!(file.metadata().await?.modified()?, before);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// When it was read last.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-file-times-set-accessed-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::fs::{File, FileTimes};
    /// use std::time::{Duration, SystemTime};
    ///
    /// let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    /// let file = File::create(folder.join("new")).await?;
    /// file.set_times(FileTimes::new().set_accessed(then)).await?;
    /// assert_eq!(file.metadata().await?.accessed()?, then);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn set_accessed(self, time: SystemTime) -> Self {
        FileTimes {
            accessed: Some(time),
            ..self
        }
    }

    /// When it was written last.
    ///
    /// ```
    /// use blitz_io::fs::FileTimes;
    /// use std::time::SystemTime;
    ///
    /// let touched_now = FileTimes::new().set_modified(SystemTime::now());
    /// # let _ = touched_now;
    /// ```
    pub fn set_modified(self, time: SystemTime) -> Self {
        FileTimes {
            modified: Some(time),
            ..self
        }
    }

    /// When it was made.
    #[cfg(any(windows, target_vendor = "apple"))]
    pub fn set_created(self, time: SystemTime) -> Self {
        FileTimes {
            created: Some(time),
            ..self
        }
    }

    pub(super) fn into_std(self) -> std::fs::FileTimes {
        #[cfg(target_vendor = "apple")]
        use std::os::darwin::fs::FileTimesExt;
        #[cfg(windows)]
        use std::os::windows::fs::FileTimesExt;

        let mut times = std::fs::FileTimes::new();
        if let Some(accessed) = self.accessed {
            times = times.set_accessed(accessed);
        }
        if let Some(modified) = self.modified {
            times = times.set_modified(modified);
        }
        #[cfg(any(windows, target_vendor = "apple"))]
        if let Some(created) = self.created {
            times = times.set_created(created);
        }
        times
    }
}
