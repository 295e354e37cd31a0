//! What is queued in a pool, for whoever looks for something to run.

use super::Pool;
use crate::context::Context;
use crate::seat::Seat;
use crate::task::TaskRef;

impl Pool {
    /// Puts a task into the shared queue without telling anybody.
    pub(crate) fn put_aside(&self, task: TaskRef) {
        self.queue.push(task);
    }

    /// Takes the oldest task from the shared queue, but for the background's.
    pub(crate) fn take_injected(&self) -> Option<TaskRef> {
        self.queue.pop()
    }

    /// Takes the oldest background task.
    pub(crate) fn take_background(&self) -> Option<TaskRef> {
        self.background.pop()
    }

    /// Are there any?
    pub(crate) fn has_background_tasks(&self) -> bool {
        !self.background.is_empty()
    }

    /// Takes any task that is not the background's.
    pub(crate) fn take_urgent(&self) -> Option<TaskRef> {
        let steal = |seat: &Seat| seat.stealer().steal_until_settled();
        self.take_injected()
            .or_else(|| self.victims(0).find_map(steal))
    }

    /// Is there one?
    pub(crate) fn has_urgent_tasks(&self) -> bool {
        !self.queue.is_empty() || self.victims(0).any(|seat| !seat.stealer().is_empty())
    }

    /// Takes the oldest one of the `most` oldest tasks whose context is `wanted`. The others stay where they are.
    pub(crate) fn take_injected_in(
        &self,
        most: usize,
        wanted: impl Fn(*const Context) -> bool,
    ) -> Option<TaskRef> {
        let wanted = |task: &TaskRef| wanted(task.context());
        let urgent = self.queue.take(most, wanted);
        // Most pools never see one, and are spared the lock.
        urgent.or_else(|| {
            let any = !self.background.is_empty();
            any.then(|| self.background.take(most, wanted)).flatten()
        })
    }

    /// How many tasks are in the shared queues, about.
    pub(crate) fn injected(&self) -> usize {
        self.queue.len() + self.background.len()
    }

    /// Is there none?
    #[inline]
    pub(super) fn injected_nothing(&self) -> bool {
        self.queue.is_empty() && self.background.is_empty()
    }

    /// Are tasks in any queue?
    pub(crate) fn has_tasks(&self) -> bool {
        !self.background.is_empty() || self.has_urgent_tasks()
    }

    /// Could any thread find work?
    pub(crate) fn offers_work(&self) -> bool {
        !self.injected_nothing() || self.victims(0).any(Seat::offers_work)
    }

    /// Does anybody have forks that only [`force`](crate::join_stack::Thief::force) makes public?
    pub(crate) fn hides_work(&self) -> bool {
        self.victims(0).any(Seat::hides_work)
    }

    /// Makes somebody's private forks public.
    pub(crate) fn force_somebody(&self) -> bool {
        // The next one if somebody else is at it, or the owner was faster: the caller may be the last to search.
        let mut hidden = self.victims(0).filter(|seat| seat.hides_work());
        hidden.any(|seat| seat.stack.thief().force())
    }
}
