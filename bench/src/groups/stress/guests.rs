//! Scenario `guests`: outside threads that come to a small pool again and again do not keep its own work from running.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::calls::Call;
use super::dice::Dice;
use super::{Stress, wait_until};
use crate::arms::{Cpus, blitz};

pub fn run(_: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let builder = blitz::builder(&Cpus::new(false)).num_threads(dice.between(1, 2));
    let pool = builder.caller_participates(true).build();
    let pool = pool.map_err(|error| error.to_string())?;
    let calls: Vec<Vec<Call>> = (0..dice.between(1, 6))
        .map(|_| (0..4).map(|_| Call::any(&mut dice)).collect())
        .collect();
    let tasks = dice.between(1, 30);
    let stop = AtomicBool::new(false);
    let wrong = Mutex::new(Ok(()));
    let done = Arc::new(AtomicUsize::new(0));
    let settled = std::thread::scope(|threads| {
        for calls in &calls {
            let (pool, stop, wrong) = (&pool, &stop, &wrong);
            threads.spawn(move || {
                for call in calls.iter().cycle() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    if let Err(message) = call.make(Some(pool)) {
                        *wrong.lock().unwrap() = Err(message);
                        return;
                    }
                }
            });
        }
        for task in 0..tasks {
            let add = |count: usize| {
                let done = Arc::clone(&done);
                move || {
                    done.fetch_add(count, Ordering::SeqCst);
                }
            };
            let (both, first, second) = (add(2), add(1), add(1));
            match task % 3 {
                0 => pool.spawn(both),
                1 => pool.spawn_fifo(move || {
                    first();
                    blitz::spawn(second);
                }),
                _ => pool.install(|| blitz::spawn(both)),
            }
            if dice.once_in(4) {
                std::thread::sleep(dice.micros(200));
            }
        }
        let settled = wait_until(|| done.load(Ordering::SeqCst) == 2 * tasks);
        stop.store(true, Ordering::Relaxed);
        settled
    });
    settled.map_err(|()| {
        let done = done.load(Ordering::SeqCst);
        format!("guests let {done} of {} tasks run", 2 * tasks)
    })?;
    wrong.into_inner().unwrap()
}
