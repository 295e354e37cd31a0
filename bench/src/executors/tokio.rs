//! tokio's multi-threaded runtime.

use super::{Executor, Plain};
use std::future::Future;
use std::sync::OnceLock;

/// See the module's documentation.
pub struct Tokio;

static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();

fn runtime() -> &'static tokio::runtime::Runtime {
    RUNTIME.get().expect("started")
}

impl Executor for Tokio {
    const NAME: &'static str = "tokio";
    type Handle = Plain<tokio::task::JoinHandle<()>>;

    fn start(threads: usize) {
        RUNTIME.get_or_init(|| {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(threads).enable_all();
            builder.build().expect("tokio starts")
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
