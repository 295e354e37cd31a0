//! The same loop as `demand_loop.rs`, for producers of unknown length: those that can only be cut where they say.
//!
//! The same steps, except that there is no sequential beginning: the producer must be cut before its first piece can be
//! measured. Sizes are parts of the whole, as if all cuts fell in the middle.

use super::local::{Here, Local, Part};
use super::pace::{Pace, Site, is_still_short, is_tiny};
use super::{Folder, UnindexedConsumer, UnindexedProducer};
use crate::engine::demand::{Within, join_context_within};
use crate::engine::rules::LOOP_LEVELS_SHARED as LEVELS_SHARED;
use crate::engine::{caller_may_take_part, checkpoint, hand_over};

/// Runs a producer of unknown length into `consumer`.
///
/// The whole is `size`, in a unit that means the same in every run of this loop (bytes of a text, say), or 1 if nothing is known.
pub(super) fn run_unindexed<P, C>(size: f32, producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    if !caller_may_take_part() {
        return run_unindexed_elsewhere(size, producer, consumer);
    }
    if consumer.full() {
        return consumer.into_folder().complete();
    }
    checkpoint();
    let site = Site::of(run_unindexed::<P, C> as fn(f32, P, C) -> C::Result as usize);
    #[cfg(test)]
    if super::pretend::is_on() {
        let rate = super::pretend::RATE;
        return shared_unindexed(1.0, producer, consumer, site, rate, Within::NOTHING).0;
    }
    let local = Local::new(Pace::begin(site, size));
    let pace = &local.pace;
    pace.start();
    if pace.is_known() && !pace.is_worth_a_cut(size) {
        short_unindexed(size, producer, consumer, &local);
    } else {
        // The first piece to be measured is a 64th of the whole.
        local.in_loop(|| offer_unindexed(size, 6, producer, consumer, &local));
    }
    pace.remember();
    local.finish()
}

/// Hands the loop over to a thread of the pool, as `demand_loop::begin_elsewhere` does.
#[cold]
#[inline(never)]
fn run_unindexed_elsewhere<P, C>(size: f32, producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    hand_over(|| run_unindexed(size, producer, consumer))
}

/// As `demand_loop::short`: a whole that has been short before. It is cut into so few parts at most, each of the later ones twice as long as the one before.
const SHORT_CUTS: usize = 4;

fn short_unindexed<P, C>(size: f32, producer: P, consumer: C, local: &Local<P::Item, C>)
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let pace = &local.pace;
    let is_as_tiny = || pace.has_measured() && is_tiny(pace.rate() * size);
    // What was measured may have been another whole than the one at hand, if nothing is known about sizes. Then the first part is small.
    let cuts = if size > 1.0 { 2 } else { SHORT_CUTS };
    let (mut first, mut part) = (producer, size);
    let mut later = [const { None }; SHORT_CUTS];
    let mut ahead = 0;
    while ahead < cuts {
        let (items, rest) = first.split();
        first = items;
        if rest.is_none() {
            break;
        }
        later[ahead] = rest;
        ahead += 1;
        part /= 2.0;
    }
    let mut items = first;
    let mut done = 0.0;
    loop {
        local.feed_more(
            || consumer.split_off_left(),
            |folder| items.fold_with(folder),
        );
        if !is_as_tiny() {
            pace.note(part);
        }
        done += part;
        if ahead == 0 || local.is_full() || consumer.full() {
            break;
        }
        if !is_still_short(pace.rate() * size) {
            let ahead = Ahead::of(&mut later[..ahead]);
            local.in_loop(|| offer_unindexed(size - done, 0, ahead, consumer, local));
            return;
        }
        if done > part {
            part *= 2.0;
        }
        ahead -= 1;
        items = later[ahead].take().expect("it was cut off");
    }
    let unseen = size - pace.items_measured();
    if unseen > 0.0 && !local.is_full() {
        pace.note(unseen);
    }
}

/// What is ahead of a loop that began as a [short](short_unindexed) one, and is not: parts, each of which is as long as all those before it together. So they are all offered at
/// once; one after the other would take as many rounds.
struct Ahead<P> {
    first: P,
    /// The last one first.
    later: Vec<P>,
}

impl<P> Ahead<P> {
    /// The last one first; there is one.
    fn of(parts: &mut [Option<P>]) -> Self {
        let mut later: Vec<P> = parts.iter_mut().filter_map(Option::take).collect();
        let first = later.pop().expect("there is a part ahead");
        Ahead { first, later }
    }
}

impl<P> UnindexedProducer for Ahead<P>
where
    P: UnindexedProducer,
{
    type Item = P::Item;

    fn split(mut self) -> (Self, Option<Self>) {
        let alone = |first| Ahead {
            first,
            later: Vec::new(),
        };
        if self.later.is_empty() {
            let (left, right) = self.first.split();
            return (alone(left), right.map(alone));
        }
        let last = self.later.remove(0);
        (self, Some(alone(last)))
    }

    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        let mut folder = self.first.fold_with(folder);
        for part in self.later.into_iter().rev() {
            if folder.full() {
                break;
            }
            folder = part.fold_with(folder);
        }
        folder
    }
}

/// As `demand_loop::offer`, for a producer that is `part` of the whole.
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
    let cut = pace.is_worth_a_fork(part) || (levels > 0 && !pace.has_measured());
    let halves = if cut {
        let halves = producer.split();
        pace.note_cut();
        halves
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
    let (site, rate, expected) = (pace.site(), pace.rate(), pace.expected_ticks(part));
    let levels = levels.saturating_sub(1);
    let part = part / 2.0;
    let (spare, reducer) = (consumer.to_reducer(), consumer.to_reducer());
    let (left, right) = (consumer.split_off_left(), consumer);
    let here = Here::new(local);
    let within = local.within();
    let (left, right) = join_context_within(
        within,
        expected,
        move || here.settle(),
        move |_| match here.local() {
            Some(local) => {
                local.in_loop(|| offer_unindexed(part, levels, left_items, left, local));
                None
            }
            None => Some(shared_unindexed(part, left_items, left, site, rate, within)),
        },
        move |_| match here.local_for_right() {
            Some(local) => {
                local.in_loop(|| offer_unindexed(part, levels, right_items, right, local));
                None
            }
            None => Some(shared_unindexed(
                part,
                right_items,
                right,
                site,
                rate,
                within,
            )),
        },
    );
    local.pace.end_wait();
    local.take_in(left, right, reducer, Some(spare));
}

#[inline(never)]
fn shared_unindexed<P, C>(
    part: f32,
    producer: P,
    consumer: C,
    site: &'static Site,
    rate: f32,
    within: Within,
) -> Part<C::Result>
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let local = Local::new(Pace::at_rate(site, part, rate));
    local.be_within(within);
    local.pace.start();
    local.in_loop(|| offer_unindexed(part, LEVELS_SHARED, producer, consumer, &local));
    local.finish_part()
}
