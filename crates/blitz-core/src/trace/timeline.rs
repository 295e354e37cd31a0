//! What was recorded, thread by thread, in an order that makes sense.

use super::ring::{Raw, Ring};
use super::{chrome, svg};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

macro_rules! indexed {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$each:meta])* $variant:ident,)* }) => {
        $(#[$doc])*
        pub enum $name { $($(#[$each])* $variant,)* }

        impl $name {
            const ALL: &[$name] = &[$($name::$variant,)*];

            pub(super) fn from_index(index: usize) -> Option<Self> {
                Self::ALL.get(index).copied()
            }
        }
    };
}

indexed! {
    /// What happens on a thread.
    ///
    /// ```
    /// use blitz_core::trace::Kind;
    ///
    /// let (_, trace) = blitz_core::trace(|| blitz_core::scope(|scope| scope.spawn(|_| ())));
    /// let runs: usize = trace.threads().iter().map(|thread| thread.count(Kind::Run)).sum();
    /// assert!(runs >= 1); // of the scope's task
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Kind {
        /// Runs a task or a stolen fork.
        Run,
        /// Has stolen a fork or a task; from the seat with this index.
        Steal,
        /// Looks for work.
        Search,
        /// Is asleep.
        Sleep,
        /// Waits for a stolen fork, a scope or a handle, helping where it may.
        Wait,
        /// Has woken a thread.
        Wake,
        /// Has made its forks public.
        Expose,
        /// Has made another's forks public by force.
        Force,
        /// Takes part in a pool from outside; in the seat with this index.
        Guest,
    }
}

indexed! {
    /// Where in an event's life.
    ///
    /// ```
    /// use blitz_core::trace::Phase;
    ///
    /// let (_, trace) = blitz_core::trace(|| blitz_core::scope(|scope| scope.spawn(|_| ())));
    /// for thread in trace.threads() {
    ///     let count = |phase| thread.events().iter().filter(|event| event.phase == phase).count();
    ///     assert_eq!(count(Phase::Begin), count(Phase::End));
    /// }
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Phase {
        /// It begins.
        Begin,
        /// It ends.
        End,
        /// It takes no time.
        Instant,
    }
}

impl Kind {
    /// Its name in tables, JSON and pictures.
    ///
    /// ```
    /// assert_eq!(blitz_core::trace::Kind::Steal.name(), "steal");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Kind::Run => "run",
            Kind::Steal => "steal",
            Kind::Search => "search",
            Kind::Sleep => "sleep",
            Kind::Wait => "wait",
            Kind::Wake => "wake",
            Kind::Expose => "expose",
            Kind::Force => "force",
            Kind::Guest => "guest",
        }
    }
}

/// Something that happened.
///
/// ```
/// let (_, trace) = blitz_core::trace(|| blitz_core::scope(|scope| scope.spawn(|_| ())));
/// for event in trace.threads().iter().flat_map(|thread| thread.events()) {
///     println!("after {:?}: {:?} of {:?}", event.at, event.phase, event.kind);
///     assert!(event.at <= trace.elapsed());
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// When, since the beginning of the trace.
    pub at: Duration,
    /// What.
    pub kind: Kind,
    /// Begin, end, or neither.
    pub phase: Phase,
    /// More about it, depending on the kind.
    pub about: u32,
}

/// The events of one thread. Every end has its beginning before it, every beginning its end after it.
///
/// ```
/// use blitz_core::trace::Kind;
///
/// let (_, trace) = blitz_core::trace(|| blitz_core::scope(|scope| scope.spawn(|_| ())));
/// for thread in trace.threads() {
///     println!("{}: asleep for {:?}, {} thefts", thread.name(), thread.time_in(Kind::Sleep), thread.count(Kind::Steal));
///     assert!(thread.time_in(Kind::Sleep) <= trace.elapsed());
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Timeline {
    name: String,
    events: Vec<Event>,
    lost: u64,
}

impl Timeline {
    /// The thread's name.
    ///
    /// ```
    /// let (_, trace) = blitz_core::trace(|| blitz_core::scope(|scope| scope.spawn(|_| ())));
    /// assert!(trace.threads().iter().all(|thread| !thread.name().is_empty()));
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// In the order in which they happened.
    ///
    /// ```
    /// let (_, trace) = blitz_core::trace(|| blitz_core::scope(|scope| scope.spawn(|_| ())));
    /// assert!(trace.threads().iter().all(|thread| thread.events().is_sorted_by_key(|event| event.at)));
    /// ```
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// How many events were overwritten by newer ones.
    ///
    /// ```
    /// let (_, trace) = blitz_core::trace(|| blitz_core::join(|| 1, || 2));
    /// assert!(trace.threads().iter().all(|thread| thread.lost() == 0)); // it was short
    /// ```
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How often something happened, or began.
    ///
    /// ```
    /// use blitz_core::trace::Kind;
    ///
    /// let (_, trace) = blitz_core::trace(|| blitz_core::join(|| 1, || 2));
    /// let thefts: usize = trace.threads().iter().map(|thread| thread.count(Kind::Steal)).sum();
    /// println!("{thefts} thefts");
    /// ```
    pub fn count(&self, kind: Kind) -> usize {
        let of_kind = self.events.iter().filter(|event| event.kind == kind);
        of_kind.filter(|event| event.phase != Phase::End).count()
    }

    /// The time spent in something, what is nested in it included.
    ///
    /// ```
    /// use blitz_core::trace::Kind;
    ///
    /// let (_, trace) = blitz_core::trace(|| blitz_core::join(|| 1, || 2));
    /// assert!(trace.threads().iter().all(|thread| thread.time_in(Kind::Run) <= trace.elapsed()));
    /// ```
    pub fn time_in(&self, kind: Kind) -> Duration {
        let (mut depth, mut since, mut total) = (0_u32, Duration::ZERO, Duration::ZERO);
        for event in self.events.iter().filter(|event| event.kind == kind) {
            match event.phase {
                Phase::Begin => {
                    if depth == 0 {
                        since = event.at;
                    }
                    depth += 1;
                }
                Phase::End => {
                    depth -= 1;
                    if depth == 0 {
                        total += event.at - since;
                    }
                }
                Phase::Instant => {}
            }
        }
        total
    }

    /// Makes beginnings and ends match: ends whose beginning was lost go, and what is still open at the end is closed.
    fn new(name: String, raw: Vec<Event>, lost: u64, end: Duration) -> Self {
        let mut events: Vec<Event> = Vec::with_capacity(raw.len());
        let mut open: Vec<Kind> = Vec::new();
        for event in raw {
            match event.phase {
                Phase::Begin => open.push(event.kind),
                Phase::End => {
                    if open.last() != Some(&event.kind) {
                        continue;
                    }
                    open.pop();
                }
                Phase::Instant => {}
            }
            events.push(event);
        }
        while let Some(kind) = open.pop() {
            events.push(Event {
                at: end,
                kind,
                phase: Phase::End,
                about: 0,
            });
        }
        Timeline { name, events, lost }
    }
}

/// What the threads of all pools did during a computation. See [`trace`](crate::trace()).
///
/// ```
/// let (_, trace) = blitz_core::trace(|| blitz_core::scope(|scope| scope.spawn(|_| ())));
/// println!("{trace}"); // a table: who did what for how long
/// assert!(!trace.threads().is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Trace {
    threads: Vec<Timeline>,
    elapsed: Duration,
}

impl Trace {
    pub(super) fn collect(
        rings: &[(Arc<Ring>, u64)],
        begin: u64,
        end: u64,
        ticks_per_us: u64,
    ) -> Self {
        let since = |ticks: u64| {
            let ticks = ticks.clamp(begin, end) - begin;
            Duration::from_nanos(ticks.saturating_mul(1000) / ticks_per_us.max(1))
        };
        let event = |raw: Raw| Event {
            at: since(raw.at),
            kind: raw.kind,
            phase: raw.phase,
            about: raw.about,
        };
        let elapsed = since(end);
        let mut threads: Vec<Timeline> = rings
            .iter()
            .map(|(ring, recording)| {
                let (raw, lost) = ring.read(*recording);
                let events = raw.into_iter().map(event).collect();
                Timeline::new(ring.name.clone(), events, lost, elapsed)
            })
            .filter(|timeline| !timeline.events.is_empty())
            .collect();
        threads.sort_by(|a, b| a.name.cmp(&b.name));
        Trace { threads, elapsed }
    }

    /// The threads that had something to tell, by name.
    ///
    /// ```
    /// let (_, trace) = blitz_core::trace(|| blitz_core::scope(|scope| scope.spawn(|_| ())));
    /// let names: Vec<&str> = trace.threads().iter().map(|thread| thread.name()).collect();
    /// assert!(names.is_sorted());
    /// ```
    pub fn threads(&self) -> &[Timeline] {
        &self.threads
    }

    /// How long the computation took.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (_, trace) = blitz_core::trace(|| std::thread::sleep(Duration::from_millis(2)));
    /// assert!(trace.elapsed() >= Duration::from_millis(2));
    /// ```
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The trace in the format of Chrome and Perfetto: open it at ui.perfetto.dev or chrome://tracing.
    ///
    /// ```
    /// let (_, trace) = blitz_core::trace(|| blitz_core::join(|| 1, || 2));
    /// let path = std::env::temp_dir().join("blitz-trace-example.json");
    /// std::fs::write(&path, trace.to_chrome_json())?; // open it at ui.perfetto.dev
    /// # std::fs::remove_file(path)?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn to_chrome_json(&self) -> String {
        chrome::json(self)
    }

    /// The trace as a picture: a lane per thread.
    ///
    /// ```
    /// let (_, trace) = blitz_core::trace(|| blitz_core::join(|| 1, || 2));
    /// assert!(trace.to_svg().starts_with("<svg"));
    /// ```
    pub fn to_svg(&self) -> String {
        svg::picture(self)
    }
}

impl fmt::Display for Trace {
    /// A table: per thread, the time in each state and the number of events.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part =
            |time: Duration| 100.0 * time.as_secs_f64() / self.elapsed.as_secs_f64().max(1e-9);
        writeln!(
            f,
            "{:<20} {:>6} {:>6} {:>6} {:>6} {:>6}   {:>6} {:>6} {:>6} {:>6} {:>6}",
            "thread",
            "guest",
            "run",
            "wait",
            "search",
            "sleep",
            "runs",
            "steals",
            "wakes",
            "expose",
            "forced"
        )?;
        for thread in &self.threads {
            let name: String = thread.name.chars().take(20).collect();
            write!(f, "{name:<20}")?;
            for kind in [
                Kind::Guest,
                Kind::Run,
                Kind::Wait,
                Kind::Search,
                Kind::Sleep,
            ] {
                write!(f, " {:>5.1}%", part(thread.time_in(kind)))?;
            }
            write!(f, "  ")?;
            for kind in [
                Kind::Run,
                Kind::Steal,
                Kind::Wake,
                Kind::Expose,
                Kind::Force,
            ] {
                write!(f, " {:>6}", thread.count(kind))?;
            }
            writeln!(f)?;
            if thread.lost > 0 {
                writeln!(
                    f,
                    "{:<20} {} older events were overwritten",
                    "", thread.lost
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadPoolBuilder;

    fn event(us: u64, kind: Kind, phase: Phase) -> Event {
        Event {
            at: Duration::from_micros(us),
            kind,
            phase,
            about: 0,
        }
    }

    #[test]
    fn what_has_lost_its_beginning_or_its_end_is_mended() {
        let raw = vec![
            event(1, Kind::Sleep, Phase::End),
            event(2, Kind::Run, Phase::Begin),
            event(3, Kind::Steal, Phase::Instant),
            event(4, Kind::Wait, Phase::Begin),
        ];
        let timeline = Timeline::new("t".into(), raw, 9, Duration::from_micros(10));
        let phases: Vec<(Kind, Phase)> = timeline
            .events()
            .iter()
            .map(|event| (event.kind, event.phase))
            .collect();
        assert_eq!(
            phases,
            [
                (Kind::Run, Phase::Begin),
                (Kind::Steal, Phase::Instant),
                (Kind::Wait, Phase::Begin),
                (Kind::Wait, Phase::End),
                (Kind::Run, Phase::End),
            ]
        );
        assert_eq!(timeline.time_in(Kind::Run), Duration::from_micros(8));
        assert_eq!((timeline.count(Kind::Run), timeline.lost()), (1, 9));
    }

    #[test]
    fn nested_runs_are_not_counted_twice() {
        let raw = vec![
            event(0, Kind::Run, Phase::Begin),
            event(2, Kind::Run, Phase::Begin),
            event(4, Kind::Run, Phase::End),
            event(6, Kind::Run, Phase::End),
        ];
        let timeline = Timeline::new("t".into(), raw, 0, Duration::from_micros(6));
        assert_eq!(timeline.time_in(Kind::Run), Duration::from_micros(6));
        assert_eq!(timeline.count(Kind::Run), 2);
    }

    /// One recording per process, so all that needs one is in one test.
    #[test]
    fn a_computation_leaves_its_traces() {
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .thread_name(|index| format!("traced-{index}"))
            .build()
            .unwrap();
        let spin = || {
            let start = std::time::Instant::now();
            while start.elapsed() < Duration::from_micros(200) {
                std::hint::spin_loop();
            }
        };
        let mut stolen = 0;
        for _ in 0..200 {
            let (_, trace) = crate::trace(|| {
                pool.scope(|s| (0..20).for_each(|_| s.spawn(|_| spin())));
                pool.install(|| crate::join(spin, spin));
            });
            let ours = || {
                let threads = trace.threads().iter();
                threads.filter(|thread| thread.name().starts_with("traced-"))
            };
            let runs: usize = ours().map(|thread| thread.count(Kind::Run)).sum();
            assert!(runs >= 20, "{trace}");
            for thread in ours() {
                assert!(thread.events().is_sorted_by_key(|event| event.at));
                assert!(thread.time_in(Kind::Run) <= trace.elapsed());
            }
            assert!(trace.to_chrome_json().contains("traced-"));
            assert!(trace.to_svg().contains("traced-"));
            stolen += ours()
                .map(|thread| thread.count(Kind::Steal))
                .sum::<usize>();
            if stolen > 0 {
                break;
            }
        }
        assert!(
            stolen > 0,
            "nothing was ever stolen: nothing ran in parallel"
        );

        let nested = std::panic::catch_unwind(|| crate::trace(|| crate::trace(|| ())));
        assert!(nested.is_err());
        let (_, after) = crate::trace(|| pool.install(|| ()));
        assert!(
            !after.threads().is_empty(),
            "a panic inside must not end tracing for ever"
        );
    }
}
