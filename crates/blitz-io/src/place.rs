//! What the console wants to know of a task: where it was spawned, its name, how often it was polled; and of a worker: which task it polls.
//!
//! With the cargo feature `console`, a task has a pointer to its place and a count of its polls, and a worker writes down for each poll which task it is; while somebody looks, also the place. Without
//! it nothing of this remains.

#[cfg(all(feature = "console", not(loom)))]
pub(crate) use on::{Now, Place, Polls, Seen, Tally};

#[cfg(any(not(feature = "console"), loom))]
pub(crate) use off::{Now, Place, Polls, Seen, Tally};

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
    use crate::task::Header;
    use blitz_core::console::{ForkLock, thread_number};
    use blitz_core::site::Site;
    use std::borrow::Cow;
    use std::panic::Location;
    use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

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
    #[derive(Clone, Copy, PartialEq, Eq, Hash)]
    pub(crate) struct Place(usize);

    impl Place {
        /// What tells it from others. Not zero.
        #[inline(always)]
        pub(crate) fn bits(self) -> usize {
            self.0
        }

        /// That of [`Place::bits`], or of zero.
        pub(crate) fn of_bits(bits: usize) -> Option<Self> {
            (bits != 0).then_some(Place(bits))
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

    /// In each task: its place.
    pub(crate) struct Seen(Place);

    impl Seen {
        #[inline(always)]
        pub(crate) fn new(place: Place) -> Self {
            Seen(place)
        }

        #[inline(always)]
        pub(crate) fn place(&self) -> Place {
            self.0
        }
    }

    /// In each task: how often it was polled. Whoever polls a task has the right to count here, so no count is lost. Wakes need no count of their own: each one that makes the task ready,
    /// and its being spawned, is followed by a poll.
    ///
    /// It comes round after four thousand million polls: whoever looks sees that, and goes on counting.
    pub(crate) struct Polls(AtomicU32);

    impl Polls {
        pub(crate) const fn new() -> Self {
            Polls(AtomicU32::new(0))
        }

        /// It is polled.
        #[inline(always)]
        pub(crate) fn add(&self) {
            let polls = self.0.load(Ordering::Relaxed);
            self.0.store(polls.wrapping_add(1), Ordering::Relaxed);
        }

        pub(crate) fn get(&self) -> u32 {
            self.0.load(Ordering::Relaxed)
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

    /// In each worker's core: the task that it polls, if it is in a slice. A plain store for each poll, two while somebody looks: whoever looks between the two sees the place of one task with the address of
    /// the one before. In a slice that began before anybody looked, the place has to be looked up in the runtime's lists.
    #[derive(Default)]
    pub(crate) struct Now {
        /// Where the task was spawned; 0 if that is not noted.
        place: AtomicUsize,
        /// Its address, which is even, and [`SAID`]; 0 if none was polled yet.
        task: AtomicUsize,
        /// The number by which the system knows the owner, if that is a relief thread; else 0.
        thread: AtomicU32,
    }

    /// The poll has said that it takes long.
    const SAID: usize = 1;

    /// What a worker polls, or has polled last.
    #[derive(Clone, Copy)]
    pub(crate) struct Polled {
        /// The task's address.
        pub(crate) task: usize,
        /// Where it was spawned, if that was noted.
        pub(crate) place: Option<Place>,
        /// Whether the poll has said that it takes long.
        pub(crate) said: bool,
    }

    impl Now {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        /// A slice begins. For the owner.
        pub(crate) fn slice_begins(&self) {
            self.place.store(0, Ordering::Relaxed);
            self.task.store(0, Ordering::Relaxed);
        }

        /// For the owner.
        #[inline(always)]
        pub(crate) fn polls(&self, task: &Header, notes_place: bool) {
            if notes_place {
                self.place.store(task.seen.place().0, Ordering::Relaxed);
            }
            self.task
                .store((&raw const *task).addr(), Ordering::Relaxed);
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

        pub(crate) fn get(&self) -> Option<Polled> {
            let place = self.place.load(Ordering::Relaxed);
            let task = self.task.load(Ordering::Relaxed);
            (task & !SAID != 0).then_some(Polled {
                task: task & !SAID,
                place: Place::of_bits(place),
                said: task & SAID != 0,
            })
        }
    }
}

#[cfg(any(not(feature = "console"), loom))]
mod off {
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

    pub(crate) struct Seen;

    impl Seen {
        #[inline(always)]
        pub(crate) fn new(_place: Place) -> Self {
            Seen
        }
    }

    pub(crate) struct Polls;

    impl Polls {
        pub(crate) const fn new() -> Self {
            Polls
        }

        #[inline(always)]
        pub(crate) fn add(&self) {}
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
        pub(crate) fn slice_begins(&self) {}

        #[cfg(not(loom))]
        #[inline(always)]
        pub(crate) fn polls(&self, _task: &crate::task::Header, _notes_place: bool) {}

        #[cfg(not(loom))]
        #[inline(always)]
        pub(crate) fn says_so(&self) {}

        #[cfg(not(loom))]
        #[inline(always)]
        pub(crate) fn relieves(&self) {}
    }
}
