//! The report: what was measured, and what it says about other machines.

use super::plot;
use super::strand::{Origin, Reached, Role};
use crate::text::{human, json::object};
use std::fmt;
use std::time::Duration;

/// Work and span of a computation. See the [module's documentation](mod@crate::profile).
///
/// ```
/// let (_, profile) = blitz_core::profile(|| blitz_core::join(|| "left", || "right"));
/// assert!(profile.work() >= profile.span());
/// assert_eq!(profile.forks(), 1);
/// println!("{profile}"); // a table, with what more cores would bring
/// ```
#[derive(Clone, Debug)]
pub struct Profile {
    work_ns: f64,
    span_ns: f64,
    burdened_ns: f64,
    elapsed_ns: f64,
    threads: usize,
    strands: u64,
    forks: u64,
    steals: u64,
    longest: Option<Longest>,
    recording: Option<String>,
}

/// The longest strand: the piece of sequential code that is most worth cutting.
///
/// ```
/// let (_, profile) = blitz_core::profile(|| {
///     blitz_core::profile::label("sum", || std::hint::black_box((0..100_000_u64).sum::<u64>()))
/// });
/// let longest = profile.longest().unwrap();
/// println!("{:?} in a row: {}, {:?}", longest.time, longest.origin, longest.label);
/// assert!(longest.time <= profile.work());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Longest {
    /// How long it took.
    pub time: Duration,
    /// Where it began: `the right half of the join at src/main.rs:12:5`.
    pub origin: String,
    /// The [label](crate::profile::label) it began under, if any.
    pub label: Option<&'static str>,
}

/// The numbers of cores that tables and plots show.
pub(super) const CORES: [usize; 8] = [2, 4, 8, 16, 32, 64, 128, 256];

impl Profile {
    pub(super) fn new(reached: &Reached, elapsed: u64, ticks_per_us: u64, threads: usize) -> Self {
        let ns = |ticks: u64| ticks as f64 * 1e3 / ticks_per_us as f64;
        let longest = reached.tally.longest.map(|(ticks, origin)| Longest {
            time: duration(ns(ticks)),
            origin: describe(origin),
            label: origin.label,
        });
        Profile {
            work_ns: ns(reached.tally.work),
            span_ns: ns(reached.depth.plain),
            burdened_ns: ns(reached.depth.burdened),
            elapsed_ns: ns(elapsed),
            threads,
            strands: reached.tally.strands,
            forks: reached.tally.forks,
            steals: reached.tally.steals,
            longest,
            recording: None,
        }
    }

    pub(super) fn keep(&mut self, recording: String) {
        self.recording = Some(recording);
    }

    /// The recorded shape of the computation, if it was [recorded](crate::profile::record): a text that `blitz simulate` and `blitz profile` read.
    ///
    /// ```
    /// let (_, plain) = blitz_core::profile(|| ());
    /// assert!(plain.recording().is_none());
    /// let (_, recorded) = blitz_core::profile::record(|| ());
    /// assert!(recorded.recording().is_some());
    /// ```
    pub fn recording(&self) -> Option<&str> {
        self.recording.as_deref()
    }

    /// What one core would have to do: the time of all strands.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| (0..10_000_u64).map(std::hint::black_box).sum::<u64>());
    /// assert!(profile.work() > std::time::Duration::ZERO);
    /// ```
    pub fn work(&self) -> Duration {
        duration(self.work_ns)
    }

    /// What no number of cores can get below: the time of the longest path.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| blitz_core::join(|| 1, || 2));
    /// assert!(profile.span() <= profile.work());
    /// ```
    pub fn span(&self) -> Duration {
        duration(self.span_ns)
    }

    /// The span if every fork and spawn on the way were stolen, at the price of a steal.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| blitz_core::join(|| 1, || 2));
    /// assert!(profile.burdened_span() >= profile.span());
    /// ```
    pub fn burdened_span(&self) -> Duration {
        duration(self.burdened_ns)
    }

    /// How long the computation took here, the profiler included.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| (0..10_000_u64).map(std::hint::black_box).sum::<u64>());
    /// assert!(profile.elapsed() > std::time::Duration::ZERO);
    /// ```
    pub fn elapsed(&self) -> Duration {
        duration(self.elapsed_ns)
    }

    /// How many threads the pool has here.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| ());
    /// assert_eq!(profile.threads(), blitz_core::current_num_threads());
    /// ```
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// How many strands there were.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| blitz_core::join(|| 1, || 2));
    /// assert!(profile.strands() >= 2); // the two halves
    /// ```
    pub fn strands(&self) -> u64 {
        self.strands
    }

    /// How many forks and spawns there were.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| {
    ///     blitz_core::join(|| blitz_core::join(|| 1, || 2), || 3)
    /// });
    /// assert_eq!(profile.forks(), 2);
    /// ```
    pub fn forks(&self) -> u64 {
        self.forks
    }

    /// How many of them ran on another thread than their origin.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| blitz_core::join(|| 1, || 2));
    /// assert!(profile.steals() <= profile.forks());
    /// ```
    pub fn steals(&self) -> u64 {
        self.steals
    }

    /// The longest strand, if any took time.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| (0..10_000_u64).map(std::hint::black_box).sum::<u64>());
    /// assert!(profile.longest().unwrap().time <= profile.span());
    /// ```
    pub fn longest(&self) -> Option<&Longest> {
        self.longest.as_ref()
    }

    /// Work divided by span: how many cores the computation could keep busy, at most and on average.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| ());
    /// assert!(profile.parallelism() >= 1.0);
    /// ```
    pub fn parallelism(&self) -> f64 {
        ratio(self.work_ns, self.span_ns)
    }

    /// The speed-up that `cores` cores can have at most: neither the work nor the span can be cheated.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| blitz_core::join(|| 1, || 2));
    /// assert!(profile.speedup_limit(64) <= profile.parallelism().max(1.0));
    /// ```
    pub fn speedup_limit(&self, cores: usize) -> f64 {
        (cores as f64).min(self.parallelism()).max(1.0)
    }

    /// The speed-up that a greedy scheduler has on `cores` cores at least, if a steal costs what was assumed.
    ///
    /// A greedy scheduler takes at most work / cores + span · (1 - 1 / cores); here with the burdened span.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| blitz_core::join(|| 1, || 2));
    /// for cores in [2, 8, 64] {
    ///     assert!(profile.speedup_expected(cores) <= profile.speedup_limit(cores));
    /// }
    /// ```
    pub fn speedup_expected(&self, cores: usize) -> f64 {
        let cores = cores.max(1) as f64;
        let time = self.work_ns / cores + self.burdened_ns * (1.0 - 1.0 / cores);
        ratio(self.work_ns, time).min(self.speedup_limit(cores as usize))
    }

    /// The speed-up that was measured here: work divided by elapsed time.
    ///
    /// The profiler's own time is part of the elapsed time, so with many small strands the real one is higher.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| (0..10_000_u64).map(std::hint::black_box).sum::<u64>());
    /// assert!(profile.speedup_measured() > 0.0);
    /// ```
    pub fn speedup_measured(&self) -> f64 {
        ratio(self.work_ns, self.elapsed_ns)
    }

    /// All of it as a JSON object.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| ());
    /// assert!(profile.to_json().contains("\"parallelism\""));
    /// ```
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        object(&mut out, |top| {
            top.decimals("work_ns", Some(self.work_ns), 0);
            top.decimals("span_ns", Some(self.span_ns), 0);
            top.decimals("burdened_span_ns", Some(self.burdened_ns), 0);
            top.decimals("elapsed_ns", Some(self.elapsed_ns), 0);
            top.count("threads", self.threads as u64);
            top.count("strands", self.strands);
            top.count("forks", self.forks);
            top.count("steals", self.steals);
            top.number("parallelism", self.parallelism());
            top.number("speedup_measured", self.speedup_measured());
            match &self.longest {
                None => top.null("longest_strand"),
                Some(longest) => top.object("longest_strand", |strand| {
                    strand.count("ns", longest.time.as_nanos() as u64);
                    strand.text("origin", &longest.origin);
                    match longest.label {
                        None => strand.null("label"),
                        Some(label) => strand.text("label", label),
                    }
                }),
            }
            top.objects("predictions", CORES, |prediction, cores| {
                prediction.count("cores", cores as u64);
                prediction.number("expected", self.speedup_expected(cores));
                prediction.number("limit", self.speedup_limit(cores));
            });
        });
        out
    }

    /// A plot of the predicted speed-up on 2 to 256 cores, with the measured one, as an SVG document.
    ///
    /// ```
    /// let (_, profile) = blitz_core::profile(|| ());
    /// assert!(profile.to_svg().starts_with("<svg"));
    /// ```
    pub fn to_svg(&self) -> String {
        plot::svg(self)
    }
}

impl fmt::Display for Profile {
    /// A table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "work            {:>12}", human(self.work_ns))?;
        writeln!(f, "span            {:>12}", human(self.span_ns))?;
        writeln!(f, "burdened span   {:>12}", human(self.burdened_ns))?;
        writeln!(f, "parallelism     {:>12.1}", self.parallelism())?;
        writeln!(
            f,
            "strands         {:>12}   ({} forks, {} of them ran elsewhere)",
            self.strands, self.forks, self.steals
        )?;
        if let Some(longest) = &self.longest {
            let time = human(longest.time.as_secs_f64() * 1e9);
            let label = longest
                .label
                .map_or(String::new(), |label| format!(" [{label}]"));
            writeln!(f, "longest strand  {time:>12}   {}{label}", longest.origin)?;
        }
        writeln!(
            f,
            "measured here   {:>11.2}x   in {} on {} threads; expected {:.2}x, at most {:.2}x",
            self.speedup_measured(),
            human(self.elapsed_ns),
            self.threads,
            self.speedup_expected(self.threads),
            self.speedup_limit(self.threads),
        )?;
        writeln!(f, "\n   cores   expected    at most")?;
        for cores in CORES {
            writeln!(
                f,
                "{cores:>8} {:>9.2}x {:>9.2}x",
                self.speedup_expected(cores),
                self.speedup_limit(cores)
            )?;
        }
        Ok(())
    }
}

/// Nothing divided by nothing is one: no work is done by any number of cores in no time.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 1.0 }
}

fn duration(ns: f64) -> Duration {
    Duration::from_nanos(ns.round() as u64)
}

pub(super) fn describe(origin: Origin) -> String {
    let role = match origin.role {
        Role::Start => "the beginning",
        Role::Left => "the left half of the join",
        Role::Right => "the right half of the join",
        Role::After => "what follows the call",
        Role::Task => "the task spawned",
        Role::Loop => "an item of the loop",
        Role::Fork => "the fork",
    };
    match origin.site {
        Some(site) => format!("{role} at {}", site.location()),
        None => role.to_string(),
    }
}
