//! Collecting an exact number of items straight into their final places.
//!
//! The target vector reserves room once. A consumer owns a window of that room; a cut of the loop cuts the window; each
//! item is written where it belongs. Nothing is copied afterwards, and results of neighbouring windows merge by adding up
//! their lengths.

mod window;

use self::window::{Filled, Window};
use super::unzip::PairConsumer;
use super::{IndexedParallelIterator, ParallelIterator};
use crate::slice::sort::raw::welcome_huge_pages;

/// Replaces the contents of `target` by the items of `iter`.
pub(super) fn collect_into_vec<I, T>(iter: I, target: &mut Vec<T>)
where
    I: IndexedParallelIterator<Item = T>,
    T: Send,
{
    target.clear();
    let len = iter.len();
    append(target, len, |window| iter.drive(window));
}

/// Appends the `len` items of `iter`, which promises that there are that many.
pub(super) fn extend_exactly<I, T>(iter: I, len: usize, target: &mut Vec<T>)
where
    I: ParallelIterator<Item = T>,
    T: Send,
{
    append(target, len, |window| iter.drive_unindexed(window));
}

/// Replaces the contents of both vectors by the halves of the pairs of `iter`.
pub(super) fn unzip_into_vecs<I, A, B>(iter: I, left: &mut Vec<A>, right: &mut Vec<B>)
where
    I: IndexedParallelIterator<Item = (A, B)>,
    A: Send,
    B: Send,
{
    left.clear();
    right.clear();
    let len = iter.len();
    append(right, len, |right_window| {
        let mut right_filled = None;
        append(left, len, |left_window| {
            let (left, right) = iter.drive(PairConsumer::new(left_window, right_window));
            right_filled = Some(right);
            left
        });
        right_filled.expect("set by the inner closure, which has run")
    });
}

/// Lets `fill` fill a window of `len` items behind the last of `target`, and takes them over.
fn append<T, F>(target: &mut Vec<T>, len: usize, fill: F)
where
    T: Send,
    F: for<'w> FnOnce(Window<'w, T>) -> Filled<'w, T>,
{
    let before = target.len();
    if target.capacity() - before < len {
        target.reserve(len);
        welcome_huge_pages(target);
    }
    let window = Window::new(&mut target.spare_capacity_mut()[..len]);
    let filled = fill(window);
    // A window is filled from the left, and results merge only if they touch. So if the number is right, the result covers
    // the window: all items are there, and they are in their places.
    let written = filled.len();
    assert!(
        written == len,
        "expected {len} total writes, but got {written}"
    );
    filled.release();
    // SAFETY: `len` items have been written to the spare room, directly behind the `before` items, and nobody else owns
    // them: `release` gave them up.
    unsafe { target.set_len(before + len) };
}
