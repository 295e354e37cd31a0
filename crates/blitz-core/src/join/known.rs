//! What a caller of `join` knows about the two halves.

use crate::console::Called;
use crate::context::Context;
use crate::site::Site;

/// What a caller knows about the two halves.
#[derive(Clone, Copy)]
pub(crate) struct Known<W> {
    /// How many ticks both take together.
    pub(crate) expected: Option<u64>,
    /// The loop that both are parts of: while the caller waits for its right half, it may run other parts of the loop.
    pub(crate) within: Within,
    /// Is called before the caller waits for its right half.
    pub(crate) before_wait: W,
    /// The line of the user's that called `join`.
    pub(crate) called: Called,
}

impl Known<fn()> {
    pub(crate) const NOTHING: Self = Known {
        expected: None,
        within: Within::NOTHING,
        before_wait: || (),
        called: Called::BY_US,
    };

    /// By the user, at `site`; nothing else is known.
    #[inline(always)]
    pub(super) fn called_at(site: Site) -> Self {
        Known {
            called: Called::at(site),
            ..Self::NOTHING
        }
    }
}

/// A loop that runs, for the forks that make parts of it; or none. See [`in_loop`](crate::demand::in_loop).
#[derive(Clone, Copy)]
pub struct Within(pub(crate) *const Context);

// SAFETY: it is only compared, by threads that run parts of the loop; which does not end before they do.
unsafe impl Send for Within {}

// SAFETY: as above.
unsafe impl Sync for Within {}

impl Within {
    /// No loop.
    pub const NOTHING: Self = Within(std::ptr::null());

    /// Is it one?
    #[inline]
    pub fn is_loop(self) -> bool {
        !self.0.is_null()
    }
}

impl std::fmt::Debug for Within {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Within").field(&self.is_loop()).finish()
    }
}
