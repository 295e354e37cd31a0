//! Two priorities: work that somebody waits for, and work that can wait.
//!
//! *Background* is a property that work [inherits](crate::inherited), so that everything that a background computation forks and spawns is background, too. It means
//! two things.
//!
//! **Tasks** of the background are in a queue of their own (`Pool::put_behind`), at which a thread looks when there is nothing else at all; and after
//! [`SHARE`] other pieces of work, so that they are not starved.
//!
//! **What has begun steps aside.** A background loop (or recursion, or code that calls [`checkpoint`](crate::checkpoint)) asks between two blocks whether other tasks wait
//! that nobody is free for. Such a task must not run on top of the loop's frames, which may hold locks that it needs: the promise of [`crate::wait`]. The loop
//! cannot be cut off there either, since others wait for its result. So the thread lends its CPU: a *relay* thread, with a stack and an [extra seat](crate::extra) of
//! its own, runs the tasks, and the thread of the loop waits until they are done. It does not wait for ever: whatever the relay does, it goes on with one block after
//! [`LONGEST_WAIT`]. That is the loop's share, and the reason why a task that needs something that the loop holds gets it at last.
//!
//! There is one relay for each thread that steps aside, at most; it ends after a second without work. It has no index. A task that a relay runs may do background work, and
//! the relay step aside for another: so there may be many, up to [`max_rescue_threads`](crate::ThreadPoolBuilder::max_rescue_threads). Beyond that a loop makes no room.
//!
//! The time that a loop waits is no part of what its items take ([`ticks_away`]): it would be cut into pieces of one item, and make even less of its share.

use crate::clock::{ticks, ticks_per_us};
use crate::extra;
use crate::fork;
use crate::inherited::{self, Node};
use crate::pool::Pool;
use crate::seat::Seat;
use crate::sync::locks::{Condvar, Mutex, wait_while_at_most};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::iter;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

/// A thread that finds other work all the time takes a background task after so many pieces of it.
pub(crate) const SHARE: u32 = 64;

/// A background loop waits for others this long at most before it goes on with a block.
const LONGEST_WAIT: Duration = Duration::from_millis(1);

/// Then it goes on for this long, about a block, before it waits again, wherever it asks.
const BLOCK_US: u64 = 8;

/// How long a relay thread waits for more work before it ends.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// How urgent a piece of work is. See [`with_priority`].
///
/// ```
/// use blitz_core::{Priority, current_priority, with_priority};
///
/// // What is forked and spawned inside is of the background, too.
/// let (left, right) = with_priority(Priority::Background, || {
///     blitz_core::join(current_priority, current_priority)
/// });
/// assert_eq!((left, right), (Priority::Background, Priority::Background));
/// assert_eq!(current_priority(), Priority::Latency);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Priority {
    /// Somebody waits for it: as soon as possible. The default.
    #[default]
    Latency,
    /// It can wait: when nothing else is to be done.
    Background,
}

/// Runs `work` with this priority, and everything that it forks and spawns.
///
/// What [`Background`](Priority::Background) means for
/// * tasks (of `spawn`, `spawn_handle`, scopes, `spawn_cpu`): they are begun when there is nothing else to do. At the latest, a thread begins one after 64 other pieces of work.
/// * parallel loops, sorts, `ops`, recursions by `join`, and code that calls [`checkpoint`](crate::checkpoint): if another task waits and no thread is free for it, they make room,
///   between two blocks of some microseconds. Then they go on with one block each millisecond, or when there is room again.
///
/// So a task waits for one block of the background at most, and for the rest of a background task that has no loop in it. The task does not run on
/// top of the loop: another thread is lent for it, which has no [index](crate::current_thread_index).
///
/// The calling thread runs `work` at once: this is not a way to start something.
///
/// ```
/// use blitz_core::{Priority, current_priority, with_priority};
/// let inside = with_priority(Priority::Background, || blitz_core::join(current_priority, current_priority));
/// assert_eq!(inside, (Priority::Background, Priority::Background));
/// assert_eq!(current_priority(), Priority::Latency);
/// ```
pub fn with_priority<R>(priority: Priority, work: impl FnOnce() -> R) -> R {
    if priority == current_priority() {
        return work();
    }
    Node::with_priority(priority).provide(work)
}

/// The priority of the calling code.
///
/// ```
/// assert_eq!(blitz_core::current_priority(), blitz_core::Priority::Latency);
/// ```
pub fn current_priority() -> Priority {
    inherited::current_priority()
}

thread_local! {
    /// What this thread has lent its CPU for last, if that is not over, and when it went on nonetheless.
    static LENT: RefCell<Option<(Arc<Turn>, u64)>> = const { RefCell::new(None) };
    /// How long it has waited for others, and woken them, so far.
    static AWAY: Cell<u64> = const { Cell::new(0) };
}

/// The ticks that the calling thread has stood aside for others, or woken them: no part of what its own work has taken.
#[inline]
pub fn ticks_away() -> u64 {
    AWAY.get()
}

/// So many more.
pub(crate) fn was_away(ticks: u64) {
    AWAY.set(AWAY.get() + ticks);
}

/// A thread's time, lent to a relay.
#[derive(Default)]
struct Turn {
    over: Mutex<bool>,
    ends: Condvar,
}

impl Turn {
    /// Waits until it is over, for [`LONGEST_WAIT`] at most; says whether it is.
    fn wait(&self) -> bool {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        *wait_while_at_most(&self.ends, over, LONGEST_WAIT, |over| !*over)
    }

    fn is_over(&self) -> bool {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ends.notify_all();
    }
}

/// The relay threads of a pool; usually none.
#[derive(Default)]
pub(crate) struct Relays {
    state: Mutex<State>,
    called: Condvar,
}

#[derive(Default)]
struct State {
    /// Turns that no relay has begun.
    turns: VecDeque<Arc<Turn>>,
    /// Relays that wait for one.
    idle: usize,
    /// All relays.
    threads: usize,
}

impl Relays {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pool is over: those that wait end.
    pub(crate) fn end(&self) {
        drop(self.state());
        self.called.notify_all();
    }

    /// The next turn. `None`: there was none for a while, or the pool is over.
    fn next(&self, pool: &Pool) -> Option<Arc<Turn>> {
        let mut state = self.state();
        state.idle += 1;
        let none = |state: &mut State| state.turns.is_empty() && !pool.is_over();
        state = wait_while_at_most(&self.called, state, KEEP_ALIVE, none);
        state.idle -= 1;
        let turn = state.turns.pop_front();
        state.threads -= usize::from(turn.is_none());
        turn
    }
}

/// The occupant of `seat` is between two blocks of background work: makes room, if others wait.
#[cold]
pub(crate) fn step_aside(seat: &Seat) {
    let pool = seat.pool();
    let begin = ticks();
    let turn = match LENT.take() {
        Some((turn, since)) if !turn.is_over() => {
            if begin.saturating_sub(since) < BLOCK_US * ticks_per_us() {
                LENT.set(Some((turn, since)));
                return;
            }
            // Its relay is still at it, and it has had its block.
            turn
        }
        _ if pool.has_urgent_tasks() && pool.sleep.counters().searching() == 0 => {
            match lend(pool, seat.index) {
                Some(turn) => turn,
                None => return,
            }
        }
        _ => return,
    };
    let over = turn.wait();
    let end = ticks();
    was_away(end.saturating_sub(begin));
    if !over {
        LENT.set(Some((turn, end)));
    }
}

/// Gets a relay to run the tasks that wait. `None`: there is no thread for it.
fn lend(pool: &Pool, index: usize) -> Option<Arc<Turn>> {
    let strong = pool.arc()?;
    let turn = Arc::new(Turn::default());
    let mut state = pool.relays.state();
    if state.idle > state.turns.len() {
        state.turns.push_back(Arc::clone(&turn));
        pool.relays.called.notify_one();
        return Some(turn);
    }
    if state.threads >= pool.rescue.most() {
        return None;
    }
    state.turns.push_back(Arc::clone(&turn));
    state.threads += 1;
    drop(state);
    let builder = pool.attributes.rescue_builder(index);
    match fork::start_thread(builder, move || main(&strong, index)) {
        Ok(_) => Some(turn),
        // As if there were no priorities.
        Err(_) => {
            let mut state = pool.relays.state();
            state.threads -= 1;
            state.turns.retain(|other| !Arc::ptr_eq(other, &turn));
            None
        }
    }
}

/// The life of a relay thread.
fn main(pool: &Pool, index: usize) {
    let turns = iter::from_fn(|| pool.relays.next(pool));
    extra::live(pool, index, turns, |seat, turn| {
        while let Some(task) = pool.take_urgent() {
            // SAFETY: the seat is this thread's.
            unsafe { seat.run_task(task) };
        }
        turn.end();
    });
}
