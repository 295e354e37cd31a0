//! A theft, from the thief's side: which fork it takes, how it runs it, and how it tells the owner.
//!
//! *The frame is gone.* The fork lies in the frame of its `join`, which ends as soon as the slot says `DONE`: the thief has written the result before that, and touches nothing but the owner's parker, which is never
//! freed, afterwards.

use crate::cancel::uncancelled;
use crate::events;
use crate::inherited;
use crate::join_stack::Stolen;
use crate::rules::CHOICES;
use crate::seat::Seat;

/// The oldest fork that `victim` shows, for the thread in seat `thief`.
pub(crate) fn from<'a>(victim: &'a Seat, thief: &Seat) -> Option<(Stolen<'a>, &'a Seat)> {
    let stolen = victim.stack.thief().steal(thief.index, |_| true)?;
    Some((stolen, victim))
}

/// The fork that is nearest to the root of its computation, of those that a few victims show: it is likely to be the largest.
pub(crate) fn nearest_to_root<'a>(
    thief: &Seat,
    victims: impl Iterator<Item = &'a Seat> + Clone,
) -> Option<(Stolen<'a>, &'a Seat)> {
    let shows = |victim: &&Seat| victim.stack.thief().sees_work();
    let level = |victim: &&Seat| victim.stack.thief().level();
    let shown = victims.clone().filter(shows).take(CHOICES);
    let stolen = shown
        .min_by_key(level)
        .and_then(|victim| from(victim, thief));
    // If somebody was faster, any.
    stolen.or_else(|| victims.clone().find_map(|victim| from(victim, thief)))
}

impl Seat {
    /// Runs a stolen fork and tells its owner.
    ///
    /// # Safety
    /// The caller occupies this seat and has stolen the fork from the seat `victim`.
    pub(crate) unsafe fn run_stolen(&self, stolen: Stolen<'_>, victim: &Seat) {
        let (level, context) = (stolen.level + 1, stolen.slot.context());
        events::runs_stolen(self, victim, || {
            // SAFETY: passed on. `execute` does not unwind; the job is alive until we complete its slot.
            unsafe {
                let run = || ((*stolen.job).execute)(stolen.job);
                if inherited::is_in_use() && victim.floor() <= victim.stack.place_of(stolen.slot) {
                    self.run_at_level(level, context, || uncancelled(run));
                } else {
                    self.run_at_level(level, context, run);
                }
            }
        });
        if stolen.slot.complete() {
            victim.parker().unpark();
        }
    }
}
