//! Group `service`: an ordinary web service, axum with tokio and rayon, as it is and on Blitz.
//!
//! The source, `programs/service/main.rs`, is built twice by cargo, as it stands: `tokio+rayon` with the registry's crates, `blitz` with two lines of
//! `[patch.crates-io]` more. The first run of the group builds both, which takes a minute or two.
//!
//! The load is that of `mixed`: 64 connections, 5,000 and 20,000 requests a second at random moments from a process of its own. Beside them two more connections
//! ask for one computation after the other: a parallel loop of about 20 ms. `alone` has no computations.
//!
//! `--only` is matched with `alone/RATE` and `mixed/RATE`. Rows, each with the rate as its size: `p50`, `p99` and `p999` of the latencies; `job`, the time per
//! computation.

use super::mixed::load::{Exchange, answer_length};
use super::mixed::{put_load, rows};
use crate::args::Options;
use crate::arms::Cpus;
use crate::child;
use crate::report::Row;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// First word of the hidden measurements.
pub const CHILD: &str = "service";

const RATES: [&str; 2] = ["5000", "20000"];
const CLIENTS: u64 = 2;
const ALONE: &str = "alone";
const MIXED: &str = "mixed";

/// The folders of `programs/service`, and what their rows are called.
const BUILDS: [(&str, &str); 2] = [("patched", "blitz"), ("plain", "tokio+rayon")];

/// Runs the group.
pub fn run(options: &Options, _cpus: &Cpus) -> Vec<Row> {
    let (rounds, seconds) = if options.quick { (3, "2") } else { (7, "5") };
    let mut programs = Vec::new();
    for what in [ALONE, MIXED] {
        for rate in RATES {
            if options.wants(&format!("{what}/{rate}")) {
                let of = |(folder, _)| [CHILD, folder, what, rate, seconds].map(str::to_string);
                programs.extend(BUILDS.map(of).map(|words| words.to_vec()));
            }
        }
    }
    if !programs.is_empty() {
        for (folder, _) in BUILDS {
            eprintln!(
                "blitz-bench: cargo builds programs/service/{folder} (a minute, if it has not been built before)"
            );
            if let Err(error) = build(folder) {
                eprintln!("blitz-bench: service: {error}");
                std::process::exit(1);
            }
        }
    }
    child::interleaved(options, rounds, programs.into_iter())
}

fn folder_of(folder: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../programs/service").join(folder)
}

fn program(folder: &str) -> PathBuf {
    let name = format!("service{}", std::env::consts::EXE_SUFFIX);
    folder_of(folder).join("target/release").join(name)
}

fn build(folder: &str) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let folder = folder_of(folder);
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", "target")
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("{} does not build", folder.display()));
    }
    Ok(())
}

/// The hidden measurements: `FOLDER WHAT RATE SECONDS`.
pub fn run_child(words: &[String]) -> Result<Vec<Row>, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [folder, what, rate, seconds] = words[..] else {
        return Err("service needs FOLDER WHAT RATE SECONDS".into());
    };
    let known = BUILDS.iter().find(|(name, _)| *name == folder);
    let (_, lib) = known.ok_or("no such build")?;
    let service = Service::start(folder).map_err(|error| format!("the service: {error}"))?;
    let (stop, jobs) = (AtomicBool::new(false), AtomicU64::new(0));
    let (latencies, elapsed, jobs) = std::thread::scope(|scope| {
        if what == MIXED {
            for client in 0..CLIENTS {
                let (address, stop, jobs) = (&service.address, &stop, &jobs);
                scope.spawn(move || ask_for_computations(address, client, stop, jobs));
            }
        }
        let (start, before) = (Instant::now(), jobs.load(Ordering::Relaxed));
        let latencies = put_load(Exchange::Http, &service.address, rate, seconds);
        let jobs = jobs.load(Ordering::Relaxed) - before;
        stop.store(true, Ordering::Relaxed);
        (latencies, start.elapsed(), jobs)
    });
    if what == MIXED && jobs == 0 {
        return Err("no computation was answered".into());
    }
    let job = (what == MIXED).then(|| elapsed.as_nanos() as f64 / jobs as f64);
    Ok(rows(CHILD, what, rate, lib, latencies?, job))
}

/// The service's process; it ends with this value.
struct Service {
    process: Child,
    address: String,
}

impl Service {
    fn start(folder: &str) -> io::Result<Self> {
        let mut process = Command::new(program(folder))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = process.stdout.take().expect("it is piped");
        let mut address = String::new();
        BufReader::new(out).read_line(&mut address)?;
        let address = address.trim().to_string();
        Ok(Service { process, address })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It ends with its input; one that does not is a fault to be seen, but not to be waited for.
        drop(self.process.stdin.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One computation after the other, and every answer checked.
fn ask_for_computations(address: &str, client: u64, stop: &AtomicBool, jobs: &AtomicU64) {
    let asked = || -> io::Result<()> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let seed = 1_000_000 * client;
        let expected = format!("{{\"result\":{}}}", computed(seed));
        while !stop.load(Ordering::Relaxed) {
            write!(
                stream,
                "GET /compute/{seed} HTTP/1.1\r\nhost: localhost\r\n\r\n"
            )?;
            let answer = read_answer(&mut stream)?;
            if !answer.ends_with(expected.as_bytes()) {
                return Err(io::Error::other("a computation has a wrong result"));
            }
            jobs.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    if let Err(error) = asked() {
        eprintln!("blitz-bench: service: {error}");
        std::process::exit(1);
    }
}

fn read_answer(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let (mut got, mut buffer) = (Vec::new(), [0; 1024]);
    loop {
        if let Some(length) = answer_length(&got)?
            && got.len() >= length
        {
            return Ok(got);
        }
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => got.extend_from_slice(&buffer[..bytes]),
        }
    }
}

/// What the service computes, sequentially.
fn computed(seed: u64) -> u64 {
    const STEPS: u64 = 18_000;
    const ITEMS: u64 = 1024;
    let step = |value: u64, _| (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let item = |item| (0..STEPS).fold((seed + item) | 1, step);
    (0..ITEMS).map(item).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_an_answer_is_that_of_head_and_body() {
        let answer =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 3\r\n\r\nabcHTTP";
        assert_eq!(answer_length(answer).unwrap(), Some(answer.len() - 4));
        assert_eq!(answer_length(&answer[..30]).unwrap(), None);
        assert!(answer_length(b"HTTP/1.1 500 Oh\r\n\r\n").is_err());
        assert!(answer_length(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
