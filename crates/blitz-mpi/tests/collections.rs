//! Distributed vectors against plain ones, for random inputs on 1, 2, 3 and 5 ranks: no elements at all, fewer than ranks, empty ranks, equal and skewed keys.

mod support;

use blitz_mpi::{Cluster, Distributed, Error, Op, Portable};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::task::Poll;
use support::{Numbers, on_ranks};

/// The same vector on all ranks, in blocks that are cut at random: the last rank may have everything, others nothing.
fn cut_at_random<T: Portable + Clone>(
    cluster: &Cluster,
    all: &[T],
    numbers: &mut Numbers,
) -> Distributed<T> {
    let mut cuts: Vec<usize> = (1..cluster.size())
        .map(|_| match numbers.below(4) {
            0 => 0,
            1 => all.len(),
            _ => numbers.below(all.len() + 1),
        })
        .collect();
    cuts.push(0);
    cuts.push(all.len());
    cuts.sort_unstable();
    let (start, end) = (cuts[cluster.rank()], cuts[cluster.rank() + 1]);
    Distributed::from_local(cluster, all[start..end].to_vec())
}

const LENGTHS: [usize; 5] = [0, 1, 4, 100, 10_000];

/// Numbers of one length in several shapes: spread, few different, all equal, mostly equal, sorted, reversed.
fn shapes(length: usize, numbers: &mut Numbers) -> Vec<Vec<u64>> {
    let spread: Vec<u64> = (0..length).map(|_| numbers.next()).collect();
    let few = spread.iter().map(|n| n % 3).collect();
    let equal = vec![7; length];
    let skewed = spread
        .iter()
        .map(|n| if n % 10 == 0 { n / 16 % 50 } else { 1000 })
        .collect();
    let mut sorted = spread.clone();
    sorted.sort_unstable();
    let reversed = sorted.iter().rev().copied().collect();
    vec![spread, few, equal, skewed, sorted, reversed]
}

#[test]
fn sorts_and_balances_are_those_of_one_vector() {
    on_ranks(
        "sorts_and_balances_are_those_of_one_vector",
        async |cluster| {
            let mut numbers = Numbers(1);
            let size = cluster.size();
            for length in LENGTHS {
                for all in shapes(length, &mut numbers) {
                    let mut expected = all.clone();
                    expected.sort_unstable();
                    let sorted = cut_at_random(cluster, &all, &mut numbers)
                        .sort_unstable()
                        .await
                        .unwrap();
                    // No rank has much more than its share, equal elements or not.
                    assert!(
                        sorted.local().len() <= length / size * 5 / 4 + 2 * size,
                        "{} of {length}",
                        sorted.local().len()
                    );
                    assert!(sorted.collect_on_all().await.unwrap() == expected);

                    // Stable: by a key of few values, with positions to tell equal ones apart.
                    let pairs: Vec<(u64, u32)> = all
                        .iter()
                        .enumerate()
                        .map(|(at, &n)| (n % 5, at as u32))
                        .collect();
                    let mut expected = pairs.clone();
                    expected.sort_by_key(|&(key, _)| key);
                    let sorted = cut_at_random(cluster, &pairs, &mut numbers);
                    let sorted = sorted.sort_by_key(|&(key, _)| key).await.unwrap();
                    assert!(
                        sorted
                            .collect(0)
                            .await
                            .unwrap()
                            .is_none_or(|all| all == expected)
                    );

                    let balanced = cut_at_random(cluster, &all, &mut numbers)
                        .redistribute()
                        .await
                        .unwrap();
                    let share = length / size;
                    assert!((share..=share + 1).contains(&balanced.local().len()));
                    assert!(balanced.collect_on_all().await.unwrap() == all);
                }
                let words: Vec<String> = (0..length)
                    .map(|_| format!("w{}", numbers.below(40)))
                    .collect();
                let mut expected = words.clone();
                expected.sort();
                let sorted = cut_at_random(cluster, &words, &mut numbers)
                    .sort()
                    .await
                    .unwrap();
                assert!(sorted.collect_on_all().await.unwrap() == expected);
            }
        },
    );
}

#[test]
fn maps_folds_and_scans_are_those_of_one_vector() {
    on_ranks(
        "maps_folds_and_scans_are_those_of_one_vector",
        async |cluster| {
            let mut numbers = Numbers(2);
            for length in LENGTHS {
                let all: Vec<u64> = (0..length).map(|_| numbers.next() >> 20).collect();
                let vector = cut_at_random(cluster, &all, &mut numbers);
                assert_eq!(vector.len().await.unwrap(), length);
                assert_eq!(vector.is_empty().await.unwrap(), length == 0);
                let offset = vector.offset().await.unwrap();
                assert!(all[offset..].starts_with(vector.local()));

                let mapped = vector
                    .clone()
                    .par_map(|n| (n % 10, n))
                    .par_filter(|&(digit, _)| digit != 3);
                let expected: Vec<_> = all
                    .iter()
                    .map(|n| (n % 10, *n))
                    .filter(|pair| pair.0 != 3)
                    .collect();
                assert!(mapped.collect_on_all().await.unwrap() == expected);
                let twice = vector.clone().par_flat_map(|n| vec![n; (n % 3) as usize]);
                let expected: Vec<_> = all
                    .iter()
                    .flat_map(|&n| vec![n; (n % 3) as usize])
                    .collect();
                assert!(twice.collect_on_all().await.unwrap() == expected);

                assert_eq!(
                    vector.clone().reduce(|| 0, |a, b| a + b).await.unwrap(),
                    all.iter().sum::<u64>()
                );
                // Not commutative: the order shows.
                let text = vector.clone().fold(
                    String::new,
                    |text, n| text + &(n % 10).to_string(),
                    |a, b| a + &b,
                );
                let expected: String = all.iter().map(|n| (n % 10).to_string()).collect();
                assert_eq!(text.await.unwrap(), expected);

                // Affine maps: associative, and not commutative.
                let maps: Vec<(u64, u64)> = all.iter().map(|n| (n % 7 + 1, n % 11)).collect();
                let combine = |a: &(u64, u64), b: &(u64, u64)| {
                    (
                        a.0.wrapping_mul(b.0),
                        a.1.wrapping_mul(b.0).wrapping_add(b.1),
                    )
                };
                let scanned = cut_at_random(cluster, &maps, &mut numbers)
                    .scan(combine)
                    .await
                    .unwrap();
                let mut expected = maps;
                for at in 1..length {
                    expected[at] = combine(&expected[at - 1], &expected[at]);
                }
                assert!(scanned.collect_on_all().await.unwrap() == expected);

                let root = length % cluster.size();
                let given = (cluster.rank() == root).then(|| all.clone());
                let scattered = Distributed::scatter(cluster, root, given).await.unwrap();
                assert!(scattered.collect_on_all().await.unwrap() == all);
                let made = Distributed::from_fn(cluster, length, |index| index as u32);
                assert!(
                    made.collect_on_all()
                        .await
                        .unwrap()
                        .into_iter()
                        .eq(0..length as u32)
                );
            }
        },
    );
}

#[test]
fn groups_and_joins_are_those_of_one_vector() {
    on_ranks(
        "groups_and_joins_are_those_of_one_vector",
        async |cluster| {
            let mut numbers = Numbers(3);
            for length in LENGTHS {
                for keys in shapes(length, &mut numbers) {
                    let pairs: Vec<(u64, u32)> =
                        keys.iter().zip(0..).map(|(&key, at)| (key, at)).collect();
                    let mut expected = BTreeMap::<u64, Vec<u32>>::new();
                    for &(key, value) in &pairs {
                        expected.entry(key).or_default().push(value);
                    }
                    let vector = cut_at_random(cluster, &pairs, &mut numbers);
                    let groups = vector.clone().group_by_key().await.unwrap();
                    assert!(
                        groups
                            .collect_on_all()
                            .await
                            .unwrap()
                            .into_iter()
                            .eq(expected.clone())
                    );
                    let texts = vector.par_map(|(key, value)| (key, format!("{value};")));
                    let texts = texts.reduce_by_key(|a, b| a + &b).await.unwrap();
                    let expected = expected.into_iter().map(|(key, values)| {
                        (
                            key,
                            values
                                .iter()
                                .map(|value| format!("{value};"))
                                .collect::<String>(),
                        )
                    });
                    assert!(
                        texts
                            .collect_on_all()
                            .await
                            .unwrap()
                            .into_iter()
                            .eq(expected)
                    );
                }
                // Few keys of the left side are on the right one, some several times.
                let left: Vec<(String, u32)> = (0..length.min(1000))
                    .map(|at| (format!("k{}", numbers.below(200)), at as u32))
                    .collect();
                let right: Vec<(String, u8)> = (0..length / 4)
                    .map(|at| (format!("k{}", numbers.below(400)), at as u8))
                    .collect();
                let mut sorted = left.clone();
                sorted.sort_by(|a, b| a.0.cmp(&b.0));
                let mut expected = Vec::new();
                for (key, value) in sorted {
                    for (other, item) in &right {
                        if *other == key {
                            expected.push((key.clone(), (value, *item)));
                        }
                    }
                }
                let left = cut_at_random(cluster, &left, &mut numbers);
                let right = cut_at_random(cluster, &right, &mut numbers);
                let joined = left.join_by_key(right).await.unwrap();
                assert!(joined.collect_on_all().await.unwrap() == expected);
            }
        },
    );
}

fn scratch(cluster: &Cluster, name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!(
        "blitz-mpi-{}-{}",
        std::os::unix::process::parent_id(),
        cluster.size()
    ));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

#[test]
fn files_are_read_and_written_by_all_ranks_and_no_line_is_cut() {
    on_ranks(
        "files_are_read_and_written_by_all_ranks_and_no_line_is_cut",
        async |cluster| {
            let mut numbers = Numbers(4);
            for round in 0..25 {
                // Lines of 0 to many bytes, so that ranges end everywhere; one line that is longer than several ranges.
                let count = [0, 1, 2, 5, 60][round % 5];
                let mut lines: Vec<String> = (0..count)
                    .map(|_| "ß".repeat(numbers.below(1 + round)))
                    .collect();
                if round % 4 == 3 {
                    lines.insert(numbers.below(count + 1), "long ".repeat(300));
                }
                let path = scratch(cluster, "lines");
                let vector = cut_at_random(cluster, &lines, &mut numbers);
                vector.write_lines(&path).await.unwrap();
                let written = std::fs::read_to_string(&path).unwrap();
                assert_eq!(
                    written,
                    lines
                        .iter()
                        .map(|line| format!("{line}\n"))
                        .collect::<String>()
                );
                cluster.barrier().await.unwrap();
                // Without the last end, and with ends of two bytes.
                let path = scratch(cluster, "other");
                if cluster.rank() == 0 {
                    std::fs::write(
                        &path,
                        lines.join(if round % 2 == 0 { "\n" } else { "\r\n" }),
                    )
                    .unwrap();
                }
                cluster.barrier().await.unwrap();
                let read = Distributed::read_lines(cluster, &path).await.unwrap();
                let text = std::fs::read_to_string(&path).unwrap();
                let expected: Vec<&str> = text.lines().collect();
                assert_eq!(read.collect_on_all().await.unwrap(), expected);
                let both = [scratch(cluster, "lines"), path];
                let read = Distributed::read_lines_of(cluster, &both).await.unwrap();
                let expected: Vec<&str> = written.lines().chain(text.lines()).collect();
                assert_eq!(read.collect_on_all().await.unwrap(), expected);
                cluster.barrier().await.unwrap();
            }
            let all: Vec<f64> = (0..1001).map(|n| f64::from(n) / 3.0).collect();
            let path = scratch(cluster, "numbers");
            cut_at_random(cluster, &all, &mut numbers)
                .write_plain(&path)
                .await
                .unwrap();
            let read = Distributed::<f64>::read_plain(cluster, &path)
                .await
                .unwrap();
            assert!(read.collect_on_all().await.unwrap() == all);
            let error = Distributed::<[u8; 5]>::read_plain(cluster, &path)
                .await
                .unwrap_err();
            assert!(matches!(error, Error::File(_)), "{error}");
            let error = Distributed::read_lines(cluster, "/no/such/file")
                .await
                .unwrap_err();
            assert!(matches!(error, Error::File(_)), "{error}");
            cluster.barrier().await.unwrap();
            if cluster.rank() == 0 {
                let _ = std::fs::remove_dir_all(path.parent().unwrap());
            }
        },
    );
}

#[test]
fn ranks_that_see_other_files_are_told() {
    on_ranks("ranks_that_see_other_files_are_told", async |cluster| {
        let (rank, size) = (cluster.rank(), cluster.size());
        let (long, short) = (scratch(cluster, "long"), scratch(cluster, "short"));
        if rank == 0 {
            std::fs::write(&long, "some words\n".repeat(1000)).unwrap();
            std::fs::write(&short, "some words\n").unwrap();
        }
        cluster.barrier().await.unwrap();
        let wrong = |result: Result<(), Error>| match result {
            Ok(()) => assert_eq!(size, 1),
            Err(error) => assert!(size > 1 && matches!(error, Error::File(_)), "{error}"),
        };
        // What rank 0 has counted is not there: lines would be missing.
        let path = if rank == 0 { &long } else { &short };
        wrong(Distributed::read_lines(cluster, path).await.map(drop));
        wrong(Distributed::<u8>::read_plain(cluster, path).await.map(drop));
        // Another number of files.
        let paths = vec![&short; 1 + rank];
        wrong(Distributed::read_lines_of(cluster, &paths).await.map(drop));
        let paths = vec![&short; 1 + size - rank];
        wrong(Distributed::read_lines_of(cluster, &paths).await.map(drop));
        // Something whose length nobody knows is not an empty file.
        for path in ["/dev/null", "/dev", "/no/such/file"] {
            let error = Distributed::read_lines(cluster, path).await.unwrap_err();
            assert!(matches!(error, Error::File(_)), "{path}: {error}");
            let error = Distributed::<u8>::read_plain(cluster, path)
                .await
                .unwrap_err();
            assert!(matches!(error, Error::File(_)), "{path}: {error}");
        }
        let read = Distributed::read_lines(cluster, &long).await.unwrap();
        assert_eq!(read.len().await, Ok(1000));
        if rank == 0 {
            let _ = std::fs::remove_dir_all(long.parent().unwrap());
        }
    });
}

#[test]
fn operations_that_are_awaited_together_do_not_mix() {
    on_ranks(
        "operations_that_are_awaited_together_do_not_mix",
        async |cluster| {
            let mut numbers = Numbers(11);
            for round in 0..40 {
                // Of the same type: nothing but the order of calls would tell their messages apart.
                let vectors: Vec<Vec<u64>> = [300, 20_000, 0, 5000]
                    .iter()
                    .map(|&length| (0..length).map(|_| numbers.next() % 1000).collect())
                    .collect();
                let mut sorts: Vec<_> = vectors
                    .iter()
                    .map(|vector| {
                        Some(Box::pin(
                            cut_at_random(cluster, vector, &mut numbers).sort(),
                        ))
                    })
                    .collect();
                let mut begun = false;
                let mut sorted: Vec<Option<Distributed<u64>>> = vec![None; sorts.len()];
                std::future::poll_fn(|cx| {
                    // They begin in order; from then on, any may be first.
                    let turn = if std::mem::replace(&mut begun, true) {
                        round + cluster.rank()
                    } else {
                        0
                    };
                    for at in 0..sorts.len() {
                        let at = (at + turn) % sorts.len();
                        if let Some(sort) = &mut sorts[at]
                            && let Poll::Ready(result) = sort.as_mut().poll(cx)
                        {
                            sorted[at] = Some(result.unwrap());
                            sorts[at] = None;
                        }
                    }
                    if sorts.iter().all(Option::is_none) {
                        Poll::Ready(())
                    } else {
                        Poll::Pending
                    }
                })
                .await;
                for (sorted, mut vector) in sorted.into_iter().zip(vectors) {
                    vector.sort();
                    assert!(
                        sorted.unwrap().collect_on_all().await.unwrap() == vector,
                        "round {round}"
                    );
                }
            }
        },
    );
}

#[test]
fn who_leaves_an_operation_half_way_is_told_of_and_does_no_harm() {
    on_ranks(
        "who_leaves_an_operation_half_way_is_told_of_and_does_no_harm",
        async |cluster| {
            let (rank, size) = (cluster.rank(), cluster.size());
            for round in 0..20 {
                let vector =
                    Distributed::from_fn(cluster, 1000, |index| Numbers(index as u64).next());
                // One rank begins and goes away, after a few looks: the others come to the same step, now or later.
                let leaver = round % size;
                let mut sort = Box::pin(vector.sort());
                let mut polls = 0;
                let result = std::future::poll_fn(|cx| match sort.as_mut().poll(cx) {
                    Poll::Ready(result) => Poll::Ready(Some(result)),
                    Poll::Pending if rank == leaver && polls >= round / 5 => Poll::Ready(None),
                    Poll::Pending => {
                        polls += 1;
                        Poll::Pending
                    }
                })
                .await;
                drop(sort);
                let left = cluster
                    .all_reduce_one(u64::from(result.is_none()), Op::Sum)
                    .await
                    .unwrap();
                match result {
                    Some(Err(Error::Mismatch(words))) => {
                        assert!(left == 1 && words.contains("left half way"), "{words}");
                    }
                    Some(Err(error)) => panic!("{error}"),
                    // It may have gone away after its last call: then the others have what they wanted.
                    Some(Ok(_)) | None => {}
                }
                let mut dynamic = Box::pin(cluster.for_each_dynamic(10, |_| {}));
                let result = std::future::poll_fn(|cx| match dynamic.as_mut().poll(cx) {
                    Poll::Pending if rank == leaver => Poll::Ready(None),
                    poll => poll.map(Some),
                })
                .await;
                drop(dynamic);
                match result {
                    Some(Err(Error::Mismatch(words))) => {
                        assert!(words.contains("left half way"), "{words}")
                    }
                    Some(Err(error)) => panic!("{error}"),
                    Some(Ok(_)) | None => {}
                }
            }
            assert_eq!(cluster.all_reduce_one(1usize, Op::Sum).await, Ok(size));
        },
    );
}

#[test]
fn dynamic_loops_at_the_same_time_do_not_mix() {
    on_ranks(
        "dynamic_loops_at_the_same_time_do_not_mix",
        async |cluster| {
            for round in 0..10 {
                // Of different lengths, awaited together: while one asks, others are asked.
                let counts = [100, 3000, 0, 7];
                let calls: Vec<Vec<AtomicU32>> = counts
                    .iter()
                    .map(|&count| (0..count).map(|_| AtomicU32::new(0)).collect())
                    .collect();
                let mut loops: Vec<_> = calls
                    .iter()
                    .map(|calls| {
                        Box::pin(cluster.for_each_dynamic(calls.len(), |index| {
                            calls[index].fetch_add(1, Ordering::Relaxed);
                        }))
                    })
                    .map(Some)
                    .collect();
                // They begin in order; from then on, any may be first.
                let mut begun = false;
                std::future::poll_fn(|cx| {
                    let turn = if std::mem::replace(&mut begun, true) {
                        round
                    } else {
                        0
                    };
                    for at in 0..loops.len() {
                        let place = &mut loops[(at + turn) % counts.len()];
                        if let Some(dynamic) = place
                            && let Poll::Ready(balance) = dynamic.as_mut().poll(cx)
                        {
                            balance.unwrap();
                            *place = None;
                        }
                    }
                    if loops.iter().all(Option::is_none) {
                        Poll::Ready(())
                    } else {
                        Poll::Pending
                    }
                })
                .await;
                drop(loops);
                for calls in calls {
                    let calls: Vec<u32> = calls.into_iter().map(AtomicU32::into_inner).collect();
                    let all = cluster.all_reduce(calls, blitz_mpi::Op::Sum).await.unwrap();
                    assert!(
                        all.iter().all(|&calls| calls == 1),
                        "round {round}: {all:?}"
                    );
                }
            }
        },
    );
}

#[test]
fn dynamic_work_is_done_once_and_is_taken_from_who_has_more() {
    on_ranks(
        "dynamic_work_is_done_once_and_is_taken_from_who_has_more",
        async |cluster| {
            for count in [0, 1, 2, 4, 100, 3000] {
                let calls: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
                let before = cluster.stats();
                let balance = cluster
                    .for_each_dynamic(count, |index| {
                        calls[index].fetch_add(1, Ordering::Relaxed);
                    })
                    .await
                    .unwrap();
                let stats = cluster.stats() - before;
                assert_eq!(stats.messages, balance.questions + balance.answers);
                assert_eq!(stats.bytes, 16 * (balance.questions + balance.answers));
                let calls: Vec<u32> = calls.into_iter().map(AtomicU32::into_inner).collect();
                assert_eq!(calls.iter().sum::<u32>() as usize, balance.computed);
                let all = cluster.all_reduce(calls, blitz_mpi::Op::Sum).await.unwrap();
                assert!(all.iter().all(|&calls| calls == 1));
            }
            // Rank 0 is stuck in its block, with all of its threads, until somebody else has computed a part of it.
            let (rank, size) = (cluster.rank(), cluster.size());
            let count = 1000 * size;
            let taken = Arc::new(AtomicUsize::new(0));
            let heard = Arc::clone(&taken);
            let ear = cluster.clone();
            let listening = blitz_io::spawn(async move {
                ear.recv_any::<u8>(1).await.unwrap();
                heard.fetch_add(1, Ordering::SeqCst);
            });
            let told = AtomicUsize::new(0);
            let balance = cluster
                .for_each_dynamic(count, |index| {
                    let of_the_first = index < 1000 && size > 1;
                    if of_the_first && rank != 0 && told.fetch_add(1, Ordering::SeqCst) == 0 {
                        drop(cluster.send(0, 1, vec![0u8]));
                    }
                    while of_the_first && rank == 0 && taken.load(Ordering::SeqCst) == 0 {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                })
                .await
                .unwrap();
            assert!(balance.taken <= balance.computed);
            assert!(size > 1 || balance.computed == count);
            listening.abort();
            // Those who came second with the news are not listened to any more.
            let telling = cluster
                .all_reduce_one(usize::from(told.into_inner() > 0), blitz_mpi::Op::Sum)
                .await
                .unwrap();
            for _ in 1..if rank == 0 { telling } else { 0 } {
                cluster.recv_any::<u8>(1).await.unwrap();
            }
            let error = cluster.for_each_dynamic(5 + rank, |_| {}).await;
            assert_eq!(error.is_err(), size > 1, "{error:?}");
        },
    );
}

#[test]
fn algorithms_send_what_they_should() {
    on_ranks("algorithms_send_what_they_should", async |cluster| {
        let (rank, size) = (cluster.rank(), cluster.size());
        let others = size as u64 - 1;
        let length = 5000;
        let vector = Distributed::from_fn(cluster, length, |index| Numbers(index as u64).next());
        let own = vector.local().len();

        // A sort: a sample of 16 elements of 24 bytes for each rank to everybody, and every element that changes its rank, once.
        let before = cluster.stats();
        let sorted = vector.clone().sort_unstable().await.unwrap();
        let stats = cluster.stats() - before;
        if size == 1 {
            // Nobody is asked, and nothing leaves this rank.
            assert_eq!((stats.messages, stats.bytes), (0, 0));
        } else {
            let all = vector.clone().collect_on_all().await.unwrap();
            let start: usize = cluster.all_gather(vec![own]).await.unwrap().as_slice()[..rank]
                .iter()
                .sum();
            let stays = sorted
                .local()
                .iter()
                .filter(|item| all[start..start + own].contains(item))
                .count();
            let sample = 16 * size as u64 * 24 * others;
            assert_eq!(stats.messages, 2 * others);
            assert_eq!(stats.bytes, sample + 8 * (own - stays) as u64);
        }
        // A balance: lengths, and only what is in the wrong place.
        let before = cluster.stats();
        let even = vector.clone().redistribute().await.unwrap();
        let stats = cluster.stats() - before;
        assert_eq!(even.local(), vector.local());
        assert_eq!((stats.messages, stats.bytes), (2 * others, 8 * others));
        // A reduction: one element to everybody. A scan: the same.
        let before = cluster.stats();
        vector
            .clone()
            .reduce(|| 0, u64::wrapping_add)
            .await
            .unwrap();
        let stats = cluster.stats() - before;
        assert_eq!((stats.messages, stats.bytes), (others, 8 * others));
        let before = cluster.stats();
        vector
            .clone()
            .scan(|a, b| a.wrapping_add(*b))
            .await
            .unwrap();
        let stats = cluster.stats() - before;
        assert_eq!((stats.messages, stats.bytes), (others, 8 * others));
        // Keys that are combined beforehand: 3 pairs of 16 bytes in all leave a rank, less those that stay.
        let before = cluster.stats();
        let counts = vector
            .par_map(|n| (n % 3, 1u64))
            .reduce_by_key(|a, b| a + b)
            .await
            .unwrap();
        let stats = cluster.stats() - before;
        let sample = 3 * 8 * others;
        let leaves = 3 - counts.local().len() as u64;
        assert_eq!(stats.bytes, sample + 16 * leaves);
    });
}

#[test]
fn what_has_not_begun_is_there_for_everybody() {
    on_ranks(
        "what_has_not_begun_is_there_for_everybody",
        async |cluster| {
            let (rank, size) = (cluster.rank(), cluster.size());
            let count = 10_000 * size;
            // Its first index keeps a thread of rank 0 until all others of its block are done, by whomever: the threads beside it, and other ranks, who say so.
            let done = Arc::new(AtomicUsize::new(0));
            let (heard, ear) = (Arc::clone(&done), cluster.clone());
            let listening = blitz_io::spawn(async move {
                while let Ok((_, news)) = ear.recv_any::<usize>(1).await {
                    heard.fetch_add(news[0], Ordering::SeqCst);
                }
            });
            let in_vain = AtomicU32::new(0);
            cluster
                .for_each_dynamic(count, |index| {
                    if index == 0 {
                        let start = std::time::Instant::now();
                        while done.load(Ordering::SeqCst) < 9_999 {
                            std::thread::sleep(std::time::Duration::from_millis(1));
                            if start.elapsed().as_secs() > 20 {
                                in_vain.store(1, Ordering::SeqCst);
                                break;
                            }
                        }
                    } else if index < 10_000 && rank == 0 {
                        done.fetch_add(1, Ordering::SeqCst);
                    } else if index < 10_000 {
                        drop(cluster.send(0, 1, vec![1usize]));
                    }
                })
                .await
                .unwrap();
            assert_eq!(in_vain.into_inner(), 0, "the rest waited for the first one");
            listening.abort();
            let _ = listening.await;
        },
    );
}

#[test]
fn a_comparison_that_is_no_order_does_no_harm() {
    on_ranks(
        "a_comparison_that_is_no_order_does_no_harm",
        async |cluster| {
            for round in 0..30 {
                let numbers = Distributed::from_fn(cluster, 5000, |index| {
                    let number = Numbers((index + round) as u64).next();
                    if number.is_multiple_of(7) {
                        f64::NAN
                    } else {
                        number as f64
                    }
                });
                let sorted = numbers
                    .sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal))
                    .await
                    .unwrap();
                assert_eq!(sorted.len().await, Ok(5000));
            }
        },
    );
}

#[test]
fn files_that_do_not_say_how_long_they_are_are_errors() {
    on_ranks(
        "files_that_do_not_say_how_long_they_are_are_errors",
        async |cluster| {
            let read = Distributed::read_lines(cluster, "/proc/self/status").await;
            let text = read.map(drop).unwrap_err().to_string();
            if cluster.rank() == 0 {
                assert!(text.contains("does not say how long"), "{text}");
            } else {
                assert_eq!(text, "rank 0 could not use its files");
            }
        },
    );
}
