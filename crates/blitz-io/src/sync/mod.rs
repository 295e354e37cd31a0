//! Locks for tasks, which wait without blocking their thread.
//!
//! All of them work on any executor, and from threads outside of one by their `blocking_…` methods. None of them allocates when somebody
//! has to wait, and all of them may be given up while they wait: dropping the future is enough.
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
//! | [`broadcast`] | many | many | all receivers |
//! | [`mpmc`] | many | many | one of the receivers |
//! | [`mpsc`] | many | one | the receiver |
//! | [`oneshot`] | one | one | the receiver; there is one message |
//! | [`watch`] | many | many | all receivers; they see the latest only |
//!
//! They, too, run on any executor, and a wait that is dropped loses no message: a wake that was meant for it goes to the next. Inside of a task of this
//! crate every receive takes a unit of the task's budget, so that a loop over a channel that is always full lets other tasks run.

mod barrier;
pub mod broadcast;
mod cancellation;
mod channel;
#[cfg(not(loom))]
mod guard;
pub mod mpmc;
pub mod mpsc;
#[cfg(not(loom))]
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
pub(crate) mod permits;
mod place;
#[cfg(not(loom))]
mod rwlock;
#[cfg(not(loom))]
mod semaphore;
mod set_once;
mod until;
pub mod watch;
mod word;

pub use self::barrier::{Barrier, BarrierWaitResult};
pub use self::cancellation::{
    CancellationToken, DropGuard, DropGuardRef, WaitForCancellationFuture,
    WaitForCancellationFutureOwned,
};
#[cfg(not(loom))]
pub use self::mutex::{
    MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError,
};
pub use self::notify::Notify;
pub use self::once_cell::{OnceCell, SetError};
#[cfg(not(loom))]
pub use self::rwlock::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
#[cfg(not(loom))]
pub use self::semaphore::{
    AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError,
};
pub use self::set_once::{SetOnce, SetOnceError};

/// The futures of types in [`sync`](self) that have names.
pub mod futures {
    pub use super::notify::{Notified, OwnedNotified};
}
