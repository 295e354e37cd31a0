//! What the owner of a join stack decides about who sees its forks, beside what a push and a pop do.

use super::{Flaw, Job, JoinStack};
use crate::sync::Ordering;

impl JoinStack {
    /// From now on, a fork that is the only one and run by this is not made public: it is taken back so soon that it would be for nothing. Whatever is forked above it
    /// makes it public, and so may a thief, as with any private fork. Returns whether there was such a kind before. Owner only.
    pub(crate) fn keep_private(&self, execute: Option<unsafe fn(*const Job)>) -> bool {
        self.owner.kept.replace(execute).is_some()
    }

    /// # Safety
    /// `job` is alive.
    pub(super) unsafe fn is_kept(&self, job: *const Job) -> bool {
        // SAFETY: by contract.
        let execute = unsafe { (*job).execute };
        let kept = self.owner.kept.get();
        kept.is_some_and(|kept| kept as usize == execute as usize)
    }

    /// Is a fork on the stack that thieves see and have not taken? A hint, even for the owner: one may be taking it. By the invariant it is one load.
    #[inline]
    pub(crate) fn shows_work(&self) -> bool {
        !self.shared.limit.load(Ordering::Relaxed).is_null()
    }

    /// Are there private forks? Exact for the owner.
    #[inline]
    pub(crate) fn hides_work(&self) -> bool {
        self.owner.bottom.load(Ordering::Relaxed) > self.shared.low.load(Ordering::Relaxed)
    }

    /// Makes all private forks public: what a push does when nothing is, without one.
    ///
    /// # Safety
    /// The caller occupies this stack's seat.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn show(&self) {
        let bottom = self.owner.bottom.load(Ordering::Relaxed);
        // Its release publishes the forks, as in a slow push.
        let _lock = (!self.owner.flaws.has(Flaw::ShowUnlocked)).then(|| self.lock());
        if self.shared.low.load(Ordering::Relaxed) < bottom {
            self.set_low(bottom);
            self.restore_limit();
        }
    }
}
