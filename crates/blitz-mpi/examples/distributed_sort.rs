//! Sorts random numbers over all ranks and checks the result: `mpirun -n 4 distributed_sort [NUMBERS]`.

use blitz_mpi::{Cluster, Distributed, Op};
use std::time::Instant;

fn number(index: usize) -> u64 {
    let mut z = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ (z >> 27)
}

fn main() {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let count = argument.parse().unwrap_or(if argument == "--quick" {
        100_000
    } else {
        10_000_000
    });
    Cluster::run(async |cluster| {
        let numbers = Distributed::from_fn(cluster, count, number);
        let sum = numbers
            .clone()
            .reduce(|| 0, u64::wrapping_add)
            .await
            .expect("a sum");
        cluster.barrier().await.expect("all are here");
        let before = cluster.stats();
        let start = Instant::now();
        let sorted = numbers.sort_unstable().await.expect("sorted");
        let took = start.elapsed();
        let sent = cluster.stats() - before;

        // In order on each rank; the last of a rank not above the first of the next that has any; and the same numbers as before.
        assert!(sorted.local().is_sorted());
        let ends: Vec<(u64, u64)> = sorted
            .local()
            .first()
            .copied()
            .zip(sorted.local().last().copied())
            .into_iter()
            .collect();
        let ends = cluster.all_gather(ends).await.expect("ends").into_vec();
        assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        assert_eq!(sorted.len().await.expect("a length"), count);
        let most = cluster
            .all_reduce_one(sorted.local().len(), Op::Max)
            .await
            .expect("a maximum");
        assert_eq!(
            sorted.reduce(|| 0, u64::wrapping_add).await.expect("a sum"),
            sum
        );
        if cluster.rank() == 0 {
            println!(
                "{count} numbers on {} ranks of {} threads: {took:.1?}",
                cluster.size(),
                cluster.threads()
            );
            println!(
                "rank 0 sent {} messages, {} bytes; the longest block has {most}; in order",
                sent.messages, sent.bytes
            );
            // A network with 2 us and 10 GB/s.
            println!(
                "by the model, sending takes {:.1?} there",
                sent.model(cluster.size(), 2e-6, 1e-10)
            );
        }
    })
    .expect("a cluster");
}
