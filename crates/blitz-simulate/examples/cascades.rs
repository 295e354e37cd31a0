//! Speed-ups of recordings by several rules of whom a woken thread wakes: `cargo run --release -p blitz-simulate --example cascades -- A.recording B.recording`.
//!
//! The table of `docs/guide/simulating.md` is made with it.

use blitz_simulate::{Cascade, Machine, Program, mean_speedup};

const RULES: [(&str, Cascade); 8] = [
    ("one, if nobody searches", Cascade::Chain),
    ("two, whoever searches", Cascade::Tree),
    ("what is seen, one at most", Cascade::Seen(1)),
    ("what is seen, two at most", Cascade::Seen(2)),
    ("until two search", Cascade::Until(2)),
    ("until four search", Cascade::Until(4)),
    ("until eight search", Cascade::Until(8)),
    ("until four, not at once", Cascade::Later(4)),
];

fn main() -> Result<(), String> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let programs: Vec<Program> = paths
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
            Program::read(&text).map_err(|error| format!("{path}: {error}"))
        })
        .collect::<Result<_, _>>()?;
    for (path, program) in paths.iter().zip(&programs) {
        let (work, span) = (program.work_ns(), program.span_ns().max(1));
        println!(
            "{path}: {:.1} ms of work, parallelism {:.0}",
            work as f64 / 1e6,
            work as f64 / span as f64
        );
    }
    for cores in [2, 8, 16, 64, 256] {
        println!("{cores} cores");
        for (name, cascade) in RULES {
            print!("  {name:<28}");
            for program in &programs {
                let machine = Machine {
                    cascade,
                    ..Machine::with_cores(cores)
                };
                print!("{:>8.2}", mean_speedup(program, &machine, 16));
            }
            println!();
        }
    }
    Ok(())
}
