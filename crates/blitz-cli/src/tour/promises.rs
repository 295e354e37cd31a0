//! What the tour concludes: one line per promise, with the figure seen on this machine.

use crate::chart::times;
use crate::terminal::{Ink, print, terminal, wrap};
use crate::tour::section::{find, sizes};
use blitz_bench::report::{Row, SEQ};
use blitz_core::text::human;

/// A promise and how it fared.
#[derive(Clone, Debug)]
pub struct Promise {
    /// 1 to 6.
    pub number: u32,
    /// Its name.
    pub name: &'static str,
    /// Kept on this machine, just now; `None`: not shown here.
    pub kept: Option<bool>,
    /// What was seen.
    pub figure: String,
    /// The command that shows it again.
    pub command: String,
}

impl Promise {
    /// A class for the report, and a word.
    pub fn verdict(&self) -> (&'static str, &'static str) {
        match self.kept {
            Some(true) => ("yes", "kept"),
            Some(false) => ("no", "not kept here"),
            None => ("soft", "not shown here"),
        }
    }
}

/// The bar of the first promise: 5 % and 100 ns above plain code.
fn allowed_ns(sequential: f64) -> f64 {
    sequential * 1.05 + 100.0
}

/// Promise 1, from the loops over cheap elements.
pub fn never_slower(loops: &[Row], bench: &str) -> Promise {
    let mut worst: Option<(u64, f64, f64)> = None;
    let mut best = f64::INFINITY;
    let mut kept = true;
    let mut rayon_worst = 0.0_f64;
    for size in sizes(loops, bench) {
        let of = |lib| find(loops, bench, size, lib).map(|row| row.ns);
        let (Some(seq), Some(blitz)) = (of(SEQ), of("blitz")) else {
            continue;
        };
        best = best.min(blitz / seq);
        rayon_worst = rayon_worst.max(of("rayon").map_or(0.0, |rayon| rayon - seq));
        let excess = blitz - seq;
        if blitz > allowed_ns(seq) {
            kept = false;
        }
        if worst.is_none_or(|(_, most, _)| excess > most) {
            worst = Some((size, excess, seq));
        }
    }
    let figure = match worst {
        None => "no figures".to_string(),
        Some((size, excess, seq)) => format!(
            "loops over 1 to 10M elements: at worst {} above plain code (n = {size}, plain {}); at best {} its time. rayon: up to {} above.",
            human(excess.max(0.0)),
            human(seq),
            times(best),
            human(rayon_worst.max(0.0)),
        ),
    };
    Promise {
        number: 1,
        name: "Parallel is never slower",
        kept: worst.is_some().then_some(kept),
        figure,
        command: "blitz bench loops".into(),
    }
}

/// Promise 3, from what an idle and a nearly idle pool cost.
pub fn idle_is_silent(idle: &[Row]) -> Promise {
    let cpu = |bench: &str, lib: &str| {
        let row = idle
            .iter()
            .find(|row| row.bench == bench && row.lib == lib)?;
        Some(row.usage?.cpu_us as f64 / 1e3)
    };
    let resting = cpu("idle/afterburst", "blitz");
    let ticking = cpu("tick/tiny", "blitz").zip(cpu("tick/tiny", SEQ));
    let rayon = cpu("tick/tiny", "rayon");
    let (kept, figure) = match (resting, ticking) {
        (Some(resting), Some((blitz, seq))) => (
            Some(resting < 5.0 && blitz < seq * 1.5 + 10.0),
            format!(
                "2 s of idleness: {resting:.1} ms of CPU. A tiny region every millisecond for 2 s: {blitz:.0} ms \
                 (sequential {seq:.0} ms, rayon {:.0} ms).",
                rayon.unwrap_or(f64::NAN)
            ),
        ),
        _ => (None, "no figures".into()),
    };
    Promise {
        number: 3,
        name: "Idle is silent",
        kept,
        figure,
        command: "blitz bench idle".into(),
    }
}

/// Promise 5, from a server that computes, and from what it takes to send a computation away: here, and with tokio and rayon.
pub fn one_pool(mixed: &[Row], offload: Option<(f64, f64)>) -> Promise {
    let of = |bench: &str, lib: &str| {
        let row = mixed
            .iter()
            .find(|row| row.bench == bench && row.lib == lib);
        row.map(|row| row.ns)
    };
    let both = |bench: &str| of(bench, "blitz").zip(of(bench, "tokio+rayon"));
    let (kept, figure) = match (both("mixed/p99"), both("mixed/job"), offload) {
        (Some(p99), Some(job), Some(offload)) => (
            Some(p99.0 < p99.1 && offload.0 < offload.1),
            format!(
                "an echo server beside two computations: 99 of 100 answers within {} (tokio with rayon: {}), at {:.2} of their computations a \
                 second. A computation of 1 us, sent away by a task and awaited: {} ({}).",
                human(p99.0),
                human(p99.1),
                job.1 / job.0,
                human(offload.0),
                human(offload.1),
            ),
        ),
        _ => (None, "no figures".into()),
    };
    Promise {
        number: 5,
        name: "One pool for compute and async",
        kept,
        figure,
        command: "blitz bench mixed; blitz bench tasks --only offload".into(),
    }
}

/// Writes the table.
pub fn print_table(promises: &[Promise]) {
    let terminal = terminal();
    terminal.title("Six promises, on this machine, just now");
    for promise in promises {
        let (_, word) = promise.verdict();
        let ink = match promise.kept {
            Some(true) => Ink::Good,
            Some(false) => Ink::Warn,
            None => Ink::Dim,
        };
        let head = format!("  {}. {:<44}", promise.number, promise.name);
        print(&format!("{head} {}\n", terminal.ink(ink, word)));
        let text = wrap(&promise.figure, terminal.width() - 6, "     ");
        print(&format!("     {text}\n"));
        let again = format!("     again: {}", promise.command);
        print(&format!("{}\n", terminal.ink(Ink::Dim, &again)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blitz_bench::usage::Usage;

    fn row(bench: &str, size: u64, lib: &str, ns: f64, cpu_us: u64) -> Row {
        Row {
            group: "g".into(),
            bench: bench.into(),
            size,
            lib: lib.into(),
            ns,
            spread: 0.0,
            usage: Some(Usage {
                cpu_us,
                voluntary: 0,
                involuntary: 0,
            }),
            unpinned: None,
        }
    }

    #[test]
    fn a_loop_within_five_per_cent_and_a_hundred_nanoseconds_keeps_the_promise() {
        let rows = [
            row("l", 10, "seq", 10.0, 0),
            row("l", 10, "blitz", 109.0, 0),
        ];
        assert_eq!(never_slower(&rows, "l").kept, Some(true));
    }

    #[test]
    fn one_slow_size_breaks_it() {
        let rows = [
            row("l", 10, "seq", 10.0, 0),
            row("l", 10, "blitz", 20.0, 0),
            row("l", 1000, "seq", 1000.0, 0),
            row("l", 1000, "blitz", 1300.0, 0),
        ];
        let promise = never_slower(&rows, "l");
        assert_eq!(promise.kept, Some(false));
        assert!(promise.figure.contains("n = 1000"), "{}", promise.figure);
    }

    #[test]
    fn without_figures_nothing_is_claimed() {
        assert_eq!(never_slower(&[], "l").kept, None);
        assert_eq!(idle_is_silent(&[]).kept, None);
        assert_eq!(one_pool(&[], Some((1.0, 2.0))).kept, None);
    }

    #[test]
    fn a_server_that_answers_later_than_its_peer_breaks_the_fifth() {
        let rows = |p99| {
            [
                row("mixed/p99", 1, "blitz", p99, 0),
                row("mixed/p99", 1, "tokio+rayon", 4e6, 0),
                row("mixed/job", 1, "blitz", 10e6, 0),
                row("mixed/job", 1, "tokio+rayon", 9e6, 0),
            ]
        };
        let quick = Some((1e3, 17e3));
        let promise = one_pool(&rows(2e5), quick);
        assert_eq!(promise.kept, Some(true));
        assert!(promise.figure.contains("0.90"), "{}", promise.figure);
        assert_eq!(one_pool(&rows(5e6), quick).kept, Some(false));
        assert_eq!(one_pool(&rows(2e5), Some((18e3, 17e3))).kept, Some(false));
    }

    #[test]
    fn a_pool_that_burns_cpu_while_idle_breaks_the_third() {
        let rows = |idle_us| {
            [
                row("idle/afterburst", 1, "blitz", 0.0, idle_us),
                row("tick/tiny", 1, "blitz", 0.0, 40_000),
                row("tick/tiny", 1, "seq", 0.0, 40_000),
            ]
        };
        assert_eq!(idle_is_silent(&rows(100)).kept, Some(true));
        assert_eq!(idle_is_silent(&rows(900_000)).kept, Some(false));
    }
}
