//! blitz-io.

use super::Executor;
use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

/// See the module's documentation.
pub struct Blitz;

static RUNTIME: OnceLock<blitz_io::Runtime> = OnceLock::new();

/// The runtime.
pub fn runtime() -> &'static blitz_io::Runtime {
    RUNTIME.get().expect("started")
}

/// A handle whose output is plain.
pub struct Handle(blitz_io::JoinHandle<()>);

impl Future for Handle {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(Result::unwrap)
    }
}

impl Executor for Blitz {
    const NAME: &'static str = "blitz";
    type Handle = Handle;

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
