//! Very many open files: ten thousand connections work, and one more than there may be is an error for the one who opens it, and for nobody else.
//!
//! The limit is one of the whole process, so each test runs in a process of its own: this program again, with a variable set.

#![cfg(unix)]

mod common;

use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::spawn;
use blitz_io::sync::Barrier;
use blitz_io::time::{Duration, sleep};
use common::{run, soon};
use std::future::Future;
use std::process::Command;
use std::sync::Arc;

const VARIABLE: &str = "BLITZ_IO_TEST_OPEN_FILES";

/// Runs `test` in a process that may open `files` files; `name` is the name of the caller.
fn with_open_files<F: Future<Output = ()>>(
    name: &str,
    files: libc::rlim_t,
    test: impl FnOnce(libc::rlim_t) -> F + Send + 'static,
) {
    if std::env::var_os(VARIABLE).is_some() {
        let files = limit_open_files(files);
        run(move || test(files));
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(VARIABLE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

/// Allows this process that many open files, or as many as it may be allowed; returns how many.
fn limit_open_files(files: libc::rlim_t) -> libc::rlim_t {
    let set = |files| {
        let limit = libc::rlimit {
            rlim_cur: files,
            rlim_max: files,
        };
        // SAFETY: the structure is read during the call only.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) == 0 }
    };
    if set(files) {
        return files;
    }
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the answer.
    let answer = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    assert_eq!(answer, 0);
    assert!(set(limit.rlim_max));
    limit.rlim_max
}

#[test]
fn a_burst_of_connections_waits_until_somebody_accepts() {
    let name = "a_burst_of_connections_waits_until_somebody_accepts";
    with_open_files(name, 4096, |_| burst());
}

/// More connections than a listener of the standard library has room for; nobody accepts before all are there.
async fn burst() {
    const MANY: usize = 400;
    let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    let many = MANY.min(allowed.trim().parse().unwrap_or(MANY));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connect = |number| {
        // One for which there is no room would be tried again and again, and never be there.
        let patience = Duration::from_secs(20);
        std::net::TcpStream::connect_timeout(&address, patience)
            .unwrap_or_else(|error| panic!("connection {number} of {many}: {error}"))
    };
    let peers: Vec<_> = (0..many).map(connect).collect();
    for _ in &peers {
        listener.accept().await.unwrap();
    }
}

#[test]
fn too_many_open_files_is_an_error_for_the_one_who_opens_one_more() {
    let name = "too_many_open_files_is_an_error_for_the_one_who_opens_one_more";
    with_open_files(name, 100, |_| exhaust());
}

#[test]
fn ten_thousand_connections_are_open_at_once_and_all_are_served() {
    let name = "ten_thousand_connections_are_open_at_once_and_all_are_served";
    // Both ends are ours.
    with_open_files(name, 20_200, |files| crowd((files as usize - 100) / 2));
}

/// As many connections as that, or 10,000, all open; then everybody is answered.
async fn crowd(most: usize) {
    const TASKS: usize = 8;
    let connections = most.min(10_000);
    if connections < 10_000 {
        eprintln!("the limit of open files allows {connections} connections only");
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = spawn(async move {
        let mut servers = Vec::new();
        while servers.len() < connections {
            let (mut stream, _) = listener.accept().await.unwrap();
            servers.push(spawn(async move {
                let mut number = [0; 4];
                stream.read_exact(&mut number).await.unwrap();
                stream.write_all(&number).await.unwrap();
            }));
        }
        for server in servers {
            server.await.unwrap();
        }
    });
    let open = Arc::new(Barrier::new(TASKS));
    let clients: Vec<_> = (0..TASKS)
        .map(|task| {
            let open = Arc::clone(&open);
            spawn(async move {
                let mut streams = Vec::new();
                for number in (task..connections).step_by(TASKS) {
                    streams.push((number, TcpStream::connect(address).await.unwrap()));
                }
                open.wait().await;
                for (number, stream) in &mut streams {
                    stream
                        .write_all(&(*number as u32).to_le_bytes())
                        .await
                        .unwrap();
                }
                for (number, stream) in &mut streams {
                    let mut answer = [0; 4];
                    stream.read_exact(&mut answer).await.unwrap();
                    assert_eq!(u32::from_le_bytes(answer) as usize, *number);
                }
                streams.len()
            })
        })
        .collect();
    let mut served = 0;
    for client in clients {
        served += client.await.unwrap();
    }
    assert_eq!(served, connections);
    server.await.unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn without_descriptors_a_process_is_an_error_and_leaves_nothing_behind() {
    let name = "without_descriptors_a_process_is_an_error_and_leaves_nothing_behind";
    with_open_files(name, 200, |_| refuse_children());
}

/// Another child has outlived its runtime, and is looked after by whoever spawns the next one.
#[cfg(target_os = "linux")]
async fn refuse_children() {
    use blitz_io::process::{Command, Stdio};
    use std::fs::{self, File};

    // Until its input ends.
    let (ends, input) = std::os::unix::net::UnixStream::pair().unwrap();
    let ends = std::os::fd::OwnedFd::from(ends);
    let orphan = std::thread::spawn(move || {
        let runtime = blitz_io::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async { Command::new("cat").stdin(ends).spawn().unwrap().id() })
    });
    let orphan = orphan.join().unwrap().unwrap();
    let children = || -> Vec<u32> {
        let ours = format!("PPid:\t{}", std::process::id());
        let processes = fs::read_dir("/proc").unwrap();
        let names = processes.map(|process| process.unwrap().file_name());
        let numbers = names.filter_map(|name| name.to_str()?.parse().ok());
        numbers
            .filter(|number: &u32| {
                let status = fs::read_to_string(format!("/proc/{number}/status"));
                status.is_ok_and(|status| status.lines().any(|line| line == ours))
            })
            .collect()
    };
    assert_eq!(children(), [orphan]);

    let mut files: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    // The first needs none to be started, and one to be watched. The second has pipes.
    let (mut plain, mut piped) = (Command::new("sleep"), Command::new("sleep"));
    plain.arg("60");
    piped.arg("60").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut refused = [0; 2];
    while refused.iter().sum::<usize>() < 100 {
        let before = refused;
        for (command, refused) in [&mut plain, &mut piped].into_iter().zip(&mut refused) {
            match command.spawn() {
                Err(error) => {
                    assert!(is_exhausted(&error), "{error}");
                    *refused += 1;
                }
                Ok(mut child) => soon(child.kill()).await.unwrap(),
            }
        }
        if refused == before {
            break;
        }
        files.pop().expect("a child needs few descriptors");
        // To look for children takes two descriptors.
        drop(files.split_off(files.len() - 2));
        assert_eq!(children(), [orphan], "a child has been left behind");
        files.extend((0..2).map(|_| File::open("/dev/null").unwrap()));
    }
    assert!(refused[0] > 0 && refused[1] > 2, "{refused:?}");
    drop(files);
    let status = soon(Command::new("true").status()).await.unwrap();
    assert!(status.success());
    // It has been adopted: its end is noticed.
    drop(input);
    soon(async {
        while fs::exists(format!("/proc/{orphan}")).unwrap() {
            sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
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
