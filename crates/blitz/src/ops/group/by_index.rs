//! Grouping by small integers: arrays instead of hash maps.

use crate::engine::current_num_threads;
use crate::engine::operation;
use crate::engine::primitives::SyncPtr;
use crate::iter::IndexedParallelIterator;
use crate::iter::{
    IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator,
};
use crate::math::{bucket_starts, stripe};
use crate::ops::chunks::chunks_of;
use crate::ops::pieces::pieces_of_at_least;

/// How many rows fall into each of `buckets` buckets, by `bucket`.
///
/// Work: `O(n + tb)` for `t` threads and `b` buckets. Span: `O(b log t + log n)` and one piece. Allocates `b` counters per
/// thread that takes part.
///
/// # Panics
/// When `bucket` returns a number that is not below `buckets`.
///
/// ```
/// let grades = [87, 91, 45, 62, 93];
/// let tens = blitz::ops::par_histogram(&grades, 10, |grade| grade / 10);
/// assert_eq!(tens, [0, 0, 0, 0, 1, 0, 1, 0, 1, 2]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_histogram<T, F>(v: &[T], buckets: usize, bucket: F) -> Vec<usize>
where
    T: Sync,
    F: Fn(&T) -> usize + Sync,
{
    let _operation = operation();
    par_collect_reduce_by_index(v, buckets, bucket, |_| 1, 0, |count, more| *count += more)
}

/// The sum of the values in each of `buckets` buckets: `identity` where there is none, and otherwise all values of the bucket
/// combined in the order of the slice.
///
/// `combine` adds a later value to an earlier one; it must be associative, and `identity` must change nothing.
///
/// Work and span: as [`par_histogram`].
///
/// # Panics
/// When `bucket` returns a number that is not below `buckets`.
///
/// ```
/// let sales = [(0, 2.5), (2, 1.0), (0, 0.5)];
/// let sums = blitz::ops::par_collect_reduce_by_index(&sales, 3, |s| s.0, |s| s.1, 0.0, |sum, more| *sum += more);
/// assert_eq!(sums, [3.0, 0.0, 1.0]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_collect_reduce_by_index<T, V, F, G, C>(
    v: &[T],
    buckets: usize,
    bucket: F,
    value: G,
    identity: V,
    combine: C,
) -> Vec<V>
where
    T: Sync,
    V: Clone + Send + Sync,
    F: Fn(&T) -> usize + Sync,
    G: Fn(&T) -> V + Sync,
    C: Fn(&mut V, V) + Sync,
{
    let _operation = operation();
    // A table must be worth its making: no piece is shorter than it.
    let tables = pieces_of_at_least(0..v.len(), buckets).fold(
        || vec![identity.clone(); buckets],
        |mut table, part| {
            tally(&v[part], &mut table, &bucket, &value, &combine);
            table
        },
    );
    let sum = tables.reduce_with(|mut left, right| {
        let pairs = left.par_iter_mut().zip(right);
        pairs.for_each(|(sum, more)| combine(sum, more));
        left
    });
    sum.unwrap_or_else(|| vec![identity.clone(); buckets])
}

/// Adds the rows of a piece to a table. Not inlined: alone, the compiler knows that the table stays where it is. Eight rows a turn, which the compiler does by itself only where it
/// sees that no row can be out of bounds.
#[inline(never)]
fn tally<T, V>(
    rows: &[T],
    table: &mut [V],
    bucket: &impl Fn(&T) -> usize,
    value: &impl Fn(&T) -> V,
    combine: &impl Fn(&mut V, V),
) {
    let buckets = table.len();
    let mut add = |row| {
        let place = bucket(row);
        match table.get_mut(place) {
            Some(sum) => combine(sum, value(row)),
            None => no_such_bucket(place, buckets),
        }
    };
    let (eights, rest) = chunks_of::<T, 8>(rows);
    for eight in eights {
        eight.iter().for_each(&mut add);
    }
    rest.iter().for_each(add);
}

#[cold]
fn no_such_bucket(place: usize, buckets: usize) -> ! {
    panic!("a row was put into bucket {place}, but there are only {buckets}");
}

/// Adds to `counts` how many rows of a piece fall into each bucket.
fn count<T>(rows: &[T], counts: &mut [usize], bucket: &impl Fn(&T) -> usize) {
    tally(rows, counts, bucket, &|_| 1, &|count, more| *count += more);
}

/// The indices of all rows, bucket by bucket and in each bucket in order; and where each bucket starts in them.
///
/// Bucket `b` is `rows[starts[b]..starts[b + 1]]`. This is a stable counting sort of the rows by bucket.
///
/// Work: `O(n + tb)` for `t` threads and `b` buckets, and two calls of `bucket` per row; one if there are few rows. Span:
/// `O(tb + n / t)`.
///
/// # Panics
/// When `bucket` returns a number that is not below `buckets`, or another one when asked again.
///
/// ```
/// let (starts, rows) = blitz::ops::par_group_by_index(&["a", "bbb", "c", "dd"], 4, |word| word.len());
/// assert_eq!(starts, [0, 0, 2, 3, 4]);
/// assert_eq!(rows[starts[1]..starts[2]], [0, 2]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_group_by_index<T, F>(v: &[T], buckets: usize, bucket: F) -> (Vec<usize>, Vec<usize>)
where
    T: Sync,
    F: Fn(&T) -> usize + Sync,
{
    let _operation = operation();
    let worth_a_table = v.len() / buckets.max(1 << 14);
    if worth_a_table <= 1 {
        // A short slice is not worth a table per thread, but its rows may be dear to ask. So each is asked once, by all threads.
        let bucket_of: Vec<usize> = v.par_iter().map(&bucket).collect();
        return counting_sort(&bucket_of, buckets, &|bucket| *bucket);
    }
    let stripes = match current_num_threads() {
        1 => return counting_sort(v, buckets, &bucket),
        threads => worth_a_table.min(4 * threads),
    };
    let stripe = |i: usize| stripe(v.len(), stripes, i);
    let mut places: Vec<Vec<usize>> = (0..stripes)
        .into_par_iter()
        .map(|i| {
            let mut counts = vec![0; buckets];
            count(&v[stripe(i)], &mut counts, &bucket);
            counts
        })
        .collect();

    // Where the rows of each stripe go within each bucket.
    let starts = bucket_starts(&mut places, buckets);

    let mut rows = vec![0; v.len()];
    let all = SyncPtr::new(&mut rows);
    let ends: Vec<Vec<usize>> = (1..stripes).map(|i| places[i].clone()).collect();
    places.par_iter_mut().enumerate().for_each(|(i, places)| {
        for row in stripe(i) {
            let b = bucket(&v[row]);
            let end = match ends.get(i) {
                Some(next_stripe) => next_stripe[b],
                None => starts[b + 1],
            };
            let place = &mut places[b];
            assert!(*place < end, "a row was put into two different buckets");
            // SAFETY: the places of this stripe in this bucket belong to this call alone, and this one is among them.
            unsafe { all.write_at(*place, row) };
            *place += 1;
        }
    });
    (starts, rows)
}

/// [`par_group_by_index`] on this thread.
fn counting_sort<T>(
    v: &[T],
    buckets: usize,
    bucket: &impl Fn(&T) -> usize,
) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0; buckets + 1];
    count(v, &mut starts[1..], bucket);
    let mut next = 0;
    for start in &mut starts {
        next += *start;
        *start = next;
    }
    let mut places = starts[..buckets].to_vec();
    let mut rows = vec![0; v.len()];
    for (row, x) in v.iter().enumerate() {
        let place = &mut places[bucket(x)];
        rows[*place] = row;
        *place += 1;
    }
    // Every bucket has been filled up to where the next one starts, unless a row changed its bucket.
    let as_counted = places == starts[1..];
    assert!(as_counted, "a row was put into two different buckets");
    (starts, rows)
}
