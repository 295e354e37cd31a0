//! Who is whose child: one table for each tree of tokens, under one lock.
//!
//! A member is in the table as long as it has a handle and has not been cancelled. When the last handle of one goes away, its children become those of its
//! parent: they are cancelled with that one anyway, and a long chain of tokens of which only the last is in use is not kept alive. All walks
//! are loops: a tree may be as deep as memory allows.
//!
//! A place in the table may be given to somebody else; a key says for whom it was made, and one that is out of date finds nothing.

use super::Member;
use crate::Notify;
use crate::primitives::{AtomicBool, Mutex, Ordering, ignore_poison};
use blitz_primitives::flaw::Flaws;
use slab::Slab;
use std::sync::{Arc, Weak};

/// A place in the table, for one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    place: usize,
    birth: u64,
}

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub(super) enum Flaw {
    /// A child is born without a look at whether its parent is still there.
    IgnoresParentsEnd,
    /// Raising a flag orders nothing.
    CancelsRelaxed,
}

/// The members of one tree.
pub(super) struct Family {
    table: Mutex<Table>,
    flaws: Flaws<Flaw>,
}

#[derive(Default)]
struct Table {
    entries: Slab<Entry>,
    births: u64,
}

struct Entry {
    birth: u64,
    /// May be on its way out.
    member: Weak<Member>,
    parent: Option<usize>,
    first_child: Option<usize>,
    /// Among its siblings.
    previous: Option<usize>,
    next: Option<usize>,
}

impl Table {
    fn find(&self, key: Key) -> Option<usize> {
        let entry = self.entries.get(key.place)?;
        (entry.birth == key.birth).then_some(key.place)
    }

    /// Makes `child`, which has no siblings, the first child of `parent`.
    fn link(&mut self, child: usize, parent: usize) {
        let second = self.entries[parent].first_child.replace(child);
        if let Some(second) = second {
            self.entries[second].previous = Some(child);
        }
        let entry = &mut self.entries[child];
        (entry.parent, entry.previous, entry.next) = (Some(parent), None, second);
    }

    /// Makes it a root.
    fn unlink(&mut self, place: usize) {
        let entry = &mut self.entries[place];
        let (parent, previous, next) = (
            entry.parent.take(),
            entry.previous.take(),
            entry.next.take(),
        );
        if let Some(next) = next {
            self.entries[next].previous = previous;
        }
        match (previous, parent) {
            (Some(previous), _) => self.entries[previous].next = next,
            (None, Some(parent)) => self.entries[parent].first_child = next,
            (None, None) => {}
        }
    }

    /// Removes one that has no children.
    fn remove(&mut self, place: usize) -> Weak<Member> {
        self.unlink(place);
        let entry = self.entries.remove(place);
        debug_assert!(entry.first_child.is_none());
        entry.member
    }
}

impl Family {
    pub(super) fn new(flaws: Flaws<Flaw>) -> Arc<Self> {
        Arc::new(Self {
            table: Mutex::new(Table::default()),
            flaws,
        })
    }

    fn locked<R>(&self, access: impl FnOnce(&mut Table) -> R) -> R {
        let mut guarded = ignore_poison(self.table.lock());
        access(&mut guarded)
    }

    /// The first member.
    pub(super) fn root(self: &Arc<Self>) -> Arc<Member> {
        self.locked(|table| self.bear(table, None))
    }

    /// A child of one who has a handle. If that one is not in the table any more, it has been cancelled, and so is the child.
    pub(super) fn child(self: &Arc<Self>, parent: Option<Key>) -> Arc<Member> {
        let born = self.locked(|table| {
            let parent = match table.find(parent?) {
                None if self.flaws.has(Flaw::IgnoresParentsEnd) => None,
                None => return None,
                found => found,
            };
            Some(self.bear(table, parent))
        });
        born.unwrap_or_else(|| Arc::new(self.member(None)))
    }

    fn bear(self: &Arc<Self>, table: &mut Table, parent: Option<usize>) -> Arc<Member> {
        table.births += 1;
        let birth = table.births;
        let vacant = table.entries.vacant_entry();
        let place = vacant.key();
        let member = Arc::new(self.member(Some(Key { place, birth })));
        vacant.insert(Entry {
            birth,
            member: Arc::downgrade(&member),
            parent: None,
            first_child: None,
            previous: None,
            next: None,
        });
        if let Some(parent) = parent {
            table.link(place, parent);
        }
        member
    }

    fn member(self: &Arc<Self>, key: Option<Key>) -> Member {
        Member {
            cancelled: AtomicBool::new(key.is_none()),
            notify: Notify::new(),
            family: Arc::clone(self),
            key,
        }
    }

    /// Nobody has a handle to this member any more.
    pub(super) fn leave(&self, key: Key) {
        self.locked(|table| {
            let Some(place) = table.find(key) else {
                return;
            };
            let parent = table.entries[place].parent;
            while let Some(child) = table.entries[place].first_child {
                table.unlink(child);
                if let Some(parent) = parent {
                    table.link(child, parent);
                }
            }
            table.remove(place);
        });
    }

    /// Raises the flags of this member and all below it, and takes them out. Returns them, for their notification outside of the lock; an earlier one is above
    /// a later one or beside it. None if that has been done already.
    pub(super) fn cancel(&self, key: Key) -> Vec<Arc<Member>> {
        let mut members = Vec::new();
        self.locked(|table| {
            let Some(top) = table.find(key) else {
                return;
            };
            table.unlink(top);
            let mut place = top;
            loop {
                // Down to one without children, which goes; then on with its parent.
                if let Some(child) = table.entries[place].first_child {
                    place = child;
                    continue;
                }
                let parent = table.entries[place].parent;
                if let Some(member) = table.remove(place).upgrade() {
                    let order = self.flaws.relax(Flaw::CancelsRelaxed, Ordering::Release);
                    member.cancelled.store(true, order);
                    members.push(member);
                }
                match parent {
                    Some(parent) => place = parent,
                    None => return,
                }
            }
        });
        members.reverse();
        members
    }
}
