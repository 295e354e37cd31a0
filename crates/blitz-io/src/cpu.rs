//! Computations for tasks: on the same threads, without keeping tasks waiting.

use crate::blocking::RunOnce;
use crate::context;
use crate::place::Place;
use crate::scheduler::Shared;
use crate::task::{self, JoinHandle, Queued, Schedule, Task};
use blitz_core::CancelToken;
use blitz_core::companion::work_elsewhere;
use blitz_core::demand::{outlasts_a_wake, recall, record, ticks};
use std::panic::resume_unwind;
use std::sync::Arc;

/// Runs a computation on the runtime's threads and returns its result through a handle.
///
/// The closure may use [`join`](blitz_core::join()), scopes and parallel iterators, take as long as it likes, and hold locks. While
/// it runs, the other workers serve tasks. If all of them compute, a relief thread does; it
/// borrows their CPUs between two steps of a loop or recursion. A closure that is known to be short is run by the
/// worker of the task that asked, right after it; nobody is woken.
///
/// A panic ends up in the handle.
///
/// Aborting the handle stops the computation. So does dropping it, since nobody wants the result any more: a `select!` or a
/// [`timeout`](crate::time::timeout) has gone another way, say. What has not begun is dropped. Parallel loops and sorts end before their next block.
/// Code of yours can ask, with [`is_cancelled`](blitz_core::is_cancelled()) or [`checkpoint`](blitz_core::checkpoint). [`CancelToken::run`](blitz_core::CancelToken::run) says how
/// things are stopped. Tasks that the computation has spawned go on. A computation that nobody waits for is started with [`spawn_cpu_detached`].
///
/// # Panics
/// Outside of a runtime.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (a, b) = blitz_io::spawn_cpu(|| blitz_core::join(|| 6 * 7, || "parallel")).await.unwrap();
/// assert_eq!((a, b), (42, "parallel"));
/// # });
/// ```
#[track_caller]
pub fn spawn_cpu<F, T>(work: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let place = Place::here();
    context::with(|shared| spawn_cpu_in(place, shared, WhenUnwanted::Stops, work))
}

/// As [`spawn_cpu`], for a computation that nobody waits for: there is no handle, and it runs to its end.
///
/// A panic in it is dropped, as a task's is whose handle is gone.
///
/// # Panics
/// Outside of a runtime.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (sender, receiver) = blitz_io::sync::oneshot::channel();
/// blitz_io::spawn_cpu_detached(move || drop(sender.send(6 * 7)));
/// assert_eq!(receiver.await, Ok(42));
/// # });
/// ```
#[track_caller]
pub fn spawn_cpu_detached<F>(work: F)
where
    F: FnOnce() + Send + 'static,
{
    let place = Place::here();
    context::with(|shared| drop(spawn_cpu_in(place, shared, WhenUnwanted::GoesOn, work)));
}

/// What becomes of a computation whose handle is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenUnwanted {
    Stops,
    GoesOn,
}

/// Runs `compute` in `task`, which is being polled; it can be stopped by way of that.
fn stoppable<T>(task: &Task, unwanted: WhenUnwanted, compute: impl FnOnce() -> T) -> T {
    let is_unwanted = move |task: &Task| {
        let state = &task.header().state;
        state.is_cancelled() || unwanted == WhenUnwanted::Stops && !state.has_handle()
    };
    let token = || {
        let task = task.clone();
        CancelToken::watching(move || is_unwanted(&task))
    };
    if is_unwanted(task) {
        let stopped = token().why().expect("nobody wants it again");
        resume_unwind(Box::new(stopped));
    }
    CancelToken::run_apart(&token, compute)
}

pub(crate) fn spawn_cpu_in<F, T>(
    place: Place,
    shared: &Arc<Shared>,
    unwanted: WhenUnwanted,
    work: F,
) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // Each closure's type has its own copy of this function, whose address stands for it.
    let site = timed::<F, T> as *const () as usize;
    let past = recall(site);
    let short = past.is_some_and(|past| !outlasts_a_wake(past));
    shared.assert_of_this_process();
    let future = RunOnce(Some(move || {
        context::with(|theirs| {
            if !short {
                theirs.caller_blocks();
            }
            let compute = || theirs.compute(|| timed(site, work));
            task::with_current(|task| match task {
                // Where nothing unwinds, there is no way to say that there is no result.
                Some(task) if !cfg!(panic = "abort") => stoppable(task, unwanted, compute),
                _ => compute(),
            })
        })
    }));
    // SAFETY: closure and output are `Send` and `'static`.
    let (listed, queued, handle) =
        unsafe { task::new(place, future, CpuSchedule(Arc::clone(shared))) };
    let job = Job(Some(queued));
    // In the list, so that the end of the runtime cancels it, or waits for it if it runs.
    if shared.admit(listed) {
        match shared.pool() {
            // A pool that has ended gives the job back, which cancels it.
            Some(pool) => drop(pool.spawn(past, move || job.run())),
            None => {
                // A paused clock does not jump over the time that this takes.
                let hold = Arc::clone(shared.driver.handle()).hold_clock();
                blitz_core::spawn(move || {
                    job.run();
                    drop(hold);
                });
            }
        }
    }
    JoinHandle::new(handle)
}

fn timed<F: FnOnce() -> T, T>(site: usize, work: F) -> T {
    let start = ticks();
    let result = work();
    record(site, ticks().saturating_sub(start));
    result
}

/// Runs a job, or cancels it if it is dropped.
struct Job(Option<Queued>);

impl Job {
    fn run(mut self) {
        self.0.take().expect("runs once").run();
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(job) = &self.0 {
            job.task().shutdown();
        }
    }
}

/// The engine queues jobs; they are polled once, to the end.
struct CpuSchedule(Arc<Shared>);

impl Schedule for CpuSchedule {
    fn schedule(&self, task: Queued) {
        // An abort of a job that waits in the engine's queue: that entry is the only one.
        drop(task);
    }

    fn schedule_again(&self, task: Queued) {
        drop(task);
    }

    fn release(&self, task: &Task) -> bool {
        self.0.owned.remove(task)
    }

    /// A pool's thread does not know whose computation it runs.
    fn poll<R>(&self, poll: impl FnOnce() -> R) -> R {
        let _entered = (!context::is_current(&self.0)).then(|| context::enter(Arc::clone(&self.0)));
        poll()
    }
}

/// Runs code that blocks or computes for long in the middle of a task, and lets others serve the other tasks meanwhile.
///
/// The task itself waits, of course, and so do those that run inside of the same one (in a `select!`, say); prefer
/// [`spawn_blocking`](crate::spawn_blocking) and [`spawn_cpu`].
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let sum = blitz_io::block_in_place(|| (0..1000u64).sum::<u64>());
/// assert_eq!(sum, 499_500);
/// # });
/// ```
pub fn block_in_place<F, R>(work: F) -> R
where
    F: FnOnce() -> R,
{
    if let Some(shared) = context::current() {
        shared.caller_blocks();
    }
    // It may wait for a computation in the engine's queues, and so may all others.
    work_elsewhere(|| crate::coop::without_budget(work))
}
