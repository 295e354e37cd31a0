//! `blitz-gallery profile EXAMPLE --out DIR`, `blitz-gallery trace EXAMPLE --out DIR`, `blitz-gallery measure EXAMPLE`: what `blitz profile`, `blitz trace` and
//! `blitz simulate` run.
//!
//! Both need an engine that was built with its measuring hooks, and benchmarks need one without: a fork inside of the
//! profiler's reach is not the fork that a user pays for. So these are two programs.

use blitz_gallery::Example;
use blitz_gallery::words::{Tool, Wish};
use blitz_simulate::{Machine, Program, page};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match read(&words).and_then(|wish| run(&wish)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("blitz-gallery: {message}");
            ExitCode::FAILURE
        }
    }
}

fn read(words: &[String]) -> Result<Wish, String> {
    let usage = "usage: blitz-gallery profile|trace|measure EXAMPLE [--out DIR]\nexample: blitz-gallery trace fib";
    let (first, rest) = words.split_first().ok_or(usage)?;
    let tool = Tool::ALL.into_iter().find(|tool| tool.name() == first);
    Wish::read(tool.ok_or(usage)?, rest).map_err(|error| format!("{error}\n\n{usage}"))
}

fn run(wish: &Wish) -> Result<(), String> {
    let directory = wish.out.as_deref().unwrap_or(Path::new("target"));
    match wish.tool {
        Tool::Profile => profile(wish.example, directory),
        Tool::Trace => trace(wish.example, directory),
        Tool::Measure => measure(wish.example, directory),
    }
}

fn profile(example: &Example, directory: &Path) -> Result<(), String> {
    warm_up(example)?;
    let (outcome, profile) = blitz::profile::record(example.run);
    outcome?;
    println!("{profile}");
    let recording = profile.recording().unwrap_or_default();
    let program = Program::read(recording)?;
    let page = page::html(
        example.name,
        &program,
        &Machine::with_cores(2),
        Some(&profile.to_string()),
    );
    let path = |extension| directory.join(format!("blitz-profile-{}.{extension}", example.name));
    write(&path("json"), &profile.to_json())?;
    write(&path("svg"), &profile.to_svg())?;
    write(&path("recording"), recording)?;
    write(&path("html"), &page)
}

/// Runs an example on pools of several sizes without recording anything, for the simulator to compare with: threads, the shortest time in
/// nanoseconds (other programs only make it longer), and medians of thefts and wakes. Before that, what things cost in this program, whose forks have hooks.
///
/// Each pool also records it once more: what plans by the number of threads (sorts, scans) does something else on each.
fn measure(example: &Example, directory: &Path) -> Result<(), String> {
    for (name, ns) in blitz_simulate::measure::costs().all() {
        println!("cost {name} {ns}");
    }
    for threads in [1, 2, 8, 64] {
        let pool = blitz::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| error.to_string())?;
        let mut runs = Vec::new();
        let begin = Instant::now();
        for run in 0.. {
            if run >= WARM_UPS + 15 && begin.elapsed() > ENOUGH || run == WARM_UPS + MOST_RUNS {
                break;
            }
            // As a recording begins: everybody sleeps.
            std::thread::sleep(Duration::from_millis(2));
            // And on a thread of the pool: handing the work over is no part of it.
            let (outcome, elapsed, stats) = pool.install(|| {
                pool.reset_stats();
                let begin = Instant::now();
                let outcome = (example.run)();
                (outcome, begin.elapsed().as_nanos(), pool.stats().total)
            });
            outcome?;
            if run >= WARM_UPS {
                runs.push((elapsed, stats.stolen, stats.woken));
            }
        }
        let mut recorded = Vec::new();
        for _ in 0..RECORDINGS {
            let (outcome, profile) = pool.install(|| blitz::profile::record(example.run));
            outcome?;
            recorded.push(profile);
        }
        recorded.sort_by_key(blitz::profile::Profile::work);
        let recording = recorded[0].recording();
        let path = directory.join(format!(
            "blitz-measured-{}-{threads}.recording",
            example.name
        ));
        write(&path, recording.unwrap_or_default())?;
        let middle = |mut values: Vec<u128>| {
            values.sort_unstable();
            values[values.len() / 2]
        };
        println!(
            "measured {threads} {} {} {}",
            runs.iter().map(|run| run.0).min().unwrap_or(0),
            middle(runs.iter().map(|run| u128::from(run.1)).collect()),
            middle(runs.iter().map(|run| u128::from(run.2)).collect()),
        );
    }
    Ok(())
}

fn trace(example: &Example, directory: &Path) -> Result<(), String> {
    warm_up(example)?;
    let (outcome, trace) = blitz::trace(example.run);
    outcome?;
    println!("{trace}");
    let path = |extension| directory.join(format!("blitz-trace-{}.{extension}", example.name));
    write(&path("json"), &trace.to_chrome_json())?;
    write(&path("svg"), &trace.to_svg())?;
    println!("Open the JSON at ui.perfetto.dev or chrome://tracing, the SVG in any browser.");
    Ok(())
}

/// Short computations are run more than fifteen times: the shortest of many disturbed ones is hardly disturbed.
const ENOUGH: Duration = Duration::from_secs(1);
const MOST_RUNS: usize = 200;

/// Of so many recordings, the one with the least work is kept: what disturbs makes it more, and the time beside it is the shortest, too.
const RECORDINGS: usize = 25;

/// For nothing: threads start, pages fault in, loops learn their pace, the allocator learns which blocks to keep.
const WARM_UPS: usize = 3;

fn warm_up(example: &Example) -> Result<(), String> {
    println!("{}: {}\n", example.name, example.what);
    (0..WARM_UPS).try_for_each(|_| (example.run)())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(path, text))
        .map_err(|error| {
            format!(
                "cannot write {}: {error}; choose another place with --out DIR",
                path.display()
            )
        })?;
    println!("written: {}", path.display());
    Ok(())
}
