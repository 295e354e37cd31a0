//! Spawned work: a closure with a type-erased head, in a queue.
//!
//! Queues hold [`TaskRef`]s, one word each. What is behind a `TaskRef` runs exactly once: either a
//! closure in an arena or a box ([`allocate`], [`allocate_boxed`]), or a job in the frame of a thread
//! that waits for it (`install`).

use crate::arena::{self, Arena};
use crate::context::Context;
use blitz_primitives::Word;
use std::alloc::Layout;
use std::ptr::{self, NonNull};

/// The head of every task.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Task {
    /// Runs the task behind this head and releases its memory. Never unwinds.
    run: unsafe fn(*mut Task),
    /// The context it runs in; what a waiting thread checks before it takes the task.
    context: *const Context,
}

impl Task {
    pub(crate) const fn new(run: unsafe fn(*mut Task), context: *const Context) -> Self {
        Task { run, context }
    }
}

/// The right to run a task once.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct TaskRef(NonNull<Task>);

// SAFETY: a `TaskRef` is made only for tasks whose closure is `Send` (see the constructors).
unsafe impl Send for TaskRef {}

// SAFETY: `into_word` and `from_word` are inverse, and a word is turned back once.
unsafe impl Word for TaskRef {
    fn into_word(self) -> usize {
        self.0.as_ptr().expose_provenance()
    }

    unsafe fn from_word(word: usize) -> Self {
        let task = ptr::with_exposed_provenance_mut::<Task>(word);
        // SAFETY: the word came from `into_word`, so it is not null.
        TaskRef(unsafe { NonNull::new_unchecked(task) })
    }
}

impl TaskRef {
    /// # Safety
    /// `task` stays valid until it has run, it may run on any thread, and no other `TaskRef` to it exists.
    pub(crate) unsafe fn new(task: *mut Task) -> Self {
        // SAFETY: valid pointers are not null.
        TaskRef(unsafe { NonNull::new_unchecked(task) })
    }

    /// The context the task runs in.
    pub(crate) fn context(&self) -> *const Context {
        // SAFETY: the task has not run, so it is alive.
        unsafe { self.0.as_ref().context }
    }

    /// Runs the task here and now.
    pub(crate) fn run(self) {
        let task = self.0.as_ptr();
        // SAFETY: alive until it has run, and `self` is the only right to run it.
        unsafe { ((*task).run)(task) }
    }
}

#[repr(C)]
struct Heap<F> {
    head: Task,
    body: F,
}

/// A task in `arena`, if it suits, else in a box. `body` must not unwind.
///
/// # Safety
/// `body` may be called on any thread at any time until it has run: whatever it borrows outlives that.
/// The caller owns the arena.
pub(crate) unsafe fn allocate<F: FnOnce()>(
    arena: &Arena,
    context: *const Context,
    body: F,
) -> TaskRef {
    let layout = Layout::new::<Heap<F>>();
    if !Arena::suits(layout) {
        // SAFETY: passed on.
        return unsafe { allocate_boxed(context, body) };
    }
    let head = Task::new(run_in_arena::<F>, context);
    let task = arena.allocate(layout).cast::<Heap<F>>();
    // SAFETY: a fresh block of the right layout.
    unsafe {
        task.write(Heap { head, body });
        TaskRef::new(task.cast::<Task>())
    }
}

/// A task of a thread without a seat: in an arena of its own.
///
/// # Safety
/// As for [`allocate`].
pub(crate) unsafe fn allocate_outside<F: FnOnce()>(context: *const Context, body: F) -> TaskRef {
    thread_local! {
        static ARENA: Arena = const { Arena::new() };
    }
    let mut body = Some(body);
    let mut take = || body.take().expect("taken once");
    // SAFETY: passed on.
    let made = ARENA.try_with(|arena| unsafe { allocate(arena, context, take()) });
    // The thread is ending.
    // SAFETY: passed on.
    made.unwrap_or_else(|_| unsafe { allocate_boxed(context, take()) })
}

/// A task in a box, for threads without an arena.
///
/// # Safety
/// As for [`allocate`].
pub(crate) unsafe fn allocate_boxed<F: FnOnce()>(context: *const Context, body: F) -> TaskRef {
    let head = Task::new(run_in_box::<F>, context);
    let task = Box::into_raw(Box::new(Heap { head, body }));
    // SAFETY: a fresh box; the rest is passed on.
    unsafe { TaskRef::new(task.cast::<Task>()) }
}

/// # Safety
/// `task` is the head of a `Heap<F>` made by [`allocate`], not run before.
unsafe fn run_in_arena<F: FnOnce()>(task: *mut Task) {
    let task = task.cast::<Heap<F>>();
    // SAFETY: by contract. The closure is moved out and its block given back before it runs, so that a
    // long task does not keep a chunk of memory waiting.
    let body = unsafe {
        let body = ptr::read(&raw const (*task).body);
        arena::release(task.cast::<u8>());
        body
    };
    body();
}

/// # Safety
/// `task` is the head of a `Heap<F>` made by [`allocate_boxed`], not run before.
unsafe fn run_in_box<F: FnOnce()>(task: *mut Task) {
    // SAFETY: by contract.
    let task = unsafe { Box::from_raw(task.cast::<Heap<F>>()) };
    let body = task.body;
    body();
}
