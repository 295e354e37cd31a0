//! What the models of channels have in common: messages that are counted.

use crate::primitives::{AtomicBool, AtomicUsize, Ordering, yield_now};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// A waker that remembers whether it was called.
pub(crate) struct Flag(AtomicBool);

impl Flag {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Flag(AtomicBool::new(false)))
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Polls `future` until it is ready, each time that it is woken. One that is not woken soon would sleep for ever: there is nothing else to do.
pub(crate) fn await_woken<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut patience = 0;
    loop {
        let flag = Flag::new();
        let waker = Waker::from(Arc::clone(&flag));
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        while !flag.is_set() {
            patience += 1;
            assert!(patience < 50, "sleeps for ever");
            yield_now();
        }
    }
}

/// Polls `future` once with a waker of its own, and drops it.
pub(crate) fn poll_and_drop<F: Future>(future: F) -> Option<F::Output> {
    let waker = Waker::from(Flag::new());
    match pin!(future).poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Runs `steps` with `end`, which is dropped unless they panic: loom's verdict on a flawed program must not find another panic in
/// a destructor.
pub(crate) fn use_up<E, R>(end: E, steps: impl FnOnce(&mut E) -> R) -> R {
    let mut end = ManuallyDrop::new(end);
    let result = steps(&mut end);
    drop(ManuallyDrop::into_inner(end));
    result
}

/// Counts how many of its [`Token`]s are alive.
#[derive(Clone)]
pub(crate) struct Mint(Rc<AtomicUsize>);

impl Mint {
    pub(crate) fn new() -> Self {
        Mint(Rc::new(AtomicUsize::new(0)))
    }

    pub(crate) fn token(&self, number: u32) -> Token {
        self.0.fetch_add(1, Ordering::Relaxed);
        Token(number, self.clone())
    }

    /// Every token has been dropped, once.
    pub(crate) fn assert_empty(&self) {
        assert_eq!(self.0.load(Ordering::Relaxed), 0, "messages leak");
    }
}

/// A message whose drop is noticed.
pub(crate) struct Token(pub(super) u32, Mint);

impl Drop for Token {
    fn drop(&mut self) {
        self.1.0.fetch_sub(1, Ordering::Relaxed);
    }
}
