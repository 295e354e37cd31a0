//! What the threads of a pool look like to the system: their names and the size of their stacks.
//!
//! The builder decides it once, for every index; the pool remembers it, because a thread that stands in for one of them
//! ([`crate::rescue`]) must be able to run whatever that one could.

use std::thread;

/// The names and the stack size that the builder was given.
#[derive(Default)]
pub(crate) struct ThreadAttributes {
    /// By index. Empty if no names were asked for; `None` for a thread that was there before the pool.
    pub(crate) names: Box<[Option<String>]>,
    pub(crate) stack_size: Option<usize>,
}

impl ThreadAttributes {
    /// The name asked for.
    pub(crate) fn name(&self, index: usize) -> Option<&str> {
        self.names.get(index)?.as_deref()
    }

    /// Starts the thread of that index.
    pub(crate) fn builder(&self, index: usize) -> thread::Builder {
        self.named(self.name(index).map(str::to_owned))
    }

    /// Starts a thread that stands in for it.
    pub(crate) fn stand_in_builder(&self, index: usize) -> thread::Builder {
        // Programs recognise their threads by how the name begins, so that stays.
        let name = self.name(index).map(|name| format!("{name}-rescue"));
        self.named(name.or_else(|| Some("blitz-rescue".into())))
    }

    fn named(&self, name: Option<String>) -> thread::Builder {
        let mut builder = thread::Builder::new();
        if let Some(name) = name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }
}
