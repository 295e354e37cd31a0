//! `walk_tree` and its relatives: all nodes of a tree that is discovered on the way.
//!
//! The walk keeps its own stack of pending nodes, so deep trees do not overflow the thread's. Pending nodes lie in the
//! order in which they come up, the next on top. To share, the walk gives away half of the bottom-most group of siblings:
//! they come last in order, and lie closest to the root, so they are likely to have the most below them.

use super::ParallelIterator;
use super::plumbing::{Folder, Steps, UnindexedConsumer, run_steps};
use super::stage::debug_fields;

/// Defines a function that begins a walk and the parallel iterator it returns; `children` are what `children_of` returns, and
/// the walk itself is driven into `consumer`.
macro_rules! tree_walk {
    (
        $(#[$function_docs:meta])*
        fn $function:ident;
        $(#[$docs:meta])*
        struct $walk:ident;
        where [children: $($children:tt)*];
        |$root:ident, $children_of:ident, $consumer:ident| $drive:expr
    ) => {
        $(#[$function_docs])*
        pub fn $function<S, B, I>(root: S, children_of: B) -> $walk<S, B>
        where
            S: Send,
            B: Fn(&S) -> I + Send + Sync,
            I: $($children)*,
        {
            $walk { root, children_of }
        }

        $(#[$docs])*
        #[must_use = "parallel iterators do nothing until they are driven"]
        pub struct $walk<S, B> {
            root: S,
            children_of: B,
        }

        debug_fields! { $walk[S, B] shows root: S }

        impl<S, B, I> ParallelIterator for $walk<S, B>
        where
            S: Send,
            B: Fn(&S) -> I + Send + Sync,
            I: $($children)*,
        {
            type Item = S;

            const MAY_HAVE_LEN: bool = false;

            fn drive_unindexed<C>(self, $consumer: C) -> C::Result
            where
                C: UnindexedConsumer<S>,
            {
                let $walk { root: $root, children_of: $children_of } = self;
                $drive
            }
        }
    };
}

tree_walk! {
    /// A parallel iterator over a tree: `root`, and what `children_of` makes of every node, in no particular order.
    ///
    /// Use it when the order does not matter; it is the fastest of the three.
    ///
    /// # Examples
    ///
    /// All numbers below 100 that can be reached from 1 by doubling or by adding ten:
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let count = blitz::iter::walk_tree(1u32, |&n| [n * 2, n + 10].into_iter().filter(|&m| m < 100)).count();
    /// assert!(count > 50);
    /// ```
    fn walk_tree;
    /// Yields the nodes of a tree in no particular order. Made by [`walk_tree`].
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let leaf: blitz::iter::WalkTree<i32, _> = blitz::iter::walk_tree(7, |_| None);
    /// assert_eq!(leaf.sum::<i32>(), 7);
    /// ```
    struct WalkTree;
    where [children: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>];
    |root, children_of, consumer| walk_tree_prefix(root, children_of).drive_unindexed(consumer)
}

tree_walk! {
    /// A parallel iterator over a tree in prefix order: each node before everything below it, children from left to right.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let halves = |&(from, to): &(u32, u32)| {
    ///     let middle = (from + to) / 2;
    ///     if to - from > 1 { vec![(from, middle), (middle, to)] } else { vec![] }
    /// };
    /// let order: Vec<_> = blitz::iter::walk_tree_prefix((0, 4), halves).collect();
    /// assert_eq!(order, [(0, 4), (0, 2), (0, 1), (1, 2), (2, 4), (2, 3), (3, 4)]);
    /// ```
    fn walk_tree_prefix;
    /// Yields the nodes of a tree in prefix order. Made by [`walk_tree_prefix`].
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let leaf: blitz::iter::WalkTreePrefix<i32, _> = blitz::iter::walk_tree_prefix(7, |_| None);
    /// assert_eq!(leaf.count(), 1);
    /// ```
    struct WalkTreePrefix;
    where [children: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>];
    |root, children_of, consumer| {
        let pending = vec![(0, root)];
        run_steps(Prefix { pending, children_of: &children_of }, consumer)
    }
}

tree_walk! {
    /// A parallel iterator over a tree in postfix order: each node after everything below it, children from left to right.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let order: Vec<_> = blitz::iter::walk_tree_postfix(3u32, |&n| (0..n).rev().take(1)).collect();
    /// assert_eq!(order, [0, 1, 2, 3]);
    /// ```
    fn walk_tree_postfix;
    /// Yields the nodes of a tree in postfix order. Made by [`walk_tree_postfix`].
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let leaf: blitz::iter::WalkTreePostfix<i32, _> = blitz::iter::walk_tree_postfix(7, |_| None);
    /// assert_eq!(leaf.max(), Some(7));
    /// ```
    struct WalkTreePostfix;
    where [children: IntoIterator<Item = S>];
    |root, children_of, consumer| {
        let pending = vec![(0, Task::Open(root))];
        run_steps(Postfix { pending, opened: 0, children_of: &children_of }, consumer)
    }
}

/// How many entries at the bottom of `pending` to give away: half of the lowest group that is worth something, and what lies below it.
///
/// Entries carry their depth; siblings are neighbours of the same depth. `counts` tells which entries have a subtree; `first` is the
/// lowest of those.
fn share<T>(pending: &[(usize, T)], first: usize, counts: impl Fn(&T) -> bool) -> usize {
    let Some((depth, _)) = pending.get(first) else {
        return 0;
    };
    let siblings = pending[first..]
        .iter()
        .take_while(|(d, entry)| d == depth && counts(entry))
        .count();
    // Something must stay.
    if first + siblings < pending.len() {
        first + siblings.div_ceil(2)
    } else if siblings > 1 {
        first + siblings / 2
    } else {
        0
    }
}

/// Cuts the `count` bottom entries off. Of both parts, the longer one stays where it is, or moves down as a whole.
fn cut_off_bottom<T>(pending: &mut Vec<T>, count: usize) -> Option<Vec<T>> {
    if count == 0 {
        None
    } else if count <= pending.len() / 2 {
        Some(pending.drain(..count).collect())
    } else {
        let top = pending.split_off(count);
        Some(std::mem::replace(pending, top))
    }
}

struct Prefix<'b, S, B> {
    pending: Vec<(usize, S)>,
    children_of: &'b B,
}

impl<S, B, I> Steps for Prefix<'_, S, B>
where
    S: Send,
    B: Fn(&S) -> I + Sync,
    I: IntoIterator<Item = S, IntoIter: DoubleEndedIterator>,
{
    type Item = S;

    fn step<F>(&mut self, mut folder: F, limit: usize) -> F
    where
        F: Folder<S>,
    {
        for _ in 0..limit {
            let Some((depth, node)) = self.pending.pop() else {
                break;
            };
            let children = (self.children_of)(&node).into_iter();
            self.pending
                .extend(children.rev().map(|child| (depth + 1, child)));
            folder = folder.consume(node);
            if folder.full() {
                break;
            }
        }
        folder
    }

    fn is_done(&self) -> bool {
        self.pending.is_empty()
    }

    fn split_off(&mut self) -> Option<Self> {
        let count = share(&self.pending, 0, |_| true);
        let pending = cut_off_bottom(&mut self.pending, count)?;
        Some(Prefix { pending, ..*self })
    }
}

/// What is to be done about a node.
enum Task<S> {
    /// Find its children, which come first.
    Open(S),
    /// It is its turn.
    Yield(S),
}

struct Postfix<'b, S, B> {
    pending: Vec<(usize, Task<S>)>,
    /// So many entries at the bottom, if there still are, are known to be no [`Task::Open`]. Looking at them again for every share would
    /// cost a deep tree the square of its depth.
    opened: usize,
    children_of: &'b B,
}

impl<S, B, I> Steps for Postfix<'_, S, B>
where
    S: Send,
    B: Fn(&S) -> I + Sync,
    I: IntoIterator<Item = S>,
{
    type Item = S;

    fn step<F>(&mut self, mut folder: F, limit: usize) -> F
    where
        F: Folder<S>,
    {
        let mut left = limit;
        while left > 0 {
            match self.pending.pop() {
                None => break,
                Some((depth, Task::Open(node))) => {
                    self.opened = self.opened.min(self.pending.len());
                    let children = (self.children_of)(&node).into_iter();
                    self.pending.push((depth, Task::Yield(node)));
                    let first = self.pending.len();
                    self.pending
                        .extend(children.map(|child| (depth + 1, Task::Open(child))));
                    self.pending[first..].reverse();
                }
                Some((_, Task::Yield(node))) => {
                    folder = folder.consume(node);
                    if folder.full() {
                        break;
                    }
                    left -= 1;
                }
            }
        }
        folder
    }

    fn is_done(&self) -> bool {
        self.pending.is_empty()
    }

    fn split_off(&mut self) -> Option<Self> {
        let is_open = |task: &Task<S>| matches!(task, Task::Open(_));
        while self
            .pending
            .get(self.opened)
            .is_some_and(|(_, task)| !is_open(task))
        {
            self.opened += 1;
        }
        let count = share(&self.pending, self.opened, is_open);
        let pending = cut_off_bottom(&mut self.pending, count)?;
        let opened = std::mem::take(&mut self.opened);
        Some(Postfix {
            pending,
            opened,
            ..*self
        })
    }
}
