//! Scenario `forks`: the child of a `fork` computes, whatever the pools of its parent were doing.
//!
//! In a process of its own: what others hold at the moment of the fork (the lock of standard error, for one) is no business of this scenario.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, mpsc};
use std::time::Duration;

use blitz_io::{Builder, Runtime};

use super::calls::Call;
use super::dice::Dice;
use crate::arms::blitz::ThreadPool;
use crate::arms::{Cpus, blitz};

pub fn child(seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let builder = blitz::builder(&Cpus::new(false)).num_threads(dice.between(1, 3));
    let pool = builder.caller_participates(dice.once_in(2)).build();
    let pool = pool.map_err(|error| error.to_string())?;
    if dice.once_in(2) {
        everything(&mut dice, &pool)?;
    }
    let stop = AtomicBool::new(false);
    let busy = dice.below(3);
    // A fork must not meet a thread of the standard library's that starts or ends; what the pools and runtimes do with theirs is their business.
    let begun = Barrier::new(busy + 1);
    std::thread::scope(|threads| {
        for _ in 0..busy {
            let (begun, stop, pool) = (&begun, &stop, &pool);
            let mut dice = Dice::new(dice.roll());
            threads.spawn(move || {
                begun.wait();
                while !stop.load(Ordering::Relaxed) {
                    let here = dice.once_in(2).then_some(pool);
                    let _ = Call::any(&mut dice).make(here);
                }
            });
        }
        begun.wait();
        let forked = fork_now_and_then(&mut dice, &pool);
        stop.store(true, Ordering::Relaxed);
        forked
    })?;
    everything(&mut dice, &pool)
}

fn fork_now_and_then(dice: &mut Dice, pool: &ThreadPool) -> Result<(), String> {
    for _ in 0..dice.between(1, 6) {
        std::thread::sleep(dice.micros(300));
        let (seed, deeper) = (dice.roll(), dice.once_in(4));
        let in_child = || {
            let mut dice = Dice::new(seed);
            everything(&mut dice, pool)?;
            if deeper {
                fork(|| everything(&mut Dice::new(!seed), pool))?;
            }
            everything(&mut dice, pool)
        };
        match dice.below(4) {
            // In the middle of a computation of this thread.
            0 => {
                blitz::join(
                    || fork(in_child),
                    || std::thread::sleep(Duration::from_micros(50)),
                )
                .0?
            }
            1 => pool.install(|| fork(in_child))?,
            _ => fork(in_child)?,
        }
        if dice.once_in(2) {
            everything(dice, pool)?;
        }
    }
    Ok(())
}

/// Calls `work` in a child, and says how that ended.
fn fork(work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    // SAFETY: the child uses what this scenario is about, and ends without running anything else of its parent's.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(format!("no fork: {}", std::io::Error::last_os_error()));
    }
    if child == 0 {
        // Alarms are not inherited.
        super::in_child::end_if_stuck();
        let code = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => 0,
            Ok(Err(message)) => {
                eprintln!("in a child: {message}");
                1
            }
            Err(_) => 2,
        };
        // SAFETY: ends this process at once.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    loop {
        // SAFETY: a valid place for the answer.
        match unsafe { libc::waitpid(child, &raw mut status, 0) } {
            pid if pid == child => break,
            _ => {
                let error = std::io::Error::last_os_error();
                if error.raw_os_error() != Some(libc::EINTR) {
                    return Err(format!("a child is lost: {error}"));
                }
            }
        }
    }
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        let hung = if signal == libc::SIGALRM {
            " (it hung)"
        } else {
            ""
        };
        return Err(format!("a child was ended by signal {signal}{hung}"));
    }
    match libc::WEXITSTATUS(status) {
        0 => Ok(()),
        code => Err(format!("a child ended with {code}")),
    }
}

/// Some of what a process can do with pools.
fn everything(dice: &mut Dice, pool: &ThreadPool) -> Result<(), String> {
    for _ in 0..dice.between(1, 4) {
        let here = dice.once_in(2).then_some(pool);
        Call::any(dice).make(here)?;
    }
    if dice.once_in(3) {
        let (tell, hears) = mpsc::channel();
        blitz::spawn(move || tell.send(()).unwrap_or(()));
        hears
            .recv_timeout(Duration::from_secs(20))
            .map_err(|_| "a spawned task has not run".to_string())?;
    }
    if dice.once_in(6) {
        let runtime = match dice.below(3) {
            0 => Runtime::new(),
            1 => Builder::new_current_thread().build(),
            _ => Builder::new_multi_thread().worker_threads(1).build(),
        };
        let runtime = runtime.map_err(|error| format!("a runtime does not start: {error}"))?;
        let call = Call::any(dice);
        runtime.block_on(async move {
            blitz_io::time::sleep(Duration::from_micros(100)).await;
            let task = blitz_io::spawn(async move { call.make(None) });
            task.await.map_err(|error| error.to_string())?
        })?;
    }
    Ok(())
}
