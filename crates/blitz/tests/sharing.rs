//! Long work is shared, whatever the same code did before, and however cheap its first items were.
//!
//! No test here measures time. Items meet: each waits until another one runs at the same time, on another thread. A loop that is not shared waits
//! in vain, and says so.

use blitz::prelude::*;
use blitz::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn pool() -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(4).build().unwrap()
}

/// Where two have to be at the same time.
#[derive(Default)]
struct Meeting {
    inside: AtomicUsize,
    has_taken_place: AtomicBool,
}

impl Meeting {
    /// Waits for a second one; not for ever, since a loop may find out what its items have become only after some of them.
    fn attend(&self) {
        if self.inside.fetch_add(1, SeqCst) > 0 {
            self.has_taken_place.store(true, SeqCst);
        }
        let start = Instant::now();
        while !self.has_taken_place() && start.elapsed() < Duration::from_secs(1) {
            sleep(Duration::from_micros(100));
        }
        self.inside.fetch_sub(1, SeqCst);
    }

    fn has_taken_place(&self) -> bool {
        self.has_taken_place.load(SeqCst)
    }
}

/// Long enough to be noticed.
fn take_long() {
    sleep(Duration::from_millis(1));
}

/// One loop in the program for whatever it is given.
fn for_all(items: &[usize], body: &(dyn Fn(usize) + Sync)) {
    items.par_iter().for_each(|&item| body(item));
}

/// The same, cut by length alone.
fn for_all_reproducibly(items: &[usize], body: &(dyn Fn(usize) + Sync)) {
    items.par_iter().reproducible().for_each(|&item| body(item));
}

/// The same without a known length.
fn for_all_halves(items: usize, body: &(dyn Fn(usize) + Sync)) {
    let halves = |range: std::ops::Range<usize>| {
        if range.len() < 2 {
            return (range, None);
        }
        let middle = range.start + range.len() / 2;
        (range.start..middle, Some(middle..range.end))
    };
    blitz::iter::split(0..items, halves).for_each(|range| range.for_each(body));
}

#[test]
fn a_loop_that_was_small_is_shared_when_it_is_large() {
    let items: Vec<usize> = (0..64).collect();
    pool().install(|| {
        for _ in 0..3 {
            for _ in 0..1000 {
                for_all(&items[..16], &|_| {});
            }
            let meeting = Meeting::default();
            for_all(&items, &|item| match item {
                0..8 => take_long(),
                _ => meeting.attend(),
            });
            assert!(meeting.has_taken_place());
        }
    });
}

#[test]
fn of_a_few_items_that_were_tiny_one_is_enough_to_see_that_they_are_not() {
    let items: Vec<usize> = (0..32).collect();
    pool().install(|| {
        for _ in 0..3 {
            for _ in 0..1000 {
                for_all(&items, &|_| {});
            }
            let (meeting, second_met) = (Meeting::default(), AtomicBool::new(false));
            for_all(&items, &|item| match item {
                0 => take_long(),
                1 => {
                    meeting.attend();
                    second_met.store(meeting.has_taken_place(), SeqCst);
                }
                _ => meeting.attend(),
            });
            assert!(second_met.into_inner(), "it was run behind the first");
        }
    });
}

#[test]
fn of_parts_that_were_tiny_one_is_enough_to_see_that_they_are_not() {
    pool().install(|| {
        for _ in 0..3 {
            for _ in 0..1000 {
                for_all_halves(16, &|_| {});
            }
            let (meeting, second_met) = (Meeting::default(), AtomicBool::new(false));
            for_all_halves(16, &|item| match item {
                0 => take_long(),
                1 => {
                    meeting.attend();
                    second_met.store(meeting.has_taken_place(), SeqCst);
                }
                _ => meeting.attend(),
            });
            assert!(second_met.into_inner(), "it was run behind the first");
        }
    });
}

#[test]
fn a_reproducible_loop_that_was_small_is_shared_when_it_is_large() {
    let items: Vec<usize> = (0..64).collect();
    pool().install(|| {
        for _ in 0..3 {
            for _ in 0..1000 {
                for_all_reproducibly(&items[..16], &|_| {});
            }
            let meeting = Meeting::default();
            for_all_reproducibly(&items, &|item| match item {
                0..8 => take_long(),
                _ => meeting.attend(),
            });
            assert!(meeting.has_taken_place());
        }
    });
}

/// Two loops of a few items inside of another, thousands of them empty, and then one that takes long.
fn run_small_inner_loops_and_a_large_one() {
    let items: Vec<usize> = (0..8).collect();
    let both = |body: &(dyn Fn(usize) + Sync)| {
        (0..2).into_par_iter().for_each(|outer| {
            for_all(&items, &|item| {
                if outer == 0 {
                    body(item);
                }
            })
        });
    };
    for _ in 0..3 {
        for _ in 0..2000 {
            both(&|_| {});
        }
        let meeting = Meeting::default();
        both(&|item| match item {
            0 => take_long(),
            _ => meeting.attend(),
        });
        assert!(meeting.has_taken_place());
    }
}

#[test]
fn an_inner_loop_that_was_small_is_shared_when_it_is_large() {
    pool().install(run_small_inner_loops_and_a_large_one);
}

#[test]
fn so_is_that_of_a_thread_outside() {
    // It sits in the place of one of the pool's threads.
    if blitz::current_num_threads() > 1 {
        run_small_inner_loops_and_a_large_one();
    }
}

#[test]
fn an_inner_loop_is_shared_when_the_work_around_it_is_gone() {
    /// A loop that nothing else here has taught anything.
    fn for_few(items: &[usize], body: &(dyn Fn(usize) + Sync)) {
        items.par_iter().for_each(|&item| body(item));
    }
    let items: Vec<usize> = (0..8).collect();
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        for _ in 0..1000 {
            for_few(&items, &|_| {});
        }
        let [is_busy, is_free, has_taken] = [const { AtomicBool::new(false) }; 3];
        let wait_for = |flag: &AtomicBool| {
            while !flag.load(SeqCst) {
                sleep(Duration::from_micros(100));
            }
        };
        let meeting = Meeting::default();
        blitz::scope(|s| {
            // While the other thread is busy and has the second half of the outer loop before it, nobody would take a part of the inner one.
            s.spawn(|_| {
                is_busy.store(true, SeqCst);
                wait_for(&is_free);
            });
            wait_for(&is_busy);
            (0..2).into_par_iter().with_max_len(1).for_each(|outer| {
                if outer == 1 {
                    return has_taken.store(true, SeqCst);
                }
                for_few(&items, &|item| match item {
                    0 => {}
                    1 => {
                        is_free.store(true, SeqCst);
                        wait_for(&has_taken);
                    }
                    2..4 => take_long(),
                    _ => meeting.attend(),
                });
            });
        });
        assert!(meeting.has_taken_place());
    });
}

#[test]
fn a_search_through_dear_items_has_work_for_all_threads() {
    let find = |body: &(dyn Fn(usize) + Sync)| {
        let nothing = |item: &usize| {
            body(*item);
            false
        };
        assert_eq!((0..24).into_par_iter().find_first(nothing), None);
    };
    pool().install(|| {
        for _ in 0..1000 {
            find(&|_| {});
        }
        let [inside, most] = [const { AtomicUsize::new(0) }; 2];
        find(&|item| {
            // What is left at the end is offered as a whole, always.
            if !(8..16).contains(&item) {
                return take_long();
            }
            most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
            let start = Instant::now();
            while most.load(SeqCst) < 3 && start.elapsed() < Duration::from_secs(1) {
                sleep(Duration::from_micros(100));
            }
            inside.fetch_sub(1, SeqCst);
        });
        assert!(most.into_inner() >= 3, "two at a time");
    });
}

#[test]
fn a_split_that_was_small_is_shared_when_it_is_large() {
    pool().install(|| {
        for _ in 0..3 {
            for _ in 0..1000 {
                for_all_halves(2, &|_| {});
            }
            let meeting = Meeting::default();
            for_all_halves(64, &|item| match item {
                0..8 => take_long(),
                _ => meeting.attend(),
            });
            assert!(meeting.has_taken_place());
        }
    });
}

#[test]
fn items_that_become_dear_within_a_loop_are_shared() {
    // Early or late, few or many.
    for (all, cheap, dear_alone) in [(2000, 500, 200), (100_000, 99_000, 500), (64, 8, 16)] {
        pool().install(|| {
            for _ in 0..2 {
                let meeting = Meeting::default();
                (0..all).into_par_iter().for_each(|item| {
                    if item >= cheap + dear_alone {
                        meeting.attend();
                    } else if item >= cheap {
                        sleep(Duration::from_micros(100));
                    }
                });
                assert!(meeting.has_taken_place(), "{cheap} of {all} are cheap");
            }
        });
    }
}

#[test]
fn dear_keys_of_a_few_rows_are_computed_at_the_same_time() {
    for rows in [4, 8, 16, 64, 200] {
        let row_numbers: Vec<usize> = (0..rows).collect();
        pool().install(|| {
            let meeting = Meeting::default();
            let by_number = blitz::ops::par_group_by_index(&row_numbers, rows, |row| {
                meeting.attend();
                *row
            });
            assert!(meeting.has_taken_place(), "{rows} rows are grouped");
            assert_eq!(by_number.1, row_numbers);
        });
    }
    for rows in [8, 16, 64, 200] {
        let mut row_numbers: Vec<usize> = (0..rows).collect();
        pool().install(|| {
            let meeting = Meeting::default();
            blitz::ops::par_dedup_by_key(&mut row_numbers, |row| {
                // The first ones are timed, and alone.
                if *row <= rows.div_ceil(16) {
                    take_long();
                } else {
                    meeting.attend();
                }
                row / 2
            });
            assert!(
                meeting.has_taken_place(),
                "{rows} rows lose what is repeated"
            );
            assert_eq!(row_numbers, (0..rows).step_by(2).collect::<Vec<_>>());
        });
    }
}

#[test]
fn clones_for_a_loop_are_made_at_the_same_time() {
    /// Who is being cloned right now, and have two ever been?
    #[derive(Default)]
    struct Clones {
        now: AtomicUsize,
        two_at_once: AtomicBool,
    }
    struct Slow<'c>(&'c Clones);
    impl Clone for Slow<'_> {
        fn clone(&self) -> Self {
            if self.0.now.fetch_add(1, SeqCst) > 0 {
                self.0.two_at_once.store(true, SeqCst);
            }
            take_long();
            self.0.now.fetch_sub(1, SeqCst);
            Slow(self.0)
        }
    }
    let pool = pool();
    for way in 0..3 {
        let clones = Clones::default();
        let start = Instant::now();
        // Who comes when is up to the machine: now and then there is only one at a time.
        while !clones.two_at_once.load(SeqCst) {
            pool.install(|| {
                let items = (0..64).into_par_iter();
                match way {
                    0 => items.for_each_with(Slow(&clones), |_, _| take_long()),
                    1 => items
                        .fold_with(Slow(&clones), |slow, _| (take_long(), slow).1)
                        .for_each(drop),
                    _ => items
                        .try_fold_with(Slow(&clones), |slow, _| Some((take_long(), slow).1))
                        .for_each(drop),
                }
            });
            assert!(start.elapsed() < Duration::from_secs(20), "way {way}");
        }
    }
}

#[test]
fn a_clone_that_panics_leaves_the_others_their_original() {
    struct Fragile<'c>(&'c AtomicUsize);
    impl Clone for Fragile<'_> {
        fn clone(&self) -> Self {
            assert!(self.0.fetch_add(1, SeqCst) != 1, "the second clone");
            Fragile(self.0)
        }
    }
    let clones = AtomicUsize::new(0);
    let run = || {
        pool().install(|| {
            let items = (0..64).into_par_iter().with_max_len(1);
            items.for_each_with(Fragile(&clones), |_, _| take_long());
        });
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    assert!(clones.load(SeqCst) >= 2);
}

#[test]
fn a_vector_that_a_filter_leaves_little_for_keeps_little_room() {
    for items in [10, 1000, 8192, 100_000] {
        for _ in 0..3 {
            let few: Vec<usize> = (0..items).into_par_iter().filter(|n| *n == 5).collect();
            assert!(few == [5] && few.capacity() <= 8, "{}", few.capacity());
            let pieces = (0..items).into_par_iter().filter(|n| n % 100 == 5);
            for piece in pieces.collect_vec_list() {
                assert!(piece.capacity() <= (2 * piece.len()).max(8));
            }
        }
    }
}

#[test]
fn a_dear_loop_behind_a_tiny_one_inside_of_another_is_shared() {
    pool().install(|| {
        let nested = |meeting: Option<&Meeting>| {
            (0..2_usize).into_par_iter().for_each(|outer| {
                (0..8_usize)
                    .into_par_iter()
                    .for_each(|inner| match meeting {
                        Some(_) if outer == 1 && inner == 0 => take_long(),
                        Some(meeting) if outer == 1 => meeting.attend(),
                        _ => {}
                    });
            });
        };
        for _ in 0..1000 {
            nested(None);
        }
        let meeting = Meeting::default();
        nested(Some(&meeting));
        assert!(meeting.has_taken_place(), "all 8 were run by one thread");
    });
}

/// Where the system has a clock that costs next to nothing, each run asks it whether items that were taken for tiny have taken milliseconds. (Elsewhere one run in sixteen finds out.)
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(blitz_slow_clock)
))]
#[test]
fn few_items_of_which_the_later_ones_have_become_dear_are_shared_after_some_runs() {
    fn run(items: &[usize], body: &(dyn Fn(usize) + Sync)) {
        items.par_iter().for_each(|&item| body(item));
    }
    let items: Vec<usize> = (0..40).collect();
    pool().install(|| {
        (0..2000).for_each(|_| run(&items, &|_| ()));
        let is_shared = || {
            let (inside, met) = (AtomicUsize::new(0), AtomicBool::new(false));
            run(&items, &|item| {
                if item >= 20 {
                    met.fetch_or(inside.fetch_add(1, SeqCst) > 0, SeqCst);
                    sleep(Duration::from_millis(5));
                    inside.fetch_sub(1, SeqCst);
                }
            });
            met.into_inner()
        };
        // The first run is one too many; the second may be, if the thread has lost its CPU in the first.
        assert!((0..5).any(|_| is_shared()), "not shared in five runs");
    });
}
