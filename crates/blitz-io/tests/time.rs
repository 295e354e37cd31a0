//! Time on the runtime: sleeping, time-outs, intervals, and the paused clock.

mod common;

use blitz_io::time::{
    self, Duration, Instant, MissedTickBehavior, interval, interval_at, sleep, sleep_until,
    timeout, timeout_at,
};
use blitz_io::{Builder, Runtime, spawn, spawn_blocking, spawn_cpu};
use common::{run, run_on, soon};
use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn paused() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.start_paused(true).build().unwrap()
}

fn is_ready<F: Future>(future: std::pin::Pin<&mut F>) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    matches!(future.poll(&mut cx), Poll::Ready(_))
}

#[test]
fn thousands_of_tasks_sleep_and_none_wakes_early() {
    run(|| async {
        let tasks: Vec<_> = (0..5000u64)
            .map(|i| {
                spawn(async move {
                    let deadline = Instant::now() + Duration::from_micros(i * 37 % 20_000);
                    sleep_until(deadline).await;
                    Instant::now().checked_duration_since(deadline).is_some()
                })
            })
            .collect();
        for task in tasks {
            assert!(soon(task).await.unwrap(), "early");
        }
    });
}

#[test]
fn bug_8_timers_fire_while_a_worker_is_busy() {
    run(|| async {
        let busy = spawn(async {
            let start = std::time::Instant::now();
            let mut turns = 0u64;
            while start.elapsed() < millis(300) {
                turns = std::hint::black_box(turns + 1);
            }
        });
        let ticking = spawn(async {
            let start = Instant::now();
            for _ in 0..5 {
                sleep(millis(1)).await;
            }
            start.elapsed()
        });
        soon(ticking).await.unwrap();
        assert!(
            !busy.is_finished(),
            "the timers had to wait for the busy worker"
        );
        soon(busy).await.unwrap();
    });
}

#[test]
fn bug_8_an_earlier_timer_does_not_wait_for_a_later_one() {
    run(|| async {
        let late = spawn(sleep(Duration::from_secs(3600)));
        sleep(millis(20)).await;
        soon(sleep(millis(5))).await;
        // From a thread that is none of the runtime's, while all workers sleep.
        let handle = blitz_io::Handle::current();
        let outside = std::thread::spawn(move || handle.block_on(async { sleep(millis(5)).await }));
        sleep(millis(50)).await;
        outside.join().unwrap();
        late.abort();
    });
}

#[test]
fn a_task_that_waits_for_a_sleep_that_is_moved_is_woken_at_the_new_time() {
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    run_on(paused, || async {
        let start = Instant::now();
        // Earlier, later, and to a time that is over: then at once.
        for (moved_to, not_yet) in [(30, 29), (300, 299), (0, 0)] {
            let start = Instant::now();
            let woken = Arc::new(Woken(AtomicBool::new(false)));
            let waker = Waker::from(Arc::clone(&woken));
            let mut nap = pin!(sleep(millis(100)));
            let poll = nap.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(poll.is_pending());
            nap.as_mut().reset(start + millis(moved_to));
            if not_yet > 0 {
                sleep(millis(not_yet)).await;
                assert!(!woken.0.load(Ordering::Relaxed), "{moved_to}");
                sleep(millis(2)).await;
            }
            assert!(woken.0.load(Ordering::Relaxed), "{moved_to}");
        }
        assert!(start.elapsed() >= millis(330));
    });
}

#[test]
fn a_sleep_can_be_moved_before_during_and_after() {
    run_on(paused, || async {
        let start = Instant::now();
        let mut nap = pin!(sleep(millis(100)));
        assert_eq!(nap.deadline(), start + millis(100));
        nap.as_mut().reset(start + millis(10));
        assert!(!is_ready(nap.as_mut()));
        nap.as_mut().reset(start + millis(20));
        nap.as_mut().await;
        assert!(nap.is_elapsed());
        assert_eq!(start.elapsed(), millis(20));
        nap.as_mut().reset(start + millis(50));
        assert!(!nap.is_elapsed());
        nap.as_mut().await;
        assert_eq!(start.elapsed(), millis(50));
        // To the past: at once.
        nap.as_mut().reset(start);
        assert!(is_ready(nap.as_mut()));
    });
}

#[test]
fn a_time_out_is_an_error_and_its_absence_the_result() {
    run_on(paused, || async {
        let start = Instant::now();
        let error = timeout(millis(30), pending::<()>()).await.unwrap_err();
        assert_eq!(error.to_string(), "deadline has elapsed");
        assert_eq!(
            std::io::Error::from(error).kind(),
            std::io::ErrorKind::TimedOut
        );
        assert_eq!(start.elapsed(), millis(30));
        let slow = async {
            sleep(millis(10)).await;
            7
        };
        assert_eq!(timeout(millis(20), slow).await, Ok(7));
        assert!(timeout_at(start, pending::<()>()).await.is_err());
        // Ready wins over late.
        assert_eq!(timeout(Duration::ZERO, async { 1 }).await, Ok(1));
        assert_eq!(timeout(Duration::MAX, async { 2 }).await, Ok(2));
    });
}

#[test]
fn a_time_out_ends_a_future_that_is_never_out_of_work() {
    run(|| async {
        let endless = async {
            loop {
                blitz_io::task::coop::consume_budget().await;
            }
        };
        let limited = spawn(async { timeout(millis(20), endless).await });
        assert!(soon(limited).await.unwrap().is_err());
    });
}

#[test]
fn for_ever_is_long_but_not_an_error() {
    run_on(paused, || async {
        let mut endless = pin!(sleep(Duration::MAX));
        assert!(!is_ready(endless.as_mut()));
        time::advance(Duration::from_secs(365 * 24 * 3600)).await;
        assert!(!is_ready(endless.as_mut()));
    });
}

#[test]
fn an_interval_ticks_at_once_and_then_every_period() {
    run_on(paused, || async {
        let start = Instant::now();
        let mut ticks = interval(millis(10));
        assert_eq!(ticks.period(), millis(10));
        for tick in 0..5u32 {
            assert_eq!(ticks.tick().await, start + millis(10) * tick);
            assert_eq!(start.elapsed(), millis(10) * tick);
        }
        ticks.reset();
        assert_eq!(ticks.tick().await, start + millis(50));
        ticks.reset_after(millis(3));
        assert_eq!(ticks.tick().await, start + millis(53));
        let mut later = interval_at(start + millis(100), millis(1));
        assert_eq!(later.tick().await, start + millis(100));
    });
}

#[test]
fn missed_ticks_are_made_up_for_moved_or_left_out() {
    use MissedTickBehavior::{Burst, Delay, Skip};
    // Ticks are due every 10 ms; the second one is fetched at 35 ms.
    for (behavior, expected) in [
        (Burst, [10, 20, 30, 40, 50]),
        (Delay, [10, 45, 55, 65, 75]),
        (Skip, [10, 40, 50, 60, 70]),
    ] {
        run_on(paused, move || async move {
            let start = Instant::now();
            let mut ticks = interval(millis(10));
            ticks.set_missed_tick_behavior(behavior);
            assert_eq!(ticks.missed_tick_behavior(), behavior);
            ticks.tick().await;
            time::advance(millis(35)).await;
            for due in expected {
                assert_eq!(ticks.tick().await - start, millis(due), "{behavior:?}");
            }
        });
    }
}

/// The second tick of a `Delay` interval of 50 ms is fetched that much too late; when is the third one due?
fn third_if_late_by(late: Duration) -> Duration {
    let third = Arc::new(std::sync::Mutex::new(Duration::ZERO));
    let result = Arc::clone(&third);
    run_on(paused, move || async move {
        let start = Instant::now();
        let mut ticks = interval(millis(50));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        time::advance(millis(50) + late).await;
        assert_eq!(ticks.tick().await - start, millis(50));
        *result.lock().unwrap() = ticks.tick().await - start;
    });
    *third.lock().unwrap()
}

#[test]
fn delayed_ticks_are_a_period_apart_also_if_one_is_late_by_less_than_that() {
    assert_eq!(third_if_late_by(millis(10)), millis(110));
    assert_eq!(third_if_late_by(millis(6)), millis(106));
}

#[test]
fn a_schedule_does_not_move_because_a_thread_was_woken_a_little_late() {
    assert_eq!(third_if_late_by(millis(5)), millis(100));
    assert_eq!(third_if_late_by(millis(0)), millis(100));
}

#[test]
#[should_panic(expected = "the period of an interval must not be zero")]
fn an_interval_without_a_period_is_refused() {
    run_on(paused, || async {
        interval(Duration::ZERO);
    });
}

#[test]
#[should_panic(expected = "runtime")]
fn a_sleep_outside_of_a_runtime_says_what_is_missing() {
    drop(sleep(millis(1)));
}

#[test]
fn a_paused_clock_makes_a_day_pass_at_once() {
    let begin = std::time::Instant::now();
    let order = run_on(paused, || async {
        let start = Instant::now();
        let hours = |hours: u64| Duration::from_secs(3600 * hours);
        let tasks = [20, 5, 24, 11].map(|n| {
            spawn(async move {
                sleep(hours(n)).await;
                (start.elapsed(), n)
            })
        });
        let mut order = Vec::new();
        for task in tasks {
            let (elapsed, n) = task.await.unwrap();
            assert_eq!(elapsed, hours(n));
            order.push(n);
        }
        assert_eq!(start.elapsed(), hours(24));
        order
    });
    assert_eq!(order, [20, 5, 24, 11]);
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_paused_clock_can_run_again() {
    run_on(paused, || async {
        let start = Instant::now();
        std::thread::sleep(millis(5));
        assert_eq!(start.elapsed(), Duration::ZERO);
        time::resume();
        std::thread::sleep(millis(5));
        assert!(start.elapsed() >= millis(5));
        sleep(millis(5)).await;
        assert!(start.elapsed() >= millis(10));
        time::pause();
        let stopped = Instant::now();
        sleep(Duration::from_secs(1000)).await;
        assert_eq!(stopped.elapsed(), Duration::from_secs(1000));
    });
}

#[test]
fn a_paused_clock_jumps_again_when_a_closure_that_nobody_waits_for_is_over() {
    run_on(paused, || async {
        for _ in 0..3 {
            drop(spawn_blocking(|| std::thread::sleep(millis(30))));
            sleep(millis(10)).await;
        }
    });
}

#[test]
fn a_paused_clock_stands_still_until_the_results_of_closures_are_delivered() {
    run_on(paused, || async {
        for round in 0..50 {
            let start = Instant::now();
            let nap = move || std::thread::sleep(Duration::from_micros(round * 20));
            let limit = Duration::from_secs(3600);
            timeout(limit, spawn_blocking(nap)).await.unwrap().unwrap();
            timeout(limit, spawn_cpu(nap)).await.unwrap().unwrap();
            assert_eq!(start.elapsed(), Duration::ZERO);
        }
    });
}

#[test]
fn a_timer_from_before_a_pause_goes_off_after_it() {
    let current_thread = || Builder::new_current_thread().build().unwrap();
    run_on(current_thread, || async {
        let timer = spawn(sleep(millis(20)));
        // The driver waits for the timer meanwhile.
        let nap = spawn_blocking(|| std::thread::sleep(millis(5)));
        nap.await.unwrap();
        time::pause();
        std::thread::sleep(millis(30));
        time::resume();
        soon(timer).await.unwrap();
    });
}

#[test]
fn a_timer_that_another_thread_sets_lets_a_paused_clock_jump() {
    let runtime = paused();
    let handle = runtime.handle().clone();
    let other = std::thread::spawn(move || {
        // While the thread of the runtime waits for nothing but the word from here, and has no timer.
        std::thread::sleep(millis(20));
        handle.block_on(async { sleep(Duration::from_secs(3600)).await });
    });
    run_on(
        || runtime,
        move || async move {
            let (sender, receiver) = blitz_io::sync::oneshot::channel();
            std::thread::spawn(move || {
                other.join().unwrap();
                sender.send(()).unwrap();
            });
            receiver.await.unwrap();
        },
    );
}

#[test]
#[should_panic(expected = "only the clock of a current-thread runtime can be paused")]
fn the_clock_of_several_workers_is_not_paused() {
    run(|| async { time::pause() });
}

#[test]
#[should_panic(expected = "the clock is paused already")]
fn a_clock_is_paused_once() {
    run_on(paused, || async { time::pause() });
}

#[test]
#[should_panic(expected = "call `time::pause` first")]
fn a_running_clock_is_not_moved() {
    run(|| async { time::advance(millis(1)).await });
}

#[test]
fn sleeps_are_dropped_with_their_tasks_while_they_fire() {
    run(|| async {
        for round in 0..200u64 {
            let tasks: Vec<_> = (0..20)
                .map(|i| spawn(sleep(Duration::from_micros(i * 13 % 150))))
                .collect();
            sleep(Duration::from_micros(round % 150)).await;
            for task in &tasks {
                task.abort();
            }
            for task in tasks {
                // Either is right; what matters is that it comes back.
                let _ = soon(task).await;
            }
        }
    });
}
