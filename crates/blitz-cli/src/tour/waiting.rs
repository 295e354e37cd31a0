//! Promise 2, live: something held across a parallel call.
//!
//! Each task of a scope marks its thread as held (think of a lock, a `RefCell` borrow, a thread-local), forks, and releases it. A
//! thread that waits for its stolen half and meanwhile runs *another* of the tasks finds its own mark: with a lock that would
//! be a deadlock. The tasks count how often that happens, and how deep they pile up on one stack.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Tasks per library.
pub const TASKS: u64 = 500;
const HALF: Duration = Duration::from_micros(200);
const THREADS: usize = 4;

thread_local! {
    static HELD: Cell<u64> = const { Cell::new(0) };
}

/// What the tasks have seen.
#[derive(Debug, Default)]
pub struct Seen {
    finished: AtomicU64,
    met_themselves: AtomicU64,
    deepest: AtomicU64,
}

impl Seen {
    /// How many tasks ran on a thread that another of them had left waiting.
    pub fn met_themselves(&self) -> u64 {
        self.met_themselves.load(Ordering::Relaxed)
    }

    /// How many tasks were on one stack at the same time, at most.
    pub fn deepest(&self) -> u64 {
        self.deepest.load(Ordering::Relaxed)
    }

    /// Did all tasks run?
    pub fn is_complete(&self) -> bool {
        self.finished.load(Ordering::Relaxed) == TASKS
    }

    fn task<R>(&self, fork: impl FnOnce() -> R) {
        let depth = HELD.get() + 1;
        HELD.set(depth);
        if depth > 1 {
            self.met_themselves.fetch_add(1, Ordering::Relaxed);
        }
        self.deepest.fetch_max(depth, Ordering::Relaxed);
        fork();
        HELD.set(depth - 1);
        self.finished.fetch_add(1, Ordering::Relaxed);
    }
}

/// The program on Blitz.
pub fn on_blitz() -> Result<Seen, String> {
    let pool = blitz::ThreadPoolBuilder::new().num_threads(THREADS).build();
    let pool = pool.map_err(|error| error.to_string())?;
    let seen = Seen::default();
    pool.scope(|scope| {
        for _ in 0..TASKS {
            scope.spawn(|_| seen.task(|| blitz::join(busy, busy)));
        }
    });
    Ok(seen)
}

/// The same program on rayon.
pub fn on_rayon() -> Result<Seen, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build();
    let pool = pool.map_err(|error| error.to_string())?;
    let seen = Seen::default();
    pool.scope(|scope| {
        for _ in 0..TASKS {
            scope.spawn(|_| seen.task(|| rayon::join(busy, busy)));
        }
    });
    Ok(seen)
}

/// Blocks for long enough that another thread takes the other half, however few CPUs there are.
fn busy() {
    std::thread::sleep(HALF);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_task_of_blitz_meets_another_on_its_stack() {
        let seen = on_blitz().unwrap();
        assert!(seen.is_complete());
        assert_eq!((seen.met_themselves(), seen.deepest()), (0, 1));
    }

    #[test]
    fn the_program_runs_to_its_end_on_rayon_too() {
        let seen = on_rayon().unwrap();
        println!("rayon: {seen:?}");
        assert!(seen.is_complete());
    }
}
