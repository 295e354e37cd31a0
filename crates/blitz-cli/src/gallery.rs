//! Computations to look at with `blitz profile` and `blitz trace`: each shows another shape.

use blitz::prelude::*;
use blitz_bench::arms::blitz::queens;
use blitz_bench::spin::spin;
use blitz_bench::workloads::queens::{Board, solutions};

/// A computation with a name. It checks its own result.
pub struct Example {
    /// The word on the command line.
    pub name: &'static str,
    /// What it shows.
    pub what: &'static str,
    #[cfg_attr(
        not(feature = "tools"),
        allow(dead_code, reason = "only the program with hooks runs it")
    )]
    /// Runs it once; `Err` says what was wrong.
    pub run: fn() -> Result<(), String>,
}

/// All of them.
pub const EXAMPLES: &[Example] = &[
    Example {
        name: "fib",
        what: "a fork at every call of fib(22): parallelism in the hundreds, strands of nanoseconds",
        run: || check(fib(22), 17_711),
    },
    Example {
        name: "loop",
        what: "a parallel sum over two million dear elements",
        run: || {
            let sum = (0..2_000_000_u64)
                .into_par_iter()
                .map(|i| spin(20, i) & 1)
                .sum();
            check(sum, (0..2_000_000_u64).map(|i| spin(20, i) & 1).sum())
        },
    },
    Example {
        name: "sort",
        what: "one million random numbers, sorted in parallel",
        run: || {
            let mut numbers: Vec<u64> = (0..1_000_000).map(|i| spin(3, i)).collect();
            numbers.par_sort_unstable();
            check(u64::from(numbers.is_sorted()), 1)
        },
    },
    Example {
        name: "scope",
        what: "500 tasks of a scope, of very different length",
        run: || {
            let total = std::sync::atomic::AtomicU64::new(0);
            blitz::scope(|s| {
                for task in 0..500_u64 {
                    let total = &total;
                    s.spawn(move |_| {
                        std::hint::black_box(spin(task * task / 4, task));
                        total.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    });
                }
            });
            check(total.into_inner(), 500)
        },
    },
    Example {
        name: "queens",
        what: "n-queens on a board of ten: subtrees that differ by orders of magnitude",
        run: || check(queens(Board::empty(10)), solutions(Board::empty(10))),
    },
    Example {
        name: "half",
        what: "a parallel half after a sequential one: no number of cores makes it more than twice as fast",
        run: || {
            let alone = std::hint::black_box(spin(20_000_000, 1));
            let shared: u64 = (0..2000_u64)
                .into_par_iter()
                .map(|i| spin(10_000, i) & 1)
                .sum();
            check(alone & shared, spin(20_000_000, 1) & shared)
        },
    },
];

/// The example with this name, or a message that lists all.
pub fn named(name: &str) -> Result<&'static Example, String> {
    EXAMPLES
        .iter()
        .find(|example| example.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
            format!(
                "there is no example '{name}'; there are {}",
                names.join(", ")
            )
        })
}

fn check(result: u64, expected: u64) -> Result<(), String> {
    if result == expected {
        Ok(())
    } else {
        Err(format!("wrong result: {result} instead of {expected}"))
    }
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = blitz::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_examples_are_right() {
        for name in ["fib", "scope", "queens"] {
            assert_eq!((named(name).unwrap().run)(), Ok(()), "{name}");
        }
    }

    #[test]
    fn an_unknown_example_gets_the_list() {
        let message = named("fibonacci").err().unwrap();
        assert!(
            EXAMPLES
                .iter()
                .all(|example| message.contains(example.name))
        );
    }
}
