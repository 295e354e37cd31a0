//! Addresses within the machine.

use std::fmt;
use std::path::Path;

/// The address of a Unix socket: a path, an abstract name (Linux), or none.
///
/// ```
/// use blitz_io::net::unix::SocketAddr;
///
/// let standard = std::os::unix::net::SocketAddr::from_pathname("/run/example.sock").unwrap();
/// let address = SocketAddr::from(standard);
/// assert_eq!(address.as_pathname(), Some("/run/example.sock".as_ref()));
/// ```
#[derive(Clone)]
pub struct SocketAddr(pub(super) std::os::unix::net::SocketAddr);

impl SocketAddr {
    /// Whether it has none, as one end of a pair.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::net::UnixStream;
    ///
    /// let (here, _there) = UnixStream::pair()?;
    /// assert!(here.local_addr()?.is_unnamed());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn is_unnamed(&self) -> bool {
        self.0.is_unnamed()
    }

    /// The path, if it is one.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-address-as-pathname-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::UnixListener;
    ///
    /// let listener = UnixListener::bind(folder.join("socket"))?;
    /// assert_eq!(listener.local_addr()?.as_pathname(), Some(&*folder.join("socket")));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn as_pathname(&self) -> Option<&Path> {
        self.0.as_pathname()
    }

    /// The abstract name, if it is one, without the zero byte that it begins with.
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// use blitz_io::net::unix::SocketAddr;
    /// use std::os::linux::net::SocketAddrExt;
    ///
    /// let address = std::os::unix::net::SocketAddr::from_abstract_name("example").unwrap();
    /// assert_eq!(SocketAddr::from(address).as_abstract_name(), Some(&b"example"[..]));
    /// # }
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn as_abstract_name(&self) -> Option<&[u8]> {
        #[cfg(target_os = "android")]
        use std::os::android::net::SocketAddrExt;
        #[cfg(target_os = "linux")]
        use std::os::linux::net::SocketAddrExt;
        self.0.as_abstract_name()
    }
}

impl fmt::Debug for SocketAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<std::os::unix::net::SocketAddr> for SocketAddr {
    fn from(address: std::os::unix::net::SocketAddr) -> Self {
        Self(address)
    }
}

impl From<SocketAddr> for std::os::unix::net::SocketAddr {
    fn from(address: SocketAddr) -> Self {
        address.0
    }
}
