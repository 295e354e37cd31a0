//! The load generator: one thread, many connections, the next request as soon as the last is answered.
//!
//! It uses `mio` and nothing of the runtimes under test. Every answer is checked.

use super::Service;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

/// What it writes when it begins to count.
pub const WARM: &str = "warm";
const WARM_UP: Duration = Duration::from_millis(300);
/// Bytes of an echo.
const ECHO: usize = 64;
#[cfg(feature = "full")]
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// What to do.
pub struct Load {
    pub address: SocketAddr,
    pub service: Service,
    pub connections: usize,
    pub seconds: u64,
}

/// What came of it.
pub struct Answered {
    pub requests: u64,
    pub wall_ns: u64,
    pub p99_ns: u64,
}

impl Answered {
    /// Reads the line that [`Load::run`] writes last.
    pub fn parse(line: &str) -> Option<Self> {
        let mut numbers = line.split(' ').map(|word| word.parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Self {
            requests: next()?,
            wall_ns: next()?,
            p99_ns: next()?,
        })
    }
}

/// One connection.
struct Client {
    stream: TcpStream,
    sent: Instant,
    got: Vec<u8>,
}

impl Client {
    fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.got.clear();
        self.sent = Instant::now();
        // The last request was answered, so the buffer of the socket is empty.
        let written = self.stream.write(request)?;
        check(written == request.len(), "a request was written in part")
    }

    /// Reads what there is; `true` if that completes the answer.
    fn receive(&mut self, service: Service, request: &[u8]) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => {
                    self.got.extend_from_slice(&buffer[..length]);
                    if self.is_complete(service, request)? {
                        return Ok(true);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    fn is_complete(&self, service: Service, request: &[u8]) -> io::Result<bool> {
        match service {
            Service::Echo => {
                check(request.starts_with(&self.got), "not what was sent")?;
                Ok(self.got.len() == request.len())
            }
            #[cfg(feature = "full")]
            Service::Hello => {
                let complete = self.got.ends_with(super::servers::HELLO.as_bytes());
                if complete {
                    check(self.got.starts_with(b"HTTP/1.1 200"), "not the answer")?;
                }
                Ok(complete)
            }
        }
    }
}

fn check(holds: bool, otherwise: &str) -> io::Result<()> {
    if holds {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::InvalidData, otherwise))
}

impl Load {
    /// Connects, warms up, says so, counts, and says what came of it.
    pub fn run(&self, mut say: impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        let request = match self.service {
            Service::Echo => vec![b'x'; ECHO],
            #[cfg(feature = "full")]
            Service::Hello => REQUEST.to_vec(),
        };
        let mut poll = Poll::new()?;
        let mut clients = Vec::with_capacity(self.connections);
        for index in 0..self.connections {
            let stream = std::net::TcpStream::connect(self.address)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut client = Client {
                stream: TcpStream::from_std(stream),
                sent: Instant::now(),
                got: Vec::with_capacity(4096),
            };
            poll.registry()
                .register(&mut client.stream, Token(index), Interest::READABLE)?;
            clients.push(client);
        }
        for client in &mut clients {
            client.send(&request)?;
        }
        let mut events = Events::with_capacity(1024);
        let mut turn = |until: Instant, took: &mut Vec<u32>| -> io::Result<()> {
            while Instant::now() < until {
                match poll.poll(&mut events, Some(Duration::from_millis(100))) {
                    // Somebody has stopped this process for a while, say.
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    result => result?,
                }
                for event in &events {
                    let client = &mut clients[event.token().0];
                    if client.receive(self.service, &request)? {
                        let ns = client.sent.elapsed().as_nanos();
                        took.push(u32::try_from(ns).unwrap_or(u32::MAX));
                        client.send(&request)?;
                    }
                }
            }
            Ok(())
        };
        turn(Instant::now() + WARM_UP, &mut Vec::new())?;
        say(WARM)?;
        let begin = Instant::now();
        let mut took = Vec::with_capacity(1 << 20);
        turn(begin + Duration::from_secs(self.seconds), &mut took)?;
        let wall_ns = begin.elapsed().as_nanos();
        check(took.len() >= self.connections, "hardly any answers")?;
        took.sort_unstable();
        let p99 = took[took.len() * 99 / 100];
        say(&format!("{} {wall_ns} {p99}", took.len()))
    }
}
