//! `blitz-bench`: the benchmarks as a program of their own. All of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    blitz_bench::main(&[], &words)
}
