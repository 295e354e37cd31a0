//! What a thread of a pool takes, in which order: its own tasks, the companion's work, others' tasks, forks, and what waits in the background.

use super::{Work, Worker};
use crate::clock::{ticks, ticks_per_us};
use crate::events;
use crate::priority::SHARE;
use crate::rules::MAX_LOOT;
use crate::seat::Seat;
use crate::steal;
use crate::task::TaskRef;

/// Tasks of the own deque between two looks at the shared queue.
const FAIRNESS: u32 = 61;
/// How long a thread that has nothing but background tasks runs them between two looks at what the companion would hear of in its sleep.
const DEAF_US: u64 = 50;

impl<'a> Worker<'a> {
    /// What to run next without a search. The companion and the pool take turns.
    ///
    /// # Safety
    /// The thread occupies its seat.
    pub(super) unsafe fn take_next(&mut self, since_fairness: &mut u32) -> Option<Work<'a>> {
        if self.is_surplus() {
            return None;
        }
        let background = self.take_background_if_due();
        if background.is_some() {
            return background;
        }
        let companion = self.companion_has_work().then_some(Work::Companion);
        // SAFETY: passed on.
        unsafe {
            if !self.companion_was_last {
                return companion.or_else(|| take_local(self.seat, since_fairness).map(Work::Task));
            }
            // Everything the pool has, since the companion may keep us from searching for ever.
            let work = match &companion {
                Some(_) => self.take_from_pool(true),
                None => take_local(self.seat, since_fairness).map(Work::Task),
            };
            if work.is_some() && companion.is_some() {
                // The companion's work has relied on us, and we may be gone for long.
                self.pool.wake_if_nobody_searches();
            }
            work.or(companion)
        }
    }

    /// # Safety
    /// The thread occupies its seat.
    pub(super) unsafe fn take(&mut self, steals: bool) -> Option<Work<'a>> {
        let background = self.take_background_if_due();
        if background.is_some() {
            return background;
        }
        let companion = self.companion_has_work();
        if companion && !self.companion_was_last {
            return Some(Work::Companion);
        }
        // SAFETY: passed on.
        unsafe { self.take_from_pool(steals) }
            .or(companion.then_some(Work::Companion))
            .or_else(|| self.companion_hears_of_work().then_some(Work::Companion))
            .or_else(|| self.take_background())
    }

    /// Only background tasks are left, if anything. There may always be some, and then the thread never sleeps, where it would hear of sockets and timers: their tasks come first, too.
    fn companion_hears_of_work(&mut self) -> bool {
        let Some(companion) = &self.companion else {
            return false;
        };
        if !self.pool.has_background_tasks() {
            return false;
        }
        let now = ticks();
        if now.saturating_sub(self.listened) < DEAF_US * ticks_per_us() {
            return false;
        }
        self.listened = now;
        companion.listen() && companion.has_work()
    }

    /// # Safety
    /// The thread occupies its seat.
    unsafe fn take_from_pool(&mut self, steals: bool) -> Option<Work<'a>> {
        let mut since_fairness = 0;
        // SAFETY: passed on.
        if let Some(task) = unsafe { take_local(self.seat, &mut since_fairness) } {
            return Some(Work::Task(task));
        }
        let pool = self.pool;
        let victims = pool.victims(self.rng.below(pool.num_threads()));
        // Tasks before forks: a fork that nobody takes is run by its owner, a task that nobody takes is not. Whoever spawns something
        // and then forks expects it to get going first.
        for victim in victims.clone().filter(|_| steals) {
            if let Some(task) = task_from(victim, self.seat) {
                // SAFETY: passed on.
                unsafe { self.take_more_from(victim) };
                return Some(Work::Loot(task));
            }
        }
        if let Some(task) = self.pool.take_injected() {
            return Some(Work::Task(task));
        }
        // A guest may have left forks in our own seat's stack, too.
        let stolen = steals.then(|| steal::nearest_to_root(self.seat, victims));
        stolen
            .flatten()
            .map(|(stolen, victim)| Work::Fork(stolen, victim))
    }

    /// The background's oldest task, if it has had to wait for its share.
    fn take_background_if_due(&mut self) -> Option<Work<'a>> {
        let is_due = self.since_background > SHARE;
        is_due.then(|| self.take_background()).flatten()
    }

    /// The background's oldest task.
    fn take_background(&mut self) -> Option<Work<'a>> {
        self.since_background = 0;
        self.pool.take_background().map(Work::Task)
    }

    /// Takes up to half of what `victim` still has, so that a swarm of small tasks does not cost a search each.
    ///
    /// # Safety
    /// The thread occupies its seat.
    unsafe fn take_more_from(&self, victim: &Seat) {
        let share = (victim.stealer().len() / 2).min(MAX_LOOT);
        if std::ptr::eq(victim, self.seat) || share == 0 {
            return;
        }
        let mut loot = [const { None }; MAX_LOOT];
        let mut taken = 0;
        while taken < share {
            let Some(task) = victim.stealer().steal_until_settled() else {
                break;
            };
            loot[taken] = Some(task);
            taken += 1;
            self.seat.stats.stolen.one();
        }
        if taken == 0 {
            return;
        }
        // Whoever waits for these tasks may have looked for them while they were in our hands. The cascade after
        // the theft tells those who sleep.
        self.pool.put_back_strangers(|pool, concerned| {
            // Newest first onto our deque, so that we run the oldest first, as a thief does.
            for task in loot[..taken].iter_mut().rev().filter_map(Option::take) {
                // SAFETY: the task is in our hands, so its context is alive; the rest is passed on.
                unsafe {
                    if pool.waiters.any() {
                        concerned.extend(pool.parkers_for(task.context()));
                    }
                    self.seat.push_task(task);
                }
            }
        });
    }
}

/// The next task that is this seat's own: newest first, then broadcasts; now and then an outsider's.
///
/// # Safety
/// The caller occupies the seat.
pub(crate) unsafe fn take_local(seat: &Seat, since_fairness: &mut u32) -> Option<TaskRef> {
    *since_fairness += 1;
    if *since_fairness > FAIRNESS {
        *since_fairness = 0;
        if let Some(task) = seat.pool().take_injected() {
            return Some(task);
        }
    }
    // SAFETY: passed on.
    unsafe { seat.pop_task() }.or_else(|| seat.mailbox.pop())
}

/// The oldest task of `victim`'s, for the thread in seat `thief`.
pub(super) fn task_from(victim: &Seat, thief: &Seat) -> Option<TaskRef> {
    let task = victim.stealer().steal_until_settled()?;
    events::stole(thief, victim);
    Some(task)
}
