//! Mutex, RwLock, Semaphore, OnceCell, Notify, Barrier.

use super::{ALONE, alone, inside};
use crate::executors::{Blitz, Executor, Tokio};
use crate::measure::{Gap, Session};
use std::hint::black_box;
use std::sync::Arc;

/// Turns of each task of a bench with several.
const TURNS: u64 = 2500;

/// The programs, for a library with these names. Ours has tokio's, so the text is the same.
macro_rules! programs_of {
    ($library:ident) => {
        pub mod $library {
            use super::*;
            use ::$library::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore};

            pub async fn mutex_try() -> u64 {
                let mutex = black_box(Mutex::new(0));
                for _ in 0..ALONE {
                    *mutex.try_lock().unwrap() += 1;
                }
                mutex.into_inner()
            }

            pub async fn mutex() -> u64 {
                let mutex = black_box(Mutex::new(0));
                for _ in 0..ALONE {
                    *mutex.lock().await += 1;
                }
                mutex.into_inner()
            }

            pub async fn read() -> u64 {
                let lock = black_box(RwLock::new(1));
                let mut sum = 0;
                for _ in 0..ALONE {
                    sum += *lock.read().await;
                }
                sum
            }

            pub async fn write() -> u64 {
                let lock = black_box(RwLock::new(0));
                for _ in 0..ALONE {
                    *lock.write().await += 1;
                }
                lock.into_inner()
            }

            pub async fn semaphore() -> u64 {
                let semaphore = black_box(Semaphore::new(10));
                let mut taken = 0;
                for _ in 0..ALONE {
                    taken += u64::from(semaphore.acquire().await.is_ok());
                }
                taken
            }

            pub async fn once_get() -> u64 {
                let cell = OnceCell::new();
                cell.set(1).unwrap();
                let mut sum = 0;
                for _ in 0..ALONE {
                    sum += black_box(&cell).get().unwrap();
                }
                sum
            }

            pub async fn once_init() -> u64 {
                let mut sum = 0;
                for _ in 0..ALONE {
                    let cell = black_box(OnceCell::new());
                    sum += *cell.get_or_init(|| async { 1 }).await;
                }
                sum
            }

            pub async fn notify() -> u64 {
                let notify = black_box(Notify::new());
                let mut count = 0;
                for _ in 0..ALONE {
                    notify.notify_one();
                    notify.notified().await;
                    count += 1;
                }
                count
            }

            pub async fn barrier() -> u64 {
                let barrier = black_box(Barrier::new(1));
                let mut leaders = 0;
                for _ in 0..ALONE {
                    leaders += u64::from(barrier.wait().await.is_leader());
                }
                leaders
            }

            /// Four tasks take turns at one counter.
            pub async fn mutex_tasks<E: Executor>() -> u64 {
                let counter = Arc::new(Mutex::new(0));
                let spawn = |_| {
                    let counter = Arc::clone(&counter);
                    E::spawn(async move {
                        for _ in 0..TURNS {
                            *counter.lock().await += 1;
                        }
                    })
                };
                for task in (0..4).map(spawn).collect::<Vec<_>>() {
                    task.await;
                }
                let count = *counter.lock().await;
                count
            }

            /// Four tasks read what two others write.
            pub async fn rwlock_tasks<E: Executor>() -> u64 {
                let counter = Arc::new(RwLock::new(0));
                let spawn = |index| {
                    let counter = Arc::clone(&counter);
                    E::spawn(async move {
                        for _ in 0..TURNS {
                            if index < 2 {
                                *counter.write().await += 1;
                            } else {
                                black_box(*counter.read().await);
                            }
                        }
                    })
                };
                for task in (0..6).map(spawn).collect::<Vec<_>>() {
                    task.await;
                }
                let count = *counter.read().await;
                count
            }

            /// Eight tasks share two permits.
            pub async fn semaphore_tasks<E: Executor>() -> u64 {
                use std::sync::atomic::{AtomicU64, Ordering};
                let shared = Arc::new((Semaphore::new(2), AtomicU64::new(0)));
                let spawn = |_| {
                    let shared = Arc::clone(&shared);
                    E::spawn(async move {
                        for _ in 0..TURNS {
                            let _permit = shared.0.acquire().await.unwrap();
                            shared.1.fetch_add(1, Ordering::Relaxed);
                        }
                    })
                };
                for task in (0..8).map(spawn).collect::<Vec<_>>() {
                    task.await;
                }
                shared.1.load(Ordering::Relaxed)
            }
        }
    };
}

programs_of!(blitz_io);
programs_of!(tokio);

/// The same with locks that block: what a wait-free critical section costs without async.
async fn std_mutex() -> u64 {
    let mutex = black_box(std::sync::Mutex::new(0));
    for _ in 0..ALONE {
        *mutex.lock().unwrap() += 1;
    }
    mutex.into_inner().unwrap()
}

pub(super) fn bench_alone(session: &mut Session) {
    bench_alone!(
        session,
        "mutex/try/alone",
        ALONE,
        mutex_try,
        "std" = std_mutex
    );
    bench_alone!(session, "mutex/alone", ALONE, mutex, "std" = std_mutex);
    bench_alone!(session, "rwlock/read/alone", ALONE, read);
    bench_alone!(session, "rwlock/write/alone", ALONE, write);
    bench_alone!(session, "semaphore/alone", ALONE, semaphore);
    bench_alone!(session, "once/get/alone", ALONE, once_get);
    bench_alone!(session, "once/init/alone", ALONE, once_init);
    bench_alone!(session, "notify/alone", ALONE, notify);
    bench_alone!(session, "barrier/alone", ALONE, barrier);
}

pub(super) fn bench_together(session: &mut Session) {
    bench_together!(session, "mutex/4tasks", 4 * TURNS, 4 * TURNS, mutex_tasks);
    bench_together!(session, "rwlock/4r2w", 6 * TURNS, 2 * TURNS, rwlock_tasks);
    bench_together!(
        session,
        "semaphore/8tasks",
        8 * TURNS,
        8 * TURNS,
        semaphore_tasks
    );
}
