//! Too many open files: an error for the one who opens one more, and for nobody else.
//!
//! The limit is one of the whole process, so the test runs in a process of its own: this program again, with a variable set.

#![cfg(unix)]

mod common;

use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::spawn;
use blitz_io::time::{Duration, sleep};
use common::{run, soon};
use std::process::Command;

const VARIABLE: &str = "BLITZ_IO_TEST_OPEN_FILES";

/// How many files the process may open.
const FILES: u64 = 100;

#[test]
fn too_many_open_files_is_an_error_for_the_one_who_opens_one_more() {
    if std::env::var_os(VARIABLE).is_some() {
        limit_open_files();
        run(exhaust);
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "too_many_open_files_is_an_error_for_the_one_who_opens_one_more",
            "--exact",
            "--nocapture",
        ])
        .env(VARIABLE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

fn limit_open_files() {
    let limit = libc::rlimit {
        rlim_cur: FILES,
        rlim_max: FILES,
    };
    // SAFETY: the structure is read during the call only.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
}

fn is_exhausted(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(libc::EMFILE)
}

async fn exhaust() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // One connection from before, which must not notice anything.
    let mut old = TcpStream::connect(address).await.unwrap();
    let (mut old_server, _) = soon(listener.accept()).await.unwrap();
    spawn(async move {
        let mut buffer = [0; 64];
        while let Ok(length @ 1..) = old_server.read(&mut buffer).await {
            old_server.write_all(&buffer[..length]).await.unwrap();
        }
    });

    // Until nothing can be opened any more.
    let mut clients = Vec::new();
    let error = loop {
        match soon(TcpStream::connect(address)).await {
            Ok(stream) => clients.push(stream),
            Err(error) => break error,
        }
    };
    assert!(is_exhausted(&error), "{error}");
    assert!(clients.len() > 50, "{}", clients.len());

    // The clients are connected as far as the kernel is concerned; accepting fails, again and again.
    for _ in 0..3 {
        let error = soon(listener.accept()).await.unwrap_err();
        assert!(is_exhausted(&error), "{error}");
    }
    for round in 0..20 {
        soon(old.write_all(&[round; 10])).await.unwrap();
        let mut answer = [0; 10];
        soon(old.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer, [round; 10]);
        sleep(Duration::from_micros(100)).await;
    }

    // Some go, and there is room: all that wait are accepted, as if nothing had been.
    let waiting = clients.len();
    clients.truncate(waiting / 2);
    for _ in 0..waiting {
        soon(listener.accept()).await.unwrap();
    }
}
