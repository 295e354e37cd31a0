//! Scenario `current_thread`: runtimes without threads of their own. Main futures that wake themselves all the time leave timers and sockets their share, several
//! threads may drive one, and it may be dropped while one does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use blitz_io::task::yield_now;
use blitz_io::{Builder, Runtime};

use super::Stress;
use super::dice::Dice;

pub fn run(_: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let runtime = Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| format!("a runtime does not start: {error}"))?;
    match dice.below(4) {
        0 => restless(&runtime, &mut dice),
        1 => several_drivers(&runtime, &mut dice),
        2 => dropped_while_driven(runtime, &mut dice),
        _ => limits(&runtime, &mut dice),
    }
}

/// The main future never rests before a timer, a connection and a task are through.
fn restless(runtime: &Runtime, dice: &mut Dice) -> Result<(), String> {
    let (pause, by_task) = (dice.micros(3000), dice.once_in(2));
    let served = Arc::new(AtomicUsize::new(0));
    let theirs = Arc::clone(&served);
    let timer = runtime.spawn(async move {
        blitz_io::time::sleep(pause).await;
        theirs.fetch_add(1, Ordering::SeqCst);
    });
    let theirs = Arc::clone(&served);
    let socket = runtime.spawn(async move {
        super::ends::echo().await.map(|()| {
            theirs.fetch_add(1, Ordering::SeqCst);
        })
    });
    let until_served = {
        let served = Arc::clone(&served);
        async move {
            while served.load(Ordering::SeqCst) < 2 {
                yield_now().await;
            }
        }
    };
    runtime.block_on(async {
        if by_task {
            let restless = blitz_io::spawn(until_served);
            restless.await.expect("nobody cuts it off");
        } else {
            until_served.await;
        }
        timer.await.map_err(|error| error.to_string())?;
        let echoed = socket.await.map_err(|error| error.to_string())?;
        echoed.map_err(|error| format!("a connection to oneself: {error}"))
    })
}

/// Several threads are in `block_on`, each with tasks of its own; whoever waits drives for all.
fn several_drivers(runtime: &Runtime, dice: &mut Dice) -> Result<(), String> {
    let pauses: Vec<Duration> = (0..dice.between(2, 5)).map(|_| dice.micros(1000)).collect();
    let count = Arc::new(AtomicUsize::new(0));
    let sums = std::thread::scope(|threads| {
        let threads: Vec<_> = pauses
            .iter()
            .map(|&pause| {
                let count = &count;
                threads.spawn(move || {
                    runtime.block_on(async {
                        let mut tasks = Vec::new();
                        for _ in 0..5 {
                            let count = Arc::clone(count);
                            tasks.push(blitz_io::spawn(async move {
                                yield_now().await;
                                blitz_io::time::sleep(pause).await;
                                count.fetch_add(1, Ordering::SeqCst);
                                1
                            }));
                        }
                        let mut sum = 0;
                        for task in tasks {
                            sum += task.await.unwrap_or(0);
                        }
                        sum
                    })
                })
            })
            .collect();
        let threads = threads.into_iter();
        threads
            .map(|thread| thread.join().unwrap_or(0))
            .collect::<Vec<_>>()
    });
    let all = 5 * sums.len();
    if sums.iter().any(|&sum| sum != 5) || count.load(Ordering::SeqCst) != all {
        return Err(format!("threads in one block_on each have seen {sums:?}"));
    }
    Ok(())
}

fn dropped_while_driven(runtime: Runtime, dice: &mut Dice) -> Result<(), String> {
    let ledger: Arc<super::tracked::Ledger> = Arc::default();
    for _ in 0..dice.below(5) {
        let (token, pause) = (ledger.shared_token(), dice.micros(20_000));
        drop(runtime.spawn(async move {
            blitz_io::time::sleep(pause).await;
            token.touch();
        }));
    }
    let drivers: Vec<_> = (0..dice.between(1, 3))
        .map(|_| {
            let (handle, pause) = (runtime.handle().clone(), dice.micros(2000));
            std::thread::spawn(move || {
                handle.block_on(async { blitz_io::time::sleep(pause).await });
            })
        })
        .collect();
    std::thread::sleep(dice.micros(1500));
    match dice.below(3) {
        0 => runtime.shutdown_background(),
        1 => runtime.shutdown_timeout(dice.micros(500)),
        _ => drop(runtime),
    }
    for driver in drivers {
        // With its result, or with a panic: it comes back.
        let _ = driver.join();
    }
    super::wait_until(|| ledger.settle().is_ok()).or_else(|()| ledger.settle())
}

/// A time limit is kept, whatever the future under it does.
fn limits(runtime: &Runtime, dice: &mut Dice) -> Result<(), String> {
    let (limit, blocks) = (dice.micros(2000), dice.once_in(2));
    let done = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&done);
    let outcome = runtime.block_on(async move {
        let blocking = blitz_io::spawn_blocking(move || theirs.store(true, Ordering::SeqCst));
        let restless = async {
            loop {
                yield_now().await;
                if blocks {
                    std::thread::sleep(Duration::from_micros(20));
                }
            }
        };
        let outcome: Result<(), _> = blitz_io::time::timeout(limit, restless).await;
        blocking.await.map_err(|error| error.to_string())?;
        Ok::<_, String>(outcome.is_err())
    })?;
    if outcome && done.load(Ordering::SeqCst) {
        return Ok(());
    }
    Err("a blocking closure has not run before it was awaited".into())
}
