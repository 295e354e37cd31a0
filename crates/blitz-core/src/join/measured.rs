//! Forks inside of a profile: each half leaves the work and span of what it did, which come together when the [`Forked`] is dropped. Without the feature, nothing of this remains.

use super::{FnContext, Known, fork};
#[cfg(feature = "profile")]
use crate::profile::Forked;
use crate::site::Site;

/// Forks, for a call at `site`.
#[inline(always)]
pub(super) fn measured<RA: Send, RB: Send>(
    site: Site,
    known: Known<impl Fn() + Send>,
    a: impl FnOnce(FnContext) -> RA + Send,
    b: impl FnOnce(FnContext) -> RB + Send,
) -> (RA, RB) {
    #[cfg(feature = "profile")]
    if let Some(forked) = Forked::at(site) {
        return profiled(forked, known, a, b);
    }
    #[cfg(not(feature = "profile"))]
    let _ = site;
    fork(known, false, a, b)
}

#[cfg(feature = "profile")]
fn profiled<RA: Send, RB: Send>(
    forked: Forked,
    known: Known<impl Fn() + Send>,
    a: impl FnOnce(FnContext) -> RA + Send,
    b: impl FnOnce(FnContext) -> RB + Send,
) -> (RA, RB) {
    let mut forked = forked.of_loop(known.within.is_loop());
    let called = Known::NOTHING.called;
    let (left, right) = forked.halves();
    fork(
        Known { called, ..known },
        false,
        |context| left.run(context.migrated(), || a(context)),
        |context| right.run(context.migrated(), || b(context)),
    )
}
