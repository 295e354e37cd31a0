//! Group `priority`: tasks that somebody waits for, beside loops that can wait.
//!
//! Every thread of the pool is in parallel loops of about 20 ms per thread (items of 20 us), one after the other. A thread outside spawns a task each millisecond, and notes how long it takes
//! to begin. Arms: `blitz`, where the loops are background; `equals`, blitz with loops and tasks of one priority; and `rayon`. Rows: `task-p50` and `task-p99`, the median and the 99th
//! percentile of those times; `loop`, what an item of the loops takes meanwhile, on all threads together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::args::Options;
use crate::arms::Cpus;
use crate::measure::wrong_result;
use crate::report::Row;
use blitz::Priority;

/// What an item of the loops takes.
const ITEM: Duration = Duration::from_micros(20);
/// Items of a loop, for each thread.
const ITEMS: usize = 1000;
/// A task is spawned this often.
const EACH: Duration = Duration::from_millis(1);

/// Runs the group.
pub fn run(options: &Options, _: &Cpus) -> Vec<Row> {
    let (rounds, tasks) = if options.quick { (2, 100) } else { (5, 400) };
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let blitz = blitz::ThreadPoolBuilder::new().num_threads(threads).build();
    let blitz = Arc::new(blitz.expect("the system has threads"));
    let rayon = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let rayon = Arc::new(rayon.expect("the system has threads"));
    let of_blitz = |priority| {
        let (loops, tasks) = (Arc::clone(&blitz), Arc::clone(&blitz));
        Arm {
            run_loop: Box::new(move |items| {
                use blitz::prelude::*;
                let run = || (0..items).into_par_iter().with_priority(priority);
                loops.install(|| run().for_each(|_| spin()));
            }),
            spawn: Box::new(move |task| tasks.spawn(task)),
        }
    };
    let arms = [
        ("blitz", of_blitz(Priority::Background)),
        ("equals", of_blitz(Priority::Latency)),
        ("rayon", {
            let (loops, tasks) = (Arc::clone(&rayon), rayon);
            Arm {
                run_loop: Box::new(move |items| {
                    use rayon::prelude::*;
                    loops.install(|| (0..items).into_par_iter().for_each(|_| spin()));
                }),
                spawn: Box::new(move |task| tasks.spawn(task)),
            }
        }),
    ];
    let mut figures = vec![[Vec::new(), Vec::new(), Vec::new()]; arms.len()];
    for _ in 0..rounds {
        for ((_, arm), figures) in arms.iter().zip(&mut figures) {
            for (figures, figure) in figures.iter_mut().zip(arm.measure(tasks, threads)) {
                figures.push(figure);
            }
        }
    }
    let mut rows = Vec::new();
    for ((lib, _), figures) in arms.iter().zip(figures) {
        for (bench, mut figures) in ["task-p50", "task-p99", "loop"].into_iter().zip(figures) {
            figures.sort_by(f64::total_cmp);
            rows.push(Row {
                group: "priority".into(),
                bench: bench.into(),
                size: tasks as u64,
                lib: (*lib).into(),
                ns: figures[figures.len() / 2],
                spread: 0.0,
                usage: None,
                unpinned: None,
            });
        }
    }
    rows
}

fn spin() {
    let start = Instant::now();
    while start.elapsed() < ITEM {
        std::hint::spin_loop();
    }
}

/// How a job gets into the pool.
type Spawn = Box<dyn Fn(Box<dyn FnOnce() + Send>) + Send + Sync>;

/// A pool, with loops and tasks.
struct Arm {
    run_loop: Box<dyn Fn(usize) + Send + Sync>,
    spawn: Spawn,
}

impl Arm {
    /// The median and the 99th percentile of the times until tasks begin, and the time of an item of the loops, in nanoseconds.
    fn measure(&self, tasks: usize, threads: usize) -> [f64; 3] {
        let (over, items) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (tell, told) = mpsc::channel();
        let mut took = Duration::ZERO;
        thread::scope(|scope| {
            let loops = scope.spawn(|| {
                let start = Instant::now();
                while !over.load(Ordering::Relaxed) {
                    (self.run_loop)(ITEMS * threads);
                    items.fetch_add(ITEMS * threads, Ordering::Relaxed);
                }
                start.elapsed()
            });
            thread::sleep(10 * EACH);
            for _ in 0..tasks {
                thread::sleep(EACH);
                let (tell, spawned) = (tell.clone(), Instant::now());
                (self.spawn)(Box::new(move || {
                    let _ = tell.send(spawned.elapsed());
                }));
            }
            drop(tell);
            over.store(true, Ordering::Relaxed);
            took = loops.join().expect("loops do not panic");
        });
        let mut late: Vec<f64> = told.iter().map(|late| late.as_nanos() as f64).collect();
        if late.len() != tasks {
            wrong_result(late.len() as u64, tasks as u64);
        }
        late.sort_by(f64::total_cmp);
        let percentile = |per_cent: usize| late[(late.len() - 1) * per_cent / 100];
        let item = took.as_nanos() as f64 / items.into_inner() as f64;
        [percentile(50), percentile(99), item]
    }
}
