//! What another program of this repository does, built by cargo when it is first asked for.
//!
//! `blitz profile` and `blitz trace` need an engine with measuring hooks, and benchmarks need one without. `blitz bench` of
//! some groups needs libraries that take longer to compile than everything else together, and the tour does without them. So this
//! program has neither, which is why a newcomer sees the tour soon, and passes such wishes on.

use crate::words::ToolOptions;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Profiles or traces an example.
pub fn tool(options: &ToolOptions) -> ExitCode {
    let directory = options.out.clone().unwrap_or_else(target_directory);
    let program = Program {
        package: "blitz-gallery",
        flags: &["--features", "tools"],
        why: "the engine again, with measuring hooks",
        takes: "half a minute to a minute on two cores",
    };
    program.run(|cargo| {
        cargo.args([options.tool.name(), options.example, "--out"]);
        cargo.arg(&directory);
    })
}

/// Runs groups of benchmarks with everything there is to compare with.
pub fn full_bench(words: &[String]) -> ExitCode {
    let program = Program {
        package: "blitz-bench",
        flags: &[],
        why: "the benchmarks with all libraries to compare with",
        takes: "two to four minutes on two cores",
    };
    program.run(|cargo| {
        cargo.args(words);
    })
}

/// A program of this repository.
struct Program {
    package: &'static str,
    flags: &'static [&'static str],
    why: &'static str,
    takes: &'static str,
}

impl Program {
    /// Builds it if need be and runs it; its exit code is ours.
    fn run(&self, add_words: impl FnOnce(&mut Command)) -> ExitCode {
        self.try_run(add_words).unwrap_or_else(|message| {
            eprintln!("blitz: {message}");
            ExitCode::FAILURE
        })
    }

    fn try_run(&self, add_words: impl FnOnce(&mut Command)) -> Result<ExitCode, String> {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
        if !Path::new(manifest).exists() {
            return Err(format!(
                "this needs the sources ({}): run it with `cargo run --release` in a clone",
                self.why
            ));
        }
        // Features of one program must not cost the other one its build: each has a directory.
        let target = target_directory().join(self.package);
        if !target.exists() {
            eprintln!(
                "blitz: building {}, once; this takes {}",
                self.why, self.takes
            );
        }
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .args(["run", "--quiet", "--release", "--manifest-path", manifest])
            .args(["--package", self.package, "--target-dir"])
            .arg(&target)
            .args(self.flags)
            .arg("--");
        add_words(&mut cargo);
        let status = cargo
            .status()
            .map_err(|error| format!("cargo cannot be started: {error}"))?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(ExitCode::from(code.unwrap_or(1)))
    }
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
