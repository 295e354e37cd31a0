//! What the numbers mean, in plain words.
//!
//! A warning says what is seen, where, and what to do about it. It is there as long as what it speaks of was seen in the last [`MEMORY`] milliseconds.

use crate::frame::{Frame, LongPoll, Worker};

/// How long something is worth mentioning.
const MEMORY: f64 = 10_000.0;
/// A poll of this length, in milliseconds, keeps others waiting.
#[cfg(feature = "hooks")]
pub(crate) const LONG_POLL: f64 = 10.0;
/// What a frame calls the thread that runs tasks while all workers compute: none of these is held by a poll there.
pub(crate) const RELIEF: &str = "relief thread";
/// Vain wakes per second that are worth a word.
const MANY_VAIN: f64 = 200.0;

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Warning {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// A line of the program, if it is about one.
    pub(crate) at: String,
}

/// The console itself has failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// On the clock of the frames.
    pub(crate) at: f64,
    pub(crate) text: String,
}

impl Failure {
    /// What is said of it now.
    pub(crate) fn warning(&self, now: f64) -> Option<Warning> {
        (self.at >= now - MEMORY).then(|| Warning {
            kind: "console",
            text: format!(
                "This page has failed while it looked, and has begun anew: its times and samples start again. That is a mistake of the console, not \
                 of the program: {}",
                self.text.replace(crate::top::is_for_terminals, "?")
            ),
            at: String::new(),
        })
    }
}

/// The program has stood still, or the console has not been given a CPU.
#[derive(Debug)]
pub(crate) struct Gap {
    /// Its end, on the clock of the frames.
    pub(crate) at: f64,
    /// In milliseconds.
    pub(crate) length: f64,
}

impl Gap {
    /// From this on it is one.
    pub(crate) const LEAST: f64 = 1000.0;

    /// What is said of it now.
    pub(crate) fn warning(&self, now: f64) -> Option<Warning> {
        (self.at >= now - MEMORY).then(|| Warning {
            kind: "gap",
            text: format!(
                "Nothing was seen for {:.1} s: the program was stopped, or the machine had no time for this page. The times of calls and polls that went on meanwhile contain that, \
                 and so does what they would have taken alone.",
                self.length / 1e3
            ),
            at: String::new(),
        })
    }
}

/// What has been seen in the last seconds.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    frames: std::collections::VecDeque<Brief>,
}

/// What has to be remembered of a frame.
#[derive(Debug)]
struct Brief {
    at: f64,
    pools: Vec<BriefPool>,
}

#[derive(Debug)]
struct BriefPool {
    name: String,
    /// How much of the frame was sampled: less than its length if the process was stopped meanwhile.
    sampled: f64,
    workers: Vec<(f64, Option<(f64, f64)>)>,
    vain: u64,
    parked: u64,
    /// All workers were stuck in the same place.
    one_lock: bool,
}

/// The time in which a worker did something for the program.
fn busy(worker: &Worker) -> f64 {
    let [computing, polling, guest, ..] = worker.shares;
    computing + polling + guest
}

/// The time in which it is known what a worker did.
fn sampled(worker: &Worker) -> f64 {
    worker.shares.iter().sum()
}

impl Watch {
    /// Adds a frame, and says what is to be said. Frames come in order.
    pub(crate) fn look_at(&mut self, frame: &Frame) -> Vec<Warning> {
        self.frames.push_back(Brief::of(frame));
        while self
            .frames
            .front()
            .is_some_and(|brief| brief.at < frame.at - MEMORY)
        {
            self.frames.pop_front();
        }
        let mut warnings = Vec::new();
        warnings.extend(long_polls(frame));
        for pool in &frame.pools {
            let past: Vec<(&Brief, &BriefPool)> = self
                .frames
                .iter()
                .filter_map(|brief| {
                    let found = brief.pools.iter().find(|past| past.name == pool.name);
                    found.map(|past| (brief, past))
                })
                .collect();
            warnings.extend(one_lock(&past));
            warnings.extend(one_thread(&past));
            warnings.extend(vain_wakes(&past));
            warnings.extend(too_many_threads(&past, frame.process.cpus));
        }
        for runtime in &frame.runtimes {
            let (threads, idle, queued) = runtime.blocking;
            if queued > 0 && idle == 0 {
                warnings.push(Warning {
                    kind: "blocking",
                    text: format!(
                        "All {threads} blocking threads of runtime {} are busy, and {queued} closures wait for one. If they compute, spawn_cpu is \
                         the better place for them; if they wait, raise max_blocking_threads.",
                        runtime.name
                    ),
                    at: String::new(),
                });
            }
        }
        warnings
    }
}

impl Brief {
    fn of(frame: &Frame) -> Self {
        let pools = frame.pools.iter().map(|pool| {
            let first = pool.workers.first().and_then(|worker| worker.waits_on);
            let one_lock = pool.workers.len() > 1
                && first.is_some()
                && pool.workers.iter().all(|worker| worker.waits_on == first);
            let sum = |count: fn(&Worker) -> u64| pool.workers.iter().map(count).sum();
            BriefPool {
                name: pool.name.clone(),
                sampled: pool.workers.iter().map(sampled).fold(0.0, f64::max),
                workers: pool
                    .workers
                    .iter()
                    .map(|worker| (busy(worker), worker.cpu))
                    .collect(),
                vain: sum(|worker| worker.counts.vain),
                parked: sum(|worker| worker.counts.parked),
                one_lock,
            }
        });
        Brief {
            at: frame.at,
            pools: pools.collect(),
        }
    }
}

type Past<'a> = [(&'a Brief, &'a BriefPool)];

/// The longest poll of each line.
fn long_polls(frame: &Frame) -> Vec<Warning> {
    let recent = frame
        .polls
        .iter()
        .filter(|poll| poll.seen >= frame.at - MEMORY);
    let mut longest: Vec<&LongPoll> = Vec::new();
    for poll in recent {
        match longest
            .iter_mut()
            .find(|known| known.at == poll.at && known.name == poll.name)
        {
            Some(known) if known.time < poll.time => *known = poll,
            Some(_) => {}
            None => longest.push(poll),
        }
    }
    let warning = |poll: &LongPoll| {
        let who = if poll.name.is_empty() {
            "A task".to_string()
        } else {
            // In the middle of a sentence, which it must not turn around.
            let name = poll.name.replace(crate::top::is_for_terminals, "?");
            format!("Task “{name}”")
        };
        let whom = if poll.worker == RELIEF {
            "the relief thread, which runs tasks while all workers compute,"
        } else {
            "a worker"
        };
        let held = if poll.goes_on {
            format!(
                "has been in one poll, and held {},",
                whom.trim_end_matches(',')
            )
        } else {
            format!("held {whom} in one poll")
        };
        let behind = match poll.behind {
            0 => String::new(),
            1 => " One task waited behind it.".into(),
            n => format!(" {n} tasks waited behind it."),
        };
        Warning {
            kind: "poll",
            text: format!(
                "{who} {held} for {:.0} ms.{behind} Computations belong in spawn_cpu, calls that block in spawn_blocking; a long loop can \
                 yield_now().await.",
                poll.time
            ),
            at: poll.at.clone(),
        }
    };
    longest.into_iter().map(warning).collect()
}

fn one_lock(past: &Past<'_>) -> Option<Warning> {
    let stuck = past.iter().filter(|(_, pool)| pool.one_lock).count();
    let (_, pool) = past.last()?;
    (stuck >= 2).then(|| Warning {
        kind: "lock",
        text: format!(
            "All {} threads of pool {} wait for the same lock, seen {stuck} times in the last seconds. Hold it for less, or split what it guards.",
            pool.workers.len(),
            pool.name
        ),
        at: String::new(),
    })
}

fn one_thread(past: &Past<'_>) -> Option<Warning> {
    let (_, pool) = past.last()?;
    let threads = pool.workers.len();
    let length: f64 = past.iter().map(|(_, pool)| pool.sampled).sum();
    if threads < 2 || length < 3_000.0 {
        return None;
    }
    let mut times = vec![0.0; threads];
    for (_, pool) in past {
        for (time, worker) in times.iter_mut().zip(&pool.workers) {
            *time += worker.0;
        }
    }
    let all: f64 = times.iter().sum();
    let most = times.iter().copied().fold(0.0, f64::max);
    // One that hands work from thread to thread uses one at a time, too: then the sum is what one could do.
    let alone = (most > 0.9 * all || all < 1.1 * length) && all > 0.7 * length;
    alone.then(|| Warning {
        kind: "alone",
        text: format!(
            "Pool {} has {threads} threads, and in the last seconds only one of them had something to do at a time: {:.0} % of one CPU. The work is \
             in one piece: one task, one long loop body, or one lock.",
            pool.name,
            100.0 * all / length
        ),
        at: String::new(),
    })
}

fn vain_wakes(past: &Past<'_>) -> Option<Warning> {
    let ((first, before), (last, now)) = (past.first()?, past.last()?);
    let seconds = (last.at - first.at) / 1000.0;
    let vain = now.vain.saturating_sub(before.vain);
    let parked = now.parked.saturating_sub(before.parked);
    if seconds < 1.0 || vain as f64 / seconds < MANY_VAIN || vain * 3 < parked {
        return None;
    }
    Some(Warning {
        kind: "vain",
        text: format!(
            "Threads of pool {} are woken and find nothing {:.0} times a second: the work is gone before they come. Larger pieces, or fewer threads, would \
             save these wakes.",
            now.name,
            vain as f64 / seconds
        ),
        at: String::new(),
    })
}

fn too_many_threads(past: &Past<'_>, cpus: usize) -> Option<Warning> {
    let (_, pool) = past.last()?;
    let known = past.iter().flat_map(|(_, pool)| {
        let cpus = pool.workers.iter().filter_map(|worker| worker.1);
        cpus.map(|(_, waited)| waited * pool.sampled)
    });
    let waited: f64 = known.sum();
    let all: f64 = past
        .iter()
        .flat_map(|(_, pool)| pool.workers.iter().map(|worker| worker.0))
        .sum();
    let length: f64 = past.iter().map(|(_, pool)| pool.sampled).sum();
    if length < 2_000.0 || all < 0.5 * length || waited < 0.25 * all {
        return None;
    }
    let threads = pool.workers.len();
    let why = if threads > cpus {
        format!("it has {threads} threads for {cpus} CPUs")
    } else {
        "other threads, or other programs, want the same CPUs".into()
    };
    Some(Warning {
        kind: "cpus",
        text: format!(
            "Threads of pool {} waited for a CPU {:.0} % of the time that they had work: {why}.",
            pool.name,
            100.0 * waited / all.max(waited)
        ),
        at: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Counts, Pool, Process, Runtime};

    /// A frame of a pool whose workers are busy for so many milliseconds.
    fn frame(at: f64, busy: &[f64]) -> Frame {
        let worker = |&busy: &f64| Worker {
            shares: [busy, 0.0, 0.0, 0.0, 0.0, 0.0, 250.0 - busy],
            cpu: Some((busy / 250.0, 0.0)),
            ..Worker::default()
        };
        Frame {
            at,
            length: 250.0,
            process: Process {
                cpus: 2,
                ..Process::default()
            },
            pools: vec![Pool {
                name: "p".into(),
                workers: busy.iter().map(worker).collect(),
                ..Pool::default()
            }],
            ..Frame::default()
        }
    }

    fn kinds(frames: impl IntoIterator<Item = Frame>) -> Vec<&'static str> {
        let mut watch = Watch::default();
        let last = frames.into_iter().map(|frame| watch.look_at(&frame)).last();
        last.unwrap().iter().map(|warning| warning.kind).collect()
    }

    fn many(mut change: impl FnMut(&mut Frame, f64), busy: &[f64]) -> Vec<&'static str> {
        kinds((0..40).map(|index| {
            let mut frame = frame(f64::from(index) * 250.0, busy);
            change(&mut frame, f64::from(index));
            frame
        }))
    }

    #[test]
    fn a_pool_that_does_its_work_is_left_in_peace() {
        assert_eq!(many(|_, _| (), &[250.0, 240.0]), [""; 0]);
        assert_eq!(many(|_, _| (), &[0.0, 0.0]), [""; 0]);
        assert_eq!(many(|_, _| (), &[20.0, 0.0]), [""; 0]);
    }

    #[test]
    fn one_busy_thread_of_several_is_mentioned() {
        assert_eq!(many(|_, _| (), &[250.0, 0.0]), ["alone"]);
        // A single thread cannot be lonely.
        assert_eq!(many(|_, _| (), &[250.0]), [""; 0]);
        // Two that hand something to each other.
        assert_eq!(many(|_, _| (), &[125.0, 125.0]), ["alone"]);
    }

    #[test]
    fn a_lock_that_all_wait_for_is_mentioned_and_different_ones_are_not() {
        let same = |frame: &mut Frame, _| {
            for worker in &mut frame.pools[0].workers {
                worker.waits_on = Some(7);
            }
        };
        assert_eq!(many(same, &[0.0, 0.0]), ["lock"]);
        let different = |frame: &mut Frame, _| {
            for (index, worker) in frame.pools[0].workers.iter_mut().enumerate() {
                worker.waits_on = Some(index as u64);
            }
        };
        assert_eq!(many(different, &[0.0, 0.0]), [""; 0]);
    }

    #[test]
    fn threads_that_wait_for_a_cpu_are_mentioned() {
        let crowded = |frame: &mut Frame, _| {
            for worker in &mut frame.pools[0].workers {
                worker.cpu = Some((0.5, 0.5));
            }
        };
        assert_eq!(many(crowded, &[250.0, 250.0, 250.0, 250.0]), ["cpus"]);
    }

    #[test]
    fn wakes_that_find_nothing_are_mentioned() {
        let vain = |per_frame: u64, parked: u64| {
            move |frame: &mut Frame, index: f64| {
                frame.pools[0].workers[0].counts = Counts {
                    vain: per_frame * index as u64,
                    parked: parked * index as u64,
                    ..Counts::default()
                };
            }
        };
        assert_eq!(many(vain(100, 120), &[20.0, 20.0]), ["vain"]);
        assert_eq!(many(vain(100, 1000), &[20.0, 20.0]), [""; 0]);
        assert_eq!(many(vain(10, 10), &[20.0, 20.0]), [""; 0]);
    }

    #[test]
    fn long_polls_are_mentioned_once_a_line_and_forgotten() {
        let poll = |time, seen| LongPoll {
            at: "a.rs:1".into(),
            time,
            seen,
            behind: 3,
            ..LongPoll::default()
        };
        let mut first = frame(1000.0, &[0.0]);
        first.polls = vec![poll(20.0, 900.0), poll(140.0, 950.0)];
        let mut watch = Watch::default();
        let warnings = watch.look_at(&first);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].text.contains("140 ms"), "{warnings:?}");
        assert!(warnings[0].text.contains("3 tasks"), "{warnings:?}");
        assert_eq!(warnings[0].at, "a.rs:1");
        let mut later = frame(20_000.0, &[0.0]);
        later.polls = first.polls;
        assert_eq!(watch.look_at(&later), []);
    }

    #[test]
    fn a_poll_on_the_relief_thread_holds_no_worker() {
        let mut frame = frame(1000.0, &[0.0]);
        frame.polls = vec![LongPoll {
            worker: RELIEF.into(),
            time: 140.0,
            seen: 950.0,
            ..LongPoll::default()
        }];
        let warnings = Watch::default().look_at(&frame);
        assert!(
            warnings[0].text.contains("held the relief thread"),
            "{warnings:?}"
        );
        assert!(!warnings[0].text.contains("a worker"), "{warnings:?}");
    }

    #[test]
    fn a_name_does_not_turn_the_sentence_around() {
        let mut frame = frame(1000.0, &[0.0]);
        frame.polls = vec![LongPoll {
            name: "\u{202e}a\nb".into(),
            time: 140.0,
            seen: 950.0,
            ..LongPoll::default()
        }];
        let warnings = Watch::default().look_at(&frame);
        assert!(
            warnings[0].text.starts_with("Task “?a?b” held"),
            "{warnings:?}"
        );
    }

    #[test]
    fn closures_that_wait_for_a_blocking_thread_are_mentioned() {
        let mut full = frame(0.0, &[0.0]);
        full.runtimes = vec![Runtime {
            blocking: (4, 0, 9),
            ..Runtime::default()
        }];
        assert_eq!(kinds([full]), ["blocking"]);
    }

    /// Frames that come late are longer than what was sampled in them (`LONGEST_SAMPLE`): the process was stopped, or has no CPU for the console.
    #[test]
    fn a_process_that_was_stopped_is_left_in_peace() {
        let stopped = |frame: &mut Frame, index: f64| {
            if index >= 36.0 {
                frame.at += 6000.0;
            }
            if index == 36.0 {
                frame.length = 6250.0;
            }
        };
        assert_eq!(many(stopped, &[250.0, 250.0]), [""; 0]);
    }
}
