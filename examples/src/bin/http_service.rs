//! An HTTP service with requests that compute: small ones stay fast while large ones use all cores.
//!
//! `/` answers at once. `/primes/N` counts the primes below N with a parallel iterator, through `spawn_cpu`: on the same threads,
//! but without keeping the small requests waiting. The program is its own client and checks every answer.

use blitz::prelude::*;
use blitz_examples::Recipe;
use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::net::{TcpListener, TcpStream};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

fn is_prime(number: u64) -> bool {
    number >= 2
        && (2..)
            .take_while(|d| d * d <= number)
            .all(|d| !number.is_multiple_of(d))
}

fn count_primes(below: u64) -> usize {
    (0..below)
        .into_par_iter()
        .filter(|&number| is_prime(number))
        .count()
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path();
    let number = path.strip_prefix("/primes/").map(str::parse::<u64>);
    let (status, text) = match number {
        None if path == "/" => (StatusCode::OK, "hello".to_owned()),
        Some(Ok(below)) if below <= 10_000_000 => {
            match blitz_io::spawn_cpu(move || count_primes(below)).await {
                Ok(count) => (StatusCode::OK, count.to_string()),
                Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
            }
        }
        Some(_) => (
            StatusCode::BAD_REQUEST,
            "expected /primes/N with N up to 10000000".to_owned(),
        ),
        None => (
            StatusCode::NOT_FOUND,
            "there are / and /primes/N".to_owned(),
        ),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    Ok(response)
}

async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        blitz_io::spawn(async move {
            let service = service_fn(answer);
            if let Err(error) = http1::Builder::new()
                .serve_connection(stream, service)
                .await
            {
                eprintln!("  a connection ended early: {error}");
            }
        });
    }
}

/// One request on a connection of its own; returns the body.
async fn get(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer).await? {
            0 => break,
            length => answer.extend_from_slice(&buffer[..length]),
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    let body = answer
        .split_once("\r\n\r\n")
        .map(|(_, body)| body.to_owned());
    body.ok_or_else(|| io::Error::other("no body"))
}

#[blitz_io::main]
async fn main() -> io::Result<()> {
    let recipe = Recipe::start("HTTP service: small requests beside computations");
    let below = recipe.size(1_000_000, 20_000) as u64;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    blitz_io::spawn(serve(listener));

    let expected = (0..below)
        .filter(|&number| is_prime(number))
        .count()
        .to_string();
    let path = format!("/primes/{below}");
    let large: Vec<_> = (0..4)
        .map(|_| {
            let path = path.clone();
            blitz_io::spawn(async move { get(address, &path).await })
        })
        .collect();
    let mut slowest = Duration::ZERO;
    for _ in 0..recipe.size(200, 20) {
        let start = Instant::now();
        assert_eq!(get(address, "/").await?, "hello");
        slowest = slowest.max(start.elapsed());
    }
    for request in large {
        assert_eq!(request.await??, expected);
    }
    assert!(
        get(address, "/primes/many")
            .await?
            .starts_with("expected /primes/N")
    );
    println!(
        "  {expected} primes below {below}, four times; meanwhile the slowest small request took {:.2} ms",
        slowest.as_secs_f64() * 1e3
    );
    Ok(())
}
