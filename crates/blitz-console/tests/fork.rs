//! What children of the process have of the page: nothing.
//!
//! One test: no other one may start threads while it forks.
#![cfg(unix)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A child of a bare `fork`, which lives until this is dropped.
struct Forked(libc::pid_t);

impl Forked {
    fn new() -> Self {
        // SAFETY: the child calls nothing but what may be called there.
        unsafe {
            let child = libc::fork();
            assert!(child >= 0, "{}", std::io::Error::last_os_error());
            if child == 0 {
                libc::alarm(60);
                loop {
                    libc::pause();
                }
            }
            Forked(child)
        }
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        // SAFETY: it is our child, and has not been waited for.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

/// A program that lives until its input ends.
fn program() -> Child {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.spawn().unwrap()
}

/// Somebody to whom the page is shown.
fn looks(page: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(page).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    stream
        .write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    assert!(stream.read(&mut [0; 100]).unwrap() > 0);
    stream
}

#[test]
fn a_child_does_not_keep_the_port_of_its_parents_page() {
    for _ in 0..3 {
        let page = blitz_console::serve("127.0.0.1:0").unwrap();
        let address = page.local_addr();
        let mut looks = looks(address);
        let (_forked, mut program) = (Forked::new(), program());
        // It goes on here.
        let mut another = TcpStream::connect(address).unwrap();
        another
            .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        another.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        page.stop();
        // To the end, which there is not while anybody has the connection.
        looks.read_to_end(&mut Vec::new()).unwrap();
        let start = Instant::now();
        while let Err(error) = blitz_console::serve(address).map(blitz_console::Serving::stop) {
            assert!(start.elapsed() < Duration::from_secs(10), "{error}");
            std::thread::sleep(Duration::from_millis(10));
        }
        let start = Instant::now();
        while let Err(error) = TcpListener::bind(address) {
            assert!(start.elapsed() < Duration::from_secs(10), "{error}");
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(program.stdin.take());
        assert!(program.wait().unwrap().success());
    }
}
