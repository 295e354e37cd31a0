//! What the page shows, as text for Prometheus.

use crate::frame::{Counts, Frame, STATES};
use std::fmt::Write;

/// Writes one family of metrics after the other: each has its help and its type once, as the format wants it.
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        if !labels.is_empty() {
            self.0.push('{');
            for (index, (key, value)) in labels.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                let _ = write!(self.0, "{comma}{key}=\"{}\"", escaped(value));
            }
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// All of it.
pub(crate) fn text(frame: &Frame) -> String {
    let mut out = Text(String::new());
    let process = &frame.process;
    out.family("blitz_process_threads", "gauge", "Threads of the process.");
    out.line("blitz_process_threads", &[], process.threads as f64);
    out.family(
        "blitz_process_memory_bytes",
        "gauge",
        "Memory of the process.",
    );
    out.line("blitz_process_memory_bytes", &[], process.memory as f64);
    out.family(
        "blitz_arena_bytes",
        "gauge",
        "Memory for spawned tasks of the pools.",
    );
    out.line("blitz_arena_bytes", &[], process.arenas as f64);
    pools(&mut out, frame);
    runtimes(&mut out, frame);
    lines(&mut out, frame);
    out.0
}

fn pools(out: &mut Text, frame: &Frame) {
    out.family(
        "blitz_worker_seconds_total",
        "counter",
        "Time of a worker by what it did, sampled while somebody looked.",
    );
    for pool in &frame.pools {
        for (index, worker) in pool.workers.iter().enumerate() {
            let index = index.to_string();
            for (state, time) in STATES.iter().zip(worker.totals) {
                let labels = [
                    ("pool", pool.name.as_str()),
                    ("worker", &index),
                    ("state", state),
                ];
                out.line("blitz_worker_seconds_total", &labels, time / 1e3);
            }
        }
    }
    for (position, count) in Counts::NAMES.iter().enumerate() {
        let name = format!("blitz_worker_{count}_total");
        out.family(&name, "counter", "See WorkerStats in the documentation.");
        for pool in &frame.pools {
            for (index, worker) in pool.workers.iter().enumerate() {
                let index = index.to_string();
                let labels = [("pool", pool.name.as_str()), ("worker", &index)];
                out.line(&name, &labels, worker.counts.values()[position] as f64);
            }
        }
    }
    type Gauge = (&'static str, &'static str, fn(&crate::frame::Pool) -> u64);
    let gauges: [Gauge; 3] = [
        ("queued", "Tasks in the shared queue.", |pool| pool.queued),
        ("memory_bytes", "Memory of the seats.", |pool| pool.memory),
        ("threads", "Threads of the pool.", |pool| {
            pool.workers.len() as u64
        }),
    ];
    for (name, help, value) in gauges {
        let name = format!("blitz_pool_{name}");
        out.family(&name, "gauge", help);
        for pool in &frame.pools {
            out.line(&name, &[("pool", &pool.name)], value(pool) as f64);
        }
    }
    let name = "blitz_pool_injected_total";
    out.family(name, "counter", "Tasks that came from outside of the pool.");
    for pool in &frame.pools {
        out.line(name, &[("pool", &pool.name)], pool.injected as f64);
    }
}

fn runtimes(out: &mut Text, frame: &Frame) {
    type Number = (
        &'static str,
        &'static str,
        &'static str,
        fn(&crate::frame::Runtime) -> u64,
    );
    let numbers: [Number; 9] = [
        ("tasks_alive", "gauge", "Tasks that are not through.", |r| {
            r.alive
        }),
        ("tasks_spawned_total", "counter", "Tasks so far.", |r| {
            r.spawned
        }),
        ("tasks_queued", "gauge", "Tasks in the shared queue.", |r| {
            r.queued
        }),
        ("polls_total", "counter", "Polls of tasks.", |r| r.polls),
        ("timers", "gauge", "Timers that are armed.", |r| r.timers),
        (
            "timers_fired_total",
            "counter",
            "Timers that went off.",
            |r| r.fired,
        ),
        (
            "sockets",
            "gauge",
            "Registered sockets and the like.",
            |r| r.sockets,
        ),
        (
            "blocking_threads",
            "gauge",
            "Threads for blocking code.",
            |r| r.blocking.0,
        ),
        (
            "blocking_queued",
            "gauge",
            "Closures that wait for one.",
            |r| r.blocking.2,
        ),
    ];
    for (name, kind, help, value) in numbers {
        let name = format!("blitz_runtime_{name}");
        out.family(&name, kind, help);
        for runtime in &frame.runtimes {
            out.line(&name, &[("runtime", &runtime.name)], value(runtime) as f64);
        }
    }
}

fn lines(out: &mut Text, frame: &Frame) {
    type SiteNumber = (&'static str, &'static str, fn(&crate::frame::Site) -> f64);
    let numbers: [SiteNumber; 3] = [
        (
            "calls_total",
            "Calls from this line while somebody looked.",
            |s| s.calls as f64,
        ),
        ("items_total", "Items of these calls.", |s| s.items as f64),
        ("seconds_total", "How long they took.", |s| s.time / 1e3),
    ];
    for (name, help, value) in numbers {
        let name = format!("blitz_call_{name}");
        out.family(&name, "counter", help);
        for site in &frame.sites {
            let labels = [("at", site.at.as_str()), ("kind", site.kind)];
            out.line(&name, &labels, value(site));
        }
    }
    type SpawnNumber = (
        &'static str,
        &'static str,
        &'static str,
        fn(&crate::frame::Spawn) -> f64,
    );
    let numbers: [SpawnNumber; 3] = [
        ("alive", "gauge", "Tasks of this line.", |s| s.alive as f64),
        (
            "done_total",
            "counter",
            "Those that were through while somebody looked.",
            |s| s.done as f64,
        ),
        (
            "busy_seconds_total",
            "counter",
            "How long they were polled, sampled.",
            |s| s.busy / 1e3,
        ),
    ];
    for (name, kind, help, value) in numbers {
        let name = format!("blitz_task_{name}");
        out.family(&name, kind, help);
        for spawn in &frame.spawns {
            let labels = [("at", spawn.at.as_str()), ("name", spawn.name.as_str())];
            out.line(&name, &labels, value(spawn));
        }
    }
}
