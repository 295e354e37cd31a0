//! What the page is told, four times a second: plain values, and the JSON that they become.
//!
//! Counts and times go up as long as somebody looks; whoever wants rates compares two frames. Only the `shares` of a worker are of this frame alone.

use crate::warnings::Warning;
use blitz_core::text::json::{self, Object};

/// What a worker can be doing, in the order of [`Worker::shares`].
pub(crate) const STATES: [&str; 7] = [
    "computing",
    "polling",
    "guest",
    "blocked",
    "stuck",
    "searching",
    "sleeping",
];

/// Time in each of [`STATES`], in milliseconds.
pub(crate) type Times = [f64; STATES.len()];

#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// Milliseconds since the page is served.
    pub(crate) at: f64,
    /// How long this frame is.
    pub(crate) length: f64,
    pub(crate) hooks: bool,
    pub(crate) process: Process,
    pub(crate) pools: Vec<Pool>,
    pub(crate) runtimes: Vec<Runtime>,
    pub(crate) tasks: Vec<Task>,
    /// How many tasks have been looked at: all of them, unless there are very many.
    pub(crate) looked_at: u64,
    pub(crate) spawns: Vec<Spawn>,
    pub(crate) sites: Vec<Site>,
    /// How many of these two there are: more than are in a frame that is sent, maybe.
    pub(crate) spawn_lines: u64,
    pub(crate) site_lines: u64,
    pub(crate) polls: Vec<LongPoll>,
    pub(crate) warnings: Vec<Warning>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) pid: u32,
    pub(crate) cpus: usize,
    pub(crate) threads: u64,
    pub(crate) memory: u64,
    /// Memory for spawned tasks of the pools.
    pub(crate) arenas: u64,
    /// CPUs used during the frame, and by the console's own thread.
    pub(crate) cpu: f64,
    pub(crate) own_cpu: f64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    pub(crate) name: String,
    pub(crate) queued: u64,
    pub(crate) memory: u64,
    pub(crate) extra: u64,
    pub(crate) injected: u64,
    pub(crate) workers: Vec<Worker>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Worker {
    pub(crate) shares: Times,
    pub(crate) totals: Times,
    /// Of its time, how much it ran on a CPU and how much it waited for one, if the system says so.
    pub(crate) cpu: Option<(f64, f64)>,
    /// What it works for: a call site, or a task's.
    pub(crate) at: String,
    pub(crate) tasks: u64,
    pub(crate) forks: bool,
    /// The word that its thread waits for in the kernel, if it is stuck there.
    pub(crate) waits_on: Option<u64>,
    pub(crate) counts: Counts,
}

macro_rules! counts {
    ($($name:ident,)*) => {
        /// See `blitz_core::WorkerStats`.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Counts { $(pub(crate) $name: u64,)* }

        impl Counts {
            pub(crate) const NAMES: &[&str] = &[$(stringify!($name),)*];

            pub(crate) fn values(&self) -> Vec<u64> {
                vec![$(self.$name,)*]
            }

            #[cfg(feature = "hooks")]
            pub(crate) fn of(stats: &blitz_core::WorkerStats) -> Self {
                Counts { $($name: stats.$name,)* }
            }
        }
    };
}

counts! {
    executed, stolen, forced, parked, woken, searches, guests, vain,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Runtime {
    pub(crate) name: String,
    /// The name of its pool; empty: it has none.
    pub(crate) pool: String,
    pub(crate) workers: u64,
    pub(crate) alive: u64,
    pub(crate) spawned: u64,
    pub(crate) queued: u64,
    pub(crate) polls: u64,
    pub(crate) stolen: u64,
    pub(crate) slot_hits: u64,
    pub(crate) overflows: u64,
    pub(crate) timers: u64,
    pub(crate) fired: u64,
    pub(crate) sockets: u64,
    pub(crate) blocking: (u64, u64, u64),
    /// Milliseconds of this frame in which the relief thread ran tasks, waited for sockets, rested.
    pub(crate) relief: [f64; 3],
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Task {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) at: String,
    pub(crate) runtime: String,
    pub(crate) state: &'static str,
    pub(crate) polls: u64,
    pub(crate) wakes: u64,
    pub(crate) busy: f64,
    pub(crate) age: f64,
}

/// All tasks of one line and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spawn {
    pub(crate) name: String,
    pub(crate) at: String,
    pub(crate) alive: u64,
    pub(crate) idle: u64,
    pub(crate) ready: u64,
    pub(crate) running: u64,
    pub(crate) done: u64,
    pub(crate) polls: u64,
    pub(crate) wakes: u64,
    pub(crate) busy: f64,
    pub(crate) longest: f64,
}

/// A line that calls a loop, a sort, or an outermost join.
#[derive(Clone, Debug, Default)]
pub(crate) struct Site {
    pub(crate) kind: &'static str,
    pub(crate) at: String,
    pub(crate) calls: u64,
    pub(crate) items: u64,
    pub(crate) time: f64,
    pub(crate) longest: f64,
    /// How many threads worked for it at a time, on average; 0 if it was never met.
    pub(crate) threads: f64,
    pub(crate) most_threads: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct LongPoll {
    /// Tells it from others.
    #[cfg(feature = "hooks")]
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) at: String,
    pub(crate) worker: String,
    pub(crate) time: f64,
    pub(crate) behind: u64,
    /// When it was last seen, on the clock of the frames.
    pub(crate) seen: f64,
    pub(crate) goes_on: bool,
}

/// Lines that are sent to the page of each kind. Metrics are of all: a counter must not come and go.
const LINES_SHOWN: usize = 200;

impl Frame {
    /// Keeps the lines that are shown: those in front.
    pub(crate) fn keep_lines_shown(&mut self) {
        // Nothing to be seen of them any more but that there were some.
        self.spawns
            .retain(|spawn| spawn.alive + spawn.done + spawn.polls > 0 || spawn.busy > 0.0);
        self.spawn_lines = self.spawns.len() as u64;
        self.site_lines = self.sites.len() as u64;
        self.spawns.truncate(LINES_SHOWN);
        self.sites.truncate(LINES_SHOWN);
    }

    /// As one line.
    pub(crate) fn to_json(&self) -> String {
        let mut out = String::with_capacity(8 * 1024);
        json::object(&mut out, |top| self.fill(top));
        out
    }

    fn fill(&self, top: &mut Object<'_>) {
        top.number("at", self.at);
        top.number("length", self.length);
        top.flag("hooks", self.hooks);
        top.object("process", |out| {
            let process = &self.process;
            out.text("name", &process.name);
            out.count("pid", u64::from(process.pid));
            out.count("cpus", process.cpus as u64);
            out.count("threads", process.threads);
            out.count("memory", process.memory);
            out.count("arenas", process.arenas);
            out.number("cpu", process.cpu);
            out.number("own_cpu", process.own_cpu);
        });
        top.objects("pools", &self.pools, |out, pool| {
            out.text("name", &pool.name);
            out.count("queued", pool.queued);
            out.count("memory", pool.memory);
            out.count("extra", pool.extra);
            out.count("injected", pool.injected);
            out.objects("workers", &pool.workers, worker);
        });
        top.objects("runtimes", &self.runtimes, |out, runtime| {
            out.text("name", &runtime.name);
            out.text("pool", &runtime.pool);
            out.count("workers", runtime.workers);
            out.count("alive", runtime.alive);
            out.count("spawned", runtime.spawned);
            out.count("queued", runtime.queued);
            out.count("polls", runtime.polls);
            out.count("stolen", runtime.stolen);
            out.count("slot_hits", runtime.slot_hits);
            out.count("overflows", runtime.overflows);
            out.count("timers", runtime.timers);
            out.count("fired", runtime.fired);
            out.count("sockets", runtime.sockets);
            let (threads, idle, queued) = runtime.blocking;
            out.numbers("blocking", [threads, idle, queued].map(|n| n as f64));
            out.numbers("relief", runtime.relief);
        });
        top.count("looked_at", self.looked_at);
        top.objects("tasks", &self.tasks, |out, task| {
            out.count("id", task.id);
            out.text("name", &task.name);
            out.text("at", &task.at);
            out.text("runtime", &task.runtime);
            out.text("state", task.state);
            out.count("polls", task.polls);
            out.count("wakes", task.wakes);
            out.number("busy", task.busy);
            out.number("age", task.age);
        });
        top.count("spawn_lines", self.spawn_lines);
        top.count("site_lines", self.site_lines);
        top.objects("spawns", &self.spawns, |out, spawn| {
            out.text("name", &spawn.name);
            out.text("at", &spawn.at);
            out.count("alive", spawn.alive);
            out.count("idle", spawn.idle);
            out.count("ready", spawn.ready);
            out.count("running", spawn.running);
            out.count("done", spawn.done);
            out.count("polls", spawn.polls);
            out.count("wakes", spawn.wakes);
            out.number("busy", spawn.busy);
            out.number("longest", spawn.longest);
        });
        top.objects("sites", &self.sites, |out, site| {
            out.text("kind", site.kind);
            out.text("at", &site.at);
            out.count("calls", site.calls);
            out.count("items", site.items);
            out.number("time", site.time);
            out.number("longest", site.longest);
            out.number("threads", site.threads);
            out.count("most_threads", site.most_threads);
        });
        top.objects("polls", &self.polls, |out, poll| {
            out.text("name", &poll.name);
            out.text("at", &poll.at);
            out.text("worker", &poll.worker);
            out.number("time", poll.time);
            out.count("behind", poll.behind);
            out.number("seen", poll.seen);
            out.flag("goes_on", poll.goes_on);
        });
        top.objects("warnings", &self.warnings, |out, warning| {
            out.text("kind", warning.kind);
            out.text("text", &warning.text);
            out.text("at", &warning.at);
        });
    }
}

fn worker(out: &mut Object<'_>, worker: &Worker) {
    out.numbers("shares", worker.shares);
    out.numbers("totals", worker.totals);
    if let Some((ran, waited)) = worker.cpu {
        out.number("ran", ran);
        out.number("waited", waited);
    }
    out.text("at", &worker.at);
    out.count("tasks", worker.tasks);
    out.flag("forks", worker.forks);
    let counts = Counts::NAMES.iter().zip(worker.counts.values());
    counts.for_each(|(name, value)| out.count(name, value));
}
