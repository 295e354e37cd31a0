//! What work inherits from whoever started it: values, a [token](crate::CancelToken) that stops it.
//!
//! A thread has one word, a pointer to something `Provided` or null. That is in the frame of whoever provides it, for the time of a call, and never changes. It leads to a `Node`, on which everything
//! hangs that a piece of work inherits. A node has everything that was in force before it, too, so no chains of them can grow, however often
//! tasks that inherit something provide more and spawn others.
//!
//! Computations of a companion's tasks have a token each that mostly nobody asks for. Their frames have an `OwnToken` instead of a node, which is made when somebody asks: a loop, say.
//!
//! # How it gets to other threads
//! * **Forks, parts of loops, whatever the owner waits for.** A fork says nothing of all this: `join` is as it was. But providing a value begins a
//!   context (a `ValueContext`, in the frame of the call), as a loop does, and a stolen fork knows the context that it was made in. So
//!   a thief looks for the nearest such context among the ancestors (`arrive`). The frames it finds there wait for it, so what they point to is alive.
//! * **Tasks**, which may outlive the call, take a share of the node along (`Captured`) if there is one.
//! * **Threads without a seat** that get one, or hand their work over to a thread that has one, take the word along (`Word`).
//!
//! # What it costs if nobody uses it
//! `join`: nothing. A task: a look at the thread's word, which is null, and one word more to carry. A theft: a look at a flag that says that nobody has ever
//! provided anything. A loop: a look at the thread's word between two blocks.

use crate::cancel::{
    CancelToken, Cancelled, Catching, can_unwind, is_in_destructor, look_at_floor, uncancelled,
    unwind,
};
use crate::context::{Context, ValueContext, provided_to};
use crate::join_stack::Began;
use crate::priority::{Priority, step_aside};
use crate::seat::{self, Seat};
use crate::sync::locks::OnceLock;
use crossbeam_utils::CachePadded;
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Somebody has provided something, ever. Whoever finds work that inherits has received it through a queue or a lock, and with it this.
static IN_USE: CachePadded<AtomicBool> = CachePadded::new(AtomicBool::new(false));

thread_local! {
    static WORD: Cell<*const Provided<'static>> = const { Cell::new(ptr::null()) };
}

/// See the module's documentation.
#[derive(Clone, Default)]
pub(crate) struct Node {
    /// What stops the work, if anything may.
    token: Option<CancelToken>,
    /// What stops detached tasks that the work spawns.
    tasks_token: Option<CancelToken>,
    priority: Priority,
    /// Each with the [`Inherited`] that it is for, by its address.
    values: Vec<(usize, Value)>,
    /// The span that the work is in.
    span: Span,
}

type Value = Arc<dyn Any + Send + Sync>;

/// Without the feature, there are no spans, and nothing of this remains.
#[cfg(not(feature = "tracing"))]
mod span {
    #[derive(Clone, Default)]
    pub(super) struct Span;
    pub(super) struct Entered;

    impl Span {
        pub(super) fn enter(&self) -> Entered {
            Entered
        }
    }

    impl Entered {
        pub(super) fn here() -> Self {
            Entered
        }
    }
}

#[cfg(feature = "tracing")]
mod span {
    #[derive(Clone, Default)]
    pub(super) struct Span(pub(super) Option<tracing::Span>);
    pub(super) struct Entered(#[expect(dead_code)] Option<tracing::span::EnteredSpan>);

    impl Span {
        pub(super) fn enter(&self) -> Entered {
            Entered(self.0.clone().map(tracing::Span::entered))
        }
    }

    impl Entered {
        /// The span of what the calling thread has just begun to run.
        pub(super) fn here() -> Self {
            let node = super::current().and_then(super::Provided::without_own_token);
            node.map_or(Entered(None), |node| node.span.enter())
        }
    }
}

use span::{Entered, Span};

impl Node {
    /// Nothing but what the calling code has inherited itself.
    fn here() -> Self {
        current().map_or_else(Self::default, |all| Node::clone(all.node()))
    }

    fn with_value(key: usize, value: Value) -> Arc<Self> {
        let mut node = Self::here();
        match node.values.iter_mut().find(|(of, _)| *of == key) {
            Some((_, place)) => *place = value,
            None => node.values.push((key, value)),
        }
        Arc::new(node)
    }

    /// For work of this priority.
    pub(crate) fn with_priority(priority: Priority) -> Arc<Self> {
        Arc::new(Node {
            priority,
            ..Self::here()
        })
    }

    /// For work that only this token stops; `None`: nothing does.
    pub(crate) fn with_token(token: Option<CancelToken>) -> Arc<Self> {
        Arc::new(Node {
            token: token.clone(),
            tasks_token: token,
            ..Self::here()
        })
    }

    /// Runs `work`, which inherits this.
    pub(crate) fn provide<R>(self: &Arc<Self>, work: impl FnOnce() -> R) -> R {
        Provided::Node(self).to(work)
    }
}

/// What the thread's word points to.
pub(crate) enum Provided<'a> {
    Node(&'a Arc<Node>),
    Token(OwnToken<'a>),
}

/// A token that stops the work, but not the detached tasks that it spawns. It is made when somebody first asks for it, and a node with it.
pub(crate) struct OwnToken<'a> {
    /// `Sync`: thieves ask as well.
    make: &'a (dyn Fn() -> CancelToken + Sync),
    /// What was in force before.
    outer: *const Provided<'static>,
    node: OnceLock<Arc<Node>>,
}

impl OwnToken<'_> {
    fn outer(&self) -> Option<&Provided<'_>> {
        // SAFETY: whoever has set the word keeps what it points to until it sets it back, and this is provided inside of that.
        unsafe { self.outer.as_ref() }
    }

    #[cold]
    fn node(&self) -> &Arc<Node> {
        if let Some(node) = self.node.get() {
            return node;
        }
        // Threads that ask at the same time may make one each; the first one counts. Nothing is made while others wait, since a fork could leave them waiting.
        let outer = self.outer().map(|all| &**all.node());
        let token = (self.make)().beside(outer.and_then(|node| node.token.as_ref()));
        let node = Node {
            token: Some(token),
            ..outer.cloned().unwrap_or_default()
        };
        let _ = self.node.set(Arc::new(node));
        self.node.get().expect("just set")
    }
}

impl<'a> Provided<'a> {
    /// All of it.
    fn node(&self) -> &Arc<Node> {
        match self {
            Provided::Node(node) => node,
            Provided::Token(own) => own.node(),
        }
    }

    /// All but the work's own token, which need not be made for this.
    fn without_own_token(&self) -> Option<&Arc<Node>> {
        match self {
            Provided::Node(node) => Some(node),
            Provided::Token(own) => own.outer()?.without_own_token(),
        }
    }

    /// Is there a token?
    fn has_token(&self) -> bool {
        match self {
            Provided::Node(node) => node.token.is_some(),
            Provided::Token(_) => true,
        }
    }

    /// Provides it to `work`.
    #[inline(always)]
    fn to<R>(&self, work: impl FnOnce() -> R) -> R {
        let mut room = MaybeUninit::uninit();
        let _inside = Inside::begin(&mut room, seat::current(), self.as_word());
        work()
    }

    fn as_word(&self) -> *const Provided<'static> {
        ptr::from_ref(self).cast()
    }
}

/// See [`CancelToken::run_apart`].
#[inline(always)]
pub(crate) fn provide_token<R>(
    make: &(dyn Fn() -> CancelToken + Sync),
    work: impl FnOnce() -> R,
) -> R {
    let own = OwnToken {
        make,
        outer: WORD.get(),
        node: OnceLock::new(),
    };
    Provided::Token(own).to(work)
}

/// Runs `work` in a span (feature `tracing`).
///
/// Everything that is started in it is in the span as well, on whichever thread it runs: forks, parts of loops, and tasks, each for as long as it runs.
///
/// Code that enters spans by itself inside of that is as it was: those are the thread's.
///
/// ```
/// # #[cfg(feature = "tracing")] {
/// let request = tracing::info_span!("request", id = 7);
/// let (a, b) = blitz_core::in_span(request, || blitz_core::join(|| 1, || 2));
/// assert_eq!(a + b, 3);
/// # }
/// ```
#[cfg(feature = "tracing")]
pub fn in_span<R>(span: tracing::Span, work: impl FnOnce() -> R) -> R {
    let node = Arc::new(Node {
        span: Span(Some(span)),
        ..Node::here()
    });
    let _entered = node.span.enter();
    node.provide(work)
}

/// What the calling thread's word points to.
#[inline]
fn current<'a>() -> Option<&'a Provided<'a>> {
    // SAFETY: whoever has set the word keeps what it points to until it sets it back, and the reference is used in calls that return before that.
    unsafe { WORD.get().as_ref() }
}

/// The token of the code that the calling thread runs.
#[inline]
pub(crate) fn current_token<'a>() -> Option<&'a CancelToken> {
    let all = current()?;
    if is_in_destructor() {
        return None;
    }
    all.node().token.as_ref()
}

/// Is there a token, if only for what is not a destructor?
pub(crate) fn has_token() -> bool {
    current().is_some_and(Provided::has_token)
}

/// The priority of the code that the calling thread runs.
#[inline]
pub(crate) fn current_priority() -> Priority {
    let node = current().and_then(Provided::without_own_token);
    node.map_or(Priority::Latency, |node| node.priority)
}

/// The calling thread, the occupant of `seat`, is between two steps of something long. Does not unwind.
#[inline]
pub(crate) fn beat(seat: &Seat) {
    if current_priority() == Priority::Background {
        step_aside(seat);
    }
}

/// What was so before a call for whose time the word is set; in the frame of that call, where nothing is written if there is nothing to inherit.
struct Frame<'a> {
    context: ValueContext,
    before: *const Provided<'static>,
    seated: Cell<Option<(&'a Seat, *const Context, Began)>>,
}

/// The word is set, and set back on drop. So is the context, if there is a seat.
struct Inside<'a>(&'a Frame<'a>);

impl<'a> Inside<'a> {
    /// The calling thread runs what inherits all of this, which stays alive until this is gone. `seat` is the thread's.
    #[cold]
    #[inline(never)]
    fn begin(
        room: &'a mut MaybeUninit<Frame<'a>>,
        seat: Option<&'a Seat>,
        all: *const Provided<'static>,
    ) -> Self {
        // Before anybody can find the work that inherits it.
        if !is_in_use() {
            IN_USE.store(true, Ordering::Relaxed);
        }
        let frame: &'a Frame<'a> = room.write(Frame {
            context: ValueContext::room(),
            before: WORD.replace(all),
            seated: Cell::new(None),
        });
        frame.seated.set(seat.map(|seat| {
            frame.context.set(seat.context(), all);
            // SAFETY: the caller occupies the seat, and ends this where it began.
            let (outer, began) = unsafe { seat.begin_below(frame.context.context()) };
            (seat, outer, began)
        }));
        Inside(frame)
    }

    #[cold]
    #[inline(never)]
    fn end(&self) {
        if let Some((seat, outer, began)) = self.0.seated.get() {
            // SAFETY: the caller still occupies the seat; what was forked meanwhile has been taken back.
            unsafe { seat.end_below(outer, began) };
        }
        WORD.set(self.0.before);
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}

// ---- to other threads ---------------------------------------------------------------------------

/// What the thread's word was.
#[must_use = "it has to be set back"]
pub(crate) struct Arrived<'a> {
    before: *const Provided<'static>,
    _span: Entered,
    _catching: Catching<'a>,
}

/// Has anybody ever provided anything? If not, there is nothing to arrive with.
#[inline]
pub(crate) fn is_in_use() -> bool {
    // Relaxed: see there.
    IN_USE.load(Ordering::Relaxed)
}

/// The calling thread, the occupant of `seat`, is about to run work in `context`, away from the frame that made it: it inherits what that did. The work does not unwind.
///
/// # Safety
/// The context belongs to unfinished work, which stays unfinished until [`Arrived::leave`].
#[inline]
pub(crate) unsafe fn arrive(seat: &Seat, context: *const Context) -> Arrived<'_> {
    // SAFETY: passed on.
    let before = WORD.replace(unsafe { provided_to(context) });
    Arrived {
        before,
        _span: Entered::here(),
        _catching: Catching::in_seat(Some(seat)),
    }
}

impl Arrived<'_> {
    /// The work is through.
    #[inline]
    pub(crate) fn leave(self) {
        WORD.set(self.before);
    }
}

/// The word of a thread that waits for work that it has handed over, or runs in a seat that it has just taken.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    all: *const Provided<'static>,
    /// The thread is in a destructor that an unwinding has called: nothing stops what that starts.
    in_destructor: bool,
}

// SAFETY: what is provided is made for sharing, and the thread it came from waits.
unsafe impl Send for Word {}
// SAFETY: as above.
unsafe impl Sync for Word {}

impl Word {
    #[inline]
    pub(crate) fn here() -> Self {
        let all = WORD.get();
        Word {
            all,
            in_destructor: !all.is_null() && is_in_destructor(),
        }
    }

    /// Runs `work` in `seat`.
    ///
    /// # Safety
    /// The caller occupies the seat. The thread that the word is from does not go on before this is over.
    #[inline]
    pub(crate) unsafe fn run<R>(self, seat: &Seat, work: impl FnOnce() -> R) -> R {
        let mut room = MaybeUninit::uninit();
        let inside = (!self.all.is_null()).then(|| Inside::begin(&mut room, Some(seat), self.all));
        let _span = inside.as_ref().map(|_| Entered::here());
        if self.in_destructor {
            return uncancelled(work);
        }
        work()
    }
}

/// A share of what the calling code has inherited, for a task that it starts.
#[doc(hidden)]
#[derive(Clone, Default)]
pub struct Captured(Option<Arc<Node>>);

impl Captured {
    /// For a detached task.
    #[inline]
    pub fn for_detached() -> Self {
        match current() {
            None => Captured(None),
            Some(all) => Self::share(all.without_own_token()).without_own_token(),
        }
    }

    #[cold]
    fn without_own_token(self) -> Self {
        let Some(node) = &self.0 else { return self };
        match (&node.token, &node.tasks_token) {
            (Some(own), other) if !other.as_ref().is_some_and(|other| other.is(own)) => {
                Captured(Some(Arc::new(Node {
                    token: other.clone(),
                    ..Node::clone(node)
                })))
            }
            _ => self,
        }
    }

    /// That of the calling code, for a part of it.
    #[inline]
    pub fn here() -> Self {
        match current() {
            None => Captured(None),
            Some(all) => Self::share(Some(all.node())),
        }
    }

    #[cold]
    fn share(node: Option<&Arc<Node>>) -> Self {
        if node.is_some_and(|node| node.token.is_some()) && is_in_destructor() {
            return Captured(Some(Node::with_token(None)));
        }
        Captured(node.cloned())
    }

    /// The priority of a task with this.
    #[inline]
    pub fn priority(&self) -> Priority {
        self.0
            .as_ref()
            .map_or(Priority::Latency, |node| node.priority)
    }

    /// Is there nothing?
    #[inline]
    pub fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// Runs a task that inherits this; unwinds with [`Cancelled`] instead of beginning it if its token says so.
    #[inline]
    pub(crate) fn run_task<R>(self, task: impl FnOnce() -> R) -> R {
        if self.0.is_none() {
            // What most tasks do should not have to look at this again afterwards.
            return task();
        }
        self.run_inheriting(task)
    }

    #[cold]
    #[inline(never)]
    fn run_inheriting<R>(self, task: impl FnOnce() -> R) -> R {
        if let Some(token) = self.0.as_ref().and_then(|node| node.token.as_ref()) {
            token.begin_task();
        }
        self.run(task)
    }

    /// Is it a task's that should not begin, or go on?
    pub fn why_cancelled(&self) -> Option<Cancelled> {
        self.0.as_ref()?.token.as_ref()?.why()
    }

    /// Runs `work`, which inherits this.
    #[inline]
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        let Some(node) = &self.0 else { return work() };
        let _span = node.span.enter();
        node.provide(work)
    }
}

impl fmt::Debug for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Captured").field(&self.0.is_some()).finish()
    }
}

// ---- what users see -----------------------------------------------------------------------------

/// A value that work inherits from whoever started it: the request it belongs to, say, or a handle to where its log goes.
///
/// Like a thread-local, it is a `static`, and code that reads it need not be told where it is. Unlike one, it follows the work: whatever is forked, spawned or
/// handed over inside of [`set`](Self::set) reads the same value, on whichever thread it runs, and nobody else does. That goes for both halves of a
/// [`join`](crate::join()), for loops, tasks of scopes and detached ones, [`install`](crate::ThreadPool::install) and broadcasts; and for tasks and
/// computations of `blitz-io`.
///
/// [`set`](Self::set) allocates three times. Reading looks through the values that the code has inherited, of which there are few. A task that inherits something
/// costs two changes of a reference count; forks cost nothing, and neither does anything in programs that do not use this.
///
/// ```
/// use blitz_core::Inherited;
///
/// static REQUEST: Inherited<u64> = Inherited::new();
///
/// fn log(what: &str) -> String {
///     format!("request {:?}: {what}", REQUEST.get())
/// }
///
/// let (a, b) = REQUEST.set(7, || blitz_core::join(|| log("left"), || log("right")));
/// assert_eq!((&a[..], &b[..]), ("request Some(7): left", "request Some(7): right"));
/// assert_eq!(REQUEST.get(), None);
/// ```
pub struct Inherited<T> {
    /// Statics that take room have addresses of their own.
    _address: u8,
    _value: PhantomData<fn(T) -> T>,
}

impl<T: Send + Sync + 'static> Inherited<T> {
    /// A place for a value: a `static`.
    #[expect(
        clippy::new_without_default,
        reason = "it is made for statics, where `default` cannot be called"
    )]
    pub const fn new() -> Self {
        Inherited {
            _address: 0,
            _value: PhantomData,
        }
    }

    fn key(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Runs `work`; it and everything that is started in it inherits `value`.
    ///
    /// ```
    /// static DEPTH: blitz_core::Inherited<u32> = blitz_core::Inherited::new();
    /// let inner = DEPTH.set(1, || DEPTH.set(2, || DEPTH.get()));
    /// assert_eq!(inner, Some(2));
    /// ```
    pub fn set<R>(&self, value: T, work: impl FnOnce() -> R) -> R {
        Node::with_value(self.key(), Arc::new(value)).provide(work)
    }

    /// Calls `read` with the value, or with `None` outside of any [`set`](Self::set).
    ///
    /// ```
    /// static NAME: blitz_core::Inherited<String> = blitz_core::Inherited::new();
    /// let length = NAME.set("Ada".into(), || NAME.with(|name| name.map_or(0, |name| name.len())));
    /// assert_eq!(length, 3);
    /// ```
    pub fn with<R>(&self, read: impl FnOnce(Option<&T>) -> R) -> R {
        read(self.find())
    }

    /// A copy of the value.
    ///
    /// ```
    /// static LEVEL: blitz_core::Inherited<u8> = blitz_core::Inherited::new();
    /// assert_eq!(LEVEL.get(), None);
    /// ```
    pub fn get(&self) -> Option<T>
    where
        T: Clone,
    {
        self.find().cloned()
    }

    /// For callers that are done with it before they return.
    fn find<'a>(&self) -> Option<&'a T> {
        let key = self.key();
        let node = current()?.without_own_token()?;
        let (_, value) = node.values.iter().find(|(of, _)| *of == key)?;
        // A constant instead of a static may share its address with one of another type.
        value.downcast_ref()
    }
}

impl<T> fmt::Debug for Inherited<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inherited")
    }
}

/// Unwinds if the token of the calling code says so. One look at the thread's word if there is none.
#[inline]
pub(crate) fn checkpoint() {
    if !WORD.get().is_null() {
        look_at_token();
    }
}

#[cold]
fn look_at_token() {
    if let Some(seat) = seat::current() {
        beat(seat);
        look_at_floor(seat);
    }
    if let Some(why) = current_token().and_then(CancelToken::why) {
        unwind(why);
    }
}

/// Does the calling code inherit nothing at all, and so no token either?
#[inline]
pub fn inherits_nothing() -> bool {
    WORD.get().is_null()
}

/// Is there a token that may stop the calling code by unwinding, now or later?
pub fn may_be_stopped() -> bool {
    current_token().is_some() && can_unwind()
}
