//! Everything at once, with aborts at random moments: every task ends exactly once, one way or the other, and nothing hangs.

use blitz_io::task::yield_now;
use blitz_io::{Builder, JoinHandle};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Small, seeded, good enough.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Counts tasks that are alive.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Alive(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tree(depth: u32) -> u64 {
    if depth == 0 {
        return std::hint::black_box(1);
    }
    let (a, b) = blitz_core::join(|| tree(depth - 1), || tree(depth - 1));
    a + b
}

fn spawn_something(kind: u64, seed: u64, alive: Alive) -> JoinHandle<u64> {
    blitz_io::spawn(async move {
        let _alive = alive;
        match kind {
            0 => yield_now().await,
            1 => blitz_io::time::sleep(Duration::from_micros(seed % 3000)).await,
            2 => pending().await,
            3 => {
                let sum = blitz_io::spawn_cpu(|| tree(8)).await.unwrap();
                assert_eq!(sum, 256);
            }
            4 => assert_eq!(tree(6), 64),
            5 => {
                let inner = blitz_io::spawn(async move {
                    yield_now().await;
                    seed
                });
                assert_eq!(inner.await.unwrap(), seed);
            }
            6 => {
                let result = blitz_io::spawn_cpu(move || {
                    let handle = blitz_io::Handle::current();
                    handle.block_on(async move {
                        blitz_io::time::sleep(Duration::from_micros(seed % 500)).await;
                        seed
                    })
                });
                assert_eq!(result.await.unwrap(), seed);
            }
            7 => drop(
                blitz_io::time::timeout(Duration::from_micros(seed % 700), pending::<()>()).await,
            ),
            8 => assert_eq!(blitz_io::spawn_blocking(move || seed).await.unwrap(), seed),
            _ => (0..seed % 50).for_each(|_| drop(blitz_io::spawn(yield_now()))),
        }
        seed
    })
}

fn storm(workers: usize, seed: u64) {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(workers).build().unwrap();
    let alive = Arc::new(AtomicUsize::new(0));
    let mut random = Random(seed);
    runtime.block_on(async {
        for _ in 0..20 {
            let mut tasks = Vec::new();
            for _ in 0..30 {
                let (kind, number) = (random.below(10), random.below(u64::MAX));
                tasks.push((
                    kind,
                    number,
                    spawn_something(kind, number, Alive::new(&alive)),
                ));
            }
            for (kind, _, task) in &tasks {
                if *kind == 2 || random.below(4) == 0 {
                    task.abort();
                }
                if random.below(8) == 0 {
                    yield_now().await;
                }
            }
            for (_, number, task) in tasks {
                match task.await {
                    Ok(result) => assert_eq!(result, number),
                    Err(error) => assert!(error.is_cancelled(), "{error}"),
                }
            }
        }
    });
    drop(runtime);
    assert_eq!(
        alive.load(Ordering::SeqCst),
        0,
        "futures that were not dropped"
    );
}

#[test]
fn a_storm_of_tasks_timers_and_computations_with_aborts_ends() {
    for workers in [1, 2, 3, 8] {
        storm(workers, 0x9E37_79B9 + workers as u64);
    }
}

#[test]
fn runtimes_that_end_in_the_middle_of_everything_drop_everything() {
    for round in 0..30 {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1 + round % 3).build().unwrap();
        let alive = Arc::new(AtomicUsize::new(0));
        let mut random = Random(round as u64 + 1);
        let _entered = runtime.enter();
        for _ in 0..30 {
            let kind = random.below(10);
            drop(spawn_something(
                kind,
                random.below(u64::MAX),
                Alive::new(&alive),
            ));
        }
        if round % 2 == 0 {
            std::thread::yield_now();
        }
        drop(runtime);
        assert_eq!(
            alive.load(Ordering::SeqCst),
            0,
            "futures that were not dropped"
        );
    }
}

#[test]
fn spawns_that_race_with_the_end_run_or_are_cancelled() {
    for _ in 0..20 {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap();
        let handle = runtime.handle().clone();
        let alive = Arc::new(AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let spawner = scope.spawn(|| {
                let mut last = None;
                for _ in 0..200 {
                    let alive = Alive::new(&alive);
                    last = Some(handle.spawn(async move {
                        let _alive = alive;
                        pending::<()>().await;
                    }));
                }
                last
            });
            drop(runtime);
            let last = spawner.join().unwrap().unwrap();
            assert!(last.is_finished());
        });
        assert_eq!(alive.load(Ordering::SeqCst), 0);
    }
}
