//! The loop behind every parallel iterator: sequential until another thread helps.
//!
//! # What it does
//!
//! 1. **Alone.** A loop begins as the plain sequential loop over a small first block, and reads the clock. It continues with
//!    longer and longer blocks until it knows that enough is left to be worth sharing. Earlier runs may have shown that the loop is
//!    short (6 us). Then it reads the clock only to check that it still is: before, and after a sixteenth (after one item, if there are few). Inside another short loop, the
//!    reading at the beginning of that one is enough, and inside many tiny items most loops are not timed at all (`trust.rs`). If the loop takes more than 2 us, it also reads the clock after every eighth, and at the end. One run in sixteen is timed to its end in any case. So is one run in sixteen of a
//!    loop that seems to be a little longer than short. The reason: the measurements of a shared loop contain the
//!    cost of forks and thefts, and would keep a loop of tiny items shared. If work around the loop is on offer and all other
//!    threads are busy, the clock is not read at all, because no thread would take a part of the loop either (`unclocked`). A loop that earlier runs have shown to be long skips this
//!    step. So does one of medium length if another thread is looking for work, unless it is a search, which may end soon
//!    (`search.rs`).
//! 2. **Offered.** The rest is halved by `join` until a part is one block of about 8 us. The right half of each join is on
//!    offer while the left half runs; an offer that nobody takes costs about a nanosecond.
//! 3. **Taken back.** A right half that no thread took is run by the same thread after the left half, *with the same folder*
//!    ([`Consumer::resume`]): the split leaves no trace. So there are as many folders, calls of `identity` or `init`,
//!    partial vectors and reductions as there were thieves, not as there were blocks. Before the thread waits for a half that was taken,
//!    the folder is completed. Meanwhile the thread may run other parts of the loop, with folders of their own.
//! 4. **Shared.** A half that was taken is, for its thief, a loop of its own that begins at step 2 with the known pace. Its
//!    result is reduced with the left one when both are there. Results always meet in the order of their items.
//!
//! The cost of an item is measured anew with every block, and an increase counts at once. A block is itself run in parts of about 2 us,
//! as far as one can tell in advance, and the clock is read after each. So a loop that starts cheap and becomes expensive is split finer as
//! soon as it shows, and what was meant to be the rest of a block is offered. A search whose items are known
//! to be expensive (some microseconds each) skips step 1 too, so that even its first two items run at the same time.
//!
//! The time of a split is measured as well, and does not count as time of the items. A part is split only if it takes several times as long as the split (`Pace::note_cut`).
//!
//! Depth is logarithmic: each fork halves what is left.

use super::local::{Here, Local, Part};
use super::pace::{FEW, Nest, Pace, Site, is_still_short, is_tiny};
use super::search;
use super::trust;
use super::{Consumer, Folder, Producer};
use crate::engine::demand::{
    Parts, Within, affords_a_reading, beat, between, join_context_within, others_are_served,
    reading_ns, ticks, ticks_at_work,
};
pub(super) use crate::engine::rules::LOOP_LEVELS as LEVELS;
use crate::engine::rules::LOOP_LEVELS_SHARED as LEVELS_SHARED;
use crate::engine::{caller_may_take_part, checkpoint, hand_over, items};

/// The first block is this part of the loop, but no longer than `FIRST_BLOCK` items.
const FIRST_PART: usize = 64;
const FIRST_BLOCK: usize = 1024;

/// Where a loop is cut is a multiple of this, counted from the beginning of what is cut, if that is far enough away. Items that begin at a cache line's or
/// a vector's boundary do so again behind the cut: a sum of integers takes half as long again if every fourth load of the vectorised loop
/// crosses a line.
const EVEN: usize = 64;

/// Halves of this many items may differ by [`EVEN`].
const LONG: usize = 16 * EVEN;

/// So many items or a few less, as [`EVEN`] wants it.
#[inline]
fn evened(items: usize) -> usize {
    if items < 2 * EVEN {
        items
    } else {
        items - items % EVEN
    }
}

/// How long the pieces of a loop may be.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Nothing is cut into halves shorter than this.
    min: usize,
    /// What is longer than this is cut, unless `min` forbids it, and no folder goes on from one piece to the next.
    max: usize,
}

impl Bounds {
    /// Those a producer asks for.
    #[inline]
    pub(super) fn of<P: Producer>(producer: &P) -> Self {
        Bounds {
            min: producer.min_len().max(1),
            max: producer.max_len().max(1),
        }
    }

    /// At least `min` long.
    #[inline]
    pub(super) fn from(min: usize) -> Self {
        Bounds {
            min,
            max: usize::MAX,
        }
    }

    /// The same, but no shorter than `min`.
    #[inline]
    pub(super) fn at_least(self, min: usize) -> Self {
        Bounds {
            min: self.min.max(min),
            ..self
        }
    }

    /// Where to cut a loop over `len` items in two.
    #[inline]
    fn middle(self, len: usize) -> usize {
        let middle = len / 2;
        let even = if middle < LONG {
            middle
        } else {
            evened(middle)
        };
        if even < self.min { middle } else { even }
    }

    /// May a loop over `len` items be cut?
    #[inline]
    fn allow_a_cut(self, len: usize) -> bool {
        len / 2 >= self.min
    }

    /// Is `len` more than a piece may have?
    #[inline]
    fn ask_for_a_cut(self, len: usize) -> bool {
        len > self.max
    }
}

/// Runs `len` items of `producer` into `consumer`.
///
/// Only what a loop needs that is not to be cut is inlined.
#[inline(always)]
pub(super) fn run<P, C>(len: usize, bounds: Bounds, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    items(len);
    let is_plain = !bounds.allow_a_cut(len)
        || trust::covers(code_of::<P, C>(), len) && !bounds.ask_for_a_cut(len);
    if is_plain && !consumer.full() {
        return producer.fold_with(consumer.into_folder()).complete();
    }
    begin(len, bounds, producer, consumer)
}

/// What tells one kind of loop from others.
#[inline]
fn code_of<P, C>() -> usize
where
    P: Producer,
    C: Consumer<P::Item>,
{
    begin::<P, C> as fn(usize, Bounds, P, C) -> C::Result as usize
}

/// The same for all other loops.
#[inline(never)]
fn begin<P, C>(len: usize, bounds: Bounds, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if consumer.full() {
        return consumer.into_folder().complete();
    }
    checkpoint();
    let site = Site::of(code_of::<P, C>());
    #[cfg(test)]
    if super::pretend::is_on() {
        let rate = super::pretend::RATE;
        return shared(len, bounds, producer, consumer, site, rate, Within::NOTHING).0;
    }
    if !caller_may_take_part() {
        return begin_elsewhere(len, bounds, producer, consumer);
    }
    if !Parts::are_counted() && others_are_served() && !bounds.ask_for_a_cut(len) {
        // Half of few items: a look around costs more than some of them.
        let most = if len <= FEW { len / 2 } else { len / 4 };
        if let Some(block) = site.items_in_a_part(most) {
            let block = evened(block).max(bounds.min);
            return unclocked(len, block, bounds.min, producer, consumer, site);
        }
    }
    if site.is_short(len as f32) && !bounds.ask_for_a_cut(len) {
        let check = Site::is_to_be_checked();
        return short(len, bounds.min, producer, consumer, site, check);
    }
    if site.may_be_shorter(len as f32) && !bounds.ask_for_a_cut(len) && Site::is_to_be_checked() {
        return short(len, bounds.min, producer, consumer, site, true);
    }
    let pace = Pace::begin(site, len as f32);
    let at_once = if bounds.ask_for_a_cut(len) {
        true
    } else if pace.is_known() {
        // A search may be over soon, however long it could get.
        if C::MAY_SEARCH && consumer.is_search() {
            pace.items_are_dear()
        } else {
            pace.should_share_at_once(len as f32)
        }
    } else {
        len / bounds.min <= FEW
    };
    if at_once {
        offered(len, bounds, producer, consumer, pace)
    } else if !pace.is_worth_a_clock() {
        whole(len, bounds.min, producer, consumer, site)
    } else {
        measured(len, bounds, producer, consumer, pace)
    }
}

/// Hands the loop over to a thread of the pool. Out of line: loops nest, and only the outermost one is ever handed over.
#[cold]
#[inline(never)]
fn begin_elsewhere<P, C>(len: usize, bounds: Bounds, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    hand_over(|| begin(len, bounds, producer, consumer))
}

/// Cuts off the first items, with what is to become of them, from the rest and what is to become of that. Inlined where that is little: in a long chain of adaptors it is most of the
/// code around the loop proper, and a loop has seven places for it.
#[inline(always)]
fn cut<P, C>(items: usize, producer: P, consumer: C) -> (P, C, P, C)
where
    P: Producer,
    C: Consumer<P::Item>,
{
    const LITTLE: usize = 80;
    if const { size_of::<P>() + size_of::<C>() <= LITTLE } {
        cut_both(items, producer, consumer)
    } else {
        cut_apart(items, producer, consumer)
    }
}

#[inline(never)]
fn cut_apart<P, C>(items: usize, producer: P, consumer: C) -> (P, C, P, C)
where
    P: Producer,
    C: Consumer<P::Item>,
{
    cut_both(items, producer, consumer)
}

#[inline(always)]
fn cut_both<P, C>(items: usize, producer: P, consumer: C) -> (P, C, P, C)
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let (first, rest) = producer.split_at(items);
    let (for_first, for_rest, _) = consumer.split_at(items);
    (first, for_first, rest, for_rest)
}

/// The loop proper. It is not inlined, so that its machine code exists once and not in every step. `parts`: in so many pieces it could have been cut.
#[inline(never)]
pub(super) fn fold<P, F>(parts: Parts, producer: P, folder: F) -> F
where
    P: Producer,
    F: Folder<P::Item>,
{
    parts.run(|| producer.fold_with(folder))
}

/// How many items a loop that has been short begins with, to see whether it still is. If there are few, each of them may be a large part of it by now.
#[inline]
fn first_of_short(len: usize, min: usize) -> usize {
    if len / min <= FEW {
        min
    } else {
        evened(len / 16).max(min)
    }
}

/// Inside of work that is on offer: as long as nobody takes that, nobody would take a part of this loop, however long it is. So it is not cut, and
/// the clock is not read; that would be most of the cost of a tiny loop. Whoever takes the other work may be back for more soon, so one looks again after
/// every `block`. One run in sixteen is timed, for those that begin where others wait.
fn unclocked<P, C>(
    len: usize,
    block: usize,
    min: usize,
    producer: P,
    consumer: C,
    site: &'static Site,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let start = Site::is_to_be_checked().then(ticks_at_work);
    let mut ahead = len - block;
    let (items, for_items, mut producer, mut consumer) = cut(block, producer, consumer);
    let mut folder = fold(Parts::of(block, min), items, for_items.into_folder());
    loop {
        if folder.full() {
            return folder.complete();
        }
        beat();
        checkpoint();
        if !(others_are_served() && consumer.can_resume(&folder)) {
            return no_longer_unclocked(len, ahead, min, producer, consumer, folder, site);
        }
        if ahead < block + min {
            break;
        }
        let (items, for_items, rest, for_rest) = cut(block, producer, consumer);
        (producer, consumer) = (rest, for_rest);
        folder = fold(Parts::of(block, min), items, for_items.resume(folder));
        ahead -= block;
    }
    folder = fold(Parts::of(ahead, min), producer, consumer.resume(folder));
    if let Some(start) = start.filter(|_| !folder.full()) {
        site.learn(between(start, ticks_at_work()), len as f32);
    }
    trust::renew(code_of::<P, C>(), len, site);
    folder.complete()
}

/// Goes on with the clock. Nobody knows what the items so far have taken, and others could help by now: the first to be timed are as few as at the beginning
/// of a [`short`] loop, however many there have been.
#[cold]
#[inline(never)]
fn no_longer_unclocked<P, C>(
    len: usize,
    mut ahead: usize,
    min: usize,
    mut producer: P,
    mut consumer: C,
    folder: C::Folder,
    site: &'static Site,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let local = Local::new(Pace::begin(site, len as f32));
    local.pace.start();
    local.put(folder);
    let block = evened(len / 16).max(min);
    if ahead >= block + min {
        let (items, for_items, rest, for_rest) = cut(block, producer, consumer);
        (producer, consumer) = (rest, for_rest);
        let parts = Parts::of(block, min);
        local.feed_all(parts, items, for_items);
        if local.is_full() {
            return local.finish();
        }
        local.pace.note(block as f32);
        ahead -= block;
    }
    alone(len, ahead, block, min, producer, consumer, local)
}

/// A loop that has been short before: too short to be shared, so it need only be seen to be so still. `check`: and how long it takes.
#[inline(never)]
fn short<P, C>(
    len: usize,
    min: usize,
    mut producer: P,
    mut consumer: C,
    site: &'static Site,
    check: bool,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if reading_ns() != 0 {
        return whole(len, min, producer, consumer, site);
    }
    let mut block = first_of_short(len, min);
    let mut ahead = len - block;
    let (items, for_items, rest, for_rest) = cut(block, producer, consumer);
    (producer, consumer) = (rest, for_rest);
    // Inside of another short loop its beginning will do.
    let outer = Nest::around().filter(|_| !check);
    let start = outer.unwrap_or_else(ticks);
    let nest = outer.is_none().then(|| Nest::begin(start));
    let mut folder = fold(Parts::of(block, min), items, for_items.into_folder());
    loop {
        if folder.full() {
            return folder.complete();
        }
        let now = ticks();
        let taken = now.saturating_sub(start) as f32;
        let expected = match outer {
            Some(_) => taken,
            None => taken * (len as f32 / (len - ahead) as f32),
        };
        let is_short = is_still_short(expected);
        if !(is_short && consumer.can_resume(&folder)) {
            drop(nest);
            if !is_short {
                Nest::end();
            }
            let local = Local::new(Pace::begin(site, len as f32));
            local.put(folder);
            if is_short && outer.is_some() {
                // The items have taken less than that.
                local.pace.start_at(now);
            } else {
                local.pace.start_at(start);
                local.pace.note_at(now, (len - ahead) as f32);
            }
            return if is_short {
                // Two pieces, since they cannot be run as one.
                last_block(ahead, min, producer, consumer, local)
            } else {
                alone(len, ahead, block, min, producer, consumer, local)
            };
        }
        let part = (len > FEW).then(trust::open);
        if outer.is_some() || is_tiny(expected) && !check {
            let folder = fold(Parts::of(ahead, min), producer, consumer.resume(folder));
            drop(part);
            if trust::coarse_has_moved() && !folder.full() {
                site.learn_since(now, ahead);
            }
            trust::renew(code_of::<P, C>(), len, site);
            return folder.complete();
        }
        block = evened(len / 8).max(min);
        if is_tiny(expected) || ahead < block + min {
            break;
        }
        let (items, for_items, rest, for_rest) = cut(block, producer, consumer);
        (producer, consumer) = (rest, for_rest);
        folder = fold(Parts::of(block, min), items, for_items.resume(folder));
        drop(part);
        ahead -= block;
    }
    let folder = fold(Parts::of(ahead, min), producer, consumer.resume(folder));
    if !folder.full() {
        site.learn_alone(ticks().saturating_sub(start), len as f32);
        beat();
    }
    folder.complete()
}

/// A loop that is not worth sharing, where the clock is slow: now and then one is timed.
#[cold]
#[inline(never)]
fn whole<P, C>(len: usize, min: usize, producer: P, consumer: C, site: &'static Site) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let start = affords_a_reading().then(ticks);
    let folder = fold(Parts::of(len, min), producer, consumer.into_folder());
    if let Some(start) = start.filter(|_| !folder.full()) {
        site.learn_alone(between(start, ticks()), len as f32);
    }
    beat();
    folder.complete()
}

/// A loop that begins alone.
#[inline(never)]
fn measured<P, C>(len: usize, bounds: Bounds, producer: P, consumer: C, pace: Pace) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let first = (len / FIRST_PART).clamp(1, FIRST_BLOCK);
    let local = Local::new(pace);
    local.pace.start();
    if C::MAY_SEARCH {
        let begin_apart = consumer.is_search() && bounds.min == 1 && !consumer.wants_first();
        if begin_apart && search::is_worth_a_look_ahead(len, &local.pace) {
            return search::with_look_ahead(len, first, producer, consumer, local);
        }
    }
    alone(len, len, first / 8, bounds.min, producer, consumer, local)
}

/// A loop that skips step 1.
#[inline(never)]
fn offered<P, C>(len: usize, bounds: Bounds, producer: P, consumer: C, pace: Pace) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let local = Local::of_pieces(pace, bounds.ask_for_a_cut(len));
    local.pace.start();
    begin_offer(len, bounds, LEVELS, producer, consumer, &local);
    local.pace.remember();
    local.finish()
}

/// Step 1: the sequential loop in blocks, until enough is known to be ahead. `ahead` of `len` are left; the last block was
/// `block` long.
pub(super) fn alone<P, C>(
    len: usize,
    mut ahead: usize,
    mut block: usize,
    min: usize,
    mut producer: P,
    mut consumer: C,
    local: Local<P::Item, C>,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let pace = &local.pace;
    loop {
        // What is done so far is a piece of its own if this thread gets no seat in the pool.
        let pieces_are_long_enough = ahead / 2 >= min && len - ahead >= min;
        if pieces_are_long_enough && pace.should_share(ahead as f32) {
            let from_the_front = C::MAY_SEARCH
                && consumer.is_search()
                && !search::is_endless(ahead, &consumer, pace);
            if C::MAY_SEARCH && from_the_front {
                search::forward(len - ahead, ahead, min, producer, consumer, &local);
            } else {
                let bounds = Bounds::from(min);
                begin_offer(ahead, bounds, LEVELS, producer, consumer, &local);
            }
            pace.remember();
            return local.finish();
        }
        let longest = pace.longest_alone(len).min(ahead);
        block = evened(pace.next_block(block.max(1), longest)).max(min);
        if ahead - block.min(ahead) < min {
            break;
        }
        let (items, for_items, rest, for_rest) = cut(block, producer, consumer);
        (producer, consumer) = (rest, for_rest);
        pace.note_cut();
        let parts = Parts::of(block, min);
        local.feed_all(parts, items, for_items);
        if local.is_full() {
            pace.remember();
            return local.finish();
        }
        pace.note(block as f32);
        ahead -= block;
    }
    last_block(ahead, min, producer, consumer, local)
}

/// The rest of a loop that has run alone.
fn last_block<P, C>(
    len: usize,
    min: usize,
    producer: P,
    consumer: C,
    local: Local<P::Item, C>,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let parts = Parts::of(len, min);
    local.feed_all(parts, producer, consumer);
    local.pace.note(len as f32);
    local.pace.remember();
    local.finish()
}

/// Steps 2 and 3: halves the loop by forks; what stays on this thread goes into the folder of `local`.
///
/// Loops nest, and every level of each is on the stack at the same time. So what decides is inlined, and what forks and what runs a block have
/// frames of their own.
#[inline]
pub(super) fn offer<P, C>(
    len: usize,
    bounds: Bounds,
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
    let cut = levels > 0
        || !pace.is_known()
        || pace.is_worth_a_cut(len as f32)
        || bounds.ask_for_a_cut(len);
    if !cut || !bounds.allow_a_cut(len) {
        return block(len, bounds, producer, consumer, local);
    }
    fork(len, bounds, levels, producer, consumer, local);
}

/// [`offer`] in the loop that this thread is a part of, which begins here if it is not in one yet. Its code exists once, as seldom as it runs.
#[inline(never)]
pub(super) fn begin_offer<P, C>(
    len: usize,
    bounds: Bounds,
    levels: u32,
    producer: P,
    consumer: C,
    local: &Local<P::Item, C>,
) where
    P: Producer,
    C: Consumer<P::Item>,
{
    local.in_loop(|| offer(len, bounds, levels, producer, consumer, local));
}

/// [`begin_offer`] for a half of a fork, whose thread is in the loop already, unless it had no seat in the pool when that began.
#[inline]
fn offer_half<P, C>(
    len: usize,
    bounds: Bounds,
    levels: u32,
    producer: P,
    consumer: C,
    local: &Local<P::Item, C>,
) where
    P: Producer,
    C: Consumer<P::Item>,
{
    if local.within().is_loop() {
        offer(len, bounds, levels, producer, consumer, local);
    } else {
        begin_offer(len, bounds, levels, producer, consumer, local);
    }
}

/// Halves the loop.
#[inline(never)]
fn fork<P, C>(
    len: usize,
    bounds: Bounds,
    levels: u32,
    producer: P,
    consumer: C,
    local: &Local<P::Item, C>,
) where
    P: Producer,
    C: Consumer<P::Item>,
{
    let pace = &local.pace;
    let (site, rate, expected) = (pace.site(), pace.rate(), pace.expected_ticks(len as f32));
    let levels = levels.saturating_sub(1);
    let middle = bounds.middle(len);
    let (consumer, spare) = local.spare_reducer(consumer);
    let (left_items, right_items) = producer.split_at(middle);
    let (left, right, reducer) = consumer.split_at(middle);
    pace.note_cut();
    let here = Here::new(local);
    let within = local.within();
    let (left, right) = join_context_within(
        within,
        expected,
        move || here.settle(),
        move |_| match here.local() {
            Some(local) => {
                offer_half(middle, bounds, levels, left_items, left, local);
                None
            }
            None => Some(shared(middle, bounds, left_items, left, site, rate, within)),
        },
        move |_| match here.local_for_right() {
            Some(local) => {
                offer_half(len - middle, bounds, levels, right_items, right, local);
                None
            }
            None => Some(shared(
                len - middle,
                bounds,
                right_items,
                right,
                site,
                rate,
                within,
            )),
        },
    );
    local.pace.end_wait();
    local.take_in(left, right, reducer, spare);
}

/// Are `len` items run at once, where a part would have `part`? What is left after the part would be shorter than `min`, or than half a part.
///
/// Both may be the largest number there is: items that took no time on a coarse clock make a part of any length, and users choose `min`.
fn is_all(len: usize, part: usize, min: usize) -> bool {
    len < part.saturating_add(min.max(part / 2))
}

/// Runs what is expected to be one block. If it turns out to be more, the rest is offered.
#[inline(never)]
fn block<P, C>(
    mut len: usize,
    bounds: Bounds,
    mut producer: P,
    mut consumer: C,
    local: &Local<P::Item, C>,
) where
    P: Producer,
    C: Consumer<P::Item>,
{
    let pace = &local.pace;
    loop {
        let part = evened(pace.next_part(len)).max(bounds.min);
        if is_all(len, part, bounds.min) {
            let parts = Parts::of(len, bounds.min);
            local.feed_all(parts, producer, consumer);
            return pace.note(len as f32);
        }
        let (items, for_items, rest, for_rest) = cut(part, producer, consumer);
        pace.note_cut_in_block();
        let parts = Parts::of(part, bounds.min);
        local.feed_all(parts, items, for_items);
        pace.note(part as f32);
        (len, producer, consumer) = (len - part, rest, for_rest);
        if local.is_full() || consumer.full() {
            return;
        }
        if pace.is_worth_a_cut(len as f32) && bounds.allow_a_cut(len) {
            return offer(len, bounds, 0, producer, consumer, local);
        }
        if !local.can_go_on(&consumer) {
            // Parts would be pieces of their own.
            let parts = Parts::of(len, bounds.min);
            local.feed_all(parts, producer, consumer);
            return pace.note(len as f32);
        }
    }
}

/// Step 4: a part that was taken by this thread.
#[inline(never)]
fn shared<P, C>(
    len: usize,
    bounds: Bounds,
    producer: P,
    consumer: C,
    site: &'static Site,
    rate: f32,
    within: Within,
) -> Part<C::Result>
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let local = Local::of_pieces(
        Pace::at_rate(site, len as f32, rate),
        bounds.ask_for_a_cut(len),
    );
    local.be_within(within);
    local.pace.start();
    begin_offer(len, bounds, LEVELS_SHARED, producer, consumer, &local);
    local.finish_part()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_any_length_is_compared_with_what_there_is() {
        assert!(!is_all(150, 100, 1));
        assert!(is_all(149, 100, 1));
        assert!(is_all(150, 100, 51));
        for huge in [usize::MAX, usize::MAX - 7, usize::MAX / 3 * 2 + 1] {
            assert!(is_all(1000, huge, 1), "a part of {huge}");
            assert!(is_all(1000, huge, huge), "a minimum of {huge}");
        }
    }

    #[test]
    fn long_loops_are_cut_where_cache_lines_end() {
        for len in (2..5000).chain([100_000, 1_000_003, usize::MAX]) {
            let middle = Bounds::from(1).middle(len);
            assert!(middle > 0 && len / 2 - middle < EVEN, "{len} at {middle}");
            if len >= 2 * LONG {
                assert_eq!(middle % EVEN, 0, "{len}");
            } else {
                assert_eq!(middle, len / 2, "{len}: the halves are small");
            }
        }
        for items in 0..10_000 {
            let evened = evened(items);
            assert!(evened <= items && items - evened < EVEN);
            assert!(evened > 0 || items == 0, "blocks are never empty");
            assert!(evened % EVEN == 0 || items < 2 * EVEN);
        }
    }

    #[test]
    fn no_half_is_shorter_than_allowed() {
        for min in [1, 63, 1000, 1024, 1030, 1087] {
            for len in 2 * min..2 * min + 300 {
                let middle = Bounds::from(min).middle(len);
                assert!(middle >= min && len - middle >= min, "{len}, {min}");
            }
        }
    }
}
