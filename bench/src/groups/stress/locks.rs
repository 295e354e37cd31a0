//! Scenario `locks`: all threads of a pool wait for a lock, and whoever holds it makes parallel calls. They end, for the holder does the work itself if nobody else can.
//!
//! The holder is an outside thread (of a pool that takes guests, of the global pool), a thread in `block_on`, a blocking thread, or a
//! task that has said `block_in_place`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::calls::Call;
use super::dice::Dice;
use super::{Stress, wait_until};
use crate::arms::{Cpus, blitz};

/// A lock and those who want it.
#[derive(Default)]
struct Door {
    lock: Mutex<usize>,
    came: AtomicUsize,
}

impl Door {
    fn locked(&self) -> MutexGuard<'_, usize> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each of the others does: waits for the lock, without a word.
    fn pass(&self) {
        self.came.fetch_add(1, Ordering::SeqCst);
        *self.locked() += 1;
    }

    /// Gives others some time to come to the lock.
    fn expect(&self, others: usize) {
        for _ in 0..40 {
            if self.came.load(Ordering::SeqCst) >= others {
                break;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    fn all_through(&self, others: usize) -> Result<(), String> {
        wait_until(|| *self.locked() == others).map_err(|()| {
            let through = *self.locked();
            format!("{through} of {others} came through the lock")
        })
    }
}

pub fn run(_: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    match dice.below(6) {
        0..=2 => pool_with_guests(&mut dice),
        3 => global_pool(&mut dice),
        _ => runtime(&mut dice),
    }
}

fn calls(dice: &mut Dice) -> Vec<Call> {
    (0..dice.between(1, 3)).map(|_| Call::any(dice)).collect()
}

fn pool_with_guests(dice: &mut Dice) -> Result<(), String> {
    let threads = dice.between(1, 4);
    let builder = blitz::builder(&Cpus::new(false)).num_threads(threads);
    let pool = builder.caller_participates(true).build();
    let pool = pool.map_err(|error| error.to_string())?;
    let door = Arc::new(Door::default());
    let others = threads + dice.below(4);
    let held = door.locked();
    for _ in 0..others {
        let door = Arc::clone(&door);
        pool.spawn(move || door.pass());
    }
    // All of them, so that nobody is left to help. Now and then at once, while they are on their way.
    if !dice.once_in(4) {
        wait_until(|| door.came.load(Ordering::SeqCst) >= threads)
            .map_err(|()| "the threads of a pool have not come to a lock".to_string())?;
    }
    for call in calls(dice) {
        call.make(Some(&pool))?;
    }
    drop(held);
    door.all_through(others)
}

/// Other scenarios use that pool as well, so nobody can count on all of its threads.
fn global_pool(dice: &mut Dice) -> Result<(), String> {
    let door = Arc::new(Door::default());
    let others = ::blitz::current_num_threads() + dice.below(4);
    let held = door.locked();
    for _ in 0..others {
        let door = Arc::clone(&door);
        blitz::spawn(move || door.pass());
    }
    door.expect(others);
    for call in calls(dice) {
        call.make(None)?;
    }
    drop(held);
    door.all_through(others)
}

fn runtime(dice: &mut Dice) -> Result<(), String> {
    let workers = dice.between(1, 3);
    let runtime = super::tasks::runtime(workers);
    let door = Arc::new(Door::default());
    let others = workers + dice.below(3);
    let calls = calls(dice);
    let handle = runtime.handle().clone();
    // Takes the lock, lets tasks come to it, and calls.
    let hold = {
        let (door, handle) = (Arc::clone(&door), handle.clone());
        move || {
            let held = door.locked();
            for _ in 0..others {
                let door = Arc::clone(&door);
                drop(handle.spawn(async move { door.pass() }));
            }
            door.expect(workers);
            let made = calls.iter().try_for_each(|call| call.make(None));
            drop(held);
            made
        }
    };
    let cut_off = |error| format!("the holder of a lock was cut off: {error}");
    let made = match dice.below(4) {
        0 => runtime.block_on(async { hold() }),
        1 => runtime
            .block_on(runtime.spawn_blocking(hold))
            .map_err(cut_off)?,
        2 => runtime
            .block_on(handle.spawn_cpu(move || blitz_io::block_in_place(hold)))
            .map_err(cut_off)?,
        _ => runtime
            .block_on(runtime.spawn(async { blitz_io::block_in_place(hold) }))
            .map_err(cut_off)?,
    };
    made?;
    door.all_through(others)
}
