//! How loom models are run: everybody gets to go first.
//!
//! Loom runs a program once in a default order (the first thread as far as it gets, then the second,
//! …) and derives from the conflicting accesses it saw which other orders are worth a run. It
//! remembers one access per location for that. If thread A only *loads* a location and thread B then
//! loads *and* stores it (as every compare-and-swap loop does), B's own load replaces A's in that
//! memory, the conflict goes unnoticed and B is never tried before A: such a model passes after a
//! single execution, whatever is wrong with the code. Seen from the other side, B first and A later,
//! the conflict is noticed, since stores are remembered apart from loads. [`race`] therefore runs a
//! model once with each thread as the first to be created, and does all that matters in created
//! threads: the main thread sets up and draws the conclusions.
//!
//! A model in which somebody sleeps for ever is a deadlock to loom, from which it cannot unwind: it
//! aborts the process, beyond the reach of `should_panic`. [`oversleeping_race`] keeps a watchdog
//! awake that makes the model endless instead, which fails in an orderly way with loom's
//! message about the "maximum number of branches".

use loom::model::Builder;
use loom::thread;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A small program: threads that race, and what must hold when they are through.
pub struct Race<R> {
    threads: Vec<Box<dyn FnOnce() -> R>>,
    verdict: Box<dyn FnOnce(Vec<R>)>,
}

impl<R: 'static> Race<R> {
    /// A race without threads yet. `verdict` gets their results in the order they were added.
    pub fn new(verdict: impl FnOnce(Vec<R>) + 'static) -> Self {
        Self {
            threads: Vec::new(),
            verdict: Box::new(verdict),
        }
    }

    /// Adds a thread.
    pub fn thread(mut self, body: impl FnOnce() -> R + 'static) -> Self {
        self.threads.push(Box::new(body));
        self
    }

    /// Draws the conclusions of a race that has no threads, in the middle of another one's.
    pub fn conclude(self) {
        (self.verdict)(Vec::new());
    }

    /// Creates the threads in the given order and waits for them.
    fn run(self, order: &[usize]) {
        let mut bodies: Vec<_> = self.threads.into_iter().map(Some).collect();
        assert_eq!(
            bodies.len(),
            order.len(),
            "a race has the same threads in every run"
        );
        let mut running: Vec<_> = order
            .iter()
            .map(|&index| (index, thread::spawn(bodies[index].take().unwrap())))
            .collect();
        running.sort_by_key(|&(index, _)| index);
        let results = running
            .into_iter()
            .map(|(_, thread)| thread.join().unwrap())
            .collect();
        (self.verdict)(results);
    }
}

/// Explores a race of `N` threads, with each of them in turn as the first.
pub fn race<const N: usize, R: 'static>(program: impl Fn() -> Race<R> + Sync + Send + 'static) {
    let program = Arc::new(program);
    for order in orders::<N>() {
        let program = program.clone();
        builder::<N>().check(move || program().run(&order));
    }
}

/// Explores a race that is expected to lose a wake-up if `program` is called with `true`; panics with
/// "maximum number of branches" if it does.
///
/// Called with `false` the program must be sound: that it passes under the watchdog shows that it is
/// the flaw, and not the watchdog, that makes the other one endless.
pub fn oversleeping_race<const N: usize, R: 'static>(
    program: impl Fn(bool) -> Race<R> + Sync + Send + 'static,
) {
    let program = Arc::new(program);
    let explore = |flawed: bool| {
        for order in orders::<N>() {
            let program = program.clone();
            builder::<N>().check(move || watched(program(flawed), &order));
        }
    };
    if catch_unwind(AssertUnwindSafe(|| explore(false))).is_err() {
        panic!("the sound program fails too");
    }
    explore(true);
}

/// Runs a race while a watchdog stays awake.
fn watched<R: 'static>(race: Race<R>, order: &[usize]) {
    // Not loom's: the watchdog is no part of the protocol.
    let through = Arc::new(AtomicBool::new(false));
    let watchdog = {
        let through = through.clone();
        thread::spawn(move || {
            while !through.load(Ordering::SeqCst) {
                thread::yield_now();
            }
        })
    };
    race.run(order);
    through.store(true, Ordering::SeqCst);
    watchdog.join().unwrap();
}

/// Three preemptions find what there is to find between two threads, two between more; beyond that
/// models take minutes. `LOOM_MAX_PREEMPTIONS` lowers the first number, or raises it.
fn builder<const N: usize>() -> Builder {
    let mut builder = Builder::new();
    let asked = builder.preemption_bound.unwrap_or(3);
    builder.preemption_bound = Some(if N > 2 { asked.min(2) } else { asked });
    builder
}

/// The rotations of `0 .. N`.
fn orders<const N: usize>() -> [[usize; N]; N] {
    std::array::from_fn(|first| std::array::from_fn(|place| (first + place) % N))
}

#[cfg(test)]
#[test]
fn loom_everybody_is_first_once() {
    assert_eq!(orders::<2>(), [[0, 1], [1, 0]]);
    assert_eq!(orders::<3>(), [[0, 1, 2], [1, 2, 0], [2, 0, 1]]);
}

/// The blind spot described above: with the reader in the main thread, loom 0.7 runs this program
/// once and sees nothing wrong.
#[test]
#[should_panic(expected = "the writer was first")]
fn loom_a_race_lets_the_writer_go_before_the_reader() {
    use crate::sync::AtomicUsize;

    race::<2, _>(|| {
        let read = Arc::new(AtomicUsize::new(0));
        let written = read.clone();
        Race::new(|seen: Vec<usize>| assert_eq!(seen[0], 0, "the writer was first"))
            .thread(move || read.load(Ordering::Relaxed))
            .thread(move || {
                written.load(Ordering::Relaxed);
                written.fetch_add(1, Ordering::Relaxed)
            })
    });
}
