//! Heat in a plate, rows over the ranks; borders travel while the inside is computed: `mpirun -n 4 stencil [WIDTH STEPS]`.
//!
//! A step needs the neighbours' border rows of the step before. They are sent first; the rows that do not need them are computed while they are under way.
//! Without arguments, the result is compared with one thread's.

use blitz::prelude::*;
use blitz_mpi::{Cluster, Result};
use std::time::{Duration, Instant};

/// A new row from three old ones.
fn relax(above: &[f64], row: &[f64], below: &[f64], new: &mut [f64]) {
    let last = row.len() - 1;
    new[0] = row[0];
    new[last] = row[last];
    for at in 1..last {
        new[at] = 0.25 * (above[at] + below[at] + row[at - 1] + row[at + 1]);
    }
}

/// The plate at the beginning: hot above, cold elsewhere.
fn start(row: usize, width: usize) -> Vec<f64> {
    if row == 0 {
        vec![100.0; width]
    } else {
        vec![0.0; width]
    }
}

/// This rank's rows after some steps; the time that it waited for borders.
async fn simulate(cluster: &Cluster, width: usize, steps: usize) -> Result<(Vec<f64>, Duration)> {
    let (rank, size) = (cluster.rank(), cluster.size());
    let first = width * rank / size;
    let count = width * (rank + 1) / size - first;
    let mut rows: Vec<f64> = (first..first + count)
        .flat_map(|row| start(row, width))
        .collect();
    let mut next = rows.clone();
    let mut waited = Duration::ZERO;
    let (up, down) = (rank.checked_sub(1), (rank + 1 < size).then_some(rank + 1));
    for _ in 0..steps {
        // Borders first: they travel from here on.
        let above = up.map(|up| {
            (
                cluster.recv(up, 1),
                cluster.send(up, 2, rows[..width].to_vec()),
            )
        });
        let below = down.map(|down| {
            (
                cluster.recv(down, 2),
                cluster.send(down, 1, rows[(count - 1) * width..].to_vec()),
            )
        });
        // Rows that need nobody.
        next[width..(count - 1) * width]
            .par_chunks_mut(width)
            .enumerate()
            .for_each(|(at, new)| {
                let old = &rows[at * width..];
                relax(
                    &old[..width],
                    &old[width..2 * width],
                    &old[2 * width..3 * width],
                    new,
                );
            });
        // Those that do.
        let since = Instant::now();
        let above = match above {
            Some((above, sent)) => {
                sent.await?;
                Some(above.await?)
            }
            None => None,
        };
        let below = match below {
            Some((below, sent)) => {
                sent.await?;
                Some(below.await?)
            }
            None => None,
        };
        waited += since.elapsed();
        border(
            above.as_deref(),
            &rows[..width],
            Some(&rows[width..2 * width]),
            &mut next[..width],
        );
        let last = (count - 1) * width;
        border(
            Some(&rows[last - width..last]),
            &rows[last..],
            below.as_deref(),
            &mut next[last..],
        );
        std::mem::swap(&mut rows, &mut next);
    }
    Ok((rows, waited))
}

/// A row at an edge of the plate stays as it is.
fn border(above: Option<&[f64]>, row: &[f64], below: Option<&[f64]>, new: &mut [f64]) {
    match (above, below) {
        (Some(above), Some(below)) => relax(above, row, below, new),
        _ => new.copy_from_slice(row),
    }
}

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    let (width, steps) = match numbers[..] {
        [width, steps] => (width, steps),
        _ => (120, 300),
    };
    Cluster::run(async |cluster| {
        assert!(width >= 3 * cluster.size(), "every rank needs some rows");
        cluster.barrier().await.expect("all are here");
        let since = Instant::now();
        let (rows, waited) = simulate(cluster, width, steps).await.expect("borders");
        let took = since.elapsed();
        let sent = cluster.stats();
        let plate = cluster.gather(0, rows).await.expect("the plate");
        if let Some(plate) = plate {
            println!("{width} x {width}, {steps} steps on {} ranks of {} threads: {took:.1?}, {waited:.1?} of it waiting for borders", cluster.size(), cluster.threads());
            println!("rank 0 sent {} borders, {} bytes", sent.messages, sent.bytes);
            if width <= 200 {
                let mut rows: Vec<f64> = (0..width).flat_map(|row| start(row, width)).collect();
                for _ in 0..steps {
                    let old = rows.clone();
                    for row in 1..width - 1 {
                        let at = row * width;
                        let new = &mut rows[at..at + width];
                        relax(&old[at - width..at], &old[at..at + width], &old[at + width..at + 2 * width], new);
                    }
                }
                assert!(plate.into_vec() == rows, "not the plate of the sequential program");
                println!("the same as one thread's, to the last bit");
            }
        }
    })
    .expect("a cluster");
}
