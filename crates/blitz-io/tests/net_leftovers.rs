//! What a socket has left after it gave less than it was asked for: nobody may wait for an event that tells of it, since there will be none.

#![cfg(target_os = "linux")]

mod common;

use blitz_io::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use blitz_io::net::{TcpListener, TcpStream, UnixDatagram, UnixStream};
use blitz_io::process::ChildStdout;
use blitz_io::spawn;
use blitz_io::time::{Duration, Instant, sleep};
use common::{run, soon};
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Sends bytes with a descriptor attached.
fn send_with_descriptor(socket: &UnixStream, bytes: &[u8]) {
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut control = [0u64; 8];
    // SAFETY: all zero is a message without anything.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    let size = size_of::<libc::c_int>() as u32;
    // SAFETY: the control buffer has room for one descriptor, and lives during the call, as do the bytes.
    let sent = unsafe {
        message.msg_controllen = libc::CMSG_SPACE(size) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size) as _;
        libc::CMSG_DATA(header)
            .cast::<libc::c_int>()
            .write_unaligned(socket.as_raw_fd());
        libc::sendmsg(socket.as_raw_fd(), &raw const message, 0)
    };
    assert_eq!(sent, bytes.len() as isize);
}

/// Both messages arrive, in as many reads as it takes.
async fn reads_both(there: &mut (impl AsyncRead + Unpin)) {
    let mut buffer = [0; 64];
    let mut got = Vec::new();
    while got.len() < 6 {
        let length = soon(there.read(&mut buffer)).await.unwrap();
        got.extend_from_slice(&buffer[..length]);
    }
    assert_eq!(got, b"onetwo");
}

#[test]
fn a_unix_stream_gives_what_comes_after_a_descriptor_too() {
    run(|| async {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        for _ in 0..3 {
            // The kernel ends a read behind a message with descriptors, however much there is after it.
            send_with_descriptor(&here, b"one");
            here.write_all(b"two").await.unwrap();
            reads_both(&mut there).await;
        }
    });
}

#[test]
fn a_pipe_gives_one_packet_after_the_other() {
    run(|| async {
        let mut ends = [0; 2];
        // SAFETY: a valid place for two descriptors.
        let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_DIRECT | libc::O_CLOEXEC) };
        assert_eq!(made, 0);
        // SAFETY: just made, and nobody else's.
        let [output, input] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
        let mut input = std::fs::File::from(input);
        let mut output = ChildStdout::from_std(output.into()).unwrap();
        for _ in 0..3 {
            input.write_all(b"one").unwrap();
            input.write_all(b"two").unwrap();
            let mut buffer = [0; 64];
            for packet in [b"one", b"two"] {
                let length = soon(output.read(&mut buffer)).await.unwrap();
                assert_eq!(&buffer[..length], packet);
            }
        }
    });
}

#[test]
fn a_tcp_stream_gives_what_comes_after_urgent_data_too() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut here = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        here.set_nodelay(true).unwrap();
        let (mut there, _) = listener.accept().await.unwrap();
        for _ in 0..3 {
            here.write_all(b"one").await.unwrap();
            // SAFETY: the descriptor is open, and so is the byte.
            let sent = unsafe {
                libc::send(
                    here.as_raw_fd(),
                    b"!".as_ptr().cast(),
                    1,
                    libc::MSG_OOB | libc::MSG_NOSIGNAL,
                )
            };
            assert_eq!(sent, 1);
            here.write_all(b"two").await.unwrap();
            // All of it is there before the first read. The kernel ends that before the urgent byte.
            sleep(Duration::from_millis(50)).await;
            reads_both(&mut there).await;
        }
    });
}

#[test]
fn a_unix_datagram_is_sent_when_there_is_room_again_although_others_had_filled_it() {
    run(|| async {
        let path = std::env::temp_dir().join(format!("blitz-io-full-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let receiver = UnixDatagram::bind(&path).unwrap();
        let flood = UnixDatagram::unbound().unwrap();
        let mut queued = 0;
        flood.writable().await.unwrap();
        while flood.try_send_to(b"flood", &path).is_ok() {
            queued += 1;
        }
        assert!(queued > 0);
        let sender = UnixDatagram::unbound().unwrap();
        let to = path.clone();
        let sent = spawn(async move { sender.send_to(b"late", &to).await });
        // It has found the queue full, and asks again now and then. Not all the time.
        let polls = || -> u64 {
            let metrics = blitz_io::Handle::current().metrics().snapshot();
            metrics.workers.iter().map(|worker| worker.polled).sum()
        };
        sleep(Duration::from_millis(50)).await;
        let (start, before) = (Instant::now(), polls());
        sleep(Duration::from_millis(100)).await;
        let most = 20 + start.elapsed().as_millis() as u64;
        let polled = polls() - before;
        assert!(polled <= most, "{polled} polls while there was no room");
        let mut buffer = [0; 64];
        for _ in 0..queued {
            assert_eq!(soon(receiver.recv(&mut buffer)).await.unwrap(), 5);
        }
        assert_eq!(soon(receiver.recv(&mut buffer)).await.unwrap(), 4);
        assert_eq!(soon(sent).await.unwrap().unwrap(), 4);
        std::fs::remove_file(&path).unwrap();
    });
}
