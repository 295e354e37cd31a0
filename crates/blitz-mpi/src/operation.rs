//! Futures: what an operation that is under way comes back with.

use crate::core::Received;
use crate::driver::{Lookout, Shared};
use crate::error::{Error, Result};
use crate::slot::Slot;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Whether a future looks at MPI itself.
#[derive(Clone, Copy)]
enum Looking {
    NotYet,
    OnAndOn(Lookout),
    Over,
}

/// An operation that has begun: it goes on whether this is awaited or not.
///
/// It begins when the method is called, not when the future is polled: what is computed between call and `await` is computed while the
/// message travels. Dropping or forgetting it is harmless: the buffers belong to the library until MPI is done with them. The result is lost
/// then, but other ranks are not kept waiting: this rank has taken part.
#[must_use = "the result, and whether it was one, is told by `.await`"]
pub struct Operation<R> {
    shared: Arc<Shared>,
    slot: Arc<Slot<R>>,
    looking: Looking,
    /// Whether the result has been given away.
    ready: bool,
    /// Whether it counts as waiting.
    waits: bool,
}

impl<R> Operation<R> {
    pub(crate) fn new(shared: &Arc<Shared>, slot: Arc<Slot<R>>) -> Self {
        Operation {
            shared: Arc::clone(shared),
            slot,
            looking: Looking::NotYet,
            ready: false,
            waits: false,
        }
    }

    fn look(&mut self) {
        let (shared, slot) = (&self.shared, &self.slot);
        let done = || slot.is_filled();
        match &mut self.looking {
            Looking::NotYet => {
                shared.help(done);
                let next = (!slot.is_filled()).then(|| shared.start_lookout());
                self.looking = match next.flatten() {
                    Some(lookout) => Looking::OnAndOn(lookout),
                    None => Looking::Over,
                };
            }
            Looking::OnAndOn(lookout) => {
                if !shared.look_out(lookout, done) {
                    self.stop_to_look(false);
                }
            }
            Looking::Over => {}
        }
    }

    fn stop_to_look(&mut self, found: bool) {
        if let Looking::OnAndOn(lookout) = std::mem::replace(&mut self.looking, Looking::Over) {
            self.shared.end_lookout(lookout, found);
        }
    }

    fn stop_to_wait(&mut self) {
        if std::mem::take(&mut self.waits) {
            self.shared.stops_to_wait();
        }
    }

    /// Whether the result is there, so that `await` returns at once.
    pub fn is_done(&self) -> bool {
        self.ready || self.slot.is_filled()
    }
}

impl<R> Unpin for Operation<R> {}

impl<R> Future for Operation<R> {
    type Output = Result<R>;

    /// # Panics
    /// If it has been ready before.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<R>> {
        assert!(!self.ready, "polled again although it was ready");
        if !self.slot.is_filled() {
            self.look();
        }
        match self.slot.take_or_wait(cx.waker()) {
            Some(result) => {
                self.stop_to_look(true);
                self.stop_to_wait();
                self.ready = true;
                Poll::Ready(result)
            }
            None if matches!(self.looking, Looking::OnAndOn(_)) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            None => {
                if !self.waits {
                    self.waits = true;
                    self.shared.starts_to_wait();
                }
                Poll::Pending
            }
        }
    }
}

impl<R> Drop for Operation<R> {
    fn drop(&mut self) {
        self.stop_to_look(false);
        self.stop_to_wait();
    }
}

/// A message that is waited for, from one rank or from any.
///
/// Dropping it loses no message: one that has come already, or is just coming in, goes to the next who asks for it.
#[must_use = "the message is had by `.await`"]
pub struct ReceiveAny<T: Copy + Send + 'static> {
    /// `None`: refused at once, there is nothing to forget.
    id: Option<u64>,
    operation: Operation<Received<T>>,
}

impl<T: Copy + Send + 'static> ReceiveAny<T> {
    pub(crate) fn start(shared: &Arc<Shared>, from: Option<usize>, tag: u16) -> Self {
        let slot = Slot::new();
        let started = shared.begin(0, |core| {
            core.open()?;
            core.receive(from, tag, &slot)
        });
        let (id, slot) = match started {
            Ok(id) => (Some(id), slot),
            Err(error) => (None, Slot::filled(Err(error))),
        };
        ReceiveAny {
            id,
            operation: Operation::new(shared, slot),
        }
    }

    pub(crate) fn refused(shared: &Arc<Shared>, error: Error) -> Self {
        ReceiveAny {
            id: None,
            operation: Operation::new(shared, Slot::filled(Err(error))),
        }
    }
}

impl<T: Copy + Send + 'static> Future for ReceiveAny<T> {
    type Output = Result<(usize, Vec<T>)>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.operation)
            .poll(cx)
            .map_ok(|received| (received.from, received.data))
    }
}

impl<T: Copy + Send + 'static> Drop for ReceiveAny<T> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let slot =
                std::mem::replace(&mut self.operation.slot, Slot::filled(Err(Error::Closed)));
            self.operation.shared.begin(0, |core| core.forget(id, slot));
        }
    }
}

/// A message that is waited for, from one rank. See [`ReceiveAny`].
#[must_use = "the message is had by `.await`"]
pub struct Receive<T: Copy + Send + 'static>(pub(crate) ReceiveAny<T>);

impl<T: Copy + Send + 'static> Future for Receive<T> {
    type Output = Result<Vec<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map_ok(|(_, data)| data)
    }
}
