//! Tasks for loom models: a waker that a model's thread can wait for, and threads that poll futures.

use crate::primitives::{Condvar, Mutex};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// The waker of one task.
pub struct Woken {
    flag: Mutex<bool>,
    changed: Condvar,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        *self.flag.lock().unwrap() = true;
        self.changed.notify_one();
    }
}

impl Woken {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            flag: Mutex::new(false),
            changed: Condvar::new(),
        })
    }

    /// Sleeps until it has been woken once (more).
    pub fn wait(&self) {
        let mut flag = self.flag.lock().unwrap();
        while !*flag {
            flag = self.changed.wait(flag).unwrap();
        }
        *flag = false;
    }
}

/// Polls a future once, with a waker that does nothing.
pub fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls a future until it is ready; the model's thread sleeps in between.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let woken = Woken::new();
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => woken.wait(),
        }
    }
}
