//! Locks and channels for async code, on any executor.
//!
//! Whatever polls the futures will do: a runtime, a thread with fifteen lines around it, or a thread that just calls one of the `blocking_…` methods. Nothing here starts a
//! thread or needs a timer.
//!
//! ```
//! use blitz_sync::{Mutex, mpsc};
//! use std::future::Future;
//! use std::pin::pin;
//! use std::sync::Arc;
//! use std::task::{Context, Poll, Wake};
//! use std::thread::{self, Thread};
//!
//! struct Unpark(Thread);
//!
//! impl Wake for Unpark {
//!     fn wake(self: Arc<Self>) {
//!         self.0.unpark();
//!     }
//! }
//!
//! // The executor: one future on one thread.
//! fn block_on<F: Future>(future: F) -> F::Output {
//!     let mut future = pin!(future);
//!     let waker = Arc::new(Unpark(thread::current())).into();
//!     loop {
//!         match future.as_mut().poll(&mut Context::from_waker(&waker)) {
//!             Poll::Ready(output) => return output,
//!             Poll::Pending => thread::park(),
//!         }
//!     }
//! }
//!
//! let sum = Arc::new(Mutex::new(0));
//! let (sender, mut receiver) = mpsc::channel(2);
//! let shared = sum.clone();
//! let adder = thread::spawn(move || {
//!     block_on(async {
//!         while let Some(number) = receiver.recv().await {
//!             *shared.lock().await += number;
//!         }
//!     })
//! });
//! block_on(async {
//!     for number in 1..=100 {
//!         sender.send(number).await.unwrap(); // waits while there are two
//!     }
//! });
//! drop(sender);
//! adder.join().unwrap();
//! assert_eq!(*sum.blocking_lock(), 5050);
//! ```
//!
//! # Locks
//!
//! | to | use |
//! |---|---|
//! | change a value, one at a time | [`Mutex`] |
//! | read a value together, or change it alone | [`RwLock`] |
//! | limit how many do something at a time | [`Semaphore`] |
//! | tell tasks that something has happened | [`Notify`] |
//! | wait for each other | [`Barrier`] |
//! | tell tasks, and the tasks below them, to stop | [`CancellationToken`] |
//! | compute a value when it is first needed | [`OnceCell`] |
//! | wait for a value that somebody sets once | [`SetOnce`] |
//!
//! # Channels
//!
//! | channel | senders | receivers | each message goes to |
//! |---|---|---|---|
//! | [`mpsc`] | many | one | the receiver |
//! | [`mpmc`] | many | many | one of the receivers |
//! | [`oneshot`] | one | one | the receiver; there is one message |
//! | [`broadcast`] | many | many | all receivers |
//! | [`watch`] | many | many | all receivers; they see the latest only |
//!
//! Waiting allocates nothing, and every wait can be given up: dropping the future is enough. No message is lost by it, and a wake that was meant for it goes to the next.
//!
//! The names are those of tokio's `sync` module, wherever that has one. `blitz_io::sync` has the same types as this crate, not others like them.
//!
//! # Threads that wait
//! Methods like [`Mutex::blocking_lock`] sleep on the calling thread until they are woken. On a thread of a `blitz-core` pool or of a `blitz-io` runtime others take its place
//! meanwhile; on the one thread of a current-thread runtime of `blitz-io`, which would wait for itself, they panic. Other executors are not known here: in a future that one of them
//! polls, do not call these methods.
//!
//! # Futures that are always ready
//! A loop over a channel that is never empty never lets go of its thread. An executor that gives each poll a [budget](coop) makes it do so; `blitz-io` does. Without one there is no
//! limit.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `stream` | receivers of [`mpsc`] and [`mpmc`] implement `futures_core::Stream` |
//! | `timeout` | `mpsc::Sender::send_timeout`, with the timers of `blitz-io`, which turns it on. With another executor, put its time-out around [`mpsc::Sender::reserve`] |
//!
//! # Platforms
//! Everything that Rust's standard library runs on, WebAssembly included. Rust 1.85 or later.
//!
//! # Models
//! Each protocol is checked by models that run this code under [loom](https://docs.rs/loom), as it is and with faults that they must find.

// What the locks and channels stand on, and what other futures can stand on, too.
mod primitives;

pub mod coop;

#[doc(hidden)]
pub mod waiters;
#[doc(hidden)]
pub mod wake_batch;

#[cfg(loom)]
#[doc(hidden)]
pub mod modelling;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod parking;

mod until;
mod word;

// Locks, and what they are made of.
mod permits;

#[cfg(not(loom))]
mod guard;

#[cfg(not(loom))]
mod mutex;
#[cfg(not(loom))]
mod rwlock;
#[cfg(not(loom))]
mod semaphore;

mod notify;

mod barrier;

mod cancellation;

mod place;

mod once_cell;
mod set_once;

// Channels, and what they are made of.
mod channel;

pub mod mpmc;
pub mod mpsc;

pub mod broadcast;
pub mod oneshot;
pub mod watch;

#[cfg(not(loom))]
pub use parking::block_on;

pub use barrier::{Barrier, BarrierWaitResult};
pub use cancellation::{
    CancellationToken, DropGuard, DropGuardRef, WaitForCancellationFuture,
    WaitForCancellationFutureOwned,
};
#[cfg(not(loom))]
pub use mutex::{
    MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError,
};
pub use notify::Notify;
pub use once_cell::{OnceCell, SetError};
#[cfg(not(loom))]
pub use rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
#[cfg(not(loom))]
pub use semaphore::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};
pub use set_once::{SetOnce, SetOnceError};

/// The futures of this crate's types that have names.
pub mod futures {
    pub use crate::notify::{Notified, OwnedNotified};
}

// What the package's front page shows is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
