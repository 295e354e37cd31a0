//! Unwinding that stops a computation, and destructors, which must not be stopped.
//!
//! # Destructors
//! A destructor that an unwinding has called must not unwind itself: the process would abort. So code there has no token: check points do nothing, and what it starts is not stopped, on
//! whichever thread it runs. `std::thread::panicking()` tells where that is so. But a thread that unwinds
//! out of the left half of a join waits for the right one, and runs whatever that has forked, until it may go on; all of which is caught, and should be stopped as
//! well. So wherever unwinding is caught ([`Catching`]) the thread notes that it was unwinding *before*, and then only an unwinding of ours counts that began since.
//!
//! Tasks, and work that is handed over, leave the token behind when they are started (`is_in_destructor`). Forks say nothing of what they inherit, so a thief has to see it: a seat whose
//! occupant unwinds has a *floor*, the depth of its join stack at that time, which sinks with each join that the unwinding passes. Whatever is forked at or above it is a destructor's, and a thief
//! runs it without a token (`Seat::run_stolen`). The floor is only a note about what to stop; a wrong one is never unsafe. It is missing for one case: a plain `join` in a destructor that a *panic* has
//! called, and no join, loop or check point on the way there. And it is left over from an unwinding that the user's code has caught, until the next check point, or until somebody asks [`is_cancelled`].

use super::Cancelled;
use crate::inherited;
use crate::seat::{self, Seat};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

thread_local! {
    static UNWINDING: Cell<Unwinding> = const { Cell::new(Unwinding { before: false, since: false }) };
}

#[derive(Clone, Copy)]
struct Unwinding {
    /// The thread was unwinding when it entered what is now to be caught.
    before: bool,
    /// It has been told to since.
    since: bool,
}

/// As long as this is there, unwinding does not get further than to its owner, who catches it.
pub(crate) struct Catching<'a> {
    /// The thread's.
    seat: Option<&'a Seat>,
    /// If it was unwinding.
    outside: Option<(Unwinding, usize)>,
}

impl<'a> Catching<'a> {
    pub(crate) fn new() -> Self {
        Self::in_seat(seat::current())
    }

    #[inline]
    pub(crate) fn in_seat(seat: Option<&'a Seat>) -> Self {
        // If it was not, it was not further out either, and so nothing there is to be told from what comes.
        let outside = std::thread::panicking().then(|| {
            let (before, since) = (true, false);
            let floor = seat.map_or(Seat::NO_FLOOR, Seat::floor);
            (UNWINDING.replace(Unwinding { before, since }), floor)
        });
        let this = Catching { seat, outside };
        if outside.is_none() {
            this.set_floor(Seat::NO_FLOOR);
        }
        this
    }

    /// For the part of a join that an unwinding has left behind: no destructor has started it.
    pub(crate) fn between_destructors() -> Self {
        let this = Self::new();
        this.set_floor(Seat::NO_FLOOR);
        this
    }

    fn set_floor(&self, floor: usize) {
        if let Some(seat) = self.seat {
            seat.set_floor(floor);
        }
    }
}

impl Drop for Catching<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some((unwinding, _)) = self.outside {
            UNWINDING.set(unwinding);
        }
        self.set_floor(self.outside.map_or(Seat::NO_FLOOR, |(_, floor)| floor));
    }
}

/// The calling thread unwinds, and has come as far as this.
pub(crate) fn note_unwinding() {
    if !inherited::is_in_use() {
        return;
    }
    if let Some(seat) = seat::current() {
        seat.sink_floor();
    }
}

/// At a check point: the thread is in a destructor, or somebody has caught an unwinding.
pub(crate) fn look_at_floor(seat: &Seat) {
    if is_in_destructor() {
        seat.sink_floor();
    } else if !std::thread::panicking() && seat.floor() != Seat::NO_FLOOR {
        seat.set_floor(Seat::NO_FLOOR);
    }
}

/// Does what the calling thread runs belong to a destructor that an unwinding has called?
pub(crate) fn is_in_destructor() -> bool {
    let Unwinding { before, since } = UNWINDING.get();
    std::thread::panicking() && (!before || since)
}

/// Not where panics abort, and not in such a destructor.
pub(crate) fn can_unwind() -> bool {
    !cfg!(panic = "abort") && !is_in_destructor()
}

/// Does not return if it can.
#[cold]
pub(crate) fn unwind(why: Cancelled) {
    if can_unwind() {
        resume(Box::new(why));
    }
}

/// Goes on with an unwinding that has been caught, here or on another thread.
#[cold]
pub(crate) fn resume(payload: Box<dyn Any + Send>) -> ! {
    UNWINDING.set(Unwinding {
        since: true,
        ..UNWINDING.get()
    });
    note_unwinding();
    resume_unwind(payload)
}

/// Two parts run one after the other, both to their end, before an unwinding of either goes on.
pub(crate) fn one_after_the_other<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    let before = UNWINDING.get();
    let a = catch_unwind(AssertUnwindSafe(a));
    UNWINDING.set(before);
    let b = catch_unwind(AssertUnwindSafe(b));
    UNWINDING.set(before);
    match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(payload), _) | (_, Err(payload)) => resume(payload),
    }
}
