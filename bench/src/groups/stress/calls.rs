//! Parallel calls with known results, for scenarios that care about who calls and from where.

use std::sync::atomic::{AtomicU64, Ordering};

use ::blitz::prelude::*;

use super::dice::Dice;
use super::program::mix;
use crate::arms::blitz::{self, ThreadPool};

/// What is called.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Join,
    Scope,
    ScopeFifo,
    InPlaceScope,
    Iterator,
    Search,
    Sort,
}

const KINDS: [Kind; 7] = [
    Kind::Join,
    Kind::Scope,
    Kind::ScopeFifo,
    Kind::InPlaceScope,
    Kind::Iterator,
    Kind::Search,
    Kind::Sort,
];

/// A call that waits for nothing but its own work: it ends wherever it is made, if the engine keeps its promises.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    kind: Kind,
    size: u64,
}

impl Call {
    pub fn any(dice: &mut Dice) -> Self {
        Call {
            kind: KINDS[dice.below(KINDS.len())],
            // Mostly small: what matters is how calls begin and end.
            size: if dice.once_in(8) {
                dice.below(20_000) as u64
            } else {
                dice.below(300) as u64
            },
        }
    }

    /// Makes the call, and says what is wrong with its result: in `pool`, or where the calling thread belongs.
    pub fn make(self, pool: Option<&ThreadPool>) -> Result<(), String> {
        let got = match (self.kind, pool) {
            (Kind::Join, Some(pool)) => {
                let middle = self.size / 2;
                let (left, right) = pool.join(|| sum(0, middle), || sum(middle, self.size));
                left.wrapping_add(right)
            }
            (Kind::Join, None) => sum(0, self.size),
            (Kind::Scope, Some(pool)) => counted(|count| {
                pool.scope(|scope| self.each(count, |add| scope.spawn(move |_| add())));
            }),
            (Kind::Scope, None) => counted(|count| {
                blitz::scope(|scope| self.each(count, |add| scope.spawn(move |_| add())));
            }),
            (Kind::ScopeFifo, Some(pool)) => counted(|count| {
                pool.scope_fifo(|scope| self.each(count, |add| scope.spawn_fifo(move |_| add())));
            }),
            (Kind::ScopeFifo, None) => counted(|count| {
                blitz::scope_fifo(|scope| self.each(count, |add| scope.spawn_fifo(move |_| add())));
            }),
            (Kind::InPlaceScope, Some(pool)) => counted(|count| {
                pool.in_place_scope(|scope| self.each(count, |add| scope.spawn(move |_| add())));
            }),
            (Kind::InPlaceScope, None) => counted(|count| {
                blitz::in_place_scope(|scope| self.each(count, |add| scope.spawn(move |_| add())));
            }),
            (_, Some(pool)) => pool.install(|| self.loops()),
            (_, None) => self.loops(),
        };
        let expected = (0..self.size).fold(0, |sum: u64, item| sum.wrapping_add(mix(item)));
        if got == expected {
            return Ok(());
        }
        Err(format!("{self:?} returned {got:x}, not {expected:x}"))
    }

    /// One task for each of the first items, and one for the rest.
    #[allow(clippy::needless_lifetimes, reason = "the closures borrow the count")]
    fn each<'a>(self, count: &'a AtomicU64, mut spawn: impl FnMut(Box<dyn FnOnce() + Send + 'a>)) {
        let alone = self.size.min(50);
        for item in 0..alone {
            spawn(Box::new(move || {
                count.fetch_add(mix(item), Ordering::Relaxed);
            }));
        }
        spawn(Box::new(move || {
            count.fetch_add(sum(alone, self.size), Ordering::Relaxed);
        }));
    }

    fn loops(self) -> u64 {
        let items = 0..self.size;
        match self.kind {
            Kind::Sort => {
                let mut values: Vec<u64> = items.map(mix).collect();
                values.par_sort();
                assert!(values.is_sorted(), "a sort has left {values:?}");
                values.iter().fold(0, |sum, value| sum.wrapping_add(*value))
            }
            Kind::Search => {
                let last = self.size.saturating_sub(1);
                let found = items.into_par_iter().find_first(|&item| item == last);
                assert_eq!(found.unwrap_or(0), last, "a search has lost its match");
                sum(0, self.size)
            }
            _ => items
                .into_par_iter()
                .map(mix)
                .reduce(|| 0, u64::wrapping_add),
        }
    }
}

fn counted(work: impl FnOnce(&AtomicU64)) -> u64 {
    let count = AtomicU64::new(0);
    work(&count);
    count.into_inner()
}

/// The sum of the items' values, by a tree of joins.
fn sum(from: u64, to: u64) -> u64 {
    if to - from <= 4 {
        return (from..to).fold(0, |sum, item| sum.wrapping_add(mix(item)));
    }
    let middle = from + (to - from) / 2;
    let (left, right) = blitz::join(|| sum(from, middle), || sum(middle, to));
    left.wrapping_add(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_call_is_right_inside_and_outside() {
        let pool = blitz::pool(2, &crate::arms::Cpus::new(false));
        for kind in KINDS {
            for size in [0, 1, 2, 51, 3000] {
                let call = Call { kind, size };
                call.make(None).unwrap();
                call.make(Some(&pool)).unwrap();
                pool.install(|| call.make(None)).unwrap();
            }
        }
    }
}
