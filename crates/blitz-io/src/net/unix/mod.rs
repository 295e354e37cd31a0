//! What belongs to Unix sockets: addresses, the halves of streams, who is on the other side; and pipes.

mod address;
pub(super) mod datagram;
pub(super) mod listener;
pub mod pipe;
pub(super) mod socket;
mod split;
pub(super) mod stream;
mod ucred;

pub use self::address::SocketAddr;
pub use self::split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use self::ucred::UCred;

use self::datagram::UnixDatagram;
use self::listener::UnixListener;
use self::stream::UnixStream;

/// The number of a user.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::{UnixStream, unix::uid_t};
///
/// let (here, _there) = UnixStream::pair()?;
/// let user: uid_t = here.peer_cred()?.uid();
/// # let _ = user;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[allow(non_camel_case_types)]
pub type uid_t = u32;

/// The number of a group.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::{UnixStream, unix::gid_t};
///
/// let (here, _there) = UnixStream::pair()?;
/// let group: gid_t = here.peer_cred()?.gid();
/// # let _ = group;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[allow(non_camel_case_types)]
pub type gid_t = u32;

/// The number of a process.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::{UnixStream, unix::pid_t};
///
/// let (here, _there) = UnixStream::pair()?;
/// let process: Option<pid_t> = here.peer_cred()?.pid();
/// # let _ = process;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[allow(non_camel_case_types)]
pub type pid_t = i32;

/// What a path means as an address: one that begins with a zero byte is an abstract name, which Linux keeps apart from the file system.
fn address_of(path: &std::path::Path) -> std::io::Result<std::os::unix::net::SocketAddr> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::SocketAddr;

    match path.as_os_str().as_bytes() {
        #[cfg(target_os = "linux")]
        [0, name @ ..] => {
            use std::os::linux::net::SocketAddrExt;
            SocketAddr::from_abstract_name(name)
        }
        #[cfg(target_os = "android")]
        [0, name @ ..] => {
            use std::os::android::net::SocketAddrExt;
            SocketAddr::from_abstract_name(name)
        }
        _ => SocketAddr::from_pathname(path),
    }
}
