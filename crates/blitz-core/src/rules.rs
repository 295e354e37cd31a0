//! The engine's rules as plain code: numbers and decisions without atomics, for the engine and for whoever follows its rules without being it (the
//! simulator, `blitz-simulate`). One telling for both; where the engine needs another one, because it has to hold against
//! other threads, a test ties the two together ([`Stack`] and the join stack).
//!
//! Not a part of the public interface: it changes with the engine.

use blitz_primitives::BackoffMode;

/// Work shorter than this in total (both halves) is not worth a wake, as long as nobody has measured one.
pub const WORTH_A_WAKE_US: u64 = 60;

/// Work shorter than this is not worth a wake that takes its caller `call` ticks and the woken thread `latency` until it runs; `us` ticks are a microsecond. See
/// `wake_cost.rs`. On a machine that is busy with other things a wake seems to take much longer; there, what could have been shared and was not costs more than a wake too many.
pub fn worth_a_wake(call: u64, latency: u64, us: u64) -> u64 {
    (2 * (call + latency)).clamp(20 * us, 120 * us)
}

/// Work shorter than this, in microseconds, stays where it is, whoever waits: handing half of it over costs about a microsecond.
pub const WORTH_SHARING_US: f32 = 6.0;

/// Pieces of work that follow each other within this time, in microseconds, are in a row: somebody woken for one of them would still look for work when the
/// next comes.
pub const ROW_GAP_US: u64 = 20;

/// Somebody is woken for a row that has taken so many times what is worth a wake.
pub const WORTH_A_ROW: u64 = 4;

/// How long a thread looks before it asks for private forks by force, in microseconds.
pub const FORCE_AFTER_US: u64 = 8;

/// A search that goes on asks once more after so many times as long.
pub const FORCE_AGAIN: u64 = 4;

/// Patience is halved at most this often.
pub const MAX_FRUITLESS: u32 = 3;

/// A thief compares the forks of so many victims.
pub const CHOICES: usize = 8;

/// The most tasks taken from a victim at once, beside the one that is run.
pub const MAX_LOOT: usize = 31;

/// Stolen forks shorter than this (in microseconds) make a thief hesitate before its next theft.
pub const SHORT_US: u64 = 3;
/// How long a thread hesitates whose last theft was a short task.
pub const TASK_HESITATION_US: u64 = 4;
const MIN_HESITATION_US: u64 = 4;
const MAX_HESITATION_US: u64 = 200;

/// A block of a loop should take about this long: short enough for others to get their share soon, long enough not to notice the
/// clock, the cut and the fork (some 20 ns together).
pub const LOOP_BLOCK_US: f32 = 8.0;

/// A part of a loop with less than this ahead is not cut further, whoever waits.
pub const LOOP_WORTH_A_CUT_US: f32 = 2.0 * LOOP_BLOCK_US;

/// An offered loop is halved at least this often: its blocks are at most a sixteenth of it, however cheap they look.
pub const LOOP_LEVELS: u32 = 4;

/// The same for a part that was taken by another thread.
pub const LOOP_LEVELS_SHARED: u32 = 2;

/// How long a thread looks for work before it sleeps, in microseconds.
pub fn patience_us(mode: BackoffMode) -> u64 {
    const MINUTE: u128 = 60_000_000;
    mode.patience().as_micros().min(MINUTE) as u64
}

/// How long a thread hesitates, in microseconds, that has hesitated for so long before its last theft, which did not pay.
pub fn longer_hesitation_us(us: u64) -> u64 {
    (us * 2).clamp(MIN_HESITATION_US, MAX_HESITATION_US)
}

/// So many of a pool's threads may search.
pub fn crowd(threads: usize) -> usize {
    threads.div_ceil(2)
}

/// Should a loop with so much ahead be offered to others? In microseconds, as is what is worth a wake.
#[inline]
pub fn is_loop_worth_sharing(us: f32, worth_a_wake_us: f32, hungry: impl FnOnce() -> bool) -> bool {
    us > WORTH_SHARING_US && (us > worth_a_wake_us || hungry())
}

/// What a fork becomes for its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Popped {
    /// Nobody saw it.
    Ours,
    /// It was public, and nobody took it.
    Retaken,
    /// A thief has it; it stays on the stack until it is [reclaimed](Stack::reclaim).
    Stolen,
}

/// The join stack without other threads: which forks are public, and who gets which. See `join_stack.rs`, which does the same in the middle of a race.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    stolen: Vec<bool>,
    /// Everything below has been stolen.
    top: usize,
    /// Everything below is public.
    low: usize,
}

impl Stack {
    /// How many forks are on it.
    pub fn depth(&self) -> usize {
        self.stolen.len()
    }

    /// Is something public?
    pub fn sees_work(&self) -> bool {
        self.top < self.low
    }

    /// Are there private forks?
    pub fn sees_private(&self) -> bool {
        self.stolen.len() > self.low
    }

    /// The owner forks. `true`: everything has become public.
    pub fn push(&mut self) -> bool {
        self.stolen.push(false);
        let exposes = !self.sees_work();
        if exposes {
            self.low = self.stolen.len();
        }
        exposes
    }

    /// The owner takes its newest fork back.
    pub fn pop(&mut self) -> Popped {
        let bottom = self.stolen.len().saturating_sub(1);
        if bottom >= self.low {
            self.stolen.pop();
            return Popped::Ours;
        }
        if self.stolen[bottom] {
            return Popped::Stolen;
        }
        self.retreat();
        Popped::Retaken
    }

    /// The thief of the newest fork is done.
    pub fn reclaim(&mut self) {
        self.retreat();
    }

    fn retreat(&mut self) {
        self.stolen.pop();
        self.low = self.low.min(self.stolen.len());
        self.top = self.top.min(self.stolen.len());
    }

    /// A thief takes the oldest public fork that `wanted` accepts; its place on the stack.
    pub fn steal(&mut self, mut wanted: impl FnMut(usize) -> bool) -> Option<usize> {
        let mut contiguous = true;
        for slot in self.top..self.low {
            if self.stolen[slot] {
                if contiguous {
                    self.top = slot + 1;
                }
            } else if wanted(slot) {
                self.stolen[slot] = true;
                if contiguous {
                    self.top = slot + 1;
                }
                return Some(slot);
            } else {
                contiguous = false;
            }
        }
        None
    }

    /// A thief asks for the private forks. `true`: some became public.
    pub fn force(&mut self) -> bool {
        let some = self.sees_private();
        self.low = self.stolen.len().max(self.low);
        some
    }
}
