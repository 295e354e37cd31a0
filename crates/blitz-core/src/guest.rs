//! Getting into a pool: as one of its threads, as a guest, or by handing the work over.
//!
//! A thread that calls `join`, `scope` or a parallel iterator and is not in the pool becomes a *guest*: it
//! takes a seat whose thread has nothing to run and goes on at once, on its own stack. Entering and leaving
//! cost two atomic operations; nothing is queued, nobody is woken, and pool threads steal from the guest
//! as from each other. When every seat is taken, or the pool does not admit guests (it is not
//! the global one, or its threads differ from the caller's, so that where the closure runs matters), the closure
//! is handed over and the caller waits.
//!
//! # Handed over, and taken back
//! The caller may hold a lock that every thread of the pool waits for. Then nobody takes the work, ever. So a caller that could have been a guest does not wait blindly: it looks
//! every few milliseconds, and if nobody has taken the work and nothing has moved in the pool for some time, it takes the work
//! back and runs it itself, in an extra seat ([`crate::extra`]). The next one who finds the pool as it was does so at once. What is in the queue is a ticket, which whoever comes first turns in: a thread of the pool, to run the
//! work in the caller's frame, or the caller. A ticket that comes too late is thrown away; it leads nowhere.
//!
//! In a pool without guests, the work waits for one of its threads, whatever happens: that is what `install` promises there.
//!
//! A thread that is already in *another* pool always hands over, and helps its own pool with descendants
//! while it waits. Pools may call each other in circles; where descendants do not suffice, see [`crate::rescue`].

use crate::abort::without_unwinding;
use crate::awaited::{Awaited, Completion};
use crate::cancel;
use crate::clock::{ticks, ticks_per_us};
use crate::console;
use crate::context::{self, Context};
use crate::extra::Beside;
use crate::global;
use crate::inherited::Word;
use crate::lease::Lease;
use crate::pool::Pool;
use crate::process_fork;
use crate::profile::{self, Carried};
use crate::seat::{self, Seat};
use crate::spawn;
use crate::task::{Task, TaskRef};
use crate::trace::{self, Kind};
use crate::wait::{self, wait_for};
use blitz_primitives::Parker;
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::hint::spin_loop;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often an outside thread looks whether anybody gets to what it waits for.
const LOOK: Duration = Duration::from_millis(10);
/// About as long as a wake takes whoever wakes, in microseconds, and as long as it takes to fall asleep.
const SPIN_US: u64 = 5;
/// After so many looks that have seen nothing move, it does not rely on anybody any more. A thread that has to wait for a CPU seems to stand still, too.
const PATIENCE: u32 = 5;

/// Runs `op` in a seat of `pool`. The flag is `true` if it runs on another thread than the caller's.
#[inline]
pub(crate) fn in_pool<R: Send>(pool: &Pool, op: impl FnOnce(&Seat, bool) -> R + Send) -> R {
    match seat::current() {
        Some(seat) if pool.owns(seat) => op(seat, false),
        Some(seat) => once(op, |op| from_elsewhere(seat, pool, op)),
        None => match Guest::enter(pool) {
            // SAFETY: the seat is ours, and so is the word.
            Some(guest) => unsafe { Word::here().run(guest.seat, || op(guest.seat, false)) },
            None => once(op, |op| without_seat(pool, op)),
        },
    }
}

/// Work that is called once, and leaves its result with whoever made it. What follows is the long way into a pool, microseconds of it: it is
/// compiled once, not for each kind of work.
type Op<'a> = &'a mut (dyn FnMut(&Seat, bool) + Send);

/// Gives `op` to `run`, which has it called; returns what came of it.
fn once<R: Send>(op: impl FnOnce(&Seat, bool) -> R + Send, run: impl FnOnce(Op<'_>)) -> R {
    let (mut op, mut result) = (Some(op), None);
    run(&mut |seat, moved| result = op.take().map(|op| op(seat, moved)));
    result.expect("whoever takes it runs it, or unwinds")
}

/// `op` for whoever runs it: it works for the site that the caller works for.
fn for_site(op: Op<'_>) -> impl FnMut(&Seat, bool) + Send {
    let mut carried = Some(console::Carried::away());
    move |seat, moved| {
        let carried = carried.take().expect("called once");
        carried.run(|| op(seat, moved));
    }
}

/// The caller sits in another pool.
#[cold]
fn from_elsewhere(seat: &Seat, pool: &Pool, op: Op<'_>) {
    match pool.admit() {
        // The work knows where it comes from, and so what it inherits; but not that nothing stops a destructor.
        Some(_visit) if cancel::is_in_destructor() => {
            let op = &mut |seat: &Seat, moved| cancel::uncancelled(|| op(seat, moved));
            hand_over_from(seat, pool, &mut for_site(op));
        }
        Some(_visit) => hand_over_from(seat, pool, &mut for_site(op)),
        None => in_pool(global::instead_of(pool), op),
    }
}

/// The pool has no seat for the caller, which is in no other one.
#[cold]
fn without_seat(pool: &Pool, op: Op<'_>) {
    let Some(_visit) = pool.admit() else {
        return in_pool(global::instead_of(pool), op);
    };
    // A seat that is entered knows nothing of where its occupant comes from.
    let word = Word::here();
    // SAFETY: the seat is that of the thread that runs it, and we wait for it.
    let op = &mut |seat: &Seat, moved| unsafe { word.run(seat, || op(seat, moved)) };
    if pool.guests && pool.is_known_blocked() {
        return op(Beside::enter(pool).seat(), false);
    }
    hand_over(pool, &mut for_site(op));
}

thread_local! {
    /// Where this thread last sat; likely to be free again.
    static USUAL_SEAT: Cell<usize> = const { Cell::new(0) };
    static OUTSIDER: Lease = Lease::new();
    /// For the destructors of other thread-locals, which may come after `OUTSIDER`'s own. Never given back.
    static LATE: Cell<Option<&'static Parker>> = const { Cell::new(None) };
}

/// The parker of a thread without a seat.
pub(crate) fn outsider_parker() -> &'static Parker {
    OUTSIDER.try_with(Lease::parker).unwrap_or_else(|_gone| {
        let kept = || ManuallyDrop::new(Lease::new()).parker();
        let parker = LATE.get().unwrap_or_else(kept);
        LATE.set(Some(parker));
        parker
    })
}

/// A thread in somebody else's seat. Leaves on drop.
pub(crate) struct Guest<'a> {
    pub(crate) seat: &'a Seat,
    before: *const crate::join_stack::JoinStack,
    _visit: trace::Span,
}

impl<'a> Guest<'a> {
    /// Takes a free seat, if the pool admits guests and has one.
    #[inline]
    pub(crate) fn enter(pool: &'a Pool) -> Option<Self> {
        if !pool.guests {
            return None;
        }
        let here = pool.placement.seat_of_caller();
        let usual = here.unwrap_or_else(|| USUAL_SEAT.with(Cell::get));
        let taken = match pool.seats.get(usual) {
            Some(seat) if seat.occupancy.try_enter_vacant() => seat,
            // If the thread of another CPU's seat had to wait for us, the one of this CPU would have to share it with us.
            Some(seat) if here.is_some() && seat.occupancy.try_enter_searching() => seat,
            _ => Self::seat_elsewhere(pool)?,
        };
        Self::sit(pool, taken)
    }

    #[cold]
    fn seat_elsewhere(pool: &'a Pool) -> Option<&'a Seat> {
        let vacant = |seat: &&Seat| seat.occupancy.try_enter_vacant();
        let searching = |seat: &&Seat| seat.occupancy.try_enter_searching();
        let seat = pool.seats.iter().find(vacant);
        let seat = seat.or_else(|| pool.seats.iter().find(searching))?;
        USUAL_SEAT.with(|usual| usual.set(seat.index));
        Some(seat)
    }

    /// The caller has taken the seat. It does not stay in a pool that is closed: see [`crate::life`].
    #[inline]
    fn sit(pool: &'a Pool, seat: &'a Seat) -> Option<Self> {
        if pool.is_closed() {
            return Self::turned_away(seat);
        }
        // SAFETY: the seat is ours until `drop`.
        let before = unsafe { seat.enter() };
        seat.stats.guests.one();
        seat.watched.guest(true);
        Some(Guest {
            seat,
            before,
            _visit: trace::span(Kind::Guest, seat.index),
        })
    }

    #[cold]
    #[inline(never)]
    fn turned_away(seat: &Seat) -> Option<Self> {
        Self::stand_up(seat);
        None
    }

    #[inline]
    fn stand_up(seat: &Seat) {
        let wanted = seat.occupancy.leave();
        seat.pool().seat_vacated(seat, wanted);
    }
}

impl Drop for Guest<'_> {
    #[inline]
    fn drop(&mut self) {
        self.seat.running_since.set(0);
        self.seat.watched.guest(false);
        seat::leave(self.before);
        Self::stand_up(self.seat);
    }
}

/// A closure in the frame of a thread that waits for it, and its result.
struct Work<F, R> {
    end: Completion,
    body: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<Result<R, Box<dyn Any + Send>>>>,
}

impl<F: FnOnce(&Seat, bool) -> R + Send, R: Send> Work<F, R> {
    fn new(parent: *const Context, waiter: &'static Parker, body: F) -> Self {
        Work {
            end: Completion::new(parent, waiter),
            body: UnsafeCell::new(Some(body)),
            result: UnsafeCell::new(None),
        }
    }

    /// Runs the closure in the calling thread's seat, and tells the thread that waits.
    ///
    /// # Safety
    /// The creator of `this` waits for its latch. Called once.
    unsafe fn run(this: *const Self) {
        let seat = seat::current().expect("tasks run in seats");
        // SAFETY: nobody else touches body and result until the latch is set.
        unsafe {
            let body = (*(*this).body.get()).take().expect("runs once");
            let result = catch_unwind(AssertUnwindSafe(|| body(seat, true)));
            *(*this).result.get() = Some(result);
            Completion::set(&raw const (*this).end);
        }
    }

    /// The same, from outside of the work's context.
    ///
    /// # Safety
    /// As for [`Work::run`], and the caller occupies the seat.
    unsafe fn run_in_context(seat: &Seat, this: *const Self) {
        // SAFETY: passed on. `run` does not unwind.
        unsafe { seat.run_in(&raw const (*this).end.context, || Self::run(this)) };
    }

    /// What came of it.
    fn into_result(self) -> R {
        debug_assert!(self.end.is_done(), "waited for too short");
        match self.result.into_inner().expect("the latch is set after it") {
            Ok(result) => result,
            Err(payload) => cancel::resume(payload),
        }
    }
}

/// For threads without a seat: blocks until a pool thread has run it, or runs it if none gets to it.
#[cold]
fn hand_over(pool: &Pool, op: Op<'_>) {
    let parker = outsider_parker();
    let mut carried = Carried::away();
    let passage = carried.passage();
    let op = |seat: &Seat, moved| passage.run(|| op(seat, moved));
    let work = Work::new(&raw const context::ROOT, parker, op);
    // SAFETY: if the ticket is turned in by a thread of the pool, we wait for the latch; and `op` is `Send`.
    let ticket = unsafe { Ticket::new(&work) };
    let mut take_back = |pool: &Pool| {
        if !ticket.turn_in() {
            return false;
        }
        let beside = Beside::enter(pool);
        // SAFETY: the ticket was ours, and we are the creator. The seat is ours.
        unsafe { Work::run_in_context(beside.seat(), &raw const work) };
        true
    };
    without_unwinding("a panic while work is in others' hands", || {
        // Whoever has to be woken first may need this CPU.
        let soon = pool.sleep.counters().searching() > 0;
        pool.inject(Ticket::queued(&ticket));
        if soon {
            spin(pool, &work.end);
        }
        block_helping(pool, &work.end, parker, &mut take_back);
    });
    work.into_result();
}

/// What is queued for work in the frame of a thread without a seat.
///
/// It is queued in the root's context, not in the frame's: it may outlive the frame.
#[repr(C)]
struct Ticket {
    head: Task,
    turned_in: AtomicBool,
    /// In this seat's place.
    run: unsafe fn(&Seat, *const ()),
    work: *const (),
}

// SAFETY: the flag says who may use the rest, and `Ticket::new` who that may be.
unsafe impl Send for Ticket {}
// SAFETY: as above.
unsafe impl Sync for Ticket {}

impl Ticket {
    /// # Safety
    /// `work` stays where it is until the ticket has been turned in and the work is done. It may be done on any thread.
    unsafe fn new<F: FnOnce(&Seat, bool) -> R + Send, R: Send>(work: &Work<F, R>) -> Arc<Self> {
        /// # Safety
        /// As for `Work::run`, in the caller's seat.
        unsafe fn run<F: FnOnce(&Seat, bool) -> R + Send, R: Send>(seat: &Seat, work: *const ()) {
            // SAFETY: passed on.
            unsafe { Work::run_in_context(seat, work.cast::<Work<F, R>>()) };
        }
        Arc::new(Ticket {
            head: Task::new(Self::call, &raw const context::ROOT),
            turned_in: AtomicBool::new(false),
            run: run::<F, R>,
            work: ptr::from_ref(work).cast(),
        })
    }

    /// For the queue.
    fn queued(this: &Arc<Self>) -> TaskRef {
        let task = Arc::into_raw(Arc::clone(this)).cast::<Task>();
        // SAFETY: it holds a reference, and runs on any thread.
        unsafe { TaskRef::new(task.cast_mut()) }
    }

    /// `true`: nobody has before.
    fn turn_in(&self) -> bool {
        // Acquire and Release: nothing but the flag itself is handed over by it.
        !self.turned_in.swap(true, Ordering::AcqRel)
    }

    /// The task that stands for it.
    ///
    /// # Safety
    /// `task` is from `queued`. Called once.
    unsafe fn call(task: *mut Task) {
        // SAFETY: by contract.
        let ticket = unsafe { Arc::from_raw(task.cast::<Self>().cast_const()) };
        if !ticket.turn_in() {
            return;
        }
        let (run, work) = (ticket.run, ticket.work);
        let seat = seat::current().expect("tasks run in seats");
        // SAFETY: turned in by us, so the work is there until it is done. The seat is ours.
        unsafe { run(seat, work) };
    }
}

/// For threads with a seat in another pool: helps that pool meanwhile.
#[cold]
fn hand_over_from(seat: &Seat, pool: &Pool, op: Op<'_>) {
    let mut carried = Carried::away();
    let passage = carried.passage();
    let op = |seat: &Seat, moved| passage.run(|| op(seat, moved));
    let work = Work::new(seat.context(), seat.parker(), op);
    let this = &raw const work;
    // SAFETY: the work does not move or die before its end: we wait for it. Its body is `Send`. The seat is ours.
    let task = unsafe {
        spawn::make(Some(seat), &raw const work.end.context, move || {
            Work::run(this)
        })
    };
    without_unwinding("a panic while work is in others' hands", || {
        pool.inject(task);
        // SAFETY: the caller occupies the seat.
        unsafe { wait_for(seat, &work.end) };
    });
    work.into_result();
}

/// Blocks a thread without a seat until `awaited` is over.
pub(crate) fn block_on(awaited: &dyn Awaited, parker: &Parker) {
    let _waiting_is_no_work = profile::pause();
    while !awaited.is_done() {
        if awaited.announce_parked() {
            parker.park();
            awaited.announce_awake();
        }
    }
}

/// Blocks a thread without a seat until tasks in `pool` are over; if nobody gets to them, it runs them.
pub(crate) fn wait_outside(pool: &Pool, awaited: &dyn Awaited, parker: &Parker) {
    spin(pool, awaited);
    block_helping(pool, awaited, parker, &mut |pool| {
        let beside = Beside::enter(pool);
        // SAFETY: the seat is ours.
        unsafe { wait::help(beside.seat(), awaited) }
    });
}

/// Looks for as long as going to sleep and being woken would take: what a thread of the pool that is awake does at once is over by then.
fn spin(pool: &Pool, awaited: &dyn Awaited) {
    // That thread may need this CPU.
    if pool.oversubscribed() {
        return;
    }
    let start = ticks();
    let enough = SPIN_US * ticks_per_us();
    while !awaited.is_done() && ticks().saturating_sub(start) < enough {
        spin_loop();
    }
}

/// Blocks a thread without a seat until `awaited` is over. If the pool admits guests and has begun nothing since the last look, calls `help`.
fn block_helping(
    pool: &Pool,
    awaited: &dyn Awaited,
    parker: &Parker,
    help: &mut dyn FnMut(&Pool) -> bool,
) {
    if !awaited.is_done() {
        process_fork::assert_may_wait(pool.generation);
    }
    if !pool.guests {
        return block_on(awaited, parker);
    }
    let mut seen = 0;
    let mut looks = 0;
    let mut blocked = pool.is_known_blocked();
    while !awaited.is_done() {
        if blocked {
            help(pool);
        }
        if awaited.announce_parked() {
            parker.park_at_most(LOOK);
            awaited.announce_awake();
        }
        looks = if pool.stands_still(&mut seen) {
            looks + 1
        } else {
            0
        };
        blocked = looks >= PATIENCE;
        if blocked {
            pool.found_blocked(seen);
        }
    }
}
