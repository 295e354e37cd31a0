//! Group `sync`: locks and channels of blitz-io against tokio's, async-channel, flume, and the standard library's locks.
//!
//! * Alone (`…/alone`): 1000 operations by one thread that nobody disturbs; the time is that of all of them, so microseconds
//!   read as nanoseconds for each. Futures are driven by the same small `block_on` in every arm: what is measured is the lock,
//!   not the runtime.
//! * Together: several tasks on a runtime with one worker per CPU, spawned and awaited within the time. Each library on its
//!   own runtime, and ours once more on tokio's (`blitz-on-tokio`), because nothing here may depend on our executor.
//!
//! Every arm counts: what was protected adds up, and every message arrives exactly once.

/// A bench of the same program in both libraries, alone. `blitz_io` and `tokio` are the caller's modules with the programs.
macro_rules! bench_alone {
    ($session:ident, $name:literal, $expected:expr, $program:ident $(, $peer:literal = $theirs:expr)*) => {
        let arms = vec![
            alone(Blitz::NAME, $expected, blitz_io::$program),
            alone(Tokio::NAME, $expected, tokio::$program),
            $(alone($peer, $expected, $theirs),)*
        ];
        $session.bench($name, ALONE, Gap::BackToBack, arms);
    };
}

/// The same with tasks, each library on its own runtime, and ours on tokio's too.
macro_rules! bench_together {
    ($session:ident, $name:literal, $size:expr, $expected:expr, $program:ident) => {
        let arms = vec![
            inside::<Blitz, _>(Blitz::NAME, $expected, blitz_io::$program::<Blitz>),
            inside::<Tokio, _>(Tokio::NAME, $expected, tokio::$program::<Tokio>),
            inside::<Tokio, _>("blitz-on-tokio", $expected, blitz_io::$program::<Tokio>),
        ];
        $session.bench($name, $size, Gap::BackToBack, arms);
    };
}

mod channels;
mod locks;

use crate::args::Options;
use crate::arms::{self, Cpus};
use crate::executors::{self, Blitz, Executor, Tokio};
use crate::measure::{Arm, Session, timed, wrong_result};
use crate::report::Row;
use std::future::Future;
use std::time::Instant;

/// Operations in one timed call of a bench that runs alone.
const ALONE: u64 = 1000;

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    executors::start::<Blitz>(cpus);
    executors::start::<Tokio>(cpus);
    arms::place_main(cpus);
    let mut session = Session::new("sync", options.clone());
    locks::bench_alone(&mut session);
    locks::bench_together(&mut session);
    channels::bench_alone(&mut session);
    channels::bench_together(&mut session);
    session.into_rows()
}

/// Runs a program on this thread.
fn alone<F: Future<Output = u64>>(
    lib: &'static str,
    expected: u64,
    program: impl Fn() -> F + 'static,
) -> Arm<'static> {
    Arm::new(lib, move |calls| {
        timed(
            calls,
            expected,
            || futures_lite::future::block_on(program()),
        )
    })
}

/// Runs a program inside a task of a runtime.
fn inside<E: Executor, F>(
    lib: &'static str,
    expected: u64,
    program: impl Fn() -> F + 'static,
) -> Arm<'static>
where
    F: Future<Output = u64> + Send + 'static,
{
    Arm::new(lib, move |calls| {
        let start = Instant::now();
        for _ in 0..calls {
            let program = program();
            E::block_on(E::spawn(async move {
                let result = program.await;
                if result != expected {
                    wrong_result(result, expected);
                }
            }));
        }
        start.elapsed()
    })
}
