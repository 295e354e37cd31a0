//! Every adaptor and terminal operation against `std`, with the loop cut at every place.
//!
//! `pretend` makes each loop fall apart into single items and treats right halves as taken by other threads at random, so
//! that folders are begun, resumed, completed and reduced in all the orders that a real schedule could produce.

mod adaptors;
mod results;
mod searches;
mod sources;
mod stages;

use super::plumbing::pretend;

/// Lengths around the places where cuts, chunks and strides change their minds.
const LENGTHS: [usize; 9] = [0, 1, 2, 3, 5, 8, 13, 33, 100];

/// Runs `test` under several chances of being stolen from, on pools of several sizes.
fn under_all_schedules(test: &(dyn Fn() + Sync)) {
    for (seed, chance) in [0, 20, 128, 255].into_iter().enumerate() {
        pretend::with(chance, seed as u64 * 77 + 5, test);
    }
    for threads in [1, 2, 3] {
        let pool = crate::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| pretend::with(100, threads as u64, test));
    }
}

/// The same for a list of inputs.
fn over_lengths(test: impl Fn(&[i64]) + Sync) {
    under_all_schedules(&|| {
        for len in LENGTHS {
            let items: Vec<i64> = (0..len as i64).map(|n| n * 7 % 31 - 9).collect();
            test(&items);
        }
    });
}
