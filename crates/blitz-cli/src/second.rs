//! What another program of this repository does, built by cargo when it is first asked for.
//!
//! `blitz profile` and `blitz trace` need an engine with measuring hooks, and benchmarks need one without. `blitz bench` of
//! some groups needs libraries that take longer to compile than everything else together, and the tour does without them. So this
//! program has neither, which is why a newcomer sees the tour soon, and passes such wishes on.

use crate::words::ProgramOptions;
use blitz_gallery::words::Wish;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Profiles or traces an example.
pub fn tool(wish: &Wish) -> ExitCode {
    let directory = wish.out.clone().unwrap_or_else(target_directory);
    GALLERY.run(|cargo| {
        cargo.args([wish.tool.name(), wish.example.name, "--out"]);
        cargo.arg(&directory);
    })
}

/// Profiles an example; where the recording is.
pub fn record(example: &str) -> Result<PathBuf, String> {
    let directory = target_directory();
    output_of(&["profile", example, "--out"], &directory)?;
    Ok(directory.join(format!("blitz-profile-{example}.recording")))
}

/// Measures an example on pools of several sizes: what the second program says.
pub fn measured(example: &str) -> Result<String, String> {
    output_of(&["measure", example, "--out"], &target_directory())
}

/// What a pool of that measurement has recorded.
pub fn measured_recording(example: &str, threads: u64) -> PathBuf {
    target_directory().join(format!("blitz-measured-{example}-{threads}.recording"))
}

/// What the gallery prints.
fn output_of(words: &[&str], directory: &Path) -> Result<String, String> {
    let mut cargo = GALLERY.command()?;
    cargo.args(words).arg(directory);
    cargo.stderr(std::process::Stdio::inherit());
    let output = cargo
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(format!("the second program failed:\n{text}"))
    }
}

const GALLERY: Program = Program {
    package: "blitz-gallery",
    flags: &["--features", "tools"],
    why: "the engine again, with measuring hooks",
    takes: "half a minute to a minute on two cores",
};

/// Runs a program of the user's with the measuring hooks, and makes pages of what it has recorded.
pub fn profile_program(options: &ProgramOptions) -> ExitCode {
    try_profile_program(options).unwrap_or_else(|message| {
        eprintln!("blitz: {message}");
        ExitCode::FAILURE
    })
}

fn try_profile_program(options: &ProgramOptions) -> Result<ExitCode, String> {
    let out = options
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("target/blitz-profile"));
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--release", "--features", "blitz-rt/profile"]);
    cargo.args(["--bin", &options.bin]);
    if let Some(package) = &options.package {
        cargo.args(["--package", package]);
    }
    let absolute = std::path::absolute(&out).unwrap_or_else(|_| out.clone());
    forget_profiles(&absolute);
    cargo.arg("--").args(&options.words);
    cargo.env("BLITZ_PROFILE", &absolute);
    let status = cargo
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    let (found, broken) = pages(&absolute, &options.bin)?;
    if !status.success() {
        // Programs may end like that on purpose. What was recorded is there.
        return Err(format!("the program failed: {status}"));
    }
    if found == 0 {
        return Err(format!(
            "{} has recorded nothing: what is to be seen goes into `blitz::profile::record(|| …)`",
            options.bin
        ));
    }
    Ok(if broken == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Removes what an earlier run has left in the folder, which would be taken for this one's. The folder may have other things in it.
fn forget_profiles(folder: &Path) {
    for number in 0.. {
        let parts = ["txt", "json", "recording", "html"]
            .map(|extension| folder.join(format!("profile-{number}.{extension}")));
        let removed = parts.map(|part| std::fs::remove_file(part).is_ok());
        if !removed.contains(&true) {
            return;
        }
    }
}

/// Makes pages of the recordings in a folder: how many there are, and how many of them cannot be read. The others do not suffer for those.
fn pages(folder: &Path, bin: &str) -> Result<(usize, usize), String> {
    let (mut number, mut broken) = (0, 0);
    loop {
        let file = |extension| folder.join(format!("profile-{number}.{extension}"));
        let recording = file("recording");
        if !recording.exists() {
            return Ok((number, broken));
        }
        let text = std::fs::read_to_string(&recording).map_err(|error| error.to_string());
        let program = text.and_then(|text| blitz_simulate::Program::read(&text));
        let table = std::fs::read_to_string(file("txt")).unwrap_or_default();
        println!("\n{table}");
        let mut written = vec!["json", "recording"];
        match program {
            Ok(program) => {
                let title = format!("{bin} ({number})");
                let machine = blitz_simulate::Machine::with_cores(2);
                let page = blitz_simulate::page::html(&title, &program, &machine, Some(&table));
                std::fs::write(file("html"), page).map_err(|error| error.to_string())?;
                written.push("html");
            }
            Err(error) => {
                eprintln!("blitz: {}: {error}", recording.display());
                broken += 1;
            }
        }
        for extension in written {
            println!("written: {}", file(extension).display());
        }
        number += 1;
    }
}

/// Runs a program to look at while it runs.
pub fn console(words: &[String]) -> ExitCode {
    let program = Program {
        package: "blitz-console",
        flags: &["--features", "hooks", "--example", "demo"],
        why: "a program to look at, with hooks for the console",
        takes: "half a minute to a minute on two cores",
    };
    program.run(|cargo| {
        cargo.args(words);
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
        let mut cargo = self.command()?;
        add_words(&mut cargo);
        let status = cargo
            .status()
            .map_err(|error| format!("cargo cannot be started: {error}"))?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(ExitCode::from(code.unwrap_or(1)))
    }

    /// Builds it if need be and runs it, with the words that are added.
    fn command(&self) -> Result<Command, String> {
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
        Ok(cargo)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_recording_does_not_hide_those_that_follow() {
        let folder = std::env::temp_dir().join(format!("blitz-pages-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let good = "blitz recording 1\nplace a\nsteps\nr 9 9 0 0\n";
        for (number, text) in [good, "broken", good].iter().enumerate() {
            let file = folder.join(format!("profile-{number}.recording"));
            std::fs::write(file, text).unwrap();
        }
        assert_eq!(pages(&folder, "program"), Ok((3, 1)));
        let written = |number| folder.join(format!("profile-{number}.html")).exists();
        assert_eq!([0, 1, 2].map(written), [true, false, true]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_not_of_an_earlier_profile_stays() {
        let folder = std::env::temp_dir().join(format!("blitz-second-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let names = ["profile-0.json", "profile-0.html", "profile-1.recording"];
        for name in names.iter().chain(&["kept.txt", "profile.json"]) {
            std::fs::write(folder.join(name), "").unwrap();
        }
        forget_profiles(&folder);
        let left = |name: &str| folder.join(name).exists();
        assert!(names.iter().all(|name| !left(name)));
        assert!(left("kept.txt") && left("profile.json"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
