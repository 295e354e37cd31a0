//! Moving elements to the places that a sorted list of positions gives them.

use super::fork::both_moves;
use super::raw::{Scratch, Shared, copy_in_parallel};
use std::ptr;

/// Brings the element at `position(order[i])` to place `i`, for every `i`. Takes memory for `v.len()` elements; every element moves
/// twice, once at random and once in order.
///
/// # Safety
/// `order` is as long as `v`, and the positions are those of `v`, each one once.
pub(crate) unsafe fn rearrange<T, E>(
    v: &mut [T],
    order: &[E],
    position: &(impl Fn(&E) -> usize + Sync),
) where
    T: Send,
    E: Sync,
{
    debug_assert_eq!(v.len(), order.len());
    let mut scratch = Scratch::new(v.len());
    let (from, to) = (
        Shared::new(v.as_mut_ptr()),
        Shared::new(scratch.as_mut_ptr()),
    );
    // SAFETY: every element is read once, so the scratch buffer holds all of them bit by bit, each once; copying it back makes the
    // slice their owner again. Nothing in between can panic: the positions are plain numbers.
    unsafe {
        gather(from, order, to, position);
        copy_in_parallel(to, from, v.len());
    }
}

/// Copies the elements of `from` to consecutive places from `to` on, in the given order.
///
/// # Safety
/// `to` has room for `order.len()` elements, and the positions lie within what may be read from `from`.
unsafe fn gather<T, E>(
    from: Shared<T>,
    order: &[E],
    to: Shared<T>,
    position: &(impl Fn(&E) -> usize + Sync),
) where
    T: Send,
    E: Sync,
{
    /// Elements that one thread gathers alone: their places in memory are far apart, so this is some tens of microseconds.
    const GRAIN: usize = 4096;
    if order.len() <= GRAIN {
        for (i, entry) in order.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe {
                ptr::copy_nonoverlapping(from.get().add(position(entry)), to.get().add(i), 1)
            };
        }
        return;
    }
    let (near, far) = order.split_at(order.len() / 2);
    // SAFETY: the second half goes behind the first.
    let far_to = unsafe { to.add(near.len()) };
    both_moves(
        // SAFETY: the caller's promise, for the first half.
        || unsafe { gather(from, near, to, position) },
        // SAFETY: and for the second.
        || unsafe { gather(from, far, far_to, position) },
    );
}
