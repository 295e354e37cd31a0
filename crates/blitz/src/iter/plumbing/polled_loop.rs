//! Loops over sources that cannot be split in advance.
//!
//! A tree that is still to be discovered has no middle where it could be split, and neither has an iterator that only knows `next`. Such a loop runs
//! its source in blocks, and checks between them. Once enough work seems to be left, and another thread is free to help, it
//! shares. How much is left is unknown. It is assumed to be as much as has been done, which is the best guess about something of
//! unknown length.
//!
//! * A source of [`Steps`] gives away the later half of what it has pending, again and again.
//! * A sequential iterator ([`pull_in_turns`]) is put behind a lock, from which every thread pulls its items.

use super::local::{Here, Local, Part};
use super::outlet::{PourPulled, take_steps};
use super::pace::{Pace, Site};
use super::{Folder, UnindexedConsumer};
use crate::engine::demand::{Within, has_work_on_offer, join_context_within};
use crate::engine::sync::locks::Mutex;
use crate::engine::{caller_may_take_part, checkpoint, current_num_threads, hand_over};
use std::cell::Cell;
use std::sync::TryLockError;

/// Shares nest inside each other, and so do their stack frames, also those of threads that take a share while they wait for one of
/// theirs.
const DEEPEST: u32 = 256;

/// Blocks stay short in items, too: the next one may wait for something, or be dear.
const LONGEST_BLOCK: usize = 256;

/// An iterator does not say how many items it has. One with dear items is taken to have as many as this.
const EXPECTED_ITEMS: f32 = 8.0;

/// A source that discovers its items step by step.
pub(crate) trait Steps: Send + Sized {
    /// What it yields.
    type Item: Send;

    /// Feeds up to `limit` items to `folder`; fewer if it is full or none is left.
    fn step<F>(&mut self, folder: F, limit: usize) -> F
    where
        F: Folder<Self::Item>;

    /// No item is left.
    fn is_done(&self) -> bool;

    /// Cuts off about half of what is pending, all of it later in order than what stays. `None` if that is not possible
    /// right now.
    fn split_off(&mut self) -> Option<Self>;
}

/// Runs a stepwise source into `consumer`.
pub(crate) fn run_steps<S, C>(steps: S, consumer: C) -> C::Result
where
    S: Steps,
    C: UnindexedConsumer<S::Item>,
{
    let (steps, consumer) = match PourPulled::LOOP {
        None => (steps, consumer),
        Some(pour) => match pour(1, steps, take_steps, consumer) {
            Ok(result) => return result,
            Err(back) => back,
        },
    };
    if !caller_may_take_part() {
        return hand_over(|| run_steps(steps, consumer));
    }
    let site = Site::of(run_steps::<S, C> as fn(S, C) -> C::Result as usize);
    let local = Local::new(Pace::at_rate(site, 0.0, 0.0));
    local.pace.start();
    step_along(steps, consumer, 1, 0, &local);
    local.pace.remember();
    local.finish()
}

/// A part that was taken by this thread.
fn run_steps_at<S, C>(
    site: &'static Site,
    rate: f32,
    steps: S,
    consumer: C,
    depth: u32,
) -> Part<C::Result>
where
    S: Steps,
    C: UnindexedConsumer<S::Item>,
{
    let local = Local::new(Pace::at_rate(site, 0.0, rate));
    local.pace.start();
    step_along(steps, consumer, 1, depth, &local);
    local.finish_part()
}

/// Goes on with `steps`, at first in a block of `block`. One part at a time is on offer: cutting another one off before somebody has
/// taken it would cost more than the steps themselves. A part that nobody has taken comes back and is gone on with here, not inside of the
/// fork: a tree that leans to its later side would nest one fork per level.
fn step_along<S, C>(
    mut steps: S,
    mut consumer: C,
    mut block: usize,
    depth: u32,
    local: &Local<S::Item, C>,
) where
    S: Steps,
    C: UnindexedConsumer<S::Item>,
{
    let pace = &local.pace;
    while !(steps.is_done() || local.is_full() || consumer.full()) {
        local.feed_more(
            || consumer.split_off_left(),
            |folder| steps.step(folder, block),
        );
        pace.note(block as f32);
        block = pace.next_block(block, LONGEST_BLOCK);
        let shares =
            depth < DEEPEST && !has_work_on_offer() && pace.should_share(pace.items_measured());
        if let Some(later) = shares.then(|| steps.split_off()).flatten() {
            let (site, rate) = (pace.site(), pace.rate());
            let expected = pace.expected_ticks(pace.items_measured());
            let (reducer, spare) = (consumer.to_reducer(), consumer.to_reducer());
            let (left, right) = (consumer.split_off_left(), consumer);
            let here = Here::new(local);
            let (left, right) = join_context_within(
                Within::NOTHING,
                expected,
                move || here.settle(),
                move |_| match here.local() {
                    Some(local) => {
                        step_along(steps, left, block, depth + 1, local);
                        None
                    }
                    None => Some(run_steps_at(site, rate, steps, left, depth + 1)),
                },
                move |_| match here.local_for_right() {
                    Some(_) => Err((later, right)),
                    None => Ok(run_steps_at(site, rate, later, right, depth + 1)),
                },
            );
            match right {
                Ok(right) => return local.take_in(left, Some(right), reducer, Some(spare)),
                Err(back) => {
                    local.take_in(left, None, reducer, Some(spare));
                    (steps, consumer) = back;
                }
            }
        }
    }
    local.skip(consumer);
}

/// Runs a sequential iterator into `consumer`; its items are processed in parallel, in no particular order.
///
/// If its items are known to be cheap, it begins as the plain loop, until sharing seems worth it. If they are dear, or nobody knows,
/// it is shared before the first item, which may take as long as all others, or wait for one of them. Every thread that comes to
/// help pulls one item at a time, never more: an item in hand must not wait for the next, which may depend on it.
///
/// # Why it does not deadlock
///
/// A thread that finds the lock taken waits for a thread inside `next`. If `next` itself uses the pool, that thread may in
/// turn wait, but only runs descendants of what it waits for, which cannot be a pull of this iterator; so it needs no
/// lock to finish. The exception is a `next` that asks for unrelated work (`yield_now`), and gets a pull. So a thread that
/// is inside any `next` never waits for a lock: if it cannot have it, it gives up pulling. Nor does it fork the pulls it got:
/// the thief of one would wait for the lock, and the fork for its thief. Whoever has the lock is still there and goes on, so
/// nothing is left over.
pub(crate) fn pull_in_turns<I, C>(iter: I, consumer: C) -> C::Result
where
    I: Iterator<Item: Send> + Send,
    C: UnindexedConsumer<I::Item>,
{
    let take = |iter: &mut I, limit| iter.by_ref().take(limit).collect();
    let (iter, consumer) = match PourPulled::LOOP {
        None => (iter, consumer),
        Some(pour) => match pour(1, iter, take, consumer) {
            Ok(result) => return result,
            Err(back) => back,
        },
    };
    if !caller_may_take_part() {
        return hand_over(|| pull_in_turns(iter, consumer));
    }
    let site = Site::of(pull_in_turns::<I, C> as fn(I, C) -> C::Result as usize);
    let known = Pace::begin(site, 0.0);
    let local = Local::new(Pace::at_rate(site, 0.0, 0.0));
    local.pace.start();
    if !known.is_known() || known.items_are_dear() {
        let expected = known.expected_ticks(EXPECTED_ITEMS);
        share_pulls(iter.fuse(), expected, consumer, &local);
    } else {
        pull_alone(iter.fuse(), consumer, &local);
    }
    local.pace.remember();
    local.finish()
}

/// The plain loop, in blocks, until sharing seems worth it.
fn pull_alone<I, C>(mut iter: I, consumer: C, local: &Local<I::Item, C>)
where
    I: Iterator<Item: Send> + Send,
    C: UnindexedConsumer<I::Item>,
{
    let pace = &local.pace;
    let mut block = 1;
    while !(local.is_full() || consumer.full()) {
        let mut pulled = 0;
        local.feed_more(
            || consumer.split_off_left(),
            |folder| folder.consume_iter(iter.by_ref().take(block).inspect(|_| pulled += 1)),
        );
        if pulled > 0 {
            pace.note(pulled as f32);
        }
        if pulled < block {
            break;
        }
        block = pace.next_block(block, LONGEST_BLOCK.max(pace.items_in_a_part()));
        if pace.should_share(pace.items_measured()) {
            let expected = pace.expected_ticks(pace.items_measured());
            return share_pulls(iter, expected, consumer, local);
        }
    }
    local.skip(consumer);
}

/// Every thread that comes to help pulls from the iterator.
fn share_pulls<I, C>(iter: I, expected: u64, consumer: C, local: &Local<I::Item, C>)
where
    I: Iterator<Item: Send> + Send,
    C: UnindexedConsumer<I::Item>,
{
    let iter = Mutex::new(iter);
    help_pull(current_num_threads(), expected, &iter, consumer, local);
}

/// Forks into `threads` pulls; into one if this thread is inside a `next`.
fn help_pull<I, C>(
    threads: usize,
    expected: u64,
    iter: &Mutex<I>,
    consumer: C,
    local: &Local<I::Item, C>,
) where
    I: Iterator<Item: Send> + Send,
    C: UnindexedConsumer<I::Item>,
{
    if threads <= 1 || INSIDE_NEXT.get() > 0 {
        let pulled = Cell::new(0.0);
        local.feed(consumer, |folder| pull(iter, folder, &pulled));
        if pulled.get() > 0.0 {
            local.pace.note(pulled.get());
        }
        return;
    }
    let half = threads / 2;
    let (reducer, spare) = (consumer.to_reducer(), consumer.to_reducer());
    let (left, right) = (consumer.split_off_left(), consumer);
    let (site, rate) = (local.pace.site(), local.pace.rate());
    let elsewhere = move |threads, consumer| {
        let local = Local::new(Pace::at_rate(site, 0.0, rate));
        help_pull(threads, expected, iter, consumer, &local);
        local.finish_part()
    };
    let here = Here::new(local);
    let (left, right) = join_context_within(
        Within::NOTHING,
        expected,
        move || here.settle(),
        move |_| match here.local() {
            Some(local) => {
                help_pull(half, expected, iter, left, local);
                None
            }
            None => Some(elsewhere(half, left)),
        },
        move |_| match here.local_for_right() {
            Some(local) => {
                help_pull(threads - half, expected, iter, right, local);
                None
            }
            None => Some(elsewhere(threads - half, right)),
        },
    );
    local.take_in(left, right, reducer, Some(spare));
}

thread_local! {
    /// How many calls of `next` of shared iterators this thread is in the middle of.
    static INSIDE_NEXT: Cell<u32> = const { Cell::new(0) };
}

/// Counts a call of `next`, also if it panics.
struct InsideNext;

impl InsideNext {
    fn enter() -> Self {
        INSIDE_NEXT.set(INSIDE_NEXT.get() + 1);
        InsideNext
    }
}

impl Drop for InsideNext {
    fn drop(&mut self) {
        INSIDE_NEXT.set(INSIDE_NEXT.get() - 1);
    }
}

/// Pulls items until none is left, the folder is full, or this thread must not wait; counts them.
fn pull<I, F>(iter: &Mutex<I>, mut folder: F, pulled: &Cell<f32>) -> F
where
    I: Iterator,
    F: Folder<I::Item>,
{
    while !folder.full() {
        let lock = match iter.try_lock() {
            Err(TryLockError::WouldBlock) if INSIDE_NEXT.get() == 0 => iter.lock().ok(),
            attempt => attempt.ok(),
        };
        // A poisoned lock means that `next` has panicked; the thread it happened on passes the panic on.
        let Some(mut iter) = lock else { break };
        let inside = InsideNext::enter();
        let item = iter.next();
        drop(inside);
        drop(iter);
        match item {
            Some(item) => {
                pulled.set(pulled.get() + 1.0);
                folder = folder.consume(item);
                checkpoint();
            }
            None => break,
        }
    }
    folder
}
