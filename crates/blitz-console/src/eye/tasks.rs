//! Tasks, and the places that spawn them.

use super::*;

impl Seen {
    pub(super) fn look_at_tasks(&mut self, runtimes: &[RuntimeView], frame: &mut Frame) {
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
}

impl TaskSeen {
    pub(super) fn new(task: &TaskView, first: f64) -> Self {
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
    pub(super) fn update(&mut self, task: &TaskView) {
        let more = task.polls.wrapping_sub(self.counted);
        self.polls += u64::from(more);
        self.counted = task.polls;
        self.there = true;
    }
}

pub(super) fn add_spawn(to: &mut Spawn, from: &Spawn) {
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
