//! Tasks that stay on one thread, for futures that are not `Send`.

use super::cell::{Queued, Schedule, Task};
use super::inheriting;
use super::join_handle::JoinHandle;
use super::on_heap_if_large;
use crate::context;
use crate::place::Place;
use crate::primitives::ignore_poison;
use crate::runtime::{Id, Identity, Runtime};
use crate::scheduler::Owned;
use crate::waker_place::leave;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::thread::ThreadId;

/// Tasks polled before the thread's other business gets its turn.
const TASKS_PER_POLL: usize = 61;

/// A set of tasks that run where the set is polled, one at a time, so they need not be `Send`.
///
/// ```
/// use std::rc::Rc;
/// let runtime = blitz_io::Runtime::new().unwrap();
/// let local = blitz_io::task::LocalSet::new();
/// let length = runtime.block_on(local.run_until(async {
///     let text = Rc::new("not Send".to_owned());
///     let theirs = Rc::clone(&text);
///     blitz_io::task::spawn_local(async move { theirs.len() }).await.unwrap()
/// }));
/// assert_eq!(length, 8);
/// ```
pub struct LocalSet {
    shared: Arc<LocalShared>,
    identity: Identity,
    /// The set stays on its thread.
    not_send: PhantomData<Rc<()>>,
}

struct LocalShared {
    queue: Mutex<LocalQueue>,
    owned: Owned,
}

#[derive(Default)]
struct LocalQueue {
    ready: VecDeque<Queued>,
    waker: Option<Waker>,
    closed: bool,
}

thread_local! {
    /// Guards empty it again. Without a destructor of its own, it is there for those of other thread-locals.
    static CURRENT: ManuallyDrop<RefCell<Option<Arc<LocalShared>>>> =
        const { ManuallyDrop::new(RefCell::new(None)) };
}

impl LocalShared {
    fn queue(&self) -> MutexGuard<'_, LocalQueue> {
        ignore_poison(self.queue.lock())
    }

    fn push(&self, task: Queued) {
        let waker = {
            let mut queue = self.queue();
            if queue.closed {
                // The set is gone and has dropped the future.
                drop(queue);
                drop(task);
                return;
            }
            queue.ready.push_back(task);
            queue.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Schedule for Arc<LocalShared> {
    fn schedule(&self, task: Queued) {
        self.push(task);
    }

    fn schedule_again(&self, task: Queued) {
        self.push(task);
    }

    fn release(&self, task: &Task) -> bool {
        self.owned.remove(task)
    }

    /// In a profile, they follow each other.
    #[cfg(not(loom))]
    #[inline]
    fn poll<R>(&self, poll: impl FnOnce() -> R) -> R {
        blitz_core::companion::in_turn(poll)
    }
}

/// The set is the thread's current one until this is dropped; see [`LocalSet::enter`].
pub struct LocalEnterGuard {
    before: Option<Arc<LocalShared>>,
    not_send: PhantomData<Rc<()>>,
}

impl Drop for LocalEnterGuard {
    fn drop(&mut self) {
        CURRENT.with(|current| drop(current.replace(self.before.take())));
    }
}

impl fmt::Debug for LocalEnterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEnterGuard").finish()
    }
}

impl LocalSet {
    /// An empty set.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let set = blitz_io::task::LocalSet::new();
    /// assert_eq!(set.run_until(async { 42 }).await, 42);
    /// # });
    /// ```
    pub fn new() -> Self {
        LocalSet {
            shared: Arc::new(LocalShared {
                queue: Mutex::default(),
                owned: Owned::new(1),
            }),
            identity: Identity::new(None),
            not_send: PhantomData,
        }
    }

    /// For a `LocalRuntime`, whose set it is. To be called on the set's thread.
    pub(crate) fn tasks(&self) -> LocalTasks {
        LocalTasks {
            shared: Arc::clone(&self.shared),
            home: std::thread::current().id(),
        }
    }

    /// The set's number: no other set and no runtime has it.
    ///
    /// ```
    /// use blitz_io::task::LocalSet;
    ///
    /// assert_ne!(LocalSet::new().id(), LocalSet::new().id());
    /// ```
    pub fn id(&self) -> Id {
        self.identity.id()
    }

    /// Until the guard is dropped, [`spawn_local`] on this thread spawns into the set.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::task::{LocalSet, spawn_local};
    ///
    /// let set = LocalSet::new();
    /// let task = {
    ///     let _guard = set.enter();
    ///     spawn_local(async { 42 })
    /// };
    /// assert_eq!(set.run_until(task).await.unwrap(), 42);
    /// # });
    /// ```
    pub fn enter(&self) -> LocalEnterGuard {
        let ours = Some(Arc::clone(&self.shared));
        LocalEnterGuard {
            before: CURRENT.with(|current| current.replace(ours)),
            not_send: PhantomData,
        }
    }

    /// Runs a future, and the set's tasks meanwhile, in the runtime.
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// let (runtime, set) = (blitz_io::Runtime::new()?, blitz_io::task::LocalSet::new());
    /// let shared = Rc::new(42);
    /// assert_eq!(set.block_on(&runtime, async move { *shared }), 42);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn block_on<F>(&self, runtime: &Runtime, future: F) -> F::Output
    where
        F: Future,
    {
        runtime.block_on(self.run_until(future))
    }

    /// Spawns a task into the set. It runs while the set is polled.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use std::rc::Rc;
    ///
    /// let set = blitz_io::task::LocalSet::new();
    /// let shared = Rc::new(42);
    /// let task = set.spawn_local(async move { *shared });
    /// assert_eq!(set.run_until(task).await.unwrap(), 42);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let place = Place::here();
        on_heap_if_large!(future: F, spawn_into(place, &self.shared, future))
    }

    /// The same from somewhere else.
    pub(super) fn spawn_at<F>(&self, place: Place, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        spawn_into(place, &self.shared, future)
    }

    /// Runs the set's tasks until `future` is through, and returns its output. If the future is dropped, the tasks stay in the set.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::task::{LocalSet, spawn_local};
    /// use std::{cell::Cell, rc::Rc};
    ///
    /// let count = Rc::new(Cell::new(0));
    /// LocalSet::new().run_until(async {
    ///     let counter = Rc::clone(&count);
    ///     spawn_local(async move { counter.set(counter.get() + 1) }).await.unwrap();
    /// }).await;
    /// assert_eq!(count.get(), 1);
    /// # });
    /// ```
    pub async fn run_until<F>(&self, future: F) -> F::Output
    where
        F: Future,
    {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let _entered = self.enter();
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(output);
            }
            self.run_some(cx);
            Poll::Pending
        })
        .await
    }

    /// Runs ready tasks; sees to it that `cx` is woken for the next.
    fn run_some(&self, cx: &Context<'_>) {
        for _ in 0..TASKS_PER_POLL {
            let task = leave(cx.waker(), |waker| {
                let mut queue = self.shared.queue();
                match queue.ready.pop_front() {
                    Some(task) => Some(Some(task)),
                    None => waker.at(&mut queue.waker).map(|()| None),
                }
            });
            match task {
                Some(task) => task.run(),
                None => return,
            };
        }
        cx.waker().wake_by_ref();
    }
}

impl Default for LocalSet {
    fn default() -> Self {
        Self::new()
    }
}

/// A set is through when all of its tasks are.
impl Future for LocalSet {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _entered = self.enter();
        self.run_some(cx);
        if self.shared.owned.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl Drop for LocalSet {
    fn drop(&mut self) {
        let _entered = self.enter();
        // On the set's own thread: futures that are not `Send` are dropped where they lived.
        self.shared.owned.close_and_shut_down();
        // Tasks and wakers are somebody else's code: dropped without the lock.
        let rest = {
            let mut queue = self.shared.queue();
            queue.closed = true;
            (queue.waker.take(), std::mem::take(&mut queue.ready))
        };
        drop(rest);
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSet")
            .field("tasks", &self.shared.owned.len())
            .finish()
    }
}

fn spawn_into<F>(place: Place, shared: &Arc<LocalShared>, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    // SAFETY: the set polls and drops its tasks on its own thread only, and keeps each in its list until it is complete. A
    // handle to an output that is not `Send` is not `Send` either.
    let (listed, queued, handle) = unsafe { inheriting::new(place, future, Arc::clone(shared)) };
    if shared.owned.admit(listed, 0, 0) {
        shared.push(queued);
    }
    JoinHandle::new(handle)
}

/// A set's tasks, as others know them. It can be given to any thread, and used on the set's.
pub(crate) struct LocalTasks {
    shared: Arc<LocalShared>,
    home: ThreadId,
}

impl LocalTasks {
    pub(crate) fn len(&self) -> usize {
        self.shared.owned.len()
    }

    /// For the console.
    #[cfg(feature = "console")]
    pub(crate) fn look_at(&self, most: usize, show: &mut impl FnMut(crate::console::TaskView)) {
        self.shared.owned.look_at(most, show);
    }

    /// As above.
    #[cfg(feature = "console")]
    pub(crate) fn is_looked_at(&self, looked_at: bool) {
        self.shared.owned.is_looked_at(looked_at);
    }

    /// As above.
    #[cfg(feature = "console")]
    pub(crate) fn place_of(&self, task: usize) -> Option<Place> {
        self.shared.owned.place_of(task)
    }

    #[track_caller]
    fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        assert!(
            std::thread::current().id() == self.home,
            "Local tasks can only be spawned on a LocalRuntime from the thread the runtime was created on"
        );
        spawn_into(Place::here(), &self.shared, future)
    }
}

/// Spawns a task that need not be `Send` into the [`LocalSet`] that polls the caller, or else into the
/// [`LocalRuntime`](crate::runtime::LocalRuntime) that the thread is in.
///
/// # Panics
/// Outside of both.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use std::rc::Rc;
///
/// let shared = Rc::new(42);
/// let task = async { blitz_io::task::spawn_local(async move { *shared }).await };
/// assert_eq!(blitz_io::task::LocalSet::new().run_until(task).await.unwrap(), 42);
/// # });
/// ```
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    if let Some(shared) = CURRENT.with(|current| current.borrow().clone()) {
        let place = Place::here();
        return on_heap_if_large!(future: F, spawn_into(place, &shared, future));
    }
    let runtime = context::current();
    match runtime.as_ref().and_then(|runtime| runtime.local.get()) {
        Some(local) => local.spawn(future),
        None => panic!(
            "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`"
        ),
    }
}
