//! smol's executor in its fastest form: `async_executor::StaticExecutor`, one thread per CPU that runs it.

use super::Executor;
use async_executor::StaticExecutor;
use std::future::Future;

/// See the module's documentation.
pub struct Smol;

static EXECUTOR: StaticExecutor = StaticExecutor::new();

impl Executor for Smol {
    const NAME: &'static str = "smol-static";
    type Handle = async_executor::Task<()>;

    fn start(threads: usize) {
        for index in 0..threads {
            std::thread::Builder::new()
                .name(format!("smol {index}"))
                .spawn(|| {
                    futures_lite::future::block_on(EXECUTOR.run(std::future::pending::<()>()))
                })
                .expect("a thread starts");
        }
    }

    #[inline]
    fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Self::Handle {
        EXECUTOR.spawn(future)
    }

    #[inline]
    fn detach(handle: Self::Handle) {
        handle.detach();
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        futures_lite::future::block_on(future)
    }
}
