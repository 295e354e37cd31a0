//! Loom models of a pool that is closed while guests come and go.
//!
//! No guest is inside when the pool is over, and it is over once everybody has gone, which exactly one of them learns. The lines of `pool` and `guest` that concern this are repeated
//! here, as in `occupancy/models.rs`, and as there a fence stands for the order among `SeqCst` accesses, which loom does not know.

use super::*;
use crate::occupancy::Occupancy;
use crate::sync::fence;
use blitz_primitives::model::{Race, race};
use std::rc::Rc;

struct Pool {
    life: Life,
    seats: [Occupancy; 2],
}

impl Pool {
    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        Rc::new(Pool {
            life: Life::with_flaws(flaws),
            seats: [Occupancy::vacant(), Occupancy::vacant()],
        })
    }

    fn has_guests(&self) -> bool {
        fence(Ordering::SeqCst);
        self.seats.iter().any(Occupancy::has_guest)
    }

    fn close(&self) -> bool {
        self.life.close(|| self.has_guests())
    }

    /// How often the guest learned that the pool is over.
    fn visit(&self, seat: usize) -> bool {
        let seat = &self.seats[seat];
        assert!(seat.try_enter_vacant(), "nobody else wants it");
        fence(Ordering::SeqCst);
        if !self.life.is_closed() {
            // It may spawn a task now, which somebody has to run.
            self.life.add_task();
            assert!(!self.life.remove_task(), "a guest is in there");
            assert!(!self.life.is_over(), "a guest is in there");
        }
        seat.leave();
        fence(Ordering::SeqCst);
        self.life.guest_left(|| self.has_guests())
    }
}

/// Exactly one learns that the pool is over.
fn ends_once(pool: &Rc<Pool>) -> Race<bool> {
    let pool = pool.clone();
    Race::new(move |learned| {
        let ends = learned.into_iter().filter(|&is_over| is_over).count();
        assert_eq!(ends, 1, "the pool ends once");
        assert!(pool.life.is_over(), "everybody has gone");
    })
}

fn closed_beside_a_guest(flaws: Flaws<Flaw>) -> Race<bool> {
    let pool = Pool::new(flaws);
    let guest = pool.clone();
    closed(&pool).thread(move || guest.visit(0))
}

fn closed_beside_two_guests(flaws: Flaws<Flaw>) -> Race<bool> {
    let pool = Pool::new(flaws);
    let (one, other) = (pool.clone(), pool.clone());
    closed(&pool)
        .thread(move || one.visit(0))
        .thread(move || other.visit(1))
}

fn closed(pool: &Rc<Pool>) -> Race<bool> {
    let closer = pool.clone();
    ends_once(pool).thread(move || closer.close())
}

#[test]
fn loom_a_pool_that_is_closed_ends_when_its_guest_has_left() {
    race::<2, _>(|| closed_beside_a_guest(Flaws::NONE));
}

#[test]
fn loom_a_pool_that_is_closed_ends_with_the_last_of_two_guests() {
    race::<3, _>(|| closed_beside_two_guests(Flaws::NONE));
}

#[test]
#[should_panic(expected = "a guest is in there")]
fn loom_a_guest_that_does_not_ask_is_left_in_a_pool_that_is_over() {
    race::<2, _>(|| closed_beside_a_guest(Flaws::only(Flaw::GuestsStay)));
}

#[test]
#[should_panic(expected = "a guest is in there")]
fn loom_looking_for_guests_before_closing_leaves_one_inside() {
    race::<2, _>(|| closed_beside_a_guest(Flaws::only(Flaw::LooksBeforeClosing)));
}

#[test]
#[should_panic(expected = "the pool ends once")]
fn loom_a_guest_that_leaves_silently_leaves_the_pool_going() {
    race::<2, _>(|| closed_beside_a_guest(Flaws::only(Flaw::LeavesSilently)));
}

#[test]
#[should_panic(expected = "everybody has gone")]
fn loom_a_share_that_is_given_up_twice_brings_the_pool_back() {
    race::<2, _>(|| closed_beside_a_guest(Flaws::only(Flaw::DropsTwice)));
}
