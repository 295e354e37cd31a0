//! Facts about this machine that matter to a thread pool: CPUs, limits, clocks, and what waking a thread costs.

use blitz_bench::measure::median;
use std::fs;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What was found. `None`: this system does not say.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The CPU's name.
    pub cpu: Option<String>,
    /// The kernel's version.
    pub kernel: Option<String>,
    /// CPUs that are switched on.
    pub online: usize,
    /// CPUs that this process may run on.
    pub allowed: usize,
    /// CPUs' worth of time that the control group grants.
    pub quota: Option<f64>,
    /// Does the kernel offer the fence that makes joins cheap?
    pub membarrier: bool,
    /// The kernel's time source.
    pub clock_source: Option<String>,
    /// One reading of the clock, in nanoseconds.
    pub clock_ns: f64,
    /// From one thread to another that sleeps, and back, in microseconds: half of it.
    pub wake_us: f64,
    /// How the CPU's frequency is governed.
    pub governor: Option<String>,
    /// Is this a virtual machine?
    pub virtual_machine: bool,
    /// Threads of the global pool.
    pub threads: usize,
}

impl Machine {
    /// Looks around; takes some tens of milliseconds.
    pub fn look() -> Self {
        let cpu_info = read("/proc/cpuinfo");
        let cpu_info = cpu_info.as_deref().unwrap_or("");
        let online = online_cpus();
        Machine {
            cpu: field(cpu_info, "model name"),
            kernel: read("/proc/sys/kernel/osrelease"),
            online,
            allowed: blitz_bench::pin::cpus_at_start().len().max(1),
            quota: quota(),
            membarrier: has_membarrier(),
            clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            clock_ns: clock_ns(),
            wake_us: wake_us(),
            governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            virtual_machine: field(cpu_info, "flags").is_some_and(|flags| {
                let mut flags = flags.split_whitespace();
                flags.any(|flag| flag == "hypervisor")
            }),
            threads: blitz::current_num_threads(),
        }
    }

    /// The facts as pairs of name and value, for tables.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let unknown = || "not told".to_string();
        let cpus = if self.allowed == self.online {
            format!("{}", self.online)
        } else {
            format!(
                "{}, of which this process may use {}",
                self.online, self.allowed
            )
        };
        let quota = self
            .quota
            .map_or("none".into(), |cpus| format!("{cpus:.1} CPUs"));
        vec![
            ("processor", self.cpu.clone().unwrap_or_else(unknown)),
            ("kernel", self.kernel.clone().unwrap_or_else(unknown)),
            ("CPUs", cpus),
            ("quota", quota),
            ("threads of the pool", self.threads.to_string()),
            (
                "cheap fence (membarrier)",
                if self.membarrier { "yes" } else { "no" }.into(),
            ),
            ("one look at the clock", format!("{:.0} ns", self.clock_ns)),
            ("waking a thread", format!("{:.1} us", self.wake_us)),
            (
                "virtual machine",
                if self.virtual_machine { "yes" } else { "no" }.into(),
            ),
        ]
    }
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_string())
}

/// The first value of a field in `/proc/cpuinfo`.
fn field(cpu_info: &str, name: &str) -> Option<String> {
    let lines = cpu_info.lines().filter_map(|line| line.split_once(':'));
    lines
        .map(|(key, value)| (key.trim(), value.trim()))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.to_string())
}

/// Counts a list like `0-3,8`.
fn count_cpu_list(list: &str) -> Option<usize> {
    let parts = list.split(',').map(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
        to.checked_sub(from).map(|more| more + 1)
    });
    parts.sum()
}

fn online_cpus() -> usize {
    let listed = read("/sys/devices/system/cpu/online").and_then(|list| count_cpu_list(&list));
    listed.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// What the control group (version 2) of this process grants, its ancestors included.
fn quota() -> Option<f64> {
    let own = read("/proc/self/cgroup")?;
    let path = own
        .lines()
        .find_map(|line| line.strip_prefix("0::"))?
        .to_string();
    let mut smallest: Option<f64> = None;
    for part in std::path::Path::new(&path).ancestors() {
        let part = part.display().to_string();
        let file = format!("/sys/fs/cgroup/{}/cpu.max", part.trim_matches('/'));
        if let Some(cpus) = read(&file).and_then(|text| parse_quota(&text)) {
            smallest = Some(smallest.map_or(cpus, |known| known.min(cpus)));
        }
    }
    smallest
}

/// `max 100000` or `150000 100000`.
fn parse_quota(text: &str) -> Option<f64> {
    let (granted, period) = text.split_once(' ')?;
    let (granted, period): (f64, f64) = (granted.parse().ok()?, period.parse().ok()?);
    (period > 0.0).then(|| granted / period)
}

#[cfg(target_os = "linux")]
fn has_membarrier() -> bool {
    const QUERY: libc::c_int = 0;
    const PRIVATE_EXPEDITED: libc::c_long = 1 << 3;
    // SAFETY: a query with no flags changes nothing; an unknown call returns an error.
    let commands = unsafe { libc::syscall(libc::SYS_membarrier, QUERY, 0, 0) };
    commands >= 0 && commands & PRIVATE_EXPEDITED != 0
}

#[cfg(not(target_os = "linux"))]
fn has_membarrier() -> bool {
    false
}

fn clock_ns() -> f64 {
    const READINGS: u32 = 1000;
    let mut samples: Vec<f64> = (0..21)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..READINGS {
                std::hint::black_box(Instant::now());
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(READINGS)
        })
        .collect();
    median(&mut samples)
}

/// Two threads hand a token to and fro; between hands each is asleep.
fn wake_us() -> f64 {
    const ROUNDS: u32 = 200;
    let token = Arc::new((Mutex::new(0_u32), Condvar::new()));
    let take_turns = |token: Arc<(Mutex<u32>, Condvar)>, mine: u32| {
        let (turn, changed) = &*token;
        let mut turn = turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        while *turn < 2 * ROUNDS {
            if *turn % 2 == mine {
                *turn += 1;
                changed.notify_one();
            } else {
                let waited = changed.wait_timeout(turn, Duration::from_secs(1));
                turn = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
            }
        }
        changed.notify_one();
    };
    let start = Instant::now();
    let other = Arc::clone(&token);
    let partner = std::thread::spawn(move || take_turns(other, 1));
    take_turns(token, 0);
    // A partner that panicked has poisoned the token, and we have gone on; its time is as good as ours.
    let _ = partner.join();
    start.elapsed().as_secs_f64() * 1e6 / f64::from(2 * ROUNDS)
}

/// Today, as `2026-11-15`.
pub fn today() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let (year, month, day) = civil((since.as_secs() / 86_400) as i64);
    format!("{year}-{month:02}-{day:02}")
}

/// The date of a number of days after 1970-01-01, by counting 400-year cycles that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (cycle, of_cycle) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_cycle - of_cycle / 1460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (400 * cycle + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_counted() {
        assert_eq!(count_cpu_list("0-3"), Some(4));
        assert_eq!(count_cpu_list("0,2-3,7"), Some(4));
        assert_eq!(count_cpu_list("3-1"), None);
        assert_eq!(count_cpu_list("many"), None);
    }

    #[test]
    fn quotas_are_cpus() {
        assert_eq!(parse_quota("150000 100000"), Some(1.5));
        assert_eq!(parse_quota("max 100000"), None);
        assert_eq!(parse_quota("1 0"), None);
    }

    #[test]
    fn dates_are_the_calendars() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(59), (1970, 3, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_772), (2026, 11, 15));
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t: 1\nmodel name\t: A CPU @ 2 GHz\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A CPU @ 2 GHz"));
        assert_eq!(field(text, "flags"), None);
    }

    #[test]
    fn this_machine_has_cpus_and_a_clock() {
        let machine = Machine::look();
        assert!(machine.online >= 1 && machine.allowed >= 1 && machine.threads >= 1);
        assert!(machine.clock_ns > 0.0 && machine.wake_us > 0.0);
        assert!(machine.facts().len() > 5);
    }
}
