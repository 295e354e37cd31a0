//! Pools: what each thread does, where it is in the kernel, and what has been counted.

use super::*;

impl Seen {
    pub(super) fn sample_pool(
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
}

impl PoolSeen {
    pub(super) fn new(pool: &PoolView, met: &mut usize) -> Self {
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
    pub(super) fn look_into_kernel(&mut self, pool: &PoolView) {
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

    pub(super) fn show(&self, pool: &PoolView, length: f64) -> Pool {
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

/// What each worker polls.
pub(super) fn by_worker(servers: &[Server]) -> Vec<Option<Polling>> {
    let workers = servers.iter().filter_map(|server| server.worker);
    let mut polling = vec![None; workers.max().map_or(0, |last| last + 1)];
    for server in servers {
        if let Some(worker) = server.worker {
            polling[worker] = server.polling;
        }
    }
    polling
}
