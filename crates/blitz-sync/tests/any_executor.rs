//! Locks and channels with no runtime: on an executor made by hand, and on threads that have none.

use blitz_sync::{
    Barrier, CancellationToken, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, block_on,
    broadcast, coop, mpmc, mpsc, oneshot, watch,
};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake};
use std::thread;

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Runs tasks on one thread, in turns; the thread sleeps when there is none to be polled.
#[derive(Clone, Default)]
struct Executor {
    new: Rc<RefCell<Vec<Task>>>,
    budget: bool,
}

struct Ready {
    queue: std::sync::Mutex<VecDeque<usize>>,
    thread: thread::Thread,
    wakes: AtomicUsize,
}

struct TaskWaker {
    index: usize,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.ready.wakes.fetch_add(1, Ordering::Relaxed);
        self.ready.queue.lock().unwrap().push_back(self.index);
        self.ready.thread.unpark();
    }
}

impl Executor {
    fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        self.new.borrow_mut().push(Box::pin(future));
    }

    /// Returns how often a task was woken.
    fn run(self) -> usize {
        let ready = Arc::new(Ready {
            queue: std::sync::Mutex::default(),
            thread: thread::current(),
            wakes: AtomicUsize::new(0),
        });
        let mut tasks: Vec<Option<Task>> = Vec::new();
        loop {
            for task in self.new.borrow_mut().drain(..) {
                ready.queue.lock().unwrap().push_back(tasks.len());
                tasks.push(Some(task));
            }
            let next = ready.queue.lock().unwrap().pop_front();
            let Some(index) = next else {
                if tasks.iter().all(Option::is_none) {
                    return ready.wakes.load(Ordering::Relaxed);
                }
                thread::park();
                continue;
            };
            let waker = Arc::new(TaskWaker {
                index,
                ready: ready.clone(),
            })
            .into();
            let mut cx = Context::from_waker(&waker);
            let Some(task) = &mut tasks[index] else {
                continue;
            };
            let polled = if self.budget {
                coop::budgeted(|| task.as_mut().poll(&mut cx))
            } else {
                task.as_mut().poll(&mut cx)
            };
            if polled.is_ready() {
                tasks[index] = None;
            }
        }
    }
}

#[test]
fn tasks_of_one_thread_share_locks() {
    let executor = Executor::default();
    let sum = Rc::new(Mutex::new(0));
    let shared = Rc::new(RwLock::new(0));
    let permits = Rc::new(Semaphore::new(2));
    let barrier = Rc::new(Barrier::new(5));
    let notify = Rc::new(Notify::new());
    let seen = Rc::new(SetOnce::new());
    for number in 0..5 {
        let (sum, shared, permits) = (sum.clone(), shared.clone(), permits.clone());
        let (barrier, notify, seen) = (barrier.clone(), notify.clone(), seen.clone());
        executor.spawn(async move {
            let _permit = permits.acquire().await.unwrap();
            {
                let mut sum = sum.lock().await;
                let before = *shared.read().await;
                *shared.write().await = before + 1;
                *sum += number;
            }
            drop(_permit);
            if barrier.wait().await.is_leader() {
                notify.notify_one();
                seen.set(*sum.lock().await).unwrap();
            }
            assert_eq!(*seen.wait().await, 10);
        });
    }
    executor.spawn(async move { notify.notified().await });
    executor.run();
    assert_eq!(*shared.blocking_read(), 5);
    assert_eq!(permits.available_permits(), 2);
}

#[test]
fn messages_from_threads_wake_tasks_of_another_thread() {
    const SENDERS: u64 = 3;
    const EACH: u64 = 200;
    let executor = Executor::default();
    let (to_one, mut one) = mpsc::channel(2);
    let (to_any, any) = mpmc::bounded(2);
    let (to_all, mut all) = broadcast::channel(1024);
    let (latest, mut value) = watch::channel(0);
    let (answer, question) = oneshot::channel();
    let stop = CancellationToken::new();
    let threads: Vec<_> = (0..SENDERS)
        .map(|_| {
            let (to_one, to_any, to_all) = (to_one.clone(), to_any.clone(), to_all.clone());
            thread::spawn(move || {
                for number in 0..EACH {
                    to_one.blocking_send(number).unwrap();
                    block_on(to_any.send(number)).unwrap();
                    to_all.send(number).unwrap();
                }
            })
        })
        .collect();
    drop((to_one, to_any, to_all));
    let sums = Rc::new(RefCell::new(Vec::new()));
    let (first, second, third) = (sums.clone(), sums.clone(), sums.clone());
    executor.spawn(async move {
        let mut sum = 0;
        while let Some(number) = one.recv().await {
            sum += number;
            latest.send(sum).unwrap();
        }
        first.borrow_mut().push(sum);
        answer.send(sum).unwrap();
    });
    executor.spawn(async move {
        let mut sum = 0;
        while let Ok(number) = any.recv().await {
            sum += number;
        }
        second.borrow_mut().push(sum);
    });
    executor.spawn(async move {
        let mut sum = 0;
        while let Ok(number) = all.recv().await {
            sum += number;
        }
        third.borrow_mut().push(sum);
    });
    let total = SENDERS * EACH * (EACH - 1) / 2;
    let stopped = stop.clone();
    executor.spawn(async move {
        assert_eq!(*value.wait_for(|sum| *sum == total).await.unwrap(), total);
        assert_eq!(question.await, Ok(total));
        stopped.cancel();
    });
    executor.spawn(async move { stop.cancelled().await });
    executor.run();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*sums.borrow(), [total; 3]);
}

#[test]
fn threads_without_an_executor_wait_for_each_other() {
    let cell = Arc::new(OnceCell::new());
    let lock = Arc::new(Mutex::new(0));
    let semaphore = Arc::new(Semaphore::new(0));
    let barrier = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let (cell, lock) = (cell.clone(), lock.clone());
            let (semaphore, barrier) = (semaphore.clone(), barrier.clone());
            thread::spawn(move || {
                for _ in 0..100 {
                    *lock.blocking_lock() += 1;
                }
                block_on(barrier.wait());
                let first = *block_on(cell.get_or_init(|| async move { number }));
                semaphore.add_permits(1);
                first
            })
        })
        .collect();
    drop(block_on(semaphore.acquire_many(4)).unwrap());
    let firsts: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert!(firsts.iter().all(|first| *first == firsts[0]));
    assert_eq!(Arc::into_inner(lock).unwrap().into_inner(), 400);
}

#[test]
fn a_wait_that_is_given_up_passes_the_lock_on() {
    let lock = Arc::new(Mutex::new(()));
    let held = lock.blocking_lock();
    let mut given_up = Box::pin(lock.lock());
    let mut cx = Context::from_waker(std::task::Waker::noop());
    assert!(given_up.as_mut().poll(&mut cx).is_pending());
    let theirs = lock.clone();
    let other = thread::spawn(move || drop(theirs.blocking_lock()));
    drop(held);
    drop(given_up);
    other.join().unwrap();
}

/// Two tasks, each with a channel that is never empty: with budgets both get on.
#[test]
fn an_executor_that_gives_budgets_is_shared() {
    const MESSAGES: usize = 10_000;
    let executor = Executor {
        budget: true,
        ..Executor::default()
    };
    let turns = Rc::new(RefCell::new(Vec::new()));
    for name in 0..2 {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for message in 0..MESSAGES {
            sender.send(message).unwrap();
        }
        let turns = turns.clone();
        executor.spawn(async move {
            for _ in 0..MESSAGES {
                receiver.recv().await.unwrap();
                turns.borrow_mut().push(name);
            }
            drop(sender);
        });
    }
    let wakes = executor.run();
    let longest = turns.borrow().chunk_by(|a, b| a == b).map(<[_]>::len).max();
    assert_eq!(longest, Some(128));
    assert!(wakes >= 2 * (MESSAGES / 128));
}

/// A time limit is the executor's business: dropping `reserve` takes nothing.
#[test]
fn reserving_can_be_given_up() {
    let (sender, mut receiver) = mpsc::channel(1);
    sender.try_send(1).unwrap();
    let mut cx = Context::from_waker(std::task::Waker::noop());
    {
        let mut reserve = Box::pin(sender.reserve());
        assert!(matches!(reserve.as_mut().poll(&mut cx), Poll::Pending));
    }
    assert_eq!(receiver.blocking_recv(), Some(1));
    sender.try_send(2).unwrap();
    assert_eq!(receiver.blocking_recv(), Some(2));
}

#[cfg(feature = "timeout")]
#[test]
#[should_panic(expected = "timers of a Blitz runtime")]
fn a_limit_without_timers_is_refused_whether_it_has_to_wait_or_not() {
    let (sender, _receiver) = mpsc::channel(1);
    let _ = block_on(sender.send_timeout(1, std::time::Duration::from_secs(1)));
}

/// Nothing fits always while the channel is open, and too much never does.
#[test]
fn room_for_none_and_for_too_many() {
    use mpsc::error::TrySendError;
    for capacity in [1, 5000] {
        let (sender, mut receiver) = mpsc::channel(capacity);
        for number in 0..capacity {
            sender.try_send(number).unwrap();
        }
        let mut waiting = Box::pin(sender.send(0));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        assert_eq!(sender.try_reserve_many(0).unwrap().len(), 0);
        let refused = |count| sender.try_reserve_many(count).err();
        let too_many = [capacity + 1, usize::MAX];
        assert!(
            too_many
                .map(refused)
                .iter()
                .all(|e| *e == Some(TrySendError::Full(())))
        );
        receiver.close();
        // That it never fits is said first.
        assert!(
            too_many
                .map(refused)
                .iter()
                .all(|e| *e == Some(TrySendError::Full(())))
        );
        assert_eq!(refused(0), Some(TrySendError::Closed(())));
        assert_eq!(refused(capacity), Some(TrySendError::Closed(())));
    }
}
