//! The join stack, one thread at a time, and beside its rules as plain code.

use super::*;
use crate::context::Context;
use crate::rules;

unsafe fn never(_job: *const Job) {}

#[test]
fn a_look_in_vain_asks_once_for_each_context_however_many_forks_there_are() {
    const FORKS: usize = 4000;
    let stack = JoinStack::new();
    let job = Job { execute: never };
    let contexts = [const { Context::new(ptr::null()) }; 2];
    let mut places = Vec::new();
    for at in 0..FORKS {
        if at == 0 || at == FORKS / 2 {
            // SAFETY: nobody else is here.
            unsafe { stack.begin_context(&raw const contexts[usize::from(at > 0)], 0) };
        }
        // SAFETY: as above, and the job outlives the stack.
        places.push(unsafe { stack.push(&raw const job).0 });
    }
    assert!(stack.thief().force());
    let mut asked = Vec::new();
    let stolen = stack.thief().steal(1, |context| {
        asked.push(context);
        false
    });
    assert!(stolen.is_none());
    assert_eq!(asked, contexts.each_ref().map(ptr::from_ref));
    // Each fork is found in its context, the oldest first.
    let stolen = stack
        .thief()
        .steal(1, |context| ptr::eq(context, &raw const contexts[1]));
    let slot = stolen.unwrap().slot;
    assert!(ptr::eq(slot, places[FORKS / 2].0));
    assert!(ptr::eq(slot.context().parent(), &raw const contexts[1]));
}

#[test]
fn a_fork_made_in_a_stolen_one_has_a_higher_level_and_lower_ones_are_left_alone() {
    let job = Job { execute: never };
    let contexts = [const { Context::new(ptr::null()) }; 2];
    let [owner, thief] = [JoinStack::new(), JoinStack::new()];
    let push = |stack: &JoinStack| {
        // SAFETY: nobody else is here, and the job outlives the stack.
        unsafe { stack.push(&raw const job) };
    };
    // SAFETY: as above.
    unsafe { owner.begin_context(&raw const contexts[0], 0) };
    (0..3).for_each(|_| push(&owner));
    assert!(owner.thief().force());
    let stolen = owner.thief().steal(1, |_| true).unwrap();
    assert_eq!(stolen.level, 0);
    // What the thief forks is behind the fork that it has, wherever it lies on the thief's stack.
    push(&thief);
    // SAFETY: as above.
    let before = unsafe { thief.begin_context(stolen.slot.context(), stolen.level + 1) };
    (0..2).for_each(|_| push(&thief));
    assert!(thief.thief().force());
    let in_stolen = |context| ptr::eq(context, stolen.slot.context());
    let taken = thief.thief().steal(2, in_stolen).unwrap();
    assert_eq!(taken.level, 1);
    // SAFETY: as above.
    assert_eq!(unsafe { thief.level() }, 3);
    // Of the owner's other two, which have levels 1 and 2, the second.
    let taken = owner.thief().steal_from_level(2, 2, |_| true).unwrap();
    assert_eq!(taken.level, 2);
    assert!(owner.thief().steal_from_level(2, 2, |_| true).is_none());
    assert_eq!(owner.thief().steal(2, |_| true).unwrap().level, 1);
    let _ = before;
}

#[test]
fn a_fork_that_is_kept_private_is_so_only_alone_and_if_it_is_of_that_kind() {
    unsafe fn other(_job: *const Job) {
        unreachable!("nobody runs it");
    }
    let context = Context::new(ptr::null());
    let [job, another] = [Job { execute: never }, Job { execute: other }];
    let stack = JoinStack::new();
    // SAFETY: here and below: nobody else is here, and jobs and context outlive the stack.
    unsafe { stack.begin_context(&raw const context, 0) };
    stack.keep_private(Some(never));
    // SAFETY: as above.
    let push = |job: &Job| unsafe { stack.push(job) };
    // SAFETY: as above, and the newest is popped.
    let pop = |place| unsafe { stack.pop(place) };
    let (place, pushed) = push(&another);
    assert_eq!(
        (pushed, pop(place)),
        (Some(Pushed::Public), Popped::Retaken)
    );
    let (place, pushed) = push(&job);
    assert_eq!((pushed, pop(place)), (Some(Pushed::Kept), Popped::Ours));
    // One above it shows both.
    let (below, pushed) = push(&job);
    assert_eq!(pushed, Some(Pushed::Kept));
    assert!(!stack.thief().sees_work() && stack.thief().sees_private());
    let (above, pushed) = push(&job);
    assert_eq!(pushed, Some(Pushed::Public));
    assert!(stack.thief().sees_work() && !stack.thief().sees_private());
    assert_eq!((pop(above), pop(below)), (Popped::Retaken, Popped::Retaken));
    // And so does a thief.
    let (place, pushed) = push(&job);
    assert_eq!(pushed, Some(Pushed::Kept));
    assert!(stack.thief().force() && stack.thief().sees_work());
    assert_eq!(pop(place), Popped::Retaken);
    stack.keep_private(None);
    assert_eq!(push(&job).1, Some(Pushed::Public));
}

/// The simulator follows `rules::Stack`; this follows both.
#[test]
fn the_rules_as_plain_code_say_what_the_stack_does() {
    let mut rng = blitz_primitives::XorShift64Star::new(7);
    for _ in 0..200 {
        let job = Job { execute: never };
        let context = Context::new(ptr::null());
        let real = JoinStack::new();
        // SAFETY: nobody else is here.
        unsafe { real.begin_context(&raw const context, 0) };
        let mut told = rules::Stack::default();
        let mut places = Vec::new();
        for _ in 0..200 {
            match rng.below(10) {
                0..4 => {
                    // SAFETY: as above, and the job outlives the stack.
                    let (place, pushed) = unsafe { real.push(&raw const job) };
                    places.push(place);
                    assert_eq!(told.push(), pushed == Some(Pushed::Public));
                }
                4..7 => {
                    let Some(place) = places.pop() else { continue };
                    // SAFETY: as above; it is the newest.
                    let popped = unsafe { real.pop(place) };
                    let expected = match popped {
                        Popped::Ours => rules::Popped::Ours,
                        Popped::Retaken => rules::Popped::Retaken,
                        Popped::Stolen => rules::Popped::Stolen,
                    };
                    assert_eq!(told.pop(), expected);
                    if popped == Popped::Stolen {
                        // SAFETY: as above.
                        unsafe {
                            real.stolen_slot().complete();
                            real.reclaim();
                        }
                        told.reclaim();
                    }
                }
                7 if rng.below(2) == 0 => assert_eq!(told.force(), real.thief().force()),
                7 => {
                    // SAFETY: as above.
                    unsafe { real.show() };
                    told.force();
                }
                _ => {
                    let lowest = rng.below(4);
                    let stolen = real.thief().steal_from_level(lowest as u32, 1, |_| true);
                    let level = stolen.map(|stolen| stolen.level as usize);
                    assert_eq!(told.steal(|slot| slot >= lowest), level);
                }
            }
            assert_eq!(told.depth(), real.depth());
            assert_eq!(told.sees_work(), real.thief().sees_work());
            assert_eq!(told.sees_private(), real.thief().sees_private());
            assert_eq!(told.sees_work(), real.shows_work());
            assert_eq!(told.sees_private(), real.hides_work());
        }
    }
}
