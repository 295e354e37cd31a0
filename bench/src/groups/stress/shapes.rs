//! Scenario `shapes`: a pool gets more threads and fewer, has threads that block and a queue that is full, and is shut down, while others use it. What was let in is done, and nothing is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use blitz::ThreadPool;
use blitz::primitives::FullPolicy;

use super::Stress;
use super::calls::Call;
use super::dice::Dice;
use crate::arms::Cpus;

const LONG: Duration = Duration::from_secs(50);

pub fn run(_: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let mut builder = crate::arms::blitz::builder(&Cpus::new(false))
        .num_threads(dice.between(1, 4))
        .caller_participates(dice.once_in(2));
    if dice.once_in(3) {
        builder = builder.queue_capacity(dice.between(1, 8), FullPolicy::Block);
    }
    let pool = builder.build().map_err(|error| error.to_string())?;
    let (spawned, done) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    thread::scope(|scope| {
        let users: Vec<_> = (0..dice.between(1, 3))
            .map(|_| {
                let mut dice = Dice::new(dice.roll());
                let (pool, spawned, done) = (&pool, &spawned, &done);
                scope.spawn(move || use_it(pool, &mut dice, spawned, done))
            })
            .collect();
        for _ in 0..dice.below(20) {
            let threads = dice.between(1, 6);
            pool.set_num_threads(threads)
                .map_err(|error| error.to_string())?;
            thread::sleep(dice.micros(300));
        }
        let mut used = users.into_iter().map(|user| user.join());
        used.try_for_each(|user| user.unwrap_or_else(|_| Err("a user panicked".into())))
    })?;
    if !pool.shutdown_timeout(LONG) {
        return Err("a pool that nobody uses any more does not end".into());
    }
    let (spawned, done) = (spawned.into_inner(), done.load(Ordering::SeqCst));
    if spawned != done {
        return Err(format!("{done} of {spawned} tasks were done"));
    }
    Ok(())
}

fn use_it(
    pool: &ThreadPool,
    dice: &mut Dice,
    spawned: &AtomicUsize,
    done: &Arc<AtomicUsize>,
) -> Result<(), String> {
    for _ in 0..dice.between(1, 10) {
        match dice.below(4) {
            0 | 1 => Call::any(dice).make(Some(pool))?,
            2 => {
                // A task that waits for another one of the same pool.
                let (done, time) = (Arc::clone(done), dice.micros(200));
                spawned.fetch_add(2, Ordering::SeqCst);
                pool.spawn(move || {
                    let (sender, receiver) = std::sync::mpsc::channel();
                    let inner = Arc::clone(&done);
                    blitz::spawn(move || {
                        inner.fetch_add(1, Ordering::SeqCst);
                        sender.send(()).ok();
                    });
                    blitz::block_in_place(|| {
                        thread::sleep(time);
                        receiver.recv().ok()
                    });
                    done.fetch_add(1, Ordering::SeqCst);
                });
            }
            _ => {
                let count = Arc::clone(done);
                let task = move || {
                    count.fetch_add(1, Ordering::SeqCst);
                };
                spawned.fetch_add(1, Ordering::SeqCst);
                if let Err(full) = pool.try_spawn(task) {
                    full.into_inner()();
                }
            }
        }
    }
    Ok(())
}
