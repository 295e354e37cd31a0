//! In which context the occupant of a seat runs what it runs.

use super::Seat;
use crate::context::Context;
use crate::events;
use crate::inherited;
use crate::join_stack::Began;
use crate::profile;
use crate::task::TaskRef;

impl Seat {
    /// The context of the code that the occupant runs.
    pub(crate) fn context(&self) -> *const Context {
        self.context.get()
    }

    /// Runs `work` in `context`.
    ///
    /// # Safety
    /// The caller occupies the seat. `work` does not unwind, and leaves the join stack as it found it.
    pub(crate) unsafe fn run_in<R>(&self, context: *const Context, work: impl FnOnce() -> R) -> R {
        // SAFETY: passed on.
        unsafe { self.run_at_level(0, context, work) }
    }

    /// The same; its first fork has this level.
    ///
    /// # Safety
    /// As above.
    #[inline]
    pub(crate) unsafe fn run_at_level<R>(
        &self,
        level: u32,
        context: *const Context,
        work: impl FnOnce() -> R,
    ) -> R {
        // SAFETY: passed on.
        unsafe {
            if inherited::is_in_use() {
                self.run_inheriting(level, context, work)
            } else {
                self.run_plainly(level, context, work)
            }
        }
    }

    /// The same where work may inherit something.
    ///
    /// # Safety
    /// As above.
    #[cold]
    #[inline(never)]
    unsafe fn run_inheriting<R>(
        &self,
        level: u32,
        context: *const Context,
        work: impl FnOnce() -> R,
    ) -> R {
        // SAFETY: passed on; what is run here is unfinished until it has been.
        unsafe {
            let inherited = inherited::arrive(self, context);
            let result = self.run_plainly(level, context, work);
            inherited.leave();
            result
        }
    }

    /// # Safety
    /// As above.
    #[inline]
    unsafe fn run_plainly<R>(
        &self,
        level: u32,
        context: *const Context,
        work: impl FnOnce() -> R,
    ) -> R {
        let _not_the_occupants = profile::pause();
        let outer = self.context.replace(context);
        let since = self.running_since.replace(0);
        // SAFETY: the caller occupies the seat.
        let before = unsafe { self.stack.begin_context(context, level) };
        let result = work();
        // SAFETY: as above, and `work` has left the stack as it was. `context` may be dead by now; it is
        // only un-remembered.
        unsafe { self.stack.end_context(before) };
        self.running_since.set(since);
        self.context.set(outer);
        result
    }

    /// Goes on in `context` with the task that [`Seat::run_task`] runs, for a while: nothing that the task has forked is left on the stack, now or when it goes back to the context
    /// that is returned.
    ///
    /// # Safety
    /// The caller occupies the seat, and goes back before the context ends.
    #[inline]
    pub(crate) unsafe fn go_on_in(&self, context: *const Context) -> *const Context {
        // SAFETY: passed on.
        unsafe { self.stack.continue_context(context) };
        self.context.replace(context)
    }

    /// Runs `work`, which is given a context of its own: that of a loop, whose parts are forked there.
    ///
    /// # Safety
    /// The caller occupies the seat. `work` leaves the join stack as it found it, also if it unwinds.
    pub(crate) unsafe fn run_loop<R>(&self, work: impl FnOnce(*const Context) -> R) -> R {
        struct End<'a>(&'a Seat, *const Context, Began);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                // SAFETY: the caller of `run_loop` occupies the seat, and the stack is as it was.
                unsafe { self.0.end_below(self.1, self.2) };
            }
        }
        let context = Context::new(self.context.get());
        // SAFETY: the caller occupies the seat.
        let (outer, before) = unsafe { self.begin_below(&raw const context) };
        let _end = End(self, outer, before);
        work(&raw const context)
    }

    /// In the middle of something, the occupant goes on in `context`, a child of the one that it is in. Returns what to give to [`Seat::end_below`].
    ///
    /// # Safety
    /// The caller occupies the seat.
    pub(crate) unsafe fn begin_below(&self, context: *const Context) -> (*const Context, Began) {
        // SAFETY: passed on.
        let before = unsafe {
            let level = self.stack.level();
            self.stack.begin_context(context, level)
        };
        (self.context.replace(context), before)
    }

    /// Undoes the matching [`Seat::begin_below`].
    ///
    /// # Safety
    /// As there; the join stack is as it was then.
    pub(crate) unsafe fn end_below(&self, outer: *const Context, before: Began) {
        // SAFETY: passed on.
        unsafe { self.stack.end_context(before) };
        self.context.set(outer);
    }

    /// Runs a task in its context.
    ///
    /// # Safety
    /// The caller occupies the seat.
    pub(crate) unsafe fn run_task(&self, task: TaskRef) {
        // SAFETY: passed on. Tasks do not unwind.
        events::runs(self, || unsafe {
            self.run_in(task.context(), || task.run())
        });
    }
}
