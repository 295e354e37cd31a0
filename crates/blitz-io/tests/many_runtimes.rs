//! Default runtimes share the global pool: any number of them at once, each with its own tasks and its own end.

mod common;

use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::time::sleep;
use blitz_io::{Builder, Handle, Runtime};
use common::within_a_minute;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Counts itself until it is dropped.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Alive(count.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn echoes() -> u8 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = blitz_io::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        sleep(ms(2)).await;
        stream.write_all(&byte).await.unwrap();
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&[7]).await.unwrap();
    let mut byte = [0];
    stream.read_exact(&mut byte).await.unwrap();
    server.await.unwrap();
    byte[0]
}

#[test]
fn ten_default_runtimes_work_at_once_and_each_ends_alone() {
    within_a_minute(|| {
        let runtimes: Vec<_> = (0..10).map(|_| Runtime::new().unwrap()).collect();
        let alive: Vec<_> = runtimes.iter().map(|_| Arc::default()).collect();
        for (runtime, alive) in runtimes.iter().zip(&alive) {
            for _ in 0..20 {
                let mine = Alive::new(alive);
                runtime.spawn(async move {
                    let _mine = mine;
                    // A task of its own runtime, whatever thread this is.
                    blitz_io::spawn(async {
                        sleep(ms(1)).await;
                        pending::<()>().await;
                    });
                    pending::<()>().await;
                });
            }
        }
        let at_work: Vec<_> = runtimes
            .iter()
            .map(|runtime| runtime.spawn(echoes()))
            .collect();
        for (runtime, job) in runtimes.iter().zip(at_work) {
            assert_eq!(runtime.block_on(job).unwrap(), 7);
            assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 8)).unwrap(), 8);
            let squares = || blitz_core::join(|| 4, || 9);
            assert_eq!(
                runtime
                    .block_on(runtime.handle().spawn_cpu(squares))
                    .unwrap(),
                (4, 9)
            );
        }
        // Every second one goes; the others are as before.
        let mut left = Vec::new();
        for (index, runtime) in runtimes.into_iter().enumerate() {
            if index % 2 == 0 {
                let handle = runtime.handle().clone();
                drop(runtime);
                assert_eq!(alive[index].load(Ordering::SeqCst), 0);
                assert!(
                    blitz_core::join(|| handle.spawn(async {}), || ())
                        .0
                        .is_finished()
                );
            } else {
                left.push((index, runtime));
            }
        }
        for (index, runtime) in &left {
            assert_eq!(alive[*index].load(Ordering::SeqCst), 20);
            assert_eq!(runtime.block_on(echoes()), 7);
            // The spawners and what they have spawned.
            assert_eq!(runtime.handle().metrics().snapshot().alive, 40);
        }
        let (_, last) = left.pop().unwrap();
        drop(left);
        assert!(!last.drain(ms(1)));
        assert_eq!(last.block_on(echoes()), 7);
    });
}

#[test]
fn a_task_is_in_its_own_runtime_whoever_polls_it() {
    within_a_minute(|| {
        let runtimes = [Runtime::new().unwrap(), Runtime::new().unwrap()];
        let spawned = || {
            runtimes
                .each_ref()
                .map(|runtime| runtime.handle().metrics().snapshot().spawned)
        };
        let before = spawned();
        let tasks: Vec<_> = (0..100)
            .map(|index| {
                runtimes[index % 2].spawn(async {
                    blitz_io::task::yield_now().await;
                    blitz_io::spawn(async {}).await.unwrap();
                    blitz_io::spawn_cpu(|| Handle::current().spawn(async {}))
                        .await
                        .unwrap()
                        .await
                        .unwrap();
                })
            })
            .collect();
        for task in tasks {
            runtimes[0].block_on(task).unwrap();
        }
        let after = spawned();
        // Each task, two that it has spawned, and a computation.
        assert_eq!([after[0] - before[0], after[1] - before[1]], [200, 200]);
    });
}

#[test]
fn the_other_half_of_a_tasks_join_knows_the_runtime() {
    within_a_minute(|| {
        // No other runtime here: this one has a pool of its own.
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap();
        let task = runtime.spawn(async {
            let spawn = || Handle::current().spawn(async { 1 });
            let halves = (0..200).map(|_| blitz_core::join(spawn, spawn));
            let mut sum = 0;
            for (left, right) in halves.collect::<Vec<_>>() {
                sum += left.await.unwrap() + right.await.unwrap();
            }
            sum
        });
        assert_eq!(runtime.block_on(task).unwrap(), 400);
    });
}

#[test]
fn a_future_dropped_at_the_end_is_in_its_runtime() {
    struct Asks(std::sync::mpsc::Sender<bool>);
    impl Drop for Asks {
        fn drop(&mut self) {
            let handle = Handle::try_current().ok();
            self.0.send(handle.is_some()).unwrap();
        }
    }
    let (tell, told) = std::sync::mpsc::channel();
    let runtime = Runtime::new().unwrap();
    let asks = Asks(tell.clone());
    let idle = runtime.spawn(async move {
        let _asks = asks;
        pending::<()>().await;
    });
    let asks = Asks(tell);
    let aborted = runtime.spawn(async move {
        let _asks = asks;
        pending::<()>().await;
    });
    aborted.abort();
    assert!(runtime.block_on(aborted).unwrap_err().is_cancelled());
    drop(runtime);
    drop(idle);
    assert_eq!(told.iter().collect::<Vec<_>>(), [true, true]);
}
