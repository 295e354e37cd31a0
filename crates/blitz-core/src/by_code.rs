//! A table of what is known about pieces of code: the joins, and the loops, of a program.
//!
//! The key is the address of a function, which is unique to the types it was compiled for, and so to the closures. A generic function cannot have a static for each of these, so
//! there is a table, with a fixed number of entries.
//!
//! Two pieces of code in one entry would take each other's past for their own, and which ones meet would be another matter in each process, since systems load code where they
//! like. So each entry has its owner, and two share one only if the table is nearly full.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Where its entry has another owner, code gets one of the next so many.
const PLACES: usize = 16;

/// `N` entries; a power of two.
#[doc(hidden)]
pub struct ByCode<T, const N: usize>([Entry<T>; N]);

#[doc(hidden)]
pub struct Entry<T> {
    /// The address; 0: nobody's yet.
    owner: AtomicUsize,
    value: T,
}

impl<T> Entry<T> {
    pub const fn new(value: T) -> Self {
        Entry {
            owner: AtomicUsize::new(0),
            value,
        }
    }
}

impl<T, const N: usize> ByCode<T, N> {
    pub const fn new(entries: [Entry<T>; N]) -> Self {
        assert!(N.is_power_of_two() && N > 1);
        ByCode(entries)
    }

    /// The entry of the code at `address`.
    #[inline]
    pub fn of(&self, address: usize) -> &T {
        let entry = &self.0[Self::place_of(address)];
        // Relaxed: an owner is there for ever, and says nothing about the value, which looks after itself.
        if entry.owner.load(Relaxed) == address {
            return &entry.value;
        }
        self.elsewhere(address)
    }

    /// The same, the first time, or if the entry has another owner.
    #[cold]
    #[inline(never)]
    fn elsewhere(&self, address: usize) -> &T {
        let first = Self::place_of(address);
        let mut entries = (first..first + PLACES).map(|place| &self.0[place % N]);
        let is_mine = |entry: &&Entry<T>| {
            let owner = &entry.owner;
            match owner.compare_exchange(0, address, Relaxed, Relaxed) {
                Ok(_) => true,
                Err(owner) => owner == address,
            }
        };
        let mine = entries.find(is_mine);
        &mine.unwrap_or(&self.0[first]).value
    }

    /// The low bits of an address are mostly alignment: multiplied, they say something about the rest.
    #[inline]
    fn place_of(address: usize) -> usize {
        let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> (64 - N.trailing_zeros())) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Table = ByCode<u8, 64>;

    #[test]
    fn code_with_the_same_place_has_entries_of_its_own() {
        let table = Table::new([const { Entry::new(0) }; 64]);
        let place = Table::place_of(16);
        let same = (16..).step_by(16).filter(|a| Table::place_of(*a) == place);
        let addresses: Vec<usize> = same.take(PLACES + 1).collect();
        let entries = || -> Vec<*const u8> {
            let of = |address: &usize| std::ptr::from_ref(table.of(*address));
            addresses.iter().map(of).collect()
        };
        let all = entries();
        for (index, entry) in all[..PLACES].iter().enumerate() {
            assert!(!all[..index].contains(entry), "{index} shares an entry");
        }
        assert_eq!(all[PLACES], all[0], "there is no place left");
        assert_eq!(all, entries(), "found again");
    }

    #[test]
    fn threads_that_come_at_the_same_time_get_the_same_entry() {
        for round in 0..100 {
            let table = Table::new([const { Entry::new(0) }; 64]);
            let of = |address: usize| std::ptr::from_ref(table.of(address)) as usize;
            let entries = || [16, 32, 48].map(|code| of(code + 64 * round));
            std::thread::scope(|s| {
                let other = s.spawn(entries);
                let mine = entries();
                assert_eq!(other.join().unwrap(), mine);
            });
        }
    }
}
