//! A row that grows at its end while others hold references into it.
//!
//! What a pool has one of for each thread is made with the pool, in one block, where finding it costs what it costs in a slice. A pool that gets more threads later
//! ([`set_num_threads`](crate::ThreadPool::set_num_threads)) adds blocks behind it, each a quarter of everything before, or larger, so that there are few. Nothing is ever moved or freed before the whole row.

use crate::sync::locks::OnceLock;
use std::ops::Index;

/// See the module's documentation.
#[derive(Debug)]
pub struct Rows<T> {
    block: Box<[T]>,
    more: OnceLock<Box<Rows<T>>>,
}

impl<T> Rows<T> {
    /// The first block.
    pub fn first(&self) -> &[T] {
        &self.block
    }

    /// Has anything been added since?
    #[inline]
    pub fn is_longer(&self) -> bool {
        self.more.get().is_some()
    }

    /// What has been added since.
    pub fn rest(&self) -> Iter<'_, T> {
        Iter {
            block: [].iter(),
            rows: self,
        }
    }

    /// All of it.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter {
            block: self.block.iter(),
            rows: self,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let more = self.more.get().map_or(0, |more| more.len());
        self.block.len() + more
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one with that index, if there is one.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        match self.block.get(index) {
            Some(found) => Some(found),
            None => self.more.get()?.get(index - self.block.len()),
        }
    }

    /// Adds some, made from their indices, unless there are at least `len`. For one caller at a time.
    pub fn grow_to(&self, len: usize, make: impl FnMut(usize) -> T) {
        let before = self.len();
        if before >= len {
            return;
        }
        let end = len.max(before + before / 4);
        let mut last = self;
        while let Some(more) = last.more.get() {
            last = more;
        }
        let more = Rows {
            block: (before..end).map(make).collect(),
            more: OnceLock::new(),
        };
        let added = last.more.set(Box::new(more));
        assert!(added.is_ok(), "one caller at a time");
    }
}

/// Goes through a row from one end to the other. By hand: made of the iterators of the standard library, it was a quarter of all code that this crate has the compiler
/// go through, again for each of the many who search among the seats.
#[derive(Debug)]
pub struct Iter<'a, T> {
    block: std::slice::Iter<'a, T>,
    /// What `block` is of.
    rows: &'a Rows<T>,
}

// By hand: a derive would ask for `T: Clone`.
impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter {
            block: self.block.clone(),
            rows: self.rows,
        }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        loop {
            if let Some(next) = self.block.next() {
                return Some(next);
            }
            self.rows = self.rows.more.get()?;
            self.block = self.rows.block.iter();
        }
    }
}

impl<T> FromIterator<T> for Rows<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Rows {
            block: items.into_iter().collect(),
            more: OnceLock::new(),
        }
    }
}

impl<T> Index<usize> for Rows<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        match self.block.get(index) {
            Some(found) => found,
            None => self.get(index).expect("an index of the row"),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_row_grows_and_nothing_moves() {
        let row: Rows<usize> = (0..3).collect();
        let addresses = |row: &Rows<usize>| row.iter().map(std::ptr::from_ref).collect::<Vec<_>>();
        let before = addresses(&row);
        for len in [3, 4, 5, 20, 21, 100] {
            row.grow_to(len, |index| index);
            assert!(row.len() >= len && row.iter().copied().eq(0..row.len()));
            assert_eq!(addresses(&row)[..3], before);
            assert!((0..row.len()).all(|index| row[index] == index));
            assert_eq!(row.get(row.len()), None);
        }
        let blocks = std::iter::successors(Some(&row), |rows| rows.more.get().map(|more| &**more));
        assert!(blocks.count() <= 6);
        assert_eq!(row.first(), [0, 1, 2]);
        assert!(row.rest().copied().eq(3..row.len()));
    }
}
