//! The load generator: an open loop of requests at random moments, at a given rate, over many connections.
//!
//! Moments come from a Poisson process that does not wait for answers, and a request's latency counts from the moment it was meant
//! to be sent. So a server that stops for ten milliseconds has every request of those ten milliseconds late, not only one
//! per connection. The generator asks for real-time priority, so that it is not what is late; without the right to it, it
//! goes on without.
//!
//! It runs on the machine that it measures, and should take as little of it as another machine would. So where the kernel notes when an answer arrived (Linux), that is when the request is
//! answered, and the generator reads it when it next has something to send: answers do not wake it. Otherwise the server's thread would pay for a wake with each of them,
//! which is the most expensive part of sending it.

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 64;
/// How long answers may take at the end.
const GRACE: Duration = Duration::from_secs(2);
/// How often it looks for them then.
const LAST_LOOKS: Duration = Duration::from_millis(1);

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
        let times_are_told = clients.iter().all(|client| arrivals::ask(&client.stream));
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
            if !done && times_are_told {
                std::thread::sleep(next.saturating_duration_since(Instant::now()));
            } else {
                let until = if done {
                    Instant::now() + LAST_LOOKS
                } else {
                    next
                };
                wait(&poll, until);
            }
            poll.poll(&mut events, Some(Duration::ZERO))?;
            for event in &events {
                clients[event.token().0].receive(&mut latencies)?;
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

    fn receive(&mut self, latencies: &mut Vec<u64>) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            let (bytes, arrived) = match arrivals::read(&mut self.stream, &mut buffer) {
                Ok((0, _)) => return Err(io::Error::other("the server closed a connection")),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            self.got.extend_from_slice(&buffer[..bytes]);
            while let Some(length) = self.exchange.answer(&self.got)? {
                self.got.drain(..length);
                let meant = self.sent.pop_front();
                let meant = meant.ok_or_else(|| io::Error::other("an answer without a request"))?;
                latencies.push(arrived.saturating_duration_since(meant).as_nanos() as u64);
            }
            if bytes < buffer.len() {
                // There was no more, and the next event says when there is.
                return Ok(());
            }
        }
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

/// When the kernel got what is read.
#[cfg(target_os = "linux")]
mod arrivals {
    use mio::net::TcpStream;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::time::{Duration, Instant, SystemTime};

    /// From now on the kernel notes it. `false`: it does not.
    pub fn ask(stream: &TcpStream) -> bool {
        let yes: libc::c_int = 1;
        // SAFETY: the option is an int, which is read during the call.
        0 == unsafe {
            libc::setsockopt(
                stream.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_TIMESTAMPNS,
                (&raw const yes).cast(),
                size_of_val(&yes) as libc::socklen_t,
            )
        }
    }

    /// Reads, and says when the last of it arrived; if the kernel does not tell, now.
    pub fn read(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<(usize, Instant)> {
        let mut place = libc::iovec {
            iov_base: buffer.as_mut_ptr().cast(),
            iov_len: buffer.len(),
        };
        // Aligned as the kernel's headers are; room for one, of a time.
        let mut control = [0u64; 8];
        // SAFETY: zeros are a message without anything; below it gets one place and room for control messages, which outlive the call.
        let (bytes, noted) = unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = &raw mut place;
            message.msg_iovlen = 1;
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = size_of_val(&control) as _;
            let bytes = libc::recvmsg(stream.as_raw_fd(), &raw mut message, 0);
            (bytes, noted(&message))
        };
        let bytes = usize::try_from(bytes).map_err(|_| io::Error::last_os_error())?;
        let now = Instant::now();
        let since = noted.and_then(|noted| SystemTime::now().duration_since(noted).ok());
        let arrived = since.and_then(|since| now.checked_sub(since));
        Ok((bytes, arrived.unwrap_or(now)))
    }

    /// The time in the message's control part.
    ///
    /// # Safety
    /// The message is as the kernel has left it.
    unsafe fn noted(message: &libc::msghdr) -> Option<SystemTime> {
        // SAFETY: passed on; a header that is there is followed by what its type says.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(message).as_ref()?;
            let is_time =
                header.cmsg_level == libc::SOL_SOCKET && header.cmsg_type == libc::SCM_TIMESTAMPNS;
            if !is_time {
                return None;
            }
            let time = libc::CMSG_DATA(header)
                .cast::<libc::timespec>()
                .read_unaligned();
            let time = Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
            Some(SystemTime::UNIX_EPOCH + time)
        }
    }
}

/// Elsewhere it is not known.
#[cfg(not(target_os = "linux"))]
mod arrivals {
    use mio::net::TcpStream;
    use std::io::{self, Read};
    use std::time::Instant;

    pub fn ask(_stream: &TcpStream) -> bool {
        false
    }

    pub fn read(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<(usize, Instant)> {
        let bytes = stream.read(buffer)?;
        Ok((bytes, Instant::now()))
    }
}

#[cfg(target_os = "linux")]
fn ask_for_priority() {
    let priority = libc::sched_param { sched_priority: 10 };
    // SAFETY: a valid parameter; a refusal changes nothing.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_priority() {}
