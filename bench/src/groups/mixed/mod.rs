//! Group `mixed`: a server that answers while its threads compute.
//!
//! An echo server with 64 connections and 64-byte requests, and beside it two tasks that each submit a computation, await its result
//! and submit the next. The computation is a fork-join tree of 1024 leaves of about 20 us. Blitz has one pool for both; tokio has its
//! workers, and rayon's threads for the computations. The load is open: 5,000 and 20,000 requests a second at random moments, from a process
//! of its own; latencies count from the moment a request was meant to be sent.
//!
//! `--only` is matched with `alone/RATE` and `mixed/RATE`. Rows, each with the rate as its size: `p50`, `p99` and `p999` of the latencies, `job`, the time per computation. `alone` has no
//! computations. Each server is a child process; the parent interleaves them.

pub mod load;

use super::net::{Service, start_server};
use crate::args::{self, Options};
use crate::arms::{self, Cpus};
use crate::child;
use crate::executors::{AsyncLib, Blitz, Executor, Tokio};
use crate::measure::wrong_result;
use crate::report::Row;
use crate::spin::{Calibration, spin};
use load::{Exchange, Latencies, Load};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// First word of the hidden measurements.
pub const CHILD: &str = "mixed";

const RATES: [&str; 2] = ["5000", "20000"];
const LEAVES: u64 = 1024;
const LEAF_US: f64 = 20.0;
const DRIVERS: usize = 2;
const ALONE: &str = "alone";
const MIXED: &str = "mixed";
const ECHO: &str = "echo";
const HTTP: &str = "http";

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    let (rounds, seconds) = if options.quick { (3, "2") } else { (7, "5") };
    let mut programs = Vec::new();
    for what in [ALONE, MIXED] {
        for rate in RATES {
            if !options.wants(&format!("{what}/{rate}")) {
                continue;
            }
            for lib in [AsyncLib::Blitz, AsyncLib::Tokio] {
                let placement = child::placement_word(cpus.pinned());
                let words = [CHILD, "serve", lib.name(), what, rate, seconds, placement];
                programs.push(words.map(str::to_string).to_vec());
            }
        }
    }
    child::interleaved(options, rounds, programs.into_iter())
}

/// The hidden measurements: `serve LIB WHAT RATE SECONDS PLACEMENT`, which starts `load EXCHANGE ADDRESS RATE SECONDS`.
pub fn run_child(words: &[String]) -> Result<Vec<Row>, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| {
        word.parse::<f64>()
            .map_err(|_| format!("{word} is no number"))
    };
    match words[..] {
        ["serve", lib, what, rate, seconds, placement] => {
            let lib = AsyncLib::named(lib).ok_or("no such runtime")?;
            serve(lib, what, rate, seconds, &Cpus::new(placement == "pinned"))
        }
        ["load", exchange, address, rate, seconds] => {
            let load = Load {
                exchange: match exchange {
                    ECHO => Exchange::Echo,
                    HTTP => Exchange::Http,
                    _ => return Err("a load is of echo or http".into()),
                },
                address: address.parse().map_err(|_| "no such address")?,
                rate: number(rate)?,
                seconds: number(seconds)?,
            };
            let latencies = load.run().map_err(|error| format!("load: {error}"))?;
            println!("{}", latencies.line());
            Ok(Vec::new())
        }
        _ => Err("mixed needs serve LIB WHAT RATE SECONDS PLACEMENT".into()),
    }
}

fn serve(
    lib: AsyncLib,
    what: &str,
    rate: &str,
    seconds: &str,
    cpus: &Cpus,
) -> Result<Vec<Row>, String> {
    let steps = Calibration::measure().steps_for(LEAF_US);
    lib.start(cpus);
    let address = start_server(lib, Service::Echo).to_string();
    let jobs = Arc::new(AtomicU64::new(0));
    if what == MIXED {
        compute(lib, steps, &jobs, cpus);
    }
    let (start, before) = (Instant::now(), jobs.load(Ordering::Relaxed));
    let latencies = put_load(Exchange::Echo, &address, rate, seconds)?;
    let jobs = jobs.load(Ordering::Relaxed) - before;
    let elapsed = start.elapsed();
    let name = match (lib, what) {
        (AsyncLib::Tokio, MIXED) => "tokio+rayon",
        _ => lib.name(),
    };
    let job = (what == MIXED).then(|| elapsed.as_nanos() as f64 / jobs.max(1) as f64);
    Ok(rows(CHILD, what, rate, name, latencies, job))
}

/// The rows of one run: the latencies, and the time per computation, if there were any.
pub fn rows(
    group: &str,
    what: &str,
    rate: &str,
    lib: &str,
    latencies: Latencies,
    job: Option<f64>,
) -> Vec<Row> {
    let row = |(bench, ns): (&str, f64)| Row {
        group: group.to_string(),
        bench: format!("{what}/{bench}"),
        size: rate.parse().unwrap_or(0),
        lib: lib.to_string(),
        ns,
        spread: 0.0,
        usage: None,
        unpinned: None,
    };
    let Latencies { p50, p99, p999 } = latencies;
    let measured = [("p50", p50), ("p99", p99), ("p999", p999)];
    let job = job.map(|ns| ("job", ns));
    measured.into_iter().chain(job).map(row).collect()
}

/// Sends requests from a process of its own.
pub fn put_load(
    exchange: Exchange,
    address: &str,
    rate: &str,
    seconds: &str,
) -> Result<Latencies, String> {
    let exchange = match exchange {
        Exchange::Echo => ECHO,
        Exchange::Http => HTTP,
    };
    let load = child::this_program()
        .args([args::CHILD, CHILD, "load", exchange, address, rate, seconds])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("the load cannot be started: {error}"))?;
    if !load.status.success() {
        return Err("the load has failed".into());
    }
    let text = String::from_utf8_lossy(&load.stdout);
    Latencies::parse(text.trim()).ok_or("the load wrote nonsense".into())
}

/// Starts the tasks that submit computations, one after the other, for ever.
fn compute(lib: AsyncLib, steps: u64, jobs: &Arc<AtomicU64>, cpus: &Cpus) {
    let expected = (0..LEAVES).fold(0, |sum: u64, leaf| sum.wrapping_add(spin(steps, leaf)));
    let threads = crate::pin::cpus_at_start().len().max(1);
    let rayon = (lib == AsyncLib::Tokio).then(|| Arc::new(arms::rayon::pool(threads, cpus)));
    for _ in 0..DRIVERS {
        let jobs = Arc::clone(jobs);
        let count = move |result: u64| {
            if result != expected {
                wrong_result(result, expected);
            }
            jobs.fetch_add(1, Ordering::Relaxed);
        };
        match rayon.clone() {
            None => Blitz::detach(Blitz::spawn(async move {
                loop {
                    let tree = move || arms::blitz::leaves(0, LEAVES, steps);
                    count(blitz_io::spawn_cpu(tree).await.expect("it does not panic"));
                }
            })),
            Some(rayon) => Tokio::detach(Tokio::spawn(async move {
                loop {
                    let (sender, receiver) = tokio::sync::oneshot::channel();
                    rayon.spawn(move || {
                        let _ = sender.send(arms::rayon::leaves(0, LEAVES, steps));
                    });
                    count(receiver.await.expect("it does not panic"));
                }
            })),
        }
    }
}
