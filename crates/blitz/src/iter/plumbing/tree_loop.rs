//! Loops that are split by length alone: the same pieces, combined by the same tree, on any number of threads.
//!
//! The [demand loop](super::demand_loop) splits where another thread helps, so its pieces differ from run to run. Here [`Cuts`] says
//! where a loop of a given length is split, every piece has a folder of its own, and two results meet where their pieces were
//! split. So the result is the same in every run, bit for bit, even if the operation is not quite associative, like the
//! addition of floats.
//!
//! What depends on the threads is only which parts are *offered* to them:
//!
//! * [`run_eagerly`] forks at every cut, because the caller has asked for these pieces.
//! * [`run_on_demand`] forks only where the estimated work on both sides pays for it, and otherwise runs the pieces of both
//!   sides in turn. A cut that is not a fork costs a few nanoseconds.

use super::pace::{Pace, Site};
use super::{Consumer, Folder, Producer, Reducer};
use crate::engine::demand::{Parts, join_context_expecting, join_in_operation};
use crate::engine::{caller_may_take_part, checkpoint, hand_over};

/// Where a loop is cut, as a function of its length.
#[derive(Clone, Copy)]
pub(crate) enum Cuts {
    /// This many pieces, whose lengths differ by one at most; one per item if there are fewer items.
    Pieces(usize),
    /// This many pieces of this length; the last may be shorter.
    Blocks { count: usize, len: usize },
}

impl Cuts {
    /// Cuts of `all` items into blocks of `len`.
    pub(crate) fn blocks(all: usize, len: usize) -> Self {
        let count = all.div_ceil(len);
        Cuts::Blocks { count, len }
    }

    /// How many pieces `len` items are.
    #[inline]
    fn count(self, len: usize) -> usize {
        match self {
            Cuts::Pieces(pieces) => pieces.min(len).max(1),
            Cuts::Blocks { count, .. } => count.max(1),
        }
    }

    /// Are `len` items one piece?
    #[inline]
    fn are_done(self, len: usize) -> bool {
        match self {
            Cuts::Pieces(pieces) => pieces.min(len) < 2,
            Cuts::Blocks { count, .. } => count < 2,
        }
    }

    /// Where `len` items are cut in two, and how either side is cut further. `None` if they are one piece.
    #[inline]
    fn cut(self, len: usize) -> Option<(usize, Cuts, Cuts)> {
        match self {
            Cuts::Pieces(pieces) => {
                let pieces = pieces.min(len);
                let left = pieces / 2;
                if left == 0 {
                    return None;
                }
                // What is left over goes to the first pieces, one item each.
                let (per_piece, over) = (len / pieces, len % pieces);
                let middle = per_piece * left + over.min(left);
                Some((middle, Cuts::Pieces(left), Cuts::Pieces(pieces - left)))
            }
            Cuts::Blocks { count, len } => {
                let of = |count| Cuts::Blocks { count, len };
                let left = count / 2;
                (left > 0).then(|| (left * len, of(left), of(count - left)))
            }
        }
    }
}

/// An offered loop is halved by forks at least this often, however cheap it looks.
const LEVELS: u32 = 4;

/// The same for a part that was taken by another thread.
const LEVELS_SHARED: u32 = 2;

/// What was short before is halved so often before its first part is run.
const SHORT_LEVELS: u32 = 3;

/// Runs `len` items of `producer` into `consumer`, forking at every cut.
pub(crate) fn run_eagerly<P, C>(len: usize, cuts: Cuts, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if !caller_may_take_part() {
        return hand_over(|| run_eagerly(len, cuts, producer, consumer));
    }
    pieces::<true, P, C>(len, cuts, producer, consumer)
}

/// Runs `len` items of `producer` into `consumer`, forking where it pays.
pub(crate) fn run_on_demand<P, C>(len: usize, cuts: Cuts, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if !caller_may_take_part() {
        return hand_over(|| run_on_demand(len, cuts, producer, consumer));
    }
    let site = Site::of(run_on_demand::<P, C> as fn(usize, Cuts, P, C) -> C::Result as usize);
    let pace = Pace::begin(site, len as f32);
    if !pace.is_known() || pace.is_worth_a_cut(len as f32) {
        offer(site, LEVELS, len, cuts, producer, consumer)
    } else {
        short(site, SHORT_LEVELS, len, cuts, producer, consumer)
    }
}

/// Runs what was short before: an eighth of it, and the rest according to what that has shown.
fn short<P, C>(
    site: &'static Site,
    levels: u32,
    len: usize,
    cuts: Cuts,
    producer: P,
    consumer: C,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let Some((middle, left_cuts, right_cuts)) = cuts.cut(len).filter(|_| levels > 0) else {
        return measured(site, len, cuts, producer, consumer);
    };
    let (left_items, right_items) = producer.split_at(middle);
    let (left, right, reducer) = consumer.split_at(middle);
    let left = short(site, levels - 1, middle, left_cuts, left_items, left);
    let right = offer(site, 0, len - middle, right_cuts, right_items, right);
    reducer.reduce(left, right)
}

/// Forks until a part is short by the clock, or one piece.
///
/// The site serves as the estimate that all threads share while the loop runs: once a part has turned out dear, the parts not
/// yet begun are cut finer.
fn offer<P, C>(
    site: &'static Site,
    levels: u32,
    len: usize,
    cuts: Cuts,
    producer: P,
    consumer: C,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if consumer.full() {
        return consumer.into_folder().complete();
    }
    let pace = Pace::begin(site, len as f32);
    let fork = levels > 0 || !pace.is_known() || pace.is_worth_a_fork(len as f32);
    let Some((middle, left_cuts, right_cuts)) = cuts.cut(len).filter(|_| fork) else {
        return measured(site, len, cuts, producer, consumer);
    };
    let expected = pace.expected_ticks(len as f32);
    let levels = levels.saturating_sub(1);
    let levels_of = move |migrated| {
        if migrated {
            levels.max(LEVELS_SHARED)
        } else {
            levels
        }
    };
    let (left_items, right_items) = producer.split_at(middle);
    let (left, right, reducer) = consumer.split_at(middle);
    let (left, right) = join_context_expecting(
        expected,
        move |context| {
            let levels = levels_of(context.migrated());
            offer(site, levels, middle, left_cuts, left_items, left)
        },
        move |context| {
            let levels = levels_of(context.migrated());
            offer(site, levels, len - middle, right_cuts, right_items, right)
        },
    );
    reducer.reduce(left, right)
}

/// Runs all pieces in turn, and tells the site how long it took.
fn measured<P, C>(
    site: &'static Site,
    len: usize,
    cuts: Cuts,
    producer: P,
    consumer: C,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let pace = Pace::begin(site, len as f32);
    pace.start();
    let parts = Parts::of(cuts.count(len), 1);
    let result = parts.run(|| pieces::<false, P, C>(len, cuts, producer, consumer));
    if len > 0 {
        pace.note(len as f32);
        pace.remember();
    }
    result
}

/// Cuts down to the pieces. The sides of a cut are run as a fork, or one after the other.
fn pieces<const FORK: bool, P, C>(len: usize, cuts: Cuts, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if consumer.full() {
        return consumer.into_folder().complete();
    }
    let Some((middle, left_cuts, right_cuts)) = cuts.cut(len) else {
        return piece(producer, consumer);
    };
    let (left_items, right_items) = producer.split_at(middle);
    let (left, right, reducer) = consumer.split_at(middle);
    let left = move || side::<FORK, P, C>(middle, left_cuts, left_items, left);
    let right = move || side::<FORK, P, C>(len - middle, right_cuts, right_items, right);
    let (left, right) = if FORK {
        checkpoint();
        join_in_operation(left, right)
    } else {
        (left(), right())
    };
    reducer.reduce(left, right)
}

/// One side of a cut. Half of all sides are single pieces, which need not be asked twice.
#[inline]
fn side<const FORK: bool, P, C>(len: usize, cuts: Cuts, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if cuts.are_done(len) {
        piece(producer, consumer)
    } else {
        pieces::<FORK, P, C>(len, cuts, producer, consumer)
    }
}

/// Folds one piece. It is not inlined, so that its machine code exists once.
#[inline(never)]
fn piece<P, C>(producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    producer.fold_with(consumer.into_folder()).complete()
}

#[cfg(test)]
mod tests {
    use super::Cuts;

    fn lengths(cuts: Cuts, len: usize, into: &mut Vec<usize>) {
        match cuts.cut(len) {
            None => into.push(len),
            Some((middle, left, right)) => {
                lengths(left, middle, into);
                lengths(right, len - middle, into);
            }
        }
    }

    fn pieces(cuts: Cuts, len: usize) -> Vec<usize> {
        let mut pieces = Vec::new();
        lengths(cuts, len, &mut pieces);
        pieces
    }

    #[test]
    fn a_number_of_pieces_is_met_exactly_and_evenly() {
        for len in 1..200 {
            for wanted in 1..40 {
                let pieces = pieces(Cuts::Pieces(wanted), len);
                assert_eq!(pieces.len(), wanted.min(len));
                assert_eq!(pieces.iter().sum::<usize>(), len);
                let (least, most) = (pieces.iter().min(), pieces.iter().max());
                assert!(most.unwrap() - least.unwrap() <= 1, "{pieces:?}");
            }
        }
        assert_eq!(pieces(Cuts::Pieces(3), 0), [0]);
        assert_eq!(pieces(Cuts::Pieces(2), usize::MAX).len(), 2);
    }

    #[test]
    fn all_blocks_but_the_last_have_the_length_asked_for() {
        for len in 1..200 {
            for block in 1..40 {
                let pieces = pieces(Cuts::blocks(len, block), len);
                let (last, others) = pieces.split_last().unwrap();
                assert!(others.iter().all(|&piece| piece == block));
                assert!((1..=block).contains(last));
                assert_eq!(pieces.iter().sum::<usize>(), len);
            }
        }
        assert_eq!(pieces(Cuts::blocks(0, 4), 0), [0]);
    }
}
