//! Loom models of the join stack: an owner that forks and joins, and thieves.
//!
//! The frame of each fork is watched by loom's `UnsafeCell`s: the "closure" is written before the push and
//! read by whoever runs it, the "result" is written there and read by the owner, who then overwrites
//! both, as the next call that uses the stack would. Any access by a thief that is not ordered before that
//! is a "Causality violation". Each fork runs exactly once.

use super::*;
use crate::context::{Context, ValueContext, provided_to};
use blitz_primitives::Parker;
use blitz_primitives::fence::model::{set_light_is_free, set_refused, set_switches};
use blitz_primitives::model::{Race, oversleeping_race, race};
use loom::cell::UnsafeCell;
use std::rc::Rc;
use std::sync::atomic::AtomicU32 as PlainU32;

/// A fork in the frame of a join.
#[repr(C)]
struct Frame {
    job: Job,
    closure: UnsafeCell<u32>,
    result: UnsafeCell<u32>,
    /// Not loom's: no part of the protocol.
    runs: PlainU32,
}

const CLOSURE: u32 = 7;
const RESULT: u32 = 8;
const DEAD: u32 = 99;

impl Frame {
    fn new() -> Self {
        Frame {
            job: Job {
                execute: Self::execute,
            },
            closure: UnsafeCell::new(0),
            result: UnsafeCell::new(0),
            runs: PlainU32::new(0),
        }
    }

    /// # Safety
    /// `job` is the head of a `Frame` that lives as long as the model.
    unsafe fn execute(job: *const Job) {
        // SAFETY: by contract.
        unsafe { (*job.cast::<Self>()).run() }
    }

    fn run(&self) {
        let runs = self.runs.fetch_add(1, Ordering::Relaxed);
        assert_eq!(runs, 0, "a fork ran twice");
        // SAFETY: written before the push; the model checks that this is ordered.
        let closure = self.closure.with(|closure| unsafe { *closure });
        assert_eq!(closure, CLOSURE, "ran a dead frame");
        // SAFETY: whoever runs the fork has it alone; the model checks that.
        self.result.with_mut(|result| unsafe { *result = RESULT });
    }

    fn prepare(&self) {
        // SAFETY: nobody knows the frame before it is pushed; the model checks that.
        self.closure
            .with_mut(|closure| unsafe { *closure = CLOSURE });
    }

    /// The owner takes the result and returns from the function whose frame this is.
    fn die(&self) {
        // SAFETY: a thief is done with the frame when its slot is; the model checks that.
        let result = self
            .result
            .with_mut(|result| unsafe { result.replace(DEAD) });
        assert_eq!(result, RESULT, "no result");
        // SAFETY: as above.
        self.closure.with_mut(|closure| unsafe { *closure = DEAD });
    }
}

/// A stack, the forks that are to be pushed on it, and where its owner parks.
struct World {
    stack: JoinStack,
    frames: [Frame; 3],
    parker: Parker,
}

impl World {
    fn fresh(flaws: Flaws<Flaw>) -> Rc<Self> {
        Rc::new(World {
            stack: JoinStack::with_flaws(flaws),
            frames: std::array::from_fn(|_| Frame::new()),
            parker: Parker::new(),
        })
    }

    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        let world = Self::fresh(flaws);
        // Leave a trace in every slot: a thief that looks too early finds a frame, not a null pointer.
        // SAFETY: nobody else is here.
        unsafe {
            let push = |frame: &Frame| world.stack.push(&raw const frame.job).0;
            let [one, two, three] = world.frames.each_ref().map(push);
            for place in [three, two, one] {
                world.stack.pop(place);
            }
        }
        world
    }

    // The owner's side. One thread at a time calls these.

    fn fork(&self, fork: usize) -> Place {
        self.fork_and_tell(fork).0
    }

    fn fork_and_tell(&self, fork: usize) -> (Place, Option<Pushed>) {
        let frame = &self.frames[fork];
        frame.prepare();
        // SAFETY: this thread is the owner, and the frame lives as long as the model.
        let (place, pushed) = unsafe { self.stack.push(&raw const frame.job) };
        assert_ne!(pushed, Some(Pushed::Full), "the models are not that deep");
        (place, pushed)
    }

    fn join(&self, fork: usize, place: Place) {
        // SAFETY: this thread is the owner, and joins in the reverse order of its forks.
        match unsafe { self.stack.pop(place) } {
            Popped::Ours | Popped::Retaken => self.frames[fork].run(),
            Popped::Stolen => {
                // SAFETY: as `pop` said.
                let slot = unsafe { self.stack.stolen_slot() };
                while !slot.is_done() {
                    yield_now();
                }
                // SAFETY: as `pop` said, and the slot is done.
                unsafe { self.stack.reclaim() };
            }
        }
        self.frames[fork].die();
    }

    // A thief's side.

    /// Takes a fork if there is one, and runs it.
    fn steal(&self, thief: usize) -> bool {
        let stolen = self.stack.thief().steal(thief, |_| true);
        stolen.is_some_and(|stolen| self.run(&stolen))
    }

    /// Exposes private forks, then takes the oldest that was made in `context`.
    fn force_and_steal(&self, thief: usize, context: *const Context) -> bool {
        self.stack.thief().force();
        let stolen = self.stack.thief().steal(thief, |made| made == context);
        stolen.is_some_and(|stolen| self.run(&stolen))
    }

    fn run(&self, stolen: &Stolen<'_>) -> bool {
        // SAFETY: stolen, so ours to run.
        unsafe { ((*stolen.job).execute)(stolen.job) };
        if stolen.slot.complete() {
            self.parker.unpark();
        }
        true
    }

    /// A race at whose end the forks on the stack (`left`) are joined, and the first `forks` have run.
    fn each_once(self: &Rc<Self>, forks: usize, left: Option<Place>) -> Race<()> {
        let world = self.clone();
        Race::new(move |_| {
            if let Some(place) = left {
                world.join(0, place);
            }
            for frame in &world.frames[..forks] {
                assert_eq!(frame.runs.load(Ordering::Relaxed), 1, "a fork was lost");
            }
        })
    }
}

/// Contexts are known by their addresses; nobody looks inside.
const OUTER: *const Context = ptr::without_provenance(0x10);
const INNER: *const Context = ptr::without_provenance(0x20);
const OTHER: *const Context = ptr::without_provenance(0x30);

/// A world whose owner has a public fork (number 0) made in `OUTER`, and now runs something in `INNER`. So
/// further forks are private, and a thief can ask for them without taking the first.
fn with_a_public_fork(flaws: Flaws<Flaw>) -> (Rc<World>, Place) {
    let world = World::new(flaws);
    // SAFETY: nobody else is here.
    unsafe { world.stack.begin_context(OUTER, 0) };
    let (place, pushed) = world.fork_and_tell(0);
    assert_eq!(pushed, Some(Pushed::Public), "nothing else was public");
    // SAFETY: as above.
    unsafe { world.stack.begin_context(INNER, 5) };
    (world, place)
}

/// Runs a model on both paths of `pop`: with a light fence that is free, and with one that is not.
fn with_both_fences(model: impl Fn()) {
    for free in [false, true] {
        set_light_is_free(free);
        model();
    }
}

/// One fork, public from the start: the owner takes it back, or a thief has it.
fn last_public_fork(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let owner = World::new(flaws);
        let thief = owner.clone();
        owner
            .each_once(1, None)
            .thread(move || {
                let place = owner.fork(0);
                owner.join(0, place);
            })
            .thread(move || {
                thief.steal(1);
            })
    });
}

#[test]
fn loom_a_public_fork_goes_to_the_owner_or_to_the_thief() {
    with_both_fences(|| last_public_fork(Flaws::NONE));
}

#[test]
#[should_panic(expected = "a fork ran twice")]
fn loom_taking_back_a_public_fork_without_asking_runs_it_twice() {
    last_public_fork(Flaws::only(Flaw::PopIgnoresThief));
}

#[test]
#[should_panic(expected = "a fork ran twice")]
fn loom_a_relaxed_unlock_does_not_tell_of_a_theft() {
    last_public_fork(Flaws::only(Flaw::RelaxedUnlock));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_completion_does_not_publish_the_result() {
    last_public_fork(Flaws::only(Flaw::RelaxedComplete));
}

/// A thief forces a private fork into the open while the owner takes it back.
fn forced_against_pop(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let (owner, left) = with_a_public_fork(flaws);
        let place = owner.fork(1);
        let thief = owner.clone();
        owner
            .each_once(2, Some(left))
            .thread(move || owner.join(1, place))
            .thread(move || {
                thief.force_and_steal(1, INNER);
            })
    });
}

#[test]
fn loom_a_forced_fork_runs_once() {
    with_both_fences(|| forced_against_pop(Flaws::NONE));
}

#[test]
#[should_panic(expected = "a fork ran twice")]
fn loom_without_the_light_fence_a_forced_fork_runs_twice() {
    set_light_is_free(true);
    forced_against_pop(Flaws::only(Flaw::NoLightFence));
}

#[test]
#[should_panic(expected = "a fork ran twice")]
fn loom_without_the_fence_out_of_line_a_forced_fork_runs_twice() {
    set_light_is_free(false);
    forced_against_pop(Flaws::only(Flaw::NoLightFence));
}

#[test]
#[should_panic(expected = "a fork ran twice")]
fn loom_forcing_without_a_second_look_exposes_a_fork_that_is_gone() {
    forced_against_pop(Flaws::only(Flaw::NoSecondLook));
}

#[test]
fn loom_a_force_whose_fence_the_kernel_refuses_changes_nothing() {
    set_refused(true);
    with_both_fences(|| forced_against_pop(Flaws::NONE));
}

#[test]
#[should_panic(expected = "a fork ran twice")]
fn loom_forcing_without_the_heavy_fence_runs_a_fork_twice() {
    set_refused(true);
    forced_against_pop(Flaws::only(Flaw::ForceUnfenced));
}

/// The owner pops a private fork and pushes another one in its place while a thief forces it.
#[test]
fn loom_a_fork_in_the_place_of_a_popped_one_runs_once() {
    with_both_fences(|| {
        race::<2, _>(|| {
            let (owner, left) = with_a_public_fork(Flaws::NONE);
            let place = owner.fork(1);
            let thief = owner.clone();
            owner
                .each_once(3, Some(left))
                .thread(move || {
                    owner.join(1, place);
                    let place = owner.fork(2);
                    owner.join(2, place);
                })
                .thread(move || {
                    thief.force_and_steal(1, INNER);
                })
        });
    });
}

/// What the thief learns from `bottom`, be it a push's or a pop's, comes with the forks below it.
fn publication(flaws: Flaws<Flaw>) {
    set_light_is_free(true);
    set_switches(true);
    race::<2, _>(move || {
        let (owner, left) = with_a_public_fork(flaws);
        let thief = owner.clone();
        owner
            .each_once(3, Some(left))
            .thread(move || {
                let places = [1, 2].map(|fork| owner.fork(fork));
                owner.join(2, places[1]);
                owner.join(1, places[0]);
            })
            .thread(move || {
                thief.force_and_steal(1, INNER);
            })
    });
}

#[test]
fn loom_forced_forks_are_published_by_pushes_and_pops() {
    publication(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_push_does_not_publish_a_forced_fork() {
    publication(Flaws::only(Flaw::RelaxedPut));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_pop_does_not_publish_the_forks_below_it() {
    publication(Flaws::only(Flaw::RelaxedPop));
}

/// When the last public fork has been stolen, the next push is public again.
fn exposure_after_theft(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let owner = World::fresh(flaws);
        let thief = owner.clone();
        let first = owner.fork(0);
        let told = Rc::new(AtomicU32::new(0));
        let tell = told.clone();
        owner
            .each_once(2, Some(first))
            .thread(move || {
                while told.load(Ordering::Acquire) == 0 {
                    yield_now();
                }
                let (second, pushed) = owner.fork_and_tell(1);
                assert_eq!(pushed, Some(Pushed::Public), "still private");
                owner.join(1, second);
            })
            .thread(move || {
                assert!(thief.steal(1), "nobody else wants it");
                tell.store(1, Ordering::Release);
                thief.steal(1);
            })
    });
}

#[test]
fn loom_after_a_theft_the_next_push_is_public() {
    exposure_after_theft(Flaws::NONE);
}

#[test]
#[should_panic(expected = "still private")]
fn loom_a_limit_that_stays_keeps_the_next_push_private() {
    exposure_after_theft(Flaws::only(Flaw::LimitStays));
}

/// The owner shows a private fork, without forking, while a thief takes what it finds.
fn shown_against_theft(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let (owner, left) = with_a_public_fork(flaws);
        let thief = owner.clone();
        owner
            .each_once(2, Some(left))
            .thread(move || {
                let place = owner.fork(1);
                // SAFETY: this thread is the owner.
                unsafe { owner.stack.show() };
                owner.join(1, place);
            })
            .thread(move || {
                thief.steal(1);
                thief.steal(1);
            })
    });
}

#[test]
fn loom_a_fork_that_is_shown_runs_once() {
    with_both_fences(|| shown_against_theft(Flaws::NONE));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_showing_forks_without_the_lock_does_not_publish_them() {
    shown_against_theft(Flaws::only(Flaw::ShowUnlocked));
}

#[test]
fn loom_two_thieves_and_the_owner_compete_for_one_fork() {
    race::<3, _>(|| {
        let owner = World::fresh(Flaws::NONE);
        let place = owner.fork(0);
        let [one, two] = [(); 2].map(|()| owner.clone());
        owner
            .each_once(1, None)
            .thread(move || owner.join(0, place))
            .thread(move || {
                one.steal(1);
            })
            .thread(move || {
                two.steal(2);
            })
    });
}

#[test]
fn loom_a_thief_that_forces_and_one_that_does_not_take_different_forks() {
    race::<2, _>(|| {
        let (owner, left) = with_a_public_fork(Flaws::NONE);
        let place = owner.fork(1);
        let [one, two] = [(); 2].map(|()| owner.clone());
        let verdict = owner.each_once(2, Some(left));
        Race::new(move |_| {
            owner.join(1, place);
            verdict.conclude();
        })
        .thread(move || {
            one.steal(1);
            one.steal(1);
        })
        .thread(move || {
            two.force_and_steal(2, INNER);
        })
    });
}

/// The slot of a stolen fork is used again as soon as the thief is done, while it may be back for more.
#[test]
fn loom_a_reclaimed_slot_can_be_used_again() {
    race::<2, _>(|| {
        let owner = World::new(Flaws::NONE);
        let thief = owner.clone();
        let first = owner.fork(0);
        owner
            .each_once(2, None)
            .thread(move || {
                owner.join(0, first);
                let second = owner.fork(1);
                owner.join(1, second);
            })
            .thread(move || {
                thief.steal(1);
                thief.steal(1);
            })
    });
}

/// The owner parks until its fork is done.
fn parked_owner(flaws: Flaws<Flaw>) -> Race<()> {
    let owner = World::new(flaws);
    let thief = owner.clone();
    let place = owner.fork(0);
    let stolen = thief.stack.thief().steal(1, |_| true);
    let slot = ptr::from_ref(stolen.expect("nobody else is here").slot);
    owner
        .each_once(1, None)
        .thread(move || {
            // SAFETY: this thread is the owner now, and this is its only fork.
            assert_eq!(unsafe { owner.stack.pop(place) }, Popped::Stolen);
            // SAFETY: as `pop` said.
            let slot = unsafe { owner.stack.stolen_slot() };
            while !slot.is_done() {
                if slot.announce_parked() {
                    owner.parker.park();
                    slot.announce_awake();
                }
            }
            // SAFETY: as `pop` said, and the slot is done.
            unsafe { owner.stack.reclaim() };
            owner.frames[0].die();
        })
        .thread(move || {
            // SAFETY: stolen above; the stack is in `thief`.
            let slot = unsafe { &*slot };
            let job = &raw const thief.frames[0].job;
            thief.run(&Stolen {
                slot,
                job,
                level: 0,
            });
        })
}

#[test]
fn loom_a_parked_owner_is_woken_and_sees_the_result() {
    race::<2, _>(|| parked_owner(Flaws::NONE));
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_a_thief_that_does_not_notice_the_parked_owner_leaves_it_asleep() {
    oversleeping_race::<2, _>(|flawed| {
        parked_owner(Flaws::only_if(flawed, Flaw::CompleteForgetsParked))
    });
}

#[test]
#[should_panic(expected = "maximum number of branches")]
fn loom_an_owner_that_parks_without_looking_can_sleep_for_ever() {
    oversleeping_race::<2, _>(|flawed| {
        parked_owner(Flaws::only_if(flawed, Flaw::ParkWithoutLooking))
    });
}

/// Contexts begin and end at the same place; a thief that takes a fork learns which one it was made in.
/// `again`: after the first context has ended, another fork is made at its place.
fn contexts(again: bool, flaws: Flaws<Flaw>) {
    set_light_is_free(true);
    race::<2, _>(move || {
        let (owner, left) = with_a_public_fork(flaws);
        let thief = owner.clone();
        owner
            .each_once(2 + usize::from(again), Some(left))
            .thread(move || {
                // SAFETY: this thread is the owner.
                let before = unsafe { owner.stack.begin_context(OTHER, 7) };
                assert_eq!((before.context.cast_const(), before.level), (INNER, 5));
                let place = owner.fork(1);
                owner.join(1, place);
                // SAFETY: as above, and this is where it began.
                unsafe { owner.stack.end_context(before) };
                if again {
                    let place = owner.fork(2);
                    owner.join(2, place);
                }
            })
            .thread(move || {
                thief.stack.thief().force();
                let wanted = |context| context != OUTER;
                if let Some(stolen) = thief.stack.thief().steal(1, wanted) {
                    let mut frames = thief.frames.iter();
                    let fork = frames.position(|frame| ptr::eq(&raw const frame.job, stolen.job));
                    let expected = [OUTER, OTHER, INNER][fork.expect("one of ours")];
                    let context = stolen.slot.context().parent();
                    assert_eq!(context, expected, "the wrong ancestors");
                    assert_eq!(stolen.level, [0, 7, 5][fork.expect("as above")]);
                    thief.run(&stolen);
                }
            })
    });
}

#[test]
fn loom_a_stolen_fork_knows_the_context_it_was_made_in() {
    contexts(true, Flaws::NONE);
}

#[test]
#[should_panic(expected = "the wrong ancestors")]
fn loom_a_relaxed_push_does_not_publish_the_context() {
    contexts(false, Flaws::only(Flaw::RelaxedPut));
}

/// What a stolen fork inherits is found by the bit that says which of its ancestors has a value, in the frame of whoever provides it. The frame ends with the fork, and the next call uses its memory.
/// `late`: the thief looks when it has said that it is through.
fn values(late: bool, flaws: Flaws<Flaw>) {
    static NODES: [u32; 2] = [1, 2];
    set_light_is_free(true);
    race::<2, _>(move || {
        let (owner, left) = with_a_public_fork(flaws);
        let ours = Rc::new(ValueContext::room());
        let (thief, theirs) = (owner.clone(), ours.clone());
        owner
            .each_once(2, Some(left))
            .thread(move || {
                ours.set(INNER, &raw const NODES[0]);
                // SAFETY: this thread is the owner.
                let before = unsafe { owner.stack.begin_context(ours.context(), 5) };
                let place = owner.fork(1);
                owner.join(1, place);
                // SAFETY: as above, and this is where it began.
                unsafe { owner.stack.end_context(before) };
                ours.set(INNER, &raw const NODES[1]);
            })
            .thread(move || {
                thief.stack.thief().force();
                let wanted = |context| ptr::eq(context, theirs.context());
                if let Some(stolen) = thief.stack.thief().steal(1, wanted) {
                    if late {
                        thief.run(&stolen);
                    }
                    // SAFETY: unless it is late, the fork is not through, so its ancestors are there.
                    let node = unsafe { provided_to(stolen.slot.context()) };
                    assert!(ptr::eq(node, &raw const NODES[0]), "the wrong value");
                    if !late {
                        thief.run(&stolen);
                    }
                }
            })
    });
}

#[test]
fn loom_a_stolen_fork_finds_what_it_inherits() {
    values(false, Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_value_may_be_gone_when_the_fork_is_through() {
    values(true, Flaws::NONE);
}
