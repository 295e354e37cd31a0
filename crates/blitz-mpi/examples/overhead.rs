//! What this crate costs on top of MPI: see "latency" in the text below.
use blitz_mpi::{Cluster, Op};
use mpi::ffi;
use std::time::Instant;

fn median(mut v: Vec<f64>) -> f64 { v.sort_by(f64::total_cmp); v[v.len() / 2] }

fn main() {
    Cluster::builder().threads(1).run(async |cluster| {
        let mut ours = vec![]; let mut theirs = vec![]; let mut ithers = vec![];
        for _ in 0..40 {
            const K: usize = 200;
            cluster.barrier().await.unwrap();
            let t = Instant::now();
            for _ in 0..K { std::hint::black_box(cluster.all_reduce_one(1.5f64, Op::Sum).await.unwrap()); }
            ours.push(t.elapsed().as_secs_f64() / K as f64 * 1e6);
            cluster.barrier().await.unwrap();
            let t = Instant::now();
            for _ in 0..K { unsafe {
                let x = 1.5f64; let mut y = 0f64;
                ffi::MPI_Allreduce((&raw const x).cast(), (&raw mut y).cast(), 1, ffi::RSMPI_DOUBLE, ffi::RSMPI_SUM, ffi::RSMPI_COMM_WORLD);
                std::hint::black_box(y);
            } }
            theirs.push(t.elapsed().as_secs_f64() / K as f64 * 1e6);
            cluster.barrier().await.unwrap();
            let t = Instant::now();
            for _ in 0..K { unsafe {
                let x = 1.5f64; let mut y = 0f64; let mut q = ffi::RSMPI_REQUEST_NULL;
                ffi::MPI_Iallreduce((&raw const x).cast(), (&raw mut y).cast(), 1, ffi::RSMPI_DOUBLE, ffi::RSMPI_SUM, ffi::RSMPI_COMM_WORLD, &mut q);
                ffi::MPI_Wait(&mut q, ffi::RSMPI_STATUS_IGNORE);
                std::hint::black_box(y);
            } }
            ithers.push(t.elapsed().as_secs_f64() / K as f64 * 1e6);
        }
        let min = |v: &Vec<f64>| v.iter().copied().fold(f64::MAX, f64::min);
        if cluster.rank() == 0 {
            println!("all_reduce 8 bytes: awaited {:.2} (min {:.2}) MPI_Allreduce {:.2} (min {:.2}) MPI_Iallreduce {:.2} (min {:.2}) us", median(ours.clone()), min(&ours), median(theirs.clone()), min(&theirs), median(ithers.clone()), min(&ithers));
        }
    }).unwrap();
}
