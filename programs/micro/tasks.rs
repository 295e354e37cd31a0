//! Spawning, waking and switching tasks.

use crate::{Program, timed};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinSet, yield_now};

pub const PROGRAMS: &[(&str, Program)] = &[
    ("spawn/detached", detached),
    ("spawn/joined", joined),
    ("spawn/set", joined_by_a_set),
    ("spawn/outside", from_outside),
    ("spawn/blocking", blocking),
    ("fs/read", reading),
    ("yield", yielding),
    ("pingpong", ping_pong),
    ("chain", chain),
    ("select", select),
];

const TASKS: usize = 10_000;

fn detached(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, TASKS as u64, async {
        let (done, mut all_done) = mpsc::channel::<()>(1);
        for _ in 0..TASKS {
            let done = done.clone();
            tokio::spawn(async move { drop(done) });
        }
        drop(done);
        assert!(all_done.recv().await.is_none());
    })
}

async fn spawn_and_join() {
    let handles: Vec<_> = (0..TASKS)
        .map(|number| tokio::spawn(async move { black_box(number) }))
        .collect();
    for (number, handle) in handles.into_iter().enumerate() {
        assert_eq!(handle.await.unwrap(), number);
    }
}

fn joined(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, TASKS as u64, spawn_and_join())
}

fn joined_by_a_set(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, TASKS as u64, async {
        let mut set = JoinSet::new();
        for number in 0..TASKS {
            set.spawn(async move { black_box(number) });
        }
        let mut sum = 0;
        while let Some(number) = set.join_next().await {
            sum += number.unwrap();
        }
        assert_eq!(sum, TASKS * (TASKS - 1) / 2);
    })
}

/// From the thread that waits in `block_on`.
fn from_outside(runtime: &Runtime) -> (u64, Duration) {
    let start = Instant::now();
    runtime.block_on(spawn_and_join());
    (TASKS as u64, start.elapsed())
}

fn blocking(runtime: &Runtime) -> (u64, Duration) {
    const CALLS: u64 = 1000;
    timed(runtime, CALLS, async {
        for number in 0..CALLS {
            let call = tokio::task::spawn_blocking(move || black_box(number));
            assert_eq!(call.await.unwrap(), number);
        }
    })
}

fn reading(runtime: &Runtime) -> (u64, Duration) {
    const READS: u64 = 500;
    timed(runtime, READS, async {
        for _ in 0..READS {
            let source = tokio::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
            assert!(!source.await.unwrap().is_empty());
        }
    })
}

fn yielding(runtime: &Runtime) -> (u64, Duration) {
    const YIELDING: u64 = 200;
    const YIELDS: u64 = 200;
    timed(runtime, YIELDING * YIELDS, async {
        let mut set = JoinSet::new();
        for _ in 0..YIELDING {
            set.spawn(async {
                for _ in 0..YIELDS {
                    yield_now().await;
                }
            });
        }
        while set.join_next().await.is_some() {}
    })
}

fn ping_pong(runtime: &Runtime) -> (u64, Duration) {
    const PAIRS: u64 = 1000;
    timed(runtime, PAIRS, async {
        let (done, mut all_done) = mpsc::channel::<()>(1);
        for _ in 0..PAIRS {
            let done = done.clone();
            tokio::spawn(async move {
                let (to_peer, from_us) = oneshot::channel();
                let (to_us, from_peer) = oneshot::channel();
                tokio::spawn(async move {
                    from_us.await.unwrap();
                    to_us.send(()).unwrap();
                });
                to_peer.send(()).unwrap();
                from_peer.await.unwrap();
                drop(done);
            });
        }
        drop(done);
        assert!(all_done.recv().await.is_none());
    })
}

fn chain(runtime: &Runtime) -> (u64, Duration) {
    const LINKS: u64 = 10_000;
    fn link(left: u64, done: oneshot::Sender<()>) {
        if left == 0 {
            done.send(()).unwrap();
        } else {
            tokio::spawn(async move { link(left - 1, done) });
        }
    }
    timed(runtime, LINKS, async {
        let (done, at_the_end) = oneshot::channel();
        link(LINKS, done);
        at_the_end.await.unwrap();
    })
}

/// The usual loop of a task with two sources of work.
fn select(runtime: &Runtime) -> (u64, Duration) {
    const MESSAGES: u64 = 10_000;
    timed(runtime, 2 * MESSAGES, async {
        let (left, mut from_left) = mpsc::channel(64);
        let (right, mut from_right) = mpsc::channel(64);
        for sender in [left, right] {
            tokio::spawn(async move {
                for number in 0..MESSAGES {
                    sender.send(number).await.unwrap();
                }
            });
        }
        let mut sum = 0;
        loop {
            tokio::select! {
                Some(number) = from_left.recv() => sum += number,
                Some(number) = from_right.recv() => sum += number,
                else => break,
            }
        }
        assert_eq!(sum, MESSAGES * (MESSAGES - 1));
    })
}
