//! The load generator: an open loop of requests at random moments, at a given rate, over many connections.
//!
//! Moments come from a Poisson process that does not wait for answers, and a request's latency counts from the moment it was meant
//! to be sent. So a server that stops for ten milliseconds has every request of those ten milliseconds late, not only one
//! per connection. The generator asks for real-time priority, so that it is not what is late; without the right to it, it
//! goes on without.

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 64;
/// How long answers may take at the end.
const GRACE: Duration = Duration::from_secs(2);

/// What a request is, and its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exchange {
    /// 64 bytes, which come back.
    Echo,
    /// An HTTP request, whose answer says how long it is.
    Http,
}

impl Exchange {
    fn request(self) -> &'static [u8] {
        match self {
            Exchange::Echo => &[7; 64],
            Exchange::Http => b"GET /hello/benchmark HTTP/1.1\r\nhost: localhost\r\n\r\n",
        }
    }

    /// How many of the bytes that have come are the first answer, if it is complete.
    fn answer(self, got: &[u8]) -> io::Result<Option<usize>> {
        let length = match self {
            Exchange::Echo => {
                let expected = self.request();
                let here = got.len().min(expected.len());
                if got[..here] != expected[..here] {
                    return Err(io::Error::other("the server sent something else back"));
                }
                expected.len()
            }
            Exchange::Http => match answer_length(got)? {
                Some(length) => length,
                None => return Ok(None),
            },
        };
        Ok((got.len() >= length).then_some(length))
    }
}

/// The length of the HTTP answer that begins here, if its head is complete.
pub fn answer_length(got: &[u8]) -> io::Result<Option<usize>> {
    let Some(end) = got.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(&got[..end]).map_err(io::Error::other)?;
    if !head.starts_with("HTTP/1.1 200") {
        return Err(io::Error::other(format!("the server said: {head}")));
    }
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|(_, length)| length.parse::<usize>().ok());
    let length = length.ok_or_else(|| io::Error::other("an answer without a length"))?;
    Ok(Some(end + 4 + length))
}

/// What to do.
pub struct Load {
    /// Request and answer.
    pub exchange: Exchange,
    /// Where the server is.
    pub address: SocketAddr,
    /// Requests per second.
    pub rate: f64,
    /// For how long.
    pub seconds: f64,
}

/// What came of it, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Latencies {
    /// The median.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
}

impl Latencies {
    /// Reads the line that the generator writes.
    pub fn parse(line: &str) -> Option<Self> {
        let mut numbers = line.split(' ').map(|word| word.parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Latencies {
            p50: next()?,
            p99: next()?,
            p999: next()?,
        })
    }

    /// The line.
    pub fn line(self) -> String {
        format!("{} {} {}", self.p50, self.p99, self.p999)
    }
}

struct Client {
    stream: TcpStream,
    exchange: Exchange,
    /// When the requests that are not answered were meant to be sent.
    sent: VecDeque<Instant>,
    got: Vec<u8>,
}

impl Load {
    /// Sends and receives.
    pub fn run(&self) -> io::Result<Latencies> {
        ask_for_priority();
        let mut poll = Poll::new()?;
        let mut clients = (0..CONNECTIONS)
            .map(|key| self.connect(&poll, key))
            .collect::<io::Result<Vec<_>>>()?;
        let mut events = Events::with_capacity(CONNECTIONS);
        let mut latencies = Vec::new();
        let mut moments = Moments::new(self.rate);
        let start = Instant::now();
        let end = start + Duration::from_secs_f64(self.seconds);
        let mut next = start + moments.next();
        let mut turn = 0;
        loop {
            while next <= Instant::now() && next < end {
                clients[turn % CONNECTIONS].send(next)?;
                turn += 1;
                next += moments.next();
            }
            let done = next >= end;
            if done && clients.iter().all(|client| client.sent.is_empty()) {
                break;
            }
            if Instant::now() > end + GRACE {
                return Err(io::Error::other("requests were not answered"));
            }
            let until = if done { Instant::now() + GRACE } else { next };
            wait(&poll, until);
            poll.poll(&mut events, Some(Duration::ZERO))?;
            let now = Instant::now();
            for event in &events {
                clients[event.token().0].receive(now, &mut latencies)?;
            }
        }
        latencies.sort_unstable();
        let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize] as f64;
        Ok(Latencies {
            p50: at(0.5),
            p99: at(0.99),
            p999: at(0.999),
        })
    }

    fn connect(&self, poll: &Poll, key: usize) -> io::Result<Client> {
        let stream = std::net::TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        poll.registry()
            .register(&mut stream, Token(key), Interest::READABLE)?;
        Ok(Client {
            stream,
            exchange: self.exchange,
            sent: VecDeque::new(),
            got: Vec::new(),
        })
    }
}

impl Client {
    fn send(&mut self, meant: Instant) -> io::Result<()> {
        self.sent.push_back(meant);
        let request = self.exchange.request();
        // A few requests are far from filling a socket's buffer.
        if self.stream.write(request)? != request.len() {
            return Err(io::Error::other("a request was sent in part"));
        }
        Ok(())
    }

    fn receive(&mut self, now: Instant, latencies: &mut Vec<u64>) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(io::Error::other("the server closed a connection")),
                Ok(bytes) => self.got.extend_from_slice(&buffer[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        while let Some(length) = self.exchange.answer(&self.got)? {
            self.got.drain(..length);
            let meant = self.sent.pop_front();
            let meant = meant.ok_or_else(|| io::Error::other("an answer without a request"))?;
            latencies.push(now.saturating_duration_since(meant).as_nanos() as u64);
        }
        Ok(())
    }
}

/// The distances of a Poisson process.
struct Moments {
    state: u64,
    rate: f64,
}

impl Moments {
    fn new(rate: f64) -> Self {
        Moments {
            state: 0x1234_5678_9ABC_DEF1,
            rate,
        }
    }

    fn next(&mut self) -> Duration {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let uniform = (self.state >> 11) as f64 / (1u64 << 53) as f64;
        Duration::from_secs_f64(-(1.0 - uniform).ln() / self.rate)
    }
}

/// Sleeps until there is something to read, or until `until`; epoll's own time-out is too coarse.
#[cfg(unix)]
fn wait(poll: &Poll, until: Instant) {
    use std::os::fd::AsRawFd;
    let left = until.saturating_duration_since(Instant::now());
    let left = libc::timespec {
        tv_sec: left.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(left.subsec_nanos() as i32),
    };
    let mut ready = libc::pollfd {
        fd: poll.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one valid entry and a valid time.
    unsafe { libc::ppoll(&raw mut ready, 1, &raw const left, std::ptr::null()) };
}

#[cfg(not(unix))]
fn wait(_poll: &Poll, _until: Instant) {
    std::thread::yield_now();
}

#[cfg(target_os = "linux")]
fn ask_for_priority() {
    let priority = libc::sched_param { sched_priority: 10 };
    // SAFETY: a valid parameter; a refusal changes nothing.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_priority() {}
