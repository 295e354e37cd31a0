//! The user's call sites: which line of whose program a fork, a loop, a scope or a task belongs to.
//!
//! What is called by the user knows its caller: `#[track_caller]`, behind the feature `sites`, because a place is an argument more for functions that are not
//! inlined. What a library forks inside of an operation (a sort, a loop) does not: the caller of such a fork is a line of the library. So an operation
//! notes its own place for as long as it runs ([`Operation`]), and forks inside of it ([`Site::of_operation`]) are that place's. The note is the
//! thread's; whoever carries work to another thread carries the note along (the profiler's strands do).
//!
//! Without the feature all of this is empty types and empty functions, of which nothing remains.

#[cfg(feature = "console")]
use crate::console;
#[cfg(feature = "sites")]
use std::cell::Cell;
use std::marker::PhantomData;
#[cfg(feature = "sites")]
use std::panic::Location;

/// A place in a program; without the feature `sites`, nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    #[cfg(feature = "sites")]
    place: &'static Location<'static>,
}

#[cfg(feature = "sites")]
thread_local! {
    /// The operation that this thread is in.
    static OPERATION: Cell<Option<Site>> = const { Cell::new(None) };
}

impl Site {
    /// The place of whoever calls the function that calls this, if both have the attribute `track_caller`.
    #[inline(always)]
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn caller() -> Self {
        Site {
            #[cfg(feature = "sites")]
            place: Location::caller(),
        }
    }

    /// This place.
    #[cfg(feature = "sites")]
    #[inline]
    pub fn at(place: &'static Location<'static>) -> Self {
        Site { place }
    }

    /// The place of the operation that the calling thread is in; this one if it is in none.
    #[inline(always)]
    #[must_use]
    pub fn of_operation(self) -> Self {
        #[cfg(feature = "sites")]
        return OPERATION.get().unwrap_or(self);
        #[cfg(not(feature = "sites"))]
        self
    }

    /// File, line and column.
    #[cfg(feature = "sites")]
    #[inline]
    pub fn location(self) -> &'static Location<'static> {
        self.place
    }

    /// Does the place lie in the folder of this file, or below it?
    #[cfg(feature = "sites")]
    fn is_beside(self, file: &str) -> bool {
        let folder = file.rfind(['/', '\\']).map_or("", |end| &file[..=end]);
        self.place.file().starts_with(folder)
    }
}

/// An operation of a library that the calling thread is in, until this is dropped.
#[derive(Debug)]
#[must_use = "the operation ends when this is dropped"]
pub struct Operation {
    #[cfg(feature = "sites")]
    outer: Option<Site>,
    #[cfg(feature = "console")]
    _call: console::Call,
    /// Not `Send`: it speaks about this thread.
    _here: PhantomData<*mut ()>,
}

impl Operation {
    /// Begins one that was called at `site`. `library` is a file of the library, in the folder of its sources: a call from there is a step of the operation that the
    /// thread is in already.
    #[inline(always)]
    pub fn begin(site: Site, library: &str) -> Self {
        #[cfg(not(feature = "sites"))]
        let _ = (site, library);
        #[cfg(feature = "sites")]
        let (outer, is_new) = {
            let outer = OPERATION.get();
            let is_new = outer.is_none() || !site.is_beside(library);
            if is_new {
                OPERATION.set(Some(site));
            }
            (outer, is_new)
        };
        #[cfg(all(feature = "sites", not(feature = "console")))]
        let _ = is_new;
        Operation {
            #[cfg(feature = "sites")]
            outer,
            #[cfg(feature = "console")]
            _call: if is_new {
                console::call("loop", site)
            } else {
                console::Call::NONE
            },
            _here: PhantomData,
        }
    }

    /// Goes on with what [`Operation::current`] said on another thread, or earlier.
    #[cfg(feature = "sites")]
    pub fn resume(operation: Option<Site>) -> Self {
        Operation {
            outer: OPERATION.replace(operation),
            #[cfg(feature = "console")]
            _call: console::Call::NONE,
            _here: PhantomData,
        }
    }

    /// The place of the operation that the calling thread is in.
    #[cfg(feature = "sites")]
    #[inline]
    pub fn current() -> Option<Site> {
        OPERATION.get()
    }
}

#[cfg(feature = "sites")]
impl Drop for Operation {
    fn drop(&mut self) {
        OPERATION.set(self.outer);
    }
}
