//! Who is on the other side of a Unix stream.

use super::{gid_t, pid_t, uid_t};

/// The process at the other end of a [`UnixStream`](crate::net::UnixStream).
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

    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn of_peer(stream: &impl std::os::fd::AsRawFd) -> std::io::Result<Self> {
        let mut cred = libc::ucred {
            pid: 0,
            uid: 0,
            gid: 0,
        };
        let mut length = size_of::<libc::ucred>() as libc::socklen_t;
        // SAFETY: the descriptor is open, and the kernel writes at most `length` bytes of plain numbers.
        let result = unsafe {
            libc::getsockopt(
                stream.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut cred).cast(),
                &mut length,
            )
        };
        if result != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Self {
            pid: (cred.pid != 0).then_some(cred.pid),
            uid: cred.uid,
            gid: cred.gid,
        })
    }
}
