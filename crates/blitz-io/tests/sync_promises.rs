//! What each lock promises, step by step: futures are polled by hand, so every order is the one that the test says.

mod common;

use blitz_io::spawn;
use blitz_io::sync::{
    Barrier, CancellationToken, Mutex, Notify, OnceCell, OwnedMutexGuard, OwnedRwLockWriteGuard,
    RwLock, RwLockWriteGuard, Semaphore, SetError, SetOnce, TryAcquireError,
};
use common::{poll_once, run};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

#[test]
fn a_closed_semaphore_refuses_everybody_and_keeps_its_permits() {
    let semaphore = Arc::new(Semaphore::new(1));
    let held = semaphore.clone().try_acquire_owned().unwrap();
    let mut waiting = Box::pin(semaphore.acquire_many(2));
    assert!(poll_once(waiting.as_mut()).is_pending());
    semaphore.close();
    assert!(matches!(poll_once(waiting.as_mut()), Poll::Ready(Err(_))));
    assert!(matches!(
        poll_once(pin!(semaphore.acquire())),
        Poll::Ready(Err(_))
    ));
    assert_eq!(
        semaphore.try_acquire().unwrap_err(),
        TryAcquireError::Closed
    );
    drop(held);
    assert_eq!(semaphore.available_permits(), 1);
    assert!(semaphore.is_closed());
}

#[test]
fn permits_are_split_merged_forgotten_and_added() {
    let semaphore = Arc::new(Semaphore::new(5));
    let mut permit = semaphore.try_acquire_many(4).unwrap();
    let part = permit.split(3).unwrap();
    assert!(permit.split(2).is_none());
    assert_eq!((permit.num_permits(), part.num_permits()), (1, 3));
    permit.forget();
    drop(part);
    assert_eq!(semaphore.available_permits(), 4);
    let mut one = semaphore.clone().try_acquire_owned().unwrap();
    one.merge(semaphore.clone().try_acquire_many_owned(2).unwrap());
    assert_eq!(one.num_permits(), 3);
    drop(one);
    assert_eq!(semaphore.forget_permits(10), 4);
    assert_eq!(
        semaphore.try_acquire().unwrap_err(),
        TryAcquireError::NoPermits
    );
    semaphore.add_permits(2);
    assert_eq!(semaphore.available_permits(), 2);
}

#[test]
#[should_panic(expected = "different semaphores")]
fn permits_of_different_semaphores_are_not_merged() {
    let (one, two) = (Semaphore::new(1), Semaphore::new(1));
    let mut permit = one.try_acquire().unwrap();
    permit.merge(two.try_acquire().unwrap());
}

#[test]
#[should_panic(expected = "MAX_PERMITS")]
fn a_semaphore_with_too_many_permits_is_refused() {
    Semaphore::new(Semaphore::MAX_PERMITS).add_permits(1);
}

#[test]
fn a_writer_that_waits_is_not_overtaken_by_readers() {
    let lock = RwLock::new(0);
    let reader = lock.try_read().unwrap();
    let mut writer = Box::pin(lock.write());
    assert!(poll_once(writer.as_mut()).is_pending());
    assert!(lock.try_read().is_err());
    let mut late = Box::pin(lock.read());
    assert!(poll_once(late.as_mut()).is_pending());
    drop(reader);
    assert!(poll_once(late.as_mut()).is_pending());
    let Poll::Ready(guard) = poll_once(writer.as_mut()) else {
        panic!("the writer's turn");
    };
    // It becomes a reader: those behind it come in, a writer would not.
    let guard = guard.downgrade();
    assert!(poll_once(late.as_mut()).is_ready());
    assert!(lock.try_write().is_err());
    drop((guard, late, writer));
    assert!(lock.try_write().is_ok());
}

#[test]
fn a_downgraded_writer_keeps_the_writer_behind_it_out() {
    let lock = RwLock::new(1);
    let writer = lock.try_write().unwrap();
    let mut next = Box::pin(lock.write());
    let mut reader = Box::pin(lock.read());
    assert!(poll_once(next.as_mut()).is_pending());
    assert!(poll_once(reader.as_mut()).is_pending());
    let guard = writer.downgrade();
    assert!(poll_once(next.as_mut()).is_pending());
    assert!(poll_once(reader.as_mut()).is_pending(), "behind a writer");
    drop(guard);
    assert!(poll_once(next.as_mut()).is_ready());
}

#[test]
fn guards_of_parts_hold_the_whole_lock() {
    let lock = Arc::new(RwLock::new((1, String::from("one"))));
    let name = RwLockWriteGuard::map(lock.try_write().unwrap(), |pair| &mut pair.1);
    assert!(lock.try_read().is_err());
    assert_eq!(format!("{name} {name:?}"), "one \"one\"");
    drop(name);
    let owned = lock.clone().try_write_owned().unwrap();
    let kept = OwnedRwLockWriteGuard::try_map(owned, |_| None::<&mut i32>);
    let number = OwnedRwLockWriteGuard::downgrade_map(kept.unwrap_err(), |pair| &pair.0);
    assert_eq!(*number, 1);
    assert!(lock.try_read().is_ok() && lock.try_write().is_err());
    drop(number);

    let mutex = Arc::new(Mutex::new((1, 2)));
    let owned = mutex.clone().try_lock_owned().unwrap();
    let mut second = OwnedMutexGuard::map(owned, |pair| &mut pair.1);
    *second += 5;
    assert!(mutex.try_lock().is_err());
    drop(second);
    assert_eq!(Arc::into_inner(mutex).unwrap().into_inner(), (1, 7));
}

#[test]
fn a_panic_does_not_keep_a_mutex_locked() {
    let mutex = Arc::new(Mutex::new(1));
    let theirs = mutex.clone();
    thread::spawn(move || {
        let _guard = theirs.blocking_lock();
        panic!("with the lock held");
    })
    .join()
    .unwrap_err();
    assert_eq!(*mutex.blocking_lock(), 1);
}

#[test]
fn an_unsized_value_may_be_locked() {
    let mutex: Arc<Mutex<dyn Fn(i32) -> i32 + Send>> = Arc::new(Mutex::new(|n| n + 1));
    assert_eq!((mutex.try_lock().unwrap())(1), 2);
    let lock: Box<RwLock<[i32]>> = Box::new(RwLock::new([1, 2, 3]));
    assert_eq!(lock.try_read().unwrap().iter().sum::<i32>(), 6);
}

#[test]
fn notify_waiters_leaves_nothing_and_a_permit_stays_for_who_comes_later() {
    let notify = Notify::new();
    notify.notify_waiters();
    assert!(poll_once(pin!(notify.notified())).is_pending());
    let before = notify.notified();
    notify.notify_waiters();
    notify.notify_one();
    notify.notify_one();
    // It needs no permit.
    assert!(poll_once(pin!(before)).is_ready());
    assert!(poll_once(pin!(notify.notified())).is_ready());
    assert!(poll_once(pin!(notify.notified())).is_pending());
}

#[test]
fn an_enabled_future_is_in_line_without_having_been_polled() {
    let notify = Arc::new(Notify::new());
    let mut enabled = Box::pin(notify.clone().notified_owned());
    assert!(!enabled.as_mut().enable());
    notify.notify_one();
    assert!(poll_once(pin!(notify.notified())).is_pending());
    assert!(enabled.as_mut().enable());
    assert!(poll_once(enabled.as_mut()).is_ready());
}

#[test]
fn notify_last_wakes_the_one_who_came_last() {
    let notify = Notify::new();
    let mut futures: Vec<_> = (0..3).map(|_| Box::pin(notify.notified())).collect();
    for future in &mut futures {
        assert!(poll_once(future.as_mut()).is_pending());
    }
    notify.notify_last();
    assert!(poll_once(futures[0].as_mut()).is_pending());
    assert!(poll_once(futures[2].as_mut()).is_ready());
}

#[test]
fn a_cell_whose_initialisation_was_dropped_or_panicked_is_empty() {
    run(|| async {
        let cell = Arc::new(OnceCell::new());
        {
            let mut begun = pin!(cell.get_or_init(std::future::pending));
            assert!(poll_once(begun.as_mut()).is_pending());
            assert!(matches!(cell.set(1), Err(SetError::InitializingError(1))));
        }
        let theirs = cell.clone();
        let failed = spawn(async move {
            theirs.get_or_init(|| async { panic!("no value") }).await;
        });
        assert!(failed.await.unwrap_err().is_panic());
        assert!(!cell.initialized());
        assert_eq!(*cell.get_or_init(|| async { 5 }).await, 5);
        assert!(cell.set(1).unwrap_err().is_already_init_err());
        let mut cell = Arc::into_inner(cell).unwrap();
        *cell.get_mut().unwrap() += 1;
        assert_eq!((cell.take(), cell.get()), (Some(6), None));
        cell.set(9).unwrap();
        assert_eq!(cell.into_inner(), Some(9));
    });
}

#[test]
fn a_cell_drops_its_value_once() {
    let value = Arc::new(());
    let cell = OnceCell::new();
    cell.set(value.clone()).unwrap();
    let copy = cell.clone();
    assert_eq!(Arc::strong_count(&value), 3);
    drop((cell, copy));
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn a_task_that_gives_up_does_not_count_at_a_barrier() {
    let barrier = Barrier::new(2);
    {
        let mut given_up = pin!(barrier.wait());
        assert!(poll_once(given_up.as_mut()).is_pending());
        // `pin!` drops it at the end of this block.
    }
    let mut first = Box::pin(barrier.wait());
    assert!(poll_once(first.as_mut()).is_pending());
    let Poll::Ready(result) = poll_once(pin!(barrier.wait())) else {
        panic!("the second of two");
    };
    assert!(result.is_leader());
    assert!(poll_once(first.as_mut()).is_ready());
    assert!(poll_once(pin!(Barrier::new(0).wait())).is_ready());
}

#[test]
fn a_deep_chain_of_tokens_of_which_only_the_last_is_left_is_short() {
    let root = CancellationToken::new();
    let mut last = root.child_token();
    for _ in 0..200_000 {
        last = last.child_token();
    }
    root.cancel();
    assert!(last.is_cancelled());
    // And one that is kept, in full.
    let root = CancellationToken::new();
    let mut chain = vec![root.child_token()];
    for depth in 0..100_000 {
        chain.push(chain[depth].child_token());
    }
    root.cancel();
    assert!(chain.iter().all(CancellationToken::is_cancelled));
}

#[test]
fn guards_cancel_their_token_unless_they_are_disarmed() {
    let token = CancellationToken::new();
    let kept = token.clone().drop_guard().disarm();
    token.drop_guard_ref().disarm();
    assert!(!kept.is_cancelled());
    drop(token.drop_guard_ref());
    assert!(kept.is_cancelled());
    assert!(poll_once(pin!(token.cancelled_owned())).is_ready());
}

struct Tells(Arc<AtomicBool>);

impl Wake for Tells {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `steps` in a poll of a task whose budget is spent.
fn with_the_budget_spent(steps: impl FnOnce() + Send + 'static) {
    run(|| async {
        let mut steps = Some(steps);
        let task = spawn(std::future::poll_fn(move |cx| {
            while pin!(blitz_io::task::consume_budget()).poll(cx).is_ready() {}
            Poll::Ready(steps.take().map(|steps| steps()))
        }));
        task.await.unwrap();
    });
}

#[test]
fn a_task_whose_budget_is_spent_gets_its_place_in_the_line_nevertheless() {
    let mutex = Arc::new(Mutex::new(()));
    let held = mutex.clone().try_lock_owned().unwrap();
    with_the_budget_spent({
        let mutex = mutex.clone();
        move || {
            let mut first = Box::pin(mutex.clone().lock_owned());
            let told = Arc::new(AtomicBool::new(false));
            let waker = Waker::from(Arc::new(Tells(told.clone())));
            let polled = first.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            assert!(!told.load(Ordering::Relaxed), "there is nothing to do yet");
            drop(held);
            assert!(told.load(Ordering::Relaxed));
            assert!(mutex.try_lock().is_err(), "it is the first one's turn");
            drop(first);
            assert!(mutex.try_lock().is_ok(), "and it has handed it on");
            // A lock that is free stays free.
            let mut later = Box::pin(mutex.lock());
            assert!(poll_once(later.as_mut()).is_pending());
            assert!(mutex.try_lock().is_ok());
            drop(later);
            assert!(mutex.try_lock().is_ok());
        }
    });
}

#[test]
fn a_lock_that_is_free_is_nobodys_until_there_is_budget_for_it() {
    run(|| async {
        let mutex = Arc::new(Mutex::new(()));
        let theirs = mutex.clone();
        let task = spawn(async move {
            let mut lock = pin!(theirs.lock());
            let mut first = true;
            std::future::poll_fn(|cx| {
                if std::mem::take(&mut first) {
                    while pin!(blitz_io::task::consume_budget()).poll(cx).is_ready() {}
                    assert!(lock.as_mut().poll(cx).is_pending());
                    assert!(theirs.try_lock().is_ok(), "others may have it meanwhile");
                    return Poll::Pending;
                }
                lock.as_mut().poll(cx).map(drop)
            })
            .await;
        });
        task.await.unwrap();
        assert!(mutex.try_lock().is_ok());
    });
}

#[test]
fn a_cell_that_is_set_once_wakes_all_who_wait_and_refuses_the_second() {
    let cell = Arc::new(SetOnce::new());
    assert_eq!((cell.get(), cell.initialized()), (None, false));
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(cell.wait())).collect();
    let mut cx = Context::from_waker(Waker::noop());
    for wait in &mut waiting {
        assert!(wait.as_mut().poll(&mut cx).is_pending());
    }
    drop(waiting.pop());
    let value = Arc::new(7);
    cell.set(value.clone()).unwrap();
    for mut wait in waiting {
        assert_eq!(wait.as_mut().poll(&mut cx), Poll::Ready(&value));
    }
    let late = cell.set(Arc::new(8)).unwrap_err();
    assert_eq!(*late.0, 8);
    assert_eq!(*cell, SetOnce::from(value.clone()));
    let cell = Arc::into_inner(cell).unwrap();
    assert_eq!(cell.clone().into_inner(), Some(value.clone()));
    drop(cell);
    assert_eq!(Arc::strong_count(&value), 1, "dropped once");
}
