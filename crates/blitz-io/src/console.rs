//! What runtimes and their tasks do right now, for somebody who looks at them while they run: the page of `blitz-console`.
//!
//! Read from another thread, with plain loads, and with the locks that guard the lists of tasks, each for some hundred tasks at most.

use crate::ended;
use crate::place::Place;
use crate::runtime::Metrics;
use crate::scheduler::{Core, Shared};
use crate::task::Header;
use blitz_core::console::ForkLock;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::{Arc, Weak};

/// All runtimes, and how many look at them. In the child of a fork there are none, and nobody does.
#[derive(Default)]
struct Known {
    runtimes: Vec<Weak<Shared>>,
    looking: usize,
}

static KNOWN: ForkLock<Known> = ForkLock::new(Known {
    runtimes: Vec::new(),
    looking: 0,
});

/// A runtime begins.
pub(crate) fn begins(runtime: &Arc<Shared>) {
    blitz_core::console::begins();
    let mut known = KNOWN.lock();
    known.runtimes.retain(|runtime| runtime.strong_count() > 0);
    known.runtimes.push(Arc::downgrade(runtime));
    set_looked_at(runtime, known.looking > 0);
}

/// A runtime has got tasks that stay on its thread.
pub(crate) fn has_local_tasks(runtime: &Shared) {
    let known = KNOWN.lock();
    set_looked_at(runtime, known.looking > 0);
}

fn set_looked_at(runtime: &Shared, looked_at: bool) {
    // The one that serves the page is not what somebody looks for.
    let looked_at = looked_at && runtime.identity.name() != Some(OWN_NAME);
    runtime.owned.is_looked_at(looked_at);
    if let Some(local) = runtime.local.get() {
        local.is_looked_at(looked_at);
    }
}

/// Somebody looks, until it is dropped: at the engine, and at tasks that end.
#[derive(Debug)]
pub struct Looking {
    _engine: blitz_core::console::Looking,
}

/// From now on calls are recorded, and tasks that end are counted.
pub fn look() -> Looking {
    change_looking(|looking| looking + 1);
    Looking {
        _engine: blitz_core::console::look(),
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        change_looking(|looking| looking.saturating_sub(1));
    }
}

fn change_looking(change: impl Fn(usize) -> usize) {
    let mut known = KNOWN.lock();
    known.looking = change(known.looking);
    // Who begins meanwhile waits for the lock.
    let alive: Vec<_> = known.runtimes.iter().filter_map(Weak::upgrade).collect();
    for runtime in &alive {
        set_looked_at(runtime, known.looking > 0);
    }
    drop(known);
    // Perhaps the last ones that hold them, whose end is long: without the lock.
    drop(alive);
}

/// The name of the runtime that serves the page: what it does is not what somebody looks for.
pub const OWN_NAME: &str = "blitz-console";

/// Tasks that have ended while somebody looked, and how often these were polled; not those of the runtime that serves the page.
pub fn ended() -> Vec<(Spawned, u64, u64)> {
    let counts = ended::all().into_iter();
    counts
        .map(|(place, counts)| (Spawned::of(place), counts.tasks, counts.polls))
        .collect()
}

fn alive() -> Vec<Arc<Shared>> {
    let known = KNOWN.lock();
    known.runtimes.iter().filter_map(Weak::upgrade).collect()
}

/// All runtimes of this process but the one that serves the page, the oldest first.
pub fn runtimes() -> Vec<RuntimeView> {
    let is_shown =
        |runtime: &Arc<Shared>| !runtime.has_ended() && runtime.identity.name() != Some(OWN_NAME);
    let shown = alive().into_iter().filter(is_shown);
    shown.map(RuntimeView).collect()
}

/// A runtime, to be looked at.
#[derive(Clone)]
pub struct RuntimeView(Arc<Shared>);

impl std::fmt::Debug for RuntimeView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RuntimeView").finish_non_exhaustive()
    }
}

/// Where a task was spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spawned {
    /// The line.
    pub line: &'static Location<'static>,
    /// The name that it was given.
    pub name: Option<&'static str>,
}

impl Spawned {
    fn of(place: Place) -> Self {
        Spawned {
            line: place.line(),
            name: place.name(),
        }
    }
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskDoing {
    /// A thread polls it.
    Running,
    /// It waits for a thread.
    Ready,
    /// It waits for something else.
    Idle,
}

/// A task, as it was when it was looked at.
#[derive(Clone, Copy, Debug)]
pub struct TaskView {
    /// Its address. A later one may have the same.
    pub address: usize,
    /// Its number, which no other one has that is looked at; 0: it has none yet.
    pub number: u64,
    is_new: bool,
    /// Where it was spawned.
    pub spawned: Spawned,
    /// What it does.
    pub doing: TaskDoing,
    /// How often it has been polled: what is left of that in 32 bits.
    pub polls: u32,
}

impl TaskView {
    pub(crate) fn of(task: &Header) -> Option<Self> {
        Some(TaskView {
            address: std::ptr::from_ref(task).addr(),
            number: 0,
            is_new: task.state.is_first_shown(),
            spawned: Spawned::of(task.seen.place()),
            doing: task.state.doing()?,
            polls: task.polls.get(),
        })
    }

    /// How often it has been made ready again, by a wake or by yielding, if it was polled so often.
    pub fn wakes(&self, polls: u64) -> u64 {
        // Being spawned has made it ready once. Polled means not ready any more.
        let ready = u64::from(self.doing == TaskDoing::Ready);
        (polls + ready).saturating_sub(1)
    }
}

/// The numbers of tasks that have been looked at, by address. A task says whether it has been; so the number of one that is through is not taken for that of another in its memory.
#[derive(Default)]
struct Numbers {
    last: u64,
    known: Option<HashMap<usize, u64>>,
}

static NUMBERS: ForkLock<Numbers> = ForkLock::new(Numbers {
    last: 0,
    known: None,
});

impl Numbers {
    fn number(&mut self, task: &TaskView) -> u64 {
        let known = self.known.get_or_insert_default();
        match known.get(&task.address) {
            Some(&number) if !task.is_new => number,
            _ => {
                self.last += 1;
                known.insert(task.address, self.last);
                self.last
            }
        }
    }
}

/// Forgets the numbers of tasks that are through: all but those at the addresses that are `alive`.
pub fn forget_tasks(alive: impl Fn(usize) -> bool) {
    let mut numbers = NUMBERS.lock();
    let known = numbers.known.iter_mut();
    known.for_each(|known| known.retain(|&address, _| alive(address)));
}

/// A thread that runs tasks: a worker, or a relief thread.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// Its number among all of them. A relief thread that retires leaves it to the next one.
    pub number: usize,
    /// Which worker it is; `None`: a relief thread, which runs tasks while all workers compute.
    pub worker: Option<usize>,
    /// The number by which the system knows a relief thread. Those of workers are their pool's.
    pub relief_thread: Option<u32>,
    /// What it polls, if it does.
    pub polling: Option<Polling>,
}

/// A worker in the middle of a poll, or between two of them.
#[derive(Clone, Copy, Debug)]
pub struct Polling {
    /// As long as it stays the same, it is the same poll.
    pub progress: u64,
    /// Where the task was spawned. `None`: the worker began before anybody looked; see [`RuntimeView::spawned`].
    pub spawned: Option<Spawned>,
    /// Which task it is; see [`TaskView::address`].
    pub task: usize,
    /// Tasks that wait in the worker's own queue for the end of the poll.
    pub behind: usize,
    /// The worker has not said that it blocks or computes for long: nobody stands in for it.
    pub holds_worker: bool,
}

impl Polling {
    fn of(core: &Core) -> Option<Self> {
        let progress = core.progress();
        let polled = core.now.get()?;
        (progress & 1 == 1).then(|| Polling {
            progress,
            spawned: polled.place.map(Spawned::of),
            task: polled.task,
            behind: core.ready(),
            holds_worker: !polled.said,
        })
    }
}

/// What the relief thread does, which serves tasks while all workers compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReliefDoing {
    /// It sleeps, or there is none.
    Resting,
    /// It runs tasks.
    Working,
    /// It waits for sockets and timers.
    Attending,
}

impl RuntimeView {
    /// Its number.
    pub fn id(&self) -> String {
        self.0.identity.id().to_string()
    }

    /// Its name, if it was given one.
    pub fn name(&self) -> Option<&str> {
        self.0.identity.name()
    }

    /// Runtimes with the same one share their workers, and what is said of these.
    pub fn scheduler(&self) -> usize {
        std::ptr::from_ref(&**self.0) as usize
    }

    /// Do its tasks run on the global pool? `None`: on a thread that waits for it.
    pub fn is_on_global_pool(&self) -> Option<bool> {
        self.0.pool().map(|pool| pool.is_global())
    }

    /// Stands for its pool, as [`PoolView::key`](blitz_core::console::PoolView::key) does.
    pub fn pool(&self) -> Option<usize> {
        self.0.pool().map(|pool| pool.key())
    }

    /// How many workers it has.
    pub fn workers(&self) -> usize {
        self.0.workers()
    }

    /// What it has counted.
    pub fn metrics(&self) -> Metrics {
        Metrics::of(&self.0)
    }

    /// Who runs its tasks, and what each of them polls. Relief threads are not behind all workers if there are more of these than in the beginning.
    pub fn servers(&self) -> impl Iterator<Item = Server> {
        self.0.cores.with_index().map(|(number, core)| Server {
            number,
            worker: self.0.cores.worker_of(number),
            relief_thread: core.now.relief_thread(),
            polling: Polling::of(core),
        })
    }

    /// What the relief thread does.
    pub fn relief(&self) -> ReliefDoing {
        self.0.relief.doing()
    }

    /// Timers that are armed, and how many have gone off so far.
    pub fn timers(&self) -> (u64, u64) {
        self.0.driver.handle().timers_seen()
    }

    /// Sockets, pipes and the like that are registered.
    pub fn sockets(&self) -> usize {
        self.0.driver.handle().sources_seen()
    }

    /// Where the task at this address was spawned, if there is one: looks through all of them.
    pub fn spawned(&self, task: usize) -> Option<Spawned> {
        let local = || self.0.local.get().and_then(|local| local.place_of(task));
        let place = self.0.owned.place_of(task).or_else(local);
        place.map(Spawned::of)
    }

    /// Shows every task, or some of them if there are very many; `most` of each of some dozen lists.
    pub fn tasks(&self, most: usize, mut show: impl FnMut(TaskView)) {
        let mut show = |task: TaskView| {
            let number = NUMBERS.lock().number(&task);
            show(TaskView { number, ..task });
        };
        self.0.owned.look_at(most, &mut show);
        if let Some(local) = self.0.local.get() {
            local.look_at(most, &mut show);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{Builder, LocalRuntime};
    use crate::task;

    /// Tasks spawned in this file that have ended and were counted, and their polls.
    fn counted() -> (u64, u64) {
        let ours = |(spawned, ..): &(Spawned, u64, u64)| spawned.line.file() == file!();
        let ended = ended().into_iter().filter(ours);
        ended.fold((0, 0), |sum, (_, tasks, polls)| {
            (sum.0 + tasks, sum.1 + polls)
        })
    }

    /// Spawns so many, each of which is polled twice, and waits for them.
    async fn spawn(count: u64) {
        for _ in 0..count {
            crate::spawn(task::yield_now()).await.unwrap();
        }
    }

    #[test]
    fn tasks_that_end_are_counted_in_runtimes_old_and_new_while_somebody_looks() {
        let new = || Builder::new_current_thread().build().unwrap();
        let (old, old_local) = (new(), LocalRuntime::new().unwrap());
        old.block_on(spawn(1));
        assert_eq!(counted(), (0, 0));
        let (first, second) = (look(), look());
        old.block_on(spawn(10));
        assert_eq!(counted(), (10, 20));
        let (young, young_local) = (new(), LocalRuntime::new().unwrap());
        young.block_on(spawn(100));
        assert_eq!(counted(), (110, 220));
        for local in [&old_local, &young_local] {
            local.block_on(spawn(500));
            let stays_on_its_thread = local.spawn_local(task::yield_now());
            local.block_on(stays_on_its_thread).unwrap();
        }
        assert_eq!(counted(), (1112, 2224));
        drop(first);
        old.block_on(spawn(10_000));
        assert_eq!(counted(), (11_112, 22_224));
        drop(second);
        for runtime in [&old, &young] {
            runtime.block_on(spawn(5));
        }
        assert_eq!(counted(), (11_112, 22_224));
    }
}
