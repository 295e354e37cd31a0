//! How to make a runtime.

use super::hooks::Hooks;
use super::{Identity, LocalOptions, LocalRuntime, Runtime, has_threads};
use crate::blocking::BlockingPool;
use crate::driver;
use crate::scheduler::{Reserves, Scheduler, Shared};
use blitz_core::ThreadPoolBuilder;
use blitz_core::companion::Companion;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Settings for a [`Runtime`].
///
/// A multi-thread runtime lives on the global pool. It gets a pool of its own, which ends with it, if something is asked for that others on the global pool may not want: a number of workers, their
/// name or stack size, functions to be called when they start, stop or sleep, a seed, or to go without relief thread, watcher or stealing.
///
/// Sockets and timers are there in any case: [`enable_all`](Builder::enable_all) and its parts need not be called.
///
/// # How many threads
/// * The workers.
/// * For each pool, when they are needed: one relief thread (up to 16, if tasks block them without a word), and one watcher.
/// * For each runtime: at most [`max_blocking_threads`](Builder::max_blocking_threads). These are the threads of [`spawn_blocking`](crate::spawn_blocking), and those that a task has taken with
///   it: it blocks in [`block_in_place`](crate::block_in_place) or [`Handle::block_on`](crate::Handle::block_on), and the workers were busy.
///
/// What finds no thread waits: closures for a blocking thread, tasks for a worker or for one of those threads to come back. (One blocking thread is
/// there for closures even if tasks have taken all.) So a limit that is too small for tasks that block and wait for *other tasks* lets
/// them wait for ever.
///
/// ```
/// let runtime = blitz_io::Builder::new_multi_thread()
///     .worker_threads(2)
///     .thread_name("server")
///     .build()
///     .unwrap();
/// assert_eq!(runtime.block_on(async { 7 }), 7);
/// ```
pub struct Builder {
    current_thread: bool,
    workers: Option<usize>,
    name: Option<String>,
    thread_name: Option<ThreadName>,
    hooks: Hooks,
    stack_size: Option<usize>,
    blocking_cap: usize,
    keep_alive: Duration,
    paused: bool,
    seed: u64,
    poll_times: bool,
    reserves: Reserves,
}

/// The number of workers of runtimes that do not say how many they want.
const WORKERS_VARIABLE: &str = "TOKIO_WORKER_THREADS";

/// What threads are called.
#[derive(Clone)]
pub(crate) enum ThreadName {
    Fixed(String),
    Made(Arc<dyn Fn() -> String + Send + Sync>),
}

impl ThreadName {
    pub(crate) fn get(&self) -> String {
        match self {
            ThreadName::Fixed(name) => name.clone(),
            ThreadName::Made(make) => make(),
        }
    }
}

impl Builder {
    fn new(current_thread: bool) -> Self {
        Builder {
            current_thread,
            workers: None,
            name: None,
            thread_name: None,
            hooks: Hooks::default(),
            stack_size: None,
            blocking_cap: 512,
            keep_alive: Duration::from_secs(10),
            paused: false,
            seed: 0,
            poll_times: false,
            reserves: Reserves::DEFAULT,
        }
    }

    /// A runtime on a pool of threads, which run both tasks and parallel computations: the global pool, or one of its own (see [`Builder`]).
    ///
    /// ```
    /// let runtime = blitz_io::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// ```
    pub fn new_multi_thread() -> Self {
        Self::new(false)
    }

    /// A runtime that runs its tasks on the thread that calls [`Runtime::block_on`], while it does. Parallel computations
    /// go to the global pool.
    ///
    /// ```
    /// let runtime = blitz_io::runtime::Builder::new_current_thread().build().unwrap();
    /// let here = std::thread::current().id();
    /// assert_eq!(runtime.block_on(async { std::thread::current().id() }), here);
    /// ```
    pub fn new_current_thread() -> Self {
        Self::new(true)
    }

    /// The number of workers, in a pool of the runtime's own; by default the workers are the global pool's threads, as many as the machine (or the
    /// container) has CPUs. A number in the environment variable `TOKIO_WORKER_THREADS` is taken where this is not called.
    ///
    /// # Panics
    /// If it is 0.
    ///
    /// ```
    /// let runtime = blitz_io::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
    /// assert_eq!(runtime.metrics().num_workers(), 3);
    /// ```
    #[track_caller]
    pub fn worker_threads(&mut self, threads: usize) -> &mut Self {
        assert!(
            threads > 0,
            "Worker threads cannot be set to 0: a runtime needs at least one thread"
        );
        self.workers = Some(threads);
        self
    }

    /// Lets the runtime have sockets and timers, which it has in any case.
    ///
    /// ```
    /// // tokio's programs ask for it; here there is nothing to enable.
    /// let runtime = blitz_io::Builder::new_current_thread().enable_all().build()?;
    /// runtime.block_on(async { blitz_io::time::sleep(std::time::Duration::ZERO).await });
    /// # std::io::Result::Ok(())
    /// ```
    pub fn enable_all(&mut self) -> &mut Self {
        self
    }

    /// As [`enable_all`](Builder::enable_all).
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_current_thread().enable_io().build()?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn enable_io(&mut self) -> &mut Self {
        self
    }

    /// As [`enable_all`](Builder::enable_all).
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_current_thread().enable_time().build()?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn enable_time(&mut self) -> &mut Self {
        self
    }

    /// A name for the runtime, which [`Handle::name`](super::Handle::name) returns.
    ///
    /// # Panics
    /// If it is empty.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_current_thread().name("background").build()?;
    /// assert_eq!(runtime.handle().name(), Some("background"));
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        assert!(!name.trim().is_empty(), "runtime name shouldn't be empty");
        self.name = Some(name);
        self
    }

    /// The name of all threads.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(1).thread_name("server").build()?;
    /// let name = runtime.spawn(async { std::thread::current().name().map(str::to_owned) });
    /// assert_eq!(runtime.block_on(name)?.as_deref(), Some("server"));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.thread_name = Some(ThreadName::Fixed(name.into()));
        self
    }

    /// What makes a name for each thread when it starts.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static THREADS: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = blitz_io::Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .thread_name_fn(|| format!("server-{}", THREADS.fetch_add(1, Ordering::Relaxed)))
    ///     .build()?;
    /// let name = runtime.spawn(async { std::thread::current().name().map(str::to_owned) });
    /// assert!(runtime.block_on(name)?.unwrap().starts_with("server-"));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn thread_name_fn<F>(&mut self, name: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self.thread_name = Some(ThreadName::Made(Arc::new(name)));
        self
    }

    /// Is called on each thread when it starts: workers, threads for blocking code, and the relief thread.
    ///
    /// ```
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let runtime = blitz_io::Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .on_thread_start(move || drop(sender.send(std::thread::current().id())))
    ///     .build()?;
    /// assert_ne!(receiver.recv(), Ok(std::thread::current().id()));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn on_thread_start<F>(&mut self, call: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.start = Some(Arc::new(call));
        self
    }

    /// Is called on each thread before it ends.
    ///
    /// ```
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let runtime = blitz_io::Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .on_thread_stop(move || drop(sender.send("a thread ends")))
    ///     .build()?;
    /// drop(runtime);
    /// assert_eq!(receiver.recv(), Ok("a thread ends"));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn on_thread_stop<F>(&mut self, call: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.stop = Some(Arc::new(call));
        self
    }

    /// Is called on a worker before it goes to sleep. It may wake and spawn tasks.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicIsize, Ordering};
    ///
    /// /// Workers that are awake.
    /// static AWAKE: AtomicIsize = AtomicIsize::new(2);
    ///
    /// let runtime = blitz_io::Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .on_thread_park(|| {
    ///         AWAKE.fetch_sub(1, Ordering::SeqCst);
    ///     })
    ///     .on_thread_unpark(|| {
    ///         AWAKE.fetch_add(1, Ordering::SeqCst);
    ///     })
    ///     .build()?;
    /// let awake = runtime.spawn(async { AWAKE.load(Ordering::SeqCst) });
    /// assert!((1..=2).contains(&runtime.block_on(awake)?));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn on_thread_park<F>(&mut self, call: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.park = Some(Arc::new(call));
        self
    }

    /// Is called on a worker after it has slept.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .on_thread_unpark(|| println!("there is something to do"))
    ///     .build()?;
    /// runtime.block_on(runtime.spawn(async {}))?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn on_thread_unpark<F>(&mut self, call: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.unpark = Some(Arc::new(call));
        self
    }

    /// How many tasks a worker may run before it looks at the shared queue first. It is accepted and has no effect: workers find out
    /// by themselves how many tasks make a millisecond.
    ///
    /// # Panics
    /// If it is 0.
    ///
    /// ```
    /// // For programs that are written for tokio.
    /// let runtime = blitz_io::Builder::new_current_thread().global_queue_interval(31).build()?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn global_queue_interval(&mut self, tasks: u32) -> &mut Self {
        assert!(tasks > 0, "global_queue_interval must be greater than 0");
        self
    }

    /// How many tasks a worker may run before it looks at sockets and timers. It is accepted and has no effect: 64 if nobody else looks.
    ///
    /// # Panics
    /// If it is 0.
    ///
    /// ```
    /// // For programs that are written for tokio.
    /// let runtime = blitz_io::Builder::new_current_thread().event_interval(61).build()?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn event_interval(&mut self, tasks: u32) -> &mut Self {
        assert!(tasks > 0, "event_interval must be greater than 0");
        self
    }

    /// How many events are fetched from the operating system at a time. It is accepted and has no effect.
    ///
    /// # Panics
    /// If it is 0.
    ///
    /// ```
    /// // For programs that are written for tokio.
    /// let runtime = blitz_io::Builder::new_current_thread().max_io_events_per_tick(1024).build()?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn max_io_events_per_tick(&mut self, events: usize) -> &mut Self {
        assert!(events > 0, "max_io_events_per_tick must be non-zero");
        self
    }

    /// How many events are fetched at a time while tasks are waiting. It is accepted and has no effect.
    ///
    /// # Panics
    /// If it is 0.
    ///
    /// ```
    /// // For programs that are written for tokio.
    /// let runtime = blitz_io::Builder::new_current_thread().max_io_events_per_busy_tick(64).build()?;
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn max_io_events_per_busy_tick(&mut self, events: usize) -> &mut Self {
        assert!(events > 0, "max_io_events_per_busy_tick must be non-zero");
        self
    }

    /// The size of the threads' stacks, in bytes.
    ///
    /// It has a price: a thread that has entered the runtime hands its parallel computations over to the workers, which have such a
    /// stack, and waits, instead of taking part. If it holds a lock that all workers wait for, it waits for ever.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(1).thread_stack_size(16 << 20).build()?;
    /// let deep = runtime.spawn(async {
    ///     let room = [0_u8; 4 << 20];
    ///     std::hint::black_box(&room).len()
    /// });
    /// assert_eq!(runtime.block_on(deep)?, 4 << 20);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Self {
        self.stack_size = Some(bytes);
        self.reserves.stack_size = Some(bytes);
        self
    }

    /// The most threads for [`spawn_blocking`](crate::spawn_blocking) and for tasks that block, together; 512 by default. See
    /// [How many threads](Builder#how-many-threads).
    ///
    /// # Panics
    /// If it is 0.
    ///
    /// ```
    /// // One thread at a time: the second closure waits for the first.
    /// let runtime = blitz_io::Builder::new_current_thread().max_blocking_threads(1).build()?;
    /// let (first, second) = (runtime.spawn_blocking(|| 1), runtime.spawn_blocking(|| 2));
    /// let sum = runtime.block_on(async { first.await.unwrap() + second.await.unwrap() });
    /// assert_eq!(sum, 3);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn max_blocking_threads(&mut self, threads: usize) -> &mut Self {
        assert!(
            threads > 0,
            "Max blocking threads cannot be set to 0: closures that block need at least one thread"
        );
        self.blocking_cap = threads;
        self
    }

    /// How long such a thread waits for the next closure before it ends; 10 seconds by default.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = blitz_io::Builder::new_current_thread().thread_keep_alive(Duration::from_secs(60)).build()?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn thread_keep_alive(&mut self, idle: Duration) -> &mut Self {
        self.keep_alive = idle;
        self
    }

    /// Starts with a clock that stands still, and jumps to the next timer when there is nothing else to do. For tests; only
    /// in current-thread runtimes.
    ///
    /// ```
    /// use blitz_io::time::{Duration, Instant, sleep};
    ///
    /// let runtime = blitz_io::Builder::new_current_thread().start_paused(true).build()?;
    /// runtime.block_on(async {
    ///     let start = Instant::now();
    ///     sleep(Duration::from_secs(3600)).await; // takes no time
    ///     assert!(start.elapsed() >= Duration::from_secs(3600));
    /// });
    /// # std::io::Result::Ok(())
    /// ```
    pub fn start_paused(&mut self, paused: bool) -> &mut Self {
        self.paused = paused;
        self
    }

    /// The seed of the workers' choices. With one thread, a paused clock and no input from outside, the same seed gives the same
    /// order of events.
    ///
    /// ```
    /// // A test that failed with seed 7 fails again.
    /// let runtime = blitz_io::Builder::new_current_thread().start_paused(true).seed(7).build()?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn seed(&mut self, seed: u64) -> &mut Self {
        self.seed = seed;
        self
    }

    /// Measures how long polls take, for [`Metrics::poll_times`](super::Metrics). Costs about 20 ns per poll.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_current_thread().poll_times(true).build()?;
    /// runtime.block_on(runtime.spawn(async {}))?;
    /// let polls: u64 = runtime.metrics().snapshot().poll_times.iter().map(|(_up_to, polls)| polls).sum();
    /// assert!(polls >= 1);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn poll_times(&mut self, measure: bool) -> &mut Self {
        self.poll_times = measure;
        self
    }

    /// Whether one more thread serves tasks while all workers are in long computations, or block; by default, yes. Without it, tasks wait
    /// for a worker: if all workers block in tasks that wait for other tasks, or for timers, for ever. So this is for measuring what the thread
    /// is worth, not for programs.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(1).relief_thread(false).build()?;
    /// assert_eq!(runtime.block_on(runtime.spawn(async { 42 }))?, 42);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn relief_thread(&mut self, relief: bool) -> &mut Self {
        self.reserves.relief = relief;
        self
    }

    /// Whether a thread notices that a task blocks its worker, or computes for long, and says nothing; by default, yes. The tasks
    /// behind it are then given to an idle worker, or to the relief thread. Without it, they may wait until it goes on.
    ///
    /// The thread is started when tasks first wait behind another one. It looks at the workers every 1 to 8 ms while they have tasks
    /// waiting, and sleeps otherwise. A runtime of one worker without a [relief thread](Builder::relief_thread) has none: nobody
    /// could be told.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(2).watcher(true).build().unwrap();
    /// let answer = runtime.spawn(async {
    ///     let (sender, receiver) = std::sync::mpsc::channel();
    ///     blitz_io::spawn(async move { sender.send(42).unwrap() });
    ///     // Not a good idea, but not the end.
    ///     receiver.recv().unwrap()
    /// });
    /// assert_eq!(runtime.block_on(answer).unwrap(), 42);
    /// ```
    pub fn watcher(&mut self, watcher: bool) -> &mut Self {
        self.reserves.watcher = watcher;
        self
    }

    /// Whether workers take each other's tasks; by default, yes.
    ///
    /// Without it, a task that a task spawns or wakes runs on the same worker, unless there are so many that some go to the shared queue. What is spawned or woken from outside goes there, too, and
    /// is taken by whoever is free. So nothing moves between caches, and a worker may be busy while another is idle.
    ///
    /// Tasks behind one that blocks its worker, or computes there for long, are taken over all the same, once that is noticed; see [`watcher`](Builder::watcher).
    ///
    /// ```
    /// let builder = &mut blitz_io::Builder::new_multi_thread();
    /// let runtime = builder.worker_threads(2).enable_stealing(false).build().unwrap();
    /// let task = runtime.spawn(async { blitz_io::spawn(async { 42 }).await.unwrap() });
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    pub fn enable_stealing(&mut self, stealing: bool) -> &mut Self {
        self.reserves.stealing = stealing;
        self
    }

    /// What to tell the caller if the pool cannot be made.
    fn no_threads(&self, error: &dyn std::error::Error) -> io::Error {
        let stacks = match self.stack_size {
            Some(bytes) => format!(" with stacks of {bytes} bytes (thread_stack_size)"),
            None => String::new(),
        };
        io::Error::other(format!(
            "the runtime's threads cannot be started{stacks}: {error}"
        ))
    }

    /// Makes the runtime.
    ///
    /// # Errors
    /// If the operating system refuses a thread or a file descriptor, or if the settings contradict each other. A multi-thread runtime where there are no threads (WebAssembly
    /// without them) is one of [`Unsupported`](io::ErrorKind::Unsupported) kind.
    ///
    /// # Panics
    /// If there is something else than a number above 0 in `TOKIO_WORKER_THREADS`, and that decides.
    ///
    /// ```
    /// let runtime = blitz_io::Builder::new_current_thread().build()?;
    /// assert_eq!(runtime.block_on(async { 42 }), 42);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        blitz_primitives::host::set(&crate::host::HOST);
        if self.paused && !self.current_thread {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "start_paused: only a current-thread runtime can have a paused clock (use Builder::new_current_thread)",
            ));
        }
        if !self.current_thread && !has_threads() {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "there are no threads on this platform: only a current-thread runtime can be made (use Builder::new_current_thread)",
            ));
        }
        if matches!(&self.thread_name, Some(ThreadName::Fixed(name)) if name.contains('\0')) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "thread_name: the name of a thread cannot contain a NUL character",
            ));
        }
        let given = self.thread_name.clone();
        let blocking = BlockingPool::new(
            self.blocking_cap,
            self.keep_alive,
            Box::new(move || match &given {
                Some(name) => name.get(),
                None => "blitz-io blocking".to_owned(),
            }),
            self.stack_size,
            self.hooks.clone(),
        );
        let identity = Identity::new(self.name.clone());
        let shared =
            |scheduler, alone| Shared::new(scheduler, alone, blocking, identity, self.poll_times);
        if !self.current_thread && !self.asks_for_own_threads() {
            let shared = Scheduler::global(|scheduler| shared(scheduler, false))?;
            return Ok(Runtime::new_with(shared, None));
        }
        let clock = driver::Clock::new(self.current_thread);
        if self.paused {
            clock.pause();
        }
        let driver = driver::new(clock, self.current_thread)?;
        if self.current_thread {
            let scheduler = Scheduler::of_one_thread(self.seed, driver, self.hooks.clone());
            return Ok(Runtime::new_with(shared(scheduler, true), None));
        }
        // A thread in `block_on` computes by itself, in the pool, unless that would be on a stack of another size.
        let mut pool = ThreadPoolBuilder::new().caller_participates(self.stack_size.is_none());
        if let Some(threads) = self.workers() {
            pool = pool.num_threads(threads);
        }
        if let Some(size) = self.stack_size {
            pool = pool.stack_size(size);
        }
        let given = self.thread_name.clone();
        let pool = pool
            .thread_name(move |index| match &given {
                Some(name) => name.get(),
                None => format!("blitz-io {index}"),
            })
            .build()
            .map_err(|error| self.no_threads(&error))?;
        let threads = pool.current_num_threads();
        let hooks = self.hooks.clone();
        let reserves = Reserves {
            name: self.thread_name.clone(),
            ..self.reserves.clone()
        };
        let scheduler = Scheduler::new(threads, reserves, self.seed, driver, hooks);
        scheduler.set_pool(pool.handle());
        let companion: Arc<dyn Companion> = scheduler.clone();
        // Before the threads become workers: what is called then is in the runtime.
        let shared = shared(scheduler, true);
        assert!(pool.attach(&companion), "a new pool has no companion");
        Ok(Runtime::new_with(shared, Some(pool)))
    }

    /// Makes a runtime that stays on this thread, whose tasks need not be `Send`.
    ///
    /// # Errors
    /// As for [`build`](Builder::build).
    ///
    /// # Panics
    /// If it was to be a multi-thread runtime.
    ///
    /// ```
    /// use blitz_io::runtime::{Builder, LocalOptions};
    /// use std::rc::Rc;
    ///
    /// let runtime = Builder::new_current_thread().build_local(LocalOptions::default())?;
    /// let shared = Rc::new(42); // need not be `Send`
    /// let task = runtime.spawn_local(async move { *shared });
    /// assert_eq!(runtime.block_on(task)?, 42);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn build_local(&mut self, _options: LocalOptions) -> io::Result<LocalRuntime> {
        assert!(
            self.current_thread,
            "Only current_thread is supported when building a local runtime"
        );
        self.build().map(LocalRuntime::new_with)
    }

    /// Does the runtime need workers that are not the global pool's?
    fn asks_for_own_threads(&self) -> bool {
        let own_reserves =
            !self.reserves.relief || !self.reserves.watcher || !self.reserves.stealing;
        let own_kind = self.thread_name.is_some() || self.stack_size.is_some() || self.hooks.any();
        self.workers().is_some() || own_kind || own_reserves || self.seed != 0
    }

    /// How many workers were asked for, here or by whoever has started the program.
    #[track_caller]
    fn workers(&self) -> Option<usize> {
        self.workers.or_else(|| {
            let value = std::env::var_os(WORKERS_VARIABLE)?;
            let value = value.to_string_lossy();
            match value.parse() {
                Ok(0) => panic!("{WORKERS_VARIABLE} cannot be set to 0"),
                Ok(workers) => Some(workers),
                Err(error) => {
                    panic!("{WORKERS_VARIABLE} must be a number: {error}, value: {value}")
                }
            }
        })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("current_thread", &self.current_thread)
            .field("workers", &self.workers)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
