//! `blitz-gallery profile EXAMPLE --out DIR`, `blitz-gallery trace EXAMPLE --out DIR`: what `blitz profile` and `blitz trace` run.
//!
//! Both need an engine that was built with its measuring hooks, and benchmarks need one without: a fork inside of the
//! profiler's reach is not the fork that a user pays for. So these are two programs.

use blitz_gallery::{Example, named};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str =
    "usage: blitz-gallery profile|trace EXAMPLE [--out DIR]\nexample: blitz-gallery trace fib";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = read(&words).and_then(|(tool, example, directory)| tool(example, &directory));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("blitz-gallery: {message}");
            ExitCode::FAILURE
        }
    }
}

type Tool = fn(&Example, &Path) -> Result<(), String>;

fn read(words: &[String]) -> Result<(Tool, &'static Example, PathBuf), String> {
    let (tool, rest): (Tool, _) = match words.split_first() {
        Some((word, rest)) if word == "profile" => (profile, rest),
        Some((word, rest)) if word == "trace" => (trace, rest),
        _ => return Err(USAGE.into()),
    };
    let (name, directory) = match rest {
        [name] => (name, "target"),
        [name, flag, directory] if flag == "--out" => (name, directory.as_str()),
        _ => return Err(USAGE.into()),
    };
    Ok((tool, named(name)?, directory.into()))
}

fn profile(example: &Example, directory: &Path) -> Result<(), String> {
    warm_up(example)?;
    let (outcome, profile) = blitz::profile(example.run);
    outcome?;
    println!("{profile}");
    let path = |extension| directory.join(format!("blitz-profile-{}.{extension}", example.name));
    write(&path("json"), &profile.to_json())?;
    write(&path("svg"), &profile.to_svg())
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

/// Once for nothing: threads start, pages fault in, loops learn their pace.
fn warm_up(example: &Example) -> Result<(), String> {
    println!("{}: {}\n", example.name, example.what);
    (example.run)()
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
