//! Whether a worker asks for help with the tasks in its own ring.
//!
//! A wake costs the waker several microseconds, and the woken thread as many. On a busy machine the two may also end up on one CPU and wait
//! for each other's time slice. So a worker that will soon have finished its ring asks for no help. No task is
//! left behind: the ring belongs to its owner, who empties it before it sleeps. The worker asks
//! * when the tasks in slot and ring will take longer than [`HELP_NS`], as far as it can tell;
//! * when it has been busy for long without getting to the end of them: a second worker would get twice as much done;
//! * when it turns to the engine's work and leaves tasks behind (the engine does that);
//! * when the running task is about to block, or computes for long and says so (see `relief`).
//!
//! It uses the time that a poll usually takes. This goes wrong with a poll that takes a thousand times as long: the tasks behind it wait although
//! other workers sleep. Such a poll cannot be foreseen, but it can be remembered. It makes the worker *wary*: the worker asks for help with
//! every task for some seconds. Meanwhile the watcher takes care of those tasks (`watch`). Only CPU time counts for that. A thread that the kernel has preempted has not been polling, and waking more threads
//! would help the least. A poll that spawns thousands of tasks does not count either, because others have been told of them. Nor do polls that always take some time: with these the worker knows when to ask.
//! Being wary without need is expensive if tasks that talk to each other take a microsecond: they are moved between CPUs all the time (`programs/micro`, rows `select`, `broadcast`, `mpsc/8`).
//!
//! # How much work is worth a wake
//! Help costs about 10 us of CPU time and takes 20 to 40 us to arrive. Asked for with 40 us of work it is hardly in time, and costs a quarter of what it
//! takes over; with 100 us it saves a third of the wait for a tenth. Measured with servers of two workers, whose client takes a CPU of its own: CPU time per request as part of
//! tokio's, with 40, 100, 200, 400 us: echo with 64 connections 0.90, 0.86, 0.83, not tried; echo with 512 0.92, 0.88, 0.84, 0.83; HTTP with 64
//! 0.99, 0.95, 0.93, 0.90. The 99th percentile of the answers falls along with it, because the CPUs are all taken; on a machine that has idle ones
//! it rises by the time that help would have saved, which is why the limit is not higher.
//!
//! # When the CPU is needed by others, too
//! A worker that sleeps in the driver is woken by the first message. If it then finds so many messages that it needs help, it has come *late*: its CPU was in use, mostly by the sender, and meanwhile
//! other workers may have been idle. In the driver it would be late again. So it leaves the driver to a worker that still serves, and sleeps elsewhere. That worker must be about to finish: nothing is left to
//! take from its ring, it has finished its tasks a moment ago, and polls are short. Otherwise, or if a long poll has surprised others recently, no worker leaves the driver to another.
//! This is a guess, because messages may also come in crowds. Then workers take turns in the driver, which costs nothing. Group `net`, two pinned workers and a client that the kernel moves from one's CPU to
//! the other's, medians of 3, without it and with it: `echo/wall` with 64 connections 5.3 and 4.4 us, with 512 6.4 and 4.9. Not pinned: 5.0 and 4.5, 4.8 and 4.7.
//!
//! 100,000 timers within 100 ms: lateness p99 0.3 to 0.6 ms instead of the 4 to 11 that a wake for every task in the ring leads to.

use blitz_core::demand::ticks_per_us;
use std::cell::Cell;

/// Less work than this is not worth a wake.
const HELP_NS: u64 = 100_000;
/// A worker that has always had tasks for this long has too many.
const BUSY_US: u64 = 100;
/// A stretch of polls that should take a few microseconds and takes this long has a long one in it.
const LONG_US: u64 = 400;
/// So much of it has to be CPU time.
const LONG_CPU_US: u64 = 250;
/// For how long a long poll is remembered.
const WARY_US: u64 = 2_000_000;
/// The thread's CPU time is noted this often at most.
const NOTE_US: u64 = 1_000;
/// Polls that usually take longer are none that one is soon through with.
const BRIEF_NS: u64 = 25_000;
/// What a poll takes before anything is known.
const FIRST_GUESS_NS: u64 = HELP_NS + 1;

/// The owner's alone.
pub(crate) struct LoadEstimate {
    /// What a poll usually takes.
    usual_ns: Cell<u64>,
    wary: Cell<bool>,
    wary_until: Cell<u64>,
    /// Whether somebody has been told of tasks in this stretch of polls, since they were many.
    has_asked: Cell<bool>,
    /// Since when there have always been tasks, or since it last asked for help for that reason; 0: there were none.
    busy_since: Cell<u64>,
    /// The thread's CPU time, in microseconds, and when that was, in ticks.
    noted: Cell<(u64, u64)>,
}

impl LoadEstimate {
    pub(crate) fn new() -> Self {
        LoadEstimate {
            usual_ns: Cell::new(FIRST_GUESS_NS),
            wary: Cell::new(false),
            wary_until: Cell::new(0),
            has_asked: Cell::new(false),
            busy_since: Cell::new(0),
            noted: Cell::new((0, 0)),
        }
    }

    /// Should somebody be woken, with `waiting` tasks in slot and ring?
    #[inline]
    pub(crate) fn asks_for_help(&self, waiting: usize) -> bool {
        let many = waiting as u64 * self.usual_ns.get() > HELP_NS;
        if many {
            self.asked();
        }
        many || self.wary.get() && waiting > 0
    }

    /// The worker has slept in the driver, and now has so many `waiting` tasks: has it come late?
    pub(crate) fn comes_late(&self, waiting: usize) -> bool {
        let usual = self.usual_ns.get();
        !self.wary.get() && usual <= BRIEF_NS && waiting as u64 * usual > HELP_NS
    }

    /// Somebody is told of tasks that are too many for this worker.
    #[inline]
    pub(crate) fn asked(&self) {
        self.has_asked.set(true);
    }

    /// A slice begins, with `waiting` tasks in the ring.
    #[inline]
    pub(crate) fn slice_begins(&self, now: u64, waiting: usize) {
        if self.wary.get() && now > self.wary_until.get() {
            self.wary.set(false);
        }
        if self.busy_since.get() == 0 {
            self.busy_since.set(now);
        }
        if waiting > 0 && now.saturating_sub(self.noted.get().1) > NOTE_US * ticks_per_us() {
            self.noted.set((thread_cpu_us(), now));
        }
    }

    /// The worker is through with all tasks: if it goes on with new ones, it has been busy since `now`.
    #[inline]
    pub(crate) fn is_through(&self, now: u64) {
        self.busy_since.set(now);
    }

    /// A slice ends, with `waiting` tasks left for this worker or anybody. Should somebody be woken for them?
    #[inline]
    pub(crate) fn slice_ends(&self, now: u64, waiting: usize) -> bool {
        if waiting == 0 {
            self.busy_since.set(0);
            return false;
        }
        let asks = now.saturating_sub(self.busy_since.get()) > BUSY_US * ticks_per_us();
        if asks {
            self.busy_since.set(now);
        }
        asks
    }

    /// A stretch of some polls has lasted from `start` to `now`, and tasks have been `waiting` in the ring.
    #[inline]
    pub(crate) fn stretch_ends(&self, polls: u32, start: u64, now: u64, waiting: usize) {
        let has_asked = self.has_asked.replace(false);
        if waiting > 0 && !has_asked && now.saturating_sub(start) > LONG_US * ticks_per_us() {
            self.was_long(polls, start, now);
        }
    }

    #[cold]
    fn was_long(&self, polls: u32, start: u64, now: u64) {
        let (cpu_then, then) = self.noted.get();
        let cpu = thread_cpu_us();
        self.noted.set((cpu, now));
        // All that lies between the note and the stretch may have been CPU time, too.
        let before = start.saturating_sub(then) / ticks_per_us().max(1);
        let usual = u64::from(polls) * self.usual_ns.get() / 1_000;
        if cpu.saturating_sub(cpu_then).saturating_sub(before) > LONG_CPU_US + 2 * usual {
            self.wary.set(true);
            self.wary_until.set(now + WARY_US * ticks_per_us());
        }
    }

    /// `polled` tasks took `elapsed_ns` together.
    #[inline]
    pub(crate) fn learn(&self, polled: u64, elapsed_ns: u64) {
        if let Some(sample) = elapsed_ns.checked_div(polled) {
            let usual = self.usual_ns.get();
            // Not more than some times the usual: one preempted slice says nothing about the next ones.
            let next = (usual * 7 + sample.min(4 * usual)) / 8;
            self.usual_ns.set(next.max(8));
        }
    }
}

/// The CPU time of the calling thread.
#[cfg(unix)]
fn thread_cpu_us() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a valid clock, and a place for its time. It does not fail; if it did, the time would be zero.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000
}

/// Elsewhere time is time.
#[cfg(not(unix))]
fn thread_cpu_us() -> u64 {
    blitz_core::demand::ticks() / ticks_per_us().max(1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use blitz_core::demand::ticks;

    fn estimate_with(usual_ns: u64) -> LoadEstimate {
        let load = LoadEstimate::new();
        for _ in 0..200 {
            load.learn(10, 10 * usual_ns);
        }
        load
    }

    #[test]
    fn help_is_asked_for_when_what_waits_takes_long_enough_to_be_worth_it() {
        assert!(LoadEstimate::new().asks_for_help(1), "nothing is known yet");
        let load = estimate_with(1_000);
        assert!(!load.asks_for_help(1));
        assert!(!load.asks_for_help(HELP_NS as usize / 1_000 - 10));
        assert!(load.asks_for_help(HELP_NS as usize / 1_000 + 10));
        assert!(estimate_with(2 * HELP_NS).asks_for_help(1));
    }

    #[test]
    fn a_worker_that_always_has_tasks_asks_for_help_now_and_then() {
        let load = estimate_with(10);
        let busy = BUSY_US * ticks_per_us();
        let mut asked = 0;
        for slice in 1..=100 {
            load.slice_begins(slice * busy / 10, 5);
            asked += u32::from(load.slice_ends((slice + 1) * busy / 10, 5));
        }
        assert!((8..=10).contains(&asked), "{asked}");
        for slice in 100..=200 {
            load.slice_begins(slice * busy / 10, 5);
            assert!(!load.slice_ends((slice + 1) * busy / 10, 0));
        }
    }

    #[test]
    fn a_worker_that_has_been_through_with_its_tasks_has_not_been_busy_before() {
        let load = estimate_with(10);
        let busy = BUSY_US * ticks_per_us();
        load.slice_begins(busy, 5);
        load.is_through(8 * busy);
        assert!(!load.slice_ends(8 * busy + busy / 2, 5));
        load.slice_begins(9 * busy, 5);
        assert!(load.slice_ends(10 * busy, 5), "it counts from then on");
    }

    #[test]
    fn a_worker_comes_late_if_many_short_polls_wait_for_it() {
        let load = estimate_with(1_000);
        let many = HELP_NS as usize / 1_000 + 10;
        assert!(!load.comes_late(1));
        assert!(load.comes_late(many));
        assert!(
            !estimate_with(2 * BRIEF_NS).comes_late(many),
            "polls are long"
        );
        assert!(
            !LoadEstimate::new().comes_late(many),
            "nothing is known yet"
        );
        load.wary.set(true);
        assert!(!load.comes_late(many), "one of them may be long");
    }

    #[test]
    fn one_slice_that_took_long_says_little_about_the_usual_poll() {
        let load = estimate_with(1_000);
        load.learn(1, 50_000_000);
        assert!(!load.asks_for_help(20));
    }

    #[test]
    fn a_poll_that_takes_long_makes_wary_for_a_while_and_one_that_was_preempted_does_not() {
        let load = estimate_with(1_000);
        let start = ticks();
        load.slice_begins(start, 3);
        // It sleeps, as a thread does that has been preempted.
        std::thread::sleep(std::time::Duration::from_millis(5));
        load.stretch_ends(1, start, ticks(), 3);
        #[cfg(unix)]
        assert!(!load.asks_for_help(3));
        let load = estimate_with(1_000);
        let start = ticks();
        load.slice_begins(start, 3);
        let cpu = thread_cpu_us();
        while thread_cpu_us() < cpu + 2 * LONG_US {}
        load.stretch_ends(1, start, ticks(), 0);
        assert!(!load.asks_for_help(3), "nobody has waited");
        let start = ticks();
        load.slice_begins(start, 3);
        let cpu = thread_cpu_us();
        assert!(load.asks_for_help(HELP_NS as usize));
        while thread_cpu_us() < cpu + 2 * LONG_US {}
        load.stretch_ends(1, start, ticks(), HELP_NS as usize);
        assert!(!load.asks_for_help(3), "others knew of those that waited");
        let start = ticks();
        load.slice_begins(start, 3);
        let cpu = thread_cpu_us();
        while thread_cpu_us() < cpu + 2 * LONG_US {}
        load.stretch_ends(1, start, ticks(), 3);
        assert!(load.asks_for_help(1));
        assert!(!load.asks_for_help(0), "there is nothing to help with");
        load.slice_begins(ticks() + 2 * WARY_US * ticks_per_us(), 1);
        assert!(!load.asks_for_help(1));
        let load = estimate_with(45_000);
        let start = ticks();
        load.slice_begins(start, 1);
        let cpu = thread_cpu_us();
        while thread_cpu_us() < cpu + 2 * LONG_US {}
        load.stretch_ends(16, start, ticks(), 1);
        assert!(!load.asks_for_help(1), "they take as long as usual");
    }
}
