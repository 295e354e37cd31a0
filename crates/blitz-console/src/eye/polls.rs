//! Polls that go on, and those that take long: what each worker polls, since when, and what waits behind it.

use super::*;

impl Seen {
    pub(super) fn sample_polls(
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
}

impl CoreSeen {
    /// A poll has taken long: has it, or has its thread waited for a CPU? Where the system does not say, it has; but not that of a relief thread, which begins when others have
    /// all CPUs.
    pub(super) fn is_at_fault(&mut self, server: &Server, pool: Option<&PoolView>) -> bool {
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

/// The shortest of those that are over.
pub(super) fn forget_one(polls: &mut Vec<LongPoll>) {
    let over = polls.iter().enumerate().filter(|(_, poll)| !poll.goes_on);
    let shortest = over.min_by(|a, b| a.1.time.total_cmp(&b.1.time));
    let index = shortest.map_or(0, |(index, _)| index);
    polls.remove(index);
}
