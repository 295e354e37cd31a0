//! The server: a page, events, metrics. It only ever answers `GET`.
//!
//! It runs on a thread of its own, in a current-thread runtime: a page is most wanted when the program's own threads are stuck. What it may cost is
//! bounded: [`MOST_CLIENTS`] connections, each with a head of some kilobytes and the newest frame. A browser that does not read misses
//! frames, and after [`PATIENCE`] its connection.

use crate::eye::{Eye, Failed};
use crate::request::{self, Request, is_same_token};
use blitz_core::companion::ParentsOnly;
use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::net::{TcpListener, TcpSocket, TcpStream};
use blitz_io::sync::{Notify, watch};
use blitz_io::time::{Instant, sleep, timeout};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Connections at a time. The others are told to come back.
const MOST_CLIENTS: usize = 256;
/// How long a request may take to arrive, and a frame to leave.
const PATIENCE: Duration = Duration::from_secs(5);
const SEND_BUFFER: u32 = 64 * 1024;
/// Somebody who has asked for metrics will do so again: until then, calls are counted.
const METRICS_LAST: Duration = Duration::from_secs(90);

const PAGE: &str = concat!(
    include_str!("page/head.html"),
    "<style>\n",
    include_str!("page/style.css"),
    "</style>\n</head>\n",
    include_str!("page/body.html"),
    "<script>\n",
    include_str!("page/script.js"),
    "</script>\n</body>\n</html>\n"
);

/// Who may look.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    /// Whoever can connect, by one of these machine's own names: another name means that a page from elsewhere asks.
    Loopback,
    /// Whoever knows it.
    Token(String),
}

/// What all connections share.
struct Hall {
    access: Access,
    clients: AtomicUsize,
    /// Those who wait for frames.
    lookers: AtomicUsize,
    asked_for_metrics: Mutex<Option<Instant>>,
    /// Somebody has begun to look: frames are to be made.
    begins: Notify,
    /// The newest one, as it goes to all of them.
    frames: watch::Sender<Event>,
    eye: Mutex<Eye>,
    stop: Notify,
}

/// A way to end it.
#[derive(Clone)]
pub(crate) struct Stop(Arc<Hall>);

impl Stop {
    pub(crate) fn stop(&self) {
        self.0.stop.notify_one();
    }
}

/// The first of the addresses that is free. A child made by `fork` has no thread that serves: it must not have the port either.
fn bind(addresses: &[SocketAddr]) -> io::Result<ParentsOnly<TcpListener>> {
    let mut failed = io::Error::new(io::ErrorKind::InvalidInput, "there is no such address");
    for &address in addresses {
        let bound = || {
            let socket = match address {
                SocketAddr::V4(_) => TcpSocket::new_v4()?,
                SocketAddr::V6(_) => TcpSocket::new_v6()?,
            };
            #[cfg(unix)]
            socket.set_reuseaddr(true)?;
            // Those of the connections: what the kernel keeps for somebody who does not read.
            socket.set_send_buffer_size(SEND_BUFFER)?;
            socket.bind(address)?;
            socket.listen(128)
        };
        match ParentsOnly::new(bound) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Serves on a thread of its own, and says where.
pub(crate) fn start(addresses: &[SocketAddr], access: Access) -> io::Result<(SocketAddr, Stop)> {
    let runtime = blitz_io::Builder::new_current_thread()
        .enable_all()
        .name(crate::NAME)
        .build()?;
    let hall = Arc::new(Hall {
        access,
        clients: AtomicUsize::new(0),
        lookers: AtomicUsize::new(0),
        asked_for_metrics: Mutex::new(None),
        begins: Notify::new(),
        frames: watch::channel(Event::of("")).0,
        eye: Mutex::new(Eye::new()),
        stop: Notify::new(),
    });
    let stop = Stop(Arc::clone(&hall));
    let listener = {
        let _entered = runtime.enter();
        bind(addresses)?
    };
    let address = listener.local_addr()?;
    crate::on_a_thread(move || {
        runtime.block_on(async {
            let stopped = hall.stop.notified();
            let accepting = blitz_io::spawn(accept(Arc::clone(&hall), listener));
            let looking = blitz_io::spawn(keep_looking(Arc::clone(&hall)));
            stopped.await;
            accepting.abort();
            looking.abort();
        });
    })?;
    Ok((address, stop))
}

async fn accept(hall: Arc<Hall>, listener: ParentsOnly<TcpListener>) {
    loop {
        let accepted = listener.accept().await;
        match accepted.and_then(|(stream, _)| ParentsOnly::new(|| Ok(stream))) {
            Ok(stream) => {
                drop(blitz_io::spawn(client(Arc::clone(&hall), stream)));
            }
            // No descriptors, say: others will be given back.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Looks as long as somebody does, and makes frames of it.
async fn keep_looking(hall: Arc<Hall>) {
    loop {
        let begins = hall.begins.notified();
        if !hall.is_looked_at() {
            begins.await;
        }
        hall.eye().open();
        let mut next_frame = Instant::now() + Eye::FRAME;
        while hall.is_looked_at() {
            sleep(Eye::SAMPLE).await;
            let frame = {
                let mut eye = hall.eye();
                let sampled = eye.sample();
                let is_time = Instant::now() >= next_frame;
                sampled.and_then(|()| is_time.then(|| eye.frame()).transpose())
            };
            match frame {
                Ok(None) => {}
                Ok(Some(frame)) => {
                    hall.frames.send_replace(Event::of(&frame));
                    // Not to make up for those that were missed.
                    next_frame = Instant::now() + Eye::FRAME;
                }
                // Not 250 times a second.
                Err(Failed) => sleep(Eye::FRAME).await,
            }
        }
        hall.eye().close();
    }
}

impl Hall {
    fn eye(&self) -> std::sync::MutexGuard<'_, Eye> {
        self.eye.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody, who has been noted, begins to look. What happens from now on is counted: whoever gets an answer may rely on that.
    fn begin(&self) {
        self.eye().open();
        self.begins.notify_one();
    }

    fn is_looked_at(&self) -> bool {
        let asked = *self
            .asked_for_metrics
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.lookers.load(Ordering::Relaxed) > 0
            || asked.is_some_and(|asked| asked.elapsed() < METRICS_LAST)
    }
}

/// A frame as it is sent. One for all clients: each that is slow would have a copy of its own.
#[derive(Clone)]
struct Event(Arc<str>);

impl Event {
    const BEFORE: &str = "data: ";
    const BEHIND: &str = "\n\n";

    fn of(frame: &str) -> Self {
        Event([Self::BEFORE, frame, Self::BEHIND].concat().into())
    }

    fn frame(&self) -> &str {
        &self.0[Self::BEFORE.len()..self.0.len() - Self::BEHIND.len()]
    }
}

/// One more of them, until it is dropped.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn client(hall: Arc<Hall>, mut stream: ParentsOnly<TcpStream>) {
    let _counted = Counted::new(&hall.clients);
    if hall.clients.load(Ordering::Relaxed) > MOST_CLIENTS {
        let text = format!("There are {MOST_CLIENTS} connections already. Try again later.\n");
        let _ = answer(&mut stream, "503 Service Unavailable", PLAIN, &text).await;
        return;
    }
    let request = match timeout(PATIENCE, read_head(&mut stream)).await {
        Ok(Ok(request)) => request,
        Ok(Err(Unread::Gone)) => return,
        Ok(Err(Unread::TooLong)) => {
            let status = "431 Request Header Fields Too Large";
            let _ = answer(&mut stream, status, PLAIN, "This request is too long.\n").await;
            return;
        }
        Ok(Err(Unread::Nonsense)) => {
            let text = "This is not a request of HTTP/1.1.\n";
            let _ = answer(&mut stream, "400 Bad Request", PLAIN, text).await;
            return;
        }
        Err(_) => {
            let text = "The request did not come to its end.\n";
            let _ = answer(&mut stream, "408 Request Timeout", PLAIN, text).await;
            return;
        }
    };
    // Whoever is gone is gone.
    let _ = respond(&hall, &mut stream, &request).await;
}

enum Unread {
    Gone,
    TooLong,
    Nonsense,
}

async fn read_head(stream: &mut TcpStream) -> Result<Request, Unread> {
    let mut head = Vec::with_capacity(1024);
    loop {
        let mut chunk = [0; 1024];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return Err(Unread::Gone),
            Ok(read) => head.extend_from_slice(&chunk[..read]),
        }
        if let Some(end) = request::end_of_head(&head) {
            return Request::read(&head[..end]).ok_or(Unread::Nonsense);
        }
        if head.len() > request::MOST {
            return Err(Unread::TooLong);
        }
    }
}

const PLAIN: &str = "text/plain; charset=utf-8";
const FAILED: &str = "The console has failed while it looked at the program, and begins anew. The program's error output has more.\n";
const NO_FRAME: &str = "No frame has been made for some seconds. If the console has failed, the program's error output has more.\n";

async fn respond(hall: &Hall, stream: &mut TcpStream, request: &Request) -> io::Result<()> {
    if let Some((status, text)) = refusal(&hall.access, request) {
        return answer(stream, status, PLAIN, &text).await;
    }
    if request.method != "GET" {
        let text = "This page only shows: it understands GET and nothing else.\n";
        return answer(stream, "405 Method Not Allowed", PLAIN, text).await;
    }
    match request.path.as_str() {
        "/" => answer(stream, "200 OK", "text/html; charset=utf-8", PAGE).await,
        "/events" => events(hall, stream).await,
        "/snapshot" => {
            let Ok(frame) = timeout(PATIENCE, next_frame(hall)).await else {
                return answer(stream, "503 Service Unavailable", PLAIN, NO_FRAME).await;
            };
            answer(stream, "200 OK", "application/json", frame.frame()).await
        }
        "/metrics" => {
            *hall
                .asked_for_metrics
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            hall.begin();
            let metrics = hall.eye().metrics();
            let Ok(text) = metrics else {
                return answer(stream, "503 Service Unavailable", PLAIN, FAILED).await;
            };
            let kind = "text/plain; version=0.0.4; charset=utf-8";
            answer(stream, "200 OK", kind, &text).await
        }
        _ => {
            let text = "There is a page at /, events at /events, one of them at /snapshot, and metrics at /metrics.\n";
            answer(stream, "404 Not Found", PLAIN, text).await
        }
    }
}

/// Why somebody may not look, and what to do about it.
fn refusal(access: &Access, request: &Request) -> Option<(&'static str, String)> {
    match access {
        Access::Loopback => {
            let host = request.host.as_deref().unwrap_or("localhost");
            let is_own = host == "localhost"
                || host.ends_with(".localhost")
                || host
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|address| address.is_loopback());
            (!is_own).then(|| {
                let text = "Without a token this page answers under the machine's own names only: open it as http://localhost or http://127.0.0.1, \
                            with the same port.\n";
                ("403 Forbidden", text.to_string())
            })
        }
        Access::Token(token) => {
            // The one in the address may be an old one.
            let mut given = [&request.token, &request.bearer].into_iter().flatten();
            (!given.any(|given| is_same_token(given, token))).then(|| {
                let text = "This needs the token that the program was given: add ?token=… to the address, or send the header \
                            `Authorization: Bearer …`.\n";
                ("401 Unauthorized", text.to_string())
            })
        }
    }
}

async fn answer(stream: &mut TcpStream, status: &str, kind: &str, body: &str) -> io::Result<()> {
    let head = format!(
        "{}Content-Length: {}\r\n\r\n",
        head(status, kind),
        body.len()
    );
    within_patience(async {
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        stream.shutdown().await
    })
    .await
}

/// Up to the headers that are different for each answer.
fn head(status: &str, kind: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nCache-Control: no-store\r\nConnection: close\r\nReferrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
         Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:\r\n"
    )
}

async fn within_patience(write: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    timeout(PATIENCE, write)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// The next frame that is made.
async fn next_frame(hall: &Hall) -> Event {
    let mut frames = hall.frames.subscribe();
    let _looks = Counted::new(&hall.lookers);
    hall.begin();
    let _ = frames.changed().await;
    let frame = frames.borrow();
    frame.clone()
}

/// Frames, as long as they are read. Whoever is slow gets the newest one when it is ready for it.
async fn events(hall: &Hall, stream: &mut TcpStream) -> io::Result<()> {
    let mut frames = hall.frames.subscribe();
    let _looks = Counted::new(&hall.lookers);
    hall.begin();
    let head = head("200 OK", "text/event-stream") + "\r\nretry: 1000\n\n";
    within_patience(stream.write_all(head.as_bytes())).await?;
    while frames.changed().await.is_ok() {
        let event = frames.borrow_and_update().clone();
        within_patience(stream.write_all(event.0.as_bytes())).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    /// The status and all of an answer, but for what is not text.
    fn get(address: SocketAddr, path: &str) -> (u16, String) {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
        (status.unwrap_or(0), answer)
    }

    fn served() -> (SocketAddr, Stop) {
        start(&["127.0.0.1:0".parse().unwrap()], Access::Loopback).unwrap()
    }

    #[test]
    fn a_panic_while_it_looks_is_said_and_does_not_end_the_console() {
        let (address, stop) = served();
        stop.0.eye().fails = 1;
        let (status, answer) = get(address, "/snapshot");
        assert_eq!(status, 200, "{answer}");
        assert!(answer.contains("the test wants it"), "{answer}");
        assert_eq!(get(address, "/metrics").0, 200);
        stop.0.eye().fails = u32::MAX;
        let (status, answer) = get(address, "/metrics");
        assert_eq!(status, 503, "{answer}");
        assert!(answer.contains("begins anew"), "{answer}");
        // After some seconds: one could still come.
        let (status, answer) = get(address, "/snapshot");
        assert_eq!(status, 503, "{answer}");
        stop.0.eye().fails = 0;
        assert_eq!(get(address, "/snapshot").0, 200);
        assert_eq!(get(address, "/metrics").0, 200);
        stop.stop();
    }

    #[cfg(feature = "hooks")]
    #[test]
    fn whoever_has_an_answer_is_looking() {
        for _ in 0..30 {
            let (address, stop) = served();
            assert_eq!(get(address, "/metrics").0, 200);
            assert!(blitz_core::console::is_looked_at());
            stop.stop();
        }
    }
}
