//! What a loop's source asks of the code that runs it: a pool, a rule for splitting.
//!
//! Wishes travel with the producer, through every adaptor that keeps positions, and are granted where the loop begins ([`Grant`]). So `with_pool` and `with_splitter` can stand anywhere in a chain. Of two wishes for the
//! same thing, that of the inner iterator counts. Lengths are wishes, too, but older: `min_len` and `max_len`.

use super::demand_loop::{self, Bounds};
use super::outlet::Pour;
use super::tree_loop::{Cuts, run_eagerly, run_on_demand};
use super::{Consumer, Producer};
use crate::engine::ThreadPool;
use std::marker::PhantomData;
use std::ptr;

/// Wishes of a producer, for as long as it is borrowed: nobody can keep them and ask for a pool that is gone.
///
/// ```compile_fail,E0515
/// use blitz::iter::plumbing::{Producer, ProducerCallback, Wishes};
///
/// struct Keep;
///
/// impl<T> ProducerCallback<T> for Keep {
///     type Output = Wishes<'static>;
///
///     fn callback<P: Producer<Item = T>>(self, producer: P) -> Wishes<'static> {
///         producer.wishes()
///     }
/// }
/// ```
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'p> {
    pool: Option<&'p ThreadPool>,
    rule: Option<Rule>,
}

/// Where a loop is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Where somebody helps, into pieces of at least so many items.
    Adaptive(usize),
    /// Into so many pieces, or fewer if they would be too short.
    Pieces(usize),
    /// Into pieces of so many items.
    Blocks(usize),
    /// Into pieces that depend on the number of items only.
    Reproducible,
}

/// A short loop is cut into at most this many blocks, and more than half as many: enough to balance the threads of most
/// machines, few enough to be cheap.
const BLOCKS: usize = 64;

/// A block has at most this many items. It is long enough to hide a cut (some nanoseconds) behind the cheapest of items.
const LONGEST_BLOCK: usize = 4096;

/// The length of a reproducible loop's blocks. Changing it changes the last bits of everybody's sums.
fn reproducible_block(len: usize) -> usize {
    len.div_ceil(BLOCKS).next_power_of_two().min(LONGEST_BLOCK)
}

impl<'p> Wishes<'p> {
    /// None.
    pub const NONE: Self = Wishes {
        pool: None,
        rule: None,
    };

    /// To be run in `pool`.
    pub(crate) fn of_pool(pool: &'p ThreadPool) -> Self {
        Wishes {
            pool: Some(pool),
            rule: None,
        }
    }

    pub(crate) fn of_rule(rule: Rule) -> Self {
        Wishes {
            pool: None,
            rule: Some(rule),
        }
    }

    /// These, and where there are none, those of `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        Wishes {
            pool: self.pool.or(other.pool),
            rule: self.rule.or(other.rule),
        }
    }

    /// The same for somebody who makes one item of `items`.
    pub(crate) fn per(self, items: usize) -> Self {
        let rule = self.rule.map(|rule| match rule {
            Rule::Adaptive(min) => Rule::Adaptive(min.div_ceil(items)),
            Rule::Blocks(len) => Rule::Blocks(len.div_ceil(items)),
            same => same,
        });
        Wishes { rule, ..self }
    }
}

/// What a loop does if its producer may have wishes. It is a constant, so that a loop whose producer has none does not contain the code.
pub(super) struct Grant<P, C>(PhantomData<(P, C)>);

impl<P, C> Grant<P, C>
where
    P: Producer,
    C: Consumer<P::Item>,
{
    #[allow(clippy::type_complexity)]
    pub(super) const LOOP: Option<fn(usize, P, C) -> C::Result> =
        if P::HAS_WISHES { Some(Self::run) } else { None };

    fn run(len: usize, producer: P, consumer: C) -> C::Result {
        let Wishes { pool, rule } = producer.wishes();
        // SAFETY: a wish for a pool comes from `with_pool`, whose borrow of the pool is in the type of its producer. What cannot have the pool but from there (a `Wishes` lives no longer than
        // the producer is borrowed) has that borrow in its own type, and so has `P`: the pool is there until we return, wherever the producer goes meanwhile.
        let pool = pool.map(|pool| unsafe { &*ptr::from_ref(pool) });
        if let (Some(pour), None) = (Pour::LOOP, rule) {
            if let (Some(pool), Some(outlet)) = (pool, consumer.outlet()) {
                // SAFETY: as above; and we drive.
                unsafe { outlet.run_in(pool) };
            }
            return match pour(len, producer, consumer) {
                Ok(result) => result,
                Err((producer, consumer)) => in_pool(pool, len, None, producer, consumer),
            };
        }
        in_pool(pool, len, rule, producer, consumer)
    }
}

fn in_pool<P, C>(
    pool: Option<&ThreadPool>,
    len: usize,
    rule: Option<Rule>,
    producer: P,
    consumer: C,
) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    match pool {
        Some(pool) => pool.install(|| cut_up(len, rule, producer, consumer)),
        None => cut_up(len, rule, producer, consumer),
    }
}

fn cut_up<P, C>(len: usize, rule: Option<Rule>, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let bounds = Bounds::of(&producer);
    let (min, max) = (producer.min_len().max(1), producer.max_len().max(1));
    match rule {
        None => demand_loop::run(len, bounds, producer, consumer),
        Some(Rule::Adaptive(least)) => {
            demand_loop::run(len, bounds.at_least(least), producer, consumer)
        }
        Some(Rule::Pieces(most)) => {
            let pieces = most.min(len / min).max(1);
            run_eagerly(len, Cuts::Pieces(pieces), producer, consumer)
        }
        Some(Rule::Blocks(block)) => {
            let cuts = Cuts::blocks(len, block.min(max).max(min));
            run_eagerly(len, cuts, producer, consumer)
        }
        Some(Rule::Reproducible) => {
            let cuts = Cuts::blocks(len, reproducible_block(len));
            run_on_demand(len, cuts, producer, consumer)
        }
    }
}
