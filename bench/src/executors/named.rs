//! The runtimes by name, for measurements that have one of them in a process of its own.

#[cfg(feature = "full")]
use super::Smol;
use super::{Blitz, Executor, Tokio, start};
use crate::arms::Cpus;
use std::future::Future;

/// A runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncLib {
    /// This project.
    Blitz,
    /// tokio, multi-threaded.
    Tokio,
    /// smol: async-executor and async-io.
    #[cfg(feature = "full")]
    Smol,
}

impl AsyncLib {
    /// Every arm, in the order of the tables.
    pub const ALL: &[AsyncLib] = &[
        AsyncLib::Blitz,
        AsyncLib::Tokio,
        #[cfg(feature = "full")]
        AsyncLib::Smol,
    ];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            AsyncLib::Blitz => Blitz::NAME,
            AsyncLib::Tokio => Tokio::NAME,
            #[cfg(feature = "full")]
            AsyncLib::Smol => Smol::NAME,
        }
    }

    /// The arm with this name.
    pub fn named(name: &str) -> Option<AsyncLib> {
        let mut all = AsyncLib::ALL.iter().copied();
        all.find(|lib| lib.name() == name)
    }

    /// Starts the runtime. Once per process.
    pub fn start(self, cpus: &Cpus) {
        match self {
            AsyncLib::Blitz => start::<Blitz>(cpus),
            AsyncLib::Tokio => start::<Tokio>(cpus),
            #[cfg(feature = "full")]
            AsyncLib::Smol => start::<Smol>(cpus),
        }
    }

    /// Starts a task that nobody waits for.
    pub fn spawn(self, future: impl Future<Output = ()> + Send + 'static) {
        match self {
            AsyncLib::Blitz => Blitz::detach(Blitz::spawn(future)),
            AsyncLib::Tokio => Tokio::detach(Tokio::spawn(future)),
            #[cfg(feature = "full")]
            AsyncLib::Smol => Smol::detach(Smol::spawn(future)),
        }
    }
}
