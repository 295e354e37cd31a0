//! What mio is where there are sockets, for systems without any (WebAssembly): a wait ends with its time-out, or when somebody interrupts it.
//!
//! Without threads nobody can interrupt a wait that has begun. One that has a time-out just sleeps; one that has none would never end, and says so.

use crate::primitives::ignore_poison;
use crate::runtime::has_threads;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token(pub(crate) usize);

/// The name under which somebody has interrupted the wait.
#[derive(Debug, Default)]
struct Bell {
    rung: Mutex<Option<Token>>,
    heard: std::sync::Condvar,
}

impl Bell {
    fn rung(&self) -> MutexGuard<'_, Option<Token>> {
        ignore_poison(self.rung.lock())
    }

    fn wait(&self, time_out: Option<Duration>) -> Option<Token> {
        let rung = self.rung();
        if rung.is_some() || time_out.is_some_and(|limit| limit.is_zero()) {
            return { rung }.take();
        }
        if !has_threads() {
            drop(rung);
            let limit = time_out.expect(
                "nothing can wake this runtime any more: everything in it waits for something else than time, and there is no other thread that could do it",
            );
            std::thread::sleep(limit);
            return self.rung().take();
        }
        let is_silent = |rung: &mut Option<Token>| rung.is_none();
        let mut rung = match time_out {
            Some(limit) => {
                let waited = self.heard.wait_timeout_while(rung, limit, is_silent);
                ignore_poison(waited).0
            }
            None => {
                let waited = self.heard.wait_while(rung, is_silent);
                ignore_poison(waited)
            }
        };
        rung.take()
    }
}

#[derive(Debug)]
pub(crate) struct Registry(Arc<Bell>);

impl Registry {
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(Arc::clone(&self.0)))
    }
}

#[derive(Debug)]
pub(crate) struct Poll(Registry);

impl Poll {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(Registry(Arc::default())))
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.0
    }

    pub(crate) fn poll(
        &mut self,
        events: &mut Events,
        time_out: Option<Duration>,
    ) -> io::Result<()> {
        events.0 = self.0.0.wait(time_out).map(event::Event);
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Waker {
    bell: Arc<Bell>,
    token: Token,
}

impl Waker {
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let bell = Arc::clone(&registry.0);
        Ok(Self { bell, token })
    }

    pub(crate) fn wake(&self) -> io::Result<()> {
        *self.bell.rung() = Some(self.token);
        self.bell.heard.notify_one();
        Ok(())
    }
}

/// One at most.
#[derive(Debug)]
pub(crate) struct Events(Option<event::Event>);

impl Events {
    pub(crate) fn with_capacity(_: usize) -> Self {
        Self(None)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &event::Event> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

pub(crate) mod event {
    use super::Token;

    #[derive(Debug)]
    pub(crate) struct Event(pub(super) Token);

    impl Event {
        pub(crate) fn token(&self) -> Token {
            self.0
        }
    }
}
