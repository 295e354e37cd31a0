//! What is seen of pools, runtimes, tasks and call sites.

mod polls;
mod pools;
mod runtimes;
mod sites;
mod tasks;

use crate::frame::{
    Counts, Frame, LongPoll, Pool, Runtime, STATES, Site, Spawn, Task, Times, Worker,
};
use crate::system::{self, InKernel, ThreadTimes};
use crate::warnings::{LONG_POLL, RELIEF};
use blitz_core::console::{self as engine, CallSite, Doing, PoolView};
use blitz_core::demand::ticks_per_us;
use blitz_io::console::{
    self as io, Polling, ReliefDoing, RuntimeView, Server, Spawned, TaskDoing, TaskView,
};
use std::collections::HashMap;
use std::panic::Location;
use std::time::Duration;

use pools::by_worker;
use runtimes::{schedulers, unlike};
use sites::key;

/// Samples between two looks at where threads are in the kernel, and threads that are looked at each time.
const KERNEL_EVERY: u64 = 10;
const KERNEL_THREADS: usize = 16;
/// Tasks that are looked at in each list of a runtime, of which there are some dozens; and tasks that are shown.
const TASKS_LOOKED_AT: usize = 512;
const TASKS_SHOWN: usize = 200;
/// Long polls that are remembered.
const POLLS: usize = 32;
/// Letters of a runtime's name that are shown.
const LONGEST_NAME: usize = 100;

const COMPUTING: usize = 0;
const POLLING: usize = 1;
const GUEST: usize = 2;
const BLOCKED: usize = 3;
const STUCK: usize = 4;
const SEARCHING: usize = 5;
const SLEEPING: usize = 6;

/// See the module's documentation.
#[derive(Default)]
pub(crate) struct Seen {
    looking: Option<io::Looking>,
    samples: u64,
    pools: HashMap<usize, PoolSeen>,
    pools_met: usize,
    /// By scheduler.
    schedulers: HashMap<usize, SchedulerSeen>,
    /// By address.
    tasks: HashMap<usize, TaskSeen>,
    spawns: HashMap<Spawned, SpawnSeen>,
    sites: HashMap<usize, SiteSeen>,
    polls: Vec<LongPoll>,
    polls_met: u64,
    /// Of runtimes, by number.
    names: HashMap<String, String>,
}

struct PoolSeen {
    name: String,
    /// It is the name of a runtime, and stays.
    is_named: bool,
    workers: Vec<WorkerSeen>,
    next_in_kernel: usize,
}

#[derive(Clone, Default)]
struct WorkerSeen {
    shares: Times,
    totals: Times,
    kernel: Option<InKernel>,
    stuck: bool,
    times: Option<ThreadTimes>,
    at: String,
}

#[derive(Default)]
struct SchedulerSeen {
    /// The numbers of its runtimes: without any of them it is another one in the memory of one that is gone.
    runtimes: Vec<String>,
    /// By the numbers of who runs its tasks.
    cores: HashMap<usize, CoreSeen>,
    relief: [f64; 3],
}

/// A poll that goes on.
struct CoreSeen {
    progress: u64,
    /// Where its task was spawned, if that had to be looked up.
    spawned: Option<Spawned>,
    was_looked_up: bool,
    since: f64,
    behind: usize,
    /// The number of its entry in the list of long polls, if it is one.
    long: Option<u64>,
    /// How long its thread had run when the poll began to look long.
    ran: Option<Duration>,
}

struct TaskSeen {
    number: u64,
    first: f64,
    busy: f64,
    /// All of them, and as the task counts them.
    polls: u64,
    counted: u32,
    there: bool,
}

#[derive(Default)]
struct SpawnSeen {
    busy: f64,
    longest: f64,
}

#[derive(Default)]
struct SiteSeen {
    wall: f64,
    work: f64,
    most: u64,
}

/// As people write it.
fn line(location: &Location<'_>) -> String {
    format!("{}:{}", location.file(), location.line())
}

impl Seen {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn open(&mut self) {
        self.looking = Some(blitz_io::console::look());
    }

    pub(crate) fn close(&mut self) {
        self.looking = None;
        // Polls that were seen going on are not followed any more.
        self.schedulers.clear();
        self.tasks.clear();
    }

    pub(crate) fn sample(&mut self, at: f64, passed: f64) {
        self.samples += 1;
        let pools = engine::pools();
        let mut polling: HashMap<usize, Vec<Option<Polling>>> = HashMap::new();
        let schedulers = schedulers();
        self.keep_schedulers(&schedulers);
        for (runtime, _) in &schedulers {
            let mut servers: Vec<_> = runtime.servers().collect();
            let pool = pools.iter().find(|pool| Some(pool.key()) == runtime.pool());
            self.sample_polls(runtime, pool, &mut servers, at, passed);
            if let Some(pool) = runtime.pool() {
                polling.insert(pool, by_worker(&servers));
            }
        }
        // Those that were not seen just now, in any runtime, are over.
        for poll in &mut self.polls {
            poll.goes_on &= poll.seen == at;
        }
        // Call sites, and how many threads work for each.
        let mut sites: Vec<(&'static CallSite, u64)> = Vec::new();
        for pool in &pools {
            let cores = polling.get(&pool.key()).map_or(&[][..], |cores| cores);
            self.sample_pool(pool, cores, passed, &mut sites);
        }
        for (site, threads) in sites {
            let seen = self.sites.entry(key(site)).or_default();
            seen.wall += passed;
            seen.work += passed * threads as f64;
            seen.most = seen.most.max(threads);
        }
    }

    /// Everything that has been seen.
    pub(crate) fn fill(&mut self, frame: &mut Frame) {
        frame.hooks = true;
        frame.process.arenas = engine::arena_memory() as u64;
        let views = engine::pools();
        let alive: Vec<usize> = views.iter().map(PoolView::key).collect();
        self.pools.retain(|key, _| alive.contains(key));
        let runtimes = io::runtimes();
        for pool in &views {
            let met = &mut self.pools_met;
            let seen = self
                .pools
                .entry(pool.key())
                .or_insert_with(|| PoolSeen::new(pool, met));
            let of_runtime = runtimes
                .iter()
                .filter(|runtime| runtime.pool() == Some(pool.key()) && !pool.is_global())
                .find_map(RuntimeView::name);
            if let (false, Some(name)) = (seen.is_named, of_runtime) {
                let others = self.pools.values().map(|other| other.name.as_str());
                let name = unlike(name, others.chain([GLOBAL]));
                let seen = self.pools.get_mut(&pool.key()).expect("just met");
                (seen.name, seen.is_named) = (name, true);
            }
            let seen = &self.pools[&pool.key()];
            frame.pools.push(seen.show(pool, frame.length));
        }
        self.name_runtimes(&runtimes);
        for runtime in &runtimes {
            frame.runtimes.push(self.show_runtime(runtime));
        }
        self.look_at_tasks(&runtimes, frame);
        self.show_sites(frame);
        frame.polls.clone_from(&self.polls);
        frame
            .polls
            .sort_by(|a, b| b.goes_on.cmp(&a.goes_on).then(b.time.total_cmp(&a.time)));
    }

    pub(crate) fn frame_ends(&mut self) {
        for pool in engine::pools() {
            if let Some(seen) = self.pools.get_mut(&pool.key()) {
                // It may have fewer threads than a moment ago.
                let workers = seen.workers.iter_mut().take(pool.num_threads());
                for (index, worker) in workers.enumerate() {
                    worker.shares = Times::default();
                    worker.times = pool.thread(index).and_then(system::thread_times);
                }
            }
        }
        for scheduler in self.schedulers.values_mut() {
            scheduler.relief = [0.0; 3];
        }
    }
}

/// What the global pool is called, and no other one.
const GLOBAL: &str = "global";

#[cfg(test)]
mod tests;
