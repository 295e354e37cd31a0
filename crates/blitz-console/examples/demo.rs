//! `blitz console demo`: a server and a computation share the pool, and a page shows it.

use blitz::prelude::*;
use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::task::Builder;
use blitz_io::time::{interval, sleep};
use lexopt::prelude::*;
use std::hint::black_box;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const ADDRESS: &str = "127.0.0.1:6670";

fn main() -> ExitCode {
    let outcome = read().and_then(|(address, seconds)| {
        demo(&address, seconds).map_err(|error| format!("{address}: {error}").into())
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}\n\nusage: [ADDRESS] [--seconds N]\nexample: {ADDRESS}");
            ExitCode::FAILURE
        }
    }
}

fn read() -> Result<(String, Option<u64>), lexopt::Error> {
    let (mut address, mut seconds) = (None, None);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("seconds") => seconds = Some(parser.value()?.parse()?),
            Value(word) if address.is_none() => address = Some(word.string()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok((address.unwrap_or_else(|| ADDRESS.into()), seconds))
}

fn demo(address: &str, seconds: Option<u64>) -> io::Result<()> {
    let console = blitz_console::serve(address)?;
    println!(
        "Open http://{} in a browser, or:  blitz top {}",
        console.local_addr(),
        console.local_addr()
    );
    println!(
        "A server with 40 clients and a computation share the threads of one pool. Ctrl-C ends it."
    );
    let runtime = blitz_io::Runtime::new()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let server = listener.local_addr()?;
        Builder::new().name("accept").spawn(accept(listener))?;
        for _ in 0..40 {
            Builder::new().name("client").spawn(client(server))?;
        }
        Builder::new().name("report").spawn(report())?;
        // What a page like this is for.
        Builder::new().name("rude").spawn(rude())?;
        blitz_io::spawn_blocking(move || compute(seconds)).await?;
        io::Result::Ok(())
    })
}

async fn accept(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        let task = Builder::new().name("connection");
        drop(task.spawn(connection(stream)));
    }
}

/// Answers each number with its digits added up the slow way.
async fn connection(mut stream: TcpStream) {
    let mut request = [0; 8];
    while stream.read_exact(&mut request).await.is_ok() {
        let number = u64::from_le_bytes(request);
        let answer = black_box((0..2000).fold(number, |sum, n| sum.rotate_left(5) ^ n));
        if stream.write_all(&answer.to_le_bytes()).await.is_err() {
            return;
        }
    }
}

async fn client(server: std::net::SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(server).await?;
    let mut number = 1_u64;
    loop {
        stream.write_all(&number.to_le_bytes()).await?;
        let mut answer = [0; 8];
        stream.read_exact(&mut answer).await?;
        number = u64::from_le_bytes(answer);
        sleep(Duration::from_millis(5 + number % 20)).await;
    }
}

/// Looks at a file now and then, on a thread for what blocks.
async fn report() {
    let mut ticks = interval(Duration::from_millis(500));
    loop {
        ticks.tick().await;
        let read = blitz_io::spawn_blocking(|| std::fs::read("/proc/loadavg"));
        drop(read.await);
    }
}

/// Computes without an await, every few seconds.
async fn rude() {
    loop {
        sleep(Duration::from_secs(4)).await;
        let until = Instant::now() + Duration::from_millis(60);
        while Instant::now() < until {
            black_box((0..1000_u64).sum::<u64>());
        }
    }
}

/// Loops, a sort and joins, with pauses.
fn compute(seconds: Option<u64>) {
    let began = Instant::now();
    let mut values: Vec<u64> = (0..2_000_000).collect();
    while seconds.is_none_or(|seconds| began.elapsed().as_secs() < seconds) {
        values
            .par_iter_mut()
            .for_each(|value| *value = mixed(*value));
        black_box(values.par_iter().map(|value| value % 1000).sum::<u64>());
        values.par_sort_unstable();
        black_box(fib(30));
        std::thread::sleep(Duration::from_millis(150));
    }
}

fn mixed(value: u64) -> u64 {
    (0..8).fold(value, |value, n| {
        (value ^ (value >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15 + n)
    })
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = blitz::join(|| fib(n - 1), || fib(n - 2));
    a + b
}
