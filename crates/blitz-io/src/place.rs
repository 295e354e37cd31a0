//! What the console wants to know of a task: where it was spawned, its name, how often it was polled and woken; and of a worker: which task it polls.
//!
//! Sixteen bytes in each task and a few plain stores for each poll, with the cargo feature `console`; without it all of this is empty, and nothing remains.

#[cfg(all(feature = "console", not(loom)))]
pub(crate) use on::{Now, Place, Seen, Tally};

#[cfg(any(not(feature = "console"), loom))]
#[cfg_attr(loom, allow(unused_imports, reason = "loom builds no workers"))]
pub(crate) use off::{Now, Place, Seen, Tally};

#[cfg(all(feature = "console", not(loom)))]
pub(crate) mod on {
    use crate::task::Header;
    use blitz_core::console::ForkLock;
    use std::panic::Location;
    use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

    /// Different names that are remembered. Tasks with others are known by their line only: somebody puts numbers into names.
    const NAMES: usize = 1024;

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

    impl Place {
        /// The caller's caller.
        #[inline(always)]
        #[track_caller]
        pub(crate) fn here() -> Self {
            Place((&raw const *Location::caller()).expose_provenance())
        }

        /// The same with a name.
        pub(crate) fn named(self, name: &str) -> Self {
            let line = self.line();
            let mut named = NAMED.lock();
            let known = named
                .iter()
                .copied()
                .find(|known| known.line == line && &*known.name == name);
            let known = match known {
                Some(known) => known,
                None if named.len() == NAMES => return self,
                None => {
                    let name = name.into();
                    let known: &'static Named = Box::leak(Box::new(Named { line, name }));
                    named.push(known);
                    known
                }
            };
            Place((&raw const *known).expose_provenance() | 1)
        }

        pub(crate) fn line(self) -> &'static Location<'static> {
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

    /// In each task.
    pub(crate) struct Seen {
        place: Place,
        polls: AtomicU32,
        wakes: AtomicU32,
    }

    impl Seen {
        pub(crate) fn at(place: Place) -> Self {
            Seen {
                place,
                polls: AtomicU32::new(0),
                wakes: AtomicU32::new(0),
            }
        }

        /// It is polled. One thread at a time does that.
        #[inline]
        pub(crate) fn polled(&self) {
            let polls = self.polls.load(Ordering::Relaxed);
            self.polls.store(polls.wrapping_add(1), Ordering::Relaxed);
        }

        /// A wake has led to a poll. Two that come at once may count as one.
        #[inline]
        pub(crate) fn woken(&self) {
            let wakes = self.wakes.load(Ordering::Relaxed);
            self.wakes.store(wakes.wrapping_add(1), Ordering::Relaxed);
        }

        pub(crate) fn place(&self) -> Place {
            self.place
        }

        /// Polls and wakes.
        pub(crate) fn counts(&self) -> (u32, u32) {
            let polls = self.polls.load(Ordering::Relaxed);
            (polls, self.wakes.load(Ordering::Relaxed))
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

    /// A bit that is not used in places.
    const SAID: usize = 2;

    /// In each worker's core: the task that it polls, if it is in a slice.
    #[derive(Default)]
    pub(crate) struct Now {
        place: AtomicUsize,
        task: AtomicUsize,
    }

    impl Now {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        /// For the owner.
        #[inline]
        pub(crate) fn polls(&self, task: &Header) {
            self.place.store(task.seen.place.0, Ordering::Relaxed);
            self.task
                .store(std::ptr::from_ref(task) as usize, Ordering::Relaxed);
        }

        /// The poll has said that it blocks, or computes for long: somebody else serves. For the owner.
        pub(crate) fn says_so(&self) {
            let place = self.place.load(Ordering::Relaxed);
            self.place.store(place | SAID, Ordering::Relaxed);
        }

        /// Where the task was spawned that it polls or has polled last, the task's name as a number, and whether the poll has said that it takes long. They may be of
        /// different tasks, if the owner goes on just now.
        pub(crate) fn get(&self) -> Option<(Place, usize, bool)> {
            let word = self.place.load(Ordering::Relaxed);
            let place = word & !SAID;
            (place != 0).then(|| {
                let task = self.task.load(Ordering::Relaxed);
                (Place(place), task, word != place)
            })
        }
    }
}

#[cfg(any(not(feature = "console"), loom))]
mod off {
    use crate::task::Header;

    #[derive(Clone, Copy)]
    pub(crate) struct Place;

    impl Place {
        #[inline(always)]
        pub(crate) fn here() -> Self {
            Place
        }

        #[cfg(not(loom))]
        #[inline(always)]
        pub(crate) fn named(self, _name: &str) -> Self {
            self
        }
    }

    pub(crate) struct Seen;

    impl Seen {
        #[inline(always)]
        pub(crate) fn at(_place: Place) -> Self {
            Seen
        }

        #[inline(always)]
        pub(crate) fn polled(&self) {}

        #[inline(always)]
        pub(crate) fn woken(&self) {}
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

        #[inline(always)]
        pub(crate) fn polls(&self, _task: &Header) {}

        #[cfg(not(loom))]
        #[inline(always)]
        pub(crate) fn says_so(&self) {}
    }
}
