//! Reading what the system has in memory, without a thread that could wait for the rest.
//!
//! Linux can be asked (`RWF_NOWAIT`) to read a file only as far as its pages are cached. That saves the trip to another thread, which costs
//! more than the reading. If Linux cannot, the error does not matter: the caller then uses a thread, which
//! finds out.

use std::fs::File;
use std::mem::MaybeUninit;

/// The most that is read at once: copying more would keep a worker for too long.
#[cfg(target_os = "linux")]
const MOST: usize = 128 * 1024;

/// How an attempt went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// That many bytes, at least one, have been read at the file's position.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    Read(usize),
    /// It would have to wait, or it has found the end or an error: another way has to be gone.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    NotNow,
    /// This file cannot be read like this at all.
    Never,
}

/// Reads from the file's position if that does not take waiting for a device.
#[cfg(target_os = "linux")]
pub(super) fn read(file: &File, buffer: &mut [MaybeUninit<u8>]) -> Attempt {
    use std::os::fd::AsRawFd;

    /// Flag and meaning as in `linux/fs.h`.
    const RWF_NOWAIT: libc::c_int = 8;
    /// The file's own position, which moves.
    const AT_POSITION: libc::off_t = -1;
    let room = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len().min(MOST),
    };
    // SAFETY: the descriptor is open, and the kernel writes at most `iov_len` bytes to the buffer.
    let read = unsafe { libc::preadv2(file.as_raw_fd(), &room, 1, AT_POSITION, RWF_NOWAIT) };
    match usize::try_from(read) {
        // Some kernels (5.9, 5.10) say this also where there are bytes that are not cached.
        Ok(0) => Attempt::NotNow,
        Ok(length) => Attempt::Read(length),
        Err(_) => match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Attempt::NotNow,
            _ => Attempt::Never,
        },
    }
}

/// Other systems do not offer this.
#[cfg(not(target_os = "linux"))]
pub(super) fn read(_: &File, _: &mut [MaybeUninit<u8>]) -> Attempt {
    Attempt::Never
}
