//! A seat: everything a thread needs to run a pool's work, and who is allowed to touch it.
//!
//! A pool of N threads has N seats. The *occupant* (the pool's own thread, or a guest that took the
//! seat while that thread had nothing to do, see [`crate::occupancy`]) owns the join stack's lower
//! half, the deque's owner end, the arena and the cells. Everybody else steals, posts to the mailbox
//! and unparks.
//!
//! The thread-local [`current`] is a pointer to the join stack, the first field, so that `join` needs
//! one load to get to it. Threads without a seat point to a static stack on which every push fails,
//! so that `join` needs no check for them either.

use crate::arena::Arena;
use crate::companion::Companion;
use crate::console::OfSeat;
use crate::context::{self, Context};
use crate::inherited;
use crate::join_stack::{FIRST_BEAT, JoinStack, MAX_SEATS};
use crate::occupancy::Occupancy;
use crate::pool::Pool;
use crate::stats::Counting;
use crate::task::TaskRef;
use crate::waiters::Waiter;
use blitz_primitives::{FullPolicy, Injector, Owner, Parker, Stealer, deque};
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

mod contexts;

static UNSEATED: JoinStack = JoinStack::unseated();

thread_local! {
    static CURRENT: Cell<*const JoinStack> = const { Cell::new(&raw const UNSEATED) };
}

/// The join stack of the calling thread: its seat's, or one on which every push fails.
#[inline(always)]
pub(crate) fn current_stack() -> *const JoinStack {
    CURRENT.with(Cell::get)
}

/// The seat that the calling thread occupies, if any.
///
/// The reference is good for as long as the thread occupies the seat. Callers use it only in calls
/// that return before the occupant can leave.
#[inline]
pub(crate) fn current<'a>() -> Option<&'a Seat> {
    // SAFETY: `current_stack` is a seat's first field unless it is `UNSEATED`.
    unsafe { Seat::from_stack(current_stack()) }
}

/// Runs `work` as if the calling thread sat nowhere.
pub(crate) fn hidden<R>(work: impl FnOnce() -> R) -> R {
    struct Back(*const JoinStack);
    impl Drop for Back {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _back = Back(CURRENT.replace(&raw const UNSEATED));
    work()
}

/// The calling thread sits nowhere: its pool is its parent's, or has been shut down.
pub(crate) fn forget() {
    CURRENT.set(&raw const UNSEATED);
}

/// The first root fork whose duration is being measured (see [`crate::wake`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    /// Depth of the join stack with the fork on it; 0 if nothing is measured.
    pub(crate) depth: usize,
    pub(crate) site: usize,
    pub(crate) start: u64,
}

impl Timed {
    pub(crate) const NOTHING: Timed = Timed {
        depth: 0,
        site: 0,
        start: 0,
    };
}

/// Elements of a seat's queues that need no lock. Every seat has room for them, and most never see one.
const FEW: usize = 64;

/// See the module's documentation.
#[repr(C)]
pub(crate) struct Seat {
    /// First: [`current_stack`] points here.
    pub(crate) stack: JoinStack,
    pub(crate) index: usize,
    pool: *const Pool,

    // The occupant's own, on the same cache line as the stack's owner part.
    /// The context of the code that the occupant runs.
    context: Cell<*const Context>,
    pub(crate) timed: Cell<Timed>,
    /// When the occupant began what it runs, once somebody asked; 0 before.
    pub(crate) running_since: Cell<u64>,
    /// When the occupant last looked at the clock, and after how many forks it does so again.
    pub(crate) last_beat: Cell<(u64, u32)>,
    /// The call site whose pace `last_beat` is.
    pub(crate) last_site: Cell<usize>,
    /// When the occupant, or the one before, last began a join with nothing around it, and how many short ones are missing before the next is taken for one.
    pub(crate) row: Cell<(u64, u32)>,
    /// The companion of the occupant, which holds it as long as this is set, and the index by which it knows the occupant; none while a guest sits here.
    companion: Cell<Option<(ptr::NonNull<dyn Companion>, usize)>>,
    /// It is not the seat of one of the pool's threads (see [`crate::extra`]): the others do not look here for tasks.
    is_extra: bool,
    /// The thread that the occupant of an extra seat stands in for, if it rescues the pool.
    rescues: Cell<Option<usize>>,
    deque: Owner<TaskRef>,
    arena: Arena,

    // Everybody's.
    stealer: Stealer<TaskRef>,
    /// `spawn_fifo` order (see [`crate::spawn`]).
    pub(crate) fifo: Injector<TaskRef>,
    /// Broadcasts for this seat.
    pub(crate) mailbox: Injector<TaskRef>,
    pub(crate) occupancy: CachePadded<Occupancy>,
    pub(crate) waiter: Waiter,
    /// The depth of the stack from which on forks are those of destructors that an unwinding has called: see [`crate::cancel`].
    floor: AtomicUsize,
    /// The companion has found its thread stuck. Only the companion writes it.
    absent: AtomicBool,
    /// Does the occupant of an extra seat rescue the pool?
    is_rescue: AtomicBool,
    /// It has no thread, and nobody sits here: see [`crate::resize`].
    retired: AtomicBool,
    pub(crate) stats: Counting,
    pub(crate) watched: OfSeat,
}

// SAFETY: the fields that are not `Sync` (deque's owner end, arena, cells) are the occupant's, and the
// methods that use them are `unsafe` or reached through `current()`, which only the occupant can get.
unsafe impl Sync for Seat {}
// SAFETY: seats are created on one thread and used on others; nothing is tied to the creator.
unsafe impl Send for Seat {}

impl Seat {
    /// Of a pool that may still be in the making.
    pub(crate) fn new(index: usize, pool: *const Pool) -> Self {
        let (deque, stealer) = deque();
        Seat {
            stack: JoinStack::new(),
            index,
            pool,
            deque,
            arena: Arena::new(),
            context: Cell::new(&raw const context::ROOT),
            timed: Cell::new(Timed::NOTHING),
            running_since: Cell::new(0),
            last_beat: Cell::new((0, FIRST_BEAT)),
            last_site: Cell::new(0),
            row: Cell::new((0, 0)),
            companion: Cell::new(None),
            is_extra: false,
            rescues: Cell::new(None),
            stealer,
            fifo: Injector::with_capacity(FEW, FullPolicy::Grow),
            mailbox: Injector::with_capacity(FEW, FullPolicy::Grow),
            occupancy: CachePadded::new(Occupancy::vacant()),
            waiter: Waiter::new(),
            floor: AtomicUsize::new(Self::NO_FLOOR),
            absent: AtomicBool::new(false),
            is_rescue: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            stats: Counting::default(),
            watched: OfSeat::new(),
        }
    }

    /// A seat beside those of the pool's threads.
    pub(crate) fn extra(pool: &Pool) -> Self {
        Seat {
            is_extra: true,
            // Nobody's: whoever looks for the thread with this index finds none.
            ..Seat::new(MAX_SEATS - 1, pool)
        }
    }

    /// The occupant of an extra seat rescues the pool, in the place of thread `index`.
    pub(crate) fn begin_rescue(&self, index: usize) {
        self.rescues.set(Some(index));
        self.is_rescue.store(true, Ordering::SeqCst);
    }

    /// And does not any more.
    pub(crate) fn end_rescue(&self) {
        self.is_rescue.store(false, Ordering::SeqCst);
        self.rescues.set(None);
    }

    /// Is it one of those beside the pool's threads' own?
    pub(crate) fn is_extra(&self) -> bool {
        self.is_extra
    }

    /// Does its occupant rescue the pool?
    pub(crate) fn is_rescue(&self) -> bool {
        self.is_rescue.load(Ordering::SeqCst)
    }

    /// The index of the occupant, if it has one. For the occupant.
    pub(crate) fn thread_index(&self) -> Option<usize> {
        if self.is_extra {
            self.rescues.get()
        } else {
            Some(self.index)
        }
    }

    /// # Safety
    /// `stack` came from [`current_stack`] on this thread.
    #[inline]
    pub(crate) unsafe fn from_stack<'a>(stack: *const JoinStack) -> Option<&'a Seat> {
        if ptr::eq(stack, &raw const UNSEATED) {
            None
        } else {
            // SAFETY: by contract a seat's first field (the layout is `repr(C)`), and the seat is alive
            // while this thread occupies it.
            Some(unsafe { &*stack.cast::<Seat>() })
        }
    }

    /// The pool this seat belongs to.
    #[inline]
    pub(crate) fn pool(&self) -> &Pool {
        // SAFETY: set before the pool was shared; the pool owns the seat, so it outlives it.
        unsafe { &*self.pool }
    }

    /// Makes this the calling thread's seat until [`leave`] with the returned value.
    ///
    /// # Safety
    /// The caller occupies the seat, and goes on to do so until then.
    #[inline]
    pub(crate) unsafe fn enter(&self) -> *const JoinStack {
        // Whoever sat here may have left in the middle of unwinding.
        self.set_floor(Self::NO_FLOOR);
        CURRENT.with(|current| current.replace(&raw const self.stack))
    }

    /// For pool threads, which need no check whether somebody else has the seat.
    pub(crate) fn parker(&self) -> &'static Parker {
        self.waiter.parker()
    }

    /// No unwinding is under way here.
    pub(crate) const NO_FLOOR: usize = usize::MAX;

    /// See there.
    pub(crate) fn floor(&self) -> usize {
        // Relaxed: stored before the fork that it is about is pushed.
        self.floor.load(Ordering::Relaxed)
    }

    /// Occupant only.
    pub(crate) fn set_floor(&self, floor: usize) {
        self.floor.store(floor, Ordering::Relaxed);
    }

    /// The occupant unwinds, and has come as far as this.
    pub(crate) fn sink_floor(&self) {
        self.set_floor(self.floor().min(self.stack.depth()));
    }

    // ---- the companion ----------------------------------------------------------------------

    /// The occupant, thread `index` for the companion, has something to run, and brings that along; `None` when it is through.
    pub(crate) fn bring(&self, companion: Option<&std::sync::Arc<dyn Companion>>, index: usize) {
        let pointer = companion.map(|companion| (ptr::NonNull::from(&**companion), index));
        self.companion.set(pointer);
    }

    /// The occupant is in the middle of something long.
    #[inline]
    pub(crate) fn beat(&self) {
        inherited::beat(self);
        if let Some((companion, index)) = self.companion.get() {
            // SAFETY: the thread that brought it holds it until it has taken it away again.
            unsafe { companion.as_ref() }.beat(index);
            // It does not get to the tasks of its deque soon, and they may have come there without a word. Without a fence, a
            // thread that falls asleep at this moment is overlooked until the next beat.
            let pool = self.pool();
            if pool.sleep.counters().sleeping() > 0 && !self.stealer.is_empty() {
                pool.wake_if_nobody_searches();
            }
        }
    }

    /// Has the occupant a companion that wants to hear of long work?
    pub(crate) fn has_companion(&self) -> bool {
        self.companion.get().is_some()
    }

    /// The occupant has queued a task, and nobody is idle.
    pub(crate) fn tell_companion_task_waits(&self) {
        if let Some((companion, _)) = self.companion.get() {
            // SAFETY: as above.
            unsafe { companion.as_ref() }.task_waits();
        }
    }

    /// The occupant is about to block in a wait.
    pub(crate) fn tell_companion_blocked(&self) {
        if let Some((companion, index)) = self.companion.get() {
            // SAFETY: as above.
            unsafe { companion.as_ref() }.blocked(index);
        }
    }

    // ---- the occupant's queues --------------------------------------------------------------

    /// Puts a task on the occupant's deque; from an extra seat it goes to the shared queue, where others look. The caller tells the pool.
    ///
    /// # Safety
    /// The caller occupies the seat.
    pub(crate) unsafe fn push_task(&self, task: TaskRef) {
        if self.spawns_to_all() {
            self.pool().put_aside(task);
        } else {
            self.deque.push(task);
        }
    }

    /// Takes the newest task from the occupant's deque.
    ///
    /// # Safety
    /// The caller occupies the seat.
    pub(crate) unsafe fn pop_task(&self) -> Option<TaskRef> {
        self.deque.pop()
    }

    /// The memory for tasks that the occupant spawns.
    ///
    /// # Safety
    /// The caller occupies the seat.
    pub(crate) unsafe fn arena(&self) -> &Arena {
        &self.arena
    }

    // ---- everybody --------------------------------------------------------------------------

    /// Others' end of the deque.
    pub(crate) fn stealer(&self) -> &Stealer<TaskRef> {
        &self.stealer
    }

    /// Are there forks that only [`Thief::force`](crate::join_stack::Thief::force) makes public?
    pub(crate) fn hides_work(&self) -> bool {
        let thief = self.stack.thief();
        !thief.sees_work() && thief.sees_private()
    }

    /// Could another thread find work here?
    pub(crate) fn offers_work(&self) -> bool {
        self.stack.thief().sees_work() || !self.stealer.is_empty()
    }

    /// Does what the occupant spawns go to the shared queue? Others do not look into an extra seat's deque; and somebody who counts as parked does not get to
    /// its own, and everybody else may be parked, too: the shared queue's posters ask.
    #[inline]
    pub(crate) fn spawns_to_all(&self) -> bool {
        self.is_extra || self.waiter.is_marked()
    }

    /// The companion says whether the seat's thread is stuck in its work. Returns what it has said before.
    pub(crate) fn set_absent(&self, absent: bool) -> bool {
        self.absent.swap(absent, Ordering::SeqCst)
    }

    /// Has the companion said so?
    pub(crate) fn is_absent(&self) -> bool {
        self.absent.load(Ordering::Relaxed)
    }

    /// Does the occupant rescue the pool, and is it about to wake up and look around? (One that runs may have a token from earlier.)
    pub(crate) fn is_waking_rescue(&self) -> bool {
        self.is_rescue() && self.waiter.is_waking()
    }

    /// Its thread leaves it for good, or another one is about to come.
    pub(crate) fn set_retired(&self, retired: bool) {
        self.retired.store(retired, Ordering::SeqCst);
    }

    /// Is there no thread for it?
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
    }

    /// Will nobody come and run what is queued in this seat, as things are? So it is, too, if it has no thread any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_retired() || self.waiter.is_lost(|| self.occupancy.has_guest())
    }
}

/// Undoes [`Seat::enter`].
#[inline]
pub(crate) fn leave(before: *const JoinStack) {
    CURRENT.with(|current| current.set(before));
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat")
            .field("index", &self.index)
            .field("occupancy", &self.occupancy)
            .finish_non_exhaustive()
    }
}
