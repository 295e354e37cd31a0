//! The handler of all signals that have a listener, and how it is installed.
//!
//! A handler runs wherever the system interrupts a thread, also in the middle of an allocation or while a lock is held. So it does only what is allowed there. It
//! loads a pointer that was published before the handler was installed, adds one to a counter, and writes one byte to a pipe that does not block. It also calls the
//! handler that was there before, if there was one. It leaves `errno` as it was. Handlers stay until the process ends, because a
//! signal that is on its way must not get its default effect and kill the process.

use super::bells::Bells;
use crate::primitives::ignore_poison;
use libc::{c_int, c_void, siginfo_t};
use mio::unix::pipe::{Receiver, Sender};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Mutex, OnceLock};

/// What handlers and listeners share.
pub(super) struct Post {
    pub(super) bells: Bells,
    writes: Sender,
    reads: Receiver,
    /// What was there before, for each signal.
    former: Vec<OnceLock<Former>>,
    installed: Mutex<Vec<bool>>,
}

struct Former(libc::sigaction);

static POST: OnceLock<Post> = OnceLock::new();
static MAKING: Mutex<()> = Mutex::new(());

/// What handlers and listeners share; made when first asked for.
pub(super) fn post() -> io::Result<&'static Post> {
    let _one_at_a_time = ignore_poison(MAKING.lock());
    if let Some(post) = POST.get() {
        return Ok(post);
    }
    // Both ends do not block, and are closed in children.
    let (writes, reads) = mio::unix::pipe::new()?;
    let number = last_signal() + 1;
    Ok(POST.get_or_init(|| Post {
        bells: Bells::new(number),
        writes,
        reads,
        former: (0..number).map(|_| OnceLock::new()).collect(),
        installed: Mutex::new(vec![false; number]),
    }))
}

impl Post {
    /// The number of a bell for this signal, whose handler is there afterwards.
    pub(super) fn install(&self, signal: c_int) -> io::Result<usize> {
        let number = self.number_of(signal)?;
        let mut installed = ignore_poison(self.installed.lock());
        if !installed[number] {
            // First what was there, for the handler to know when it runs the first time.
            let before = action(signal, None)?;
            self.former[number].get_or_init(|| Former(before));
            action(signal, Some(&ours()))?;
            installed[number] = true;
        }
        Ok(number)
    }

    fn number_of(&self, signal: c_int) -> io::Result<usize> {
        const REFUSED: [c_int; 5] = [
            libc::SIGKILL,
            libc::SIGSTOP,
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGSEGV,
        ];
        let invalid = |why: &str| {
            let text = format!("cannot listen to signal {signal}: {why}");
            // As tokio has it.
            io::Error::other(text)
        };
        if REFUSED.contains(&signal) {
            return Err(invalid(
                "the system does not allow it, or the program could not go on after it",
            ));
        }
        match usize::try_from(signal) {
            Ok(number) if (1..self.bells.number()).contains(&number) => Ok(number),
            _ => Err(invalid("there is no such signal")),
        }
    }

    /// Another descriptor of the reading end.
    pub(super) fn reading_end(&self) -> io::Result<OwnedFd> {
        self.reads.as_fd().try_clone_to_owned()
    }
}

/// The last number that the system has.
fn last_signal() -> usize {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "illumos"))]
    let last = libc::SIGRTMAX() as usize;
    // Where there are fewer, the system says so.
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "illumos")))]
    let last = 33;
    last
}

fn ours() -> libc::sigaction {
    // SAFETY: all zeros are a value of this type: no flags, an empty mask, the default action.
    let mut ours: libc::sigaction = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = on_signal as extern "C" fn(_, _, _) as usize;
    // System calls that are interrupted go on. On the alternate stack, where a thread has one: its own may be tiny, as those that other languages give their
    // tasks are.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    // One at a time: that stack is small, and on CPUs with wide registers there is no room on it for three that interrupt each other.
    // SAFETY: a set to be filled.
    unsafe { libc::sigfillset(&mut ours.sa_mask) };
    ours
}

/// What happens at a signal; changed, if that is asked for.
fn action(signal: c_int, change: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let change = change.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: all zeros are a value of this type.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: both point to a `sigaction`, or nowhere; our handler does what handlers may do.
    match unsafe { libc::sigaction(signal, change, &mut before) } {
        0 => Ok(before),
        _ => Err(io::Error::last_os_error()),
    }
}

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let errno = errno();
    // SAFETY: a pointer to this thread's number, valid as long as the thread.
    let before = unsafe { *errno };
    if let Some(post) = POST.get() {
        let number = signal as usize;
        post.bells.ring(number);
        // If it is full, it has not been emptied since, and whoever does that sees the ring.
        // SAFETY: one byte, to a descriptor that is never closed.
        unsafe { libc::write(post.writes.as_raw_fd(), [0_u8].as_ptr().cast(), 1) };
        if let Some(former) = post.former[number].get() {
            former.call(signal, info, context);
        }
    }
    // SAFETY: as above.
    unsafe { *errno = before };
}

impl Former {
    fn call(&self, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let handler = self.0.sa_sigaction;
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            return;
        }
        if self.0.sa_flags & libc::SA_SIGINFO != 0 {
            // SAFETY: the flag says that it is a function of these three, installed by somebody for this signal.
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        } else {
            // SAFETY: without the flag it is a function of the number.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

/// Where the C library has the error of this thread's last call.
fn errno() -> *mut c_int {
    #[cfg(any(target_os = "linux", target_os = "emscripten", target_os = "hurd"))]
    // SAFETY: has no preconditions.
    let place = unsafe { libc::__errno_location() };
    #[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
    // SAFETY: has no preconditions.
    let place = unsafe { libc::__error() };
    #[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
    // SAFETY: has no preconditions.
    let place = unsafe { libc::__errno() };
    #[cfg(any(target_os = "solaris", target_os = "illumos"))]
    // SAFETY: has no preconditions.
    let place = unsafe { libc::___errno() };
    #[cfg(target_os = "dragonfly")]
    // SAFETY: has no preconditions.
    let place = unsafe { libc::__errno_location() };
    place
}
