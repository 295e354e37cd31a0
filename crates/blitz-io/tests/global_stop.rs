//! The global pool is stopped, and with it what runtimes have there: but not while one lives on it. The only test in this program: there is one global pool.

use blitz_core::{ThreadPool, current_num_threads, join};
use std::panic::catch_unwind;
use std::time::Duration;

fn stop() -> Result<(), String> {
    catch_unwind(|| ThreadPool::global().shutdown()).map_err(|payload| {
        match payload.downcast::<&str>() {
            Ok(text) => text.to_string(),
            Err(payload) => *payload.downcast::<String>().unwrap(),
        }
    })
}

fn use_runtime(runtime: &blitz_io::Runtime) {
    let sum = runtime.block_on(async {
        let task = blitz_io::spawn(async {
            blitz_io::time::sleep(Duration::from_millis(1)).await;
            1
        });
        let cpu = blitz_io::spawn_cpu(|| join(|| 20, || 20));
        let (one, (left, right)) = (task.await.unwrap(), cpu.await.unwrap());
        one + left + right + blitz_io::spawn_blocking(|| 1).await.unwrap()
    });
    assert_eq!(sum, 42);
}

#[test]
fn the_global_pool_is_not_stopped_under_a_runtime_and_starts_again_with_one() {
    for round in 0..5 {
        let runtime = blitz_io::Runtime::new().unwrap();
        use_runtime(&runtime);
        let error = stop().unwrap_err();
        assert!(error.contains("drop the runtime first"), "{error}");
        // It is as it was.
        use_runtime(&runtime);
        let other = (round % 2 == 0).then(|| blitz_io::Runtime::new().unwrap());
        // What is left of a runtime that has ended does not count.
        let handle = runtime.handle().clone();
        drop(runtime);
        if let Some(other) = other {
            assert!(stop().is_err());
            use_runtime(&other);
        }
        let _in_a_runtime_that_has_ended = handle.enter();
        stop().unwrap();
        assert_eq!(join(|| 1, || 2), (1, 2));
        assert_eq!(blitz_core::spawn_handle(|| 3).join().unwrap(), 3);
        assert!(current_num_threads() >= 1);
    }
    // A runtime's own pool ends with the runtime.
    let builder = &mut blitz_io::Builder::new_multi_thread();
    let own = builder.worker_threads(2).build().unwrap();
    let pool = own.pool().unwrap();
    assert!(catch_unwind(std::panic::AssertUnwindSafe(|| pool.shutdown())).is_err());
    use_runtime(&own);
}
