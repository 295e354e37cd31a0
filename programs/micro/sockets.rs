//! Echo and HTTP over the loopback; clients and server are on the same runtime.

use crate::{Program, timed};
use bytes::Bytes;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

pub const PROGRAMS: &[(&str, Program)] = &[
    ("echo/1", echo_one),
    ("echo/64", echo_many),
    ("echo/64k", echo_large),
    ("udp", udp),
    ("connect", connect),
    ("hyper/1", hello_one),
    ("hyper/64", hello_many),
];

const ANY_PORT: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// Asks on so many connections at once, so many times each; then every server's connection has ended.
fn ask<S, C>(
    runtime: &Runtime,
    connections: u64,
    times: u64,
    serve: fn(TcpStream) -> S,
    client: fn(TcpStream, u64) -> C,
) -> (u64, Duration)
where
    S: Future<Output = ()> + Send + 'static,
    C: Future<Output = ()> + Send + 'static,
{
    timed(runtime, connections * times, async move {
        let listener = TcpListener::bind(ANY_PORT).await.unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let (mut servers, mut clients) = (JoinSet::new(), JoinSet::new());
        for _ in 0..connections {
            clients.spawn(async move {
                let stream = TcpStream::connect(address).await.unwrap();
                stream.set_nodelay(true).unwrap();
                client(stream, times).await;
            });
        }
        for _ in 0..connections {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            servers.spawn(serve(stream));
        }
        while let Some(ended) = clients.join_next().await {
            ended.unwrap();
        }
        while let Some(ended) = servers.join_next().await {
            ended.unwrap();
        }
    })
}

async fn echo(mut stream: TcpStream) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stream.read(&mut buffer).await.unwrap() {
            0 => return,
            bytes => stream.write_all(&buffer[..bytes]).await.unwrap(),
        }
    }
}

async fn ask_for_echo<const SIZE: usize>(mut stream: TcpStream, times: u64) {
    let (message, mut answer) = (vec![b'x'; SIZE], vec![0; SIZE]);
    for _ in 0..times {
        stream.write_all(&message).await.unwrap();
        stream.read_exact(&mut answer).await.unwrap();
    }
    assert_eq!(message, answer);
}

fn echo_one(runtime: &Runtime) -> (u64, Duration) {
    ask(runtime, 1, 2000, echo, ask_for_echo::<64>)
}

fn echo_many(runtime: &Runtime) -> (u64, Duration) {
    ask(runtime, 64, 50, echo, ask_for_echo::<64>)
}

fn echo_large(runtime: &Runtime) -> (u64, Duration) {
    ask(runtime, 8, 30, echo, ask_for_echo::<65_536>)
}

/// Two sockets that are connected with each other.
fn udp_pair() -> std::io::Result<[UdpSocket; 2]> {
    let left = std::net::UdpSocket::bind(ANY_PORT)?;
    let right = std::net::UdpSocket::bind(ANY_PORT)?;
    left.connect(right.local_addr()?)?;
    right.connect(left.local_addr()?)?;
    for socket in [&left, &right] {
        socket.set_nonblocking(true)?;
    }
    Ok([UdpSocket::from_std(left)?, UdpSocket::from_std(right)?])
}

fn udp(runtime: &Runtime) -> (u64, Duration) {
    const TIMES: u64 = 2000;
    timed(runtime, TIMES, async {
        let [client, server] = udp_pair().unwrap();
        let serving = tokio::spawn(async move {
            let mut buffer = [0; 64];
            for _ in 0..TIMES {
                let bytes = server.recv(&mut buffer).await.unwrap();
                server.send(&buffer[..bytes]).await.unwrap();
            }
        });
        let mut buffer = [0; 64];
        for _ in 0..TIMES {
            client.send(b"are you there?").await.unwrap();
            assert_eq!(client.recv(&mut buffer).await.unwrap(), 14);
        }
        serving.await.unwrap();
    })
}

fn connect(runtime: &Runtime) -> (u64, Duration) {
    const TIMES: u64 = 300;
    timed(runtime, TIMES, async {
        let listener = TcpListener::bind(ANY_PORT).await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move {
            for _ in 0..TIMES {
                let (mut stream, _) = listener.accept().await.unwrap();
                stream.write_all(b"hello").await.unwrap();
            }
        });
        for _ in 0..TIMES {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let mut hello = Vec::new();
            stream.read_to_end(&mut hello).await.unwrap();
            assert_eq!(hello, b"hello");
        }
        serving.await.unwrap();
    })
}

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let answer = Response::builder().header("date", "never");
    Ok(answer
        .body(Full::new(Bytes::from_static(b"hello")))
        .unwrap())
}

async fn serve_http(stream: TcpStream) {
    let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(hello));
    served.await.unwrap();
}

async fn ask_for_hello(mut stream: TcpStream, times: u64) {
    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ndate: never\r\ncontent-length: 5\r\n\r\nhello";
    let mut answer = [0; ANSWER.len()];
    for _ in 0..times {
        let request = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(request).await.unwrap();
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, ANSWER);
    }
}

fn hello_one(runtime: &Runtime) -> (u64, Duration) {
    ask(runtime, 1, 1000, serve_http, ask_for_hello)
}

fn hello_many(runtime: &Runtime) -> (u64, Duration) {
    ask(runtime, 64, 30, serve_http, ask_for_hello)
}
