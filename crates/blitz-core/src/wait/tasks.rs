//! Which tasks a waiting thread takes: its own, and, if it waits for tasks, others'. It meets strangers there, which it puts back to where others find them.

use super::Wait;
use crate::events;
use crate::task::TaskRef;

impl Wait<'_> {
    /// The newest task of our own deque, if it is ours; at the last look, the newest that is. The rest stays there, in order.
    ///
    /// # Safety
    /// The caller occupies the seat.
    pub(super) unsafe fn find_own_task(&mut self, last_look: bool) -> Option<TaskRef> {
        if self.stranger_on_top && !last_look {
            return None;
        }
        let mut strangers = Vec::new();
        let mut found = None;
        // SAFETY: passed on.
        while let Some(task) = unsafe { self.seat.pop_task() } {
            if self.is_ours(task.context()) {
                found = Some(task);
                break;
            }
            strangers.push(task);
            if !last_look {
                break;
            }
        }
        if !strangers.is_empty() {
            self.stranger_on_top = true;
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
