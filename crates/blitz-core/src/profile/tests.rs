//! Computations of known work and span, by a clock that they advance themselves: exact, whatever the machine does.

use super::strand::Config;
use super::{Profile, Profiler, label};
use crate::{ThreadPoolBuilder, join, scope, spawn_handle};
use std::cell::Cell;
use std::time::Duration;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

fn now() -> u64 {
    NOW.get()
}

/// Takes this many microseconds of the thread's own time.
fn busy(us: u64) {
    NOW.set(NOW.get() + us);
    // Gives others a chance to steal.
    std::thread::yield_now();
}

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn exactly<R>(computation: impl FnOnce() -> R) -> Profile {
    Profiler::new()
        .clock(now, 1)
        .burden(Duration::ZERO)
        .run(computation)
        .1
}

/// A binary tree of joins with work before, in and after each fork.
fn tree(levels: u32) {
    busy(3);
    if levels > 0 {
        join(|| tree(levels - 1), || tree(levels - 1));
    }
    busy(2);
}

#[test]
fn sequential_code_has_no_parallelism() {
    let profile = exactly(|| busy(50));
    assert_eq!((profile.work(), profile.span()), (us(50), us(50)));
    assert_eq!(profile.parallelism(), 1.0);
    assert_eq!((profile.forks(), profile.strands()), (0, 1));
}

#[test]
fn the_longer_half_of_a_join_is_the_span() {
    let profile = exactly(|| {
        busy(1);
        join(|| busy(10), || busy(30));
        busy(2);
    });
    assert_eq!((profile.work(), profile.span()), (us(43), us(33)));
    assert_eq!(profile.forks(), 1);
}

#[test]
fn a_tree_of_joins_has_the_work_of_its_nodes_and_the_span_of_its_height() {
    for pool in [1, 2, 3] {
        let pool = ThreadPoolBuilder::new().num_threads(pool).build().unwrap();
        for levels in [0, 1, 5, 9] {
            let profile = exactly(|| pool.install(|| tree(levels)));
            let nodes = (1 << (levels + 1)) - 1;
            assert_eq!(profile.work(), us(5 * nodes));
            assert_eq!(profile.span(), us(5 * (u64::from(levels) + 1)));
            assert_eq!(profile.forks(), nodes / 2);
        }
    }
}

#[test]
fn stolen_halves_count_as_much_as_those_that_stay() {
    // Long enough in real time that a second thread takes part, whatever the fake clock says.
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let spin = || {
        let start = std::time::Instant::now();
        while start.elapsed() < Duration::from_micros(300) {
            std::hint::spin_loop();
        }
        busy(7);
    };
    let mut stolen = 0;
    for _ in 0..1000 {
        let profile = exactly(|| pool.install(|| join(spin, spin)));
        assert_eq!((profile.work(), profile.span()), (us(14), us(7)));
        stolen += profile.steals();
        if stolen > 0 {
            return;
        }
    }
    panic!("no half was ever stolen: nothing ran in parallel");
}

#[test]
fn tasks_of_a_scope_begin_where_they_are_spawned() {
    let profile = exactly(|| {
        scope(|s| {
            busy(1);
            s.spawn(|_| busy(10));
            busy(1);
            s.spawn(|s| {
                busy(2);
                s.spawn(|_| busy(20));
                busy(3);
            });
            busy(1);
        });
        busy(4);
    });
    // The longest path: 1 + 1 in the body, 2 in the second task, 20 in the third, 4 after the scope.
    assert_eq!((profile.work(), profile.span()), (us(42), us(28)));
    assert_eq!(profile.forks(), 3);
}

#[test]
fn tasks_in_order_and_on_handles_count_as_well() {
    let profile = exactly(|| {
        crate::scope_fifo(|s| {
            s.spawn_fifo(|_| busy(10));
            s.spawn_fifo(|_| busy(6));
        });
        scope(|s| {
            let handle = s.spawn_handle(|_| busy(10));
            handle.join().unwrap();
            // On the path of the task that was waited for.
            busy(5);
        });
        let detached = spawn_handle(|| busy(8));
        busy(1);
        detached.join().unwrap();
    });
    assert_eq!((profile.work(), profile.span()), (us(40), us(33)));
}

#[test]
fn a_task_that_is_joined_in_the_middle_ends_there() {
    use crate::fork;
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let (work, span) = work_and_span(|| {
            pool.install(|| {
                busy(1);
                fork(
                    || busy(50),
                    |task| {
                        busy(40);
                        task.join();
                        busy(5);
                    },
                );
                // Not joined, and joined by another thread.
                fork(|| busy(10), |_task| busy(20));
                fork(
                    || join(|| busy(1), || busy(2)),
                    |task| join(|| busy(3), || task.join()),
                );
                caught(|| {
                    fork(
                        || busy(30),
                        |_task| {
                            busy(4);
                            fail();
                        },
                    );
                });
                caught(|| fork(|| fails_after(6), |task| task.join()));
            });
        });
        assert_eq!(work, us(1 + 95 + 30 + 6 + 34 + 6), "{threads} threads");
        assert_eq!(span, us(1 + 55 + 20 + 3 + 30 + 6), "{threads} threads");
    }
}

#[test]
fn what_all_threads_run_is_as_long_as_one_of_them() {
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let all = || pool.broadcast(|_| join(|| busy(10), || busy(20)));
        let times = u64::try_from(threads).unwrap() * 30;
        assert_eq!(work_and_span(|| drop(all())), (us(times), us(20)));
        let inside = work_and_span(|| {
            pool.install(|| {
                busy(1);
                all();
                caught(|| drop(pool.broadcast(|_| fails_after(5))));
            });
        });
        assert_eq!(inside, (us(1 + times + times / 6), us(26)));
    }
}

#[test]
fn each_steal_burdens_its_path() {
    let profiler = Profiler::new().clock(now, 1).burden(us(100));
    let (_, profile) = profiler.run(|| join(|| busy(10), || join(|| busy(5), || busy(5))));
    assert_eq!(profile.span(), us(10));
    // Two right halves in a row, each stolen at worst.
    assert_eq!(profile.burdened_span(), us(205));
    assert!(profile.speedup_expected(2) < profile.speedup_limit(2));
}

#[test]
fn predictions_grow_with_the_cores_up_to_the_parallelism() {
    let profile = exactly(|| tree(9));
    let limits = super::report::CORES.map(|cores| profile.speedup_limit(cores));
    let expected = super::report::CORES.map(|cores| profile.speedup_expected(cores));
    assert!(limits.is_sorted() && expected.is_sorted());
    assert!(expected.iter().zip(&limits).all(|(low, high)| low <= high));
    assert_eq!(limits[7], profile.parallelism());
    assert_eq!(profile.speedup_limit(2), 2.0);
}

#[test]
fn the_longest_strand_is_named_by_place_and_label() {
    let profile = exactly(|| {
        busy(1);
        label("outer", || {
            join(|| busy(5), || label("inner", || busy(50)));
        });
        busy(2);
    });
    let longest = profile.longest().unwrap();
    assert_eq!((longest.time, longest.label), (us(50), Some("inner")));
    assert!(
        longest.origin.contains("the right half of the join at "),
        "{longest:?}"
    );
    assert!(longest.origin.contains("tests.rs:"), "{longest:?}");
}

#[test]
fn a_profile_inside_of_a_profile_is_part_of_it() {
    let mut inner = None;
    let outer = exactly(|| {
        busy(1);
        inner = Some(exactly(|| join(|| busy(10), || busy(10))));
        busy(1);
    });
    let inner = inner.unwrap();
    assert_eq!((inner.work(), inner.span()), (us(20), us(10)));
    assert_eq!((outer.work(), outer.span()), (us(22), us(12)));
}

#[test]
fn what_computes_where_it_may_block_counts() {
    use crate::companion::{sleep_elsewhere, work_elsewhere};
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for block in [crate::block_in_place, work_elsewhere] as [fn(fn()); 2] {
        let profile = exactly(|| {
            pool.install(|| {
                busy(1);
                block(|| {
                    busy(10);
                    join(|| busy(20), || busy(30));
                });
                // A lock's, say: no work, however long it takes.
                sleep_elsewhere(|| busy(100));
                busy(2);
            });
        });
        assert_eq!((profile.work(), profile.span()), (us(63), us(43)));
        assert_eq!(profile.forks(), 1);
    }
}

#[test]
fn a_panic_leaves_the_thread_outside_of_any_profile() {
    let panics = || exactly(|| join(|| busy(1), || panic!("on purpose")));
    assert!(std::panic::catch_unwind(panics).is_err());
    join(|| busy(100), || busy(100));
    let profile = exactly(|| busy(3));
    assert_eq!(profile.work(), us(3));
}

fn caught(work: impl FnOnce()) {
    let work = std::panic::AssertUnwindSafe(work);
    assert!(std::panic::catch_unwind(work).is_err());
}

/// The panic that the tests want.
fn fail() {
    std::panic::resume_unwind(Box::new("on purpose"));
}

fn fails_after(time: u64) {
    busy(time);
    fail();
}

fn work_and_span(computation: impl FnOnce()) -> (Duration, Duration) {
    let profile = exactly(computation);
    (profile.work(), profile.span())
}

#[test]
fn a_panic_that_is_caught_inside_does_not_end_the_profile() {
    let profile = exactly(|| {
        busy(1);
        caught(|| {
            join(|| busy(1), fail);
        });
        busy(4);
        join(|| busy(2), || busy(2));
    });
    assert_eq!((profile.work(), profile.span()), (us(10), us(8)));
    assert_eq!(profile.forks(), 2);
}

#[test]
fn what_was_done_before_a_panic_and_beside_it_counts() {
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let joins = work_and_span(|| {
            pool.install(|| {
                busy(1);
                caught(|| {
                    join(|| busy(20), || fails_after(30));
                });
                caught(|| {
                    join(|| fails_after(50), || tree(1));
                });
                caught(|| {
                    join(
                        || join(|| fails_after(5), || busy(6)),
                        || label("right", || fails_after(7)),
                    );
                });
                busy(2);
            });
        });
        assert_eq!(joins, (us(1 + 50 + 65 + 18 + 2), us(1 + 30 + 50 + 7 + 2)));
        // Work that was handed to the pool.
        let installed = work_and_span(|| {
            caught(|| pool.install(|| fails_after(10)));
            busy(5);
        });
        assert_eq!(installed, (us(15), us(15)));
        let tasks = work_and_span(|| {
            caught(|| {
                pool.scope(|s| {
                    s.spawn(|_| fails_after(10));
                    s.spawn(|_| busy(20));
                    fails_after(1);
                });
            });
            let handle = pool.spawn_handle(|| fails_after(8));
            assert!(handle.join().is_err());
        });
        assert_eq!(tasks, (us(39), us(28)));
    }
}

#[test]
fn a_loop_that_is_left_by_a_panic_counts_with_what_it_did() {
    use crate::demand::Parts;
    let left = work_and_span(|| {
        busy(1);
        caught(|| {
            Parts::of(10, 1).run(|| {
                busy(100);
                join(|| busy(10), fail);
            });
        });
        busy(1);
    });
    assert_eq!(left, (us(112), us(13)));
}

#[test]
fn a_profile_that_is_left_by_a_panic_is_part_of_the_one_around_it() {
    let around = work_and_span(|| {
        caught(|| {
            exactly(|| {
                join(|| busy(10), || busy(20));
                fail();
            });
        });
        busy(1);
    });
    assert_eq!(around, (us(31), us(21)));
}

#[test]
fn a_poll_that_panics_counts() {
    use crate::companion::Polled;
    use crate::site::Site;
    let polls = work_and_span(|| {
        let task = Polled::spawned(Site::caller());
        task.poll(|| busy(5));
        caught(|| {
            task.poll(|| {
                join(|| busy(10), || busy(20));
                fail();
            });
        });
        busy(1);
        task.awaited();
    });
    assert_eq!(polls, (us(36), us(25)));
}

/// Keeps the CPU busy until the thread has run for so long, whatever else the machine does.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd"
))]
fn run_for(time: Duration) {
    let now = || Duration::from_nanos(super::taken::cpu_ns().unwrap());
    let end = now() + time;
    while now() < end {
        std::hint::spin_loop();
    }
}

/// A tree of joins with known times: 2 ms on each of three levels, and leaves of 4 and 6 ms. Returns work and span in milliseconds.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd"
))]
fn known_tree(levels: u32) {
    run_for(Duration::from_millis(2));
    if levels == 0 {
        // Short strands, too: 200 of 10 us.
        (0..200).for_each(|_| {
            join(|| run_for(us(10)), || ());
        });
        return run_for(Duration::from_millis(2));
    }
    join(|| known_tree(levels - 1), || known_tree(levels - 1));
}

#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd"
))]
#[test]
fn work_and_span_are_the_same_beside_competing_load() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let measured = || {
        let (_, profile) = super::profile(|| pool.install(|| known_tree(3)));
        (
            profile.work().as_secs_f64() * 1e3,
            profile.span().as_secs_f64() * 1e3,
        )
    };
    // 7 inner nodes of 2 ms, 8 leaves of 6 ms; the longest path has 3 of the former and 1 of the latter.
    let near = |(work, span): (f64, f64), what: &str| {
        assert!(
            (work / 62.0 - 1.0).abs() < 0.1,
            "{what}: work {work} ms instead of 62"
        );
        assert!(
            (span / 12.0 - 1.0).abs() < 0.1,
            "{what}: span {span} ms instead of 12"
        );
    };
    near(measured(), "quiet");
    let over = AtomicBool::new(false);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|threads| {
        for _ in 0..3 * cpus {
            threads.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let loaded = std::panic::catch_unwind(|| near(measured(), "beside load"));
        over.store(true, Ordering::Relaxed);
        if let Err(failed) = loaded {
            std::panic::resume_unwind(failed);
        }
    });
}

#[test]
fn joins_nest_as_deep_in_a_profile_as_stacks_allow_without_being_wasted() {
    fn deep(levels: u32) {
        if levels > 0 {
            join(|| deep(levels - 1), || ());
        }
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .stack_size(8 << 20)
        .build()
        .unwrap();
    // 8 KiB for each, without optimisations.
    let profile = exactly(|| pool.install(|| deep(1000)));
    assert_eq!(profile.forks(), 1000);
}

#[test]
fn parts_of_a_loop_that_was_not_cut_count_as_strands_beside_each_other() {
    use crate::demand::Parts;
    let profile = exactly(|| {
        busy(5);
        Parts::of(100, 1).run(|| (0..100).for_each(|_| busy(7)));
        // No piece may be shorter than 50: there are two.
        Parts::of(100, 50).run(|| busy(40));
        busy(5);
    });
    assert_eq!((profile.work(), profile.span()), (us(750), us(37)));
    assert_eq!(profile.longest().unwrap().time, us(20));
    // Loops in a loop, and a join in one.
    let profile = exactly(|| {
        Parts::of(10, 1).run(|| {
            for _ in 0..10 {
                Parts::of(10, 1).run(|| busy(100));
                join(|| busy(20), || busy(20));
            }
        });
    });
    assert_eq!((profile.work(), profile.span()), (us(1400), us(30)));
}

#[test]
fn a_loop_is_burdened_as_if_it_were_cut_as_often_as_it_pays() {
    use crate::demand::Parts;
    let burdened = |work, burden| {
        let profiler = Profiler::new().clock(now, 1).burden(us(burden));
        let (_, profile) = profiler.run(|| Parts::of(1000, 1).run(|| busy(work)));
        profile.burdened_span()
    };
    // Too short to be cut at all; halved twice; and as often as there are items.
    assert_eq!(burdened(10, 100), us(10));
    assert_eq!(burdened(400, 80), us(260));
    assert_eq!(burdened(1000, 0), us(1));
}

#[test]
fn a_recording_tells_what_ran_after_what_and_beside_what() {
    let profiler = Profiler::new().clock(now, 1).recording(us(4));
    let (_, profile) = profiler.run(|| {
        busy(10);
        join(|| busy(5), || busy(9));
        // Too short to be told in full.
        join(|| busy(1), || busy(2));
        scope(|s| {
            s.spawn(|_| busy(8));
            busy(6);
        });
    });
    let recording = profile.recording().unwrap();
    let (head, steps) = recording.split_once("\nsteps\n").unwrap();
    let lines = format!("\nlines {}\n", steps.lines().count());
    assert!(head.contains(&lines), "{recording}");
    assert!(
        head.contains("\nwork 41000\n") && head.contains("\nspan 29000\n"),
        "{head}"
    );
    assert!(head.contains("tests.rs:"), "{head}");
    let shape: Vec<&str> = steps
        .lines()
        .filter(|line| !line.starts_with("x "))
        .map(|line| line.rsplit_once(' ').map_or(line, |(step, _place)| step))
        .collect();
    let task = shape
        .iter()
        .find_map(|step| step.strip_prefix("s "))
        .unwrap();
    let expected = format!(
        "r 10000 10000 0|f 0|r 5000 5000 0|||r 9000 9000 0|}}|r 3000 2000 1|s {task}|r 6000 6000 0|m 1 {task} 0|{task}|r 8000 8000 0|}}"
    );
    let shape = shape.join("|");
    let no_places = |text: &str| {
        text.split('|')
            .map(|step| match step.split(' ').collect::<Vec<_>>()[..] {
                ["f", _] => "f".to_string(),
                ["m", count, task, _] => format!("m {count} {task}"),
                _ => step.to_string(),
            })
            .collect::<Vec<_>>()
            .join("|")
    };
    assert_eq!(no_places(&shape), no_places(&expected));
}

#[test]
fn a_recording_says_in_how_many_strands_loops_were_timed() {
    use crate::demand::Parts;
    let recording = |rounds| {
        let profiler = Profiler::new().clock(now, 1).recording(us(1000));
        let (_, profile) = profiler.run(|| {
            Parts::of(10, 1).run(|| {
                for _ in 0..rounds {
                    Parts::of(10, 1).run(|| busy(10));
                }
            });
        });
        let (_, steps) = profile.recording()?.split_once("\nsteps\n")?;
        Some(steps.lines().map(str::to_string).collect::<Vec<_>>())
    };
    // Each of the inner ones ends the strand before it, and is one. The outer one is one more, and so is what comes behind.
    let short = recording(40).unwrap();
    assert!(short[0].starts_with("r 400000 "), "{short:?}");
    assert_eq!(short[1], "x 82");
    let long = recording(200).unwrap();
    assert!(long[0].starts_with("l 2000000 10 "), "{long:?}");
    assert_eq!(long[1], "x 401");
}

#[test]
fn the_report_comes_as_table_json_and_plot() {
    let profile = exactly(|| tree(4));
    let table = profile.to_string();
    assert!(table.contains("parallelism") && table.contains("256"));
    let json = profile.to_json();
    assert!(json.contains("\"work_ns\":155000,") && json.contains("\"cores\":256"));
    assert_eq!(json.matches('{').count(), json.matches('}').count());
    let svg = profile.to_svg();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn what_a_strand_is_too_short_for_is_subtracted_from_the_next() {
    let config = Config {
        clock: Some(now),
        cost: 10,
        burden: 0,
        grain: None,
        profile: 0,
    };
    let strand = |ticks| {
        let since = NOW.replace(NOW.get() + ticks);
        config.end(since)
    };
    // As much above what the profiler adds as below: nothing is left.
    assert_eq!([4, 16, 10, 7, 13].map(strand), [0; 5]);
    assert_eq!([50, 3, 20].map(strand), [40, 0, 3]);
}

#[test]
fn a_label_of_several_lines_does_not_break_a_recording() {
    let work = || {
        label("a\nsteps\nr 1 1 1 0\r\\u{a}\\", || {
            join(|| busy(50), || busy(50))
        })
    };
    let profiler = Profiler::new().clock(now, 1).recording(us(4));
    let (_, profile) = profiler.run(work);
    let recording = profile.recording().unwrap();
    assert_eq!(recording.matches("\nsteps\n").count(), 1, "{recording}");
    let label = " [a\\u{a}steps\\u{a}r 1 1 1 0\\u{d}\\u{5c}u{a}\\]\n";
    assert!(recording.contains(label), "{recording}");
}

#[test]
fn a_task_that_a_short_half_of_a_fork_spawns_is_spawned_in_the_recording() {
    let profiler = Profiler::new().clock(now, 1).recording(us(4));
    let (_, profile) = profiler.run(|| {
        scope(|s| {
            join(|| s.spawn(|_| busy(8)), || s.spawn(|_| busy(6)));
        });
    });
    let recording = profile.recording().unwrap();
    assert_eq!(recording.matches("\ns ").count(), 2, "{recording}");
}
