//! Group `tasks`: spawning, waking and switching tasks, against tokio and smol's static executor.
//!
//! The programs are tokio's own scheduler benchmarks, written once for every runtime:
//! * `spawn/local`: a task spawns 10k empty tasks and waits for the last to end; `spawn/join` awaits each one's handle;
//! * `spawn/remote`: a thread outside spawns them; `spawn/remoteidle` awaits each one's handle from there;
//!   `spawn/busy1` does the same beside a task that yields for ever;
//! * `yield`: 200 tasks yield 1000 times each; `pingpong`: 1000 pairs of tasks exchange two messages; `chain`: 1000 tasks each
//!   spawn the next;
//! * `offload`: a task sends a computation of 1 us away and awaits its result: `spawn_cpu` here, rayon with a oneshot channel
//!   for tokio; `offload/64`: 64 tasks do so at once;
//! * `outside`: a thread outside spawns a task and waits for it, one after the other.
//!
//! The time is that of the whole program. A countdown, or every handle awaited, shows that every task ran. `memory` is the resident memory per
//! task of a million that wait, with its handle, in bytes, in a process of its own.

use std::future::{Future, poll_fn};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use crate::args::Options;
use crate::arms::{self, Cpus};
use crate::child::{self, Outcome};
#[cfg(feature = "full")]
use crate::executors::Smol;
use crate::executors::{self, AsyncLib, Blitz, Executor, Tokio};
use crate::measure::{Arm, Gap, Session, wrong_result};
use crate::report::Row;
use crate::spin::{Calibration, spin};

/// First word of the hidden measurement.
pub const CHILD: &str = "tasks";

const SPAWNS: usize = 10_000;
const YIELDING: usize = 200;
const YIELDS: usize = 1000;
const PAIRS: usize = 1000;
const CHAIN: usize = 1000;
const OFFLOADS: usize = 200;
const OFFLOADERS: usize = 64;
const ROUND_TRIPS: usize = 200;
const PARKED: usize = 1_000_000;

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    let threads = crate::pin::cpus_at_start().len().max(1);
    let rayon = arms::rayon::pool(threads, cpus);
    for lib in AsyncLib::ALL {
        lib.start(cpus);
    }
    arms::place_main(cpus);
    let mut session = Session::new("tasks", options.clone());
    programs(&mut session);
    offload(&mut session, &Arc::new(rayon));
    memory(&mut session);
    session.into_rows()
}

/// Counts tasks down, and wakes or unparks whoever waits for the last.
struct Countdown {
    left: AtomicUsize,
    waiter: Mutex<Option<Waker>>,
}

impl Countdown {
    fn new(tasks: usize) -> Arc<Self> {
        Arc::new(Countdown {
            left: AtomicUsize::new(tasks),
            waiter: Mutex::new(None),
        })
    }

    fn one_less(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(waiter) = self.waiter.lock().unwrap().take()
        {
            waiter.wake();
        }
    }

    fn wait(self: Arc<Self>) -> impl Future<Output = ()> + Send {
        poll_fn(move |cx| {
            let mut waiter = self.waiter.lock().unwrap();
            if self.left.load(Ordering::Acquire) == 0 {
                return Poll::Ready(());
            }
            *waiter = Some(cx.waker().clone());
            Poll::Pending
        })
    }
}

/// Runs the program inside of a task, and waits for it outside.
fn inside<E: Executor>(program: impl Future<Output = ()> + Send + 'static) {
    E::block_on(E::spawn(program));
}

async fn spawn_many<E: Executor>(tasks: usize) {
    let left = Countdown::new(tasks);
    for _ in 0..tasks {
        let left = Arc::clone(&left);
        E::detach(E::spawn(async move { left.one_less() }));
    }
    left.wait().await;
}

async fn spawn_and_join<E: Executor>(tasks: usize) {
    let mut handles = Vec::with_capacity(tasks);
    for _ in 0..tasks {
        handles.push(E::spawn(async {}));
    }
    for handle in handles {
        handle.await;
    }
}

async fn yield_once() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn yield_many<E: Executor>() {
    let left = Countdown::new(YIELDING);
    for _ in 0..YIELDING {
        let left = Arc::clone(&left);
        E::detach(E::spawn(async move {
            for _ in 0..YIELDS {
                yield_once().await;
            }
            left.one_less();
        }));
    }
    left.wait().await;
}

async fn ping_pong<E: Executor>() {
    let left = Countdown::new(PAIRS);
    for _ in 0..PAIRS {
        let left = Arc::clone(&left);
        E::detach(E::spawn(async move {
            let (to_peer, from_us) = tokio::sync::oneshot::channel();
            let (to_us, from_peer) = tokio::sync::oneshot::channel();
            E::detach(E::spawn(async move {
                from_us.await.unwrap();
                to_us.send(()).unwrap();
            }));
            to_peer.send(()).unwrap();
            from_peer.await.unwrap();
            left.one_less();
        }));
    }
    left.wait().await;
}

fn chain<E: Executor>(links: usize, left: Arc<Countdown>) {
    if links == 0 {
        return left.one_less();
    }
    E::detach(E::spawn(async move { chain::<E>(links - 1, left) }));
}

async fn chained<E: Executor>() {
    let left = Countdown::new(1);
    chain::<E>(CHAIN, Arc::clone(&left));
    left.wait().await;
}

/// A task that yields until it is dropped.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn start<E: Executor>() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&stop);
        E::detach(E::spawn(async move {
            while !theirs.load(Ordering::Relaxed) {
                yield_once().await;
            }
        }));
        Busy(stop)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Times `calls` runs of a program.
fn time(calls: u32, mut program: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        program();
    }
    start.elapsed()
}

fn programs(session: &mut Session) {
    type Program = fn(u32) -> Duration;
    fn arm<E: Executor>(program: Program) -> Arm<'static> {
        Arm::new(E::NAME, program)
    }
    macro_rules! program {
        ($name:literal, $size:expr, $E:ident => $program:expr) => {{
            fn timed<$E: Executor>(calls: u32) -> Duration {
                $program(calls)
            }
            let arms = [
                arm::<Blitz>(timed::<Blitz>),
                arm::<Tokio>(timed::<Tokio>),
                #[cfg(feature = "full")]
                arm::<Smol>(timed::<Smol>),
            ];
            session.bench($name, $size as u64, Gap::BackToBack, arms.into());
        }};
    }
    program!("spawn/local", SPAWNS, E => |calls| time(calls, || inside::<E>(spawn_many::<E>(SPAWNS))));
    program!("spawn/join", SPAWNS, E => |calls| time(calls, || inside::<E>(spawn_and_join::<E>(SPAWNS))));
    program!("spawn/remote", SPAWNS, E => |calls| time(calls, || E::block_on(spawn_many::<E>(SPAWNS))));
    program!("spawn/remoteidle", SPAWNS, E => |calls| time(calls, || E::block_on(spawn_and_join::<E>(SPAWNS))));
    program!("spawn/busy1", SPAWNS, E => |calls| {
        let _busy = Busy::start::<E>();
        time(calls, || E::block_on(spawn_and_join::<E>(SPAWNS)))
    });
    program!("outside", ROUND_TRIPS, E => |calls| time(calls, || {
        for _ in 0..ROUND_TRIPS {
            E::block_on(E::spawn(async {}));
        }
    }));
    program!("yield", YIELDING * YIELDS, E => |calls| time(calls, || inside::<E>(yield_many::<E>())));
    program!("pingpong", PAIRS, E => |calls| time(calls, || inside::<E>(ping_pong::<E>())));
    program!("chain", CHAIN, E => |calls| time(calls, || inside::<E>(chained::<E>())));
}

fn offload(session: &mut Session, rayon: &Arc<rayon::ThreadPool>) {
    let steps = Calibration::measure().steps_for(1.0);
    let expected = spin(steps, 1);
    let check = move |result: u64| {
        if result != expected {
            wrong_result(result, expected);
        }
    };
    let here = move || async move {
        for _ in 0..OFFLOADS {
            check(
                blitz_io::spawn_cpu(move || spin(black_box(steps), 1))
                    .await
                    .unwrap(),
            );
        }
    };
    let there = move || {
        let rayon = Arc::clone(rayon);
        async move {
            for _ in 0..OFFLOADS {
                let (sender, receiver) = tokio::sync::oneshot::channel();
                rayon.spawn(move || sender.send(spin(black_box(steps), 1)).unwrap());
                check(receiver.await.unwrap());
            }
        }
    };
    let blocking = move || async move {
        for _ in 0..OFFLOADS {
            let work = tokio::task::spawn_blocking(move || spin(black_box(steps), 1));
            check(work.await.unwrap());
        }
    };
    let inline = move || async move {
        for _ in 0..OFFLOADS {
            check(spin(black_box(steps), 1));
            yield_once().await;
        }
    };
    for (name, tasks) in [("offload", 1), ("offload/64", OFFLOADERS)] {
        let arms = vec![
            Arm::new("blitz", move |calls| {
                at_once::<Blitz, _>(calls, tasks, here)
            }),
            Arm::new("blitz inline", move |calls| {
                at_once::<Blitz, _>(calls, tasks, inline)
            }),
            Arm::new("tokio+rayon", move |calls| {
                at_once::<Tokio, _>(calls, tasks, there)
            }),
            Arm::new("tokio+blocking", move |calls| {
                at_once::<Tokio, _>(calls, tasks, blocking)
            }),
        ];
        session.bench(name, (tasks * OFFLOADS) as u64, Gap::BackToBack, arms);
    }
}

/// `tasks` tasks do this at the same time.
fn at_once<E: Executor, F>(calls: u32, tasks: usize, program: impl Fn() -> F) -> Duration
where
    F: Future<Output = ()> + Send + 'static,
{
    time(calls, || {
        let handles: Vec<_> = (0..tasks).map(|_| E::spawn(program())).collect();
        E::block_on(async {
            for handle in handles {
                handle.await;
            }
        });
    })
}

fn memory(session: &mut Session) {
    if !session.wants("memory") {
        return;
    }
    for lib in AsyncLib::ALL.iter().map(|lib| lib.name()) {
        match child::run_hidden(&[CHILD, lib]) {
            Outcome::Rows(rows) => rows.into_iter().for_each(|row| session.push(row)),
            Outcome::Killed => eprintln!("blitz-bench: memory: the child of {lib} was killed"),
        }
    }
}

/// The hidden measurement: `LIB`.
pub fn run_child(words: &[String]) -> Result<Vec<Row>, String> {
    let [lib] = words else {
        return Err("tasks needs LIB".into());
    };
    let cpus = Cpus::new(false);
    let bytes = match AsyncLib::named(lib).ok_or("no such runtime")? {
        AsyncLib::Blitz => bytes_per_task::<Blitz>(&cpus),
        AsyncLib::Tokio => bytes_per_task::<Tokio>(&cpus),
        #[cfg(feature = "full")]
        AsyncLib::Smol => bytes_per_task::<Smol>(&cpus),
    };
    Ok(vec![Row {
        group: "tasks".into(),
        bench: "memory".into(),
        size: PARKED as u64,
        lib: lib.clone(),
        ns: bytes,
        spread: 0.0,
        usage: None,
        unpinned: None,
    }])
}

fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<f64>().ok());
    pages.unwrap_or(0.0) * 4096.0
}

fn bytes_per_task<E: Executor>(cpus: &Cpus) -> f64 {
    executors::start::<E>(cpus);
    E::block_on(spawn_and_join::<E>(1000));
    let polled = Arc::new(AtomicUsize::new(0));
    // The handles are kept: smol drops a task that nobody could wake or await any more.
    let mut handles = Vec::with_capacity(PARKED);
    let before = resident_bytes();
    for _ in 0..PARKED {
        let polled = Arc::clone(&polled);
        let mut first = Some(polled);
        handles.push(E::spawn(poll_fn(move |_| {
            if let Some(polled) = first.take() {
                polled.fetch_add(1, Ordering::Relaxed);
            }
            Poll::Pending
        })));
    }
    while polled.load(Ordering::Relaxed) < PARKED {
        std::thread::yield_now();
    }
    let bytes = (resident_bytes() - before) / PARKED as f64;
    // Dropping a million tasks of a runtime that goes on is not what is measured.
    std::mem::forget(handles);
    bytes
}
