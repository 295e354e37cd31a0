//! blitz-io.

use super::{Executor, Plain};
use std::future::Future;
use std::sync::OnceLock;

/// See the module's documentation.
pub struct Blitz;

static RUNTIME: OnceLock<blitz_io::Runtime> = OnceLock::new();

/// The runtime.
pub fn runtime() -> &'static blitz_io::Runtime {
    RUNTIME.get().expect("started")
}

impl Executor for Blitz {
    const NAME: &'static str = "blitz";
    type Handle = Plain<blitz_io::JoinHandle<()>>;

    fn start(threads: usize) {
        RUNTIME.get_or_init(|| {
            let mut builder = blitz_io::Builder::new_multi_thread();
            builder
                .worker_threads(threads)
                .build()
                .expect("a runtime starts")
        });
    }

    #[inline]
    fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Self::Handle {
        Plain(runtime().spawn(future))
    }

    #[inline]
    fn detach(handle: Self::Handle) {
        drop(handle);
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        runtime().block_on(future)
    }
}
