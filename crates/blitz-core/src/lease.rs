//! Parkers on loan: whoever waits in the engine has one for as long as it lives, and gives it back.
//!
//! Parkers are never freed, only recycled. That is what makes the engine's latches simple to argue about:
//! a thread that completes a job may read the waiter's `&'static Parker`, publish the completion,
//! and unpark afterwards, although the waiter, its stack frame, its pool and even its thread may be
//! gone by then. The price is that a parker's next user can find a token it did not expect, so
//! every `park` sits in a loop that checks a condition. It would have to anyway.

#[cfg(not(loom))]
use crate::process_fork::ForkLock;
use blitz_primitives::Parker;

#[cfg(not(loom))]
static IDLE: ForkLock<Vec<&'static Parker>> = ForkLock::new(Vec::new());

/// A parker on loan: given back on drop, kept by the process for ever.
#[derive(Debug)]
pub(crate) struct Lease(&'static Parker);

#[cfg(not(loom))]
impl Lease {
    pub(crate) fn new() -> Self {
        let idle = IDLE.lock().pop();
        Lease(idle.unwrap_or_else(|| Box::leak(Box::new(Parker::new()))))
    }
}

impl Lease {
    #[inline]
    pub(crate) fn parker(&self) -> &'static Parker {
        self.0
    }
}

#[cfg(not(loom))]
impl Drop for Lease {
    fn drop(&mut self) {
        IDLE.lock().push(self.0);
    }
}

/// In models, which have no statics, each is made anew and freed with its waiter, which comes last.
#[cfg(loom)]
impl Lease {
    pub(crate) fn new() -> Self {
        Lease(Box::leak(Box::new(Parker::new())))
    }
}

#[cfg(loom)]
impl Drop for Lease {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and nobody is left who may use it.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(self.0).cast_mut()) });
    }
}
