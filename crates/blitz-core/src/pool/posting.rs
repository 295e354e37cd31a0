//! Work that has become visible: who is woken for it, and who is told.

use super::Pool;
use crate::context::Context;
use crate::seat::Seat;
use crate::task::TaskRef;
use crate::trace::{self, Kind};
use crate::waiters::Waiter;
use blitz_primitives::Parker;
use std::sync::atomic::{Ordering, fence};

impl Pool {
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
    pub(crate) fn put_back_stranger(&self, task: TaskRef) {
        self.put_back_strangers(|pool, concerned| {
            // SAFETY: the task is in our hands, so its context is alive.
            concerned.extend(unsafe { pool.parkers_for(task.context()) });
            pool.put_aside(task);
        });
    }

    /// See [`Waiters::put_back`].
    pub(crate) fn put_back_strangers<'a>(
        &'a self,
        put: impl FnOnce(&'a Self, &mut Vec<&'a Parker>),
    ) {
        self.waiters.put_back(|concerned| put(self, concerned));
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

    /// Unparks every occupant that is parked in a wait for something that `context` descends from.
    ///
    /// # Safety
    /// The context is alive during the call.
    #[inline]
    pub(crate) unsafe fn wake_waiters_for(&self, context: *const Context) -> bool {
        // SAFETY: passed on.
        unsafe { self.waiters.tell(context, || self.all_waiters()) }
    }

    pub(super) fn all_waiters(&self) -> impl Iterator<Item = &Waiter> {
        self.victims(0).map(|seat| &seat.waiter)
    }

    /// The parkers of those who wait for something that `context` descends from.
    ///
    /// # Safety
    /// The context is alive while the iterator is used.
    pub(crate) unsafe fn parkers_for(
        &self,
        context: *const Context,
    ) -> impl Iterator<Item = &Parker> {
        // SAFETY: passed on.
        let concerned = move |waiter: &&Waiter| unsafe { waiter.may_run(context) };
        let parker = |waiter: &Waiter| -> &Parker { waiter.parker() };
        self.all_waiters().filter(concerned).map(parker)
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
            let hand_over = || !seat.waiter.is_parked_beside() && seat.occupancy.hand_over();
            if needed && hand_over() || noted && self.note_again(hand_over) {
                self.wake_thread(seat.index);
            }
        }
        if self.life.guest_left(|| self.has_guests()) {
            self.end();
        }
        if seat.waiter.guest_left() {
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
}
