//! Making pools.

use crate::global;
use crate::placement::Pinning;
use crate::pool::Handlers;
use crate::rescue;
use crate::thread_pool::ThreadPool;
use crate::topology::{Share, Topology};
use blitz_primitives::{BackoffMode, FullPolicy};
use std::any::Any;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

pub(crate) use building::{available_cpus, revive};
pub(crate) use error::ErrorKind;
pub use error::ThreadPoolBuildError;
pub(crate) use threads::start_thread;
pub use threads::{CustomSpawn, DefaultSpawn, ThreadBuilder, ThreadSpawn};

mod building;
mod error;
mod threads;

/// Describes a pool before it is made: rayon's knobs, and a few of ours.
///
/// ```
/// let pool = blitz_core::ThreadPoolBuilder::new()
///     .num_threads(2)
///     .thread_name(|index| format!("crunch-{index}"))
///     .build()
///     .unwrap();
/// assert_eq!(pool.current_num_threads(), 2);
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    handlers: Handlers,
    thread_name: Option<Box<dyn FnMut(usize) -> String>>,
    stack_size: Option<usize>,
    backoff: BackoffMode,
    caller_participates: Option<bool>,
    pinning: Pinning,
    grain: usize,
    max_rescue_threads: usize,
    queue_capacity: Option<(usize, FullPolicy)>,
    spawn: S,
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        ThreadPoolBuilder {
            num_threads: 0,
            use_current_thread: false,
            handlers: Handlers::default(),
            thread_name: None,
            stack_size: None,
            backoff: BackoffMode::default(),
            caller_participates: None,
            pinning: Pinning::Free,
            grain: 1,
            max_rescue_threads: rescue::MOST,
            queue_capacity: None,
            spawn: DefaultSpawn,
        }
    }
}

impl ThreadPoolBuilder {
    /// A builder with every knob at its default.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().build()?;
    /// assert!(pool.current_num_threads() >= 1); // as many as the process may use CPUs
    /// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Makes the pool and starts its threads.
    ///
    /// # Errors
    /// If a thread cannot be started, if there are to be more than [`max_num_threads`](crate::max_num_threads),
    /// or if [`ThreadPoolBuilder::use_current_thread`] is asked of a thread that is in a pool already.
    ///
    /// If some threads have been started and another cannot, these end. They have ended when this returns, unless they are the user's
    /// ([`spawn_handler`](Self::spawn_handler)) or run the user's [`start_handler`](Self::start_handler), which may wait for the others.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!(pool.install(|| 6 * 7), 42);
    /// ```
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.build_pool(false).map(ThreadPool::new)
    }

    /// Makes the global pool from this builder.
    ///
    /// Call it early: the first parallel operation outside of any pool starts the global pool with defaults.
    ///
    /// # Errors
    /// As [`ThreadPoolBuilder::build`], and if the global pool exists.
    ///
    /// ```
    /// blitz_core::ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
    /// assert!(blitz_core::ThreadPoolBuilder::new().build_global().is_err());
    /// ```
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        let pool = global::start(self)?;
        pool.wait_until_started();
        Ok(())
    }

    /// The global pool: as it is, or made from this builder if there is none.
    ///
    /// # Errors
    /// As [`ThreadPoolBuilder::build`].
    ///
    /// ```
    /// let builder = || blitz_core::ThreadPoolBuilder::new();
    /// let first = builder().num_threads(3).global_or_init().unwrap();
    /// let second = builder().num_threads(5).global_or_init().unwrap();
    /// assert_eq!((first.current_num_threads(), second.current_num_threads()), (3, 3));
    /// ```
    pub fn global_or_init(self) -> Result<&'static ThreadPool, ThreadPoolBuildError> {
        match self.build_global() {
            Err(error) if !matches!(error.kind, ErrorKind::GlobalPoolExists) => Err(error),
            _ => Ok(ThreadPool::global()),
        }
    }
}

impl ThreadPoolBuilder {
    /// Makes a pool whose threads live inside the call, so that they may borrow from outside of it.
    ///
    /// `wrapper` runs on each thread and must call [`ThreadBuilder::run`]; `with_pool` gets the pool, which
    /// ends with it.
    ///
    /// # Errors
    /// As [`ThreadPoolBuilder::build`].
    ///
    /// ```
    /// let offset = 40;
    /// let sum = blitz_core::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .build_scoped(|thread| thread.run(), |pool| pool.install(|| offset + 2))
    ///     .unwrap();
    /// assert_eq!(sum, 42);
    /// ```
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        thread::scope(|scope| {
            let wrapper = &wrapper;
            let pool = self
                .spawn_handler(|thread| {
                    let builder = thread.std_builder();
                    builder.spawn_scoped(scope, || wrapper(thread))?;
                    Ok(())
                })
                .build()?;
            let result = catch_unwind(AssertUnwindSafe(|| with_pool(&pool)));
            pool.shutdown();
            Ok(result.unwrap_or_else(|payload| resume_unwind(payload)))
        })
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Starts the pool's threads with a function of yours. It must start a thread that calls
    /// [`ThreadBuilder::run`], for each thread of the pool.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .spawn_handler(|thread| {
    ///         std::thread::Builder::new().spawn(|| thread.run())?;
    ///         Ok(())
    ///     })
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(pool.install(|| 6 * 7), 42);
    /// ```
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            spawn: CustomSpawn(spawn),
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            handlers: self.handlers,
            thread_name: self.thread_name,
            stack_size: self.stack_size,
            backoff: self.backoff,
            caller_participates: self.caller_participates,
            pinning: self.pinning,
            grain: self.grain,
            max_rescue_threads: self.max_rescue_threads,
            queue_capacity: self.queue_capacity,
        }
    }

    /// Names the threads, by index. Without this they are called `blitz-0`, `blitz-1` and so on.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    /// pool.install(|| assert_eq!(std::thread::current().name(), Some("blitz-0")));
    /// ```
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.thread_name = Some(Box::new(closure));
        self
    }

    /// How many threads. 0 (the default) asks the environment (`BLITZ_NUM_THREADS`, `RAYON_NUM_THREADS`),
    /// then the CPUs the process may use.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    /// assert_eq!(pool.current_num_threads(), 3);
    /// ```
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = num_threads;
        self
    }

    /// Makes the calling thread the pool's thread 0, for good. It takes part whenever it waits for something
    /// of the pool, or yields.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().unwrap();
    /// assert_eq!(pool.current_thread_index(), Some(0));
    /// ```
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Called with the panics that have nobody else to go to: in detached tasks, and in the other handlers.
    /// Without it, such a panic aborts the process; so does a panic in the handler.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// let (sender, receiver) = mpsc::channel();
    /// let pool = blitz_core::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .panic_handler(move |_payload| sender.send("a task has panicked").unwrap())
    ///     .build()
    ///     .unwrap();
    /// pool.spawn(|| panic!("oh"));
    /// assert_eq!(receiver.recv(), Ok("a task has panicked"));
    /// ```
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.handlers.panic = Some(Box::new(panic_handler));
        self
    }

    /// The threads' stack size in bytes.
    ///
    /// In the global pool, this means that calls from outside are handed over: see [`caller_participates`](Self::caller_participates).
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).stack_size(8 << 20).build().unwrap();
    /// pool.install(|| { let _large = [0_u8; 4 << 20]; });
    /// ```
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = Some(stack_size);
        self
    }

    /// Does nothing: `spawn_fifo` and `scope_fifo` choose the order where it matters.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    pub fn breadth_first(self) -> Self {
        self
    }

    /// Called on each thread, with its index, before it does anything else.
    ///
    /// In the global pool, this means that calls from outside are handed over: see [`caller_participates`](Self::caller_participates).
    ///
    /// Sometimes a thread stands in for another: while threads of the pool wait for another pool, or are in [`block_in_place`](crate::block_in_place). It is set up in the same way, so
    /// the handler is called once more with the same index. So is the exit handler, when that thread ends.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// let (sender, receiver) = mpsc::channel();
    /// let pool = blitz_core::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .start_handler(move |index| sender.send(index).unwrap())
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(receiver.recv(), Ok(0));
    /// ```
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.handlers.start = Some(Box::new(start_handler));
        self
    }

    /// Called on each thread, with its index, as the last thing.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// let (sender, receiver) = mpsc::channel();
    /// let pool = blitz_core::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .exit_handler(move |index| sender.send(index).unwrap())
    ///     .build()
    ///     .unwrap();
    /// pool.shutdown();
    /// assert_eq!(receiver.recv(), Ok(0));
    /// ```
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.handlers.exit = Some(Box::new(exit_handler));
        self
    }

    /// Called by a thread, with its index and that of the other, when it has stolen something: a half of a `join`, a part of a loop, a task. The victim's is
    /// [`num_threads`](Self::num_threads) if it has none, because it works beside the pool's threads for a while.
    ///
    /// For measurements. It is called before what was stolen runs, so it should be short. What it does in parallel goes to another pool.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// let thefts = Arc::new(AtomicUsize::new(0));
    /// let counter = Arc::clone(&thefts);
    /// let pool = blitz_core::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .steal_handler(move |thief, victim| {
    ///         assert!(thief < 2 && victim < 2 && thief != victim);
    ///         counter.fetch_add(1, Ordering::Relaxed);
    ///     })
    ///     .build()
    ///     .unwrap();
    /// pool.join(|| 1, || 2);
    /// assert!(thefts.load(Ordering::Relaxed) <= 1);
    /// ```
    pub fn steal_handler<H>(mut self, steal_handler: H) -> Self
    where
        H: Fn(usize, usize) + Send + Sync + 'static,
    {
        self.handlers.steal = Some(Box::new(steal_handler));
        self
    }

    /// Called by a thread, with its index, when it is about to block: for want of work, in a wait for others, or because it has said that it blocks. May be
    /// called without the thread blocking in the end. The thread has then left everything to the others that they can take.
    ///
    /// Together with [`unpark_handler`](Self::unpark_handler), which is called once for each call of this, it is the place to give something back that a running thread
    /// needs: a token of make's jobserver, say (there is a recipe, `jobserver`).
    ///
    /// In the global pool, this means that calls from outside are handed over: see [`caller_participates`](Self::caller_participates). What the handler does in
    /// parallel goes to another pool.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicIsize, Ordering};
    /// let running = Arc::new(AtomicIsize::new(2));
    /// let (parks, unparks) = (Arc::clone(&running), Arc::clone(&running));
    /// let pool = blitz_core::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .park_handler(move |_| { parks.fetch_sub(1, Ordering::SeqCst); })
    ///     .unpark_handler(move |_| { unparks.fetch_add(1, Ordering::SeqCst); })
    ///     .build()
    ///     .unwrap();
    /// pool.install(|| assert!((1..=2).contains(&running.load(Ordering::SeqCst))));
    /// ```
    pub fn park_handler<H>(mut self, park_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.handlers.park = Some(Box::new(park_handler));
        self
    }

    /// Called by a thread that has told the [`park_handler`](Self::park_handler), when it goes on. It may block: until then the thread does nothing, and others may
    /// rely on it.
    ///
    /// ```
    /// let builder = blitz_core::ThreadPoolBuilder::new().unpark_handler(|index| println!("{index} goes on"));
    /// # let _ = builder;
    /// ```
    pub fn unpark_handler<H>(mut self, unpark_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.handlers.unpark = Some(Box::new(unpark_handler));
        self
    }

    /// Called when the pool cannot go on by itself: all of its threads block or have nothing to do, at least one of them blocks in the middle of something, and no
    /// task is queued.
    ///
    /// If nobody outside of the pool is going to wake one of them, that is a deadlock, and this is the place to break it. Find the circle among what your threads wait for, and
    /// wake one of them with an error. Threads that block in something that is not Blitz's have to say so, or they count as running. One that has been woken there a
    /// moment ago may still count as blocked: look whether there is a circle. The handler runs on a thread of its own, and may be called more than once for the
    /// same deadlock. A pool that an async runtime lives on reports none.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// let (wake, sleep) = mpsc::channel();
    /// let pool = blitz_core::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .deadlock_handler(move || wake.send("a circle").unwrap())
    ///     .build()
    ///     .unwrap();
    /// // Nobody else would ever send anything.
    /// let told = pool.install(move || blitz_core::block_in_place(|| sleep.recv()));
    /// assert_eq!(told, Ok("a circle"));
    /// ```
    pub fn deadlock_handler<H>(mut self, deadlock_handler: H) -> Self
    where
        H: Fn() + Send + Sync + 'static,
    {
        self.handlers.deadlock = Some(Box::new(deadlock_handler));
        self
    }

    /// How long threads without work stay awake.
    ///
    /// ```
    /// use blitz_core::ThreadPoolBuilder;
    /// use blitz_core::primitives::{BackoffLimits, BackoffMode};
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolBuilder::new().num_threads(1).backoff(BackoffMode::PowerSaving).build();
    /// assert!(pool.is_ok());
    ///
    /// let balanced = BackoffMode::Balanced.limits();
    /// let patient = BackoffLimits { patience: Duration::from_millis(2), ..balanced };
    /// let pool = ThreadPoolBuilder::new().num_threads(1).backoff(BackoffMode::Custom(patient)).build();
    /// assert!(pool.is_ok());
    /// ```
    pub fn backoff(mut self, mode: BackoffMode) -> Self {
        self.backoff = mode;
        self
    }

    /// May threads from outside run the pool's work themselves while they wait for it (`true`), or is
    /// everything handed over to the pool's threads, as rayon does (`false`)?
    ///
    /// By default they may in the global pool, unless its threads differ from theirs by stack size, start
    /// or exit handler or spawn handler. In other pools they may not, because `install` promises that its
    /// closure runs on the pool's threads, with their thread-locals.
    ///
    /// Taking part costs some 25 ns a call. Handing over costs a wake-up and a wait, 14 to 33 microseconds, and the work
    /// waits for a thread of the pool, whatever these do: not a good idea while holding a lock that they need.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new()
    ///     .num_threads(1)
    ///     .caller_participates(true)
    ///     .build()
    ///     .unwrap();
    /// let here = std::thread::current().id();
    /// assert_eq!(pool.install(|| std::thread::current().id()), here);
    /// ```
    pub fn caller_participates(mut self, participates: bool) -> Self {
        self.caller_participates = Some(participates);
        self
    }

    /// Binds each thread to one of the CPUs that the caller of `build` may use (Linux only, ignored elsewhere).
    ///
    /// What runs there sees it: [`available_parallelism`](std::thread::available_parallelism) is 1, and threads, pools and programs that it starts
    /// may use no other CPU unless they ask for it. Without this, the engine leaves alone where threads run.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1).pin_workers(true).build()?;
    /// let cpus = pool.install(|| std::thread::available_parallelism().unwrap());
    /// assert!(cpus.get() == 1 || cfg!(not(target_os = "linux")));
    /// # Ok::<(), blitz_core::ThreadPoolBuildError>(())
    /// ```
    pub fn pin_workers(mut self, pin: bool) -> Self {
        self.pinning = if pin { Pinning::Cpus } else { Pinning::Free };
        self
    }

    /// One worker for each CPU, core or node of `topology`, which may use the CPUs of that, and no others. (Elsewhere than on Linux they are as many, and may use any CPU.)
    ///
    /// One for each core suits computations that two threads of a core would take from each other; one for each node those that keep to their own memory, and start threads themselves. With
    /// [`num_threads`](Self::num_threads) there are as many workers as that says, and cores or nodes are dealt out in turn.
    ///
    /// A CPU that the process may not use makes [`build`](Self::build) an error. As with [`pin_workers`](Self::pin_workers), what runs on the workers sees that they are bound.
    ///
    /// ```
    /// use blitz_core::{Share, ThreadPoolBuilder, Topology};
    /// if let Ok(here) = Topology::read() {
    ///     let pool = ThreadPoolBuilder::new().one_worker_per(Share::Core, &here).build().unwrap();
    ///     assert_eq!(pool.current_num_threads(), here.cores().len());
    /// }
    /// ```
    pub fn one_worker_per(mut self, share: Share, topology: &Topology) -> Self {
        self.pinning = Pinning::Shares(topology.shares(share));
        self
    }

    /// The most threads that are started beside the pool's own when all of these wait for something that is still queued, or some of them are in
    /// [`block_in_place`](crate::block_in_place): 512 by default.
    ///
    /// The former happens when pools wait for each other in circles, or when computations of an async runtime block on each other. Beyond that many, what is
    /// queued waits until one of the threads comes back.
    ///
    /// ```
    /// let builder = blitz_core::ThreadPoolBuilder::new().max_rescue_threads(16);
    /// # let _ = builder;
    /// ```
    pub fn max_rescue_threads(mut self, threads: usize) -> Self {
        self.max_rescue_threads = threads;
        self
    }

    /// The most detached tasks that wait in the pool's queues, and what happens to the next one.
    ///
    /// * `Block`: whoever calls [`spawn`](crate::spawn), `spawn_fifo` or `spawn_handle` waits until a task has begun.
    /// * `Refuse`: the call panics.
    /// * `Grow`: it is queued all the same, as it is without this.
    ///
    /// [`try_spawn`](crate::try_spawn) hands the closure back in any case.
    ///
    /// For producers that are faster than the pool. A thread of a pool that has to wait does so as in [`block_in_place`](crate::block_in_place): others run what is queued. If all threads of the
    /// pool wait for room in it, and there may be no others ([`max_rescue_threads`](Self::max_rescue_threads)), one of them gets room beyond the limit. Tasks of
    /// scopes, broadcasts and computations of an async runtime do not count: somebody waits for those.
    ///
    /// 0 makes [`build`](Self::build) an error. Costs two atomic operations for each task; nothing without it.
    ///
    /// ```
    /// use blitz_core::{ThreadPoolBuilder, primitives::FullPolicy};
    /// use std::sync::mpsc;
    /// let pool = ThreadPoolBuilder::new().num_threads(1).queue_capacity(2, FullPolicy::Refuse).build().unwrap();
    /// let (go_on, wait) = mpsc::channel::<()>();
    /// let (begun, has_begun) = mpsc::channel();
    /// pool.spawn(move || { begun.send(()).unwrap(); wait.recv().unwrap() });
    /// has_begun.recv().unwrap();
    /// assert!(pool.try_spawn(|| ()).is_ok());
    /// assert!(pool.try_spawn(|| ()).is_ok());
    /// let refused = pool.try_spawn(|| println!("later")).unwrap_err();
    /// go_on.send(()).unwrap();
    /// refused.into_inner()();
    /// ```
    pub fn queue_capacity(mut self, tasks: usize, when_full: FullPolicy) -> Self {
        self.queue_capacity = Some((tasks, when_full));
        self
    }

    /// The shortest piece that loops over index ranges in this pool are cut into, if the call names no grain of its own
    /// (`blitz::ops::par_for` and its kin; see [`demand::grain`](crate::demand::grain)).
    ///
    /// The default is 1: loops are cut by measured time alone. 0 counts as 1.
    ///
    /// ```
    /// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).grain(500).build().unwrap();
    /// assert_eq!(pool.install(blitz_core::demand::grain), 500);
    /// ```
    pub fn grain(mut self, indices: usize) -> Self {
        self.grain = indices.max(1);
        self
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// What a closure is shown as.
        fn closure<T>(is_there: &Option<T>) -> Option<fmt::Arguments<'static>> {
            is_there.as_ref().map(|_| format_args!("<closure>"))
        }
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("thread_name", &closure(&self.thread_name))
            .field("stack_size", &self.stack_size)
            .field("panic_handler", &closure(&self.handlers.panic))
            .field("start_handler", &closure(&self.handlers.start))
            .field("exit_handler", &closure(&self.handlers.exit))
            .field("backoff", &self.backoff)
            .field("caller_participates", &self.caller_participates)
            .field("pinning", &self.pinning)
            .field("grain", &self.grain)
            .field("max_rescue_threads", &self.max_rescue_threads)
            .field("queue_capacity", &self.queue_capacity)
            .finish_non_exhaustive()
    }
}
