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
            std::iter::successors(some(self.first), move |&task| {
                // SAFETY: as above.
                some(unsafe { (*(*task).listed.get()).next })
            })
        }
    }
}

#[cfg(all(feature = "console", not(loom)))]
mod slots {
    use crate::task::Header;
    use std::mem::MaybeUninit;

    /// Room at first.
    const FIRST: usize = 32;
    /// A list with room for more gives some of it back.
    const KEPT: usize = 1024;

    /// The index in the list.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Listed(u32);

    impl Listed {
        pub(crate) const NOWHERE: Self = Listed(u32::MAX);
    }

    /// An array, of which the first `len` are there. Whoever leaves is replaced by the last one. (An array with holes touches no other task then, and takes 15 instructions more for each.)
    pub(crate) struct List {
        slots: Box<[MaybeUninit<*const Header>]>,
        /// With less than that in it, it is too long.
        least: usize,
    }

    impl List {
        pub(crate) fn new() -> Self {
            List {
                slots: Box::default(),
                least: 0,
            }
        }

        /// # Safety
        /// The task is in no list, and is alive until it is removed. So many are in it.
        #[inline(always)]
        pub(crate) unsafe fn push(&mut self, len: usize, task: *const Header) {
            if len >= self.slots.len() {
                self.resize(len, (2 * len).max(FIRST));
            }
            // SAFETY: there is room, and what is listed is alive, and the lock's holder's.
            unsafe {
                self.slots.get_unchecked_mut(len).write(task);
                *(*task).listed.get() = Listed(len as u32);
            }
        }

        /// `true`: it was in it.
        ///
        /// # Safety
        /// The task is in this list or in none. So many are in it.
        #[inline(always)]
        pub(crate) unsafe fn remove(&mut self, len: usize, task: *const Header) -> bool {
            // SAFETY: as above. What is listed is below `len`.
            unsafe {
                let listed = (*task).listed.get();
                let place = *listed;
                if place == Listed::NOWHERE {
                    return false;
                }
                let last = self.slots.get_unchecked(len - 1).assume_init();
                self.slots.get_unchecked_mut(place.0 as usize).write(last);
                *(*last).listed.get() = place;
                // After that: it may be the last one itself.
                *listed = Listed::NOWHERE;
            }
            if len <= self.least {
                self.resize(len - 1, self.slots.len() / 2);
            }
            true
        }

        #[cold]
        #[inline(never)]
        fn resize(&mut self, len: usize, room: usize) {
            assert!(room < u32::MAX as usize, "more tasks than numbers for them");
            let mut slots = Box::new_uninit_slice(room);
            slots[..len].copy_from_slice(&self.slots[..len]);
            self.slots = slots;
            // So much shorter than it was that no task pays for this more than once.
            self.least = if room > KEPT { room / 4 } else { 0 };
        }

        /// The newest first, about.
        pub(crate) fn tasks(&self, len: usize) -> impl Iterator<Item = *const Header> {
            let tasks = self.slots[..len].iter().rev();
            // SAFETY: these are there.
            tasks.map(|slot| unsafe { slot.assume_init() })
        }
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
        fn whoever_leaves_is_replaced_by_the_last_one() {
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
                assert!(list.tasks(FIRST + 1).eq((0..=FIRST).rev().map(at)));
                assert!(list.remove(FIRST + 1, at(3)) && list.remove(FIRST, at(9)));
                assert!(!list.remove(FIRST - 1, at(9)), "it is in it no more");
                let mut left: Vec<_> = list.tasks(FIRST - 1).collect();
                left.sort_unstable();
                let mut expected: Vec<_> = (0..=FIRST)
                    .filter(|n| ![3, 9].contains(n))
                    .map(at)
                    .collect();
                expected.sort_unstable();
                assert_eq!(left, expected);
                list.push(FIRST - 1, at(3));
                let in_list = (0..=FIRST).filter(|&index| index != 9);
                for (index, left) in in_list.zip((1..=FIRST).rev()) {
                    assert!(list.remove(left, at(index)));
                }
            }
            assert_eq!(list.tasks(0).count(), 0);
        }
    }
}
