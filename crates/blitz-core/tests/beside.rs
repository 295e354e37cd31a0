//! A thread that serves a companion in an extra seat, because a guest has its own, and blocks there. When the guest has left, nobody sits in the seat, and its thread
//! does not come: what is queued runs all the same.
#![cfg(not(loom))]

use blitz_core::companion::{Companion, PoolHandle, sleep_elsewhere};
use blitz_core::{ThreadPool, ThreadPoolBuilder, join};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce() + Send>;

/// A companion with a queue and little else.
#[derive(Default)]
struct Jobs(Mutex<VecDeque<Job>>, AtomicUsize);

impl Companion for Jobs {
    fn thread_started(&self, _: Option<usize>) {}

    fn thread_stopped(&self, _: Option<usize>) {}

    fn has_work(&self) -> bool {
        !self.0.lock().unwrap().is_empty()
    }

    fn run(&self, _: usize) -> bool {
        let job = self.0.lock().unwrap().pop_front();
        job.map(|job| job()).is_some()
    }

    fn expects_more(&self, _: usize) -> bool {
        false
    }

    fn falls_asleep(&self, _: usize) {}

    fn is_awake(&self, _: usize) {}

    fn attend(&self, _: usize) -> bool {
        false
    }

    fn wants_attendant(&self) -> bool {
        false
    }

    fn block(&self, _: usize) -> bool {
        unreachable!("nobody attends")
    }

    fn unattend(&self, _: usize) {}

    fn listen(&self) -> bool {
        false
    }

    fn interrupt(&self) {}

    fn beat(&self, index: usize) {
        assert_eq!(index, 0, "there is one thread");
        self.1.fetch_add(1, Ordering::SeqCst);
    }

    fn blocked(&self, _: usize) {}

    fn leaves(&self, _: &mut dyn FnMut()) -> bool {
        unreachable!("the pool is not the global one")
    }

    fn task_waits(&self) {}
}

/// A pool of one thread, which admits guests, and its companion.
struct World {
    pool: ThreadPool,
    handle: PoolHandle,
    jobs: Arc<Jobs>,
}

impl World {
    fn new() -> Self {
        let builder = ThreadPoolBuilder::new().num_threads(1);
        let pool = builder.caller_participates(true).build().unwrap();
        let (handle, jobs) = (pool.handle(), Arc::new(Jobs::default()));
        let companion: Arc<dyn Companion> = jobs.clone();
        assert!(handle.attach(&companion));
        World { pool, handle, jobs }
    }

    /// Runs `job` on the pool's thread, in an extra seat: the caller sits in the thread's own, in which it runs `then` when the job has begun.
    fn run_beside(&self, job: impl FnOnce() + Send + 'static, then: impl Fn() + Sync) {
        let me = thread::current().id();
        let (tell, begun) = mpsc::channel();
        self.jobs.0.lock().unwrap().clear();
        let job = Mutex::new(Some((job, tell)));
        let begun = Mutex::new(begun);
        // The thread may have the seat at this moment.
        while !self.pool.install(|| {
            if thread::current().id() != me {
                return false;
            }
            let (job, tell) = job.lock().unwrap().take().unwrap();
            let job = move || {
                tell.send(()).unwrap();
                job();
            };
            self.jobs.0.lock().unwrap().push_back(Box::new(job));
            self.handle.notify();
            hears(&begun.lock().unwrap());
            then();
            true
        }) {
            thread::yield_now();
        }
    }
}

fn hears<T>(receiver: &Receiver<T>) -> T {
    receiver
        .recv_timeout(Duration::from_secs(60))
        .expect("somebody says something within a minute")
}

/// A channel for a thread that waits, and says so to the pool; and one to hear of its end.
fn waits() -> (impl FnOnce() + Send + 'static, Sender<()>, Receiver<()>) {
    let (go, wait) = mpsc::channel();
    let (tell, through) = mpsc::channel();
    let wait = move || {
        sleep_elsewhere(|| wait.recv().unwrap());
        tell.send(()).unwrap();
    };
    (wait, go, through)
}

#[test]
fn what_is_posted_after_the_guest_has_left_runs() {
    for _ in 0..10 {
        let world = World::new();
        let (wait, go, through) = waits();
        world.run_beside(wait, || {});
        world.pool.spawn(move || go.send(()).unwrap());
        hears(&through);
    }
}

#[test]
fn what_a_guest_leaves_behind_runs() {
    for _ in 0..10 {
        let world = World::new();
        let (wait, go, through) = waits();
        world.run_beside(wait, || {
            let go = go.clone();
            world.pool.spawn(move || go.send(()).unwrap());
        });
        hears(&through);
    }
}

#[test]
fn what_is_queued_runs_if_the_thread_blocks_after_the_guest_has_left() {
    for _ in 0..10 {
        let world = World::new();
        let (wait, go, through) = waits();
        let (left, has_left) = mpsc::channel();
        let job = move || {
            hears(&has_left);
            wait();
        };
        world.run_beside(job, || {});
        world.pool.spawn(move || go.send(()).unwrap());
        left.send(()).unwrap();
        hears(&through);
    }
}

#[test]
fn a_guest_that_waits_in_the_seat_of_a_blocked_thread_is_rescued_once_for_both() {
    let world = World::new();
    let (wait, go, through) = waits();
    world.run_beside(wait, || {
        // Both of those who could run it wait for it.
        let go = go.clone();
        let (tell, told) = mpsc::channel();
        world.pool.spawn(move || {
            go.send(()).unwrap();
            tell.send(()).unwrap();
        });
        sleep_elsewhere(|| hears(&told));
    });
    hears(&through);
}

#[test]
fn an_outside_thread_may_hold_a_lock_for_which_the_thread_waits_beside_its_seat() {
    let world = World::new();
    let lock = Arc::new(Mutex::new(0));
    let held = lock.lock().unwrap();
    let theirs = Arc::clone(&lock);
    let (tell, through) = mpsc::channel();
    // Without a word.
    let job = move || {
        *theirs.lock().unwrap() += 1;
        tell.send(()).unwrap();
    };
    world.run_beside(job, || {});
    assert_eq!(world.pool.spawn_handle(|| 42).join().unwrap(), 42);
    drop(held);
    hears(&through);
    assert_eq!(*lock.lock().unwrap(), 1);
}

#[test]
fn the_companion_hears_of_long_computations_beside_a_seat() {
    let world = World::new();
    let (tell, heard) = mpsc::channel();
    let jobs = Arc::clone(&world.jobs);
    let computes = move || {
        let start = Instant::now();
        while jobs.1.load(Ordering::SeqCst) == 0 && start.elapsed() < Duration::from_secs(10) {
            join(|| (), || ());
        }
        tell.send(jobs.1.load(Ordering::SeqCst) > 0).unwrap();
    };
    world.run_beside(computes, || {});
    assert!(hears(&heard));
}
