//! Loom models of a task's life: wake, cancel, complete, join and drop in every order.
//!
//! The task is the shipped state word around two cells, "future" and "output", which loom watches: two threads that
//! touch one of them without order between them are a "Causality violation". The queue is a counter of entries, the executor
//! polls while there is one.

use super::*;
use crate::primitives::{AtomicBool, AtomicUsize, UnsafeCell};
use blitz_core::checking::model::{Race, race};
use std::rc::Rc;

struct Model {
    state: State,
    /// How often the future was polled; `None` once it is dropped.
    future: UnsafeCell<Option<u32>>,
    output: UnsafeCell<Option<u32>>,
    join_waker: UnsafeCell<bool>,
    /// What the future waits for.
    event: AtomicBool,
    /// Entries in the queue.
    queued: AtomicUsize,
    joiner_woken: AtomicBool,
    freed: AtomicUsize,
}

impl Model {
    fn new(flaws: Flaws<Flaw>) -> Rc<Self> {
        Rc::new(Model {
            state: State::with_flaws(flaws),
            future: UnsafeCell::new(Some(0)),
            output: UnsafeCell::new(None),
            join_waker: UnsafeCell::new(false),
            event: AtomicBool::new(false),
            queued: AtomicUsize::new(1),
            joiner_woken: AtomicBool::new(false),
            freed: AtomicUsize::new(0),
        })
    }

    /// Takes entries out of the queue and polls, until the queue is empty.
    fn run_queue(&self) {
        while self.take_entry() {
            self.poll_once();
        }
    }

    fn take_entry(&self) -> bool {
        let order = Ordering::AcqRel;
        let less = |entries: usize| entries.checked_sub(1);
        self.queued
            .fetch_update(order, Ordering::Acquire, less)
            .is_ok()
    }

    fn enqueue(&self) {
        self.queued.fetch_add(1, Ordering::AcqRel);
    }

    fn poll_once(&self) {
        match self.state.start_poll() {
            Start::Nothing => self.drop_ref(),
            Start::Cancel => self.complete(0),
            Start::Poll => {
                // SAFETY: RUNNING.
                self.future.with_mut(|future| unsafe {
                    let polls = (*future).as_mut().expect("not dropped");
                    *polls += 1;
                });
                if self.event.load(Ordering::Relaxed) {
                    return self.complete(7);
                }
                match self.state.end_poll() {
                    End::Idle => {}
                    End::Again => self.enqueue(),
                    End::Cancel => self.complete(0),
                }
            }
        }
    }

    fn complete(&self, output: u32) {
        // SAFETY: RUNNING.
        unsafe {
            self.future.with_mut(|future| *future = None);
            self.output.with_mut(|cell| *cell = Some(output));
        }
        let (wanted, has_waker) = self.state.complete();
        if !wanted {
            // SAFETY: without a handle the output is ours.
            self.output.with_mut(|cell| unsafe { *cell = None });
        } else if has_waker {
            // SAFETY: JOIN_WAKER.
            self.join_waker.with(|waker| unsafe { assert!(*waker) });
            self.joiner_woken.store(true, Ordering::Release);
            if self.state.join_waker_called() {
                // SAFETY: the handle is gone.
                self.join_waker.with_mut(|waker| unsafe { *waker = false });
            }
        }
        // The list's, and the poll's.
        self.drop_refs(2);
    }

    fn drop_ref(&self) {
        self.drop_refs(1);
    }

    fn drop_refs(&self, count: u64) {
        if self.state.drop_refs(count) {
            self.freed.fetch_add(1, Ordering::Relaxed);
            // SAFETY: nobody else is left: whatever is there can be dropped.
            unsafe {
                self.future.with_mut(|future| *future = None);
                self.output.with_mut(|output| *output = None);
                self.join_waker.with_mut(|waker| *waker = false);
            }
        }
    }

    fn wake(&self) {
        if self.state.wake_by_ref() {
            self.enqueue();
        }
    }

    /// What the handle does when it is polled; `true`: it has the output.
    fn join(&self) -> bool {
        if !self.state.is_complete() {
            // SAFETY: the cell is the handle's.
            self.join_waker.with_mut(|waker| unsafe { *waker = true });
            if self.state.give_waker() {
                return false;
            }
        }
        // SAFETY: complete, and the handle's.
        let output = self.output.with_mut(|cell| unsafe { (*cell).take() });
        assert!(output.is_some(), "complete without an output");
        true
    }

    fn drop_handle(&self) {
        if self.state.drop_fresh_handle() {
            return;
        }
        let (drops_output, drops_waker) = self.state.drop_interest();
        // SAFETY: as the state says.
        unsafe {
            if drops_output {
                self.output.with_mut(|cell| *cell = None);
            }
            if drops_waker {
                self.join_waker.with_mut(|waker| *waker = false);
            }
        }
        self.drop_ref();
    }
}

/// The event happens and is announced while the task is polled for the first time.
fn wake_against_poll(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let task = Model::new(flaws);
        let (verdict, waker) = (Rc::clone(&task), Rc::clone(&task));
        Race::new(move |_: Vec<()>| {
            verdict.run_queue();
            assert!(verdict.state.is_complete(), "the wake was lost");
            assert!(verdict.join());
            verdict.drop_handle();
            assert_eq!(verdict.freed.load(Ordering::Relaxed), 1, "freed once");
        })
        .thread(move || task.run_queue())
        .thread(move || {
            waker.event.store(true, Ordering::Relaxed);
            waker.wake();
        })
    });
}

#[test]
fn loom_a_wake_during_a_poll_is_not_lost() {
    wake_against_poll(Flaws::NONE);
}

#[test]
#[should_panic(expected = "the wake was lost")]
fn loom_a_wake_that_is_not_noted_while_running_is_lost() {
    wake_against_poll(Flaws::only(Flaw::ForgetsWakesWhileRunning));
}

#[test]
#[should_panic(expected = "the wake was lost")]
fn loom_a_wake_that_only_looks_at_a_queued_task_is_lost() {
    wake_against_poll(Flaws::only(Flaw::WakesSilently));
}

/// Two executors: one polls and ends, the other is woken into a poll of its own.
fn poll_after_poll(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let task = Model::new(flaws);
        let (verdict, other) = (Rc::clone(&task), Rc::clone(&task));
        Race::new(move |_: Vec<()>| {
            verdict.event.store(true, Ordering::Relaxed);
            verdict.wake();
            verdict.run_queue();
            assert!(verdict.state.is_complete());
            verdict.drop_handle();
            assert_eq!(verdict.freed.load(Ordering::Relaxed), 1, "freed once");
        })
        .thread(move || task.run_queue())
        .thread(move || {
            other.wake();
            other.run_queue();
        })
    });
}

#[test]
fn loom_polls_on_two_threads_follow_each_other() {
    poll_after_poll(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_end_of_a_poll_lets_the_next_one_overlap() {
    poll_after_poll(Flaws::only(Flaw::RelaxedEnd));
}

/// An abort against the poll after which the task would be idle.
fn cancel_against_poll(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let task = Model::new(flaws);
        let (verdict, canceller) = (Rc::clone(&task), Rc::clone(&task));
        Race::new(move |_: Vec<()>| {
            verdict.run_queue();
            assert!(verdict.state.is_complete(), "the abort was lost");
            assert!(verdict.join());
            verdict.drop_handle();
            assert_eq!(verdict.freed.load(Ordering::Relaxed), 1, "freed once");
        })
        .thread(move || task.run_queue())
        .thread(move || {
            if canceller.state.cancel() {
                canceller.enqueue();
            }
        })
    });
}

#[test]
fn loom_an_abort_ends_the_task_whatever_it_is_doing() {
    cancel_against_poll(Flaws::NONE);
}

#[test]
#[should_panic(expected = "the abort was lost")]
fn loom_an_abort_that_does_not_queue_an_idle_task_is_lost() {
    cancel_against_poll(Flaws::only(Flaw::CancelsSilently));
}

/// The end of the runtime against a poll and a late entry in the queue.
#[test]
fn loom_shutdown_against_a_poll_completes_the_task_once() {
    race::<2, _>(|| {
        let task = Model::new(Flaws::NONE);
        let (verdict, runtime) = (Rc::clone(&task), Rc::clone(&task));
        Race::new(move |_: Vec<()>| {
            verdict.run_queue();
            assert!(verdict.state.is_complete());
            verdict.drop_handle();
            assert_eq!(verdict.freed.load(Ordering::Relaxed), 1, "freed once");
        })
        .thread(move || task.run_queue())
        .thread(move || {
            // A reference of its own, as the list's snapshot has.
            runtime.state.add_ref();
            if runtime.state.seize() {
                runtime.complete(0);
                // `complete` gave two back: the list's and that of a poll, which here is the snapshot's.
            } else {
                runtime.drop_ref();
            }
        })
    });
}

/// The handle's poll against completion.
fn join_against_complete(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let task = Model::new(flaws);
        task.event.store(true, Ordering::Relaxed);
        let (verdict, joiner) = (Rc::clone(&task), Rc::clone(&task));
        Race::new(move |joined: Vec<bool>| {
            let woken = verdict.joiner_woken.load(Ordering::Acquire);
            assert!(joined[1] || woken, "the joiner waits for ever");
            if !joined[1] {
                assert!(verdict.join());
            }
            verdict.drop_handle();
            assert_eq!(verdict.freed.load(Ordering::Relaxed), 1, "freed once");
        })
        .thread(move || {
            task.run_queue();
            true
        })
        .thread(move || joiner.join())
    });
}

#[test]
fn loom_a_joiner_gets_the_output_or_is_woken() {
    join_against_complete(Flaws::NONE);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_completion_shows_a_joiner_an_unwritten_output() {
    join_against_complete(Flaws::only(Flaw::RelaxedComplete));
}

#[test]
#[should_panic(expected = "the joiner waits for ever")]
fn loom_a_waker_left_after_completion_is_never_called() {
    join_against_complete(Flaws::only(Flaw::GivesWakerBlindly));
}

/// The handle goes away while the task completes: somebody drops the output, exactly once.
fn drop_against_complete(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let task = Model::new(flaws);
        task.event.store(true, Ordering::Relaxed);
        let (verdict, handle) = (Rc::clone(&task), Rc::clone(&task));
        Race::new(move |_: Vec<()>| {
            assert_eq!(verdict.freed.load(Ordering::Relaxed), 1, "freed once");
            // SAFETY: all threads are through.
            verdict
                .output
                .with(|output| unsafe { assert!((*output).is_none(), "leaked") });
        })
        .thread(move || task.run_queue())
        .thread(move || {
            if !handle.join() {
                // Left its waker, and goes away.
            }
            handle.drop_handle();
        })
    });
}

#[test]
fn loom_a_handle_that_goes_away_during_completion_leaks_nothing() {
    drop_against_complete(Flaws::NONE);
}

/// The handle goes away at once, as that of a task that runs on its own.
fn drop_unused_handle(flaws: Flaws<Flaw>) {
    race::<2, _>(move || {
        let task = Model::new(flaws);
        task.event.store(true, Ordering::Relaxed);
        let (verdict, handle) = (Rc::clone(&task), Rc::clone(&task));
        Race::new(move |_: Vec<()>| {
            assert_eq!(verdict.freed.load(Ordering::Relaxed), 1, "freed once");
        })
        .thread(move || task.run_queue())
        .thread(move || handle.drop_handle())
    });
}

#[test]
fn loom_a_handle_that_goes_away_unused_leaks_nothing() {
    drop_unused_handle(Flaws::NONE);
}

#[test]
#[should_panic(expected = "freed once")]
fn loom_a_handle_that_goes_away_blindly_may_be_the_last_and_free_nothing() {
    drop_unused_handle(Flaws::only(Flaw::DropsHandleBlindly));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_a_relaxed_last_reference_frees_what_others_still_touch() {
    drop_against_complete(Flaws::only(Flaw::RelaxedLastRef));
}
