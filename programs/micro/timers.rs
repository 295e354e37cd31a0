//! Timers: set and cancelled, as timeouts nearly always are; and such that fire, of which the CPU time is what they cost.

use crate::{Program, timed};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, interval, sleep, timeout};

pub const PROGRAMS: &[(&str, Program)] = &[
    ("timers/timeout", timeouts),
    ("timers/cancelled", cancelled),
    ("timers/beside-100k", beside_many),
    ("timers/fired-cpu", fired),
    ("timers/interval-late", interval_late),
];

const TIMERS: u64 = 20_000;

/// The future is ready at the first poll.
fn timeouts(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, TIMERS, async {
        for number in 0..TIMERS {
            let within = timeout(Duration::from_secs(5), async { number });
            assert_eq!(within.await.unwrap(), number);
        }
    })
}

/// The future waits once: the timer is registered, and taken back.
async fn wait_once_each(timers: u64) {
    for _ in 0..timers {
        timeout(Duration::from_secs(5), yield_now()).await.unwrap();
    }
}

fn cancelled(runtime: &Runtime) -> (u64, Duration) {
    timed(runtime, TIMERS, wait_once_each(TIMERS))
}

/// The same in a program where many connections have their timeouts.
fn beside_many(runtime: &Runtime) -> (u64, Duration) {
    let others: Vec<_> = (0..100_000)
        .map(|number| {
            runtime.spawn(async move { sleep(Duration::from_millis(60_000 + number)).await })
        })
        .collect();
    let took = timed(runtime, TIMERS, wait_once_each(TIMERS));
    for other in &others {
        other.abort();
    }
    runtime.block_on(async {
        for other in others {
            assert!(other.await.unwrap_err().is_cancelled());
        }
    });
    took
}

/// CPU time that this process has used.
fn cpu_time() -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes to `now`.
    assert_eq!(0, unsafe {
        libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now)
    });
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn fired(runtime: &Runtime) -> (u64, Duration) {
    let before = cpu_time();
    timed(runtime, TIMERS, async {
        let (start, mut set) = (Instant::now(), JoinSet::new());
        for number in 0..TIMERS {
            let at = start + Duration::from_micros(10_000 + number * 7919 % 50_000);
            set.spawn(async move {
                tokio::time::sleep_until(at).await;
                assert!(Instant::now() >= at);
            });
        }
        while let Some(fired) = set.join_next().await {
            fired.unwrap();
        }
    });
    (TIMERS, cpu_time() - before)
}

/// How late a clock of three milliseconds ticks, on average.
fn interval_late(runtime: &Runtime) -> (u64, Duration) {
    const TICKS: u32 = 20;
    let late = runtime.spawn(async {
        let mut late = Duration::ZERO;
        let mut clock = interval(Duration::from_micros(3300));
        for _ in 0..TICKS {
            let at = clock.tick().await;
            late += at.elapsed();
        }
        late
    });
    (u64::from(TICKS), runtime.block_on(late).unwrap())
}
