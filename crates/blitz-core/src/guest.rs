//! Getting into a pool: as one of its threads, as a guest, or by handing the work over.
//!
//! A thread that calls `join`, `scope` or a parallel iterator and is not in the pool becomes a *guest*: it
//! takes a seat whose thread has nothing to run and goes on at once, on its own stack. Entering and leaving
//! cost two atomic operations; nothing is queued, nobody is woken, and pool threads steal from the guest
//! as from each other. When every seat is taken, or the pool does not admit guests (it is not
//! the global one, or its threads differ from the caller's, so that where the closure runs matters), the closure
//! is handed over and the caller waits.
//!
//! A thread that is already in *another* pool always hands over, and helps its own pool with descendants
//! while it waits. Pools may call each other in circles; where descendants do not suffice, see [`crate::rescue`].

use crate::context::{self, Context};
use crate::pool::{Pool, without_unwinding};
use crate::primitives::CoreLatch;
use crate::primitives::parker::{Lease, Parker};
use crate::profile::{self, Carried};
use crate::seat::{self, Seat};
use crate::task::{Task, TaskRef};
use crate::trace::{self, Kind};
use crate::wait::{Awaited, LatchWait, wait_for};
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs `op` in a seat of `pool`. The flag is `true` if it runs on another thread than the caller's.
#[inline]
pub(crate) fn in_pool<R: Send>(pool: &Pool, op: impl FnOnce(&Seat, bool) -> R + Send) -> R {
    match seat::current() {
        Some(seat) if pool.owns(seat) => op(seat, false),
        Some(seat) => hand_over_from(seat, pool, op),
        None => match Guest::enter(pool) {
            Some(guest) => op(guest.seat, false),
            None => hand_over(pool, op),
        },
    }
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
        match pool.seats.get(usual) {
            Some(seat) if seat.occupancy.try_enter_vacant() => Some(Self::sit(seat)),
            // If the thread of another CPU's seat had to wait for us, the one of this CPU would have to share it with us.
            Some(seat) if here.is_some() && seat.occupancy.try_enter_searching() => {
                Some(Self::sit(seat))
            }
            _ => Self::enter_elsewhere(pool),
        }
    }

    #[cold]
    fn enter_elsewhere(pool: &'a Pool) -> Option<Self> {
        let vacant = |seat: &&Seat| seat.occupancy.try_enter_vacant();
        let searching = |seat: &&Seat| seat.occupancy.try_enter_searching();
        let seat = pool.seats.iter().find(vacant);
        let seat = seat.or_else(|| pool.seats.iter().find(searching))?;
        USUAL_SEAT.with(|usual| usual.set(seat.index));
        Some(Self::sit(seat))
    }

    #[inline]
    fn sit(seat: &'a Seat) -> Self {
        // SAFETY: the seat is ours until `drop`.
        let before = unsafe { seat.enter() };
        Guest {
            seat,
            before,
            _visit: trace::span(Kind::Guest, seat.index),
        }
    }
}

impl Drop for Guest<'_> {
    #[inline]
    fn drop(&mut self) {
        self.seat.running_since.set(0);
        seat::leave(self.before);
        let wanted = self.seat.occupancy.leave();
        self.seat.pool().seat_vacated(self.seat, wanted);
    }
}

/// A closure in the frame of a thread that waits for it.
#[repr(C)]
struct Handed<F, R> {
    head: Task,
    context: Context,
    latch: CoreLatch,
    waiter: &'static Parker,
    body: UnsafeCell<Option<F>>,
    result: UnsafeCell<Option<Result<R, Box<dyn Any + Send>>>>,
}

impl<F, R> Handed<F, R>
where
    F: FnOnce(&Seat, bool) -> R + Send,
    R: Send,
{
    fn new(parent: *const Context, waiter: &'static Parker, body: F) -> Self {
        Handed {
            head: Task::new(Self::run, std::ptr::null()),
            context: Context::new(parent),
            latch: CoreLatch::new(),
            waiter,
            body: UnsafeCell::new(Some(body)),
            result: UnsafeCell::new(None),
        }
    }

    /// # Safety
    /// `task` is the head of a `Handed<F, R>` whose creator waits for its latch. Called once.
    unsafe fn run(task: *mut Task) {
        let this = task.cast::<Self>();
        let seat = seat::current().expect("tasks run in seats");
        // SAFETY: nobody else touches body and result until the latch is set.
        unsafe {
            let body = (*(*this).body.get()).take().expect("runs once");
            let result = catch_unwind(AssertUnwindSafe(|| body(seat, true)));
            *(*this).result.get() = Some(result);
            // Read before the latch is set: then the frame may be gone. The parker is for ever.
            let waiter = (*this).waiter;
            if (*this).latch.set() {
                waiter.unpark();
            }
        }
    }

    /// Gives the work to `pool`, waits with `wait`, and returns the result.
    fn hand_over(mut self, pool: &Pool, wait: impl FnOnce(&LatchWait<'_>)) -> R {
        self.head = Task::new(Self::run, &raw const self.context);
        // SAFETY: `self` does not move or die before the latch is set: `wait` returns only then. The body
        // is `Send`.
        let task = unsafe { TaskRef::new((&raw mut self).cast::<Task>()) };
        without_unwinding("a panic while work is in others' hands", || {
            pool.inject(task);
            wait(&LatchWait {
                latch: &self.latch,
                context: &raw const self.context,
            });
        });
        debug_assert!(self.latch.probe(), "waited for too short");
        match self.result.into_inner().expect("the latch is set after it") {
            Ok(result) => result,
            Err(payload) => resume_unwind(payload),
        }
    }
}

/// For threads without a seat: blocks until a pool thread has run it.
#[cold]
fn hand_over<R: Send>(pool: &Pool, op: impl FnOnce(&Seat, bool) -> R + Send) -> R {
    let parker = outsider_parker();
    let carried = Carried::away();
    let passage = carried.passage();
    let op = |seat: &Seat, moved| passage.run(|| op(seat, moved));
    let (result, reached) = Handed::new(&raw const context::ROOT, parker, op)
        .hand_over(pool, |wait| block_on(wait, parker));
    carried.arrived(reached);
    result
}

/// For threads with a seat in another pool: helps that pool meanwhile.
#[cold]
fn hand_over_from<R: Send>(
    seat: &Seat,
    pool: &Pool,
    op: impl FnOnce(&Seat, bool) -> R + Send,
) -> R {
    let carried = Carried::away();
    let passage = carried.passage();
    let op = |seat: &Seat, moved| passage.run(|| op(seat, moved));
    // SAFETY: the caller occupies the seat.
    let (result, reached) = Handed::new(seat.context(), seat.parker(), op)
        .hand_over(pool, |wait| unsafe { wait_for(seat, wait) });
    carried.arrived(reached);
    result
}

/// Blocks a thread without a seat until `awaited` is over.
pub(crate) fn block_on(awaited: &impl Awaited, parker: &Parker) {
    let _waiting_is_no_work = profile::pause();
    while !awaited.is_done() {
        if awaited.announce_parked() {
            parker.park();
            awaited.announce_awake();
        }
    }
}
