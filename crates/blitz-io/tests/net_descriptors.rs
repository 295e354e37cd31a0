//! Pipes, and descriptors of other kinds.

#![cfg(unix)]

mod common;

use blitz_io::io::unix::AsyncFd;
use blitz_io::io::{AsyncReadExt, AsyncWriteExt, Interest, Ready};
use blitz_io::net::UnixSocket;
use blitz_io::net::unix::pipe;
#[cfg(target_os = "linux")]
use blitz_io::net::{UnixListener, UnixStream};
use blitz_io::spawn;
use common::{run, soon};
use std::io::{ErrorKind, Read, Write};
use std::pin::pin;
use std::task::{Context, Waker};

/// The two ends of a stream of the standard library, the second of which is registered.
fn registered() -> (
    std::os::unix::net::UnixStream,
    AsyncFd<std::os::unix::net::UnixStream>,
) {
    let (here, there) = std::os::unix::net::UnixStream::pair().unwrap();
    there.set_nonblocking(true).unwrap();
    // SAFETY: the descriptor is the stream's own, and stays open as long as that is there.
    (here, unsafe { AsyncFd::register(there) }.unwrap())
}

#[test]
fn a_descriptor_is_ready_until_somebody_says_that_it_is_not() {
    run(|| async {
        let (mut here, there) = registered();
        here.write_all(b"one").unwrap();
        let mut guard = soon(there.readable()).await.unwrap();
        assert!(guard.ready().is_readable());
        let mut buffer = [0; 8];
        let read = guard.try_io(|there| there.get_ref().read(&mut buffer));
        assert_eq!(read.unwrap().unwrap(), 3);
        // It is empty, which nobody has noticed yet.
        let mut guard = soon(there.readable()).await.unwrap();
        assert!(
            guard
                .try_io(|there| there.get_ref().read(&mut buffer))
                .is_err()
        );
        assert_eq!(guard.ready(), Ready::EMPTY);
        let mut readable = pin!(there.readable());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Future::poll(readable.as_mut(), &mut cx).is_pending());
        here.write_all(b"two").unwrap();
        soon(readable).await.unwrap().retain_ready();
        let read = there.async_io(Interest::READABLE, |mut there| there.read(&mut buffer));
        assert_eq!(soon(read).await.unwrap(), 3);
        assert_eq!(&buffer[..3], b"two");
    });
}

#[test]
fn a_clearance_that_comes_after_an_event_clears_nothing() {
    run(|| async {
        let (mut here, there) = registered();
        let mut writable = soon(there.writable()).await.unwrap();
        assert!(writable.ready().is_writable());
        here.write_all(b"x").unwrap();
        // The event of the byte is here now: what was known before it must not take it away.
        drop(soon(there.readable()).await.unwrap());
        writable.clear_ready();
        soon(there.writable()).await.unwrap().retain_ready();
        // That the peer is gone stays true whatever is cleared.
        drop(here);
        let mut guard = soon(there.ready(Interest::READABLE)).await.unwrap();
        while !guard.ready().is_read_closed() {
            guard.clear_ready();
            guard = soon(there.ready(Interest::READABLE)).await.unwrap();
        }
        guard.clear_ready();
        assert!(
            soon(there.readable())
                .await
                .unwrap()
                .ready()
                .is_read_closed()
        );
    });
}

#[test]
fn what_the_kernel_cannot_wait_for_is_given_back() {
    run(|| async {
        let path = std::env::temp_dir().join(format!("blitz-io-fd-{}", std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        // SAFETY: the descriptor is the file's own.
        let error = unsafe { AsyncFd::register(file) }.unwrap_err();
        let (mut file, cause) = error.into_parts();
        assert_eq!(cause.kind(), ErrorKind::PermissionDenied);
        file.write_all(b"still open").unwrap();
    });
}

#[test]
fn a_pipe_carries_bytes_and_ends_with_its_sender() {
    run(|| async {
        let (mut sender, mut receiver) = pipe::pipe().unwrap();
        assert_eq!(
            receiver.try_read(&mut [0; 8]).unwrap_err().kind(),
            ErrorKind::WouldBlock
        );
        let reading = spawn(async move {
            let mut bytes = Vec::new();
            receiver.read_to_end(&mut bytes).await.unwrap();
            bytes
        });
        let sent = vec![5; 1 << 18];
        soon(sender.write_all(&sent)).await.unwrap();
        drop(sender);
        assert_eq!(soon(reading).await.unwrap(), sent);
        let (sender, receiver) = pipe::pipe().unwrap();
        drop(receiver);
        soon(sender.writable()).await.unwrap();
        assert_eq!(
            sender.try_write(b"!").unwrap_err().kind(),
            ErrorKind::BrokenPipe
        );
    });
}

#[test]
fn only_the_right_end_of_a_pipe_is_taken_for_one() {
    run(|| async {
        let (sender, receiver) = pipe::pipe().unwrap();
        let wrong = pipe::Receiver::from_owned_fd(sender.into_blocking_fd().unwrap());
        assert_eq!(wrong.unwrap_err().kind(), ErrorKind::InvalidInput);
        let right = receiver.into_blocking_fd().unwrap();
        assert!(pipe::Receiver::from_owned_fd(right).is_ok());
        let file = std::fs::File::open("/dev/null").unwrap();
        let error = pipe::Receiver::from_file(file).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn a_unix_socket_becomes_what_it_was_made_for() {
    run(|| async {
        let path = std::env::temp_dir().join(format!("blitz-io-us-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let socket = UnixSocket::new_stream().unwrap();
        socket.bind(&path).unwrap();
        let listener = socket.listen(8).unwrap();
        assert_eq!(
            listener.local_addr().unwrap().as_pathname(),
            Some(path.as_path())
        );
        let connect = UnixSocket::new_stream().unwrap().connect(&path);
        let mut client = soon(connect).await.unwrap();
        let (mut server, _) = soon(listener.accept()).await.unwrap();
        client.write_all(b"hello").await.unwrap();
        let mut buffer = [0; 5];
        soon(server.read_exact(&mut buffer)).await.unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(UnixSocket::new_datagram().unwrap().listen(8).is_err());
        assert!(UnixSocket::new_stream().unwrap().datagram().is_err());
        assert!(UnixSocket::new_datagram().unwrap().datagram().is_ok());
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_begins_with_a_zero_byte_is_an_abstract_name() {
    run(|| async {
        let name = format!("\0blitz-io-abstract-{}", std::process::id());
        let listener = UnixListener::bind(&name).unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(address.as_abstract_name(), Some(&name.as_bytes()[1..]));
        let mut client = soon(UnixStream::connect(&name)).await.unwrap();
        let (mut server, _) = soon(listener.accept()).await.unwrap();
        client.write_all(b"x").await.unwrap();
        assert_eq!(soon(server.read_u8()).await.unwrap(), b'x');
    });
}
