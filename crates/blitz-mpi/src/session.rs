//! The life of a cluster on this rank: start, end, and the ends that nobody wants.
//!
//! # The end
//! MPI must not be left while messages are under way, or it waits for ever. So the ranks first agree that all of them are at the end (a rank that
//! made one collective call more than the others is told so, and ends the program). Then each learns how many messages it was sent, and takes in those
//! that it has never received. So every send comes to its end, and what was not received is reported.
//!
//! # Panics
//! A rank that is gone would be waited for by the others. So a panic that leaves the program's future, or a session that is dropped by a panic, ends
//! all ranks through `MPI_Abort`. A panic in a spawned task is an error of its handle, as on one machine.
//!
//! # What MPI cannot do
//! A rank that is killed says nothing. `mpirun` (and SLURM's `srun --kill-on-bad-exit`) notices and ends the others; MPI itself has no means
//! before version 5 to go on without it. If whatever started the ranks does not watch them, the others wait.

use crate::agree::Kind;
use crate::cluster::Cluster;
use crate::core::{Core, Door};
use crate::driver::{Shared, drive};
use crate::error::{Error, Result, check};
use crate::links::Links;
use crate::parts::Parts;
use crate::steps::Steps;
use blitz_io::Runtime;
use mpi::Threading;
use mpi::ffi;
use std::future::Future;
use std::io::Write;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// The exit code of a rank that panics: the one of any Rust program.
const PANICKED: i32 = 101;

/// Settings for a cluster.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    threads: Option<usize>,
}

impl Builder {
    /// As many threads for each rank as there are CPUs for it.
    pub fn new() -> Self {
        Builder::default()
    }

    /// The threads of each rank's pool.
    ///
    /// Without it: what `BLITZ_NUM_THREADS` says; or the CPUs that this rank may use, divided by the ranks of this machine that may use the same
    /// ones. (`mpirun --bind-to none` lets all ranks use all CPUs, `--map-by slot:PE=8` gives each its own eight.)
    ///
    /// The pool is the global one of the process: what is there already stays as it is.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// As [`Cluster::run`].
    ///
    /// # Errors
    /// As [`Cluster::run`].
    pub fn run<R>(self, program: impl AsyncFnOnce(&Cluster) -> R) -> Result<R> {
        let session = self.init()?;
        let cluster = session.cluster.clone();
        let result = catch_unwind(AssertUnwindSafe(|| session.block_on(program(&cluster))));
        let result = match result {
            Ok(result) => result,
            Err(payload) => {
                let message = payload
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_string())
                    .or_else(|| payload.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "something that is no message".to_string());
                abort(&cluster.shared, PANICKED, &format!("panicked: {message}"))
            }
        };
        session.close()?;
        Ok(result)
    }

    /// As [`Cluster::init`].
    ///
    /// # Errors
    /// As [`Cluster::init`].
    pub fn init(self) -> Result<Session> {
        // SAFETY: these two may be called at any time, by any thread.
        let used = unsafe {
            let (mut before, mut after) = (0, 0);
            check(ffi::MPI_Initialized(&mut before))?;
            check(ffi::MPI_Finalized(&mut after))?;
            before != 0 || after != 0
        };
        if used {
            return Err(Error::Initialised);
        }
        let (universe, provided) =
            mpi::initialize_with_threading(Threading::Serialized).ok_or(Error::Initialised)?;
        if provided < Threading::Serialized {
            return Err(Error::Mpi(
                "it cannot be used by several threads, one at a time".into(),
            ));
        }
        let links = Links::open()?;
        if links.tag_limit() < (1 << 20) - 1 {
            return Err(Error::Mpi(
                "its tags are too short (less than 20 bits)".into(),
            ));
        }
        let threads = match self.threads {
            Some(threads) => threads.max(1),
            None => match std::env::var("BLITZ_NUM_THREADS")
                .ok()
                .and_then(|text| text.parse().ok())
            {
                Some(threads) if threads > 0 => threads,
                _ => share_of_cpus()?,
            },
        };
        // If there is a pool, it stays.
        let _ = blitz::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global();
        let runtime = Runtime::new().map_err(|error| Error::Runtime(error.to_string()))?;
        let shared = Shared::new(
            Core::new(links, universe),
            blitz::current_num_threads(),
            runtime.handle().clone(),
        );
        drop(runtime.spawn(drive(Arc::clone(&shared))));
        Ok(Session {
            cluster: Cluster {
                shared,
                whole: None,
            },
            runtime: Some(runtime),
            _stays_on_this_thread: PhantomData,
        })
    }
}

/// How many CPUs this rank should use. Every rank calls this.
fn share_of_cpus() -> Result<usize> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    // The CPUs that the kernel lets this rank use: a rank that was bound to its own need not share them.
    let allowed = std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status
                .lines()
                .find(|line| line.starts_with("Cpus_allowed:"))?;
            Some(line.bytes().fold(5381u64, |hash, byte| {
                hash.wrapping_mul(33) ^ u64::from(byte)
            }))
        })
        .unwrap_or(0);
    let mut neighbours = 0;
    let mut all: Vec<u64>;
    // SAFETY: MPI is initialised and every rank is here; the room is as large as the communicator, which is freed afterwards.
    unsafe {
        let mut machine = ffi::RSMPI_COMM_NULL;
        check(ffi::MPI_Comm_split_type(
            ffi::RSMPI_COMM_WORLD,
            ffi::RSMPI_COMM_TYPE_SHARED,
            0,
            ffi::RSMPI_INFO_NULL,
            &mut machine,
        ))?;
        check(ffi::MPI_Comm_size(machine, &mut neighbours))?;
        all = vec![0; neighbours as usize];
        check(ffi::MPI_Allgather(
            (&raw const allowed).cast(),
            1,
            ffi::RSMPI_UINT64_T,
            all.as_mut_ptr().cast(),
            1,
            ffi::RSMPI_UINT64_T,
            machine,
        ))?;
        check(ffi::MPI_Comm_free(&mut machine))?;
    }
    let sharers = all.iter().filter(|&&other| other == allowed).count();
    Ok((cpus / sharers.max(1)).max(1))
}

/// A running cluster. It ends when this is closed or dropped, and if it is dropped by a panic, all ranks end.
///
/// It stays on the thread that started MPI, which is the one that must leave it. [`Cluster`]s may go anywhere.
pub struct Session {
    cluster: Cluster,
    /// `None`: closed.
    runtime: Option<Runtime>,
    _stays_on_this_thread: PhantomData<*const ()>,
}

impl Session {
    /// Runs a future on this thread, in the cluster's runtime.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime().block_on(future)
    }

    /// The runtime, whose pool computes for this rank.
    pub fn runtime(&self) -> &Runtime {
        self.runtime
            .as_ref()
            .expect("a session has a runtime until it is closed")
    }

    /// Ends the cluster; all ranks do. Whatever has begun comes to its end first. Handles that are left get [`Error::Closed`].
    ///
    /// # Errors
    /// [`Error::Unreceived`] if this rank was sent messages that it has not received.
    pub fn close(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        let Some(runtime) = self.runtime.take() else {
            return Ok(());
        };
        let shared = &self.cluster.shared;
        shared.lock().door = Door::Closing;
        let ended: Result<()> = runtime.block_on(async {
            let steps = Steps::new(&self.cluster, Kind::CLOSE);
            steps.barrier().await?;
            let sent = Parts::even(shared.lock().letters_sent(), shared.size);
            let expected = steps.last().all_to_all(sent).await?.into_vec();
            let mut wait = Duration::ZERO;
            while !shared.begin(0, |core| core.drain(&expected)) {
                blitz_io::time::sleep(wait).await;
                wait = (wait * 2).clamp(Duration::from_micros(50), Duration::from_millis(1));
            }
            Ok(())
        });
        if let Err(error) = ended {
            abort(shared, 1, &format!("cannot end: {error}"));
        }
        shared.end_driver();
        // Tasks and their futures first.
        drop(runtime);
        let mut core = shared.lock();
        let unreceived = core.unreceived();
        core.finalize();
        if unreceived > 0 {
            Err(Error::Unreceived(unreceived))
        } else {
            Ok(())
        }
    }
}

impl Deref for Session {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if std::thread::panicking() && self.runtime.is_some() {
            abort(&self.cluster.shared, PANICKED, "panicked");
        }
        if let Err(error) = self.end() {
            eprintln!("blitz-mpi: rank {}: {error}", self.cluster.rank());
        }
    }
}

/// Ends all ranks, with a message.
pub(crate) fn abort(shared: &Shared, code: i32, message: &str) -> ! {
    let text = format!(
        "blitz-mpi: rank {} of {} {message}; all ranks end\n",
        shared.rank, shared.size
    );
    // In one piece: `mpirun` and other ranks write to the same place.
    let _ = std::io::stderr().write_all(text.as_bytes());
    // Whatever started the ranks forwards what they write, and may drop what it has not read yet when it ends them: MPICH's does.
    std::thread::sleep(Duration::from_millis(100));
    // Whoever is in MPI comes out first, if it can.
    let _core = shared.lock_for_the_end();
    Core::abort(code)
}
