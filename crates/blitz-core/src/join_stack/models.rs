//! Loom models of the join stack: an owner that forks and joins, and thieves.
//!
//! The frame of each fork is watched by loom's `UnsafeCell`s: the "closure" is written before the push and
//! read by whoever runs it, the "result" is written there and read by the owner, who then overwrites
//! both, as the next call that uses the stack would. Any access by a thief that is not ordered before that
//! is a "Causality violation". Each fork runs exactly once.

use super::*;
use crate::primitives::fence::model::set_light_is_free;
use crate::primitives::model::{Race, oversleeping_race, race};
use crate::primitives::parker::Parker;
use loom::cell::UnsafeCell;
use std::sync::Arc;
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
    fn new(flaws: Flaws<Flaw>) -> Arc<Self> {
        Arc::new(World {
            stack: JoinStack::with_flaws(flaws),
            frames: std::array::from_fn(|_| Frame::new()),
            parker: Parker::new(),
        })
    }

    // The owner's side. One thread of each model calls these.

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

    /// Takes a fork if there is one, and runs it. The context is the one it was made in.
    fn steal(&self, thief: usize) -> Option<*const Context> {
        let stolen = self.stack.thief().steal(thief, |_| true)?;
        Some(self.run_stolen(&stolen))
    }

    fn run_stolen(&self, stolen: &Stolen<'_>) -> *const Context {
        let context = stolen.slot.context().parent();
        // SAFETY: stolen, so ours to run.
        unsafe { ((*stolen.job).execute)(stolen.job) };
        if stolen.slot.complete() {
            self.parker.unpark();
        }
        context
    }

    /// A race at whose end the first `forks` forks have run.
    fn each_once(self: &Arc<Self>, forks: usize) -> Race<()> {
        let world = self.clone();
        Race::new(move |_| {
            for frame in &world.frames[..forks] {
                assert_eq!(frame.runs.load(Ordering::Relaxed), 1, "a fork was lost");
            }
        })
    }
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
            .each_once(1)
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
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_unlock_does_not_publish_the_fork() {
    last_public_fork(Flaws::only(Flaw::RelaxedUnlock));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_completion_does_not_publish_the_result() {
    last_public_fork(Flaws::only(Flaw::RelaxedComplete));
}

/// A public and a private fork; a thief forces the private one into the open while the owner takes both
/// back.
fn forced_against_pop(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let owner = World::new(flaws);
        let thief = owner.clone();
        owner
            .each_once(2)
            .thread(move || {
                let places = [0, 1].map(|fork| owner.fork(fork));
                owner.join(1, places[1]);
                owner.join(0, places[0]);
            })
            .thread(move || {
                thief.stack.thief().force();
                thief.steal(1);
                thief.steal(1);
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
fn loom_without_the_full_fence_out_of_line_a_forced_fork_runs_twice() {
    set_light_is_free(false);
    forced_against_pop(Flaws::only(Flaw::NoLightFence));
}

#[test]
#[should_panic(expected = "a fork ran twice")]
fn loom_forcing_without_a_second_look_exposes_a_fork_that_is_gone() {
    forced_against_pop(Flaws::only(Flaw::NoSecondLook));
}

/// The owner pops the private fork and pushes another one in its place while it is forced.
#[test]
fn loom_a_fork_pushed_in_the_place_of_a_popped_one_runs_once() {
    with_both_fences(|| {
        race::<2, _>(|| {
            let owner = World::new(Flaws::NONE);
            let thief = owner.clone();
            owner
                .each_once(3)
                .thread(move || {
                    let first = owner.fork(0);
                    let second = owner.fork(1);
                    owner.join(1, second);
                    let second = owner.fork(2);
                    owner.join(2, second);
                    owner.join(0, first);
                })
                .thread(move || {
                    thief.stack.thief().force();
                    thief.steal(1);
                    thief.steal(1);
                })
        });
    });
}

/// What the thief learns from `bottom`, be it a push's or a pop's, comes with the forks below it.
fn publication(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let owner = World::new(flaws);
        let thief = owner.clone();
        owner
            .each_once(3)
            .thread(move || {
                let places = [0, 1, 2].map(|fork| owner.fork(fork));
                for fork in [2, 1, 0] {
                    owner.join(fork, places[fork]);
                }
            })
            .thread(move || {
                thief.stack.thief().force();
                thief.steal(1);
                thief.steal(1);
            })
    });
}

#[test]
fn loom_forced_forks_are_published_by_pushes_and_pops() {
    set_light_is_free(true);
    publication(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_push_does_not_publish_a_forced_fork() {
    set_light_is_free(true);
    publication(Flaws::only(Flaw::RelaxedPut));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_pop_does_not_publish_the_forks_below_it() {
    set_light_is_free(true);
    publication(Flaws::only(Flaw::RelaxedPop));
}

/// When the last public fork has been stolen, the next push makes everything public.
fn exposure_after_theft(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let owner = World::new(flaws);
        let thief = owner.clone();
        let stolen = Arc::new(AtomicU32::new(0));
        let tell = stolen.clone();
        owner
            .each_once(3)
            .thread(move || {
                let first = owner.fork(0);
                let second = owner.fork(1);
                let told = stolen.load(Ordering::Acquire) == 1;
                let (third, pushed) = owner.fork_and_tell(2);
                if told {
                    assert_eq!(pushed, Some(Pushed::Public), "still private");
                }
                owner.join(2, third);
                owner.join(1, second);
                owner.join(0, first);
            })
            .thread(move || {
                if thief.steal(1).is_some() && !thief.stack.thief().sees_work() {
                    tell.store(1, Ordering::Release);
                    thief.steal(1);
                }
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

#[test]
fn loom_two_thieves_never_take_the_same_fork() {
    set_light_is_free(true);
    race::<3, _>(|| {
        let owner = World::new(Flaws::NONE);
        let [one, two] = [(); 2].map(|()| owner.clone());
        owner
            .each_once(2)
            .thread(move || {
                let places = [0, 1].map(|fork| owner.fork(fork));
                owner.join(1, places[1]);
                owner.join(0, places[0]);
            })
            .thread(move || {
                one.steal(1);
            })
            .thread(move || {
                two.stack.thief().force();
                two.steal(2);
            })
    });
}

/// The slot of a stolen fork is used again as soon as the thief is done, while another steal may be under
/// way.
#[test]
fn loom_a_reclaimed_slot_can_be_used_again() {
    race::<2, _>(|| {
        let owner = World::new(Flaws::NONE);
        let thief = owner.clone();
        owner
            .each_once(3)
            .thread(move || {
                for fork in 0..3 {
                    let place = owner.fork(fork);
                    owner.join(fork, place);
                }
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
    let slot = std::ptr::from_ref(stolen.expect("nobody else is here").slot);
    owner
        .each_once(1)
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
            thief.run_stolen(&Stolen { slot, job });
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

/// Contexts begin and end between forks, also at the same place.
fn contexts(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let owner = World::new(flaws);
        let thief = owner.clone();
        // Known by their addresses only.
        let [outer, inner, last] = [0x10, 0x20, 0x30].map(ptr::without_provenance::<Context>);
        owner
            .each_once(3)
            .thread(move || {
                // SAFETY: this thread is the owner; each context ends where it began.
                unsafe {
                    let nothing = owner.stack.begin_context(outer);
                    let first = owner.fork(0);
                    let before = owner.stack.begin_context(inner);
                    let second = owner.fork(1);
                    owner.join(1, second);
                    owner.stack.end_context(before);
                    let before = owner.stack.begin_context(last);
                    let second = owner.fork(2);
                    owner.join(2, second);
                    owner.stack.end_context(before);
                    owner.join(0, first);
                    owner.stack.end_context(nothing);
                }
            })
            .thread(move || {
                thief.stack.thief().force();
                // The older fork stays behind: it is not wanted.
                let stolen = thief.stack.thief().steal(1, |context| context != outer);
                if let Some(stolen) = stolen {
                    let fork = thief
                        .frames
                        .iter()
                        .position(|frame| ptr::eq(&raw const frame.job, stolen.job));
                    let expected = [outer, inner, last][fork.expect("one of ours")];
                    let context = thief.run_stolen(&stolen);
                    assert_eq!(context, expected, "the wrong ancestors");
                }
            })
    });
}

#[test]
fn loom_a_stolen_fork_knows_the_context_it_was_made_in() {
    set_light_is_free(true);
    contexts(Flaws::NONE);
}

#[test]
#[should_panic(expected = "the wrong ancestors")]
fn loom_a_relaxed_push_does_not_publish_the_context() {
    set_light_is_free(true);
    contexts(Flaws::only(Flaw::RelaxedPut));
}
