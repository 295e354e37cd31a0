//! For tests: pretends that loops are long and that their right halves are taken by others, at random.
//!
//! Whether a real thief comes depends on the scheduler and the clock. With this, every loop of the test's thread is split down to
//! single items, and each right half is treated as taken with a given chance, from a given seed. So all ways to combine
//! results are tested, and a failure can be repeated.

use std::cell::Cell;

/// A cost per item that makes every piece worth a cut.
pub(super) const RATE: f32 = 1e30;

thread_local! {
    static CHANCE: Cell<Option<u8>> = const { Cell::new(None) };
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// Runs `test` with right halves taken with a chance of `chance` in 256.
pub(crate) fn with<R>(chance: u8, seed: u64, test: impl FnOnce() -> R) -> R {
    struct Reset(Option<u8>);
    impl Drop for Reset {
        fn drop(&mut self) {
            CHANCE.set(self.0);
        }
    }
    let _reset = Reset(CHANCE.replace(Some(chance)));
    STATE.set(seed | 1);
    test()
}

pub(super) fn is_on() -> bool {
    CHANCE.get().is_some()
}

/// Is the next right half taken?
pub(super) fn elsewhere() -> bool {
    let Some(chance) = CHANCE.get() else {
        return false;
    };
    let state = STATE
        .get()
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    STATE.set(state);
    (state >> 56) as u8 <= chance && chance > 0
}
