//! Every task of a runtime, so that its end can drop every future, idle ones included.
//!
//! Lists ([`List`]) in shards with a lock each. A worker puts its tasks into shards of its own, some dozens in a row into the
//! same one: so its spawns find the lock in its cache, a thief that ends what it has stolen works on another shard than the
//! one being filled, and neighbours in a list are tasks that one thread has in its hands. All other threads are one more spawner. Each list
//! holds one reference to each of its tasks. Closing is per shard: a task that comes to a closed shard is refused,
//! and its spawner shuts it down; so a spawn that races with the runtime's end is either in a list that is still to
//! be emptied, or refused.
//!
//! # When the list is empty
//! The lengths of the shards are read one after the other, and a task that is through may have left another one in a shard that has been looked at already: a sum of zero says
//! nothing. So [`Owned::is_empty`] also reads how many tasks have been admitted, before the lengths and after. If that is the same, the tasks of the first count are
//! all that there were meanwhile, and each shard's length says that its own are gone: whoever reads a length of zero has seen what those tasks did (SeqCst, as
//! good as Release and Acquire), and so the second count would have their children in it. A length is written before the
//! count, which is Release: whoever counts a task finds it in the length, unless it is gone.

use super::list::List;
#[cfg(all(feature = "console", not(loom)))]
use crate::place::Place;
use crate::primitives::{AtomicU64, AtomicUsize, Condvar, Mutex, Ordering, ignore_poison};
use crate::task::{MOST_SHARDS, Task};
use blitz_core::checking::Flaws;
use crossbeam_utils::CachePadded;
use std::future::poll_fn;
use std::mem::ManuallyDrop;
use std::ops::DerefMut;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// Shards per worker.
const SHARDS: usize = 8;
/// Tasks of a worker that go to the same shard before it turns to the next.
const IN_A_ROW: u64 = 64;

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    AdmitsAfterClosing,
    LooksBeforeClosing,
    LeavesIdleTasks,
    SumsWithoutSnapshot,
}

/// In `waiting`: the console counts the tasks that go, by what they were. So a task that goes asks once for all who want to know.
#[cfg(all(feature = "console", not(loom)))]
const LOOKED_AT: usize = 1 << (usize::BITS - 1);
#[cfg(any(not(feature = "console"), loom))]
const LOOKED_AT: usize = 0;

pub(crate) struct Owned {
    shards: Box<[CachePadded<Shard>]>,
    /// Who wants to hear of each task that goes: in `wait_until_empty` or `empty`; and [`LOOKED_AT`].
    waiting: AtomicUsize,
    gate: Mutex<Vec<Waker>>,
    changed: Condvar,
    flaws: Flaws<Flaw>,
}

struct Shard {
    listing: Mutex<Listing>,
    /// Written by the lock's holder, read by everybody.
    len: AtomicUsize,
    /// Tasks that have ever been in it. As `len`.
    admitted: AtomicU64,
}

struct Listing {
    list: List,
    closed: bool,
}

// SAFETY: the list owns references to its tasks, which may be sent.
unsafe impl Send for Listing {}

impl Shard {
    fn listing(&self) -> impl DerefMut<Target = Listing> + '_ {
        ignore_poison(self.listing.lock())
    }

    /// How many are listed. For the lock's holder.
    fn listed(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }
}

/// A task that was refused.
#[cold]
#[inline(never)]
fn end(task: &Task) {
    task.shutdown();
}

/// Counted among those who wait. Announced before the first look at the lengths; whoever removes a task does it the other way round.
struct Waiting<'a>(&'a Owned);

impl<'a> Waiting<'a> {
    fn new(owned: &'a Owned) -> Self {
        owned.waiting.fetch_add(1, Ordering::SeqCst);
        Waiting(owned)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.0.waiting.fetch_sub(1, Ordering::SeqCst) & !LOOKED_AT == 1 {
            // Wakers of those who have given up: one of them may keep the scheduler alive, and thereby this list.
            let mut gate = ignore_poison(self.0.gate.lock());
            let gone = std::mem::take(&mut *gate);
            drop(gate);
            // Somebody who has come since is told to look again.
            gone.into_iter().for_each(Waker::wake);
        }
    }
}

impl Owned {
    /// For `workers` threads that spawn at once, and others.
    pub(crate) fn new(workers: usize) -> Self {
        let shards = (SHARDS * (workers + 1))
            .next_power_of_two()
            .min(MOST_SHARDS);
        Self::with_flaws(shards, Flaws::NONE)
    }

    pub(crate) fn with_flaws(shards: usize, flaws: Flaws<Flaw>) -> Self {
        let shard = || {
            CachePadded::new(Shard {
                listing: Mutex::new(Listing {
                    list: List::new(),
                    closed: false,
                }),
                len: AtomicUsize::new(0),
                admitted: AtomicU64::new(0),
            })
        };
        Owned {
            shards: (0..shards).map(|_| shard()).collect(),
            waiting: AtomicUsize::new(0),
            gate: Mutex::new(Vec::new()),
            changed: Condvar::new(),
            flaws,
        }
    }

    /// The shard of a spawner's `count`th task.
    fn choose(&self, spawner: usize, count: u64) -> usize {
        let turn = (count / IN_A_ROW) as usize % SHARDS;
        (spawner * SHARDS + turn) & (self.shards.len() - 1)
    }

    /// Adds a new task, the `count`th of its spawner. `false`: the runtime has ended, and the task with it; its handle reports
    /// a cancellation.
    pub(crate) fn admit(&self, task: Task, spawner: usize, count: u64) -> bool {
        match self.insert(task, self.choose(spawner, count)) {
            Ok(()) => true,
            Err(refused) => {
                end(&refused);
                false
            }
        }
    }

    pub(super) fn insert(&self, task: Task, index: usize) -> Result<(), Task> {
        task.header().state.set_shard(index);
        let shard = &self.shards[index];
        let mut listing = shard.listing();
        if listing.closed && !self.flaws.has(Flaw::AdmitsAfterClosing) {
            return Err(task);
        }
        let listed = shard.listed();
        // SAFETY: the list has a reference from now on, which keeps the task alive. It is in no list yet.
        unsafe { listing.list.push(listed, task.into_raw()) };
        let (len, admitted) = (&shard.len, &shard.admitted);
        len.store(listed + 1, Ordering::Relaxed);
        admitted.store(admitted.load(Ordering::Relaxed) + 1, Ordering::Release);
        Ok(())
    }

    /// Takes a task out. `true`: it was in, and the list's reference is the caller's now.
    pub(crate) fn remove(&self, task: &Task) -> bool {
        let shard = &self.shards[task.header().state.shard()];
        let mut listing = shard.listing();
        let listed = shard.listed();
        // SAFETY: it is in this shard's list or in none.
        if !unsafe { listing.list.remove(listed, task.as_ptr()) } {
            return false;
        }
        shard.len.store(listed - 1, Ordering::SeqCst);
        drop(listing);
        let waiting = self.waiting.load(Ordering::SeqCst);
        if waiting > 0 {
            #[cfg(all(feature = "console", not(loom)))]
            if waiting & LOOKED_AT != 0 {
                crate::ended::count(task.header());
            }
            if waiting & !LOOKED_AT > 0 {
                self.tell();
            }
        }
        true
    }

    /// A task has gone: tells those who wait.
    fn tell(&self) {
        let wakers = {
            let mut gate = ignore_poison(self.gate.lock());
            std::mem::take(&mut *gate)
        };
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Whether the console wants to know of tasks that go.
    #[cfg(all(feature = "console", not(loom)))]
    pub(crate) fn is_looked_at(&self, looked_at: bool) {
        if looked_at {
            self.waiting.fetch_or(LOOKED_AT, Ordering::Relaxed);
        } else {
            self.waiting.fetch_and(!LOOKED_AT, Ordering::Relaxed);
        }
    }

    /// Blocks until no task is left, or for `limit` at most. `false`: some are.
    pub(crate) fn wait_until_empty(&self, limit: Option<Duration>) -> bool {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let _waiting = Waiting::new(self);
        let mut gate = ignore_poison(self.gate.lock());
        while !self.is_empty() {
            let Some(deadline) = deadline else {
                gate = ignore_poison(self.changed.wait(gate));
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(gate, left);
            gate = ignore_poison(waited).0;
        }
        drop(gate);
        self.is_empty()
    }

    /// As [`Owned::wait_until_empty`], for a thread that runs the tasks itself meanwhile.
    pub(crate) async fn empty(&self) {
        let _waiting = Waiting::new(self);
        poll_fn(|cx| {
            // Cloning and dropping a waker is somebody else's code: both without the lock.
            let mut waker = Some(cx.waker().clone());
            let mut wakers = ignore_poison(self.gate.lock());
            if self.is_empty() {
                return Poll::Ready(());
            }
            wakers.extend(waker.take());
            Poll::Pending
        })
        .await;
    }

    /// Whether there was a moment, during this call, without any task. Not because of one that comes meanwhile: whoever waits hears of its end.
    pub(crate) fn is_empty(&self) -> bool {
        let admitted = self.admitted();
        self.len() == 0
            && (self.admitted() == admitted || self.flaws.has(Flaw::SumsWithoutSnapshot))
    }

    /// How many tasks are alive, or were a moment ago: the shards are counted one after the other.
    pub(crate) fn len(&self) -> usize {
        let lens = self
            .shards
            .iter()
            .map(|shard| shard.len.load(Ordering::SeqCst));
        lens.sum()
    }

    /// How many tasks there have been.
    pub(crate) fn admitted(&self) -> u64 {
        let shards = self.shards.iter();
        shards
            .map(|shard| shard.admitted.load(Ordering::Acquire))
            .sum()
    }

    /// Shows tasks to somebody who looks; `most` of each shard.
    #[cfg(all(feature = "console", not(loom)))]
    pub(crate) fn look_at(&self, most: usize, show: &mut impl FnMut(crate::console::TaskView)) {
        let mut seen = Vec::new();
        for shard in &self.shards {
            let listing = shard.listing();
            for task in listing.list.tasks(shard.listed()) {
                // SAFETY: the list has a reference to each of its tasks, and we hold its lock.
                seen.extend(crate::console::TaskView::of(unsafe { &*task }));
                if seen.len() == most {
                    break;
                }
            }
            drop(listing);
            seen.drain(..).for_each(&mut *show);
        }
    }

    /// Where the task at this address was spawned, if there is one.
    #[cfg(all(feature = "console", not(loom)))]
    pub(crate) fn place_of(&self, task: usize) -> Option<Place> {
        self.shards.iter().find_map(|shard| {
            let listing = shard.listing();
            let mut tasks = listing.list.tasks(shard.listed());
            let found = tasks.find(|found| found.addr() == task)?;
            // SAFETY: as above.
            Some(unsafe { (*found).seen.place() })
        })
    }

    /// Refuses new tasks from now on, and shuts down those that are there. A task that is being polled stays in the list until
    /// its poll has ended.
    pub(crate) fn close_and_shut_down(&self) {
        for shard in &self.shards {
            let mut tasks = Vec::with_capacity(shard.len.load(Ordering::Relaxed));
            {
                let mut listing = shard.listing();
                listing.closed = !self.flaws.has(Flaw::LooksBeforeClosing);
                // SAFETY: the list has a reference to each of its tasks, and we hold its lock. We take references of our
                // own out of the lock with us.
                tasks.extend(
                    listing.list.tasks(shard.listed()).map(|task| unsafe {
                        Task::clone(&ManuallyDrop::new(Task::from_raw(task)))
                    }),
                );
            }
            if self.flaws.has(Flaw::LooksBeforeClosing) {
                shard.listing().closed = true;
            }
            if self.flaws.has(Flaw::LeavesIdleTasks) {
                tasks.clear();
            }
            // The oldest first; the list begins with the newest. Drops futures, which is user code: outside of the lock.
            tasks.iter().rev().for_each(Task::shutdown);
        }
    }
}
