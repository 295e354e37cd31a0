//! Small programs for tokio, timed: tasks, timers, sockets, channels, locks.
//!
//! It is built twice from this source, `plain` and `patched`; `programs/micro/compare` runs both in turn and prints the ratios.
//! `micro [PARTS OF NAMES, WITH COMMAS] [ROUNDS]` prints the median time of each program, in nanoseconds per operation.

mod channels;
mod locks;
mod sockets;
mod tasks;
mod timers;

use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// A program: runs on that runtime, and returns how many operations that were and how long they took.
type Program = fn(&Runtime) -> (u64, Duration);

fn main() {
    let mut words = std::env::args().skip(1);
    let part = words.next().unwrap_or_default();
    let rounds: usize = words
        .next()
        .map_or(9, |word| word.parse().expect("a number"));
    let all = Builder::new_multi_thread().enable_all().build();
    let one = Builder::new_current_thread().enable_all().build();
    let (all, one) = (all.expect("a runtime"), one.expect("a runtime"));
    let groups = [
        tasks::PROGRAMS,
        timers::PROGRAMS,
        sockets::PROGRAMS,
        channels::PROGRAMS,
        locks::PROGRAMS,
    ];
    for &(name, program) in groups.into_iter().flatten() {
        for (threads, runtime) in [("all", &all), ("one", &one)] {
            let name = format!("{name}/{threads}");
            if part.split(",").any(|part| name.contains(part)) {
                println!("{name}\t{:.2}", median(program, runtime, rounds));
            }
        }
    }
}

/// Nanoseconds per operation, after one round that does not count.
fn median(program: Program, runtime: &Runtime, rounds: usize) -> f64 {
    program(runtime);
    let mut rounds: Vec<f64> = (0..rounds.max(1))
        .map(|_| {
            let (operations, took) = program(runtime);
            took.as_nanos() as f64 / operations as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}

/// Times a future that is run as a task: this thread is no worker of a runtime with threads.
fn timed<F>(runtime: &Runtime, operations: u64, future: F) -> (u64, Duration)
where
    F: Future<Output = ()> + Send + 'static,
{
    let task = runtime.spawn(async move {
        let start = Instant::now();
        future.await;
        start.elapsed()
    });
    let took = runtime.block_on(task).expect("the program does not panic");
    (operations, took)
}
