//! What a caller of `join` knows about the two halves, and they about themselves.

use crate::console::Called;
use crate::context::Context;
use crate::site::Site;
use std::marker::PhantomData;

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
///
/// ```
/// use blitz_core::demand::{Within, in_loop};
///
/// assert!(!Within::NOTHING.is_loop());
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build()?;
/// assert!(pool.install(|| in_loop(|within| within.is_loop())));
/// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
/// ```
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

/// Tells a closure of [`join_context`](crate::join_context) whether it was moved to another thread.
///
/// ```
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build()?;
/// pool.install(|| {
///     // The left half runs where it was called.
///     let (left, _right) = blitz_core::join_context(|left| left.migrated(), |right| right.migrated());
///     assert!(!left);
/// });
/// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
/// ```
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Not `Send`, not `Sync`: it speaks about this thread.
    _here: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    pub(crate) fn new(migrated: bool) -> Self {
        FnContext {
            migrated,
            _here: PhantomData,
        }
    }

    /// Does the closure run on another thread than the one that called `join_context`?
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| blitz_core::join_context(|a| assert!(!a.migrated()), |b| assert!(!b.migrated())));
    /// ```
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}
