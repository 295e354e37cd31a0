//! Locks for tasks, which wait without blocking their thread, and channels.
//!
//! They are those of the crate [`blitz-sync`](blitz_sync), which needs no runtime: they work on any executor, and from threads outside of one by their `blocking_…` methods.
//! None of them allocates when somebody has to wait, and all of them may be given up while they wait: dropping the future is enough.
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
//! | send each message to the one receiver | [`mpsc`], [`oneshot`] |
//! | to one of the receivers | [`mpmc`] |
//! | to all receivers, or the latest only | [`broadcast`], [`watch`] |
//!
//! ```
//! use blitz_io::sync::mpsc;
//!
//! let runtime = blitz_io::Runtime::new().unwrap();
//! runtime.block_on(async {
//!     let (sender, mut receiver) = mpsc::channel(8);
//!     for number in 0..3 {
//!         let sender = sender.clone();
//!         blitz_io::spawn(async move { sender.send(number).await });
//!     }
//!     drop(sender);
//!     let mut sum = 0;
//!     while let Some(number) = receiver.recv().await {
//!         sum += number;
//!     }
//!     assert_eq!(sum, 3);
//! });
//! ```
//!
//! Inside of a task of this crate every receive takes a unit of the task's [budget](crate::task::coop), so that a loop over a channel that is always full lets other tasks run.

#[doc(inline)]
pub use blitz_sync::{
    AcquireError, Barrier, BarrierWaitResult, CancellationToken, DropGuard, DropGuardRef,
    MappedMutexGuard, Mutex, MutexGuard, Notify, OnceCell, OwnedMappedMutexGuard, OwnedMutexGuard,
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit,
    RwLock, RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit,
    SetError, SetOnce, SetOnceError, TryAcquireError, TryLockError, WaitForCancellationFuture,
    WaitForCancellationFutureOwned, broadcast, futures, mpmc, mpsc, oneshot, watch,
};
