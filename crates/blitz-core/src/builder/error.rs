//! Why a pool could not be made.

use crate::join_stack::MAX_SEATS;
use std::error::Error;
use std::fmt;
use std::io;

/// Why a pool could not be made.
#[derive(Debug)]
pub struct ThreadPoolBuildError {
    pub(super) kind: ErrorKind,
}

#[derive(Debug)]
pub(crate) enum ErrorKind {
    GlobalPoolExists,
    CurrentThreadInPool,
    TooManyThreads(usize),
    NoThreads,
    NoSuchCpu(usize),
    Backoff,
    NoCapacity,
    UsersThreads,
    Leaving,
    NeverRun,
    Start {
        started: usize,
        threads: usize,
        error: io::Error,
    },
}

impl ThreadPoolBuildError {
    /// This platform has no threads at all.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(&self.kind, ErrorKind::Start { error, .. } if error.kind() == io::ErrorKind::Unsupported)
    }
}

impl From<ErrorKind> for ThreadPoolBuildError {
    fn from(kind: ErrorKind) -> Self {
        ThreadPoolBuildError { kind }
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::GlobalPoolExists => {
                f.write_str("The global thread pool has already been initialized.")
            }
            ErrorKind::CurrentThreadInPool => {
                f.write_str("The current thread is already part of another thread pool.")
            }
            ErrorKind::TooManyThreads(threads) => write!(
                f,
                "num_threads is {threads}, but a pool can have at most {} threads",
                MAX_SEATS - 1
            ),
            ErrorKind::NoThreads => {
                f.write_str("a pool needs at least one thread: to end it, call ThreadPool::shutdown")
            }
            ErrorKind::NoSuchCpu(cpu) => write!(
                f,
                "the topology has CPU {cpu}, which this process may not use, or which is not there: leave it out, or read what is there (Topology::read)"
            ),
            ErrorKind::Backoff => f.write_str(
                "the limits of a BackoffMode::Custom are out of order: spin, multi_spin and yields count from the first look, so each is at least the one before",
            ),
            ErrorKind::NoCapacity => f.write_str(
                "a queue_capacity of 0 would let no task in: it is at least 1",
            ),
            ErrorKind::UsersThreads => f.write_str(
                "the threads of this pool are started by a spawn_handler, or inside of build_scoped, and there can be no others later: build it with as many as it needs",
            ),
            ErrorKind::NeverRun => f.write_str(
                "the spawn handler has dropped every ThreadBuilder: it has to call ThreadBuilder::run on a thread of its own, for each one",
            ),
            ErrorKind::Leaving => f.write_str(
                "the calling thread is about to leave the pool, in its exit handler: change the number of threads elsewhere",
            ),
            ErrorKind::Start {
                started,
                threads,
                error,
            } => write!(
                f,
                "thread {started} of the {threads} of a pool could not be started: {error}; ask for fewer threads (num_threads) or for smaller stacks \
                 (stack_size), or raise the limit for threads of this user or container"
            ),
        }
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            ErrorKind::Start { error, .. } => Some(error),
            _ => None,
        }
    }
}
