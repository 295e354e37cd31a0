//! What this crate costs on top of MPI: the same programs by hand, with `mpi` (rsmpi) alone, in the same process, in turns.
//!
//! `mpirun -n 2 --bind-to none overhead` is two ranks of one thread; `overhead --threads 2` one rank of two. Medians of rounds, and the ratio.
//!
//! The programs by hand sort with the same local sort, so that the ratio is that of the communication and of what surrounds it.

use blitz::prelude::*;
use blitz_mpi::{Cluster, Distributed, Op};
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::hint::black_box;
use std::time::Instant;

const SORTED: usize = 10_000_000;
const MAPPED: usize = 8_000_000;
const WIDTH: usize = 1024;
const STEPS: usize = 100;

fn number(index: usize) -> u64 {
    let mut z = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ (z >> 27)
}

fn block(length: usize, size: usize, rank: usize) -> std::ops::Range<usize> {
    length * rank / size..length * (rank + 1) / size
}

fn map(n: u64) -> u64 {
    (0..8).fold(n, |n, _| {
        n.rotate_left(7).wrapping_mul(0x2545_F491_4F6C_DD1D) ^ n
    })
}

// By hand.

/// Sample sort with blocking calls.
fn hand_sort(world: &SimpleCommunicator, mut local: Vec<u64>) -> Vec<u64> {
    let size = world.size() as usize;
    local.par_sort_unstable();
    if size == 1 {
        return local;
    }
    let shown = 16 * size;
    let sample: Vec<u64> = (0..shown)
        .map(|at| local[at * local.len() / shown])
        .collect();
    let mut samples = vec![0u64; shown * size];
    world.all_gather_into(&sample[..], &mut samples[..]);
    samples.sort_unstable();
    let mut counts = Vec::new();
    let mut start = 0;
    for rank in 1..=size {
        let end = match rank {
            _ if rank == size => local.len(),
            _ => local.partition_point(|&n| n < samples[rank * shown]),
        };
        counts.push((end - start) as i32);
        start = end;
    }
    let mut incoming = vec![0i32; size];
    world.all_to_all_into(&counts[..], &mut incoming[..]);
    let starts = |counts: &[i32]| -> Vec<i32> {
        counts
            .iter()
            .scan(0, |sum, &count| {
                *sum += count;
                Some(*sum - count)
            })
            .collect()
    };
    let (send_starts, receive_starts) = (starts(&counts), starts(&incoming));
    let mut received = vec![0u64; incoming.iter().sum::<i32>() as usize];
    {
        let send = Partition::new(&local[..], counts, &send_starts[..]);
        let mut receive = PartitionMut::new(&mut received[..], &incoming[..], &receive_starts[..]);
        world.all_to_all_varcount_into(&send, &mut receive);
    }
    if size == 2 {
        let (left, right) = received.split_at(incoming[0] as usize);
        return left.par_merge(right);
    }
    received.par_sort();
    received
}

fn hand_map_reduce(world: &SimpleCommunicator) -> u64 {
    let mine = block(MAPPED, world.size() as usize, world.rank() as usize);
    let numbers: Vec<u64> = mine.into_par_iter().map(number).collect();
    let mapped: Vec<u64> = numbers.into_par_iter().map(map).collect();
    let own = mapped.into_par_iter().reduce(|| 0, u64::wrapping_add);
    let mut sum = 0;
    world.all_reduce_into(&own, &mut sum, SystemOperation::sum());
    sum
}

fn relax(above: &[f64], row: &[f64], below: &[f64], new: &mut [f64]) {
    let last = row.len() - 1;
    new[0] = row[0];
    new[last] = row[last];
    for at in 1..last {
        new[at] = 0.25 * (above[at] + below[at] + row[at - 1] + row[at + 1]);
    }
}

/// The rows of a rank, and those of its neighbours above and below.
struct Plate {
    rows: Vec<f64>,
    next: Vec<f64>,
}

impl Plate {
    fn new(size: usize, rank: usize) -> Plate {
        let rows: Vec<f64> = block(WIDTH, size, rank)
            .flat_map(|row| vec![if row == 0 { 100.0 } else { 0.0 }; WIDTH])
            .collect();
        Plate {
            next: rows.clone(),
            rows,
        }
    }

    fn inside(&mut self) {
        let (rows, last) = (&self.rows, self.rows.len() - WIDTH);
        self.next[WIDTH..last]
            .par_chunks_mut(WIDTH)
            .enumerate()
            .for_each(|(at, new)| {
                let old = &rows[at * WIDTH..];
                relax(
                    &old[..WIDTH],
                    &old[WIDTH..2 * WIDTH],
                    &old[2 * WIDTH..3 * WIDTH],
                    new,
                );
            });
    }

    fn borders(&mut self, above: Option<&[f64]>, below: Option<&[f64]>) {
        let last = self.rows.len() - WIDTH;
        if let Some(above) = above {
            relax(
                above,
                &self.rows[..WIDTH],
                &self.rows[WIDTH..2 * WIDTH],
                &mut self.next[..WIDTH],
            );
        }
        if let Some(below) = below {
            relax(
                &self.rows[last - WIDTH..last],
                &self.rows[last..],
                below,
                &mut self.next[last..],
            );
        }
        std::mem::swap(&mut self.rows, &mut self.next);
    }
}

fn hand_stencil(world: &SimpleCommunicator) -> Vec<f64> {
    let (rank, size) = (world.rank(), world.size());
    let mut plate = Plate::new(size as usize, rank as usize);
    let (mut above, mut below) = (vec![0.0; WIDTH], vec![0.0; WIDTH]);
    for _ in 0..STEPS {
        let Plate { rows, next } = &mut plate;
        let last = rows.len() - WIDTH;
        mpi::request::scope(|scope| {
            let (mut sends, mut receives) = (Vec::new(), Vec::new());
            if rank > 0 {
                let up = world.process_at_rank(rank - 1);
                receives.push(up.immediate_receive_into_with_tag(scope, &mut above[..], 1));
                sends.push(up.immediate_send_with_tag(scope, &rows[..WIDTH], 2));
            }
            if rank + 1 < size {
                let down = world.process_at_rank(rank + 1);
                receives.push(down.immediate_receive_into_with_tag(scope, &mut below[..], 2));
                sends.push(down.immediate_send_with_tag(scope, &rows[last..], 1));
            }
            let old = &rows[..];
            next[WIDTH..last]
                .par_chunks_mut(WIDTH)
                .enumerate()
                .for_each(|(at, new)| {
                    let old = &old[at * WIDTH..];
                    relax(
                        &old[..WIDTH],
                        &old[WIDTH..2 * WIDTH],
                        &old[2 * WIDTH..3 * WIDTH],
                        new,
                    );
                });
            receives.into_iter().for_each(|request| _ = request.wait());
            sends.into_iter().for_each(|request| _ = request.wait());
        });
        let above = (rank > 0).then_some(&above[..]);
        let below = (rank + 1 < size).then_some(&below[..]);
        plate.borders(above, below);
    }
    plate.rows
}

// With this crate.

async fn our_map_reduce(cluster: &Cluster) -> u64 {
    let numbers = Distributed::from_fn(cluster, MAPPED, number);
    numbers
        .par_map(map)
        .reduce(|| 0, u64::wrapping_add)
        .await
        .expect("a sum")
}

async fn our_stencil(cluster: &Cluster) -> Vec<f64> {
    let (rank, size) = (cluster.rank(), cluster.size());
    let mut plate = Plate::new(size, rank);
    let (up, down) = (rank.checked_sub(1), (rank + 1 < size).then_some(rank + 1));
    for _ in 0..STEPS {
        let last = plate.rows.len() - WIDTH;
        let above = up.map(|up| {
            (
                cluster.recv(up, 1),
                cluster.send(up, 2, plate.rows[..WIDTH].to_vec()),
            )
        });
        let below = down.map(|down| {
            (
                cluster.recv(down, 2),
                cluster.send(down, 1, plate.rows[last..].to_vec()),
            )
        });
        plate.inside();
        let mut borders = [None, None];
        for (border, pair) in borders.iter_mut().zip([above, below]) {
            if let Some((coming, sending)) = pair {
                sending.await.expect("sent");
                *border = Some(coming.await.expect("a border"));
            }
        }
        plate.borders(borders[0].as_deref(), borders[1].as_deref());
    }
    plate.rows
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn report(cluster: &Cluster, what: &str, unit: &str, ours: &mut [f64], hand: &mut [f64]) {
    if cluster.rank() == 0 {
        let (our, by_hand) = (median(ours), median(hand));
        println!(
            "{what}: {our:.2} {unit}, by hand {by_hand:.2} {unit}, ratio {:.2} (fastest {:.2} / {:.2} = {:.2})",
            our / by_hand,
            ours[0],
            hand[0],
            ours[0] / hand[0]
        );
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number_after = |flag: &str| {
        let at = words.iter().position(|word| word == flag)?;
        words.get(at + 1)?.parse::<usize>().ok()
    };
    let threads = number_after("--threads").unwrap_or(1);
    let rounds = number_after("--rounds").unwrap_or(7);
    let wanted = |name: &str| {
        words.iter().all(|word| word != "--only") || words.iter().any(|word| word == name)
    };
    Cluster::builder()
        .threads(threads)
        .run(async |cluster| {
            // Nothing is under way while the programs by hand are in MPI: nobody else enters it.
            let world = SimpleCommunicator::world();
            let (rank, size) = (cluster.rank(), cluster.size());
            if rank == 0 {
                println!(
                    "{size} ranks of {} threads, {rounds} rounds",
                    cluster.threads()
                );
            }
            let here = async || cluster.barrier().await.expect("all are here");

            if wanted("latency") {
                const CALLS: usize = 200;
                let (mut ours, mut hand) = (Vec::new(), Vec::new());
                for _ in 0..rounds * 10 {
                    here().await;
                    let start = Instant::now();
                    for _ in 0..CALLS {
                        black_box(
                            cluster
                                .all_reduce_one(1.5f64, Op::Sum)
                                .await
                                .expect("a sum"),
                        );
                    }
                    ours.push(start.elapsed().as_secs_f64() * 1e6 / CALLS as f64);
                    here().await;
                    let start = Instant::now();
                    for _ in 0..CALLS {
                        let mut sum = 0.0;
                        world.all_reduce_into(black_box(&1.5f64), &mut sum, SystemOperation::sum());
                        black_box(sum);
                    }
                    hand.push(start.elapsed().as_secs_f64() * 1e6 / CALLS as f64);
                }
                report(cluster, "all_reduce of 8 bytes", "us", &mut ours, &mut hand);
            }
            if wanted("sort") {
                let (mut ours, mut hand) = (Vec::new(), Vec::new());
                let local: Vec<u64> = block(SORTED, size, rank)
                    .into_par_iter()
                    .map(number)
                    .collect();
                for _ in 0..rounds {
                    let input = Distributed::from_local(cluster, local.clone());
                    here().await;
                    let start = Instant::now();
                    let sorted = input.sort_unstable().await.expect("sorted").into_local();
                    here().await;
                    ours.push(start.elapsed().as_secs_f64() * 1e3);
                    let input = local.clone();
                    here().await;
                    let start = Instant::now();
                    let by_hand = hand_sort(&world, input);
                    world.barrier();
                    hand.push(start.elapsed().as_secs_f64() * 1e3);
                    assert!(sorted.is_sorted() && by_hand.is_sorted());
                }
                report(cluster, "sort of 10M u64", "ms", &mut ours, &mut hand);
            }
            if wanted("map") {
                let (mut ours, mut hand) = (Vec::new(), Vec::new());
                for _ in 0..rounds {
                    here().await;
                    let start = Instant::now();
                    let sum = our_map_reduce(cluster).await;
                    ours.push(start.elapsed().as_secs_f64() * 1e3);
                    here().await;
                    let start = Instant::now();
                    let by_hand = hand_map_reduce(&world);
                    hand.push(start.elapsed().as_secs_f64() * 1e3);
                    assert_eq!(sum, by_hand);
                }
                report(cluster, "map-reduce of 8M u64", "ms", &mut ours, &mut hand);
            }
            if wanted("stencil") {
                let (mut ours, mut hand) = (Vec::new(), Vec::new());
                for _ in 0..rounds {
                    here().await;
                    let start = Instant::now();
                    let plate = our_stencil(cluster).await;
                    here().await;
                    ours.push(start.elapsed().as_secs_f64() * 1e3);
                    let start = Instant::now();
                    let by_hand = hand_stencil(&world);
                    world.barrier();
                    hand.push(start.elapsed().as_secs_f64() * 1e3);
                    assert!(plate == by_hand);
                }
                report(
                    cluster,
                    "stencil of 1024 x 1024, 100 steps",
                    "ms",
                    &mut ours,
                    &mut hand,
                );
            }
        })
        .expect("a cluster");
}
