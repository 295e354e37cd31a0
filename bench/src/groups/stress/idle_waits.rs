//! Scenario `idle_waits`: `wait_idle` from outside, in tasks, in halves of joins, on top of another one, and in a task of another pool.
//!
//! Whoever returns from it finds what it has spawned before done. Tasks in `wait_idle` do not wait for each other, so all return.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Stress;
use super::dice::Dice;
use crate::arms::blitz::ThreadPool;
use crate::arms::{Cpus, blitz};
use crate::spin::spin;

/// What the tasks of one run share.
struct Run {
    pool: ThreadPool,
    elsewhere: ThreadPool,
    begun: AtomicUsize,
    ended: AtomicUsize,
    early: AtomicUsize,
}

pub fn run(_: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let builder = blitz::builder(&Cpus::new(false)).num_threads(dice.between(1, 4));
    let pool = builder.caller_participates(dice.once_in(2)).build();
    let run = Arc::new(Run {
        pool: pool.map_err(|error| error.to_string())?,
        elsewhere: blitz::pool(dice.between(1, 2), &Cpus::new(false)),
        begun: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
        early: AtomicUsize::new(0),
    });
    for _ in 0..dice.between(1, 3) {
        for _ in 0..dice.between(0, 12) {
            spawn(&run, dice.roll(), 2);
        }
        run.pool.wait_idle();
        let (begun, ended) = (
            run.begun.load(Ordering::SeqCst),
            run.ended.load(Ordering::SeqCst),
        );
        if begun != ended {
            return Err(format!(
                "wait_idle returned outside when {ended} of {begun} tasks had ended"
            ));
        }
    }
    match run.early.load(Ordering::SeqCst) {
        0 => Ok(()),
        early => Err(format!("wait_idle returned too early in {early} tasks")),
    }
}

/// A task that may spawn others, and waits in one of the ways there are.
fn spawn(run: &Arc<Run>, seed: u64, levels: u32) {
    run.begun.fetch_add(1, Ordering::SeqCst);
    let theirs = Arc::clone(run);
    run.pool.spawn(move || {
        let run = theirs;
        let mut dice = Dice::new(seed);
        if levels > 0 {
            for _ in 0..dice.below(3) {
                spawn(&run, dice.roll(), levels - 1);
            }
        }
        let steps = dice.below(20_000) as u64;
        match dice.below(8) {
            0 => plain_then_wait(&run, &run.pool, &mut dice),
            1 => drop(blitz::join(
                || std::hint::black_box(spin(steps, seed)),
                || run.pool.wait_idle(),
            )),
            2 => drop(blitz::join(
                || run.pool.wait_idle(),
                || run.pool.wait_idle(),
            )),
            3 => blitz::scope(|scope| {
                scope.spawn(|_| run.pool.wait_idle());
                std::hint::black_box(spin(steps, seed));
            }),
            4 => plain_then_wait(&run, &run.elsewhere, &mut dice),
            5 => run.pool.wait_idle(),
            _ => drop(std::hint::black_box(spin(steps, seed))),
        }
        run.ended.fetch_add(1, Ordering::SeqCst);
    });
}

/// Tasks that wait for nobody are over when the wait is.
fn plain_then_wait(run: &Run, pool: &ThreadPool, dice: &mut Dice) {
    let plain = dice.between(1, 5);
    let done = Arc::new(AtomicUsize::new(0));
    for task in 0..plain {
        let done = Arc::clone(&done);
        pool.spawn(move || {
            std::hint::black_box(spin(task as u64 * 1000, 1));
            done.fetch_add(1, Ordering::SeqCst);
        });
    }
    pool.wait_idle();
    if done.load(Ordering::SeqCst) != plain {
        run.early.fetch_add(1, Ordering::SeqCst);
    }
}
