//! Promise 2, live: a lock held across a parallel call.
//!
//! Tasks of a scope each take the same lock and, holding it, fork. A thread that waits for its stolen half and meanwhile
//! runs *another* of the tasks meets the lock that it holds itself, and stops for ever. The program runs in a child process
//! that is killed when it does not end in time.

use crate::words::HIDDEN;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const TASKS: u64 = 200;
const HALF: Duration = Duration::from_micros(100);

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the right result.
    Finished(Duration),
    /// Not at all; it was killed.
    Stuck,
    /// With a wrong result, or not started.
    Failed,
}

/// Runs the program of one library in a child process, for at most `limit`.
pub fn try_in_child(lib: &str, limit: Duration, mut waiting: impl FnMut()) -> Ending {
    let Ok(program) = std::env::current_exe() else {
        return Ending::Failed;
    };
    let start = Instant::now();
    let child = Command::new(program)
        .args([HIDDEN, lib])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        return Ending::Failed;
    };
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ending::Finished(start.elapsed()),
            Ok(Some(_)) | Err(_) => return Ending::Failed,
            Ok(None) if start.elapsed() > limit => {
                // It may have ended this very moment; either way it did not end in time.
                let _ = child.kill();
                let _ = child.wait();
                return Ending::Stuck;
            }
            Ok(None) => {
                waiting();
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// The hidden command: the program itself.
pub fn run_child(words: &[String]) -> ExitCode {
    let total = Mutex::new(0);
    let with_two_threads = |lib: &str| match lib {
        "blitz" => {
            let pool = blitz::ThreadPoolBuilder::new().num_threads(2).build();
            let pool = pool.map_err(|error| error.to_string())?;
            pool.scope(|scope| {
                for _ in 0..TASKS {
                    scope.spawn(|_| locked(&total, || blitz::join(busy, busy)));
                }
            });
            Ok(())
        }
        "rayon" => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
            let pool = pool.map_err(|error| error.to_string())?;
            pool.scope(|scope| {
                for _ in 0..TASKS {
                    scope.spawn(|_| locked(&total, || rayon::join(busy, busy)));
                }
            });
            Ok(())
        }
        other => Err(format!("there is no library '{other}' here")),
    };
    let outcome = with_two_threads(words.first().map_or("", String::as_str));
    match outcome {
        Ok(()) if total.into_inner().is_ok_and(|total| total == 2 * TASKS) => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("blitz: {message}");
            ExitCode::from(2)
        }
    }
}

/// Takes the lock, forks while holding it, and counts both halves.
fn locked(total: &Mutex<u64>, fork: impl FnOnce() -> (u64, u64)) {
    let mut total = total
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let (left, right) = fork();
    *total += left + right;
}

/// Long enough that the other thread takes a half.
fn busy() -> u64 {
    let start = Instant::now();
    while start.elapsed() < HALF {
        std::hint::spin_loop();
    }
    1
}
