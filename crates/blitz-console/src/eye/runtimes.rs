//! Runtimes: their names, and what there is to see of each.

use super::*;

impl Seen {
    /// Forgets those that are gone, also if there is another one in their memory.
    pub(super) fn keep_schedulers(&mut self, alive: &[(RuntimeView, Vec<String>)]) {
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

    /// Each has a name of its own, as long as it is there.
    pub(super) fn name_runtimes(&mut self, runtimes: &[RuntimeView]) {
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

    pub(super) fn name_of(&self, runtime: &RuntimeView) -> String {
        self.names.get(&runtime.id()).cloned().unwrap_or_default()
    }

    pub(super) fn show_runtime(&self, runtime: &RuntimeView) -> Runtime {
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
}

/// One runtime for each scheduler, and the numbers of all that have it.
pub(super) fn schedulers() -> Vec<(RuntimeView, Vec<String>)> {
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

/// The name, not too long, with a number behind it if somebody has it already.
pub(super) fn unlike<'a>(name: &str, others: impl Iterator<Item = &'a str> + Clone) -> String {
    let mut short: String = name.chars().take(LONGEST_NAME).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    let names = std::iter::once(short.clone())
        .chain((2..).map(|number: u32| format!("{short} ({number})")));
    let mut free = names.filter(|name| !others.clone().any(|other| other == name));
    free.next().expect("there are enough numbers")
}
