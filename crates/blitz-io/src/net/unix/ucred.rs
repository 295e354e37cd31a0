//! Who is on the other side of a Unix stream.

use super::{gid_t, pid_t, uid_t};
use std::io;
use std::os::fd::{AsRawFd, RawFd};

/// The process at the other end of a [`UnixStream`](crate::net::UnixStream).
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::UnixStream;
///
/// let (here, _there) = UnixStream::pair()?;
/// let peer = here.peer_cred()?;
/// // It is this process itself.
/// assert_eq!(peer.uid(), unsafe { libc::getuid() });
/// assert_eq!(peer.gid(), unsafe { libc::getgid() });
/// # #[cfg(target_os = "linux")]
/// assert_eq!(peer.pid(), Some(std::process::id() as i32));
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UCred {
    pid: Option<pid_t>,
    uid: uid_t,
    gid: gid_t,
}

impl UCred {
    /// Its user.
    pub fn uid(&self) -> uid_t {
        self.uid
    }

    /// Its group.
    pub fn gid(&self) -> gid_t {
        self.gid
    }

    /// The process, if it is visible from here.
    pub fn pid(&self) -> Option<pid_t> {
        self.pid
    }

    /// Of whoever has the other end.
    pub(super) fn of_peer(stream: &impl AsRawFd) -> io::Result<Self> {
        system::peer(stream.as_raw_fd())
    }
}

/// A number is no process's if it is 0: such a process cannot be seen from here.
fn visible(pid: pid_t) -> Option<pid_t> {
    (pid != 0).then_some(pid)
}

/// An option of a socket.
///
/// # Safety
/// All zeros are a value of this type, and so is what the kernel writes for that option.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "openbsd",
    target_os = "netbsd",
    target_os = "freebsd",
    target_vendor = "apple"
))]
unsafe fn option<T>(socket: RawFd, level: libc::c_int, name: libc::c_int) -> io::Result<T> {
    // SAFETY: the caller promises it.
    let mut value: T = unsafe { std::mem::zeroed() };
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes.
    let result =
        unsafe { libc::getsockopt(socket, level, name, (&raw mut value).cast(), &mut length) };
    match result {
        0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The level of options of Unix sockets, where they have one of their own.
#[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "netbsd"))]
const SOL_LOCAL: libc::c_int = 0;

#[cfg(any(target_os = "linux", target_os = "android", target_os = "openbsd"))]
mod system {
    use super::{RawFd, UCred, io, option, visible};

    #[cfg(target_os = "openbsd")]
    use libc::sockpeercred as Answer;
    #[cfg(not(target_os = "openbsd"))]
    use libc::ucred as Answer;

    pub(super) fn peer(socket: RawFd) -> io::Result<UCred> {
        // SAFETY: plain numbers.
        let peer: Answer = unsafe { option(socket, libc::SOL_SOCKET, libc::SO_PEERCRED) }?;
        Ok(UCred {
            pid: visible(peer.pid),
            uid: peer.uid,
            gid: peer.gid,
        })
    }
}

#[cfg(target_os = "netbsd")]
mod system {
    use super::{RawFd, SOL_LOCAL, UCred, io, option, visible};

    pub(super) fn peer(socket: RawFd) -> io::Result<UCred> {
        // SAFETY: plain numbers.
        let peer: libc::unpcbid = unsafe { option(socket, SOL_LOCAL, libc::LOCAL_PEEREID) }?;
        Ok(UCred {
            pid: visible(peer.unp_pid),
            uid: peer.unp_euid,
            gid: peer.unp_egid,
        })
    }
}

#[cfg(target_os = "freebsd")]
mod system {
    use super::{RawFd, SOL_LOCAL, UCred, io, option, visible};

    pub(super) fn peer(socket: RawFd) -> io::Result<UCred> {
        // SAFETY: plain numbers, and room for a pointer that nobody uses.
        let peer: libc::xucred = unsafe { option(socket, SOL_LOCAL, libc::LOCAL_PEERCRED) }?;
        if peer.cr_version != libc::XUCRED_VERSION {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // SAFETY: a number in any case; 0 on systems that do not tell (before FreeBSD 13).
        let pid = unsafe { peer.cr_pid__c_anonymous_union.cr_pid };
        Ok(UCred {
            pid: visible(pid),
            uid: peer.cr_uid,
            // The first one is the process's own, the others are those that it is a member of, too.
            gid: peer.cr_groups[0],
        })
    }
}

#[cfg(any(target_vendor = "apple", target_os = "dragonfly"))]
mod system {
    use super::{RawFd, UCred, io};

    pub(super) fn peer(socket: RawFd) -> io::Result<UCred> {
        let (mut uid, mut gid) = (0, 0);
        // SAFETY: a place for each of the numbers.
        if unsafe { libc::getpeereid(socket, &mut uid, &mut gid) } != 0 {
            return Err(io::Error::last_os_error());
        }
        #[cfg(target_vendor = "apple")]
        // SAFETY: a number.
        let pid = super::visible(unsafe {
            super::option(socket, super::SOL_LOCAL, libc::LOCAL_PEEREPID)
        }?);
        #[cfg(target_os = "dragonfly")]
        let pid = None;
        Ok(UCred { pid, uid, gid })
    }
}

#[cfg(any(target_os = "illumos", target_os = "solaris"))]
mod system {
    use super::{RawFd, UCred, io, visible};
    use std::ptr;

    pub(super) fn peer(socket: RawFd) -> io::Result<UCred> {
        let mut peer = ptr::null_mut();
        // SAFETY: null asks for a new one.
        if unsafe { libc::getpeerucred(socket, &mut peer) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: one that was just made, which is freed once, after it has been asked.
        unsafe {
            let cred = UCred {
                pid: visible(libc::ucred_getpid(peer)),
                uid: libc::ucred_geteuid(peer),
                gid: libc::ucred_getegid(peer),
            };
            libc::ucred_free(peer);
            Ok(cred)
        }
    }
}

/// Systems that we know nothing of do not say.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "openbsd",
    target_os = "netbsd",
    target_os = "freebsd",
    target_vendor = "apple",
    target_os = "dragonfly",
    target_os = "illumos",
    target_os = "solaris"
)))]
mod system {
    use super::{RawFd, UCred, io};

    pub(super) fn peer(_: RawFd) -> io::Result<UCred> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
