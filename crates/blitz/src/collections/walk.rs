//! Driving collections that cannot be entered in the middle: trees, hash tables, lists.
//!
//! Their items can only be walked from one end. To share them, they must be gathered in vectors first, and that costs about
//! as much per item as a cheap closure does. A parallel sum over a hash map would take longer than the sequential one. So, as
//! everywhere in this crate, the loop begins as the sequential one, in blocks, and reads the clock. It gathers the items that are left
//! only when
//!
//! * items take long enough that sharing them pays for gathering them,
//! * enough of them are left to be worth a wake-up, and
//! * another thread could help.
//!
//! A search that finds its item early therefore never touches the rest of the collection. Blocks grow geometrically, so there
//! are few of them and their results can be combined by plain recursion: each block is cut off the consumer by position, which
//! makes the result exactly the one of an indexed loop.

mod block;
mod movable;
mod pace;

pub(super) use movable::Movable;
pub(super) use pace::Order;

use crate::engine::demand::join_context_expecting;
use crate::engine::{caller_may_take_part, checkpoint, hand_over};
use crate::iter::plumbing::{Consumer, Folder, PourPulled, Reducer};
use crate::iter::{IndexedParallelIterator, IntoParallelIterator};
use block::Block;
use pace::Pace;

/// So few items are gathered at once: each of them may be all the work there is.
const FEW: usize = 64;

/// Of the items ahead, this part is gathered and shared before the next.
const CHUNK_PART: usize = 4;

/// Passes all items to the consumer.
pub(super) fn drive<I, C>(items: I, consumer: C, order: Order) -> C::Result
where
    I: ExactSizeIterator<Item: Send> + Send,
    C: Consumer<I::Item>,
{
    let take = |items: &mut I, limit| items.by_ref().take(limit).collect();
    let (items, consumer) = match PourPulled::LOOP {
        None => (items, consumer),
        Some(pour) => match pour(items.len(), items, take, consumer) {
            Ok(result) => return result,
            Err(back) => back,
        },
    };
    if consumer.full() {
        return consumer.into_folder().complete();
    }
    if items.len() <= FEW {
        return gather(items, consumer);
    }
    if !caller_may_take_part() {
        return hand_over(|| drive(items, consumer, order));
    }
    checkpoint();
    walk(items, consumer, 1, Pace::begin(order))
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

/// Passes a block of items to the consumer, and then the rest in the way that is best according to the clock.
fn walk<I, C>(items: I, consumer: C, block: usize, mut pace: Pace) -> C::Result
where
    I: ExactSizeIterator<Item: Send> + Send,
    C: Consumer<I::Item>,
{
    let before = items.len();
    if before <= block {
        return consumer.into_folder().consume_iter(items).complete();
    }
    let (head, tail, reducer) = consumer.split_at(block);
    let mut home = Some(items);
    let head = head.into_folder();
    let head = head.consume_iter(Block::new(&mut home, block)).complete();
    let mut items = home.expect("a block gives its iterator back");
    let done = before - items.len();
    if tail.full() {
        return reducer.reduce(head, tail.into_folder().complete());
    }
    if done < block {
        // The folder had enough before the block ended, but the tail begins behind the block nevertheless.
        items.nth(block - done - 1);
    }

    // Blocks are combined by recursion, so there are few of them: the next may take a quarter of the time so far.
    checkpoint();
    pace.note(done);
    let ahead = items.len();
    let tail = if pace.calls_for_help::<I::Item>(ahead) {
        share(items, tail, pace.estimate(ahead))
    } else {
        walk(items, tail, pace.next_block::<I::Item>(block, ahead), pace)
    };
    reducer.reduce(head, tail)
}

/// Gathers the items chunk by chunk, and shares each while the next is gathered. All of them are about `ticks` of work.
///
/// Chunks become shorter with what is ahead, so there are few, and forks can be nested.
fn share<I, C>(items: I, consumer: C, ticks: u64) -> C::Result
where
    I: ExactSizeIterator<Item: Send> + Send,
    C: Consumer<I::Item>,
{
    if !pace::is_worth_calling(ticks) || items.len() < CHUNK_PART {
        return gather(items, consumer);
    }
    let length = items.len() / CHUNK_PART;
    let mut chunk = Vec::with_capacity(length);
    let mut home = Some(items);
    Block::new(&mut home, length).for_each(|item| chunk.push(item));
    let items = home.expect("a block gives its iterator back");
    let (head, tail, reducer) = consumer.split_at(length);
    let (head, tail) = join_context_expecting(
        ticks,
        |_| chunk.into_par_iter().drive(head),
        |_| share(items, tail, ticks - ticks / CHUNK_PART as u64),
    );
    reducer.reduce(head, tail)
}
