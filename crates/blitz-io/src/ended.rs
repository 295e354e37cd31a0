//! Tasks that are through, by the place where they were spawned, counted while somebody looks.
//!
//! Each thread counts in a table of its own, with plain stores: a task that ends finds its place's slot by a hash, and adds one. What loses its slot to another place goes into a map,
//! under the table's lock, which only those who look want otherwise. Tables are never freed: whoever needs one takes that of a thread that has ended, with what was counted there, or makes one.

use crate::place::on::Place;
use crate::primitives::AtomicU64;
use crate::task::Header;
use blitz_core::console::ForkLock;
use std::cell::Cell;
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// A power of two.
const SLOTS: usize = 16;

/// Tasks, and their polls.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) tasks: u64,
    pub(crate) polls: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, more: Counts) {
        self.tasks += more.tasks;
        self.polls += more.polls;
    }
}

/// What has been counted of a place. Only the table's thread writes, and to `place` only under its lock.
#[derive(Default)]
struct Slot {
    place: AtomicUsize,
    tasks: AtomicU64,
    polls: AtomicU64,
}

#[derive(Default)]
struct Table {
    slots: [Slot; SLOTS],
    /// Of places without a slot.
    others: ForkLock<Option<HashMap<Place, Counts>>>,
    /// A thread counts here.
    is_taken: AtomicBool,
    /// The one that was made before.
    next: AtomicPtr<Table>,
}

static TABLES: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());

/// Whoever drops it does not need its table any more.
struct Own(&'static Table);

thread_local! {
    /// The thread's table; null: it has none yet, or none any more.
    static TABLE: Cell<*const Table> = const { Cell::new(ptr::null()) };
    static OWN: Cell<Option<Own>> = const { Cell::new(None) };
}

/// The task is through, and somebody looks.
#[inline]
pub(crate) fn count(task: &Header) {
    // SAFETY: tables are never freed.
    let table = unsafe { TABLE.get().as_ref() };
    let counts = Counts {
        tasks: 1,
        polls: task.polls.get().into(),
    };
    match table {
        Some(table) => table.add(task.seen.place(), counts),
        None => begin(task.seen.place(), counts),
    }
}

/// The thread's first one.
#[cold]
fn begin(place: Place, counts: Counts) {
    let table = Table::take();
    table.add(place, counts);
    let stays = OWN.try_with(|own| own.set(Some(Own(table)))).is_ok();
    if stays {
        TABLE.set(table);
    } else {
        // The thread ends: just for this one.
        table.is_taken.store(false, Ordering::Release);
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        TABLE.set(ptr::null());
        // Release: whoever takes it goes on with what we have counted.
        self.0.is_taken.store(false, Ordering::Release);
    }
}

/// All that has been counted, of all threads.
pub(crate) fn all() -> HashMap<Place, Counts> {
    let mut all = HashMap::new();
    tables().for_each(|table| table.show(&mut all));
    all
}

fn tables() -> impl Iterator<Item = &'static Table> {
    // SAFETY: never freed.
    let at = |from: &AtomicPtr<Table>| unsafe { from.load(Ordering::Acquire).as_ref() };
    std::iter::successors(at(&TABLES), move |table| at(&table.next))
}

impl Table {
    fn take() -> &'static Table {
        let takes = |table: &Table| {
            let takes =
                table
                    .is_taken
                    .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
            takes.is_ok()
        };
        tables()
            .find(|table| takes(table))
            .unwrap_or_else(Self::make)
    }

    fn make() -> &'static Table {
        let table: &'static Table = Box::leak(Box::default());
        table.is_taken.store(true, Ordering::Relaxed);
        let link = |first| {
            table.next.store(first, Ordering::Relaxed);
            Some(ptr::from_ref(table).cast_mut())
        };
        // Release: whoever finds it finds it made.
        let _ = TABLES.fetch_update(Ordering::Release, Ordering::Relaxed, link);
        table
    }

    /// For the table's thread.
    #[inline]
    fn add(&self, place: Place, counts: Counts) {
        let slot = &self.slots[place.bits() / align_of::<usize>() % SLOTS];
        if slot.place.load(Ordering::Relaxed) != place.bits() {
            self.give_slot(slot, place);
        }
        let add = |count: &AtomicU64, more| {
            count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        };
        add(&slot.tasks, counts.tasks);
        add(&slot.polls, counts.polls);
    }

    #[cold]
    fn give_slot(&self, slot: &Slot, place: Place) {
        let mut others = self.others.lock();
        if let Some((before, counts)) = slot.get() {
            let others = others.get_or_insert_default();
            others.entry(before).or_default().add(counts);
        }
        slot.place.store(place.bits(), Ordering::Relaxed);
        slot.tasks.store(0, Ordering::Relaxed);
        slot.polls.store(0, Ordering::Relaxed);
    }

    /// For anybody.
    fn show(&self, to: &mut HashMap<Place, Counts>) {
        let others = self.others.lock();
        let known = others
            .iter()
            .flatten()
            .map(|(&place, &counts)| (place, counts));
        for (place, counts) in known.chain(self.slots.iter().filter_map(Slot::get)) {
            to.entry(place).or_default().add(counts);
        }
    }
}

impl Slot {
    fn get(&self) -> Option<(Place, Counts)> {
        let place = Place::of_bits(self.place.load(Ordering::Relaxed))?;
        let counts = Counts {
            tasks: self.tasks.load(Ordering::Relaxed),
            polls: self.polls.load(Ordering::Relaxed),
        };
        Some((place, counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_places_than_slots_are_all_counted() {
        let table = Table::default();
        let one = Counts { tasks: 1, polls: 3 };
        let places: Vec<_> = (0..5 * SLOTS)
            .map(|number| Place::here().named(&format!("place {number}")))
            .collect();
        for _ in 0..10 {
            places.iter().for_each(|&place| table.add(place, one));
        }
        let mut all = HashMap::new();
        table.show(&mut all);
        assert_eq!(all.len(), places.len());
        assert!(
            all.values()
                .all(|counts| (counts.tasks, counts.polls) == (10, 30))
        );
    }

    #[test]
    fn the_table_of_a_thread_that_has_ended_is_anothers() {
        let table = || {
            std::thread::spawn(|| {
                let table = Table::take();
                OWN.set(Some(Own(table)));
                ptr::from_ref(table) as usize
            })
        };
        let first = table().join().unwrap();
        // Other tests count as well.
        let again = (0..1000).any(|_| table().join().unwrap() == first);
        assert!(again);
    }
}
