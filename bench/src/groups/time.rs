//! Group `time`: many timers at once.
//!
//! 100,000 tasks sleep until as many points in time, one each microsecond of a tenth of a second, which begins half a second
//! after the first was spawned. Each notes how late it was woken. Rows: `timers/late-p50` and `timers/late-p99`, the median and
//! the 99th percentile of that; `timers/cpu`, CPU time of the whole process per timer, from spawning to the last.
//!
//! Each runtime is measured in a child process; the parent interleaves them.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::args::Options;
use crate::arms::Cpus;
use crate::child;
use crate::executors::AsyncLib;
use crate::measure::wrong_result;
use crate::report::Row;
use crate::usage::Usage;

/// First word of the hidden measurement.
pub const CHILD: &str = "time";
const TIMERS: usize = 100_000;
const LEAD: Duration = Duration::from_millis(500);

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    let rounds = if options.quick { 3 } else { 9 };
    child::interleaved(
        options,
        rounds,
        AsyncLib::ALL.iter().map(|lib| {
            let placement = child::placement_word(cpus.pinned());
            vec![
                CHILD.to_string(),
                lib.name().to_string(),
                placement.to_string(),
            ]
        }),
    )
}

/// The hidden measurement: `LIB PLACEMENT`.
pub fn run_child(words: &[String]) -> Result<Vec<Row>, String> {
    let [lib, placement] = words else {
        return Err("time needs LIB PLACEMENT".into());
    };
    let lib = AsyncLib::named(lib).ok_or("no such runtime")?;
    lib.start(&Cpus::new(placement == "pinned"));
    let before = Usage::now();
    let late = lateness(lib);
    let usage = Usage::now().since(before);
    let row = |bench: &str, ns: f64, usage| Row {
        group: CHILD.to_string(),
        bench: format!("timers/{bench}"),
        size: TIMERS as u64,
        lib: lib.name().to_string(),
        ns,
        spread: 0.0,
        usage,
        unpinned: None,
    };
    let percentile = |per_cent: usize| f64::from(late[(late.len() - 1) * per_cent / 100]);
    Ok(vec![
        row("late-p50", percentile(50), None),
        row("late-p99", percentile(99), None),
        row(
            "cpu",
            usage.cpu_us as f64 * 1e3 / TIMERS as f64,
            Some(usage),
        ),
    ])
}

/// What the tasks share.
struct Notes {
    late: Vec<AtomicU32>,
    left: AtomicUsize,
    done: mpsc::Sender<()>,
}

impl Notes {
    /// The timer with this number has fired.
    fn fired(&self, number: usize, deadline: Instant) {
        let now = Instant::now();
        if now < deadline {
            wrong_result(0, 1); // A timer that is early is wrong.
        }
        let late = u32::try_from((now - deadline).as_nanos()).unwrap_or(u32::MAX);
        self.late[number].store(late, Ordering::Relaxed);
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let _ = self.done.send(());
        }
    }
}

/// How late each timer was, in nanoseconds, sorted.
fn lateness(lib: AsyncLib) -> Vec<u32> {
    let (done, wait) = mpsc::channel();
    let notes = Arc::new(Notes {
        late: (0..TIMERS).map(|_| AtomicU32::new(u32::MAX)).collect(),
        left: AtomicUsize::new(TIMERS),
        done,
    });
    let begin = Instant::now() + LEAD;
    for turn in 0..TIMERS {
        // Not in the order of their deadlines: 7919 and the number of timers have no common factor.
        let number = turn * 7919 % TIMERS;
        let deadline = begin + Duration::from_micros(number as u64);
        let notes = notes.clone();
        match lib {
            AsyncLib::Blitz => lib.spawn(async move {
                blitz_io::time::sleep_until(deadline.into()).await;
                notes.fired(number, deadline);
            }),
            AsyncLib::Tokio => lib.spawn(async move {
                tokio::time::sleep_until(deadline.into()).await;
                notes.fired(number, deadline);
            }),
            #[cfg(feature = "full")]
            AsyncLib::Smol => lib.spawn(async move {
                smol::Timer::at(deadline).await;
                notes.fired(number, deadline);
            }),
        }
    }
    if Instant::now() >= begin {
        eprintln!(
            "blitz-bench: the machine is too slow to start the timers in time; figures are of no use"
        );
    }
    wait.recv().expect("all timers fire");
    let mut late: Vec<u32> = notes
        .late
        .iter()
        .map(|late| late.load(Ordering::Relaxed))
        .collect();
    late.sort_unstable();
    late
}
