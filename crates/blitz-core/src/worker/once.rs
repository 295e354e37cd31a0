//! Taking part in a pool's work just once, because the caller asks for it: nothing says that it may not wait for long.

use super::taking::{take_local, task_from};
use crate::seat::Seat;
use crate::steal;
use crate::task::TaskRef;

/// Runs one task or fork of the pool, whatever it is, because the caller asked for it. `false`: there was
/// none.
///
/// # Safety
/// The caller occupies the seat.
pub(crate) unsafe fn run_anything(seat: &Seat) -> bool {
    // In the order of `Worker::take_from_pool`.
    // SAFETY: passed on.
    unsafe { run_task(seat) || run_fork(seat) || run_background(seat) }
}

/// The same for a task.
///
/// # Safety
/// The caller occupies the seat.
pub(crate) unsafe fn run_task(seat: &Seat) -> bool {
    let steal = || others(seat).find_map(|victim| task_from(victim, seat));
    let injected = || seat.pool().take_injected();
    // SAFETY: passed on.
    unsafe {
        let own = take_local(seat, &mut 0);
        run_if_any(seat, own.or_else(steal).or_else(injected))
    }
}

/// Runs it, if it is one.
///
/// # Safety
/// The caller occupies the seat.
pub(crate) unsafe fn run_if_any(seat: &Seat, task: Option<TaskRef>) -> bool {
    // SAFETY: passed on.
    task.map(|task| unsafe { seat.run_task(task) }).is_some()
}

/// The same for a background task.
///
/// # Safety
/// The caller occupies the seat.
pub(crate) unsafe fn run_background(seat: &Seat) -> bool {
    // SAFETY: passed on.
    unsafe { run_if_any(seat, seat.pool().take_background()) }
}

/// The same for a fork of somebody else's.
///
/// # Safety
/// The caller occupies the seat.
pub(crate) unsafe fn run_fork(seat: &Seat) -> bool {
    let stolen = others(seat).find_map(|victim| steal::from(victim, seat));
    // SAFETY: passed on; stolen just now.
    let run = stolen.map(|(stolen, victim)| unsafe { seat.run_stolen(stolen, victim) });
    run.is_some()
}

fn others(seat: &Seat) -> impl Iterator<Item = &Seat> {
    let others = seat.pool().victims(seat.index);
    others.filter(|other| !std::ptr::eq(*other, seat))
}
