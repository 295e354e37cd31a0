//! Feeding a block in strides: a look up now and then, without looking at every item.

use super::find::{FirstLook, LOOK_UP_AFTER};
use super::plumbing::Folder;

/// How many items make a stride, if the first ones were cheap. [`LOOK_UP_AFTER`] do if they were not.
pub(super) const STRIDE: usize = 4096;

/// Feeds the items of `iter` to `folder`. After each stride `look_up` hears how many items have passed since the last time, and
/// says whether to go on. A panic counts as the end of a stride.
#[inline]
pub(super) fn in_strides<T, F, I>(
    mut folder: F,
    mut iter: I,
    look_up: impl FnMut(usize) -> bool,
) -> F
where
    F: Folder<T>,
    I: Iterator<Item = T>,
{
    let mut stride = Stride { passed: 0, look_up };
    let mut first_look = Some(FirstLook::begin());
    let mut longest = LOOK_UP_AFTER;
    while iter.size_hint().1.is_none_or(|most| most > longest) {
        let count = |_: &T| stride.passed += 1;
        folder = folder.consume_iter(iter.by_ref().take(longest).inspect(count));
        let exhausted = stride.passed < longest;
        if exhausted || !stride.end() || folder.full() {
            return folder;
        }
        if first_look
            .take()
            .is_some_and(|look| look.finds_cheap_items())
        {
            longest = STRIDE;
        }
    }
    folder.consume_iter(iter.inspect(|_| stride.passed += 1))
}

/// Reports what has passed, also if a closure of the user's panics.
struct Stride<L>
where
    L: FnMut(usize) -> bool,
{
    passed: usize,
    look_up: L,
}

impl<L> Stride<L>
where
    L: FnMut(usize) -> bool,
{
    /// Not inlined: a compiler that sees through it makes one loop of the strides and the items in them, which it then cannot
    /// vectorise.
    #[inline(never)]
    fn end(&mut self) -> bool {
        (self.look_up)(std::mem::take(&mut self.passed))
    }
}

impl<L> Drop for Stride<L>
where
    L: FnMut(usize) -> bool,
{
    #[inline]
    fn drop(&mut self) {
        if self.passed > 0 {
            self.end();
        }
    }
}
