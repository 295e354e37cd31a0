//! A lock may be held anywhere while its holder computes in parallel: all workers wait for it, and the holder goes on by itself.

mod common;

use blitz_io::{Builder, Runtime, block_in_place, spawn, spawn_blocking, spawn_cpu_detached};
use common::within_a_minute;
use std::sync::{Arc, Mutex, mpsc};

/// With one worker, with two, and on the global pool.
fn runtimes() -> [fn() -> Runtime; 3] {
    [
        || {
            Builder::new_multi_thread()
                .worker_threads(1)
                .build()
                .unwrap()
        },
        || {
            Builder::new_multi_thread()
                .worker_threads(2)
                .build()
                .unwrap()
        },
        || Runtime::new().unwrap(),
    ]
}

/// As many tasks as there are workers, and some more, wait for the lock. Returns when some do.
fn wait_for_lock(runtime: &Runtime, lock: &Arc<Mutex<u32>>) {
    let (tell, told) = mpsc::channel();
    let workers = runtime.handle().metrics().snapshot().workers.len() - 1;
    for count in 0..2 * workers + 2 {
        let (lock, tell) = (lock.clone(), tell.clone());
        let work = move || {
            tell.send(()).unwrap();
            *lock.lock().unwrap() += 1;
        };
        if count % 2 == 0 {
            runtime.spawn(async move { work() });
        } else {
            runtime.handle().spawn_cpu_detached(work);
        }
    }
    for _ in 0..workers {
        told.recv().unwrap();
    }
}

fn computes() {
    let (left, right) = blitz_core::join(|| 1, || 2);
    assert_eq!(left + right, 3);
    let mut parts = [0; 8];
    blitz_core::scope(|scope| {
        for part in &mut parts {
            scope.spawn(move |_| *part = blitz_core::join(|| 3, || 4).0);
        }
    });
    assert_eq!(parts, [3; 8]);
}

#[test]
fn by_a_thread_inside_of_block_on() {
    within_a_minute(|| {
        for make in runtimes() {
            let runtime = make();
            let lock = Arc::new(Mutex::new(0));
            runtime.block_on(async {
                let held = lock.lock().unwrap();
                wait_for_lock(&runtime, &lock);
                computes();
                drop(held);
            });
        }
    });
}

#[test]
fn by_a_thread_that_has_entered_and_by_one_that_has_not() {
    within_a_minute(|| {
        for make in runtimes() {
            let runtime = make();
            let lock = Arc::new(Mutex::new(0));
            let held = lock.lock().unwrap();
            wait_for_lock(&runtime, &lock);
            computes();
            let entered = runtime.enter();
            computes();
            drop(entered);
            drop(held);
        }
    });
}

#[test]
fn by_a_blocking_thread() {
    within_a_minute(|| {
        for make in runtimes() {
            let runtime = Arc::new(make());
            let theirs = runtime.clone();
            let job = runtime.spawn_blocking(move || {
                let lock = Arc::new(Mutex::new(0));
                let held = lock.lock().unwrap();
                wait_for_lock(&theirs, &lock);
                computes();
                drop(held);
                drop(theirs);
            });
            runtime.block_on(job).unwrap();
        }
    });
}

#[test]
fn by_a_task_across_block_in_place() {
    within_a_minute(|| {
        for make in runtimes() {
            let runtime = Arc::new(make());
            let theirs = runtime.clone();
            let task = runtime.spawn(async move {
                let lock = Arc::new(Mutex::new(0));
                block_in_place(|| {
                    let held = lock.lock().unwrap();
                    let (tell, told) = mpsc::channel();
                    for count in 0..6 {
                        let (lock, tell) = (lock.clone(), tell.clone());
                        let work = move || {
                            tell.send(()).unwrap();
                            *lock.lock().unwrap() += 1;
                        };
                        match count % 3 {
                            0 => drop(spawn(async move { work() })),
                            1 => spawn_cpu_detached(work),
                            _ => drop(spawn_blocking(work)),
                        }
                    }
                    told.recv().unwrap();
                    computes();
                    drop(held);
                });
                drop(theirs);
            });
            runtime.block_on(task).unwrap();
        }
    });
}
