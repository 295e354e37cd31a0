//! A runtime's end of the pipe that signal handlers write to.
//!
//! Every runtime that has had a listener has one. Each is told of every byte. The first one to look empties the pipe and wakes the listeners of *all*
//! runtimes, so it does not matter that the others may find nothing. A relay is no task and has no thread: the waker that it leaves with the driver
//! *is* the code that runs.

use super::handler::{Post, post};
use crate::coop;
use crate::driver::{Descriptor, Registered, Way};
use crate::primitives::ignore_poison;
use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};

/// See the module's documentation. Lives as long as its runtime, once that has had a listener: a signal that comes while there is none is answered, too, and not
/// kept for the next one.
pub(super) struct Relay {
    /// A descriptor of its own, so that runtimes, and relays of one runtime that follow each other, do not get in each other's way.
    end: Registered<Descriptor<File>>,
    post: &'static Post,
    closed: AtomicBool,
}

static RELAYS: Mutex<Vec<Weak<Relay>>> = Mutex::new(Vec::new());

impl Relay {
    /// That of the runtime that this thread is in.
    ///
    /// # Panics
    /// If it is in none.
    #[track_caller]
    pub(super) fn here() -> io::Result<Arc<Self>> {
        let driver = crate::context::driver();
        let post = post()?;
        let mut relays = ignore_poison(RELAYS.lock());
        let alive: Vec<_> = relays.iter().filter_map(Weak::upgrade).collect();
        if let Some(relay) = alive.iter().find(|relay| relay.end.belongs_to(&driver)) {
            return Ok(Arc::clone(relay));
        }
        let end = Descriptor(File::from(post.reading_end()?));
        let relay = Arc::new(Relay {
            end: Registered::with_interest(end, mio::Interest::READABLE)?,
            post,
            closed: AtomicBool::new(false),
        });
        relays.retain(|relay| relay.strong_count() > 0);
        relays.push(Arc::downgrade(&relay));
        drop(relays);
        relay.answer(&Waker::from(Arc::new(Ear(Arc::clone(&relay)))));
        Ok(relay)
    }

    /// Whether its runtime is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(super) fn post(&self) -> &'static Post {
        self.post
    }

    /// Answers what is in the pipe, and leaves `waker` for what will be.
    fn answer(&self, waker: &Waker) {
        let mut cx = Context::from_waker(waker);
        let polled = coop::without_budget(|| {
            self.end
                .poll_io(Way::Read, &mut cx, |end| -> io::Result<()> {
                    self.post.bells.answer(|| empty(end));
                    Err(io::ErrorKind::WouldBlock.into())
                })
        });
        if let Poll::Ready(_gone) = polled {
            self.closed.store(true, Ordering::Release);
            self.post.bells.wake_all();
        }
    }
}

/// What the driver wakes, and keeps until it ends. It keeps the relay, which keeps the driver's handle: the driver takes the waker out when it ends.
struct Ear(Arc<Relay>);

impl Wake for Ear {
    fn wake(self: Arc<Self>) {
        let relay = Arc::clone(&self.0);
        relay.answer(&Waker::from(self));
    }
}

fn empty(mut end: &File) {
    let mut bytes = [0; 128];
    loop {
        match end.read(&mut bytes) {
            Ok(length) if length == bytes.len() => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Less than there is room for was all.
            Ok(_) | Err(_) => return,
        }
    }
}
