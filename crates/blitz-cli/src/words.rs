//! The command line: what the user asks for, or a short message about what was wrong with it.
//!
//! Parsing is pure, so that every rule here has a test.

use blitz_gallery::words::{Tool, Wish};
use blitz_gallery::{self as gallery, EXAMPLES};
use lexopt::prelude::*;
use std::path::PathBuf;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print this text.
    Help(String),
    /// Show every promise on this machine.
    Tour(TourOptions),
    /// Hand these words to the benchmarks.
    Bench(Vec<String>),
    /// Say what would make this machine slow or noisy.
    Doctor,
    /// Profile or trace an example.
    Tool(Wish),
    /// Profile a program of the user's.
    ProfileProgram(ProgramOptions),
    /// Simulate a recorded computation on other machines.
    Simulate(SimulateOptions),
    /// Show a running program in the terminal.
    Top(TopOptions),
    /// Hand these words to the console's demo.
    Console(Vec<String>),
}

/// Which program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOptions {
    /// Its name, for `cargo run --bin`.
    pub bin: String,
    /// Its package, if cargo needs to be told.
    pub package: Option<String>,
    /// A directory, if not the usual one.
    pub out: Option<PathBuf>,
    /// The program's own words.
    pub words: Vec<String>,
}

/// What to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An example, to be recorded first.
    Example(&'static str),
    /// A recording.
    File(PathBuf),
}

/// What to simulate, and on which machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulateOptions {
    /// What.
    pub subject: Subject,
    /// On so many cores.
    pub cores: Vec<usize>,
    /// What things cost, where it is said.
    pub costs: Vec<(String, u64)>,
    /// Measure on this machine what things cost.
    pub measure: bool,
    /// Run it for comparison.
    pub check: bool,
    /// Where the curves go.
    pub out: Option<PathBuf>,
}

/// Which program to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopOptions {
    /// Where it serves its page.
    pub address: String,
    /// The token that it was given.
    pub token: Option<String>,
    /// Show it once, instead of until it ends.
    pub once: bool,
}

/// How to run the tour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TourOptions {
    /// A smoke run: everything once, some seconds in all; figures are rough.
    pub quick: bool,
    /// Where the report goes, if not to its usual place.
    pub out: Option<PathBuf>,
}

/// A subcommand and its help.
struct Sub {
    name: &'static str,
    what: &'static str,
    usage: &'static str,
    details: &'static str,
    example: &'static str,
}

const SUBS: &[Sub] = &[
    Sub {
        name: "tour",
        what: "a minute on this machine: every promise, measured, with a report to open in a browser",
        usage: "blitz tour [--quick] [--out FILE]",
        details: "  --quick      everything once, in some seconds; the figures are rough\n  \
                  --out FILE   write the report there instead of target/blitz-tour.html\n\n\
                  Without any words, `blitz` is `blitz tour`. Ctrl-C stops it at any time.",
        example: "blitz tour --out report.html",
    },
    Sub {
        name: "bench",
        what: "groups of benchmarks against plain code, rayon and chili",
        usage: "blitz bench GROUP… [--quick] [--json]",
        details: "`blitz bench --help` lists the groups and all flags. For groups with many peers (sort, tasks, net …) it builds a second program,\n\
                  with all of them, the first time.",
        example: "blitz bench join entry --quick",
    },
    Sub {
        name: "doctor",
        what: "what would make this machine slow or noisy, and what to do about it",
        usage: "blitz doctor",
        details: "Looks for some seconds; changes nothing.",
        example: "blitz doctor",
    },
    Sub {
        name: "stress",
        what: "random programs, chains, locks, ends and forks on many pools and runtimes, all checked",
        usage: "blitz stress [--seconds N] [--seed N] [--only SCENARIO]",
        details: "  --seconds N      how long (30 without it)\n  --seed N         first seed, to repeat a failure\n  --only SCENARIO  \
                  only this one, or several with commas between: programs, tasks, chains, sorts, ops, locks, guests,\n                   idle_waits, ends, \
                  blocking, current_thread, descriptors, forks\n\n\
                  Exit codes: 0 all correct, 1 a wrong result, 3 no progress for a minute.",
        example: "blitz stress --seconds 60",
    },
    Sub {
        name: "profile",
        what: "work, span and predicted speed-up on 2 to 256 cores, of an example or of any program",
        usage: "blitz profile EXAMPLE [--out DIR]\n       blitz profile --bin PROGRAM [--package NAME] [--out DIR] [-- WORDS…]",
        details: "Prints a table; writes JSON, a recording for `blitz simulate`, and a page (HTML) with the speed-up, the places that make the span, and a picture\n\
                  of work and span. Builds a second program, with measuring hooks, the first time.\n\n\
                  --bin PROGRAM runs a program of the crate you are in, with the feature `profile` of blitz-rt; what it does inside of\n\
                  `blitz::profile::record(|| …)` is shown.",
        example: "blitz profile queens",
    },
    Sub {
        name: "simulate",
        what: "what 2 to 1024 cores would do with a recorded computation, by the engine's rules",
        usage: "blitz simulate EXAMPLE|RECORDING [--cores 2..1024] [--costs NAME=NS,…] [--measure] [--check] [--out FILE]",
        details: "  --cores A..B       powers of two from A to B; or a list with commas\n  \
                  --costs NAME=NS,…  what things cost there; the first line of the output has all names\n  \
                  --measure          measure what this machine can tell (some tenths of a second)\n  \
                  --check            run the example here, with 1, 2, 8 and 64 threads, and compare\n  \
                  --out FILE         write the curves there (SVG)\n\n\
                  Beside the engine's rules it shows the same with unrestricted stealing, and as if the words that all threads write were free.",
        example: "blitz simulate queens --cores 2..256",
    },
    Sub {
        name: "trace",
        what: "what each thread did, when: run, steal, search, sleep, wait, wake, expose",
        usage: "blitz trace EXAMPLE [--out DIR]",
        details: "Prints a table; writes a trace for ui.perfetto.dev (JSON) and a timeline (SVG). Builds a second program, with measuring \
                  hooks, the first time.",
        example: "blitz trace scope",
    },
    Sub {
        name: "console",
        what: "a program to look at: a server and a computation share a pool, and a page shows it, live",
        usage: "blitz console demo [ADDRESS] [--seconds N]",
        details: "  ADDRESS      where the page is served (127.0.0.1:6670 without it)\n  --seconds N  how long (until Ctrl-C without it)\n\n\
                  Builds a second program, with hooks for the page, the first time. Your own program gets such a page by one line: \
                  blitz_console::serve.",
        example: "blitz console demo",
    },
    Sub {
        name: "top",
        what: "the same in the terminal, for any program that serves such a page",
        usage: "blitz top ADDRESS [--token TOKEN] [--once]",
        details: "  --token TOKEN  what the program was given (or BLITZ_CONSOLE_TOKEN)\n  --once         one look; so it is if the output is not a terminal\n\n\
                  # computing, = polling tasks, % a guest computes, w waits for others' work, ! waits for a lock, . searching",
        example: "blitz top 127.0.0.1:6670",
    },
];

/// Reads the words after the program's name.
pub fn parse(words: &[String]) -> Result<Command, String> {
    let Some((first, rest)) = words.split_first() else {
        return Ok(Command::Tour(TourOptions::default()));
    };
    let wants_help = rest.iter().any(|word| word == "--help" || word == "-h");
    match first.as_str() {
        "--help" | "-h" => Ok(Command::Help(help())),
        "--version" | "-V" => {
            let version = concat!("blitz ", env!("CARGO_PKG_VERSION"), "\n");
            Ok(Command::Help(version.into()))
        }
        "help" => match rest {
            [] => Ok(Command::Help(help())),
            [name, ..] => Ok(Command::Help(help_of(find(name)?))),
        },
        // The benchmarks have a help text and messages of their own.
        "bench" => Ok(Command::Bench(rest.to_vec())),
        // Flags without a subcommand are the tour's.
        name if name.starts_with('-') => read(find("tour")?, words),
        name => match find(name)? {
            sub if wants_help => Ok(Command::Help(help_of(sub))),
            sub => read(sub, rest),
        },
    }
}

/// Reads what is behind the name of a subcommand.
fn read(sub: &Sub, words: &[String]) -> Result<Command, String> {
    let command = match sub.name {
        "tour" => tour(words),
        "stress" => {
            let name = [sub.name.to_string()];
            Ok(Command::Bench([&name[..], words].concat()))
        }
        "console" => console(words),
        "top" => top(words),
        "profile" if words.iter().any(|word| word.starts_with("--bin")) => program(words),
        "profile" => Wish::read(Tool::Profile, words).map(Command::Tool),
        "simulate" => simulate(words),
        "trace" => Wish::read(Tool::Trace, words).map(Command::Tool),
        _ => doctor(words),
    };
    let Sub {
        name,
        usage,
        example,
        ..
    } = sub;
    command.map_err(|error| format!("{name}: {error}\n\nusage: {usage}\nexample: {example}"))
}

fn tour(words: &[String]) -> Result<Command, lexopt::Error> {
    let mut options = TourOptions::default();
    let mut parser = lexopt::Parser::from_args(words);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("quick") => options.quick = true,
            Long("out") => options.out = Some(parser.value()?.into()),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Tour(options))
}

fn console(words: &[String]) -> Result<Command, lexopt::Error> {
    let (first, rest) = words.split_first().ok_or("what? There is 'demo'")?;
    if first != "demo" {
        return Err(format!("there is no '{first}'; there is 'demo'").into());
    }
    let mut has_address = false;
    let mut parser = lexopt::Parser::from_args(rest);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("seconds") => drop(parser.value()?.parse::<u64>()?),
            Value(_) if !has_address => has_address = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Console(rest.to_vec()))
}

fn top(words: &[String]) -> Result<Command, lexopt::Error> {
    let (mut address, mut token, mut once) = (None, None, false);
    let mut parser = lexopt::Parser::from_args(words);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("token") => token = Some(parser.value()?.string()?),
            Long("once") => once = true,
            Value(word) if address.is_none() => address = Some(word.string()?),
            other => return Err(other.unexpected()),
        }
    }
    let address = address.ok_or("which address? The program says it")?;
    Ok(Command::Top(TopOptions {
        address,
        token,
        once,
    }))
}

fn program(words: &[String]) -> Result<Command, lexopt::Error> {
    let mut options = ProgramOptions {
        bin: String::new(),
        package: None,
        out: None,
        words: Vec::new(),
    };
    let end = words.iter().position(|word| word == "--");
    let (ours, theirs) = words.split_at(end.unwrap_or(words.len()));
    options.words = theirs.iter().skip(1).cloned().collect();
    let mut parser = lexopt::Parser::from_args(ours);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("bin") => options.bin = parser.value()?.string()?,
            Long("package") | Short('p') => options.package = Some(parser.value()?.string()?),
            Long("out") => options.out = Some(parser.value()?.into()),
            other => return Err(other.unexpected()),
        }
    }
    if options.bin.is_empty() {
        return Err("which program? --bin PROGRAM".into());
    }
    Ok(Command::ProfileProgram(options))
}

fn simulate(words: &[String]) -> Result<Command, lexopt::Error> {
    let mut subject = None;
    let mut options = SimulateOptions {
        subject: Subject::File(PathBuf::new()),
        cores: cores("2..1024").expect("these are right"),
        costs: Vec::new(),
        measure: false,
        check: false,
        out: None,
    };
    let mut parser = lexopt::Parser::from_args(words);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("cores") => options.cores = cores(&parser.value()?.string()?)?,
            Long("costs") => options.costs = costs(&parser.value()?.string()?)?,
            Long("measure") => options.measure = true,
            Long("check") => options.check = true,
            Long("out") => options.out = Some(parser.value()?.into()),
            Value(word) if subject.is_none() => {
                let known = word.to_str().and_then(|word| gallery::named(word).ok());
                subject = Some(match known {
                    Some(example) => Subject::Example(example.name),
                    None => Subject::File(word.into()),
                });
            }
            other => return Err(other.unexpected()),
        }
    }
    options.subject = subject.ok_or("which recording, or which example?")?;
    Ok(Command::Simulate(options))
}

/// `2..64`: powers of two; `3,5`: these.
fn cores(word: &str) -> Result<Vec<usize>, String> {
    const MOST: usize = 1 << 14;
    let number = |word: &str| match word.parse::<usize>() {
        Ok(number) if (1..=MOST).contains(&number) => Ok(number),
        _ => Err(format!("'{word}' is no number of cores (1 to {MOST})")),
    };
    match word.split_once("..") {
        None => word.split(',').map(number).collect(),
        Some((from, to)) => {
            let (from, to) = (number(from)?, number(to)?);
            let powers = std::iter::successors(Some(from), |cores| Some(cores * 2));
            let cores: Vec<usize> = powers.take_while(|&cores| cores <= to).collect();
            if cores.is_empty() {
                return Err(format!("there is nothing in {word}"));
            }
            Ok(cores)
        }
    }
}

/// `steal=200,wake=5000`.
fn costs(word: &str) -> Result<Vec<(String, u64)>, String> {
    let mut known = blitz_simulate::Costs::default();
    word.split(',')
        .map(|one| {
            let (name, ns) = one
                .split_once('=')
                .ok_or(format!("'{one}' is not NAME=NS"))?;
            let ns = ns
                .parse()
                .map_err(|_| format!("'{ns}' is no number of nanoseconds"))?;
            if ns > blitz_simulate::Costs::MOST {
                return Err(format!("{one}: nothing costs more than a second here"));
            }
            if !known.set(name, ns) {
                let names: Vec<&str> = known.all().into_iter().map(|(name, _)| name).collect();
                return Err(format!(
                    "there is no cost '{name}'; there are {}",
                    names.join(", ")
                ));
            }
            Ok((name.to_string(), ns))
        })
        .collect()
}

fn doctor(words: &[String]) -> Result<Command, lexopt::Error> {
    match words.first() {
        None => Ok(Command::Doctor),
        Some(word) => Err(format!("unexpected '{word}'").into()),
    }
}

fn find(name: &str) -> Result<&'static Sub, String> {
    if let Some(sub) = SUBS.iter().find(|sub| sub.name == name) {
        return Ok(sub);
    }
    let nearest = SUBS.iter().min_by_key(|sub| distance(sub.name, name));
    let hint = match nearest {
        Some(sub) if distance(sub.name, name) <= 2 => format!("; did you mean '{}'?", sub.name),
        _ => String::new(),
    };
    let names: Vec<&str> = SUBS.iter().map(|sub| sub.name).collect();
    Err(format!(
        "there is no '{name}'{hint}\n\nsubcommands: {}\n`blitz --help` explains them.",
        names.join(", ")
    ))
}

/// How many letters must change to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

fn help() -> String {
    let mut text = String::from(
        "Blitz: parallel is never slower. See it on this machine.\n\nusage: blitz [SUBCOMMAND] [FLAGS]\n\n",
    );
    for sub in SUBS {
        text.push_str(&format!("  {:<8} {}\n", sub.name, sub.what));
        text.push_str(&format!("  {:<8} example: {}\n", "", sub.example));
    }
    text.push_str(
        "\n`blitz` alone is `blitz tour`. `blitz help SUBCOMMAND` says more about one of them.\n",
    );
    text
}

fn help_of(sub: &Sub) -> String {
    let Sub {
        name: _,
        what,
        usage,
        details,
        example,
    } = sub;
    let mut text = format!("{what}\n\nusage: {usage}\n\n{details}\n");
    if usage.contains("EXAMPLE") {
        text.push_str("\nexamples to choose from:\n");
        for example in EXAMPLES {
            text.push_str(&format!("  {:<9} {}\n", example.name, example.what));
        }
    }
    text.push_str(&format!("\nexample:\n  {example}\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Command, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        parse(&words)
    }

    #[test]
    fn nothing_at_all_is_the_tour() {
        assert_eq!(read(""), Ok(Command::Tour(TourOptions::default())));
        assert_eq!(read("tour"), read(""));
        assert_eq!(read("--quick"), read("tour --quick"));
    }

    #[test]
    fn the_tour_takes_a_file_for_its_report() {
        let options = TourOptions {
            quick: true,
            out: Some("a.html".into()),
        };
        let expected = Ok(Command::Tour(options));
        assert_eq!(read("tour --quick --out a.html"), expected);
        assert_eq!(read("tour --out=a.html --quick"), expected);
        assert!(read("tour --out").unwrap_err().contains("--out"));
        assert!(read("tour fast").unwrap_err().contains("fast"));
    }

    #[test]
    fn a_misspelt_subcommand_gets_a_suggestion() {
        assert!(read("tuor").unwrap_err().contains("did you mean 'tour'"));
        assert!(
            read("docter")
                .unwrap_err()
                .contains("did you mean 'doctor'")
        );
        let unknown = read("frobnicate").unwrap_err();
        assert!(!unknown.contains("did you mean"), "{unknown}");
        assert!(SUBS.iter().all(|sub| unknown.contains(sub.name)));
    }

    #[test]
    fn benchmarks_read_their_words_themselves() {
        let words = vec!["join".to_string(), "--json".to_string()];
        assert_eq!(read("bench join --json"), Ok(Command::Bench(words)));
        let words = ["stress", "--seconds", "3"].map(str::to_string).to_vec();
        assert_eq!(read("stress --seconds 3"), Ok(Command::Bench(words)));
    }

    #[test]
    fn every_subcommand_has_help_with_an_example() {
        for sub in SUBS.iter().filter(|sub| sub.name != "bench") {
            for line in [format!("{} --help", sub.name), format!("help {}", sub.name)] {
                match read(&line) {
                    Ok(Command::Help(text)) => assert!(text.contains(sub.example), "{text}"),
                    other => panic!("{line}: {other:?}"),
                }
            }
        }
        assert!(matches!(read("--help"), Ok(Command::Help(text)) if text.contains("doctor")));
    }

    #[test]
    fn profiles_and_traces_are_of_examples_that_exist() {
        let expected = Wish {
            tool: Tool::Trace,
            example: gallery::named("fib").unwrap(),
            out: Some("there".into()),
        };
        assert_eq!(read("trace fib --out there"), Ok(Command::Tool(expected)));
        let unknown = read("profile fibonacci").unwrap_err();
        let missing = read("trace").unwrap_err();
        for message in [unknown, missing] {
            assert!(
                EXAMPLES
                    .iter()
                    .all(|example| message.contains(example.name)),
                "{message}"
            );
        }
        assert!(read("trace fib sort").is_err());
    }

    #[test]
    fn the_help_lists_every_example() {
        for name in ["profile", "trace"] {
            let text = help_of(find(name).unwrap());
            assert!(
                EXAMPLES.iter().all(|example| text.contains(example.name)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_program_of_ones_own_is_profiled_with_its_words() {
        let expected = ProgramOptions {
            bin: "mine".into(),
            package: Some("my-crate".into()),
            out: None,
            words: vec!["--quick".into(), "3".into()],
        };
        let read_back = read("profile --bin mine --package my-crate -- --quick 3");
        assert_eq!(read_back, Ok(Command::ProfileProgram(expected)));
        assert!(read("profile --bin").is_err());
    }

    #[test]
    fn simulations_are_of_examples_or_recordings_on_machines_that_make_sense() {
        let Ok(Command::Simulate(options)) = read("simulate queens --cores 2..64 --costs steal=9")
        else {
            panic!("it is right");
        };
        assert_eq!(options.subject, Subject::Example("queens"));
        assert_eq!(options.cores, [2, 4, 8, 16, 32, 64]);
        assert_eq!(options.costs, [("steal".to_string(), 9)]);
        let Ok(Command::Simulate(options)) = read("simulate a.recording --cores 3,5") else {
            panic!("it is right");
        };
        assert_eq!(options.subject, Subject::File("a.recording".into()));
        assert_eq!(options.cores, [3, 5]);
        for wrong in [
            "",
            "fib --cores 0",
            "fib --cores 9..3",
            "fib --costs tea=1",
            "fib --costs steal",
            "fib --costs wake=1000000001",
            "fib --costs wake=18446744073709551615",
        ] {
            assert!(read(&format!("simulate {wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn top_needs_an_address_and_may_have_a_token() {
        let expected = TopOptions {
            address: "127.0.0.1:1".into(),
            token: Some("t".into()),
            once: true,
        };
        assert_eq!(
            read("top 127.0.0.1:1 --once --token t"),
            Ok(Command::Top(expected))
        );
        assert!(read("top").unwrap_err().contains("which address"));
        assert!(read("top a b").unwrap_err().contains('b'));
    }

    #[test]
    fn the_console_has_a_demo_and_nothing_else() {
        for line in [
            "console demo",
            "console demo 127.0.0.1:0",
            "console demo --seconds 3",
            "console demo [::1]:7 --seconds 3",
        ] {
            assert!(matches!(read(line), Ok(Command::Console(_))), "{line}");
        }
        for line in [
            "console",
            "console page",
            "console demo --fast",
            "console demo a b",
            "console demo --seconds many",
        ] {
            assert!(read(line).unwrap_err().contains("demo"), "{line}");
        }
    }

    #[test]
    fn the_doctor_takes_no_arguments() {
        assert_eq!(read("doctor"), Ok(Command::Doctor));
        assert!(read("doctor now").unwrap_err().contains("'now'"));
    }
}
