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
//! | hand over messages | the channels of [`crate::channel`], which are here, too, where users of tokio look for them |

mod barrier;
mod cancellation;
#[cfg(not(loom))]
mod guard;
#[cfg(not(loom))]
mod mutex;
mod notify;
mod once_cell;
pub(crate) mod permits;
#[cfg(not(loom))]
mod rwlock;
#[cfg(not(loom))]
mod semaphore;
mod word;

pub use crate::channel::{broadcast, mpmc, mpsc, oneshot, watch};

pub use self::barrier::{Barrier, BarrierWaitResult};
pub use self::cancellation::{
    CancellationToken, DropGuard, DropGuardRef, WaitForCancellationFuture,
    WaitForCancellationFutureOwned,
};
#[cfg(not(loom))]
pub use self::mutex::{
    MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard, TryLockError,
};
pub use self::notify::{Notified, Notify, OwnedNotified};
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
