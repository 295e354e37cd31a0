//! Running one closure on every thread of a pool.
//!
//! Each seat has a mailbox. Its thread opens it when its own deque is empty, and also while it waits: a
//! broadcast is the one thing that a waiting thread runs although it did not ask for it, because two
//! broadcasts that wait for each other's threads could not end otherwise.

use crate::abort::AbortOnDrop;
use crate::awaited::Completion;
use crate::cancel;
use crate::context;
use crate::entered::current;
use crate::guest::{block_on, outsider_parker};
use crate::inherited::{Captured, Word};
use crate::pool::Pool;
use crate::profile::{Ends, Spawned};
use crate::seat::{self, Seat};
use crate::site::Site;
use crate::spawn::detached;
use crate::task::{self, TaskRef};
use crate::wait::wait_for;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tells the closure of a broadcast on which thread it runs.
///
/// ```
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(3).build()?;
/// // Each thread sees to a part of its own.
/// let parts = pool.broadcast(|thread| (thread.index(), thread.num_threads()));
/// assert_eq!(parts, [(0, 3), (1, 3), (2, 3)]);
/// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
/// ```
pub struct BroadcastContext<'a> {
    seat: &'a Seat,
    /// As many as were told. The pool may have got another number since.
    threads: usize,
    /// Not `Send`, not `Sync`: it speaks about this thread.
    _here: PhantomData<&'a mut dyn Fn()>,
}

impl BroadcastContext<'_> {
    /// Calls `op` with the context of the calling thread, which runs a task of a broadcast to so many threads.
    pub(crate) fn with<R>(threads: usize, op: impl FnOnce(BroadcastContext<'_>) -> R) -> R {
        let seat = seat::current().expect("broadcasts run in seats");
        op(BroadcastContext {
            seat,
            threads,
            _here: PhantomData,
        })
    }

    /// The index of this thread: each of `0..num_threads` once per broadcast.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build()?;
    /// assert_eq!(pool.broadcast(|thread| thread.index()), [0, 1]);
    /// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
    /// ```
    #[inline]
    pub fn index(&self) -> usize {
        self.seat.index
    }

    /// How many threads run the broadcast. The pool may have [another number](crate::ThreadPool::set_num_threads) by now.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build()?;
    /// assert_eq!(pool.broadcast(|thread| thread.num_threads()), [2, 2]);
    /// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
    /// ```
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.threads
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index())
            .field("num_threads", &self.num_threads())
            .finish_non_exhaustive()
    }
}

/// Runs `op` once on every thread of the current pool and returns the results, in the order of the threads.
///
/// Each thread runs it when it is done with its own queue; the call returns when all have. A guest stands in
/// for the thread whose seat it holds.
///
/// # Panics
/// If one or more of the calls panic, all others still run, and then one of the panics goes on.
///
/// ```
/// let indices = blitz_core::broadcast(|thread| thread.index());
/// assert!(indices.into_iter().eq(0..blitz_core::current_num_threads()));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    broadcast_in(&current(), op)
}

/// Runs `op` once on every thread of the current pool, without waiting.
///
/// # Panics
/// A panic in `op` goes to the pool's panic handler. Without one it aborts the process.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// blitz_core::spawn_broadcast(move |thread| sender.send(thread.index()).unwrap());
/// assert_eq!(receiver.iter().count(), blitz_core::current_num_threads());
/// ```
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    spawn_broadcast_in(&current(), op);
}

/// Puts a task into a seat's mailbox and makes sure that somebody looks.
pub(crate) fn post(seat: &Seat, task: TaskRef) {
    if seat.mailbox.push(task).is_err() {
        unreachable!("a growing mailbox takes everything");
    }
    let pool = seat.pool();
    // The mailbox before the states; the thread and the occupant do it the other way round.
    pool.sleep.post();
    pool.wake_thread(seat.index);
    seat.parker().unpark();
}

/// One call of the closure, and where its result goes.
type Outcome<R> = Option<Result<R, Box<dyn Any + Send>>>;

struct Waiting<'a, OP, R> {
    op: &'a OP,
    end: Completion,
    unfinished: AtomicUsize,
    outcomes: *mut Outcome<R>,
    ends: Ends,
}

#[cfg_attr(feature = "sites", track_caller)]
pub(crate) fn broadcast_in<OP, R>(pool: &Pool, op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    let seat = seat::current();
    let shape = pool.shape();
    let threads = pool.num_threads();
    let mut outcomes: Vec<Outcome<R>> = (0..threads).map(|_| None).collect();
    let waiting = Waiting {
        op: &op,
        end: Completion::new(
            seat.map_or(&raw const context::ROOT, Seat::context),
            seat.map_or_else(outsider_parker, Seat::parker),
        ),
        unfinished: AtomicUsize::new(threads),
        outcomes: outcomes.as_mut_ptr(),
        ends: Ends::at(Site::caller()),
    };
    let address = (&raw const waiting).expose_provenance();
    let word = Word::here();
    // From the first post on, others use this frame.
    let abort = AbortOnDrop("a panic in a broadcast");
    for target in pool.seats.iter().take(threads) {
        let index = target.index;
        let spawned = Spawned::here();
        let run = move || {
            let waiting = std::ptr::with_exposed_provenance::<Waiting<'_, OP, R>>(address);
            // SAFETY: `broadcast_in` waits for the latch, which is set after the last of these, and each
            // writes its own outcome.
            unsafe {
                let call = || {
                    BroadcastContext::with(threads, |context| {
                        let seat = context.seat;
                        let op = || spawned.run(&(*waiting).ends, || ((*waiting).op)(context));
                        word.run(seat, op)
                    })
                };
                let outcome = catch_unwind(AssertUnwindSafe(call));
                *(*waiting).outcomes.add(index) = Some(outcome);
                if (*waiting).unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
                    Completion::set(&raw const (*waiting).end);
                }
            }
        };
        // SAFETY: we wait for it, `op` is `Sync`, and `R` is `Send`.
        post(target, unsafe {
            task::allocate_boxed(&raw const waiting.end.context, run)
        });
    }
    drop(shape);
    match seat {
        // SAFETY: the caller occupies the seat.
        Some(seat) => unsafe { wait_for(seat, &waiting.end) },
        None => block_on(&waiting.end, waiting.end.waiter),
    }
    std::mem::forget(abort);
    waiting.ends.meet();
    let outcomes = outcomes
        .into_iter()
        .map(|outcome| outcome.expect("all have run"));
    // All results or the first panic; the results that are dropped then may panic no more than that.
    let collected: Result<Vec<R>, _> = outcomes.collect();
    collected.unwrap_or_else(|payload| cancel::resume(payload))
}

pub(crate) fn spawn_broadcast_in<OP>(pool: &Pool, op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    let op = Arc::new(op);
    let _shape = pool.shape();
    let threads = pool.num_threads();
    for seat in pool.seats.iter().take(threads) {
        let op = Arc::clone(&op);
        let inherited = Captured::for_detached();
        let call = move || BroadcastContext::with(threads, |context| op(context));
        let run = detached::<false>(pool, move || inherited.run_task(call));
        // SAFETY: the root lives for ever, and `op` is `Send` and `'static`.
        post(seat, unsafe {
            task::allocate_boxed(&raw const context::ROOT, run)
        });
    }
}
