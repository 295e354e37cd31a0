//! Which tasks a waiting thread takes: its own, and, if it waits for tasks, others'. It meets strangers there, which it puts back to where others find them.

use super::Wait;
use crate::events;
use crate::task::TaskRef;
use std::iter;

impl Wait<'_> {
    /// The newest task of our own deque, if it is ours; at the last look, the newest that is.
    ///
    /// # Safety
    /// The caller occupies the seat.
    #[inline]
    pub(super) unsafe fn find_own_task(&mut self, last_look: bool) -> Option<TaskRef> {
        if last_look {
            // SAFETY: passed on.
            return unsafe { self.look_through_own() };
        }
        if self.stranger_on_top {
            return None;
        }
        // SAFETY: passed on.
        let task = unsafe { self.seat.pop_task() }?;
        if self.is_ours(task.context()) {
            return Some(task);
        }
        self.stranger_on_top = true;
        // SAFETY: passed on.
        unsafe { self.put_back(vec![task]) };
        None
    }

    /// The newest that is ours; the rest stays, in order.
    ///
    /// # Safety
    /// The caller occupies the seat.
    #[cold]
    unsafe fn look_through_own(&self) -> Option<TaskRef> {
        let mut strangers = Vec::new();
        // SAFETY: passed on.
        let mut tasks = iter::from_fn(|| unsafe { self.seat.pop_task() });
        let found = tasks.find_map(|task| {
            if self.is_ours(task.context()) {
                return Some(task);
            }
            strangers.push(task);
            None
        });
        if !strangers.is_empty() {
            strangers.reverse();
            // SAFETY: passed on.
            unsafe { self.put_back(strangers) };
        }
        found
    }

    /// One look at each queue, or, if it is the last, at all that is there. Another thread's task that is a stranger is put aside, into the shared queue.
    pub(super) fn find_task(&mut self, last_look: bool) -> Option<TaskRef> {
        let pool = self.seat.pool();
        for victim in self.others() {
            let queue = victim.stealer();
            for _ in 0..if last_look { queue.len() } else { 1 } {
                let Some(task) = queue.steal_until_settled() else {
                    break;
                };
                if self.is_ours(task.context()) {
                    if !last_look {
                        events::stole(self.seat, victim);
                    }
                    return Some(task);
                }
                self.strangers_seen = true;
                pool.put_back_stranger(task);
            }
        }
        let most = if last_look { usize::MAX } else { 1 };
        let task = pool.take_injected_in(most, |context| self.is_ours(context));
        self.strangers_seen |= task.is_none() && pool.injected() > 0;
        task
    }

    /// Puts strangers back onto our own deque, the last of them newest, and tells whoever may run them.
    ///
    /// # Safety
    /// The caller occupies the seat.
    unsafe fn put_back(&self, strangers: Vec<TaskRef>) {
        self.seat.pool().put_back_strangers(|pool, concerned| {
            for task in strangers {
                // SAFETY: the task is in our hands, so its context is alive; the caller occupies the seat.
                unsafe {
                    concerned.extend(pool.parkers_for(task.context()));
                    self.seat.push_task(task);
                }
            }
        });
    }
}
