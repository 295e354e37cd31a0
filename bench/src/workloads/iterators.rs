//! Iterator chains on identical data: each written once with std's iterators and once, by name the same, for Blitz and
//! rayon.
//!
//! The first part follows the suite that the original Blitz published against rayon; the rest are chains that
//! programs are made of. Every chain returns a number that depends on all of its results, so that nothing can be left
//! out and every arm can be compared with `seq`.

use std::hint::black_box;

/// What the chains read.
pub struct Data {
    /// `0, 1, 2 …`
    pub ints: Vec<i64>,
    /// `i % 1000`, so that sums are exact whatever the order.
    pub floats: Vec<f64>,
    /// The same integers again, cut into a thousand vectors.
    pub nested: Vec<Vec<i64>>,
    /// Lines of a few words and a number.
    pub text: String,
}

/// Elements of `Data::ints` and `Data::floats`.
pub const LARGE: usize = 10_000_000;

impl Data {
    /// Builds everything; `large` is 10 million but in tests.
    pub fn new(large: usize) -> Self {
        let ints: Vec<i64> = (0..large as i64).collect();
        let floats = (0..large).map(|i| (i % 1000) as f64).collect();
        let nested = ints
            .chunks(large.div_ceil(1000))
            .map(<[i64]>::to_vec)
            .collect();
        let text = (0..large / 50).fold(String::new(), |mut text, i| {
            text.push_str("the quick brown fox ");
            text.push_str(&(i * 7919 % 100_003).to_string());
            text.push('\n');
            text
        });
        Self {
            ints,
            floats,
            nested,
            text,
        }
    }
}

/// One chain: its name, how many elements it reads, and what it does with the first that many.
pub struct Chain {
    /// The bench's name.
    pub name: &'static str,
    /// Elements, before `Data` limits them.
    pub size: usize,
    /// Runs it.
    pub run: fn(&Data, usize) -> u64,
}

/// A value per element that is cheap and not linear, so that nothing is summed in closed form.
#[inline(always)]
pub fn scramble(value: i64) -> i64 {
    (value ^ (value >> 7)).wrapping_mul(0x5851_F42D)
}

/// Something an optimiser cannot see through, once per call and not per element.
#[inline(always)]
pub fn first<T>(values: &[T], count: usize) -> &[T] {
    black_box(&values[..count.min(values.len())])
}

/// Defines `chains()` for a library with rayon's names.
macro_rules! parallel_chains {
    ($library:ident) => {
        use std::collections::{BTreeMap, HashMap};
        use std::sync::atomic::{AtomicU64, Ordering};

        use ::$library::prelude::*;

        use $crate::workloads::iterators::{Chain, Data, first, scramble};

        fn fork_join(depth: u32) -> u64 {
            if depth == 0 {
                return 1;
            }
            let (left, right) = ::$library::join(|| fork_join(depth - 1), || fork_join(depth - 1));
            left + right
        }

        fn fib(n: u32) -> u64 {
            if n <= 20 {
                return $crate::workloads::fib::fib(n);
            }
            let (two, one) = ::$library::join(|| fib(n - 2), || fib(n - 1));
            two + one
        }

        /// Every chain, in the order of `seq::chains`.
        pub fn chains() -> Vec<Chain> {
            let chain = |name, size, run| Chain { name, size, run };
            vec![
                chain("forkjoin", (1 << 11) - 1, |_, _| fork_join(10)),
                chain("forkjoin", (1 << 16) - 1, |_, _| fork_join(15)),
                chain("forkjoin", (1 << 21) - 1, |_, _| fork_join(20)),
                chain("fib_cutoff20", 35, |_, _| fib(35)),
                chain("sum_f64", 10_000_000, |data, n| {
                    first(&data.floats, n).par_iter().sum::<f64>() as u64
                }),
                chain("find_any_early", 10_000_000, |data, n| {
                    first(&data.ints, n)
                        .par_iter()
                        .find_any(|&&x| x == 100)
                        .map_or(0, |&x| x as u64)
                }),
                chain("any_early", 10_000_000, |data, n| {
                    u64::from(first(&data.ints, n).par_iter().any(|&x| x > 100))
                }),
                chain("any_full", 10_000_000, |data, n| {
                    u64::from(first(&data.ints, n).par_iter().any(|&x| x > 99_999_999))
                }),
                chain("all_pass", 10_000_000, |data, n| {
                    u64::from(first(&data.ints, n).par_iter().all(|&x| x < 99_999_999))
                }),
                chain("chunks_1000", 10_000_000, |data, n| {
                    first(&data.ints, n)
                        .par_chunks(1000)
                        .map(|chunk| chunk.iter().sum::<i64>())
                        .sum::<i64>() as u64
                }),
                chain("min_by_key", 10_000_000, |data, n| {
                    let middle = n as i64 / 2;
                    first(&data.ints, n)
                        .par_iter()
                        .min_by_key(|&&x| (x - middle).abs())
                        .map_or(0, |&x| x as u64)
                }),
                chain("max_by_key", 10_000_000, |data, n| {
                    first(&data.ints, n)
                        .par_iter()
                        .max_by_key(|&&x| x)
                        .map_or(0, |&x| x as u64)
                }),
                chain("position_any_early", 10_000_000, |data, n| {
                    first(&data.ints, n)
                        .par_iter()
                        .position_any(|&x| x == 100)
                        .unwrap_or(0) as u64
                }),
                chain("position_any_mid", 10_000_000, |data, n| {
                    let middle = n as i64 / 2;
                    first(&data.ints, n)
                        .par_iter()
                        .position_any(|&x| x == middle)
                        .unwrap_or(0) as u64
                }),
                chain("enumerate_for_each", 10_000_000, |data, n| {
                    let wrong = AtomicU64::new(1);
                    first(&data.ints, n)
                        .par_iter()
                        .enumerate()
                        .for_each(|(i, &x)| {
                            if i as i64 != x {
                                wrong.fetch_add(1, Ordering::Relaxed);
                            }
                        });
                    wrong.into_inner()
                }),
                chain("chain_sum", 10_000_000, |data, n| {
                    let (left, right) = first(&data.ints, n).split_at(n.min(data.ints.len()) / 2);
                    left.par_iter().chain(right).sum::<i64>() as u64
                }),
                chain("zip_sum", 5_000_000, |data, n| {
                    let pairs = first(&data.ints, n).par_iter().zip(first(&data.ints, n));
                    pairs
                        .map(|(a, b)| a.wrapping_mul(*b))
                        .reduce(|| 0, i64::wrapping_add) as u64
                }),
                chain("flatten_1000", 10_000_000, |data, _| {
                    data.nested.par_iter().flatten().sum::<i64>() as u64
                }),
                // Beyond the published suite.
                chain("map_collect", 1_000, map_collect),
                chain("map_collect", 100_000, map_collect),
                chain("map_collect", 1_000_000, map_collect),
                chain("map_collect", 10_000_000, map_collect),
                chain("filter_collect", 1_000, filter_collect),
                chain("filter_collect", 100_000, filter_collect),
                chain("filter_collect", 10_000_000, filter_collect),
                chain("sum_i64", 1_000_000, sum_i64),
                chain("sum_i64", 10_000_000, sum_i64),
                chain("partition", 1_000, partition),
                chain("partition", 100_000, partition),
                chain("partition", 1_000_000, partition),
                chain("panic_fuse", 1_000_000, |data, n| {
                    first(&data.ints, n)
                        .par_iter()
                        .panic_fuse()
                        .map(|&x| scramble(x))
                        .reduce(|| 0, i64::wrapping_add) as u64
                }),
                chain("btreemap_collect", 100_000, |data, n| {
                    let map: BTreeMap<i64, i64> = first(&data.ints, n)
                        .par_iter()
                        .map(|&x| (scramble(x), x))
                        .collect();
                    map.len() as u64
                }),
                chain("par_bridge", 100_000, |data, n| {
                    first(&data.ints, n)
                        .iter()
                        .par_bridge()
                        .map(|&x| scramble(x))
                        .reduce(|| 0, i64::wrapping_add) as u64
                }),
                chain("flat_map_pairs", 100_000, |data, n| {
                    first(&data.ints, n / 2)
                        .par_iter()
                        .flat_map(|&x| (0..2i64).into_par_iter().map(move |y| scramble(x + y)))
                        .reduce(|| 0, i64::wrapping_add) as u64
                }),
                chain("flat_map", 1_000, flat_map),
                chain("flat_map", 100_000, flat_map),
                chain("flat_map_arrays", 100_000, |data, n| {
                    first(&data.ints, n / 2)
                        .par_iter()
                        .flat_map(|&x| [x, x + 1])
                        .map(scramble)
                        .reduce(|| 0, i64::wrapping_add) as u64
                }),
                chain("flat_map_collect", 100_000, |data, n| {
                    let flat: Vec<i64> = first(&data.ints, n / 10)
                        .par_iter()
                        .flat_map(|&x| (0..10i64).into_par_iter().map(move |y| scramble(x + y)))
                        .collect();
                    $crate::workloads::iterators::digest(&flat)
                }),
                chain("nested_tens", 1_000, nested_tens),
                chain("nested_tens", 100_000, nested_tens),
                chain("nested_take_5", 100, |data, n| {
                    let ints = first(&data.ints, n);
                    let inner = |&x: &i64| {
                        let few = ints.par_iter().take(5).map(|&y| scramble(x ^ y));
                        few.reduce(|| 0, i64::wrapping_add)
                    };
                    ints.par_iter().map(inner).reduce(|| 0, i64::wrapping_add) as u64
                }),
                chain("fold_vec", 100, |data, n| {
                    let pieces = first(&data.ints, n)
                        .par_iter()
                        .fold(Vec::new, |mut piece, &x| {
                            piece.push(x);
                            piece
                        });
                    pieces.map(|piece: Vec<i64>| piece.len() as u64).sum()
                }),
                chain("collect_result", 100, |data, n| {
                    let checked = first(&data.ints, n)
                        .par_iter()
                        .map(|&x| i64::checked_add(x, 1).ok_or(()));
                    let all: Result<Vec<i64>, ()> = checked.collect();
                    $crate::workloads::iterators::digest(&all.expect("small numbers"))
                }),
                chain("flat_map_iter", 100_000, |data, n| {
                    first(&data.ints, n / 10)
                        .par_iter()
                        .flat_map_iter(|&x| (0..10i64).map(move |y| scramble(x + y)))
                        .reduce(|| 0, i64::wrapping_add) as u64
                }),
                chain("nested_par_iter", 1_000_000, |data, n| {
                    let rows: Vec<&[i64]> = first(&data.ints, n).chunks(1000).collect();
                    rows.par_iter()
                        .map(|row| {
                            row.par_iter()
                                .map(|&x| scramble(x))
                                .reduce(|| 0, i64::wrapping_add)
                        })
                        .reduce(|| 0, i64::wrapping_add) as u64
                }),
                chain("dot", 100_000, dot),
                chain("dot", 10_000_000, dot),
                chain("windows_3", 1_000_000, |data, n| {
                    first(&data.ints, n)
                        .par_windows(3)
                        .map(|w| scramble(w[0] + w[1] * w[2]))
                        .reduce(|| 0, i64::wrapping_add) as u64
                }),
                chain("find_first_early", 10_000_000, |data, n| {
                    first(&data.ints, n)
                        .par_iter()
                        .find_first(|&&x| x == 100)
                        .map_or(0, |&x| x as u64)
                }),
                chain("find_first_quarter", 10_000_000, |data, n| {
                    let quarter = n as i64 / 4;
                    first(&data.ints, n)
                        .par_iter()
                        .find_first(|&&x| x == quarter)
                        .map_or(0, |&x| x as u64)
                }),
                chain("find_first_mid", 10_000_000, |data, n| {
                    let middle = n as i64 / 2;
                    first(&data.ints, n)
                        .par_iter()
                        .find_first(|&&x| x == middle)
                        .map_or(0, |&x| x as u64)
                }),
                chain("find_first_none", 10_000_000, |data, n| {
                    first(&data.ints, n)
                        .par_iter()
                        .find_first(|&&x| x < 0)
                        .map_or(7, |&x| x as u64)
                }),
                chain("any_quarter", 10_000_000, |data, n| {
                    let quarter = n as i64 / 4;
                    u64::from(first(&data.ints, n).par_iter().any(|&x| x == quarter))
                }),
                chain("hashmap_collect", 100_000, |data, n| {
                    let map: HashMap<i64, i64> = first(&data.ints, n)
                        .par_iter()
                        .map(|&x| (scramble(x), x))
                        .collect();
                    map.len() as u64
                }),
                chain("string_lines", 200_000, |data, _| {
                    data.text
                        .par_lines()
                        .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
                        .sum::<u64>()
                }),
            ]
        }

        /// A sum of cheap elements.
        pub fn sum(values: &[u64]) -> u64 {
            values.par_iter().sum()
        }

        /// A sum of elements that each take as many steps as they say.
        pub fn spin_all(steps: &[u64]) -> u64 {
            let values = steps
                .par_iter()
                .map(|&steps| $crate::spin::spin(steps, steps));
            values.reduce(|| 0, u64::wrapping_add)
        }

        /// Loops over these values in a loop of `outer`.
        pub fn nested(outer: u64, values: &[u64]) -> u64 {
            let inner = |x: u64| values.par_iter().map(|y| x ^ y).sum::<u64>();
            (0..outer).into_par_iter().map(inner).sum()
        }

        /// Twice each value.
        pub fn double(from: &[f64], to: &mut [f64]) {
            to.par_iter_mut()
                .zip(from)
                .for_each(|(to, from)| *to = 2.0 * from);
        }

        /// Those in one more loop of `outer`.
        pub fn three_deep(outer: u64, values: &[u64]) -> u64 {
            let middle = |x: u64| nested(outer, values) ^ x;
            (0..outer).into_par_iter().map(middle).sum()
        }

        /// The same, of ranges that take `cut` steps to be cut in two.
        pub fn spin_all_cut_by_hand<'a>(steps: &'a [u64], cut: u64) -> u64 {
            let halves = |steps: &'a [u64]| -> (&'a [u64], Option<&'a [u64]>) {
                if steps.len() < 2 {
                    return (steps, None);
                }
                std::hint::black_box($crate::spin::spin(cut, cut));
                let (left, right) = steps.split_at(steps.len() / 2);
                (left, Some(right))
            };
            let spin_part = |steps: &[u64]| {
                let values = steps.iter().map(|&steps| $crate::spin::spin(steps, steps));
                values.fold(0, u64::wrapping_add)
            };
            let parts = ::$library::iter::split(steps, halves).map(spin_part);
            parts.reduce(|| 0, u64::wrapping_add)
        }

        /// Sorts doubles, not stably.
        pub fn sort_unstable(values: &mut [f64]) {
            values.par_sort_unstable_by(f64::total_cmp);
        }

        fn map_collect(data: &Data, n: usize) -> u64 {
            let mapped: Vec<i64> = first(&data.ints, n)
                .par_iter()
                .map(|&x| scramble(x))
                .collect();
            $crate::workloads::iterators::digest(&mapped)
        }

        fn sum_i64(data: &Data, n: usize) -> u64 {
            first(&data.ints, n).par_iter().sum::<i64>() as u64
        }

        fn partition(data: &Data, n: usize) -> u64 {
            let even = |x: &i64| scramble(*x) & 1 == 0;
            let ints = first(&data.ints, n).par_iter().copied();
            let (even, odd): (Vec<i64>, Vec<i64>) = ints.partition(even);
            $crate::workloads::iterators::digest(&even)
                ^ $crate::workloads::iterators::digest(&odd).rotate_left(1)
        }

        fn flat_map(data: &Data, n: usize) -> u64 {
            first(&data.ints, n / 10)
                .par_iter()
                .flat_map(|&x| (0..10i64).into_par_iter().map(move |y| scramble(x + y)))
                .reduce(|| 0, i64::wrapping_add) as u64
        }

        fn nested_tens(data: &Data, n: usize) -> u64 {
            let ten = |&x: &i64| {
                let values = (0..10i64).into_par_iter().map(|y| scramble(x + y));
                values.reduce(|| 0, i64::wrapping_add)
            };
            let outer = first(&data.ints, n / 10).par_iter();
            outer.map(ten).reduce(|| 0, i64::wrapping_add) as u64
        }

        /// N-queens with a loop over all columns at every board.
        pub fn queens_in_loops(board: $crate::workloads::queens::Board) -> u64 {
            if board.is_complete() {
                return 1;
            }
            let free = board.free_columns();
            (0..32)
                .into_par_iter()
                .filter(|column| free >> column & 1 == 1)
                .map(|column| queens_in_loops(board.place(1 << column)))
                .sum()
        }

        fn filter_collect(data: &Data, n: usize) -> u64 {
            let even = |x: &i64| scramble(*x) & 1 == 0;
            let kept: Vec<i64> = first(&data.ints, n)
                .par_iter()
                .copied()
                .filter(even)
                .collect();
            $crate::workloads::iterators::digest(&kept)
        }

        fn dot(data: &Data, n: usize) -> u64 {
            let (a, b) = (first(&data.floats, n), first(&data.floats, n));
            a.par_iter().zip(b).map(|(a, b)| a * b).sum::<f64>() as u64
        }
    };
}
pub(crate) use parallel_chains;

/// A number that says whether a collected vector is right: its length, ends and middle. Summing all of it would take as
/// long as collecting; the order of elements is the tests' business.
pub fn digest(values: &[i64]) -> u64 {
    let at = |index: usize| values.get(index).copied().unwrap_or(0) as u64;
    let middle = at(values.len() / 2);
    let last = at(values.len().wrapping_sub(1));
    (values.len() as u64).wrapping_mul(31) ^ at(0).rotate_left(7) ^ middle.rotate_left(19) ^ last
}

/// The chains as plain code.
pub mod seq {
    use std::collections::{BTreeMap, HashMap};

    use super::{Chain, Data, black_box, digest, first, scramble};
    use crate::workloads::fib::fib;
    use crate::workloads::queens::Board;

    fn fork_join(depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        black_box(fork_join(depth - 1)) + fork_join(depth - 1)
    }

    /// Every chain, in the order of the libraries'.
    #[allow(
        clippy::manual_contains,
        reason = "the same closures as for the libraries"
    )]
    pub fn chains() -> Vec<Chain> {
        let chain = |name, size, run| Chain { name, size, run };
        vec![
            chain("forkjoin", (1 << 11) - 1, |_, _| fork_join(10)),
            chain("forkjoin", (1 << 16) - 1, |_, _| fork_join(15)),
            chain("forkjoin", (1 << 21) - 1, |_, _| fork_join(20)),
            chain("fib_cutoff20", 35, |_, _| fib(black_box(35))),
            chain("sum_f64", 10_000_000, |data, n| {
                first(&data.floats, n).iter().sum::<f64>() as u64
            }),
            chain("find_any_early", 10_000_000, |data, n| {
                let found = first(&data.ints, n).iter().find(|&&x| x == 100);
                found.map_or(0, |&x| x as u64)
            }),
            chain("any_early", 10_000_000, |data, n| {
                u64::from(first(&data.ints, n).iter().any(|&x| x > 100))
            }),
            chain("any_full", 10_000_000, |data, n| {
                u64::from(first(&data.ints, n).iter().any(|&x| x > 99_999_999))
            }),
            chain("all_pass", 10_000_000, |data, n| {
                u64::from(first(&data.ints, n).iter().all(|&x| x < 99_999_999))
            }),
            chain("chunks_1000", 10_000_000, |data, n| {
                let sums = first(&data.ints, n).chunks(1000);
                sums.map(|chunk| chunk.iter().sum::<i64>()).sum::<i64>() as u64
            }),
            chain("min_by_key", 10_000_000, |data, n| {
                let middle = n as i64 / 2;
                let least = first(&data.ints, n)
                    .iter()
                    .min_by_key(|&&x| (x - middle).abs());
                least.map_or(0, |&x| x as u64)
            }),
            chain("max_by_key", 10_000_000, |data, n| {
                let most = first(&data.ints, n).iter().max_by_key(|&&x| x);
                most.map_or(0, |&x| x as u64)
            }),
            chain("position_any_early", 10_000_000, |data, n| {
                let place = first(&data.ints, n).iter().position(|&x| x == 100);
                place.unwrap_or(0) as u64
            }),
            chain("position_any_mid", 10_000_000, |data, n| {
                let middle = n as i64 / 2;
                let place = first(&data.ints, n).iter().position(|&x| x == middle);
                place.unwrap_or(0) as u64
            }),
            chain("enumerate_for_each", 10_000_000, |data, n| {
                let mut wrong = 1;
                first(&data.ints, n).iter().enumerate().for_each(|(i, &x)| {
                    if i as i64 != x {
                        wrong += 1;
                    }
                });
                wrong
            }),
            chain("chain_sum", 10_000_000, |data, n| {
                let (left, right) = first(&data.ints, n).split_at(n.min(data.ints.len()) / 2);
                left.iter().chain(right).sum::<i64>() as u64
            }),
            chain("zip_sum", 5_000_000, |data, n| {
                let pairs = first(&data.ints, n).iter().zip(first(&data.ints, n));
                pairs.fold(0i64, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(*b))) as u64
            }),
            chain("flatten_1000", 10_000_000, |data, _| {
                data.nested.iter().flatten().sum::<i64>() as u64
            }),
            chain("map_collect", 1_000, map_collect),
            chain("map_collect", 100_000, map_collect),
            chain("map_collect", 1_000_000, map_collect),
            chain("map_collect", 10_000_000, map_collect),
            chain("filter_collect", 1_000, filter_collect),
            chain("filter_collect", 100_000, filter_collect),
            chain("filter_collect", 10_000_000, filter_collect),
            chain("sum_i64", 1_000_000, sum_i64),
            chain("sum_i64", 10_000_000, sum_i64),
            chain("partition", 1_000, partition),
            chain("partition", 100_000, partition),
            chain("partition", 1_000_000, partition),
            chain("panic_fuse", 1_000_000, sum_scrambled),
            chain("btreemap_collect", 100_000, |data, n| {
                let pairs = first(&data.ints, n).iter().map(|&x| (scramble(x), x));
                pairs.collect::<BTreeMap<i64, i64>>().len() as u64
            }),
            chain("par_bridge", 100_000, sum_scrambled),
            chain("flat_map_pairs", 100_000, |data, n| {
                let values = first(&data.ints, n / 2).iter();
                let values = values.flat_map(|&x| (0..2i64).map(move |y| scramble(x + y)));
                values.fold(0i64, i64::wrapping_add) as u64
            }),
            chain("flat_map", 1_000, flat_map),
            chain("flat_map", 100_000, flat_map),
            chain("flat_map_arrays", 100_000, |data, n| {
                let values = first(&data.ints, n / 2).iter();
                let values = values.flat_map(|&x| [x, x + 1]).map(scramble);
                values.fold(0i64, i64::wrapping_add) as u64
            }),
            chain("flat_map_collect", 100_000, |data, n| {
                let values = first(&data.ints, n / 10).iter();
                let values = values.flat_map(|&x| (0..10i64).map(move |y| scramble(x + y)));
                digest(&values.collect::<Vec<i64>>())
            }),
            chain("nested_tens", 1_000, nested_tens),
            chain("nested_tens", 100_000, nested_tens),
            chain("nested_take_5", 100, |data, n| {
                let ints = first(&data.ints, n);
                let inner = |&x: &i64| {
                    let few = ints.iter().take(5);
                    few.fold(0i64, |sum, &y| sum.wrapping_add(scramble(x ^ y)))
                };
                ints.iter().map(inner).fold(0, i64::wrapping_add) as u64
            }),
            chain("fold_vec", 100, |data, n| {
                let ints = first(&data.ints, n).iter();
                let all: Vec<i64> = ints.fold(Vec::new(), |mut all, &x| {
                    all.push(x);
                    all
                });
                all.len() as u64
            }),
            chain("collect_result", 100, |data, n| {
                let checked = first(&data.ints, n)
                    .iter()
                    .map(|&x| i64::checked_add(x, 1).ok_or(()));
                let all: Result<Vec<i64>, ()> = checked.collect();
                digest(&all.expect("small numbers"))
            }),
            chain("flat_map_iter", 100_000, flat_map),
            chain("nested_par_iter", 1_000_000, sum_scrambled),
            chain("dot", 100_000, dot),
            chain("dot", 10_000_000, dot),
            chain("windows_3", 1_000_000, |data, n| {
                let windows = first(&data.ints, n).windows(3);
                let values = windows.map(|w| scramble(w[0] + w[1] * w[2]));
                values.fold(0i64, i64::wrapping_add) as u64
            }),
            chain("find_first_early", 10_000_000, |data, n| {
                let found = first(&data.ints, n).iter().find(|&&x| x == 100);
                found.map_or(0, |&x| x as u64)
            }),
            chain("find_first_quarter", 10_000_000, |data, n| {
                let quarter = n as i64 / 4;
                let found = first(&data.ints, n).iter().find(|&&x| x == quarter);
                found.map_or(0, |&x| x as u64)
            }),
            chain("find_first_mid", 10_000_000, |data, n| {
                let middle = n as i64 / 2;
                let found = first(&data.ints, n).iter().find(|&&x| x == middle);
                found.map_or(0, |&x| x as u64)
            }),
            chain("find_first_none", 10_000_000, |data, n| {
                let found = first(&data.ints, n).iter().find(|&&x| x < 0);
                found.map_or(7, |&x| x as u64)
            }),
            chain("any_quarter", 10_000_000, |data, n| {
                let quarter = n as i64 / 4;
                u64::from(first(&data.ints, n).iter().any(|&x| x == quarter))
            }),
            chain("hashmap_collect", 100_000, |data, n| {
                let pairs = first(&data.ints, n).iter().map(|&x| (scramble(x), x));
                pairs.collect::<HashMap<i64, i64>>().len() as u64
            }),
            chain("string_lines", 200_000, |data, _| {
                let numbers = data.text.lines();
                let numbers =
                    numbers.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
                numbers.sum::<u64>()
            }),
        ]
    }

    fn map_collect(data: &Data, n: usize) -> u64 {
        let mapped: Vec<i64> = first(&data.ints, n).iter().map(|&x| scramble(x)).collect();
        digest(&mapped)
    }

    fn sum_i64(data: &Data, n: usize) -> u64 {
        first(&data.ints, n).iter().sum::<i64>() as u64
    }

    fn sum_scrambled(data: &Data, n: usize) -> u64 {
        let values = first(&data.ints, n).iter();
        values.fold(0i64, |sum, &x| sum.wrapping_add(scramble(x))) as u64
    }

    fn partition(data: &Data, n: usize) -> u64 {
        let even = |x: &i64| scramble(*x) & 1 == 0;
        let ints = first(&data.ints, n).iter().copied();
        let (even, odd): (Vec<i64>, Vec<i64>) = ints.partition(even);
        digest(&even) ^ digest(&odd).rotate_left(1)
    }

    fn nested_tens(data: &Data, n: usize) -> u64 {
        let ten = |&x: &i64| {
            let values = (0..10i64).map(|y| scramble(x + y));
            values.fold(0, i64::wrapping_add)
        };
        let outer = first(&data.ints, n / 10).iter();
        outer.map(ten).fold(0, i64::wrapping_add) as u64
    }

    /// N-queens with a loop over all columns at every board.
    pub fn queens_in_loops(board: Board) -> u64 {
        if board.is_complete() {
            return 1;
        }
        let free = board.free_columns();
        (0..32)
            .filter(|column| free >> column & 1 == 1)
            .map(|column| queens_in_loops(board.place(1 << column)))
            .sum()
    }

    fn filter_collect(data: &Data, n: usize) -> u64 {
        let even = |x: &i64| scramble(*x) & 1 == 0;
        let kept: Vec<i64> = first(&data.ints, n).iter().copied().filter(even).collect();
        digest(&kept)
    }

    fn flat_map(data: &Data, n: usize) -> u64 {
        let values = first(&data.ints, n / 10).iter();
        let values = values.flat_map(|&x| (0..10i64).map(move |y| scramble(x + y)));
        values.fold(0i64, i64::wrapping_add) as u64
    }

    fn dot(data: &Data, n: usize) -> u64 {
        let (a, b) = (first(&data.floats, n), first(&data.floats, n));
        a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::{blitz, rayon};

    #[test]
    fn the_chains_of_every_library_agree_with_the_sequential_ones() {
        let data = Data::new(20_000);
        let libraries = [blitz::iterators::chains(), rayon::iterators::chains()];
        for (index, seq) in seq::chains().into_iter().enumerate() {
            // The recursive ones take no data and would take long in a debug build.
            if seq.name == "forkjoin" && seq.size > 100_000 || seq.name == "fib_cutoff20" {
                continue;
            }
            let size = seq.size.min(20_000);
            let expected = (seq.run)(&data, size);
            for chains in &libraries {
                assert_eq!(chains[index].name, seq.name);
                assert_eq!(chains[index].size, seq.size);
                assert_eq!((chains[index].run)(&data, size), expected, "{}", seq.name);
            }
        }
        assert!(
            libraries
                .iter()
                .all(|chains| chains.len() == seq::chains().len())
        );
    }

    #[test]
    fn a_digest_sees_length_and_ends() {
        assert_ne!(digest(&[1, 2, 3]), digest(&[1, 2, 4]));
        assert_ne!(digest(&[1, 2, 3]), digest(&[0, 2, 3]));
        assert_ne!(digest(&[1, 2, 3]), digest(&[1, 2]));
        assert_eq!(digest(&[]), digest(&[]));
    }
}
