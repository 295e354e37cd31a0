//! What a profile says of loops within loops does not depend on who was there to help.
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
