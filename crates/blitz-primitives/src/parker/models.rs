//! Loom models of the parker. "Maximum number of branches" stands for a thread that sleeps for ever.

use super::*;
use crate::model::{Race, oversleeping_race, race};
use loom::cell::UnsafeCell;
use std::rc::Rc;

/// A parker, and news that come with its token.
struct Mail {
    parker: Parker,
    news: UnsafeCell<u32>,
}

fn mail(flaws: Flaws<Flaw>) -> [Rc<Mail>; 2] {
    let mail = Rc::new(Mail {
        parker: Parker::with_flaws(flaws),
        news: UnsafeCell::new(0),
    });
    [mail.clone(), mail]
}

/// One token, before or after the thread parks.
fn one_token(flaws: Flaws<Flaw>) -> Race<()> {
    let [sleeper, waker] = mail(flaws);
    Race::new(|_| {})
        .thread(move || {
            sleeper.parker.park();
            // SAFETY: written before the token was left; the model checks that this is ordered.
            assert_eq!(sleeper.news.with(|news| unsafe { *news }), 1);
        })
        .thread(move || {
            // SAFETY: nobody reads before there is a token; the model checks that.
            waker.news.with_mut(|news| unsafe { *news = 1 });
            waker.parker.unpark();
        })
}

#[test]
fn loom_a_token_left_before_or_after_parking_ends_it() {
    race::<2, _>(|| one_token(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_parking_without_a_look_at_the_token_can_be_for_ever() {
    oversleeping_race::<2, _>(|flawed| one_token(Flaws::only_if(flawed, Flaw::IgnoreToken)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_waking_before_the_token_is_there_wakes_nobody() {
    oversleeping_race::<2, _>(|flawed| one_token(Flaws::only_if(flawed, Flaw::WakeBeforeToken)));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_token_brings_no_news() {
    race::<2, _>(|| one_token(Flaws::only(Flaw::RelaxedToken)));
}

/// A thread that parks until a condition is true, on a parker with a token left over from somebody else:
/// the token for the condition can come while the old one is being taken.
fn two_tokens(flaws: Flaws<Flaw>) -> Race<()> {
    let [sleeper, waker] = mail(flaws);
    let condition = Rc::new(AtomicU32::new(0));
    let come_true = condition.clone();
    sleeper.parker.unpark();
    Race::new(|_| {})
        .thread(move || {
            while condition.load(Ordering::Relaxed) == 0 {
                sleeper.parker.park();
            }
        })
        .thread(move || {
            come_true.store(1, Ordering::Relaxed);
            waker.parker.unpark();
        })
}

#[test]
fn loom_a_token_that_comes_while_another_is_taken_counts() {
    race::<2, _>(|| two_tokens(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_taking_a_token_with_a_plain_store_can_wipe_out_another() {
    oversleeping_race::<2, _>(|flawed| two_tokens(Flaws::only_if(flawed, Flaw::TakeBlindly)));
}
