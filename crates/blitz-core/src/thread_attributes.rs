//! What the threads of a pool look like to the system: their names and the size of their stacks.
//!
//! A thread that nobody has named is called by its index, `blitz-0`, so that debuggers, `top` and panic messages say whose it is.
//!
//! The builder decides it once, for each thread before that is started; the pool remembers it, because a thread that stands in for one of them
//! ([`crate::rescue`]) must be able to run whatever that one could.

use crate::sync::locks::OnceLock;
use std::thread;

/// The names and the stack size that the builder was given.
#[derive(Clone)]
pub(crate) struct ThreadAttributes {
    /// By index. Empty for threads that nobody has named, or that were there before the pool; none for those that came later.
    names: Box<[OnceLock<String>]>,
    pub(crate) stack_size: Option<usize>,
}

impl ThreadAttributes {
    /// Nobody has a name yet.
    pub(crate) fn new(threads: usize, stack_size: Option<usize>) -> Self {
        ThreadAttributes {
            names: (0..threads).map(|_| OnceLock::new()).collect(),
            stack_size,
        }
    }

    /// Names the thread that is started next. Names are not made all at once: if making one panics, those before it have
    /// threads already, as in rayon.
    pub(crate) fn set_name(&self, index: usize, name: String) {
        let first = self.names[index].set(name);
        debug_assert!(first.is_ok(), "a thread is named once");
    }

    /// The name asked for.
    pub(crate) fn name(&self, index: usize) -> Option<&str> {
        Some(self.names.get(index)?.get()?.as_str())
    }

    /// Starts the thread of that index.
    pub(crate) fn builder(&self, index: usize) -> thread::Builder {
        let name = self.name(index).map(str::to_owned);
        self.named(name.unwrap_or_else(|| format!("blitz-{index}")))
    }

    /// Starts a thread that stands in for it.
    pub(crate) fn rescue_builder(&self, index: usize) -> thread::Builder {
        // Programs recognise their threads by how the name begins, so that stays.
        let name = self.name(index).map(|name| format!("{name}-rescue"));
        self.named(name.unwrap_or_else(|| "blitz-rescue".into()))
    }

    fn named(&self, name: String) -> thread::Builder {
        let mut builder = thread::Builder::new().name(name);
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }
}
