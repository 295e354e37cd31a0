//! What only Windows has, and what is done in another way there: named pipes, processes, events of the console, standard streams, timers.
#![cfg(windows)]

mod common;

use blitz_io::fs::File;
use blitz_io::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Interest};
use blitz_io::net::windows::named_pipe::{
    ClientOptions, NamedPipeClient, NamedPipeServer, PipeEnd, PipeMode, ServerOptions,
};
use blitz_io::net::{TcpListener, TcpSocket, UdpSocket};
use blitz_io::process::{Command, Stdio};
use blitz_io::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_logoff, ctrl_shutdown};
use blitz_io::spawn;
use blitz_io::time::{Duration, Instant, sleep, timeout};
use common::{run, soon};
use std::io::ErrorKind;
use std::os::windows::io::{
    AsHandle, AsRawHandle, AsRawSocket, AsSocket, FromRawSocket, IntoRawSocket,
};
use windows_sys::Win32::System::Console::{
    AllocConsole, CTRL_C_EVENT, FreeConsole, GenerateConsoleCtrlEvent,
};

/// A name that no other test has, nor another run.
fn name(of: &str) -> String {
    format!(r"\\.\pipe\blitz-io-{}-{of}", std::process::id())
}

/// A pipe with somebody at both ends.
async fn pair(of: &str) -> (NamedPipeServer, NamedPipeClient) {
    let server = ServerOptions::new().create(name(of)).unwrap();
    let client = ClientOptions::new().open(name(of)).unwrap();
    soon(server.connect()).await.unwrap();
    (server, client)
}

#[test]
fn named_pipes_carry_bytes_both_ways() {
    run(|| async {
        let (mut server, client) = pair("both").await;
        // More than any buffer holds.
        let sent: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
        let expected = sent.clone();
        let (mut read, mut write) = blitz_io::io::split(client);
        let writing = spawn(async move {
            write.write_all(&sent).await.unwrap();
            write
        });
        let echoing = spawn(async move {
            let mut buffer = vec![0; 10_000];
            let mut total = 0;
            while total < 1_000_000 {
                let length = server.read(&mut buffer).await.unwrap();
                server.write_all(&buffer[..length]).await.unwrap();
                total += length;
            }
            server
        });
        let mut received = vec![0; expected.len()];
        soon(read.read_exact(&mut received)).await.unwrap();
        assert_eq!(received, expected);
        drop((read, soon(writing).await.unwrap()));
        // The client is gone: the end.
        let mut server = soon(echoing).await.unwrap();
        assert_eq!(soon(server.read(&mut [0])).await.unwrap(), 0);
    });
}

#[test]
fn a_server_waits_for_its_client() {
    run(|| async {
        let server = ServerOptions::new().create(name("waits")).unwrap();
        let connected = spawn(async move { server.connect().await.map(|()| server) });
        sleep(Duration::from_millis(20)).await;
        let mut client = ClientOptions::new().open(name("waits")).unwrap();
        let mut server = soon(connected).await.unwrap().unwrap();
        server.write_all(b"hello").await.unwrap();
        let mut greeting = [0; 5];
        soon(client.read_exact(&mut greeting)).await.unwrap();
        assert_eq!(&greeting, b"hello");
    });
}

#[test]
fn a_server_that_has_sent_its_client_away_takes_another() {
    run(|| async {
        let (mut server, mut client) = pair("again").await;
        soon(client.write_all(b"1")).await.unwrap();
        assert_eq!(soon(server.read_u8()).await.unwrap(), b'1');
        server.disconnect().unwrap();
        drop(client);
        let connecting = spawn(async move { server.connect().await.map(|()| server) });
        let mut client = loop {
            match ClientOptions::new().open(name("again")) {
                Ok(client) => break client,
                Err(_) => sleep(Duration::from_millis(1)).await,
            }
        };
        let mut server = soon(connecting).await.unwrap().unwrap();
        soon(client.write_all(b"2")).await.unwrap();
        // The read that was under way when the first client had to go has failed, and says so now.
        let read = match soon(server.read_u8()).await {
            Ok(byte) => byte,
            Err(_) => soon(server.read_u8()).await.unwrap(),
        };
        assert_eq!(read, b'2');
    });
}

#[test]
fn a_pipe_knows_what_it_is() {
    run(|| async {
        let mut options = ServerOptions::new();
        options.pipe_mode(PipeMode::Message).max_instances(3);
        let server = options.create(name("info")).unwrap();
        let mut reader = ClientOptions::new();
        let client = reader.pipe_mode(PipeMode::Message).open(name("info"));
        let client = client.unwrap();
        let (server, client) = (server.info().unwrap(), client.info().unwrap());
        assert_eq!((server.end, client.end), (PipeEnd::Server, PipeEnd::Client));
        assert_eq!(server.mode, PipeMode::Message);
        assert_eq!(server.max_instances, 3);
    });
}

#[test]
fn messages_stay_apart() {
    run(|| async {
        let mut options = ServerOptions::new();
        let server = options
            .pipe_mode(PipeMode::Message)
            .create(name("messages"));
        let mut server = server.unwrap();
        let mut options = ClientOptions::new();
        let client = options.pipe_mode(PipeMode::Message).open(name("messages"));
        let mut client = client.unwrap();
        soon(server.connect()).await.unwrap();
        for text in ["one", "two", "three"] {
            soon(server.write_all(text.as_bytes())).await.unwrap();
        }
        let mut buffer = [0; 100];
        for text in ["one", "two", "three"] {
            let length = soon(client.read(&mut buffer)).await.unwrap();
            assert_eq!(&buffer[..length], text.as_bytes());
        }
    });
}

#[test]
fn where_there_is_no_pipe_there_is_nothing_to_open() {
    run(|| async {
        let error = ClientOptions::new().open(name("nowhere")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}

/// Wine 8 knows nothing of that flag.
#[test]
fn the_first_instance_of_a_pipe_is_the_first() {
    run(|| async {
        let mut options = ServerOptions::new();
        let options = options.first_pipe_instance(true);
        let _first = options.create(name("first")).unwrap();
        assert!(options.create(name("first")).is_err());
    });
}

#[test]
fn pipes_can_be_tried_without_waiting() {
    run(|| async {
        let (server, client) = pair("tries").await;
        let mut buffer = [0; 4];
        let error = client.try_read(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        soon(server.writable()).await.unwrap();
        assert_eq!(server.try_write(b"ping").unwrap(), 4);
        loop {
            assert!(
                soon(client.ready(Interest::READABLE))
                    .await
                    .unwrap()
                    .is_readable()
            );
            match client.try_read(&mut buffer) {
                Ok(length) => break assert_eq!(&buffer[..length], b"ping"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
        assert!(!client.as_raw_handle().is_null());
    });
}

fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.arg("/c").raw_arg(command);
    shell
}

#[test]
fn processes_are_waited_for() {
    run(|| async {
        let status = soon(shell("exit 3").status()).await.unwrap();
        assert_eq!(status.code(), Some(3));
        let output = soon(shell("echo hello").output()).await.unwrap();
        assert!(output.status.success());
        assert_eq!(output.stdout, b"hello\r\n");
        let many: Vec<_> = (0..8)
            .map(|code| spawn(shell(&format!("exit {code}")).status()))
            .collect();
        for (code, status) in many.into_iter().enumerate() {
            let status = soon(status).await.unwrap().unwrap();
            assert_eq!(status.code(), Some(code as i32));
        }
    });
}

#[test]
fn a_process_is_written_to_and_read_from() {
    run(|| async {
        let mut child = Command::new("cmd")
            .args(["/c", "more"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        assert!(child.raw_handle().is_some());
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        stdin.write_all(b"first\r\n").await.unwrap();
        stdin.write_all(b"second\r\n").await.unwrap();
        stdin.shutdown().await.unwrap();
        drop(stdin);
        let mut read = Vec::new();
        while let Some(line) = soon(lines.next_line()).await.unwrap() {
            if !line.trim().is_empty() {
                read.push(line.trim().to_owned());
            }
        }
        assert_eq!(read, ["first", "second"]);
        assert!(soon(child.wait()).await.unwrap().success());
        assert!(child.raw_handle().is_none());
        assert!(child.id().is_none());
    });
}

/// One that does not end on its own for a long time.
fn endless() -> Command {
    let mut endless = Command::new(std::env::current_exe().unwrap());
    endless
        .args(["--exact", "--nocapture", "the_part_of_a_child"])
        .env("BLITZ_IO_CHILD", "sleeps")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    endless
}

/// What this program does as a child of itself.
#[test]
fn the_part_of_a_child() {
    match std::env::var("BLITZ_IO_CHILD").as_deref() {
        Ok("sleeps") => std::thread::sleep(Duration::from_secs(100)),
        Ok("listens") => blitz_io::Runtime::new().unwrap().block_on(listens()),
        Ok("copies") => {
            let runtime = blitz_io::Runtime::new().unwrap();
            runtime.block_on(async {
                let (mut stdin, mut stdout) = (blitz_io::io::stdin(), blitz_io::io::stdout());
                let mut bytes = Vec::new();
                stdin.read_to_end(&mut bytes).await.unwrap();
                stdout.write_all(&bytes).await.unwrap();
                stdout.flush().await.unwrap();
                let mut stderr = blitz_io::io::stderr();
                stderr.write_all(b"complaint").await.unwrap();
                stderr.flush().await.unwrap();
            });
        }
        _ => {}
    }
}

#[test]
fn a_process_can_be_killed_and_goes_with_its_handle_if_that_is_asked_for() {
    run(|| async {
        let mut child = endless().spawn().unwrap();
        assert!(child.try_wait().unwrap().is_none());
        // Waiting, and not waiting any more, and waiting again.
        assert!(
            timeout(Duration::from_millis(20), child.wait())
                .await
                .is_err()
        );
        soon(child.kill()).await.unwrap();
        assert!(!child.try_wait().unwrap().unwrap().success());

        let child = endless().kill_on_drop(true).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let mut stdout = child.stdout.take().unwrap();
        drop(child);
        let mut rest = Vec::new();
        soon(stdout.read_to_end(&mut rest)).await.unwrap();
    });
}

#[test]
fn a_child_that_is_let_go_of_while_somebody_waits_leaves_nothing_behind() {
    run(|| async {
        for _ in 0..20 {
            let mut child = shell("exit 0").spawn().unwrap();
            let _ = timeout(Duration::from_micros(500), child.wait()).await;
        }
    });
}

#[test]
fn standard_streams_pass_bytes_on() {
    run(|| async {
        let mut child = endless()
            .env("BLITZ_IO_CHILD", "copies")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| b'a' + (n % 26) as u8).collect();
        let mut stdin = child.stdin.take().unwrap();
        let sent = bytes.clone();
        let writing = spawn(async move {
            stdin.write_all(&sent).await.unwrap();
            stdin.flush().await.unwrap();
        });
        let output = child.stdout.take().unwrap();
        let errors = child.stderr.take().unwrap();
        let read = async {
            let (mut output, mut errors) = (output, errors);
            let (mut out, mut err) = (Vec::new(), Vec::new());
            blitz_io::try_join!(output.read_to_end(&mut out), errors.read_to_end(&mut err))
                .unwrap();
            (out, err)
        };
        let (out, err) = soon(read).await;
        soon(writing).await.unwrap();
        // The test harness prints something before and after.
        assert!(out.windows(bytes.len()).any(|part| part == bytes));
        assert!(err.windows(9).any(|part| part == b"complaint"));
    });
}

/// In a process of its own, with a console of its own: an event goes to all processes of a console.
#[test]
fn events_of_the_console_are_heard() {
    run(|| async {
        let mut child = endless();
        child.env("BLITZ_IO_CHILD", "listens");
        let status = soon(child.status()).await.unwrap();
        assert_eq!(
            status.code(),
            Some(HEARD),
            "or there is no console to be had"
        );
    });
}

/// How a child ends that has heard.
const HEARD: i32 = 42;

async fn listens() {
    // SAFETY: takes nothing.
    unsafe {
        FreeConsole();
        assert_ne!(AllocConsole(), 0, "there is no console to be had");
    }
    // SAFETY: takes numbers. 0 is all processes of the console.
    let press = || assert_ne!(unsafe { GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0) }, 0);
    let mut listeners = (ctrl_c().unwrap(), ctrl_c().unwrap());
    let _others = (
        ctrl_break().unwrap(),
        ctrl_close().unwrap(),
        ctrl_logoff().unwrap(),
        ctrl_shutdown().unwrap(),
    );
    let early = timeout(Duration::from_millis(20), listeners.0.recv()).await;
    assert!(early.is_err());
    press();
    assert_eq!(soon(listeners.0.recv()).await, Some(()));
    assert_eq!(soon(listeners.1.recv()).await, Some(()));
    press();
    assert_eq!(soon(listeners.0.recv()).await, Some(()));
    std::process::exit(HEARD);
}

#[test]
fn short_sleeps_are_short() {
    run(|| async {
        // The system's own tick is 15.6 ms, by which a wait with a time-out goes: each of these would take as long.
        let start = Instant::now();
        for _ in 0..50 {
            sleep(Duration::from_millis(1)).await;
        }
        let took = start.elapsed();
        assert!(took >= Duration::from_millis(50));
        assert!(took < Duration::from_millis(500), "{took:?}");
    });
}

#[test]
fn sockets_and_files_have_handles() {
    fn has_a_socket<S: AsRawSocket + AsSocket>(_: &S) {}
    fn has_a_handle<S: AsRawHandle + AsHandle>(_: &S) {}

    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        has_a_socket(&listener);
        has_a_socket(&UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let socket = TcpSocket::new_v4().unwrap();
        has_a_socket(&socket);
        // SAFETY: open, and given away just now.
        let socket = unsafe { TcpSocket::from_raw_socket(socket.into_raw_socket()) };
        let stream = soon(socket.connect(listener.local_addr().unwrap())).await;
        has_a_socket(&stream.unwrap());
        has_a_handle(&File::open(std::env::current_exe().unwrap()).await.unwrap());
        has_a_handle(&blitz_io::io::stdin());
        has_a_handle(&blitz_io::io::stdout());
        has_a_handle(&blitz_io::io::stderr());
    });
}
