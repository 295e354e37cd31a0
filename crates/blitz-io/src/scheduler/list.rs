//! The list of one shard of [`Owned`](super::owned::Owned): pointers to tasks, each with a reference. Whoever calls these functions has the shard's lock, and says how many are in it.
//!
//! Usually a list goes through the tasks themselves, which takes two words of each. With a console a task has its place and its polls there, and an allocation of the next size is what made spawning slower;
//! so then the list is an array, and a task knows its index. (That costs some instructions less, and 8 to 16 bytes more.)

#[cfg(any(not(feature = "console"), loom))]
pub(crate) use links::{List, Listed};
#[cfg(all(feature = "console", not(loom)))]
pub(crate) use slots::{List, Listed};

#[cfg(any(not(feature = "console"), loom))]
mod links {
    use crate::task::Header;
    use std::ptr;

    /// Neighbours in the list; both null outside of it, and of the only one in it.
    #[derive(Clone, Copy)]
    pub(crate) struct Listed {
        previous: *const Header,
        next: *const Header,
    }

    impl Listed {
        pub(crate) const NOWHERE: Self = Listed {
            previous: ptr::null(),
            next: ptr::null(),
        };
    }

    pub(crate) struct List {
        first: *const Header,
    }

    impl List {
        pub(crate) const fn new() -> Self {
            List { first: ptr::null() }
        }

        /// # Safety
        /// The task is in no list, and is alive until it is removed.
        #[inline(always)]
        pub(crate) unsafe fn push(&mut self, _len: usize, task: *const Header) {
            // SAFETY: what is listed is alive, and the lock's holder's.
            unsafe {
                *(*task).listed.get() = Listed {
                    previous: ptr::null(),
                    next: self.first,
                };
                if !self.first.is_null() {
                    (*(*self.first).listed.get()).previous = task;
                }
            }
            self.first = task;
        }

        /// `true`: it was in it.
        ///
        /// # Safety
        /// The task is in this list or in none.
        #[inline(always)]
        pub(crate) unsafe fn remove(&mut self, _len: usize, task: *const Header) -> bool {
            // SAFETY: as above.
            unsafe {
                let listed = &mut *(*task).listed.get();
                let is_first = ptr::eq(self.first, task);
                if listed.previous.is_null() && !is_first {
                    return false;
                }
                if is_first {
                    self.first = listed.next;
                } else {
                    (*(*listed.previous).listed.get()).next = listed.next;
                }
                if !listed.next.is_null() {
                    (*(*listed.next).listed.get()).previous = listed.previous;
                }
                *listed = Listed::NOWHERE;
            }
            true
        }

        /// The newest first.
        pub(crate) fn tasks(&self, _len: usize) -> impl Iterator<Item = *const Header> {
            let some = |task: *const Header| (!task.is_null()).then_some(task);
            // SAFETY: as above.
            std::iter::successors(some(self.first), move |&task| {
                some(unsafe { (*(*task).listed.get()).next })
            })
        }
    }
}

#[cfg(all(feature = "console", not(loom)))]
mod slots {
    use crate::task::Header;
    use std::ptr;

    /// Room at first.
    const FIRST: usize = 32;
    /// An empty list with room for more gives it back.
    const KEPT: usize = 1024;
    /// No index: also doubled it fits in a pointer.
    const NONE: u32 = u32::MAX >> 1;

    /// The index in the list.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Listed(u32);

    impl Listed {
        pub(crate) const NOWHERE: Self = Listed(NONE);
    }

    /// An array with holes: whoever leaves touches no other task, which somebody else may have in hand.
    pub(crate) struct List {
        /// A task, or in a hole, the index of the next one, doubled, and 1: tasks are at even addresses.
        slots: Vec<*const Header>,
        /// The hole that was made last.
        hole: u32,
    }

    impl List {
        pub(crate) const fn new() -> Self {
            List {
                slots: Vec::new(),
                hole: NONE,
            }
        }

        /// # Safety
        /// The task is in no list, and is alive until it is removed.
        #[inline(always)]
        pub(crate) unsafe fn push(&mut self, _len: usize, task: *const Header) {
            if self.hole == NONE {
                self.make_holes();
            }
            let index = self.hole;
            // SAFETY: it is a hole's. What is listed is alive, and the lock's holder's.
            unsafe {
                let slot = self.slots.get_unchecked_mut(index as usize);
                self.hole = (slot.addr() >> 1) as u32;
                *slot = task;
                *(*task).listed.get() = Listed(index);
            }
        }

        /// `true`: it was in it.
        ///
        /// # Safety
        /// The task is in this list or in none. So many are in it.
        #[inline(always)]
        pub(crate) unsafe fn remove(&mut self, len: usize, task: *const Header) -> bool {
            // SAFETY: as above. What is listed has a slot.
            unsafe {
                let listed = (*task).listed.get();
                let Listed(index) = *listed;
                if index == NONE {
                    return false;
                }
                *listed = Listed::NOWHERE;
                *self.slots.get_unchecked_mut(index as usize) = hole_before(self.hole);
                self.hole = index;
            }
            if len == 1 {
                self.give_back();
            }
            true
        }

        /// There is no hole: as many more as there are tasks.
        #[cold]
        fn make_holes(&mut self) {
            let tasks = self.slots.len();
            let room = (2 * tasks).max(FIRST);
            assert!(room < NONE as usize, "more tasks than numbers for them");
            self.slots.reserve_exact(room - tasks);
            // The first one is taken first.
            let next = (tasks + 1..room).map(|next| next as u32).chain([NONE]);
            self.slots.extend(next.map(hole_before));
            self.hole = tasks as u32;
        }

        fn give_back(&mut self) {
            if self.slots.len() > KEPT {
                *self = Self::new();
            }
        }

        /// In no order.
        pub(crate) fn tasks(&self, _len: usize) -> impl Iterator<Item = *const Header> {
            let slots = self.slots.iter().copied();
            slots.filter(|slot| slot.addr() & 1 == 0)
        }
    }

    /// What is in a hole.
    #[inline(always)]
    fn hole_before(next: u32) -> *const Header {
        ptr::without_provenance((next as usize) << 1 | 1)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn an_array_grows_and_shrinks_and_none_is_lost() {
            const MOST: usize = 10 * KEPT;
            let runtime = crate::Builder::new_current_thread().build().unwrap();
            let tasks: Vec<_> = (0..MOST)
                .map(|_| runtime.spawn(std::future::pending::<()>()))
                .collect();
            assert_eq!(runtime.metrics().num_alive_tasks(), MOST);
            // From both ends and the middle.
            for (index, task) in tasks.iter().enumerate() {
                if index % 3 > 0 {
                    task.abort();
                }
            }
            runtime.block_on(async {
                while runtime.metrics().num_alive_tasks() > MOST.div_ceil(3) {
                    crate::task::yield_now().await;
                }
            });
            for (index, task) in tasks.iter().enumerate() {
                assert_eq!(task.is_finished(), index % 3 > 0);
                task.abort();
            }
            runtime.block_on(async {
                for task in tasks {
                    assert!(task.await.unwrap_err().is_cancelled());
                }
            });
            assert_eq!(runtime.metrics().num_alive_tasks(), 0);
        }

        #[test]
        fn holes_are_filled_before_there_are_new_ones() {
            let runtime = crate::Builder::new_current_thread().build().unwrap();
            let _entered = runtime.enter();
            let place = crate::place::Place::here();
            let task = |_| {
                // SAFETY: both are `Send`, and never polled.
                let (listed, queued, handle) = unsafe {
                    let shared = crate::context::current().unwrap();
                    crate::task::new(place, std::future::pending::<()>(), shared)
                };
                drop(queued);
                drop(handle);
                listed
            };
            let tasks: Vec<_> = (0..=FIRST).map(task).collect();
            let at = |index: usize| tasks[index].as_ptr();
            let mut list = List::new();
            // SAFETY: they are alive, and in no other list.
            unsafe {
                (0..=FIRST).for_each(|index| list.push(index, at(index)));
                assert_eq!(list.slots.len(), 2 * FIRST);
                assert!(list.tasks(FIRST + 1).eq((0..=FIRST).map(at)));
                assert!(list.remove(FIRST + 1, at(3)) && list.remove(FIRST, at(9)));
                assert!(!list.remove(FIRST - 1, at(9)), "it is in it no more");
                assert_eq!(list.tasks(FIRST - 1).count(), FIRST - 1);
                list.push(FIRST - 1, at(3));
                assert_eq!(list.slots[9], at(3));
                for (index, left) in (0..=FIRST)
                    .rev()
                    .filter(|&index| index != 9)
                    .zip((1..=FIRST).rev())
                {
                    assert!(list.remove(left, at(index)));
                }
            }
            assert_eq!(list.tasks(0).count(), 0);
        }
    }
}
