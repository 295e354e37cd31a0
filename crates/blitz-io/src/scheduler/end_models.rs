//! Loom models of a runtime's end against everything that goes on meanwhile: spawns, wakes, polls, completions, aborts, joins.
//!
//! All of it is the shipped code: tasks with their memory and state ([`task::new`]), the list of owned tasks, the shared queue, and
//! what the end does with the two. In every order, this must hold afterwards. Each future was dropped, once. Each handle knows that its task has ended. The list is
//! empty. And only its handle still has a reference to a task. The count of the scheduler shows that, because each task's memory has
//! a part in it.

use super::injector::{self, Injector, refuse};
use super::owned::{self, Owned};
use crate::place::Place;
use crate::primitives::{AtomicBool, Mutex, Ordering};
use crate::task::{self, Queued, Schedule, StateFlaw, Task};
use blitz_core::checking::Flaws;
use blitz_core::checking::model::{Race, race};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Poll, Wake, Waker};

struct Home {
    owned: Owned,
    injector: Injector,
}

impl Home {
    fn push(&self, task: Queued) {
        if let Err(refused) = self.injector.push(task, false) {
            refuse([refused]);
        }
    }

    /// What a worker does until it finds nothing.
    fn run_queue(&self) {
        let none = |_| unreachable!("there is no room for a second one");
        while let Some(task) = self.injector.take_batch(1, 0, none) {
            task.run();
        }
    }

    fn end(&self) {
        // As `Shared::shut_down_tasks`.
        self.owned.close_and_shut_down();
        refuse(self.injector.close());
    }
}

impl Schedule for Arc<Home> {
    fn schedule(&self, task: Queued) {
        self.push(task);
    }

    fn schedule_again(&self, task: Queued) {
        let home: &Home = self;
        home.push(task);
    }

    fn release(&self, task: &Task) -> bool {
        self.owned.remove(task)
    }
}

#[derive(Clone, Copy)]
struct Wrong {
    owned: Flaws<owned::Flaw>,
    injector: Flaws<injector::Flaw>,
    state: Flaws<StateFlaw>,
}

const NOTHING: Wrong = Wrong {
    owned: Flaws::NONE,
    injector: Flaws::NONE,
    state: Flaws::NONE,
};

/// A runtime, and what its one task and everybody around it share.
struct World {
    home: Arc<Home>,
    /// What the task waits for.
    event: AtomicBool,
    waker: Mutex<Option<Waker>>,
    dropped: AtomicUsize,
    handle: Mutex<Option<Task>>,
    /// Somebody awaits the handle.
    joiner: Mutex<Option<Arc<Flag>>>,
    wrong: Wrong,
}

struct Waiting(Rc<World>);

impl Future for Waiting {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.event.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        let before = self.0.waker.lock().unwrap().replace(cx.waker().clone());
        drop(before);
        // The event may have come before anybody could be told.
        if self.0.event.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0
            .dropped
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

impl World {
    fn new(wrong: Wrong) -> Rc<Self> {
        Rc::new(World {
            home: Arc::new(Home {
                owned: Owned::with_flaws(1, wrong.owned),
                injector: Injector::with_flaws(wrong.injector),
            }),
            event: AtomicBool::new(false),
            waker: Mutex::new(None),
            dropped: AtomicUsize::new(0),
            handle: Mutex::new(None),
            joiner: Mutex::new(None),
            wrong,
        })
    }

    /// As `Shared::spawn` on a thread that is no worker.
    fn spawn(self: &Rc<Self>) {
        self.spawn_and(|queued| self.home.push(queued));
    }

    /// The same on a worker, which keeps the task to itself and gets to it next.
    fn spawn_on_worker(self: &Rc<Self>) {
        self.spawn_and(Queued::run);
    }

    fn spawn_and(self: &Rc<Self>, schedule: impl FnOnce(Queued)) {
        let future = Waiting(Rc::clone(self));
        // SAFETY: a model's threads are one thread.
        let (listed, queued, handle) = unsafe {
            task::new_with_flaws(
                Place::here(),
                future,
                Arc::clone(&self.home),
                self.wrong.state,
            )
        };
        if self.home.owned.admit(listed, 0, 0) {
            schedule(queued);
        }
        *self.handle.lock().unwrap() = Some(handle);
    }

    fn wake(&self) {
        self.event.store(true, Ordering::Release);
        let waker = self.waker.lock().unwrap().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn verdict(&self) {
        let dropped = self.dropped.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(dropped, 1, "a future was left");
        assert_eq!(self.home.owned.len(), 0, "the list is not empty");
        let handle = self.handle.lock().unwrap().take().expect("spawned");
        assert!(handle.header().state.is_complete(), "a handle would hang");
        if let Some(joiner) = self.joiner.lock().unwrap().take() {
            assert!(joiner.0.load(Ordering::Acquire), "nobody told the joiner");
        }
        handle.detach();
        drop(self.waker.lock().unwrap().take());
        assert_eq!(Arc::strong_count(&self.home), 1, "a task's memory was left");
    }
}

/// What the task has come to when the race begins.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    Queued,
    Idle,
}

/// Races `others` with the end.
fn against_the_end<const THREADS: usize>(
    wrong: Wrong,
    before: Before,
    others: &'static [fn(&Rc<World>)],
) {
    race::<THREADS, _>(move || {
        let world = World::new(wrong);
        match before {
            Before::Nothing => {}
            Before::Queued => world.spawn(),
            Before::Idle => world.spawn_on_worker(),
        }
        let (judge, ender) = (Rc::clone(&world), Rc::clone(&world));
        let mut threads = Race::new(move |_: Vec<()>| judge.verdict());
        for other in others {
            let world = Rc::clone(&world);
            threads = threads.thread(move || other(&world));
        }
        threads.thread(move || ender.home.end())
    });
}

const SPAWN: fn(&Rc<World>) = World::spawn;
const SPAWN_ON_WORKER: fn(&Rc<World>) = World::spawn_on_worker;
const WAKE: fn(&Rc<World>) = |world| world.wake();
const RUN: fn(&Rc<World>) = |world| world.home.run_queue();
const ABORT: fn(&Rc<World>) = |world| {
    let task = world.handle.lock().unwrap().clone();
    task.expect("spawned").cancel();
};
/// The task wakes itself for ever: it is polled, or queued by its poller, whenever the end comes.
const RUN_BUSY: fn(&Rc<World>) = |world| {
    for _ in 0..2 {
        world.home.run_queue();
        let waker = world.waker.lock().unwrap().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
    world.home.run_queue();
};

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// Whoever awaits the handle finds the task through, or is woken; the judge asks.
const JOIN: fn(&Rc<World>) = |world| {
    let handle = world.handle.lock().unwrap().take().expect("spawned");
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&flag));
    if !handle.poll_complete(&waker) {
        *world.joiner.lock().unwrap() = Some(flag);
    }
    *world.handle.lock().unwrap() = Some(handle);
};

#[test]
fn loom_a_spawn_during_the_end_is_refused_or_ended() {
    against_the_end::<2>(NOTHING, Before::Nothing, &[SPAWN]);
}

#[test]
fn loom_a_worker_that_spawns_during_the_end() {
    against_the_end::<2>(NOTHING, Before::Nothing, &[SPAWN_ON_WORKER]);
}

#[test]
fn loom_a_spawn_and_a_worker_during_the_end() {
    against_the_end::<3>(NOTHING, Before::Nothing, &[SPAWN, RUN]);
}

#[test]
#[should_panic(expected = "a future was left")]
fn loom_a_list_that_admits_after_closing_leaves_a_future() {
    let owned = Flaws::only(owned::Flaw::AdmitsAfterClosing);
    let wrong = Wrong { owned, ..NOTHING };
    against_the_end::<2>(wrong, Before::Nothing, &[SPAWN_ON_WORKER]);
}

#[test]
#[should_panic(expected = "a future was left")]
fn loom_a_list_that_is_closed_after_the_look_leaves_a_future() {
    let owned = Flaws::only(owned::Flaw::LooksBeforeClosing);
    let wrong = Wrong { owned, ..NOTHING };
    against_the_end::<2>(wrong, Before::Nothing, &[SPAWN_ON_WORKER]);
}

#[test]
#[should_panic(expected = "a task's memory was left")]
fn loom_a_queue_that_accepts_after_closing_keeps_memory() {
    let injector = Flaws::only(injector::Flaw::AcceptsAfterClosing);
    let wrong = Wrong {
        injector,
        ..NOTHING
    };
    against_the_end::<2>(wrong, Before::Nothing, &[SPAWN]);
}

#[test]
fn loom_a_wake_of_an_idle_task_during_the_end() {
    against_the_end::<3>(NOTHING, Before::Idle, &[WAKE, RUN]);
}

#[test]
#[should_panic(expected = "a task's memory was left")]
fn loom_a_queue_that_is_closed_but_not_emptied_keeps_memory() {
    let injector = Flaws::only(injector::Flaw::ForgetsWhatWasQueued);
    let wrong = Wrong {
        injector,
        ..NOTHING
    };
    against_the_end::<2>(wrong, Before::Idle, &[WAKE]);
}

#[test]
#[should_panic(expected = "a future was left")]
fn loom_an_end_that_trusts_the_workers_leaves_idle_tasks() {
    let owned = Flaws::only(owned::Flaw::LeavesIdleTasks);
    against_the_end::<2>(Wrong { owned, ..NOTHING }, Before::Idle, &[RUN]);
}

#[test]
fn loom_a_task_that_is_polled_during_the_end() {
    against_the_end::<2>(NOTHING, Before::Queued, &[RUN]);
}

#[test]
fn loom_a_task_that_wakes_itself_during_the_end() {
    against_the_end::<2>(NOTHING, Before::Queued, &[RUN_BUSY]);
}

#[test]
#[should_panic(expected = "a future was left")]
fn loom_an_end_that_skips_running_tasks_leaves_a_future() {
    let state = Flaws::only(StateFlaw::LeavesRunningTasks);
    against_the_end::<2>(Wrong { state, ..NOTHING }, Before::Queued, &[RUN]);
}

#[test]
fn loom_an_abort_during_the_end() {
    against_the_end::<3>(NOTHING, Before::Idle, &[ABORT, RUN]);
}

#[test]
fn loom_a_completion_during_the_end_reaches_whoever_joins() {
    against_the_end::<3>(NOTHING, Before::Queued, &[JOIN, RUN]);
}

/// A task leaves another one in a shard in front of its own and is through, while somebody looks whether there is any task.
fn looking_for_tasks(flaws: Flaws<owned::Flaw>) {
    struct Alone;
    impl Schedule for Alone {
        fn schedule(&self, _: Queued) {}
        fn schedule_again(&self, _: Queued) {}
        fn release(&self, _: &Task) -> bool {
            false
        }
    }
    /// Tasks that are only in a list.
    fn task() -> Task {
        // SAFETY: the future is `Send` and `'static`.
        let (listed, queued, handle) =
            unsafe { task::new(Place::here(), std::future::ready(()), Alone) };
        drop((queued, handle));
        listed
    }
    fn remove(owned: &Owned, task: &Task) {
        assert!(owned.remove(task));
        // SAFETY: the list's reference, which is ours now.
        drop(unsafe { Task::from_raw(task.as_ptr()) });
    }
    race::<2, _>(move || {
        let owned = Rc::new(Owned::with_flaws(2, flaws));
        let (parent, child) = (task(), task());
        assert!(owned.insert(parent.clone(), 1).is_ok());
        let (spawner, looker, left) = (owned.clone(), owned.clone(), child.clone());
        Race::new(move |found: Vec<bool>| {
            remove(&owned, &left);
            assert!(!found[1], "drained with a task in it");
            assert!(owned.is_empty());
        })
        .thread(move || {
            assert!(spawner.insert(child, 0).is_ok());
            remove(&spawner, &parent);
            false
        })
        .thread(move || looker.is_empty())
    });
}

#[test]
fn loom_a_list_is_not_empty_while_a_task_leaves_another_one() {
    looking_for_tasks(Flaws::NONE);
}

#[test]
#[should_panic(expected = "drained with a task in it")]
fn loom_a_sum_without_a_snapshot_misses_the_child_of_a_task() {
    looking_for_tasks(Flaws::only(owned::Flaw::SumsWithoutSnapshot));
}
