//! Whatever the library forks belongs to the line of the program that called it: no place in a recording is a line of the library.
#![cfg(feature = "profile")]

use blitz::ThreadPoolBuilder;
use blitz::ops;
use blitz::prelude::*;
use blitz::profile::Profiler;
use std::hint::black_box;
use std::time::Duration;

fn spin(steps: u64, seed: u64) -> u64 {
    let value = (0..steps).fold(seed | 1, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    });
    black_box(value >> 32)
}

/// The places of what `work` does, of which there has to be a fork or a loop at least.
fn places(name: &str, work: impl FnOnce() + Send) -> Vec<String> {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let profiler = Profiler::new().recording(Duration::from_nanos(1));
    let ((), profile) = profiler.run(|| pool.install(work));
    let recording = profile.recording().unwrap();
    let lines = recording.lines();
    let places: Vec<String> = lines
        .filter_map(|line| line.strip_prefix("place "))
        .map(str::to_string)
        .collect();
    assert!(
        places.iter().any(|place| place.contains("sites.rs")),
        "{name}: nothing was forked:\n{recording}"
    );
    places
}

#[track_caller]
fn are_ours(name: &str, work: impl FnOnce() + Send) {
    for place in places(name, work) {
        let ours = place.starts_with("the beginning") || place.contains("tests/sites.rs:");
        assert!(ours, "{name}: {place}");
    }
}

#[test]
fn of_pipelines() {
    let dear = |n: u64| spin(20_000, n);
    are_ours("par_map", || {
        let _ = (0..100).par_map(dear).last();
    });
    are_ours("par_map_unordered", move || {
        let _ = (0..100).par_map_unordered(dear).last();
    });
    are_ours("par_map_in", || {
        let _ = blitz::scope(|s| (0..100).par_map_in(s, dear).last());
    });
    are_ours("into_seq", || {
        let items = (0..100_u64).into_par_iter().map(dear);
        let _ = items.into_seq().last();
    });
    are_ours("with_seq", || {
        let items = (0..100_u64).into_par_iter().map(dear);
        let _ = items.with_seq(|results| results.last());
    });
}

#[test]
fn of_joins_scopes_and_tasks() {
    are_ours("fork", || {
        blitz::fork(|| spin(1000, 1), |task| spin(1000, 2) + task.join());
    });
    are_ours("broadcast", || {
        blitz::broadcast(|_| spin(1000, 1));
    });
    are_ours("join", || {
        blitz::join(|| spin(1000, 1), || spin(1000, 2));
    });
    are_ours("join!", || {
        blitz::join!(|| spin(1000, 1), || spin(1000, 2), || spin(1000, 3));
    });
    are_ours("try_join", || {
        blitz::try_join(|| Ok::<_, ()>(spin(1000, 1)), || Ok(spin(1000, 2))).unwrap();
    });
    are_ours("scope", || {
        blitz::scope(|s| {
            s.spawn(|s| {
                s.spawn(|_| {
                    spin(1000, 1);
                })
            });
            s.spawn_handle(|_| spin(1000, 1)).join().unwrap();
        });
    });
    are_ours("scope_fifo", || {
        blitz::scope_fifo(|s| {
            s.spawn_fifo(|_| {
                spin(1000, 1);
            })
        });
    });
    are_ours("in_place_scope", || {
        blitz::in_place_scope(|s| {
            s.spawn(|_| {
                spin(1000, 1);
            })
        });
    });
    are_ours("spawn_handle", || {
        blitz::spawn_handle(|| spin(1000, 1)).join().unwrap();
    });
    are_ours("pools", || {
        let other = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        other.join(|| spin(1000, 1), || spin(1000, 2));
        other.scope(|s| {
            s.spawn(|_| {
                spin(1000, 1);
            })
        });
        other.in_place_scope_fifo(|s| {
            s.spawn_fifo(|_| {
                spin(1000, 1);
            })
        });
        other.spawn_handle(|| spin(1000, 1)).join().unwrap();
        other.install(|| {
            (0..100_u64).into_par_iter().for_each(|i| {
                spin(500, i);
            })
        });
    });
}

#[test]
fn of_loops() {
    let numbers: Vec<u64> = (0..2000).collect();
    let dear = |&i: &u64| spin(300, i);
    are_ours("sum", || {
        assert_ne!(numbers.par_iter().map(dear).sum::<u64>(), 0)
    });
    are_ours("count", || {
        assert_ne!(numbers.par_iter().filter(|i| dear(i) & 1 == 0).count(), 0)
    });
    are_ours("for_each", || {
        numbers.par_iter().for_each(|i| {
            dear(i);
        })
    });
    are_ours("collect", || {
        drop(numbers.par_iter().map(dear).collect::<Vec<_>>());
        drop(
            numbers
                .par_iter()
                .map(dear)
                .filter(|n| n & 1 == 0)
                .collect::<Vec<_>>(),
        );
    });
    are_ours("fold and reduce", || {
        numbers
            .par_iter()
            .fold(|| 0, |a, i| a ^ dear(i))
            .reduce(|| 0, |a, b| a ^ b);
    });
    are_ours("find_first", || {
        numbers.par_iter().find_first(|i| dear(i) == 0);
    });
    are_ours("any", || assert!(!numbers.par_iter().any(|i| dear(i) == 0)));
    are_ours("max_by_key", || {
        numbers.par_iter().max_by_key(|i| dear(i));
    });
    are_ours("partition", || {
        drop(
            numbers
                .par_iter()
                .partition::<Vec<u64>, Vec<u64>, _>(|i| dear(i) & 1 == 0),
        )
    });
    are_ours("par_extend", || {
        let mut all = Vec::new();
        all.par_extend(numbers.par_iter().map(dear));
    });
    are_ours("chain", || {
        let twice = numbers.par_iter().chain(&numbers);
        twice.for_each(|i| {
            dear(i);
        });
    });
    are_ours("reproducible", || {
        assert_ne!(numbers.par_iter().map(dear).reproducible().sum::<u64>(), 0)
    });
    are_ours("a loop in a loop", || {
        (0..20_u64).into_par_iter().for_each(|row| {
            (0..100).into_par_iter().for_each(|i| {
                spin(300, row ^ i);
            });
        })
    });
}

#[test]
fn of_algorithms() {
    let numbers: Vec<u64> = (0..200_000).map(|i| spin(3, i)).collect();
    let mut words: Vec<String> = numbers.iter().take(30_000).map(u64::to_string).collect();
    let mut many: Vec<u64> = (0..2_000_000).map(|i| spin(3, i)).collect();
    are_ours("par_sort_unstable", || many.par_sort_unstable());
    are_ours("par_sort", || words.clone().par_sort());
    are_ours("par_sort_by_key", || {
        words.clone().par_sort_by_key(String::len)
    });
    are_ours("par_sort_by_cached_key", || {
        words.par_sort_by_cached_key(|word| word.len());
    });
    are_ours("par_sort_unstable_by", || {
        numbers.clone().par_sort_unstable_by(|a, b| b.cmp(a));
    });
    are_ours("par_scan", || {
        drop(ops::par_scan(&numbers, |a, b| *a.max(b)))
    });
    are_ours("par_for", || {
        ops::par_for(0..1000, |range| {
            range.for_each(|i| {
                spin(500, i as u64);
            })
        });
    });
    are_ours("par_reduce", || {
        ops::par_reduce(0..1000, || 0, |i| spin(500, i as u64), |a, b| a ^ b);
    });
    are_ours("par_group_by", || {
        drop(ops::par_group_by(&numbers, |n| n % 100))
    });
    are_ours("par_histogram", || {
        drop(ops::par_histogram(&numbers, 64, |n| (n % 64) as usize))
    });
    are_ours("par_pack", || {
        let keep: Vec<bool> = numbers.iter().map(|n| n & 1 == 0).collect();
        drop(ops::par_pack(&numbers, &keep));
    });
    are_ours("par_transpose", || {
        drop(ops::par_transpose(&numbers, 400, 500))
    });
    are_ours("par_shuffle", || ops::par_shuffle(&mut many, 1));
}
