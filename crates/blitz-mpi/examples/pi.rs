//! Pi by throwing darts, in batches whose cost differs a lot; ranks that are done take batches from others: `mpirun -n 4 pi [BATCHES]`.

use blitz_mpi::{Cluster, Op};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How many of the darts of a batch hit the quarter of the circle.
fn hits(batch: usize, darts: u64) -> u64 {
    let mut state = batch as u64 + 1;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..darts)
        .filter(|_| next().powi(2) + next().powi(2) <= 1.0)
        .count() as u64
}

fn main() {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let batches = argument
        .parse()
        .unwrap_or(if argument == "--quick" { 200 } else { 4000 });
    Cluster::run(async |cluster| {
        // The first batches are the dear ones: even blocks would leave most ranks idle.
        let darts = |batch: usize| if batch < batches / 4 { 40_000 } else { 1000 };
        let (inside, thrown) = (AtomicU64::new(0), AtomicU64::new(0));
        let start = Instant::now();
        let balance = cluster
            .for_each_dynamic(batches, |batch| {
                inside.fetch_add(hits(batch, darts(batch)), Ordering::Relaxed);
                thrown.fetch_add(darts(batch), Ordering::Relaxed);
            })
            .await
            .expect("all batches");
        let took = start.elapsed();
        let own = thrown.into_inner();
        let sums = cluster.all_reduce(vec![inside.into_inner(), own], Op::Sum).await.expect("sums");
        // Every batch once, whoever computed it.
        assert_eq!(sums[1], (0..batches).map(darts).sum::<u64>());
        let pi = 4.0 * sums[0] as f64 / sums[1] as f64;
        assert!((pi - std::f64::consts::PI).abs() < 0.02, "{pi}");
        let all = cluster.gather(0, vec![(own, balance.computed, balance.taken, balance.questions)]).await.expect("reports");
        if let Some(all) = all {
            println!("pi is about {pi:.5}; {took:.1?}");
            for (rank, (darts, computed, taken, questions)) in all.into_vec().into_iter().enumerate() {
                println!("rank {rank}: {darts:>10} darts in {computed:>5} batches, {taken:>5} of them from others, {questions} questions");
            }
        }
    })
    .expect("a cluster");
}
