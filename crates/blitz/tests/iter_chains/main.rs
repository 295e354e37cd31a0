//! Random chains of adaptors against `std`.
//!
//! A case is a number of items, a row of steps and a terminal operation, all drawn from a seed. It is run in pools of 1, 2, 3,
//! 8 and 65 threads and compared with the same case over `std` iterators. Then it is run with a panic in one call of one
//! closure: the panic must arrive, and every item must have been dropped once.
//!
//! Steps that keep positions are erased behind [`boxed::Boxed`], so that any number of them compiles once.

mod boxed;
mod case;
mod item;
mod reading;

use blitz::{ThreadPool, ThreadPoolBuilder};
use case::Case;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The tests of this file share the ledger of items, so they take turns.
fn take_turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pools() -> &'static [ThreadPool] {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    POOLS.get_or_init(|| {
        let of = |threads| ThreadPoolBuilder::new().num_threads(threads).build();
        let pools = [1, 2, 3, 8, 65].map(|threads| of(threads).unwrap());
        pools.into()
    })
}

/// Both sides of every number at which a loop, a chunk or a stride changes its mind.
const LENGTHS: [usize; 24] = [
    0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 4095,
    4097,
];

fn agree(case: &Case, pool: &ThreadPool) {
    let expected = reading::of(case);
    let got = item::nothing_stays(|| pool.install(|| case::run(case)));
    assert_eq!(got, Ok(expected), "{case:?} in {pool:?}");
}

/// Runs the case with a panic in the `nth` call of a closure. Did it come to that?
fn survive(case: &Case, pool: &ThreadPool, nth: usize) -> bool {
    let attempt = item::nothing_stays(|| {
        item::panic_at(nth, || {
            catch_unwind(AssertUnwindSafe(|| pool.install(|| case::run(case))))
        })
    });
    match attempt {
        Ok(Ok(answer)) => {
            // The loop makes fewer calls than the sequential one, because it is a search or because nothing is to be reduced.
            assert_eq!(answer, reading::of(case), "{case:?} in {pool:?}");
            false
        }
        Ok(Err(payload)) => {
            assert!(payload.is::<item::Planned>(), "{case:?}: not our panic");
            true
        }
        Err(left) => {
            panic!("{left} items left after a panic at call {nth} of {case:?} in {pool:?}")
        }
    }
}

#[test]
fn random_chains_agree_with_std() {
    let _turn = take_turn();
    for seed in 0..2000 {
        let len = LENGTHS[seed as usize % LENGTHS.len()];
        let case = Case::random(seed, len);
        agree(&case, &pools()[seed as usize % pools().len()]);
    }
}

#[test]
fn longer_chains_agree_with_std() {
    let _turn = take_turn();
    for (seed, pool) in (5000..5030).zip(pools().iter().cycle()) {
        agree(&Case::random(seed, 10_000), pool);
    }
}

#[test]
fn a_million_items_agree_with_std() {
    let _turn = take_turn();
    for (seed, pool) in (9000..9003).zip(&pools()[1..4]) {
        agree(&Case::random(seed, 1_000_000).with_steps(1), pool);
    }
}

#[test]
fn chains_with_dear_closures_are_shared_and_agree_with_std() {
    let _turn = take_turn();
    item::forget_threads();
    for (seed, pool) in (20_000..20_060).zip(pools().iter().cycle()) {
        item::make_calls_dear(true);
        agree(&Case::random(seed, 300), pool);
        item::make_calls_dear(false);
    }
    assert!(
        item::threads_seen() > 5,
        "only one thread per pool took part"
    );
}

#[test]
fn a_panic_in_any_closure_at_any_item_drops_everything_once() {
    let _turn = take_turn();
    let (mut panics, mut tries) = (0, 0);
    for seed in 30_000..30_500u64 {
        let len = [1, 2, 3, 9, 64, 100, 500, 1025][seed as usize % 8];
        let case = Case::random(seed, len);
        let calls = item::calls_in(|| reading::of(&case));
        if calls == 0 {
            continue;
        }
        item::make_calls_dear(seed % 3 == 0);
        let pool = &pools()[seed as usize % pools().len()];
        for nth in [0, calls / 3, calls / 2, calls - 1] {
            panics += usize::from(survive(&case, pool, nth));
            tries += 1;
        }
        item::make_calls_dear(false);
    }
    assert!(
        panics * 10 > tries * 9,
        "only {panics} of {tries} cases panicked"
    );
}
