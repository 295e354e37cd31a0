//! Tasks, channels, locks, pipes, and timers where there is a clock, under tokio's name. Needs neither threads nor sockets; ends with a
//! panic if something is wrong.

use std::cell::Cell;
use std::io::ErrorKind;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::task::{self, JoinSet, LocalSet};
use tokio::time::{self, Instant};

/// What this platform has.
fn has_threads() -> bool {
    std::thread::Builder::new().spawn(|| ()).is_ok()
}

const HAS_CLOCK: bool = cfg!(not(all(target_family = "wasm", target_os = "unknown")));

fn main() {
    let runtime = || Builder::new_current_thread().enable_all().build().unwrap();
    everything(&runtime());
    attributes();
    println!("tasks, channels, locks and pipes are right");
    runtime().block_on(computations());
    println!("computations are right");
    if HAS_CLOCK {
        runtime().block_on(timers());
        let builder = &mut Builder::new_current_thread();
        builder
            .start_paused(true)
            .build()
            .unwrap()
            .block_on(hours());
        println!("timers are right");
    }
    for_whoever_waits(&runtime());
    endings(runtime);
    println!("endings are right");
    match Runtime::new() {
        Ok(runtime) => {
            assert!(has_threads());
            everything(&runtime);
            runtime.block_on(computations());
            runtime.block_on(timers());
            println!("and so are they in a runtime with workers");
        }
        Err(error) => assert!(
            !has_threads() && error.kind() == ErrorKind::Unsupported,
            "{error}"
        ),
    }
}

fn everything(runtime: &Runtime) {
    runtime.block_on(async {
        tasks().await;
        channels().await;
        locks().await;
        pipes().await;
        local().await;
    });
}

#[tokio::main(flavor = "current_thread")]
async fn attributes() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let task = tokio::spawn(async move {
        for n in 0..3 {
            sender.send(n).unwrap();
            task::yield_now().await;
        }
    });
    let mut received = 0;
    loop {
        tokio::select! {
            message = receiver.recv() => match message {
                Some(_) => received += 1,
                None => break,
            },
            () = std::future::pending() => unreachable!(),
        }
    }
    task.await.unwrap();
    assert_eq!(received, 3);
    let metrics = tokio::runtime::Handle::current().metrics();
    assert_eq!(metrics.num_workers(), 1);
}

async fn tasks() {
    let tasks: Vec<_> = (0..1000_u64)
        .map(|n| {
            tokio::spawn(async move {
                task::yield_now().await;
                n * n
            })
        })
        .collect();
    for (n, task) in (0..).zip(tasks) {
        assert_eq!(task.await.unwrap(), n * n);
    }
    let mut set = JoinSet::new();
    (0..100_u32).for_each(|n| drop(set.spawn(async move { n })));
    let mut sum = 0;
    while let Some(n) = set.join_next().await {
        sum += n.unwrap();
    }
    assert_eq!(sum, 4950);
    let endless = tokio::spawn(std::future::pending::<()>());
    endless.abort();
    assert!(endless.await.unwrap_err().is_cancelled());
    let (a, b) = tokio::join!(async { 1 }, task::spawn(async { 2 }));
    assert_eq!(a + b.unwrap(), 3);
}

async fn channels() {
    // Full most of the time.
    let (sender, mut receiver) = mpsc::channel(2);
    for n in 0..10_u32 {
        let sender = sender.clone();
        tokio::spawn(async move { sender.send(n).await.unwrap() });
    }
    drop(sender);
    let mut sum = 0;
    while let Some(n) = receiver.recv().await {
        sum += n;
    }
    assert_eq!(sum, 45);
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move { sender.send("once") });
    assert_eq!(receiver.await, Ok("once"));
    let (sender, _) = broadcast::channel(4);
    let listeners: Vec<_> = (0..3)
        .map(|_| {
            let mut receiver = sender.subscribe();
            tokio::spawn(async move { receiver.recv().await.unwrap() })
        })
        .collect();
    sender.send(7).unwrap();
    for listener in listeners {
        assert_eq!(listener.await.unwrap(), 7);
    }
    let (sender, mut receiver) = watch::channel(0);
    tokio::spawn(async move { sender.send(1) });
    receiver.changed().await.unwrap();
    assert_eq!(*receiver.borrow(), 1);
}

async fn locks() {
    let (number, cell) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)));
    let (permits, done) = (Arc::new(Semaphore::new(1)), Arc::new(Notify::new()));
    let barrier = Arc::new(Barrier::new(10));
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let (number, cell) = (Arc::clone(&number), Arc::clone(&cell));
            let (permits, barrier) = (Arc::clone(&permits), Arc::clone(&barrier));
            tokio::spawn(async move {
                let _permit = permits.acquire().await.unwrap();
                let mut number = number.lock().await;
                task::yield_now().await;
                *number += 1;
                *cell.write().await += 1;
                drop(_permit);
                drop(number);
                barrier.wait().await.is_leader()
            })
        })
        .collect();
    let mut leaders = 0;
    for task in tasks {
        leaders += u32::from(task.await.unwrap());
    }
    assert_eq!(
        (leaders, *number.lock().await, *cell.read().await),
        (1, 10, 10)
    );
    let waiting = tokio::spawn({
        let done = Arc::clone(&done);
        async move { done.notified().await }
    });
    task::yield_now().await;
    done.notify_one();
    waiting.await.unwrap();
}

async fn pipes() {
    let (mut here, there) = tokio::io::duplex(16);
    tokio::spawn(async move {
        for n in 0..100 {
            here.write_all(format!("line {n}\n").as_bytes())
                .await
                .unwrap();
        }
    });
    let mut lines = BufReader::new(there).lines();
    let mut n = 0;
    while let Some(line) = lines.next_line().await.unwrap() {
        assert_eq!(line, format!("line {n}"));
        n += 1;
    }
    assert_eq!(n, 100);
    let mut all = Vec::new();
    (&b"some bytes"[..]).read_to_end(&mut all).await.unwrap();
    assert_eq!(all, b"some bytes");
}

async fn local() {
    let sum = Rc::new(Cell::new(0));
    let set = LocalSet::new();
    for n in 0..10 {
        let sum = Rc::clone(&sum);
        set.spawn_local(async move {
            task::yield_now().await;
            sum.set(sum.get() + n);
        });
    }
    set.await;
    assert_eq!(sum.get(), 45);
}

/// Without threads, whoever waits runs them.
async fn computations() {
    let fib = blitz::spawn_handle(|| blitz::join(|| 6, || 7));
    assert_eq!(tokio::spawn(fib).await.unwrap().unwrap(), (6, 7));
    assert_eq!(tokio::spawn_cpu(|| 42).await.unwrap(), 42);
    let (sender, receiver) = oneshot::channel();
    rayon::spawn(move || sender.send(1).unwrap());
    assert_eq!(receiver.await, Ok(1));
    let blocking = task::spawn_blocking(|| 5).await;
    match blocking {
        Ok(five) => assert!(five == 5 && has_threads()),
        Err(error) => assert!(error.is_panic() && !has_threads(), "{error}"),
    }
}

async fn timers() {
    const SHORT: Duration = Duration::from_millis(5);
    let start = Instant::now();
    time::sleep(SHORT).await;
    assert!(start.elapsed() >= SHORT);
    let late = time::timeout(SHORT, std::future::pending::<()>()).await;
    assert!(late.is_err());
    let mut interval = time::interval(SHORT);
    for _ in 0..3 {
        interval.tick().await;
    }
    assert!(start.elapsed() >= 4 * SHORT);
    let sleepers: Vec<_> = (0..100)
        .map(|n| tokio::spawn(time::sleep(SHORT / 100 * n)))
        .collect();
    for sleeper in sleepers {
        sleeper.await.unwrap();
    }
    tokio::select! {
        () = time::sleep(SHORT) => {}
        () = std::future::pending() => unreachable!(),
    }
}

/// With a clock that jumps.
async fn hours() {
    const HOUR: Duration = Duration::from_secs(3600);
    let start = Instant::now();
    let sleeper = tokio::spawn(time::sleep(2 * HOUR));
    time::sleep(HOUR).await;
    assert_eq!(start.elapsed(), HOUR);
    sleeper.await.unwrap();
    assert_eq!(start.elapsed(), 2 * HOUR);
}

/// Calls that wait without a runtime, for what is there already.
fn for_whoever_waits(runtime: &Runtime) {
    let (sender, mut receiver) = mpsc::channel(1);
    sender.blocking_send(1).unwrap();
    assert_eq!(receiver.blocking_recv(), Some(1));
    assert_eq!(*Mutex::new(2).blocking_lock(), 2);
    let handle = runtime.handle().clone();
    assert_eq!(handle.block_on(async { 3 }), 3);
}

/// Nothing is left behind, and nobody is waited for who cannot come.
fn endings(runtime: impl Fn() -> Runtime) {
    let kept = Arc::new(());
    let forgotten = |runtime: &Runtime| {
        let kept = Arc::clone(&kept);
        runtime.spawn(async move {
            std::future::pending::<()>().await;
            drop(kept);
        });
        runtime.block_on(task::yield_now());
    };
    for end in [drop, Runtime::shutdown_background] {
        let runtime = runtime();
        forgotten(&runtime);
        end(runtime);
        assert_eq!(Arc::strong_count(&kept), 1);
    }
    let runtime = runtime();
    forgotten(&runtime);
    runtime.shutdown_timeout(Duration::from_secs(1));
    assert_eq!(Arc::strong_count(&kept), 1);
}
