//! Which runtime it is, and of what kind.

use crate::primitives::AtomicU64;
use crate::scheduler::Scheduler;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::Ordering;

/// The number of a runtime or of a [`LocalSet`](crate::task::LocalSet). No other one of the process has it, whether it still runs or not.
///
/// ```
/// let runtime = blitz_io::Builder::new_current_thread().build()?;
/// let id = runtime.handle().id();
/// assert_eq!(runtime.block_on(async { blitz_io::Handle::current().id() }), id);
/// println!("runtime {id}");
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id(NonZeroU64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A runtime's number and, if it has one, its name.
#[derive(Debug)]
pub(crate) struct Identity {
    id: Id,
    name: Option<String>,
}

impl Identity {
    pub(crate) fn new(name: Option<String>) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let id = Id(NonZeroU64::new(number).expect("nobody makes that many"));
        Identity { id, name }
    }

    pub(crate) fn id(&self) -> Id {
        self.id
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// What threads a runtime runs its tasks on.
///
/// ```
/// use blitz_io::runtime::RuntimeFlavor;
///
/// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(1).build()?;
/// assert_eq!(runtime.handle().runtime_flavor(), RuntimeFlavor::MultiThread);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// On the one that is in [`Runtime::block_on`](super::Runtime::block_on).
    CurrentThread,
    /// On those of a pool.
    MultiThread,
}

/// Which of its runtime's workers the calling thread is, if it is one.
///
/// On the global pool, which several runtimes may share, it is the pool's thread.
///
/// ```
/// use blitz_io::runtime::worker_index;
///
/// assert_eq!(worker_index(), None);
/// let runtime = blitz_io::Builder::new_multi_thread().worker_threads(2).build()?;
/// let index = runtime.block_on(runtime.spawn(async { worker_index() }))?;
/// println!("ran on worker {index:?}"); // none, if it was the relief thread
/// # std::io::Result::Ok(())
/// ```
pub fn worker_index() -> Option<usize> {
    Scheduler::of_worker(|scheduler| {
        let (_, index) = scheduler.my_core()?;
        scheduler.cores.worker_of(index)
    })?
}
