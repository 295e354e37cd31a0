//! Looks at the program: samples what everybody does while somebody looks at the page, and makes frames of it.
//!
//! Used by one thread, the server's. What there is to see of pools and tasks is in [`seen`]; without the feature `hooks` that is nothing.

#[cfg(feature = "hooks")]
#[path = "eye/hooks.rs"]
mod seen;
#[cfg(not(feature = "hooks"))]
#[path = "eye/nothing.rs"]
mod seen;

use crate::frame::{Frame, Process};
use crate::system::{self, ThreadTimes, Usage};
use crate::warnings::{Failure, Gap, Watch};
use seen::Seen;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// A sample that comes late stands for this many milliseconds at most.
const LONGEST_SAMPLE: f64 = 50.0;

/// See the module's documentation.
pub(crate) struct Eye {
    name: String,
    began: Instant,
    last_sample: Instant,
    frame_began: Instant,
    used: Usage,
    own: Option<ThreadTimes>,
    is_open: bool,
    seen: Seen,
    watch: Watch,
    failure: Option<Failure>,
    gap: Option<Gap>,
    /// So many looks are to fail.
    #[cfg(test)]
    pub(crate) fails: u32,
}

/// Something has panicked while it looked.
#[derive(Debug)]
pub(crate) struct Failed;

impl Eye {
    /// Between two samples.
    pub(crate) const SAMPLE: Duration = Duration::from_millis(4);
    /// Between two frames.
    pub(crate) const FRAME: Duration = Duration::from_millis(250);

    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Eye {
            name: system::program_name(),
            began: now,
            last_sample: now,
            frame_began: now,
            used: Usage::default(),
            own: None,
            is_open: false,
            seen: Seen::new(),
            watch: Watch::default(),
            failure: None,
            gap: None,
            #[cfg(test)]
            fails: 0,
        }
    }

    /// Looks. If that fails, what has been seen is forgotten, and a frame will say so: the console goes on.
    fn guarded<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> Result<T, Failed> {
        let looked = catch_unwind(AssertUnwindSafe(|| {
            #[cfg(test)]
            if let Some(fewer) = self.fails.checked_sub(1) {
                self.fails = fewer;
                panic!("the test wants it");
            }
            look(self)
        }));
        looked.map_err(|payload| {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            let text = text.unwrap_or("a panic").to_string();
            if self.failure.is_none() {
                blitz_core::companion::complain(format_args!(
                    "the console has failed while it looked, and begins anew: {text}"
                ));
            }
            self.failure = Some(Failure {
                at: self.clock(Instant::now()),
                text,
            });
            self.watch = Watch::default();
            self.seen = Seen::new();
            self.is_open = false;
            self.open();
            Failed
        })
    }

    /// Somebody looks from now on, or has looked already.
    pub(crate) fn open(&mut self) {
        if std::mem::replace(&mut self.is_open, true) {
            return;
        }
        let now = Instant::now();
        self.last_sample = now;
        self.frame_began = now;
        self.used = system::usage();
        self.own = system::own_times();
        self.seen.open();
    }

    /// Nobody looks any more.
    pub(crate) fn close(&mut self) {
        self.is_open = false;
        self.seen.close();
    }

    fn clock(&self, now: Instant) -> f64 {
        milliseconds(now - self.began)
    }

    pub(crate) fn sample(&mut self) -> Result<(), Failed> {
        self.guarded(Self::take_sample)
    }

    fn take_sample(&mut self) {
        let now = Instant::now();
        let passed = milliseconds(now - self.last_sample);
        self.last_sample = now;
        if passed > Gap::LEAST {
            self.gap = Some(Gap {
                at: self.clock(now),
                length: passed,
            });
        }
        let passed = passed.min(LONGEST_SAMPLE);
        self.seen.sample(self.clock(now), passed);
    }

    /// What has been seen since the last one.
    pub(crate) fn frame(&mut self) -> Result<String, Failed> {
        self.guarded(Self::make_frame)
    }

    fn make_frame(&mut self) -> String {
        let mut frame = self.look();
        frame.warnings = self.watch.look_at(&frame);
        let failure = self.failure.iter();
        frame
            .warnings
            .extend(failure.filter_map(|failure| failure.warning(frame.at)));
        let gap = self.gap.iter();
        frame
            .warnings
            .extend(gap.filter_map(|gap| gap.warning(frame.at)));
        frame.keep_lines_shown();
        self.seen.frame_ends();
        self.frame_began = Instant::now();
        self.used = system::usage();
        self.own = system::own_times();
        frame.to_json()
    }

    /// The same as text for Prometheus; no frame ends.
    pub(crate) fn metrics(&mut self) -> Result<String, Failed> {
        self.guarded(|eye| crate::metrics::text(&eye.look()))
    }

    fn look(&mut self) -> Frame {
        let now = Instant::now();
        let length = milliseconds(now - self.frame_began).max(0.001);
        let used = system::usage();
        let part = |time: Duration| milliseconds(time) / length;
        let own = match (self.own, system::own_times()) {
            (Some(before), Some(now)) => part(now.ran.saturating_sub(before.ran)),
            _ => 0.0,
        };
        let mut frame = Frame {
            at: self.clock(now),
            length,
            process: Process {
                name: self.name.clone(),
                pid: std::process::id(),
                cpus: system::cpus(),
                threads: used.threads,
                memory: used.memory,
                arenas: 0,
                cpu: part(used.cpu.saturating_sub(self.used.cpu)),
                own_cpu: own,
            },
            ..Frame::default()
        };
        self.seen.fill(&mut frame);
        frame
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_stood_still_is_said_to_have() {
        let mut eye = Eye::new();
        eye.open();
        eye.sample().unwrap();
        assert!(!eye.frame().unwrap().contains("Nothing was seen"));
        // As if it were long ago.
        eye.last_sample -= Duration::from_millis(2500);
        eye.sample().unwrap();
        assert!(eye.frame().unwrap().contains("Nothing was seen for 2.5 s"));
    }
}
