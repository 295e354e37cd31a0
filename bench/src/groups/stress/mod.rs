//! Group `stress`: random scenarios on Blitz until the time is up; any deviation ends with exit code 1.
//!
//! Several driver threads run scenarios side by side. Which one, and everything about it, follows from a seed; `--only NAME` leaves the others out.
//! Each scenario is a file (see `SCENARIOS`): random programs (`vehicles`, with `program`; `tasks`), which are checked against their sequential reading
//! and whose closures and results are counted (`tracked`), and situations in which a promise could be broken: locks held outside, guests in small pools, ends in
//! the middle of things, … What changes the whole process has one of its own (`in_child`).
//!
//! The main thread watches: drivers that finish nothing for a minute mean a deadlock or a lost wake-up, which ends with exit code 3 and the seed under way.

mod arenas;
mod blocking;
mod calls;
mod chains;
mod current_thread;
#[cfg(unix)]
mod descriptors;
mod dice;
mod ends;
#[cfg(unix)]
mod forks;
mod guests;
mod idle_waits;
mod in_child;
mod locks;
mod ops;
mod program;
mod shapes;
mod sorts;
mod tasks;
mod tracked;
mod vehicles;

pub use in_child::{CHILD, run_child};
use in_child::{DESCRIPTORS, FORKS};

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::args::Options;
use crate::arms::{Cpus, blitz};
use crate::child::invoked_as;
use dice::Dice;
use program::StressPanic;

/// Something to try, by name.
struct Scenario {
    name: &'static str,
    /// How often it comes up, compared with others.
    share: usize,
    /// Says what was wrong.
    run: fn(&Stress, u64) -> Result<(), String>,
}

const fn scenario(
    name: &'static str,
    share: usize,
    run: fn(&Stress, u64) -> Result<(), String>,
) -> Scenario {
    Scenario { name, share, run }
}

const SCENARIOS: [Scenario; 15] = [
    scenario("programs", 24, vehicles::run),
    scenario("tasks", 12, tasks::run_scenario),
    scenario("chains", 24, chains::run),
    scenario("sorts", 4, sorts::run),
    scenario("ops", 6, ops::run),
    scenario("arenas", 4, arenas::run),
    scenario("locks", 4, locks::run),
    scenario("guests", 3, guests::run),
    scenario("idle_waits", 4, idle_waits::run),
    scenario("ends", 6, ends::run),
    scenario("shapes", 6, shapes::run),
    scenario("blocking", 4, blocking::run),
    scenario("current_thread", 4, current_thread::run),
    // Two that start a process each.
    scenario(DESCRIPTORS, 1, |_, seed| in_child::run(DESCRIPTORS, seed)),
    scenario(FORKS, 1, |_, seed| in_child::run(FORKS, seed)),
];

const DRIVERS: usize = 6;
const SHARED_POOLS: [usize; 5] = [1, 2, 3, 65, 200];
const PROGRESS_EVERY: Duration = Duration::from_secs(10);
/// A driver that takes this long over one program is stuck; the longest take a second or two on a busy machine.
const STUCK_AFTER: Duration = Duration::from_secs(60);
/// How long the watcher naps between two looks.
const WATCH_NAP: Duration = Duration::from_millis(50);
/// How long a driver naps that waits for what its program has left behind.
const SETTLE_NAP: Duration = Duration::from_micros(50);

/// Runs the stress and reports.
pub fn run(options: &Options) -> ExitCode {
    let wanted: Vec<usize> = (0..SCENARIOS.len())
        .filter(|&scenario| options.wants(SCENARIOS[scenario].name))
        .flat_map(|scenario| std::iter::repeat_n(scenario, SCENARIOS[scenario].share))
        .collect();
    if wanted.is_empty() {
        let names = SCENARIOS.map(|scenario| scenario.name).join(", ");
        eprintln!(
            "{}: stress has no such scenario; it has {names}",
            invoked_as()
        );
        return ExitCode::from(2);
    }
    let first_seed = options.seed.unwrap_or_else(seed_from_clock);
    println!(
        "stress: {} drivers for {} s, first seed {first_seed}",
        DRIVERS,
        options.stress_for.as_secs()
    );
    silence_expected_panics();
    let free = Cpus::new(false);
    let pools: Vec<blitz::ThreadPool> = SHARED_POOLS
        .iter()
        .map(|&threads| blitz::pool(threads, &free))
        .collect();
    let stress = Stress {
        pools,
        runtimes: tasks::Runtimes::new(),
        wanted,
        first_seed,
        stop: AtomicBool::new(false),
        failed: AtomicBool::new(false),
        running: AtomicUsize::new(DRIVERS),
        drivers: Default::default(),
        totals: Totals::default(),
    };
    let stress = &stress;
    let watched = std::thread::scope(|threads| {
        for driver in 0..DRIVERS {
            threads.spawn(move || {
                stress.drive(driver);
                stress.running.fetch_sub(1, Ordering::SeqCst);
            });
        }
        stress.watch(options.stress_for)
    });
    stress.report(watched)
}

fn seed_from_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(1, |time| time.as_nanos() as u64 >> 10)
}

/// Panics that belong to a scenario would fill the screen; all others are printed as usual.
fn silence_expected_panics() {
    /// What a future hears that outlives its runtime.
    const AFTER_THE_END: &str = "timer cannot go off any more";
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let late = text.is_some_and(|text| text.contains(AFTER_THE_END));
        if !late && !payload.is::<StressPanic>() {
            print(info);
        }
    }));
}

/// Where one driver is.
#[derive(Default)]
struct Driver {
    current_seed: AtomicU64,
    scenario: AtomicUsize,
    finished: AtomicU64,
}

#[derive(Default)]
struct Totals {
    scenarios: [Count; SCENARIOS.len()],
    panicked: AtomicU64,
    closures: AtomicU64,
    pools_dropped_busy: AtomicU64,
}

/// How often a scenario was run, and when it took longest: a wake-up that is lost and made up for by chance shows there and nowhere else.
#[derive(Default)]
struct Count {
    runs: AtomicU64,
    slowest: Mutex<(Duration, u64)>,
}

impl Count {
    fn note(&self, time: Duration, seed: u64) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let mut slowest = self.slowest.lock().unwrap();
        if time > slowest.0 {
            *slowest = (time, seed);
        }
    }
}

impl Totals {
    fn runs(&self) -> u64 {
        let runs = self.scenarios.iter();
        runs.map(|count| count.runs.load(Ordering::SeqCst)).sum()
    }
}

struct Stress {
    pools: Vec<blitz::ThreadPool>,
    runtimes: tasks::Runtimes,
    /// Which scenarios may come up: each as often as its share says.
    wanted: Vec<usize>,
    first_seed: u64,
    stop: AtomicBool,
    failed: AtomicBool,
    running: AtomicUsize,
    drivers: [Driver; DRIVERS],
    totals: Totals,
}

impl Stress {
    /// One driver thread: seeds `first + driver`, `first + driver + DRIVERS`, … until told to stop.
    fn drive(&self, driver: usize) {
        let here = &self.drivers[driver];
        let mut seed = self.first_seed.wrapping_add(driver as u64);
        while !self.stop.load(Ordering::Relaxed) {
            let scenario = self.wanted[Dice::new(seed ^ 0x5CE).below(self.wanted.len())];
            here.current_seed.store(seed, Ordering::SeqCst);
            here.scenario.store(scenario, Ordering::SeqCst);
            let start = Instant::now();
            let outcome = self.run(&SCENARIOS[scenario], seed);
            self.totals.scenarios[scenario].note(start.elapsed(), seed);
            if let Err(message) = outcome {
                let name = SCENARIOS[scenario].name;
                eprintln!(
                    "{}: stress FAILED in '{name}' at seed {seed}: {message}\n{}",
                    invoked_as(),
                    again(name, seed)
                );
                self.failed.store(true, Ordering::SeqCst);
                self.stop.store(true, Ordering::SeqCst);
                return;
            }
            here.finished.fetch_add(1, Ordering::SeqCst);
            seed = seed.wrapping_add(DRIVERS as u64);
        }
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<(), String> {
        panic::catch_unwind(AssertUnwindSafe(|| (scenario.run)(self, seed)))
            .unwrap_or_else(|_| Err("a panic came out".into()))
    }

    /// Waits until the time is up or a driver fails, and then for the last programs; ends the process if one hangs.
    fn watch(&self, how_long: Duration) -> Duration {
        let start = Instant::now();
        let mut last_seen = [(0, 0); DRIVERS];
        let mut next_line = PROGRESS_EVERY;
        while self.running.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(WATCH_NAP);
            if start.elapsed() >= how_long {
                self.stop.store(true, Ordering::SeqCst);
            }
            self.exit_if_stuck(&mut last_seen);
            if start.elapsed() >= next_line {
                next_line += PROGRESS_EVERY;
                eprintln!(
                    "stress: {} runs after {:.0} s",
                    self.totals.runs(),
                    start.elapsed().as_secs_f64()
                );
            }
        }
        start.elapsed()
    }

    /// Called after each nap. Naps are counted, not time: a process that is stopped for a while is not stuck.
    fn exit_if_stuck(&self, last_seen: &mut [(u64, u32); DRIVERS]) {
        for (driver, (finished_before, naps)) in self.drivers.iter().zip(last_seen) {
            let finished = driver.finished.load(Ordering::SeqCst);
            *naps += 1;
            if finished != *finished_before {
                (*finished_before, *naps) = (finished, 0);
            } else if WATCH_NAP * *naps > STUCK_AFTER {
                let seed = driver.current_seed.load(Ordering::SeqCst);
                let name = SCENARIOS[driver.scenario.load(Ordering::SeqCst)].name;
                eprintln!(
                    "{}: stress is STUCK: no progress for a minute in '{name}' at seed {seed}\n{}",
                    invoked_as(),
                    again(name, seed)
                );
                std::process::exit(3);
            }
        }
    }

    fn report(&self, ran_for: Duration) -> ExitCode {
        let load = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        println!(
            "stress: {} runs ({} programs panicked), {} closures and futures counted, {} pools dropped while busy, in {:.1} s",
            self.totals.runs(),
            load(&self.totals.panicked),
            load(&self.totals.closures),
            load(&self.totals.pools_dropped_busy),
            ran_for.as_secs_f64(),
        );
        for (scenario, count) in SCENARIOS.iter().zip(&self.totals.scenarios) {
            let slowest = *count.slowest.lock().unwrap();
            if load(&count.runs) > 0 {
                println!(
                    "stress: {:>8} of {:<14} the slowest took {:.2} s (seed {})",
                    load(&count.runs),
                    scenario.name,
                    slowest.0.as_secs_f64(),
                    slowest.1
                );
            }
        }
        if self.failed.load(Ordering::SeqCst) {
            println!("stress: FAILED");
            return ExitCode::FAILURE;
        }
        println!("stress: ok");
        ExitCode::SUCCESS
    }
}

/// Polls until `done`; gives up before the watcher does, so that the failing count can be printed.
fn wait_until(done: impl Fn() -> bool) -> Result<(), ()> {
    // Naps grow, so that most of the time is in the last ones, which take as long as they say. They are counted, as the watcher's are.
    let mut nap = SETTLE_NAP;
    let mut waited = Duration::ZERO;
    while !done() {
        if waited > STUCK_AFTER / 2 {
            return Err(());
        }
        std::thread::sleep(nap);
        waited += nap;
        nap = (nap * 2).min(WATCH_NAP);
    }
    Ok(())
}

/// How to run a scenario again, alone.
fn again(scenario: &str, seed: u64) -> String {
    format!(
        "repeat with: {} stress --seconds 10 --only {scenario} --seed {seed}",
        invoked_as()
    )
}

/// Runs something where the dice say: as a guest of the global pool, or in one of the shared ones.
fn on_some_pool<R: Send>(stress: &Stress, dice: &mut Dice, work: impl FnOnce() -> R + Send) -> R {
    let here = dice.below(2 * stress.pools.len());
    match stress.pools.get(here) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
