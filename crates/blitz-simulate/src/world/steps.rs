//! What a worker does next with the path that it is in: its steps, one after the other, and how a loop is cut.

use super::*;

impl World<'_> {
    // Running.

    pub(super) fn advance(&mut self, who: usize) {
        loop {
            let Some(&frame) = self.workers[who].frames.last() else {
                if who > 0 {
                    self.search(who);
                }
                // The first worker has the program below everything that it helps with: it is over.
                return;
            };
            match frame {
                Frame::Path { path, at } => {
                    let Some(step) = self.program.paths[path].steps.get(at) else {
                        self.workers[who].frames.pop();
                        continue;
                    };
                    self.set_top(who, Frame::Path { path, at: at + 1 });
                    match step {
                        Step::Run { ns, forks, .. } => {
                            self.workers[who].debt += forks * self.machine.costs.fork;
                            self.outcome.work_ns += ns;
                            return self.run_for(who, *ns);
                        }
                        Step::Loop { ns, items, .. } => {
                            self.workers[who].frames.push(Frame::Part {
                                ns: *ns,
                                items: *items,
                                levels: None,
                            })
                        }
                        Step::Fork {
                            left,
                            right,
                            of_loop,
                            ..
                        } => {
                            self.fork(who, Work::Path(*left), Work::Path(*right), *of_loop);
                        }
                        Step::Spawn(task) => self.spawn(who, *task),
                        Step::Meet(tasks) => self.meet(who, tasks, path, at),
                    }
                }
                Frame::Part { ns, items, levels } => {
                    self.workers[who].frames.pop();
                    if !self.cut(who, ns, items, levels) {
                        self.outcome.work_ns += ns;
                        return self.run_for(who, ns);
                    }
                }
                Frame::Left { fork } => {
                    self.workers[who].frames.pop();
                    self.take_back(who, fork);
                }
                Frame::InLoop { outer } => {
                    self.workers[who].context = outer;
                    self.workers[who].frames.pop();
                }
                Frame::Stolen {
                    fork,
                    outer,
                    began,
                    hesitant,
                } => {
                    self.workers[who].frames.pop();
                    self.workers[who].context = outer;
                    self.stolen_is_done(who, fork, began, hesitant);
                    // The result has to be written before anybody sees it.
                    return self.run_for(who, 0);
                }
                Frame::Task { task, outer } => {
                    self.workers[who].frames.pop();
                    self.workers[who].context = outer;
                    self.task_is_done(who, task);
                }
                Frame::AwaitFork { fork, .. } => {
                    if self.forks[fork].fate != Fate::Done {
                        return self.wait(who);
                    }
                    self.workers[who].frames.pop();
                    self.workers[who].mode = Mode::Runs;
                    self.workers[who].stack.reclaim();
                    self.workers[who].forks.pop();
                    self.free_forks.push(fork);
                    self.workers[who].debt += self.machine.costs.transfer;
                }
                Frame::AwaitTasks { meet } => {
                    if self.meets[meet].left > 0 {
                        return self.wait(who);
                    }
                    self.workers[who].mode = Mode::Runs;
                    self.workers[who].frames.pop();
                }
            }
        }
    }

    pub(super) fn set_top(&mut self, who: usize, frame: Frame) {
        *self.workers[who].frames.last_mut().expect("it is there") = frame;
    }

    pub(super) fn push_work(&mut self, who: usize, work: Work) {
        self.workers[who].frames.push(match work {
            Work::Path(path) => Frame::Path { path, at: 0 },
            Work::Part { ns, items, levels } => Frame::Part { ns, items, levels },
        });
    }

    pub(super) fn work_ns(&self, work: Work) -> u64 {
        match work {
            Work::Path(path) => self.program.paths[path].work_ns,
            Work::Part { ns, .. } => ns,
        }
    }

    /// `demand_loop`: `offered`, `offer`, `fork`. `false`: it is one block.
    pub(super) fn cut(&mut self, who: usize, ns: u64, items: u64, levels: Option<u32>) -> bool {
        let us = ns as f32 / US as f32;
        let levels = match levels {
            Some(levels) => levels,
            None if items > 1
                && rules::is_loop_worth_sharing(
                    us,
                    self.worth_a_wake() as f32 / US as f32,
                    || self.searching > 0,
                ) =>
            {
                rules::LOOP_LEVELS
            }
            None => return false,
        };
        if items < 2 || (levels == 0 && us <= self.block_us) {
            return false;
        }
        let near = items / 2;
        let near_ns = (u128::from(ns) * u128::from(near) / u128::from(items)) as u64;
        let levels = Some(levels.saturating_sub(1));
        let left = Work::Part {
            ns: near_ns,
            items: near,
            levels,
        };
        let right = Work::Part {
            ns: ns - near_ns,
            items: items - near,
            levels,
        };
        self.fork(who, left, right, true);
        true
    }
}
