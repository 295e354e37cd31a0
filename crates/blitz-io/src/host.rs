//! What locks and channels ask of the runtimes before a thread sleeps in them. They are a crate of their own, `blitz-sync`, which knows of no runtime.

use crate::context;
use crate::scheduler::Shared;
use blitz_core::companion::{self, sleep_elsewhere};
use blitz_primitives::host::Host;
use std::sync::Arc;

/// For all runtimes; each sees to it that it is set before it has threads.
pub(crate) static HOST: Host = Host {
    rank: 2,
    may_wait: || !context::try_with(is_its_only_thread).unwrap_or(false),
    sleep,
    assert_has_timers: || context::with(|_| ()),
    timer: |limit| Box::pin(crate::time::sleep(limit)),
    ..companion::HOST
};

/// Does the calling thread run the tasks of a current-thread runtime? If it waited for one of them, it would wait for itself.
fn is_its_only_thread(shared: &Arc<Shared>) -> bool {
    shared.pool().is_none() && shared.my_core().is_some()
}

fn sleep(sleep: &dyn Fn()) {
    let slept = context::try_with(|shared| {
        let counts = !is_its_only_thread(shared);
        if counts {
            shared.caller_sleeps(sleep);
        }
        counts
    });
    if slept != Some(true) {
        sleep_elsewhere(sleep);
    }
}
