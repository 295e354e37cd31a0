//! The bugs of the scheduler that this one replaces, by their number in the list that was made of them. More are in `tasks.rs`, `time.rs`,
//! `net_streams.rs` and `net_datagrams.rs`, and in the unit tests of the timer wheel, the driver and the scheduler's cores (11, 20).
//!
//! Three of the list have no test, because there is nothing here to test:
//! * 14 (the worker that is woken first also owns the timers): no worker owns them; whoever sleeps in the driver fires them (see 8).
//! * 37 (the documentation says what the code does not do): examples in the documentation and the book are tests themselves.
//! * 38 (a deque that frees a buffer which thieves still read): the ring here does not grow, and the engine's deques retire
//!   buffers, in models of their own.

use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::task::yield_now;
use blitz_io::time::{sleep, timeout};
use blitz_io::{Builder, Runtime, spawn};
use std::future::poll_fn;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

fn runtime(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).build().unwrap()
}

/// For one worker that has to get on alone: no relief thread takes tasks away from it.
fn alone() -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).relief_thread(false);
    builder
}

#[test]
fn bugs_2_and_3_counters_survive_any_number_of_naps() {
    // A count of searching workers that leaks by one nap in a thousand would end with nobody being woken.
    let runtime = runtime(2);
    for round in 0..3000u32 {
        if round % 16 == 0 {
            // Long enough for the workers to fall asleep, whatever they do about it.
            std::thread::sleep(Duration::from_micros(150));
        }
        let task = runtime.spawn(async move { round });
        assert_eq!(runtime.block_on(task).unwrap(), round);
    }
}

#[test]
fn bug_5_a_single_worker_misses_no_wake() {
    let runtime = runtime(1);
    for round in 0..3000u32 {
        let task = runtime.spawn(async move {
            yield_now().await;
            round
        });
        assert_eq!(runtime.block_on(task).unwrap(), round);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn bug_6_an_idle_runtime_does_not_wake_up() {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder
        .worker_threads(2)
        .thread_name("idlers")
        .build()
        .unwrap();
    // Somebody waits for a socket and for a timer in an hour.
    runtime.spawn(async {
        let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap();
        let _ = timeout(Duration::from_secs(3600), listener.accept()).await;
    });
    // For a signal, and for the end of a process.
    runtime.spawn(async {
        use blitz_io::signal::unix::{SignalKind, signal};
        signal(SignalKind::user_defined1()).unwrap().recv().await;
    });
    runtime.spawn(async {
        let mut sleeper = blitz_io::process::Command::new("sleep");
        let _ = sleeper.arg("3600").kill_on_drop(true).status().await;
    });
    let naps = || -> u64 {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let of_thread = |path: std::path::PathBuf| -> Option<u64> {
            let name = std::fs::read_to_string(path.join("comm")).ok()?;
            let status = std::fs::read_to_string(path.join("status")).ok()?;
            let line = status
                .lines()
                .find(|line| line.starts_with("voluntary_ctxt"))?;
            let count = line.split_whitespace().nth(1)?.parse().ok()?;
            name.starts_with("idlers").then_some(count)
        };
        tasks
            .filter_map(|task| of_thread(task.unwrap().path()))
            .sum()
    };
    // They settle first, which may take a while on a busy machine; then there are 200 ms, twenty times as long as the original's time-out,
    // in which nobody wakes up. A time-out would show in every such window.
    let woken = || -> u64 {
        let before = naps();
        std::thread::sleep(Duration::from_millis(200));
        naps() - before
    };
    let fewest = (0..50).map(|_| woken()).find(|&woken| woken <= 1);
    assert!(fewest.is_some(), "wake-ups in every window of 200 ms");
}

#[test]
fn bug_7_workers_sleep_where_sockets_wake_them() {
    const NAPS: u64 = 10;
    let runtime = runtime(2);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let handle = runtime.handle().clone();
    let naps = move || -> u64 {
        let workers = handle.metrics().snapshot().workers;
        workers.iter().map(|worker| worker.parked).sum()
    };
    let client = std::thread::spawn(move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        // Everybody is asleep, in the driver or elsewhere, when a byte arrives. On a busy machine they may be late for their nap and
        // find the byte before it: then another round will do.
        for round in 0..2000u32 {
            std::thread::sleep(Duration::from_millis(3));
            stream.write_all(&[round as u8]).unwrap();
            let mut answer = [0];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, [round as u8]);
            if naps() >= NAPS {
                return;
            }
        }
        panic!("{} naps in the driver", naps());
    });
    let (stream, _) = listener.accept().unwrap();
    stream.set_nonblocking(true).unwrap();
    let server = runtime.spawn(async move {
        let mut stream = blitz_io::net::TcpStream::from_std(stream).unwrap();
        let mut byte = [0];
        while let Ok(1) = stream.read(&mut byte).await {
            stream.write_all(&byte).await.unwrap();
        }
    });
    runtime.block_on(server).unwrap();
    client.join().unwrap();
}

#[test]
fn bug_8_an_earlier_timer_is_not_late_because_of_a_later_one() {
    for workers in [1, 2] {
        let runtime = runtime(workers);
        runtime.spawn(sleep_for(Duration::from_secs(3600)));
        runtime.block_on(async {
            // Workers sleep until the hour is over by now.
            sleep(Duration::from_millis(5)).await;
            let start = Instant::now();
            spawn(sleep_for(Duration::from_millis(2))).await.unwrap();
            assert!(start.elapsed() < Duration::from_secs(60));
        });
    }
}

async fn sleep_for(duration: Duration) {
    sleep(duration).await;
}

#[test]
fn bug_9_two_tasks_that_wake_each_other_do_not_starve_a_third() {
    // The pair runs from the slot of the only worker; the third task waits in its ring. Without a limit for the slot this never ends.
    let runtime = alone().build().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let wakers: Arc<Mutex<[Option<Waker>; 2]>> = Arc::default();
    let partner = |mine: usize| {
        let (stop, wakers) = (Arc::clone(&stop), Arc::clone(&wakers));
        poll_fn(move |cx| {
            let mut wakers = wakers.lock().unwrap();
            wakers[mine] = Some(cx.waker().clone());
            if let Some(other) = &wakers[1 - mine] {
                other.wake_by_ref();
            }
            if stop.load(Ordering::Relaxed) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
    };
    let (first, second) = (partner(0), partner(1));
    let third = runtime.spawn(async move {
        let pair = [spawn(first), spawn(second)];
        for _ in 0..100 {
            yield_now().await;
        }
        stop.store(true, Ordering::Relaxed);
        for task in pair {
            task.await.unwrap();
        }
    });
    runtime.block_on(third).unwrap();
}

#[test]
fn bug_12_a_worker_keeps_what_its_tasks_spawn_and_gives_half_of_it_away_at_once() {
    let runtime = alone().build().unwrap();
    let numbers = || {
        let metrics = blitz_io::Handle::current().metrics().snapshot();
        (metrics.queued, metrics.workers[0].overflows)
    };
    let spawner = runtime.spawn(async move {
        let before = numbers();
        (0..200).for_each(|_| drop(spawn(async {})));
        assert_eq!(numbers(), before, "the shared queue was not needed");
        while blitz_io::Handle::current().metrics().snapshot().alive > 1 {
            yield_now().await;
        }
        let (_, before) = numbers();
        (0..1000).for_each(|_| drop(spawn(async {})));
        let (queued, overflows) = numbers();
        // The slot and at most a full ring stay here; what goes, goes by 129 at a time.
        assert!((743..=1000).contains(&queued), "{queued} were given away");
        assert_eq!(queued as u64, 129 * (overflows - before));
    });
    runtime.block_on(spawner).unwrap();
}

#[test]
fn bug_13_more_than_64_workers_work() {
    let runtime = runtime(130);
    let sum = runtime.block_on(async {
        let tasks: Vec<_> = (0..2000u64)
            .map(|n| {
                spawn(async move {
                    yield_now().await;
                    n
                })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    });
    assert_eq!(sum, 1_999_000);
}

#[test]
fn bug_17_whoever_awaits_a_handle_is_woken() {
    let runtime = runtime(2);
    let last = runtime.spawn(async {
        let slow = spawn(sleep_for(Duration::from_millis(2)));
        let middle = spawn(async move { slow.await.unwrap() });
        middle.await.unwrap();
        7
    });
    assert_eq!(runtime.block_on(last).unwrap(), 7);
}

#[test]
fn bug_18_spawning_inside_of_a_task_needs_no_handle() {
    let runtime = runtime(1);
    let deep = runtime.spawn(async {
        let a = spawn(async { spawn(async { 1 }).await.unwrap() });
        let b = blitz_io::spawn_blocking(|| {
            blitz_io::Handle::current()
                .block_on(spawn(async { 2 }))
                .unwrap()
        });
        let c = blitz_io::spawn_cpu(|| 3);
        a.await.unwrap() + b.await.unwrap() + c.await.unwrap()
    });
    assert_eq!(runtime.block_on(deep).unwrap(), 6);
}

#[test]
fn bug_19_there_is_one_pool_for_blocking_code_and_it_keeps_to_its_settings() {
    let runtime = alone()
        .thread_name("the only")
        .max_blocking_threads(1)
        .build()
        .unwrap();
    let name = || std::thread::current().name().map(str::to_owned);
    let (go, may_go) = std::sync::mpsc::channel::<()>();
    let first = runtime.spawn_blocking(move || {
        may_go.recv().unwrap();
        name()
    });
    // Everything that may block waits for the one thread, wherever it comes from.
    let others = [
        runtime.handle().spawn_blocking(name),
        runtime.spawn(async move { blitz_io::spawn_blocking(name).await.unwrap() }),
        runtime.spawn(async move {
            let found = blitz_io::net::lookup_host("localhost:80").await;
            found.map(|_| name()).unwrap_or_else(|_| name())
        }),
    ];
    while runtime.handle().metrics().snapshot().blocking_queued < others.len() {
        std::thread::yield_now();
    }
    assert_eq!(runtime.handle().metrics().snapshot().blocking_threads, 1);
    assert!(others.iter().all(|other| !other.is_finished()));
    go.send(()).unwrap();
    let mut names = vec![runtime.block_on(first).unwrap().unwrap()];
    for other in others {
        names.push(runtime.block_on(other).unwrap().unwrap());
    }
    let resolver = names.pop().unwrap();
    assert!(
        ["the only", "blitz-io relief"].contains(&&*resolver),
        "{resolver}"
    );
    assert_eq!(names, ["the only"; 3]);
}

#[test]
fn bug_35_a_closure_that_waits_for_a_thread_at_the_end_tells_its_handle() {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder
        .worker_threads(1)
        .max_blocking_threads(1)
        .build()
        .unwrap();
    let (begun, has_begun) = std::sync::mpsc::channel();
    let (go, may_go) = std::sync::mpsc::channel::<()>();
    let first = runtime.spawn_blocking(move || {
        begun.send(()).unwrap();
        may_go.recv()
    });
    has_begun.recv().unwrap();
    let second = runtime.spawn_blocking(|| 2);
    let other = Builder::new_current_thread().build().unwrap();
    assert!(!runtime.shutdown_within(Duration::ZERO));
    assert!(other.block_on(second).unwrap_err().is_cancelled());
    // The one that runs is left alone.
    go.send(()).unwrap();
    other.block_on(first).unwrap().unwrap();
}

#[test]
fn bug_36_everything_is_a_standard_future() {
    // Time-outs, handles and sleeps nest in each other, on any executor that has entered the runtime.
    let runtime = runtime(2);
    let _entered = runtime.enter();
    let nested = timeout(
        Duration::from_secs(60),
        spawn(timeout(Duration::from_secs(60), sleep_for(Duration::ZERO))),
    );
    runtime.block_on(nested).unwrap().unwrap().unwrap();
}
