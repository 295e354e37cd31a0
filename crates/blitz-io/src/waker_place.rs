//! Leaving a waker in a place that a lock guards.
//!
//! Cloning or dropping a waker runs foreign code. It may panic, and it may try to take the same lock. So a clone is made before the
//! lock is taken, once it has turned out that one is needed. What was in the place before is dropped after the lock is released.

use std::task::Waker;

/// A waker on its way to a place under a lock.
pub(crate) struct Arriving<'a> {
    waker: &'a Waker,
    /// A clone to be left; afterwards, what it has replaced.
    spare: Option<Waker>,
}

impl Arriving<'_> {
    /// Leaves the waker, under the lock. `None`: there is no clone to be left yet, see [`leave`].
    pub(crate) fn at(&mut self, place: &mut Option<Waker>) -> Option<()> {
        let is_there = place
            .as_ref()
            .is_some_and(|there| there.will_wake(self.waker));
        if !is_there {
            let clone = self.spare.take()?;
            self.spare = place.replace(clone);
        }
        Some(())
    }
}

/// Calls `look`, which takes a lock, looks whether there is something to wait for, and leaves the waker if so. If it returns `None`, because there is no
/// clone yet, it is called once more with one.
pub(crate) fn leave<R>(waker: &Waker, mut look: impl FnMut(&mut Arriving<'_>) -> Option<R>) -> R {
    let mut arriving = Arriving { waker, spare: None };
    loop {
        if let Some(result) = look(&mut arriving) {
            return result;
        }
        arriving.spare = Some(waker.clone());
    }
}
