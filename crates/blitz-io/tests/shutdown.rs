//! An orderly end: everybody hears of it, nothing begins after it, all that began is waited for.

mod common;

use blitz_io::shutdown::{Shutdown, StillBusy};
use blitz_io::task::{JoinSet, yield_now};
use blitz_io::time::{sleep, timeout};
use blitz_io::{Builder, select, spawn};
use common::chaos::Random;
use common::elsewhere::block_on;
use common::{poll_once, run, soon};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn everybody_who_waits_is_told_and_who_comes_later_does_not_wait() {
    run(|| async {
        let shutdown = Shutdown::new();
        let mut waiting = JoinSet::new();
        // More than a batch of wakers.
        for _ in 0..200 {
            let shutdown = shutdown.clone();
            waiting.spawn(async move { shutdown.wait().await });
        }
        yield_now().await;
        assert!(!shutdown.is_shutdown());
        assert!(shutdown.trigger(), "the first");
        assert!(!shutdown.trigger(), "not the second");
        assert!(shutdown.is_shutdown());
        while let Some(result) = soon(waiting.join_next()).await {
            result.unwrap();
        }
        assert!(poll_once(pin!(shutdown.wait())).is_ready());
    });
}

#[test]
fn the_end_waits_for_all_guards_and_refuses_new_ones() {
    let shutdown = Shutdown::new();
    let first = shutdown.guard().unwrap();
    let second = shutdown.guard().unwrap();
    let mut drained = Box::pin(shutdown.drained());
    assert!(poll_once(drained.as_mut()).is_pending());
    shutdown.trigger();
    assert!(shutdown.guard().is_none());
    assert!(poll_once(drained.as_mut()).is_pending());
    drop(first);
    let third = second.clone();
    drop(second);
    assert_eq!(shutdown.guards(), 1, "the clone counts");
    assert!(poll_once(drained.as_mut()).is_pending());
    drop(third);
    assert!(poll_once(drained.as_mut()).is_ready());
    drop(drained);
    // On any executor, and for ever.
    block_on(shutdown.drained());
    assert_eq!(
        format!("{shutdown:?}"),
        "Shutdown { is_shutdown: true, guards: 0 }"
    );
}

#[test]
fn without_a_trigger_the_end_does_not_come_when_there_are_no_guards() {
    let shutdown = Shutdown::new();
    drop(shutdown.guard());
    let mut drained = pin!(shutdown.drained());
    assert!(poll_once(drained.as_mut()).is_pending());
    drop(shutdown.guard());
    assert!(poll_once(drained.as_mut()).is_pending());
    shutdown.trigger();
    assert!(poll_once(drained.as_mut()).is_ready());
}

#[test]
fn a_drain_says_how_much_work_is_left_when_its_time_is_over() {
    let mut builder = Builder::new_current_thread();
    builder.start_paused(true).build().unwrap().block_on(async {
        let shutdown = Shutdown::new();
        let guards = [(); 3].map(|()| shutdown.guard().unwrap());
        let limit = Duration::from_secs(10);
        let error = shutdown.drain(limit).await.unwrap_err();
        assert_eq!(error, StillBusy { guards: 3 });
        assert_eq!(error.to_string(), "3 pieces of work were not done in time");
        spawn(async move {
            sleep(Duration::from_secs(5)).await;
            drop(guards);
        });
        assert_eq!(shutdown.drain(limit).await, Ok(()));
    });
}

#[test]
fn a_dropped_wait_leaves_nothing_behind() {
    let shutdown = Shutdown::new();
    for _ in 0..100 {
        let mut waits = [(); 3].map(|()| Box::pin(shutdown.wait()));
        for wait in &mut waits {
            assert!(poll_once(wait.as_mut()).is_pending());
        }
        let [first, middle, last] = waits;
        drop(middle);
        drop(first);
        drop(last);
    }
    // In select, again and again.
    block_on(async {
        for _ in 0..100 {
            select! {
                () = shutdown.wait() => unreachable!(),
                () = std::future::ready(()) => {}
            }
        }
    });
    shutdown.trigger();
}

#[test]
fn a_guard_that_was_given_is_always_waited_for() {
    // Whoever gets a guard in the race with the trigger has done its work when `drained` returns.
    for seed in 0..30 {
        run(move || async move {
            let shutdown = Shutdown::new();
            let (begun, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let workers: Vec<_> = (0..8)
                .map(|index| {
                    let shutdown = shutdown.clone();
                    let (begun, done) = (Arc::clone(&begun), Arc::clone(&done));
                    let mut random = Random::new(seed * 8 + index);
                    spawn(async move {
                        while let Some(guard) = shutdown.guard() {
                            begun.fetch_add(1, Ordering::Relaxed);
                            for _ in 0..random.below(4) {
                                yield_now().await;
                            }
                            done.fetch_add(1, Ordering::Relaxed);
                            drop(guard);
                        }
                    })
                })
                .collect();
            for _ in 0..50 {
                yield_now().await;
            }
            shutdown.trigger();
            timeout(Duration::from_secs(30), shutdown.drained())
                .await
                .unwrap();
            assert_eq!(begun.load(Ordering::Relaxed), done.load(Ordering::Relaxed));
            for worker in workers {
                soon(worker).await.unwrap();
            }
            assert_eq!(shutdown.guards(), 0);
        });
    }
}
