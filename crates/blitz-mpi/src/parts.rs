//! Data in one part for each rank.

use std::ops::Range;

/// A vector cut into one part for each rank: what goes to each, or what came from each. One allocation, in the order of ranks.
///
/// ```
/// use blitz_mpi::Parts;
/// let parts = Parts::from(vec![vec![1, 2], vec![], vec![3]]);
/// assert_eq!(parts.part(0), [1, 2]);
/// assert_eq!(parts.iter().map(<[i32]>::len).collect::<Vec<_>>(), [2, 0, 1]);
/// assert_eq!(parts.into_vec(), [1, 2, 3]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts<T> {
    pub(crate) data: Vec<T>,
    pub(crate) counts: Vec<usize>,
}

impl<T> Parts<T> {
    /// The first `counts[0]` elements are for rank 0, and so on.
    ///
    /// # Panics
    /// If the counts do not add up to the length.
    #[track_caller]
    pub fn new(data: Vec<T>, counts: Vec<usize>) -> Self {
        let sum = counts
            .iter()
            .try_fold(0usize, |sum, &count| sum.checked_add(count));
        assert_eq!(
            sum,
            Some(data.len()),
            "Parts::new: the counts do not add up to the length"
        );
        Parts { data, counts }
    }

    pub(crate) fn empty(size: usize) -> Self {
        Parts {
            data: Vec::new(),
            counts: vec![0; size],
        }
    }

    /// The same number of elements for each of `size` ranks, as far as possible: the first ones get one more.
    pub fn even(data: Vec<T>, size: usize) -> Self {
        let counts = (0..size)
            .map(|rank| block(data.len(), size, rank).len())
            .collect();
        Parts::new(data, counts)
    }

    /// How many elements each part has.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// The part of a rank.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn part(&self, rank: usize) -> &[T] {
        &self.data[self.ranges()[rank].clone()]
    }

    /// All parts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.ranges().into_iter().map(|range| &self.data[range])
    }

    /// All elements, in the order of ranks.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// All elements, in the order of ranks, without a copy.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    pub(crate) fn ranges(&self) -> Vec<Range<usize>> {
        self.counts
            .iter()
            .scan(0, |sum, &count| {
                let start = *sum;
                *sum += count;
                Some(start..*sum)
            })
            .collect()
    }
}

impl<T> From<Vec<Vec<T>>> for Parts<T> {
    fn from(parts: Vec<Vec<T>>) -> Self {
        let counts = parts.iter().map(Vec::len).collect();
        Parts::new(parts.into_iter().flatten().collect(), counts)
    }
}

/// The block of `rank` if `length` elements are spread evenly over `size` ranks.
pub(crate) fn block(length: usize, size: usize, rank: usize) -> Range<usize> {
    let (each, more) = (length / size, length % size);
    let start = rank * each + rank.min(more);
    start..start + each + usize::from(rank < more)
}
