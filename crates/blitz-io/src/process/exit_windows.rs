//! Learning that a process has ended, on Windows: a thread of the system waits for all of them, and calls a function.
//!
//! The function is called once at most. It has a *note* that says whom to tell, and holds the handle that is waited for. The note belongs to the function. If the watch goes first,
//! it ends the wait. If the function has not been called and never will be, the note then belongs to the watch. The watch does not wait for the function, because the function wakes a waiter, and
//! that may be what drops the watch.

use crate::sync::oneshot;
use std::ffi::c_void;
use std::future::Future;
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, OwnedHandle};
use std::pin::Pin;
use std::process::{Child, ExitStatus};
use std::ptr;
use std::task::{Context, Poll, ready};
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::{
    INFINITE, RegisterWaitForSingleObject, UnregisterWaitEx, WT_EXECUTEINWAITTHREAD,
    WT_EXECUTEONLYONCE,
};

/// Watches one process, from the first time that somebody waits for it.
#[derive(Debug)]
pub(super) struct Watch(Option<Waiting>);

impl Watch {
    /// Watches a child.
    #[allow(clippy::unnecessary_wraps, reason = "as on other systems")]
    pub(super) fn new(_child: &Child) -> io::Result<Self> {
        Ok(Watch(None))
    }

    /// Waits until the child, which is the one that is watched, has ended.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        child: &mut Child,
    ) -> Poll<io::Result<ExitStatus>> {
        loop {
            if let Some(status) = child.try_wait()? {
                self.0 = None;
                return Poll::Ready(Ok(status));
            }
            match &mut self.0 {
                None => self.0 = Some(Waiting::new(child)?),
                Some(waiting) => ready!(waiting.poll(cx)),
            }
        }
    }
}

#[derive(Debug)]
struct Waiting {
    ended: oneshot::Receiver<()>,
    /// Whether it has been said.
    said: bool,
    wait: HANDLE,
    /// The function's, until it is known that there will be none.
    note: *mut Note,
}

// SAFETY: the system's functions may be called by any thread, and a note may be dropped by any.
unsafe impl Send for Waiting {}
// SAFETY: nothing can be done with a shared reference.
unsafe impl Sync for Waiting {}

struct Note {
    tell: oneshot::Sender<()>,
    /// Open for as long as it is waited for.
    process: OwnedHandle,
}

impl Waiting {
    fn new(child: &Child) -> io::Result<Self> {
        let process = child.as_handle().try_clone_to_owned()?;
        let handle = process.as_raw_handle();
        let (tell, ended) = oneshot::channel();
        let note = Box::into_raw(Box::new(Note { tell, process }));
        let mut wait: HANDLE = ptr::null_mut();
        // SAFETY: the handle is in the note, which is there for the one call that there is.
        let registered = unsafe {
            RegisterWaitForSingleObject(
                &mut wait,
                handle,
                Some(has_ended),
                note.cast(),
                INFINITE,
                WT_EXECUTEINWAITTHREAD | WT_EXECUTEONLYONCE,
            )
        };
        if registered == 0 {
            let error = io::Error::last_os_error();
            // SAFETY: there will be no call.
            drop(unsafe { Box::from_raw(note) });
            return Err(error);
        }
        Ok(Waiting {
            ended,
            said: false,
            wait,
            note,
        })
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.said {
            // It is dropped only by a call that has been made.
            let _ = ready!(Pin::new(&mut self.ended).poll(cx));
            self.said = true;
        }
        Poll::Ready(())
    }
}

unsafe extern "system" fn has_ended(note: *mut c_void, _: bool) {
    // SAFETY: this is the one call, and the note is ours.
    let Note { tell, process } = *unsafe { Box::from_raw(note.cast::<Note>()) };
    drop(process);
    // If nobody listens any more, nobody needs to know.
    let _ = tell.send(());
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // SAFETY: ended once, here. Without an event to set it does not wait for a call that is being made, and says so.
        let no_call_is_being_made = unsafe { UnregisterWaitEx(self.wait, ptr::null_mut()) } != 0;
        if no_call_is_being_made && !self.said && self.ended.try_recv().is_err() {
            // SAFETY: it has not been made, and there will be none.
            drop(unsafe { Box::from_raw(self.note) });
        }
    }
}
