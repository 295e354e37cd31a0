//! What the console wants to know of a task: where it was spawned, its name, how often it was polled; and of a worker: which task it polls.
//!
//! With the cargo feature `console`, a task has a number here where it would have the pointer to what runs it (`kinds.rs`), with the counts in the same word, and there are a few plain stores for
//! each poll. Without it that pointer is all, and nothing else remains.

#[cfg(all(feature = "console", not(loom)))]
pub(crate) use on::{Now, Place, Seen, Tally};

#[cfg(any(not(feature = "console"), loom))]
#[cfg_attr(loom, allow(unused_imports, reason = "loom builds no workers"))]
pub(crate) use off::{Now, Place, Seen, Tally};

/// A task's part in a profile of the program that has spawned it: nothing, unless the engine is built with its profiler.
#[cfg(not(loom))]
pub(crate) type Strand = blitz_core::companion::Polled;

/// Models have no profiles.
#[cfg(loom)]
pub(crate) struct Strand;

#[cfg(loom)]
impl Strand {
    pub(crate) fn poll<R>(&self, poll: impl FnOnce() -> R) -> R {
        poll()
    }

    pub(crate) fn awaited(&self) {}
}

/// That of a task that begins.
#[inline(always)]
pub(crate) fn strand(place: Place) -> Strand {
    #[cfg(not(loom))]
    return Strand::spawned(place.site());
    #[cfg(loom)]
    {
        let _ = place;
        Strand
    }
}

#[cfg(all(feature = "console", not(loom)))]
pub(crate) mod on {
    use crate::kinds;
    use crate::task::{Header, VTable};
    use blitz_core::console::{ForkLock, thread_number};
    use blitz_core::site::Site;
    use std::borrow::Cow;
    use std::collections::HashMap;
    use std::panic::Location;
    use std::sync::atomic::{AtomicU16, AtomicU32, AtomicUsize, Ordering};

    /// Different names that are remembered. Tasks with others are known by their line only: somebody puts numbers into names.
    const NAMES: usize = 1024;
    /// Letters of a name that are remembered.
    const LETTERS: usize = 100;

    static NAMED: ForkLock<Vec<&'static Named>> = ForkLock::new(Vec::new());

    /// A line with a name. At an even address, as locations are.
    #[repr(align(8))]
    #[derive(PartialEq, Eq)]
    struct Named {
        line: &'static Location<'static>,
        name: Box<str>,
    }

    /// Where a task was spawned, and what it is called: a pointer to a location, or to one with a name and then odd.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Place(usize);

    /// The line of [`Place::ELSEWHERE`].
    const ELSEWHERE: &Location<'static> = Location::caller();

    impl Place {
        /// For those that come when there are too many of them.
        pub(crate) const ELSEWHERE: Self = Place(0);

        /// What tells it from others.
        #[inline(always)]
        pub(crate) fn bits(self) -> usize {
            self.0
        }

        /// The caller's caller.
        #[inline(always)]
        #[track_caller]
        pub(crate) fn here() -> Self {
            Place((&raw const *Location::caller()).expose_provenance())
        }

        /// For a profile.
        #[inline]
        pub(crate) fn site(self) -> Site {
            Site::at(self.line())
        }

        /// The same with a name.
        pub(crate) fn named(self, name: &str) -> Self {
            let line = self.line();
            let name = shortened(name);
            let mut named = NAMED.lock();
            let known = named
                .iter()
                .copied()
                .find(|known| known.line == line && *known.name == *name);
            let known = match known {
                Some(known) => known,
                None if named.len() == NAMES => return self,
                None => {
                    let name = name.into_owned().into();
                    let known: &'static Named = Box::leak(Box::new(Named { line, name }));
                    named.push(known);
                    known
                }
            };
            Place((&raw const *known).expose_provenance() | 1)
        }

        pub(crate) fn line(self) -> &'static Location<'static> {
            if self == Self::ELSEWHERE {
                return ELSEWHERE;
            }
            self.as_named().map_or_else(
                // SAFETY: then it is the address of a location, which lives for ever.
                || unsafe { &*std::ptr::with_exposed_provenance(self.0) },
                |named| named.line,
            )
        }

        pub(crate) fn name(self) -> Option<&'static str> {
            self.as_named().map(|named| &*named.name)
        }

        fn as_named(self) -> Option<&'static Named> {
            // SAFETY: an odd one is the address after that of something leaked.
            (self.0 & 1 == 1).then(|| unsafe { &*std::ptr::with_exposed_provenance(self.0 - 1) })
        }
    }

    /// The beginning of a name that goes on and on: it is kept for ever, and shown to everybody who looks.
    fn shortened(name: &str) -> Cow<'_, str> {
        match name.char_indices().nth(LETTERS) {
            Some((end, _)) => format!("{}…", &name[..end]).into(),
            None => name.into(),
        }
    }

    /// In each task: its kind, and how often it was polled. Whoever polls a task has the right to count here, so no count is lost. Wakes need no count of their own: each one that makes the task ready,
    /// and its being spawned, is followed by a poll.
    #[repr(C)]
    pub(crate) struct Seen {
        /// The number of its kind. First, so that it needs not be moved to its place in the word that all of this is at the beginning.
        kind: u16,
        /// How often `polls` has come round to zero.
        rounds: AtomicU16,
        polls: AtomicU32,
    }

    impl Seen {
        /// Of a task that is about to be put together.
        #[inline(always)]
        pub(crate) fn new(place: Place, vtable: &'static VTable) -> Self {
            Seen {
                kind: kinds::number(place, vtable),
                rounds: AtomicU16::new(0),
                polls: AtomicU32::new(0),
            }
        }

        #[inline(always)]
        pub(crate) fn number(&self) -> u16 {
            self.kind
        }

        /// It is polled.
        #[inline(always)]
        pub(crate) fn polled(&self) {
            let polls = self.polls.load(Ordering::Relaxed);
            self.polls.store(polls.wrapping_add(1), Ordering::Relaxed);
        }

        /// The poll has ended, and is not the last one: that is all that a count of four thousand million is asked for.
        #[inline(always)]
        pub(crate) fn pends(&self) {
            if self.polls.load(Ordering::Relaxed) == 0 {
                self.comes_round();
            }
        }

        #[cold]
        fn comes_round(&self) {
            let rounds = self.rounds.load(Ordering::Relaxed);
            self.rounds.store(rounds.wrapping_add(1), Ordering::Relaxed);
        }

        pub(crate) fn place(&self) -> Place {
            // SAFETY: it is a number.
            unsafe { kinds::place(self.kind) }
        }

        /// How often it was polled.
        pub(crate) fn polls(&self) -> u64 {
            let rounds = u64::from(self.rounds.load(Ordering::Relaxed));
            rounds << 32 | u64::from(self.polls.load(Ordering::Relaxed))
        }
    }

    /// In each list of tasks, under its lock: how many have left it while somebody looked, and how often these were polled. A word, as long as nobody looks.
    #[derive(Default)]
    pub(crate) struct Ended(Option<Box<ByKind>>);

    /// See [`Ended`].
    #[derive(Default)]
    struct ByKind {
        /// Of the kind that left last: most tasks leave after others of their kind.
        last: u16,
        counts: Counts,
        others: HashMap<u16, Counts>,
    }

    /// Tasks, and their polls.
    #[derive(Clone, Copy, Default)]
    pub(crate) struct Counts {
        pub(crate) tasks: u64,
        pub(crate) polls: u64,
    }

    impl Ended {
        /// A task has left, and somebody looks.
        pub(crate) fn add(&mut self, task: &Header) {
            self.0.get_or_insert_default().add(task);
        }

        /// All of them.
        pub(crate) fn get(&self) -> impl Iterator<Item = (Place, Counts)> {
            self.0.iter().flat_map(|ended| ended.get())
        }
    }

    impl ByKind {
        fn add(&mut self, task: &Header) {
            let number = task.seen.number();
            if number != self.last {
                self.turn_to(number);
            }
            self.counts.tasks += 1;
            self.counts.polls += task.seen.polls();
        }

        #[cold]
        fn turn_to(&mut self, number: u16) {
            let counts = std::mem::take(&mut self.counts);
            self.others.insert(self.last, counts);
            self.counts = self.others.remove(&number).unwrap_or_default();
            self.last = number;
        }

        fn get(&self) -> impl Iterator<Item = (Place, Counts)> {
            let last = (self.last, self.counts);
            let others = self
                .others
                .iter()
                .map(|(&number, &counts)| (number, counts));
            // Before the first one there was none.
            let known = others.chain([last]).filter(|&(number, _)| number != 0);
            // SAFETY: it is a number.
            known.map(|(number, counts)| (unsafe { kinds::place(number) }, counts))
        }
    }

    /// In each wheel of timers, under its lock.
    #[derive(Debug, Default)]
    pub(crate) struct Tally {
        armed: u64,
        fired: u64,
    }

    impl Tally {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        pub(crate) fn armed(&mut self) {
            self.armed += 1;
        }

        pub(crate) fn cancelled(&mut self) {
            self.armed -= 1;
        }

        pub(crate) fn fired(&mut self) {
            self.armed -= 1;
            self.fired += 1;
        }

        /// How many are armed, and how many have gone off.
        pub(crate) fn get(&self) -> (u64, u64) {
            (self.armed, self.fired)
        }
    }

    /// In each worker's core: the task that it polls, if it is in a slice. Two plain stores for each poll of what is at hand: putting both into one word took ten instructions. Whoever looks between the two
    /// sees the kind of one task with the number of the one before.
    #[derive(Default)]
    pub(crate) struct Now {
        /// The number of its kind; 0 if none was polled yet.
        kind: AtomicU16,
        /// Its address, which is even, and [`SAID`].
        task: AtomicUsize,
        /// The number by which the system knows the owner, if that is a relief thread; else 0.
        thread: AtomicU32,
    }

    /// The poll has said that it takes long.
    const SAID: usize = 1;

    impl Now {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        /// For the owner.
        #[inline(always)]
        pub(crate) fn polls(&self, kind: u16, task: *const Header) {
            // Release: whoever looks finds the kind written.
            self.kind.store(kind, Ordering::Release);
            self.task.store(task as usize, Ordering::Relaxed);
        }

        /// The poll has said that it blocks, or computes for long: somebody else serves. For the owner.
        pub(crate) fn says_so(&self) {
            let task = self.task.load(Ordering::Relaxed);
            self.task.store(task | SAID, Ordering::Relaxed);
        }

        /// The calling thread, a relief thread, owns it from now on.
        pub(crate) fn relieves(&self) {
            self.thread.store(thread_number(), Ordering::Relaxed);
        }

        /// See `relieves`.
        pub(crate) fn relief_thread(&self) -> Option<u32> {
            let thread = self.thread.load(Ordering::Relaxed);
            (thread != 0).then_some(thread)
        }

        /// Where the task was spawned that it polls or has polled last, the task's name as a number, and whether the poll has said that it takes long.
        pub(crate) fn get(&self) -> Option<(Place, usize, bool)> {
            let number = self.kind.load(Ordering::Acquire);
            let task = self.task.load(Ordering::Relaxed);
            (number != 0).then(|| {
                // SAFETY: it is a number.
                let place = unsafe { kinds::place(number) };
                (place, task & !SAID, task & SAID != 0)
            })
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn polls_are_counted_beyond_what_fits_in_their_word() {
            let seen = Seen::new(Place::here(), crate::task::vtable_for_tests::<u32>());
            let poll_once = || {
                seen.polled();
                seen.pends();
            };
            for polls in 1..=3 {
                poll_once();
                assert_eq!(seen.polls(), polls);
            }
            seen.polls.store(u32::MAX - 1, Ordering::Relaxed);
            for polls in u64::from(u32::MAX)..(1 << 32) + 3 {
                poll_once();
                assert_eq!(seen.polls(), polls);
            }
        }
    }
}

#[cfg(any(not(feature = "console"), loom))]
mod off {
    use crate::task::VTable;

    /// Nothing, but for profiles.
    #[derive(Clone, Copy)]
    pub(crate) struct Place {
        #[cfg(not(loom))]
        site: blitz_core::site::Site,
    }

    impl Place {
        #[inline(always)]
        #[track_caller]
        pub(crate) fn here() -> Self {
            Place {
                #[cfg(not(loom))]
                site: blitz_core::site::Site::caller(),
            }
        }

        #[cfg(not(loom))]
        #[inline(always)]
        pub(crate) fn site(self) -> blitz_core::site::Site {
            self.site
        }

        #[cfg(not(loom))]
        #[inline(always)]
        pub(crate) fn named(self, _name: &str) -> Self {
            self
        }
    }

    pub(crate) struct Seen(&'static VTable);

    impl Seen {
        #[inline(always)]
        pub(crate) fn new(_place: Place, vtable: &'static VTable) -> Self {
            Seen(vtable)
        }

        #[inline(always)]
        pub(crate) fn vtable(&self) -> &'static VTable {
            self.0
        }

        #[inline(always)]
        pub(crate) fn polled(&self) {}

        #[inline(always)]
        pub(crate) fn pends(&self) {}
    }

    #[derive(Debug)]
    pub(crate) struct Tally;

    impl Tally {
        #[inline(always)]
        pub(crate) fn new() -> Self {
            Tally
        }

        #[inline(always)]
        pub(crate) fn armed(&mut self) {}

        #[inline(always)]
        pub(crate) fn cancelled(&mut self) {}

        #[inline(always)]
        pub(crate) fn fired(&mut self) {}
    }

    pub(crate) struct Now;

    impl Now {
        #[inline(always)]
        pub(crate) fn new() -> Self {
            Now
        }

        #[cfg(not(loom))]
        #[inline(always)]
        pub(crate) fn says_so(&self) {}

        #[cfg(not(loom))]
        #[inline(always)]
        pub(crate) fn relieves(&self) {}
    }
}
