//! An orderly end: everybody is told, nothing new begins, and what has begun is waited for.
//!
//! A [`Shutdown`] is triggered once, by anybody who has a handle. Those who wait for it are told at once. Work that must not be cut off
//! holds a [`WorkGuard`]; after the trigger there are no new guards, so their number can only fall, and when it is zero the end has come: that is
//! final.
//!
//! Both facts, whether it is triggered and how many guards there are, change under one lock, which is also that of the line in which futures
//! wait. Who finds, under the lock, that it has to wait is in the line before either can change, so no wake-up is lost; and a guard is either
//! made before the trigger, and waited for, or refused. A future that is dropped takes itself out of the line.

#[cfg(all(test, loom))]
mod models;

use crate::primitives::{AtomicBool, Ordering};
use crate::waiters::{Node, State, Waiters};
use blitz_core::checking::Flaws;
use std::fmt;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A handle to an orderly end. Clones are handles to the same one.
///
/// It works on any executor; only [`drain`](Self::drain) needs our timers.
///
/// ```
/// use blitz_io::shutdown::Shutdown;
/// use blitz_io::time::{Duration, sleep};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let shutdown = Shutdown::new();
/// let guard = shutdown.guard().expect("not triggered yet");
/// let worker = blitz_io::spawn(async move {
///     let mut rounds = 0;
///     loop {
///         blitz_io::select! {
///             () = guard.shutdown().wait() => break,
///             () = sleep(Duration::from_millis(1)) => rounds += 1,
///         }
///     }
///     rounds // and only now the guard is dropped
/// });
/// sleep(Duration::from_millis(5)).await;
/// shutdown.drain(Duration::from_secs(10)).await.expect("everybody has left in time");
/// assert!(shutdown.guard().is_none(), "nothing new begins");
/// # worker.await.unwrap();
/// # });
/// ```
#[derive(Clone, Default)]
pub struct Shutdown {
    inner: Arc<Inner>,
}

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
enum Flaw {
    /// A guard is given to whoever has seen no trigger a moment ago.
    AsksBeforeTheLock,
    /// The last guard believes that there is another one.
    LooksTooEarly,
    /// The flag says nothing about what came before it.
    RelaxedFlag,
}

struct Inner {
    /// What is in the lock as well: for a look without it.
    triggered: AtomicBool,
    waiters: Waiters<Facts>,
    flaws: Flaws<Flaw>,
}

#[derive(Default)]
struct Facts {
    triggered: bool,
    guards: usize,
}

impl Facts {
    fn are(&self, stage: Stage) -> bool {
        self.triggered && (stage == Stage::Triggered || self.guards == 0)
    }
}

/// What somebody waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Triggered,
    Drained,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            triggered: AtomicBool::new(false),
            waiters: Waiters::new(Facts::default()),
            flaws: Flaws::NONE,
        }
    }
}

impl Shutdown {
    /// One that has not been triggered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins the end: tells everybody who [waits](Self::wait), and refuses new [guards](Self::guard). Returns whether this was the first
    /// call; all others do nothing.
    ///
    /// ```
    /// let shutdown = blitz_io::shutdown::Shutdown::new();
    /// assert!(shutdown.trigger());
    /// assert!(!shutdown.trigger()); // somebody has been first
    /// ```
    pub fn trigger(&self) -> bool {
        // Those who wait for the guards look, and wait on.
        self.inner.waiters.release_all(State::Dismissed, |facts| {
            let first = !std::mem::replace(&mut facts.triggered, true);
            // Release: what the caller did before comes before what is done by those who see this.
            let order = self.inner.flaws.relax(Flaw::RelaxedFlag, Ordering::Release);
            self.inner.triggered.store(true, order);
            first
        })
    }

    /// Whether it has been triggered. One load.
    ///
    /// ```
    /// let shutdown = blitz_io::shutdown::Shutdown::new();
    /// assert!(!shutdown.is_shutdown());
    /// shutdown.trigger();
    /// assert!(shutdown.is_shutdown());
    /// ```
    pub fn is_shutdown(&self) -> bool {
        self.inner.triggered.load(Ordering::Acquire)
    }

    /// Waits until it is triggered; not at all if it has been. Dropping the future leaves nothing behind.
    pub fn wait(&self) -> Wait<'_> {
        self.wait_for(Stage::Triggered)
    }

    /// Waits until it is triggered and all guards are gone. Dropping the future leaves nothing behind.
    ///
    /// A task that holds a guard itself would wait for ever.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let shutdown = blitz_io::shutdown::Shutdown::new();
    /// let guard = shutdown.guard().unwrap();
    /// let work = blitz_io::spawn(async move {
    ///     guard.shutdown().wait().await;
    ///     drop(guard); // tidied up
    /// });
    /// shutdown.trigger();
    /// shutdown.drained().await;
    /// # work.await.unwrap();
    /// # });
    /// ```
    pub fn drained(&self) -> Wait<'_> {
        self.wait_for(Stage::Drained)
    }

    fn wait_for(&self, stage: Stage) -> Wait<'_> {
        Wait {
            inner: &self.inner,
            stage,
            node: Node::new(),
        }
    }

    /// [Triggers](Self::trigger), and waits for all guards, but no longer than `limit`.
    ///
    /// # Errors
    /// [`StillBusy`] if some were left. It can be called again.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[cfg(not(loom))]
    pub async fn drain(&self, limit: std::time::Duration) -> Result<(), StillBusy> {
        self.trigger();
        let result = crate::time::timeout(limit, self.drained()).await;
        result.map_err(|_elapsed| StillBusy {
            guards: self.guards(),
        })
    }

    /// Work begins that is to be waited for. Nothing if the end has begun already: do not begin it then.
    pub fn guard(&self) -> Option<WorkGuard> {
        let flawed = self.inner.flaws.has(Flaw::AsksBeforeTheLock);
        if flawed && self.is_shutdown() {
            return None;
        }
        self.inner.waiters.locked(|guarded| {
            let facts = &mut guarded.state;
            if facts.triggered && !flawed {
                return None;
            }
            facts.guards += 1;
            Some(())
        })?;
        Some(WorkGuard {
            shutdown: self.clone(),
        })
    }

    /// How many guards there are.
    ///
    /// ```
    /// let shutdown = blitz_io::shutdown::Shutdown::new();
    /// let guard = shutdown.guard();
    /// assert_eq!(shutdown.guards(), 1);
    /// drop(guard);
    /// assert_eq!(shutdown.guards(), 0);
    /// ```
    pub fn guards(&self) -> usize {
        self.inner.waiters.locked(|guarded| guarded.state.guards)
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shutdown")
            .field("is_shutdown", &self.is_shutdown())
            .field("guards", &self.guards())
            .finish()
    }
}

/// Holds the end back until it is dropped. See [`Shutdown::guard`].
///
/// A clone is one more; that works after the trigger too, since the work has begun.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::shutdown::Shutdown;
///
/// let shutdown = Shutdown::new();
/// let guard = shutdown.guard().unwrap();
/// let one_more = guard.clone();
/// assert_eq!(guard.shutdown().guards(), 2);
/// drop((guard, one_more));
/// shutdown.trigger();
/// shutdown.drained().await;
/// # });
/// ```
#[derive(Debug)]
#[must_use = "the work is waited for as long as this lives"]
pub struct WorkGuard {
    shutdown: Shutdown,
}

impl WorkGuard {
    /// What it is a guard of: for work that wants to hear of the end.
    pub fn shutdown(&self) -> &Shutdown {
        &self.shutdown
    }
}

impl Clone for WorkGuard {
    fn clone(&self) -> Self {
        let waiters = &self.shutdown.inner.waiters;
        waiters.locked(|guarded| guarded.state.guards += 1);
        Self {
            shutdown: self.shutdown.clone(),
        }
    }
}

impl Drop for WorkGuard {
    fn drop(&mut self) {
        let waiters = &self.shutdown.inner.waiters;
        waiters.release_all(State::Dismissed, |facts| {
            let too_early = facts.are(Stage::Drained);
            facts.guards -= 1;
            if self.shutdown.inner.flaws.has(Flaw::LooksTooEarly) {
                return too_early;
            }
            facts.are(Stage::Drained)
        });
    }
}

/// See [`Shutdown::wait`] and [`Shutdown::drained`].
#[must_use = "futures do nothing unless polled"]
pub struct Wait<'a> {
    inner: &'a Inner,
    stage: Stage,
    node: Node,
}

impl Wait<'_> {
    fn node(self: Pin<&Self>) -> Pin<&Node> {
        // SAFETY: the node is pinned with the whole.
        unsafe { self.map_unchecked(|this| &this.node) }
    }
}

impl Future for Wait<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let waiters = &self.inner.waiters;
        let node = self.as_ref().node();
        if node.state() == State::Waiting && waiters.again(node, cx.waker()) == State::Waiting {
            return Poll::Pending;
        }
        // New here, or released: by the trigger, which may not be all that it waits for.
        waiters.withdraw(node, |_| {});
        // SAFETY: one list, `&mut self`, and `drop` withdraws it.
        let arrived = unsafe {
            waiters.arrive(node, cx.waker(), |guarded| {
                if guarded.state.are(self.stage) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(1)
                }
            })
        };
        match arrived {
            ControlFlow::Break(()) => Poll::Ready(()),
            ControlFlow::Continue(()) => Poll::Pending,
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        // SAFETY: what is dropped does not move any more.
        let node = unsafe { Pin::new_unchecked(&self.node) };
        self.inner.waiters.withdraw(node, |_| {});
    }
}

impl fmt::Debug for Wait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait").field("stage", &self.stage).finish()
    }
}

/// Not all work was done in time. See [`Shutdown::drain`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StillBusy {
    /// How many guards were left.
    pub guards: usize,
}

impl fmt::Display for StillBusy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pieces of work were not done in time", self.guards)
    }
}

impl std::error::Error for StillBusy {}
