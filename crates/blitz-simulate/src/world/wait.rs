//! A worker that waits for a thief or for tasks, and what it may run meanwhile.

use super::*;

impl World<'_> {
    // Waiting: `wait::help_until`.

    pub(super) fn begin_wait(&mut self, who: usize) {
        let worker = &mut self.workers[who];
        worker.mode = Mode::Waits;
        worker.since = self.now;
        worker.forced = false;
        worker.rounds = 0;
    }

    pub(super) fn wait(&mut self, who: usize) {
        if self.help(who) {
            self.workers[who].mode = Mode::Runs;
            return self.run_for(who, 0);
        }
        if self.workers[who].mode == Mode::Runs {
            // What it helped with is over.
            self.begin_wait(who);
        }
        let waited = self.now - self.workers[who].since;
        if waited > self.patience {
            let worker = &mut self.workers[who];
            worker.mode = Mode::Parked;
            worker.debt = 0;
            worker.burst_left = self.machine.costs.sleep;
            self.outcome.parks += 1;
            return self.leave_cpu(who);
        }
        if waited > rules::FORCE_AFTER_US * US && !self.workers[who].forced {
            self.workers[who].forced = true;
            let victim = match self.workers[who].frames.last() {
                Some(Frame::AwaitFork { fork, .. }) => match self.forks[*fork].fate {
                    Fate::Stolen(thief) => Some(thief),
                    _ => None,
                },
                _ => (0..self.workers.len())
                    .find(|&other| other != who && self.workers[other].stack.sees_private()),
            };
            if let Some(victim) = victim.filter(|&victim| victim != who) {
                self.force(who, victim);
            }
        }
        self.look_again(who);
    }

    /// `Wait::find`.
    pub(super) fn help(&mut self, who: usize) -> bool {
        if self.shown == 0 && self.queued == 0 {
            return false;
        }
        let anything = self.machine.waiting == Waiting::Anything;
        let (target, lowest, thief, tasks) = match self.workers[who].frames.last() {
            Some(&Frame::AwaitFork {
                fork,
                lowest,
                target,
            }) => {
                let thief = match self.forks[fork].fate {
                    Fate::Stolen(thief) => Some(thief),
                    _ => None,
                };
                (target, lowest, thief, false)
            }
            Some(Frame::AwaitTasks { meet }) => (self.meets[*meet].context, 0, None, true),
            _ => return false,
        };
        let is_ours = |world: &Self, context: usize| anything || world.descends(context, target);
        if (tasks || anything) && self.queued > 0 {
            let own = self.workers[who].deque.back().copied();
            if let Some(task) = own
                && is_ours(self, self.task_made_in[task])
            {
                self.pop_task(who);
                self.start_task(who, task);
                return true;
            }
            if self.steal_tasks(who, |world, task| is_ours(world, world.task_made_in[task])) {
                return true;
            }
        }
        if self.shown == 0 {
            return false;
        }
        let wanted = |world: &Self, fork: usize| {
            let fork = &world.forks[fork];
            anything || (fork.level >= lowest && world.descends(fork.made_in, target))
        };
        let workers = self.workers.len();
        let first = thief
            .into_iter()
            .chain((1..workers).map(|offset| (who + offset) % workers));
        for victim in first.collect::<Vec<_>>() {
            if victim != who
                && self.workers[victim].stack.sees_work()
                && self.steal_fork(who, victim, false, wanted)
            {
                return true;
            }
        }
        false
    }
}
