//! What the engine does right now, for somebody who looks at it while it runs: the page of `blitz-console`.
//!
//! Most of it is in the engine anyway: who sits in a seat, who is parked, what is queued, what has been counted. That is read, from another thread, with
//! plain loads; nobody pays for it. What is not there anyway is kept here:
//! * the list of pools;
//! * per seat, the thread's number in the system, and the **site** that its occupant works for: the line of the user's that began a loop or the outermost
//!   join. Whoever takes a fork works for its victim's site;
//! * per site, calls, items and time.
//!
//! # What it costs
//! Without the cargo feature `console`: nothing, all of this is empty (`off.rs`). With it, and nobody looking ([`look`]): a load at each call of a loop, each
//! outermost join and each theft, none on the way of other forks. Sites are kept only while somebody looks.

use crate::clock::ticks;
use crate::join_stack::Pushed;
use crate::pool::Pool;
pub use crate::process_fork::ForkLock;
use crate::seat::{self, Seat};
use crate::site::Site;
use crate::stats::WorkerStats;
use crate::sync::AtomicU64;
use std::cell::Cell;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

// ---- who looks ------------------------------------------------------------------------------

static LOOKING: AtomicUsize = AtomicUsize::new(0);

/// Somebody looks, until it is dropped.
#[derive(Debug)]
pub struct Looking(());

/// From now on sites are recorded.
pub fn look() -> Looking {
    LOOKING.fetch_add(1, Ordering::Relaxed);
    Looking(())
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Does anybody look?
#[inline]
pub fn is_looked_at() -> bool {
    LOOKING.load(Ordering::Relaxed) > 0
}

// ---- who wants to begin with the first pool --------------------------------------------------

/// Called with the first pool or runtime; null: nobody wants that, or it has been called.
static AT_FIRST: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Has `call` called when the first pool or runtime begins, on the thread that makes it and in the middle of that: it is to be short. May be called before `main`.
pub fn at_first(call: fn()) {
    AT_FIRST.store(call as *mut (), Ordering::Release);
}

/// A pool or a runtime begins. The caller has no locks.
pub fn begins() {
    if !AT_FIRST.load(Ordering::Relaxed).is_null() {
        let call = AT_FIRST.swap(ptr::null_mut(), Ordering::Acquire);
        if !call.is_null() {
            // SAFETY: `at_first` has made it of one.
            let call = unsafe { std::mem::transmute::<*mut (), fn()>(call) };
            call();
        }
    }
}

// ---- sites ----------------------------------------------------------------------------------

/// Room for this many sites. Those that come later are counted together.
const SITES: usize = 4096;
/// Places that are tried for one: a program with too many does not search all of them at each call.
const TRIES: usize = 64;

static TABLE: [AtomicPtr<CallSite>; SITES] = [const { AtomicPtr::new(ptr::null_mut()) }; SITES];

/// Where all are counted that find no room.
static ELSEWHERE: CallSite = CallSite::new("many", Location::caller());

/// What a thief works for that has taken the fork of a join before that had noted its line: it is part of a call, but nobody knows of which.
static UNKNOWN: CallSite = CallSite::new("unknown", Location::caller());

/// A line of the program from which something is called, and how often and how long that has run while somebody looked.
#[derive(Debug)]
pub struct CallSite {
    /// What is called there: `"join"`, `"for_each"` …
    pub kind: &'static str,
    /// The line.
    pub location: &'static Location<'static>,
    calls: AtomicU64,
    items: AtomicU64,
    ticks: AtomicU64,
    longest: AtomicU64,
}

/// A site's numbers so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallNumbers {
    /// Calls that have ended.
    pub calls: u64,
    /// Items of all calls; 0 for what has none.
    pub items: u64,
    /// How long they took, from call to return, in ticks.
    pub ticks: u64,
    /// The longest of them, in ticks.
    pub longest: u64,
}

impl CallSite {
    const fn new(kind: &'static str, location: &'static Location<'static>) -> Self {
        CallSite {
            kind,
            location,
            calls: AtomicU64::new(0),
            items: AtomicU64::new(0),
            ticks: AtomicU64::new(0),
            longest: AtomicU64::new(0),
        }
    }

    /// The one of this line and kind. It is never freed; there are as many as the program has such lines.
    pub fn of(kind: &'static str, location: &'static Location<'static>) -> &'static Self {
        let address = ptr::from_ref(location) as u64 ^ (kind.as_ptr() as u64).rotate_left(32);
        let first = (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52) as usize;
        let mut fresh: Option<Box<CallSite>> = None;
        for entry in (0..TRIES).map(|offset| &TABLE[(first + offset) % SITES]) {
            // Acquire: what its maker wrote.
            let mut found = entry.load(Ordering::Acquire);
            if found.is_null() {
                let new = fresh.take();
                let new = new.unwrap_or_else(|| Box::new(CallSite::new(kind, location)));
                let new = Box::into_raw(new);
                match entry.compare_exchange(found, new, Ordering::AcqRel, Ordering::Acquire) {
                    // SAFETY: it is in the table now, and never freed.
                    Ok(_) => return unsafe { &*new },
                    Err(others) => {
                        found = others;
                        // SAFETY: nobody else has seen it.
                        fresh = Some(unsafe { Box::from_raw(new) });
                    }
                }
            }
            // SAFETY: what is in the table is never freed.
            let site = unsafe { &*found };
            if ptr::eq(site.location, location) && site.kind == kind {
                return site;
            }
        }
        &ELSEWHERE
    }

    /// Something called here has ended.
    fn add(&self, ticks: u64) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.ticks.fetch_add(ticks, Ordering::Relaxed);
        self.longest.fetch_max(ticks, Ordering::Relaxed);
    }

    /// What has been counted.
    pub fn numbers(&self) -> CallNumbers {
        CallNumbers {
            calls: self.calls.load(Ordering::Relaxed),
            items: self.items.load(Ordering::Relaxed),
            ticks: self.ticks.load(Ordering::Relaxed),
            longest: self.longest.load(Ordering::Relaxed),
        }
    }
}

/// All sites that have been called while somebody looked.
pub fn sites() -> impl Iterator<Item = &'static CallSite> {
    let known = TABLE.iter().filter_map(|entry| {
        // SAFETY: what is in the table is never freed.
        unsafe { entry.load(Ordering::Acquire).as_ref() }
    });
    known.chain(std::iter::once(&ELSEWHERE))
}

thread_local! {
    /// The site that this thread works for, also while it sits nowhere.
    static HERE: Cell<*const CallSite> = const { Cell::new(ptr::null()) };
    /// Nobody has said yet how many items the call has that this thread has begun.
    static ASKS_FOR_ITEMS: Cell<bool> = const { Cell::new(false) };
}

/// Makes `site` the one that this thread works for, and returns the one before.
fn work_for(site: *const CallSite) -> *const CallSite {
    if let Some(seat) = seat::current() {
        seat.watched.site.store(site.cast_mut(), Ordering::Relaxed);
    }
    HERE.replace(site)
}

/// A call from a site, until it is dropped.
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct Call(Option<Begun>);

/// The join that the occupant of a seat is in, if it is recorded.
#[derive(Clone, Copy, Debug)]
struct Outermost {
    depth: usize,
    begun: Begun,
}

#[derive(Clone, Copy, Debug)]
struct Begun {
    site: &'static CallSite,
    start: u64,
    before: *const CallSite,
    before_asks: bool,
}

impl Call {
    /// Not one that is recorded.
    pub(crate) const NONE: Self = Call(None);
}

/// A loop, a sort or the like begins, which was called from there. Nothing, if nobody looks, or if it is a step of
/// another one: `max` is made of `reduce_with`, say, and hands its caller on.
#[inline]
pub(crate) fn call(kind: &'static str, site: Site) -> Call {
    if !is_looked_at() || is_step(kind, site.location()) {
        return Call::NONE;
    }
    Call(Some(begin(kind, site.location())))
}

/// Has the calling thread begun a call from that place, and nothing of its loop yet? Later it would be the user's code that calls itself.
#[cold]
fn is_step(kind: &'static str, location: &'static Location<'static>) -> bool {
    if !ASKS_FOR_ITEMS.get() {
        return false;
    }
    // SAFETY: sites are never freed.
    let here = unsafe { HERE.get().as_ref() };
    here.is_some_and(|here| ptr::eq(here.location, location) && here.kind == kind)
}

/// Who has called `join`: a line of the user's, or one of ours.
#[derive(Clone, Copy)]
pub(crate) struct Called(Option<Site>);

impl Called {
    pub(crate) const BY_US: Self = Called(None);

    #[inline(always)]
    pub(crate) fn at(site: Site) -> Self {
        Called(Some(site))
    }
}

/// A fork has become public. If it is that of an outermost join, and somebody looks, the join is recorded until [`ending_join`]. Only such forks come here: no other
/// one pays.
pub(crate) fn join_begins(seat: &Seat, pushed: Pushed, called: Called) {
    let Called(Some(site)) = called else { return };
    if pushed != Pushed::Public || !is_looked_at() || !HERE.get().is_null() {
        return;
    }
    let begun = begin("join", site.location());
    let outermost = Outermost {
        depth: seat.stack.depth(),
        begun,
    };
    seat.watched.join.set(Some(outermost));
}

/// The fork at this depth has been taken back, or its join waits for a thief, or is left by a panic: if it is recorded, it ends when what is returned is dropped. What the
/// right half forks is at the same depth, and no business of this join's.
#[inline]
pub(crate) fn ending_join(seat: &Seat, depth: usize) -> Call {
    match seat.watched.join.get() {
        Some(outermost) if outermost.depth == depth => {
            seat.watched.join.set(None);
            Call(Some(outermost.begun))
        }
        _ => Call::NONE,
    }
}

#[cold]
fn begin(kind: &'static str, location: &'static Location<'static>) -> Begun {
    let site = CallSite::of(kind, location);
    Begun {
        site,
        before: work_for(site),
        before_asks: ASKS_FOR_ITEMS.replace(true),
        start: ticks(),
    }
}

/// A loop over so many items begins: if it is the first one of a call, these are the call's.
#[inline]
pub fn items(items: usize) {
    if is_looked_at() {
        add_items(items);
    }
}

#[cold]
fn add_items(items: usize) {
    // SAFETY: sites are never freed.
    if let (true, Some(site)) = (ASKS_FOR_ITEMS.replace(false), unsafe {
        HERE.get().as_ref()
    }) {
        site.items.fetch_add(items as u64, Ordering::Relaxed);
    }
}

impl Drop for Call {
    #[inline]
    fn drop(&mut self) {
        if let Some(begun) = self.0.take() {
            begun.end();
        }
    }
}

impl Begun {
    #[cold]
    fn end(self) {
        self.site.add(ticks().saturating_sub(self.start));
        ASKS_FOR_ITEMS.set(self.before_asks);
        work_for(self.before);
    }
}

/// What a call works for, on its way to another thread.
#[derive(Clone, Copy)]
pub(crate) struct Carried(*const CallSite);

// SAFETY: sites are shared by all threads, and never freed.
unsafe impl Send for Carried {}

impl Carried {
    /// The calling thread's.
    #[inline]
    pub(crate) fn away() -> Self {
        Carried(HERE.get())
    }

    /// Goes on with it on another thread.
    #[inline]
    pub(crate) fn run<R>(self, work: impl FnOnce() -> R) -> R {
        /// Also if the work panics.
        struct Back(*const CallSite);
        impl Drop for Back {
            fn drop(&mut self) {
                work_for(self.0);
            }
        }
        let _back = (!self.0.is_null()).then(|| Back(work_for(self.0)));
        work()
    }
}

/// What is put back when somebody else's work has been run.
pub(crate) struct Adopted(Option<*const CallSite>);

/// The calling thread, in `seat`, runs something of `victim`'s, for that one's site.
#[inline]
pub(crate) fn adopt(victim: &Seat) -> Adopted {
    Adopted(is_looked_at().then(|| {
        let site = victim.watched.site.load(Ordering::Relaxed).cast_const();
        work_for(if site.is_null() {
            &raw const UNKNOWN
        } else {
            site
        })
    }))
}

impl Adopted {
    /// It has been run. What is run does not unwind.
    #[inline]
    pub(crate) fn end(self) {
        if let Some(before) = self.0 {
            work_for(before);
        }
    }
}

// ---- seats and pools ------------------------------------------------------------------------

/// What a seat keeps for those who look.
#[derive(Debug, Default)]
pub(crate) struct OfSeat {
    site: AtomicPtr<CallSite>,
    thread: AtomicU32,
    /// The occupant's.
    join: Cell<Option<Outermost>>,
}

impl OfSeat {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The thread of the seat begins.
    pub(crate) fn thread_begins(&self) {
        self.thread.store(thread_number(), Ordering::Relaxed);
    }

    /// A guest sits down, or leaves.
    #[inline]
    pub(crate) fn guest(&self, comes: bool) {
        let site = if comes { HERE.get() } else { ptr::null() };
        self.site.store(site.cast_mut(), Ordering::Relaxed);
    }
}

/// By which the system knows the calling thread; 0 where it has no such number.
pub fn thread_number() -> u32 {
    #[cfg(target_os = "linux")]
    // SAFETY: a system call without arguments.
    return u32::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).unwrap_or(0);
    #[cfg(not(target_os = "linux"))]
    0
}

/// What a pool keeps for those who look.
#[derive(Debug)]
pub(crate) struct OfPool {
    number: usize,
    injected: AtomicU64,
}

static POOLS: ForkLock<Vec<Weak<Pool>>> = ForkLock::new(Vec::new());

impl OfPool {
    pub(crate) fn new() -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        OfPool {
            number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            injected: AtomicU64::new(0),
        }
    }

    /// See [`PoolView::key`].
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// A pool begins.
    pub(crate) fn begins(pool: &Arc<Pool>) {
        begins();
        let mut pools = POOLS.lock();
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(pool));
    }

    /// A task has come from outside.
    pub(crate) fn injected(&self) {
        self.injected.fetch_add(1, Ordering::Relaxed);
    }
}

/// What the thread of a seat does, or whoever sits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It runs something.
    Running,
    /// It looks for something to run.
    Searching,
    /// It sleeps for want of work, on a futex or in a companion.
    Sleeping,
    /// An outside thread sits there and runs something.
    Guest,
    /// It runs something that waits for others, and has nothing to help them with.
    Blocked,
}

/// A pool, to be looked at.
#[derive(Clone)]
pub struct PoolView(Arc<Pool>);

impl std::fmt::Debug for PoolView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PoolView").finish_non_exhaustive()
    }
}

/// All pools of this process, the oldest first.
pub fn pools() -> Vec<PoolView> {
    let pools: Vec<Arc<Pool>> = POOLS.lock().iter().filter_map(Weak::upgrade).collect();
    let alive = pools.into_iter().filter(|pool| !pool.is_over());
    alive.map(PoolView).collect()
}

impl PoolView {
    /// The pool's number, which no other one of this process has: a later one may be where this one was.
    pub fn key(&self) -> usize {
        self.0.watched.number()
    }

    /// Is it the global pool?
    pub fn is_global(&self) -> bool {
        self.0.global
    }

    /// How many threads it has.
    pub fn num_threads(&self) -> usize {
        self.0.num_threads()
    }

    /// What happens in the seat with this index, below the number of threads.
    pub fn doing(&self, index: usize) -> Doing {
        let seat = &self.0.seats[index];
        if seat.waiter.is_marked() || seat.waiter.is_parked_beside() {
            return Doing::Blocked;
        }
        seat.occupancy.doing()
    }

    /// The number by which the system knows its thread.
    pub fn thread(&self, index: usize) -> Option<u32> {
        let thread = self.0.seats[index].watched.thread.load(Ordering::Relaxed);
        (thread != 0).then_some(thread)
    }

    /// The site that its occupant works for, if it is known.
    pub fn site(&self, index: usize) -> Option<&'static CallSite> {
        let site = self.0.seats[index].watched.site.load(Ordering::Relaxed);
        // SAFETY: sites are never freed.
        let site = unsafe { site.as_ref() };
        site.filter(|site| !ptr::eq(*site, &raw const UNKNOWN))
    }

    /// What has been counted in it.
    pub fn stats(&self, index: usize) -> WorkerStats {
        self.0.seats[index].stats.read()
    }

    /// Tasks on its deque that nobody has begun.
    pub fn tasks_waiting(&self, index: usize) -> usize {
        self.0.seats[index].stealer().len()
    }

    /// Has it forks that others may take, or may ask for?
    pub fn has_forks(&self, index: usize) -> bool {
        let thief = self.0.seats[index].stack.thief();
        thief.sees_work() || thief.sees_private()
    }

    /// Tasks in the shared queue.
    pub fn queued(&self) -> usize {
        self.0.injected()
    }

    /// Tasks that have come from outside so far.
    pub fn injected(&self) -> u64 {
        self.0.watched.injected.load(Ordering::Relaxed)
    }

    /// Seats beside those of the threads: for rescue threads, and whoever else works for the pool without a seat of its own.
    pub fn extra_seats(&self) -> usize {
        self.0.extra.seats().count()
    }

    /// What its seats and the tasks in them take, about.
    pub fn memory(&self) -> usize {
        let seats = self.num_threads() + self.extra_seats();
        let queued: usize = (0..self.num_threads())
            .map(|index| self.tasks_waiting(index))
            .sum();
        seats * size_of::<Seat>() + (queued + self.queued()) * 64
    }
}

/// Memory for spawned tasks of all pools, in bytes.
pub fn arena_memory() -> usize {
    crate::arena::in_use()
}
