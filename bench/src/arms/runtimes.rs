//! The async runtimes under test, with the same number of workers, placed alike.
//!
//! [`Spawner`] is what the groups need of one: start a task. Tasks use the runtime's own timers and sockets.

use super::Cpus;
use crate::pin;
use std::future::Future;
use std::sync::OnceLock;

/// How many workers each runtime gets.
pub const WORKERS: usize = 2;

/// A runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncLib {
    /// This project.
    Blitz,
    /// tokio, multi-threaded.
    Tokio,
    /// smol: async-executor and async-io.
    Smol,
}

static BLITZ: OnceLock<blitz_io::Runtime> = OnceLock::new();
static TOKIO: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
static SMOL: smol::Executor<'static> = smol::Executor::new();

impl AsyncLib {
    /// Every arm, in the order of the tables.
    pub const ALL: &[AsyncLib] = &[AsyncLib::Blitz, AsyncLib::Tokio, AsyncLib::Smol];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            AsyncLib::Blitz => "blitz",
            AsyncLib::Tokio => "tokio",
            AsyncLib::Smol => "smol",
        }
    }

    /// The arm with this name.
    pub fn named(name: &str) -> Option<AsyncLib> {
        let mut all = AsyncLib::ALL.iter().copied();
        all.find(|lib| lib.name() == name)
    }

    /// Starts the runtime. Once per process.
    pub fn start(self, cpus: &Cpus) {
        let ((), new) = pin::threads_started_by(|| self.start_threads());
        for (index, tid) in new.into_iter().take(WORKERS).enumerate() {
            cpus.pin_thread(tid, index);
        }
    }

    fn start_threads(self) {
        match self {
            AsyncLib::Blitz => {
                let runtime = blitz_io::Builder::new_multi_thread()
                    .worker_threads(WORKERS)
                    .build()
                    .expect("Blitz starts");
                BLITZ.set(runtime).expect("started once");
            }
            AsyncLib::Tokio => {
                let runtime = tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(WORKERS)
                    .enable_all()
                    .build()
                    .expect("tokio starts");
                TOKIO.set(runtime).expect("started once");
            }
            AsyncLib::Smol => {
                for _ in 0..WORKERS {
                    std::thread::spawn(|| smol::block_on(SMOL.run(std::future::pending::<()>())));
                }
            }
        }
        // Threads come up at their own pace.
        std::thread::sleep(std::time::Duration::from_millis(50));
    }

    /// Starts a task.
    pub fn spawn(self, future: impl Future<Output = ()> + Send + 'static) {
        match self {
            AsyncLib::Blitz => drop(blitz().spawn(future)),
            AsyncLib::Tokio => drop(tokio().spawn(future)),
            AsyncLib::Smol => SMOL.spawn(future).detach(),
        }
    }
}

/// The Blitz runtime.
pub fn blitz() -> &'static blitz_io::Runtime {
    BLITZ.get().expect("started")
}

/// The tokio runtime.
pub fn tokio() -> &'static tokio::runtime::Runtime {
    TOKIO.get().expect("started")
}
