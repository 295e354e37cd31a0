//! Group `stress`: random programs on Blitz until the time is up; any deviation ends with exit code 1.
//!
//! Several driver threads run programs side by side, each on a vehicle its seed chooses: as a guest of the global pool,
//! as a short-lived thread that is a guest once, installed in a shared pool of 1, 2, 3, 65 or 200 threads, or in a pool
//! made for the occasion and dropped while it still has spawned work. Every third program is an async one (`tasks`), on shared runtimes or
//! one of its own, which may be dropped in the middle of it. Every program is checked against its sequential
//! reading (`program`), every closure and result is counted (`tracked`). The main thread watches: drivers that finish
//! nothing for a minute mean a deadlock or a lost wake-up, which ends with exit code 3 and the seeds under way.

mod program;
mod tasks;
mod tracked;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::args::Options;
use crate::arms::{Cpus, blitz};
use program::{Counters, Outcome, StressPanic, mix};
use tracked::Ledger;

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

/// Panics that belong to a program would fill the screen; all others are printed as usual.
fn silence_expected_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<StressPanic>() {
            print(info);
        }
    }));
}

/// Where one driver is.
#[derive(Default)]
struct Driver {
    current_seed: AtomicU64,
    finished: AtomicU64,
}

#[derive(Default)]
struct Totals {
    programs: AtomicU64,
    async_programs: AtomicU64,
    panicked: AtomicU64,
    closures: AtomicU64,
    pools_dropped_busy: AtomicU64,
    slowest: Mutex<(Duration, u64)>,
}

impl Totals {
    /// Keeps the slowest program: a wake-up that is lost and made up for by chance shows here and nowhere else.
    fn note_time(&self, time: Duration, seed: u64) {
        let mut slowest = self
            .slowest
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if time > slowest.0 {
            *slowest = (time, seed);
        }
    }
}

struct Stress {
    pools: Vec<blitz::ThreadPool>,
    runtimes: tasks::Runtimes,
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
        let mut seed = self.first_seed.wrapping_add(driver as u64);
        while !self.stop.load(Ordering::Relaxed) {
            self.drivers[driver]
                .current_seed
                .store(seed, Ordering::SeqCst);
            let start = Instant::now();
            let outcome = self.program(seed);
            self.totals.note_time(start.elapsed(), seed);
            if let Err(message) = outcome {
                eprintln!("blitz-bench: stress FAILED at seed {seed}: {message}");
                eprintln!("repeat with: blitz-bench stress --seconds 10 --seed {seed}");
                self.failed.store(true, Ordering::SeqCst);
                self.stop.store(true, Ordering::SeqCst);
                return;
            }
            self.drivers[driver].finished.fetch_add(1, Ordering::SeqCst);
            seed = seed.wrapping_add(DRIVERS as u64);
        }
    }

    /// Runs one program on the vehicle its seed chooses and checks everything about it.
    fn program(&self, seed: u64) -> Result<(), String> {
        let choice = mix(seed ^ 0x7EA1);
        if (choice >> 48).is_multiple_of(3) {
            return self.async_program(seed);
        }
        let elsewhere = &self.pools[(choice >> 40) as usize % 3];
        let ledger = Ledger::default();
        let counters = Counters::default();
        let go = || program::execute(seed, &ledger, &counters, elsewhere);
        let outcome = match choice % 16 {
            0..=6 => caught(go),
            7 => std::thread::scope(|threads| {
                let guest = threads.spawn(|| caught(go));
                guest.join().expect("the outcome was caught")
            }),
            8..=13 => {
                let pool = &self.pools[(choice >> 20) as usize % self.pools.len()];
                caught(|| pool.install(go))
            }
            _ => {
                self.pool_dropped_while_busy(choice)?;
                let pool = blitz::pool(1 + (choice >> 16) as usize % 4, &Cpus::new(false));
                caught(|| pool.install(go))
            }
        }?;
        self.check(seed, &outcome, &ledger, &counters)
    }

    fn async_program(&self, seed: u64) -> Result<(), String> {
        let ledger = Arc::default();
        self.runtimes.program(seed, &ledger)?;
        ledger.settle()?;
        self.totals.programs.fetch_add(1, Ordering::Relaxed);
        self.totals.async_programs.fetch_add(1, Ordering::Relaxed);
        let made = ledger.made() as u64;
        self.totals.closures.fetch_add(made, Ordering::Relaxed);
        Ok(())
    }

    fn check(
        &self,
        seed: u64,
        outcome: &Outcome,
        ledger: &Ledger,
        counters: &Counters,
    ) -> Result<(), String> {
        let expected = program::expect(seed);
        // Detached spawns end when they end, but they do end.
        wait_until(|| {
            let (started, done) = counters.detached();
            started == done
        })
        .map_err(|()| format!("detached spawns (made, run): {:?}", counters.detached()))?;
        ledger.settle()?;
        match (&expected.value, outcome) {
            (Ok(value), Outcome::Value(result)) if value == result => {
                if counters.leaves() != expected.leaves {
                    return Err("a leaf was executed twice or not at all".into());
                }
                if counters.detached().0 != expected.detached {
                    return Err("a detached spawn was made twice or not at all".into());
                }
            }
            (Err(seeds), Outcome::Panicked(from)) if seeds.contains(from) => {
                self.totals.panicked.fetch_add(1, Ordering::Relaxed);
            }
            (wanted, got) => return Err(format!("expected {wanted:x?}, got {got:x?}")),
        }
        self.totals.programs.fetch_add(1, Ordering::Relaxed);
        self.totals
            .closures
            .fetch_add(ledger.made() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// A new pool gets spawned work, some of which panics, and is dropped at once: all of it must still be done.
    fn pool_dropped_while_busy(&self, choice: u64) -> Result<(), String> {
        let jobs = 1 + (choice >> 8) as usize % 40;
        let panicking = jobs / 5;
        let done = Arc::new(AtomicUsize::new(0));
        let handled = Arc::new(AtomicUsize::new(0));
        let pool = {
            let handled = Arc::clone(&handled);
            blitz::builder(&Cpus::new(false))
                .num_threads(1 + (choice >> 24) as usize % 4)
                .panic_handler(move |payload| {
                    if payload.is::<StressPanic>() {
                        handled.fetch_add(1, Ordering::SeqCst);
                    }
                })
                .build()
                .map_err(|error| format!("a pool could not be built: {error}"))?
        };
        for job in 0..jobs {
            let done = Arc::clone(&done);
            pool.spawn(move || {
                std::hint::black_box(crate::spin::spin(job as u64 * 50, 1));
                done.fetch_add(1, Ordering::SeqCst);
                if job < panicking {
                    panic::panic_any(StressPanic(job as u64));
                }
            });
        }
        drop(pool);
        self.totals
            .pools_dropped_busy
            .fetch_add(1, Ordering::Relaxed);
        let counts = || (done.load(Ordering::SeqCst), handled.load(Ordering::SeqCst));
        wait_until(|| counts() == (jobs, panicking)).map_err(|()| {
            format!(
                "a pool dropped with {jobs} jobs, {panicking} panicking, did (jobs, handled panics) {:?}",
                counts()
            )
        })
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
                let programs = self.totals.programs.load(Ordering::Relaxed);
                eprintln!(
                    "stress: {programs} programs after {:.0} s",
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
                eprintln!("blitz-bench: stress is STUCK: no progress for a minute at seed {seed}");
                std::process::exit(3);
            }
        }
    }

    fn report(&self, ran_for: Duration) -> ExitCode {
        let load = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        println!(
            "stress: {} programs ({} of them async, {} panicked), {} closures and futures, {} pools dropped while busy, in {:.1} s",
            load(&self.totals.programs),
            load(&self.totals.async_programs),
            load(&self.totals.panicked),
            load(&self.totals.closures),
            load(&self.totals.pools_dropped_busy),
            ran_for.as_secs_f64(),
        );
        let slowest = self
            .totals
            .slowest
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        println!(
            "stress: the slowest program took {:.2} s (seed {})",
            slowest.0.as_secs_f64(),
            slowest.1
        );
        if self.failed.load(Ordering::SeqCst) {
            println!("stress: FAILED");
            return ExitCode::FAILURE;
        }
        println!("stress: ok");
        ExitCode::SUCCESS
    }
}

/// Runs a program and tells its own panics from anybody else's.
fn caught(run: impl FnOnce() -> u64) -> Result<Outcome, String> {
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(value) => Ok(Outcome::Value(value)),
        Err(payload) => match payload.downcast::<StressPanic>() {
            Ok(own) => Ok(Outcome::Panicked(own.0)),
            Err(foreign) => {
                let message = foreign
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| foreign.downcast_ref::<&str>().map(ToString::to_string));
                Err(format!("an unplanned panic came out: {message:?}"))
            }
        },
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
