//! Group `net`: what a server costs.
//!
//! A server of each runtime answers a load generator, which is a process of its own: it keeps a number of connections and sends
//! the next request of each as soon as the last has been answered. `echo` sends 64 bytes and gets them back; `hello` is an
//! HTTP request, answered through hyper. Rows: `…/cpu`, CPU time of the server's process per request; `…/p99`, the 99th percentile
//! of the time from a request to its answer, as the client sees it; `…/wall`, time per request of all connections together. On a machine
//! of few cores client and server compete, so the first is the one to compare.
//!
//! Each server is a child process; the parent interleaves them.

mod load;
mod servers;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use self::load::{Answered, Load};
use crate::args::{self, Options};
use crate::arms::Cpus;
use crate::child;
use crate::executors::AsyncLib;
use crate::report::Row;
use crate::usage::Usage;

/// First word of the hidden measurements.
pub const CHILD: &str = "net";
const CONNECTIONS: [usize; 2] = [64, 512];

/// What the server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Sends back what it gets.
    Echo,
    /// Answers HTTP requests, always the same.
    #[cfg(feature = "full")]
    Hello,
}

impl Service {
    const ALL: &[Service] = &[
        Service::Echo,
        #[cfg(feature = "full")]
        Service::Hello,
    ];

    fn name(self) -> &'static str {
        match self {
            Service::Echo => "echo",
            #[cfg(feature = "full")]
            Service::Hello => "hello",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|service| service.name() == name)
    }

    /// The runtimes that there is a server of.
    fn libs(self) -> &'static [AsyncLib] {
        match self {
            Service::Echo => AsyncLib::ALL,
            #[cfg(feature = "full")]
            Service::Hello => &[AsyncLib::Blitz, AsyncLib::Tokio],
        }
    }
}

/// Starts a server and returns where it listens.
pub fn start_server(lib: AsyncLib, service: Service) -> std::net::SocketAddr {
    servers::start(lib, service)
}

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    let (rounds, seconds) = if options.quick { (3, "1") } else { (7, "2") };
    let mut programs = Vec::new();
    for &service in Service::ALL {
        if !options.wants(service.name()) {
            continue;
        }
        for connections in CONNECTIONS {
            for lib in service.libs() {
                let words = [
                    CHILD,
                    "serve",
                    lib.name(),
                    service.name(),
                    &connections.to_string(),
                    seconds,
                    child::placement_word(cpus.pinned()),
                ];
                programs.push(words.map(str::to_string).to_vec());
            }
        }
    }
    child::interleaved(options, rounds, programs.into_iter())
}

/// The hidden measurements: `serve LIB SERVICE CONNECTIONS SECONDS PLACEMENT`, which starts
/// `load ADDRESS SERVICE CONNECTIONS SECONDS`.
pub fn run_child(words: &[String]) -> Result<Vec<Row>, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse().map_err(|_| format!("{word} is no number"));
    match words[..] {
        ["serve", lib, service, connections, seconds, placement] => {
            let lib = AsyncLib::named(lib).ok_or("no such runtime")?;
            let service = Service::named(service).ok_or("no such service")?;
            lib.start(&Cpus::new(placement == "pinned"));
            serve(lib, service, number(connections)?, seconds)
        }
        ["load", address, service, connections, seconds] => {
            let load = Load {
                address: address.parse().map_err(|_| "no such address")?,
                service: Service::named(service).ok_or("no such service")?,
                connections: number(connections)?,
                seconds: number(seconds)? as u64,
            };
            load.run(|line| {
                let mut out = std::io::stdout().lock();
                writeln!(out, "{line}").and_then(|()| out.flush())
            })
            .map_err(|error| format!("load: {error}"))?;
            Ok(Vec::new())
        }
        _ => Err("net needs serve LIB SERVICE CONNECTIONS SECONDS PLACEMENT".into()),
    }
}

/// Starts a server and the load, and measures what the one costs while the other lasts.
fn serve(
    lib: AsyncLib,
    service: Service,
    connections: usize,
    seconds: &str,
) -> Result<Vec<Row>, String> {
    let address = servers::start(lib, service).to_string();
    let mut load = child::this_program()
        .args([args::CHILD, CHILD, "load", &address, service.name()])
        .args([&connections.to_string(), seconds])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the load cannot be started: {error}"))?;
    let mut lines = BufReader::new(load.stdout.take().expect("was asked for")).lines();
    let mut line = || lines.next().and_then(Result::ok).unwrap_or_default();
    let first = line();
    let before = Usage::now();
    let last = line();
    let usage = Usage::now().since(before);
    let status = load.wait().map_err(|error| error.to_string())?;
    if first != load::WARM || !status.success() {
        return Err("the load has failed".into());
    }
    let answered = Answered::parse(&last).ok_or("the load wrote nonsense")?;
    let requests = answered.requests as f64;
    let row = |bench: &str, ns: f64, usage| Row {
        group: CHILD.to_string(),
        bench: format!("{}/{bench}", service.name()),
        size: connections as u64,
        lib: lib.name().to_string(),
        ns,
        spread: 0.0,
        usage,
        unpinned: None,
    };
    Ok(vec![
        row("cpu", usage.cpu_us as f64 * 1e3 / requests, Some(usage)),
        row("p99", answered.p99_ns as f64, None),
        row("wall", answered.wall_ns as f64 / requests, None),
    ])
}
