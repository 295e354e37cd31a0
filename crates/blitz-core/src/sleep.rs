//! Falling asleep without missing a job, and being woken without waste.
//!
//! A thread without work searches for a while, then sleeps until somebody has a reason to wake it.
//! There are no timed naps: an idle pool makes no system calls at all.
//!
//! # The protocol
//! | poster of a job | thread that falls asleep |
//! |---|---|
//! | P1 make the job visible | S1 `announce_sleepy`: the event counter becomes odd |
//! | P2 full fence | S2 search once more |
//! | P3 `post_event`: the counter becomes even; read the counters | S3 `try_add_sleeping`: fails if the counter moved |
//! | P4 nobody searching, somebody sleeping: find a thread among those asleep, *claim* it, make it AWAKE, take it out of the count, wake it | S4 state := ASLEEP; among those asleep; full fence |
//! | | S5 last look at every queue; if there is work: claim itself |
//! | | S6 block while the state is ASLEEP |
//!
//! *No job is lost.* Take the fences P2 and S4. If P2 comes first, S5 sees the job. If S4 comes first,
//! P3 and P4 see the sleeper: it counts in `sleeping`, and it is among the [`asleep`]. The case that P3 relies on a
//! searching thread instead is below.
//!
//! *The event counter* saves work, not lives: it turns most near misses away at S3, before the thread
//! has become a candidate for a futile wake.
//!
//! *Counts never go negative*: a thread is among those asleep only after it is in the count, and whoever claims it (the only way
//! out) takes it out of the count, once.
//!
//! *A claim is a debt.* Who claims a sleeper makes it AWAKE and kicks it. The sleeper does not leave before it is AWAKE, even if it
//! has found work meanwhile: it would meet the late AWAKE in its next sleep, and leave that without having been claimed.
//!
//! # Searchers
//! Posters rely on a searching thread: one that is in `inactive` and not in `sleeping`. It may find another job than the one it is relied upon
//! for. So *the last searcher passes the word on*: a thread that has found something leaves the count of the inactive with one
//! read-modify-write that tells it who else searches. If nobody does, it passes a full fence, looks at every queue, and
//! wakes a successor if there is more, before it runs what it has found (cascade). If somebody does, it need not look.
//!
//! *No job is lost.* Let a poster of job J see searchers at P3. All changes of the counters are in one order, since they are one word, and
//! so from that point on some change is the first that leaves no searcher. Three kinds of change do so:
//! * a searcher leaves with work. It is the last, so it looks, after a fence that comes after P2; it sees J, unless somebody has taken
//!   it, and wakes a sleeper;
//! * a searcher falls asleep (S3). Its S4 and S5 come after P2: it sees J;
//! * a searcher whose seat a guest has taken leaves to run the companion's work, as the first kind does, or falls asleep as the second: J is not for it,
//!   and it wakes a sleeper whose seat is free.
//!
//! Had each decided by a look *before* it leaves, two could leave, each relying on the other.
//!
//! *Not too many of them.* More than half of a pool's threads are a [crowd](Sleep::is_crowded): a thread that joins it looks everywhere
//! once, and if there is nothing falls asleep without further search. A crowd is left by S3 only, which then demands in the same
//! compare-exchange that it still is one. So however many threads see the crowd at the same time, half of the threads go on searching.
//! (Threads that come from a computation do not mind a crowd, unless there are more threads than CPUs: see `Worker::shuns_crowds`.)

use crate::rows::Rows;
use crate::rules;
use crate::sync::{AtomicU32, AtomicUsize, Ordering, fence};
#[cfg(not(loom))]
use crate::wake_cost;
use asleep::Asleep;
use blitz_primitives::flaw::Flaws;
use blitz_primitives::{AtomicCounters, Counters, futex};
use crossbeam_utils::CachePadded;

mod asleep;

const AWAKE: u32 = 0;
/// Asleep for want of work: anybody with work may wake it.
const ASLEEP: u32 = 1;

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    NoLastLook,
    NoPosterFence,
    NoSleeperFence,
    AsleepBeforeCounted,
    LeavesUnclaimed,
    AttendsLate,
}

/// One thread, as far as its sleep goes.
#[derive(Debug)]
struct Sleeper {
    /// What it blocks on.
    state: AtomicU32,
    #[cfg(not(loom))]
    called_at: wake_cost::CalledAt,
}

fn awake() -> CachePadded<Sleeper> {
    CachePadded::new(Sleeper {
        state: AtomicU32::new(AWAKE),
        #[cfg(not(loom))]
        called_at: wake_cost::CalledAt::default(),
    })
}

/// The sleep of all threads of a pool.
#[derive(Debug)]
pub(crate) struct Sleep {
    counters: CachePadded<AtomicCounters>,
    /// One for each thread.
    sleepers: Rows<CachePadded<Sleeper>>,
    /// How many threads there are to be; some of them may not have ended yet.
    threads: AtomicUsize,
    /// Those in state ASLEEP that nobody has claimed.
    asleep: CachePadded<Asleep>,
    /// One more than the thread that sleeps in the companion; 0: none does.
    attendant: CachePadded<AtomicU32>,
    /// Gets the attendant out.
    interrupt: Interrupt,
    flaws: Flaws<Flaw>,
}

/// How the attendant is woken.
#[cfg(not(loom))]
#[derive(Default)]
struct Interrupt(crate::sync::locks::OnceLock<Box<dyn Fn() + Send + Sync>>);

#[cfg(not(loom))]
impl Interrupt {
    fn call(&self) {
        if let Some(interrupt) = self.0.get() {
            interrupt();
        }
    }
}

/// In models, the companion is one more word to sleep on.
#[cfg(loom)]
#[derive(Default)]
struct Interrupt(AtomicU32);

#[cfg(loom)]
impl Interrupt {
    fn call(&self) {
        self.0.store(1, Ordering::SeqCst);
        futex::wake_one(&raw const self.0);
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interrupt")
    }
}

impl Sleep {
    pub(crate) fn new(threads: usize) -> Self {
        Self::with_flaws(threads, Flaws::NONE)
    }

    pub(crate) fn with_flaws(threads: usize, flaws: Flaws<Flaw>) -> Self {
        Sleep {
            counters: CachePadded::new(AtomicCounters::new()),
            sleepers: (0..threads).map(|_| awake()).collect(),
            threads: AtomicUsize::new(threads),
            asleep: CachePadded::new(Asleep::new(threads)),
            attendant: CachePadded::new(AtomicU32::new(0)),
            interrupt: Interrupt::default(),
            flaws,
        }
    }

    /// A consistent reading of the counters.
    #[inline]
    pub(crate) fn counters(&self) -> Counters {
        self.counters.load()
    }

    /// This thread has run out of work.
    pub(crate) fn start_searching(&self) {
        self.counters.add_inactive();
    }

    /// This thread has work again (or stops being a thread that looks for it). If nobody searches any more, it has to
    /// pass the word on: see the module's documentation.
    pub(crate) fn stop_searching(&self) -> Counters {
        self.counters.sub_inactive()
    }

    /// Do more than half of the threads search?
    pub(crate) fn is_crowded(&self) -> bool {
        self.counters.load().searching() > self.crowd()
    }

    /// So many may search.
    fn crowd(&self) -> usize {
        rules::crowd(self.threads.load(Ordering::Relaxed))
    }

    /// The pool is to have so many threads. For one caller at a time, before the threads are there.
    pub(crate) fn resize(&self, threads: usize) {
        self.sleepers.grow_to(threads, |_| awake());
        self.asleep.grow_to(self.sleepers.len());
        self.threads.store(threads, Ordering::Relaxed);
    }

    /// S1. The caller searches once more and hands the result to [`Sleep::sleep`].
    pub(crate) fn announce_sleepy(&self) -> u32 {
        self.counters.announce_sleepy()
    }

    /// What to call to wake the attendant. Once: `false` if it was set before.
    #[cfg(not(loom))]
    pub(crate) fn set_interrupt(&self, interrupt: Box<dyn Fn() + Send + Sync>) -> bool {
        self.interrupt.0.set(interrupt).is_ok()
    }

    /// S3 to S6, on the thread's futex; with `leaves_crowd`, only if it leaves one. Returns whether the thread really blocked.
    pub(crate) fn sleep(
        &self,
        thread: usize,
        announced: u32,
        leaves_crowd: bool,
        has_work: impl FnMut() -> bool,
    ) -> bool {
        self.sleep_in(thread, announced, leaves_crowd, has_work, |state| {
            futex::wait(state, ASLEEP);
            false
        })
    }

    /// The same for the attendant, which sleeps in `block`; that returns `true` if there may be work.
    pub(crate) fn sleep_attending(
        &self,
        thread: usize,
        announced: u32,
        leaves_crowd: bool,
        has_work: impl FnMut() -> bool,
        mut block: impl FnMut() -> bool,
    ) -> bool {
        // A1: before the thread counts as asleep (S4), so that whoever wakes it sees where it is.
        let attend = || self.attendant.store(thread as u32 + 1, Ordering::Release);
        self.flaws.unless(Flaw::AttendsLate, attend);
        let blocked = self.sleep_in(thread, announced, leaves_crowd, has_work, |_| {
            self.flaws.when(Flaw::AttendsLate, attend);
            block()
        });
        self.attendant.store(0, Ordering::Release);
        blocked
    }

    /// Gets a thread whose sleep has been claimed out of it.
    fn kick(&self, thread: usize) {
        if self.attendant.load(Ordering::Acquire) == thread as u32 + 1 {
            self.interrupt.call();
        } else {
            futex::wake_one(self.word(thread));
        }
    }

    /// `wait` blocks while the word is ASLEEP, or about that; `true` ends the sleep.
    fn sleep_in(
        &self,
        thread: usize,
        announced: u32,
        leaves_crowd: bool,
        mut has_work: impl FnMut() -> bool,
        mut wait: impl FnMut(&AtomicU32) -> bool,
    ) -> bool {
        let sleeper = &self.sleepers[thread];
        let state = &sleeper.state;
        let least = if leaves_crowd { self.crowd() + 1 } else { 0 };
        let is_asleep = || {
            state.store(ASLEEP, Ordering::Relaxed);
            self.asleep.add(thread);
        };
        self.flaws.when(Flaw::AsleepBeforeCounted, is_asleep);
        if !self.counters.try_add_sleeping(announced, least) {
            return false;
        }
        // In this order: whoever claims us makes us AWAKE after that, and knows that we are in the count.
        self.flaws.unless(Flaw::AsleepBeforeCounted, is_asleep);
        self.flaws.fence(Flaw::NoSleeperFence);
        // Ends its own sleep without a kick: that would be a system call to itself. If somebody else is faster, their kick is on its way.
        if !self.flaws.has(Flaw::NoLastLook)
            && has_work()
            && (self.claim(thread) || self.flaws.has(Flaw::LeavesUnclaimed))
        {
            return false;
        }
        while state.load(Ordering::Acquire) == ASLEEP {
            if wait(state) && self.claim(thread) {
                return true;
            }
        }
        #[cfg(not(loom))]
        sleeper.called_at.answered();
        true
    }

    /// P2 and P3. The caller has made its job visible. Returns the counters to decide by.
    #[inline]
    pub(crate) fn post(&self) -> Counters {
        self.flaws.fence(Flaw::NoPosterFence);
        self.counters.post_event()
    }

    /// P4. Wakes one sleeping thread that `eligible` accepts, `first` or one after it if there is one.
    pub(crate) fn wake_one(
        &self,
        first: usize,
        mut eligible: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let mut asleep = self.asleep.from(first % self.sleepers.len());
        asleep.find(|&thread| eligible(thread) && self.wake_thread(thread))
    }

    /// Does any thread sleep for want of work that `wanted` accepts?
    #[cfg(not(loom))]
    pub(crate) fn any_asleep(&self, wanted: impl Fn(usize) -> bool) -> bool {
        self.asleep.from(0).any(wanted)
    }

    /// Wakes this thread if it sleeps for want of work.
    pub(crate) fn wake_thread(&self, thread: usize) -> bool {
        #[cfg(not(loom))]
        self.sleepers[thread].called_at.now();
        let claimed = self.claim(thread);
        if claimed {
            #[cfg(not(loom))]
            wake_cost::calling(|| self.kick(thread));
            #[cfg(loom)]
            self.kick(thread);
        }
        claimed
    }

    /// Ends the sleep of every thread.
    pub(crate) fn wake_all(&self) {
        // P2: the news that ends the sleep before the look at who sleeps.
        fence(Ordering::SeqCst);
        for thread in 0..self.sleepers.len() {
            self.wake_thread(thread);
        }
    }

    /// The one way out of sleep for want of work: exactly one caller gets `true`, and the thread may go. If it is not the thread itself,
    /// the caller kicks it.
    fn claim(&self, thread: usize) -> bool {
        let claimed = self.asleep.claim(thread);
        if claimed {
            self.sleepers[thread].state.store(AWAKE, Ordering::Release);
            self.counters.sub_sleeping();
        }
        claimed
    }

    /// For models: the thread sleeps, without a thread that does. Nobody else is about.
    #[cfg(all(test, loom))]
    pub(crate) fn pretend_asleep(&self, thread: usize) {
        let announced = self.announce_sleepy();
        assert!(self.counters.try_add_sleeping(announced, 0));
        self.sleepers[thread].state.store(ASLEEP, Ordering::Relaxed);
        self.asleep.add(thread);
    }

    /// Does it sleep for want of work, and has nobody woken it?
    #[inline]
    pub(crate) fn is_asleep(&self, thread: usize) -> bool {
        self.sleepers[thread].state.load(Ordering::Relaxed) == ASLEEP
    }

    fn word(&self, thread: usize) -> *const AtomicU32 {
        &raw const self.sleepers[thread].state
    }
}

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
