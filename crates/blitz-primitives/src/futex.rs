//! Blocking on the value of a 32-bit word, and waking whoever blocks on it.
//!
//! Everything that sleeps, sleeps here. The interface is Linux's futex:
//!
//! * [`wait`] blocks while the word holds `expected`. The comparison and the decision to block are
//!   one step with respect to wakes: a thread that stores a new value and *then* wakes can never
//!   slip in between. So either the waiter sees the new value and does not block, or the waker
//!   sees the waiter.
//! * [`wake_one`] / [`wake_all`] take a raw pointer and use it as a *name*, never as memory. They
//!   may be called after the word is gone: a latch in a stack frame may be freed by the waiter as
//!   soon as the new value is visible, before the waker gets to the wake. At worst a stranger
//!   that re-used the address wakes up once for nothing.
//! * [`wait`] may return for no reason. Callers re-read their word and loop. That also makes the
//!   stray wake of the previous point harmless.
//!
//! * [`wait_at_most`] is [`wait`] with a time limit.
//!
//! None of the calls orders memory as far as callers are concerned: they pair their own release
//! store with their own acquire load of the word.
//!
//! Most systems have this in one form or another, which is what they are asked for:
//!
//! | system | wait, wake |
//! |---|---|
//! | Linux, Android | `futex` |
//! | Windows | `WaitOnAddress`, `WakeByAddressSingle` and `WakeByAddressAll` |
//! | macOS, iOS and their like | `os_sync_wait_on_address` and its like, where the system has them: from macOS 14.4 and iOS 17.4 on |
//! | FreeBSD | `_umtx_op` |
//! | OpenBSD | `futex(2)` |
//!
//! Elsewhere, and in loom models, the same contract is kept by a table of waiting threads hashed by address (`table`); it is
//! compiled into the tests of every platform so that it cannot rot.

use crate::sync::AtomicU32;
#[cfg(not(loom))]
use std::time::Duration;

#[cfg(all(target_vendor = "apple", not(loom)))]
mod apple;
#[cfg(all(target_os = "freebsd", not(loom)))]
mod freebsd;
#[cfg(all(target_os = "openbsd", not(loom)))]
mod openbsd;
#[cfg(all(windows, not(loom)))]
mod windows;

#[cfg(all(target_vendor = "apple", not(loom)))]
use apple as system;
#[cfg(all(target_os = "freebsd", not(loom)))]
use freebsd as system;
#[cfg(all(any(target_os = "linux", target_os = "android"), not(loom)))]
use linux as system;
#[cfg(all(target_os = "openbsd", not(loom)))]
use openbsd as system;
#[cfg(any(
    loom,
    not(any(
        target_os = "linux",
        target_os = "android",
        windows,
        target_vendor = "apple",
        target_os = "freebsd",
        target_os = "openbsd"
    ))
))]
use table as system;
#[cfg(all(windows, not(loom)))]
use windows as system;

/// Blocks while `word` holds `expected`; may return early for no reason. One system call, if it blocks.
///
/// ```
/// use blitz_primitives::futex;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let word = AtomicU32::new(0);
/// std::thread::scope(|threads| {
///     threads.spawn(|| {
///         word.store(1, Ordering::Release);
///         futex::wake_one(&word);
///     });
///     while word.load(Ordering::Acquire) == 0 {
///         futex::wait(&word, 0);
///     }
/// });
/// ```
#[inline]
pub fn wait(word: &AtomicU32, expected: u32) {
    system::wait(word, expected);
}

/// The same, for `limit` at most.
///
/// ```
/// use std::sync::atomic::AtomicU32;
/// use std::time::Duration;
///
/// // Nobody wakes it.
/// blitz_primitives::futex::wait_at_most(&AtomicU32::new(0), 0, Duration::from_millis(1));
/// ```
#[cfg(not(loom))]
#[inline]
pub fn wait_at_most(word: &AtomicU32, expected: u32, limit: Duration) {
    system::wait_at_most(word, expected, limit);
}

/// Wakes one thread that blocks on `word`, if there is one: see [`wait`]. One system call, in any case.
///
/// ```
/// use blitz_primitives::futex;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// // A gate for one thread at a time.
/// let tickets = AtomicU32::new(0);
/// std::thread::scope(|threads| {
///     let waiter = threads.spawn(|| {
///         while tickets.load(Ordering::Acquire) == 0 {
///             futex::wait(&tickets, 0);
///         }
///         tickets.fetch_sub(1, Ordering::Relaxed)
///     });
///     tickets.fetch_add(1, Ordering::Release);
///     futex::wake_one(&tickets);
///     assert_eq!(waiter.join().unwrap(), 1);
/// });
/// ```
#[inline]
pub fn wake_one(word: *const AtomicU32) {
    system::wake_one(word);
}

/// Wakes every thread that blocks on `word`.
///
/// ```
/// use blitz_primitives::futex;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let is_open = AtomicU32::new(0);
/// std::thread::scope(|threads| {
///     for _ in 0..3 {
///         threads.spawn(|| {
///             while is_open.load(Ordering::Acquire) == 0 {
///                 futex::wait(&is_open, 0);
///             }
///         });
///     }
///     is_open.store(1, Ordering::Release);
///     futex::wake_all(&is_open);
/// });
/// ```
#[inline]
pub fn wake_all(word: *const AtomicU32) {
    system::wake_all(word);
}

/// The kernel's futex, in its process-private form.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(loom)))]
mod linux {
    use super::AtomicU32;
    use std::ptr;
    use std::time::Duration;

    /// Blocks while `word` holds `expected`; may return early for no reason.
    pub(crate) fn wait(word: &AtomicU32, expected: u32) {
        wait_until(word, expected, ptr::null());
    }

    /// The same, for `limit` at most.
    pub(crate) fn wait_at_most(word: &AtomicU32, expected: u32, limit: Duration) {
        let limit = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos() as _,
        };
        wait_until(word, expected, &raw const limit);
    }

    fn wait_until(word: &AtomicU32, expected: u32, limit: *const libc::timespec) {
        // SAFETY: `word` is a live, aligned 32-bit location for the whole call, and so is the time limit; null
        // means that there is none. Every outcome (woken, EAGAIN because the value differs, EINTR, time-out)
        // is a legal return of this function, so the result needs no inspection.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                expected,
                limit,
            );
        }
    }

    /// Wakes one thread that blocks on `word`, if there is one.
    pub(crate) fn wake_one(word: *const AtomicU32) {
        wake(word, 1);
    }

    /// Wakes every thread that blocks on `word`.
    pub(crate) fn wake_all(word: *const AtomicU32) {
        wake(word, i32::MAX);
    }

    fn wake(word: *const AtomicU32, count: i32) {
        // SAFETY: a private FUTEX_WAKE only looks the address up in the kernel's table of waiters;
        // it reads nothing through it, so a dangling pointer is fine (an unmapped one yields
        // EFAULT at worst, which we ignore like "nobody was waiting").
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word,
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                count,
            );
        }
    }
}

/// The same contract without a kernel futex: waiting threads in a table, hashed by address.
///
/// Why no wake is lost: the waiter reads the word while it holds its bucket's lock, and the waker
/// takes the same lock after it stored the new value. Whichever critical section comes first, the
/// other sees it: waker first means that its store happens before the waiter's read; waiter first
/// means that its entry is in the list when the waker looks.
///
/// A wait allocates nothing, except when more threads wait in a bucket than ever before.
#[cfg(any(
    test,
    loom,
    not(any(
        target_os = "linux",
        target_os = "android",
        windows,
        target_os = "freebsd",
        target_os = "openbsd"
    ))
))]
pub(crate) mod table {
    use super::AtomicU32;
    #[cfg(not(loom))]
    use crate::sync::{Arc, Condvar};
    use crate::sync::{Mutex, Ordering};
    #[cfg(loom)]
    use loom::sync::MutexGuard;
    #[cfg(not(loom))]
    use std::sync::MutexGuard;
    use std::sync::{LockResult, PoisonError};
    #[cfg(not(loom))]
    use std::time::Duration;

    struct Waiter {
        address: usize,
        /// Tells this wait apart from every other in the bucket, also on the same address.
        ticket: u64,
        signal: Signal,
    }

    /// Where one waiter sleeps.
    #[cfg(not(loom))]
    #[derive(Clone, Default)]
    struct Signal(Arc<Condvar>);

    #[cfg(not(loom))]
    impl Signal {
        fn wait<'a>(
            &self,
            _bucket: &'a Bucket,
            queue: MutexGuard<'a, Queue>,
        ) -> MutexGuard<'a, Queue> {
            ignore_poison(self.0.wait(queue))
        }

        #[cfg_attr(test, allow(dead_code))]
        fn wait_at_most<'a>(
            &self,
            queue: MutexGuard<'a, Queue>,
            limit: Duration,
        ) -> MutexGuard<'a, Queue> {
            ignore_poison(self.0.wait_timeout(queue, limit)).0
        }

        fn notify(&self) {
            self.0.notify_one();
        }
    }

    #[cfg(loom)]
    #[derive(Clone)]
    struct Signal(loom::thread::Thread);

    #[cfg(loom)]
    impl Default for Signal {
        fn default() -> Self {
            Self(loom::thread::current())
        }
    }

    #[cfg(loom)]
    impl Signal {
        // Parking instead of a condition variable: what is left in the table when a model fails is
        // dropped outside of the model, where loom's own types must not be dropped.
        fn wait<'a>(
            &self,
            bucket: &'a Bucket,
            queue: MutexGuard<'a, Queue>,
        ) -> MutexGuard<'a, Queue> {
            drop(queue);
            loom::thread::park();
            ignore_poison(bucket.0.lock())
        }

        fn notify(&self) {
            self.0.unpark();
        }
    }

    struct Queue {
        next_ticket: u64,
        /// In order of arrival. A waiter is asleep exactly as long as its entry is in here.
        waiters: Vec<Waiter>,
        /// Where nobody sleeps at the moment. Not those of other buckets: a condition variable belongs to one mutex.
        #[cfg(not(loom))]
        spare: Vec<Signal>,
    }

    /// How many signals there are, in all buckets.
    #[cfg(all(test, not(loom)))]
    pub(super) static MADE: AtomicU32 = AtomicU32::new(0);

    /// Does anybody wait there?
    #[cfg(all(test, not(loom)))]
    pub(super) fn is_waited_for(word: &AtomicU32) -> bool {
        let address = word as *const AtomicU32 as usize;
        let queue = ignore_poison(bucket(address).0.lock());
        queue.waiters.iter().any(|waiter| waiter.address == address)
    }

    impl Queue {
        #[cfg(not(loom))]
        fn signal(&mut self) -> Signal {
            self.spare.pop().unwrap_or_else(|| {
                #[cfg(test)]
                MADE.fetch_add(1, Ordering::Relaxed);
                Signal::default()
            })
        }

        #[cfg(not(loom))]
        fn is_through_with(&mut self, signal: Signal) {
            self.spare.push(signal);
        }

        #[cfg(loom)]
        fn signal(&mut self) -> Signal {
            Signal::default()
        }

        #[cfg(loom)]
        fn is_through_with(&mut self, _signal: Signal) {}
    }

    struct Bucket(Mutex<Queue>);

    impl Bucket {
        #[cfg(not(loom))]
        const fn new() -> Self {
            Self(Mutex::new(Queue {
                next_ticket: 0,
                waiters: Vec::new(),
                spare: Vec::new(),
            }))
        }

        #[cfg(loom)]
        fn new() -> Self {
            Self(Mutex::new(Queue {
                next_ticket: 0,
                waiters: Vec::new(),
            }))
        }
    }

    #[cfg(not(loom))]
    const BUCKETS: usize = 64;
    #[cfg(not(loom))]
    static TABLE: [Bucket; BUCKETS] = [const { Bucket::new() }; BUCKETS];

    #[cfg(not(loom))]
    fn bucket(address: usize) -> &'static Bucket {
        // Fibonacci hashing: the top bits of the product depend on all bits of the address.
        let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        &TABLE[(hash >> (64 - BUCKETS.ilog2())) as usize]
    }

    // One bucket is the worst case for collisions, and the cheapest to explore.
    #[cfg(loom)]
    loom::lazy_static! {
        static ref TABLE: Bucket = Bucket::new();
    }

    #[cfg(loom)]
    fn bucket(_address: usize) -> &'static Bucket {
        &TABLE
    }

    /// The queue is consistent after every statement that can panic, so poison means nothing here.
    fn ignore_poison<G>(result: LockResult<G>) -> G {
        result.unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks while `word` holds `expected`; may return early for no reason.
    pub(crate) fn wait(word: &AtomicU32, expected: u32) {
        let Some((bucket, mut queue, ticket, signal)) = enlist(word, expected) else {
            return;
        };
        while queue.waiters.iter().any(|waiter| waiter.ticket == ticket) {
            queue = signal.wait(bucket, queue);
        }
        queue.is_through_with(signal);
    }

    /// The same, for `limit` at most.
    #[cfg(not(loom))]
    #[cfg_attr(test, allow(dead_code))]
    pub(crate) fn wait_at_most(word: &AtomicU32, expected: u32, limit: Duration) {
        let Some((_, mut queue, ticket, signal)) = enlist(word, expected) else {
            return;
        };
        queue = signal.wait_at_most(queue, limit);
        // If the time was up, or for no reason.
        queue.waiters.retain(|waiter| waiter.ticket != ticket);
        queue.is_through_with(signal);
    }

    /// Puts the caller into the table, unless the word has changed.
    fn enlist(
        word: &AtomicU32,
        expected: u32,
    ) -> Option<(&'static Bucket, MutexGuard<'static, Queue>, u64, Signal)> {
        let address = word as *const AtomicU32 as usize;
        let bucket = bucket(address);
        let mut queue = ignore_poison(bucket.0.lock());
        // Relaxed: a waker's store is ordered before this load by the lock, see above.
        if word.load(Ordering::Relaxed) != expected {
            return None;
        }
        let ticket = queue.next_ticket;
        queue.next_ticket += 1;
        let signal = queue.signal();
        queue.waiters.push(Waiter {
            address,
            ticket,
            signal: signal.clone(),
        });
        Some((bucket, queue, ticket, signal))
    }

    /// Wakes the thread that has blocked on `word` for longest, if there is one.
    pub(crate) fn wake_one(word: *const AtomicU32) {
        let address = word as usize;
        let mut queue = ignore_poison(bucket(address).0.lock());
        let oldest = queue
            .waiters
            .iter()
            .position(|waiter| waiter.address == address);
        if let Some(oldest) = oldest {
            queue.waiters.remove(oldest).signal.notify();
        }
    }

    /// Wakes every thread that blocks on `word`.
    pub(crate) fn wake_all(word: *const AtomicU32) {
        let address = word as usize;
        let mut queue = ignore_poison(bucket(address).0.lock());
        queue.waiters.retain(|waiter| {
            let other = waiter.address != address;
            if !other {
                waiter.signal.notify();
            }
            other
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::Ordering;
    use std::thread;

    /// Runs the same checks against the platform's futex and against the table.
    macro_rules! contract {
        ($module:ident, $($path:tt)+) => {
            mod $module {
                use super::*;
                use $($path)+::{wait, wake_all, wake_one};

                #[test]
                fn waiting_for_a_value_that_is_already_gone_returns_at_once() {
                    wait(&AtomicU32::new(1), 0);
                }

                #[test]
                fn waking_an_address_nobody_waits_on_is_harmless() {
                    let gone: *const AtomicU32 = {
                        let word = Box::new(AtomicU32::new(0));
                        &*word
                    };
                    wake_one(gone);
                    wake_all(gone);
                }

                #[test]
                fn a_store_followed_by_a_wake_always_releases_the_waiter() {
                    for _ in 0..200 {
                        let word = AtomicU32::new(0);
                        thread::scope(|threads| {
                            threads.spawn(|| {
                                while word.load(Ordering::Acquire) == 0 {
                                    wait(&word, 0);
                                }
                            });
                            word.store(1, Ordering::Release);
                            wake_one(&word);
                        });
                    }
                }

                #[test]
                fn wake_all_releases_every_waiter() {
                    let word = AtomicU32::new(0);
                    thread::scope(|threads| {
                        for _ in 0..8 {
                            threads.spawn(|| {
                                while word.load(Ordering::Acquire) == 0 {
                                    wait(&word, 0);
                                }
                            });
                        }
                        thread::yield_now();
                        word.store(1, Ordering::Release);
                        wake_all(&word);
                    });
                }

                #[test]
                fn a_ball_bounced_between_two_threads_is_never_dropped() {
                    const BOUNCES: u32 = 2_000;
                    let ball = AtomicU32::new(0);
                    let bounce = |parity: u32| loop {
                        let at = ball.load(Ordering::Acquire);
                        if at >= BOUNCES {
                            break;
                        }
                        if at % 2 == parity {
                            ball.store(at + 1, Ordering::Release);
                            wake_one(&ball);
                        } else {
                            wait(&ball, at);
                        }
                    };
                    thread::scope(|threads| {
                        threads.spawn(|| bounce(0));
                        threads.spawn(|| bounce(1));
                    });
                    assert_eq!(ball.load(Ordering::Relaxed), BOUNCES);
                }
            }
        };
    }

    contract!(platform, super::super);
    contract!(fallback, super::super::table);

    #[test]
    fn a_wait_in_the_table_leaves_what_it_slept_on_to_the_next_one() {
        let word = AtomicU32::new(0);
        let before = table::MADE.load(Ordering::Relaxed);
        for round in 0..300 {
            thread::scope(|threads| {
                threads.spawn(|| {
                    while word.load(Ordering::Acquire) == round {
                        table::wait(&word, round);
                    }
                });
                while !table::is_waited_for(&word) {
                    thread::yield_now();
                }
                word.store(round + 1, Ordering::Release);
                table::wake_one(&word);
            });
        }
        // Other tests wait there meanwhile.
        assert!(table::MADE.load(Ordering::Relaxed) - before < 100);
    }
}
