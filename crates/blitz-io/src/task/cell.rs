//! A task's memory: one allocation with the header, which has the joiner's waker, the scheduler, and the future or its output.
//!
//! Everything outside of this file holds a [`Task`], a counted pointer to the header; the vtable that the header leads to knows the
//! real type. Who may touch what:
//! * `stage`: whoever is RUNNING; after COMPLETE the handle, if it was interested, else the completer.
//! * `join_waker`: see JOIN_WAKER in [`super::state`].
//! * `listed`: whoever holds the lock of the owned list's shard.
//!
//! # Its size
//! Usual allocators hand out multiples of sixteen bytes, glibc's less eight: 72 bytes cost 80, and 73 cost 96. So a task with a
//! future and an output of one word has to fit in 72 (a test checks it), which is why small numbers are in the state word.

use super::error::{Failure, JoinError};
use super::id::Id;
use super::state::{End, Flaw, Start, State};
use crate::coop;
#[cfg(not(loom))]
use crate::place::Now;
use crate::place::{Place, Polls, Seen, Strand, strand};
use crate::scheduler::Listed;
use blitz_core::checking::Flaws;
use std::cell::{Cell as StdCell, UnsafeCell};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// Where a task goes when it is woken, and who keeps the list of tasks.
pub(crate) trait Schedule: Sized + 'static {
    /// Queues a task that has been woken.
    fn schedule(&self, task: Queued);

    /// Queues a task that was woken while it was polled, or asked for a turn later: behind the others.
    ///
    /// `self` is in the task's memory, and the last reference may go with `task`: whoever takes it out of the queue may free it at once.
    /// After that, only what the polling thread holds otherwise may be touched.
    fn schedule_again(&self, task: Queued);

    /// The task is complete. `true`: it was in the list of owned tasks and its reference there is the caller's now.
    fn release(&self, task: &Task) -> bool;

    /// Polls the task's future, on a thread that polls tasks.
    #[inline]
    fn poll<R>(&self, poll: impl FnOnce() -> R) -> R {
        poll()
    }

    /// Drops it, on any thread.
    fn drop_future<R>(&self, drop_it: impl FnOnce() -> R) -> R {
        drop_it()
    }

    /// What the handle of a task hears that will not be polled any more.
    fn why_dropped(&self) -> Failure {
        Failure::cancelled()
    }
}

/// The beginning of every task.
#[repr(C)]
pub(crate) struct Header {
    pub(crate) state: State,
    vtable: &'static VTable,
    pub(crate) seen: Seen,
    /// Where it is in the list of owned tasks.
    pub(crate) listed: UnsafeCell<Listed>,
    pub(crate) polls: Polls,
    strand: Strand,
    /// The handle's, or the task's. Here, where it is at the same place whatever the type.
    join_waker: UnsafeCell<Option<Waker>>,
}

/// How the tasks of a type are run.
struct VTable {
    poll: unsafe fn(NonNull<Header>),
    schedule: unsafe fn(NonNull<Header>),
    /// `true`: the list's reference is the caller's.
    drop_future_and_complete: unsafe fn(NonNull<Header>) -> bool,
    take_output: unsafe fn(NonNull<Header>, *mut ()),
    drop_output: unsafe fn(NonNull<Header>),
    free: unsafe fn(NonNull<Header>),
}

enum Stage<F: Future> {
    Future(F),
    Output(Result<F::Output, Failure>),
    Empty,
}

#[repr(C)]
struct TaskCell<F: Future, S> {
    header: Header,
    scheduler: S,
    stage: UnsafeCell<Stage<F>>,
}

thread_local! {
    static CURRENT: StdCell<*const Header> = const { StdCell::new(ptr::null()) };
}

/// The task that this thread polls, if any.
pub(crate) fn current() -> Option<NonNull<Header>> {
    NonNull::new(CURRENT.get().cast_mut())
}

/// Calls `use_it` with it.
pub(crate) fn with_current<R>(use_it: impl FnOnce(Option<&Task>) -> R) -> R {
    // What is polled has a reference, which the caller's poll holds.
    let task = current().map(|header| ManuallyDrop::new(Task(header)));
    use_it(task.as_deref())
}

/// Makes a task of `future`: for the list of owned tasks, for a queue, and for the handle.
///
/// # Safety
/// If the future or its output is not `Send`, the scheduler polls and drops it on this thread only, and so does whoever
/// takes the output.
#[inline]
pub(crate) unsafe fn new<F, S>(place: Place, future: F, scheduler: S) -> (Task, Queued, Task)
where
    F: Future,
    S: Schedule,
{
    // SAFETY: passed on.
    unsafe { new_with_flaws(place, future, scheduler, Flaws::NONE) }
}

/// As [`new`], for models.
///
/// # Safety
/// As for [`new`].
#[inline]
pub(crate) unsafe fn new_with_flaws<F, S>(
    place: Place,
    future: F,
    scheduler: S,
    flaws: Flaws<Flaw>,
) -> (Task, Queued, Task)
where
    F: Future,
    S: Schedule,
{
    let cell = Box::new(TaskCell {
        header: Header {
            state: State::with_flaws(flaws),
            vtable: vtable::<F, S>(),
            seen: Seen::new(place),
            listed: UnsafeCell::new(Listed::NOWHERE),
            polls: Polls::new(),
            strand: strand(place),
            join_waker: UnsafeCell::new(None),
        },
        scheduler,
        stage: UnsafeCell::new(Stage::Future(future)),
    });
    let header = NonNull::from(Box::leak(cell)).cast::<Header>();
    // Three references, as `State::new` counts.
    (Task(header), Queued(Task(header)), Task(header))
}

/// A counted reference to a task.
#[repr(transparent)]
pub(crate) struct Task(NonNull<Header>);

// SAFETY: the state word decides who may touch the rest; what is not `Send` in it stays with its thread (see `new`).
unsafe impl Send for Task {}
// SAFETY: as above.
unsafe impl Sync for Task {}

/// A queue's entry: the right and the duty to poll the task.
#[repr(transparent)]
pub(crate) struct Queued(Task);

impl Task {
    pub(crate) fn header(&self) -> &Header {
        // SAFETY: we hold a reference, so the memory is there.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn id(&self) -> Id {
        Id::of(self.0)
    }

    pub(crate) fn as_ptr(&self) -> *const Header {
        self.0.as_ptr()
    }

    /// Gives the reference away.
    pub(crate) fn into_raw(self) -> *const Header {
        let raw = self.as_ptr();
        std::mem::forget(self);
        raw
    }

    /// # Safety
    /// `raw` comes from `into_raw` and its reference has not been used up.
    pub(crate) unsafe fn from_raw(raw: *const Header) -> Self {
        // SAFETY: passed on; such pointers are not null.
        Task(unsafe { NonNull::new_unchecked(raw.cast_mut()) })
    }

    /// Asks the task to end.
    pub(crate) fn cancel(&self) {
        if self.header().state.cancel() {
            // SAFETY: `cancel` has counted a reference for the queue.
            unsafe { (self.header().vtable.schedule)(self.0) };
        }
    }

    /// The runtime ends: drops the future, here and now if nobody polls it.
    pub(crate) fn shutdown(&self) {
        if self.header().state.seize() {
            // SAFETY: `seize` made us RUNNING, and the list's reference is ours if we are told so.
            unsafe {
                let listed = (self.header().vtable.drop_future_and_complete)(self.0);
                drop_refs(self.0, u64::from(listed));
            }
        }
    }

    /// For the handle: is the task complete? If not, `waker` is called when it is.
    pub(crate) fn poll_complete(&self, waker: &Waker) -> bool {
        let state = &self.header().state;
        if state.is_complete() {
            return true;
        }
        // Who may touch it is decided below.
        let cell = self.header().join_waker.get();
        if !state.handle_owns_waker() {
            // SAFETY: shared reading of a cell that nobody writes while it is the task's.
            if unsafe { (*cell).as_ref() }.is_some_and(|known| known.will_wake(waker)) {
                return state.is_complete();
            }
            if !state.take_waker_back() {
                return true;
            }
        }
        // SAFETY: the cell is the handle's, and the handle is borrowed exclusively by its poll.
        unsafe { *cell = Some(waker.clone()) };
        if state.give_waker() {
            return false;
        }
        // SAFETY: still the handle's.
        unsafe { *cell = None };
        true
    }

    /// Moves the output out.
    ///
    /// # Safety
    /// The task is complete, the handle calls this once, and `T` is the output's type.
    pub(crate) unsafe fn take_output<T>(&self) -> Result<T, JoinError> {
        self.header().strand.awaited();
        let mut output = std::mem::MaybeUninit::<Result<T, JoinError>>::uninit();
        // SAFETY: passed on.
        unsafe {
            (self.header().vtable.take_output)(self.0, output.as_mut_ptr().cast());
            output.assume_init()
        }
    }

    /// The handle goes away, with its reference.
    pub(crate) fn detach(self) {
        if self.header().state.drop_fresh_handle() {
            std::mem::forget(self);
            return;
        }
        let (drops_output, drops_waker) = self.header().state.drop_interest();
        if !(drops_output || drops_waker) {
            return;
        }
        // SAFETY: the state says that these are ours.
        unsafe {
            if drops_output {
                (self.header().vtable.drop_output)(self.0);
            }
            if drops_waker {
                *self.header().join_waker.get() = None;
            }
        }
    }
}

impl Clone for Task {
    fn clone(&self) -> Self {
        self.header().state.add_ref();
        Task(self.0)
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { drop_refs(self.0, 1) };
    }
}

/// Gives `count` references back, and frees the task if there are no others.
///
/// # Safety
/// They are the caller's.
#[inline]
unsafe fn drop_refs(header: NonNull<Header>, count: u64) {
    // SAFETY: with a reference, the memory is there; without a last one, nobody else looks at it.
    unsafe {
        if count > 0 && header.as_ref().state.drop_refs(count) {
            (header.as_ref().vtable.free)(header);
        }
    }
}

impl Queued {
    /// Polls the task, and takes care of everything that follows.
    #[inline]
    pub(crate) fn run(self) {
        let header = self.0.0;
        std::mem::forget(self);
        // SAFETY: the entry's reference and right go to the poll.
        unsafe { (header.as_ref().vtable.poll)(header) };
    }

    /// The same on a worker, which notes what it polls.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(crate) fn run_noted(self, now: &Now, notes_place: bool) {
        now.polls(self.0.header(), notes_place);
        self.run();
    }

    pub(crate) fn task(&self) -> &Task {
        &self.0
    }

    pub(crate) fn into_raw(self) -> *const Header {
        let raw = self.0.as_ptr();
        std::mem::forget(self);
        raw
    }

    /// # Safety
    /// As for [`Task::from_raw`], with a pointer from [`Queued::into_raw`].
    pub(crate) unsafe fn from_raw(raw: *const Header) -> Self {
        // SAFETY: passed on.
        Queued(unsafe { Task::from_raw(raw) })
    }
}

// ---- shields --------------------------------------------------------------------------------

/// The task that runs on this thread enters (`true`) or leaves a shielded section.
///
/// # Safety
/// The task is being polled or dropped by this thread.
pub(crate) unsafe fn shield(task: NonNull<Header>, enter: bool) {
    // SAFETY: passed on.
    let state = unsafe { &task.as_ref().state };
    if enter {
        state.enter_shield();
    } else {
        state.leave_shield();
    }
}

// ---- the vtable -----------------------------------------------------------------------------

fn vtable<F: Future, S: Schedule>() -> &'static VTable {
    const {
        &VTable {
            poll: poll::<F, S>,
            schedule: schedule::<F, S>,
            drop_future_and_complete: drop_future_and_complete::<F, S>,
            take_output: take_output::<F, S>,
            drop_output: drop_output::<F, S>,
            free: free::<F, S>,
        }
    }
}

unsafe fn cell<'a, F: Future, S>(header: NonNull<Header>) -> &'a TaskCell<F, S> {
    // SAFETY: the header is the beginning of such a cell, which is alive while a reference is held.
    unsafe { header.cast::<TaskCell<F, S>>().as_ref() }
}

unsafe fn poll<F: Future, S: Schedule>(header: NonNull<Header>) {
    // SAFETY: the caller hands over a queue's entry.
    let cell = unsafe { cell::<F, S>(header) };
    match cell.header.state.start_poll() {
        Start::Nothing => drop(Task(header)),
        // SAFETY: we are RUNNING, and have the entry's reference.
        Start::Cancel => unsafe {
            let listed = drop_future_and_complete::<F, S>(header);
            drop_refs(header, 1 + u64::from(listed));
        },
        Start::Poll => {
            // SAFETY: we are RUNNING.
            let polled = unsafe { poll_future(cell, header) };
            let Poll::Ready(output) = polled else {
                match cell.header.state.end_poll() {
                    End::Idle => {}
                    End::Again => cell.scheduler.schedule_again(Queued(Task(header))),
                    // SAFETY: we are still RUNNING, and have the entry's reference.
                    End::Cancel => unsafe {
                        let listed = drop_future_and_complete::<F, S>(header);
                        drop_refs(header, 1 + u64::from(listed));
                    },
                }
                return;
            };
            // SAFETY: we are RUNNING; the future is already dropped. The entry's reference is ours, and perhaps the list's.
            unsafe {
                let listed = complete(cell, header, output);
                drop_refs(header, 1 + u64::from(listed));
            }
        }
    }
}

/// Sets the thread's current task, and sets it back, also if the future unwinds.
struct Entered(*const Header);

impl Entered {
    fn enter(header: NonNull<Header>) -> Self {
        Entered(CURRENT.replace(header.as_ptr()))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.0));
    }
}

/// # Safety
/// The caller is RUNNING, and the stage is the future.
unsafe fn poll_future<F: Future, S: Schedule>(
    cell: &TaskCell<F, S>,
    header: NonNull<Header>,
) -> Poll<Result<F::Output, Failure>> {
    let _entered = Entered::enter(header);
    cell.header.polls.add();
    // SAFETY: the waker borrows the poll's reference; `ManuallyDrop` does not give it back.
    let waker = ManuallyDrop::new(unsafe {
        Waker::new(header.as_ptr().cast_const().cast(), waker_vtable::<F, S>())
    });
    let mut context = Context::from_waker(&waker);
    let polled = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: passed on.
        let Stage::Future(future) = (unsafe { &mut *cell.stage.get() }) else {
            unreachable!("polled after completion")
        };
        // SAFETY: the future is in its allocation for life.
        let future = unsafe { Pin::new_unchecked(future) };
        let poll = || coop::budgeted(|| future.poll(&mut context));
        let unwinding = DropsFuture(cell);
        let polled = cell.scheduler.poll(|| cell.header.strand.poll(poll));
        std::mem::forget(unwinding);
        if polled.is_ready() {
            // SAFETY: as above. Inside of `catch_unwind`: the future's destructor is user code.
            unsafe { *cell.stage.get() = Stage::Empty };
        }
        polled
    }));
    match polled {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(payload) => Poll::Ready(Err(Failure::unwound(payload))),
    }
}

/// Drops a future whose poll unwinds, while it does: what the future holds can see that it panicked, and a lock is poisoned.
struct DropsFuture<'a, F: Future, S>(&'a TaskCell<F, S>);

impl<F: Future, S> Drop for DropsFuture<'_, F, S> {
    fn drop(&mut self) {
        // SAFETY: whoever polls is RUNNING. A panic of the future's destructor goes nowhere: there is one already.
        unsafe { drop_stage(self.0) };
    }
}

/// Drops future or output; a panic of theirs has nobody to go to any more.
///
/// # Safety
/// The stage is the caller's.
unsafe fn drop_stage<F: Future, S>(cell: &TaskCell<F, S>) -> Option<Box<dyn std::any::Any + Send>> {
    // SAFETY: passed on.
    catch_unwind(AssertUnwindSafe(|| unsafe {
        *cell.stage.get() = Stage::Empty;
    }))
    .err()
}

/// `true`: the reference of the list of owned tasks is the caller's now.
///
/// # Safety
/// The caller is RUNNING, has a reference, and the stage is empty.
unsafe fn complete<F: Future, S: Schedule>(
    cell: &TaskCell<F, S>,
    header: NonNull<Header>,
    output: Result<F::Output, Failure>,
) -> bool {
    // SAFETY: passed on. What is empty need not be dropped.
    unsafe { cell.stage.get().write(Stage::Output(output)) };
    let (wanted, has_waker) = cell.header.state.complete();
    if !wanted {
        let _entered = Entered::enter(header);
        // SAFETY: without a handle the output is the completer's.
        unsafe { drop_stage(cell) };
    } else if has_waker {
        // SAFETY: JOIN_WAKER is set: the cell is ours.
        unsafe {
            if let Some(waker) = &*cell.header.join_waker.get() {
                // A waker is foreign code; its panic must not take the worker down.
                let _ = catch_unwind(AssertUnwindSafe(|| waker.wake_by_ref()));
            }
            if cell.header.state.join_waker_called() {
                // As foreign.
                let _ = catch_unwind(AssertUnwindSafe(|| *cell.header.join_waker.get() = None));
            }
        }
    }
    cell.scheduler.release(&ManuallyDrop::new(Task(header)))
}

unsafe fn drop_future_and_complete<F: Future, S: Schedule>(header: NonNull<Header>) -> bool {
    // SAFETY: the caller is RUNNING.
    unsafe {
        let cell = cell::<F, S>(header);
        let panic = {
            let _entered = Entered::enter(header);
            cell.scheduler.drop_future(|| drop_stage(cell))
        };
        let error = match panic {
            Some(payload) => Failure::panicked(payload),
            None => cell.scheduler.why_dropped(),
        };
        complete(cell, header, Err(error))
    }
}

unsafe fn schedule<F: Future, S: Schedule>(header: NonNull<Header>) {
    // SAFETY: the caller has counted a reference for the queue.
    let cell = unsafe { cell::<F, S>(header) };
    cell.scheduler.schedule(Queued(Task(header)));
}

unsafe fn take_output<F: Future, S>(header: NonNull<Header>, to: *mut ()) {
    // SAFETY: the caller is the handle, the task is complete.
    unsafe {
        let cell = cell::<F, S>(header);
        match std::mem::replace(&mut *cell.stage.get(), Stage::Empty) {
            Stage::Output(output) => {
                let output = output.map_err(|failure| JoinError::new(Id::of(header), failure));
                to.cast::<Result<F::Output, JoinError>>().write(output);
            }
            _ => panic!("JoinHandle polled after completion"),
        }
    }
}

unsafe fn drop_output<F: Future, S>(header: NonNull<Header>) {
    let _entered = Entered::enter(header);
    // Its panic goes nowhere, as it does if the task completes a moment after the handle is gone: it is not for chance to decide.
    // SAFETY: the caller is the handle, the task is complete.
    unsafe { drop_stage(cell::<F, S>(header)) };
}

unsafe fn free<F: Future, S>(header: NonNull<Header>) {
    // SAFETY: the caller had the last reference; the cell came from a box.
    drop(unsafe { Box::from_raw(header.cast::<TaskCell<F, S>>().as_ptr()) });
}

// ---- the waker ------------------------------------------------------------------------------

fn waker_vtable<F: Future, S: Schedule>() -> &'static RawWakerVTable {
    const {
        &RawWakerVTable::new(
            clone_waker::<F, S>,
            wake::<F, S>,
            wake_by_ref::<F, S>,
            drop_waker,
        )
    }
}

unsafe fn clone_waker<F: Future, S: Schedule>(data: *const ()) -> RawWaker {
    // SAFETY: the waker has a reference.
    unsafe { (*data.cast::<Header>()).state.add_ref() };
    RawWaker::new(data, waker_vtable::<F, S>())
}

unsafe fn wake<F: Future, S: Schedule>(data: *const ()) {
    // SAFETY: the waker has a reference, which ends here.
    unsafe {
        wake_by_ref::<F, S>(data);
        drop_waker(data);
    }
}

unsafe fn wake_by_ref<F: Future, S: Schedule>(data: *const ()) {
    // SAFETY: the waker has a reference; `wake_by_ref` of the state counts one for the queue.
    unsafe {
        let header = NonNull::new_unchecked(data.cast::<Header>().cast_mut());
        if header.as_ref().state.wake_by_ref() {
            schedule::<F, S>(header);
        }
    }
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: the waker's reference.
    drop(unsafe { Task::from_raw(data.cast()) });
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    struct Nowhere(#[allow(dead_code, reason = "as large as a scheduler's")] *const ());

    #[test]
    fn a_task_of_one_word_fits_in_an_allocation_of_eighty_bytes() {
        fn size_for<F: Future>(_: fn() -> F) -> usize {
            size_of::<TaskCell<F, Nowhere>>()
        }
        // With a console and without; nothing more but in an engine that is built to be profiled.
        let most = 72 + size_of::<Strand>();
        assert!(size_for(|| async {}) <= most);
        assert!(size_for(|| async { 7_usize }) <= most);
        assert!(size_for(std::future::pending::<Box<u8>>) <= most);
    }
}
