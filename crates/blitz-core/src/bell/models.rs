//! Loom models of the bell, with an owner that asks again and again, as a pipeline's does. "Maximum number of branches" stands for an owner that sleeps for ever.

use super::*;
use blitz_primitives::Parker;
use blitz_primitives::model::{Race, oversleeping_race, race};
use loom::cell::UnsafeCell;
use std::rc::Rc;

/// What the owner and those who bring news share.
struct Desk {
    clapper: Clapper<Rc<Parker>>,
    parker: Rc<Parker>,
    state: Mutex<State>,
    /// Written before the bell is rung, without the lock.
    letters: [UnsafeCell<u32>; 2],
    hushes_late: bool,
}

struct State {
    news: usize,
    awaited: bool,
}

impl Desk {
    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        Rc::new(Desk {
            clapper: Clapper::new(flaws),
            parker: Rc::new(Parker::new()),
            state: Mutex::new(State {
                news: 0,
                awaited: false,
            }),
            letters: [UnsafeCell::new(0), UnsafeCell::new(0)],
            hushes_late: false,
        })
    }

    /// The owner takes so many pieces of news, one after the other.
    fn take(&self, mut missing: usize) {
        while missing > 0 {
            let mut state = self.state.lock().unwrap();
            if state.news > 0 {
                missing -= state.news;
                state.news = 0;
                continue;
            }
            if !self.hushes_late {
                self.clapper.hush();
            }
            state.awaited = true;
            drop(state);
            if self.hushes_late {
                self.clapper.hush();
            }
            self.wait();
        }
    }

    fn wait(&self) {
        while !self.clapper.is_rung() {
            if self.clapper.leave_parker(Rc::clone(&self.parker)) {
                self.parker.park();
                self.clapper.take_parker_back();
            }
        }
    }

    fn bring(&self) {
        let mut state = self.state.lock().unwrap();
        state.news += 1;
        let awaited = std::mem::take(&mut state.awaited);
        drop(state);
        if awaited {
            self.ring();
        }
    }

    fn ring(&self) {
        if let Some(parker) = self.clapper.ring() {
            parker.unpark();
        }
    }

    /// One letter, and nothing but the bell to say that it is there.
    fn write(&self) {
        // SAFETY: nobody reads it before the bell is rung; the model checks that.
        self.letters[0].with_mut(|letter| unsafe { *letter = 7 });
        self.ring();
    }

    fn read(&self) {
        self.wait();
        // SAFETY: as above.
        assert_eq!(self.letters[0].with(|letter| unsafe { *letter }), 7);
    }
}

fn two_bring_news(flaws: Flaws<Flaw>) -> Race<()> {
    let desk = Desk::new(flaws);
    let (owner, one, other) = (desk.clone(), desk.clone(), desk);
    Race::new(|_| {})
        .thread(move || owner.take(2))
        .thread(move || one.bring())
        .thread(move || other.bring())
}

fn one_brings_news(flaws: Flaws<Flaw>) -> Race<()> {
    let desk = Desk::new(flaws);
    let owner = desk.clone();
    Race::new(|_| {})
        .thread(move || owner.take(1))
        .thread(move || desk.bring())
}

fn one_letter(flaws: Flaws<Flaw>) -> Race<()> {
    let desk = Desk::new(flaws);
    let owner = desk.clone();
    Race::new(|_| {})
        .thread(move || owner.read())
        .thread(move || desk.write())
}

#[test]
fn loom_an_owner_hears_of_all_news() {
    race::<3, _>(|| two_bring_news(Flaws::NONE));
}

#[test]
fn loom_what_was_done_before_a_ring_is_seen_after_it() {
    race::<2, _>(|| one_letter(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_ring_after_the_lock_can_be_missed() {
    oversleeping_race::<2, _>(|flawed| {
        one_brings_news(Flaws::only_if(flawed, Flaw::RingsAfterTheLock))
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_an_owner_that_parks_without_looking_can_sleep_for_ever() {
    oversleeping_race::<2, _>(|flawed| one_brings_news(Flaws::only_if(flawed, Flaw::ParksBlindly)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_bell_that_is_hushed_after_others_know_loses_a_ring() {
    oversleeping_race::<2, _>(|flawed| {
        let mut desk = Desk::new(Flaws::NONE);
        Rc::get_mut(&mut desk).unwrap().hushes_late = flawed;
        let owner = desk.clone();
        Race::new(|_| {})
            .thread(move || owner.take(1))
            .thread(move || desk.bring())
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_ring_shows_nothing() {
    race::<2, _>(|| one_letter(Flaws::only(Flaw::RelaxedRing)));
}
