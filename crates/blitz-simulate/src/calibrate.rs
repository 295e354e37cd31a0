//! What a recording owes to the profiler.
//!
//! The profiler adds some 60 ns to a strand, and subtracts what it has measured beforehand in a program of its own. In another program it is a few nanoseconds more or less: where the
//! code lies, what the caches and the branch predictor know. Strands of microseconds do not show it; a recursion that forks at each call consists of it.
//!
//! How much it is in the program at hand can be told, if one knows how long that takes on one thread without being recorded: the recording, simulated on one thread, has to take as long. So
//! one number, the nanoseconds by which each strand is too long, is taken from runs on one thread, and everything else is still a prediction.
//!
//! What a fork costs is measured in another program, too, and all forks together cannot cost more than the whole takes on one thread: in `fib` they would.

use crate::machine::Machine;
use crate::program::Program;
use crate::world::simulate;

/// More than this is not the profiler's: half of what it adds to a strand.
const MOST_NS: f64 = 30.0;

/// By how much the strands of recordings of a program are too long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibrated {
    /// So many nanoseconds each; less than zero: too short.
    pub ns_per_strand: f64,
    /// What a fork costs: as on the machine, or less if that is more than it can be here.
    pub fork_ns: u64,
}

impl Calibrated {
    /// Of a program that takes `alone_ns` on one thread of `machine` without being recorded. If it would have to be more than half of what the profiler adds to a strand, the difference has other
    /// reasons, and nothing is corrected.
    pub fn by(program: &Program, machine: &Machine, alone_ns: u64) -> Self {
        let most = alone_ns / program.forks().max(1);
        let uncorrected = Calibrated {
            ns_per_strand: 0.0,
            fork_ns: machine.costs.fork.min(most),
        };
        let machine = Machine {
            workers: 1,
            cpus: 1,
            ..uncorrected.machine(machine)
        };
        let strands = program.strands().max(1) as f64;
        let mut ns_per_strand = 0.0;
        // Some are shorter than what would have to be taken from them: then the others have to give more.
        for _ in 0..20 {
            let elapsed = simulate(&program.shortened(ns_per_strand), &machine).elapsed_ns;
            ns_per_strand += (elapsed as f64 - alone_ns as f64) / strands;
            if ns_per_strand.abs() > MOST_NS {
                return uncorrected;
            }
        }
        Calibrated {
            ns_per_strand,
            ..uncorrected
        }
    }

    /// The machine, as far as it can be such a one.
    #[must_use]
    pub fn machine(self, machine: &Machine) -> Machine {
        let mut machine = machine.clone();
        machine.costs.fork = self.fork_ns;
        machine
    }

    /// The program without that.
    #[must_use]
    pub fn apply(self, program: &Program) -> Program {
        program.shortened(self.ns_per_strand)
    }
}
