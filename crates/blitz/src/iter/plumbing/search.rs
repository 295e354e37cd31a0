//! Loops that may end early: searches, and loops that stop at the first error.
//!
//! Halving a loop sends helpers far ahead. If the hit is near the beginning, all their work was in vain, and they took memory
//! bandwidth away from the thread that was about to find it. The parallel search is then slower than the plain one. So a search goes
//! from the beginning to the end in stretches. All threads share one stretch before the next one begins. Wherever the
//! hit is, all threads together have searched everything before it, and at most one stretch was in vain.
//!
//! Two things are different if *any* hit will do. Before the first stretch the loop looks once at the middle, which costs as
//! much as the first block. If hits are clustered (sorted data), that may be enough. And a loop too long to be ever
//! finished (10^27 numbers) is halved anyway, because the only hope is that other threads find something further on.

use super::demand_loop::{Bounds, LEVELS, alone, begin_offer, fold};
use super::local::Local;
use super::pace::Pace;
use super::{Consumer, Folder, Producer, Reducer};
use crate::engine::current_num_threads;
use crate::engine::demand::Parts;

/// A stretch is about this much work per thread, so that waiting for each other at its end does not count.
const STRETCH_US: f32 = 100.0;

/// The first stretches are shorter, but not shorter than this.
const SHORTEST_US: f32 = 30.0;

/// More work than this is not gone through from one end to the other.
const ENDLESS_US: f32 = 50_000.0;

/// Is there so much that the search must spread at once?
pub(super) fn is_endless<T, C: Consumer<T>>(len: usize, consumer: &C, pace: &Pace) -> bool {
    !consumer.wants_first() && pace.is_longer_than(ENDLESS_US, len as f32)
}

/// Long enough for a look at the middle not to count, known from earlier runs, and not endless.
pub(super) fn is_worth_a_look_ahead(len: usize, pace: &Pace) -> bool {
    let items = len as f32;
    pace.is_longer_than(STRETCH_US, items) && !pace.is_longer_than(ENDLESS_US, items)
}

/// The first block, then as many items in the middle, and then everything else, in order.
pub(super) fn with_look_ahead<P, C>(
    len: usize,
    block: usize,
    producer: P,
    consumer: C,
    local: Local<P::Item, C>,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let middle = len / 2;
    let (items, rest) = producer.split_at(block);
    let (for_items, for_rest, _) = consumer.split_at(block);
    let parts = Parts::of(block, 1);
    local.feed_all(parts, items, for_items);
    if local.is_full() {
        local.pace.remember();
        return local.finish();
    }
    local.pace.note(block as f32);
    let (left, right) = rest.split_at(middle - block);
    let (for_left, for_right, reducer) = for_rest.split_at(middle - block);
    let (items, right) = right.split_at(block);
    let (for_items, for_right, right_reducer) = for_right.split_at(block);
    let ahead = fold(parts, items, for_items.into_folder());
    if ahead.full() {
        return reducer.reduce(local.finish(), ahead.complete());
    }
    let ahead = ahead.complete();
    let (site, rate) = (local.pace.site(), local.pace.rate());
    local.pace.start();
    let done = alone(middle, middle - block, block, 1, left, for_left, local);
    if for_right.full() {
        return reducer.reduce(done, ahead);
    }
    let local = Local::new(Pace::at_rate(site, 0.0, rate));
    local.pace.start();
    let (behind, len) = (middle + block, len - middle - block);
    let rest = alone(behind + len, len, block, 1, right, for_right, local);
    reducer.reduce(done, right_reducer.reduce(ahead, rest))
}

/// Goes through `ahead` items behind `done` others, stretch by stretch.
pub(super) fn forward<P, C>(
    mut done: usize,
    mut ahead: usize,
    min: usize,
    mut producer: P,
    mut consumer: C,
    local: &Local<P::Item, C>,
) where
    P: Producer,
    C: Consumer<P::Item>,
{
    let bounds = Bounds::from(min);
    let threads = current_num_threads();
    loop {
        // One for each thread at least, however long an item takes: they are looked at in the same time as two.
        let in_us = |us| local.pace.items_in(us).max(1).saturating_mul(threads);
        // What may be in vain is kept in proportion to what was not.
        let stretch = (done / 2)
            .clamp(in_us(SHORTEST_US), in_us(STRETCH_US))
            .max(done / 8)
            .max(2 * min);
        if ahead / 2 < stretch {
            return begin_offer(ahead, bounds, LEVELS, producer, consumer, local);
        }
        let (items, rest) = producer.split_at(stretch);
        let (for_items, for_rest, _) = consumer.split_at(stretch);
        begin_offer(stretch, bounds, LEVELS, items, for_items, local);
        if local.is_full() || for_rest.full() {
            return;
        }
        (producer, consumer) = (rest, for_rest);
        ahead -= stretch;
        done += stretch;
    }
}
