//! Threads that block: silently in a poll, or with a word, in more tasks than there may be threads. Whatever can go on, goes on.

mod common;

use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::net::TcpStream;
use blitz_io::time::sleep;
use blitz_io::{Builder, Handle, block_in_place, spawn_blocking};
use common::{runtime, within_a_minute};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Threads of this process with such a name.
#[cfg(target_os = "linux")]
fn threads_named(name: &str) -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.filter(|found| found.trim_end() == name).count()
}

/// One test at a time counts threads, or makes some that another one would count.
static COUNTING: Mutex<()> = Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    COUNTING.lock().unwrap_or_else(|error| error.into_inner())
}

/// A task that blocks its worker until the sender is dropped, and says nothing. Returns when it has begun.
fn blocks_silently(handle: &Handle) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (tell, begun) = mpsc::channel();
    handle.spawn(async move {
        tell.send(()).unwrap();
        let _ = released.recv();
    });
    begun.recv().unwrap();
    release
}

#[test]
fn a_timer_goes_off_although_the_one_who_came_out_of_the_driver_blocks() {
    let _alone = alone();
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let (release, released) = mpsc::channel::<()>();
            // The same timer wakes both; whoever fires it gets to the first, and blocks.
            let when = blitz_io::time::Instant::now() + ms(20);
            runtime.spawn(async move {
                blitz_io::time::sleep_until(when).await;
                let _ = released.recv();
            });
            let other = runtime.spawn(async move {
                blitz_io::time::sleep_until(when + ms(50)).await;
            });
            runtime.block_on(other).unwrap();
            drop(release);
        }
    });
}

/// Two ends of a connection, of which the runtime has one.
fn connected() -> (std::net::TcpStream, TcpStream) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let here = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (there, _) = listener.accept().unwrap();
    there.set_nonblocking(true).unwrap();
    (here, TcpStream::from_std(there).unwrap())
}

#[test]
fn a_socket_is_read_although_all_workers_block() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = runtime(2);
        let (mut here, there) = {
            let _entered = runtime.enter();
            connected()
        };
        let reading = runtime.spawn(async move {
            let mut there = there;
            let mut byte = [0];
            there.read_exact(&mut byte).await.unwrap();
            byte[0]
        });
        let _blocked = [
            blocks_silently(runtime.handle()),
            blocks_silently(runtime.handle()),
        ];
        std::io::Write::write_all(&mut here, b"x").unwrap();
        assert_eq!(runtime.block_on(reading).unwrap(), b'x');
    });
}

#[test]
fn a_task_from_outside_runs_although_all_workers_block() {
    let _alone = alone();
    within_a_minute(|| {
        for _ in 0..5 {
            let runtime = runtime(2);
            let blocked = [
                blocks_silently(runtime.handle()),
                blocks_silently(runtime.handle()),
            ];
            // Long enough for the watcher to rest.
            thread::sleep(ms(30));
            let free = runtime.spawn(async move { drop(blocked) });
            runtime.block_on(free).unwrap();
        }
    });
}

#[test]
fn a_task_that_blocks_silently_is_served_by_others_while_all_workers_block_with_a_word() {
    let _alone = alone();
    within_a_minute(|| {
        for workers in [1, 2, 3] {
            let runtime = runtime(workers);
            let released: Vec<_> = (0..workers)
                .map(|_| {
                    let (release, released) = mpsc::channel::<()>();
                    let (tell, begun) = mpsc::channel();
                    runtime.spawn(async move {
                        block_in_place(|| {
                            tell.send(()).unwrap();
                            released.recv()
                        })
                    });
                    begun.recv().unwrap();
                    release
                })
                .collect();
            // Each of them has the thread that served until then, and waits for a task that has not begun.
            for depth in 0..4 {
                let waiting: Vec<_> = (0..depth)
                    .map(|number| {
                        runtime.spawn(async move {
                            let (tell, hears) = mpsc::channel();
                            blitz_io::spawn(async move {
                                blitz_io::task::yield_now().await;
                                tell.send(number).unwrap();
                            });
                            hears.recv().unwrap()
                        })
                    })
                    .collect();
                for (number, task) in waiting.into_iter().enumerate() {
                    assert_eq!(runtime.block_on(task).unwrap(), number);
                }
            }
            // And several that do not end on their own.
            let silent: Vec<_> = (0..6).map(|_| blocks_silently(runtime.handle())).collect();
            let served = runtime.spawn(async { sleep(ms(1)).await });
            runtime.block_on(served).unwrap();
            drop((silent, released));
            let afterwards = runtime.spawn(async { 7 });
            assert_eq!(runtime.block_on(afterwards).unwrap(), 7);
        }
    });
}

#[test]
fn a_timer_of_an_outside_thread_goes_off_although_all_workers_block() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = runtime(1);
        let _blocked = blocks_silently(runtime.handle());
        thread::sleep(ms(30));
        runtime.block_on(async { sleep(ms(10)).await });
    });
}

#[test]
fn a_timer_goes_off_although_a_computation_blocks_silently() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = runtime(2);
        let (release, released) = mpsc::channel::<()>();
        let timer = runtime.spawn(async { sleep(ms(100)).await });
        let pool = runtime.pool().unwrap();
        // The engine knows nothing of this wait.
        pool.spawn(move || {
            let _ = released.recv();
        });
        runtime.block_on(timer).unwrap();
        drop(release);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn tasks_that_block_take_no_more_threads_than_allowed_and_all_get_their_turn() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(8)
            .build()
            .unwrap();
        let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..200)
            .map(|_| {
                let (inside, most) = (inside.clone(), most.clone());
                runtime.spawn(async move {
                    block_in_place(|| {
                        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        thread::sleep(ms(5));
                        inside.fetch_sub(1, Ordering::SeqCst);
                    });
                })
            })
            .collect();
        for task in tasks {
            runtime.block_on(task).unwrap();
        }
        // Two workers, and eight threads besides the relief thread.
        let most = most.load(Ordering::SeqCst);
        assert!((3..=11).contains(&most), "{most} at once");
        assert!(threads_named("blitz-io relief") <= 9);
    });
}

#[test]
fn a_task_that_seems_to_be_stuck_before_it_blocks_counts_among_those_that_block() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(8)
            .build()
            .unwrap();
        let (inside, open) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        // It first waits for `before` without a word, and then for the gate with one.
        let blocks = |before: mpsc::Receiver<()>| {
            let (inside, open) = (inside.clone(), open.clone());
            let (begin, begun) = mpsc::channel();
            let task = runtime.spawn(async move {
                let _ = begin.send(());
                let _ = before.recv();
                block_in_place(|| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    while !open.load(Ordering::SeqCst) {
                        thread::sleep(ms(1));
                    }
                });
            });
            (task, begun)
        };
        let at_once = || mpsc::channel().1;
        let wait_for = |number| {
            while inside.load(Ordering::SeqCst) < number {
                thread::sleep(ms(1));
            }
        };
        let mut tasks = Vec::new();
        // Two workers, and eight threads that were the relief thread.
        for number in 1..=10 {
            tasks.push(blocks(at_once()).0);
            wait_for(number);
        }
        // One more is the relief thread.
        let (release, released) = mpsc::channel();
        let (last, begun) = blocks(released);
        begun.recv().unwrap();
        // And that is all: the next one has to wait, however long it gets.
        let (waits, begun) = blocks(at_once());
        let begun_too_early = begun.recv_timeout(ms(100)).is_ok();
        drop(release);
        wait_for(11);
        open.store(true, Ordering::SeqCst);
        for task in tasks.into_iter().chain([last, waits]) {
            runtime.block_on(task).unwrap();
        }
        assert!(!begun_too_early);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn blocking_threads_and_tasks_that_block_share_the_limit() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(4)
            .build()
            .unwrap();
        // Four idle blocking threads.
        let barrier = Arc::new(std::sync::Barrier::new(4));
        let idle: Vec<_> = (0..4)
            .map(|_| {
                let barrier = barrier.clone();
                runtime.spawn_blocking(move || barrier.wait())
            })
            .collect();
        idle.into_iter().for_each(|job| {
            runtime.block_on(job).unwrap();
        });
        let most = AtomicUsize::new(0);
        let look = || {
            let now = threads_named("blitz-io relief") + threads_named("blitz-io blocki");
            most.fetch_max(now, Ordering::SeqCst);
        };
        let tasks: Vec<_> = (0..40)
            .map(|_| runtime.spawn(async { block_in_place(|| thread::sleep(ms(5))) }))
            .collect();
        let jobs: Vec<_> = (0..40)
            .map(|_| runtime.spawn_blocking(|| thread::sleep(ms(5))))
            .collect();
        for job in tasks.into_iter().chain(jobs) {
            while !job.is_finished() {
                look();
                thread::sleep(ms(1));
            }
        }
        // And the relief thread, one that has just been asked to end, and the one that closures always have.
        let most = most.into_inner();
        assert!(most <= 4 + 3, "{most} threads");
    });
}

#[test]
fn at_the_limit_timers_sockets_and_closures_are_still_served() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(2)
            .build()
            .unwrap();
        // More of them than threads, and each waits for a timer and for a closure.
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                runtime.spawn(async {
                    Handle::current().block_on(async {
                        sleep(ms(3)).await;
                        spawn_blocking(|| 1).await.unwrap()
                    })
                })
            })
            .collect();
        let sum: u32 = tasks
            .into_iter()
            .map(|task| runtime.block_on(task).unwrap())
            .sum();
        assert_eq!(sum, 20);
    });
}

#[test]
fn a_current_thread_runtime_serves_its_driver_while_the_main_future_only_yields() {
    within_a_minute(|| {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let done = Arc::new(AtomicBool::new(false));
            let theirs = done.clone();
            blitz_io::spawn(async move {
                let (here, mut there) = connected();
                here.set_nonblocking(true).unwrap();
                let mut here = TcpStream::from_std(here).unwrap();
                blitz_io::spawn(async move {
                    sleep(ms(5)).await;
                    here.write_all(b"x").await.unwrap();
                });
                there.read_exact(&mut [0]).await.unwrap();
                theirs.store(true, Ordering::SeqCst);
            });
            while !done.load(Ordering::SeqCst) {
                blitz_io::task::yield_now().await;
            }
            let (mut source, mut sink) = (blitz_io::io::repeat(1), blitz_io::io::sink());
            let endless = blitz_io::io::copy(&mut source, &mut sink);
            assert!(blitz_io::time::timeout(ms(5), endless).await.is_err());
        });
    });
}

/// Computes in parallel until the flag is set.
fn compute_until(done: &AtomicBool) {
    fn fib(n: u32) -> u64 {
        if n < 2 {
            return u64::from(n);
        }
        let (a, b) = blitz_core::join(|| fib(n - 1), || fib(n - 2));
        a + b
    }
    while !done.load(Ordering::SeqCst) {
        assert_eq!(fib(16), 987);
    }
}

#[test]
fn a_timer_goes_off_although_more_tasks_compute_than_there_are_threads_to_serve() {
    let _alone = alone();
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let done = Arc::new(AtomicBool::new(false));
            let tasks: Vec<_> = (0..workers + 3)
                .map(|_| {
                    let done = Arc::clone(&done);
                    runtime.spawn(async move { compute_until(&done) })
                })
                .collect();
            let timer = runtime.spawn(async move {
                sleep(ms(20)).await;
                done.store(true, Ordering::SeqCst);
            });
            runtime.block_on(async {
                timer.await.unwrap();
                for task in tasks {
                    task.await.unwrap();
                }
            });
        }
    });
}

#[test]
fn a_timer_does_not_wait_for_all_tasks_that_block_and_were_there_before() {
    let _alone = alone();
    within_a_minute(|| {
        const TASKS: usize = 3000;
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(4)
            .build()
            .unwrap();
        let through = Arc::new(AtomicUsize::new(0));
        let timer = {
            let through = Arc::clone(&through);
            runtime.spawn(async move {
                sleep(ms(20)).await;
                through.load(Ordering::SeqCst)
            })
        };
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                let through = Arc::clone(&through);
                runtime.spawn(async move {
                    block_in_place(|| thread::sleep(ms(1)));
                    through.fetch_add(1, Ordering::SeqCst);
                })
            })
            .collect();
        let before = runtime.block_on(timer).unwrap();
        assert!(before < TASKS * 3 / 4, "{before} of {TASKS} came first");
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
}

#[test]
fn computations_run_while_all_workers_block_with_a_word() {
    let _alone = alone();
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            // Each waits for the one that is started after it, in a computation or in a task.
            let (mut tell, first) = mpsc::channel::<usize>();
            let mut links = Vec::new();
            for link in 0..12 {
                let (next_tell, hears) = mpsc::channel();
                let tells = std::mem::replace(&mut tell, next_tell);
                let pass = move || tells.send(hears.recv().unwrap() + 1).unwrap();
                let handle = runtime.handle();
                links.push(match link % 2 {
                    0 => handle.spawn_cpu(move || block_in_place(pass)),
                    _ => runtime.spawn(async move { block_in_place(pass) }),
                });
            }
            tell.send(0).unwrap();
            assert_eq!(first.recv().unwrap(), 12);
            runtime.block_on(async {
                for link in links {
                    link.await.unwrap();
                }
            });
        }
    });
}

#[test]
fn computations_that_tasks_wait_for_silently_are_run() {
    let _alone = alone();
    within_a_minute(|| {
        for workers in [1, 2, 3] {
            let runtime = runtime(workers);
            let wait = |n: usize| {
                runtime.spawn(async move {
                    let (answer, answered) = mpsc::channel();
                    blitz_core::spawn(move || answer.send(n).unwrap());
                    answered.recv().unwrap()
                })
            };
            for (n, task) in (0..10)
                .map(wait)
                .collect::<Vec<_>>()
                .into_iter()
                .enumerate()
            {
                assert_eq!(runtime.block_on(task).unwrap(), n);
            }
        }
    });
}

#[test]
fn a_computation_from_outside_runs_although_all_workers_block() {
    let _alone = alone();
    within_a_minute(|| {
        let mut builder = Builder::new_multi_thread();
        // It could be the one that blocks.
        let runtime = builder.worker_threads(2).relief_thread(false).build();
        let runtime = runtime.unwrap();
        for _ in 0..3 {
            let _blocking = [(); 2].map(|()| blocks_silently(runtime.handle()));
            let _entered = runtime.enter();
            for _ in 0..3 {
                let (answer, answered) = mpsc::channel();
                blitz_core::spawn(move || answer.send(42).unwrap());
                assert_eq!(answered.recv(), Ok(42));
            }
        }
    });
}

#[test]
fn computations_may_wait_silently_for_each_other_beside_workers_that_block() {
    let _alone = alone();
    within_a_minute(|| {
        let mut builder = Builder::new_multi_thread();
        // It could be the one that blocks.
        let runtime = builder.worker_threads(2).relief_thread(false).build();
        let runtime = runtime.unwrap();
        let _blocking = [(); 2].map(|()| blocks_silently(runtime.handle()));
        let _entered = runtime.enter();
        let (answer, answered) = mpsc::channel();
        blitz_core::spawn(move || {
            let (inner, received) = mpsc::channel();
            blitz_core::spawn(move || inner.send(42).unwrap());
            answer.send(received.recv()).unwrap();
        });
        assert_eq!(answered.recv(), Ok(Ok(42)));
    });
}

#[test]
fn a_computation_may_wait_silently_for_another_beside_one_worker_that_blocks() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = runtime(2);
        for _ in 0..3 {
            // Nobody but the second worker is there for computations, and it waits.
            let answer = runtime.spawn(async {
                let (answer, answered) = mpsc::channel();
                blitz_core::spawn(move || {
                    let (inner, received) = mpsc::channel();
                    blitz_core::spawn(move || inner.send(42).unwrap());
                    answer.send(received.recv()).unwrap();
                });
                answered.recv()
            });
            assert_eq!(runtime.block_on(answer).unwrap(), Ok(Ok(42)));
        }
    });
}

#[test]
fn a_computation_that_is_started_while_its_worker_blocks_is_run() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = runtime(1);
        let handle = runtime.handle().clone();
        let task = runtime.spawn(async move {
            block_in_place(|| {
                let (tell, hears) = mpsc::channel();
                let computation = handle.spawn_cpu(move || tell.send(42).unwrap());
                (hears.recv().unwrap(), computation)
            })
        });
        let (answer, computation) = runtime.block_on(task).unwrap();
        runtime.block_on(computation).unwrap();
        assert_eq!(answer, 42);
    });
}

#[test]
fn tasks_of_two_runtimes_may_block_on_each_other() {
    let _alone = alone();
    fn there_and_back(here: &Handle, there: &Handle, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let (next, after) = (there.clone(), here.clone());
        let task = there.spawn(async move { there_and_back(&next, &after, depth - 1) });
        there.block_on(task).unwrap() + 1
    }
    within_a_minute(|| {
        let (one, two) = (runtime(1), runtime(1));
        let (here, there) = (one.handle().clone(), two.handle().clone());
        let task = one.spawn(async move { there_and_back(&here, &there, 30) });
        assert_eq!(one.block_on(task).unwrap(), 30);
    });
}

#[test]
fn tasks_may_block_in_current_thread_runtimes_of_their_own() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = runtime(2);
        let outer = runtime.handle().clone();
        // As blocking clients do: each task has a runtime, and waits in it for a task of the outer one.
        let tasks: Vec<_> = (0..12)
            .map(|number| {
                let outer = outer.clone();
                runtime.spawn(async move {
                    let inner = Builder::new_current_thread().build().unwrap();
                    inner.block_on(async { outer.spawn(async move { number }).await.unwrap() })
                })
            })
            .collect();
        runtime.block_on(async {
            for (number, task) in tasks.into_iter().enumerate() {
                assert_eq!(task.await.unwrap(), number);
            }
        });
    });
}

#[test]
fn tasks_may_wait_for_the_end_of_other_runtimes() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = runtime(1);
        let outer = runtime.handle().clone();
        let tasks: Vec<_> = (0..6)
            .map(|number| {
                let outer = outer.clone();
                runtime.spawn(async move {
                    let inner = common::runtime(1);
                    let task = outer.spawn(async {});
                    inner.spawn(async move { task.await.unwrap() });
                    if number % 2 == 0 {
                        assert!(inner.drain(Duration::from_secs(50)));
                    }
                    drop(inner);
                })
            })
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
}

#[test]
fn a_rescue_thread_is_in_the_runtime_of_its_pool() {
    let _alone = alone();
    within_a_minute(|| {
        let runtime = runtime(1);
        let task = runtime.spawn(async {
            let (tell, told) = mpsc::channel();
            blitz_core::spawn(move || {
                let handle = blitz_io::runtime::Handle::current();
                let soon = || blitz_io::spawn(blitz_io::time::sleep(ms(1)));
                handle.block_on(async { soon().await.unwrap() });
                tell.send(thread::current().id()).unwrap();
            });
            // The pool has no other thread.
            let rescue = blitz_core::companion::sleep_elsewhere(|| told.recv().unwrap());
            assert_ne!(rescue, thread::current().id());
        });
        runtime.block_on(task).unwrap();
    });
}

/// A task that is polled while the only worker blocks runs on a thread with the name that the runtime's threads were given.
#[test]
fn whoever_relieves_a_worker_has_the_name_of_the_runtimes_threads() {
    let runtime = blitz_io::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("server")
        .build()
        .expect("a runtime");
    let (told, tell) = std::sync::mpsc::channel();
    let blocks = runtime.spawn(async move { tell.recv() });
    let name = runtime.spawn(async { std::thread::current().name().map(str::to_owned) });
    let name = runtime.block_on(name).expect("it does not panic");
    told.send(()).expect("it is waited for");
    runtime
        .block_on(blocks)
        .expect("it does not panic")
        .expect("it was told");
    assert_eq!(name.as_deref(), Some("server"));
}
