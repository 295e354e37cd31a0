//! The queue of a pool's tasks that no thread has on its own deque: first in, first out, and a waiting thread may look through it.
//!
//! A thread that waits takes only tasks that it may run, wherever they are in the queue. It cannot look at a task without taking it out, since whoever else
//! takes it may run and free it meanwhile; and it must not put it back at the end: `spawn_fifo` from outside promises an order. So tasks that
//! somebody has looked at and left are kept in a list, in their order, *before* the others. Looking is done under the list's lock; a pop takes
//! the lock only if there is such a list.
//!
//! # What it guarantees
//! * Every element comes out once.
//! * Elements that one thread pushes are popped in their order by one thread, whoever looks at them. (Two that pop while somebody looks may each get
//!   one in either order; they run side by side anyway.)
//! * `is_empty` never says "empty", and `pop` never returns `None`, while an element is in the queue whose push happened before the call:
//!   also not about one that moves to the list at that moment.
//!
//! # Why nothing is overlooked
//! Elements move in one direction: from the injector to the list, under the lock. `left` is the length of the list, or one more; it is raised *before* an
//! element leaves the injector. Whoever finds the injector empty looks at `left` *afterwards*: if the element has left, then by a pop that the look at the
//! injector has seen (its `head` is released and acquired), so `left` shows it.

use crate::sync::ignore_poison;
use crate::sync::{AtomicUsize, Mutex, Ordering};
use blitz_primitives::flaw::Flaws;
use blitz_primitives::injector::Injector;
use std::collections::VecDeque;

/// What the models break on purpose; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    /// The element leaves the injector before it counts as one of the list.
    CountedLate,
    /// Those who look for work look at the list first.
    ListFirst,
}

/// See the module's documentation.
pub(crate) struct SharedQueue<T> {
    injector: Injector<T>,
    /// Elements that somebody has looked at and left, oldest first. All of them are older than those in the injector.
    list: Mutex<VecDeque<T>>,
    /// The length of the list, at least.
    left: AtomicUsize,
    flaws: Flaws<Flaw>,
}

impl<T> SharedQueue<T> {
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        SharedQueue {
            injector: Injector::new(),
            list: Mutex::new(VecDeque::new()),
            left: AtomicUsize::new(0),
            flaws,
        }
    }

    /// Appends an element.
    pub(crate) fn push(&self, element: T) {
        if self.injector.push(element).is_err() {
            unreachable!("a growing injector takes everything");
        }
    }

    /// Takes the oldest element.
    pub(crate) fn pop(&self) -> Option<T> {
        loop {
            if self.left.load(Ordering::Acquire) > 0 {
                let mut list = ignore_poison(self.list.lock());
                if let Some(oldest) = list.pop_front() {
                    self.left.store(list.len(), Ordering::Release);
                    return Some(oldest);
                }
            }
            let newer = self.injector.pop();
            if newer.is_some()
                || self.left.load(Ordering::Acquire) == 0
                || self.flaws.has(Flaw::ListFirst)
            {
                return newer;
            }
        }
    }

    /// Takes the oldest element that is `wanted`, if it is among the `most` oldest. The others stay as they are.
    pub(crate) fn take(&self, most: usize, mut wanted: impl FnMut(&T) -> bool) -> Option<T> {
        let mut list = ignore_poison(self.list.lock());
        let known = list.iter().take(most).position(&mut wanted);
        let mut found = known.and_then(|at| list.remove(at));
        // Not those that come while we look: their posters tell whoever waits for them.
        let mut unknown = self.injector.len().min(most.saturating_sub(list.len()));
        while found.is_none() && unknown > 0 {
            unknown -= 1;
            let count_it = || self.left.store(list.len() + 1, Ordering::Release);
            self.flaws.unless(Flaw::CountedLate, count_it);
            match self.injector.pop() {
                Some(element) if wanted(&element) => found = Some(element),
                Some(element) => list.push_back(element),
                None => break,
            }
        }
        self.left.store(list.len(), Ordering::Release);
        found
    }

    /// How many elements there are, about.
    pub(crate) fn len(&self) -> usize {
        // In this order: see the head of the file.
        self.injector.len() + self.left.load(Ordering::Acquire)
    }

    /// Whether there is nothing to pop.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        if self.flaws.has(Flaw::ListFirst) {
            return self.left.load(Ordering::Acquire) == 0 && self.injector.is_empty();
        }
        // In this order: see the head of the file.
        self.injector.is_empty() && self.left.load(Ordering::Acquire) == 0
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn numbers(count: usize) -> SharedQueue<usize> {
        let queue = SharedQueue::new();
        (0..count).for_each(|number| queue.push(number));
        queue
    }

    #[test]
    fn elements_that_were_looked_at_and_left_keep_their_order() {
        for most in [0, 1, 2, 7, 10, 100] {
            let queue = numbers(10);
            assert_eq!(queue.take(most, |_| false), None);
            queue.push(10);
            assert_eq!(queue.take(most, |_| false), None);
            assert_eq!(queue.len(), 11);
            let all: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            assert!(all.into_iter().eq(0..11), "after a look at {most}");
            assert!(queue.is_empty());
        }
    }

    #[test]
    fn only_what_is_wanted_leaves_the_queue() {
        for looked_at in [0, 3, 6, 10] {
            let queue = numbers(10);
            queue.take(looked_at, |_| false);
            assert_eq!(queue.take(6, |number| *number >= 6), None);
            assert_eq!(queue.take(7, |number| *number >= 6), Some(6));
            assert_eq!(queue.take(100, |number| *number == 2), Some(2));
            let rest: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            assert_eq!(rest, [0, 1, 3, 4, 5, 7, 8, 9]);
        }
    }
}
