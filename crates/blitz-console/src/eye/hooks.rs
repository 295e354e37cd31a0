//! What is seen of pools, runtimes, tasks and call sites.

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

impl CoreSeen {
    /// A poll has taken long: has it, or has its thread waited for a CPU? Where the system does not say, it has; but not that of a relief thread, which begins when others have
    /// all CPUs.
    fn is_at_fault(&mut self, server: &Server, pool: Option<&PoolView>) -> bool {
        let thread = match server.worker {
            Some(worker) => pool.and_then(|pool| pool.thread(worker)),
            None => server.relief_thread,
        };
        let Some((thread, times)) =
            thread.and_then(|thread| Some((thread, system::thread_times(thread)?)))
        else {
            return server.worker.is_some();
        };
        // What it does from now on, or that it sleeps.
        let ran = times.ran.saturating_sub(*self.ran.get_or_insert(times.ran));
        let sleeps = || {
            let place = system::in_kernel(thread);
            place.is_some_and(|place| place != InKernel::No)
        };
        ran.as_secs_f64() * 1e3 >= LONG_POLL / 2.0 || sleeps()
    }
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

impl TaskSeen {
    fn new(task: &TaskView, first: f64) -> Self {
        TaskSeen {
            number: task.number,
            first,
            busy: 0.0,
            polls: task.polls.into(),
            counted: task.polls,
            there: true,
        }
    }

    /// It is seen again.
    fn update(&mut self, task: &TaskView) {
        let more = task.polls.wrapping_sub(self.counted);
        self.polls += u64::from(more);
        self.counted = task.polls;
        self.there = true;
    }
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

/// What each worker polls.
fn by_worker(servers: &[Server]) -> Vec<Option<Polling>> {
    let workers = servers.iter().filter_map(|server| server.worker);
    let mut polling = vec![None; workers.max().map_or(0, |last| last + 1)];
    for server in servers {
        if let Some(worker) = server.worker {
            polling[worker] = server.polling;
        }
    }
    polling
}

/// As people write it.
fn line(location: &Location<'_>) -> String {
    format!("{}:{}", location.file(), location.line())
}

/// One runtime for each scheduler, and the numbers of all that have it.
fn schedulers() -> Vec<(RuntimeView, Vec<String>)> {
    let mut found: Vec<(RuntimeView, Vec<String>)> = Vec::new();
    for runtime in io::runtimes() {
        let number = runtime.id();
        match found
            .iter_mut()
            .find(|other| other.0.scheduler() == runtime.scheduler())
        {
            Some((_, numbers)) => numbers.push(number),
            None => found.push((runtime, vec![number])),
        }
    }
    found
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

    /// Forgets those that are gone, also if there is another one in their memory.
    fn keep_schedulers(&mut self, alive: &[(RuntimeView, Vec<String>)]) {
        self.schedulers.retain(|key, seen| {
            let same = alive
                .iter()
                .find(|(runtime, _)| runtime.scheduler() == *key);
            same.is_some_and(|(_, numbers)| {
                numbers.iter().any(|number| seen.runtimes.contains(number))
            })
        });
        for (runtime, numbers) in alive {
            let seen = self.schedulers.entry(runtime.scheduler()).or_default();
            seen.runtimes.clone_from(numbers);
        }
    }

    fn sample_polls(
        &mut self,
        runtime: &RuntimeView,
        pool: Option<&PoolView>,
        servers: &mut [Server],
        at: f64,
        passed: f64,
    ) {
        let scheduler = self.schedulers.entry(runtime.scheduler()).or_default();
        let relief = match runtime.relief() {
            ReliefDoing::Working => 0,
            ReliefDoing::Attending => 1,
            ReliefDoing::Resting => 2,
        };
        scheduler.relief[relief] += passed;
        // What belongs to a relief thread that is gone, too.
        let polls = |number: usize| {
            let server = servers.iter().find(|server| server.number == number);
            server.is_some_and(|server| server.polling.is_some())
        };
        scheduler.cores.retain(|number, _| polls(*number));
        for server in servers {
            let Some(polling) = &mut server.polling else {
                continue;
            };
            let fresh = || CoreSeen {
                progress: polling.progress,
                spawned: None,
                was_looked_up: false,
                since: at,
                behind: 0,
                long: None,
                ran: None,
            };
            let core = scheduler.cores.entry(server.number).or_insert_with(fresh);
            if core.progress != polling.progress {
                *core = fresh();
            } else if polling.spawned.is_none() && !core.was_looked_up {
                // It has begun before anybody looked, and goes on.
                core.spawned = runtime.spawned(polling.task);
                core.was_looked_up = true;
            }
            polling.spawned = polling.spawned.or(core.spawned);
            let polling = *polling;
            let Some(spawned) = polling.spawned else {
                continue;
            };
            let spawn = self.spawns.entry(spawned).or_default();
            spawn.busy += passed;
            if let Some(task) = self.tasks.get_mut(&polling.task) {
                task.busy += passed;
            }
            core.behind = core.behind.max(polling.behind);
            let time = at - core.since;
            if !polling.holds_worker {
                continue;
            }
            let is_listed = core.long.is_some();
            if time < LONG_POLL || !is_listed && !core.is_at_fault(server, pool) {
                continue;
            }
            spawn.longest = spawn.longest.max(time);
            let worker = match server.worker {
                Some(index) => format!("worker {index}"),
                None => RELIEF.to_string(),
            };
            let polls_met = &mut self.polls_met;
            let number = *core.long.get_or_insert_with(|| {
                *polls_met += 1;
                *polls_met
            });
            let known = self.polls.iter().position(|poll| poll.number == number);
            let poll = match known {
                Some(position) => &mut self.polls[position],
                None => {
                    if self.polls.len() == POLLS {
                        forget_one(&mut self.polls);
                    }
                    self.polls.push(LongPoll {
                        number,
                        name: spawned.name.unwrap_or_default().into(),
                        at: line(spawned.line),
                        worker,
                        goes_on: true,
                        ..LongPoll::default()
                    });
                    self.polls.last_mut().expect("just pushed")
                }
            };
            poll.time = time;
            poll.behind = core.behind as u64;
            poll.seen = at;
        }
    }

    fn sample_pool(
        &mut self,
        pool: &PoolView,
        cores: &[Option<Polling>],
        passed: f64,
        sites: &mut Vec<(&'static CallSite, u64)>,
    ) {
        let met = &mut self.pools_met;
        let seen = self
            .pools
            .entry(pool.key())
            .or_insert_with(|| PoolSeen::new(pool, met));
        seen.workers
            .resize_with(pool.num_threads(), WorkerSeen::default);
        if self.samples % KERNEL_EVERY == 0 {
            seen.look_into_kernel(pool);
        }
        for (index, worker) in seen.workers.iter_mut().enumerate() {
            let site = pool.site(index);
            let polling = cores.get(index).and_then(Option::as_ref);
            let state = match pool.doing(index) {
                Doing::Running if worker.stuck => STUCK,
                Doing::Running if polling.is_some() && site.is_none() => POLLING,
                Doing::Running => COMPUTING,
                Doing::Guest => GUEST,
                Doing::Blocked => BLOCKED,
                Doing::Searching => SEARCHING,
                Doing::Sleeping => SLEEPING,
            };
            if state != STUCK {
                worker.stuck = false;
            }
            worker.shares[state] += passed;
            worker.totals[state] += passed;
            let works = matches!(state, COMPUTING | GUEST);
            if let (true, Some(site)) = (works, site) {
                match sites.iter_mut().find(|known| std::ptr::eq(known.0, site)) {
                    Some(known) => known.1 += 1,
                    None => sites.push((site, 1)),
                }
            }
            if works || state == POLLING || state == STUCK {
                worker.at = match (site, polling) {
                    (Some(site), _) => format!("{} {}", line(site.location), site.kind),
                    (
                        None,
                        Some(Polling {
                            spawned: Some(spawned),
                            ..
                        }),
                    ) => line(spawned.line),
                    (None, _) => String::new(),
                };
            }
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

    /// Each has a name of its own, as long as it is there.
    fn name_runtimes(&mut self, runtimes: &[RuntimeView]) {
        let numbers: Vec<String> = runtimes.iter().map(RuntimeView::id).collect();
        self.names.retain(|number, _| numbers.contains(number));
        for (runtime, number) in runtimes.iter().zip(numbers) {
            if !self.names.contains_key(&number) {
                let without = format!("#{number}");
                let wanted = runtime.name().unwrap_or(&without);
                let name = unlike(wanted, self.names.values().map(String::as_str));
                self.names.insert(number, name);
            }
        }
    }

    fn name_of(&self, runtime: &RuntimeView) -> String {
        self.names.get(&runtime.id()).cloned().unwrap_or_default()
    }

    fn show_runtime(&self, runtime: &RuntimeView) -> Runtime {
        let metrics = runtime.metrics();
        let sum = |count: fn(&blitz_io::runtime::WorkerMetrics) -> u64| -> u64 {
            metrics.workers.iter().map(count).sum()
        };
        let (timers, fired) = runtime.timers();
        let pool = runtime.pool().and_then(|pool| self.pools.get(&pool));
        let scheduler = self.schedulers.get(&runtime.scheduler());
        let scheduler = scheduler.filter(|seen| seen.runtimes.contains(&runtime.id()));
        Runtime {
            name: self.name_of(runtime),
            pool: pool.map(|pool| pool.name.clone()).unwrap_or_default(),
            workers: runtime.workers() as u64,
            alive: metrics.alive as u64,
            spawned: metrics.spawned,
            queued: metrics.queued as u64,
            polls: sum(|worker| worker.polled),
            stolen: sum(|worker| worker.stolen),
            slot_hits: sum(|worker| worker.lifo_hits),
            overflows: sum(|worker| worker.overflows),
            timers,
            fired,
            sockets: runtime.sockets() as u64,
            blocking: (
                metrics.blocking_threads as u64,
                metrics.blocking_idle as u64,
                metrics.blocking_queued as u64,
            ),
            relief: scheduler.map(|seen| seen.relief).unwrap_or_default(),
        }
    }

    fn look_at_tasks(&mut self, runtimes: &[RuntimeView], frame: &mut Frame) {
        let mut spawns: HashMap<Spawned, Spawn> = HashMap::new();
        let now = frame.at;
        let tasks = &mut frame.tasks;
        for runtime in runtimes {
            let name = self.name_of(runtime);
            let known = &mut self.tasks;
            runtime.tasks(TASKS_LOOKED_AT, |task| {
                let fresh = || TaskSeen::new(&task, now);
                let seen = known.entry(task.address).or_insert_with(fresh);
                if seen.number != task.number {
                    // Another one in the memory of one that is through.
                    *seen = fresh();
                }
                seen.update(&task);
                let wakes = task.wakes(seen.polls);
                let spawn = spawns.entry(task.spawned).or_default();
                spawn.alive += 1;
                spawn.polls += seen.polls;
                spawn.wakes += wakes;
                let state = match task.doing {
                    TaskDoing::Running => {
                        spawn.running += 1;
                        "running"
                    }
                    TaskDoing::Ready => {
                        spawn.ready += 1;
                        "ready"
                    }
                    TaskDoing::Idle => {
                        spawn.idle += 1;
                        "idle"
                    }
                };
                tasks.push(Task {
                    id: seen.number,
                    name: task.spawned.name.unwrap_or_default().into(),
                    at: line(task.spawned.line),
                    runtime: name.clone(),
                    state,
                    polls: seen.polls,
                    wakes,
                    busy: seen.busy,
                    age: now - seen.first,
                });
            });
        }
        self.tasks
            .retain(|_, seen| std::mem::replace(&mut seen.there, false));
        io::forget_tasks(|address| self.tasks.contains_key(&address));
        frame.tasks.sort_by(|a, b| {
            let by_busy = b.busy.total_cmp(&a.busy);
            by_busy.then(b.polls.cmp(&a.polls)).then(a.id.cmp(&b.id))
        });
        frame.looked_at = frame.tasks.len() as u64;
        frame.tasks.truncate(TASKS_SHOWN);
        for (spawned, done, polls) in io::ended() {
            let spawn = spawns.entry(spawned).or_default();
            spawn.done += done;
            spawn.polls += polls;
            // As `TaskView::wakes`: each poll but the first came of one.
            spawn.wakes += polls.saturating_sub(done);
        }
        // Also those of which nothing is left: counters stay.
        for spawned in spawns.keys() {
            self.spawns.entry(*spawned).or_default();
        }
        for spawned in self.spawns.keys() {
            spawns.entry(*spawned).or_default();
        }
        // The compiler may have made a line more than once.
        let mut lines: HashMap<(String, &str), Spawn> = HashMap::new();
        for (spawned, mut spawn) in spawns {
            if let Some(seen) = self.spawns.get(&spawned) {
                spawn.busy = seen.busy;
                spawn.longest = seen.longest;
            }
            let key = (line(spawned.line), spawned.name.unwrap_or_default());
            add_spawn(lines.entry(key).or_default(), &spawn);
        }
        let shown = lines.into_iter().map(|((at, name), spawn)| Spawn {
            name: name.into(),
            at,
            ..spawn
        });
        frame.spawns.extend(shown);
        frame.spawns.sort_by(|a, b| {
            let by_busy = b.busy.total_cmp(&a.busy);
            by_busy.then(b.polls.cmp(&a.polls)).then(a.at.cmp(&b.at))
        });
    }

    fn show_sites(&self, frame: &mut Frame) {
        let per_ms = ticks_per_us().max(1) as f64 * 1e3;
        // A line can have several calls, and the compiler may have made one more than once.
        let mut lines: HashMap<(&str, String), (Site, f64, f64)> = HashMap::new();
        for site in engine::sites() {
            let numbers = site.numbers();
            let seen = self.sites.get(&key(site));
            if numbers.calls == 0 && seen.is_none() {
                continue;
            }
            let at = line(site.location);
            let (shown, work, wall) = lines.entry((site.kind, at)).or_default();
            shown.calls += numbers.calls;
            shown.items += numbers.items;
            shown.time += numbers.ticks as f64 / per_ms;
            shown.longest = shown.longest.max(numbers.longest as f64 / per_ms);
            if let Some(seen) = seen {
                shown.most_threads = shown.most_threads.max(seen.most);
                *work += seen.work;
                *wall += seen.wall;
            }
        }
        let shown = lines.into_iter().map(|((kind, at), (site, work, wall))| {
            let threads = work / wall.max(1e-9);
            Site {
                kind,
                at,
                threads,
                ..site
            }
        });
        frame.sites.extend(shown);
        frame
            .sites
            .sort_by(|a, b| b.time.total_cmp(&a.time).then(a.at.cmp(&b.at)));
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

fn key(site: &'static CallSite) -> usize {
    std::ptr::from_ref(site) as usize
}

/// What the global pool is called, and no other one.
const GLOBAL: &str = "global";

/// The name, not too long, with a number behind it if somebody has it already.
fn unlike<'a>(name: &str, others: impl Iterator<Item = &'a str> + Clone) -> String {
    let mut short: String = name.chars().take(LONGEST_NAME).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    let names = std::iter::once(short.clone())
        .chain((2..).map(|number: u32| format!("{short} ({number})")));
    let mut free = names.filter(|name| !others.clone().any(|other| other == name));
    free.next().expect("there are enough numbers")
}

/// The shortest of those that are over.
fn forget_one(polls: &mut Vec<LongPoll>) {
    let over = polls.iter().enumerate().filter(|(_, poll)| !poll.goes_on);
    let shortest = over.min_by(|a, b| a.1.time.total_cmp(&b.1.time));
    let index = shortest.map_or(0, |(index, _)| index);
    polls.remove(index);
}

fn add_spawn(to: &mut Spawn, from: &Spawn) {
    to.alive += from.alive;
    to.idle += from.idle;
    to.ready += from.ready;
    to.running += from.running;
    to.done += from.done;
    to.polls += from.polls;
    to.wakes += from.wakes;
    to.busy += from.busy;
    to.longest = to.longest.max(from.longest);
}

impl PoolSeen {
    fn new(pool: &PoolView, met: &mut usize) -> Self {
        let name = if pool.is_global() {
            GLOBAL.to_string()
        } else {
            *met += 1;
            format!("#{met}")
        };
        PoolSeen {
            name,
            is_named: false,
            workers: vec![WorkerSeen::default(); pool.num_threads()],
            next_in_kernel: 0,
        }
    }

    /// Where are the threads that should run something? One that waits for a word there waits for a lock.
    fn look_into_kernel(&mut self, pool: &PoolView) {
        let threads = self.workers.len();
        for _ in 0..threads.min(KERNEL_THREADS) {
            let index = self.next_in_kernel % threads;
            self.next_in_kernel = index + 1;
            let worker = &mut self.workers[index];
            let before = worker.kernel.take();
            if pool.doing(index) != Doing::Running {
                worker.stuck = false;
                continue;
            }
            worker.kernel = pool.thread(index).and_then(system::in_kernel);
            worker.stuck = match worker.kernel {
                Some(InKernel::Word(_)) => true,
                // Many go in and out of calls all the time.
                Some(InKernel::Call(_)) => worker.kernel == before,
                _ => false,
            };
        }
    }

    fn show(&self, pool: &PoolView, length: f64) -> Pool {
        // It may have fewer threads than a moment ago.
        let workers = self.workers.iter().take(pool.num_threads());
        let workers = workers.enumerate().map(|(index, seen)| {
            let now = pool.thread(index).and_then(system::thread_times);
            let cpu = match (seen.times, now) {
                (Some(before), Some(now)) => {
                    let part = |now: std::time::Duration, before| {
                        now.saturating_sub(before).as_secs_f64() * 1e3 / length
                    };
                    Some((part(now.ran, before.ran), part(now.waited, before.waited)))
                }
                _ => None,
            };
            Worker {
                shares: seen.shares,
                totals: seen.totals,
                cpu,
                at: seen.at.clone(),
                tasks: pool.tasks_waiting(index) as u64,
                forks: pool.has_forks(index),
                waits_on: match (seen.stuck, seen.kernel) {
                    (true, Some(InKernel::Word(word))) => Some(word),
                    _ => None,
                },
                counts: Counts::of(&pool.stats(index)),
            }
        });
        debug_assert_eq!(STATES[SLEEPING], "sleeping");
        Pool {
            name: self.name.clone(),
            queued: pool.queued() as u64,
            memory: pool.memory() as u64,
            extra: pool.extra_seats() as u64,
            injected: pool.injected(),
            workers: workers.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It begins when others have all CPUs.
    #[test]
    fn a_relief_thread_that_has_not_run_is_not_at_fault() {
        let fault = |worker, relief_thread| {
            let server = Server {
                number: 2,
                worker,
                relief_thread,
                polling: None,
            };
            let mut core = CoreSeen {
                progress: 1,
                spawned: None,
                was_looked_up: false,
                since: 0.0,
                behind: 0,
                long: None,
                ran: None,
            };
            core.is_at_fault(&server, None)
        };
        // Nobody knows.
        assert!(fault(Some(1), None));
        assert!(!fault(None, None));
        // This one wants a CPU, and has not run since anybody asked.
        use std::sync::atomic::{AtomicBool, Ordering};
        let goes_on = &AtomicBool::new(true);
        std::thread::scope(|scope| {
            let (tell, told) = std::sync::mpsc::channel();
            scope.spawn(move || {
                tell.send(engine::thread_number()).unwrap();
                while goes_on.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let thread = told.recv().unwrap();
            // It may be in the middle of telling.
            std::thread::sleep(Duration::from_millis(20));
            let faults = fault(None, Some(thread));
            goes_on.store(false, Ordering::Relaxed);
            assert!(!faults);
        });
    }

    fn nobody_is_there() {
        while !engine::pools().is_empty() {
            std::thread::yield_now();
        }
    }

    /// The two are the same memory, now and then.
    #[test]
    fn a_pool_in_the_place_of_another_is_another() {
        let pool = |threads| {
            blitz::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
        };
        let mut met = 0;
        for _ in 0..100 {
            let mut seen = Seen::new();
            seen.open();
            let first = pool(9);
            let key = engine::pools()[0].key();
            seen.sample(0.0, 4.0);
            seen.fill(&mut Frame::default());
            first.shutdown();
            drop(first);
            nobody_is_there();
            // One of them is where the first one was, mostly.
            let others: Vec<_> = (0..8).map(|_| pool(1)).collect();
            met += u32::from(engine::pools().iter().any(|pool| pool.key() == key));
            let mut frame = Frame::default();
            seen.fill(&mut frame);
            for (index, pool) in frame.pools.iter().enumerate() {
                assert_eq!(pool.workers.len(), 1);
                assert_eq!(pool.name, format!("#{}", index + 2), "the name of another");
            }
            others.iter().for_each(blitz::ThreadPool::shutdown);
            drop(others);
            nobody_is_there();
        }
        assert_eq!(met, 0, "two pools had the same key");
    }

    /// They are the same memory, mostly, and spawned by the same line.
    #[test]
    fn a_task_in_the_place_of_another_inherits_nothing() {
        let runtime = blitz_io::Builder::new_current_thread().build().unwrap();
        let mut seen = Seen::new();
        seen.open();
        let (mut addresses, mut numbers) = (Vec::new(), Vec::new());
        for _ in 0..50 {
            let named = blitz_io::task::Builder::new().name("one after the other");
            let forever = std::future::pending::<()>();
            let task = named.spawn_on(forever, runtime.handle()).unwrap();
            runtime.block_on(blitz_io::task::yield_now());
            let mut frame = Frame::default();
            seen.fill(&mut frame);
            let named = |task: &&Task| task.name == "one after the other";
            let shown = frame.tasks.iter().find(named).unwrap();
            assert_eq!((shown.polls, shown.busy), (1, 0.0));
            let mut known = seen.tasks.iter_mut();
            let (&address, known) = known.find(|(_, known)| known.number == shown.id).unwrap();
            known.busy = 1000.0;
            addresses.push(address);
            numbers.push(shown.id);
            // Seen again, it is the same.
            let mut frame = Frame::default();
            seen.fill(&mut frame);
            let shown = frame.tasks.iter().find(named).unwrap();
            assert_eq!(Some(&shown.id), numbers.last());
            task.abort();
            runtime.block_on(async { task.await.unwrap_err() });
        }
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 50, "two tasks had the same number");
        addresses.sort_unstable();
        addresses.dedup();
        println!("different addresses: {}", addresses.len());
    }

    #[test]
    fn polls_are_counted_beyond_what_tasks_can_count() {
        let runtime = blitz_io::Builder::new_current_thread().build().unwrap();
        let _task = runtime.spawn(async {});
        let mut view = None;
        for runtime in io::runtimes() {
            runtime.tasks(1, |task| view = Some(task));
        }
        let mut view = view.unwrap();
        view.polls = u32::MAX - 1;
        let mut seen = TaskSeen::new(&view, 0.0);
        for polls in u64::from(u32::MAX) - 1..(1 << 32) + 3 {
            view.polls = polls as u32;
            seen.update(&view);
            assert_eq!(seen.polls, polls);
        }
    }

    #[test]
    fn a_scheduler_in_the_place_of_another_is_another() {
        let runtime = || {
            let mut builder = blitz_io::Builder::new_current_thread();
            builder.name("one of many").build().unwrap()
        };
        let address = || {
            let all = io::runtimes().into_iter();
            let own = all.filter(|runtime| runtime.name() == Some("one of many"));
            own.map(|runtime| runtime.scheduler()).next()
        };
        let mut met = 0;
        for _ in 0..100 {
            let mut seen = Seen::new();
            seen.open();
            let first = runtime();
            let place = address();
            seen.sample(0.0, 4.0);
            drop(first);
            let _other = runtime();
            met += u32::from(address() == place);
            let shown = |seen: &mut Seen| {
                let mut frame = Frame::default();
                seen.fill(&mut frame);
                let mut own = frame.runtimes.into_iter();
                let own = own.find(|runtime| runtime.name.starts_with("one of many"));
                own.unwrap().relief
            };
            assert_eq!(shown(&mut seen), [0.0; 3]);
            seen.sample(8.0, 4.0);
            assert_eq!(shown(&mut seen), [0.0, 0.0, 4.0]);
        }
        println!("in the same place: {met} times");
    }
}
