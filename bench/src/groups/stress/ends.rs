//! Scenario `ends`: pools and runtimes end while they are used: dropped, told to end in the background, with a time limit, in their own
//! tasks, while other threads are in `block_on`. Whatever was going on, nothing is left of it, nobody waits for ever, and other runtimes go on.

use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::task::yield_now;
use blitz_io::{Builder, Handle, Runtime};

use super::calls::Call;
use super::dice::Dice;
use super::tracked::Ledger;
use super::{Stress, wait_until};
use crate::arms::{Cpus, blitz};

pub fn run(_: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    match dice.below(6) {
        0 => pool_dropped_in_its_task(&mut dice),
        1 => side_by_side(&mut dice),
        _ => runtime_that_ends(&mut dice),
    }
}

/// The last owner of a pool is a task in it, or a thread that has just left it. What was spawned is done nevertheless.
fn pool_dropped_in_its_task(dice: &mut Dice) -> Result<(), String> {
    let builder = blitz::builder(&Cpus::new(false)).num_threads(dice.between(1, 3));
    let pool = builder.caller_participates(dice.once_in(2)).build();
    let pool = Arc::new(pool.map_err(|error| error.to_string())?);
    let tasks = dice.between(1, 20);
    let done = Arc::new(AtomicUsize::new(0));
    let mut handles = Vec::new();
    for _ in 0..tasks {
        let (inside, done, call) = (Arc::clone(&pool), Arc::clone(&done), Call::any(dice));
        handles.push(pool.spawn_handle(move || {
            let made = call.make(Some(&inside));
            drop(inside);
            let again = call.make(None);
            done.fetch_add(1, Ordering::SeqCst);
            made.and(again)
        }));
    }
    if dice.once_in(2) {
        Call::any(dice).make(Some(&pool))?;
    }
    drop(pool);
    for handle in handles {
        handle
            .join()
            .map_err(|_| "a task of a dropped pool was lost".to_string())??;
    }
    wait_until(|| done.load(Ordering::SeqCst) == tasks)
        .map_err(|()| "tasks of a dropped pool have not run".to_string())
}

fn any_runtime(dice: &mut Dice) -> Result<Runtime, String> {
    let built = match dice.below(4) {
        // On the global pool.
        0 => Runtime::new(),
        workers => Builder::new_multi_thread().worker_threads(workers).build(),
    };
    built.map_err(|error| format!("a runtime does not start: {error}"))
}

/// Several runtimes at a time, all in use, end one after the other.
fn side_by_side(dice: &mut Dice) -> Result<(), String> {
    let mut runtimes = Vec::new();
    for _ in 0..dice.between(2, 5) {
        runtimes.push(any_runtime(dice)?);
    }
    let ledger: Arc<Ledger> = Arc::default();
    while !runtimes.is_empty() {
        for runtime in &runtimes {
            for _ in 0..dice.below(4) {
                drop(runtime.spawn(any_task(&ledger, dice)));
            }
        }
        for runtime in &runtimes {
            let call = Call::any(dice);
            let task = runtime.spawn(async move {
                blitz_io::time::sleep(Duration::from_micros(50)).await;
                call.make(None)
            });
            let made = runtime.block_on(task);
            made.map_err(|error| format!("another runtime has ended, and a task: {error}"))??;
        }
        let ends = runtimes.swap_remove(dice.below(runtimes.len()));
        end(ends, dice)?;
    }
    nothing_is_left(&ledger)
}

fn runtime_that_ends(dice: &mut Dice) -> Result<(), String> {
    let runtime = any_runtime(dice)?;
    let ledger: Arc<Ledger> = Arc::default();
    for _ in 0..dice.below(12) {
        drop(runtime.spawn(any_task(&ledger, dice)));
    }
    let visitors: Vec<_> = (0..dice.below(3))
        .map(|_| {
            let (handle, task) = (runtime.handle().clone(), any_task(&ledger, dice));
            std::thread::spawn(move || visit(&handle, task))
        })
        .collect();
    std::thread::sleep(dice.micros(600));
    let ended = end(runtime, dice);
    for visitor in visitors {
        // Its future may have panicked, because its runtime has ended. Its thread came back, which is what counts.
        let _ = visitor.join();
    }
    ended?;
    nothing_is_left(&ledger)
}

/// `block_on` from a thread of its own, beside the end.
fn visit(handle: &Handle, task: impl Future<Output = ()> + Send + 'static) {
    let inside = handle.clone();
    handle.block_on(async move {
        let child = inside.spawn(task);
        let alarm = blitz_io::time::timeout(Duration::from_millis(2), child);
        let _ = alarm.await;
    });
}

/// Ends a runtime in one of the ways there are.
fn end(runtime: Runtime, dice: &mut Dice) -> Result<(), String> {
    match dice.below(6) {
        0 => runtime.shutdown_background(),
        1 => runtime.shutdown_timeout(dice.micros(2000)),
        2 => {
            let done = runtime.drain(dice.micros(500));
            let left = runtime.shutdown_within(Duration::from_secs(40));
            if !left {
                return Err(format!(
                    "a runtime (drained: {done}) has not ended within 40 seconds"
                ));
            }
        }
        3 => {
            // In one of its own tasks, which is the last thing that it does.
            let handle = runtime.handle().clone();
            let (told, hear) = std::sync::mpsc::channel();
            let in_background = dice.once_in(2);
            drop(handle.spawn(async move {
                if in_background {
                    runtime.shutdown_background();
                } else {
                    drop(runtime);
                }
                told.send(()).ok();
            }));
            hear.recv_timeout(Duration::from_secs(40))
                .map_err(|_| "a runtime was not dropped in its own task".to_string())?;
        }
        _ => drop(runtime),
    }
    Ok(())
}

fn nothing_is_left(ledger: &Arc<Ledger>) -> Result<(), String> {
    wait_until(|| ledger.settle().is_ok()).or_else(|()| ledger.settle())
}

/// What a task may be in the middle of. None of it takes more than a moment once it has to end.
fn any_task(ledger: &Arc<Ledger>, dice: &mut Dice) -> impl Future<Output = ()> + Send + use<> {
    let token = ledger.shared_token();
    let ledger = Arc::clone(ledger);
    let (kind, pause, call) = (dice.below(9), dice.micros(2000), Call::any(dice));
    async move {
        token.touch();
        match kind {
            0 => pending::<()>().await,
            1 => blitz_io::time::sleep(pause * 10).await,
            2 => loop {
                yield_now().await;
            },
            3 => {
                let inner = ledger.shared_token();
                let blocking = blitz_io::spawn_blocking(move || {
                    std::thread::sleep(pause);
                    inner.touch();
                });
                let _ = blocking.await;
            }
            4 => blitz_io::block_in_place(|| std::thread::sleep(pause)),
            5 => {
                let inner = ledger.shared_token();
                let job = blitz_io::spawn_cpu(move || {
                    inner.touch();
                    call.make(None)
                });
                let _ = job
                    .await
                    .map(|made| made.expect("a call in the middle of an end"));
            }
            6 => drop(echo().await),
            7 => {
                let inner = ledger.shared_token();
                let child = blitz_io::spawn(async move {
                    blitz_io::time::sleep(pause).await;
                    inner.touch();
                });
                let _ = child.await;
            }
            _ => {
                // The child of a task whose runtime ends: an error, a panic, or its value.
                let handle = Handle::current();
                let nested = catch_unwind(AssertUnwindSafe(|| {
                    blitz_io::block_in_place(|| {
                        handle.block_on(blitz_io::time::timeout(pause, pending::<()>()))
                    })
                }));
                if let Err(panic) = nested {
                    resume_unwind(panic);
                }
            }
        }
        token.touch();
    }
}

/// A connection to oneself, with something going both ways until it is cut off.
pub(super) async fn echo() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut near = TcpStream::connect(listener.local_addr()?).await?;
    let (mut far, _) = listener.accept().await?;
    for round in 0..20_u8 {
        near.write_all(&[round; 100]).await?;
        let mut there = [0; 100];
        far.read_exact(&mut there).await?;
        far.write_all(&there).await?;
        let mut back = [0; 100];
        near.read_exact(&mut back).await?;
        assert_eq!(back, [round; 100]);
    }
    Ok(())
}
