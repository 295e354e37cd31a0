//! Grouping with many keys: deal the rows out by hash, then let every thread group whole parts in its cache.
//!
//! Rows are handled in batches, so that the buffers between the two steps stay small and are used again: first the rows of a
//! batch are dealt to as many buckets as there are parts, by several threads, each with buckets of its own; then each
//! part's table takes in its buckets, in the order of the rows. A key is hashed once. The tables live to the end, when they
//! are poured into one map. Parts are chosen by those bits of the hash that place a key in the map, so that this happens
//! from the map's beginning to its end.

use super::Grouping;
use crate::engine::sync::locks::Mutex;
use crate::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use crate::ops::pieces::pieces_of_at_least;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::PoisonError;

/// Rows per batch.
const BATCH: usize = 1 << 20;

/// Bytes that a part's table should have at most: it shares a cache with the rows that come in.
const TABLE_BYTES: usize = 256 << 10;

/// More parts than this would be more places to write to than a processor keeps in mind.
const MOST_PARTS: usize = 256;

/// A row on its way to its part: hash, key, item.
type Dealt<G> = (u64, <G as Grouping>::Key, <G as Grouping>::Item);

/// The rows of one part, dealt by one thread.
type Bucket<G> = Vec<Dealt<G>>;

pub(super) fn group<G, S>(grouping: &G, hasher: S, keys: usize) -> HashMap<G::Key, G::Group, S>
where
    G: Grouping,
    S: BuildHasher + Sync,
{
    let entry_bytes = size_of::<Entry<G::Key, G::Group>>() + 2 * size_of::<u32>();
    let parts = (keys.saturating_mul(entry_bytes) / TABLE_BYTES)
        .clamp(8, MOST_PARTS)
        .next_power_of_two();
    // A map of this many keys has twice as many places, or nearly so; their number's highest bits say which part.
    let shift = (2 * keys).ilog2() - parts.ilog2();
    let part_of = |hash: u64| (hash >> shift) as usize % parts;

    let mut tables: Vec<Table<G::Key, G::Group>> = (0..parts).map(|_| Table::new()).collect();
    let mut dealt: Vec<Vec<Bucket<G>>> = (0..parts).map(|_| Vec::new()).collect();
    let spare: Mutex<Vec<Bucket<G>>> = Mutex::default();
    let new_buckets = || -> Vec<Bucket<G>> {
        let mut spare = spare.lock().unwrap_or_else(PoisonError::into_inner);
        (0..parts)
            .map(|_| spare.pop().unwrap_or_default())
            .collect()
    };
    let rows = grouping.len();
    for start in (0..rows).step_by(BATCH) {
        let batch = start..(start + BATCH).min(rows);
        // Buckets are worth their while only for a good number of rows each.
        let hands = pieces_of_at_least(batch, 64 * parts)
            .fold(new_buckets, |mut buckets, piece| {
                for row in piece {
                    let key = grouping.key(row);
                    let hash = hasher.hash_one(&key);
                    buckets[part_of(hash)].push((hash, key, grouping.item(row)));
                }
                buckets
            })
            .map(|buckets| vec![buckets])
            .reduce(Vec::new, |mut left, right| {
                left.extend(right);
                left
            });
        for buckets in hands {
            for (part, bucket) in dealt.iter_mut().zip(buckets) {
                part.push(bucket);
            }
        }
        let parts = tables.par_iter_mut().zip(dealt.par_iter_mut());
        parts.for_each(|(table, buckets)| {
            for bucket in buckets {
                for (hash, key, item) in bucket.drain(..) {
                    table.take_in(grouping, hash, key, item);
                }
            }
        });
        let spare = &mut *spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.extend(dealt.iter_mut().flat_map(|buckets| buckets.drain(..)));
    }
    drop((dealt, spare));

    let total = tables.iter().map(|table| table.entries.len()).sum();
    let mut map = HashMap::with_capacity_and_hasher(total, hasher);
    for table in tables {
        map.extend(table.entries.into_iter().map(|e| (e.key, e.group)));
    }
    map
}

/// A hash table that is handed its hashes, with its entries in the order in which they came.
struct Table<K, V> {
    /// Places, by the bits of a hash: 0 for nothing, or the number of an entry plus one. A power of two, at most half full.
    places: Vec<u32>,
    entries: Vec<Entry<K, V>>,
}

struct Entry<K, V> {
    hash: u64,
    key: K,
    group: V,
}

impl<K: Eq, V> Table<K, V> {
    fn new() -> Self {
        Table {
            places: vec![0; 64],
            entries: Vec::new(),
        }
    }

    /// The place where the search for a hash begins. Multiplying spreads whatever bits the hash is good at.
    #[inline]
    fn first_place(&self, hash: u64) -> usize {
        let bits = self.places.len().trailing_zeros();
        (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    #[inline]
    fn take_in<G>(&mut self, grouping: &G, hash: u64, key: K, item: G::Item)
    where
        G: Grouping<Key = K, Group = V>,
    {
        let mask = self.places.len() - 1;
        let mut place = self.first_place(hash);
        loop {
            let number = self.places[place];
            if number == 0 {
                break;
            }
            let entry = &mut self.entries[number as usize - 1];
            if entry.hash == hash && entry.key == key {
                grouping.add(&mut entry.group, item);
                return;
            }
            place = (place + 1) & mask;
        }
        let group = grouping.begin(item);
        self.entries.push(Entry { hash, key, group });
        self.places[place] = u32::try_from(self.entries.len()).expect("fewer than 2^32 keys");
        if 2 * self.entries.len() > self.places.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mask = 4 * self.places.len() - 1;
        self.places = vec![0; mask + 1];
        for i in 0..self.entries.len() {
            let mut place = self.first_place(self.entries[i].hash);
            while self.places[place] != 0 {
                place = (place + 1) & mask;
            }
            self.places[place] = i as u32 + 1;
        }
    }
}
