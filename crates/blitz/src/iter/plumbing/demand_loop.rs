//! The loop behind every parallel iterator: sequential until somebody helps.
//!
//! # What it does
//!
//! 1. **Alone.** A loop begins as the plain sequential loop over a small first block, reads the clock, and goes on with
//!    blocks of growing length until it knows that enough is ahead to be worth sharing. A loop that never gets there has
//!    paid two to four readings of the clock (10 ns each). One that is known to be tiny and has nobody idle around it, as
//!    in the inner loops of nested parallel iterators, pays none.
//! 2. **Offered.** The rest is halved by `join` until a part is one block of about 8 us. The right half of each join is on
//!    offer while the left half runs; an offer that nobody takes costs about a nanosecond.
//! 3. **Taken back.** A right half that nobody took is run by the same thread after the left half, *with the same folder*
//!    ([`Consumer::resume`]): the cut leaves no trace. So there are as many folders, calls of `identity` or `init`,
//!    partial vectors and reductions as there were thieves, not as there were blocks.
//! 4. **Shared.** A half that was taken is, for its thief, a loop of its own that begins at step 2 with the known pace. Its
//!    result is reduced with the left one when both are there. Results meet in the order of their items, always.
//!
//! The cost of an item is measured anew with every block, and a jump upwards counts at once: a loop that starts cheap and
//! becomes dear is cut finer as soon as it shows. What is not yet begun is on offer anyway. A loop whose items are known
//! to be dear (some microseconds each) skips step 1, so that even its first two items run at the same time.
//!
//! Depth is logarithmic: each fork halves what is ahead.
use super::local::{Here, Local};
use super::pace::{Pace, Site, nobody_is_idle};
use super::{Consumer, Folder, Producer, UnindexedConsumer, UnindexedProducer};
use crate::engine::demand::join_context_expecting;
use crate::engine::{caller_may_take_part, hand_over};

/// A loop of at most this many items of unknown cost is offered at once: a first block of one item would already be too
/// large a part of it.
const FEW: usize = 64;

/// The first block is this part of the loop, but no longer than `FIRST_BLOCK` items.
const FIRST_PART: usize = 64;
const FIRST_BLOCK: usize = 1024;

/// An offered loop is halved at least this often: its blocks are at most a sixteenth of it, however cheap they look.
const LEVELS: u32 = 4;

/// The same for a part that was taken by another thread.
const LEVELS_SHARED: u32 = 2;

/// Runs `len` items of `producer` into `consumer`; no piece is shorter than `min`.
pub(super) fn run<P, C>(len: usize, min: usize, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if !caller_may_take_part() {
        return hand_over(|| run(len, min, producer, consumer));
    }
    if consumer.full() {
        return consumer.into_folder().complete();
    }
    if len / 2 < min {
        return producer.fold_with(consumer.into_folder()).complete();
    }
    let site = Site::of(run::<P, C> as fn(usize, usize, P, C) -> C::Result as usize);
    let pace = Pace::begin(site);
    if pace.is_known() {
        if pace.is_tiny(len as f32) && nobody_is_idle() {
            return producer.fold_with(consumer.into_folder()).complete();
        }
        if !pace.items_are_dear() {
            return alone(len, min, producer, consumer, pace);
        }
    } else if len > FEW {
        return alone(len, min, producer, consumer, pace);
    }
    let few_and_dear = pace.is_known() && len <= 8;
    let local = Local::new(if few_and_dear {
        pace.rarely_clocked()
    } else {
        pace
    });
    local.pace.start();
    offer(len, min, LEVELS, producer, consumer, &local);
    local.pace.remember();
    local.finish()
}

/// Step 1: the sequential loop in blocks, until enough is known to be ahead.
fn alone<P, C>(len: usize, min: usize, producer: P, consumer: C, pace: Pace) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let local = Local::new(pace);
    let pace = &local.pace;
    let (mut ahead, mut producer, mut consumer) = (len, producer, consumer);
    let mut block = if pace.is_known() && len < FEW {
        (len / 8).max(1)
    } else {
        (len / FIRST_PART).clamp(1, FIRST_BLOCK)
    };
    pace.start();
    while block < ahead {
        let (items, rest) = producer.split_at(block);
        let (for_items, for_rest, _) = consumer.split_at(block);
        local.feed(for_items, |folder| items.fold_with(folder));
        pace.note(block as f32);
        (producer, consumer) = (rest, for_rest);
        ahead -= block;
        if local.is_full() {
            pace.remember();
            return local.finish();
        }
        // What is done so far is a piece of its own if this thread gets no seat in the pool.
        let pieces_are_long_enough = ahead / 2 >= min && len - ahead >= min;
        if pieces_are_long_enough && pace.should_share(ahead as f32) {
            offer(ahead, min, LEVELS, producer, consumer, &local);
            pace.remember();
            return local.finish();
        }
        // The last block needs no estimate: if an eighth was cheap and the rest looks tiny, there is nothing to gain.
        block = if ahead / 7 <= len - ahead && pace.is_tiny(ahead as f32) {
            ahead
        } else {
            pace.next_block(block, ahead)
        };
    }
    local.feed(consumer, |folder| producer.fold_with(folder));
    pace.note(ahead as f32);
    pace.remember();
    local.finish()
}

/// Steps 2 and 3: halves the loop by forks; what stays on this thread goes into the folder of `local`.
fn offer<P, C>(
    len: usize,
    min: usize,
    levels: u32,
    producer: P,
    consumer: C,
    local: &Local<P::Item, C>,
) where
    P: Producer,
    C: Consumer<P::Item>,
{
    let pace = &local.pace;
    if local.is_full() || consumer.full() {
        return local.skip(consumer);
    }
    let cut = levels > 0 || !pace.is_known() || pace.is_worth_a_cut(len as f32);
    if !cut || len / 2 < min {
        local.feed(consumer, |folder| producer.fold_with(folder));
        return pace.note(len as f32);
    }
    let (site, rate, expected) = (pace.site(), pace.rate(), pace.estimate_ticks(len as f32));
    let levels = levels.saturating_sub(1);
    let middle = len / 2;
    let (consumer, spare) = local.spare_reducer(consumer);
    let (left_items, right_items) = producer.split_at(middle);
    let (left, right, reducer) = consumer.split_at(middle);
    let here = Here::new(local);
    let (left, right) = join_context_expecting(
        expected,
        move |_| match here.local() {
            Some(local) => {
                offer(middle, min, levels, left_items, left, local);
                None
            }
            None => Some(shared(middle, min, left_items, left, site, rate)),
        },
        move |_| match here.local() {
            Some(local) => {
                offer(len - middle, min, levels, right_items, right, local);
                None
            }
            None => Some(shared(len - middle, min, right_items, right, site, rate)),
        },
    );
    local.take_in(left, right, reducer, spare);
}

/// Step 4: a part that was taken by this thread.
fn shared<P, C>(
    len: usize,
    min: usize,
    producer: P,
    consumer: C,
    site: &'static Site,
    rate: f32,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let local = Local::new(Pace::at_rate(site, rate));
    local.pace.start();
    offer(len, min, LEVELS_SHARED, producer, consumer, &local);
    local.finish()
}

/// Runs a producer of unknown length into `consumer`.
///
/// The same steps, except that there is no sequential beginning: the producer must be cut before its first piece can be
/// measured. Sizes are parts of the whole, as if all cuts fell in the middle.
pub(super) fn run_unindexed<P, C>(producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    if !caller_may_take_part() {
        return hand_over(|| run_unindexed(producer, consumer));
    }
    if consumer.full() {
        return consumer.into_folder().complete();
    }
    let site = Site::of(run_unindexed::<P, C> as fn(P, C) -> C::Result as usize);
    let pace = Pace::begin(site);
    if pace.is_known() && pace.is_tiny(1.0) && nobody_is_idle() {
        return producer.fold_with(consumer.into_folder()).complete();
    }
    // The first piece to be measured is a 64th of the whole, or an eighth if the whole was short before.
    let levels = if pace.is_known() && !pace.is_worth_a_cut(1.0) {
        3
    } else {
        6
    };
    let local = Local::new(pace);
    local.pace.start();
    offer_unindexed(1.0, levels, producer, consumer, &local);
    local.pace.remember();
    local.finish()
}

/// As [`offer`], for a producer that is `part` of the whole.
fn offer_unindexed<P, C>(
    part: f32,
    levels: u32,
    producer: P,
    consumer: C,
    local: &Local<P::Item, C>,
) where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let pace = &local.pace;
    if local.is_full() || consumer.full() {
        return local.skip(consumer);
    }
    let cut = pace.is_worth_a_cut(part) || (levels > 0 && !pace.has_measured());
    let halves = if cut {
        producer.split()
    } else {
        (producer, None)
    };
    let (left_items, right_items) = match halves {
        (items, None) => {
            local.feed(consumer, |folder| items.fold_with(folder));
            return pace.note(part);
        }
        (left, Some(right)) => (left, right),
    };
    // A piece of unknown length may be endless for all we know (a search among 10^27 numbers ends only if others search
    // further on), so somebody must be awake to take the rest.
    let expected = if pace.is_known() || pace.has_measured() {
        pace.estimate_ticks(part)
    } else {
        u64::MAX
    };
    let (site, rate) = (pace.site(), pace.rate());
    let levels = levels.saturating_sub(1);
    let part = part / 2.0;
    let (spare, reducer) = (consumer.to_reducer(), consumer.to_reducer());
    let (left, right) = (consumer.split_off_left(), consumer);
    let here = Here::new(local);
    let (left, right) = join_context_expecting(
        expected,
        move |_| match here.local() {
            Some(local) => {
                offer_unindexed(part, levels, left_items, left, local);
                None
            }
            None => Some(shared_unindexed(part, left_items, left, site, rate)),
        },
        move |_| match here.local() {
            Some(local) => {
                offer_unindexed(part, levels, right_items, right, local);
                None
            }
            None => Some(shared_unindexed(part, right_items, right, site, rate)),
        },
    );
    local.take_in(left, right, reducer, Some(spare));
}

fn shared_unindexed<P, C>(
    part: f32,
    producer: P,
    consumer: C,
    site: &'static Site,
    rate: f32,
) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let local = Local::new(Pace::at_rate(site, rate));
    local.pace.start();
    offer_unindexed(part, LEVELS_SHARED, producer, consumer, &local);
    local.finish()
}
