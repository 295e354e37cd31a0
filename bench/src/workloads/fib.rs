//! Doubly recursive Fibonacci: nothing but forks, the shape in which a fork's own cost shows most.

/// Plain recursion.
pub fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    fib(n - 1) + fib(n - 2)
}

/// Forks made on the way to `fib(n)`: one per addition.
pub fn forks(n: u32) -> u64 {
    // The calls of fib(n) form a binary tree with fib(n + 1) leaves.
    let (mut current, mut next) = (0u64, 1u64);
    for _ in 0..=n {
        (current, next) = (next, current + next);
    }
    current - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_the_known_ones() {
        let values: Vec<u64> = (0..10).map(fib).collect();
        assert_eq!(values, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]);
    }

    #[test]
    fn forks_are_counted_as_additions() {
        fn additions(n: u32) -> u64 {
            if n < 2 {
                0
            } else {
                1 + additions(n - 1) + additions(n - 2)
            }
        }
        for n in 0..15 {
            assert_eq!(forks(n), additions(n), "n = {n}");
        }
    }
}
