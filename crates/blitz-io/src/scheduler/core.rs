//! What one worker has of its own: the slot for the task it was just woken for, the ring, and its sense of time.
//!
//! The **slot** holds the task that the running task woke last. It runs next, while the data that the two share is in the cache. At
//! most three in a row come from the slot, so two tasks that wake each other do not keep the ring waiting. Thieves may take
//! from it too. So a task never waits for a worker that does something long while others are idle.
//!
//! The **interval** says how many tasks of its own a worker runs before it looks at the shared queue *first*: about
//! a millisecond's worth, from a moving average, but 8 at least and 255 at most.
//!
//! The worker of a **current-thread** runtime has a [`Line`] instead of slot and ring: tasks run one after the other, however many there are.

use super::injector::refuse;
use super::lending::Lending;
use super::line::Line;
use super::load_estimate::LoadEstimate;
use super::ring::{CAPACITY, Full, Ring};
use super::service::Service;
use crate::looks::Looks;
use crate::place::Now;
use crate::primitives::AtomicU64;
use crate::task::{Header, Queued};
use blitz_core::demand::{ticks, ticks_per_us};
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Tasks from the slot before the ring gets its turn.
const MAX_IN_A_ROW: u32 = 3;
/// A task in the shared queue should not wait longer than about this.
const TARGET_NS: u64 = 1_000_000;
const INTERVAL: std::ops::RangeInclusive<u64> = 8..=255;
const FIRST_GUESS_NS: u64 = 50_000;
/// A worker that has not been through with its tasks for longer may have too many, or some that always yield.
const SOON_US: u64 = 2_000;

/// An entry of the ring.
#[derive(Clone, Copy)]
struct Entry(*const Header);

// SAFETY: an entry stands for a `Queued`, which may be sent.
unsafe impl Send for Entry {}

/// Where tasks wait for the owner.
enum Ready {
    /// Others may take half of them.
    Ring(Ring<Entry>),
    /// They are the owner's alone.
    Line(Line),
}

/// See the module's documentation.
pub(crate) struct Core {
    ready: Ready,
    slot: AtomicPtr<Header>,
    /// Read by outsiders while they queue tasks: not beside what the owner writes all the time.
    pub(crate) service: CachePadded<Service>,
    /// How many times the owner has looked for a task.
    looks_for_tasks: AtomicU64,
    // The owner's own.
    in_a_row: Cell<u32>,
    /// Whether the owner is in a computation that may take long: it will not get to its tasks soon.
    pub(crate) computes: Cell<bool>,
    /// Whether the last slice had tasks from the shared queue.
    pub(crate) fed: Cell<bool>,
    /// Whether the owner looks at the driver when it is through with its tasks.
    pub(crate) looks: Cell<Looks>,
    /// Whether the owner came late when the driver last woke it (see `load_estimate`).
    pub(crate) late: Cell<bool>,
    /// When the owner was last through with all of its tasks, in ticks.
    through_at: AtomicU64,
    /// When the owner last woke up, in ticks.
    awake_since: Cell<u64>,
    /// When the owner last beat, in ticks. Written by the owner.
    pub(crate) last_beat: AtomicU64,
    /// How far it then saw the relief thread, and how often just there.
    pub(crate) relief_seen: Cell<(u64, u32)>,
    /// When the owner last lent its CPU, and may do so again.
    pub(crate) lending: Lending,
    /// The relief thread's: the poll in which it was last seen computing, and since when.
    pub(crate) computing: Cell<(u64, u64)>,
    interval: Cell<u32>,
    average_ns: Cell<u64>,
    random: Cell<u64>,
    pub(crate) load: LoadEstimate,
    pub(crate) counts: Counts,
    pub(crate) now: Now,
}

// SAFETY: the cells are the owner's, and the methods that use them are `unsafe` for that reason.
unsafe impl Sync for Core {}

/// The one with this index.
pub(super) fn one(index: usize, seed: u64) -> CachePadded<Core> {
    made_of(Ready::Ring(Ring::new()), index, seed)
}

/// The one of a current-thread runtime.
pub(super) fn alone(seed: u64) -> CachePadded<Core> {
    made_of(Ready::Line(Line::default()), 0, seed)
}

fn made_of(ready: Ready, index: usize, seed: u64) -> CachePadded<Core> {
    CachePadded::new(Core::new(ready, seed.wrapping_add(index as u64 + 1)))
}

/// What a worker has done; written by its owner, read by everybody.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) spawned: AtomicU64,
    pub(crate) polled: AtomicU64,
    pub(crate) stolen: AtomicU64,
    pub(crate) slot_hits: AtomicU64,
    pub(crate) batches: AtomicU64,
    pub(crate) overflows: AtomicU64,
    /// How often it has gone to sleep.
    pub(crate) parked: AtomicU64,
    /// How often it has woken up.
    pub(crate) unparked: AtomicU64,
    /// How long it has been awake.
    pub(crate) busy_ns: AtomicU64,
}

/// One more, or some: a plain store, since only the owner writes. Returns what it was before.
#[inline]
pub(crate) fn add(count: &AtomicU64, more: u64) -> u64 {
    let before = count.load(Ordering::Relaxed);
    count.store(before + more, Ordering::Relaxed);
    before
}

/// How a push went.
pub(crate) enum Pushed {
    /// Somebody else could take it.
    InRing,
    /// There is nobody else.
    InLine,
    /// These have to go to the shared queue.
    Overflow(Vec<Queued>),
}

impl Core {
    fn new(ready: Ready, seed: u64) -> Self {
        let core = Core {
            ready,
            slot: AtomicPtr::new(std::ptr::null_mut()),
            service: CachePadded::new(Service::new()),
            looks_for_tasks: AtomicU64::new(0),
            fed: Cell::new(false),
            in_a_row: Cell::new(0),
            computes: Cell::new(false),
            looks: Cell::default(),
            late: Cell::new(false),
            through_at: AtomicU64::new(0),
            awake_since: Cell::new(0),
            last_beat: AtomicU64::new(0),
            relief_seen: Cell::new((0, 0)),
            lending: Lending::default(),
            computing: Cell::new((0, 0)),
            interval: Cell::new(0),
            average_ns: Cell::new(FIRST_GUESS_NS),
            random: Cell::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            load: LoadEstimate::new(),
            counts: Counts::default(),
            now: Now::new(),
        };
        core.interval.set(interval_for(FIRST_GUESS_NS));
        core
    }

    /// Could anybody find a task here?
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        self.len() > 0 || !self.slot.load(Ordering::SeqCst).is_null()
    }

    /// How far the owner has come; odd while it is in a slice. As long as it stays the same and odd, the owner is in one poll, or about there.
    pub(crate) fn progress(&self) -> u64 {
        let in_slice = u64::from(self.service.is_in_slice());
        self.looks_for_tasks.load(Ordering::Relaxed) << 1 | in_slice
    }

    /// The owner looks for its next task. Returns how many times it has.
    #[inline]
    pub(crate) fn tick(&self) -> u32 {
        add(&self.looks_for_tasks, 1) as u32 + 1
    }

    /// Tasks in the slot and the ring, about.
    pub(crate) fn ready(&self) -> usize {
        self.len() + usize::from(!self.slot.load(Ordering::Relaxed).is_null())
    }

    /// The owner begins to work, or has slept. Its sleep is over for those who count, if it was asleep.
    pub(crate) fn is_busy(&self) {
        let counts = &self.counts;
        // Release: whoever sees this sees that it had gone to sleep before.
        let slept = counts.parked.load(Ordering::Relaxed);
        counts.unparked.store(slept, Ordering::Release);
        self.awake_since.set(ticks());
    }

    /// The owner ends, or goes to sleep.
    pub(crate) fn was_busy(&self) {
        let busy = ticks().saturating_sub(self.awake_since.get());
        add(
            &self.counts.busy_ns,
            (busy * 1000 / ticks_per_us().max(1)).max(1),
        );
    }

    /// The owner goes to sleep.
    pub(crate) fn falls_asleep(&self) {
        self.was_busy();
        add(&self.counts.parked, 1);
    }

    /// Tasks in the ring or the line, about.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.ready {
            Ready::Ring(ring) => ring.len(),
            Ready::Line(line) => line.len(),
        }
    }

    /// A task that the running one has woken or spawned: runs next. Returns what is to run after the others instead: what was to run next, or in a line, the task.
    #[inline]
    pub(crate) fn push_next(&self, task: Queued) -> Option<Queued> {
        if let Ready::Line(_) = &self.ready {
            return Some(task);
        }
        // SeqCst: a sleeper's last look at the slot comes after its announcement, ours before our look at the
        // sleepers (`PoolHandle::notify`).
        let before = self.slot.swap(task.into_raw().cast_mut(), Ordering::SeqCst);
        // SAFETY: whoever swaps an entry out owns it.
        (!before.is_null()).then(|| unsafe { Queued::from_raw(before) })
    }

    /// A task that is to run after the others.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline(always)]
    pub(crate) unsafe fn push_last(&self, task: Queued) -> Pushed {
        // SAFETY: passed on; entries come back exactly once.
        unsafe {
            match &self.ready {
                Ready::Ring(ring) => match ring.push(Entry(task.into_raw())) {
                    Ok(()) => Pushed::InRing,
                    Err(full) => self.overflows(full),
                },
                Ready::Line(line) => {
                    line.push(task);
                    Pushed::InLine
                }
            }
        }
    }

    /// # Safety
    /// The caller is the owner, and has not been able to push.
    #[cold]
    unsafe fn overflows(&self, full: Full<Entry, CAPACITY>) -> Pushed {
        let half = matches!(full, Full::Half(_));
        add(&self.counts.overflows, u64::from(half));
        let entries = match full {
            Full::One(entry) => vec![entry],
            Full::Half(entries) => entries,
        };
        let tasks = entries.into_iter();
        // SAFETY: an entry that comes out of the ring is a task's.
        Pushed::Overflow(
            tasks
                .map(|entry| unsafe { Queued::from_raw(entry.0) })
                .collect(),
        )
    }

    /// Room in the ring, about.
    pub(crate) fn room(&self) -> usize {
        match &self.ready {
            Ready::Ring(ring) => (CAPACITY / 2).saturating_sub(ring.len()),
            Ready::Line(_) => usize::MAX - 1,
        }
    }

    /// The next of this worker's own tasks.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline(always)]
    pub(crate) unsafe fn pop(&self) -> Option<Queued> {
        let ring = match &self.ready {
            Ready::Ring(ring) => ring,
            // SAFETY: passed on.
            Ready::Line(line) => return unsafe { line.pop() },
        };
        // SAFETY: passed on.
        unsafe {
            if self.in_a_row.get() < MAX_IN_A_ROW {
                if let Some(task) = self.take_slot() {
                    self.in_a_row.set(self.in_a_row.get() + 1);
                    add(&self.counts.slot_hits, 1);
                    return Some(task);
                }
            }
            self.in_a_row.set(0);
            match ring.pop() {
                Some(entry) => Some(Queued::from_raw(entry.0)),
                None => self.take_slot(),
            }
        }
    }

    /// Empties the slot. Anybody may.
    #[inline]
    fn take_slot(&self) -> Option<Queued> {
        if self.slot.load(Ordering::Relaxed).is_null() {
            return None;
        }
        let task = self.slot.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: whoever swaps an entry out owns it.
        (!task.is_null()).then(|| unsafe { Queued::from_raw(task) })
    }

    /// Takes half of `victim`'s ring, or else what is in its slot.
    ///
    /// # Safety
    /// The caller is the owner of `self`, and not of `victim`.
    #[inline]
    pub(crate) unsafe fn steal_from(&self, victim: &Core) -> Option<Queued> {
        let (Ready::Ring(theirs), Ready::Ring(mine)) = (&victim.ready, &self.ready) else {
            return None;
        };
        // SAFETY: passed on.
        let stolen = unsafe { theirs.steal_into(mine) };
        if let Some((entry, count)) = stolen {
            add(&self.counts.stolen, count as u64);
            // SAFETY: the theft made the entry ours.
            return Some(unsafe { Queued::from_raw(entry.0) });
        }
        let task = victim.take_slot();
        if task.is_some() {
            add(&self.counts.stolen, 1);
        }
        task
    }

    /// A number below `bound`, from Marsaglia's xorshift and Lemire's multiplication.
    ///
    /// # Safety
    /// The caller is the owner.
    pub(crate) unsafe fn random_below(&self, bound: usize) -> usize {
        // SAFETY: as here.
        let bits = unsafe { self.random() };
        (((bits >> 32) * bound as u64) >> 32) as usize
    }

    /// The next 64 bits.
    ///
    /// # Safety
    /// The caller is the owner.
    pub(crate) unsafe fn random(&self) -> u64 {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        x
    }

    /// Is it the shared queue's turn?
    pub(crate) fn shared_queue_first(&self, tick: u32) -> bool {
        tick % self.interval.get() == 0
    }

    /// Should somebody be woken for what is in slot and ring? For the owner.
    #[inline]
    pub(crate) fn asks_for_help(&self) -> bool {
        let in_slot = usize::from(!self.slot.load(Ordering::Relaxed).is_null());
        self.load.asks_for_help(self.len() + in_slot)
    }

    /// The owner has slept in the driver, and is awake.
    pub(crate) fn leaves_driver(&self) {
        self.late.set(self.load.comes_late(self.ready()));
    }

    /// The owner is through with all of its tasks, and looks for others.
    pub(crate) fn is_through(&self, now: u64) {
        self.load.is_through(now);
        self.through_at.store(now, Ordering::Relaxed);
    }

    /// Was it, a short while ago? Then it will soon be again.
    pub(crate) fn is_soon_through(&self, now: u64) -> bool {
        let through_at = self.through_at.load(Ordering::Relaxed);
        now.saturating_sub(through_at) < SOON_US * ticks_per_us()
    }

    /// `polled` tasks took `elapsed_ns` together.
    pub(crate) fn learn(&self, polled: u64, elapsed_ns: u64) {
        self.load.learn(polled, elapsed_ns);
        if let Some(sample) = elapsed_ns.checked_div(polled) {
            // Nine parts old, one part new.
            let next = (self.average_ns.get() * 9 + sample) / 10;
            self.average_ns.set(next.max(1));
            self.interval.set(interval_for(next.max(1)));
        }
    }

    /// The runtime has ended, and nobody will run what is left here. Entries that stayed would keep their tasks, and these the
    /// scheduler, and that this core.
    ///
    /// # Safety
    /// The caller is the owner.
    pub(crate) unsafe fn refuse_all(&self) {
        // SAFETY: passed on.
        refuse(std::iter::from_fn(|| unsafe { self.pop() }));
    }
}

fn interval_for(average_ns: u64) -> u32 {
    (TARGET_NS / average_ns).clamp(*INTERVAL.start(), *INTERVAL.end()) as u32
}

impl Drop for Core {
    fn drop(&mut self) {
        // SAFETY: nobody else is left.
        while unsafe { self.pop() }.is_some() {}
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_a_millisecond_of_tasks_within_bounds() {
        assert_eq!(interval_for(1_000), 255);
        assert_eq!(interval_for(10_000), 100);
        assert_eq!(interval_for(50_000), 20);
        assert_eq!(interval_for(100_000), 10);
        assert_eq!(interval_for(5_000_000), 8);
        let core = one(0, 1);
        for _ in 0..100 {
            core.learn(10, 10 * 5_000_000);
        }
        assert_eq!(core.interval.get(), 8);
        for _ in 0..200 {
            core.learn(1000, 1000 * 500);
        }
        assert_eq!(core.interval.get(), 255);
    }

    #[test]
    fn bug_11_the_interval_decides_when_the_shared_queue_comes_first() {
        let core = one(0, 1);
        let times = || {
            (1..=2040)
                .filter(|&tick| core.shared_queue_first(tick))
                .count()
        };
        for _ in 0..100 {
            core.learn(1, 10_000_000);
        }
        assert_eq!(times(), 2040 / 8, "tasks are slow");
        for _ in 0..200 {
            core.learn(1000, 1000);
        }
        assert_eq!(times(), 2040 / 255, "tasks are quick");
    }
}
