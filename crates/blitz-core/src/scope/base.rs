//! What scopes of both kinds have in common: their parts are counted, and the end of the last one is the scope's.
//!
//! *Zero is not the end.* The count reaches zero a moment before the last finisher is done with the scope, so the owner looks at nothing but the [`Completion`].

use super::Scope;
use crate::abort::without_unwinding;
use crate::awaited::{Awaited, Completion};
use crate::broadcast::{self, BroadcastContext};
use crate::cancel;
use crate::context;
use crate::guest::{self, outsider_parker};
use crate::handle::UnclaimedPanic;
use crate::inherited::Captured;
use crate::pool::Pool;
use crate::priority::Priority;
use crate::profile::{self, Spawned};
use crate::seat::{self, Seat};
use crate::site::Site;
use crate::spawn::submit;
use crate::sync::locks::{Mutex, OnceLock, ignore_poison};
use crate::task;
use crate::wait::wait_for;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

type Payload = Box<dyn Any + Send>;

type Invariant<'scope> = PhantomData<Box<dyn FnOnce(&Scope<'scope>) + Send + Sync + 'scope>>;

/// What both kinds have in common.
pub(super) struct Base<'scope> {
    pub(super) end: Completion,
    pool: *const Pool,
    /// Unfinished parts: the body and the tasks.
    unfinished: AtomicUsize,
    /// The first panic, boxed once more to make it a thin pointer.
    panic: AtomicPtr<Payload>,
    /// Panics that belong to a handle; the scope's if the handle is never asked. Made for the first of them.
    handles: OnceLock<Mutex<Vec<Arc<dyn UnclaimedPanic + 'scope>>>>,
    pub(super) ends: profile::Ends,
    _marker: Invariant<'scope>,
}

impl<'scope> Base<'scope> {
    pub(super) fn new(site: Site, pool: &Pool, seat: Option<&Seat>) -> Self {
        let parent = seat.map_or(&raw const context::ROOT, Seat::context);
        Base {
            end: Completion::new(parent, seat.map_or_else(outsider_parker, Seat::parker)),
            pool,
            unfinished: AtomicUsize::new(1),
            panic: AtomicPtr::new(ptr::null_mut()),
            handles: OnceLock::new(),
            ends: profile::Ends::at(site),
            _marker: PhantomData,
        }
    }

    pub(super) fn pool(&self) -> &Pool {
        // SAFETY: a scope is created inside its pool or with a reference to it, and ends before that does.
        unsafe { &*self.pool }
    }

    pub(super) fn add_part(&self) {
        // Relaxed: the caller is itself an unfinished part, so the count cannot reach zero meanwhile.
        self.unfinished.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs one part, keeping its panic for the scope.
    pub(super) fn run_part(&self, spawned: Spawned, part: impl FnOnce()) {
        let part = || spawned.run(&self.ends, part);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(part)) {
            self.panicked(payload);
        }
        self.part_done();
    }

    /// One part has ended. The scope may be gone when this returns.
    pub(super) fn part_done(&self) {
        // AcqRel: what the parts did happens before the end of the scope.
        if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: the scope waits for it.
            unsafe { Completion::set(&raw const self.end) };
        }
    }

    /// Keeps the first panic.
    pub(super) fn panicked(&self, payload: Payload) {
        let boxed = Box::into_raw(Box::new(payload));
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let panic = &self.panic;
        let kept = panic.compare_exchange(ptr::null_mut(), boxed, order, failed);
        if kept.is_err() {
            // SAFETY: made a moment ago, and nobody else has it.
            let late = unsafe { Box::from_raw(boxed) };
            let forget_it = || drop_quietly(*late);
            match seat::current() {
                // In the scope's own context: that of the part, which was its handle's, may be gone.
                // SAFETY: the caller occupies the seat. Nothing unwinds, and joins leave the stack as they found it.
                Some(seat) => unsafe { seat.run_in(&raw const self.end.context, forget_it) },
                None => forget_it(),
            }
        }
    }

    pub(super) fn remember(&self, handle: Arc<dyn UnclaimedPanic + 'scope>) {
        let handles = self.handles.get_or_init(Mutex::default);
        let mut handles = ignore_poison(handles.lock());
        handles.push(handle);
    }

    /// Those of handles that nobody has asked. All tasks have ended.
    #[cold]
    fn claim_panics(&self, handles: &Mutex<Vec<Arc<dyn UnclaimedPanic + 'scope>>>) {
        let handles = std::mem::take(&mut *ignore_poison(handles.lock()));
        for payload in handles.iter().filter_map(|handle| handle.take_panic()) {
            self.panicked(payload);
        }
    }

    /// Runs the body, waits for all tasks, and lets the first panic go on.
    pub(super) fn complete<R>(&self, seat: Option<&Seat>, body: impl FnOnce() -> R) -> R {
        let result = catch_unwind(AssertUnwindSafe(body));
        let result = match result {
            Ok(result) => Some(result),
            Err(payload) => {
                self.panicked(payload);
                None
            }
        };
        without_unwinding("a panic at the end of a scope", || {
            // Only the body is left, and nobody else knows the scope. Acquire: as in `part_done`.
            if self.unfinished.load(Ordering::Acquire) == 1 {
                return;
            }
            self.part_done();
            match seat {
                // SAFETY: the caller occupies the seat.
                Some(seat) => unsafe { wait_for(seat, &self.end) },
                None => guest::wait_outside(self.pool(), &self.end, self.end.waiter),
            }
        });
        self.ends.meet();
        if let Some(handles) = self.handles.get() {
            self.claim_panics(handles);
        }
        // Nobody else is left to write it.
        let panic = self.panic.load(Ordering::Acquire);
        match result {
            Some(result) if panic.is_null() => result,
            _ => {
                // SAFETY: a null pointer would mean that the body panicked without a payload being kept.
                cancel::resume(*unsafe { Box::from_raw(panic) })
            }
        }
    }

    /// # Safety
    /// `run` stays callable until it has run: the scope waits for it.
    pub(super) unsafe fn submit(&self, priority: Priority, run: impl FnOnce()) {
        // SAFETY: passed on. The caller runs inside the scope (or holds a reference to it), so the scope cannot end during the call.
        unsafe { submit(self.pool(), priority, &raw const self.end.context, run) };
    }

    #[cfg_attr(feature = "sites", track_caller)]
    pub(super) fn spawn_broadcast(
        &self,
        body: impl Fn(BroadcastContext<'_>) + Send + Sync + 'scope,
    ) {
        let body = Arc::new(body);
        let this = ScopePtr(self);
        let _shape = self.pool().shape();
        let threads = self.pool().num_threads();
        for seat in self.pool().seats.iter().take(threads) {
            let body = Arc::clone(&body);
            self.add_part();
            let spawned = Spawned::here();
            let inherited = Captured::here();
            let run = move || {
                // SAFETY: as in `Scope::spawn`.
                let scope = unsafe { this.get() };
                let body = || BroadcastContext::with(threads, |context| body(context));
                scope.run_part(spawned, || inherited.run_task(body));
            };
            // SAFETY: as in `Scope::spawn`.
            let task = unsafe { task::allocate_boxed(&raw const self.end.context, run) };
            broadcast::post(seat, task);
        }
    }
}

impl Drop for Base<'_> {
    fn drop(&mut self) {
        let alone = self.unfinished.load(Ordering::Relaxed) == 1;
        debug_assert!(
            alone || self.end.is_done(),
            "a scope ended before its tasks"
        );
    }
}

/// Drops a panic's payload whose own drop may panic, when there is somebody else to report already.
pub(crate) fn drop_quietly(payload: Payload) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}

/// A scope that the holder knows to be alive.
pub(super) struct ScopePtr<T>(pub(super) *const T);

impl<T> Clone for ScopePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ScopePtr<T> {}

// SAFETY: scopes are shared between the threads that run their tasks; all their fields are.
unsafe impl<T> Send for ScopePtr<T> {}

// SAFETY: as above.
unsafe impl<T> Sync for ScopePtr<T> {}

impl<T> ScopePtr<T> {
    /// # Safety
    /// The scope is alive during the use of the reference.
    pub(super) unsafe fn get<'a>(self) -> &'a T {
        // SAFETY: by contract.
        unsafe { &*self.0 }
    }
}

// SAFETY: everything in `Base` is made for sharing; the pool outlives the scope.
unsafe impl Sync for Base<'_> {}

// SAFETY: as above.
unsafe impl Send for Base<'_> {}

impl Base<'_> {
    pub(super) fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("unfinished", &self.unfinished)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}
