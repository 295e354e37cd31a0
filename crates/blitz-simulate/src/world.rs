//! The simulation: virtual workers run a recorded program by the engine's rules, from event to event.
//!
//! What the engine decides with numbers (when to wake, to force, to sleep, to cut, to hesitate) comes from `blitz_core::rules`, and so does the join stack. What it decides by the
//! shape of its code (the order in which a thread looks for work, who passes the word on, what a waiting thread may take) is told again here; each such
//! place names the function it follows. The tests compare counts with those of the engine.
//!
//! Every block of a loop is an event. So that loops of days come to an end, too, programs of more than four seconds are cut into longer blocks than the engine's: a quarter of a million in all, and on
//! more than 64 cores four thousand for each, so that waiting for the end of a block stays below a hundredth of the whole.
//!
//! The same program on the same machine gives the same result, always: there is one generator of random numbers, with a fixed seed.

use crate::machine::{Cascade, Costs, Machine, Waiting};
use crate::program::{Program, Step};
use blitz_core::primitives::{BackoffMode, XorShift64Star};
use blitz_core::rules::{self, Popped};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

mod cpus;
mod forks;
mod search;
mod steps;
mod wait;
mod wakes;

/// What came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How long the program took.
    pub elapsed_ns: u64,
    /// The program's own code, of all workers.
    pub work_ns: u64,
    /// Forks, thefts, wakes and the like, of all workers.
    pub overhead_ns: u64,
    /// Forks and tasks that changed threads.
    pub steals: u64,
    /// Threads that were woken for work.
    pub wakes: u64,
    /// Private forks that were asked for by force.
    pub forced: u64,
    /// Waiting threads that went to sleep.
    pub parks: u64,
    /// The threads have come to wait for each other, and the program did not end: what can happen to threads that run anything while they wait ([`Waiting::Anything`]) where tasks
    /// are waited for that somebody else has spawned.
    pub stuck: bool,
    /// Of the event counter and the counts of sleepers and searchers.
    pub counters: WordUse,
    /// Of the bitmap of those who sleep.
    pub sleepers: WordUse,
    /// So many things happened, one after the other: what it took to find all this out.
    pub events: u64,
}

/// How much a word was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordUse {
    /// So many writes.
    pub writes: u64,
    /// It was under way or being written for so long.
    pub busy_ns: u64,
    /// Threads have waited for others that were writing, in all.
    pub waited_ns: u64,
}

impl Outcome {
    /// How many times as fast as one core without any overhead; 0 if it did not end.
    pub fn speedup(&self, program: &Program) -> f64 {
        if self.stuck {
            return 0.0;
        }
        program.work_ns() as f64 / self.elapsed_ns.max(1) as f64
    }
}

/// Runs `program` on `machine`.
///
/// ```
/// use blitz_simulate::{Machine, Program, simulate};
/// let text = "blitz recording 1\nplace here\nsteps\nl 8000000 1000 0\n";
/// let program = Program::read(text).unwrap();
/// let times = [1, 2, 4].map(|cores| simulate(&program, &Machine::with_cores(cores)).elapsed_ns);
/// assert!(times[0] >= 8_000_000 && times[1] < times[0] && times[2] < times[1]);
/// ```
pub fn simulate(program: &Program, machine: &Machine) -> Outcome {
    World::new(program, machine).run()
}

/// The speed-up of `program` on `machine` over the plain code, as the mean of `runs` with different luck.
///
/// One theft more or less changes a short computation by several per cent, so rules are compared by means.
///
/// ```
/// use blitz_simulate::{Machine, Program, mean_speedup};
/// let program = Program::read("blitz recording 1\nplace here\nsteps\nl 8000000 1000 0\n").unwrap();
/// assert!((1.9..=2.0).contains(&mean_speedup(&program, &Machine::with_cores(2), 4)));
/// ```
pub fn mean_speedup(program: &Program, machine: &Machine, runs: u64) -> f64 {
    let one = |run| {
        let seed = machine.seed + run;
        let machine = Machine {
            seed,
            ..machine.clone()
        };
        simulate(program, &machine).speedup(program)
    };
    (0..runs).map(one).sum::<f64>() / runs.max(1) as f64
}

/// Something to run.
#[derive(Clone, Copy, Debug)]
enum Work {
    Path(usize),
    /// A part of a loop, that is halved at least so often.
    Part {
        ns: u64,
        items: u64,
        levels: Option<u32>,
    },
}

#[derive(Clone, Copy, Debug)]
enum Frame {
    Path {
        path: usize,
        at: usize,
    },
    Part {
        ns: u64,
        items: u64,
        levels: Option<u32>,
    },
    /// The left half of a fork is above.
    Left {
        fork: usize,
    },
    /// A loop is above: the context outside.
    InLoop {
        outer: usize,
    },
    /// A stolen fork is above: the context outside, and when it began.
    Stolen {
        fork: usize,
        outer: usize,
        began: u64,
        hesitant: bool,
    },
    /// A task is above.
    Task {
        task: usize,
        outer: usize,
    },
    AwaitFork {
        fork: usize,
        lowest: usize,
        target: usize,
    },
    AwaitTasks {
        meet: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Offered,
    Stolen(usize),
    Done,
}

#[derive(Debug)]
struct Fork {
    right: Work,
    of_loop: bool,
    owner: usize,
    fate: Fate,
    /// What it descends from.
    made_in: usize,
    level: usize,
    /// What descends from it, once it is stolen.
    context: usize,
}

/// A level of ancestry.
#[derive(Debug)]
struct Context {
    parent: usize,
    /// Distance from the root, so that walks can stop.
    depth: usize,
    /// The level of its first fork, and the depth of the stack there.
    level: usize,
    stack: usize,
    of_loop: bool,
}

#[derive(Debug)]
struct Meet {
    /// Where it is in the program.
    path: usize,
    at: usize,
    left: usize,
    worker: usize,
    context: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Runs,
    Searches,
    Waits,
    Asleep,
    Parked,
    /// Claimed, and on its way.
    Waking,
}

#[derive(Debug)]
struct Worker {
    mode: Mode,
    frames: Vec<Frame>,
    stack: rules::Stack,
    forks: Vec<usize>,
    deque: VecDeque<usize>,
    context: usize,
    /// Costs that have come up and have not yet taken time.
    debt: u64,
    since: u64,
    force_at: u64,
    rounds: u32,
    forced: bool,
    fruitless: u32,
    hesitation_us: u64,
    hesitate_until: u64,
    running_since: u64,
    last_beat: u64,
    /// For the scheduler of the machine.
    has_cpu: bool,
    burst_left: u64,
    quantum_end: u64,
    lock: Word,
}

#[derive(Clone, Copy, Debug, Default)]
struct Word {
    free_at: u64,
    owner: usize,
    used: WordUse,
}

impl Word {
    /// A write at `at` by `who`: when it is through.
    fn write(&mut self, at: u64, who: usize, costs: &Costs) -> u64 {
        let begin = at.max(self.free_at);
        let takes = costs.rmw + costs.line(self.owner, who);
        self.used.writes += 1;
        self.used.busy_ns += takes;
        self.used.waited_ns += begin - at;
        self.owner = who;
        self.free_at = begin + takes;
        self.free_at
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Burst,
    Wakes,
}

const US: u64 = 1000;
const ROOT: usize = 0;

/// The most blocks that the loops of a program are cut into, but for those that thefts make.
const MOST_BLOCKS: u64 = 1 << 18;
/// Of each worker, if these are more.
const MOST_BLOCKS_EACH: u64 = 1 << 12;

/// A part of a loop is cut no further that takes this long, in microseconds: by the engine's rule, if the program is not long. In longer ones the blocks are longer.
pub(crate) fn block_us(work_ns: u64, workers: usize) -> f32 {
    let most = MOST_BLOCKS.max(MOST_BLOCKS_EACH * workers as u64);
    let fair = (work_ns / most) as f32 / US as f32;
    fair.max(rules::LOOP_WORTH_A_CUT_US)
}

struct World<'a> {
    program: &'a Program,
    machine: &'a Machine,
    now: u64,
    events: BinaryHeap<Reverse<(u64, u64, usize, Event)>>,
    made: u64,
    workers: Vec<Worker>,
    forks: Vec<Fork>,
    /// Indices of forks that are over.
    free_forks: Vec<usize>,
    contexts: Vec<Context>,
    /// A part of a loop that takes no longer, in microseconds, is one block.
    block_us: f32,
    meets: Vec<Meet>,
    /// Who waits for a task, whether it has ended, and the context it runs in.
    task_meets: Vec<Vec<usize>>,
    task_done: Vec<bool>,
    /// In somebody's deque.
    task_queued: Vec<bool>,
    /// See [`Program::spawners`]; empty until somebody asks.
    spawners: Vec<Option<usize>>,
    task_made_in: Vec<usize>,
    searching: usize,
    sleeping: usize,
    /// Workers with something public.
    shown: usize,
    queued: usize,
    counters: Word,
    sleepers: Word,
    free_cpus: usize,
    ready: VecDeque<usize>,
    rng: XorShift64Star,
    outcome: Outcome,
    patience: u64,
}

impl<'a> World<'a> {
    fn new(program: &'a Program, machine: &'a Machine) -> Self {
        let workers = machine.workers.max(1);
        let worker = |_| Worker {
            mode: Mode::Asleep,
            frames: Vec::new(),
            stack: rules::Stack::default(),
            forks: Vec::new(),
            deque: VecDeque::new(),
            context: ROOT,
            debt: 0,
            since: 0,
            force_at: 0,
            rounds: 0,
            forced: false,
            fruitless: 0,
            hesitation_us: 0,
            hesitate_until: 0,
            running_since: 0,
            last_beat: 0,
            has_cpu: false,
            burst_left: 0,
            quantum_end: 0,
            lock: Word::default(),
        };
        World {
            program,
            machine,
            now: 0,
            events: BinaryHeap::new(),
            made: 0,
            workers: (0..workers).map(worker).collect(),
            forks: Vec::new(),
            free_forks: Vec::new(),
            block_us: block_us(program.work_ns(), machine.workers),
            contexts: vec![Context {
                parent: ROOT,
                depth: 0,
                level: 0,
                stack: 0,
                of_loop: false,
            }],
            meets: Vec::new(),
            task_meets: vec![Vec::new(); program.tasks.len()],
            task_done: vec![false; program.tasks.len()],
            task_queued: vec![false; program.tasks.len()],
            spawners: Vec::new(),
            task_made_in: vec![ROOT; program.tasks.len()],
            searching: 0,
            sleeping: workers - 1,
            shown: 0,
            queued: 0,
            counters: Word::default(),
            sleepers: Word::default(),
            free_cpus: machine.cpus.max(1),
            ready: VecDeque::new(),
            rng: XorShift64Star::new(machine.seed),
            outcome: Outcome::default(),
            patience: rules::patience_us(BackoffMode::Balanced) * US,
        }
    }

    fn run(mut self) -> Outcome {
        // The caller, a guest in the first seat. Everybody else sleeps.
        let path = self.program.root();
        self.workers[0].mode = Mode::Runs;
        self.workers[0].frames.push(Frame::Path { path, at: 0 });
        self.run_for(0, 0);
        while !self.workers[0].frames.is_empty() {
            let Some(Reverse((now, _, worker, event))) = self.events.pop() else {
                if self.dig() {
                    continue;
                }
                self.outcome.stuck = true;
                break;
            };
            self.now = now;
            match event {
                Event::Wakes => self.enqueue(worker),
                Event::Burst => self.burst_ends(worker),
            }
        }
        self.outcome.elapsed_ns = self.now;
        self.outcome.events = self.made;
        self.outcome.counters = self.counters.used;
        self.outcome.sleepers = self.sleepers.used;
        self.outcome
    }

    // The machine's scheduler: threads take turns on CPUs.

    fn event(&mut self, at: u64, worker: usize, event: Event) {
        self.made += 1;
        self.events.push(Reverse((at, self.made, worker, event)));
    }

    fn new_context(&mut self, who: usize, parent: usize, level: usize, of_loop: bool) -> usize {
        let depth = self.contexts[parent].depth + 1;
        let stack = self.workers[who].stack.depth();
        self.contexts.push(Context {
            parent,
            depth,
            level,
            stack,
            of_loop,
        });
        self.contexts.len() - 1
    }

    /// The level of the next fork: `JoinStack::level`.
    fn level(&self, who: usize) -> usize {
        let worker = &self.workers[who];
        let context = &self.contexts[worker.context];
        context.level + worker.stack.depth().saturating_sub(context.stack)
    }

    fn descends(&self, mut context: usize, from: usize) -> bool {
        let depth = self.contexts[from].depth;
        while self.contexts[context].depth > depth {
            context = self.contexts[context].parent;
        }
        context == from
    }
}
