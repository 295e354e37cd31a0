//! `blitz profile EXAMPLE` and `blitz trace EXAMPLE`.
//!
//! Both need an engine that was built with its measuring hooks, and benchmarks need one without: a fork inside of the
//! profiler's reach is not the fork that a user pays for. So the ordinary program has no hooks, and builds a second program,
//! with the cargo feature `tools`, when it is asked for one of these. It lands beside the first, in `target/tools`.

use crate::words::ToolOptions;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the subcommand.
pub fn run(options: &ToolOptions) -> ExitCode {
    let directory = options.out.clone().unwrap_or_else(target_directory);
    #[cfg(feature = "tools")]
    let outcome = with_hooks::run(options, &directory);
    #[cfg(not(feature = "tools"))]
    let outcome = second_program(options, &directory);
    outcome.unwrap_or_else(|message| {
        eprintln!("blitz: {}: {message}", options.tool.name());
        ExitCode::FAILURE
    })
}

/// Where cargo builds into, if this program lies there; else `target`.
pub fn target_directory() -> PathBuf {
    let program = std::env::current_exe().ok();
    // The program is target/release/blitz, or somewhere else entirely if it was installed.
    let build = program
        .as_deref()
        .and_then(|program| program.parent()?.parent());
    build
        .filter(|target| target.join("CACHEDIR.TAG").exists())
        .map_or_else(|| PathBuf::from("target"), Path::to_path_buf)
}

/// Builds the program with hooks, and lets it do the same.
#[cfg(not(feature = "tools"))]
fn second_program(options: &ToolOptions, directory: &Path) -> Result<ExitCode, String> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    if !Path::new(manifest).exists() {
        return Err("this needs the sources: run it with `cargo run --release` in a clone".into());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tools = target_directory().join("tools");
    if !tools.exists() {
        eprintln!(
            "blitz: building once more, with measuring hooks in the engine; this takes a minute or two"
        );
    }
    let status = std::process::Command::new(cargo)
        .args(["run", "--quiet", "--release", "--manifest-path", manifest])
        .args(["--features", "tools", "--target-dir"])
        .arg(&tools)
        .args(["--", options.tool.name(), options.example, "--out"])
        .arg(directory)
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

#[cfg(feature = "tools")]
mod with_hooks {
    use super::*;
    use crate::gallery;
    use crate::terminal::print;
    use crate::words::Tool;

    pub fn run(options: &ToolOptions, directory: &Path) -> Result<ExitCode, String> {
        let example = gallery::named(options.example)?;
        print(&format!("{}: {}\n\n", example.name, example.what));
        // Once for nothing: threads start, pages fault in, loops learn their pace.
        (example.run)()?;
        let (outcome, table, files) = match options.tool {
            Tool::Profile => {
                let (outcome, profile) = blitz::profile(example.run);
                let files = [("json", profile.to_json()), ("svg", profile.to_svg())];
                (outcome, profile.to_string(), files)
            }
            Tool::Trace => {
                let (outcome, trace) = blitz::trace(example.run);
                let files = [("json", trace.to_chrome_json()), ("svg", trace.to_svg())];
                (outcome, trace.to_string(), files)
            }
        };
        outcome?;
        print(&table);
        print("\n");
        std::fs::create_dir_all(directory)
            .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
        for (extension, text) in files {
            let name = format!("blitz-{}-{}.{extension}", options.tool.name(), example.name);
            let path = directory.join(name);
            std::fs::write(&path, text)
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            print(&format!("written: {}\n", path.display()));
        }
        if options.tool == Tool::Trace {
            print(
                "Open the JSON at ui.perfetto.dev or chrome://tracing, the SVG in any browser.\n",
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}
