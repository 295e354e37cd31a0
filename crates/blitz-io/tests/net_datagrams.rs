//! UDP and Unix datagrams.

mod common;

use blitz_io::net::UdpSocket;
#[cfg(unix)]
use blitz_io::net::UnixDatagram;
use blitz_io::spawn;
use blitz_io::time::{Duration, timeout};
use common::{run, soon};
use std::io::ErrorKind;
use std::sync::Arc;

#[test]
fn udp_echo() {
    run(|| async {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = server.local_addr().unwrap();
        spawn(async move {
            let mut buffer = [0; 2000];
            loop {
                let (length, from) = server.recv_from(&mut buffer).await.unwrap();
                server.send_to(&buffer[..length], from).await.unwrap();
            }
        });
        let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        for round in 0..50 {
            let message = vec![round; 20 * usize::from(round)];
            soon(client.send_to(&message, address)).await.unwrap();
            let mut buffer = [0; 2000];
            let (peeked, from) = soon(client.peek_from(&mut buffer)).await.unwrap();
            assert_eq!((peeked, from), (message.len(), address));
            let (length, from) = soon(client.recv_from(&mut buffer)).await.unwrap();
            assert_eq!(from, address);
            assert_eq!(buffer[..length], message);
        }
        client.connect(address).await.unwrap();
        assert_eq!(client.peer_addr().unwrap(), address);
        client.send(b"connected").await.unwrap();
        let mut buffer = [0; 16];
        assert_eq!(soon(client.peek(&mut buffer)).await.unwrap(), 9);
        assert_eq!(soon(client.recv(&mut buffer)).await.unwrap(), 9);
        let none = client.try_recv_from(&mut buffer).unwrap_err();
        assert_eq!(none.kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn bug_34_several_tasks_receive_from_one_socket() {
    const TASKS: usize = 5;
    run(|| async {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let address = socket.local_addr().unwrap();
        let receivers: Vec<_> = (0..TASKS)
            .map(|_| {
                let socket = socket.clone();
                spawn(async move {
                    let mut buffer = [0; 8];
                    socket.recv(&mut buffer).await.unwrap()
                })
            })
            .collect();
        // All of them wait.
        blitz_io::time::sleep(Duration::from_millis(20)).await;
        let sender = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        for _ in 0..TASKS {
            sender.send_to(b"x", address).await.unwrap();
        }
        for receiver in receivers {
            assert_eq!(soon(receiver).await.unwrap(), 1);
        }
        let none = timeout(Duration::from_millis(5), socket.recv(&mut [0; 8])).await;
        assert!(none.is_err());
    });
}

#[test]
fn a_datagram_that_nobody_wants_is_an_error_and_not_the_end() {
    run(|| async {
        let gone = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = gone.local_addr().unwrap();
        drop(gone);
        let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        client.connect(address).await.unwrap();
        client.send(b"anybody?").await.unwrap();
        // The answer to the first arrives as an error that has no data with it.
        let error = soon(client.recv(&mut [0; 8])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let none = timeout(Duration::from_millis(5), client.recv(&mut [0; 8])).await;
        assert!(none.is_err(), "the error was told once");
        let back = UdpSocket::bind(address).await.unwrap();
        client.send(b"again").await.unwrap();
        assert_eq!(soon(back.recv(&mut [0; 8])).await.unwrap(), 5);
    });
}

#[test]
fn options_of_udp_sockets() {
    run(|| async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.set_broadcast(true).unwrap();
        assert!(socket.broadcast().unwrap());
        socket.set_ttl(7).unwrap();
        assert_eq!(socket.ttl().unwrap(), 7);
        socket.set_multicast_loop_v4(false).unwrap();
        assert!(!socket.multicast_loop_v4().unwrap());
        assert!(socket.take_error().unwrap().is_none());
        let again = UdpSocket::from_std(socket.into_std().unwrap()).unwrap();
        assert!(again.broadcast().unwrap());
    });
}

#[cfg(unix)]
#[test]
fn unix_datagrams_by_pair_and_by_path() {
    run(|| async {
        let (here, there) = UnixDatagram::pair().unwrap();
        for round in 0..20u8 {
            here.send(&[round; 30]).await.unwrap();
            let mut buffer = [0; 64];
            assert_eq!(soon(there.recv(&mut buffer)).await.unwrap(), 30);
            assert_eq!(buffer[..30], [round; 30]);
        }
        let name = format!("blitz-io-{}-datagram", std::process::id());
        let path = std::env::temp_dir().join(name);
        let server = UnixDatagram::bind(&path).unwrap();
        let client = UnixDatagram::unbound().unwrap();
        client.send_to(b"by path", &path).await.unwrap();
        client.connect(&path).unwrap();
        let mut buffer = [0; 16];
        let (length, from) = soon(server.recv_from(&mut buffer)).await.unwrap();
        assert_eq!(&buffer[..length], b"by path");
        assert!(from.is_unnamed());
        // A full queue makes the sender wait, not fail.
        let sender = spawn(async move {
            for round in 0..2000u32 {
                client.send(&round.to_le_bytes()).await.unwrap();
            }
        });
        for round in 0..2000u32 {
            let length = soon(server.recv(&mut buffer)).await.unwrap();
            assert_eq!(buffer[..length], round.to_le_bytes());
        }
        soon(sender).await.unwrap();
        std::fs::remove_file(&path).unwrap();
    });
}
