//! Forks, tasks and what waits for them: how they are made, taken back, handed on and ended.

use super::*;

impl World<'_> {
    /// `wake_cost::worth_a_wake`, after some wakes.
    pub(super) fn worth_a_wake(&self) -> u64 {
        let costs = &self.machine.costs;
        rules::worth_a_wake(costs.wake, costs.wake_latency, US)
    }

    /// `join`: push, and `wake::after_push`.
    pub(super) fn fork(&mut self, who: usize, left: Work, right: Work, of_loop: bool) {
        if of_loop && !self.contexts[self.workers[who].context].of_loop {
            // `demand::in_loop`.
            let (outer, level) = (self.workers[who].context, self.level(who));
            let context = self.new_context(who, outer, level, true);
            self.workers[who].context = context;
            self.workers[who].frames.push(Frame::InLoop { outer });
        }
        let expected = self.work_ns(left) + self.work_ns(right);
        let long = expected >= self.worth_a_wake();
        let made = Fork {
            right,
            of_loop,
            owner: who,
            fate: Fate::Offered,
            made_in: self.workers[who].context,
            level: self.level(who),
            context: ROOT,
        };
        let fork = match self.free_forks.pop() {
            Some(free) => {
                self.forks[free] = made;
                free
            }
            None => {
                self.forks.push(made);
                self.forks.len() - 1
            }
        };
        let worker = &mut self.workers[who];
        worker.forks.push(fork);
        if worker.running_since == 0 {
            worker.running_since = self.now.max(1);
        }
        if worker.stack.push() {
            self.shown += 1;
            worker.debt += self.machine.costs.expose;
            self.post(who);
            if self.searching == 0 && long && !self.wake_one(who) {
                self.wake_waiter_for(who, self.forks[fork].made_in);
            }
        } else {
            worker.debt += self.machine.costs.fork;
            let beat = self.now.saturating_sub(worker.last_beat) >= rules::FORCE_AFTER_US * US;
            if beat {
                worker.last_beat = self.now;
            }
            let at_it = self.now.saturating_sub(worker.running_since);
            let outlasts = beat && at_it >= self.worth_a_wake();
            if self.searching == 0 && (outlasts || (of_loop && long)) {
                self.wake_one(who);
            }
        }
        self.workers[who].frames.push(Frame::Left { fork });
        self.push_work(who, left);
    }

    /// The end of a `join`: `Pending::finish`.
    pub(super) fn take_back(&mut self, who: usize, fork: usize) {
        let worker = &mut self.workers[who];
        let showed = worker.stack.sees_work();
        let popped = worker.stack.pop();
        if showed && !worker.stack.sees_work() {
            self.shown -= 1;
        }
        if popped == Popped::Stolen {
            let target = self.forks[fork].context;
            let whole = self.forks[fork].made_in;
            let is_part = self.forks[fork].of_loop;
            // `Awaited::part_of`.
            let (target, lowest) = if is_part {
                (self.loop_of(whole), self.forks[fork].level)
            } else {
                (target, 0)
            };
            let worker = &mut self.workers[who];
            worker.frames.push(Frame::AwaitFork {
                fork,
                lowest,
                target,
            });
            self.begin_wait(who);
            return;
        }
        worker.forks.pop();
        if popped == Popped::Retaken {
            let at = self.now + worker.debt + self.machine.costs.retake;
            worker.debt = worker.lock.write(at, who, &self.machine.costs) - self.now;
        }
        let right = self.forks[fork].right;
        self.free_forks.push(fork);
        self.push_work(who, right);
    }

    /// The innermost loop that a context lies in.
    pub(super) fn loop_of(&self, mut context: usize) -> usize {
        while context != ROOT && !self.contexts[context].of_loop {
            context = self.contexts[context].parent;
        }
        context
    }

    /// Nobody has anything to do: somebody runs what it waits for itself, which lies in a queue and descends from something else; or the task that is yet to spawn that.
    pub(super) fn dig(&mut self) -> bool {
        let workers = self.workers.len();
        if self.spawners.is_empty() {
            self.spawners = self.program.spawners();
        }
        for who in 0..workers {
            let waiter = &self.workers[who];
            let (Mode::Parked, Some(&Frame::AwaitTasks { meet })) =
                (waiter.mode, waiter.frames.last())
            else {
                continue;
            };
            let Meet { path, at, .. } = self.meets[meet];
            let Step::Meet(awaited) = &self.program.paths[path].steps[at] else {
                unreachable!("somebody waits there");
            };
            for &task in awaited {
                let line = std::iter::successors(Some(task), |&task| self.spawners[task]);
                let Some(task) = line.into_iter().find(|&task| self.task_queued[task]) else {
                    continue;
                };
                self.take_from_queue(task, who);
                self.workers[who].mode = Mode::Runs;
                self.start_task(who, task);
                let at = self.now + self.machine.costs.wake_latency;
                self.event(at, who, Event::Wakes);
                return true;
            }
        }
        false
    }

    pub(super) fn take_from_queue(&mut self, task: usize, who: usize) {
        for victim in 0..self.workers.len() {
            let deque = &mut self.workers[victim].deque;
            if let Some(at) = deque.iter().rposition(|&queued| queued == task) {
                deque.remove(at);
                self.queued -= 1;
                self.outcome.steals += u64::from(victim != who);
                return;
            }
        }
    }

    pub(super) fn spawn(&mut self, who: usize, task: usize) {
        let worker = &mut self.workers[who];
        worker.deque.push_back(task);
        self.task_queued[task] = true;
        worker.debt += self.machine.costs.spawn;
        self.task_made_in[task] = worker.context;
        self.queued += 1;
        self.post(who);
        // `Pool::task_posted`.
        if self.searching == 0 && !self.wake_one(who) {
            self.wake_waiter_for(who, self.workers[who].context);
        }
    }

    pub(super) fn meet(&mut self, who: usize, tasks: &[usize], path: usize, at: usize) {
        let meet = self.meets.len();
        let mut left = 0;
        for &task in tasks {
            if !self.task_done[task] {
                self.task_meets[task].push(meet);
                left += 1;
            }
        }
        let context = self.workers[who].context;
        self.meets.push(Meet {
            path,
            at,
            left,
            worker: who,
            context,
        });
        self.workers[who].frames.push(Frame::AwaitTasks { meet });
        self.begin_wait(who);
    }

    pub(super) fn task_is_done(&mut self, who: usize, task: usize) {
        self.task_done[task] = true;
        for meet in std::mem::take(&mut self.task_meets[task]) {
            self.meets[meet].left -= 1;
            if self.meets[meet].left == 0 {
                self.unpark(self.meets[meet].worker, who);
            }
        }
    }

    pub(super) fn stolen_is_done(&mut self, who: usize, fork: usize, began: u64, hesitant: bool) {
        self.forks[fork].fate = Fate::Done;
        let owner = self.forks[fork].owner;
        let worker = &mut self.workers[who];
        worker.debt += self.machine.costs.line(who, owner);
        if hesitant {
            // `Worker::run_fork`.
            if self.now - began < rules::SHORT_US * US {
                worker.hesitation_us = rules::longer_hesitation_us(worker.hesitation_us);
                worker.hesitate_until = self.now + worker.hesitation_us * US;
            } else {
                worker.hesitation_us = 0;
                worker.hesitate_until = 0;
            }
        }
        let awaits = |frame: &Frame| matches!(frame, Frame::AwaitFork { fork: awaited, .. } if *awaited == fork);
        if self.workers[owner].frames.last().is_some_and(awaits) {
            self.unpark(owner, who);
        }
    }
}
