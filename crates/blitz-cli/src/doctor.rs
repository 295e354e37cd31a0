//! `blitz doctor`: what would make this machine slow or noisy, in sentences, each with its fix.
//!
//! Findings are made from facts by a function without side effects, so that each of them has a test.

use crate::machine::Machine;
use crate::terminal::{Ink, print, terminal, wrap};
use std::process::ExitCode;
use std::time::Duration;

/// Something worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is the case, and what it does to speed.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

/// Facts that take a while to collect, or concern this process only.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Part of a CPU that other processes have used while we looked.
    pub others: Option<f64>,
    /// Part of the time that the hypervisor gave our CPUs to somebody else.
    pub stolen: Option<f64>,
    /// Was this program compiled without optimisation?
    pub debug_build: bool,
    /// Environment variables that change the pool, with their values.
    pub variables: Vec<(&'static str, String)>,
}

const VARIABLES: [&str; 4] = [
    "BLITZ_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "RAYON_RS_NUM_CPUS",
    "BLITZ_FENCE",
];

impl Surroundings {
    fn look() -> Self {
        const LOOK: Duration = Duration::from_millis(1500);
        let watch = blitz_bench::disturbance::Watch::start();
        let before = steal_ticks();
        std::thread::sleep(LOOK);
        let stolen = steal_ticks().zip(before).map(|(after, before)| {
            let seconds = after.saturating_sub(before) as f64 / 100.0;
            seconds / LOOK.as_secs_f64()
        });
        Surroundings {
            others: watch.others(),
            stolen,
            debug_build: cfg!(debug_assertions),
            variables: VARIABLES
                .iter()
                .filter_map(|&name| Some((name, std::env::var(name).ok()?)))
                .collect(),
        }
    }
}

/// Hundredths of a second that the hypervisor has taken since boot, of all CPUs.
fn steal_ticks() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let mut columns = text.lines().next()?.split_whitespace();
    columns.nth(8)?.parse().ok()
}

/// Runs the subcommand.
pub fn run() -> ExitCode {
    let terminal = terminal();
    terminal.title("This machine");
    let machine = Machine::look();
    for (name, value) in machine.facts() {
        print(&format!("  {name:<26} {value}\n"));
    }
    let findings = diagnose(&machine, &Surroundings::look());
    if findings.is_empty() {
        terminal.title("Nothing to complain about");
        terminal.paragraph("Measurements on this machine should be steady.");
        return ExitCode::SUCCESS;
    }
    terminal.title(match findings.len() {
        1 => "One thing to know",
        _ => "Some things to know",
    });
    for finding in &findings {
        let width = terminal.width() - 4;
        let what = wrap(&format!("  * {}", finding.what), width, "    ");
        let fix = wrap(&format!("    {}", finding.fix), width, "    ");
        print(&format!(
            "{}\n{}\n",
            terminal.ink(Ink::Warn, &format!("  {what}")),
            terminal.ink(Ink::Dim, &format!("    {fix}"))
        ));
    }
    ExitCode::SUCCESS
}

/// Draws conclusions.
pub fn diagnose(machine: &Machine, around: &Surroundings) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |what: String, fix: &str| {
        findings.push(Finding {
            what,
            fix: fix.to_string(),
        });
    };
    if around.debug_build {
        add(
            "This is a debug build: everything is many times slower, and comparisons mean nothing."
                .into(),
            "Use `cargo run --release`.",
        );
    }
    if machine.allowed == 1 {
        add(
            "This process may use one CPU only: nothing can be faster than sequential code here."
                .into(),
            "Give the container or the virtual machine more CPUs, or look at `taskset -p $$`.",
        );
    } else if machine.allowed < machine.online {
        add(
            format!(
                "This process may use {} of {} CPUs.",
                machine.allowed, machine.online
            ),
            "If that was not meant, look at `taskset -p $$` and at the container's cpuset.",
        );
    }
    if let Some(quota) = machine.quota.filter(|&cpus| cpus < machine.allowed as f64) {
        add(
            format!(
                "A control group grants {quota:.1} CPUs although {} are visible: threads run side by side and are then \
                 all stopped for the rest of each period (100 ms), which shows as pauses.",
                machine.allowed
            ),
            "Raise the quota (cpu.max), or start no more threads than it grants; the global pool does so by itself.",
        );
    }
    if machine.threads > machine.allowed {
        add(
            format!(
                "The pool has {} threads for {} CPUs: they take turns.",
                machine.threads, machine.allowed
            ),
            "Unset the variable that asks for them, or ask for fewer with ThreadPoolBuilder::num_threads.",
        );
    }
    if !machine.membarrier {
        add(
            "The kernel offers no membarrier: every join pays for a full fence, about 4 ns instead of one.".into(),
            "Linux 4.14 or later has it; some sandboxes forbid the call.",
        );
    }
    let slow_source = machine.clock_source.as_deref().filter(|source| {
        let fast = [
            "tsc",
            "kvm-clock",
            "arch_sys_counter",
            "hyperv_clocksource_tsc_page",
        ];
        !fast.contains(source)
    });
    if machine.clock_ns > 100.0 || slow_source.is_some() {
        add(
            format!(
                "Reading the clock costs {:.0} ns (source: {}): loops read it some times at their beginning.",
                machine.clock_ns,
                machine.clock_source.as_deref().unwrap_or("unknown")
            ),
            "If the CPU's counter is reliable, boot with clocksource=tsc.",
        );
    }
    if machine.wake_us > 50.0 {
        add(
            format!(
                "Waking a sleeping thread takes {:.0} us: work shorter than that is better done alone.",
                machine.wake_us
            ),
            "Deep sleep states of the CPU are the usual reason: try a performance profile, or \
             ThreadPoolBuilder::backoff(BackoffMode::LowLatency), which keeps threads awake for longer.",
        );
    }
    if let Some(governor) = machine
        .governor
        .as_deref()
        .filter(|name| *name == "powersave")
    {
        add(
            format!(
                "The CPU's frequency governor is '{governor}': short bursts run at a low clock."
            ),
            "`cpupower frequency-set -g performance` while measuring.",
        );
    }
    if let Some(others) = around.others.filter(|&share| share > 0.05) {
        add(
            format!(
                "Other processes use {:.0} % of the CPUs right now: parallel code is slowed down more than sequential code by \
                 that, because its slowest thread decides.",
                others * 100.0
            ),
            "Stop them before measuring; `top` shows who it is.",
        );
    }
    if let Some(stolen) = around.stolen.filter(|&share| share > 0.01) {
        add(
            format!(
                "The hypervisor took {:.0} % of a CPU away while we looked.",
                stolen * 100.0
            ),
            "A neighbour on the same host; measure at another time, or on dedicated CPUs.",
        );
    }
    if machine.virtual_machine && machine.allowed > 1 {
        add(
            "This is a virtual machine. Some kernels put a woken thread on its waker's CPU and leave it there for \
             milliseconds, so that two threads share one CPU."
                .into(),
            "The pool keeps threads that it wakes off their wakers' CPUs. For other libraries, compare pinned figures.",
        );
    }
    for (name, value) in &around.variables {
        add(
            format!("{name}={value} is set and changes the pool of every program started here."),
            "Unset it unless it is meant.",
        );
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn healthy() -> Machine {
        Machine {
            cpu: None,
            kernel: None,
            online: 8,
            allowed: 8,
            quota: None,
            membarrier: true,
            clock_source: Some("tsc".into()),
            clock_ns: 20.0,
            wake_us: 8.0,
            governor: Some("performance".into()),
            virtual_machine: false,
            threads: 8,
        }
    }

    fn complaints(change: impl FnOnce(&mut Machine, &mut Surroundings)) -> Vec<String> {
        let (mut machine, mut around) = (healthy(), Surroundings::default());
        change(&mut machine, &mut around);
        let findings = diagnose(&machine, &around);
        assert!(findings.iter().all(|finding| !finding.fix.is_empty()));
        findings.into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_healthy_machine_gets_no_complaint() {
        assert!(complaints(|_, _| ()).is_empty());
    }

    #[test]
    fn each_trouble_is_found_alone() {
        type Trouble = fn(&mut Machine, &mut Surroundings);
        let troubles: [(Trouble, &str); 12] = [
            (
                |machine, _| (machine.allowed, machine.threads) = (1, 1),
                "one CPU",
            ),
            (
                |machine, _| (machine.allowed, machine.threads) = (4, 4),
                "4 of 8",
            ),
            (|machine, _| machine.quota = Some(1.5), "1.5 CPUs"),
            (|machine, _| machine.threads = 99, "99 threads"),
            (|machine, _| machine.membarrier = false, "membarrier"),
            (
                |machine, _| machine.clock_source = Some("hpet".into()),
                "hpet",
            ),
            (|machine, _| machine.wake_us = 80.0, "80 us"),
            (
                |machine, _| machine.governor = Some("powersave".into()),
                "powersave",
            ),
            (|_, around| around.others = Some(0.5), "50 %"),
            (|_, around| around.stolen = Some(0.2), "hypervisor took"),
            (|_, around| around.debug_build = true, "debug build"),
            (
                |_, around| around.variables.push(("BLITZ_FENCE", "symmetric".into())),
                "BLITZ_FENCE=symmetric",
            ),
        ];
        for (trouble, expected) in troubles {
            let found = complaints(trouble);
            assert_eq!(found.len(), 1, "{expected}: {found:?}");
            assert!(found[0].contains(expected), "{expected}: {found:?}");
        }
    }
}
