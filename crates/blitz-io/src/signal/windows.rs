//! The events that a console sends to its processes, on Windows: Ctrl-C and so on.
//!
//! The system calls our handler on a thread of its own, which may do anything: it rings the bell (see `bells`) and answers at once. There is no pipe, and
//! no runtime is needed.
//!
//! An event without a listener is not ours: it goes to the handler before ours. The last of these handlers ends the process.

use super::bells::{Bells, Listener};
use crate::coop;
use crate::primitives::ignore_poison;
use futures_core::Stream;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::task::{Context, Poll, ready};
use std::thread;
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT,
    SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

/// More than any of the events is.
const EVENTS: usize = CTRL_SHUTDOWN_EVENT as usize + 1;

/// What the handler and listeners share.
struct Post {
    bells: Bells,
    /// How many listen to each of the events.
    listeners: [AtomicUsize; EVENTS],
    installed: Mutex<bool>,
}

static POST: OnceLock<Post> = OnceLock::new();

fn post() -> &'static Post {
    POST.get_or_init(|| Post {
        bells: Bells::new(EVENTS),
        listeners: [const { AtomicUsize::new(0) }; EVENTS],
        installed: Mutex::new(false),
    })
}

impl Post {
    fn install(&self) -> io::Result<()> {
        let installed = self.installed.lock();
        let mut installed = ignore_poison(installed);
        if !*installed {
            // SAFETY: a function that may be called on any thread, and is never taken away.
            if unsafe { SetConsoleCtrlHandler(Some(on_event), 1) } == 0 {
                return Err(io::Error::last_os_error());
            }
            *installed = true;
        }
        Ok(())
    }
}

unsafe extern "system" fn on_event(event: u32) -> BOOL {
    let number = event as usize;
    let Some(post) = POST.get() else {
        return 0;
    };
    let listeners = post.listeners.get(number);
    if listeners.is_none_or(|listeners| listeners.load(Ordering::Acquire) == 0) {
        return 0;
    }
    post.bells.ring(number);
    post.bells.answer(|| {});
    if let CTRL_CLOSE_EVENT | CTRL_LOGOFF_EVENT | CTRL_SHUTDOWN_EVENT = event {
        // Returning from here would end the process, before anybody has done anything about it. Those who listen end it; if they take too long, the
        // system does.
        loop {
            thread::park();
        }
    }
    1
}

/// Listens to one of the events.
struct Ear {
    listener: Listener<&'static Bells>,
    number: usize,
}

impl Ear {
    fn new(event: u32) -> io::Result<Self> {
        let (post, number) = (post(), event as usize);
        post.install()?;
        // Before it is counted: who is counted hears.
        let listener = Listener::new(&post.bells, number);
        post.listeners[number].fetch_add(1, Ordering::AcqRel);
        Ok(Ear { listener, number })
    }

    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let unit = ready!(coop::take_unit(cx));
        if self.listener.poll(cx).is_ready() {
            return Poll::Ready(Some(()));
        }
        unit.refund();
        Poll::Pending
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        post().listeners[self.number].fetch_sub(1, Ordering::AcqRel);
    }
}

/// Defines an event: its listener, and the function that makes one.
macro_rules! event {
    ($(#[$doc:meta])* $name:ident, $(#[$function_doc:meta])* $function:ident, $event:expr) => {
        $(#[$doc])*
        #[must_use = "it is only heard if somebody listens"]
        pub struct $name(Ear);

        $(#[$function_doc])*
        ///
        /// While somebody listens, the process does not end by it; it is for the program to do that.
        ///
        /// # Errors
        /// If the system refuses the handler.
        pub fn $function() -> io::Result<$name> {
            Ear::new($event).map($name)
        }

        impl $name {
            /// Waits for the event. It is there at once if it has come since this was ready the last time (or since the listener was made):
            /// several are then heard as one. May be cancelled. Never `None`.
            pub async fn recv(&mut self) -> Option<()> {
                poll_fn(|cx| self.poll_recv(cx)).await
            }

            /// As [`recv`](Self::recv).
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
                self.0.poll_recv(cx)
            }
        }

        impl Stream for $name {
            type Item = ();

            fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
                self.poll_recv(cx)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

event! {
    /// Listens to Ctrl-C; see [`ctrl_c`]. Also a [`Stream`].
    CtrlC,
    /// Starts to listen to Ctrl-C.
    ///
    /// ```no_run
    /// # async fn example() -> std::io::Result<()> {
    /// let mut ctrl_c = blitz_io::signal::windows::ctrl_c()?;
    /// for count in 0..3 {
    ///     ctrl_c.recv().await;
    ///     println!("{count}");
    /// }
    /// # Ok(()) }
    /// ```
    ctrl_c, CTRL_C_EVENT
}

event! {
    /// Listens to Ctrl-Break; see [`ctrl_break`]. Also a [`Stream`].
    CtrlBreak,
    /// Starts to listen to Ctrl-Break.
    ctrl_break, CTRL_BREAK_EVENT
}

event! {
    /// Listens to the end of the console; see [`ctrl_close`]. Also a [`Stream`].
    CtrlClose,
    /// Starts to listen to the end of the console: somebody closes the window. The system ends the process a few seconds later.
    ctrl_close, CTRL_CLOSE_EVENT
}

event! {
    /// Listens to the end of the system; see [`ctrl_shutdown`]. Also a [`Stream`].
    CtrlShutdown,
    /// Starts to listen to the end of the system. Services hear of that; the system ends them a few seconds later.
    ctrl_shutdown, CTRL_SHUTDOWN_EVENT
}

event! {
    /// Listens to a user who logs off; see [`ctrl_logoff`]. Also a [`Stream`].
    CtrlLogoff,
    /// Starts to listen to users who log off. Services hear of that, without being told which one it is.
    ctrl_logoff, CTRL_LOGOFF_EVENT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the system does it.
    fn happens(event: u32) -> BOOL {
        // SAFETY: it may be called by anybody.
        unsafe { on_event(event) }
    }

    #[test]
    fn an_event_is_ours_while_somebody_listens() {
        let runtime = crate::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            assert_eq!(happens(CTRL_BREAK_EVENT), 0);
            let mut first = ctrl_break().unwrap();
            let mut second = ctrl_break().unwrap();
            assert_eq!(happens(CTRL_BREAK_EVENT), 1);
            assert_eq!(first.recv().await, Some(()));
            assert_eq!(second.recv().await, Some(()));
            drop(second);
            // Before anybody waits, and twice: heard once.
            assert_eq!(happens(CTRL_BREAK_EVENT), 1);
            assert_eq!(happens(CTRL_BREAK_EVENT), 1);
            assert_eq!(first.recv().await, Some(()));
            let mut cx = Context::from_waker(std::task::Waker::noop());
            assert!(first.poll_recv(&mut cx).is_pending());
            drop(first);
            assert_eq!(happens(CTRL_BREAK_EVENT), 0);
            assert_eq!(happens(1000), 0);
        });
    }

    #[test]
    fn somebody_who_waits_is_woken_by_an_event() {
        let runtime = crate::Builder::new_multi_thread().worker_threads(1).build();
        let runtime = runtime.unwrap();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let task = runtime.spawn(async move {
            let mut ctrl_c = ctrl_c().unwrap();
            ready.send(()).unwrap();
            ctrl_c.recv().await
        });
        is_ready.recv().unwrap();
        assert_eq!(happens(CTRL_C_EVENT), 1);
        assert_eq!(runtime.block_on(task).unwrap(), Some(()));
    }
}
