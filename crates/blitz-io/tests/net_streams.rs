//! TCP and Unix streams: echo, the ends of connections, and what peers do wrong.

mod common;

use blitz_io::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest, ReadBuf};
use blitz_io::net::{TcpListener, TcpSocket, TcpStream};
#[cfg(unix)]
use blitz_io::net::{UnixListener, UnixStream};
use blitz_io::spawn;
use blitz_io::time::{Duration, sleep, timeout};
use common::{run, soon};
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::pin::Pin;

/// Sends back what comes, through the traits, until the peer has sent all.
async fn echo<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) -> io::Result<usize> {
    let mut buffer = vec![0; 4096];
    let mut total = 0;
    loop {
        let mut read = ReadBuf::new(&mut buffer);
        poll_fn(|cx| Pin::new(&mut stream).poll_read(cx, &mut read)).await?;
        let length = read.filled().len();
        if length == 0 {
            poll_fn(|cx| Pin::new(&mut stream).poll_shutdown(cx)).await?;
            return Ok(total);
        }
        total += length;
        let mut rest = &buffer[..length];
        while !rest.is_empty() {
            let written = poll_fn(|cx| Pin::new(&mut stream).poll_write(cx, rest)).await?;
            rest = &rest[written..];
        }
    }
}

async fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connect = spawn(TcpStream::connect(address));
    let (accepted, from) = soon(listener.accept()).await.unwrap();
    let connected = soon(connect).await.unwrap().unwrap();
    assert_eq!(connected.local_addr().unwrap(), from);
    assert_eq!(connected.peer_addr().unwrap(), address);
    (connected, accepted)
}

fn pattern(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|i| (i / 7) as u8 ^ seed).collect()
}

/// A path that nothing else uses.
#[cfg(unix)]
fn socket_path(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("blitz-io-{}-{name}", std::process::id()))
}

#[test]
fn hundreds_of_connections_are_served_at_once() {
    const CONNECTIONS: u8 = 200;
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn(async move {
            let mut echoes = Vec::new();
            for _ in 0..CONNECTIONS {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                echoes.push(spawn(echo(stream)));
            }
            let mut total = 0;
            for echo in echoes {
                total += echo.await.unwrap().unwrap();
            }
            total
        });
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|seed| {
                spawn(async move {
                    let mut stream = TcpStream::connect(address).await.unwrap();
                    for round in 0..10 {
                        let message = pattern(100 * round + 1, seed);
                        stream.write_all(&message).await.unwrap();
                        let mut answer = vec![0; message.len()];
                        stream.read_exact(&mut answer).await.unwrap();
                        assert_eq!(answer, message);
                    }
                    stream.shutdown().await.unwrap();
                    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
                })
            })
            .collect();
        for client in clients {
            soon(client).await.unwrap();
        }
        let total = soon(server).await.unwrap();
        assert_eq!(total, usize::from(CONNECTIONS) * (100 * 45 + 10));
    });
}

#[test]
fn more_than_the_buffers_hold_goes_through_in_order() {
    run(|| async {
        let (client, server) = tcp_pair().await;
        let server = spawn(echo(server));
        let (mut read, mut write) = client.into_split();
        let writer = spawn(async move {
            write.write_all(&pattern(8 << 20, 3)).await.unwrap();
            write.shutdown().await.unwrap();
            write
        });
        let mut answer = Vec::new();
        soon(read.read_to_end(&mut answer)).await.unwrap();
        assert!(answer == pattern(8 << 20, 3));
        assert_eq!(server.await.unwrap().unwrap(), 8 << 20);
        let write = writer.await.unwrap();
        let client = read.reunite(write).unwrap();
        assert!(client.local_addr().is_ok());
    });
}

#[test]
fn a_slow_reader_holds_up_its_writer_and_nobody_else() {
    run(|| async {
        let (mut slow_writer, mut slow_reader) = tcp_pair().await;
        let stuck = spawn(async move {
            slow_writer.write_all(&pattern(16 << 20, 1)).await.unwrap();
        });
        let (mut client, server) = tcp_pair().await;
        spawn(echo(server));
        for round in 0..50 {
            let message = pattern(300, round);
            soon(client.write_all(&message)).await.unwrap();
            let mut answer = vec![0; 300];
            soon(client.read_exact(&mut answer)).await.unwrap();
            assert_eq!(answer, message);
        }
        assert!(!stuck.is_finished());
        let mut received = Vec::new();
        soon(slow_reader.read_to_end(&mut received)).await.unwrap();
        assert!(received == pattern(16 << 20, 1));
        soon(stuck).await.unwrap();
    });
}

#[test]
fn a_half_closed_peer_still_gets_its_answer() {
    run(|| async {
        let (mut client, mut server) = tcp_pair().await;
        client.write_all(b"question").await.unwrap();
        client.shutdown().await.unwrap();
        let mut question = String::new();
        soon(server.read_to_string(&mut question)).await.unwrap();
        assert_eq!(question, "question");
        // The end stays the end.
        assert_eq!(soon(server.read(&mut [0; 8])).await.unwrap(), 0);
        sleep(Duration::from_millis(10)).await;
        server.write_all(b"answer").await.unwrap();
        drop(server);
        let mut answer = Vec::new();
        soon(client.read_to_end(&mut answer)).await.unwrap();
        assert_eq!(answer, b"answer");
    });
}

#[test]
fn a_reset_is_an_error_for_that_connection_only() {
    run(|| async {
        let (mut client, server) = tcp_pair().await;
        let (mut other, other_server) = tcp_pair().await;
        spawn(echo(other_server));
        let reader = spawn(async move { client.read(&mut [0; 8]).await.map_err(|e| e.kind()) });
        sleep(Duration::from_millis(5)).await;
        server.set_zero_linger().unwrap();
        drop(server);
        let result = soon(reader).await.unwrap();
        assert_eq!(result, Err(ErrorKind::ConnectionReset));
        other.write_all(b"still here").await.unwrap();
        let mut answer = [0; 10];
        soon(other.read_exact(&mut answer)).await.unwrap();
        assert_eq!(&answer, b"still here");
    });
}

#[test]
fn writing_to_a_peer_that_is_gone_fails_after_a_while() {
    run(|| async {
        let (mut client, server) = tcp_pair().await;
        drop(server);
        let error = soon(async {
            loop {
                if let Err(error) = client.write_all(&[0; 1000]).await {
                    return error;
                }
                sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
        assert!(matches!(
            error.kind(),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
        ));
    });
}

#[test]
fn nobody_listens_and_nobody_is_called_that() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let error = soon(TcpStream::connect(address)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = TcpStream::connect("no port here").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let nobody: [std::net::SocketAddr; 0] = [];
        let error = TcpListener::bind(&nobody[..]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let error = TcpListener::bind(taken.local_addr().unwrap())
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
    });
}

#[test]
fn bug_35_names_are_looked_up_without_blocking_the_workers() {
    let one_of_each = || {
        let mut builder = blitz_io::Builder::new_multi_thread();
        let builder = builder.worker_threads(1).max_blocking_threads(1);
        builder.build().unwrap()
    };
    common::run_on(one_of_each, || async {
        let (go, may_go) = std::sync::mpsc::channel::<()>();
        let first = blitz_io::spawn_blocking(move || may_go.recv());
        // It waits for the thread that is there for that, and not in place of the worker.
        let look_up = spawn(blitz_io::net::lookup_host("localhost:80"));
        soon(async {
            while blitz_io::Handle::current()
                .metrics()
                .snapshot()
                .blocking_queued
                == 0
            {
                blitz_io::task::yield_now().await;
            }
        })
        .await;
        assert!(!look_up.is_finished());
        assert_eq!(soon(spawn(async { 1 })).await.unwrap(), 1);
        go.send(()).unwrap();
        soon(first).await.unwrap().unwrap();
        let addresses: Vec<_> = soon(look_up).await.unwrap().unwrap().collect();
        assert!(!addresses.is_empty());
        assert!(addresses.iter().all(|address| address.ip().is_loopback()));
        let listener = TcpListener::bind(("localhost", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = spawn(TcpStream::connect(("localhost".to_owned(), port)));
        soon(listener.accept()).await.unwrap();
        soon(client).await.unwrap().unwrap();
    });
}

#[test]
fn several_tasks_accept_from_one_listener_and_a_cancelled_one_loses_nothing() {
    run(|| async {
        let listener = std::sync::Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = listener.local_addr().unwrap();
        let acceptors: Vec<_> = (0..4)
            .map(|_| {
                let listener = listener.clone();
                spawn(async move {
                    let mut accepted = 0;
                    while let Ok(stream) =
                        timeout(Duration::from_millis(300), listener.accept()).await
                    {
                        stream.unwrap();
                        accepted += 1;
                    }
                    accepted
                })
            })
            .collect();
        let mut streams = Vec::new();
        let mut accepted = 0;
        for _ in 0..100 {
            streams.push(soon(TcpStream::connect(address)).await.unwrap());
            // Woken with the others, and as likely as not cancelled before it looks.
            let hasty = timeout(Duration::from_micros(50), listener.accept()).await;
            accepted += usize::from(hasty.is_ok());
        }
        for acceptor in acceptors {
            accepted += soon(acceptor).await.unwrap();
        }
        assert_eq!(accepted, 100);
    });
}

#[test]
fn peeking_takes_nothing() {
    run(|| async {
        let (mut client, mut server) = tcp_pair().await;
        client.write_all(b"once").await.unwrap();
        for _ in 0..3 {
            let mut buffer = [0; 8];
            assert_eq!(soon(server.peek(&mut buffer)).await.unwrap(), 4);
            assert_eq!(&buffer[..4], b"once");
        }
        let mut buffer = [0; 4];
        soon(server.read_exact(&mut buffer)).await.unwrap();
        assert_eq!(&buffer, b"once");
    });
}

#[test]
fn vectored_reads_and_writes_use_all_their_buffers() {
    run(|| async {
        let (mut client, server) = tcp_pair().await;
        let sent = [
            IoSlice::new(b"one "),
            IoSlice::new(b"two "),
            IoSlice::new(b"three"),
        ];
        assert_eq!(client.write_vectored(&sent).await.unwrap(), 13);
        let (mut first, mut second) = ([0; 6], [0; 20]);
        let mut buffers = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
        soon(server.readable()).await.unwrap();
        assert_eq!(server.try_read_vectored(&mut buffers).unwrap(), 13);
        assert_eq!((&first, &second[..7]), (b"one tw", &b"o three"[..]));

        let sent = [IoSlice::new(b"x"), IoSlice::new(b"yz")];
        assert_eq!(server.try_write_vectored(&sent).unwrap(), 3);
        client.readable().await.unwrap();
        let mut buffers = [
            IoSliceMut::new(&mut first[..1]),
            IoSliceMut::new(&mut second),
        ];
        assert_eq!(client.try_read_vectored(&mut buffers).unwrap(), 3);
    });
}

/// Moves a byte per buffer, more of them than a system takes in one call, until all have been moved: some are left out each time, which
/// says nothing about what the connection has or has room for.
async fn move_bytes_one_by_one(
    mut here: impl AsyncWrite + Unpin,
    mut there: impl AsyncRead + Unpin,
) {
    const MANY: usize = 5000;
    let sent: Vec<u8> = (0..MANY).map(|n| n as u8).collect();
    let slices: Vec<_> = sent.chunks(1).map(IoSlice::new).collect();
    let mut written = 0;
    while written < MANY {
        let rest = &slices[written..];
        written += soon(here.write_vectored(rest)).await.unwrap();
    }
    let mut bytes = vec![0; MANY];
    let mut read = 0;
    while read < MANY {
        read += soon(there.read(&mut bytes[read..])).await.unwrap();
    }
    assert_eq!(bytes, sent);
}

#[test]
fn more_buffers_than_the_system_takes_at_once_are_no_reason_to_wait() {
    run(|| async {
        let (client, server) = tcp_pair().await;
        move_bytes_one_by_one(client, server).await;
        #[cfg(unix)]
        {
            let (here, there) = UnixStream::pair().unwrap();
            move_bytes_one_by_one(here, there).await;
            let mut cat = blitz_io::process::Command::new("cat");
            let piped = std::process::Stdio::piped;
            let mut cat = cat.stdin(piped()).stdout(piped()).spawn().unwrap();
            let (stdin, stdout) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
            move_bytes_one_by_one(stdin, stdout).await;
        }
    });
}

#[test]
fn readiness_is_told_and_trying_does_not_wait() {
    run(|| async {
        let (client, server) = tcp_pair().await;
        client.writable().await.unwrap();
        assert!(
            client
                .ready(Interest::WRITABLE)
                .await
                .unwrap()
                .is_writable()
        );
        let would_block = server.try_read(&mut [0; 8]).unwrap_err();
        assert_eq!(would_block.kind(), ErrorKind::WouldBlock);
        // An event that comes late may tell so all the same; whoever tries finds out.
        let none = async {
            loop {
                server.readable().await.unwrap();
                let would_block = server.try_read(&mut [0; 8]).unwrap_err();
                assert_eq!(would_block.kind(), ErrorKind::WouldBlock);
            }
        };
        let none = timeout(Duration::from_millis(5), none).await;
        assert!(none.is_err(), "there is nothing to read");

        assert_eq!(client.try_write(b"hello").unwrap(), 5);
        let both = Interest::READABLE | Interest::WRITABLE;
        soon(async { while !server.ready(both).await.unwrap().is_readable() {} }).await;
        let mut buffer = [0; 8];
        let read =
            || socket2::SockRef::from(&server).peek(&mut [std::mem::MaybeUninit::uninit(); 8]);
        assert_eq!(server.try_io(Interest::READABLE, read).unwrap(), 5);
        assert_eq!(server.try_read(&mut buffer).unwrap(), 5);
        drop(client);
        let ready = soon(async {
            loop {
                let ready = server.ready(Interest::READABLE).await.unwrap();
                if ready.is_read_closed() {
                    return ready;
                }
                let _ = server.try_read(&mut [0; 8]);
            }
        });
        assert!(ready.await.is_readable());
    });
}

#[test]
fn filling_up_a_connection_and_waiting_for_room() {
    run(|| async {
        let (client, mut server) = tcp_pair().await;
        let mut sent = 0;
        let full = loop {
            client.writable().await.unwrap();
            match client.try_write(&[7; 64 << 10]) {
                Ok(length) => sent += length,
                Err(error) => break error.kind(),
            }
        };
        assert_eq!(full, ErrorKind::WouldBlock);
        let room = timeout(Duration::from_millis(5), client.writable()).await;
        assert!(room.is_err());
        let mut received = vec![0; sent];
        soon(server.read_exact(&mut received)).await.unwrap();
        assert!(received.iter().all(|&byte| byte == 7));
        soon(client.writable()).await.unwrap();
    });
}

#[test]
fn options_are_set_and_a_socket_goes_to_the_standard_library_and_back() {
    run(|| async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        assert!(socket.reuseaddr().unwrap());
        socket.set_recv_buffer_size(32 << 10).unwrap();
        assert!(socket.recv_buffer_size().unwrap() >= 32 << 10);
        socket.set_keepalive(true).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(16).unwrap();
        let address = listener.local_addr().unwrap();
        let connect = spawn(TcpSocket::new_v4().unwrap().connect(address));
        let (mut server, _) = soon(listener.accept()).await.unwrap();
        let client = soon(connect).await.unwrap().unwrap();
        client.set_nodelay(true).unwrap();
        assert!(client.nodelay().unwrap());
        client.set_ttl(33).unwrap();
        assert_eq!(client.ttl().unwrap(), 33);
        client.set_zero_linger().unwrap();
        assert_eq!(client.linger().unwrap(), Some(Duration::ZERO));
        assert!(client.take_error().unwrap().is_none());

        let client = client.into_std().unwrap();
        let mut client = TcpStream::from_std(client).unwrap();
        client.write_all(b"back").await.unwrap();
        let mut buffer = [0; 4];
        soon(server.read_exact(&mut buffer)).await.unwrap();
        assert_eq!(&buffer, b"back");
    });
}

#[test]
fn where_a_listener_has_been_closed_connections_are_refused() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connect = spawn(TcpSocket::new_v4().unwrap().connect(address));
        let _server = soon(listener.accept()).await.unwrap();
        let _client = soon(connect).await.unwrap().unwrap();
        drop(listener);
        let refused = TcpSocket::new_v4().unwrap();
        let error = soon(refused.connect(address)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn halves_of_different_streams_are_not_put_together() {
    run(|| async {
        let (left, right) = tcp_pair().await;
        let (left_read, left_write) = left.into_split();
        let (right_read, mut right_write) = right.into_split();
        let error = left_read.reunite(right_write).unwrap_err();
        assert!(
            error.to_string().contains("not from the same socket"),
            "{error}"
        );
        right_write = error.1;
        // Dropping the half that writes tells the peer that this was all; forgetting it does not.
        let mut left_read = error.0;
        right_write.write_all(b"bye").await.unwrap();
        drop(right_write);
        let mut bytes = Vec::new();
        soon(left_read.read_to_end(&mut bytes)).await.unwrap();
        assert_eq!(bytes, b"bye");
        left_write.forget();
        let mut right_read = right_read;
        let end = timeout(Duration::from_millis(10), right_read.read(&mut [0; 8])).await;
        assert!(end.is_err());
    });
}

#[test]
fn borrowed_halves_read_and_write_at_once() {
    run(|| async {
        let (mut client, server) = tcp_pair().await;
        spawn(echo(server));
        let (mut read, mut write) = client.split();
        let sent = pattern(2 << 20, 9);
        let mut received = vec![0; sent.len()];
        let both = async {
            let mut writing = std::pin::pin!(write.write_all(&sent));
            let mut reading = std::pin::pin!(read.read_exact(&mut received));
            let (mut wrote, mut done) = (false, false);
            poll_fn(|cx| {
                wrote = wrote || writing.as_mut().poll(cx).is_ready();
                done = done || reading.as_mut().poll(cx).is_ready();
                if wrote && done {
                    std::task::Poll::Ready(())
                } else {
                    std::task::Poll::Pending
                }
            })
            .await;
        };
        soon(both).await;
        assert!(received == sent);
    });
}

#[cfg(unix)]
#[test]
fn unix_streams_echo_and_know_their_peer() {
    run(|| async {
        let path = socket_path("echo");
        let listener = UnixListener::bind(&path).unwrap();
        let server = spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            echo(stream).await.unwrap()
        });
        let mut client = soon(UnixStream::connect(&path)).await.unwrap();
        let peer = client.peer_cred().unwrap();
        assert_eq!(peer.pid(), Some(std::process::id() as i32));
        for round in 0..20 {
            let message = pattern(1000, round);
            client.write_all(&message).await.unwrap();
            let mut answer = vec![0; 1000];
            soon(client.read_exact(&mut answer)).await.unwrap();
            assert_eq!(answer, message);
        }
        let (read, write) = client.into_split();
        drop(write);
        assert_eq!(soon(server).await.unwrap(), 20_000);
        drop(read);
        std::fs::remove_file(&path).unwrap();
        let error = soon(UnixStream::connect(&path)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}

#[cfg(unix)]
#[test]
fn bug_35_a_unix_listener_does_not_remove_what_is_in_its_place() {
    run(|| async {
        let path = socket_path("taken");
        std::fs::write(&path, "precious").unwrap();
        let error = UnixListener::bind(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        std::fs::remove_file(&path).unwrap();
    });
}

#[cfg(unix)]
#[test]
fn bug_33_a_read_that_has_to_wait_is_woken_on_every_kind_of_runtime() {
    for workers in [0, 1, 2, 4] {
        let runtime = move || match workers {
            0 => blitz_io::Builder::new_current_thread().build().unwrap(),
            workers => common::runtime(workers),
        };
        common::run_on(runtime, || async {
            let (mut left, mut right) = UnixStream::pair().unwrap();
            let reader = spawn(async move {
                let mut buffer = [0; 2];
                right.read_exact(&mut buffer).await.unwrap();
                buffer
            });
            sleep(Duration::from_millis(5)).await;
            left.write_all(b"o").await.unwrap();
            sleep(Duration::from_millis(5)).await;
            left.write_all(b"k").await.unwrap();
            assert_eq!(&soon(reader).await.unwrap(), b"ok");
        });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_connection_to_a_listener_with_a_full_queue_waits() {
    use std::os::fd::AsRawFd;
    run(|| async {
        let path =
            std::env::temp_dir().join(format!("blitz-io-{}-full.socket", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        // SAFETY: takes two numbers. The socket listens already, and has room for one connection from now on.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
        let mut connected = Vec::new();
        let waiting = loop {
            assert!(connected.len() < 10_000, "the queue does not fill");
            let mut connecting = Box::pin(UnixStream::connect(path.clone()));
            match timeout(Duration::from_millis(100), connecting.as_mut()).await {
                Ok(stream) => connected.push(stream.unwrap()),
                Err(_) => break connecting,
            }
        };
        let waiting = spawn(waiting);
        for _ in 0..=connected.len() {
            soon(listener.accept()).await.unwrap();
        }
        soon(waiting).await.unwrap().unwrap();
        std::fs::remove_file(&path).unwrap();
    });
}

#[test]
fn an_accepted_stream_is_tried_before_there_has_been_an_event_for_it() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = std::net::TcpStream::connect(address).unwrap();
        std::io::Write::write_all(&mut client, b"sent").unwrap();
        let (server, _) = soon(listener.accept()).await.unwrap();
        let mut buffer = [0; 8];
        assert_eq!(server.try_read(&mut buffer).unwrap(), 4);
        assert_eq!(server.try_write(b"answer").unwrap(), 6);
        let error = server.try_read(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        std::io::Write::write_all(&mut client, b"more").unwrap();
        soon(server.readable()).await.unwrap();
        assert_eq!(server.try_read(&mut buffer).unwrap(), 4);
    });
}
