//! A worker without work: where it looks, in which order, what it takes, and how it falls asleep.

use super::*;

impl World<'_> {
    // Searching: `Worker::search`.

    pub(super) fn begin_search(&mut self, who: usize) {
        let patience = self.patience >> self.workers[who].fruitless;
        let worker = &mut self.workers[who];
        worker.since = self.now;
        worker.force_at = (rules::FORCE_AFTER_US * US).min(patience);
        worker.rounds = 0;
    }

    pub(super) fn search(&mut self, who: usize) {
        if self.workers[who].mode == Mode::Runs {
            // `Worker::run_and_drain`.
            if let Some(task) = self.pop_task(who) {
                self.start_task(who, task);
                return self.run_for(who, 0);
            }
            self.workers[who].mode = Mode::Searches;
            self.workers[who].running_since = 0;
            self.searching += 1;
            self.write_counters(who);
            self.begin_search(who);
        }
        if self.find_anything(who) {
            // `Worker::claim_and_take`, `pass_the_word_on`.
            self.workers[who].mode = Mode::Runs;
            self.searching -= 1;
            self.write_counters(who);
            if self.workers[who].rounds > 0 {
                self.workers[who].fruitless = 0;
            }
            let successors = self.successors(who);
            for _ in 0..successors {
                self.wake_one(who);
            }
            return self.run_for(who, 0);
        }
        let workers = self.workers.len();
        let searched = self.now - self.workers[who].since;
        if searched > self.workers[who].force_at {
            let worker = &mut self.workers[who];
            worker.force_at = (worker.force_at * rules::FORCE_AGAIN).max(US);
            if let Some(victim) =
                (0..workers).find(|&other| self.workers[other].stack.sees_private())
            {
                self.force(who, victim);
                return self.run_for(who, 0);
            }
        }
        let worker = &self.workers[who];
        let patience = self.patience >> worker.fruitless;
        let crowded = worker.rounds == 0
            && workers > self.machine.cpus
            && self.searching > rules::crowd(workers);
        if searched > patience || crowded {
            return self.fall_asleep(who, crowded);
        }
        self.look_again(who);
    }

    /// A pause until the next look; now and then, others get the CPU.
    pub(super) fn look_again(&mut self, who: usize) {
        let look = self.machine.costs.a_look(self.workers.len());
        let worker = &mut self.workers[who];
        worker.rounds += 1;
        if worker.rounds % 32 == 31 && !self.ready.is_empty() {
            worker.burst_left = look;
            self.leave_cpu_and_queue(who);
        } else {
            self.run_for(who, look);
        }
    }

    pub(super) fn fall_asleep(&mut self, who: usize, crowded: bool) {
        let worker = &mut self.workers[who];
        if !crowded {
            worker.fruitless = (worker.fruitless + 1).min(rules::MAX_FRUITLESS);
        }
        // `Worker::must_stay_awake`.
        if !crowded && (self.shown > 0 || self.queued > 0 || self.hides_work()) {
            self.begin_search(who);
            return self.look_again(who);
        }
        // Sleepy, sleeping, among the parked.
        self.write_counters(who);
        self.write_counters(who);
        self.write_sleepers(who);
        self.workers[who].debt = 0;
        self.searching -= 1;
        self.sleeping += 1;
        self.workers[who].mode = Mode::Asleep;
        self.workers[who].burst_left = self.machine.costs.sleep;
        self.leave_cpu(who);
    }

    pub(super) fn hides_work(&self) -> bool {
        self.workers
            .iter()
            .any(|worker| worker.stack.sees_private())
    }

    pub(super) fn force(&mut self, who: usize, victim: usize) {
        self.workers[who].debt += self.machine.costs.force;
        let stack = &mut self.workers[victim].stack;
        let showed = stack.sees_work();
        if stack.force() {
            self.outcome.forced += 1;
            if !showed && stack.sees_work() {
                self.shown += 1;
            }
        }
    }

    pub(super) fn pop_task(&mut self, who: usize) -> Option<usize> {
        let task = self.workers[who].deque.pop_back();
        self.queued -= usize::from(task.is_some());
        task
    }

    pub(super) fn start_task(&mut self, who: usize, task: usize) {
        self.task_queued[task] = false;
        let outer = self.workers[who].context;
        let context = self.new_context(who, self.task_made_in[task], 0, false);
        self.workers[who].context = context;
        self.workers[who].frames.push(Frame::Task { task, outer });
        let path = self.program.tasks[task];
        self.workers[who].frames.push(Frame::Path { path, at: 0 });
    }

    /// `Worker::take_from_pool`.
    pub(super) fn find_anything(&mut self, who: usize) -> bool {
        if self.queued > 0 && self.steal_tasks(who, |_, _| true) {
            return true;
        }
        if self.shown == 0 || self.now < self.workers[who].hesitate_until {
            return false;
        }
        let workers = self.workers.len();
        let first = self.rng.below(workers);
        let shown: Vec<usize> = (0..workers)
            .map(|offset| (first + offset) % workers)
            .filter(|&other| self.workers[other].stack.sees_work())
            .take(rules::CHOICES)
            .collect();
        let best = shown
            .into_iter()
            .min_by_key(|&victim| self.first_level(victim));
        best.is_some_and(|victim| self.steal_fork(who, victim, true, |_, _| true))
    }

    pub(super) fn first_level(&self, victim: usize) -> usize {
        let mut stack = self.workers[victim].stack.clone();
        let oldest = stack.steal(|_| true);
        oldest.map_or(usize::MAX, |slot| {
            self.forks[self.workers[victim].forks[slot]].level
        })
    }

    pub(super) fn steal_fork(
        &mut self,
        who: usize,
        victim: usize,
        hesitant: bool,
        wanted: impl Fn(&Self, usize) -> bool,
    ) -> bool {
        // Whoever finds the lock taken gives up.
        if victim == who && !hesitant || self.workers[victim].lock.free_at > self.now {
            return false;
        }
        let mut stack = std::mem::take(&mut self.workers[victim].stack);
        let showed = stack.sees_work();
        let slot = stack.steal(|slot| wanted(self, self.workers[victim].forks[slot]));
        if showed && !stack.sees_work() {
            self.shown -= 1;
        }
        self.workers[victim].stack = stack;
        let Some(slot) = slot else { return false };
        let fork = self.workers[victim].forks[slot];
        let costs = &self.machine.costs;
        let through = self.workers[victim].lock.write(self.now, who, costs);
        // The lock, the fork, and what it works on.
        self.workers[who].debt += through - self.now + costs.steal + 2 * costs.line(victim, who);
        self.outcome.steals += 1;
        let outer = self.workers[who].context;
        let (made_in, level) = (self.forks[fork].made_in, self.forks[fork].level);
        // What a thief forks has a higher level; `Seat::run_stolen`.
        let of_loop = self.forks[fork].of_loop;
        let context = self.new_context(who, made_in, level + 1, of_loop);
        self.forks[fork].fate = Fate::Stolen(who);
        self.forks[fork].context = context;
        self.workers[who].context = context;
        self.workers[who].frames.push(Frame::Stolen {
            fork,
            outer,
            began: self.now,
            hesitant,
        });
        let right = match self.forks[fork].right {
            // `demand_loop::shared`.
            Work::Part { ns, items, levels } => Work::Part {
                ns,
                items,
                levels: levels.map(|levels| levels.max(rules::LOOP_LEVELS_SHARED)),
            },
            path => path,
        };
        self.push_work(who, right);
        true
    }

    /// The oldest task of the first worker that has one that is wanted; a thief that may run anything takes some more.
    pub(super) fn steal_tasks(
        &mut self,
        who: usize,
        wanted: impl Fn(&Self, usize) -> bool,
    ) -> bool {
        let workers = self.workers.len();
        let first = self.rng.below(workers);
        let searching = self.workers[who].mode == Mode::Searches;
        for offset in 0..workers {
            let victim = (first + offset) % workers;
            let Some(&task) = self.workers[victim].deque.front() else {
                continue;
            };
            if !wanted(self, task) {
                continue;
            }
            self.workers[victim].deque.pop_front();
            self.queued -= 1;
            let costs = &self.machine.costs;
            self.workers[who].debt += costs.steal + 2 * costs.line(victim, who);
            self.outcome.steals += u64::from(victim != who);
            if searching && victim != who {
                // `Worker::take_more_from`.
                let share = (self.workers[victim].deque.len() / 2).min(rules::MAX_LOOT);
                let loot: Vec<usize> = self.workers[victim].deque.drain(..share).collect();
                self.outcome.steals += loot.len() as u64;
                self.workers[who].deque.extend(loot.into_iter().rev());
            }
            self.start_task(who, task);
            return true;
        }
        false
    }
}
