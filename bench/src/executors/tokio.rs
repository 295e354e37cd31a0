//! tokio's multi-threaded runtime.

use super::Executor;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

/// See the module's documentation.
pub struct Tokio;

static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();

fn runtime() -> &'static tokio::runtime::Runtime {
    RUNTIME.get().expect("started")
}

/// A handle whose output is plain.
pub struct Handle(tokio::task::JoinHandle<()>);

impl Future for Handle {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(Result::unwrap)
    }
}

impl Executor for Tokio {
    const NAME: &'static str = "tokio";
    type Handle = Handle;

    fn start(threads: usize) {
        RUNTIME.get_or_init(|| {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(threads).enable_all();
            builder.build().expect("tokio starts")
        });
    }

    #[inline]
    fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Handle {
        Handle(runtime().spawn(future))
    }

    #[inline]
    fn detach(handle: Handle) {
        drop(handle);
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        runtime().block_on(future)
    }
}
