//! The one door between the iterators and the engine.
//!
//! Everything above this file (`iter`, `slice`, `ops`, the sources) names the engine only through here, so that the
//! scheduler underneath can change without touching a single algorithm.

pub use rayon_core::{
    BroadcastContext, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPool, ThreadPoolBuildError,
    ThreadPoolBuilder, Yield, broadcast, current_num_threads, current_thread_index, in_place_scope,
    in_place_scope_fifo, join, join_context, max_num_threads, scope, scope_fifo, spawn,
    spawn_broadcast, spawn_fifo, yield_local, yield_now,
};

/// What the pool would do with more work, asked by loops that split only on demand.
pub(crate) mod demand {
    use super::FnContext;

    /// Is some thread of the current pool awake and looking for work right now?
    #[inline]
    pub(crate) fn hungry() -> bool {
        false
    }

    /// A cheap clock, in ticks of unspecified length.
    #[inline]
    pub(crate) fn ticks() -> u64 {
        use std::sync::OnceLock;
        use std::time::Instant;
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }

    /// How many [`ticks`] make a microsecond.
    #[inline]
    pub(crate) fn ticks_per_us() -> u64 {
        1000
    }

    /// Nobody is awake, somebody sleeps, and this much remaining work outlasts a wake-up.
    #[inline]
    pub(crate) fn worth_waking(remaining_ticks: u64) -> bool {
        super::current_num_threads() > 1 && remaining_ticks / ticks_per_us() > 60
    }

    /// `join_context` whose decision to wake a sleeper rests on `expected_ticks`.
    #[inline]
    pub(crate) fn join_context_expecting<A, B, RA, RB>(_expected_ticks: u64, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(FnContext) -> RA + Send,
        B: FnOnce(FnContext) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        super::join_context(a, b)
    }
}
