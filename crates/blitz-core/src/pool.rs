//! A pool: its seats, its queue for outsiders, its sleepers, and its end.
//!
//! This file holds the pool together; what threads *do* with it is elsewhere: searching and running in
//! [`crate::worker`], waiting in [`crate::wait`], the decision to wake somebody in [`crate::wake`],
//! taking part from outside in [`crate::guest`].

use crate::builder::available_cpus;
use crate::capacity::Capacity;
use crate::clock;
use crate::companion::{self, Companion};
use crate::console::OfPool;
use crate::context::{self, Context, TaskContext};
use crate::extra::ExtraSeats;
use crate::fork::{self, ThreadHandle};
use crate::life::Life;
use crate::placement::Placement;
use crate::priority::Relays;
use crate::rescue::{self, Rescue};
use crate::rows::Rows;
use crate::scope;
use crate::seat::{self, Seat};
use crate::shared_queue::SharedQueue;
use crate::sleep::Sleep;
use crate::stats::PoolStats;
use crate::sync::AtomicU64;
use crate::sync::locks::{Condvar, Mutex, OnceLock};
use crate::task::TaskRef;
use crate::thread_attributes::ThreadAttributes;
use crate::thread_latch::ThreadLatch;
use crate::trace::{self, Kind};
use crate::wait::{self, Awaited};
use crate::worker;
use blitz_primitives::{BackoffMode, FullPolicy, Parker, host};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;

/// What the user gave the builder to be called later.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) panic: Option<Box<PanicHandler>>,
    pub(crate) start: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) exit: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) steal: Option<Box<dyn Fn(usize, usize) + Send + Sync>>,
    pub(crate) park: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) unpark: Option<Box<dyn Fn(usize) + Send + Sync>>,
    pub(crate) deadlock: Option<Box<dyn Fn() + Send + Sync>>,
}

/// What a pool is made from.
pub(crate) struct Settings {
    pub(crate) threads: usize,
    pub(crate) backoff: BackoffMode,
    pub(crate) guests: bool,
    pub(crate) placement: Placement,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) attributes: ThreadAttributes,
    pub(crate) grain: usize,
    pub(crate) max_rescue_threads: usize,
    /// It is the global pool, or was until a child of this process got its own.
    pub(crate) global: bool,
    /// The most detached tasks that wait, and what happens to others.
    pub(crate) capacity: Option<(usize, FullPolicy)>,
    /// See [`Pool::resizable`].
    pub(crate) resizable: bool,
    /// See [`Pool::plain`].
    pub(crate) plain: bool,
}

/// See the module's documentation.
pub(crate) struct Pool {
    this: Weak<Pool>,
    /// The process that has its threads; see [`crate::fork`].
    pub(crate) generation: u64,
    /// It never ends.
    pub(crate) global: bool,
    /// Those of threads that have left are retired.
    pub(crate) seats: Rows<Seat>,
    /// How many threads there are to be.
    threads: AtomicUsize,
    /// Held while that changes, and while something is done for each thread.
    pub(crate) shape: Mutex<()>,
    /// The engine starts the threads, and may start more.
    pub(crate) resizable: bool,
    /// Nobody has asked for anything but a number of threads.
    pub(crate) plain: bool,
    /// Tasks from threads without a seat here, and tasks that a waiting thread had to put aside.
    queue: SharedQueue<TaskRef>,
    /// Background tasks, wherever they come from.
    background: SharedQueue<TaskRef>,
    pub(crate) relays: Relays,
    pub(crate) sleep: Sleep,
    /// There are more threads than CPUs.
    oversubscribed: AtomicBool,
    /// Occupants that are parked in a wait, or about to, or away.
    blocked: AtomicUsize,
    /// Orders announcements of waits and returns of tasks; see [`Pool::return_strangers`].
    announcements: Mutex<()>,
    pub(crate) rescue: Rescue,
    pub(crate) extra: ExtraSeats,
    /// A poster found threads asleep but guests in all of their seats.
    starved: AtomicBool,
    /// See [`Pool::found_blocked`].
    blocked_since: AtomicU64,
    /// Reasons to go on.
    life: Life,
    /// The threads are there. On Windows a pool is not before they are: its end may have to be waited for where no thread can begin, see [`crate::fork`].
    #[cfg(windows)]
    pub(crate) begun: Rows<ThreadLatch>,
    pub(crate) started: Rows<ThreadLatch>,
    pub(crate) stopped: Rows<ThreadLatch>,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) attributes: ThreadAttributes,
    pub(crate) backoff: BackoffMode,
    pub(crate) guests: bool,
    pub(crate) placement: Placement,
    /// See [`ThreadPoolBuilder::grain`](crate::ThreadPoolBuilder::grain).
    pub(crate) grain: usize,
    /// Nobody pays for it who has not asked for it.
    pub(crate) capacity: Option<Capacity>,
    idle: IdleWaiters,
    companion: companion::Slot,
    pub(crate) watched: OfPool,
    /// The thread that was there before the pool and is its first one, if any.
    pub(crate) adopted: OnceLock<ThreadId>,
    /// Of the threads that the user has not started.
    handles: Mutex<Vec<ThreadHandle>>,
}

/// Threads in `wait_idle`.
#[derive(Default)]
struct IdleWaiters {
    count: AtomicUsize,
    /// Detached tasks of which some part is inside `wait_idle`.
    excused: AtomicUsize,
    gate: Mutex<()>,
    changed: Condvar,
}

impl Pool {
    pub(crate) fn new(settings: Settings) -> Arc<Pool> {
        // Before any thread is the pool's.
        host::set(const { &companion::HOST });
        let threads = settings.threads;
        let pool = Arc::new_cyclic(|this: &Weak<Pool>| Pool {
            this: this.clone(),
            generation: fork::generation(),
            global: settings.global,
            seats: (0..threads)
                .map(|index| Seat::new(index, this.as_ptr()))
                .collect(),
            threads: AtomicUsize::new(threads),
            shape: Mutex::new(()),
            resizable: settings.resizable,
            plain: settings.plain,
            queue: SharedQueue::new(),
            background: SharedQueue::new(),
            relays: Relays::default(),
            sleep: Sleep::new(threads),
            oversubscribed: AtomicBool::new(threads > available_cpus()),
            blocked: AtomicUsize::new(0),
            announcements: Mutex::new(()),
            rescue: Rescue::new(settings.max_rescue_threads),
            extra: ExtraSeats::default(),
            starved: AtomicBool::new(false),
            blocked_since: AtomicU64::new(0),
            life: Life::new(),
            #[cfg(windows)]
            begun: (0..threads).map(|_| ThreadLatch::new()).collect(),
            started: (0..threads).map(|_| ThreadLatch::new()).collect(),
            stopped: (0..threads).map(|_| ThreadLatch::new()).collect(),
            handlers: settings.handlers,
            attributes: settings.attributes,
            backoff: settings.backoff,
            guests: settings.guests,
            placement: settings.placement,
            grain: settings.grain,
            capacity: settings.capacity.map(Capacity::new),
            idle: IdleWaiters::default(),
            companion: companion::Slot::new(),
            watched: OfPool::new(),
            adopted: OnceLock::new(),
            handles: Mutex::default(),
        });
        OfPool::begins(&pool);
        if pool.handlers.start.is_some() {
            // The start handler is user code in the seat: no guest before it has run.
            pool.seats.iter().for_each(|seat| seat.occupancy.take());
        }
        pool
    }

    /// A reference that keeps nothing.
    pub(crate) fn weak(&self) -> Weak<Pool> {
        self.this.clone()
    }

    /// A share of the pool. `None`: it is being freed.
    pub(crate) fn arc(&self) -> Option<Arc<Pool>> {
        self.this.upgrade()
    }

    #[inline]
    pub(crate) fn num_threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    /// The pool is to have so many threads. Everything is there that they need.
    pub(crate) fn set_target(&self, threads: usize) {
        self.sleep.resize(threads);
        let crowded = threads > available_cpus();
        self.oversubscribed.store(crowded, Ordering::Relaxed);
        self.threads.store(threads, Ordering::SeqCst);
    }

    /// Are there more threads than CPUs?
    #[inline]
    pub(crate) fn oversubscribed(&self) -> bool {
        self.oversubscribed.load(Ordering::Relaxed)
    }

    /// The seat that the calling thread occupies in this pool, if any.
    #[inline]
    pub(crate) fn current_seat(&self) -> Option<&Seat> {
        seat::current().filter(|seat| self.owns(seat))
    }

    #[inline]
    pub(crate) fn owns(&self, seat: &Seat) -> bool {
        std::ptr::eq(seat.pool(), self)
    }

    // ---- the companion ----------------------------------------------------------------------

    /// Gives the pool its companion, for life. `false`: it has one, or has been closed.
    pub(crate) fn attach(&self, companion: &Arc<dyn Companion>) -> bool {
        let interrupt = Arc::downgrade(companion);
        // First: a thread that sees the companion may sleep in it at once, and has to be got out of there.
        let first = self.sleep.set_interrupt(Box::new(move || {
            if let Some(companion) = interrupt.upgrade() {
                companion.interrupt();
            }
        }));
        if !first {
            return false;
        }
        let set = self.companion.set(Arc::downgrade(companion));
        debug_assert!(set.is_ok(), "whoever sets the interrupt sets the companion");
        if self.is_closed() {
            // Whoever has closed it may not have seen the companion.
            return false;
        }
        // Threads that sleep learn of it now; the others before they sleep.
        self.sleep.wake_all();
        true
    }

    /// The companion, if there is one and it has not ended.
    pub(crate) fn companion(&self) -> Option<Arc<dyn Companion>> {
        self.companion.get()?.upgrade()
    }

    // ---- posting work -----------------------------------------------------------------------

    /// Gives a task to the pool from a thread that has no seat in it.
    pub(crate) fn inject(&self, task: TaskRef) {
        let context = task.context();
        self.watched.injected();
        self.put_aside(task);
        // SAFETY: whoever injects a task keeps its context alive: it waits for it (install), is inside of
        // it (scope), or the context is static or held by the caller (spawn).
        unsafe { self.task_posted(context) };
        self.rescue_if_stuck();
    }

    /// Gives a background task to the pool.
    pub(crate) fn inject_behind(&self, task: TaskRef) {
        let context = task.context();
        self.background.push(task);
        // SAFETY: as for `inject`.
        unsafe { self.task_posted(context) };
        self.rescue_if_stuck();
    }

    /// Puts a task that a waiting thread may not run back into the shared queue, and tells whoever may.
    pub(crate) fn return_stranger(&self, task: TaskRef) {
        self.return_strangers(|pool, wake| {
            // SAFETY: the task is in our hands, so its context is alive.
            unsafe { pool.each_waiter_for(task.context(), |waiter| wake.push(waiter)) };
            pool.put_aside(task);
        });
    }

    /// Runs `put_back`, which returns tasks to a queue and collects the waiting threads that they concern, such
    /// that no announcement of a wait falls between the two.
    ///
    /// A thread that announces its wait before this is collected; one that announces it later digs after the
    /// tasks are back, and finds them.
    pub(crate) fn return_strangers(&self, put_back: impl FnOnce(&Self, &mut Vec<&'static Parker>)) {
        let mut wake = Vec::new();
        {
            let _no_announcement = self
                .announcements
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            put_back(self, &mut wake);
        }
        wake.into_iter().for_each(Parker::unpark);
        // The tasks were invisible for a moment, and somebody may have fallen asleep over them, or a rescue thread ended.
        self.wake_if_nobody_searches();
        self.rescue_if_stuck();
    }

    /// There is work that nobody may know of: makes sure that somebody looks.
    pub(crate) fn wake_if_nobody_searches(&self) {
        self.post_work();
    }

    /// The same. `false`: nobody was idle.
    #[inline]
    fn post_work(&self) -> bool {
        let counters = self.sleep.post();
        if counters.searching() == 0 && (counters.sleeping() == 0 || !self.wake_one()) {
            self.stand_in_if_short();
        }
        counters.inactive() > 0
    }

    /// An occupant announces that it is about to park for `target`.
    pub(crate) fn announce_wait(&self, seat: &Seat, target: *const Context) {
        let _in_order = self
            .announcements
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        seat.announce_wait(target);
        self.blocked.fetch_add(1, Ordering::SeqCst);
    }

    /// The occupant does not park any more.
    pub(crate) fn retract_wait(&self, seat: &Seat) {
        self.blocked.fetch_sub(1, Ordering::SeqCst);
        seat.retract_wait();
    }

    /// Puts a task into the shared queue without telling anybody.
    pub(crate) fn put_aside(&self, task: TaskRef) {
        self.queue.push(task);
    }

    /// Takes the oldest task from the shared queue, but for the background's.
    pub(crate) fn take_injected(&self) -> Option<TaskRef> {
        self.queue.pop()
    }

    /// Takes the oldest background task.
    pub(crate) fn take_background(&self) -> Option<TaskRef> {
        self.background.pop()
    }

    /// Are there any?
    pub(crate) fn has_background_tasks(&self) -> bool {
        !self.background.is_empty()
    }

    /// Takes any task that is not the background's.
    pub(crate) fn take_urgent(&self) -> Option<TaskRef> {
        let steal = |seat: &Seat| seat.stealer().steal_until_settled();
        self.take_injected()
            .or_else(|| self.victims(0).find_map(steal))
    }

    /// Is there one?
    pub(crate) fn has_urgent_tasks(&self) -> bool {
        !self.queue.is_empty() || self.victims(0).any(|seat| !seat.stealer().is_empty())
    }

    /// Takes the oldest one of the `most` oldest tasks whose context is `wanted`. The others stay where they are.
    pub(crate) fn take_injected_in(
        &self,
        most: usize,
        wanted: impl Fn(*const Context) -> bool,
    ) -> Option<TaskRef> {
        let wanted = |task: &TaskRef| wanted(task.context());
        let urgent = self.queue.take(most, wanted);
        // Most pools never see one, and are spared the lock.
        urgent.or_else(|| {
            let any = !self.background.is_empty();
            any.then(|| self.background.take(most, wanted)).flatten()
        })
    }

    /// How many tasks are in the shared queues, about.
    pub(crate) fn injected(&self) -> usize {
        self.queue.len() + self.background.len()
    }

    /// Is there none?
    #[inline]
    fn injected_nothing(&self) -> bool {
        self.queue.is_empty() && self.background.is_empty()
    }

    /// Makes sure that somebody looks at a task in `context` that has just become visible.
    ///
    /// # Safety
    /// The context is alive during the call.
    pub(crate) unsafe fn task_posted(&self, context: *const Context) {
        if !self.post_work() && self.companion.get().is_some() {
            self.tell_companion_task_waits();
        }
        // SAFETY: passed on.
        unsafe { self.wake_waiters_for(context) };
    }

    #[cold]
    fn tell_companion_task_waits(&self) {
        let brought = self.current_seat().filter(|seat| seat.has_companion());
        match brought {
            Some(seat) => seat.tell_companion_task_waits(),
            None => {
                if let Some(companion) = self.companion() {
                    companion.task_waits();
                }
            }
        }
    }

    /// Wakes one sleeping thread, whether it has its seat or not: for the companion's work, which it can run in any.
    pub(crate) fn wake_any(&self) -> bool {
        let first = self.current_seat().map_or(0, |seat| seat.index + 1);
        self.sleep.wake_one(first, |_| true).is_some()
    }

    /// Wakes one sleeping thread whose seat is free. The choice of the thread is arbitrary. An occupant goes on computing, and
    /// keeps the thread off its CPU.
    pub(crate) fn wake_one(&self) -> bool {
        let room = !self.oversubscribed() && self.placement.is_free();
        self.wake_one_somewhere(room && self.current_seat().is_some())
    }

    /// The same; without `elsewhere`, the kernel decides where the thread wakes up.
    pub(crate) fn wake_one_somewhere(&self, elsewhere: bool) -> bool {
        let me = self.current_seat();
        let first = me.map_or(0, |seat| seat.index + 1);
        let try_once = || {
            let eligible = |thread: usize| {
                let eligible = !self.seats[thread].occupancy.has_guest();
                if eligible && elsewhere {
                    self.placement.steering(thread).send_away();
                }
                eligible
            };
            self.sleep.wake_one(first, eligible).is_some()
        };
        let mut woken = try_once();
        if !woken && self.guests && self.sleep.counters().sleeping() > 0 {
            // All sleepers have a guest in their seat. Leave a note for the first guest to leave, and
            // look again: one may have left before it could see the note.
            self.starved.store(true, Ordering::SeqCst);
            woken = try_once();
        }
        if woken {
            trace::instant(Kind::Wake, 0);
        }
        if let (true, Some(seat)) = (woken, me) {
            seat.stats.woken.one();
        }
        woken
    }

    /// Does nobody look for work, and is nobody there to be woken? A thread that sleeps because a guest has its seat is not.
    #[inline]
    pub(crate) fn all_are_busy(&self) -> bool {
        let counters = self.sleep.counters();
        counters.searching() == 0 && (counters.sleeping() == 0 || !self.any_to_wake())
    }

    /// The same for the occupant of `seat`, who may be the guest in question.
    #[inline]
    pub(crate) fn all_others_are_busy(&self, seat: &Seat) -> bool {
        let counters = self.sleep.counters();
        counters.searching() == 0
            && match counters.sleeping() {
                0 => true,
                1 if seat.occupancy.has_guest() && self.sleep.is_asleep(seat.index) => true,
                _ => !self.any_to_wake(),
            }
    }

    fn any_to_wake(&self) -> bool {
        self.sleep
            .any_asleep(|thread| !self.seats[thread].occupancy.has_guest())
    }

    /// Wakes the thread of a seat, if it sleeps for want of work.
    pub(crate) fn wake_thread(&self, index: usize) {
        self.sleep.wake_thread(index);
    }

    /// Unparks every occupant that is parked in a wait for something that `context` descends from.
    ///
    /// # Safety
    /// The context is alive during the call.
    #[inline]
    pub(crate) unsafe fn wake_waiters_for(&self, context: *const Context) -> bool {
        // SAFETY: passed on.
        self.has_blocked() && unsafe { self.wake_blocked_for(context) }
    }

    /// # Safety
    /// As above.
    #[cold]
    #[inline(never)]
    unsafe fn wake_blocked_for(&self, context: *const Context) -> bool {
        let mut any = false;
        let unpark = |waiter: &'static Parker| {
            any = true;
            waiter.unpark();
        };
        // SAFETY: passed on.
        unsafe { self.each_waiter_for(context, unpark) };
        any
    }

    /// Calls `found` with the parker of each of them.
    ///
    /// # Safety
    /// As for [`Pool::wake_waiters_for`].
    pub(crate) unsafe fn each_waiter_for(
        &self,
        context: *const Context,
        mut found: impl FnMut(&'static Parker),
    ) {
        self.each_seat(|seat| {
            let target = seat.waits_for();
            // SAFETY: passed on.
            if !target.is_null() && unsafe { context::descends_from(context, target) } {
                found(seat.parker());
            }
        });
    }

    /// Is any occupant parked in a wait, or away?
    pub(crate) fn has_blocked(&self) -> bool {
        self.blocked.load(Ordering::SeqCst) > 0
    }

    /// Is every seat [lost](Seat::is_lost), while there is work that none of those who wait may run?
    ///
    /// Asked by everybody who makes it so: whoever parks, injects, leaves a seat as a guest, or ends as a rescue thread. Waiters that
    /// still dig or have been unparked do not count: they are about to find something, or to ask again. One that sleeps elsewhere
    /// counts until it is back: for that moment, a rescue thread too many may be started.
    pub(crate) fn is_stuck(&self) -> bool {
        // Our own contribution before the look at the others'.
        fence(Ordering::SeqCst);
        self.seats.iter().all(Seat::is_lost)
            && self.rescue.at_work() == 0
            && self.has_tasks()
            && !self.victims(0).any(Seat::is_waking_rescue)
    }

    /// The caller may have made it so: then it gets somebody to run what is queued.
    pub(crate) fn rescue_if_stuck(&self) {
        if self.is_stuck() {
            rescue::start(self);
        }
    }

    /// Is there work that nobody takes, since somebody is away and all others are busy?
    pub(crate) fn is_short(&self) -> bool {
        fence(Ordering::SeqCst);
        self.rescue.is_short() && self.all_are_busy() && self.offers_work()
    }

    /// If it is so, somebody is called to stand in.
    #[inline]
    pub(crate) fn stand_in_if_short(&self) {
        if self.rescue.is_short() && self.is_short() {
            rescue::start(self);
        }
    }

    /// The companion says whether one of the pool's threads is stuck in its work. Until it is said to be back, it counts as one that sleeps elsewhere: somebody stands in for it.
    /// That may be too late by the time between two looks of the companion's, and then the pool has a thread too many, or one too few.
    pub(crate) fn set_absent(&self, thread: usize, absent: bool) {
        // A companion may know of a thread that is about to start.
        let Some(seat) = self.seats.get(thread) else {
            return;
        };
        // A guest computes in its place; and who waits in a way that the engine knows counts as that.
        let absent = absent && !seat.occupancy.has_guest() && !seat.is_parked_in_work();
        // One that waits for a CPU goes on when it gets one, and whoever stood in for it would take that.
        let absent = absent && (seat.is_absent() || self.placement.may_sleep(thread));
        if seat.set_absent(absent) != absent {
            self.is_away(seat, absent);
        }
        if absent {
            // Also those that stand in for it may be stuck by now.
            self.stand_in_if_short();
        }
    }

    /// The occupant of a seat goes to sleep elsewhere, or is back.
    pub(crate) fn is_away(&self, seat: &Seat, away: bool) {
        if seat.is_extra() {
            // Rescue threads are counted by themselves, and nobody stands in for others.
            return;
        }
        self.rescue.is_away(away);
        // Whoever forks looks at it.
        if away {
            self.blocked.fetch_add(1, Ordering::SeqCst);
        } else {
            self.blocked.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Makes somebody's private forks public.
    pub(crate) fn force_somebody(&self) -> bool {
        // The next one if somebody else is at it, or the owner was faster: the caller may be the last to search.
        let mut hidden = self.victims(0).filter(|seat| seat.hides_work());
        hidden.any(|seat| seat.stack.thief().force())
    }

    /// Calls `look_at` with every seat, extra ones included.
    pub(crate) fn each_seat(&self, look_at: impl FnMut(&Seat)) {
        self.victims(0).for_each(look_at);
    }

    /// The same one after the other: `first` and the others in turn, then the extra ones.
    #[inline]
    pub(crate) fn victims(&self, first: usize) -> impl Iterator<Item = &Seat> + Clone {
        let seats = self.seats.first();
        let (before, after) = seats.split_at(first % seats.len());
        let own = after.iter().chain(before).chain(self.seats.rest());
        own.chain(self.extra.seats())
    }

    /// A guest has left `seat`; `wanted` says whether its thread has asked for it.
    #[inline]
    pub(crate) fn seat_vacated(&self, seat: &Seat, wanted: bool) {
        if wanted {
            // The seat before the look at who sleeps; the thread, which falls asleep over its note, does it the other way round.
            fence(Ordering::SeqCst);
            self.wake_thread(seat.index);
        } else {
            let noted = self.starved.load(Ordering::SeqCst) && self.note_still_holds();
            let needed = noted
                || !seat.mailbox.is_empty()
                // The thread may be about to look, and may have been for long, if it has no CPU; the next guest would come first.
                || !self.injected_nothing();
            // It would not come, and the seat would be kept from guests.
            let hand_over = || !seat.thread_is_parked_beside() && seat.occupancy.hand_over();
            if needed && hand_over() || noted && self.note_again(hand_over) {
                self.wake_thread(seat.index);
            }
        }
        if self.life.guest_left(|| self.has_guests()) {
            self.end();
        }
        if seat.thread_beside().is_some() {
            // Whoever posted something meanwhile, or parked, has relied on us; and our seat's thread may be parked.
            self.rescue_if_stuck();
        }
    }

    /// Takes the note that somebody has looked for a thread in vain. Is there still something to run? Mostly others have got to it long since, and a wake would be
    /// in vain.
    ///
    /// The note before the look: whoever leaves another one after that finds the seat that the caller has left, or leaves it for the next guest. Had it been taken after
    /// the look, it could be that one.
    #[cold]
    fn note_still_holds(&self) -> bool {
        let noted = self.starved.swap(false, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        noted && (self.offers_work() || self.hides_work())
    }

    /// Another guest is in the seat already. It does this when it leaves: unless it has left while the note was ours.
    #[cold]
    fn note_again(&self, hand_over: impl FnOnce() -> bool) -> bool {
        self.starved.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        hand_over()
    }

    /// Are tasks in any queue?
    pub(crate) fn has_tasks(&self) -> bool {
        !self.background.is_empty() || self.has_urgent_tasks()
    }

    /// Could any thread find work?
    pub(crate) fn offers_work(&self) -> bool {
        !self.injected_nothing() || self.victims(0).any(Seat::offers_work)
    }

    /// Does anybody have forks that only [`force`](crate::join_stack::Thief::force) makes public?
    pub(crate) fn hides_work(&self) -> bool {
        self.victims(0).any(Seat::hides_work)
    }

    /// Does nothing move in here? So it is if there is somebody in every seat, or its thread works beside it, and nothing has been begun there since `seen`, which is brought up to date.
    ///
    /// What is begun in extra seats is no sign: an outside thread that goes on beside a blocked pool, or many that do, would keep others from noticing that it is.
    pub(crate) fn stands_still(&self, seen: &mut u64) -> bool {
        let begun = |seat: &Seat| {
            let stats = seat.stats.read();
            stats.executed.wrapping_add(stats.guests)
        };
        let seats = self.seats.iter();
        let begun = seats.fold(0, |sum: u64, seat| sum.wrapping_add(begun(seat)));
        std::mem::replace(seen, begun) == begun
            && self
                .seats
                .iter()
                .all(|seat| seat.occupancy.is_occupied() || seat.thread_beside().is_some())
    }

    /// Nothing has moved for so long that nobody should rely on it, until something does again.
    pub(crate) fn found_blocked(&self, seen: u64) {
        self.blocked_since.store(seen, Ordering::Relaxed);
    }

    /// Is it still so?
    pub(crate) fn is_known_blocked(&self) -> bool {
        let mut since = self.blocked_since.load(Ordering::Relaxed);
        since != 0 && self.stands_still(&mut since)
    }

    // ---- life and death ---------------------------------------------------------------------

    /// A detached task begins to exist: the pool lives until it has ended. If the pool has ended already, this is one of its threads, in its
    /// exit handler, and will run the task after that.
    pub(crate) fn retain(&self) {
        self.life.add_task();
    }

    /// The same, if the pool has not ended.
    pub(crate) fn try_retain(&self) -> bool {
        self.life.try_add_task()
    }

    /// A detached task has ended.
    pub(crate) fn release(&self) {
        self.share_given_up(self.life.remove_task());
    }

    /// The pool's handle is dropped, or has been before.
    pub(crate) fn release_handle(&self) {
        self.share_given_up(self.life.drop_handle());
    }

    fn share_given_up(&self, is_over: bool) {
        if is_over {
            self.end();
        }
        if self.idle.count.load(Ordering::SeqCst) > 0 {
            self.announce_idle();
        }
    }

    /// The calling thread works in the pool for a while, as a part of the companion; the pool's threads stay until the value is dropped. `None`: the pool is over.
    pub(crate) fn visit(&self) -> Option<Visit<'_>> {
        if self.global {
            // It is not closed before its companion agrees.
            return (!self.is_closed()).then_some(Visit { counted: None });
        }
        // Made only then: dropping one takes a visitor out.
        self.life.try_enter().then(|| Visit {
            counted: Some(self),
        })
    }

    /// The same for a thread from outside, which a closed pool does not let in.
    pub(crate) fn admit(&self) -> Option<Visit<'_>> {
        let visit = self.life.try_enter().then(|| Visit {
            counted: Some(self),
        });
        visit.filter(|_| !self.is_closed())
    }

    /// Does the pool let nobody in any more?
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.life.is_closed()
    }

    /// Lets nobody in any more. When everything in here is through, the pool is over.
    pub(crate) fn close(&self) {
        self.share_given_up(self.life.close(|| self.has_guests()));
    }

    fn has_guests(&self) -> bool {
        self.seats.iter().any(|seat| seat.occupancy.has_guest())
    }

    /// # Panics
    /// If the calling thread is in the pool, and is about to wait for the pool's end.
    #[track_caller]
    pub(crate) fn assert_outside(&self) {
        assert!(
            self.current_seat()
                .is_none_or(|_| self.adopted_seat().is_some())
                && !scope::is_in_body_of(self),
            "a thread pool cannot be shut down from inside: the calling thread runs a task of that pool, or is inside of its `install` or of a scope, and \
             would wait for itself. Call shutdown from outside, or drop the pool, which waits for nobody"
        );
    }

    /// # Panics
    /// For the caller's work there is no pool any more.
    #[cold]
    #[track_caller]
    pub(crate) fn refuse_work(&self) -> ! {
        panic!(
            "this thread pool has been shut down (ThreadPool::shutdown), and takes no work any more: \
             shut it down after its last use, or build another one"
        )
    }

    fn end(&self) {
        self.sleep.wake_all();
        self.seats.iter().for_each(|seat| seat.parker().unpark());
        self.rescue.end();
        self.relays.end();
    }

    /// Has it ended? What an exit handler spawns then keeps only its own thread.
    pub(crate) fn is_over(&self) -> bool {
        self.life.is_over()
    }

    pub(crate) fn wait_until_started(&self) {
        self.started.iter().for_each(ThreadLatch::wait);
    }

    /// Waits until its threads are through, until `deadline` at most. `false`: some are not.
    pub(crate) fn wait_until_stopped(&self, deadline: Option<Instant>) -> bool {
        self.stopped
            .iter()
            .all(|stopped| stopped.wait_within(deadline))
    }

    /// A thread of the pool has been started.
    pub(crate) fn keep_handle(&self, handle: ThreadHandle) {
        let mut handles = self.handles();
        // Those of rescue threads, which come and go.
        handles.retain(|handle| !handle.is_finished());
        handles.push(handle);
    }

    fn handles(&self) -> MutexGuard<'_, Vec<ThreadHandle>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The seat of the calling thread, if that is the one that was there before the pool, and runs no task of it.
    pub(crate) fn adopted_seat(&self) -> Option<&Seat> {
        let adopted = self.adopted.get()?;
        let seat = self.current_seat()?;
        let at_rest = std::ptr::eq(seat.context(), &raw const context::ROOT);
        (at_rest && *adopted == std::thread::current().id()).then_some(seat)
    }

    /// For the thread in `seat`, which was there before the pool: runs what there is until the others have ended.
    pub(crate) fn run_until_stopped(&self, seat: &Seat, deadline: Option<Instant>) -> bool {
        loop {
            // SAFETY: the caller occupies the seat.
            while unsafe { worker::run_anything(seat) } {}
            // Before the clock is asked: a web page has none.
            if self.stopped.iter().all(ThreadLatch::is_set) && self.is_over() {
                return true;
            }
            // They may still have something for this thread: a broadcast. Nobody wakes it for that here.
            let Some(soon) = clock::deadline(Duration::from_millis(1)) else {
                std::hint::spin_loop();
                continue;
            };
            let look = deadline.map_or(soon, |deadline| deadline.min(soon));
            if self.wait_until_stopped(Some(look)) && self.is_over() {
                return true;
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return false;
            }
        }
    }

    /// As [`Pool::wait_until_stopped`], and joins those that were not started by the user.
    pub(crate) fn join_threads(&self, deadline: Option<Instant>) -> bool {
        if !self.wait_until_stopped(deadline) {
            return false;
        }
        let me = std::thread::current().id();
        let handles = std::mem::take(&mut *self.handles());
        // The destructor of a thread-local may run on the last steps of one of them.
        let others = handles
            .into_iter()
            .filter(|handle| handle.thread().id() != me);
        others.for_each(ThreadHandle::join);
        true
    }

    /// Blocks until no detached task is left. A caller that is a part of one does not wait for it, nor for others that are in this call: they would wait
    /// for each other. All of these go on when the others have ended, so a caller outside of any task waits for them, too.
    pub(crate) fn wait_idle(&self) {
        let seat = seat::current();
        self.idle.count.fetch_add(1, Ordering::SeqCst);
        let idle = Idle {
            pool: self,
            in_task: self.excuse_own_tasks(seat, true),
        };
        self.announce_idle();
        let until_idle = || self.idle.sleep_until(|| idle.is_done());
        match seat {
            // SAFETY: the caller occupies the seat, and asked for other work to be run.
            Some(seat) if self.owns(seat) => unsafe { wait::wait_for(seat, &idle) },
            Some(elsewhere) => wait::sleep_elsewhere(elsewhere, until_idle),
            None => until_idle(),
        }
        self.excuse_own_tasks(seat, false);
        self.idle.count.fetch_sub(1, Ordering::SeqCst);
    }

    /// The occupant of `seat` enters `wait_idle`, or leaves it: the tasks that it is a part of are excused meanwhile. Each counts once, however many
    /// of its parts are in this call. `false`: it is a part of none.
    fn excuse_own_tasks(&self, seat: Option<&Seat>, enters: bool) -> bool {
        let Some(seat) = seat else { return false };
        let mut in_task = false;
        let _one_at_a_time = self
            .idle
            .gate
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let order = Ordering::SeqCst;
        let excuse = |task: &TaskContext| {
            in_task = true;
            if enters && task.idling.fetch_add(1, order) == 0 {
                self.idle.excused.fetch_add(1, order);
            } else if !enters && task.idling.fetch_sub(1, order) == 1 {
                self.idle.excused.fetch_sub(1, order);
            }
        };
        // SAFETY: the caller runs in this context.
        unsafe { context::each_task(seat.context(), self.address(), excuse) };
        in_task
    }

    /// What this pool is known by where nobody looks into it.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).expose_provenance()
    }

    /// Something changed that threads in `wait_idle` wait for.
    fn announce_idle(&self) {
        self.idle.announce();
        let unpark_waiting = |seat: &Seat| {
            if std::ptr::eq(seat.waits_for(), &raw const context::ROOT) {
                seat.parker().unpark();
            }
        };
        self.each_seat(unpark_waiting);
    }

    // ---- panics -----------------------------------------------------------------------------

    /// Runs user code that has nobody to report a panic to.
    pub(crate) fn catch_panic(&self, work: impl FnOnce()) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
            self.handle_panic(payload);
        }
    }

    /// Hands a panic to the user's handler; without one, or if it panics itself, the process ends.
    pub(crate) fn handle_panic(&self, payload: Box<dyn Any + Send>) {
        let abort = AbortOnDrop("a panic handler panicked");
        match &self.handlers.panic {
            Some(handler) => handler(payload),
            None => {
                std::mem::forget(abort);
                let _abort =
                    AbortOnDrop("a detached task panicked and the pool has no panic handler");
                return;
            }
        }
        std::mem::forget(abort);
    }

    // ---- numbers ----------------------------------------------------------------------------

    pub(crate) fn stats(&self) -> PoolStats {
        let all = self.seats.iter().map(|seat| seat.stats.read());
        PoolStats {
            workers: all.clone().take(self.num_threads()).collect(),
            total: all.sum(),
        }
    }

    pub(crate) fn reset_stats(&self) {
        self.seats.iter().for_each(|seat| seat.stats.reset());
    }
}

impl IdleWaiters {
    fn announce(&self) {
        drop(self.gate.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    fn sleep_until(&self, ready: impl Fn() -> bool) {
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        while !ready() {
            gate = self
                .changed
                .wait(gate)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The wait for an idle pool: everything descends from the root, so the waiting thread runs anything,
/// which is what its caller asked for.
struct Idle<'a> {
    pool: &'a Pool,
    /// Is the waiting code a part of a detached task of this pool?
    in_task: bool,
}

impl Awaited for Idle<'_> {
    fn context(&self) -> *const Context {
        &raw const context::ROOT
    }

    fn is_done(&self) -> bool {
        let excused = || self.pool.idle.excused.load(Ordering::SeqCst);
        let before = if self.in_task { excused() } else { 0 };
        // The second look: one of the excused may have left the call and ended meanwhile, and would count on
        // one side only.
        self.pool.life.tasks() <= before && (!self.in_task || excused() == before)
    }

    fn announce_parked(&self) -> bool {
        !self.is_done()
    }

    fn announce_awake(&self) {}
}

/// See [`Pool::visit`] and [`Pool::admit`].
pub(crate) struct Visit<'a> {
    counted: Option<&'a Pool>,
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if let Some(pool) = self.counted {
            if pool.life.leave() {
                pool.end();
            }
        }
    }
}

/// Ends the process instead of unwinding further.
pub(crate) struct AbortOnDrop(pub(crate) &'static str);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        complain(format_args!("{}; aborting", self.0));
        std::process::abort();
    }
}

/// Runs `work`, which must not unwind: somebody else uses a frame of the caller's.
#[inline]
pub(crate) fn without_unwinding<R>(what: &'static str, work: impl FnOnce() -> R) -> R {
    let abort = AbortOnDrop(what);
    let result = work();
    std::mem::forget(abort);
    result
}

/// A message for whoever reads the standard error. Unlike `eprintln!`, this does not panic if nobody can.
pub fn complain(message: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "Blitz: {message}");
}
