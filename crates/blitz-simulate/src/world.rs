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
        self.outcome.counters = self.counters.used;
        self.outcome.sleepers = self.sleepers.used;
        self.outcome
    }

    // The machine's scheduler: threads take turns on CPUs.

    fn event(&mut self, at: u64, worker: usize, event: Event) {
        self.made += 1;
        self.events.push(Reverse((at, self.made, worker, event)));
    }

    /// The worker is busy for so long, and for what it owes, and goes on then.
    fn run_for(&mut self, who: usize, ns: u64) {
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

    fn burst(&mut self, who: usize) {
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

    fn burst_ends(&mut self, who: usize) {
        if self.workers[who].burst_left == 0 {
            return self.advance(who);
        }
        if self.ready.is_empty() {
            self.workers[who].quantum_end = self.now + self.machine.costs.quantum;
            return self.burst(who);
        }
        self.leave_cpu(who);
        self.enqueue(who);
    }

    fn leave_cpu(&mut self, who: usize) {
        if std::mem::take(&mut self.workers[who].has_cpu) {
            self.free_cpus += 1;
        }
        self.dispatch();
    }

    fn enqueue(&mut self, who: usize) {
        self.ready.push_back(who);
        self.dispatch();
    }

    fn dispatch(&mut self) {
        while self.free_cpus > 0 {
            let Some(who) = self.ready.pop_front() else {
                return;
            };
            self.free_cpus -= 1;
            let crowded = self.machine.workers > self.machine.cpus;
            let worker = &mut self.workers[who];
            worker.has_cpu = true;
            worker.quantum_end = self.now + self.machine.costs.quantum;
            if crowded {
                worker.burst_left += self.machine.costs.switch;
            }
            if worker.mode == Mode::Waking {
                self.is_awake(who);
            }
            self.burst(who);
        }
    }

    // Running.

    fn advance(&mut self, who: usize) {
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

    fn set_top(&mut self, who: usize, frame: Frame) {
        *self.workers[who].frames.last_mut().expect("it is there") = frame;
    }

    fn push_work(&mut self, who: usize, work: Work) {
        self.workers[who].frames.push(match work {
            Work::Path(path) => Frame::Path { path, at: 0 },
            Work::Part { ns, items, levels } => Frame::Part { ns, items, levels },
        });
    }

    fn work_ns(&self, work: Work) -> u64 {
        match work {
            Work::Path(path) => self.program.paths[path].work_ns,
            Work::Part { ns, .. } => ns,
        }
    }

    /// `demand_loop`: `offered`, `offer`, `fork`. `false`: it is one block.
    fn cut(&mut self, who: usize, ns: u64, items: u64, levels: Option<u32>) -> bool {
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

    /// `wake_cost::worth_a_wake`, after some wakes.
    fn worth_a_wake(&self) -> u64 {
        let costs = &self.machine.costs;
        rules::worth_a_wake(costs.wake, costs.wake_latency, US)
    }

    /// `join`: push, and `wake::after_push`.
    fn fork(&mut self, who: usize, left: Work, right: Work, of_loop: bool) {
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
    fn take_back(&mut self, who: usize, fork: usize) {
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
    fn loop_of(&self, mut context: usize) -> usize {
        while context != ROOT && !self.contexts[context].of_loop {
            context = self.contexts[context].parent;
        }
        context
    }

    /// Nobody has anything to do: somebody runs what it waits for itself, which lies in a queue and descends from something else; or the task that is yet to spawn that.
    fn dig(&mut self) -> bool {
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

    fn take_from_queue(&mut self, task: usize, who: usize) {
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

    fn spawn(&mut self, who: usize, task: usize) {
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

    fn meet(&mut self, who: usize, tasks: &[usize], path: usize, at: usize) {
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

    fn task_is_done(&mut self, who: usize, task: usize) {
        self.task_done[task] = true;
        for meet in std::mem::take(&mut self.task_meets[task]) {
            self.meets[meet].left -= 1;
            if self.meets[meet].left == 0 {
                self.unpark(self.meets[meet].worker, who);
            }
        }
    }

    fn stolen_is_done(&mut self, who: usize, fork: usize, began: u64, hesitant: bool) {
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

    // The single words.

    /// `Sleep::post`.
    fn post(&mut self, who: usize) {
        self.write_counters(who);
    }

    fn write_counters(&mut self, who: usize) {
        if !self.machine.free_words {
            let at = self.now + self.workers[who].debt;
            let through = self.counters.write(at, who, &self.machine.costs);
            self.workers[who].debt = through - self.now;
        }
    }

    fn write_sleepers(&mut self, who: usize) {
        if !self.machine.free_words {
            let at = self.now + self.workers[who].debt;
            let through = self.sleepers.write(at, who, &self.machine.costs);
            self.workers[who].debt = through - self.now;
        }
    }

    // Sleeping and waking.

    /// `Pool::wake_one`, `Sleep::wake_one`: a sleeper counts as searching from the claim on.
    fn wake_one(&mut self, who: usize) -> bool {
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

    fn kick(&mut self, woken: usize, who: usize) {
        let worker = &mut self.workers[who];
        worker.debt += self.machine.costs.wake;
        let at = self.now + worker.debt + self.machine.costs.wake_latency;
        self.workers[woken].mode = Mode::Waking;
        self.event(at, woken, Event::Wakes);
    }

    /// `Pool::wake_waiters_for`.
    fn wake_waiter_for(&mut self, who: usize, context: usize) {
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

    fn awaited_context(&self, who: usize) -> Option<usize> {
        match self.workers[who].frames.last()? {
            Frame::AwaitFork { target, .. } => Some(*target),
            Frame::AwaitTasks { meet } => Some(self.meets[*meet].context),
            _ => None,
        }
    }

    fn unpark(&mut self, waiter: usize, who: usize) {
        if self.workers[waiter].mode == Mode::Parked {
            self.kick(waiter, who);
        }
    }

    fn is_awake(&mut self, who: usize) {
        let waits = self.awaited_context(who).is_some();
        if waits {
            self.begin_wait(who);
        } else {
            self.workers[who].mode = Mode::Searches;
            self.begin_search(who);
        }
    }

    // Searching: `Worker::search`.

    fn begin_search(&mut self, who: usize) {
        let patience = self.patience >> self.workers[who].fruitless;
        let worker = &mut self.workers[who];
        worker.since = self.now;
        worker.force_at = (rules::FORCE_AFTER_US * US).min(patience);
        worker.rounds = 0;
    }

    fn search(&mut self, who: usize) {
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
    fn look_again(&mut self, who: usize) {
        let workers = self.workers.len() as u64;
        let costs = &self.machine.costs;
        let worker = &mut self.workers[who];
        worker.rounds += 1;
        // Looking takes time, whatever it costs: else a thread would look for ever at the same moment.
        let look = (costs.look + costs.look_each * workers).max(1);
        if worker.rounds % 32 == 31 && !self.ready.is_empty() {
            worker.burst_left = look;
            self.leave_cpu_and_queue(who);
        } else {
            self.run_for(who, look);
        }
    }

    /// `thread::yield_now`.
    fn leave_cpu_and_queue(&mut self, who: usize) {
        self.ready.push_back(who);
        self.leave_cpu(who);
    }

    fn fall_asleep(&mut self, who: usize, crowded: bool) {
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

    /// How many threads are woken by one that has found work: `Worker::claim_and_take`, `pass_the_word_on`.
    fn successors(&mut self, who: usize) -> usize {
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

    fn hides_work(&self) -> bool {
        self.workers
            .iter()
            .any(|worker| worker.stack.sees_private())
    }

    fn force(&mut self, who: usize, victim: usize) {
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

    fn pop_task(&mut self, who: usize) -> Option<usize> {
        let task = self.workers[who].deque.pop_back();
        self.queued -= usize::from(task.is_some());
        task
    }

    fn start_task(&mut self, who: usize, task: usize) {
        self.task_queued[task] = false;
        let outer = self.workers[who].context;
        let context = self.new_context(who, self.task_made_in[task], 0, false);
        self.workers[who].context = context;
        self.workers[who].frames.push(Frame::Task { task, outer });
        let path = self.program.tasks[task];
        self.workers[who].frames.push(Frame::Path { path, at: 0 });
    }

    /// `Worker::take_from_pool`.
    fn find_anything(&mut self, who: usize) -> bool {
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

    fn first_level(&self, victim: usize) -> usize {
        let mut stack = self.workers[victim].stack.clone();
        let oldest = stack.steal(|_| true);
        oldest.map_or(usize::MAX, |slot| {
            self.forks[self.workers[victim].forks[slot]].level
        })
    }

    fn steal_fork(
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
    fn steal_tasks(&mut self, who: usize, wanted: impl Fn(&Self, usize) -> bool) -> bool {
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

    // Waiting: `wait::help_until`.

    fn begin_wait(&mut self, who: usize) {
        let worker = &mut self.workers[who];
        worker.mode = Mode::Waits;
        worker.since = self.now;
        worker.forced = false;
        worker.rounds = 0;
    }

    fn wait(&mut self, who: usize) {
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
    fn help(&mut self, who: usize) -> bool {
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
