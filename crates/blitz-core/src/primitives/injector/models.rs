//! Loom models of the injector and of the ring inside it.
//!
//! Each model exists as shipped, where it must pass, and with flaws, where it must fail. A producer or
//! consumer that sleeps for ever makes the
//! model endless, which loom reports (see `futex`).

use super::*;
use crate::primitives::futex::model_that_oversleeps;
use crate::sync::Arc;
use loom::thread;

const SOUND: Flaws<Flaw> = Flaws::NONE;
const SOUND_RING: Flaws<RingFlaw> = Flaws::NONE;

fn injector(
    policy: FullPolicy,
    flaws: Flaws<Flaw>,
    ring_flaws: Flaws<RingFlaw>,
) -> Arc<Injector<usize>> {
    Arc::new(Injector::with_flaws(2, policy, flaws, ring_flaws))
}

fn pop_all(queue: &Injector<usize>) -> Vec<usize> {
    std::iter::from_fn(|| queue.pop()).collect()
}

/// One producer, one consumer.
fn hand_over(ring_flaws: Flaws<RingFlaw>) {
    loom::model(move || {
        let queue = injector(FullPolicy::Refuse, SOUND, ring_flaws);
        let producer = {
            let queue = queue.clone();
            thread::spawn(move || queue.push(1).unwrap())
        };
        let early = queue.pop();
        producer.join().unwrap();
        assert_eq!(early.or_else(|| queue.pop()), Some(1));
        assert_eq!(queue.pop(), None);
    });
}

#[test]
fn loom_an_element_is_handed_over_with_its_content() {
    hand_over(SOUND_RING);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_cell_filled_without_release_is_a_race() {
    hand_over(Flaws::only(RingFlaw::RelaxedFill));
}

#[test]
fn loom_two_producers_one_consumer() {
    loom::model(|| {
        let queue = injector(FullPolicy::Refuse, SOUND, SOUND_RING);
        let producers = [1, 2].map(|element| {
            let queue = queue.clone();
            thread::spawn(move || queue.push(element).unwrap())
        });
        let early = queue.pop();
        for producer in producers {
            producer.join().unwrap();
        }
        let mut all = pop_all(&queue);
        all.extend(early);
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
    });
}

/// One producer laps a ring of two while a consumer empties it: cells change hands in both
/// directions, and "full" is met.
fn second_lap(ring_flaws: Flaws<RingFlaw>) {
    loom::model(move || {
        let queue = injector(FullPolicy::Refuse, SOUND, ring_flaws);
        queue.push(1).unwrap();
        queue.push(2).unwrap();
        let consumer = {
            let queue = queue.clone();
            thread::spawn(move || [queue.pop(), queue.pop()])
        };
        let refused = queue.push(3).err().map(Full::into_inner);
        let mut all: Vec<_> = consumer.join().unwrap().into_iter().flatten().collect();
        assert!(all.starts_with(&[1]), "the oldest was there all along");
        all.extend(pop_all(&queue));
        all.extend(refused);
        assert_eq!(all, [1, 2, 3], "lost, doubled or out of order");
    });
}

#[test]
fn loom_a_cell_is_used_again_only_when_it_is_empty() {
    second_lap(SOUND_RING);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_cell_recycled_without_release_is_a_race() {
    second_lap(Flaws::only(RingFlaw::RelaxedRecycle));
}

#[test]
fn loom_two_consumers_never_get_the_same_element() {
    loom::model(|| {
        let queue = injector(FullPolicy::Refuse, SOUND, SOUND_RING);
        queue.push(1).unwrap();
        let consumers = [(); 2].map(|()| {
            let queue = queue.clone();
            thread::spawn(move || queue.pop())
        });
        queue.push(2).unwrap();
        let mut all: Vec<_> = consumers
            .into_iter()
            .filter_map(|consumer| consumer.join().unwrap())
            .collect();
        assert!(!all.is_empty(), "one element was there all along");
        all.extend(pop_all(&queue));
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
    });
}

/// A push that has happened before is found even if an older one is still in progress.
fn older_push_in_progress(ring_flaws: Flaws<RingFlaw>) {
    loom::model(move || {
        let queue = injector(FullPolicy::Refuse, SOUND, ring_flaws);
        let slow = {
            let queue = queue.clone();
            thread::spawn(move || queue.push(1).unwrap())
        };
        queue.push(2).unwrap();
        assert!(!queue.is_empty(), "an element was overlooked");
        assert!(queue.pop().is_some(), "an element was overlooked");
        slow.join().unwrap();
        assert!(queue.pop().is_some() && queue.pop().is_none());
    });
}

#[test]
fn loom_a_finished_push_is_found_behind_an_unfinished_one() {
    older_push_in_progress(SOUND_RING);
}

#[test]
#[should_panic(expected = "an element was overlooked")]
fn loom_giving_up_on_a_cell_in_flight_overlooks_elements() {
    older_push_in_progress(Flaws::only(RingFlaw::EmptyWhileInFlight));
}

/// Two consumers at a queue that has spilled: one refills the ring while the other looks.
fn refill(flaws: Flaws<Flaw>) {
    loom::model(move || {
        let queue = injector(FullPolicy::Grow, flaws, SOUND_RING);
        (1..=4).for_each(|element| queue.push(element).unwrap());
        assert_eq!((queue.pop(), queue.pop()), (Some(1), Some(2)));
        // The ring is empty and the list holds 3 and 4: the next pop takes 3 and moves 4.
        let other = {
            let queue = queue.clone();
            thread::spawn(move || queue.pop())
        };
        let popped = [queue.pop(), other.join().unwrap()];
        let mut all: Vec<_> = popped.into_iter().flatten().collect();
        all.sort_unstable();
        assert_eq!(all, [3, 4], "two elements for two pops");
        assert!(queue.is_empty() && queue.pop().is_none());
    });
}

#[test]
fn loom_nothing_is_overlooked_on_its_way_from_list_to_ring() {
    refill(SOUND);
}

#[test]
#[should_panic(expected = "two elements for two pops")]
fn loom_looking_at_the_list_last_overlooks_a_moving_element() {
    refill(Flaws::only(Flaw::SpilledReadLate));
}

/// One producer goes from ring to list and back while a consumer pops: order is kept.
fn order_of_one_producer(flaws: Flaws<Flaw>) {
    loom::model(move || {
        let queue = injector(FullPolicy::Grow, flaws, SOUND_RING);
        let consumer = {
            let queue = queue.clone();
            thread::spawn(move || [queue.pop(), queue.pop()])
        };
        (1..=4).for_each(|element| queue.push(element).unwrap());
        let mut all: Vec<_> = consumer.join().unwrap().into_iter().flatten().collect();
        all.extend(pop_all(&queue));
        assert_eq!(all, [1, 2, 3, 4], "out of order");
    });
}

#[test]
fn loom_one_producers_elements_stay_in_order_across_the_list() {
    order_of_one_producer(SOUND);
}

#[test]
#[should_panic(expected = "out of order")]
fn loom_overtaking_the_list_breaks_the_order() {
    order_of_one_producer(Flaws::only(Flaw::OvertakeSpilled));
}

/// A consumer that found the ring empty must not take from the list what came long after.
fn ring_before_list(flaws: Flaws<Flaw>) {
    loom::model(move || {
        let queue = injector(FullPolicy::Grow, flaws, SOUND_RING);
        (1..=3).for_each(|element| queue.push(element).unwrap());
        let other = {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut popped: Vec<_> = [queue.pop(), queue.pop()].into_iter().flatten().collect();
                (4..=6).for_each(|element| queue.push(element).unwrap());
                popped.dedup();
                popped.len()
            })
        };
        // Whatever we get from the producer of 4, 5 and 6 comes in its order.
        let ours: Vec<_> = [queue.pop(), queue.pop()].into_iter().flatten().collect();
        assert!(ours.is_sorted(), "out of order");
        other.join().unwrap();
        let rest = pop_all(&queue);
        assert!(rest.is_sorted(), "out of order");
        assert!(
            ours.iter()
                .all(|&early| rest.iter().all(|&late| early < late)),
            "out of order"
        );
    });
}

#[test]
fn loom_the_list_is_touched_only_when_the_ring_is_empty() {
    ring_before_list(SOUND);
}

#[test]
#[should_panic(expected = "out of order")]
fn loom_taking_from_the_list_on_an_old_look_at_the_ring_breaks_the_order() {
    ring_before_list(Flaws::only(Flaw::RingNotReexamined));
}

/// A producer that has to wait for room while the only consumer makes it.
fn blocked_producer(flaws: Flaws<Flaw>) {
    let queue = injector(FullPolicy::Block, flaws, SOUND_RING);
    queue.push(1).unwrap();
    queue.push(2).unwrap();
    let producer = {
        let queue = queue.clone();
        thread::spawn(move || queue.push(3).unwrap())
    };
    assert_eq!(queue.pop(), Some(1));
    producer.join().unwrap();
    assert_eq!(pop_all(&queue), [2, 3]);
}

#[test]
fn loom_a_blocked_producer_is_always_woken() {
    loom::model(|| blocked_producer(SOUND));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_sleeping_without_a_last_try_can_be_for_ever() {
    model_that_oversleeps(|| blocked_producer(Flaws::only(Flaw::SleepWithoutLastTry)));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_looking_for_sleepers_without_a_fence_can_miss_them() {
    model_that_oversleeps(|| blocked_producer(Flaws::only(Flaw::NoFenceAfterPop)));
}

#[test]
fn loom_two_blocked_producers_are_both_woken() {
    loom::model(|| {
        let queue = injector(FullPolicy::Block, SOUND, SOUND_RING);
        queue.push(1).unwrap();
        queue.push(2).unwrap();
        let producers = [3, 4].map(|element| {
            let queue = queue.clone();
            thread::spawn(move || queue.push(element).unwrap())
        });
        assert_eq!((queue.pop(), queue.pop()), (Some(1), Some(2)));
        for producer in producers {
            producer.join().unwrap();
        }
        let mut rest = pop_all(&queue);
        rest.sort_unstable();
        assert_eq!(rest, [3, 4]);
    });
}

/// The sleep protocol the engine builds on this queue: announce, fence, look; push, fence, look.
#[test]
fn loom_a_sleeper_and_a_producer_never_miss_each_other() {
    for policy in [FullPolicy::Grow, FullPolicy::Refuse] {
        loom::model(move || {
            let queue = injector(policy, SOUND, SOUND_RING);
            let asleep = Arc::new(crate::sync::AtomicBool::new(false));
            let sleeper = {
                let (queue, asleep) = (queue.clone(), asleep.clone());
                thread::spawn(move || {
                    asleep.store(true, Ordering::Relaxed);
                    fence(Ordering::SeqCst);
                    queue.is_empty()
                })
            };
            queue.push(1).unwrap();
            fence(Ordering::SeqCst);
            let seen_asleep = asleep.load(Ordering::Relaxed);
            let saw_empty = sleeper.join().unwrap();
            assert!(seen_asleep || !saw_empty, "lost wake-up");
        });
    }
}
