//! A runtime whose connections are silent does nothing at all: none of its threads wakes up, the watcher and the relief thread included.
//!
//! The only test in this program, so that every thread is known.

#![cfg(target_os = "linux")]

mod common;

use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::spawn;
use blitz_io::time::{Duration, sleep, timeout};
use common::{runtime, soon};
use std::collections::BTreeMap;

const CONNECTIONS: usize = 64;

/// How often each thread of the process has gone to sleep, except for the calling one.
fn naps() -> BTreeMap<String, u64> {
    // SAFETY: it asks for a number.
    let me = unsafe { libc::gettid() }.to_string();
    let naps_of = |thread: std::fs::DirEntry| {
        let status = std::fs::read_to_string(thread.path().join("status")).ok()?;
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)
        };
        let id = thread.file_name().into_string().ok()?;
        let name = format!("{} {id}", field("Name:")?);
        let count = field("voluntary_ctxt_switches:")?.parse().ok()?;
        (id != me).then_some((name, count))
    };
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    threads.filter_map(|thread| naps_of(thread.ok()?)).collect()
}

#[test]
fn a_runtime_with_open_connections_that_are_silent_does_not_wake_up() {
    let runtime = runtime(2);
    let clients = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                spawn(async move {
                    let mut byte = [0];
                    // Every connection has a time-out, which is far.
                    let patience = Duration::from_secs(3600);
                    while let Ok(Ok(1)) = timeout(patience, stream.read(&mut byte)).await {
                        stream.write_all(&byte).await.unwrap();
                        // Leaves a task lying behind a poll, so that the watcher begins.
                        spawn(async {});
                        spawn(async {});
                    }
                });
            }
        });
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            clients.push(TcpStream::connect(address).await.unwrap());
        }
        for round in 0..50 {
            for client in &mut clients {
                client.write_all(&[round]).await.unwrap();
            }
            let mut byte = [0];
            for client in &mut clients {
                soon(client.read_exact(&mut byte)).await.unwrap();
                assert_eq!(byte, [round]);
            }
        }
        sleep(Duration::from_millis(10)).await;
        clients
    });
    // The threads come to rest, the watcher after some looks. How long that takes depends on who else wants the CPUs; then nobody wakes up for a long time.
    let mut before = naps();
    let mut woken = Vec::new();
    for _ in 0..30 {
        std::thread::sleep(Duration::from_millis(300));
        let now = naps();
        let changed = now
            .iter()
            .filter(|&(name, count)| before.get(name) != Some(count));
        woken = changed.map(|(name, _)| name.clone()).collect();
        before = now;
        if woken.is_empty() {
            break;
        }
    }
    assert!(woken.is_empty(), "woken: {woken:?}, {before:?}");
    assert!(before.len() > 3, "workers and watcher: {before:?}");
    drop(clients);
}
