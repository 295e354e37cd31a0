//! What a profile says of loops does not depend on who was there to help, nor on a panic.
#![cfg(feature = "profile")]

use blitz::prelude::*;
use blitz::profile::Profiler;
use std::cell::Cell;
use std::time::Duration;

thread_local! { static NOW: Cell<u64> = const { Cell::new(0) }; }

fn millisecond() {
    NOW.set(NOW.get() + 1000);
}

#[test]
fn a_loop_inside_of_another_has_its_parallelism_on_one_thread() {
    let pool = blitz::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    for round in 0..20 {
        let (_, profile) = Profiler::new().clock(|| NOW.get(), 1).run(|| {
            pool.install(|| {
                (0..2).into_par_iter().for_each(|_| {
                    // Really takes some time, too: the loop goes by the real clock.
                    (0..16).into_par_iter().for_each(|_| {
                        std::thread::sleep(Duration::from_micros(300));
                        millisecond();
                    });
                });
            });
        });
        assert_eq!(profile.work(), Duration::from_millis(32));
        assert!(
            profile.span() <= Duration::from_millis(4),
            "round {round}: a span of {:?}",
            profile.span()
        );
    }
}

#[test]
fn items_count_that_ran_before_or_beside_one_that_panicked() {
    use std::sync::atomic::{AtomicU64, Ordering};
    for threads in [1, 3] {
        let pool = blitz::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        for fails_at in [0, 1, 7, 500, 999] {
            let ran = AtomicU64::new(0);
            let (_, profile) = Profiler::new().clock(|| NOW.get(), 1).run(|| {
                let panicked = std::panic::catch_unwind(|| {
                    pool.install(|| {
                        (0..1000_u64).into_par_iter().for_each(|n| {
                            ran.fetch_add(1, Ordering::Relaxed);
                            millisecond();
                            if n == fails_at {
                                std::panic::resume_unwind(Box::new("on purpose"));
                            }
                        });
                    });
                });
                assert!(panicked.is_err());
                millisecond();
            });
            let ran = ran.into_inner();
            assert_eq!(profile.work(), Duration::from_millis(ran + 1));
            assert!(profile.span() <= profile.work());
        }
    }
}
