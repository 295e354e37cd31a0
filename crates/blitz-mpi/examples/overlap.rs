//! A trace of one long message: what the receiving rank computes between the call and the end of `recv`: `mpirun -n 2 overlap`.
//!
//! A step of computing that begins and ends while the message is under way, on a rank that does not await it, is time that a blocking call would have
//! lost. The time at which the message was there is the runtime's: a task awaits it while the program computes.

use blitz_mpi::Cluster;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn step() -> u64 {
    (0..100_000u64).fold(0, |sum, n| black_box(sum ^ n.wrapping_mul(0x9E37_79B9)))
}

fn main() {
    let length = 16 << 20;
    Cluster::run(async |cluster| {
        cluster.barrier().await.expect("all are here");
        if cluster.rank() == 0 && cluster.size() > 1 {
            let sending = cluster.send(1, 1, vec![7u64; length]);
            sending.await.expect("sent");
        } else if cluster.rank() == 1 {
            let begin = Instant::now();
            let receiver = cluster.clone();
            let arriving = blitz_io::spawn(async move {
                let message = receiver.recv::<u64>(0, 1).await.expect("a message");
                (message, begin.elapsed())
            });
            let mut trace: Vec<(Duration, Duration)> = Vec::new();
            while !arriving.is_finished() {
                let from = begin.elapsed();
                black_box(step());
                trace.push((from, begin.elapsed()));
            }
            let (message, arrived) = arriving.await.expect("no panic");
            assert!(message.len() == length && message.iter().all(|&n| n == 7));
            let during = trace.iter().filter(|(_, end)| *end <= arrived).count();
            let busy: Duration = trace
                .iter()
                .take(during)
                .map(|(from, end)| *end - *from)
                .sum();
            println!("{} MB under way for {arrived:.1?}", (length * 8) >> 20);
            println!(
                "meanwhile: {during} steps of computing, {busy:.1?} ({:.0} %)",
                100.0 * busy.as_secs_f64() / arrived.as_secs_f64()
            );
            for (number, (from, end)) in trace.iter().enumerate().take(6) {
                println!("  step {number}: {from:>9.1?} to {end:>9.1?}");
            }
            println!("  … message there: {arrived:.1?}");
            assert!(
                during > 0,
                "nothing was computed while the message was under way"
            );
        }
    })
    .expect("a cluster");
}
