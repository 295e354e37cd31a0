//! `blitz`: see what Blitz does on this machine.
//!
//! One file per subcommand: [`tour`], [`doctor`], [`simulate`], [`top`]; `bench` and `stress` are the library of `blitz-bench`; [`second`] passes on what
//! this program does not have (profiles, traces, the console's demo, benchmarks against everybody). [`words`] reads the command line, [`terminal`] writes to a person or to a file, [`machine`] collects facts.

mod chart;
mod doctor;
mod html;
mod machine;
mod second;
mod simulate;
mod svg;
mod terminal;
mod top;
mod tour;
mod words;

use std::process::ExitCode;

use words::Command;

fn main() -> ExitCode {
    // Before anything is pinned.
    blitz_bench::pin::cpus_at_start();
    terminal::restore_on_interrupt();
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words::parse(&words) {
        Ok(Command::Help(text)) => {
            terminal::print(&text);
            ExitCode::SUCCESS
        }
        Ok(Command::Tour(options)) => tour::run(&options),
        Ok(Command::Bench(words)) if !blitz_bench::has_all_of(&words) => second::full_bench(&words),
        Ok(Command::Bench(words)) => blitz_bench::main(&["bench"], &words),
        Ok(Command::Doctor) => doctor::run(),
        Ok(Command::Tool(options)) => second::tool(&options),
        Ok(Command::ProfileProgram(options)) => second::profile_program(&options),
        Ok(Command::Simulate(options)) => simulate::run(&options),
        Ok(Command::Top(options)) => top::run(&options),
        Ok(Command::Console(words)) => second::console(&words),
        Err(message) => {
            eprintln!("blitz: {message}");
            ExitCode::from(2)
        }
    }
}
