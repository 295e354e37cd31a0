//! The sorts that the tour does without: every type and kind, and the radix sorts of rdst and voracious_radix_sort.

use super::Kind;
use crate::arms::{blitz::sorts as b, rayon::sorts as r};
use crate::workloads::sorts::Record;
use ::blitz::prelude::ParallelSliceMut;
use ::rdst::RadixSort as _;
use ::voracious_radix_sort::RadixSort as _;

pub fn integers(unstable: Kind<u64>) -> Vec<Kind<u64>> {
    let unstable = unstable.and("rdst", |v| v.radix_sort_unstable());
    vec![
        unstable.and("voracious", |v| {
            v.voracious_mt_sort(::rayon::current_num_threads())
        }),
        Kind::new("stable", |v| v.sort(), b::stable, r::stable),
        Kind::new(
            "unstable_by",
            |v| v.sort_unstable_by(Ord::cmp),
            b::unstable_by,
            r::unstable_by,
        ),
        Kind::new(
            "stable_by",
            |v| v.sort_by(Ord::cmp),
            b::stable_by,
            r::stable_by,
        ),
    ]
}

pub fn floats(unstable: Kind<f64>) -> Vec<Kind<f64>> {
    let unstable = unstable.and("rdst", |v| v.radix_sort_unstable());
    vec![
        unstable.and("voracious", |v| {
            v.voracious_mt_sort(::rayon::current_num_threads())
        }),
        Kind::new(
            "stable",
            |v| v.sort_by(f64::total_cmp),
            b::stable_f64,
            r::stable_f64,
        ),
    ]
}

pub fn pairs() -> Vec<Kind<(u32, u32)>> {
    vec![
        Kind::new("unstable", |v| v.sort_unstable(), b::unstable, r::unstable)
            .and("blitz-radix", |v| v.par_sort_radix()),
        Kind::new("stable", |v| v.sort(), b::stable, r::stable),
    ]
}

pub fn strings() -> Vec<Kind<String>> {
    vec![
        Kind::new("unstable", |v| v.sort_unstable(), b::unstable, r::unstable),
        Kind::new("stable", |v| v.sort(), b::stable, r::stable),
    ]
}

pub fn records() -> Vec<Kind<Record>> {
    vec![
        Kind::new(
            "unstable",
            |v| v.sort_unstable_by_key(|record| record.key),
            b::unstable_record,
            r::unstable_record,
        ),
        Kind::new(
            "unstable_by",
            |v| v.sort_unstable_by(Record::by_key),
            b::unstable_by_record,
            r::unstable_by_record,
        ),
        Kind::new(
            "stable",
            |v| v.sort_by_key(|record| record.key),
            b::stable_record,
            r::stable_record,
        )
        .and("blitz-radix", |v| {
            v.par_sort_radix_by_key(|record| record.key)
        }),
    ]
}
