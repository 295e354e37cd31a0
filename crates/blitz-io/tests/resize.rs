//! Runtimes on pools that get other numbers of threads.

use blitz_core::join;
use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::runtime::worker_index;
use blitz_io::{Builder, Runtime};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

fn runtime(workers: usize) -> Runtime {
    let builder = &mut Builder::new_multi_thread();
    builder.worker_threads(workers).build().unwrap()
}

/// The workers that serve tasks, as far as so many tasks find them which wait for each other on their threads.
fn workers(runtime: &Runtime, tasks: usize) -> BTreeSet<Option<usize>> {
    let all = Arc::new(Barrier::new(tasks));
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let all = Arc::clone(&all);
            runtime.spawn(async move {
                all.wait();
                worker_index()
            })
        })
        .collect();
    let found = tasks
        .into_iter()
        .map(|task| runtime.block_on(task).unwrap());
    found.collect()
}

#[test]
fn new_threads_serve_tasks_and_those_that_stay_go_on() {
    let runtime = runtime(2);
    let pool = runtime.pool().unwrap();
    for threads in [2, 4, 1, 3, 9, 2] {
        pool.set_num_threads(threads).unwrap();
        assert_eq!(runtime.metrics().num_workers(), threads);
        // Workers that are about to leave are slow to come; the relief thread may take a task, which has no index.
        let served = workers(&runtime, threads);
        let known = served.iter().flatten().count();
        assert!(
            known >= threads.min(2) - usize::from(threads > 1),
            "{served:?}"
        );
        let answer = runtime.block_on(async {
            let cpu = blitz_io::spawn_cpu(|| join(|| 20, || 22));
            blitz_io::time::sleep(Duration::from_millis(1)).await;
            cpu.await.unwrap()
        });
        assert_eq!(answer, (20, 22));
        assert_eq!(runtime.metrics().snapshot().workers.len(), threads + 1);
    }
}

#[test]
fn sockets_timers_and_tasks_get_on_while_the_size_changes() {
    let runtime = runtime(2);
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = Arc::clone(&stop);
    let rounds = runtime.spawn(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = blitz_io::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 4];
            while stream.read_exact(&mut buffer).await.is_ok() {
                stream.write_all(&buffer).await.unwrap();
            }
        });
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut rounds = 0_u32;
        while !stopping.load(Ordering::Relaxed) {
            rounds += 1;
            stream.write_all(&rounds.to_le_bytes()).await.unwrap();
            let mut buffer = [0; 4];
            stream.read_exact(&mut buffer).await.unwrap();
            assert_eq!(u32::from_le_bytes(buffer), rounds);
            blitz_io::time::sleep(Duration::from_micros(50)).await;
            let child = blitz_io::spawn(async { blitz_io::task::yield_now().await });
            child.await.unwrap();
        }
        drop(stream);
        server.await.unwrap();
        rounds
    });
    let pool = runtime.pool().unwrap();
    for round in 0..200 {
        pool.set_num_threads([1, 3, 2, 5][round % 4]).unwrap();
        std::thread::sleep(Duration::from_micros(round as u64 % 5 * 200));
    }
    stop.store(true, Ordering::Relaxed);
    assert!(runtime.block_on(rounds).unwrap() > 0);
}
