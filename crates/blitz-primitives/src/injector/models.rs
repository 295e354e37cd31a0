//! Loom models of the injector and of the ring inside it.
//!
//! Each model exists as shipped, where it must pass, and with flaws, where it must fail. The expected
//! message "maximum number of branches" stands for a thread that sleeps for ever.

use super::*;
use crate::model::{Race, oversleeping_race, race};
use crate::sync::Arc;

const SOUND: Flaws<Flaw> = Flaws::NONE;
const SOUND_RING: Flaws<RingFlaw> = Flaws::NONE;

type Queue = Arc<Injector<usize>>;

fn queue(policy: FullPolicy, flaws: Flaws<Flaw>, ring_flaws: Flaws<RingFlaw>) -> Queue {
    Arc::new(Injector::with_flaws(2, policy, flaws, ring_flaws))
}

fn push_all(queue: &Queue, elements: impl IntoIterator<Item = usize>) {
    for element in elements {
        queue.push(element).unwrap();
    }
}

fn pop(queue: &Queue, attempts: usize) -> Vec<usize> {
    (0..attempts).filter_map(|_| queue.pop()).collect()
}

/// A race at whose end the popped elements and what is left in the queue are `1..=n`.
fn each_once(queue: &Queue, n: usize) -> Race<Vec<usize>> {
    let queue = queue.clone();
    Race::new(move |popped: Vec<Vec<usize>>| {
        let mut all = popped.concat();
        all.extend(pop(&queue, n + 1));
        all.sort_unstable();
        assert_eq!(all, (1..=n).collect::<Vec<_>>(), "lost or doubled");
        assert!(queue.is_empty());
    })
}

/// One producer, one consumer.
fn hand_over(ring_flaws: Flaws<RingFlaw>) {
    race::<2, _>(move || {
        let producer = queue(FullPolicy::Refuse, SOUND, ring_flaws);
        let consumer = producer.clone();
        each_once(&producer.clone(), 1)
            .thread(move || {
                push_all(&producer, [1]);
                Vec::new()
            })
            .thread(move || pop(&consumer, 1))
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

/// Two elements with a token each. Whoever sees a token pops once, perhaps the other one's element: nobody is told that there is none.
fn an_element_for_each_token(ring_flaws: Flaws<RingFlaw>) {
    race::<3, _>(move || {
        let queue = queue(FullPolicy::Refuse, SOUND, ring_flaws);
        let tokens = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let consumer = |token: usize| {
            let (queue, tokens) = (queue.clone(), tokens.clone());
            move || {
                if tokens[token].load(Ordering::Acquire) == 0 {
                    return Vec::new();
                }
                vec![queue.pop().expect("an element for each token")]
            }
        };
        let (first, second) = (consumer(0), consumer(1));
        let producer = queue.clone();
        each_once(&queue, 2)
            .thread(move || {
                for (token, element) in [(0, 1), (1, 2)] {
                    push_all(&producer, [element]);
                    tokens[token].store(1, Ordering::Release);
                }
                Vec::new()
            })
            .thread(first)
            .thread(second)
    });
}

#[test]
fn loom_there_is_an_element_for_each_token() {
    an_element_for_each_token(SOUND_RING);
}

#[test]
#[should_panic(expected = "an element for each token")]
fn loom_a_pop_that_does_not_learn_what_others_knew_overlooks_an_element() {
    an_element_for_each_token(Flaws::only(RingFlaw::RelaxedHead));
}

#[test]
fn loom_two_producers_one_consumer() {
    race::<3, _>(|| {
        let queue = queue(FullPolicy::Refuse, SOUND, SOUND_RING);
        let [one, two, consumer] = [(); 3].map(|()| queue.clone());
        each_once(&queue, 2)
            .thread(move || {
                push_all(&one, [1]);
                Vec::new()
            })
            .thread(move || {
                push_all(&two, [2]);
                Vec::new()
            })
            .thread(move || pop(&consumer, 1))
    });
}

/// A producer laps a ring of two while a consumer empties it: cells change hands in both
/// directions, and "full" is met.
fn second_lap(ring_flaws: Flaws<RingFlaw>) {
    race::<2, _>(move || {
        let queue = queue(FullPolicy::Refuse, SOUND, ring_flaws);
        push_all(&queue, [1, 2]);
        let [producer, consumer] = [(); 2].map(|()| queue.clone());
        Race::new(move |mut results: Vec<Vec<usize>>| {
            let refused = results.remove(0);
            let mut all = results.remove(0);
            assert_eq!(all.first(), Some(&1), "the oldest was there all along");
            all.extend(pop(&queue, 3));
            all.extend(refused);
            assert_eq!(all, [1, 2, 3], "lost, doubled or out of order");
        })
        .thread(move || {
            let refused = producer.push(3).err();
            refused.map(Full::into_inner).into_iter().collect()
        })
        .thread(move || pop(&consumer, 2))
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
    race::<3, _>(|| {
        let queue = queue(FullPolicy::Refuse, SOUND, SOUND_RING);
        push_all(&queue, [1]);
        let [producer, one, two] = [(); 3].map(|()| queue.clone());
        each_once(&queue, 2)
            .thread(move || {
                push_all(&producer, [2]);
                Vec::new()
            })
            .thread(move || pop(&one, 1))
            .thread(move || pop(&two, 1))
    });
}

/// A push that has happened before is found even if an older one is still in progress.
fn older_push_in_progress(ring_flaws: Flaws<RingFlaw>) {
    race::<2, _>(move || {
        let slow = queue(FullPolicy::Refuse, SOUND, ring_flaws);
        let fast = slow.clone();
        each_once(&slow.clone(), 2)
            .thread(move || {
                push_all(&slow, [1]);
                Vec::new()
            })
            .thread(move || {
                push_all(&fast, [2]);
                assert!(!fast.is_empty(), "overlooked an element");
                let popped = pop(&fast, 1);
                assert!(!popped.is_empty(), "overlooked an element");
                popped
            })
    });
}

#[test]
fn loom_a_finished_push_is_found_behind_an_unfinished_one() {
    older_push_in_progress(SOUND_RING);
}

#[test]
#[should_panic(expected = "overlooked an element")]
fn loom_giving_up_on_a_cell_in_flight_overlooks_elements() {
    older_push_in_progress(Flaws::only(RingFlaw::EmptyWhileInFlight));
}

/// Two consumers at a queue that has spilled: one refills the ring while the other looks.
fn refill(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let queue = queue(FullPolicy::Grow, flaws, SOUND_RING);
        push_all(&queue, [9, 9, 1, 2]);
        assert_eq!(pop(&queue, 2), [9, 9]);
        // The ring is empty and the list holds 1 and 2: the next pop takes 1 and moves 2.
        let [one, two] = [(); 2].map(|()| queue.clone());
        let pop_one = |queue: Queue| {
            let popped = pop(&queue, 1);
            assert_eq!(popped.len(), 1, "overlooked an element");
            popped
        };
        each_once(&queue, 2)
            .thread(move || pop_one(one))
            .thread(move || pop_one(two))
    });
}

#[test]
fn loom_nothing_is_overlooked_on_its_way_from_list_to_ring() {
    refill(SOUND);
}

#[test]
#[should_panic(expected = "overlooked an element")]
fn loom_looking_at_the_list_last_overlooks_a_moving_element() {
    refill(Flaws::only(Flaw::SpilledReadLate));
}

#[test]
fn loom_is_empty_never_overlooks_an_element_on_its_way_from_list_to_ring() {
    race::<2, _>(|| {
        let queue = queue(FullPolicy::Grow, SOUND, SOUND_RING);
        push_all(&queue, [9, 9, 1, 2]);
        assert_eq!(pop(&queue, 2), [9, 9]);
        let [consumer, observer] = [(); 2].map(|()| queue.clone());
        each_once(&queue, 2)
            .thread(move || pop(&consumer, 1))
            .thread(move || {
                assert!(!observer.is_empty(), "one of two elements stays");
                Vec::new()
            })
    });
}

/// One producer goes from ring to list and back while a consumer pops: order is kept.
fn order_of_one_producer(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let queue = queue(FullPolicy::Grow, flaws, SOUND_RING);
        let [producer, consumer] = [(); 2].map(|()| queue.clone());
        Race::new(move |popped: Vec<Vec<usize>>| {
            let mut all = popped.concat();
            all.extend(pop(&queue, 5));
            assert_eq!(all, [1, 2, 3, 4], "lost, doubled or out of order");
        })
        .thread(move || {
            push_all(&producer, 1..=4);
            Vec::new()
        })
        .thread(move || pop(&consumer, 2))
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
    race::<2, _>(move || {
        let queue = queue(FullPolicy::Grow, flaws, SOUND_RING);
        push_all(&queue, [1, 2, 3]);
        let [producer, consumer] = [(); 2].map(|()| queue.clone());
        Race::new(move |mut popped: Vec<Vec<usize>>| {
            // Whatever the consumer got is in order and older than what is left.
            let mut all = popped.remove(1);
            all.extend(pop(&queue, 7));
            assert!(all.is_sorted(), "out of order: {all:?}");
        })
        .thread(move || {
            let popped = pop(&producer, 2);
            push_all(&producer, 4..=6);
            popped
        })
        .thread(move || pop(&consumer, 2))
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
fn blocked_producer(flaws: Flaws<Flaw>, pop: fn(&Queue) -> Option<usize>) -> Race<Vec<usize>> {
    let queue = queue(FullPolicy::Block, flaws, SOUND_RING);
    push_all(&queue, [1, 2]);
    let [producer, consumer] = [(); 2].map(|()| queue.clone());
    each_once(&queue, 3)
        .thread(move || {
            push_all(&producer, [3]);
            Vec::new()
        })
        .thread(move || pop(&consumer).into_iter().collect())
}

/// `pop`, with the few steps in which a cell is in flight as one. Two threads that do nothing but
/// yield until those steps are done would keep each other busy for ever: loom is not a fair
/// scheduler.
fn pop_at_once(queue: &Queue) -> Option<usize> {
    loom::stop_exploring();
    let element = queue.ring.try_pop()?;
    loom::explore();
    queue.announce_room();
    Some(element)
}

#[test]
fn loom_a_blocked_producer_is_always_woken() {
    race::<2, _>(|| blocked_producer(SOUND, |queue| queue.pop()));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_sleeping_without_a_last_try_can_be_for_ever() {
    oversleeping_race::<2, _>(|flawed| {
        let flaws = Flaws::only_if(flawed, Flaw::SleepWithoutLastTry);
        blocked_producer(flaws, pop_at_once)
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_looking_for_sleepers_without_a_fence_can_miss_them() {
    oversleeping_race::<2, _>(|flawed| {
        let flaws = Flaws::only_if(flawed, Flaw::NoFenceAfterPop);
        blocked_producer(flaws, pop_at_once)
    });
}

#[test]
fn loom_two_blocked_producers_are_both_woken() {
    race::<3, _>(|| {
        let queue = queue(FullPolicy::Block, SOUND, SOUND_RING);
        push_all(&queue, [1, 2]);
        let [one, two, consumer] = [(); 3].map(|()| queue.clone());
        each_once(&queue, 4)
            .thread(move || {
                push_all(&one, [3]);
                Vec::new()
            })
            .thread(move || {
                push_all(&two, [4]);
                Vec::new()
            })
            .thread(move || {
                vec![
                    pop_at_once(&consumer).unwrap(),
                    pop_at_once(&consumer).unwrap(),
                ]
            })
    });
}

/// The sleep protocol the engine builds on this queue: announce, fence, look; push, fence, look.
#[test]
fn loom_a_sleeper_and_a_producer_never_miss_each_other() {
    for policy in [FullPolicy::Grow, FullPolicy::Refuse] {
        race::<2, _>(move || {
            let pushed = queue(policy, SOUND, SOUND_RING);
            let looked = pushed.clone();
            let announced = Arc::new(crate::sync::AtomicBool::new(false));
            let asleep = announced.clone();
            Race::new(|saw_the_other: Vec<bool>| {
                assert!(saw_the_other.contains(&true), "lost wake-up");
            })
            .thread(move || {
                push_all(&pushed, [1]);
                fence(Ordering::SeqCst);
                asleep.load(Ordering::Relaxed)
            })
            .thread(move || {
                announced.store(true, Ordering::Relaxed);
                fence(Ordering::SeqCst);
                !looked.is_empty()
            })
        });
    }
}
