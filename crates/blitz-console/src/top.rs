//! The page for a terminal: `blitz top ADDRESS`.

use crate::json::Value;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long it may take until something comes. Frames come four times a second.
const PATIENCE: Duration = Duration::from_secs(10);
/// A line longer than this is no frame: one has some ten thousand bytes.
const LONGEST_LINE: usize = 16 << 20;

/// What to look at, and how.
///
/// ```
/// use blitz_console::top::Options;
///
/// let options = Options { address: "127.0.0.1:6670".into(), once: true, size: (80, 24), ..Options::default() };
/// assert_eq!(options.token, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where a program serves its page.
    pub address: String,
    /// The token, if it wants one.
    pub token: Option<String>,
    /// One look, instead of one after the other until the program ends.
    pub once: bool,
    /// Width and height of the terminal.
    pub size: (usize, usize),
}

/// Shows the program at an address, until it ends or the terminal is gone.
///
/// # Errors
/// If nobody serves a page there, or wants a token, or if it ends before there is anything to show.
///
/// ```
/// use blitz_console::top::{Options, run};
///
/// let console = blitz_console::serve("127.0.0.1:0")?;
/// let address = console.local_addr().to_string();
/// let mut text = Vec::new();
/// run(&Options { address, once: true, size: (80, 24), token: None }, &mut text)?;
/// assert!(!text.is_empty());
/// # console.stop();
/// # std::io::Result::Ok(())
/// ```
pub fn run(options: &Options, out: &mut impl Write) -> io::Result<()> {
    let mut frames = Frames::connect(options, PATIENCE)?;
    let mut before = None;
    loop {
        let Some(frame) = frames.next_frame()? else {
            return match &before {
                Some(only) if options.once => {
                    out.write_all(render(only, None, options.size).as_bytes())
                }
                Some(_) => Ok(()),
                None => Err(frames.is_gone()),
            };
        };
        let shown = render(&frame, before.as_ref(), options.size);
        // The first one has no rates yet.
        let is_first = before.replace(frame).is_none();
        if options.once {
            if !is_first {
                return out.write_all(shown.as_bytes());
            }
            continue;
        }
        // Home, each line to its end, and what is below.
        let lines = shown.replace('\n', "\x1b[K\n");
        write!(out, "\x1b[H{lines}\x1b[J")?;
        out.flush()?;
    }
}

/// What comes from an address, which may be anybody's.
struct Frames {
    stream: BufReader<TcpStream>,
    address: String,
    patience: Duration,
}

impl Frames {
    fn connect(options: &Options, patience: Duration) -> io::Result<Self> {
        let address = options.address.trim_start_matches("http://");
        let address = address.trim_end_matches('/');
        let stream = TcpStream::connect(address).map_err(|error| {
            let why = format!(
                "{address}: {error}; does a program serve its page there? (BLITZ_CONSOLE={address}, or blitz_console::serve)"
            );
            io::Error::new(error.kind(), why)
        })?;
        stream.set_read_timeout(Some(patience))?;
        let mut request = format!("GET /events HTTP/1.1\r\nHost: {address}\r\n");
        if let Some(token) = &options.token {
            let _ = write!(request, "Authorization: Bearer {token}\r\n");
        }
        request.push_str("\r\n");
        (&stream).write_all(request.as_bytes())?;
        let mut frames = Frames {
            stream: BufReader::new(stream),
            address: address.to_string(),
            patience,
        };
        let end = Instant::now() + patience;
        let first = frames.line(end)?.unwrap_or_default();
        match first.split(' ').nth(1) {
            Some("200") if first.starts_with("HTTP/1.") => Ok(frames),
            Some(_) if first.starts_with("HTTP/1.") => {
                let why = frames.reason(end);
                let said = format!("{address} says: {} {why}", first.trim());
                Err(io::Error::other(harmless(&said)))
            }
            _ => Err(frames.is_something_else()),
        }
    }

    fn is_something_else(&self) -> io::Error {
        let address = &self.address;
        io::Error::other(format!(
            "what answers at {address} is not a page of blitz-console"
        ))
    }

    fn is_gone(&self) -> io::Error {
        let address = &self.address;
        let why = format!("the page at {address} ended before it showed anything");
        io::Error::new(io::ErrorKind::UnexpectedEof, why)
    }

    /// What comes behind the head of an answer, as far as it comes.
    fn reason(&mut self, end: Instant) -> String {
        let mut lines = Vec::new();
        while let (true, Ok(Some(line))) = (lines.len() < 100, self.line(end)) {
            lines.push(line);
        }
        let body = lines.iter().skip_while(|line| !line.trim().is_empty());
        body.map(|line| line.trim())
            .collect::<Vec<_>>()
            .join(" ")
            .trim()
            .to_string()
    }

    /// `None`: there are no more.
    fn line(&mut self, end: Instant) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            let more = self.stream.fill_buf();
            let is_late = |error: &io::Error| {
                matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                )
            };
            if more.as_ref().is_err_and(is_late) || Instant::now() > end {
                let why = format!("{}: nothing has come for {:?}", self.address, self.patience);
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            let more = more?;
            let is_end = more.is_empty();
            let newline = more.iter().position(|byte| *byte == b'\n');
            let len = newline.map_or(more.len(), |at| at + 1);
            line.extend_from_slice(&more[..len]);
            self.stream.consume(len);
            if line.len() > LONGEST_LINE {
                return Err(self.is_something_else());
            }
            if newline.is_some() || is_end {
                let text = String::from_utf8_lossy(&line).into_owned();
                return Ok((!line.is_empty()).then_some(text));
            }
        }
    }

    /// `None`: the program has ended.
    fn next_frame(&mut self) -> io::Result<Option<Value>> {
        let end = Instant::now() + self.patience;
        while let Some(line) = self.line(end)? {
            // Without its end it is the last thing that a program has said.
            if let (Some(text), true) = (line.strip_prefix("data: "), line.ends_with('\n')) {
                let frame = Value::read(text.trim_end());
                return frame.map(Some).ok_or_else(|| self.is_something_else());
            }
        }
        Ok(None)
    }
}

/// A frame as lines of text that fit.
fn render(frame: &Value, before: Option<&Value>, (width, height): (usize, usize)) -> String {
    let mut lines = Vec::new();
    let process = frame.at("process");
    let seconds = before.map_or(0.25, |before| {
        (frame.at("at").number() - before.at("at").number()) / 1e3
    });
    let rate = |now: f64, before: f64| (now - before).max(0.0) / seconds.max(1e-3);
    lines.push(format!(
        "{} (process {})   {:.2} of {} CPUs   {} threads   {}",
        process.at("name").text(),
        process.at("pid").number(),
        process.at("cpu").number(),
        process.at("cpus").number(),
        process.at("threads").number(),
        memory(process.at("memory").number()),
    ));
    if !frame.at("hooks").flag() {
        lines.push(
            "built without the feature `hooks` of blitz-console: there is nothing more to see"
                .into(),
        );
        return fitted(&lines, width, height);
    }
    for warning in frame.at("warnings").items() {
        lines.push(format!(
            "! {} {}",
            warning.at("text").text(),
            warning.at("at").text()
        ));
    }
    for (position, pool) in frame.at("pools").items().iter().enumerate() {
        let past = before.map(|before| before.at("pools").items());
        let past = past.and_then(|pools| pools.get(position));
        let of_workers = |pool: &Value, field: &str| -> f64 {
            let workers = pool.at("workers").items().iter();
            workers.map(|worker| worker.at(field).number()).sum()
        };
        let per_second = |field: &str| {
            let past = past.map_or(of_workers(pool, field), |past| of_workers(past, field));
            rate(of_workers(pool, field), past)
        };
        let injected = past.map_or(0.0, |past| {
            rate(pool.at("injected").number(), past.at("injected").number())
        });
        lines.push(String::new());
        lines.push(format!(
            "pool {}: {:.0} jobs/s, {:.0} steals/s, {:.0} wakes/s ({:.0} in vain), {:.0} forced/s, {injected:.0} injected/s, {} queued",
            pool.at("name").text(),
            per_second("executed"),
            per_second("stolen"),
            per_second("woken"),
            per_second("vain"),
            per_second("forced"),
            pool.at("queued").number(),
        ));
        for (index, worker) in pool.at("workers").items().iter().enumerate() {
            lines.push(worker_line(index, worker));
        }
    }
    for runtime in frame.at("runtimes").items() {
        lines.push(String::new());
        let blocking = runtime.at("blocking").items();
        lines.push(format!(
            "runtime {}: {} tasks, {} queued, {} timers, {} sockets, {} blocking threads",
            runtime.at("name").text(),
            runtime.at("alive").number(),
            runtime.at("queued").number(),
            runtime.at("timers").number(),
            runtime.at("sockets").number(),
            blocking.first().map_or(0.0, Value::number),
        ));
    }
    let sites = frame.at("sites").items();
    if !sites.is_empty() {
        lines.push(String::new());
        lines.push(format!(
            "{:>9} {:>10} {:>10} {:>8} {:>10}  loops and joins",
            "calls", "items", "time", "threads", "alone"
        ));
    }
    for site in sites.iter().take(8) {
        let (total, threads) = (site.at("time").number(), site.at("threads").number());
        // Nobody knows of what no sample has met.
        let (shown, alone) = if threads > 0.0 {
            (format!("{threads:.1}"), time(total * threads))
        } else {
            ("–".to_string(), "–".to_string())
        };
        lines.push(format!(
            "{:>9} {:>10} {:>10} {shown:>8} {alone:>10}  {} {}",
            count(site.at("calls").number()),
            count(site.at("items").number()),
            time(total),
            site.at("at").text(),
            site.at("kind").text(),
        ));
    }
    let spawns = frame.at("spawns").items();
    if !spawns.is_empty() {
        lines.push(String::new());
        lines.push(format!(
            "{:>9} {:>10} {:>10} {:>8} {:>10}  tasks",
            "alive", "done", "polls", "ready", "busy"
        ));
    }
    for spawn in spawns.iter().take(10) {
        lines.push(format!(
            "{:>9} {:>10} {:>10} {:>8} {:>10}  {} {}",
            count(spawn.at("alive").number()),
            count(spawn.at("done").number()),
            count(spawn.at("polls").number()),
            count(spawn.at("ready").number()),
            time(spawn.at("busy").number()),
            spawn.at("name").text(),
            spawn.at("at").text(),
        ));
    }
    fitted(&lines, width, height)
}

/// A bar of twenty letters, and where the worker is.
fn worker_line(index: usize, worker: &Value) -> String {
    const LETTERS: [char; 7] = ['#', '=', '%', 'w', '!', '.', ' '];
    let shares: Vec<f64> = worker
        .at("shares")
        .items()
        .iter()
        .map(|share| share.number().clamp(0.0, 1e9))
        .collect();
    let all: f64 = shares.iter().sum::<f64>().max(1e-9);
    let mut bar = String::new();
    let mut reached = 0.0;
    for (share, letter) in shares.iter().zip(LETTERS) {
        reached += share / all * 20.0;
        while (bar.len() as f64) < reached - 0.5 {
            bar.push(letter);
        }
    }
    let used: f64 = shares.iter().take(3).sum::<f64>() / all;
    format!(
        "  {index:>3} [{bar:<20}] {:>3.0} %  {}",
        used * 100.0,
        worker.at("at").text()
    )
}

/// Would it do something, instead of being seen? Controls, and marks that turn the direction of a text.
pub(crate) fn is_for_terminals(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn fitted(lines: &[String], width: usize, height: usize) -> String {
    let mut out = String::new();
    for line in lines.iter().take(height.saturating_sub(1).max(1)) {
        // Names are somebody else's.
        out.extend(harmless(line).chars().take(width.max(20)));
        out.push('\n');
    }
    out
}

/// The text without what a terminal would obey.
fn harmless(text: &str) -> String {
    text.replace(is_for_terminals, "?")
}

fn memory(bytes: f64) -> String {
    format!("{:.1} MiB", bytes / f64::from(1 << 20))
}

fn count(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1} G", n / 1e9),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n if n >= 1e4 => format!("{:.0} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

fn time(ms: f64) -> String {
    match ms {
        ms if ms >= 1e3 => format!("{:.1} s", ms / 1e3),
        ms if ms >= 1.0 => format!("{ms:.1} ms"),
        ms => format!("{:.0} us", ms * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Frame, Pool, Site, Spawn, Worker};

    fn frame(at: f64, stolen: u64) -> Value {
        let mut worker = Worker {
            shares: [125.0, 62.5, 0.0, 0.0, 0.0, 0.0, 62.5],
            at: "src/main.rs:7 for_each".into(),
            ..Worker::default()
        };
        worker.counts.stolen = stolen;
        let frame = Frame {
            at,
            hooks: true,
            pools: vec![Pool {
                name: "global".into(),
                workers: vec![worker],
                ..Pool::default()
            }],
            sites: vec![Site {
                kind: "for_each",
                at: "src/main.rs:7".into(),
                calls: 3,
                time: 1500.0,
                threads: 2.0,
                ..Site::default()
            }],
            spawns: vec![Spawn {
                name: "server".into(),
                at: "src/main.rs:9".into(),
                alive: 4,
                ..Spawn::default()
            }],
            ..Frame::default()
        };
        Value::read(&frame.to_json()).unwrap()
    }

    #[test]
    fn a_frame_becomes_lines_that_fit() {
        let (before, now) = (frame(1000.0, 10), frame(2000.0, 60));
        let text = render(&now, Some(&before), (100, 40));
        assert!(text.contains("50 steals/s"), "{text}");
        assert!(text.contains("[##########=====     ]  75 %"), "{text}");
        assert!(text.contains("3.0 s  src/main.rs:7 for_each"), "{text}");
        assert!(text.contains("server src/main.rs:9"), "{text}");
        let small = render(&now, Some(&before), (30, 5));
        assert_eq!(small.lines().count(), 4);
        assert!(small.lines().all(|line| line.chars().count() <= 30));
    }

    /// What `top` says about somebody who answers like that and goes away, or does not: then it may wait for so long.
    fn said_of(answer: &[u8], stays: Option<Duration>) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let options = Options {
            address: listener.local_addr().unwrap().to_string(),
            once: true,
            size: (100, 40),
            ..Options::default()
        };
        let (done, over) = std::sync::mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 1000];
                let _ = io::Read::read(&mut stream, &mut request);
                let _ = stream.write_all(answer);
                if stays.is_some() {
                    let _ = over.recv();
                }
            });
            let frames = Frames::connect(&options, stays.unwrap_or(PATIENCE));
            let said = match frames.and_then(|mut frames| frames.next_frame()) {
                Ok(None) => "it has ended".to_string(),
                Ok(Some(frame)) => format!("{frame:?}"),
                Err(error) => error.to_string(),
            };
            drop(done);
            said.replace(&options.address, "it")
        })
    }

    #[test]
    fn whoever_is_no_page_is_named_in_plain_words() {
        let soon = Some(Duration::from_millis(300));
        let nothing = "it: nothing has come for 300ms";
        let other = "what answers at it is not a page of blitz-console";
        assert_eq!(said_of(b"", soon), nothing);
        assert_eq!(said_of(b"HTTP/1.1 200 OK\r\n\r\n", soon), nothing);
        assert_eq!(said_of(b"HTTP/1.1 200 OK\r\n\r\n: hello\n", soon), nothing);
        assert_eq!(said_of(b"", None), other);
        assert_eq!(said_of(b"220 mail.example \xff\r\n", None), other);
        assert_eq!(
            said_of(&vec![b'x'; LONGEST_LINE + 100], Some(PATIENCE)),
            other
        );
        assert_eq!(
            said_of(b"HTTP/1.1 200 OK\r\n\r\ndata: hello\n\n", None),
            other
        );
        let endless = [b"HTTP/1.1 200 OK\r\n\r\ndata: ", &*vec![b'['; LONGEST_LINE]].concat();
        assert_eq!(said_of(&endless, Some(PATIENCE)), other);
        assert_eq!(
            said_of(b"HTTP/1.1 200 OK\r\n\r\ndata: {\"cut", None),
            "it has ended"
        );
    }

    #[test]
    fn whoever_goes_before_there_is_anything_to_show_is_an_error() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let options = Options {
            address,
            once: true,
            size: (100, 40),
            ..Options::default()
        };
        let say = |events: &str| {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let (mut stream, _) = listener.accept().unwrap();
                    let _ = io::Read::read(&mut stream, &mut [0; 1000]);
                    let _ = write!(stream, "HTTP/1.1 200 OK\r\n\r\n{events}");
                });
                let mut out = Vec::new();
                run(&options, &mut out).map(|()| String::from_utf8(out).unwrap())
            })
        };
        let error = say("").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{error}");
        // One is enough, if there are no more.
        let shown = say("data: {\"process\":{\"name\":\"short\"}}\n\n").unwrap();
        assert!(shown.starts_with("short (process"), "{shown}");
    }

    #[test]
    fn a_refusal_is_shown_and_is_only_shown() {
        let refusal = b"HTTP/1.1 401 No\r\nContent-Length: 99\r\n\r\nA token,\x1b[2J please.\n";
        let expected = "it says: HTTP/1.1 401 No A token,?[2J please.";
        assert_eq!(said_of(refusal, None), expected);
    }

    #[test]
    fn shares_that_no_worker_has_fit_as_well() {
        let wrong = r#"{"shares":[1e300,-1e300,1e999,-5,null,7]}"#;
        let line = worker_line(0, &Value::read(wrong).unwrap());
        assert!(line.chars().count() < 50, "{line}");
        assert!(!line.contains("NaN"), "{line}");
    }

    #[test]
    fn names_cannot_write_to_the_terminal_what_they_like() {
        let mut hostile = Frame {
            hooks: true,
            ..Frame::default()
        };
        hostile.process.name = "a\u{1b}]0;title\u{7}".into();
        hostile.spawns.push(Spawn {
            name: "\u{1b}[2J\r\nother\u{9b}31m\u{202e}".into(),
            ..Spawn::default()
        });
        let frame = Value::read(&hostile.to_json()).unwrap();
        let text = render(&frame, None, (100, 40));
        assert!(text.contains("other"), "{text:?}");
        let is_harmless = |letter: char| letter == '\n' || !is_for_terminals(letter);
        assert!(text.chars().all(is_harmless), "{text:?}");
        assert_eq!(
            text.lines().filter(|line| line.contains("other")).count(),
            1
        );
        let own = text.lines().filter(|line| line.starts_with("other"));
        assert_eq!(own.count(), 0, "a line of its own: {text:?}");
    }
}
