//! Driving collections that cannot be entered in the middle: trees, hash tables, lists.
//!
//! Their items can only be walked from one end. To share them out they must be gathered in a vector first, and that costs about
//! as much per item as a cheap closure does; a parallel sum over a hash map would take longer than the sequential one. So, as
//! everywhere in this crate, the loop begins as the sequential one, in blocks, and watches the clock. It gathers what is ahead
//! only when
//!
//! * items take long enough that sharing them pays for gathering them,
//! * enough of them are ahead to be worth a wake-up, and
//! * somebody could help.
//!
//! A search that finds its item early therefore never touches the rest of the collection. Blocks grow geometrically, so there
//! are few of them and their results can be combined by plain recursion: each block is cut off the consumer by position, which
//! makes the result exactly the one of an indexed loop.

use crate::engine::{caller_may_take_part, current_thread_index, demand, hand_over};
use crate::iter::plumbing::{Consumer, Folder, Reducer};
use crate::iter::{IndexedParallelIterator, IntoParallelIterator};

/// So few items are gathered at once: each of them may be all the work there is.
const FEW: usize = 64;

/// A block is at most this many times as long as the one before. A few cheap items prove little about the others.
const GROWTH: usize = 8;

/// Measurements of shorter blocks say more about cold caches than about the items.
const TRUSTED_US: u64 = 5;

/// A block takes about this long, or a quarter of what the loop took so far if that is longer.
const BLOCK_US: u64 = 50;

/// With less than this ahead, nobody is called for help.
const WORTH_SHARING_US: u64 = 60;

/// An iterator that may move to another thread whenever its items may.
///
/// std's exclusive iterators over maps ask for `K: Send`, although all they ever give away of a key is a shared reference, for
/// which `K: Sync` is enough.
#[derive(Debug)]
pub(super) struct Movable<I>(I);

impl<I> Movable<I> {
    /// # Safety
    ///
    /// The iterator holds nothing but the right to make its items: it does not give out, drop or otherwise use the data behind
    /// them in any other way.
    pub(super) unsafe fn new(iter: I) -> Self {
        Movable(iter)
    }
}

// SAFETY: by the promise made to `new`, moving the iterator amounts to moving the items still in it.
unsafe impl<I: Iterator<Item: Send>> Send for Movable<I> {}

impl<I: Iterator> Iterator for Movable<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, f: F) -> B {
        self.0.fold(init, f)
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Movable<I> {
    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Passes all items to the consumer.
pub(super) fn drive<I, C>(items: I, consumer: C) -> C::Result
where
    I: ExactSizeIterator<Item: Send> + Send,
    C: Consumer<I::Item>,
{
    if consumer.full() {
        return consumer.into_folder().complete();
    }
    if items.len() <= FEW {
        return gather(items, consumer);
    }
    if !caller_may_take_part() {
        return hand_over(|| drive(items, consumer));
    }
    let start = demand::ticks();
    walk(items, consumer, 1, start, start)
}

/// Puts the items into a vector and shares them out.
fn gather<I, C>(items: I, consumer: C) -> C::Result
where
    I: ExactSizeIterator<Item: Send>,
    C: Consumer<I::Item>,
{
    let items: Vec<I::Item> = items.collect();
    items.into_par_iter().drive(consumer)
}

/// Passes a block of items to the consumer, and then the rest in the way that is best according to the clock. The loop began
/// at `start`, this block begins at `now`.
fn walk<I, C>(items: I, consumer: C, block: usize, start: u64, now: u64) -> C::Result
where
    I: ExactSizeIterator<Item: Send>,
    C: Consumer<I::Item>,
{
    let before = items.len();
    if before <= block {
        return consumer.into_folder().consume_iter(items).complete();
    }
    let (head, tail, reducer) = consumer.split_at(block);
    let mut home = Some(items);
    let head = head
        .into_folder()
        .consume_iter(Block {
            home: &mut home,
            left: block,
        })
        .complete();
    let mut items = home.expect("a block gives its iterator back");
    let done = before - items.len();
    if tail.full() {
        return reducer.reduce(head, tail.into_folder().complete());
    }
    if done < block {
        // The folder had enough before the block ended, but the tail begins behind the block nevertheless.
        items.nth(block - done - 1);
    }

    let (began, now) = (now, demand::ticks());
    let pace = Pace {
        ticks: now.saturating_sub(began),
        items: done,
    };
    let tail = if pace.calls_for_help::<I::Item>(items.len()) {
        gather(items, tail)
    } else {
        let block = pace.next_block(block, items.len(), now.saturating_sub(start));
        walk(items, tail, block, start, now)
    };
    reducer.reduce(head, tail)
}

/// The next `left` items of the iterator that is at `home`.
///
/// As `by_ref().take(left)`, except that `fold` has the iterator to itself: in registers, where a loop can be as fast as one over
/// the whole collection, and not behind a reference.
struct Block<'h, I> {
    home: &'h mut Option<I>,
    left: usize,
}

impl<I: ExactSizeIterator> Iterator for Block<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.checked_sub(1)?;
        self.home.as_mut()?.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    #[inline]
    fn fold<B, F: FnMut(B, I::Item) -> B>(self, init: B, mut f: F) -> B {
        let Some(mut items) = self.home.take() else {
            return init;
        };
        let mut folded = init;
        for _ in 0..self.left {
            let Some(item) = items.next() else { break };
            folded = f(folded, item);
        }
        *self.home = Some(items);
        folded
    }
}

/// What a block has shown.
struct Pace {
    ticks: u64,
    items: usize,
}

impl Pace {
    fn is_trusted(&self) -> bool {
        self.ticks >= TRUSTED_US * demand::ticks_per_us()
    }

    /// How long `items` would take, in ticks.
    fn estimate(&self, items: usize) -> u64 {
        (self.ticks as f64 / self.items.max(1) as f64 * items as f64) as u64
    }

    /// Whether it pays to gather the items ahead and share them.
    fn calls_for_help<T>(&self, ahead: usize) -> bool {
        let ticks_per_us = demand::ticks_per_us();
        // Walking to an item, and moving it twice through memory that is probably not in a cache. With two threads, that is won
        // back when the item takes twice as long.
        let gathering_ns = 4 + size_of::<T>() as u64 / 8;
        let ahead_ticks = self.estimate(ahead);
        self.is_trusted()
            && ahead_ticks >= WORTH_SHARING_US * ticks_per_us
            && self.estimate(1000) >= 2 * gathering_ns * ticks_per_us
            // A thread outside of any pool cannot see who would help, and has to assume that somebody does.
            && (demand::hungry() || demand::worth_waking(ahead_ticks) || current_thread_index().is_none())
    }

    /// How many items make the next block.
    fn next_block(&self, block: usize, ahead: usize, elapsed: u64) -> usize {
        let longest = block.saturating_mul(GROWTH).min((ahead / 2).max(FEW));
        if !self.is_trusted() {
            return longest;
        }
        let target = (elapsed / 4).max(BLOCK_US * demand::ticks_per_us());
        let by_time = target as f64 / self.ticks as f64 * self.items as f64;
        // A float that is too large becomes the largest integer.
        (by_time as usize).clamp(1, longest)
    }
}
