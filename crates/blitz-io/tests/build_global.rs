//! A program may say how the global pool looks inside of the default runtime, which has started one: until somebody has computed there.
//!
//! The only test in this program: there is one global pool.

use blitz_core::{ThreadPoolBuilder, current_num_threads, join};

#[test]
fn the_global_pool_can_be_built_inside_of_the_default_runtime_until_it_is_used() {
    let runtime = blitz_io::Runtime::new().unwrap();
    runtime.block_on(async {
        blitz_io::spawn(async {}).await.unwrap();
        let five = || ThreadPoolBuilder::new().num_threads(5).build_global();
        five().unwrap();
        assert_eq!(current_num_threads(), 5);
        assert_eq!(join(|| 1, current_num_threads), (1, 5));
        assert!(five().is_err(), "it has been built");
        // It is the runtime's own pool, which has more threads now.
        assert_eq!(blitz_io::Handle::current().metrics().num_workers(), 5);
        let elsewhere = std::thread::spawn(current_num_threads).join().unwrap();
        assert_eq!(elsewhere, 5);
    });
}
