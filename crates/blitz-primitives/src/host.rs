//! What a thread asks before it sleeps in a lock: whoever it works for.
//!
//! Locks and channels know of no pool and no runtime, and need none: who calls one of their `blocking_…` methods sleeps until it is woken. But if the thread is a pool's, others
//! have to take its place meanwhile, and if it is the only one that could wake itself, it must not sleep at all. And what waits for so long and no longer needs a clock that wakes
//! it. So they ask the process's [`Host`]: a table of functions, of which there is one at a time. Until somebody calls [`set`], it is one that just sleeps and has no timers.
//!
//! # Who sets it, and why one for the process is enough
//! The engine does when it makes a pool, and `blitz-io` when it builds a runtime; each always the same table. Of two the one with the higher rank counts: the runtime's, which asks
//! the engine itself.
//!
//! * *A lock is used before there is a pool or a runtime*: the calling thread belongs to none, and just sleeping is right. It still is if a runtime comes into being
//!   during the sleep: a sleeper is woken by whoever gives the lock away, and by nobody else.
//! * *The calling thread is a pool's or a runtime's*: what makes it so comes after the making of the pool or of the runtime, which comes after `set`. So it sees that host, or one
//!   that outranks it.
//! * *Two runtimes, or two pools*: they have the same functions, which find out by thread-locals where the calling thread is.
//! * *The last runtime has ended*: the host stays. No thread is in a runtime any more, so the answer is again that it may just sleep.
//!
//! Two versions of these crates in one program have a host each, as they have locks and runtimes of their own.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// Is ready when its time is over.
pub type Timer = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// Whom threads work for, as far as locks have to know.
pub struct Host {
    /// Which of two counts: the higher one.
    pub rank: u8,
    /// May the calling thread wait for others? Not if it is the one that they need. Asked whether there is something to wait for or not.
    pub may_wait: fn() -> bool,
    /// For how many ticks of the clock may the calling thread look around, in case it is woken at once, before it sleeps?
    pub patience: fn() -> u64,
    /// Calls the function, in which the calling thread sleeps until it is woken. The thread is in the midst of something; others may have to take its place.
    pub sleep: fn(&dyn Fn()),
    /// Panics if the calling thread has no timers.
    pub assert_has_timers: fn(),
    /// Makes a timer. Panics if the calling thread has none.
    pub timer: fn(Duration) -> Timer,
}

impl Host {
    /// No pool, no runtime. Others are made by replacing some of its functions.
    pub const NONE: Host = Host {
        rank: 0,
        may_wait: || true,
        patience: || 0,
        sleep: |sleep| sleep(),
        assert_has_timers: || panic!("{NO_TIMERS}"),
        timer: |_| panic!("{NO_TIMERS}"),
    };
}

const NO_TIMERS: &str =
    "there is no reactor running: a limit on the time needs the timers of a Blitz runtime";

static HOST: AtomicPtr<Host> = AtomicPtr::new((&raw const NONE).cast_mut());
static NONE: Host = Host::NONE;

/// The host is `host` from now on, unless there is one of its rank or a higher one.
pub fn set(host: &'static Host) {
    // Release: `get` hands out what the pointer points to.
    let _ = HOST.fetch_update(Ordering::Release, Ordering::Acquire, |present| {
        // SAFETY: only references that live as long as the process are stored.
        let present = unsafe { &*present };
        (present.rank < host.rank).then_some(std::ptr::from_ref(host).cast_mut())
    });
}

/// The present host.
pub fn get() -> &'static Host {
    // SAFETY: only references that live as long as the process are stored.
    unsafe { &*HOST.load(Ordering::Acquire) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_higher_rank_counts_whoever_comes_first() {
        static HIGH: Host = Host {
            rank: 9,
            may_wait: || false,
            ..Host::NONE
        };
        static LOW: Host = Host {
            rank: 8,
            ..Host::NONE
        };
        assert!((get().may_wait)());
        set(&LOW);
        assert_eq!(get().rank, 8);
        set(&HIGH);
        set(&LOW);
        assert_eq!(get().rank, 9);
        assert!(!(get().may_wait)());
    }
}
