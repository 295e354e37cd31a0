//! Kinds of tasks, for the console: those of one type that were spawned at one place. A task knows its kind by a small number, instead of by two pointers, so that a task with
//! a console is no larger than one without.
//!
//! Why that matters: sixteen bytes more made spawning an empty task 3 to 15 % slower, by where allocations of 96 instead of 80 bytes happen to begin and end in cache lines.
//!
//! A kind lives for ever. There are as many as the program has types of tasks and lines that spawn them; names that are made up at run time are limited ([`Place::named`]). The hot
//! parts are [`number`], a spawn finds its kind by two comparisons, if the thread has spawned the like before; and [`Column::read`]. What is known of the kinds lies in columns, one for each of
//! their functions and one for the places: so a function is found by the number alone, in an instruction more than by a pointer. By rows of 64 bytes it was three more, five times for each task.

use crate::place::on::Place;
use crate::task::{VTable, VTables};
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicPtr, AtomicU16, AtomicU32, Ordering};

/// Numbers below this; zero is nobody's.
const MOST: usize = 1 << 16;
/// From here on, tasks are known by their type only: what has to be known to run them.
const WITH_PLACES: u32 = 7 << 13;
/// Twice as many, so that a search soon ends.
const SLOTS: usize = 2 * MOST;

/// Something of each kind.
pub(crate) struct Column<T>([UnsafeCell<MaybeUninit<T>>; MOST]);

// SAFETY: each place is written once, by whoever took its number, before anybody else knows that number.
unsafe impl<T: Send + Sync> Sync for Column<T> {}

impl<T: Copy> Column<T> {
    pub(crate) const fn new() -> Self {
        Column([const { UnsafeCell::new(MaybeUninit::uninit()) }; MOST])
    }

    /// # Safety
    /// The number is the caller's: nobody has written there, and nobody reads.
    pub(crate) unsafe fn write(&self, number: u16, value: T) {
        // SAFETY: by contract.
        unsafe { (*self.0[usize::from(number)].get()).write(value) };
    }

    /// # Safety
    /// The number comes from [`number`].
    #[inline(always)]
    pub(crate) unsafe fn read(&self, number: u16) -> T {
        // SAFETY: who has the number learned of it after the place was written, and nobody writes it again.
        unsafe { (*self.0[usize::from(number)].get()).assume_init() }
    }
}

/// What is known of all kinds.
pub(crate) struct Kinds {
    /// How their tasks are run: copies, so that whoever wants to run a task has one load less.
    pub(crate) vtables: VTables,
    places: Column<Place>,
}

/// Address space, of which nobody uses more than there are kinds.
pub(crate) static KINDS: Kinds = Kinds {
    vtables: VTables::new(),
    places: Column::new(),
};
static NEXT: AtomicU32 = AtomicU32::new(1);
/// What the vtables are copies of.
static ORIGINALS: [AtomicPtr<VTable>; MOST] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST];
/// Their numbers, by a hash of what they are; zero where there is none.
static BY_HASH: [AtomicU16; SLOTS] = [const { AtomicU16::new(0) }; SLOTS];

/// Where the tasks of this kind are spawned.
///
/// # Safety
/// The number comes from [`number`].
#[inline(always)]
pub(crate) unsafe fn place(number: u16) -> Place {
    // SAFETY: passed on.
    unsafe { KINDS.places.read(number) }
}

/// The number of the tasks that are run by `vtable` and were spawned at `place`.
#[inline(always)]
pub(crate) fn number(place: Place, vtable: &'static VTable) -> u16 {
    let (last_place, last_vtable, last) = LAST.get();
    if last_place == place && std::ptr::eq(last_vtable, vtable) {
        return last as u16;
    }
    remember(place, vtable) as u16
}

thread_local! {
    /// What this thread has spawned last: most spawns are like the one before. The number is as wide as a register, so that nobody has to widen it.
    static LAST: Cell<(Place, *const VTable, usize)> =
        const { Cell::new((Place::ELSEWHERE, std::ptr::null(), 0)) };
}

/// Finds it, and keeps it at hand.
///
/// A panic in here, for want of numbers, ends the process: so a spawn has nothing to clean up.
#[cold]
#[inline(never)]
#[allow(
    improper_ctypes_definitions,
    reason = "called from here only; functions of this kind do not unwind"
)]
extern "C" fn remember(place: Place, vtable: &'static VTable) -> usize {
    let number = usize::from(find(place, vtable));
    LAST.set((place, vtable, number));
    number
}

fn find(place: Place, vtable: &'static VTable) -> u16 {
    let first = hash(place, vtable);
    // Acquire: what its maker wrote.
    let number = BY_HASH[first].load(Ordering::Acquire);
    if number != 0 {
        // SAFETY: it was in the table.
        if unsafe { is(number, place, vtable) } {
            return number;
        }
    }
    search(first, place, vtable)
}

/// Is it the one of these?
///
/// # Safety
/// As for [`place`].
#[inline(always)]
unsafe fn is(number: u16, at: Place, vtable: &'static VTable) -> bool {
    let original = ORIGINALS[usize::from(number)].load(Ordering::Relaxed);
    // SAFETY: passed on.
    std::ptr::eq(original, vtable) && unsafe { place(number) } == at
}

#[inline(always)]
fn hash(place: Place, vtable: &'static VTable) -> usize {
    let mixed = place.bits() as u64 ^ (std::ptr::from_ref(vtable) as u64).rotate_left(32);
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOTS.trailing_zeros())) as usize
}

#[cold]
fn search(first: usize, place: Place, vtable: &'static VTable) -> u16 {
    let mut fresh = 0;
    for slot in (0..SLOTS).map(|offset| &BY_HASH[(first + offset) % SLOTS]) {
        let mut found = slot.load(Ordering::Acquire);
        if found == 0 {
            if fresh == 0 {
                fresh = match make(place, vtable) {
                    Some(number) => number,
                    // The last ones are for those without a place.
                    None => return find(Place::ELSEWHERE, vtable),
                };
            }
            match slot.compare_exchange(0, fresh, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return fresh,
                // If it is the same kind, ours is a number wasted.
                Err(others) => found = others,
            }
        }
        // SAFETY: it was in the table.
        if unsafe { is(found, place, vtable) } {
            return found;
        }
    }
    unreachable!("there are more slots than numbers")
}

/// Takes a number and writes the kind.
fn make(place: Place, vtable: &'static VTable) -> Option<u16> {
    let limit = if place == Place::ELSEWHERE {
        MOST as u32
    } else {
        WITH_PLACES
    };
    let take = |next| (next < limit).then_some(next + 1);
    let taken = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    let number = match taken {
        Ok(number) => number as u16,
        Err(_) if place == Place::ELSEWHERE => panic!("more than {MOST} types of tasks"),
        Err(_) => return None,
    };
    let original = std::ptr::from_ref(vtable).cast_mut();
    ORIGINALS[usize::from(number)].store(original, Ordering::Relaxed);
    // SAFETY: the number is ours, and nobody else has it yet.
    unsafe {
        KINDS.vtables.write(number, vtable);
        KINDS.places.write(number, place);
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::vtable_for_tests;

    #[test]
    fn a_type_and_a_place_have_one_number_and_others_have_others() {
        let (one, other) = (vtable_for_tests::<u8>(), vtable_for_tests::<u16>());
        let (here, there) = (Place::here(), Place::here());
        let first = number(here, one);
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(move || number(here, one)))
            .collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), first);
        }
        let numbers = [first, number(here, other), number(there, one)];
        for (index, &number) in numbers.iter().enumerate() {
            assert!(number != 0 && !numbers[..index].contains(&number));
        }
        // SAFETY: it is a number.
        assert!(unsafe { is(first, here, one) && place(first).line() == here.line() });
    }
}
