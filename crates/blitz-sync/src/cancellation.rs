//! Cancellation that spreads down a tree: of a server, its connections, their requests.
//!
//! A [`CancellationToken`] is a handle to a node. A node has a flag, which is raised once, and a [`Notify`] for those that wait for it. The flag is raised before the notification
//! (with release). A future reads the flag (with acquire) after it has noted the count of notifications. So it sees the flag or is notified.
//!
//! The `family` says which node belongs to which: one table with one lock for each tree. Raising the flags of a node and of all below it is one critical section. So a child
//! that is made meanwhile is either among them, or is made with its flag raised. Wakers are called after that, outside the lock.

mod family;
#[cfg(all(test, loom))]
mod models;

use self::family::{Family, Key};
use super::notify::{Notify, Wait};
use crate::primitives::{AtomicBool, Ordering};
use blitz_primitives::flaw::Flaws;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

/// Tells tasks to stop. Clones are handles to the same token; [children](Self::child_token) are cancelled with it, but not the other way round.
///
/// Works on any executor; waiting allocates nothing. Dropping tokens cancels nothing: see [`drop_guard`](Self::drop_guard) for that.
///
/// ```
/// use blitz_sync::CancellationToken;
///
/// let server = CancellationToken::new();
/// let connection = server.child_token();
/// let thread = std::thread::spawn(move || blitz_sync::block_on(connection.cancelled()));
/// server.cancel();
/// thread.join().unwrap();
/// ```
#[derive(Clone)]
pub struct CancellationToken {
    node: Arc<Member>,
}

/// One node of a tree.
struct Member {
    cancelled: AtomicBool,
    notify: Notify,
    family: Arc<Family>,
    /// Its place in the family's table; none if it was made with its flag up.
    key: Option<Key>,
}

impl Member {
    fn is_cancelled(&self) -> bool {
        // Acquire: what happened before the cancellation is visible to who sees it.
        self.cancelled.load(Ordering::Acquire)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.family.leave(key);
        }
    }
}

impl CancellationToken {
    /// A token that nobody has cancelled, the root of a tree of its own.
    ///
    /// ```
    /// let token = blitz_sync::CancellationToken::new();
    /// assert!(!token.is_cancelled());
    /// ```
    pub fn new() -> Self {
        Self {
            node: Family::new(Flaws::NONE).root(),
        }
    }

    /// A token that is cancelled with this one, at the latest.
    ///
    /// ```
    /// let parent = blitz_sync::CancellationToken::new();
    /// let (one, two) = (parent.child_token(), parent.child_token());
    /// one.cancel();
    /// assert!(one.is_cancelled() && !two.is_cancelled() && !parent.is_cancelled());
    /// parent.cancel();
    /// assert!(two.is_cancelled() && parent.child_token().is_cancelled());
    /// ```
    pub fn child_token(&self) -> CancellationToken {
        Self {
            node: self.node.family.child(self.node.key),
        }
    }

    /// Cancels this token and all below it. Whoever waits is woken; a second time nothing happens.
    ///
    /// ```
    /// let stop = blitz_sync::CancellationToken::new();
    /// let child = stop.child_token();
    /// stop.cancel();
    /// assert!(child.is_cancelled());
    /// ```
    pub fn cancel(&self) {
        let Some(key) = self.node.key else {
            return;
        };
        if self.is_cancelled() {
            return;
        }
        for member in self.node.family.cancel(key) {
            member.notify.notify_waiters();
        }
    }

    /// Whether it is cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.node.is_cancelled()
    }

    /// Waits until it is cancelled.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    ///
    /// ```
    /// let stop = blitz_sync::CancellationToken::new();
    /// let other = stop.clone();
    /// let thread = std::thread::spawn(move || blitz_sync::block_on(other.cancelled()));
    /// stop.cancel();
    /// thread.join().unwrap();
    /// ```
    pub fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        WaitForCancellationFuture {
            wait: Wait::new(Of(&*self.node)),
        }
    }

    /// As [`cancelled`](Self::cancelled), for a future that owns the token.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// let token = blitz_sync::CancellationToken::new();
    /// let stopped = token.clone().cancelled_owned(); // may go to another task
    /// token.cancel();
    /// stopped.await;
    /// # });
    /// ```
    pub fn cancelled_owned(self) -> WaitForCancellationFutureOwned {
        WaitForCancellationFutureOwned {
            wait: Wait::new(Of(Arc::clone(&self.node))),
        }
    }

    /// Runs `future` until it is through, or the token is cancelled: then it is dropped, and there is no output. With a token that is cancelled
    /// already it is not even begun.
    ///
    /// ```
    /// # blitz_sync::block_on(async {
    /// let token = blitz_sync::CancellationToken::new();
    /// assert_eq!(token.run_until_cancelled(async { 7 }).await, Some(7));
    /// token.cancel();
    /// assert_eq!(token.run_until_cancelled(std::future::pending::<()>()).await, None);
    /// # });
    /// ```
    pub async fn run_until_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        if self.is_cancelled() {
            return None;
        }
        let (mut cancelled, mut future) = (pin!(self.cancelled()), pin!(future));
        std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => cancelled.as_mut().poll(cx).map(|()| None),
        })
        .await
    }

    /// As [`run_until_cancelled`](Self::run_until_cancelled), for a future that owns the token.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// let token = blitz_sync::CancellationToken::new();
    /// let running = token.clone().run_until_cancelled_owned(async { 42 });
    /// assert_eq!(running.await, Some(42));
    /// token.cancel();
    /// assert_eq!(token.run_until_cancelled_owned(std::future::pending::<u32>()).await, None);
    /// # });
    /// ```
    pub async fn run_until_cancelled_owned<F: Future>(self, future: F) -> Option<F::Output> {
        self.run_until_cancelled(future).await
    }

    /// A guard that cancels the token when it is dropped.
    ///
    /// ```
    /// let token = blitz_sync::CancellationToken::new();
    /// let guard = token.clone().drop_guard();
    /// assert!(!token.is_cancelled());
    /// drop(guard);
    /// assert!(token.is_cancelled());
    /// ```
    pub fn drop_guard(self) -> DropGuard {
        DropGuard { token: Some(self) }
    }

    /// As [`drop_guard`](Self::drop_guard), for a guard that borrows the token.
    ///
    /// ```
    /// let token = blitz_sync::CancellationToken::new();
    /// drop(token.drop_guard_ref());
    /// assert!(token.is_cancelled());
    /// ```
    pub fn drop_guard_ref(&self) -> DropGuardRef<'_> {
        DropGuardRef { token: Some(self) }
    }
}

impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken")
            .field("is_cancelled", &self.is_cancelled())
            .finish()
    }
}

/// Somebody has this node, and waits for its notification.
struct Of<R>(R);

impl<R: Deref<Target = Member>> Deref for Of<R> {
    type Target = Notify;

    fn deref(&self) -> &Notify {
        &self.0.notify
    }
}

/// Waits for the cancellation of a token; see [`CancellationToken::cancelled`].
#[must_use = "futures do nothing unless polled"]
pub struct WaitForCancellationFuture<'a> {
    wait: Wait<Of<&'a Member>>,
}

/// As [`WaitForCancellationFuture`], without a lifetime: it owns the token.
#[must_use = "futures do nothing unless polled"]
pub struct WaitForCancellationFutureOwned {
    wait: Wait<Of<Arc<Member>>>,
}

/// What both kinds of futures can do. They do not ask the task's budget: whoever is cancelled is to hear of it also if it has used that up.
macro_rules! cancellation {
    ($future:ty) => {
        impl Future for $future {
            type Output = ();

            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                if self.wait.notify().0.is_cancelled() {
                    return Poll::Ready(());
                }
                // SAFETY: pinned with the whole.
                unsafe { self.map_unchecked_mut(|this| &mut this.wait) }.poll(cx.waker())
            }
        }

        impl fmt::Debug for $future {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($future))
            }
        }
    };
}
cancellation!(WaitForCancellationFuture<'_>);
cancellation!(WaitForCancellationFutureOwned);

/// Cancels a token when it is dropped; see [`CancellationToken::drop_guard`].
///
/// ```
/// use blitz_sync::CancellationToken;
///
/// let token = CancellationToken::new();
/// {
///     let _guard = token.clone().drop_guard();
///     // Whoever leaves here, by `?` or by a panic, stops the rest.
/// }
/// assert!(token.is_cancelled());
/// ```
#[must_use = "the token is cancelled as soon as this is dropped"]
#[derive(Debug)]
pub struct DropGuard {
    token: Option<CancellationToken>,
}

/// As [`DropGuard`], borrowing its token; see [`CancellationToken::drop_guard_ref`].
///
/// ```
/// let token = blitz_sync::CancellationToken::new();
/// let guard = token.drop_guard_ref();
/// assert!(!guard.disarm().is_cancelled()); // all went well
/// ```
#[must_use = "the token is cancelled as soon as this is dropped"]
#[derive(Debug)]
pub struct DropGuardRef<'a> {
    token: Option<&'a CancellationToken>,
}

impl DropGuard {
    /// The token, which is not cancelled after all.
    ///
    /// ```
    /// let stop = blitz_sync::CancellationToken::new();
    /// let guard = stop.clone().drop_guard();
    /// guard.disarm();
    /// assert!(!stop.is_cancelled());
    /// ```
    pub fn disarm(mut self) -> CancellationToken {
        self.token.take().expect("there until it is disarmed")
    }
}

impl<'a> DropGuardRef<'a> {
    /// The token, which is not cancelled after all.
    pub fn disarm(mut self) -> &'a CancellationToken {
        self.token.take().expect("there until it is disarmed")
    }
}

impl Drop for DropGuard {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            token.cancel();
        }
    }
}

impl Drop for DropGuardRef<'_> {
    fn drop(&mut self) {
        if let Some(token) = self.token {
            token.cancel();
        }
    }
}
