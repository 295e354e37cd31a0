//! Locks: by one task alone, and between tasks.

use crate::{Program, timed};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore};
use tokio::task::JoinSet;

pub const PROGRAMS: &[(&str, Program)] = &[
    ("mutex/alone", mutex_alone),
    ("mutex/8", mutex_of_many),
    ("rwlock/read", read_alone),
    ("rwlock/8", rwlock_of_many),
    ("semaphore/alone", semaphore_alone),
    ("semaphore/8", semaphore_of_many),
    ("notify", notify),
    ("barrier", barrier),
    ("once", once),
];

const ALONE: u64 = 50_000;
const TASKS: u64 = 8;
const TURNS: u64 = 2500;

fn mutex_alone(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, ALONE, async {
        let mutex = Mutex::new(0);
        for _ in 0..ALONE {
            *mutex.lock().await += 1;
        }
        assert_eq!(mutex.into_inner(), ALONE);
    })
}

/// So many tasks, each of which takes so many turns.
async fn by_many<F: Future<Output = ()> + Send + 'static>(
    turn: impl Fn(u64) -> F + Clone + Send + 'static,
) {
    let mut set = JoinSet::new();
    for _ in 0..TASKS {
        let turn = turn.clone();
        set.spawn(async move {
            for number in 0..TURNS {
                turn(number).await;
            }
        });
    }
    while let Some(ended) = set.join_next().await {
        ended.unwrap();
    }
}

fn mutex_of_many(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, TASKS * TURNS, async {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&mutex);
        by_many(move |_| {
            let mutex = Arc::clone(&theirs);
            async move { *mutex.lock().await += 1 }
        })
        .await;
        assert_eq!(*mutex.lock().await, TASKS * TURNS);
    })
}

fn read_alone(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, ALONE, async {
        let (lock, mut sum) = (RwLock::new(1), 0);
        for _ in 0..ALONE {
            sum += *lock.read().await;
        }
        assert_eq!(sum, ALONE);
    })
}

/// One of ten writes.
fn rwlock_of_many(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, TASKS * TURNS, async {
        let lock = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&lock);
        by_many(move |number| {
            let lock = Arc::clone(&theirs);
            async move {
                if number % 10 == 0 {
                    *lock.write().await += 1;
                } else {
                    assert!(*lock.read().await <= TASKS * TURNS);
                }
            }
        })
        .await;
        assert_eq!(*lock.read().await, TASKS * TURNS / 10);
    })
}

fn semaphore_alone(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, ALONE, async {
        let semaphore = Semaphore::new(10);
        for _ in 0..ALONE {
            let _permit = semaphore.acquire().await.unwrap();
        }
    })
}

fn semaphore_of_many(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, TASKS * TURNS, async {
        let semaphore = Arc::new(Semaphore::new(2));
        by_many(move |_| {
            let semaphore = Arc::clone(&semaphore);
            async move {
                let _permit = semaphore.acquire().await.unwrap();
                tokio::task::yield_now().await;
            }
        })
        .await;
    })
}

/// Two tasks wake each other.
fn notify(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, 2 * TURNS, async {
        let both = Arc::new([Notify::new(), Notify::new()]);
        let theirs = Arc::clone(&both);
        let other = tokio::spawn(async move {
            for _ in 0..TURNS {
                theirs[0].notified().await;
                theirs[1].notify_one();
            }
        });
        for _ in 0..TURNS {
            both[0].notify_one();
            both[1].notified().await;
        }
        other.await.unwrap();
    })
}

fn barrier(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, TASKS * TURNS, async {
        let barrier = Arc::new(Barrier::new(TASKS as usize));
        by_many(move |_| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
            }
        })
        .await;
    })
}

fn once(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, ALONE, async {
        let mut sum = 0;
        for _ in 0..ALONE {
            let cell = OnceCell::new();
            sum += *cell.get_or_init(async || 1).await;
        }
        assert_eq!(sum, ALONE);
    })
}
