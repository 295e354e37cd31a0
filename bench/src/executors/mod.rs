//! Async runtimes behind one interface, each with one worker per CPU, all in this process.

mod blitz;
mod named;
#[cfg(feature = "full")]
mod smol;
mod tokio;

pub use blitz::Blitz;
pub use named::AsyncLib;
#[cfg(feature = "full")]
pub use smol::Smol;
pub use tokio::Tokio;

use crate::arms::Cpus;
use crate::pin;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A runtime that has been started. The functions are static, so that tasks need not carry anything.
pub trait Executor: 'static {
    /// Its name in the tables.
    const NAME: &'static str;

    /// A task whose output is awaited.
    type Handle: Future<Output = ()> + Send + 'static;

    /// Starts the threads.
    fn start(threads: usize);

    /// Runs a task, from anywhere.
    fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Self::Handle;

    /// Lets a task run on its own.
    fn detach(handle: Self::Handle);

    /// Waits for a future on a thread that is not a worker.
    fn block_on<T>(future: impl Future<Output = T>) -> T;
}

/// A handle that gives what its task returned; a task that has failed ends the program.
pub struct Plain<H>(H);

impl<H, E> Future for Plain<H>
where
    H: Future<Output = Result<(), E>> + Unpin,
    E: Debug,
{
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(Result::unwrap)
    }
}

/// Starts a runtime with its threads placed as `cpus` says.
pub fn start<E: Executor>(cpus: &Cpus) {
    let threads = pin::cpus_at_start().len().max(1);
    let ((), started) = pin::threads_started_by(|| E::start(threads));
    for (index, thread) in started.into_iter().enumerate() {
        if let Some(cpu) = cpus.for_index(index) {
            pin::pin_thread(thread, cpu);
        }
    }
}
