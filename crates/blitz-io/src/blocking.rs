//! Threads for code that blocks: files, DNS, other libraries.
//!
//! Threads are made on demand up to a limit, and end after some idle time. A runtime that is dropped waits for all its jobs. It may have only a limited time for that.
//! Then a job that still waits for a thread is cancelled, and its handle says so, unless the job must be done (bytes that a file has accepted, say). A job that runs, or
//! whose thread is on its way, is waited for. Jobs are tasks like any other (one allocation, one state
//! machine, the same handle). Polling such a task runs its closure to the end.
//!
//! Threads that have blocked in a task count, too: the limit is for both together. They are *lent* (see the scheduler's relief thread), and come back
//! when the task continues. One thread is always left for jobs, because tasks that wait may wait for one of these jobs.
//!
//! A task that awaits a job often has another one a moment later: a file is read piece by piece. Sending a thread to sleep and waking it takes longer than most of these jobs. So one thread
//! that has done its job keeps *looking* for more for [`LOOK_US`], and a job that comes meanwhile wakes no thread. A thread that has looked in vain a few times
//! in a row does so only now and then. (`programs/micro`, rows `spawn/blocking` and `fs/read`.)
//!
//! Idle threads are on a stack, each with a bell of its own. A job goes to the thread that was busy last, and disturbs no other. The threads at the bottom get old
//! and end.

use crate::context;
use crate::driver::{ClockHold, Handle};
use crate::looks::Looks;
use crate::place::Place;
use crate::primitives::ignore_poison;
use crate::runtime::hooks::{self, Hooks};
use crate::task::{self, Failure, JoinHandle, Queued, Schedule, Task};
use blitz_core::companion::{ThreadHandle, forks, start_thread};
use blitz_core::demand::{ticks, ticks_per_us};
use blitz_core::inherited::Captured;
use std::cell::Cell;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

/// How long a thread looks for its next job before it sleeps: about as long as it takes to wake whoever waits for the last one, who then has the next.
const LOOK_US: u64 = 25;

thread_local! {
    /// The pool that this thread belongs to.
    static MINE: Cell<*const BlockingPool> = const { Cell::new(std::ptr::null()) };
}

/// The threads and their queue.
pub(crate) struct BlockingPool {
    queue: Mutex<Queue>,
    /// How many jobs are in the queue, for the thread that looks. Written under the lock.
    waiting: AtomicUsize,
    /// A thread has ended.
    ended: Condvar,
    cap: usize,
    keep_alive: Duration,
    name: ThreadName,
    stack_size: Option<usize>,
    hooks: Hooks,
}

/// What makes a name for each thread.
type ThreadName = Box<dyn Fn() -> String + Send + Sync>;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
    /// Those that have been made for a job and have not taken one yet.
    starting: usize,
    /// Threads that look for a job before they are idle: one at most.
    looking: usize,
    /// Threads that are not ours and count among them.
    lent: usize,
    /// The bells of threads that wait for a job; the one that was busy last is the last. Whoever rings one takes it out, unless all are to end.
    idle: Vec<Arc<Condvar>>,
    /// Threads that have been asked to end when they were idle, and have not yet.
    dismissed: usize,
    /// Threads that have been told of a job when they were idle, and have not taken it yet.
    told: usize,
    closed: bool,
    /// There is no thread, and the system refuses to start one: the jobs are being told.
    refusal: Option<io::Error>,
    /// Those of the threads. Whoever has started one brings its handle, and the thread does not end before.
    handles: Vec<ThreadHandle>,
    /// The last one that ended because it was idle for long, and joined the one before it.
    last_out: Option<ThreadHandle>,
}

impl Queue {
    /// The place of the calling thread's handle.
    fn own_handle(&self) -> Option<usize> {
        let me = std::thread::current().id();
        self.handles
            .iter()
            .position(|handle| handle.thread().id() == me)
    }
}

struct Job {
    task: Queued,
    duty: Duty,
    /// A paused clock, if there is one, does not jump before this is over and its result delivered.
    hold: Option<ClockHold>,
}

/// What happens to a job that still waits for a thread when the runtime is to end in a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    /// It is cancelled.
    MayBeCancelled,
    /// It is done all the same.
    MustBeDone,
}

impl BlockingPool {
    pub(crate) fn new(
        cap: usize,
        keep_alive: Duration,
        name: ThreadName,
        stack_size: Option<usize>,
        hooks: Hooks,
    ) -> Arc<Self> {
        Arc::new(BlockingPool {
            queue: Mutex::default(),
            waiting: AtomicUsize::new(0),
            ended: Condvar::new(),
            cap: cap.max(1),
            keep_alive,
            name,
            stack_size,
            hooks,
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        ignore_poison(self.queue.lock())
    }

    /// Runs `work` on one of the threads.
    pub(crate) fn spawn<T: Send + 'static>(
        self: &Arc<Self>,
        place: Place,
        duty: Duty,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let hold = context::try_driver().and_then(Handle::hold_clock);
        let inherited = Captured::for_detached();
        let future = RunOnce(Some(move || inherited.run(work)));
        // SAFETY: closure and output are `Send` and `'static`.
        let (listed, task, handle) = unsafe { task::new(place, future, Arc::clone(self)) };
        // There is no list: the queue, or the thread, has the job.
        drop(listed);
        self.push(Job { task, duty, hold });
        JoinHandle::new(handle)
    }

    fn push(self: &Arc<Self>, job: Job) {
        let mut queue = self.queue();
        if queue.closed {
            drop(queue);
            job.cancel();
            return;
        }
        queue.jobs.push_back(job);
        self.find_thread(queue);
    }

    /// A job has come, or a thread may be had again: sees to it that somebody takes the job, or lets it wait.
    fn find_thread(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>) {
        let waiting = queue.jobs.len();
        self.waiting.store(waiting, Ordering::Relaxed);
        if waiting <= queue.looking {
            // Whoever looks takes it, or has it when it stops looking: that needs the lock.
            return;
        }
        if let Some(bell) = queue.idle.pop() {
            queue.told += 1;
            // Whoever hears it wants the lock.
            drop(queue);
            bell.notify_one();
        } else if queue.threads == 0 || queue.threads + queue.lent < self.cap {
            queue.threads += 1;
            queue.starting += 1;
            drop(queue);
            self.start_thread();
        }
    }

    /// Looks for a job for a while. `true`: there is one, unless somebody is faster.
    fn look(&self) -> bool {
        let until = ticks() + LOOK_US * ticks_per_us();
        loop {
            if self.waiting.load(Ordering::Relaxed) > 0 {
                return true;
            }
            if ticks() >= until {
                return false;
            }
            std::hint::spin_loop();
        }
    }

    /// A thread of the scheduler blocks in a task, and counts as one of ours from now on.
    pub(crate) fn lend(&self) {
        self.queue().lent += 1;
    }

    /// It does not any more.
    pub(crate) fn take_back(self: &Arc<Self>) {
        let mut queue = self.queue();
        queue.lent -= 1;
        if !queue.jobs.is_empty() {
            self.find_thread(queue);
        }
    }

    /// Are there more threads than may be, if so many others were lent, too? Then an idle one ends.
    pub(crate) fn has_lent_too_many(&self, others: usize) -> bool {
        let mut queue = self.queue();
        let too_many = queue.threads + queue.lent + others > self.cap;
        if too_many && !queue.idle.is_empty() {
            queue.idle.remove(0).notify_one();
            queue.dismissed += 1;
        }
        too_many
    }

    fn start_thread(self: &Arc<Self>) {
        let pool = Arc::clone(self);
        let context = context::current();
        let mut builder = std::thread::Builder::new().name((self.name)());
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        let spawned = start_thread(builder, move || {
            if let Some(shared) = context {
                context::enter_for_good(shared);
            }
            hooks::call(&pool.hooks.start);
            pool.main();
            context::leave_for_good();
        });
        let mut queue = self.queue();
        match spawned {
            Ok(handle) => {
                queue.handles.push(handle);
                drop(queue);
                // The thread may have come to its end, and wait for it.
                self.ended.notify_all();
            }
            Err(error) => {
                queue.threads -= 1;
                queue.starting -= 1;
                if queue.threads == 0 {
                    // Nobody will ever run them: say so instead of letting their handles hang.
                    let jobs = std::mem::take(&mut queue.jobs);
                    queue.refusal = Some(error);
                    drop(queue);
                    jobs.iter().for_each(Job::cancel);
                    self.queue().refusal = None;
                }
            }
        }
    }

    fn main(&self) {
        MINE.set(self);
        let generation = forks();
        let bell = Arc::new(Condvar::new());
        let mut looks = Looks::default();
        let mut queue = self.queue();
        queue.starting -= 1;
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                self.waiting.store(queue.jobs.len(), Ordering::Relaxed);
                looks.job_comes();
                drop(queue);
                // Panics of the closure end up in its handle.
                job.task.run();
                drop(job.hold);
                assert!(
                    forks() == generation,
                    "a child made by fork() in a closure of spawn_blocking has returned from it: end it there, or call exec"
                );
                queue = self.queue();
                continue;
            }
            if queue.closed {
                break;
            }
            if looks.pays() && queue.looking == 0 {
                queue.looking = 1;
                drop(queue);
                let found = self.look();
                queue = self.queue();
                queue.looking = 0;
                looks.have(found);
                continue;
            }
            queue.idle.push(Arc::clone(&bell));
            let (locked, waited) = ignore_poison(bell.wait_timeout(queue, self.keep_alive));
            queue = locked;
            let place = queue
                .idle
                .iter()
                .rposition(|other| Arc::ptr_eq(other, &bell));
            if let Some(place) = place {
                // Nobody has told us anything, except that all are to end.
                queue.idle.remove(place);
                if waited.timed_out() && queue.jobs.is_empty() {
                    break;
                }
            } else if queue.told > 0 {
                queue.told -= 1;
            } else {
                queue.dismissed -= 1;
                // A job that has come since then has counted on us.
                if queue.jobs.is_empty() {
                    break;
                }
            }
        }
        drop(queue);
        // It still counts: whoever waits for its end waits for this, too.
        hooks::call(&self.hooks.stop);
        let without_handle = |queue: &mut Queue| queue.own_handle().is_none();
        let queue = self.ended.wait_while(self.queue(), without_handle);
        let mut queue = ignore_poison(queue);
        queue.threads -= 1;
        let mut before = None;
        if !queue.closed {
            // Nobody joins a thread that is idle for long but the next one.
            let own = queue.own_handle();
            let own = own.map(|place| queue.handles.swap_remove(place));
            before = std::mem::replace(&mut queue.last_out, own);
        }
        drop(queue);
        self.ended.notify_all();
        before.into_iter().for_each(ThreadHandle::join);
    }

    /// Waits until everything is done, and the threads with their thread-locals are gone, but no longer than `limit`, if there is one; then cancels what is still
    /// queued. `false`: something still runs, the caller itself for one.
    pub(crate) fn shut_down(&self, limit: Option<Duration>) -> bool {
        let mut queue = self.queue();
        queue.closed = true;
        // There are threads for what is queued: for every job, somebody has been told, or is busy and will look.
        queue.idle.iter().for_each(|bell| bell.notify_one());
        // A closure that ends its own runtime cannot wait for itself.
        let own = usize::from(std::ptr::eq(MINE.get(), self));
        let busy = |queue: &mut Queue| queue.threads > own;
        let mut queue = match limit {
            None => ignore_poison(self.ended.wait_while(queue, busy)),
            Some(limit) => {
                let waited = self.ended.wait_timeout_while(queue, limit, busy);
                let mut queue = ignore_poison(waited).0;
                let cancelled = self.take_cancelled(&mut queue);
                drop(queue);
                cancelled.iter().for_each(Job::cancel);
                self.queue()
            }
        };
        let through = queue.threads == 0;
        if queue.threads > own || limit.is_some_and(|limit| limit.is_zero()) {
            return through;
        }
        let mut handles = std::mem::take(&mut queue.handles);
        handles.extend(queue.last_out.take());
        let me = std::thread::current().id();
        let (own, others): (Vec<_>, Vec<_>) = handles
            .into_iter()
            .partition(|handle| handle.thread().id() == me);
        queue.handles = own;
        drop(queue);
        others.into_iter().for_each(ThreadHandle::join);
        through
    }

    /// The jobs that will not be done because the time is up.
    fn take_cancelled(&self, queue: &mut Queue) -> VecDeque<Job> {
        let mut begun = queue.starting + queue.told;
        let jobs = std::mem::take(&mut queue.jobs).into_iter();
        let (done, cancelled) = jobs.partition(|job| {
            // The first ones have their threads.
            let has_thread = begun > 0;
            begun = begun.saturating_sub(1);
            has_thread || job.duty == Duty::MustBeDone
        });
        queue.jobs = done;
        self.waiting.store(queue.jobs.len(), Ordering::Relaxed);
        cancelled
    }

    /// Threads, idle threads, queued jobs.
    pub(crate) fn numbers(&self) -> (usize, usize, usize) {
        let queue = self.queue();
        (queue.threads, queue.idle.len(), queue.jobs.len())
    }
}

impl Job {
    fn cancel(&self) {
        self.task.task().shutdown();
    }
}

impl Schedule for Arc<BlockingPool> {
    fn schedule(&self, task: Queued) {
        // Only an abort of a job that is not queued does this, and there is none: it is queued, running, or through.
        let duty = Duty::MayBeCancelled;
        let hold = None;
        self.push(Job { task, duty, hold });
    }

    fn schedule_again(&self, task: Queued) {
        self.schedule(task);
    }

    fn release(&self, _task: &Task) -> bool {
        false
    }

    fn why_dropped(&self) -> Failure {
        match &self.queue().refusal {
            Some(error) => Failure::panicked(Box::new(format!(
                "no thread can be started for code that blocks: {error}"
            ))),
            None => Failure::cancelled(),
        }
    }
}

/// A closure as a future that is ready at once.
pub(crate) struct RunOnce<F>(pub(crate) Option<F>);

impl<F> Unpin for RunOnce<F> {}

impl<T, F: FnOnce() -> T> Future for RunOnce<F> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let work = self.0.take().expect("a closure runs once");
        // A closure that blocks has no budget to keep.
        Poll::Ready(crate::coop::without_budget(work))
    }
}

/// Runs a closure that blocks on a thread made for that, and returns its result through a handle.
///
/// The threads are many (512 by default) and have nothing else to do. For code that computes rather than blocks, use
/// [`spawn_cpu`](crate::spawn_cpu). Aborting the handle has an effect only while the closure waits for a thread.
///
/// If there is no such thread and the system refuses to start one, the handle says so, as of a panic.
///
/// # Panics
/// Outside of a runtime.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let text = blitz_io::spawn_blocking(|| std::fs::read_to_string("Cargo.toml")).await.unwrap();
/// assert!(text.unwrap().contains("blitz-io"));
/// # });
/// ```
#[track_caller]
pub fn spawn_blocking<F, T>(work: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let place = Place::here();
    context::with(|shared| shared.blocking.spawn(place, Duty::MayBeCancelled, work))
}
