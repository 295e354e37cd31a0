//! Who is woken, by whom and at what price: the words that all write, and the chain of wakes.

use super::*;

impl World<'_> {
    // The single words.

    /// `Sleep::post`.
    pub(super) fn post(&mut self, who: usize) {
        self.write_counters(who);
    }

    pub(super) fn write_counters(&mut self, who: usize) {
        if !self.machine.free_words {
            let at = self.now + self.workers[who].debt;
            let through = self.counters.write(at, who, &self.machine.costs);
            self.workers[who].debt = through - self.now;
        }
    }

    pub(super) fn write_sleepers(&mut self, who: usize) {
        if !self.machine.free_words {
            let at = self.now + self.workers[who].debt;
            let through = self.sleepers.write(at, who, &self.machine.costs);
            self.workers[who].debt = through - self.now;
        }
    }

    // Sleeping and waking.

    /// `Pool::wake_one`, `Sleep::wake_one`: a sleeper counts as searching from the claim on.
    pub(super) fn wake_one(&mut self, who: usize) -> bool {
        if self.sleeping == 0 {
            return false;
        }
        let workers = self.workers.len();
        let woken = (1..workers)
            .map(|offset| (who + offset) % workers)
            .find(|&other| self.workers[other].mode == Mode::Asleep);
        let Some(woken) = woken else { return false };
        self.sleeping -= 1;
        self.searching += 1;
        self.write_sleepers(who);
        self.write_counters(who);
        self.kick(woken, who);
        self.outcome.wakes += 1;
        true
    }

    pub(super) fn kick(&mut self, woken: usize, who: usize) {
        let worker = &mut self.workers[who];
        worker.debt += self.machine.costs.wake;
        let at = self.now + worker.debt + self.machine.costs.wake_latency;
        self.workers[woken].mode = Mode::Waking;
        self.event(at, woken, Event::Wakes);
    }

    /// `Pool::wake_waiters_for`.
    pub(super) fn wake_waiter_for(&mut self, who: usize, context: usize) {
        let waiter = (0..self.workers.len()).find(|&other| {
            self.workers[other].mode == Mode::Parked
                && self
                    .awaited_context(other)
                    .is_some_and(|awaited| self.descends(context, awaited))
        });
        if let Some(waiter) = waiter {
            self.kick(waiter, who);
        }
    }

    pub(super) fn awaited_context(&self, who: usize) -> Option<usize> {
        match self.workers[who].frames.last()? {
            Frame::AwaitFork { target, .. } => Some(*target),
            Frame::AwaitTasks { meet } => Some(self.meets[*meet].context),
            _ => None,
        }
    }

    pub(super) fn unpark(&mut self, waiter: usize, who: usize) {
        if self.workers[waiter].mode == Mode::Parked {
            self.kick(waiter, who);
        }
    }

    pub(super) fn is_awake(&mut self, who: usize) {
        let waits = self.awaited_context(who).is_some();
        if waits {
            self.begin_wait(who);
        } else {
            self.workers[who].mode = Mode::Searches;
            self.begin_search(who);
        }
    }

    /// How many threads are woken by one that has found work: `Worker::claim_and_take`, `pass_the_word_on`.
    pub(super) fn successors(&mut self, who: usize) -> usize {
        let workers = self.workers.len();
        let wanted = match self.machine.cascade {
            Cascade::Chain => 1,
            Cascade::Until(wanted) => wanted,
            Cascade::Later(wanted) if self.now > 2 * self.worth_a_wake() => wanted,
            Cascade::Later(_) => 1,
            Cascade::Tree | Cascade::Seen(_) => usize::MAX,
        };
        if self.searching >= wanted || self.sleeping == 0 {
            return 0;
        }
        self.workers[who].debt += self.machine.costs.look_each * workers as u64;
        if !(self.shown > 0 || self.queued > 0 || self.hides_work()) {
            return 0;
        }
        if let Cascade::Seen(most) = self.machine.cascade {
            let unseen = (self.shown + self.queued).saturating_sub(self.searching);
            return unseen.min(most).max(usize::from(self.searching == 0));
        }
        (wanted - self.searching).min(2)
    }
}
