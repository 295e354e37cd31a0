//! Who has a CPU, and for how long: with more threads than CPUs they take turns.

use super::*;

impl World<'_> {
    /// The worker is busy for so long, and for what it owes, and goes on then.
    pub(super) fn run_for(&mut self, who: usize, ns: u64) {
        let worker = &mut self.workers[who];
        let owed = std::mem::take(&mut worker.debt);
        worker.burst_left = ns + owed;
        if worker.mode == Mode::Runs {
            self.outcome.overhead_ns += owed;
        }
        if worker.has_cpu {
            self.burst(who);
        } else {
            self.enqueue(who);
        }
    }

    pub(super) fn burst(&mut self, who: usize) {
        let crowded = self.machine.workers > self.machine.cpus;
        let worker = &mut self.workers[who];
        let left = worker.quantum_end.saturating_sub(self.now).max(1);
        let burst = if crowded {
            worker.burst_left.min(left)
        } else {
            worker.burst_left
        };
        worker.burst_left -= burst;
        self.event(self.now + burst, who, Event::Burst);
    }

    pub(super) fn burst_ends(&mut self, who: usize) {
        if self.workers[who].burst_left == 0 {
            return self.advance(who);
        }
        if self.ready.is_empty() {
            self.workers[who].quantum_end = self.now + self.machine.costs.a_turn();
            return self.burst(who);
        }
        self.leave_cpu(who);
        self.enqueue(who);
    }

    pub(super) fn leave_cpu(&mut self, who: usize) {
        if std::mem::take(&mut self.workers[who].has_cpu) {
            self.free_cpus += 1;
        }
        self.dispatch();
    }

    pub(super) fn enqueue(&mut self, who: usize) {
        self.ready.push_back(who);
        self.dispatch();
    }

    pub(super) fn dispatch(&mut self) {
        while self.free_cpus > 0 {
            let Some(who) = self.ready.pop_front() else {
                return;
            };
            self.free_cpus -= 1;
            let crowded = self.machine.workers > self.machine.cpus;
            let worker = &mut self.workers[who];
            worker.has_cpu = true;
            worker.quantum_end = self.now + self.machine.costs.a_turn();
            if crowded {
                worker.burst_left += self.machine.costs.switch;
            }
            if worker.mode == Mode::Waking {
                self.is_awake(who);
            }
            self.burst(who);
        }
    }

    /// `thread::yield_now`.
    pub(super) fn leave_cpu_and_queue(&mut self, who: usize) {
        self.ready.push_back(who);
        self.leave_cpu(who);
    }
}
