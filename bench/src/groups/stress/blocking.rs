//! Scenario `blocking`: tasks that block, with a word (`block_in_place`, `spawn_blocking`, `spawn_cpu`) and without one, and wait for each other that way.
//! All of it could go on, so all of it ends, also if guests come and go in the pool.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use blitz_io::{Handle, JoinHandle, Runtime};

use super::Stress;
use super::calls::Call;
use super::dice::Dice;

/// Long enough for a worker to come back to its seat.
const BETWEEN_CALLS: Duration = Duration::from_micros(50);

pub fn run(_: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let runtime = if dice.once_in(5) {
        Runtime::new().map_err(|error| format!("a runtime does not start: {error}"))?
    } else {
        super::tasks::runtime(dice.between(1, 3))
    };
    let calls: Vec<Call> = (0..dice.below(3)).map(|_| Call::any(&mut dice)).collect();
    beside_guests(&calls, || match dice.below(5) {
        0 => locks(&runtime, &mut dice),
        1 => one_task_waits_for_another(&runtime, &mut dice),
        2 => timers_beside_blocked_workers(&runtime, &mut dice),
        _ => relay(&runtime, &mut dice),
    })
}

/// Runs `work` while threads make these calls again and again, one each, in the pool that the default runtime shares with them: a worker may do without its seat.
fn beside_guests(calls: &[Call], work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let over_at_the_end = Over(&over);
        let call_again = |call: &Call| {
            while !over.load(Ordering::Relaxed) {
                call.make(None)?;
                std::thread::sleep(BETWEEN_CALLS);
            }
            Ok(())
        };
        let start = |call| threads.spawn(move || call_again(call));
        let guests: Vec<_> = calls.iter().map(start).collect();
        work()?;
        drop(over_at_the_end);
        let mut ended = guests.into_iter().map(|guest| guest.join());
        ended.try_for_each(|ended| ended.unwrap_or_else(|_| Err("a guest has panicked".into())))
    })
}

/// Everybody waits for a message, adds one, and passes it on; the first to be started is the last to hear.
fn relay(runtime: &Runtime, dice: &mut Dice) -> Result<(), String> {
    let length = dice.between(1, 24);
    let way = dice.below(5);
    let (first, mut hears) = channel::<usize>();
    let mut handles = Vec::new();
    let mut links = Vec::new();
    for _ in 0..length {
        let (tell, next) = channel();
        links.push((hears, tell));
        hears = next;
    }
    for link in links.into_iter().rev() {
        let way = if way == 4 { dice.below(4) } else { way };
        handles.push(start(runtime.handle(), way, link));
    }
    std::thread::sleep(dice.micros(300));
    first.send(0).expect("the first link hears");
    // The last one passes it on to this thread.
    let heard = hears.recv_timeout(Duration::from_secs(40));
    if heard != Ok(length) {
        return Err(format!(
            "a relay of {length} blocking links (way {way}) said {heard:?}"
        ));
    }
    for handle in handles {
        let passed = runtime.block_on(handle);
        let passed = passed.map_err(|error| format!("a link of a relay: {error}"))?;
        passed.map_err(|_| "a link of a relay has heard nothing".to_string())?;
    }
    Ok(())
}

type Link = (Receiver<usize>, Sender<usize>);

fn start(handle: &Handle, way: usize, (hears, tells): Link) -> JoinHandle<Result<(), RecvError>> {
    let pass = move || {
        let count = hears.recv()?;
        let _ = tells.send(count + 1);
        Ok(())
    };
    match way {
        0 => handle.spawn_blocking(pass),
        1 => handle.spawn(async move { blitz_io::block_in_place(pass) }),
        2 => handle.spawn_cpu(move || blitz_io::block_in_place(pass)),
        _ => {
            // A computation that waits for the runtime.
            let inside = handle.clone();
            handle.spawn_cpu(move || {
                let passed = inside.block_on(inside.spawn_blocking(pass));
                passed.unwrap_or(Err(RecvError))
            })
        }
    }
}

/// A lock of the standard library, held by tasks for a moment now and then.
fn locks(runtime: &Runtime, dice: &mut Dice) -> Result<(), String> {
    let lock = Arc::new(Mutex::new(0));
    let tasks = dice.between(1, 40);
    let handles: Vec<_> = (0..tasks)
        .map(|_| {
            let (lock, pause) = (Arc::clone(&lock), dice.micros(100));
            runtime.spawn(async move {
                blitz_io::task::yield_now().await;
                let mut count = lock.lock().unwrap();
                std::thread::sleep(pause);
                *count += 1;
            })
        })
        .collect();
    for handle in handles {
        let done = runtime.block_on(handle);
        done.map_err(|error| format!("a task with a lock: {error}"))?;
    }
    let count = *lock.lock().unwrap();
    (count == tasks)
        .then_some(())
        .ok_or_else(|| format!("{count} of {tasks} tasks had the lock"))
}

/// A task waits, without a word, for one that it has spawned.
fn one_task_waits_for_another(runtime: &Runtime, dice: &mut Dice) -> Result<(), String> {
    let seed = dice.roll();
    let from_outside = dice.once_in(2);
    let (tell, hears) = channel();
    let child = async move {
        blitz_io::time::sleep(Duration::from_micros(100)).await;
        tell.send(seed).ok();
    };
    let waiting = if from_outside {
        let waiting = runtime.spawn(async move { hears.recv() });
        std::thread::sleep(dice.micros(300));
        drop(runtime.spawn(child));
        waiting
    } else {
        runtime.spawn(async move {
            drop(blitz_io::spawn(child));
            hears.recv()
        })
    };
    match runtime.block_on(waiting) {
        Ok(Ok(heard)) if heard == seed => Ok(()),
        other => Err(format!("a task that blocks has heard {other:?}")),
    }
}

/// All workers block; timers and sockets are served nevertheless.
fn timers_beside_blocked_workers(runtime: &Runtime, dice: &mut Dice) -> Result<(), String> {
    let blocked = dice.between(1, 3);
    let (tells, handles): (Vec<_>, Vec<_>) = (0..blocked)
        .map(|_| {
            let (tell, hears) = channel::<()>();
            let spoken = dice.once_in(2);
            let wait = move || hears.recv().is_err();
            let handle = runtime.spawn(async move {
                if spoken {
                    blitz_io::block_in_place(wait)
                } else {
                    wait()
                }
            });
            (tell, handle)
        })
        .unzip();
    std::thread::sleep(dice.micros(300));
    let (seconds, pause) = (Duration::from_secs(40), dice.micros(500));
    let served = runtime.block_on(async move {
        blitz_io::time::sleep(pause).await;
        blitz_io::time::timeout(seconds, super::ends::echo()).await
    });
    drop(tells);
    match served {
        Ok(Ok(())) => {}
        other => return Err(format!("beside blocked workers a connection is {other:?}")),
    }
    for handle in handles {
        let ended = runtime.block_on(handle);
        ended.map_err(|error| format!("a task that blocked: {error}"))?;
    }
    Ok(())
}
