//! Clients for the tests, of plain sockets.
#![allow(dead_code, reason = "each test uses some of it")]

use blitz_console::json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Nothing here takes as long, except on a machine that has stopped.
pub const LONG: Duration = Duration::from_secs(60);

/// Sends bytes and reads what comes back until the end.
pub fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    // The server may have answered and gone before it has read everything.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Status and body.
pub fn get(address: SocketAddr, target: &str, headers: &str) -> (u16, String) {
    let request = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n");
    let answer = exchange(address, request.as_bytes());
    (status(&answer), body(&answer).to_string())
}

pub fn status(answer: &str) -> u16 {
    let number = answer.split(' ').nth(1);
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

pub fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

/// The next frame.
pub fn snapshot(address: SocketAddr) -> Value {
    let (status, body) = get(address, "/snapshot", "");
    assert_eq!(status, 200, "{body}");
    Value::read(&body).expect("JSON")
}

/// Somebody who looks.
pub struct Events(BufReader<TcpStream>);

impl Events {
    pub fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let request = format!("GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n");
        (&stream).write_all(request.as_bytes()).unwrap();
        Events(BufReader::new(stream))
    }

    /// The data of the next event.
    pub fn next_text(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "no more events");
            if let Some(data) = line.strip_prefix("data: ") {
                return data.trim_end().to_string();
            }
        }
    }

    pub fn next_frame(&mut self) -> Value {
        Value::read(&self.next_text()).expect("JSON")
    }

    /// The first frame of which it is true.
    pub fn until(&mut self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + LONG;
        loop {
            let frame = self.next_frame();
            if is_so(&frame) {
                return frame;
            }
            assert!(Instant::now() < end, "{what} never came: {frame:?}");
        }
    }
}
