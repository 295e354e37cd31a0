//! Scenario `programs`: random nested joins, scopes and spawns with panics (`program`), each on a vehicle that its seed chooses.
//!
//! As a guest of the global pool, as a short-lived thread that is a guest once, installed in a shared pool of 1, 2, 3, 65 or 200 threads, or in a pool
//! made for the occasion, beside one that is dropped while it still has spawned work.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::program::{self, Counters, Outcome, StressPanic, mix};
use super::tracked::Ledger;
use super::{Stress, wait_until};
use crate::arms::{Cpus, blitz};

/// Runs one program on the vehicle its seed chooses and checks everything about it.
pub fn run(stress: &Stress, seed: u64) -> Result<(), String> {
    let choice = mix(seed ^ 0x7EA1);
    let elsewhere = &stress.pools[(choice >> 40) as usize % 3];
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
            let pool = &stress.pools[(choice >> 20) as usize % stress.pools.len()];
            caught(|| pool.install(go))
        }
        _ => {
            pool_dropped_while_busy(stress, choice)?;
            let pool = blitz::pool(1 + (choice >> 16) as usize % 4, &Cpus::new(false));
            caught(|| pool.install(go))
        }
    }?;
    check(stress, seed, &outcome, &ledger, &counters)
}

fn check(
    stress: &Stress,
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
            stress.totals.panicked.fetch_add(1, Ordering::Relaxed);
        }
        (wanted, got) => return Err(format!("expected {wanted:x?}, got {got:x?}")),
    }
    stress
        .totals
        .closures
        .fetch_add(ledger.made() as u64, Ordering::Relaxed);
    Ok(())
}

/// A new pool gets spawned work, some of which panics, and is dropped at once: all of it must still be done.
fn pool_dropped_while_busy(stress: &Stress, choice: u64) -> Result<(), String> {
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
    stress
        .totals
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
