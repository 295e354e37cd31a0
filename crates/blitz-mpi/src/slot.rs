//! Where an operation's result waits for its future.
//!
//! The engine fills a slot once, while it holds the lock on MPI. The future takes the result out. Neither knows whether the other is still
//! there: a slot whose future is gone is filled all the same, and one that is never filled is just dropped.

use crate::error::Result;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

pub(crate) struct Slot<R> {
    /// Whether it has been filled, for those who look again and again.
    filled: AtomicBool,
    inside: Mutex<Inside<R>>,
}

struct Inside<R> {
    result: Option<Result<R>>,
    waker: Option<Waker>,
}

impl<R> Slot<R> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Slot {
            filled: AtomicBool::new(false),
            inside: Mutex::new(Inside {
                result: None,
                waker: None,
            }),
        })
    }

    pub(crate) fn filled(result: Result<R>) -> Arc<Self> {
        Arc::new(Slot {
            filled: AtomicBool::new(true),
            inside: Mutex::new(Inside {
                result: Some(result),
                waker: None,
            }),
        })
    }

    fn inside(&self) -> MutexGuard<'_, Inside<R>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakers are collected: they are called when MPI has been left.
    pub(crate) fn fill(&self, result: Result<R>, wakes: &mut Vec<Waker>) {
        let mut inside = self.inside();
        inside.result = Some(result);
        wakes.extend(inside.waker.take());
        self.filled.store(true, Ordering::Release);
    }

    /// Whether it has been filled: taken out or not.
    pub(crate) fn is_filled(&self) -> bool {
        self.filled.load(Ordering::Acquire)
    }

    pub(crate) fn take(&self) -> Option<Result<R>> {
        self.inside().result.take()
    }

    /// The result, or `None`, and then `waker` is called when there is one.
    pub(crate) fn take_or_wait(&self, waker: &Waker) -> Option<Result<R>> {
        if self.is_filled() {
            return self.take();
        }
        // Wakers are anybody's code: cloned and dropped without the lock.
        let waker = waker.clone();
        let mut inside = self.inside();
        if let Some(result) = inside.result.take() {
            return Some(result);
        }
        let before = inside.waker.replace(waker);
        drop(inside);
        drop(before);
        None
    }
}
