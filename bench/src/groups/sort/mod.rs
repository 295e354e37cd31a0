//! Group `sort`: five types, seven arrangements, one thousand to ten million elements, against std, rayon and the radix sorts of
//! voracious_radix_sort and rdst.
//!
//! A bench is called `kind/type/input`. The kinds are `unstable` and `stable`, by the type's own order (records by their key, floats in
//! their total order), and `unstable_by` and `stable_by`, where the order is a closure that no library can see through. Where a
//! library must be asked for a radix sort, that is an arm of its own (`blitz-radix`). Every sort runs inside its library's pool
//! on a fresh copy of the input; copying and checking are not timed.
//!
//! What the tour shows is here: numbers, unstable. All other kinds and types, and the radix sorts, are in `more`, which only the
//! full build has.
//!
//! A quick run leaves out ten million elements, and sorts arrangements other than random ones as a million `u64` only.

#[cfg(feature = "full")]
mod more;

use std::time::{Duration, Instant};

use ::blitz::prelude::ParallelSliceMut;

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz, rayon};
use crate::measure::{Arm, Gap, Session, wrong_result};
use crate::report::Row;
use crate::workloads::sorts::{Element, Expected, Input};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const LARGEST: usize = 10_000_000;

/// What is sorted in the tour, and all that the full build has besides.
macro_rules! with_more {
    ($more:path, $kind:ident) => {{
        #[cfg(feature = "full")]
        let kinds = $more($kind);
        #[cfg(not(feature = "full"))]
        let kinds = vec![$kind];
        kinds
    }};
}

/// A library's way to sort.
struct Sorter<T> {
    lib: &'static str,
    sort: fn(&mut [T]),
}

impl<T> Clone for Sorter<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Sorter<T> {}

/// All libraries' ways to sort one type in one way.
struct Kind<T> {
    name: &'static str,
    stable: bool,
    sorters: Vec<Sorter<T>>,
}

impl<T> Kind<T> {
    /// A kind of sort that everybody has.
    fn new(
        name: &'static str,
        seq: fn(&mut [T]),
        blitz: fn(&mut [T]),
        rayon: fn(&mut [T]),
    ) -> Self {
        let stable = name.starts_with("stable");
        let kind = Kind {
            name,
            stable,
            sorters: Vec::new(),
        };
        kind.and("seq", seq).and("blitz", blitz).and("rayon", rayon)
    }

    /// One more way.
    fn and(mut self, lib: &'static str, sort: fn(&mut [T])) -> Self {
        self.sorters.push(Sorter { lib, sort });
        self
    }
}

fn integers() -> Vec<Kind<u64>> {
    let unstable = Kind::new(
        "unstable",
        |v| v.sort_unstable(),
        blitz::sorts::unstable,
        rayon::sorts::unstable,
    );
    with_more!(more::integers, unstable)
}

fn floats() -> Vec<Kind<f64>> {
    let unstable = Kind::new(
        "unstable",
        |v| v.sort_unstable_by(f64::total_cmp),
        blitz::sorts::unstable_f64,
        rayon::sorts::unstable_f64,
    );
    let unstable = unstable.and("blitz-radix", |v| v.par_sort_radix());
    with_more!(more::floats, unstable)
}

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(&[Lib::Blitz, Lib::Rayon], cpus);
    arms::place_main(cpus);
    let mut session = Session::new("sort", options.clone());
    // Very many benches.
    session.effort = 0.3;
    let quick = options.quick;
    let all = &Input::ALL[..];
    let random_in_quick_runs = if quick { &[Input::Random][..] } else { all };
    for kind in &integers() {
        for size in SIZES {
            let inputs = if size == 1_000_000 {
                all
            } else {
                random_in_quick_runs
            };
            sort_all(&mut session, kind, inputs, size);
        }
        if !quick {
            sort_all(&mut session, kind, all, LARGEST);
        }
    }
    sort_type(&mut session, &floats(), random_in_quick_runs);
    #[cfg(feature = "full")]
    {
        sort_type(&mut session, &more::pairs(), random_in_quick_runs);
        sort_type(&mut session, &more::strings(), random_in_quick_runs);
        sort_type(&mut session, &more::records(), random_in_quick_runs);
    }
    session.into_rows()
}

fn sort_type<T: Element>(session: &mut Session, kinds: &[Kind<T>], inputs: &[Input]) {
    for kind in kinds {
        for size in SIZES {
            sort_all(session, kind, inputs, size);
        }
    }
}

fn sort_all<T: Element>(session: &mut Session, kind: &Kind<T>, inputs: &[Input], size: usize) {
    for input in inputs {
        let bench = format!("{}/{}/{}", kind.name, T::NAME, input.name());
        if session.wants(&bench) {
            let input = input.elements::<T>(size);
            let expected = Expected::new(&input, kind.stable);
            let arms = kind
                .sorters
                .iter()
                .map(|&sorter| arm(sorter, &input, &expected))
                .collect();
            session.bench(&bench, size as u64, Gap::BackToBack, arms);
        }
    }
}

fn arm<'a, T: Element>(
    Sorter { lib, sort }: Sorter<T>,
    input: &'a [T],
    expected: &'a Expected<T>,
) -> Arm<'a> {
    let sort_copies = move |calls: u32| {
        let mut total = Duration::ZERO;
        for _ in 0..calls {
            let mut copy = input.to_vec();
            let start = Instant::now();
            sort(&mut copy);
            total += start.elapsed();
            if !expected.allows(&copy) {
                wrong_result(0, 1);
            }
        }
        total
    };
    match lib {
        "seq" => Arm::new(lib, sort_copies),
        "blitz" | "blitz-radix" => Arm::new(lib, move |calls| blitz::inside(|| sort_copies(calls))),
        // The others run on rayon.
        _ => Arm::new(lib, move |calls| rayon::inside(|| sort_copies(calls))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Element>(kinds: Vec<Kind<T>>) {
        for kind in kinds {
            for input in Input::ALL {
                let elements = input.elements::<T>(3000);
                let expected = Expected::new(&elements, kind.stable);
                for sorter in &kind.sorters {
                    let mut copy = elements.clone();
                    (sorter.sort)(&mut copy);
                    assert!(
                        expected.allows(&copy),
                        "{} {} of {input:?}",
                        sorter.lib,
                        kind.name
                    );
                }
            }
        }
    }

    #[test]
    fn every_library_sorts_every_input_of_every_type() {
        check(integers());
        check(floats());
        #[cfg(feature = "full")]
        {
            check(more::pairs());
            check(more::strings());
            check(more::records());
        }
    }
}
