//! Messages and collective calls, compared with what they should say, for 1, 2, 3 and 5 ranks.

mod support;

use blitz_mpi::{Cluster, Error, Op, Parts, Stats};
use std::sync::Arc;
use support::{Numbers, on_ranks};

#[test]
fn collectives_give_what_one_rank_would_compute() {
    on_ranks(
        "collectives_give_what_one_rank_would_compute",
        async |cluster| {
            let (rank, size) = (cluster.rank(), cluster.size());
            let mut numbers = Numbers(7);
            for round in 0..30 {
                // Every rank knows what every rank has: the same numbers everywhere.
                let longest = [0, 1, 2, 3, 7, 10, 1000, 70_000][round % 8];
                let all: Vec<Vec<u64>> = (0..size)
                    .map(|_| {
                        (0..numbers.below(longest + 1))
                            .map(|_| numbers.next())
                            .collect()
                    })
                    .collect();
                let mine = all[rank].clone();
                let root = round % size;

                let gathered = cluster.gather(root, mine.clone()).await.unwrap();
                assert_eq!(gathered.is_some(), rank == root);
                if let Some(parts) = gathered {
                    assert_eq!(parts, Parts::from(all.clone()));
                }
                let gathered = cluster.all_gather(mine.clone()).await.unwrap();
                assert_eq!(gathered, Parts::from(all.clone()));

                let given = (rank == root).then(|| Parts::from(all.clone()));
                assert_eq!(cluster.scatter(root, given).await.unwrap(), mine);

                let given = if rank == root {
                    all[root].clone()
                } else {
                    vec![]
                };
                assert_eq!(cluster.broadcast(root, given).await.unwrap(), all[root]);

                // Rank a sends to rank b the numbers of b, with a and b added.
                let parts: Vec<Vec<(u64, usize)>> = (0..size)
                    .map(|to| all[to].iter().map(|&n| (n, rank * size + to)).collect())
                    .collect();
                let got = cluster.all_to_all(Parts::from(parts)).await.unwrap();
                for (from, part) in got.iter().enumerate() {
                    let expected: Vec<_> = mine.iter().map(|&n| (n, from * size + rank)).collect();
                    assert_eq!(part, expected);
                }

                let same = all.iter().map(Vec::len).min().unwrap();
                let short: Vec<u64> = mine[..same].to_vec();
                let sum = cluster.all_reduce(short.clone(), Op::Sum).await.unwrap();
                let max = cluster.all_reduce(short, Op::Max).await.unwrap();
                for at in 0..same {
                    let column = all.iter().map(|row| row[at]);
                    assert_eq!(sum[at], column.clone().fold(0, u64::wrapping_add));
                    assert_eq!(Some(max[at]), column.max());
                }
                cluster.barrier().await.unwrap();
            }
            let all: Vec<f64> = (0..size).map(|rank| 0.1 * rank as f64 + 1.0).collect();
            let product = cluster
                .all_reduce_one(all[rank], Op::Product)
                .await
                .unwrap();
            assert!((product - all.iter().product::<f64>()).abs() < 1e-12);
            let bits = cluster
                .all_gather(vec![product.to_bits()])
                .await
                .unwrap()
                .into_vec();
            assert!(
                bits.iter().all(|&other| other == bits[0]),
                "the same to the last bit"
            );
            let min = cluster
                .all_reduce(vec![rank as i8, -(rank as i8)], Op::Min)
                .await
                .unwrap();
            assert_eq!(min, [0, -(size as i8 - 1)]);
        },
    );
}

#[test]
fn short_and_long_reductions_compute_alike() {
    on_ranks("short_and_long_reductions_compute_alike", async |cluster| {
        let (rank, size) = (cluster.rank(), cluster.size());
        // One number travels in a frame, a hundred by a collective of MPI.
        for op in [Op::Sum, Op::Product, Op::Min, Op::Max] {
            let number = 200 + rank as u8;
            let expected = (0..size)
                .map(|rank| 200 + rank as u8)
                .reduce(|a, b| match op {
                    Op::Sum => a.wrapping_add(b),
                    Op::Product => a.wrapping_mul(b),
                    Op::Min => a.min(b),
                    Op::Max => a.max(b),
                });
            let expected = expected.unwrap();
            let short = cluster.all_reduce_one(number, op).await.unwrap();
            let long = cluster.all_reduce(vec![number; 100], op).await.unwrap();
            assert_eq!(short, expected, "{op:?}");
            assert!(long.iter().all(|&n| n == expected), "{op:?}: {}", long[0]);
            let number = i16::MAX - rank as i16;
            let short = cluster.all_reduce_one(number, op).await.unwrap();
            let long = cluster.all_reduce(vec![number; 100], op).await.unwrap();
            assert!(
                long.iter().all(|&n| n == short),
                "{op:?}: {} {short}",
                long[0]
            );
            // One that is no number, on any rank.
            for odd in 0..size {
                let number = if rank == odd { f64::NAN } else { 1.5 };
                let short = cluster.all_reduce_one(number, op).await.unwrap();
                let long = cluster.all_reduce(vec![number; 100], op).await.unwrap();
                let alike = |n: &f64| *n == short || n.is_nan() && short.is_nan();
                assert!(long.iter().all(alike), "{op:?}: {} {short}", long[0]);
            }
        }
    });
}

#[test]
fn nothing_can_be_sent_by_every_call() {
    on_ranks("nothing_can_be_sent_by_every_call", async |cluster| {
        let (rank, size) = (cluster.rank(), cluster.size());
        // Bytes: their vectors without elements are at the address 1, which means something else to some MPIs.
        assert_eq!(cluster.broadcast(0, Vec::<u8>::new()).await, Ok(vec![]));
        assert_eq!(
            cluster.broadcast(size - 1, Vec::<u64>::new()).await,
            Ok(vec![])
        );
        assert_eq!(
            cluster.all_reduce(Vec::<u8>::new(), Op::Sum).await,
            Ok(vec![])
        );
        let all = cluster.all_gather(Vec::<u8>::new()).await.unwrap();
        assert_eq!(all.counts(), vec![0; size]);
        let all = cluster.gather(0, Vec::<u8>::new()).await.unwrap();
        assert_eq!(all.is_some(), rank == 0);
        let all = cluster
            .all_to_all(Parts::even(Vec::<u8>::new(), size))
            .await
            .unwrap();
        assert_eq!(all.counts(), vec![0; size]);
        let parts = (rank == 0).then(|| Parts::even(Vec::<u8>::new(), size));
        assert_eq!(cluster.scatter(0, parts).await, Ok(vec![]));
        let sending = cluster.send((rank + 1) % size, 1, Vec::<u8>::new());
        assert_eq!(
            cluster.recv::<u8>((rank + size - 1) % size, 1).await,
            Ok(vec![])
        );
        sending.await.unwrap();
    });
}

#[test]
fn many_calls_may_be_under_way_and_be_awaited_in_any_order() {
    on_ranks(
        "many_calls_may_be_under_way_and_be_awaited_in_any_order",
        async |cluster| {
            let (rank, size) = (cluster.rank() as u64, cluster.size() as u64);
            for round in 0..5 {
                let mut sums = Vec::new();
                let mut rows = Vec::new();
                let mut casts = Vec::new();
                for call in 0..40u64 {
                    // Short and long ones, so that they end in another order than they began in.
                    let length = if call % 3 == 0 { 1 } else { 5000 };
                    sums.push(cluster.all_reduce(vec![rank + call; length], Op::Sum));
                    rows.push(cluster.all_gather(vec![rank * call; call as usize]));
                    casts
                        .push(cluster.broadcast((call % size) as usize, vec![call; call as usize]));
                }
                if round % 2 == rank as usize % 2 {
                    // Not awaited at all: the others are not kept waiting.
                    continue;
                }
                for (call, sum) in sums.into_iter().enumerate().rev() {
                    let expected = size * call as u64 + size * (size - 1) / 2;
                    assert!(sum.await.unwrap().iter().all(|&n| n == expected));
                }
                for (call, row) in rows.into_iter().enumerate() {
                    let row = row.await.unwrap();
                    assert_eq!(row.counts(), vec![call; size as usize]);
                }
                for (call, cast) in casts.into_iter().enumerate() {
                    assert_eq!(cast.await.unwrap(), vec![call as u64; call]);
                }
            }
        },
    );
}

#[test]
fn messages_come_in_order_whoever_goes_away_and_whatever_owns_them() {
    on_ranks(
        "messages_come_in_order_whoever_goes_away_and_whatever_owns_them",
        async |cluster| {
            let (rank, size) = (cluster.rank(), cluster.size());
            let right = (rank + 1) % size;
            let left = (rank + size - 1) % size;
            // Lengths around the limit between short messages and those that wait for their receiver.
            for length in [0, 1, 100, 1000, 40_000, 300_000] {
                let mut sends = Vec::new();
                for number in 0..4u64 {
                    sends.push(cluster.send(right, 1, vec![number + rank as u64; length]));
                }
                for number in 0..4u64 {
                    if number % 2 == 0 {
                        // Asked for, perhaps come, and dropped.
                        let mut dropped = Box::pin(cluster.recv::<u64>(left, 1));
                        let unfinished = std::future::poll_fn(|cx| {
                            let poll = dropped.as_mut().poll(cx);
                            std::task::Poll::Ready(match poll {
                                std::task::Poll::Ready(message) => Some(message.unwrap()),
                                std::task::Poll::Pending => None,
                            })
                        })
                        .await;
                        drop(dropped);
                        if let Some(message) = unfinished {
                            assert!(
                                message == vec![number + left as u64; length],
                                "message {number} of {length}"
                            );
                            continue;
                        }
                    }
                    let message = cluster.recv::<u64>(left, 1).await.unwrap();
                    assert!(
                        message == vec![number + left as u64; length],
                        "message {number} of {length}"
                    );
                }
                for (number, send) in sends.into_iter().enumerate() {
                    // The buffer comes back.
                    assert_eq!(send.await.unwrap(), vec![(number + rank) as u64; length]);
                }
            }
            // Owners of all kinds; tags are told apart; futures that are forgotten.
            let shared: Arc<[u32]> = vec![1, 2, 3].into();
            let a = cluster.send::<u32, _>(right, 2, Arc::clone(&shared));
            let b = cluster.send::<f64, _>(right, 3, [0.5; 4]);
            std::mem::forget(cluster.send(right, 4, vec![(1u8, 2u64); 50_000]));
            assert_eq!(
                cluster.recv::<(u8, u64)>(left, 4).await.unwrap(),
                vec![(1, 2); 50_000]
            );
            assert_eq!(cluster.recv::<f64>(left, 3).await.unwrap(), [0.5; 4]);
            assert_eq!(
                cluster.recv_any::<u32>(2).await.unwrap(),
                (left, vec![1, 2, 3])
            );
            assert_eq!(b.await.unwrap(), [0.5; 4]);
            assert!(Arc::ptr_eq(&a.await.unwrap(), &shared));
            // A receiver that is forgotten may keep a message, as any variable may: another tag is not disturbed by it.
            std::mem::forget(cluster.recv::<u64>(left, 5));
            let sending = cluster.send(right, 6, vec![9u64]);
            assert_eq!(cluster.recv::<u64>(left, 6).await.unwrap(), [9]);
            sending.await.unwrap();
        },
    );
}

/// An owner of bytes that talks when it goes.
struct Talker(Cluster, [u8; 3]);

impl AsRef<[u8]> for Talker {
    fn as_ref(&self) -> &[u8] {
        // Anybody's code, too.
        let _ = self.0.stats();
        &self.1
    }
}

impl Drop for Talker {
    fn drop(&mut self) {
        drop(self.0.send(self.0.rank(), 2, vec![4u8]));
    }
}

#[test]
fn an_owner_may_use_the_cluster_in_its_destructor_and_in_as_ref() {
    let name = "an_owner_may_use_the_cluster_in_its_destructor_and_in_as_ref";
    on_ranks(name, async |cluster| {
        let rank = cluster.rank();
        // Dropped by whoever finds that it is sent; by the sender, because there is no such rank; with its future.
        drop(cluster.send(rank, 1, Talker(cluster.clone(), [1, 2, 3])));
        let refused = cluster.send(cluster.size(), 1, Talker(cluster.clone(), [0; 3]));
        assert!(refused.await.is_err());
        let kept = cluster.send(rank, 1, Talker(cluster.clone(), [1, 2, 3]));
        for _ in 0..2 {
            assert_eq!(cluster.recv::<u8>(rank, 1).await.unwrap(), [1, 2, 3]);
        }
        drop(kept);
        for _ in 0..3 {
            assert_eq!(cluster.recv::<u8>(rank, 2).await.unwrap(), [4]);
        }
    });
}

#[test]
fn tasks_talk_at_the_same_time() {
    on_ranks("tasks_talk_at_the_same_time", async |cluster| {
        let size = cluster.size();
        let tasks: Vec<_> = (0..20u16)
            .map(|tag| {
                let cluster = cluster.clone();
                blitz_io::spawn(async move {
                    let mut sum = 0;
                    for round in 0..20u64 {
                        let sends: Vec<_> = (0..size)
                            .map(|to| cluster.send(to, tag, vec![round, u64::from(tag)]))
                            .collect();
                        for from in 0..size {
                            let message = cluster.recv::<u64>(from, tag).await.unwrap();
                            assert_eq!(message, [round, u64::from(tag)]);
                            sum += message[0];
                        }
                        for send in sends {
                            send.await.unwrap();
                        }
                    }
                    sum
                })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), 190 * size as u64);
        }
    });
}

#[test]
fn calls_that_do_not_belong_together_are_errors_on_all_ranks_and_do_no_harm() {
    on_ranks(
        "calls_that_do_not_belong_together_are_errors_on_all_ranks_and_do_no_harm",
        async |cluster| {
            let (rank, size) = (cluster.rank(), cluster.size());
            let odd = rank == size - 1 && size > 1;
            let wrong = |what: &str, result: Result<(), Error>| match result {
                Ok(()) => assert_eq!(size, 1, "{what}"),
                Err(Error::Mismatch(words)) => {
                    assert!(size > 1, "{what}: {words}");
                    assert!(words.contains("rank") && words.contains(what), "{words}");
                }
                Err(other) => panic!("{other}"),
            };
            for length in [1, 1000] {
                let numbers = vec![1u64; if odd { length + 1 } else { length }];
                wrong(
                    "all_reduce",
                    cluster.all_reduce(numbers, Op::Sum).await.map(drop),
                );
                let op = if odd { Op::Max } else { Op::Sum };
                wrong(
                    "sum of u64",
                    cluster.all_reduce(vec![1u64; length], op).await.map(drop),
                );
            }
            if odd {
                wrong(
                    "sum of f64",
                    cluster.all_reduce_one(1.0f64, Op::Sum).await.map(drop),
                );
                wrong("4 bytes", cluster.all_gather(vec![1u32]).await.map(drop));
                wrong("broadcast", cluster.broadcast(0, vec![1u8]).await.map(drop));
                wrong("barrier", cluster.barrier().await);
            } else {
                wrong(
                    "8 bytes",
                    cluster.all_reduce_one(1u64, Op::Sum).await.map(drop),
                );
                wrong("8 bytes", cluster.all_gather(vec![1u64]).await.map(drop));
                wrong(
                    "root 0",
                    cluster
                        .broadcast(if size > 1 { 1 } else { 0 }, vec![1u8])
                        .await
                        .map(drop),
                );
                wrong(
                    "all_to_all",
                    cluster
                        .all_to_all(Parts::even(vec![0u8], size))
                        .await
                        .map(drop),
                );
            }
            // One rank's own mistakes are told to all.
            let parts = if rank == 0 { size + 1 } else { size };
            let error = cluster
                .all_to_all(Parts::even(vec![1u16; 9], parts))
                .await
                .unwrap_err();
            assert!(
                error.to_string().contains("one part for each rank"),
                "{error}"
            );
            let error = cluster.scatter::<u64>(0, None).await.unwrap_err();
            assert!(
                error.to_string().contains("one part for each rank"),
                "{error}"
            );
            let error = cluster.gather(size, vec![1u64]).await.unwrap_err();
            assert!(error.to_string().contains("no rank"), "{error}");

            // Messages: the sender's elements are larger.
            let next = (rank + 1) % size;
            let before = (rank + size - 1) % size;
            let sending = cluster.send(next, 1, vec![1u64; 3]);
            let error = cluster.recv::<u32>(before, 1).await.unwrap_err();
            assert_eq!(
                error,
                Error::ElementSize {
                    from: before,
                    sent: 8,
                    expected: 4
                }
            );
            sending.await.unwrap();
            let error = cluster.send(size, 1, vec![1u64]).await.unwrap_err();
            assert_eq!(error, Error::NoSuchRank { rank: size, size });
            assert_eq!(
                cluster.recv::<u8>(0, 5000).await.unwrap_err(),
                Error::NoSuchTag(5000)
            );

            // And everything works as before.
            assert_eq!(
                cluster.all_reduce_one(1u64, Op::Sum).await.unwrap(),
                size as u64
            );
            let parts = Parts::even(vec![rank; size], size);
            let expected: Vec<usize> = (0..size).collect();
            assert_eq!(
                cluster.all_to_all(parts).await.unwrap().into_vec(),
                expected
            );
        },
    );
}

#[test]
fn what_was_sent_is_counted() {
    on_ranks("what_was_sent_is_counted", async |cluster| {
        let (rank, size) = (cluster.rank(), cluster.size());
        let others = size as u64 - 1;
        // What recursive doubling sends: a rank of a pair that meets beforehand sends once (even), or once more (odd).
        let rounds = u64::from(size.ilog2());
        let pairs = size - (1 << rounds);
        let frames = match rank {
            _ if rank >= 2 * pairs => rounds,
            _ if rank % 2 == 0 => 1,
            _ => rounds + 1,
        };
        let stats = counted(cluster, cluster.barrier()).await;
        let all = (stats.frames, stats.messages, stats.bytes, stats.collectives);
        assert_eq!(all, (frames, 0, 0, 1));
        let stats = counted(cluster, cluster.all_reduce(vec![1u64; 6], Op::Sum)).await;
        assert_eq!(
            (stats.frames, stats.messages, stats.tree_calls),
            (frames, 0, 0)
        );
        let stats = counted(cluster, cluster.all_reduce(vec![1u64; 7], Op::Sum)).await;
        assert_eq!(
            (stats.frames, stats.tree_calls, stats.tree_bytes),
            (frames, 1, 56)
        );
        let stats = counted(cluster, cluster.all_gather(vec![1u32; 5])).await;
        assert_eq!(
            (stats.frames, stats.messages, stats.bytes),
            (frames, others, others * 20)
        );
        let stats = counted(cluster, cluster.gather(0, vec![1u32; 5])).await;
        let one = u64::from(rank != 0);
        assert_eq!((stats.messages, stats.bytes), (one, one * 20));
        let parts = (rank == 0).then(|| Parts::even(vec![0u8; 3 * size], size));
        let stats = counted(cluster, cluster.scatter(0, parts)).await;
        let all = if rank == 0 { others } else { 0 };
        assert_eq!((stats.messages, stats.bytes), (all, all * 3));
        let parts = Parts::even(vec![0u16; 4 * size], size);
        let stats = counted(cluster, cluster.all_to_all(parts)).await;
        assert_eq!((stats.messages, stats.bytes), (others, others * 8));
        assert!(stats.model(size, 1e-6, 1e-9) >= std::time::Duration::ZERO);
    });
}

/// What an operation sends. Its first frames may be sent when it begins, so all calls are counted from the last look on.
async fn counted<R>(cluster: &Cluster, operation: blitz_mpi::Operation<R>) -> Stats {
    thread_local! {
        static LAST: std::cell::Cell<Stats> = std::cell::Cell::default();
    }
    operation.await.unwrap();
    let now = cluster.stats();
    now - LAST.replace(now)
}

#[test]
fn long_elements_of_different_sizes_are_errors_too() {
    on_ranks(
        "long_elements_of_different_sizes_are_errors_too",
        async |cluster| {
            let (rank, size) = (cluster.rank(), cluster.size());
            let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
            // Twice as long, so that the bytes would do.
            let sending = cluster.send(right, 1, vec![[1u64; 32]; 2]);
            let received = cluster.recv::<[u64; 64]>(left, 1).await;
            assert!(
                matches!(received, Err(Error::ElementSize { expected: 512, .. })),
                "{received:?}"
            );
            sending.await.unwrap();
            // The same.
            let sending = cluster.send(right, 1, vec![[rank; 100]; 2]);
            assert_eq!(
                cluster.recv::<[usize; 100]>(left, 1).await,
                Ok(vec![[left; 100]; 2])
            );
            sending.await.unwrap();
        },
    );
}
